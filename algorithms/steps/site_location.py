"""Component 2 as a step."""

from __future__ import annotations

from ...core.approach import looking_at
from ...core.configuration import chosen
from ...core.language import as_data, tr
from ...core.site_location import APPROACHES
from ...core.site_number.given_number import check_n_sites
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import k_parameter
from ..form.records import populated, record_parameters, records_of, unmatched


class SiteLocation(VbasAlgorithm):
    """`vbas:sitelocation`."""

    ID = "sitelocation"
    TAGS = as_data("balanced density,clustering,voronoi")
    SUMMARY = tr("Places the points that draw the regions.")
    HELP = tr(
        "<p>The second component: a number of sites is turned into points (Croft et al. 2018, section 2.2). The result "
        "goes into “Aggregate areas”.</p><p>Use it to compare locations, or to edit the sites by hand before they draw "
        "regions.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            approaches.n_sites(optional=False),
            shared.visible(approaches.site_location()),
            k_parameter(),
            unmatched(),
            shared.seed(),
            regions.site_points(optional=False),
        )
        self.addNumbers(N_SITES=tr("Sites"))

    def conditions(self) -> Conditions:
        return {"SEED": [{"SITE_LOCATION": looking_at(APPROACHES, "seed")}], **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        n_sites = form.whole("N_SITES")
        layer = areas_of(form)
        check_n_sites(n_sites, len(layer.areas))
        records = records_of(form, layer.areas, form.whole("K"))
        approach = chosen(APPROACHES, form.text("SITE_LOCATION"), "SITE_LOCATION")
        options = approaches.location_options_of(form)
        location = approach(populated(layer, records), records.profile, n_sites, options, form.progress())
        form.info(*location.notes)
        form.outputs.add("SITE_POINTS", regions.sites_table(layer, location.sites))
        return {"N_SITES": len(location.sites)}
