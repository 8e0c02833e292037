"""What follows from knowing the method: nested releases made again from every origin that records could have.

A nested release shows each record as finely as k allows. Who knows that asks of a record shown in a region in which of
the regions within it lives: each possible origin is put through the method, and those that do not give the published
release are ruled out (downcoding: Cohen, USENIX Security 2022; minimality: Wong and others, VLDB 2007).

The base that a guess is held against has the release, the crosswalk and the population, and knows that where the
finest level is the areas, who is shown in a larger region lives in an area that does not show the class itself; it
guesses the part of the region where most people could be. Two attackers know the method too:

outsider : knows nothing of the records; draws origins, by population, and keeps those that give what is published in
the region and within it
insider : knows where all others of the class live, and looks for one person
"""

from __future__ import annotations

from typing import Callable, NamedTuple

import numpy as np

from vbas.core.areas import Areas
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.optimum import ProfileCells, best_levels
from vbas.core.plan import Plan, area_of_cells

CELLS_AT_ONCE = 200_000
SURE = 0.95
# How cells get their levels: cells, regions of each level, losses, k; may draw at random.
Method = Callable[[ProfileCells, "list[np.ndarray]", "list[np.ndarray]", int], np.ndarray]


class Guesses(NamedTuple):
    """What came of an attack, in records.

    attacked : records that were looked for; base, method : guessed right by population alone, and by who knows the
    method; sure : of whom that attacker is sure (a probability of 0.95 and more), and right : how many of these rightly
    """

    attacked: int
    base: float
    method: float
    sure: int
    right: int

    def shares(self) -> tuple[float, float, float, float]:
        """Per cent of the attacked that are guessed right by base and method, sure of, and of the latter right."""
        n = max(self.attacked, 1)
        return 100 * self.base / n, 100 * self.method / n, 100 * self.sure / n, 100 * self.right / max(self.sure, 1)


class _Release(NamedTuple):
    """A nested release as the attacker sees it, with the truth beside it."""

    plan: Plan
    population: np.ndarray
    regions: list[np.ndarray]
    losses: list[np.ndarray]
    area: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    level_of: np.ndarray

    @property
    def shown_below(self) -> set[tuple[int, int]]:
        """Areas and classes that are shown where the finest level is the areas themselves."""
        first = self.plan.levels.crosswalks[0]
        if first.n_regions != len(self.population):
            return set()
        fine = self.level_of == 0
        return set(zip(self.area[fine].tolist(), self.class_of[fine].tolist()))


def _release(areas: Areas, plan: Plan, loss: str) -> _Release:
    profile = plan.profile
    losses = [LOSSES[loss](areas, profile, crosswalk) for crosswalk in plan.levels.crosswalks]
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    level_of = np.asarray(plan.level_of)
    return _Release(
        plan, areas.population, list(plan.levels.region_of), losses, area, class_of, profile.counts.data, level_of
    )


def outsider(
    areas: Areas,
    plan: Plan,
    loss: str = "mean distance",
    method: Method = best_levels,
    n_labels: int = 300,
    draws: int = 300,
    most_areas: int = 12,
    seed: int = 0,
) -> Guesses:
    """Labels above the finest level attacked by drawing origins: up to n_labels of regions of up to most_areas areas."""
    rng = np.random.default_rng(seed)
    one = _release(areas, plan, loss)
    found = []
    for level in range(1, len(one.regions)):
        found.append(_outsider_at(one, level, method, n_labels, draws, most_areas, rng))
    return Guesses(*(sum(values) for values in zip(*found)))


def _outsider_at(one, level, method, n_labels, draws, most_areas, rng) -> Guesses:
    """The same for the labels of one level."""
    cells_here = np.flatnonzero(one.level_of == level)
    n_classes = int(one.class_of.max()) + 1
    place = one.regions[level][one.area] * n_classes + one.class_of
    small = np.bincount(one.regions[level][one.regions[level] >= 0]) <= most_areas
    labels = np.unique(place[cells_here])
    labels = labels[small[labels // n_classes]]
    labels = rng.permutation(labels)[:n_labels]
    if not len(labels):
        return Guesses(0, 0.0, 0.0, 0, 0)
    below = one.shown_below
    problems, origins = [], []  # per label: truth; cells of all draws
    for label in labels.tolist():
        region, class_of = divmod(label, n_classes)
        near = np.flatnonzero(one.regions[level] == region)
        inside = np.flatnonzero((place == label) & (one.level_of >= 0) & (one.level_of <= level))
        shown = {}  # level, region: records, truth by area
        for cell in inside.tolist():
            at = int(one.level_of[cell])
            key = at, int(one.regions[at][one.area[cell]])
            shown[key] = shown.get(key, 0) + int(one.records[cell])
        free = np.array([area for area in near.tolist() if (area, class_of) not in below])
        drawn = np.zeros((draws, len(near)), np.int64)
        target = np.zeros((draws, len(near)), np.int64)
        for (at, where), n in shown.items():
            if at == 0 and len(below) and one.regions[0][near].tolist().count(where) == 1:
                drawn[:, one.regions[0][near] == where] += n
                continue
            allowed = np.isin(near, free) & (one.regions[at][near] == where)
            people = np.maximum(one.population[near[allowed]], 1e-9)
            shares = rng.dirichlet(people / people.mean(), draws)
            spread = rng.multinomial(n, shares)
            drawn[:, allowed] += spread
            if at == level:
                target[:, allowed] += spread
        truth = np.zeros(len(near), np.int64)
        mine = inside[one.level_of[inside] == level]
        truth[np.searchsorted(near, one.area[mine])] = one.records[mine]
        problems.append((near, free, shown, truth, target))
        origins.append(drawn)
    keep = _reproduce(one, level, problems, origins, method)
    return _scored(one, level, problems, keep)


def _reproduce(one, level, problems, origins, method) -> list[np.ndarray]:
    """Which draws of each problem give its labels again, (draws,) bool each."""
    area, problem, records = [], [], []
    for number, ((near, *_), drawn) in enumerate(zip(problems, origins)):
        draw, position = np.nonzero(drawn)
        area.append(near[position])
        problem.append(number * len(drawn) + draw)
        records.append(drawn[draw, position])
    draws = len(origins[0])
    area, problem, records = (np.concatenate(part) for part in (area, problem, records))
    prints = fingerprints(one, level, method, area, problem, records, len(problems) * draws)
    n_regions = [crosswalk.n_regions for crosswalk in one.plan.levels.crosswalks]
    first, names = np.cumsum([0, *n_regions]), _names(sum(n_regions))
    keep = []
    for number, (_, _, shown, _, _) in enumerate(problems):
        with np.errstate(over="ignore"):
            wanted = sum((names[first[at] + where] * np.uint64(n) for (at, where), n in shown.items()), np.uint64(0))
        keep.append(prints[number * draws : (number + 1) * draws] == wanted)
    return keep


def _names(number: int) -> np.ndarray:
    """A random 64-bit name for each label: sums of names times records tell releases apart."""
    return np.random.default_rng(0).integers(1, 2**63, number, dtype=np.uint64)


def fingerprints(one, level, method, area, problem, records, n_problems) -> np.ndarray:
    """What each problem publishes when made again up to a level, in one number, (n_problems,) uint64."""
    k = one.plan.k
    n_regions = [crosswalk.n_regions for crosswalk in one.plan.levels.crosswalks]
    first, names = np.cumsum([0, *n_regions]), _names(sum(n_regions))
    prints = np.zeros(n_problems, np.uint64)
    order = np.argsort(problem, kind="stable")
    starts = np.searchsorted(problem[order], np.arange(n_problems + 1))
    step = 0
    while step < n_problems:
        stop = max(step + 1, int(np.searchsorted(starts, starts[step] + CELLS_AT_ONCE)) - 1)
        stop = min(stop, n_problems)
        rows = order[starts[step] : starts[stop]]
        if len(rows):
            cells = ProfileCells(area[rows], problem[rows] - step, records[rows])
            at = method(cells, one.regions[: level + 1], one.losses[: level + 1], k)
            shown = np.flatnonzero(at >= 0)
            region = np.zeros(len(rows), np.int64)
            for one_level in range(level + 1):
                here = at == one_level
                region[here] = first[one_level] + one.regions[one_level][area[rows][here]]
            with np.errstate(over="ignore"):
                np.add.at(prints, problem[rows][shown], names[region[shown]] * records[rows][shown].astype(np.uint64))
        step = stop
    return prints


def _scored(one, level, problems, keep) -> Guesses:
    """Guesses of the part (a region of the level below) in which each record of the attacked labels lives."""
    attacked, base, right_by_method, sure, right = 0, 0.0, 0.0, 0, 0
    for (near, free, _, truth, target), kept in zip(problems, keep):
        part = np.unique(one.regions[level - 1][near], return_inverse=True)[1].reshape(-1)
        n_parts = part.max() + 1
        true = np.bincount(part, truth, n_parts)
        people = np.bincount(part, one.population[near] * np.isin(near, free), n_parts)
        n = int(truth.sum())
        attacked += n
        base += true[people.argmax()]
        if not kept.any():
            right_by_method += true[people.argmax()]
            continue
        mean = np.bincount(part, target[kept].mean(axis=0), n_parts) / n
        guess = mean.argmax()
        right_by_method += true[guess]
        if mean[guess] >= SURE:
            sure += n
            right += int(true[guess])
    return Guesses(attacked, float(base), float(right_by_method), sure, right)


def insider(
    areas: Areas,
    plan: Plan,
    loss: str = "mean distance",
    method: Method = best_levels,
    n_targets: int = 1000,
    most_areas: int = 32,
    repeats: int = 1,
    seed: int = 0,
) -> Guesses:
    """Single persons looked for among the areas of the region that shows them, all others of the class being known."""
    rng = np.random.default_rng(seed)
    one = _release(areas, plan, loss)
    sizes = [np.bincount(region_of[region_of >= 0]) for region_of in one.regions]
    shown_of = [sizes[level][one.regions[level][area]] for level, area in zip(one.level_of.tolist(), one.area.tolist())]
    coarse = np.flatnonzero((one.level_of > 0) & (np.array(shown_of) <= most_areas))
    weights = one.records[coarse] / one.records[coarse].sum()
    targets = rng.choice(coarse, n_targets, p=weights)
    below = one.shown_below
    by_class = np.argsort(one.class_of, kind="stable")
    starts = np.searchsorted(one.class_of[by_class], np.arange(one.class_of.max() + 2))
    area, problem, records, candidates, n_problems, own = [], [], [], [], 0, []
    for target in targets.tolist():
        class_of, level = int(one.class_of[target]), int(one.level_of[target])
        cells = by_class[starts[class_of] : starts[class_of + 1]]
        near = np.flatnonzero(one.regions[level] == one.regions[level][one.area[target]])
        near = np.array([a for a in near.tolist() if (a, class_of) not in below])
        candidates.append((target, near, n_problems))
        for candidate in near.tolist():
            area += [one.area[cells], np.array([candidate])]
            moved = one.records[cells].copy()
            moved[cells == target] -= 1
            records += [moved, np.array([1])]
            problem.append(np.full(len(cells) + 1, n_problems))
            own.append(class_of)
            n_problems += 1
    area, problem, records = (np.concatenate(part) for part in (area, problem, records))
    # The person joins those of the same area: one cell.
    key, position = np.unique(problem * len(one.population) + area, return_inverse=True)
    records = np.bincount(position.reshape(-1), records, len(key)).astype(np.int64)
    there = records > 0
    problem, area = np.divmod(key[there], len(one.population))
    top = len(one.regions) - 1
    published = _published_prints(one)
    own = np.array(own)
    share = np.zeros(n_problems)
    for _ in range(repeats):
        share += (fingerprints(one, top, method, area, problem, records[there], n_problems) == published[own]) / repeats
    attacked, base, right_by_method, sure, right = 0, 0.0, 0.0, 0, 0
    for target, near, start in candidates:
        level = int(one.level_of[target])
        part_of = one.regions[level - 1]
        true = part_of[one.area[target]]
        weight = share[start : start + len(near)]
        fits = weight > 0
        people = np.maximum(one.population[near], 1e-9)
        attacked += 1
        base += _likeliest(part_of[near], people)[0] == true
        guess, probability = (
            _likeliest(part_of[near][fits], (people * weight)[fits])
            if fits.any()
            else _likeliest(part_of[near], people)
        )
        right_by_method += guess == true
        if probability >= SURE and _likeliest(part_of[near], people)[1] < SURE:
            sure += 1
            right += int(guess == true)
    return Guesses(attacked, float(base), float(right_by_method), sure, right)


def _likeliest(part: np.ndarray, people: np.ndarray) -> tuple[int, float]:
    parts, position = np.unique(part, return_inverse=True)
    sums = np.bincount(position.reshape(-1), people)
    return int(parts[sums.argmax()]), float(sums.max() / sums.sum())


def _published_prints(one: _Release) -> np.ndarray:
    """The fingerprint of each class of the release, (C,)."""
    n_regions = [crosswalk.n_regions for crosswalk in one.plan.levels.crosswalks]
    first, names = np.cumsum([0, *n_regions]), _names(sum(n_regions))
    prints = np.zeros(int(one.class_of.max()) + 1, np.uint64)
    for level, region_of in enumerate(one.regions):
        here = np.flatnonzero(one.level_of == level)
        with np.errstate(over="ignore"):
            np.add.at(
                prints,
                one.class_of[here],
                names[first[level] + region_of[one.area[here]]] * one.records[here].astype(np.uint64),
            )
    return prints
