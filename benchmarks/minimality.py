"""What follows from knowing the method: releases made again from every origin that records could have.

A nested release shows each record as finely as k allows. Who knows that asks of a record shown in a region in which
part of it (a region of the next finer level) the person lives: each possible origin is put through the method again,
and those that do not give the published release are ruled out (downcoding: Cohen, USENIX Security 2022; minimality:
Wong and others, VLDB 2007). Two attackers know the method, all its settings, the crosswalk and the population:

outsider : knows nothing else; draws origins, in which areas may differ from their share of people, and keeps those that
give what is published in the region and within it
insider : knows where all others of the class live, and looks for one person

Where a release was made so that no small count follows, the draws are not known: each origin is put through the method
with draws of its own, and only what the region itself and those within show has to be the same (the insider looks no
further than that region, too).

Both are held against who guesses the part where most people live, and knows only how a nested release is read: an area
that shows the class itself shows all of it, and under zones so does every region within. (For the attack on crosswalks
see `crosswalk_attack.py`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Callable, NamedTuple

import numpy as np

from vbas.core.areas import Areas
from vbas.core.nesting.decoys import Conditions, Secrets, levels_in_zones
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.optimum import ProfileCells
from vbas.core.nesting.planning import levels_by_chance
from vbas.core.nesting.tree import tree_of
from vbas.core.plan import Plan, area_of_cells

CELLS_AT_ONCE = 200_000
SURE = 0.95
# How cells get their levels: `levels_by_chance`, without ties or with some that are drawn at random.
Method = Callable[[ProfileCells, Sequence[np.ndarray], Sequence[np.ndarray], int], np.ndarray]


class Guesses(NamedTuple):
    """What came of an attack, in records.

    attacked : who was looked for; base, method : how many were guessed right by population, and by who knows the
    method; sure : of how many that attacker is sure (with a probability of 0.95 and more) while the population does not
    say it, and right : how many of these are where they are thought to be
    """

    attacked: int = 0
    base: int = 0
    method: int = 0
    sure: int = 0
    right: int = 0

    def plus(self, other: Guesses) -> Guesses:
        """Both together."""
        return Guesses(*(number + two for number, two in zip(self, other)))

    def shares(self) -> tuple[float, float, float]:
        """Per cent of the attacked that are guessed right by population and by method, and that are known for sure."""
        return tuple(100.0 * number / max(self.attacked, 1) for number in (self.base, self.method, self.right))  # type: ignore[return-value]


def zones_by_chance(
    cells: ProfileCells,
    region_of: Sequence[np.ndarray],
    losses: Sequence[np.ndarray],
    k: int,
    people: np.ndarray,
    source: np.random.Generator,
) -> np.ndarray:
    """A `Method`: zones from which no small count follows, by draws of its own for each problem; people : (n,)."""
    return levels_in_zones(cells, tree_of(region_of, losses), k, Conditions(people, Secrets(source)))


def guess(part: np.ndarray, people: np.ndarray) -> tuple[int, float]:
    """The part with most people, and its share; part, people : of each candidate."""
    parts, position = np.unique(part, return_inverse=True)
    sums = np.bincount(position.reshape(-1), people)
    return int(parts[sums.argmax()]), float(sums.max() / max(sums.sum(), 1e-300))


class NestedRelease:
    """A nested release as an attacker has it, and the truth to judge guesses by."""

    def __init__(self, areas: Areas, plan: Plan, loss: str = "mean distance") -> None:
        profile, crosswalks = plan.profile, plan.levels.crosswalks
        self.k, self.people = plan.k, np.maximum(areas.population, 1e-9)
        self.regions = list(plan.levels.region_of)
        self.losses = [LOSSES[loss](areas, profile, crosswalk) for crosswalk in crosswalks]
        self.area, self.class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
        self.records, self.level_of = profile.counts.data, np.asarray(plan.level_of)
        self.first = np.cumsum([0, *(crosswalk.n_regions for crosswalk in crosswalks)])
        # A random 64-bit name for each region: sums of names times records tell releases apart.
        self._names = np.random.default_rng(0).integers(1, 2**63, self.first[-1], dtype=np.uint64)
        by_itself = (self.level_of == 0) & (crosswalks[0].n_regions == len(areas))
        shape = (profile.counts.shape[1], len(areas))
        self.shows_itself = np.zeros(shape, bool)
        self.shows_itself[self.class_of[by_itself], self.area[by_itself]] = True
        self.in_zones, n_classes = plan.in_zones, profile.counts.shape[1]
        # Of each level the regions that show a class, as numbers in order, and one for none.
        self._shown = [
            np.append(np.unique(plan.region[here].astype(np.int64) * n_classes + plan.class_of[here]), -1)
            for here in (plan.released & (plan.level == level) for level in range(len(crosswalks)))
        ]

    def is_free(self, class_of: int, near: np.ndarray, level: int) -> np.ndarray:
        """Whether areas may hold records of a class that a region of some level around them shows, bool."""
        free = ~self.shows_itself[class_of, near]
        for finer in range(level) if self.in_zones else ():
            released, keys = self._shown[finer], self.regions[finer][near] * len(self.shows_itself) + class_of
            free &= released[np.searchsorted(released[:-1], keys)] != keys
        return free

    def up_to(self, level: int) -> int:
        """How many levels an attack on a region of a level goes through: under zones it may be closed to the class."""
        return level + 1 + self.in_zones

    def place(self, area: np.ndarray, level: np.ndarray) -> np.ndarray:
        """A number for the region of each area at a level of its own, levels one after the other."""
        return self.first[level] + np.choose(level, [regions[area] for regions in self.regions])

    def published(self, group: np.ndarray, places: np.ndarray, records: np.ndarray, n_groups: int) -> np.ndarray:
        """What each group of equivalence classes publishes, in one number, (n_groups,) uint64."""
        prints = np.zeros(n_groups, np.uint64)
        with np.errstate(over="ignore"):
            np.add.at(prints, group, self._names[places] * records.astype(np.uint64))
        return prints

    def made_again(self, cells: ProfileCells, n_problems: int, method: Method, levels: int | None = None) -> np.ndarray:
        """What each problem publishes, (n_problems,); the class of a cell is its problem. levels : made up to there."""
        prints = np.zeros(n_problems, np.uint64)
        regions, losses = self.regions[:levels], self.losses[:levels]
        order = np.argsort(cells.class_of, kind="stable")
        starts = np.searchsorted(cells.class_of[order], np.arange(n_problems + 1))
        start = 0
        while start < n_problems:
            stop = max(start + 1, int(np.searchsorted(starts, starts[start] + CELLS_AT_ONCE, side="right")) - 1)
            rows = order[starts[start] : starts[stop]]
            area, problem, records = cells.area[rows], cells.class_of[rows] - start, cells.records[rows]
            level = method(ProfileCells(area, problem, records), regions, losses, self.k)
            released = level >= 0
            places = self.place(area[released], level[released])
            prints[start:stop] = self.published(problem[released], places, records[released], stop - start)
            start = stop
        return prints


def insider(
    release: NestedRelease,
    method: Method = levels_by_chance,
    n_targets: int = 1000,
    most_areas: int = 32,
    reruns: int = 1,
    seed: int = 0,
) -> Guesses:
    """Single persons looked for in the regions of up to most_areas areas that show them.

    reruns : how often each origin is tried, where the method draws at random
    """
    rng = np.random.default_rng(seed)
    size = np.concatenate([np.bincount(regions[regions >= 0]) for regions in release.regions])
    above = np.flatnonzero(release.level_of > 0)
    above = above[size[release.place(release.area[above], release.level_of[above])] <= most_areas]
    if not len(above):
        return Guesses()
    targets = rng.choice(above, n_targets, p=release.records[above] / release.records[above].sum())
    candidates = [_near(release, cell) for cell in targets.tolist()]
    sizes = [len(near) for near in candidates]
    of_problem = np.repeat(targets, sizes)
    cells = _moved(release, of_problem, np.concatenate(candidates))
    released = release.level_of >= 0
    published = release.published(
        release.class_of[released],
        release.place(release.area[released], release.level_of[released]),
        release.records[released],
        len(release.shows_itself),
    )
    wanted = published[release.class_of[of_problem]]
    if release.in_zones:
        fits = _fits_of_zones(release, method, targets, candidates, reruns)
    else:
        fits = sum((release.made_again(cells, len(of_problem), method) == wanted).astype(float) for _ in range(reruns))
    guesses = Guesses()
    for cell, near, fit in zip(targets.tolist(), candidates, np.split(fits, np.cumsum(sizes)[:-1])):
        part = release.regions[release.level_of[cell] - 1]
        true = int(part[release.area[cell]])
        by_people, share = guess(part[near], release.people[near])
        likely = release.people[near] * fit
        by_method, probability = guess(part[near], likely) if fit.any() else (by_people, share)
        sure = probability >= SURE > share
        right = by_method == true
        guesses = guesses.plus(Guesses(1, int(by_people == true), int(right), int(sure), int(sure and right)))
    return guesses


def _near(release: NestedRelease, cell: int) -> np.ndarray:
    """The areas of the region that shows a cell, but those that show the class themselves."""
    level = int(release.level_of[cell])
    region_of = release.regions[level]
    near = np.flatnonzero(region_of == region_of[release.area[cell]])
    return near[release.is_free(int(release.class_of[cell]), near, level)]


def _fits_of_zones(
    release: NestedRelease, method: Method, targets: np.ndarray, candidates: list[np.ndarray], reruns: int
) -> np.ndarray:
    """How often each origin of a target gives what its region and those within show, of so many draws, one after the
    other; only the records of that region are put through the method."""
    fits = []
    for cell, near in zip(targets.tolist(), candidates):
        level, class_of = int(release.level_of[cell]), int(release.class_of[cell])
        region_of = release.regions[level]
        inside = region_of[release.area] == region_of[release.area[cell]]
        own = np.flatnonzero((release.class_of == class_of) & inside & (release.level_of >= 0))
        own = own[release.level_of[own] <= level]
        counts = np.bincount(release.area[own], release.records[own], len(release.people)).astype(np.int64)
        counts[release.area[cell]] -= 1
        there = np.union1d(np.flatnonzero(counts), near)
        tables = np.tile(counts[there], (len(near), 1))
        tables[np.arange(len(near)), np.searchsorted(there, near)] += 1
        tables = np.repeat(tables, reruns, axis=0)
        problem, position = np.nonzero(tables)
        cells = ProfileCells(there[position], problem, tables[problem, position])
        places = release.place(release.area[own], release.level_of[own])
        wanted = release.published(np.zeros(len(own), np.int64), places, release.records[own], 1)[0]
        made = release.made_again(cells, len(tables), method, release.up_to(level))
        fits.append((made == wanted).reshape(len(near), reruns).sum(axis=1).astype(float))
    return np.concatenate(fits)


def _moved(release: NestedRelease, target: np.ndarray, to: np.ndarray) -> ProfileCells:
    """All cells of the class of each target, with one of its records moved to another area; a problem for each."""
    by_class = np.argsort(release.class_of, kind="stable")
    starts = np.searchsorted(release.class_of[by_class], np.arange(len(release.shows_itself) + 1))
    areas, problems, records = [], [], []
    for problem, (cell, area) in enumerate(zip(target.tolist(), to.tolist())):
        own = by_class[starts[release.class_of[cell]] : starts[release.class_of[cell] + 1]]
        counts = np.bincount(release.area[own], release.records[own], len(release.people)).astype(np.int64)
        counts[release.area[cell]] -= 1
        counts[area] += 1
        there = np.flatnonzero(counts)
        areas.append(there)
        problems.append(np.full(len(there), problem))
        records.append(counts[there])
    return ProfileCells(*(np.concatenate(parts) for parts in (areas, problems, records)))


def outsider(
    release: NestedRelease,
    method: Method = levels_by_chance,
    n_equivalence_classes: int = 300,
    draws: int = 300,
    most_areas: int = 12,
    seed: int = 0,
) -> Guesses:
    """Equivalence classes of regions of up to most_areas areas, n_equivalence_classes of each level, attacked by
    drawing origins."""
    rng, guesses = np.random.default_rng(seed), Guesses()
    for level in range(1, len(release.regions)):
        region_of = release.regions[level]
        here = np.flatnonzero(release.level_of == level)
        here = here[np.bincount(region_of[region_of >= 0])[region_of[release.area[here]]] <= most_areas]
        keys = np.unique(np.column_stack([region_of[release.area[here]], release.class_of[here]]), axis=0)
        for region, class_of in rng.permutation(keys)[:n_equivalence_classes].tolist():
            guesses = guesses.plus(_equivalence_class_attacked(release, level, region, class_of, method, draws, rng))
    return guesses


def _equivalence_class_attacked(
    release: NestedRelease, level: int, region: int, class_of: int, method: Method, draws: int, rng: np.random.Generator
) -> Guesses:
    """The records of one equivalence class, by origins that give what its region shows of the class."""
    near = np.flatnonzero(release.regions[level] == region)
    own = np.flatnonzero((release.class_of == class_of) & np.isin(release.area, near))
    own = own[(release.level_of[own] >= 0) & (release.level_of[own] <= level)]
    places = release.place(release.area[own], release.level_of[own])
    free = release.is_free(class_of, near, level)
    drawn, looked_for = np.zeros((draws, len(near)), np.int64), np.zeros((draws, len(near)), np.int64)
    for place in np.unique(places).tolist():
        mine = own[places == place]
        at = int(release.level_of[mine[0]])
        n, inside = int(release.records[mine].sum()), release.regions[at][near] == place - release.first[at]
        may_hold = release.is_free(class_of, near, at) if release.in_zones else free
        allowed = np.flatnonzero(inside & (may_hold | (at == 0)))
        people = release.people[near[allowed]]
        spread = rng.multinomial(n, rng.dirichlet(people / people.mean(), draws))
        drawn[:, allowed] += spread
        if at == level:
            looked_for[:, allowed] = spread
    draw, position = np.nonzero(drawn)
    cells = ProfileCells(near[position], draw, drawn[draw, position])
    wanted = release.published(np.zeros(len(own), np.int64), places, release.records[own], 1)[0]
    fits = release.made_again(cells, draws, method, release.up_to(level)) == wanted
    mine = own[release.level_of[own] == level]
    part_of = release.regions[level - 1]
    true = part_of[release.area[mine]]
    n = int(release.records[mine].sum())
    by_people, share = guess(part_of[near[free]], release.people[near[free]])
    by_method, probability = guess(part_of[near], looked_for[fits].mean(axis=0)) if fits.any() else (by_people, share)
    right = int(release.records[mine][true == by_method].sum())
    sure = probability >= SURE > share
    base = int(release.records[mine][true == by_people].sum())
    return Guesses(n, base, right, n if sure else 0, right if sure else 0)
