"""What a researcher would lose: outcomes that are planted on the people, and what is found of them in a release.

The custodian, who knows where people live, plants outcomes on them: clusters and a gradient of known strength. What an
analyst makes of a release, who has nothing else, is held against what was planted, and against what the same analysis
makes of the true areas. All releases are read from the same outcomes, so that they differ by nothing but themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..levels import Levels
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..profile import Profile
from ..progress import Progress, part, silent
from ..records.columns import Column, combine_codes
from ..scientific import sparse
from ..synthetic.distributions import stream
from .moving import Moved
from .outcome import Outcome, p_values, with_cases
from .rates import chosen_bandwidth, kernel_of, kernel_ratio
from .released import ReleasedRows
from .scan import HIGH, POISSON, Circles
from .spreading import spread

MOST_AREAS = 3_000  # of more, the distances of all areas take gigabytes
MOST_CLUSTERS_TOLD = 10
LEVEL = 0.05  # of the tests
NORMAL = 1.959964  # deviations to either side of an interval of 95 %
LEAST_OF_GROUP = 50  # records: the areas of fewer are chance
TOO_FEW = tr("There are too few people to plant outcomes on: give more records, or 0 for ANALYSES.")
MOST_ROUNDS = 50  # of drawing more where a draw has too few
SURPLUS = 1.1  # how many more cases are drawn than are kept, so that their number can be exact


@dataclass(frozen=True)
class Planting:
    """What is planted. Sizes follow the number of people, so that true areas show something in a town and a province.

    outcomes : how many of each kind; seed : of all draws
    clusters, relative_risk : circles in which the risk is so many times as high; cluster_share : of the people, each,
    but no fewer than are expected to have `cluster_cases_inside` cases
    effect : coefficient of an exposure that falls off as exp(-distance / reach); reach_share : of the people live
    within the reach of its middle
    map_share, most_map_cases : who is a case on maps and in models, as a share of the people, and at most
    cluster_share_of_cases, most_cluster_cases : the same where clusters are planted
    largest : share of the expected cases that a circle of the scan may hold; draws : of its calibration
    rare : a group is rare that has at most this share of the people
    """

    outcomes: int = 20
    clusters: int = 2
    relative_risk: float = 2.0
    cluster_share: float = 0.01
    cluster_cases_inside: float = 40.0
    effect: float = 0.7
    reach_share: float = 0.05
    map_share: float = 1 / 15
    most_map_cases: int = 20_000
    cluster_share_of_cases: float = 1 / 15
    most_cluster_cases: int = 4_000
    largest: float = 0.1
    draws: int = 199
    rare: float = 0.05
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Reading:
    """Where an analyst finds people: U units, each of people of one area and class.

    weights : (P, n) sparse, profiles as in `Spread`; profile_of : (U,) int64, SUPPRESSED for who is not released
    """

    weights: sparse.csr_matrix
    profile_of: np.ndarray


@dataclass(frozen=True, eq=False)
class ReadingAnalyses:
    """What is found in a reading, of O outcomes of each kind.

    suppressed : share of the people that is not released
    map_error : (O,), root mean square error of a smoothed map over the deviation of the truth; 1 is a map of one colour
    estimate, standard_error : (O,), of the coefficient of the exposure
    planted_in_clusters, people_in_clusters : (O,), of the clusters that are found, planted people and all people;
    planted : (O,), those planted
    rare_slopes : (G,), of each rare group, the slope of its estimated on its true share by area; rare_kept : (G,), the
    share of its people that is released
    """

    suppressed: float
    map_error: np.ndarray
    estimate: np.ndarray
    standard_error: np.ndarray
    planted_in_clusters: np.ndarray
    people_in_clusters: np.ndarray
    planted: np.ndarray
    rare_slopes: np.ndarray
    rare_kept: np.ndarray


@dataclass(frozen=True)
class AnalysisMeasures:
    """What is found in a release, for whoever chooses one; NaN where nothing is found to tell.

    map_error : over that of the true areas; 1 is as good
    effect_found : mean of the coefficients over the planted one; effect_covered : per cent of the 95 % intervals that
    hold it; effect_error : mean of the standard errors over that of the true areas
    cluster_found, cluster_right : per cent of the planted people that is found, of the people found that is planted
    rare_slope : mean over the rare groups of the slope of estimated on true shares; rare_kept : per cent of their
    people that is released
    """

    map_error: float
    effect_found: float
    effect_covered: float
    effect_error: float
    cluster_found: float
    cluster_right: float
    rare_slope: float
    rare_kept: float


def measures_of(analysis: ReadingAnalyses, true: ReadingAnalyses, planting: Planting) -> AnalysisMeasures:
    """What is found in a reading, against the true areas."""

    def share(part_of: np.ndarray, whole: np.ndarray) -> float:
        return 100.0 * float(part_of.sum() / whole.sum()) if whole.sum() > 0 else float("nan")

    error, true_error = float(analysis.map_error.mean()), float(true.map_error.mean())
    covered = np.abs(analysis.estimate - planting.effect) <= NORMAL * analysis.standard_error
    return AnalysisMeasures(
        error / true_error if true_error else float("nan"),
        float(analysis.estimate.mean()) / planting.effect,
        100.0 * float(covered.mean()),
        float(analysis.standard_error.mean() / true.standard_error.mean()),
        share(analysis.planted_in_clusters, analysis.planted),
        share(analysis.planted_in_clusters, analysis.people_in_clusters),
        float(analysis.rare_slopes.mean()) if len(analysis.rare_slopes) else float("nan"),
        100.0 * float(analysis.rare_kept.mean()) if len(analysis.rare_kept) else float("nan"),
    )


@dataclass(frozen=True, eq=False)
class _Drawn:
    """An outcome of each kind. truth : (n,), the map; exposure : (n,); inside : (n,) bool, the clusters; mapped, by
    both, modelled, by the exposure, and clustered : (U,), cases of each unit."""

    truth: np.ndarray
    exposure: np.ndarray
    inside: np.ndarray
    mapped: np.ndarray
    modelled: np.ndarray
    clustered: np.ndarray


@dataclass(frozen=True, eq=False)
class Planted:
    """Outcomes on the people of a profile; see `plant`.

    areas : n areas, weights by their population; profile : of the people; planting : what is planted
    cell, people : (U,), of each unit, its cell of the profile and how many they are; moved_to : (U,), the area in which
    a masked point lies, SUPPRESSED for none, None where nobody is moved
    strata : (C,), of each class; the analyst adjusts for them
    """

    areas: Areas
    profile: Profile
    planting: Planting
    cell: np.ndarray
    people: np.ndarray
    moved_to: np.ndarray | None
    strata: np.ndarray
    drawn: Sequence[_Drawn] = field(repr=False)

    def true_areas(self) -> Reading:
        """Everybody in their area."""
        n = len(self.areas)
        return Reading(sparse.identity(n, format="csr"), area_of_cells(self.profile)[self.cell].astype(np.int64))

    def masked_points(self) -> Reading:
        """Everybody where a masked point lies; in their area where nobody was moved."""
        if self.moved_to is None:
            return self.true_areas()
        return Reading(sparse.identity(len(self.areas), format="csr"), self.moved_to)

    def release(self, plan: Plan) -> Reading:
        """A release, each record spread over the areas of its region by people."""
        return self.shown_at(plan.levels, plan.levels_of_cells)

    def shown_at(self, levels: Levels, level_of: np.ndarray) -> Reading:
        """Each cell of the profile at a level of its own, (m,), or not at all."""
        area = area_of_cells(self.profile)
        region = np.array(levels.region_of)[level_of, area]
        cells = np.flatnonzero((level_of >= 0) & (region >= 0))
        classes = self.profile.counts.indices[cells].astype(np.int64)
        fields = {"class": Column(classes, np.arange(self.profile.counts.shape[1], dtype=np.int64))}
        rows = ReleasedRows(self.areas, levels, level_of[cells].astype(np.int64), region[cells], fields)
        weights = spread(rows, "none", ["class"])
        profile_of = np.full(self.profile.counts.nnz, SUPPRESSED, np.int64)
        profile_of[cells] = weights.profile_of
        return Reading(weights.profiles, profile_of[self.cell])

    def outcomes(self, reading: Reading, cases: Sequence[np.ndarray]) -> list[Outcome]:
        """What an analyst has of outcomes; cases : of each unit, (U,) each."""
        analysis = _ReadingAnalysis(self, reading)
        return [analysis.with_cases_of(of_units) for of_units in cases]

    def analysis_of(self, reading: Reading, progress: Progress = silent) -> ReadingAnalyses:
        """What an analyst finds in a reading."""
        return _ReadingAnalysis(self, reading).analyses(progress)


def plant(
    areas: Areas,
    profile: Profile,
    planting: Planting,
    moved: Moved | None = None,
    strata: np.ndarray | None = None,
    risk: np.ndarray | None = None,
    progress: Progress = silent,
) -> Planted:
    """Plant outcomes on the people of a profile.

    Parameters
    ----------
    areas : Areas
        n areas, at most MOST_AREAS; their population is what an analyst spreads by.
    profile : Profile
        Of the same areas, in the same order.
    planting : Planting
        What is planted.
    moved : Moved, optional
        Where people were moved to, for `Planted.masked_points`.
    strata, risk : ndarray of shape (C,), optional
        Of each class: the stratum, 0 and up, and how many times as high its risk is; all alike where None.
    progress : callable
        Called with the fraction that is done; raises to cancel.

    Returns
    -------
    Planted
        With `planting.outcomes` outcomes of each kind.

    Raises
    ------
    InputError
        For more than MOST_AREAS areas, and where there are too few people to plant anything on.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from vbas.core.analysis.planting import Planting, measures_of, plant
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.profile import Profile
    >>> points = [(500.0 * x, 500.0 * y) for x in range(6) for y in range(6)]
    >>> values = (np.array(["rare", "usual"], dtype=object),)
    >>> counts = sparse.csr_matrix(np.column_stack([np.arange(36) % 7, np.full(36, 300)]))
    >>> profile = Profile(counts, np.array([[0], [1]]), values, ("group",))
    >>> planted = plant(make_areas(range(36), points, profile.area_sizes), profile, Planting(outcomes=2, draws=19))
    >>> true = planted.analysis_of(planted.true_areas())
    >>> measures_of(true, true, planted.planting).map_error, true.rare_slopes.round(6).tolist()
    (1.0, [1.0])
    """
    if len(areas) > MOST_AREAS:
        raise InputError.saying(
            "ANALYSES plants outcomes in at most {most} areas, and there are {n}: choose a part of them, or 0.",
            most=MOST_AREAS,
            n=len(areas),
        )
    if moved is None:
        cell, people, moved_to = (
            np.arange(profile.counts.nnz, dtype=np.int64),
            profile.counts.data.astype(np.int64),
            None,
        )
    else:
        cell, people, moved_to = moved.cell, moved.people, moved.to
    n_classes = profile.counts.shape[1]
    strata = np.zeros(n_classes, np.int64) if strata is None else strata
    risk = np.ones(n_classes) if risk is None else risk
    planted = Planted(areas, profile, planting, cell, people, moved_to, strata, [])
    drawn = []
    for number in range(planting.outcomes):
        drawn.append(_drawn(planted, risk, stream(planting.seed, "planted", str(number))))
        progress((number + 1) / planting.outcomes)
    return replace(planted, drawn=drawn)


def _drawn(planted: Planted, risk: np.ndarray, rng: np.random.Generator) -> _Drawn:
    planting, areas = planted.planting, planted.areas
    records = planted.profile.area_sizes.astype(float)
    n_people = int(records.sum())
    if not n_people:
        raise InputError(TOO_FEW)
    map_cases = int(min(planting.map_share * n_people, planting.most_map_cases))
    cluster_cases = int(min(planting.cluster_share_of_cases * n_people, planting.most_cluster_cases))
    inside = np.zeros(len(areas), bool)
    share = min(max(planting.cluster_share, planting.cluster_cases_inside / max(cluster_cases, 1)), 0.1)
    for _ in range(planting.clusters):
        for _ in range(100):
            order = _nearest(areas.points, rng.choice(len(areas), p=records / records.sum()))
            around = order[: int(np.searchsorted(np.cumsum(records[order]), share * n_people)) + 1]
            if not inside[around].any():
                inside[around] = True
                break
    exposure = an_exposure(rng, areas, records, planting.reach_share)
    exposed = np.exp(planting.effect * exposure)
    higher = np.where(inside, planting.relative_risk, 1.0)
    area = area_of_cells(planted.profile)[planted.cell]
    class_of = planted.profile.counts.indices[planted.cell]
    strata, usual = planted.strata[class_of], risk[class_of]

    def cases(relative: np.ndarray, n_cases: int) -> np.ndarray:
        drawn = exact_cases(rng, planted.people, usual * relative[area], strata, usual, n_cases)
        return drawn.astype(np.min_scalar_type(int(drawn.max())))

    drawn = (cases(exposed * higher, map_cases), cases(exposed, map_cases), cases(higher, cluster_cases))
    return _Drawn(exposed * higher, exposure, inside, *drawn)


def an_exposure(rng: np.random.Generator, areas: Areas, records: np.ndarray, reach_share: float) -> np.ndarray:
    """What falls off around a place where somebody lives, drawn by chance, as exp(-distance / reach), (n,).

    records : (n,), people; reach_share : of them live within the reach
    """
    middle = int(rng.choice(len(areas), p=records / records.sum()))
    order = _nearest(areas.points, middle)
    far = np.hypot(*(areas.points - areas.points[middle]).T)
    n_within = int(np.searchsorted(np.cumsum(records[order]), reach_share * records.sum()))
    reach = float(far[order[min(n_within, len(order) - 1)]])
    return np.asarray(np.exp(-far / max(reach, 1e-9)))


def _nearest(points: np.ndarray, centre: int) -> np.ndarray:
    """All areas, the nearest to one first."""
    return np.argsort(np.hypot(*(points - points[centre]).T), kind="stable")


def exact_cases(
    rng: np.random.Generator, people: np.ndarray, risk: np.ndarray, strata: np.ndarray, usual: np.ndarray, n_cases: int
) -> np.ndarray:
    """Cases of each unit, (U,) int64: as many of each stratum in every draw, wherever they fall.

    people, risk : (U,), risks relative to each other; strata : (U,); usual : (U,), the risk by which the cases are
    dealt among strata; n_cases : about so many in all. A draw is of more cases than are wanted, of which some are taken
    out at random. Raises InputError where somebody would need a risk above 1.
    """
    n_strata = int(strata.max(initial=0)) + 1
    expected = np.bincount(strata, usual * people, n_strata)
    wanted = np.round(expected * (n_cases / max(float(expected.sum()), 1e-300))).astype(np.int64)
    weighed = np.bincount(strata, risk * people, n_strata)
    chance = risk * (SURPLUS * wanted / np.maximum(weighed, 1e-300))[strata]
    if n_cases < 1 or (chance > 1).any():
        raise InputError(TOO_FEW)
    cases = rng.binomial(people, chance).astype(np.int64)
    for _ in range(MOST_ROUNDS):
        short = np.bincount(strata, cases, n_strata) < wanted
        if not short.any():
            break
        cases += rng.binomial(people - cases, np.where(short[strata], chance, 0.0))
    for stratum in range(n_strata):
        inside = np.flatnonzero(strata == stratum)
        surplus = int(cases[inside].sum()) - int(wanted[stratum])
        if surplus > 0:
            cases[inside] -= rng.multivariate_hypergeometric(cases[inside], surplus, method="marginals")
    return cases


class _ReadingAnalysis:
    """The analyses of a reading."""

    def __init__(self, planted: Planted, reading: Reading) -> None:
        self.planted, self.reading = planted, reading
        self.units = np.flatnonzero(reading.profile_of >= 0)
        class_of = planted.profile.counts.indices[planted.cell[self.units]]
        n_strata = int(planted.strata.max(initial=0)) + 1
        codes = [planted.strata[class_of], reading.profile_of[self.units]]
        self.cell_of, cells = combine_codes(codes, [n_strata, reading.weights.shape[0]])
        at_risk = np.bincount(self.cell_of, planted.people[self.units], len(cells)).astype(np.int64)
        order = np.argsort(cells[:, 0], kind="stable")
        self.cell_of = np.argsort(order)[self.cell_of]
        self.outcome = Outcome(
            reading.weights, cells[order, 0], cells[order, 1], at_risk[order], np.zeros(len(cells), np.int64)
        )

    def with_cases_of(self, cases: np.ndarray) -> Outcome:
        """The outcome of what units have, (U,)."""
        at = np.bincount(self.cell_of, cases[self.units], len(self.outcome.at_risk))
        return with_cases(self.outcome, at.astype(np.int64))

    def analyses(self, progress: Progress) -> ReadingAnalyses:
        """All that is found."""
        planted, n = self.planted, len(self.planted.drawn)
        released = float(planted.people[self.units].sum())
        slopes, kept = self._rare()
        suppressed = 1.0 - released / float(planted.people.sum())
        if not released:
            nothing = np.zeros(n)
            planted_people = np.array([self._people(drawn.inside) for drawn in planted.drawn])
            nan = np.full(n, np.nan)
            return ReadingAnalyses(1.0, np.ones(n), nan, nan, nothing, nothing, planted_people, slopes, kept)
        errors, estimates, deviations = np.empty(n), np.empty(n), np.empty(n)
        for number, drawn in enumerate(planted.drawn):
            errors[number] = self._map_error(self.with_cases_of(drawn.mapped), drawn.truth)
            estimates[number], deviations[number] = exposure_effect(self.with_cases_of(drawn.modelled), drawn.exposure)
            progress(0.6 * (number + 1) / n)
        both, in_clusters, there = self._clusters(part(progress, 0.6, 1.0))
        return ReadingAnalyses(suppressed, errors, estimates, deviations, both, in_clusters, there, slopes, kept)

    def _people(self, areas: np.ndarray) -> float:
        return float(self.planted.profile.area_sizes[areas].sum())

    def _map_error(self, outcome: Outcome, truth: np.ndarray) -> float:
        points, weight = self.planted.areas.points, self.planted.profile.area_sizes / self.planted.profile.n_records
        bandwidth, prior = chosen_bandwidth(points, outcome, self.planted.planting.seed)
        ratio = np.nan_to_num(kernel_ratio(kernel_of(points, bandwidth), outcome, prior), nan=1.0)
        truth = truth / (truth @ weight)
        return float(np.sqrt(weight @ (ratio - truth) ** 2) / np.sqrt(weight @ (truth - 1) ** 2))

    def _clusters(self, progress: Progress) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each outcome the planted people that are found, all that are told to be in a cluster, and all planted."""
        planted, planting = self.planted, self.planted.planting
        outcomes = [self.with_cases_of(drawn.clustered) for drawn in planted.drawn]
        circles = Circles(planted.areas.points, outcomes[0], POISSON, HIGH, planting.largest, part(progress, 0.0, 0.3))
        by_chance = outcomes[0].drawn(planting.draws, planting.seed)
        best = np.concatenate([circles.largest_of(cases, part(progress, 0.3, 0.7)) for cases in by_chance])
        # What fewer draws than this reach has a p-value of LEVEL or less.
        least = np.sort(best)[::-1][max(int(LEVEL * (len(best) + 1)) - 1, 0)]
        counts = np.zeros((3, len(outcomes)))
        for number, (outcome, drawn) in enumerate(zip(outcomes, planted.drawn)):
            # As many as were drawn by chance: what is suppressed differs by some cases from outcome to outcome.
            cases = outcome.cases_by_area * (outcomes[0].n_cases / max(outcome.n_cases, 1))
            likeliest = circles.clusters(cases, MOST_CLUSTERS_TOLD, least)
            p = p_values(np.array([ratio for ratio, _, _ in likeliest]), best)
            in_clusters = np.zeros(len(planted.areas), bool)
            for (_, centre, size), chance in zip(likeliest, p):
                if chance <= LEVEL:
                    in_clusters[circles.order[centre][:size]] = True
            counts[:, number] = [
                self._people(there) for there in (in_clusters & drawn.inside, in_clusters, drawn.inside)
            ]
            progress(0.7 + 0.3 * (number + 1) / len(outcomes))
        return counts[0], counts[1], counts[2]

    def _rare(self) -> tuple[np.ndarray, np.ndarray]:
        """The slope of each rare group, and the share of it that is released."""
        planted, profile = self.planted, self.planted.profile
        class_of = profile.counts.indices[planted.cell]
        area = area_of_cells(profile)[planted.cell]
        n, everybody = len(planted.areas), profile.area_sizes.astype(float)
        released = self.reading.profile_of >= 0
        slopes, kept = [], []
        for classes in rare_groups(profile, planted.planting.rare):
            people = planted.people * classes[class_of]
            true = np.bincount(area, people, n)
            kept.append(float(people[released].sum() / people.sum()))
            slopes.append(slope_of_shares(self._by_area(people), self._by_area(planted.people), true, everybody))
        return np.array(slopes), np.array(kept)

    def _by_area(self, of_units: np.ndarray) -> np.ndarray:
        weights = self.reading.weights
        of_profiles = np.bincount(self.reading.profile_of[self.units], of_units[self.units], weights.shape[0])
        return np.asarray(weights.T @ of_profiles)


def rare_groups(profile: Profile, most: float) -> list[np.ndarray]:
    """The rare values of the quasi-identifiers, each as its classes, (C,) bool; the rarest where none is that rare.

    most : share of the people that a rare value has at most; values of fewer than LEAST_OF_GROUP people are left out.
    """
    groups: list[tuple[float, np.ndarray]] = []
    for at, values in enumerate(profile.categories):
        for value in range(len(values)):
            classes = profile.classes[:, at] == value
            n = float(profile.class_sizes[classes].sum())
            if LEAST_OF_GROUP <= n < profile.n_records:
                groups.append((n / profile.n_records, classes))
    groups.sort(key=lambda group: group[0])
    return [classes for share, classes in groups if share <= most] or [classes for _, classes in groups[:1]]


def slope_of_shares(group: np.ndarray, everybody: np.ndarray, true: np.ndarray, all_true: np.ndarray) -> float:
    """The slope of a group's estimated on its true share by area, areas weighted by their people; 1 is undistorted.

    group, everybody : (n,), estimated; true, all_true : (n,). 0 where nothing is estimated, NaN where the true share is
    the same everywhere.
    """
    used = (everybody > 0) & (all_true > 0)
    estimated, share, weight = group[used] / everybody[used], true[used] / all_true[used], all_true[used]
    if not used.any():
        return 0.0
    centred = share - np.average(share, weights=weight)
    squares = float(weight @ centred**2)
    return float((weight * centred) @ estimated) / squares if squares > 0 else float("nan")


def exposure_effect(outcome: Outcome, exposure: np.ndarray) -> tuple[float, float]:
    """The coefficient of an exposure of the place in a log-linear model of who is a case, and its standard error.

    Each record takes its mean exposure over where it may live; each stratum has a rate of its own. The standard error
    is robust (HC0): a Poisson model takes common outcomes for more variable than they are.

    exposure : (n,). NaN and NaN where records do not differ in exposure.
    """
    x = np.asarray(outcome.weights @ exposure)[outcome.profile]
    stratum, at_risk, cases = outcome.stratum, outcome.at_risk, outcome.cases
    n = int(stratum.max(initial=0)) + 1
    of_strata = np.bincount(stratum, cases, n)
    effect = 0.0
    for _ in range(50):
        weight = at_risk * np.exp(effect * x)
        total = np.maximum(np.bincount(stratum, weight, n), 1e-300)
        mean = np.bincount(stratum, weight * x, n) / total
        variance = np.bincount(stratum, weight * (x - mean[stratum]) ** 2, n) / total
        information = float(of_strata @ variance)
        if not information > 1e-12:
            return float("nan"), float("nan")
        step = (float(cases @ x) - float(of_strata @ mean)) / information
        effect += float(np.clip(step, -2.0, 2.0))
        if abs(step) < 1e-9:
            break
    risk = (of_strata / total)[stratum] * np.exp(effect * x)
    squares = cases * (1 - risk) ** 2 + (at_risk - cases) * risk**2
    return effect, float(np.sqrt(squares @ (x - mean[stratum]) ** 2)) / information
