"""Many configurations side by side."""

from __future__ import annotations

from ..core.approach import looking_at
from ..core.baselines import BASELINES
from ..core.comparison import compare
from ..core.report.comparison import comparison_report
from .baselines import settings
from .form import approaches, comparisons
from .form import parameters as shared
from .form.areas import area_parameters, areas_of, with_neighbours
from .form.base import VbasAlgorithm
from .form.effective import Counts
from .form.form import Form
from .form.generalising import COUNTS as GENERALISING
from .form.records import k_parameter, populated, record_parameters, records_of, terms_of, unmatched
from .form.running import running_of


class Compare(VbasAlgorithm):
    """`vbas:compare`."""

    ID = "compare"
    TAGS = "trade-off,pareto,evaluation"
    SUMMARY = "Runs many combinations of approaches over the same records and rates them side by side."
    HELP = (
        "<p>Every chosen number of regions with every chosen location and aggregation, over one profile of the "
        "records: a row per configuration, and a report with a picture per measure and the trade-off between "
        "suppression and compactness. Nested releases, and baselines (what people did before and do today), can stand "
        "beside them. Nothing is released.</p><p>Use it before a release to see what your records allow; then choose "
        "the configuration in “Anonymise records”. Cancelling keeps the configurations that are finished. A "
        "configuration that fails says so in its row, and the others go on.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            k_parameter(),
            *comparisons.compared_approaches(),
            *settings.compared(),
            unmatched(),
            *(p for p in approaches.site_number() if p.name() != "SITE_NUMBER"),
            approaches.n_sites(optional=True),
            approaches.fair(),
            approaches.floor(),
            shared.seed(),
            comparisons.comparison_output(),
            shared.report("A page with the table, a picture per measure and the trade-off."),
        )
        self.addNumbers(N_CONFIGURATIONS="Configurations run", N_FAILED="Configurations failed")

    def counts(self) -> Counts:
        single = dict(approaches.counts(*comparisons.CHOICES))
        cutoff = [{**single["CUTOFF"][0], "BASELINES": looking_at(BASELINES, "cutoff")}]
        factors = single.pop("CAPACITY_FACTOR")
        return {**single, **settings.compared_counts(), "CUTOFF": cutoff, "CAPACITY_FACTORS": factors, **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        k = form.whole("K")
        configurations = comparisons.compared_configurations_of(form)
        nested, baselines = form.words("NESTED"), form.words("BASELINES")
        names = [*baselines, *(one.aggregation for one in configurations)]
        layer = with_neighbours(form, areas_of(form), names)
        records = records_of(form, layer.areas, k)
        outcomes = compare(
            populated(layer, records),
            records.profile,
            configurations,
            k,
            records.n_unmatched,
            form.progress(),
            baselines,
            settings.compared_options_of(form),
            nested,
            comparisons.settings_of(form),
            terms_of(form, records),
        )
        if not outcomes:
            form.check_cancelled()
        form.warn(*(f"{outcome.name} failed: {outcome.problem}" for outcome in outcomes if outcome.problem))
        form.outputs.keep_after_cancel()
        form.outputs.add("COMPARISON", comparisons.comparison_table(outcomes))
        n_wanted = len(configurations) + len(nested) + len(baselines)
        form.outputs.add_text(
            "REPORT", lambda: comparison_report(outcomes, k, n_wanted, running_of(form), records.notes)
        )
        failed = sum(bool(outcome.problem) for outcome in outcomes)
        return {"N_CONFIGURATIONS": len(outcomes) - failed, "N_FAILED": failed}
