"""A comparison as a job: what was chosen at every k, the searched trade-off, and the row to choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qgis.core import QgsApplication, QgsProcessingAlgorithm

from ..core.analysis.planted_comparison import PlantedComparison
from ..core.areas import Areas
from ..core.attribute_costs import attribute_costs, cost_sentence
from ..core.best_approaches import best_approaches, component_sentences
from ..core.comparison import compare
from ..core.configuration import Configuration
from ..core.generalising import generalise_profile
from ..core.job.generalising import coarser_of
from ..core.job.reading import same_in_all_of
from ..core.language import tr
from ..core.outcome import Outcome, with_pareto
from ..core.progress import Progress, part
from ..core.recommendation import with_recommendation
from ..core.records.matching import Records
from ..core.report.comparison import comparison_report
from ..core.report.cost import costs_section
from ..core.report.objectives import best_approaches_section, researcher_section, weighted_section
from ..core.report.page import Section
from ..core.suppression import Terms, in_all_periods, suppressed_by_class, suppression_percent
from ..core.weighted_sum import best_sentences, weights_of, with_weighted_sums
from .baselines import settings
from .form import comparisons, scenarios, trade_off
from .form.areas import areas_of, with_neighbours
from .form.command import command_of
from .form.form import Form
from .form.provenance import provenance_of
from .form.records import populated, records_of
from .layers.feedback import READ
from .layers.inputs import Inputs

# The steps of a run, each of which takes as much of the bar.
COMPARED, SEARCHED, ANALYSED, SCENARIOS = range(4)


def compare_all(form: Form) -> dict[str, object]:
    """`vbas:compare`."""
    ks = trade_off.ks_of(form)
    names = trade_off.searched_approaches(form.words("SITE_LOCATIONS"), form.words("AGGREGATIONS"))
    configurations = comparisons.compared_configurations_of(form)
    baselines = form.words("BASELINES")
    needed = [*baselines, *(configuration.aggregation for configuration in configurations), names[1]]
    layer = with_neighbours(form.job, areas_of(form.job), needed)
    records = records_of(form.job, layer.areas, ks[0])
    areas = populated(layer, records)
    asked = scenarios.asked_scenarios(form, areas, records)
    weights = weights_of(form.text("WEIGHTS"))
    analyses = comparisons.planted_of(form, areas, records)
    compared = _compared(form, areas, records, configurations, analyses)
    outcomes = with_pareto([*compared, *_searched(form, areas, records, names)])
    if not outcomes:
        form.check_cancelled()
    limit = min(trade_off.budgets_of(form), default=form.number("BUDGET"))
    outcomes, reason = with_recommendation(outcomes, records.profile, ks[0], limit)
    outcomes = with_weighted_sums(outcomes, weights)
    failed = [outcome for outcome in outcomes if outcome.problem and outcome.budget is None]
    form.warn(*(tr("{name} failed: {problem}", name=outcome.name, problem=outcome.problem) for outcome in failed))
    form.outputs.keep_after_cancel()
    form.outputs.add("COMPARISON", comparisons.comparison_table(outcomes, records.profile.quasi_identifiers))
    sections = [*_recommended(form, records, outcomes, reason), *_by_objective(form, outcomes, weights)]
    sections.append(_for_a_researcher(form, outcomes, ks, analyses))
    n_scenarios, averaged = _averaged(form, areas, records, configurations, asked)
    wanted = len(ks) * (len(configurations) + len(form.words("NESTED")) + len(baselines))
    wanted += sum(outcome.budget is not None for outcome in outcomes)
    form.outputs.add_text(
        "REPORT",
        lambda: comparison_report(outcomes, ks, wanted, provenance_of(form), records.notes, [*sections, *averaged]),
    )
    n_run = sum(outcome.measures is not None for outcome in outcomes)
    if form.feedback.isCanceled():
        form.warn(
            tr(
                "Cancelled: {n} of {wanted} configurations are finished, and kept where they go to files; QGIS loads "
                "no layers of a run that was cancelled.",
                n=n_run,
                wanted=wanted,
            )
        )
    return {"N_CONFIGURATIONS": n_run, "N_FAILED": len(failed), "N_SCENARIOS": n_scenarios}


def _compared(
    form: Form,
    areas: Areas,
    records: Records,
    configurations: list[Configuration],
    analyses: PlantedComparison | None,
) -> Iterator[Outcome]:
    """The chosen approaches, nested releases and baselines at every k, with what is found of planted outcomes."""
    ks = trade_off.ks_of(form)
    whole = _stretch(form, COMPARED)
    for done, k in enumerate(ks):
        yield from compare(
            areas,
            records.profile,
            [comparisons.at_k(configuration, k) for configuration in configurations],
            k,
            records.n_unmatched,
            part(whole, done / len(ks), (done + 1) / len(ks)),
            form.words("BASELINES"),
            settings.compared_options_of(form, areas),
            form.words("NESTED"),
            comparisons.at_k(comparisons.settings_of(form), k),
            in_all_periods(Terms(k, n_unmatched=records.n_unmatched), records.profile, same_in_all_of(form.job)),
            analyses,
        )


def _searched(form: Form, areas: Areas, records: Records, names: tuple[str, str]) -> list[Outcome]:
    if not trade_off.budgets_of(form):
        return []
    settings_of_all, progress = comparisons.settings_of(form), _stretch(form, SEARCHED)
    return trade_off.searched(form, areas, records, settings_of_all, names, progress)


def _for_a_researcher(
    form: Form, outcomes: list[Outcome], ks: list[int], analyses: PlantedComparison | None
) -> Section:
    """What a researcher finds of planted outcomes; an empty section where none are."""
    if analyses is None:
        return researcher_section([], [], None)
    references = analyses.references(ks, _stretch(form, ANALYSED))
    return researcher_section(outcomes, references, analyses.planting)


def _averaged(
    form: Form, areas: Areas, records: Records, configurations: list[Configuration], asked: scenarios.Scenarios | None
) -> tuple[int, list[Section]]:
    """How many scenarios were run, and what is said of them."""
    if asked is None:
        return 0, []
    by_k = {k: [comparisons.at_k(configuration, k) for configuration in configurations] for k in trade_off.ks_of(form)}
    return scenarios.averages_over(form, asked, areas, records, by_k, _stretch(form, SCENARIOS))


def _by_objective(form: Form, outcomes: list[Outcome], weights: dict[str, float]) -> list[Section]:
    """What is best by the user's weights, and which approach of each component in each measure."""
    best = best_approaches([outcomes])
    form.info(*best_sentences(outcomes, weights), *component_sentences(best))
    return [weighted_section(outcomes, weights), best_approaches_section(best)]


def _stretch(form: Form, step: int) -> Progress:
    """The stretch of the bar that a step takes, of those that this run has."""
    asked = {
        COMPARED: True,
        SEARCHED: bool(trade_off.budgets_of(form)),
        ANALYSED: form.whole("ANALYSES") > 0,
        SCENARIOS: form.whole("SCENARIOS") > 0,
    }
    steps = [number for number, wanted in asked.items() if wanted]
    share, position = 100.0 / len(steps), steps.index(step)
    return form.progress(max(READ, share * position), share * (position + 1))


def _recommended(form: Form, records: Records, outcomes: list[Outcome], reason: str) -> list[Section]:
    """What is said of the row to choose: why, what its attributes cost, and the command that runs it."""
    form.info(reason)
    best = next((outcome for outcome in outcomes if outcome.recommended), None)
    if best is None or best.crosswalk is None or best.configuration is None:
        return [Section(tr("What to choose"), (reason,))]
    hierarchies = coarser_of(form.job, records.table)
    levels = dict(best.generalised)
    node = [levels.get(name, 0) for name in records.profile.quasi_identifiers]
    profile, _ = generalise_profile(records.profile, hierarchies, node)
    further = {name: hierarchy.above(levels.get(name, 0)) for name, hierarchy in hierarchies.items()}
    terms = in_all_periods(Terms(best.k, n_unmatched=records.n_unmatched), profile, same_in_all_of(form.job))
    percent = suppression_percent(profile, suppressed_by_class(profile, best.crosswalk, terms), terms)
    costs = attribute_costs(profile, best.crosswalk, terms, further)
    # Of the provider, which the command names; the form by itself knows none.
    algorithm = QgsApplication.processingRegistry().createAlgorithmById("vbas:anonymize")
    inputs = inputs_for(form, algorithm, records, best, best.configuration)
    command, caveats = command_of(inputs, algorithm.effective(inputs.parameters, form.context).given())
    worst = [] if best.worst is None or not percent else [best.worst.sentence(percent)]
    form.info(*worst, *([cost_sentence(percent, costs)] if percent else []), tr("It is run by:"), command, *caveats)
    return [
        Section(tr("What to choose"), (reason, *worst, *caveats, tr("This command runs it (bash):")), code=command),
        replace(costs_section(percent, costs), heading=tr("Which attribute costs what in it")),
    ]


RELEASE = "released.gpkg"
TAKEN_OVER = (
    "REGIONS",
    "REGION_ID",
    "POPULATION",
    "AREA_POINT",
    "RECORDS",
    "RECORD_REGION",
    "QUASI_IDENTIFIERS",
    "PERIOD",
    "PERIODS",
    "RECORD_COUNT",
    "UNMATCHED",
    "HIERARCHIES",
    "HIERARCHY_RULES",
    "GAPS_REGION",
    "GAPS_COEFFICIENT",
    "GAPS_EXPONENT",
    "LOG_BASE",
    "CUTOFF",
    "N_SITES",
    "FLOOR",
    "BUDGET",
    "FAIR",
    "START",
    "SEED",
)


def inputs_for(
    form: Form, algorithm: QgsProcessingAlgorithm, records: Records, row: Outcome, chosen: Configuration
) -> Inputs:
    """What the main algorithm is given to make the regions of a row again, which its configuration of one level made.

    A row that was searched is made by the number of sites that the search found: the same regions without searching.
    """
    parameters: dict[str, object] = {name: form.parameters[name] for name in TAKEN_OVER if form.given(name)}
    parameters.update(K=row.k, COMBINATION="custom", AGGREGATION=chosen.aggregation, SITE_NUMBER=chosen.site_number)
    if chosen.site_location:
        parameters["SITE_LOCATION"] = chosen.site_location
    if chosen.has_capacities:
        parameters["CAPACITY_FACTOR"] = chosen.aggregation_options.capacity_factor
    if row.budget is not None:
        parameters.update(SITE_NUMBER="given number", N_SITES=chosen.number_options.n_sites)
    levels = {name: column.level for name, column in records.table.coarsened.items()}
    for name, level in row.generalised:
        levels[name] = levels.get(name, 0) + level
    if levels:
        parameters["GENERALISE"] = [cell for name, level in levels.items() for cell in (name, level)]
    parameters["RELEASED_RECORDS"] = RELEASE
    return Inputs(algorithm, parameters, form.context)
