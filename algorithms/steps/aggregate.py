"""Component 3 as a step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES, Aggregation
from ...core.aggregation.anonymity_exchange import exchanged
from ...core.approach import using_setting
from ...core.configuration import chosen
from ...core.errors import InputError
from ...core.job import configuring
from ...core.job.conditions import of_approaches
from ...core.language import as_data, tr
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, with_neighbours
from ..form.base import VbasAlgorithm
from ..form.effective import Condition, Conditions
from ..form.form import Form
from ..form.generalising import conditions_where
from ..form.guarantees import k_parameter
from ..form.parameters import number, source
from ..form.records import COUNTED_RECORDS, counted_records, populated, populated_by_records, records_of, unmatched
from ..layers.reading.crosswalks import read_crosswalk, read_sites
from ..layers.shapes.areas import AreaLayer


class Aggregate(VbasAlgorithm):
    """`vbas:aggregate`."""

    ID = "aggregate"
    TAGS = as_data("voronoi,dissolve,regionalization")
    SUMMARY = tr("Joins each area to a site and dissolves the areas of each site into a region.")
    HELP = tr(
        "<p>The third component: each area joins a site (Croft et al. 2018, section 2.3); the areas of a site become a "
        "region. The crosswalk says which area is where and goes into “Release records” and “Evaluate regions”.</p>"
        "<p>Sites may come from “Locate sites” or from anywhere: your own points, such as hospitals, will do.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            regions.sites_parameter(
                tr(
                    "Points that draw the regions, in any coordinate reference system. The transport "
                    "heuristics and “population floor” choose their own sites: they take only the number of "
                    "these, and “population floor” none where a floor is given."
                )
            ),
            shared.visible(approaches.aggregation()),
            *counted_records(
                tr(
                    "For “anonymity exchange”: the records, whose classes it counts. Otherwise, without a "
                    "population field: their number in each area is taken for its population (only “site "
                    "optimisation” looks at it)."
                ),
                quasi_identifiers=True,
                period=True,
            ),
            shared.advanced(k_parameter()),
            *exchange_parameters(),
            unmatched(),
            shared.seed(),
            approaches.capacity_factor(),
            approaches.floor(),
            regions.crosswalk_output(),
            regions.released_regions(),
            *regions.site_outputs(),
        )
        self.addNumbers(**regions.CROSSWALK_NUMBERS)

    def conditions(self) -> Conditions:
        single = of_approaches()
        exchanging: Condition = {"AGGREGATION": using_setting(APPROACHES, "k")}
        of_classes = ("QUASI_IDENTIFIERS", "PERIOD", "K", "BUDGET", "START", "UNMATCHED", "SEED")
        return {
            **{name: single[name] for name in ("CAPACITY_FACTOR", "FLOOR")},
            **COUNTED_RECORDS,
            **conditions_where(exchanging),
            **{name: [exchanging] for name in of_classes},
        }

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form.job)
        name = form.text("AGGREGATION")
        approach = chosen(APPROACHES, name, "AGGREGATION")
        layer = with_neighbours(form.job, layer, [name])
        aggregation = (joined_by_classes if approach.starts_from else joined)(form, layer)
        return regions.add_aggregation(form, layer, aggregation)


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
    approach, options = APPROACHES[form.text("AGGREGATION")], configuring.aggregation_options_of(form.job)
    if "floor" in approach.settings and options.floor and not form.given("SITES"):
        sites: object = 1
    else:
        own_sites = read_sites(form.layers.source("SITES"), layer, form.feedback)
        sites = len(own_sites) if approach.own_sites else own_sites
    return approach(populated_by_records(form.job, layer), None, sites, options, form.progress(stop=70))


def joined_by_classes(form: Form, layer: AreaLayer) -> Aggregation:
    """What an exchange makes of START, or of SITES, with the classes of the records."""
    name = form.text("AGGREGATION")
    if not (form.given("RECORDS") and form.given("QUASI_IDENTIFIERS")):
        raise InputError.saying(
            "AGGREGATION “{name}” looks at the classes of the records: give RECORDS, RECORD_REGION and "
            "QUASI_IDENTIFIERS, or choose another AGGREGATION.",
            name=name,
        )
    options = configuring.aggregation_options_of(form.job)
    options = replace(options, budget=form.number("BUDGET") if form.given("BUDGET") else None)
    records = records_of(form.job, layer.areas, options.k)
    areas, progress = populated(layer, records), form.progress(stop=70)
    if form.given("START"):
        start = read_crosswalk(form.layers.source("START"), "", layer.areas, form.feedback)[1]
        return exchanged(areas, records.profile, start, options, progress)
    sites = read_sites(form.layers.source("SITES"), layer, form.feedback)
    return APPROACHES[name](areas, records.profile, sites, options, progress)
