"""Cropping identifiers, or going up a hierarchy, as a baseline."""

from __future__ import annotations

from ...core.arrays import to_list
from ...core.baselines import BaselineOptions
from ...core.baselines.cropping import cropped_identifiers, cropping
from ...core.baselines.hierarchy import hierarchy
from ...core.errors import InputError
from ...core.language import as_data, tr
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Condition, Conditions
from ..form.form import Form
from . import settings


class CropIdentifiers(VbasAlgorithm):
    """`vbas:cropidentifiers`."""

    ID = "cropidentifiers"
    TAGS = as_data("hierarchy,generalisation,postal code,census division,baseline")
    SUMMARY = tr("Joins areas whose identifiers begin alike, or that lie in the same larger unit.")
    HELP = tr(
        "<p>The identifier is shortened to its first characters, as postal codes often are, or areas go up to a "
        "larger unit: from dissemination area to census tract, subdivision, division, province. In Statistics Canada's "
        "identifiers two digits are the province and four the census division. Of codes of different lengths the last "
        "characters can be left out instead.</p><p>Give the number of characters, or "
        "a field of the larger unit, either of the areas themselves or of a table of the hierarchy.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(with_population=False),
            *settings.cropping_parameters(),
            regions.crosswalk_output(),
            regions.released_regions(),
        )
        self.addNumbers(**regions.PARTIAL_NUMBERS)

    def conditions(self) -> Conditions:
        of_table: Conditions = {name: [{"HIERARCHY_TABLE": GIVEN}] for name in ("HIERARCHY_ID", "HIERARCHY_LEVEL")}
        cropped: list[Condition] = [{"HIERARCHY": NOT_GIVEN}, {"HIERARCHY_TABLE": NOT_GIVEN}]
        return {"CHARACTERS": [*cropped, {"LEAVE_OUT": NOT_GIVEN}], "LEAVE_OUT": cropped, **of_table}

    def work(self, form: Form) -> dict[str, object]:
        if form.text("HIERARCHY") and form.layers.optional_source("HIERARCHY_TABLE") is not None:
            raise InputError.saying("HIERARCHY and HIERARCHY_TABLE are both given: choose one of them.")
        layer = areas_of(form.job)
        units = settings.units_of(form, layer)
        if units is not None:
            aggregation = hierarchy(layer.areas, None, BaselineOptions(hierarchy=units))
        else:
            options = settings.cropping_options_of(form)
            aggregation = cropping(layer.areas, None, options)
            units = to_list(cropped_identifiers(layer.areas, options))
        names = regions.names_of_regions(aggregation.crosswalk, units)
        return regions.add_aggregation(form, layer, aggregation, names)
