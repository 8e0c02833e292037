"""What counts by area that others publish give away beside a nested release, and what it costs to prevent it.

    PYTHONPATH=build/package .venv/bin/python benchmarks/published_counts.py [--programs] [--blocks]

Every census publishes age by sex of each area. The demonstration city, and where the data are Winnipeg and Ottawa with
as many generated people as live there, by age, sex, ethnicity and tenure; nested levels from the areas to the whole,
k = 5 and 11. A count of a class follows, in an area, a region of any level or what smaller regions leave of it, where
it lies within 1 to k - 1 in every table of people that fits. Those of areas are looked for by this file, before and
after: by bounds handed on from sum to sum until nothing changes, which find nothing that does not follow, but perhaps
not all that does; with --programs, which takes hours, all of them. Mean distance is that of nested releases, in metres.
With --blocks Denver's census blocks alone: their people have the race that the census counts, age and sex are made up.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
from osgeo import ogr
from scipy import sparse
from scipy.optimize import linprog

from vbas.benchmarks import attack_places, real_data
from vbas.benchmarks.analysis_study import denver
from vbas.benchmarks.attack_places import Place, some_column
from vbas.benchmarks.derivable import OTHERS
from vbas.core.disclosure.count_tables import CountTable, own_totals
from vbas.core.evaluation import evaluate
from vbas.core.levels import own_regions
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan
from vbas.core.privacy.published_counts import hold_against_counts

KS = (5, 11)
PROGRAMS, BLOCKS = "--programs", "--blocks"
RACES = ("WHITE20", "BLACK20", "AMIN20", "ASIAN20", "NHPI20", "OTHER20", "2MORE20")
MOST_TURNS = 100
BY = ("age_group", "sex")
EPSILON = 1e-3


class Attack:
    """The people of each area and class of one age and sex, as somebody bounds them who has the table."""

    def __init__(self, plan: Plan, table: CountTable, group: int) -> None:
        self.classes = np.flatnonzero(table.group_of == group)
        counts = plan.profile.counts[:, self.classes].toarray().astype(np.int64)
        self.truth, self.k = counts.ravel(), plan.k
        n, u = counts.shape
        areas, columns = np.divmod(np.arange(n * u), u)
        equal, least = [(areas, np.arange(n), table.low[:, group])], []
        below = np.zeros((0, 0), np.int64)
        last = len(plan.levels) - 1
        for level, region_of in enumerate(plan.levels.region_of):
            n_regions = plan.levels.crosswalks[level].n_regions
            released = np.zeros((n_regions, u), np.int64)
            here = np.flatnonzero(plan.released & (plan.level == level) & np.isin(plan.class_of, self.classes))
            released[plan.region[here], np.searchsorted(self.classes, plan.class_of[here])] = plan.records[here]
            total = released.copy()
            if level:
                np.add.at(total, plan.levels.parents(level - 1), below)
            below = total
            key = region_of[areas] * u + columns
            alone = (np.bincount(region_of, minlength=n_regions) == 1)[:, None] & (released > 0)
            known = (total > 0) if level == last else alone
            equal.append((key, np.flatnonzero(known), total[known]))
            least.append((key, np.flatnonzero((total > 0) & ~known), total[(total > 0) & ~known]))
            if level == last:
                self.highest = np.where(total[0, columns] > 0, np.inf, plan.k - 1.0)
        self.equal, self.sums = _rows(equal, n * u)
        self.least, self.sums_at_least = _rows(least, n * u)

    def handed_on(self) -> tuple[int, int]:
        """What `disclosed_by` says, as far as bounds tell that are handed on from sum to sum."""
        low, high = np.zeros(len(self.truth)), self.highest.copy()
        row, column = self.equal.nonzero()
        np.minimum.at(high, column, self.sums[row])
        for _ in range(MOST_TURNS):
            before = low.copy(), high.copy()
            for rows, sums, exact in ((self.equal, self.sums, True), (self.least, self.sums_at_least, False)):
                row, column = rows.nonzero()
                np.maximum.at(low, column, (sums - rows @ high)[row] + high[column])
                if exact:
                    np.minimum.at(high, column, (sums - rows @ low)[row] + low[column])
            if np.array_equal(before[0], low) and np.array_equal(before[1], high):
                break
        assert (low <= self.truth).all() and (self.truth <= high).all()
        within = (low >= 1) & (high < self.k)
        return int((within & (low == high)).sum()), int(within.sum())

    def disclosed_by(self) -> tuple[int, int]:
        """Areas and classes known exactly, of 1 to k - 1 people, and all that are bounded within 1 to k - 1."""
        open_ = (self.truth >= 1) & (self.truth < self.k)
        for sign in (1.0, -1.0) * 3:
            if open_.any():
                people = self._best(sign * open_)
                open_ &= (people > EPSILON) & (people < self.k - EPSILON)
        exact = within = 0
        for position in np.flatnonzero(open_).tolist():
            wish = np.zeros(len(self.truth))
            wish[position] = 1.0
            low, high = self._best(wish)[position], self._best(-wish)[position]
            disclosed = low > 1 - EPSILON and high < self.k - 1 + EPSILON
            within += disclosed
            exact += disclosed and high - low < EPSILON
        return exact, within

    def _best(self, wish: np.ndarray) -> np.ndarray:
        bounds = np.column_stack([np.zeros(len(wish)), self.highest])
        solution = linprog(wish, -self.least, -self.sums_at_least, self.equal, self.sums, bounds=bounds, method="highs")
        return np.asarray(solution.x)


def _rows(sums: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], n: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """A matrix of the sums that are known, and what they are; sums : of each unknown, those known, the totals."""
    parts = []
    for key, known, _ in sums:
        row = np.searchsorted(known, key)
        there = np.append(known, -1)[row] == key
        ones = np.ones(int(there.sum()))
        parts.append(sparse.csr_matrix((ones, (row[there], np.flatnonzero(there))), shape=(len(known), n)))
    return sparse.vstack(parts).tocsr(), np.concatenate([total for *_, total in sums]).astype(float)


def disclosed_by(plan: Plan, table: CountTable, programs: bool) -> tuple[int, int]:
    """Of all ages and sexes, what an `Attack` says."""
    attacks = (Attack(plan, table, group) for group in range(table.n_groups))
    counts = [attack.disclosed_by() if programs else attack.handed_on() for attack in attacks]
    exact, within = (sum(column) for column in zip(*counts))
    return exact, within


def blocks() -> Place:
    """Denver's census blocks, with the people of each race that the census counts there."""
    areas, rng = denver(), np.random.default_rng(1)
    source = ogr.Open(str(real_data.DATA / "denver_blocks2020.gpkg"))
    counts = np.array([[feature.GetField(race) for race in RACES] for feature in source.GetLayer(0)], np.int64)
    area, race = np.nonzero(counts)
    area, race = (np.repeat(of, counts[area, race]) for of in (area, race))
    quasi = {
        "age_group": some_column(rng.integers(0, 7, len(area))),
        "sex": some_column(rng.integers(0, 2, len(area))),
        "race": some_column(np.array(RACES)[race]),
    }
    return Place("Denver's census blocks", areas, area, quasi, np.zeros(len(area), np.int64))


def places(of_blocks: bool) -> Iterator[tuple[Place, int]]:
    """The places, and their quasi-identifiers."""
    if of_blocks:
        yield blocks(), 3
        return
    yield attack_places.city(), 4
    problem = real_data.problem_with(["West"])
    if problem:
        print(f"Without Winnipeg and Ottawa: {problem}", file=sys.stderr)
        return
    for name in ("Winnipeg", "Ottawa"):
        place = attack_places.real_place(name, OTHERS)
        if place is not None:
            yield place, 4


def main(programs: bool = False, of_blocks: bool = False) -> None:
    """Print a row for each place and k."""
    print(
        "| data | areas | records | k | counts of areas that follow: exact, within 1 to k - 1 | after | all that "
        "followed | follow anyway | left | shown more coarsely | suppressed | mean distance | after | CPU seconds |"
    )
    print("|---" * 14 + "|")
    for place, n_quasi in places(of_blocks):
        records = place.records(n_quasi=n_quasi)
        table = own_totals(records.profile, own_regions(len(place.areas)), BY)
        levels = build_levels(place.areas, records.profile)
        for k in KS:
            plan = nest(place.areas, records.profile, levels, k)
            before = disclosed_by(plan, table, programs)
            start = time.process_time()
            held = hold_against_counts(plan, [table], place.areas)
            seconds = time.process_time() - start
            after = disclosed_by(held.plan, table, programs)
            metres, later = (evaluate(place.areas, shown)[0].mean_distance for shown in (plan, held.plan))
            print(
                f"| {place.name} | {len(place.areas)} | {records.profile.n_records} | {k} | {before[0]}, {before[1]} | "
                f"{after[0]}, {after[1]} | {held.n_followed} | {held.n_anyway} | {held.n_left} | {held.n_coarser} | "
                f"{held.n_suppressed} | {metres:.1f} | {later:.1f} ({100 * (later / metres - 1):+.2f} %) | "
                f"{seconds:.1f} |"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main(PROGRAMS in sys.argv[1:], BLOCKS in sys.argv[1:])
