"""A nested release as a job: of the main algorithm, of its last step, and of its evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.areas import Areas
from ...core.configuration import Configuration, Run, aggregate
from ...core.convergence import Convergence
from ...core.errors import InputError
from ...core.evaluation import Measures, evaluate
from ...core.language import tr
from ...core.levels import Levels
from ...core.nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ...core.nesting.making import build_levels
from ...core.nesting.measures import LevelAudit, evaluate_levels
from ...core.nesting.planning import nest
from ...core.nesting.recount import check_where_shown
from ...core.plan import Plan, suppress
from ...core.records.matching import Records
from ...core.release import smallest_class
from ...core.report.nested import NestedAccount, nested_report
from ...core.ties import ties_of
from ..form import approaches, regions
from ..form.areas import areas_of
from ..form.conclusion import conclude
from ..form.editions import add_release_edition, ground_of, people_in
from ..form.form import Form
from ..form.guarantees import required_of, terms_of
from ..form.lost import say_who_is_lost
from ..form.records import populated, records_of
from ..form.release import release_table, released
from ..form.running import running_of
from ..layers.shapes.areas import AreaLayer
from ..privacy.dependence import crosswalk_sentence
from ..privacy.earlier import protected
from ..privacy.rule import rule_sentences
from .coarser import asks_for_coarser, levels_to_show, release_with_coarser
from .levels import CONFIGURATION, layer_for_levels, level_options_of, levels_of, sentence
from .made import Made

NUMBERS = {
    "N_LEVELS": tr("Levels"),
    "MEAN_DISTANCE": tr("Mean distance of the people of a record's region from its middle, metres"),
}


def anonymize_nested(form: Form) -> dict[str, object]:
    """`vbas:anonymize` with nested levels."""
    k, coarser = form.whole("K"), asks_for_coarser(form)
    configuration = approaches.configuration_of(form)
    layer = layer_for_levels(form, areas_of(form), configuration.aggregation)
    records = records_of(form, layer.areas, k)
    areas = populated(layer, records)
    seconds = {tr("reading"): form.seconds()}
    run, single = _single_level(form, areas, records, configuration, k)
    finest = run.aggregation.crosswalk if run and form.text("FINEST") == CONFIGURATION else None
    options = level_options_of(
        form, configuration.site_location, configuration.aggregation, configuration.aggregation_options
    )
    step = form.progress(30, 45)
    levels = levels_of(form, areas, lambda: build_levels(areas, records.profile, finest, options, step))
    notes = (*rule_sentences(form, nested=True), crosswalk_sentence(form, _looking_at_classes(form, configuration)))
    form.info(sentence(levels), *notes)
    seconds[tr("levels")] = form.seconds() - sum(seconds.values())
    make = release_with_coarser if coarser else plan_and_release
    made = make(form, areas, records, levels, k, form.text("LOSS"), areas.population)
    seconds[tr("optimum, release and recount")] = form.seconds() - sum(seconds.values())
    levels = made.plan.levels
    table = release_table(form, made.release, levels, made.records, k, True, made.as_text)
    form.outputs.add("RELEASED_RECORDS", *table, progress=form.progress(65, 80))
    series = run.convergence if run and finest is not None else ()
    measures, _ = add_levels(form, layer, areas, made.records, made.plan, single, seconds, made, series, notes)
    if form.outputs.wanted("SITE_POINTS") or form.outputs.wanted("VORONOI"):
        form.warn(tr("Nested levels have no sites: SITE_POINTS and VORONOI are not made."))
    return {**regions.numbers(measures), **numbers(levels, measures)}


def release_nested(form: Form) -> dict[str, object]:
    """`vbas:releaserecords` with a crosswalk of several levels, or with levels that show coarser values."""
    k, loss, population = form.whole("K"), form.text("LOSS"), None
    make = release_with_coarser if asks_for_coarser(form) else plan_and_release
    if form.given("REGIONS"):
        layer = areas_of(form)
        areas, levels = levels_to_show(form, layer.areas)
        records = records_of(form, areas, k)
        areas = populated(layer, records)
        population = areas.population
    else:
        layer = None
        areas, levels = levels_to_show(form)
        records = records_of(form, areas, k)
        loss = loss_without_areas(form)
    made = make(form, areas, records, levels, k, loss, population)
    levels = made.plan.levels
    measures, _ = evaluate_levels(areas, made.plan, records.n_unmatched)
    table = release_table(form, made.release, levels, made.records, k, True, made.as_text)
    form.outputs.add("RELEASED_RECORDS", *table, progress=form.progress(65, 95))
    add_release_edition(form, made.release, *people_in(made.records), levels, layer, values=made.in_words)
    conclude(form, measures, made.release, n_levels=len(levels))
    return regions.numbers(measures)


def loss_without_areas(form: Form) -> str:
    """LOSS where REGIONS are not given: one that needs no distances."""
    if form.text("LOSS") == MEAN_DISTANCE:
        form.warn(
            tr(
                "Without REGIONS there are no distances: LOSS is “{non_uniform_entropy}” in this run.",
                non_uniform_entropy=NON_UNIFORM_ENTROPY,
            )
        )
    return NON_UNIFORM_ENTROPY


def evaluate_nested(form: Form) -> dict[str, object]:
    """`vbas:evaluate` with a crosswalk of several levels."""
    k = form.whole("K")
    layer = areas_of(form)
    _, levels = regions.levels_of_crosswalk(form, layer.areas)
    records = records_of(form, layer.areas, k)
    areas = populated(layer, records)
    plan = nest(
        areas, records.profile, levels, k, form.text("LOSS"), required_of(form, records), form.progress(stop=60)
    )
    if form.given("SITES"):
        form.warn(tr("Nested levels have no sites: SITES is not looked at."))
    measures, _ = add_levels(form, layer, areas, records, plan, None, {}, None)
    return {**regions.numbers(measures), **numbers(levels, measures)}


def plan_and_release(
    form: Form,
    areas: Areas,
    records: Records,
    levels: Levels,
    k: int,
    loss: str,
    population: np.ndarray | None = None,
) -> Made:
    """The optimum, the rows that it shows, recounted region by region, and what the report says of their protection."""
    requirement = required_of(form, records)
    plan = nest(areas, records.profile, levels, k, loss, requirement, form.progress(45, 65), ties_of(form.text("TIES")))
    held = protected(form, plan, areas, records, requirement)
    release, protection = released(form, held.plan, records, requirement, population)
    check_where_shown(release, records, levels, whole=not requirement.asks_for_values)
    return Made(records, held.plan, release, protection, notes=held.notes)


def add_levels(
    form: Form,
    layer: AreaLayer,
    areas: Areas,
    records: Records,
    plan: Plan,
    single: tuple[str, Measures] | None,
    seconds: dict[str, float],
    made: Made | None,
    convergence: Sequence[Convergence] = (),
    notes: tuple[str, ...] = (),
) -> tuple[Measures, LevelAudit]:
    """Write what describes the levels and what they show.

    made : the release, if there is one; convergence : of what made the finest regions; notes : sentences for the report
    """
    release, values, in_words = (None, (), ()) if made is None else (made.release, made.values, made.in_words)
    levels = plan.levels
    measures, audit = evaluate_levels(areas, plan, records.n_unmatched)
    shapes = regions.level_shapes(layer, levels, form.progress(80, 90))
    if release is not None:
        form.outputs.add("RELEASED_REGIONS", regions.regions_table(layer, levels, shapes, audit, values=values))
        form.outputs.add("CROSSWALK", regions.crosswalk_table(layer, levels))
    form.outputs.add("REGION_AUDIT", regions.audit_table(layer, levels, shapes, audit))
    seconds[tr("measures and drawing")] = form.seconds() - sum(seconds.values())
    smallest = None if release is None else smallest_class(release, len(records.table.quasi_identifiers))
    form.outputs.add_text(
        "REPORT",
        lambda: nested_report(
            NestedAccount(
                areas,
                plan,
                measures,
                audit,
                single,
                ground_of(layer, shapes),
                None if made is None else made.as_they_were,
                in_words,
                None if made is None else made.coarser,
            ),
            smallest,
            running_of(form),
            (*records.notes, *(() if made is None else made.notes), *notes),
            seconds,
            None if made is None else made.protection,
            convergence,
        ),
    )
    if release is not None:
        add_release_edition(form, release, *people_in(records), levels, layer, shapes, in_words)
    conclude(form, measures, release, n_levels=len(levels))
    if single is not None:
        form.info(tr("One level ({single}) would give: {in_short}.", single=single[0], in_short=_in_short(single[1])))
    say_who_is_lost(form, areas, (made and made.as_they_were) or plan, measures)
    return measures, audit


def numbers(levels: Levels, measures: Measures) -> dict[str, object]:
    """The numbers that nested releases have beside those of one level; N_SITES counts the finest regions."""
    return {
        "N_SITES": levels.crosswalks[0].n_regions,
        "N_LEVELS": len(levels),
        "MEAN_DISTANCE": measures.mean_distance,
    }


def _single_level(
    form: Form, areas: Areas, records: Records, configuration: Configuration, k: int
) -> tuple[Run | None, tuple[str, Measures] | None]:
    """What one level of regions would give; a configuration that fails matters only where its regions are used."""
    try:
        run = aggregate(areas, records.profile, configuration, form.progress(stop=30), terms=terms_of(form, records))
    except InputError as error:
        if form.text("FINEST") == CONFIGURATION and not form.given("LEVEL_FIELDS"):
            raise
        form.info(tr("One level of regions cannot be shown for comparison: {error}", error=error))
        return None, None
    plan = suppress(records.profile, run.aggregation.crosswalk, k, required_of(form, records))
    measures, _ = evaluate(areas, plan, run.aggregation.sites, records.n_unmatched)
    return run, (form.text("COMBINATION"), measures)


def _looking_at_classes(form: Form, configuration: Configuration) -> tuple[str, ...]:
    """The approaches that made the levels and look at the classes of suppressed records."""
    if form.given("LEVEL_FIELDS"):
        return ()
    looking = configuration.looking_at_classes
    if form.text("FINEST") == CONFIGURATION:
        return looking
    return tuple(name for name in looking if name != configuration.site_number)


def _in_short(measures: Measures) -> str:
    return tr(
        "{suppression_percent:.3g} % suppressed, mean distance {mean_distance:.0f} m",
        suppression_percent=measures.suppression_percent,
        mean_distance=measures.mean_distance,
    )
