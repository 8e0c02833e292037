"""Component 3 as a step."""

from __future__ import annotations

from ...core.aggregation import APPROACHES
from ...core.approach import looking_at
from ...core.configuration import chosen
from ...core.language import as_data, tr
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, with_neighbours
from ..form.base import VbasAlgorithm
from ..form.effective import Condition, Conditions
from ..form.form import Form
from ..form.generalising import conditions_where
from ..form.guarantees import k_parameter
from ..form.records import COUNTED_RECORDS, counted_records, unmatched
from .joining import exchange_parameters, joined, joined_by_classes


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
        single = approaches.conditions()
        exchanging: Condition = {"AGGREGATION": looking_at(APPROACHES, "k")}
        of_classes = ("QUASI_IDENTIFIERS", "PERIOD", "K", "BUDGET", "START", "UNMATCHED", "SEED")
        return {
            **{name: single[name] for name in ("CAPACITY_FACTOR", "FLOOR")},
            **COUNTED_RECORDS,
            **conditions_where(exchanging),
            **{name: [exchanging] for name in of_classes},
        }

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form)
        name = form.text("AGGREGATION")
        approach = chosen(APPROACHES, name, "AGGREGATION")
        layer = with_neighbours(form, layer, [name])
        aggregation = (joined_by_classes if approach.starts_from else joined)(form, layer)
        return regions.add_aggregation(form, layer, aggregation)
