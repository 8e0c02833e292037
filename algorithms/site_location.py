"""Component 2 as a step."""

from __future__ import annotations

from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import configuring, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import Counts
from .layers.feedback import progress_of
from .layers.outputs import Outputs


class SiteLocation(VbasAlgorithm):
    """`vbas:sitelocation`."""

    ID = "sitelocation"
    TITLE = "Locate sites"
    GROUP = "steps"
    TAGS = "balanced density,clustering,voronoi"
    SUMMARY = "Places the points that draw the regions."
    HELP = (
        "<p>The second component: a number of sites becomes points (Croft et al. 2018, section 2.2). The result goes "
        "into “Aggregate areas”.</p><p>Use it to compare locations, or to edit the sites by hand before they draw "
        "regions.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.areas(),
            *shared.records(),
            configuring.n_sites(optional=False),
            shared.visible(configuring.site_location()),
            shared.k(),
            shared.unmatched(),
            shared.seed(),
            region_outputs.site_points(optional=False),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_SITES="Sites")

    def counts(self) -> Counts:
        return {"SEED": configuring.counts()["SEED"]}

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.configuration import chosen
        from ..core.site_location import APPROACHES, LocationOptions
        from ..core.site_number.given_number import check_n_sites

        with Outputs(self, parameters, context, feedback) as outputs:
            k = self.parameterAsInt(parameters, "K", context)
            n_sites = self.parameterAsInt(parameters, "N_SITES", context)
            layer = inputs.areas_of(self, parameters, context, feedback)
            check_n_sites(n_sites, len(layer.areas))
            records = inputs.records_of(self, parameters, layer.areas, k, context, feedback)
            approach = chosen(APPROACHES, self.text(parameters, "SITE_LOCATION", context), "SITE_LOCATION")
            options = LocationOptions(k=k, seed=self.parameterAsInt(parameters, "SEED", context))
            location = approach(
                inputs.populated(layer, records), records.profile, n_sites, options, progress_of(feedback)
            )
            for note in location.notes:
                feedback.pushInfo(note)
            outputs.add("SITE_POINTS", region_outputs.sites_table(layer, location.sites))
            results = outputs.deliver()
        return {**results, "N_SITES": len(location.sites)}
