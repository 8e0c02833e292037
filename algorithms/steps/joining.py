"""Areas joined to regions as a step: by sites, or by an exchange that counts the classes of records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES, Aggregation
from ...core.aggregation.anonymity_exchange import exchanged
from ...core.errors import InputError
from ...core.job import configuring
from ...core.language import tr
from ..form.form import Form
from ..form.parameters import number, source
from ..form.records import populated, populated_by_records, records_of
from ..layers.reading.crosswalks import read_crosswalk, read_sites
from ..layers.shapes.areas import AreaLayer


def exchange_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """BUDGET and START."""
    yield number(
        "BUDGET",
        tr("Suppression budget, %"),
        None,
        tr(
            "For “anonymity exchange”: the records that may be suppressed for having fewer than k of their "
            "class in their region, per cent of all. The most compact regions within it are looked for. "
            "Empty: as many as the regions suppress that the exchange starts from. What more a release asks "
            "of a class is not counted here."
        ),
        0.0,
        100.0,
        optional=True,
        advanced=True,
    )
    yield source(
        "START",
        tr("Regions to start from"),
        tr(
            "For “anonymity exchange”: a crosswalk of these areas, with the areas' identifier and vbas_region, whose "
            "regions are to be made better, in place of sites. Areas that it leaves out stay left out."
        ),
        optional=True,
        advanced=True,
    )


def joined(form: Form, layer: AreaLayer) -> Aggregation:
    """What AGGREGATION makes of SITES, of the areas and their population alone."""
    approach, options = APPROACHES[form.text("AGGREGATION")], configuring.aggregation_options_of(form)
    if "floor" in approach.settings and options.floor and not form.given("SITES"):
        sites: object = 1
    else:
        own_sites = read_sites(form.source("SITES"), layer, form.feedback)
        sites = len(own_sites) if approach.own_sites else own_sites
    return approach(populated_by_records(form, layer), None, sites, options, form.progress(stop=70))


def joined_by_classes(form: Form, layer: AreaLayer) -> Aggregation:
    """What an exchange makes of START, or of SITES, with the classes of the records."""
    name = form.text("AGGREGATION")
    if not (form.given("RECORDS") and form.given("QUASI_IDENTIFIERS")):
        raise InputError(
            tr(
                "AGGREGATION “{name}” looks at the classes of the records: give RECORDS, RECORD_REGION and "
                "QUASI_IDENTIFIERS, or choose another AGGREGATION.",
                name=name,
            )
        )
    options = configuring.aggregation_options_of(form)
    options = replace(options, budget=form.number("BUDGET") if form.given("BUDGET") else None)
    records = records_of(form, layer.areas, options.k)
    areas, progress = populated(layer, records), form.progress(stop=70)
    if form.given("START"):
        start = read_crosswalk(form.source("START"), "", layer.areas, form.feedback)[1]
        return exchanged(areas, records.profile, start, options, progress)
    sites = read_sites(form.source("SITES"), layer, form.feedback)
    return APPROACHES[name](areas, records.profile, sites, options, progress)
