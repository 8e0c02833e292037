"""Components 2 and 3 by transport, as a step."""

from __future__ import annotations

from ...core.aggregation import APPROACHES, AggregationOptions
from ...core.approach import using_setting
from ...core.configuration import chosen
from ...core.language import as_data, tr
from ...core.site_number.given_number import check_n_sites
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import NOT_GIVEN, Conditions
from ..form.form import Form
from ..layers.reading.crosswalks import read_sites


class LocateAllocate(VbasAlgorithm):
    """`vbas:locateallocate`."""

    ID = "locateallocate"
    TAGS = as_data("location-allocation,transportation problem,facility")
    SUMMARY = tr("Finds sites and regions together, so that no region holds more than its share of areas.")
    HELP = tr(
        "<p>The second and third component at once, by heuristics of location-allocation (of Goodchild &amp; Massam "
        "1969 and Cooper 1972, as described by Croft et al. 2018, 2.4). Each area counts one, and each region holds at "
        "most the capacity factor times an even share of areas.</p><p>“alternating location-allocation” solves the "
        "transportation problem to optimality in each round, with proof; “transportation-location” is the "
        "paper's faster heuristic. Without a limit both are much like iterative Voronoi.</p>"
    )

    def declare(self) -> None:
        methods = using_setting(APPROACHES, "capacity_factor")
        self.addParameters(
            *area_parameters(with_population=False),
            approaches.n_sites(optional=False),
            shared.choice(
                "METHOD",
                tr("Method"),
                methods,
                "transportation-location",
                approaches.sentences({name: APPROACHES[name] for name in methods}),
            ),
            approaches.capacity_factor(advanced=False),
            shared.advanced(
                regions.sites_parameter(
                    tr(
                        "Points of your own to start from, in place of the paper's seeding, such as those of “Locate "
                        "sites” or of an earlier run. There are as many regions then as points, less those that keep "
                        "no area."
                    )
                )
            ),
            regions.crosswalk_output(),
            regions.released_regions(),
            *regions.site_outputs(),
        )
        self.addNumbers(**regions.CROSSWALK_NUMBERS)

    def conditions(self) -> Conditions:
        return {"N_SITES": [{"SITES": NOT_GIVEN}]}

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form.job)
        own_sites = (
            read_sites(form.layers.source("SITES"), layer, form.feedback).tolist() if form.given("SITES") else []
        )
        n_sites = len(own_sites) or form.whole("N_SITES")
        check_n_sites(n_sites, len(layer.areas))
        approach = chosen(APPROACHES, form.text("METHOD"), "METHOD")
        options = AggregationOptions(
            capacity_factor=form.number("CAPACITY_FACTOR"), start_sites=tuple(map(tuple, own_sites))
        )
        aggregation = approach(layer.areas, None, n_sites, options, form.progress(stop=70))
        return regions.add_aggregation(form, layer, aggregation)
