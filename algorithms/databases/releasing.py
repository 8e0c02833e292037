"""The release of records in place as a job: counted, planned, staged by the engine, and published with the rest."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import counted
from ...core.account import Account
from ...core.anonymise import anonymise
from ...core.engines.engine import Engine
from ...core.engines.in_place import Matched
from ...core.engines.profiling import match_in_place
from ...core.engines.releasing import StagedInPlace
from ...core.engines.source import EngineSource
from ...core.job.asking import ask_of
from ...core.job.generalising import asks_for_coarser, with_levels_asked
from ...core.job.making import READ, Made, aggregations_used, is_nested, released
from ...core.job.rules import rule_sentences
from ...core.job.updating import Updating, carried_release
from ...core.language import plural, tr
from ...core.report.internal import Remarks
from ..form import regions
from ..form.areas import areas_of, with_neighbours
from ..form.form import FormJob
from ..form.records import populated
from ..form.updating import NO_UPDATE
from ..handed_over import Handed
from ..layers.shapes.areas import AreaLayer
from ..nested.disclosure import say_of_one_level
from ..nested.levels import levels_to_show
from .connection import fields_of
from .counting import counted as counted_in_place
from .linked import key_of
from .linking import linked_in_place, tables_of


def release(job: FormJob, engine: Engine) -> Handed:
    """A release that is staged; it is published, and named, once all else is in its place."""
    key = key_of(job)
    coarser = asks_for_coarser(job)  # which raises for what cannot go with it
    destination = job.text("DESTINATION").strip()
    engine.check_free(destination)  # rather than after hours of counting
    linked = tables_of(job, engine, fields_of(job)) if key else ()
    records = counted_in_place(job, engine, job.progress(0, 40))
    seconds = {tr("counting"): job.seconds()}
    nested = coarser or regions.has_levels_in_crosswalk(job)
    if not nested:
        say_of_one_level(job)
    layer = areas_of(job) if job.given("REGIONS") else None
    areas, levels = levels_to_show(job, None if layer is None else layer.areas)
    matched = match_in_place(records.coarsened, areas, job.text("UNMATCHED"), job.whole("K"))
    rule = rule_sentences(job, nested)
    job.info(*rule)
    notes = (*_notes(job, matched), *rule)
    areas = areas.with_population(matched.profile.area_sizes) if layer is None else populated(layer, matched)
    hierarchies = records.still_coarser() if coarser or not nested else {}
    values = records.coarsened.values()
    source = EngineSource(matched, destination, job.text("UNMATCHED"))
    levels = with_levels_asked(job, levels, values, hierarchies)
    ask = ask_of(job, values, nested, hierarchies)
    population, progress = None if layer is None else areas.population, job.progress(40, 85)
    at_hand = linked_in_place(job, matched, areas, linked) if linked else source
    if job.text("UPDATE") == NO_UPDATE:
        account = anonymise(areas, at_hand, levels, ask, population=population, progress=progress, log=job)
    else:
        updating = Updating(job.text("ENTRY"), job.text("UPDATE"), job.text("FOLLOWED"))
        account = carried_release(job, areas, at_hand, updating, levels, population, ask, progress)
    made = Made(account, Remarks(notes, seconds), hierarchies)
    places = [(table.name, engine.place_beside(destination, table.name)) for table in linked]
    return _published_last(job, made, layer, places)


def anonymised(job: FormJob, engine: Engine) -> Handed:
    """Regions made and records released by them, in one; as `release`. Without DESTINATION nothing is written there,
    and it is told what the release would be. Raises InputError for what is told of a release alone."""
    is_nested(job)  # which raises for what cannot go together
    destination = job.text("DESTINATION").strip()
    if destination:
        engine.check_free(destination)
    layer = with_neighbours(job, areas_of(job), aggregations_used(job))
    records = counted_in_place(job, engine, job.progress(0, READ))
    matched = match_in_place(records.coarsened, layer.areas, job.text("UNMATCHED"), job.whole("K"))
    source, notes = EngineSource(matched, destination, job.text("UNMATCHED")), _notes(job, matched)
    made = released(
        job, populated(layer, matched), source, notes, still_coarser=records.still_coarser, rows=bool(destination)
    )
    return _published_last(job, made, layer) if destination else Handed(made, layer)


def _published_last(
    job: FormJob, made: Made, layer: AreaLayer | None, beside: Sequence[tuple[str, str]] = ()
) -> Handed:
    """What was made, whose rows are published once all else is in its place. beside : the names of linked tables, and
    where their rows go"""
    rows = made.account.rows
    if rows is None or rows.staged is None:
        raise LookupError("staged")  # which an engine always gives
    staged = rows.staged
    _say_what_was_counted(job, made.account, staged)

    def publish() -> str:
        place = staged.publish()
        for table, place_of_rows in beside:
            job.info(tr("The released rows of “{table}” are in {place}.", table=table, place=place_of_rows))
        return place

    return Handed(made, layer, publish)


def _notes(job: FormJob, matched: Matched) -> tuple[str, ...]:
    """What the report says of the records; the log is warned of those that are lost."""
    n_unmatched = matched.n_unmatched
    lost = plural(
        "{n} record has no known area and is suppressed.",
        "{n} records have no known area and are suppressed.",
        n_unmatched,
    )
    warnings = [lost] if n_unmatched else []
    job.warn(*warnings)
    return (*warnings, *(column.sentence for column in matched.in_place.coarsened.values()))


def _say_what_was_counted(job: FormJob, account: Account, staged: StagedInPlace) -> None:
    engine = staged.engine.title
    for level, held in sorted(staged.levels.items()):
        counts = {"records": counted.records(held.records), "classes": counted.classes(held.classes)}
        if account.nested:
            sentence = tr(
                "{engine} counted once more, level {level}: {records} in {classes}, the smallest of {least:,}.",
                engine=engine,
                level=level,
                least=held.least,
                **counts,
            )
        else:
            sentence = tr(
                "{engine} counted once more: {records} in {classes}, the smallest of {least:,}.",
                engine=engine,
                least=held.least,
                **counts,
            )
        job.info(sentence)
