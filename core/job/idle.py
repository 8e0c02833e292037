"""Settings that were given and have no effect under the others: who asks for what is not done has to hear it."""

from __future__ import annotations

from collections.abc import Sequence

from ..approach import using_setting
from ..configuration import CUSTOM
from ..language import one_of, tr, written
from ..privacy.derivable import NO_SMALL_COUNT
from ..site_number import APPROACHES as SITE_NUMBERS
from .job import Job
from .settings import SETTINGS
from .values import NESTED

# By setting, what must be so, in turn: that another one is given (no words), or is one of some words.
Need = tuple[str, tuple[str, ...]]
_SENSITIVE: Need = ("SENSITIVE", ())
_NESTED: Need = ("RELEASE", (NESTED,))
_CUSTOM: Need = ("COMBINATION", (CUSTOM,))
NEEDS: dict[str, tuple[Need, ...]] = {
    **dict.fromkeys(("L_DIVERSITY", "MAX_SHARE"), (_SENSITIVE,)),
    **dict.fromkeys(("REGISTER_ACTION", "ALIASES", "SERIES"), (("REGISTER", ()),)),
    **dict.fromkeys(("PUBLISHED_AREA", "PUBLISHED_NUMBER"), (("PUBLISHED_COUNTS", ()),)),
    "PERIODS": (("PERIOD", ()),),
    **dict.fromkeys(("DISCLOSURE", "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE", "LEVELS_COARSER"), (_NESTED,)),
    **dict.fromkeys(("LEVEL_FIELDS", "LOSS", "FINEST", "COARSEST", "RATIO"), (_NESTED,)),
    "CLOSED_BY_CHANCE": (_NESTED, ("DISCLOSURE", (NO_SMALL_COUNT,))),
    **dict.fromkeys(("SITE_NUMBER", "SITE_LOCATION", "AGGREGATION"), (_CUSTOM,)),
    **{
        setting.upper(): (_CUSTOM, ("SITE_NUMBER", tuple(using_setting(SITE_NUMBERS, setting))))
        for setting in ("n_sites", "cutoff", "budget", "fair")
    },
}


def idle_sentences(job: Job, carries_on: bool = False, linked: bool = False) -> list[str]:
    """A sentence for each setting that was given, is not its default, and has no effect in this job.

    carries_on : whether the job is an update, of which the release that is carried on says what regions there are;
    linked : whether tables belong to the persons, which have sensitive fields of their own. Forms look at what they
    show by themselves (`algorithms/form/effective.py`), and say it in the same words.
    """
    sentences = []
    for name, needs in NEEDS.items():
        if (carries_on and needs[0] in (_NESTED, _CUSTOM)) or (linked and needs[0] == _SENSITIVE):
            continue
        if not job.has(name) or not job.given(name) or job.values[name] == SETTINGS[name].default:
            continue
        missing = next((need for need in needs if not _holds(job, *need)), None)
        if missing is not None:
            sentences.append(
                tr(
                    "{name} = {shown} has no effect here: it counts only where {where}.",
                    name=name,
                    shown=_shown(job.values[name]),
                    where=_in_words(*missing),
                )
            )
    return sentences


def _holds(job: Job, name: str, words: Sequence[str]) -> bool:
    return job.text(name) in words if words else job.given(name)


def _in_words(name: str, words: Sequence[str]) -> str:
    if not words:
        return tr("{name} is given", name=name)
    return tr("{name} is {words}", name=name, words=one_of(tr("“{word}”", word=word) for word in words))


def _shown(value: object) -> str:
    """A setting as it was given, its rows and lists cell by cell."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, (int, float)):
        return written(f"{value:.15g}")
    return tr("“{word}”", word=value)
