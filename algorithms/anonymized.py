"""The main algorithm as a job: the levels at which records may be shown, of one kind or the other, and the release."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.aggregation import Aggregation
from ..core.anonymise import anonymise, rate
from ..core.areas import Areas
from ..core.configuration import Configuration, Run, aggregate, joined_to_least_population
from ..core.convergence import Convergence
from ..core.errors import InputError
from ..core.evaluation import Measures
from ..core.language import tr
from ..core.levels import Levels
from ..core.nesting.making import build_levels
from ..core.records.matching import Records
from ..core.report.internal import Remarks
from .asking import ask_of, rated
from .form import approaches
from .form.areas import areas_of, with_neighbours
from .form.form import Form
from .form.generalising import coarser_of
from .form.guarantees import terms_of
from .form.records import populated, records_of
from .handed_over import hand_over
from .nested.coarser import asks_for_coarser, with_levels_asked
from .nested.levels import CONFIGURATION, NESTED, layer_for_levels, level_options_of, levels_of, sentence
from .privacy.dependence import crosswalk_sentence
from .privacy.rule import rule_sentences


@dataclass(frozen=True, eq=False)
class LevelsMade:
    """Levels, and how they were made.

    looking : the approaches that looked at the classes of suppressed records; seconds : by step; aggregation : what
    made regions of one level; single : of nested levels what one level of regions would give, with its name
    """

    levels: Levels
    looking: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: dict[str, float]
    convergence: tuple[Convergence, ...] = ()
    aggregation: Aggregation | None = None
    single: tuple[str, Measures] | None = None


def anonymized(form: Form) -> dict[str, object]:
    """`vbas:anonymize`."""
    nested = form.text("RELEASE") == NESTED
    configuration = approaches.configuration_of(form)
    if nested:
        asks_for_coarser(form)  # which raises for what cannot go with it
        layer = layer_for_levels(form, areas_of(form), configuration.aggregation)
    else:
        layer = with_neighbours(form, areas_of(form), [configuration.aggregation])
    records = records_of(form, layer.areas, form.whole("K"))
    areas, seconds = populated(layer, records), {tr("reading"): form.seconds()}
    made = (_nested_levels if nested else _one_level)(form, areas, records, configuration)
    notes = (*made.notes, *rule_sentences(form, nested), crosswalk_sentence(form, made.looking))
    form.info(*notes)
    # What could be shown coarser still: in one level for what that would save, else for the levels that do.
    hierarchies = coarser_of(form, records.table) if not nested or asks_for_coarser(form) else {}
    levels = with_levels_asked(form, made.levels, records.table, hierarchies) if nested else made.levels
    account = anonymise(
        areas,
        records,
        levels,
        ask_of(form, records.table, nested, hierarchies),
        None if made.aggregation is None else made.aggregation.sites,
        areas.population,
        form.progress(45, 65),
        form,
    )
    if not nested:
        form.warn(*approaches.over_budget(configuration, account.measures.suppression_percent))
    remarks = Remarks(
        (*records.notes, *notes),
        {**seconds, **made.seconds},
        convergence=made.convergence,
        single=made.single,
    )
    return hand_over(form, account, layer, remarks, hierarchies, made.aggregation)


def _one_level(form: Form, areas: Areas, records: Records, configuration: Configuration) -> LevelsMade:
    terms = terms_of(form, records)
    run = aggregate(areas, records.profile, configuration, form.progress(stop=45), terms=terms)
    run = joined_to_least_population(run, areas, form.number("LEAST_POPULATION"))
    return LevelsMade(
        Levels((run.aggregation.crosswalk,)),
        configuration.looking_at_classes,
        run.notes,
        {tr(step): seconds for step, seconds in run.seconds.items()},
        run.convergence,
        run.aggregation,
    )


def _nested_levels(form: Form, areas: Areas, records: Records, configuration: Configuration) -> LevelsMade:
    started = form.seconds()
    run, single = _single_level(form, areas, records, configuration)
    finest = run.aggregation.crosswalk if run and form.text("FINEST") == CONFIGURATION else None
    options = level_options_of(
        form, configuration.site_location, configuration.aggregation, configuration.aggregation_options
    )
    step = form.progress(30, 45)
    levels = levels_of(form, areas, lambda: build_levels(areas, records.profile, finest, options, step))
    form.info(sentence(levels))
    return LevelsMade(
        levels,
        _looking_at_classes(form, configuration),
        (),
        {tr("levels"): form.seconds() - started},
        run.convergence if run and finest is not None else (),
        single=single,
    )


def _single_level(
    form: Form, areas: Areas, records: Records, configuration: Configuration
) -> tuple[Run | None, tuple[str, Measures] | None]:
    """What one level of regions would give; a configuration that fails matters only where its regions are used."""
    try:
        run = aggregate(areas, records.profile, configuration, form.progress(stop=30), terms=terms_of(form, records))
    except InputError as error:
        if form.text("FINEST") == CONFIGURATION and not form.given("LEVEL_FIELDS"):
            raise
        form.info(tr("One level of regions cannot be shown for comparison: {error}", error=error))
        return None, None
    aggregation = run.aggregation
    rating = rate(areas, records, Levels((aggregation.crosswalk,)), rated(form, nested=False), aggregation.sites)
    return run, (form.text("COMBINATION"), rating.measures)


def _looking_at_classes(form: Form, configuration: Configuration) -> tuple[str, ...]:
    """The approaches that made the levels and look at the classes of suppressed records."""
    if form.given("LEVEL_FIELDS"):
        return ()
    looking = configuration.looking_at_classes
    if form.text("FINEST") == CONFIGURATION:
        return looking
    return tuple(name for name in looking if name != configuration.site_number)
