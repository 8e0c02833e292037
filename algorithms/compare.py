"""Many configurations side by side."""

from __future__ import annotations

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingParameterEnum,
    QgsProcessingParameterString,
)

from . import baseline_inputs, configuring, inputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import Counts
from .layers.comparisons import comparison_table
from .layers.feedback import check_cancelled, progress_of
from .layers.outputs import Outputs
from .layers.tables import INTERNAL
from .region_outputs import TABLE
from .reporting import parameter_rows


class Compare(VbasAlgorithm):
    """`vbas:compare`."""

    ID = "compare"
    TITLE = "Compare configurations"
    GROUP = "compare"
    TAGS = "trade-off,pareto,evaluation"
    SUMMARY = "Runs many combinations of approaches over the same records and rates them side by side."
    HELP = (
        "<p>Every chosen number of regions with every chosen location and aggregation, over one profile of the "
        "records: a row per configuration, and a report with a picture per measure and the trade-off between "
        "suppression and compactness. Baselines, what people did before and do today, can stand beside them. Nothing "
        "is released.</p><p>Use it before a release to see what your records allow; then choose the configuration in "
        "“Anonymise records”. Cancelling keeps the configurations that are finished. One that fails is told in its "
        "row, and the others go on.</p>"
    )

    def declare(self) -> None:
        from ..core.aggregation import APPROACHES as AGGREGATIONS
        from ..core.approach import choosing_sites
        from ..core.baselines import BASELINES
        from ..core.site_location import APPROACHES as SITE_LOCATIONS
        from ..core.site_number import APPROACHES as SITE_NUMBERS

        located = [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]
        for parameter in (
            *shared.areas(),
            *shared.records(),
            shared.k(),
            _several(
                "SITE_NUMBERS",
                "Numbers of regions",
                list(SITE_NUMBERS),
                ["max combinations", "entropy"],
            ),
            _several("SITE_LOCATIONS", "Site locations", list(SITE_LOCATIONS), ["balanced density"]),
            _several("AGGREGATIONS", "Aggregations", list(AGGREGATIONS), located),
            shared.described(
                QgsProcessingParameterString("CAPACITY_FACTORS", "Capacity factors", defaultValue="1,1.2,2,5,0"),
                "For the transport heuristics, one configuration each: numbers from 1, separated by commas; 0 sets no "
                "limit.",
                advanced=True,
            ),
            _several(
                "BASELINES",
                "Baselines",
                list(BASELINES),
                [],
                f"What to hold them against. {configuring.sentences(BASELINES)} Their cut-off is “People per region”. "
                "One that lacks something, such as the field of the larger unit, says so in its row.",
            ),
            *baseline_inputs.compared(),
            shared.unmatched(),
            *(p for p in configuring.site_number() if p.name() != "SITE_NUMBER"),
            configuring.n_sites(optional=True),
            configuring.floor(),
            shared.seed(),
            shared.sink(
                "COMPARISON",
                "Comparison",
                INTERNAL,
                "A row per configuration with its measures (a baseline stands under its name); combination is its "
                "number in Croft et al. (2018, Table 4), pareto is 1 where no other row is better in every measure but "
                "time, problem says why a configuration failed.",
                TABLE,
            ),
            shared.report("A page with the table, a picture per measure and the trade-off."),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_CONFIGURATIONS="Configurations run", N_FAILED="Configurations failed")

    def counts(self) -> Counts:
        from ..core.approach import looking_at
        from ..core.baselines import BASELINES

        single = dict(configuring.counts("SITE_NUMBERS", "SITE_LOCATIONS", "AGGREGATIONS"))
        cutoff = [{**single["CUTOFF"][0], "BASELINES": looking_at(BASELINES, "cutoff")}]
        factors = single.pop("CAPACITY_FACTOR")
        return {**single, **baseline_inputs.compared_counts(), "CUTOFF": cutoff, "CAPACITY_FACTORS": factors}

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.aggregation import AggregationOptions
        from ..core.comparison import compare, configurations_of
        from ..core.configuration import Configuration
        from ..core.report.comparison import comparison_report
        from ..core.site_location import LocationOptions

        k = self.parameterAsInt(parameters, "K", context)
        configurations = configurations_of(
            *(self.words(parameters, name, context) for name in _CHOICES),
            configuring.numbers_in(self.text(parameters, "CAPACITY_FACTORS", context), "CAPACITY_FACTORS"),
            Configuration(
                number_options=configuring.number_options_of(self, parameters, context),
                location_options=LocationOptions(k=k, seed=self.parameterAsInt(parameters, "SEED", context)),
                aggregation_options=AggregationOptions(floor=self.parameterAsDouble(parameters, "FLOOR", context)),
            ),
        )
        baselines = self.words(parameters, "BASELINES", context)
        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            approaches = [*baselines, *(one.aggregation for one in configurations)]
            layer = inputs.with_neighbours(layer, approaches, feedback)
            records = inputs.records_of(self, parameters, layer.areas, k, context, feedback)
            outcomes = compare(
                inputs.populated(layer, records),
                records.profile,
                configurations,
                k,
                records.n_unmatched,
                progress_of(feedback),
                baselines,
                baseline_inputs.compared_options_of(self, parameters, context),
            )
            if not outcomes:
                check_cancelled(feedback)
            for outcome in outcomes:
                if outcome.problem:
                    feedback.pushWarning(f"{outcome.name} failed: {outcome.problem}")
            outputs.keep_after_cancel()
            outputs.add("COMPARISON", comparison_table(outcomes))
            outputs.add_text(
                "REPORT",
                lambda: comparison_report(
                    outcomes,
                    k,
                    len(configurations) + len(baselines),
                    parameter_rows(self, parameters, context),
                    records.warnings,
                ),
            )
            results = outputs.deliver()
        failed = sum(bool(outcome.problem) for outcome in outcomes)
        return {**results, "N_CONFIGURATIONS": len(outcomes) - failed, "N_FAILED": failed}


_CHOICES = ("SITE_NUMBERS", "SITE_LOCATIONS", "AGGREGATIONS")


def _several(
    name: str, label: str, options: list[str], default: list[str], text: str = "Which of these to compare."
) -> QgsProcessingParameterEnum:
    # By their positions: the dialog of QGIS 3.22 cannot choose several words. Headless, words do as well.
    return shared.described(
        QgsProcessingParameterEnum(
            name,
            label,
            options,
            allowMultiple=True,
            defaultValue=[options.index(word) for word in default],
            optional=not default,
        ),
        text,
    )
