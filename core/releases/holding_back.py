"""Whom an update holds back by chance, so that nobody who knows the method learns how many there are at most.

What an update shows follows from how many people there are. Whoever knows that it shows as many as may be would know
from an equivalence class that stayed, or fell, how many live there at most; and with what earlier releases show, or
prove, that one came or left. So the update is one of fewer people: of each class of each region some are held back as
though they did not live there, each number of them with a chance above 0. Then any release could also be that of more
people, anywhere and as many as one likes: of no month after the first does it follow that somebody is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from .keeping import NOBODY, Places, families


@dataclass(frozen=True)
class Chances:
    """How often people are held back, of each class of each region of the finest level by itself.

    newcomers : some of those whom no equivalence class of the release that is updated needs, there or around
    beside : some of all who live there, where there or in the region around fewer are left than were shown
    anybody : the same elsewhere
    """

    newcomers: float = 0.1
    beside: float = 0.02
    anybody: float = 0.0002


CHANCES = Chances()


def held_back(levels: Sequence[Places], rng: np.random.Generator, chances: Chances = CHANCES) -> list[Places]:
    """The same places with the people who are not held back.

    levels : the finest first. Of a class in an outermost region of which all are shown where they were, nobody is held
    back: what has not changed stays as it was.
    """
    finest = levels[0]
    needless = _fitting(levels, _some(_needless(levels), chances.newcomers, rng), rng)
    chance = np.where(_beside(levels), chances.beside, chances.anybody)
    held = np.maximum(needless, _some(finest.people, chance, rng))
    held[np.isin(families(levels)[0], _unchanged(levels))] = 0
    fewer = []
    for level, places in enumerate(levels):
        fewer.append(replace(places, people=places.people - held))
        if level + 1 < len(levels):
            held = _around(levels, level, held)
    return fewer


def _some(people: np.ndarray, chance: np.ndarray | float, rng: np.random.Generator) -> np.ndarray:
    """Of each number of people some, 1 to all, each number as likely, with this chance; else none."""
    some = rng.integers(1, np.maximum(people, 1), endpoint=True)
    return np.where((people > 0) & (rng.random(len(people)) < chance), some, 0)


def _around(levels: Sequence[Places], level: int, people: np.ndarray) -> np.ndarray:
    """Of each place of the next level the sum over those within."""
    parent = levels[level].parent
    inside = parent >= 0
    return np.bincount(parent[inside], people[inside], len(levels[level + 1])).astype(np.int64)


def _beyond(places: Places) -> np.ndarray:
    """How many more live in each place than the last release shows of it."""
    return np.maximum(places.people - places.within[:, -1], 0)


def _needless(levels: Sequence[Places]) -> np.ndarray:
    """The people of each place of the finest level by whom it has more than the last release shows of it, and so have
    all places around it."""
    more = np.empty(0, np.int64)
    for places in reversed(levels):
        here = _beyond(places)
        if len(more):
            here = np.where(places.parent >= 0, np.minimum(here, np.append(more, 0)[places.parent]), here)
        more = here
    return more


def _fitting(levels: Sequence[Places], held: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Those of the people held back in places of the finest level who are, all together, needed nowhere; of several
    places some that are drawn, so that no equivalence class falls for want of newcomers."""
    held = held.copy()
    some = np.flatnonzero(held)
    around = some = some[rng.permutation(len(some))]
    for places in levels:
        order = np.argsort(around, kind="stable")
        some, around = some[order], around[order]
        so_far = np.cumsum(held[some])
        before = np.append(0, so_far)[np.searchsorted(around, around)]
        fits = so_far - before <= _beyond(places)[around]
        held[some[~fits]] = 0
        some, around = some[fits], places.parent[around[fits]]
        some, around = some[around >= 0], around[around >= 0]
    return held


def _beside(levels: Sequence[Places]) -> np.ndarray:
    """Whether fewer people live in each place of the finest level, or in the one around it, than were shown."""
    lacking = [places.people < places.within[:, -1] for places in levels[:2]]
    if len(levels) == 1:
        return lacking[0]
    return np.asarray(lacking[0] | np.append(lacking[1], False)[levels[0].parent])


def _unchanged(levels: Sequence[Places]) -> np.ndarray:
    """The families of which the last release shows everybody, and each region still has as many as that shows."""
    top = families(levels)
    lacking = [of[places.people < places.within[:, -1]] for of, places in zip(top, levels)]
    waiting = [of[(places.parent == NOBODY) & (_beyond(places) > 0)] for of, places in zip(top, levels)]
    return np.setdiff1d(np.unique(top[-1]), np.concatenate([*lacking, *waiting]))
