"""Component 2 as a step."""

from __future__ import annotations

from ..core.configuration import chosen
from ..core.site_location import APPROACHES, DRAWN, LocationOptions
from ..core.site_number.given_number import check_n_sites
from . import configuring, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import Counts
from .form import Form


class SiteLocation(VbasAlgorithm):
    """`vbas:sitelocation`."""

    ID = "sitelocation"
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
        return {"SEED": [{"SITE_LOCATION": sorted(DRAWN)}]}

    def work(self, form: Form) -> dict[str, object]:
        k = form.whole("K")
        n_sites = form.whole("N_SITES")
        layer = inputs.areas_of(form)
        check_n_sites(n_sites, len(layer.areas))
        records = inputs.records_of(form, layer.areas, k)
        approach = chosen(APPROACHES, form.text("SITE_LOCATION"), "SITE_LOCATION")
        options = LocationOptions(k=k, seed=form.whole("SEED"))
        location = approach(inputs.populated(layer, records), records.profile, n_sites, options, form.progress())
        for note in location.notes:
            form.info(note)
        form.outputs.add("SITE_POINTS", region_outputs.sites_table(layer, location.sites))
        return {"N_SITES": len(location.sites)}
