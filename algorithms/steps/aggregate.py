"""Component 3 as a step."""

from __future__ import annotations

from ...core.aggregation import APPROACHES
from ...core.configuration import chosen
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, with_neighbours
from ..form.base import VbasAlgorithm
from ..form.effective import Counts
from ..form.form import Form
from ..form.records import COUNTED_RECORDS, counted_records, populated_by_records
from ..layers.reading.crosswalks import read_sites


class Aggregate(VbasAlgorithm):
    """`vbas:aggregate`."""

    ID = "aggregate"
    TAGS = "voronoi,dissolve,regionalization"
    SUMMARY = "Joins each area to a site and dissolves the areas of each site into a region."
    HELP = (
        "<p>The third component: each area joins a site (Croft et al. 2018, section 2.3); the areas of a site become a "
        "region. The crosswalk says which area is where and goes into “Release records” and “Evaluate regions”.</p>"
        "<p>Sites may come from “Locate sites” or from anywhere: your own points, such as hospitals, will do.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            regions.sites_parameter(
                "Points that draw the regions, in any coordinate reference system. The transport heuristics and "
                "“population floor” choose their own sites: they take only the number of these, and “population floor” "
                "none where a floor is given."
            ),
            shared.visible(approaches.aggregation()),
            *counted_records(
                "Without a population field: the records, whose number in each area is taken for its population "
                "(only “site optimisation” looks at it)."
            ),
            approaches.capacity_factor(),
            approaches.floor(),
            regions.crosswalk_output(),
            regions.released_regions(),
            *regions.site_outputs(),
        )
        self.addNumbers(**regions.CROSSWALK_NUMBERS)

    def counts(self) -> Counts:
        single = approaches.counts()
        return {**{name: single[name] for name in ("CAPACITY_FACTOR", "FLOOR")}, **COUNTED_RECORDS}

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form)
        name = form.text("AGGREGATION")
        approach = chosen(APPROACHES, name, "AGGREGATION")
        options = approaches.aggregation_options_of(form)
        if "floor" in approach.settings and options.floor and not form.given("SITES"):
            sites: object = 1
        else:
            found = read_sites(form.source("SITES"), layer, form.feedback)
            sites = len(found) if approach.own_sites else found
        layer = with_neighbours(form, layer, [name])
        aggregation = approach(populated_by_records(form, layer), None, sites, options, form.progress(stop=70))
        return regions.add_aggregation(form, layer, aggregation)
