"""One geography for ten years, against a geography of its own for each: what the same classes in all years cost; and
twelve months of updates.

    PYTHONPATH=build/package .venv/bin/python benchmarks/over_time.py [Winnipeg] [East] [city] [Ottawa] [--bound 200]
        [--only nested level months small]

Ten made-up years of the same people: 9 in 100 move in a year, to an area drawn by population; 6 in 100 come to the
next age group, and are then as somebody of that age and sex was in the first year; who leaves the oldest group is
replaced by somebody of the youngest. k = 5. Nested: levels by the defaults of `core.nesting.making`, made once from
the first year; distance is the mean over all records of that of the people of the region from its centre, metres. One
level: most regions within a budget of 1 % suppressed, balanced density and anonymity exchange. Times are CPU seconds.
`--bound`: what no plan for all years can go below. Of so many regions and classes, drawn by what the plan loses there,
HiGHS works out the least loss if what goes to larger regions always holds there; of a level with BOUND_REGIONS regions
or more. From their share of what the plan loses there follows that of all, within what the draws leave open.
Months: of the same people 3 in 1000 move in a month, 1 in 1000 dies, and as many are born. Each month's release carries
on the one before (`vbas:updaterelease`), nested and of one level, and is held against all before it: changes of fewer
than k are counted by a plain program that reads the counts alone, label by label and for every region with those
within. “Because of earlier months”: records that a plan of that month alone shows in a smaller region, or shows at all.
“At least”: the same of any release in which each class of a region, with those within, has nobody, k and more, and of
each earlier month as many or k more or fewer: of each class at the level where it is most.
Small: towns of two to six areas, one to three periods and two to four levels, against all choices there are.
Settings stand in over_time.json, fixed before the runs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import shapely
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas.benchmarks.nested_release import CITY, DATA_SETS, city, place
from vbas.benchmarks.nested_rivals import losses_of, mean_loss
from vbas.benchmarks.ottawa_data import ottawa
from vbas.benchmarks.scenarios import LARGE_SELECTION, SELECTIONS
from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import Published
from vbas.core.levels import Levels
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.nesting.series_optimum import SeriesCells, best_levels_of_series
from vbas.core.nesting.tree import tree_of
from vbas.core.plan import Plan, area_of_cells, suppress
from vbas.core.privacy.in_each_period import with_series
from vbas.core.privacy.requirement import Requirement
from vbas.core.privacy.series import Series
from vbas.core.profile import Profile, profile_records
from vbas.core.records.columns import Column
from vbas.core.records.matching import Records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.keeping import largest
from vbas.core.releases.updating import Update, places_of
from vbas.core.site_number import SiteNumberOptions
from vbas.core.suppression import Terms
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import generate_records

SETTINGS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
K, YEARS, MOVES, AGES, SEED = (SETTINGS[name] for name in ("k", "years", "moves", "ages", "seed"))
MONTHS, MONTHLY_MOVES, MONTHLY_BIRTHS = (SETTINGS[name] for name in ("months", "monthly_moves", "monthly_births"))
BUDGET, SECONDS, SMALL_TOWNS = (SETTINGS[name] for name in ("budget", "seconds", "small_towns"))
NESTED_TARGET, LEVEL_TARGET, MONTH_TARGET = (SETTINGS[f"{of}_target"] for of in ("nested", "level", "month"))


@dataclass(frozen=True, eq=False)
class Town:
    """Areas, their people over the years with the year as last quasi-identifier, and what the same in all asks."""

    name: str
    areas: Areas
    first: Profile
    profile: Profile
    requirement: Requirement

    @property
    def series(self) -> Series:
        assert self.requirement.series is not None
        return self.requirement.series


def town(name: str) -> Town:
    areas, first = first_year(name)
    profile = drifting(first, len(areas))
    return Town(name, areas, first, profile, with_series(Requirement(K), profile, "year"))


def first_year(name: str) -> tuple[Areas, Profile]:
    """Areas and the people of the first year; those of Ottawa, which no method was tried on, made up as Winnipeg's."""
    if name != "Ottawa":
        return city(CITY) if name == "city" else place(DATA_SETS[name])
    made = ottawa()
    household, shape = shapely.STRtree(made.shapes).query(shapely.points(made.households), predicate="within")
    household, at = np.unique(household, return_index=True)
    people = np.round(np.bincount(shape[at], made.persons[household], len(made.shapes)))
    points = shapely.get_coordinates(shapely.centroid(made.shapes))
    areas = make_areas([str(i) for i in range(len(points))], points, people, in_metres=True)
    areas = replace(areas, neighbours=point_neighbours(points))
    distributions = canadian_distributions().selection(SELECTIONS[LARGE_SELECTION])
    provinces = np.full(len(areas), distributions.provinces[6], dtype=object)
    table = generate_records(areas.identifiers, provinces, distributions, people).table()
    return areas, profile_records(table.area.codes, table.quasi_identifiers, len(areas))[0]


def drifting(first: Profile, n_areas: int, years: int = YEARS, seed: int = SEED) -> Profile:
    """The people of a profile over so many years, with the year as last quasi-identifier."""
    rng = np.random.default_rng(seed)
    area = np.repeat(area_of_cells(first), first.counts.data)
    codes = first.classes[np.repeat(first.counts.indices, first.counts.data)].copy()
    donors = Donors(first, area, codes, rng)
    share = first.area_sizes / first.n_records
    areas_of, codes_of = [], []
    for _ in range(years):
        areas_of.append(area.copy())
        codes_of.append(codes.copy())
        moves = rng.random(len(area)) < MOVES
        area[moves] = rng.choice(len(share), int(moves.sum()), p=share)
        donors.age(np.flatnonzero(rng.random(len(area)) < AGES), area, codes)
    every, year = np.concatenate(codes_of), np.repeat(np.arange(years), len(area))
    columns = {name: Column(every[:, i], first.categories[i]) for i, name in enumerate(first.quasi_identifiers)}
    columns["year"] = Column(year, np.array([str(2011 + i) for i in range(years)], dtype=object))
    return profile_records(np.concatenate(areas_of), columns, n_areas)[0]


class Donors:
    """Who lives there at first, by age and sex: whoever comes to an age becomes as somebody of that age and sex is."""

    def __init__(self, first: Profile, area: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> None:
        names = first.quasi_identifiers
        self.by_age = next(i for i, name in enumerate(names) if "age" in name)
        self.by_sex = names.index("sex")
        self.n_ages, self.n_sexes = len(first.categories[self.by_age]), len(first.categories[self.by_sex])
        self.rng, self.area, self.codes = rng, area.copy(), codes.copy()
        group = codes[:, self.by_age] * self.n_sexes + codes[:, self.by_sex]
        self.order = np.argsort(group, kind="stable")
        self.starts = np.searchsorted(group[self.order], np.arange(self.n_ages * self.n_sexes + 1))

    def age(self, some: np.ndarray, area: np.ndarray, codes: np.ndarray) -> None:
        """Let some people come to the next age group; the oldest leave, and the youngest come in their place."""
        born = codes[some, self.by_age] == self.n_ages - 1
        group = np.where(born, 0, codes[some, self.by_age] + 1) * self.n_sexes + codes[some, self.by_sex]
        number = self.starts[group + 1] - self.starts[group]
        donor = self.order[self.starts[group] + (self.rng.random(len(some)) * number).astype(np.int64)]
        codes[some] = self.codes[donor]
        area[some] = np.where(born, self.area[donor], area[some])


def of_year(profile: Profile, year: int) -> Profile:
    """The records of one year, without the year."""
    classes = profile.classes[:, -1] == year
    return Profile(
        profile.counts[:, classes],
        profile.classes[classes, :-1],
        profile.categories[:-1],
        profile.quasi_identifiers[:-1],
    )


def unavoidable(town: Town, levels: Levels) -> int:
    """Records of classes that have 1 to k - 1 in some year in a region of the coarsest level."""
    profile, series, coarsest = town.profile, town.series, levels.crosswalks[-1]
    counts = coarsest.membership() @ profile.counts
    region = np.repeat(np.arange(coarsest.n_regions), np.diff(counts.indptr))
    key = region * series.base.counts.shape[1] + series.class_of[counts.indices]
    rare = np.unique(key[counts.data < K])
    return int(counts.data[np.isin(key, rare)].sum())


def nested(town: Town, n_draws: int) -> dict[str, object]:
    """A plan for each year by itself, and one for all."""
    levels = build_levels(town.areas, town.first)
    losses = losses_of(town.areas, town.first, levels)
    own, own_seconds = timed(lambda: nest(town.areas, town.profile, levels, K))
    plan, seconds = timed(lambda: nest(town.areas, town.profile, levels, K, requirement=town.requirement))
    figures: dict[str, object] = {
        "records": town.profile.n_records,
        "own_suppressed": town.profile.n_records - own.n_released,
        "own_metres": mean_loss(own, losses),
        "own_seconds": own_seconds,
        "same_suppressed": town.profile.n_records - plan.n_released,
        "unavoidable": unavoidable(town, levels),
        "same_metres": mean_loss(plan, losses),
        "same_seconds": seconds,
    }
    if n_draws:
        figures["bound"] = bound(town, levels, losses, plan, n_draws)
    return figures


@dataclass(frozen=True)
class Bound:
    """A share of what a plan loses that no plan can go below, estimated from draws, and its standard error."""

    share: float
    error: float
    draws: int


def bound(town: Town, levels: Levels, losses: list[np.ndarray], plan: Plan, n_draws: int) -> Bound:
    """How near a plan is to what cannot be undercut: each region of a level by itself, see above."""
    series, base, counts = town.series, town.series.base, town.profile.counts
    assert plan.level_of is not None
    level_of, records = np.full(base.counts.nnz, -1), base.counts.data
    level_of[series.cell] = plan.level_of
    released = np.flatnonzero(level_of >= 0)
    counted = series.by_period(np.arange(base.counts.nnz), counts.data, counts.indices)[released]
    area, class_of = area_of_cells(base)[released], base.counts.indices[released].astype(np.int64)
    regions = np.array([crosswalk.region_of[area] for crosswalk in levels.crosswalks])
    lost = np.array([records[released] * loss[of] for loss, of in zip(losses, regions)])
    for own, of in zip(lost, regions):
        own[~fits(counted, of * (class_of.max() + 1) + class_of)] = np.inf
    within = max(at for at, of in enumerate(levels.crosswalks) if of.n_regions >= SETTINGS["bound_regions"])
    _, place = np.unique(regions[within] * (class_of.max() + 1) + class_of, return_inverse=True)
    place = place.reshape(-1)
    by_plan = np.bincount(place, lost[level_of[released], np.arange(len(released))])
    cheapest, above = lost.min(axis=0), lost[within + 1 :].min(axis=0)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(by_plan) + 1))
    shares = []
    for at in np.random.default_rng(SEED).choice(len(by_plan), n_draws, p=by_plan / by_plan.sum()).tolist():
        cells = order[starts[at] : starts[at + 1]]
        costs = np.vstack([lost[: within + 1, cells], above[cells]])
        least = max(least_loss(counted[cells], regions[: within + 1, cells], costs), float(cheapest[cells].sum()))
        shares.append(least / by_plan[at])
    return Bound(float(np.mean(shares)), float(np.std(shares) / n_draws**0.5), n_draws)


def fits(counted: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Which cells could be shown under a label: where with all of it each of their periods has k."""
    _, at = np.unique(label, return_inverse=True)
    at = at.reshape(-1)
    sums = sparse.csr_matrix((np.ones(len(at), np.int64), (at, np.arange(len(at))))) @ counted
    return ((counted == 0) | (sums[at] >= K)).all(axis=1)


def least_loss(counted: np.ndarray, region_of: np.ndarray, costs: np.ndarray) -> float:
    """The least that some cells of a class lose, or less, as far as HiGHS proves it.

    counted : (n, T) by cell and period; region_of : (L, n); costs : (L + 1, n) of each cell at each level and, last,
    beyond them, where it is not asked who else is shown; infinite where it cannot be
    """
    n, periods = counted.shape
    n_levels, n_shown = len(region_of), (len(region_of) + 1) * n
    label, n_labels = np.empty((n_levels, n), np.int64), 0
    for level, region in enumerate(region_of):
        used, at = np.unique(region, return_inverse=True)
        label[level] = at.reshape(-1) + n_labels
        n_labels += len(used)
    variables = np.arange(n_shown).reshape(n_levels + 1, n)
    used_in = n_shown + np.arange(n_labels * periods).reshape(n_labels, periods)
    size, (cell, period) = n_shown + n_labels * periods, np.nonzero(counted)
    once = sparse.csr_matrix(
        (np.ones(n_shown), (np.tile(np.arange(n), n_levels + 1), variables.reshape(-1))), (n, size)
    )
    rows, of_cells = (label[:, cell] * periods + period).reshape(-1), variables[:n_levels, cell].reshape(-1)
    enough = sparse.csr_matrix((np.tile(counted[cell, period], n_levels), (rows, of_cells)), (n_labels * periods, size))
    enough -= sparse.csr_matrix(
        (np.full(n_labels * periods, K), (np.arange(n_labels * periods), used_in.reshape(-1))), enough.shape
    )
    each = np.arange(len(of_cells))
    in_use = sparse.csr_matrix(
        (
            np.repeat([1.0, -1.0], len(each)),
            (np.tile(each, 2), np.concatenate([used_in.reshape(-1)[rows], of_cells])),
        ),
        (len(each), size),
    )
    possible = np.isfinite(costs).reshape(-1)
    solution = milp(
        np.concatenate([np.where(possible, costs.reshape(-1), 0.0), np.zeros(n_labels * periods)]),
        constraints=[LinearConstraint(once, 1, 1), LinearConstraint(enough, 0), LinearConstraint(in_use, 0)],
        integrality=np.ones(size),
        bounds=Bounds(0, np.append(possible, np.ones(n_labels * periods))),
        options={"time_limit": SECONDS, "mip_rel_gap": 0.005},
    )
    return float(solution.mip_dual_bound or 0.0)


@dataclass(frozen=True)
class Month:
    """What a month's release shows and costs."""

    suppressed: int
    percent: float
    least: float
    metres: float
    same: int
    before: int
    few: int
    seconds: float


def updates(areas: Areas, first: Profile, nested: bool) -> list[Month]:
    """Twelve months after the first one, each release carrying on the one before."""
    levels = build_levels(areas, first)
    if not nested:
        levels = Levels((aggregate(areas, first, _configuration(), terms=Terms(K)).aggregation.crosswalk,))
    published, rows, figures = list[Published](), list[tuple[Shown, Shown]](), list[Month]()
    for area, codes in months(first, MONTHS + 1):
        columns = {name: Column(codes[:, i], first.categories[i]) for i, name in enumerate(first.quasi_identifiers)}
        profile, cell_of = profile_records(area, columns, len(areas))
        records = Records(RecordTable(Column(area, areas.identifiers), columns, {}), profile, cell_of, 0)
        ask = Ask(K, earlier=Earlier(published), update=Update(len(published) - 1) if published else None)
        started = time.process_time()
        account = anonymise(areas.with_population(profile.area_sizes), records, levels, ask)
        seconds = time.process_time() - started
        now = _shown(account)
        changed = account.changed
        figures.append(
            Month(
                account.measures.n_suppressed,
                changed.percent if changed else 0.0,
                least_percent(areas, profile, levels, published, nested) if published else 0.0,
                account.measures.mean_distance,
                changed.same if changed else 0,
                len(rows[-1][0]) if rows else 0,
                sum(_few(old, new) for before in rows for old, new in zip(before, now)),
                seconds,
            )
        )
        rows.append(now)
        assert account.published is not None
        published.append(account.published)
    return figures


def least_percent(areas: Areas, profile: Profile, levels: Levels, earlier: list[Published], nested: bool) -> float:
    """Per cent of the records that any update shows in larger regions than a plan of its own does, or not at all."""
    n_classes = len(profile.classes)
    own = nest(areas, profile, levels, K) if nested else suppress(profile, levels.crosswalks[0], K)
    there = own.released
    at = own.level[there] * n_classes + own.class_of[there]
    released = np.bincount(at, own.records[there], len(levels) * n_classes).reshape(-1, n_classes).cumsum(axis=0)
    most = []
    for places in places_of(profile, levels, earlier, areas):
        nobody_within = np.zeros(len(places), np.int64)
        of_place = np.maximum(largest(places.people, nobody_within, places.within, places.within, K), 0)
        most.append(np.bincount(places.key % n_classes, of_place, n_classes))
    return float(100 * (released - np.array(most)).max(axis=0).clip(0).sum() / profile.n_records)


def months(first: Profile, number: int, seed: int = SEED) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Area and values of each person, month by month."""
    rng = np.random.default_rng(seed)
    area = np.repeat(area_of_cells(first), first.counts.data)
    codes = first.classes[np.repeat(first.counts.indices, first.counts.data)].copy()
    donors = Donors(first, area, codes, rng)
    share = first.area_sizes / first.n_records
    for _ in range(number):
        yield area.copy(), codes.copy()
        moves = rng.random(len(area)) < MONTHLY_MOVES
        area[moves] = rng.choice(len(share), int(moves.sum()), p=share)
        dead = np.flatnonzero(rng.random(len(area)) < MONTHLY_BIRTHS)
        codes[dead, donors.by_age] = donors.n_ages - 1
        donors.age(dead, area, codes)


Shown = dict[tuple[int, int, tuple[str, ...]], int]


def _shown(account: Account) -> tuple[Shown, Shown]:
    """What the rows show: level, region and class with how many; and the same of each region with those within."""
    published, labels, sums = account.published, Shown(), Shown()
    assert published is not None
    parents = [published.levels.parents(level).tolist() for level in range(len(published.levels))]
    values = published.values_of_classes()
    columns = (published.level, published.region, published.class_of, published.records)
    for level, region, class_of, records in zip(*(column.tolist() for column in columns)):
        of_class = values[class_of]
        labels[level, region, of_class] = records
        for at in range(level, len(published.levels)):
            sums[at, region, of_class] = sums.get((at, region, of_class), 0) + records
            region = parents[at][region] if at + 1 < len(published.levels) else region
    return labels, sums


def _few(old: Shown, new: Shown) -> int:
    return len([key for key in old.keys() & new.keys() if 0 < abs(new[key] - old[key]) < K])


def small_towns(number: int = SMALL_TOWNS, seed: int = SEED) -> list[float]:
    """What plans for one class of towns of two to six areas lose, as times the least of all choices; without those of
    which nothing can be shown, or that lose nothing."""
    rng, times = np.random.default_rng(seed), list[float]()
    while len(times) < number:
        n, periods, k = int(rng.integers(2, 7)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
        counted = rng.integers(0, rng.choice([3, 6, 10]), (n, periods)) * (rng.random((n, periods)) < 0.8)
        counted = counted[counted.sum(axis=1) > 0]
        region_of = [np.arange(len(counted))]
        for _ in range(int(rng.integers(0, 3)) if len(counted) else 0):
            joined = rng.integers(0, region_of[-1].max() // 2 + 1, region_of[-1].max() + 1)
            region_of.append(number_compactly(joined[region_of[-1]])[0].region_of)
        region_of.append(np.zeros(len(counted), np.int64))
        losses = [rng.random(int(of.max(initial=0)) + 1) * 10 + 10 * level for level, of in enumerate(region_of)]
        records = counted.sum(axis=1)
        lost = np.array([records * loss[of] for loss, of in zip(losses, region_of)])
        least = np.inf
        for choice in product(range(len(region_of)), repeat=len(counted)):
            loss = float(lost[choice, np.arange(len(counted))].sum())
            if 0 < loss < least and fits_all(counted, region_of, choice, k):
                least = loss
        if np.isfinite(least):
            cells = SeriesCells(np.arange(len(counted)), np.zeros(len(counted), np.int64), counted, records)
            level_of = best_levels_of_series(cells, tree_of(region_of, losses), k)
            times.append(float(lost[level_of, np.arange(len(counted))].sum()) / least)
    return times


def fits_all(counted: np.ndarray, region_of: list[np.ndarray], choice: tuple[int, ...], k: int) -> bool:
    """Whether each label has nobody, or k and more, in each period; choice : the level of each area."""
    released: dict[tuple[int, int], np.ndarray] = {}
    for area, level in enumerate(choice):
        label = level, int(region_of[level][area])
        released[label] = released.get(label, 0) + counted[area]
    return all(((numbers == 0) | (numbers >= k)).all() for numbers in released.values())


def one_level(town: Town) -> dict[str, object]:
    """The most regions within the budget: of each year by itself, of all with the same regions, and without holes."""
    by_itself = [regions_of(town, of_year(town.profile, year), Terms(K)) for year in range(YEARS)]
    same_regions = regions_of(town, town.profile, Terms(K))
    same_classes = regions_of(town, town.profile, Terms(K, town.requirement))
    return {"years": by_itself, "same_regions": same_regions, "same_classes": same_classes}


def regions_of(town: Town, profile: Profile, terms: Terms) -> int:
    return aggregate(town.areas, profile, _configuration(), terms=terms).aggregation.crosswalk.n_regions


def _configuration() -> Configuration:
    options = SiteNumberOptions(budget=BUDGET, gaps_region="Western Canada", k=K)
    return Configuration("suppression budget", "balanced density", "anonymity exchange", options)


def timed(work: Callable[[], Plan]) -> tuple[Plan, float]:
    """What some work gives, and the seconds that it takes."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def said(figures: dict[str, dict]) -> Iterator[str]:
    """The tables."""
    yield "| nested | suppressed | of records | unavoidable | mean distance, m | of a plan per year | CPU s |"
    yield "|---" * 7 + "|"
    for name, of in figures.items():
        if "nested" not in of:
            continue
        row = of["nested"]
        own, times = row["own_metres"], row["same_metres"] / row["own_metres"]
        by_year = f"{row['own_suppressed']} | {row['records']} | | {own:.0f} | 1 | {row['own_seconds']:.1f}"
        yield f"| {name}, by year | {by_year} |"
        yield (
            f"| {name}, the same in all | {row['same_suppressed']} | {row['records']} | {row['unavoidable']} | "
            f"{row['same_metres']:.0f} | {times:.2f} ({reached(times <= NESTED_TARGET, NESTED_TARGET)}) | "
            f"{row['same_seconds']:.1f} |"
        )
        if "bound" in row:
            of_plan = row["bound"]
            least, error = of_plan.share * row["same_metres"], of_plan.error * times
            by = f"{name}, no plan below, by {of_plan.draws} draws"
            yield f"| {by} | | | | {least:.0f} | {of_plan.share * times:.2f} ± {error:.2f} | |"
    yield ""
    yield (
        f"| one level, at most {BUDGET:g} % | first year | best single year | same regions | same classes | "
        "of the best year |"
    )
    yield "|---" * 6 + "|"
    for name, of in figures.items():
        if "level" in of:
            row = of["level"]
            first, best = row["years"][0], max(row["years"])
            share = row["same_classes"] / best
            yield (
                f"| {name} | {first} | {best} | {row['same_regions']} | {row['same_classes']} | {share:.2f} "
                f"({reached(share >= LEVEL_TARGET, LEVEL_TARGET)}) |"
            )
    yield from _said_of_months(figures)


def said_of_small_towns(times: list[float]) -> str:
    dearer = sum(of > 1 + 1e-9 for of in times)
    return (
        f"Of {len(times)} small towns {dearer} dearer than the least of all choices; {np.mean(times):.4f} times it on "
        f"average, at most {max(times):.2f}."
    )


def _said_of_months(figures: dict[str, dict]) -> Iterator[str]:
    yield ""
    yield (
        "| month | suppressed | because of earlier months, % | at least, % | beyond that, % | metres | "
        "labels as before | changes of a few | CPU s |"
    )
    yield "|---" * 9 + "|"
    for name, of in figures.items():
        for kind in ("nested", "one level"):
            for number, month in enumerate(of.get("months", {}).get(kind, [])):
                labels = f"{month.same} of {month.before}" if number else ""
                target = f" ({reached(month.percent <= MONTH_TARGET, MONTH_TARGET)})" if number == 1 else ""
                yield (
                    f"| {name}, {kind}, {number} | {month.suppressed} | {month.percent:.2f}{target} | "
                    f"{month.least:.2f} | {month.percent - month.least:.2f} | {month.metres:.0f} | "
                    f"{labels} | {month.few} | {month.seconds:.1f} |"
                )


def reached(is_so: bool, target: float) -> str:
    return f"target {target}: {'reached' if is_so else 'missed'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("towns", nargs="*", default=["Winnipeg", "East", "city"])
    parser.add_argument("--bound", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=["nested", "level"])
    asked = parser.parse_args()
    if "small" in asked.only:
        print(said_of_small_towns(small_towns()))
    if asked.only == ["small"]:
        return
    figures: dict[str, dict] = {}
    for name in asked.towns:
        figures[name] = {}
        if "months" in asked.only:
            areas, first = first_year(name)
            kinds = (("nested", True), ("one level", False))
            figures[name]["months"] = {kind: updates(areas, first, several) for kind, several in kinds}
        if not {"nested", "level"} & set(asked.only):
            continue
        made = town(name)
        if "nested" in asked.only:
            figures[name]["nested"] = nested(made, asked.bound)
        if "level" in asked.only:
            figures[name]["level"] = one_level(made)
    print("\n".join(said(figures)))


if __name__ == "__main__":
    main()
