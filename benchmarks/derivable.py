"""What somebody who knows how a nested release is made can derive from it, beyond what it shows.

    PYTHONPATH=build/package .venv/bin/python benchmarks/derivable.py

The release shows m records of a class in a region. How many of them live in a part of it (a region of the level below,
or an area)? The method shows a class as finely as it can: had the part k of them or more, they would be shown there,
unless too few were left to go anywhere for less. So the part has fewer than k, or so many that the rest could not do
without them; where the class is shown in a larger region around this one, the rest could have joined that, at a cost
that the attacker knows. All parts together hold m. What is left is a bound of each part; it is *proven small* where it
lies within 1 to k - 1. An area that shows the class at level 1 holds none of the others. Each bound is held against the
records: it is wrong where the planned release is not quite the optimum.

On the demonstration city and, where the data are, on the areas of Winnipeg and Ottawa with as many generated people as
live there, by age, sex, marital status and education, there also by age, sex, ethnicity and tenure (“other
attributes”). `docs/privacy.md` and `docs/nested.md` quote what is printed.

The second table has the same with DISCLOSURE = “no small count follows”, by `core.disclosure.certificate`: what follows
from the counts of the zones and the people of each area, which by the theorem of `docs/methods.md` is all that follows
for who knows the method. The bounds above would still claim small counts, of which some are wrong, so that they prove
nothing; what they are worth as guesses is said beside what the surest guesses are worth (`core.disclosure.guessing`).
CPU seconds are those of `anonymise` (plan, rows, recount, measures), and of the certificate after it.

    PYTHONPATH=build/package .venv/bin/python benchmarks/derivable.py --disclosure [place …]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Callable, NamedTuple

import numpy as np

from vbas.benchmarks import attack_places
from vbas.benchmarks.attack_places import Place
from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.disclosure.certificate import BY_THE_METHOD, Certificate
from vbas.core.disclosure.guessing import Guesses, guesses
from vbas.core.disclosure.method_bounds import MethodBounds, method_bounds
from vbas.core.disclosure.zone_tables import released_classes
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, area_of_cells
from vbas.core.privacy.derivable import CLASS_HAS_K, NO_SMALL_COUNT
from vbas.core.report.certificate import certificate_of

KS = (5, 11)
OTHERS = ("age_group", "sex", "ethnicity", "tenure")
LOSS = "mean distance"


@dataclass(frozen=True)
class Derived:
    """What follows of the parts of regions that show a class above level 1.

    equivalence_classes : such regions and classes; narrowed : the share of them of whose areas some can be left out;
    left : the share of the areas that is left then, on average; least : areas that are left at least
    areas, parts : areas, and larger parts, proven to hold 1 to k - 1 records; exact : how many of both are known
    exactly; wrong : bounds that the records contradict
    """

    equivalence_classes: int
    narrowed: float
    left: float
    least: int
    areas: int
    parts: int
    exact: int
    wrong: int


class Attack:
    """A release as an attacker has it, and the truth to judge bounds by."""

    def __init__(self, areas: Areas, plan: Plan) -> None:
        self.plan, self.k = plan, plan.k
        crosswalks = plan.levels.crosswalks
        loss = [LOSSES[LOSS](areas, plan.profile, crosswalk) for crosswalk in crosswalks]
        self.loss = [losses.tolist() for losses in loss]
        self.region_of = list(plan.levels.region_of)
        in_use = np.flatnonzero(plan.released)
        keys = zip(plan.level[in_use].tolist(), plan.region[in_use].tolist(), plan.class_of[in_use].tolist())
        self.equivalence_classes = dict(zip(keys, plan.records[in_use].tolist()))
        inhabited = areas.population > 0
        # Of each region of each level its inhabited areas, and the region of the next level that it is in.
        self.areas_of = [_grouped(regions, inhabited) for regions in self.region_of]
        self.above = [
            dict(zip(fine.tolist(), coarse.tolist())) for fine, coarse in zip(self.region_of, self.region_of[1:])
        ]
        self.parts_of: list[dict[int, list[int]]] = []
        for above in self.above:
            inside: dict[int, list[int]] = {}
            for part, region in above.items():
                inside.setdefault(region, []).append(part)
            self.parts_of.append(inside)
        self.truth = self._truth()

    def _truth(self) -> dict[tuple[int, int, int], int]:
        """Records of a class that live in a part (level, region) and are shown one level above it."""
        plan = self.plan
        records_of: dict[tuple, int] = {}
        area, class_of = area_of_cells(plan.profile), plan.profile.counts.indices
        for level in range(1, len(self.region_of)):
            here = np.flatnonzero(plan.level_of == level)
            part = self.region_of[level - 1][area[here]]
            for key in zip(part.tolist(), class_of[here].tolist(), plan.profile.counts.data[here].tolist()):
                at = (level - 1, *key[:2])
                records_of[at] = records_of.get(at, 0) + key[2]
        return records_of

    def free_areas(self, level: int, region: int, class_of: int) -> list[int]:
        """The inhabited areas of a region that do not show the class themselves."""
        return [
            area for area in self.areas_of[level].get(region, []) if (0, area, class_of) not in self.equivalence_classes
        ]

    def possible(self, level: int, region: int, class_of: int, part: int) -> int:
        """The numbers of records that a part may hold, as bits, by what the method would have done with them."""
        if not self.free_areas(level - 1, part, class_of):
            return 1
        n, k = self.equivalence_classes[level, region, class_of], self.k
        shows, own, here = (
            (level - 1, part, class_of) in self.equivalence_classes,
            self.loss[level - 1][part],
            self.loss[level][region],
        )
        if own >= here:
            return (1 << n + 1) - 1
        few = 1 if shows else (1 << min(k, n + 1)) - 1
        above = self._loss_above(level, region, class_of)
        for rest in range(1, k):  # so many that the rest, fewer than k, would have to go elsewhere
            held = n - rest
            if held >= (1 if shows else k) and (above is None or held * own + rest * above >= n * here):
                few |= 1 << held
        return few

    def _loss_above(self, level: int, region: int, class_of: int) -> float | None:
        """The loss of the smallest region around this one that shows the class; None for none."""
        for higher in range(level, len(self.region_of) - 1):
            region = self.above[higher][region]
            if (higher + 1, region, class_of) in self.equivalence_classes:
                return float(self.loss[higher + 1][region])
        return None

    def bounds(self, level: int, region: int, class_of: int) -> Iterator[tuple[int, int, int]]:
        """Of each part of a region that shows a class: the part, and the fewest and most that it may hold."""
        n = self.equivalence_classes[level, region, class_of]
        parts = self.parts_of[level - 1][region]
        sets = [self.possible(level, region, class_of, part) for part in parts]
        for i, part in enumerate(parts):
            others = 1
            for j, numbers in enumerate(sets):
                others = others if j == i else _sums(others, numbers, n)
            fits = [held for held in _members(sets[i]) if others >> (n - held) & 1]
            if fits:
                yield part, fits[0], fits[-1]


def _grouped(region_of: np.ndarray, inhabited: np.ndarray) -> dict[int, list[int]]:
    areas_of: dict[int, list[int]] = {}
    for area in np.flatnonzero(inhabited & (region_of >= 0)).tolist():
        areas_of.setdefault(int(region_of[area]), []).append(area)
    return areas_of


def _members(bits: int) -> list[int]:
    return [i for i, bit in enumerate(reversed(bin(bits)[2:])) if bit == "1"]


def _sums(some: int, others: int, most: int) -> int:
    """All sums of a number of either set, up to the most."""
    sums = 0
    for member in _members(others if bin(others).count("1") < bin(some).count("1") else some):
        sums |= (some if bin(others).count("1") < bin(some).count("1") else others) << member
    return sums & ((1 << most + 1) - 1)


def derived(areas: Areas, plan: Plan) -> Derived:
    """What an attacker derives who has the release, the crosswalk, the population of each area, and the method.

    Level 1 must be the areas.
    """
    attack = Attack(areas, plan)
    small_areas = small_parts = exact = wrong = 0
    share, least = [], len(areas)
    equivalence_classes = [
        equivalence_class for equivalence_class in attack.equivalence_classes if equivalence_class[0] > 0
    ]
    for level, region, class_of in equivalence_classes:
        free = len(attack.free_areas(level, region, class_of))
        share.append(free / len(attack.areas_of[level][region]))
        least = min(least, free)
        for part, low, high in attack.bounds(level, region, class_of):
            truth = attack.truth.get((level - 1, part, class_of), 0)
            wrong += not low <= truth <= high
            if low >= 1 and high < plan.k:
                single = len(attack.free_areas(level - 1, part, class_of)) == 1
                small_areas, small_parts, exact = (
                    small_areas + single,
                    small_parts + (not single),
                    exact + (low == high),
                )
    of = np.array(share)
    fewer = of[of < 1]
    return Derived(
        len(equivalence_classes),
        float((of < 1).mean()),
        float(fewer.mean()),
        least,
        small_areas,
        small_parts,
        exact,
        wrong,
    )


def released(place: Place, k: int) -> Plan:
    """A nested release of a place by the defaults."""
    profile = place.records().profile
    return nest(place.areas, profile, build_levels(place.areas, profile), k, LOSS)


HEADER = (
    "| place | k | classes above level 1 | can be narrowed down, to | areas with 1 to k - 1 for sure | larger parts | "
    "known exactly | bounds that are wrong |"
)


def line(name: str, k: int, derivation: Derived) -> str:
    """A row of the table."""
    numbers = [derivation.equivalence_classes, derivation.areas, derivation.parts, derivation.exact, derivation.wrong]
    equivalence_classes, *counts = [f"{number:,}".replace(",", " ") for number in numbers]
    narrowed = (
        f"{100 * derivation.narrowed:.0f} %, {100 * derivation.left:.0f} % of their areas, "
        f"never below {derivation.least}"
    )
    return f"| {' | '.join([name, str(k), equivalence_classes, narrowed, *counts])} |"


def printed() -> Iterator[str]:
    """The table."""
    yield HEADER
    yield "|---|---|---|---|---|---|---|---|"
    places: list[tuple[str, Place | None]] = [("city", attack_places.city())]
    for name in ("Winnipeg", "Ottawa"):
        places.append((name, attack_places.real_place(name)))
        places.append((f"{name}, other attributes", attack_places.real_place(name, OTHERS)))
    for name, place in places:
        if place is None:
            continue
        for k in KS:
            yield line(name, k, derived(place.areas, released(place, k)))


class Made(NamedTuple):
    """A release, what was tried of it, what can be guessed, what the bounds of the method claim and how often these
    claims are right; CPU seconds of the release and of the certificate."""

    account: Account
    certificate: Certificate
    guesses: Guesses
    claims: MethodBounds
    right: float
    seconds: float
    seconds_of_certificate: float


def made(place: Place, k: int, disclosure: str) -> Made:
    """A nested release of a place by the defaults, DISCLOSURE apart."""
    records = place.records()
    levels = build_levels(place.areas, records.profile)
    ask = Ask(k, disclosure=disclosure)
    start = time.process_time()
    account = anonymise(place.areas, records, levels, ask)
    end = time.process_time()
    certificate = certificate_of(account)
    end_of_certificate = time.process_time()
    guessed = guesses(place.areas, account.plan)
    assert certificate is not None and guessed is not None
    claims, right = _claims(place.areas, account.plan)
    return Made(account, certificate, guessed, claims, right, end - start, end_of_certificate - end)


def _claims(areas: Areas, plan: Plan) -> tuple[MethodBounds, float]:
    """What the bounds of the method claim to be 1 to k - 1, and the share of these claims that is right."""
    released, at = released_classes(plan)
    losses = [LOSSES[LOSS](areas, plan.profile, crosswalk) for crosswalk in plan.levels.crosswalks]
    claims = method_bounds(released, areas.population, losses, plan.k)
    small = np.flatnonzero(claims.small)
    level = released.level[claims.released]
    right = 0
    for of_level in range(1, len(plan.levels)):
        some = small[level[small] == of_level]
        shown_by_cell = plan.equivalence_class_of
        cells = np.flatnonzero((shown_by_cell >= 0) & (plan.level[shown_by_cell] == of_level))
        below = plan.levels.crosswalks[of_level - 1]
        part = below.region_of[area_of_cells(plan.profile)[cells]]
        keys, number = np.unique(shown_by_cell[cells].astype(np.int64) * below.n_regions + part, return_inverse=True)
        records = np.append(np.bincount(number.reshape(-1), plan.profile.counts.data[cells], len(keys)), 0)
        wanted = at[claims.released[some]].astype(np.int64) * below.n_regions + claims.part[some]
        where = np.searchsorted(keys, wanted)
        truth = records[np.where(np.append(keys, -1)[where] == wanted, where, -1)]
        right += int(((truth >= 1) & (truth < plan.k)).sum())
    return claims, right / max(len(small), 1)


def town() -> Place | None:
    """910 areas in the middle of Winnipeg, with 302 820 of the people who live there."""
    whole = attack_places.real_place("Winnipeg", OTHERS)
    if whole is None:
        return None
    middle = whole.areas.points.mean(axis=0)
    near = np.sort(np.argsort(np.hypot(*(whole.areas.points - middle).T))[:910])
    number = np.full(len(whole.areas), -1)
    number[near] = np.arange(len(near))
    inside = np.flatnonzero(number[whole.area] >= 0)
    some = np.random.default_rng(0).choice(inside, 302_820, replace=False)
    quasi = {name: replace(column, codes=column.codes[some]) for name, column in whole.quasi.items()}
    people = np.bincount(number[whole.area[some]], minlength=len(near)).astype(float)
    areas = make_areas(whole.areas.identifiers[near].tolist(), whole.areas.points[near], people)
    areas = replace(areas, neighbours=point_neighbours(areas.points))
    return Place("910 areas, 302 820 people", areas, number[whole.area[some]], quasi, whole.diagnosis[some])


PLACES: dict[str, Callable[[], Place | None]] = {
    "city": attack_places.city,
    "910 areas": town,
    "Winnipeg": attack_places.winnipeg,
    "Winnipeg, other attributes": lambda: attack_places.real_place("Winnipeg", OTHERS),
    "Ottawa": lambda: attack_places.real_place("Ottawa"),
    "East of Canada": lambda: attack_places.real_place("East of Canada", OTHERS),
}

HEADER_BESIDE = (
    "| place | k | proven 1 to k - 1 by the method: areas | larger parts | counts tried with DISCLOSURE | follow | "
    "not decided | what the bounds claim then | of these right | mean distance | suppressed | "
    "surest 1 % right: without | with | by people alone | at random | CPU s of the run | of the certificate |"
)


def line_beside(name: str, k: int, without: Made, with_it: Made) -> str:
    """A row of the second table."""
    distances = [of.account.measures.mean_distance for of in (without, with_it)]
    surest = [of.guesses.surest[0] for of in (without, with_it)]
    assert not with_it.certificate.of(BY_THE_METHOD).tried
    cells = [
        name,
        str(k),
        _spaced(without.claims.n_areas),
        _spaced(without.claims.n_parts),
        _spaced(with_it.certificate.tried),
        _spaced(with_it.certificate.follow),
        _spaced(with_it.certificate.undecided),
        _spaced(int(with_it.claims.small.sum())),
        f"{100 * with_it.right:.0f} % (without: {100 * without.right:.1f} % of all)",
        f"{distances[0]:.1f} → {distances[1]:.1f} m (+{100 * (distances[1] / distances[0] - 1):.1f} %)",
        f"{_spaced(without.account.measures.n_suppressed)} → {_spaced(with_it.account.measures.n_suppressed)}",
        f"{100 * surest[0].right:.0f} %",
        f"{100 * surest[1].right:.0f} %",
        f"{100 * surest[1].by_people:.0f} %",
        f"{100 * with_it.guesses.so_many:.0f} %",
        f"{with_it.seconds:.1f}",
        f"{with_it.seconds_of_certificate:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def printed_beside(names: Sequence[str]) -> Iterator[str]:
    """The second table, of some places or all."""
    yield HEADER_BESIDE
    yield "|---" * (HEADER_BESIDE.count("|") - 1) + "|"
    for name, place_of in PLACES.items():
        place = place_of() if not names or name in names else None
        if place is not None:
            for k in KS:
                yield line_beside(
                    name, k, *(made(place, k, disclosure) for disclosure in (CLASS_HAS_K, NO_SMALL_COUNT))
                )


if __name__ == "__main__":
    asked = sys.argv[1:]
    for printed_line in printed_beside(asked[1:]) if asked[:1] == ["--disclosure"] else printed():
        print(printed_line, flush=True)
