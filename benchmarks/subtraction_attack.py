"""What plain subtraction finds in several releases of the same people, each repaired against those before it.

The attacker is a linear program that knows what is published and how releases are made, and nothing of this program:
which areas make which regions; how many records of each class are shown; that a class of which a region of the coarsest
level shows something is shown there with all its records; that all records of an area and class show one region; every
value that a quasi-identifier may have. The unknowns are the records of each area by class and, of each release, by
level; every published number is an equation, and the coarser quasi-identifiers of one release are sums of the finer
ones of another. Asked about is every area, every region of every level, and what two regions have in common or one has
and the other has not, by every choice of values that a release shows together; and of each of these, what is left once
all that a release shows within it is taken away. Counted is what must lie within 1 to k - 1, and does not follow from
the earlier releases alone.

    PYTHONPATH=build/package .venv/bin/python benchmarks/subtraction_attack.py [--cases 1000] [--first 0] [--plain]

--plain attacks the same releases without any repair: how much there is to be found.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import Published, publish
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.requirement import Requirement, members_of
from vbas.core.profile import Profile
from vbas.core.releases.repair import repair

TOLERANCE = 1e-6
DRAWS = 16
DOMAINS = {
    "age": ("0-19", "20-39", "40-59", "60-79", "80 and over"),
    "group": ("a", "b", "c"),
    "sex": ("f", "m"),
    "tenure": ("owner", "renter", "social"),
}


# ---- the attacker: of the program it knows nothing


@dataclass(frozen=True)
class Open:
    """A release as its readers have it.

    k : its least class; names : its quasi-identifiers; regions : of each level, the finest first, (areas,) the region
    of each area; equivalence_classes : (level, region, values) and the records that show them
    """

    k: int
    names: tuple[str, ...]
    regions: tuple[np.ndarray, ...]
    equivalence_classes: dict[tuple[int, int, tuple[str, ...]], int]


@dataclass(frozen=True)
class Disclosed:
    """A count that must lie between low and high: of areas and values, but for what a release shows within them."""

    areas: tuple[int, ...]
    values: tuple[tuple[str, str], ...]
    taken: int
    low: float
    high: float


class Attack:
    """The unknowns, and all that is known and asked of them."""

    def __init__(
        self, releases: Sequence[Open], domains: dict[str, tuple[str, ...]], asked: Sequence[Open] | None = None
    ) -> None:
        """releases : what is known; asked : the releases whose places are asked about, the same where None"""
        self._names = tuple(domains)
        self._classes = np.array(list(product(*domains.values())), dtype=object)
        self._n_areas = len(releases[0].regions[0])
        self._columns = self._n_areas * len(self._classes)
        self._row: list[int] = []
        self._column: list[int] = []
        self._value: list[float] = []
        self._numbers: list[float] = []
        for release in releases:
            self._know(release)
        shape = (len(self._numbers), self._columns)
        self._equations = sparse.csr_matrix((self._value, (self._row, self._column)), shape=shape)
        self._places = self._all_places(releases if asked is None else asked)
        self._choices, self._groups = self._all_groups(releases if asked is None else asked)
        self._taken = [np.zeros((len(self._places), len(self._groups)), np.int64)]
        self._taken += [self._shown_within(release) for release in releases]

    def disclosed(self, k: int) -> list[Disclosed]:
        """Every count asked about that must lie within 1..k-1."""
        # Of two numbers taken away that are the same, one is asked about.
        open_ = [np.ones_like(self._taken[0], bool)]
        for i, taken in enumerate(self._taken[1:], 1):
            open_.append(np.logical_and.reduce([taken != other for other in self._taken[:i]]))
        rng = np.random.default_rng(0)
        for draw in range(DRAWS):
            weights = np.ones(open_[0].shape) if draw < 2 else rng.uniform(-1, 1, open_[0].shape)
            weights = weights * np.logical_or.reduce(open_) * (-1 if draw == 1 else 1)
            self._close(open_, self._sums(self._solve(weights)), k)
        counts = []
        for place, group in np.argwhere(np.logical_or.reduce(open_)).tolist():
            if not any(places[place, group] for places in open_):
                continue
            weights = np.zeros(open_[0].shape)
            weights[place, group] = 1.0
            least, most = self._sums(self._solve(weights)), self._sums(self._solve(-weights))
            for places, taken in zip(open_, self._taken):
                low, high = (sums[place, group] - taken[place, group] for sums in (least, most))
                if places[place, group] and low > TOLERANCE and high < k - TOLERANCE:
                    areas = tuple(np.flatnonzero(self._places[place]).tolist())
                    counts.append(
                        Disclosed(areas, self._choices[group], int(taken[place, group]), float(low), float(high))
                    )
                places[place, group] = False
            for sums in (least, most):
                self._close(open_, sums, k)
        return counts

    def _close(self, open_: list[np.ndarray], sums: np.ndarray, k: int) -> None:
        """What these people, who fit all that is known, show to be nobody, or k and more."""
        for places, taken in zip(open_, self._taken):
            places &= (sums - taken > TOLERANCE) & (sums - taken < k - TOLERANCE)

    def _sums(self, people: np.ndarray) -> np.ndarray:
        return np.asarray(self._places @ people @ self._groups.T)

    def _solve(self, weights: np.ndarray) -> np.ndarray:
        """The people by area and class for whom the weighted sums, (places, groups), are least."""
        objective = np.zeros(self._columns)
        people = self._n_areas * len(self._classes)
        objective[:people] = (self._places.T @ weights @ self._groups).ravel()
        # Sums that nothing bounds stay finite.
        bounds = np.column_stack([np.zeros(self._columns), np.full(self._columns, 1e5)])
        solution = linprog(objective, A_eq=self._equations, b_eq=self._numbers, bounds=bounds, method="highs")
        if solution.status != 0:
            raise ValueError(f"No people fit the releases: {solution.message}")
        return solution.x[:people].reshape(self._n_areas, -1)

    def _say(self, columns: Sequence[int], signs: Sequence[float], number: float) -> None:
        self._row += [len(self._numbers)] * len(columns)
        self._column += columns
        self._value += signs
        self._numbers.append(number)

    def _new(self) -> int:
        self._columns += 1
        return self._columns - 1

    def _know(self, release: Open) -> None:
        """The unknowns of a release by area, class and level, and the equations they are in."""
        parts_of: dict[tuple[int, int, tuple[str, ...]], list[int]] = {key: [] for key in release.equivalence_classes}
        last = len(release.regions) - 1
        sizes = [np.bincount(regions) for regions in release.regions]
        whole = set()
        for level, region, values in release.equivalence_classes:
            area = int(np.flatnonzero(release.regions[level] == region)[0])
            whole.add((int(release.regions[last][area]), values))
        own = self._classes[:, [self._names.index(name) for name in release.names]]
        for values in sorted({tuple(row) for row in own.tolist()}):
            finer = np.flatnonzero((own == values).all(axis=1)).tolist()
            for area in range(self._n_areas):
                parts, alone = [], False
                for level, regions in enumerate(release.regions):
                    key = (level, int(regions[area]), values)
                    if key in release.equivalence_classes and not alone:
                        parts.append(self._new())
                        parts_of[key].append(parts[-1])
                        alone = bool(sizes[level][regions[area]] == 1)
                if not alone and (int(release.regions[last][area]), values) not in whole:
                    parts.append(self._new())  # suppressed
                people = [area * len(self._classes) + class_of for class_of in finer]
                self._say([*people, *parts], [1.0] * len(people) + [-1.0] * len(parts), 0.0)
        for key, parts in parts_of.items():
            self._say(parts, [1.0] * len(parts), float(release.equivalence_classes[key]))

    def _all_places(self, releases: Sequence[Open]) -> np.ndarray:
        """(places, areas) of 0 and 1."""
        regions = {
            tuple((region_of == region).tolist())
            for release in releases
            for region_of in release.regions
            for region in set(region_of)
        }
        places = set(regions) | {tuple(row) for row in np.eye(self._n_areas, dtype=bool).tolist()}
        for place, other in combinations([np.array(row) for row in sorted(regions)], 2):
            places |= {tuple(some.tolist()) for some in (place & other, place & ~other, other & ~place) if some.any()}
        return np.array(sorted(places), float)

    def _all_groups(self, releases: Sequence[Open]) -> tuple[list[tuple[tuple[str, str], ...]], np.ndarray]:
        """Values by name that are asked about, and (groups, classes) of 0 and 1, which classes have them."""
        together = [set(release.names) for release in releases] + [set(self._names)]
        described, choices = [], []
        for n in range(1, len(self._names) + 1):
            for names in combinations(self._names, n):
                if not any(set(names) <= names_of for names_of in together):
                    continue
                own = self._classes[:, [self._names.index(name) for name in names]]
                for values in sorted({tuple(row) for row in own.tolist()}):
                    described.append(tuple(zip(names, values)))
                    choices.append((own == values).all(axis=1))
        return described, np.array(choices, float)

    def _shown_within(self, release: Open) -> np.ndarray:
        """The records of the equivalence classes of a release that lie whole within each place and group."""
        counts = np.zeros((len(self._places), len(self._groups)), np.int64)
        own = self._classes[:, [self._names.index(name) for name in release.names]]
        for (level, region, values), records in release.equivalence_classes.items():
            areas, classes = release.regions[level] == region, (own == values).all(axis=1)
            places, groups = np.all(self._places[:, areas], axis=1), np.all(self._groups[:, classes], axis=1)
            inside = np.logical_and.outer(places, groups)
            counts[inside] += records
        return counts


# ---- the cases


@dataclass(frozen=True)
class Case:
    """Releases as their readers have them, in the order they came; table : (areas, classes) the people as they are."""

    releases: tuple[Open, ...]
    table: np.ndarray
    n_suppressed: int
    undecided: int

    def people(self, areas: Sequence[int], values: Sequence[tuple[str, str]]) -> int:
        """How many there are of some areas and values."""
        classes = np.array(list(product(*DOMAINS.values())), dtype=object)
        of = [classes[:, list(DOMAINS).index(name)] == value for name, value in values]
        return int(self.table[list(areas)][:, np.logical_and.reduce(of)].sum())


def opened(release: Published) -> Open:
    """What stands in the tables of a release."""
    values = release.values_of_classes()
    rows = zip(*(column.tolist() for column in (release.level, release.region, release.class_of, release.records)))
    equivalence_classes = {(level, region, values[c]): records for level, region, c, records in rows}
    regions = tuple(crosswalk.region_of for crosswalk in release.levels.crosswalks)
    return Open(release.k, release.quasi_identifiers, regions, equivalence_classes)


def case_of(seed: int, repaired: bool = True) -> Case:
    """A pair or a triple of releases of a made-up town."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 25))
    points = rng.uniform(0, 1_000, (n, 2))
    areas = make_areas([f"a{i}" for i in range(n)], points, np.ones(n))
    people = _people(rng, n)
    earlier: list[Published] = []
    n_suppressed = undecided = 0
    for number in range(int(rng.integers(2, 4))):
        names = tuple(sorted(rng.choice(list(DOMAINS), int(rng.integers(2, 5)), replace=False).tolist()))
        k = int(rng.choice([5, 10]))
        profile, cell_of = _profile(people, names, n)
        requirement = None
        if rng.random() < 0.3:
            requirement = Requirement(k, (members_of("persons", cell_of, people["person"]),))
        plan = _plan(rng, areas, points, profile, k, requirement)
        published = publish(plan, areas, f"release {number}")
        if earlier and repaired:
            done = repair(plan, areas, earlier, f"release {number}")
            published, plan = done.published, done.plan
            undecided += done.after.n_undecided
            if done.after.n_to_mend:  # the form stops: nothing is published
                continue
        n_suppressed += int(profile.counts.sum()) - plan.n_released
        earlier.append(replace(published, held_back=None))
    sizes = [len(values) for values in DOMAINS.values()]
    table = np.zeros((n, int(np.prod(sizes))), np.int64)
    np.add.at(table, (people["area"], np.ravel_multi_index([people[name] for name in DOMAINS], sizes)), 1)
    return Case(tuple(opened(release) for release in earlier), table, n_suppressed, undecided)


def _people(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Rows by quasi-identifier (codes), area and person, unlike from area to area."""
    size = rng.integers(20, int(rng.choice([60, 400])), n)
    person_area = np.repeat(np.arange(n), size)
    rows = np.repeat(np.arange(len(person_area)), rng.choice([1, 1, 1, 2, 3], len(person_area)))
    people = {"person": rows, "area": person_area[rows]}
    for name, values in DOMAINS.items():
        shares = rng.dirichlet(np.linspace(4, 0.4, len(values)), n)
        drawn = (rng.random(len(person_area))[:, None] > np.cumsum(shares, axis=1)[person_area]).sum(axis=1)
        people[name] = np.minimum(drawn, len(values) - 1)[rows]
    return people


def _profile(people: dict[str, np.ndarray], names: tuple[str, ...], n: int) -> tuple[Profile, np.ndarray]:
    """The profile of the rows by some quasi-identifiers, and the cell of each row in it."""
    codes = np.column_stack([people[name] for name in names])
    classes, of = np.unique(codes, axis=0, return_inverse=True)
    of = of.reshape(-1)
    cells, cell_of = np.unique(people["area"] * len(classes) + of, return_inverse=True)
    at = np.divmod(cells, len(classes))
    counts = sparse.csr_matrix((np.bincount(cell_of), at), shape=(n, len(classes)))
    categories = tuple(np.array(DOMAINS[name], dtype=object) for name in names)
    return Profile(counts, classes, categories, names), cell_of.reshape(-1)


def _plan(
    rng: np.random.Generator,
    areas: Areas,
    points: np.ndarray,
    profile: Profile,
    k: int,
    requirement: Requirement | None,
) -> Plan:
    """One level of regions around random sites, or levels of them, each of about half as many regions."""
    n = len(areas)

    def around(n_sites: int, region_of: np.ndarray, n_regions: int) -> np.ndarray:
        centres = np.array([points[region_of == region].mean(axis=0) for region in range(n_regions)])
        sites = centres[rng.choice(n_regions, n_sites, replace=False)]
        nearest = np.hypot(*(centres[:, None] - sites[None]).T).T.argmin(axis=1)
        return nearest[region_of]

    if rng.random() < 0.5:
        crosswalk = number_compactly(around(int(rng.integers(2, 1 + n // 2)), np.arange(n), n))[0]
        return suppress(profile, crosswalk, k, requirement)
    finest = own_regions(n)
    if rng.random() < 0.3:
        finest = number_compactly(around(2 * n // 3, np.arange(n), n))[0]
    crosswalks = [finest]
    while crosswalks[-1].n_regions > 1:
        last = crosswalks[-1]
        crosswalks.append(number_compactly(around((last.n_regions + 1) // 2, last.region_of, last.n_regions))[0])
        if crosswalks[-1].n_regions < 4 and rng.random() < 0.3:
            break
    return nest(areas, profile, make_levels(areas, crosswalks), k, requirement=requirement)


def attacked(case: Case) -> Iterator[Disclosed]:
    """The counts below the k of the last release that the releases give away together, and not the earlier of them.

    What the earlier ones give away is asked of every place that the later one names too: a region of the later one may
    be the first to name a place whose count follows without it. A field that only the later one has, and shows one
    value of, tells nobody apart: a count that follows without the field is told by the earlier ones.
    """
    for n in range(2, len(case.releases) + 1):
        together, earlier = case.releases[:n], case.releases[: n - 1]
        counts = list(Attack(together, DOMAINS).disclosed(together[-1].k))
        if counts:
            known = {
                _identity(count)
                for count in Attack(earlier, DOMAINS, together).disclosed(max(release.k for release in together))
            }
            for count in counts:
                apart = tuple(pair for pair in count.values if pair[0] not in _of_one_value(together[-1], earlier))
                if not {_identity(count), _identity(replace(count, values=apart))} & known:
                    yield count


def _of_one_value(last: Open, earlier: Sequence[Open]) -> set[str]:
    """The fields that no earlier release has, and of which the last one shows one value."""
    seen = {name for release in earlier for name in release.names}
    columns = zip(*(values for _, _, values in last.equivalence_classes))
    return {name for name, column in zip(last.names, columns) if name not in seen and len(set(column)) == 1}


def _identity(count: Disclosed) -> tuple[object, ...]:
    return count.areas, count.values, count.taken, round(count.low, 3), round(count.high, 3)


def main() -> None:
    """Print how many cases give something away, and what."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--cases", type=int, default=1_000)
    arguments.add_argument("--first", type=int, default=0)
    arguments.add_argument("--plain", action="store_true")
    given = arguments.parse_args()
    total: Counter[str] = Counter()
    start = time.process_time()
    for seed in range(given.first, given.first + given.cases):
        case = case_of(seed, not given.plain)
        attacks = list(attacked(case))
        nested = sum(len(release.regions) > 1 for release in case.releases)
        total.update(cases=1, releases=len(case.releases), nested=nested, records=int(case.table.sum()))
        total.update(suppressed=case.n_suppressed, undecided=case.undecided, counts=len(attacks), telling=bool(attacks))
        if attacks:
            first = attacks[0]
            print(
                f"case {seed}: {len(attacks)} counts, such as {first.low:.3g} to {first.high:.3g} "
                f"people in {len(first.areas)} areas, {dict(first.values)}, {first.taken} taken away",
                flush=True,
            )
    seconds = time.process_time() - start
    print("\n| cases | releases | of them nested | undecided by the program | pinned counts | in cases | CPU s |")
    print("|---" * 7 + "|")
    print(
        f"| {total['cases']} | {total['releases']} | {total['nested']} | {total['undecided']} | {total['counts']} "
        f"| {total['telling']} | {seconds:.0f} |"
    )


if __name__ == "__main__":
    main()
