"""Many configurations side by side."""

from __future__ import annotations

from ..core.approach import using_setting
from ..core.baselines import BASELINES
from ..core.job.conditions import of_approaches
from ..core.language import as_data, tr
from .baselines import settings
from .compared import compare_all
from .form import approaches, comparisons, scenarios, trade_off
from .form import parameters as shared
from .form.areas import area_parameters
from .form.base import VbasAlgorithm
from .form.effective import GIVEN, Conditions
from .form.form import Form
from .form.guarantees import OVER_TIME, k_parameter, periods
from .form.records import record_parameters, unmatched


class Compare(VbasAlgorithm):
    """`vbas:compare`."""

    ID = "compare"
    TAGS = as_data("trade-off,pareto,evaluation")
    SUMMARY = tr("Runs many combinations of approaches over the same records and rates them side by side.")
    HELP = tr(
        "<p>Every chosen number of regions with every chosen location and aggregation, over one profile of the "
        "records: a row per configuration, and a report with a picture per measure and the trade-off between "
        "suppression and compactness. Nested releases, and baselines (what people did before and do today), can stand "
        "beside them. Nothing is released.</p><p>Use it before a release to see what your records allow. Give "
        "“Suppression budgets to search for”, and coarser values of the attributes, and it searches what coarser "
        "attributes would buy in finer regions. One row is recommended, with its reason and the command that runs "
        "it. For each component the approach that is best in each measure is named and, with “Weights of the "
        "objectives”, the row that is best by your weights.</p><p>With “Scenarios” every configuration is run again "
        "over random selections of the quasi-identifiers, part by part of the country: averages with their ranges say "
        "how much a result hangs on either.</p><p>With “Analyses” outcomes are planted on the records and looked for "
        "in every release, as a researcher would: maps, effects, clusters and rare groups, against the true areas and "
        "against masked points.</p><p>Cancelling keeps the configurations that are finished. A "
        "configuration that fails says so in its row, and the others go on.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            k_parameter(),
            periods(),
            *comparisons.compared_approaches(),
            *trade_off.trade_off_parameters(),
            comparisons.weights(),
            *(p for p in settings.compared() if p.name() != "BUDGET"),
            unmatched(),
            *(p for p in approaches.site_number() if p.name() != "SITE_NUMBER"),
            approaches.n_sites(optional=True),
            approaches.fair(),
            approaches.floor(),
            approaches.start(),
            *scenarios.scenario_parameters(),
            comparisons.analyses(),
            shared.seed(),
            comparisons.comparison_output(),
            scenarios.scenario_output(),
            shared.report(tr("A page with the table, a picture per measure and the trade-off.")),
        )
        self.addNumbers(
            N_CONFIGURATIONS=tr("Configurations run"),
            N_FAILED=tr("Configurations failed"),
            N_SCENARIOS=tr("Scenarios run"),
        )

    def conditions(self) -> Conditions:
        single = dict(of_approaches(*comparisons.CHOICES))
        cutoff = [{**single["CUTOFF"][0], "BASELINES": using_setting(BASELINES, "cutoff")}]
        factors = single.pop("CAPACITY_FACTOR")
        of_baselines = settings.compared_conditions()
        # Two things have a budget, the number of regions and merging; FAIR looks at one, or at those searched for.
        budget = [{**single["BUDGET"][0], **of_baselines["BUDGET"][0]}]
        fair = [{**single["FAIR"][0], "BUDGETS": GIVEN}]
        both = {"CUTOFF": cutoff, "BUDGET": budget, "FAIR": fair, "CAPACITY_FACTORS": factors}
        return {**single, **OVER_TIME, **of_baselines, **both, **trade_off.CONDITIONS, **scenarios.CONDITIONS}

    def work(self, form: Form) -> dict[str, object]:
        return compare_all(form)
