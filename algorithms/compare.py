"""Many configurations side by side."""

from __future__ import annotations

from qgis.core import (
    QgsProcessingParameterEnum,
    QgsProcessingParameterString,
)

from ..core.aggregation import APPROACHES as AGGREGATIONS
from ..core.aggregation import AggregationOptions
from ..core.approach import choosing_sites, looking_at
from ..core.baselines import BASELINES
from ..core.comparison import compare, configurations_of
from ..core.configuration import Configuration
from ..core.report.comparison import comparison_report
from ..core.site_location import APPROACHES as SITE_LOCATIONS
from ..core.site_location import LocationOptions
from ..core.site_number import APPROACHES as SITE_NUMBERS
from .baselines import inputs as baseline_inputs
from .form import approaches
from .form import parameters as shared
from .form.areas import area_parameters, areas_of, with_neighbours
from .form.base import VbasAlgorithm
from .form.effective import Counts
from .form.form import Form
from .form.records import k_parameter, populated, record_parameters, records_of, unmatched
from .form.regions import TABLE
from .layers.comparisons import comparison_table
from .layers.tables import INTERNAL


class Compare(VbasAlgorithm):
    """`vbas:compare`."""

    ID = "compare"
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
        located = [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]
        for parameter in (
            *area_parameters(),
            *record_parameters(),
            k_parameter(),
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
                f"What to hold them against. {approaches.sentences(BASELINES)} Their cut-off is “People per region”. "
                "One that lacks something, such as the field of the larger unit, says so in its row.",
            ),
            *baseline_inputs.compared(),
            unmatched(),
            *(p for p in approaches.site_number() if p.name() != "SITE_NUMBER"),
            approaches.n_sites(optional=True),
            approaches.floor(),
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
        single = dict(approaches.counts("SITE_NUMBERS", "SITE_LOCATIONS", "AGGREGATIONS"))
        cutoff = [{**single["CUTOFF"][0], "BASELINES": looking_at(BASELINES, "cutoff")}]
        factors = single.pop("CAPACITY_FACTOR")
        return {**single, **baseline_inputs.compared_counts(), "CUTOFF": cutoff, "CAPACITY_FACTORS": factors}

    def work(self, form: Form) -> dict[str, object]:
        k = form.whole("K")
        configurations = configurations_of(
            *(form.words(name) for name in _CHOICES),
            approaches.numbers_in(form.text("CAPACITY_FACTORS"), "CAPACITY_FACTORS"),
            Configuration(
                number_options=approaches.number_options_of(form),
                location_options=LocationOptions(k=k, seed=form.whole("SEED")),
                aggregation_options=AggregationOptions(floor=form.number("FLOOR")),
            ),
        )
        baselines = form.words("BASELINES")
        layer = areas_of(form)
        names = [*baselines, *(one.aggregation for one in configurations)]
        layer = with_neighbours(form, layer, names)
        records = records_of(form, layer.areas, k)
        outcomes = compare(
            populated(layer, records),
            records.profile,
            configurations,
            k,
            records.n_unmatched,
            form.progress(),
            baselines,
            baseline_inputs.compared_options_of(form),
        )
        if not outcomes:
            form.check_cancelled()
        for outcome in outcomes:
            if outcome.problem:
                form.warn(f"{outcome.name} failed: {outcome.problem}")
        form.outputs.keep_after_cancel()
        form.outputs.add("COMPARISON", comparison_table(outcomes))
        form.outputs.add_text(
            "REPORT",
            lambda: comparison_report(
                outcomes,
                k,
                len(configurations) + len(baselines),
                form.rows(),
                records.warnings,
            ),
        )
        failed = sum(bool(outcome.problem) for outcome in outcomes)
        return {"N_CONFIGURATIONS": len(outcomes) - failed, "N_FAILED": failed}


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
