"""Cropping identifiers, or going up a hierarchy, as a baseline."""

from __future__ import annotations

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
)

from ...core.baselines import BaselineOptions
from ...core.baselines.cropping import cropped_identifiers, cropping
from ...core.baselines.hierarchy import hierarchy
from ...core.errors import InputError
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of, values_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Counts
from ..form.form import Form
from ..layers.hierarchies import read_units


class CropIdentifiers(VbasAlgorithm):
    """`vbas:cropidentifiers`."""

    ID = "cropidentifiers"
    TAGS = "hierarchy,generalisation,postal code,census division,baseline"
    SUMMARY = "Joins areas whose identifiers begin alike, or that lie in the same larger unit."
    HELP = (
        "<p>The identifier is shortened to its first characters, as postal codes often are, or areas go up to a "
        "larger unit: from dissemination area to census tract, subdivision, division, province. In Statistics Canada's "
        "identifiers two digits are the province and four the census division.</p><p>Give the number of characters, or "
        "a field of the larger unit, either of the areas themselves or of a table of the hierarchy.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *area_parameters(with_population=False),
            shared.described(
                QgsProcessingParameterNumber(
                    "CHARACTERS", "Characters to keep", type=shared.INTEGER, defaultValue=4, minValue=1
                ),
                "How many characters lead. Not used where a hierarchy is given.",
            ),
            shared.described(
                QgsProcessingParameterField(
                    "HIERARCHY", "Larger unit", parentLayerParameterName="REGIONS", optional=True
                ),
                "A field of the areas that names the larger unit each lies in.",
            ),
            shared.described(
                QgsProcessingParameterFeatureSource(
                    "HIERARCHY_TABLE", "Table of the hierarchy", [QgsProcessing.SourceType.TypeVector], optional=True
                ),
                "A table with a row per area: its identifier and the units it lies in. Used in place of a field of the "
                "areas.",
                advanced=True,
            ),
            *(
                shared.described(
                    QgsProcessingParameterField(name, label, parentLayerParameterName="HIERARCHY_TABLE", optional=True),
                    text,
                    advanced=True,
                )
                for name, label, text in (
                    ("HIERARCHY_ID", "Identifier of the area in the table", "With the same identifiers as the areas."),
                    ("HIERARCHY_LEVEL", "Level of the hierarchy", "The field that names the unit to go up to."),
                )
            ),
            regions.crosswalk_output(),
            regions.released_regions(),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_SITES="Regions", N_LEFT_OUT="Areas left out", COMPACTNESS=regions.NUMBERS["COMPACTNESS"])

    def counts(self) -> Counts:
        of_table: Counts = {name: [{"HIERARCHY_TABLE": GIVEN}] for name in ("HIERARCHY_ID", "HIERARCHY_LEVEL")}
        return {"CHARACTERS": [{"HIERARCHY": NOT_GIVEN}, {"HIERARCHY_TABLE": NOT_GIVEN}], **of_table}

    def work(self, form: Form) -> dict[str, object]:
        unit = form.text("HIERARCHY")
        table = form.optional_source("HIERARCHY_TABLE")
        if unit and table is not None:
            raise InputError("HIERARCHY and HIERARCHY_TABLE are both given: choose one of them.")
        layer = areas_of(form)
        if unit or table is not None:
            if table is None:
                units = values_of(form, "REGIONS", unit)
            else:
                fields = (form.text(name) for name in ("HIERARCHY_ID", "HIERARCHY_LEVEL"))
                units = read_units(table, *fields, layer.areas, form.feedback)
            aggregation = hierarchy(layer.areas, None, BaselineOptions(hierarchy=units))
        else:
            characters = form.whole("CHARACTERS")
            aggregation = cropping(layer.areas, None, BaselineOptions(characters=characters))
            units = cropped_identifiers(layer.areas, characters).tolist()
        names = regions.names_of_regions(aggregation.crosswalk, units)
        numbers = regions.add_aggregation(form, layer, aggregation, names)
        return {**numbers, "N_LEFT_OUT": int((aggregation.crosswalk.region_of < 0).sum())}
