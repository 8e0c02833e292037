"""The audit: how often donut masking with a given K_INNER falls short of a wanted anonymity (Allshouse 2010, 2.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..areas import MOST_PEOPLE
from ..dataclass import dataclass
from ..errors import InputError
from ..progress import Progress, part, silent
from .candidates import candidates
from .clusters import Detection, PlantedClusters
from .comparison import AREA_CENTRE, DONUT, RANDOM_PERTURBATION, move_to_centre, random_perturbation
from .donut import MASKED, REASONS, Masking, check_ring, donut_mask
from .placing import NO_AREA
from .populations import Households

# K_INNER is searched for up to this number; beyond it, a donut is too wide for any realistic area.
LARGEST_K_INNER = 10_000


@dataclass(frozen=True)
class Trial:
    """One way of masking that is tried.

    k_inner, k_outer : in people; for random perturbation k_inner is 0, for the centre of the area both are NaN
    method : DONUT, or one of COMPARED
    """

    k_inner: float
    k_outer: float
    method: str = DONUT


@dataclass(frozen=True)
class OuterRule:
    """What K_OUTER is for a K_INNER: `factor` times as much, or a number that is the same for all."""

    factor: float = 10.0
    number: float | None = None

    def k_outer(self, k_inner: float) -> float:
        """K_OUTER, in people."""
        return k_inner * self.factor if self.number is None else self.number

    @property
    def largest_k_inner(self) -> int:
        """The largest whole K_INNER that is worth trying: up to LARGEST_K_INNER, and below K_OUTER."""
        return LARGEST_K_INNER if self.number is None else min(LARGEST_K_INNER, int(np.ceil(self.number)) - 1)


TEN_TIMES = OuterRule()  # as in the paper


def donuts(k_inner: Sequence[float], rules: Sequence[OuterRule] = (TEN_TIMES,)) -> list[Trial]:
    """Each K_INNER with each K_OUTER above it, K_INNER by K_INNER.

    A number of K_OUTER that is not above a K_INNER is left out for it. Raises InputError where none is left for one,
    and for a K_INNER that is not above 0.
    """
    trials = []
    for k in k_inner:
        wide = [rule.k_outer(k) for rule in rules if rule.number is None or rule.number > k]
        if not wide:
            raise InputError.saying(
                "K_OUTER has no number above K_INNER = {k_inner:g}: add one, or take that K_INNER out.", k_inner=k
            )
        for k_outer in wide:
            check_ring(k, k_outer)
        trials += [Trial(float(k), k_outer) for k_outer in wide]
    return trials


def compared(methods: Sequence[str], trials: Sequence[Trial]) -> list[Trial]:
    """The trials of the methods that donuts are compared with: perturbation for each of their K_OUTER, the centre once.

    methods : some of COMPARED; trials : donuts.
    """
    trials_beside = []
    if RANDOM_PERTURBATION in methods:
        trials_beside += [Trial(0.0, k, RANDOM_PERTURBATION) for k in dict.fromkeys(trial.k_outer for trial in trials)]
    if AREA_CENTRE in methods:
        trials_beside.append(Trial(float("nan"), float("nan"), AREA_CENTRE))
    return trials_beside


@dataclass(frozen=True, eq=False)
class Masker:
    """Everything that a masking needs except its radii, so that it can be run for many.

    households : those that are masked and counted; area_of, people : (h,) of each; shapes : (m,) valid polygons
    distance : a key of DISTANCES; seed : of every run, so that a run depends only on its own trial
    """

    households: Households
    area_of: np.ndarray
    people: np.ndarray
    shapes: np.ndarray
    distance: str
    seed: int

    def run(self, trial: Trial, progress: Progress = silent) -> Masking:
        """Mask every household."""
        points, rng = self.households.points, np.random.default_rng(self.seed)
        if trial.method == AREA_CENTRE:
            return move_to_centre(points, self.area_of, self.people, self.shapes)
        places = (points, self.area_of, self.people, self.shapes)
        if trial.method == RANDOM_PERTURBATION:
            return random_perturbation(*places, trial.k_outer, self.distance, rng, progress)
        return donut_mask(*places, trial.k_inner, trial.k_outer, self.distance, rng, progress)

    def candidates(self, trial: Trial, masking: Masking) -> np.ndarray:
        """Households that each masked place could have come from, (h,) float; NaN where there is no place."""
        if trial.method == AREA_CENTRE:  # all of the area, whatever their distance
            counted = _by_area(self, np.ones(len(self.households), bool))
            return np.where(masking.masked, counted[self.area_of], np.nan)
        return candidates(self.households, self.area_of, masking.points, self.area_of, masking.inner, masking.outer)


@dataclass(frozen=True, eq=False)
class Audit:
    """What became of the households in each of i trials, weighted by how many each location stands for.

    trials : i of them; k_min : (j,)
    below : (i, j, m) masked households of each area whose k_act is below k_min
    below_candidates : (i, j) masked households whose masked place has fewer than k_min candidate addresses
    masked : (i, m) households of each area that were masked; households : (m,) in each area
    reasons : (i, len(REASONS)) households by outcome
    mean_displacement, median_displacement : (i,) metres that masked households moved, what privacy costs in spatial
    resolution; NaN where none was masked
    detections : what is found of planted clusters, for each trial; empty where none were planted
    """

    trials: tuple[Trial, ...]
    k_min: np.ndarray
    below: np.ndarray
    below_candidates: np.ndarray
    masked: np.ndarray
    households: np.ndarray
    reasons: np.ndarray
    mean_displacement: np.ndarray
    median_displacement: np.ndarray
    detections: tuple[Detection, ...] = ()

    @property
    def k_inner(self) -> np.ndarray:
        """Of each trial, (i,); 0 without an inner radius, NaN without a ring."""
        return np.array([trial.k_inner for trial in self.trials])

    @property
    def k_outer(self) -> np.ndarray:
        """Of each trial, (i,); NaN without a ring."""
        return np.array([trial.k_outer for trial in self.trials])

    def of_method(self, method: str) -> list[int]:
        """Positions of the trials of a method."""
        return [i for i, trial in enumerate(self.trials) if trial.method == method]

    def narrowest(self) -> list[int]:
        """Positions of the donuts, of each K_INNER the one with the smallest K_OUTER."""
        order = sorted(self.of_method(DONUT), key=lambda i: self.trials[i].k_outer)
        first = {self.trials[i].k_inner: i for i in reversed(order)}
        return sorted(first.values())

    @property
    def percent_below(self) -> np.ndarray:
        """Share of the masked households that fall short, per cent, (i, j); NaN where none was masked."""
        return _percent(self.below.sum(axis=2), self.masked.sum(axis=1)[:, None])

    @property
    def percent_below_candidates(self) -> np.ndarray:
        """Share whose masked place could have come from fewer than k_min households, per cent, (i, j); NaN likewise."""
        return _percent(self.below_candidates, self.masked.sum(axis=1)[:, None])

    @property
    def percent_below_by_area(self) -> np.ndarray:
        """The same share in each area, (i, j, m)."""
        return _percent(self.below, self.masked[:, None, :])

    @property
    def percent_not_masked(self) -> np.ndarray:
        """Share of the households that could not be masked, per cent, (i,)."""
        return 100.0 - _percent(self.reasons[:, MASKED], self.reasons.sum(axis=1))


@dataclass(frozen=True)
class SmallestKInner:
    """The smallest K_INNER that meets a wanted failure rate; None where none up to LARGEST_K_INNER does.

    k_outer : with it; None where there is no K_INNER, unless it is the same for all
    percent_below, percent_not_masked, mean_displacement : at that K_INNER; NaN where nothing could be tried
    """

    k_min: float
    k_inner: int | None
    k_outer: float | None
    percent_below: float
    percent_not_masked: float
    mean_displacement: float


def audit(
    masker: Masker,
    trials: Sequence[Trial],
    k_min: Sequence[float],
    clusters: PlantedClusters | None = None,
    progress: Progress = silent,
) -> tuple[Audit, np.ndarray]:
    """Mask all households in each way and count whose anonymity is below each K_MIN.

    Returns the audit and (h, j) the distance within which each household reaches each K_MIN, which later
    searches can reuse. trials : of `donuts` and `compared`; k_min : numbers above 0; at least one each; clusters :
    planted among these households, to see what masking leaves of them.
    """
    numbers = np.asarray(k_min, dtype=float)
    households, n_areas = masker.households, len(masker.shapes)
    needed = households.distance_to_reach(households.points, numbers, part(progress, 0.0, 0.2))
    below = np.zeros((len(trials), len(numbers), n_areas))
    below_candidates = np.zeros((len(trials), len(numbers)))
    masked = np.zeros((len(trials), n_areas))
    reasons = np.zeros((len(trials), len(REASONS)))
    moved = np.full((len(trials), 2), np.nan)
    detections = []
    for i, trial in enumerate(trials):
        here = part(progress, 0.2 + 0.8 * i / len(trials), 0.2 + 0.8 * (i + 1) / len(trials))
        masking = masker.run(trial, here if clusters is None else part(here, 0.0, 0.5))
        reasons[i] = np.bincount(masking.reason, weights=households.weights, minlength=len(REASONS))
        rows = masking.masked
        masked[i] = _by_area(masker, rows)
        moved[i] = _mean_and_median(masking.displacement[rows], households.weights[rows])
        below_candidates[i] = households.weights @ (masker.candidates(trial, masking)[:, None] < numbers)
        for j in range(len(numbers)):
            below[i, j] = _by_area(masker, rows & (masking.displacement <= needed[:, j]))
        if clusters is not None:
            detections.append(clusters.detection(masking.points, part(here, 0.5, 1.0)))
    grid = Audit(
        tuple(trials),
        numbers,
        below,
        below_candidates,
        masked,
        _by_area(masker, masker.area_of != NO_AREA),
        reasons,
        moved[:, 0],
        moved[:, 1],
        tuple(detections),
    )
    return grid, needed


def smallest_k_inner(
    masker: Masker,
    grid: Audit,
    needed: np.ndarray,
    percent: float,
    rules: Sequence[OuterRule] = (TEN_TIMES,),
    progress: Progress = silent,
) -> list[SmallestKInner]:
    """For each K_MIN and rule the smallest whole K_INNER with which at most `percent` of the masked households fall
    short of it.

    grid, needed : of `audit` for the same masker; rules : those of its donuts. The search starts from the grid and goes
    on by doubling and halving: the K_INNER it gives meets the rate, and K_INNER - 1 does not. This tests the paper's
    advice, to triple it, on the user's own households. The rate depends on the places drawn: near the wanted rate,
    another seed may give a K_INNER close by.
    """
    known: list[dict[int, tuple[np.ndarray, float, float]]] = [
        {
            int(trial.k_inner): (
                grid.percent_below[i],
                float(grid.percent_not_masked[i]),
                float(grid.mean_displacement[i]),
            )
            for i, trial in enumerate(grid.trials)
            if trial.method == DONUT
            and trial.k_inner == int(trial.k_inner)
            and trial.k_outer == rule.k_outer(trial.k_inner)
        }
        for rule in rules
    ]
    searches = [(j, r) for j in range(len(grid.k_min)) for r in range(len(rules))]
    return [
        _smallest(
            masker,
            j,
            float(grid.k_min[j]),
            rules[r],
            known[r],
            needed,
            percent,
            part(progress, done / len(searches), (done + 1) / len(searches)),
        )
        for done, (j, r) in enumerate(searches)
    ]


def _smallest(
    masker: Masker,
    j: int,
    k_min: float,
    rule: OuterRule,
    runs: dict[int, tuple[np.ndarray, float, float]],
    needed: np.ndarray,
    percent: float,
    progress: Progress,
) -> SmallestKInner:
    """The search for one K_MIN; runs : by K_INNER, per cent below each K_MIN, per cent not masked and mean
    displacement, added to here."""

    def meets(k: int) -> bool:
        if k not in runs:
            runs[k] = _rates(masker, Trial(k, rule.k_outer(k)), needed)
            progress(min(len(runs) / 40.0, 1.0))
        return bool(runs[k][0][j] <= percent)

    largest = rule.largest_k_inner
    if largest < 1:
        return SmallestKInner(k_min, None, rule.number, *[float("nan")] * 3)
    enough = [k for k in sorted(runs) if meets(k)]
    high = enough[0] if enough else min(max([int(np.ceil(k_min)), *runs]), largest)
    low = max((k for k in runs if k < high and not meets(k)), default=0)
    while not meets(high):
        if high >= largest or np.isnan(runs[high][0][j]):
            return SmallestKInner(k_min, None, rule.number, float(runs[high][0][j]), *runs[high][1:])
        low, high = high, min(2 * high, largest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return SmallestKInner(k_min, high, rule.k_outer(high), float(runs[high][0][j]), *runs[high][1:])


def _rates(masker: Masker, trial: Trial, needed: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Per cent of the masked households that fall short of each K_MIN, (j,), per cent not masked, mean displacement."""
    masking = masker.run(trial)
    weights, rows = masker.households.weights, masking.masked
    short = (masking.displacement[:, None] <= needed) & rows[:, None]
    masked = weights[rows].sum()
    moved = _mean_and_median(masking.displacement[rows], weights[rows])[0]
    return _percent(weights @ short, masked), 100.0 - float(_percent(masked, weights.sum())), moved


def quintiles(values: np.ndarray) -> np.ndarray:
    """The fifth that each value belongs to, (m,) float from 1, the lowest, to 5; NaN where the value is NaN.

    Equal values share the lower fifth: where half of the areas have no household that falls short, they all are 1.
    """
    known = np.isfinite(values)
    fifth = np.full(len(values), np.nan)
    if known.any():
        ends = np.quantile(values[known], np.arange(1, 5, dtype=np.int64) / 5)
        fifth[known] = 1.0 + np.searchsorted(ends, values[known], side="left")
    return fifth


def _mean_and_median(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Weighted mean and (lower) median of values (n,); NaN where there are none."""
    if not len(values) or not weights.sum() > 0:
        return float("nan"), float("nan")
    order = np.argsort(values, kind="stable")
    total = weights[order].cumsum()
    middle = order[np.searchsorted(total, 0.5 * total[-1])]
    return float(np.average(values, weights=weights)), float(values[middle])


def _by_area(masker: Masker, rows: np.ndarray) -> np.ndarray:
    """Households of each area among the rows (h,) bool, (m,)."""
    rows = rows & (masker.area_of != NO_AREA)
    return np.bincount(masker.area_of[rows], weights=masker.households.weights[rows], minlength=len(masker.shapes))


def numbers_of(text: str, name: str) -> list[float]:
    """The numbers of a list written as `5,10,15`, each once.

    Raises InputError for what is not a number, not above 0, or above MOST_PEOPLE.
    """
    try:
        numbers = [float(word) for word in text.replace(";", " ").replace(",", " ").split()]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number <= MOST_PEOPLE for number in numbers):
        raise InputError.saying(
            "{name} is “{text}”: write one or more numbers above 0 and up to {most_people:g}, such as 5,10,15.",
            name=name,
            text=text,
            most_people=MOST_PEOPLE,
        )
    return list(dict.fromkeys(numbers))


def _percent(some: np.ndarray, of: np.ndarray) -> np.ndarray:
    """100 some / of, NaN where `of` is 0."""
    return 100.0 * np.divide(some, of, out=np.full(np.broadcast(some, of).shape, np.nan), where=np.asarray(of) > 0)
