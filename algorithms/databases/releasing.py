"""The release of records in place as a job: counted, planned, staged by the engine, and published with the rest."""

from __future__ import annotations

from ...core import counted
from ...core.engines.engine import Engine
from ...core.engines.releasing import StagedInPlace, shown_by, stage_in_place
from ...core.language import tr
from ..form import regions
from ..form.conclusion import conclude
from ..form.form import Form
from ..nested.coarser import asks_for_coarser
from .connection import NUMBERS
from .counting import counted as counted_in_place
from .planned import Planned, planned
from .reported import add_reports, refuse_report_without_areas


def release(form: Form, engine: Engine) -> dict[str, object]:
    """The numbers of a release that is staged; it is published, and named among them, once all else is in its place."""
    refuse_report_without_areas(form)
    asks_for_coarser(form)  # which raises for what cannot go with it
    destination = form.text("DESTINATION").strip()
    engine.check_free(destination)  # rather than after hours of counting
    records = counted_in_place(form, engine, form.progress(0, 40))
    seconds = {"counting": form.seconds()}
    done = planned(form, records)
    seconds["what is shown"] = form.seconds() - sum(seconds.values())
    levels, step = None if done.coarser is None else done.coarser.levels, form.progress(60, 85)
    staged = stage_in_place(
        done.matched,
        done.plan,
        destination,
        done.nested,
        progress=step,
        coarser=levels,
        requirement=done.requirement,
    )
    _say_what_was_counted(form, done, staged)
    seconds["writing and counting again"] = form.seconds() - sum(seconds.values())
    advice = add_reports(form, done, staged, seconds)
    conclude(form, done.measures, shown_by(done.plan), advice, len(done.plan.levels))
    every = regions.numbers(done.measures)
    found = {name: every[name] for name in NUMBERS}

    def publish() -> None:
        found["RELEASED_RECORDS"] = staged.publish()

    form.outputs.last(publish)
    return found


def _say_what_was_counted(form: Form, done: Planned, staged: StagedInPlace) -> None:
    engine = staged.engine.title
    for level, held in sorted(staged.levels.items()):
        counts = {"records": counted.records(held.records), "classes": counted.classes(held.classes)}
        if done.nested:
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
        form.info(sentence)
