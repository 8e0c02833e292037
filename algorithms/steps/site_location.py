"""Component 2 as a step."""

from __future__ import annotations

from dataclasses import replace

from ...core.approach import using_setting
from ...core.configuration import chosen
from ...core.job import configuring
from ...core.language import as_data, tr
from ...core.site_location import APPROACHES
from ...core.site_number.given_number import check_n_sites
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import NOT_GIVEN, Condition, Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import k_parameter
from ..form.records import populated, record_parameters, records_of, unmatched
from ..layers.reading.crosswalks import read_sites

STARTED = using_setting(APPROACHES, "start")


class SiteLocation(VbasAlgorithm):
    """`vbas:sitelocation`."""

    ID = "sitelocation"
    TAGS = as_data("balanced density,clustering,voronoi")
    SUMMARY = tr("Places the points that draw the regions.")
    HELP = tr(
        "<p>The second component: a number of sites is turned into points (Croft et al. 2018, section 2.2). The result "
        "goes into “Aggregate areas”.</p><p>Use it to compare locations, to edit the sites by hand before they draw "
        "regions, or to have sites of your own moved by anonymity-driven clustering.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            approaches.n_sites(optional=False),
            shared.visible(approaches.site_location()),
            approaches.start(),
            shared.advanced(
                regions.sites_parameter(
                    tr(
                        "For both kinds of anonymity-driven clustering: points of your own to start from, in place of "
                        "START, such as those of an earlier run or of hospitals. There are as many sites then as "
                        "points, less those that no area is nearest to."
                    )
                )
            ),
            k_parameter(),
            unmatched(),
            shared.seed(),
            regions.site_points(optional=False),
        )
        self.addNumbers(N_SITES=tr("Sites"))

    def conditions(self) -> Conditions:
        others = [name for name in APPROACHES if name not in STARTED]
        clustering: Condition = {"SITE_LOCATION": STARTED}
        drawn = using_setting(APPROACHES, "seed")
        return {
            "N_SITES": [{"SITES": NOT_GIVEN, "SITE_LOCATION": others}],
            "SITES": [clustering],
            "START": [clustering, {"SITES": NOT_GIVEN}],
            "SEED": [{"SITE_LOCATION": drawn, "START": drawn}],
            **GENERALISING,
        }

    def work(self, form: Form) -> dict[str, object]:
        name = form.text("SITE_LOCATION")
        approach = chosen(APPROACHES, name, "SITE_LOCATION")
        layer, options = areas_of(form.job), configuring.location_options_of(form.job)
        if name in STARTED and form.given("SITES"):
            own_sites = read_sites(form.layers.source("SITES"), layer, form.feedback)
            options = replace(options, start_sites=tuple(map(tuple, own_sites.tolist())))
            n_sites = len(own_sites)
        else:
            n_sites = form.whole("N_SITES")
            check_n_sites(n_sites, len(layer.areas))
        records = records_of(form.job, layer.areas, form.whole("K"))
        location = approach(populated(layer, records), records.profile, n_sites, options, form.progress())
        form.info(*location.notes)
        form.outputs.add("SITE_POINTS", regions.sites_table(layer, location.sites))
        return {"N_SITES": len(location.sites)}
