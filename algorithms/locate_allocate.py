"""Components 2 and 3 by transport, as a step."""

from __future__ import annotations

from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import configuring, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .layers.feedback import progress_of
from .layers.outputs import Outputs


class LocateAllocate(VbasAlgorithm):
    """`vbas:locateallocate`."""

    ID = "locateallocate"
    TITLE = "Locate and allocate by transport"
    GROUP = "steps"
    TAGS = "location-allocation,transportation problem,facility"
    SUMMARY = "Finds sites and regions together, so that no region holds more than its share of areas."
    HELP = (
        "<p>The second and third component at once, by heuristics of location-allocation (of Goodchild &amp; Massam "
        "1969 and Cooper 1972, as described by Croft et al. 2018, 2.4). Each area counts one, and each region holds at "
        "most the capacity factor times an even share of areas.</p><p>“alternating location-allocation” solves the "
        "transportation problem to optimality in each round, with proof; “transportation-location” is the "
        "paper's faster heuristic. Without a limit both are much like iterative Voronoi.</p>"
    )

    def declare(self) -> None:
        from ..core.aggregation import APPROACHES
        from ..core.approach import looking_at

        methods = looking_at(APPROACHES, "capacity_factor")
        for parameter in (
            *shared.areas(with_population=False),
            configuring.n_sites(optional=False),
            shared.choice(
                "METHOD",
                "Method",
                methods,
                "transportation-location",
                configuring.sentences({name: APPROACHES[name] for name in methods}),
            ),
            configuring.capacity_factor(advanced=False),
            region_outputs.crosswalk_output(),
            region_outputs.released_regions(),
            *region_outputs.site_outputs(),
        ):
            self.addParameter(parameter)
        self.addNumbers(**region_outputs.CROSSWALK_NUMBERS)

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.aggregation import APPROACHES, AggregationOptions
        from ..core.configuration import chosen
        from ..core.site_number.given_number import check_n_sites

        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            n_sites = self.parameterAsInt(parameters, "N_SITES", context)
            check_n_sites(n_sites, len(layer.areas))
            approach = chosen(APPROACHES, self.text(parameters, "METHOD", context), "METHOD")
            options = AggregationOptions(capacity_factor=self.parameterAsDouble(parameters, "CAPACITY_FACTOR", context))
            aggregation = approach(layer.areas, n_sites, options, progress_of(feedback, stop=70))
            results = region_outputs.add_aggregation(outputs, layer, aggregation, feedback)
        return results
