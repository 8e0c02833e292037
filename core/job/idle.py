"""Settings that were given and have no effect under the others: who asks for what is not done has to hear it."""

from __future__ import annotations

from ..language import tr, written
from .conditions import GIVEN, Counting, idle_sentence, of_settings
from .configuring import settled_by_combination
from .job import Job
from .settings import SETTINGS

# What regions there are hangs on these.
_REGIONS = ("RELEASE", "COMBINATION", "SITE_NUMBER", "SITE_LOCATION", "AGGREGATION", "GAPS_REGION")


def idle_sentences(job: Job, carries_on: bool = False, linked: bool = False) -> list[str]:
    """A sentence for each setting that was given, is not its default, and has no effect in this job.

    carries_on : whether the job is an update, of which the release that is carried on says what regions there are;
    linked : whether tables belong to the persons, which have sensitive fields of their own
    """
    conditions = of_settings()
    if carries_on:
        conditions = {
            name: every for name, every in conditions.items() if not any(set(_REGIONS) & set(some) for some in every)
        }
    if linked:
        conditions = {name: every for name, every in conditions.items() if {"SENSITIVE": GIVEN} not in every}
    settled = settled_by_combination(job)

    def words(name: str) -> list[str]:
        return [str(settled[name])] if name in settled else [job.text(name)]

    counting = Counting(conditions, job.given, words, settled)
    idle = []
    for name in conditions:
        if job.has(name) and job.given(name) and job.values[name] != SETTINGS[name].default:
            missing = counting.missing(name)
            if missing is not None:
                idle.append(idle_sentence(name, _shown(job.values[name]), missing))
    return idle


def _shown(value: object) -> str:
    """A setting as it was given, its rows and lists cell by cell."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, (int, float)):
        return written(f"{value:.15g}")
    return tr("“{word}”", word=value)
