"""Component 1 as a step."""

from __future__ import annotations

from ...core.language import as_data, tr
from ..form import approaches
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import k_parameter
from ..form.records import record_parameters, unmatched
from .numbers import budget_conditions, budget_parameters, published_number, tried_number, tries


class SiteNumber(VbasAlgorithm):
    """`vbas:sitenumber`."""

    ID = "sitenumber"
    TAGS = as_data("entropy,max combinations,cut-off")
    SUMMARY = tr("Says how many regions the records' quasi-identifiers allow.")
    HELP = tr(
        "<p>The first component: the quasi-identifiers of the records give the population that a region needs, and "
        "that gives the number of sites (Croft et al. 2018, section 2.1).</p><p>Use it to see what the models make of "
        "your quasi-identifiers before you settle on them, or as the first step of a model. Give the areas too if "
        "records of unknown areas are not to count; “suppression budget” needs them, and tries numbers with the "
        "location and aggregation chosen here, which should be those of the steps that follow.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            shared.source(
                "REGIONS",
                tr("Areas"),
                tr(
                    "The areas, if their number is to limit the sites and their identifiers to choose the "
                    "cut-off model; without them the areas that occur in the records."
                ),
                shared.POLYGONS,
                shared.POINTS,
                optional=True,
            ),
            shared.field(
                "REGION_ID",
                tr("Field with the area code, in the areas"),
                "REGIONS",
                tr("The field that names each area."),
                optional=True,
            ),
            unmatched(),
            k_parameter(),
            *(shared.visible(parameter) for parameter in approaches.site_number()),
            shared.visible(approaches.n_sites(optional=True)),
            *budget_parameters(),
        )
        self.addNumbers(
            N_SITES=tr("Sites"),
            N_SITES_ASKED=tr("Sites the cut-off asks for, before the limit of one per area"),
            CUTOFF=tr("People a region needs"),
            ENTROPY=tr("Entropy of the classes"),
            MAX_COMBINATIONS=tr("Possible classes"),
        )

    def conditions(self) -> Conditions:
        single = approaches.conditions()
        of_regions: Conditions = {name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "UNMATCHED")}
        # The base of the logarithm counts always: the entropy is among the results.
        of_number = {name: where for name, where in single.items() if name != "LOG_BASE"}
        return {**of_number, **of_regions, **budget_conditions(), **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        number = tried_number(form) if tries(form) else published_number(form)
        form.info(*number.notes)
        return {
            "N_SITES": number.n_sites,
            "N_SITES_ASKED": number.asked,
            "CUTOFF": number.cutoff,
            "ENTROPY": number.entropy,
            "MAX_COMBINATIONS": number.max_combinations,
        }
