"""What it costs that no row of an update can be followed by rare values: FOLLOWED “held back” against “shown”.

    PYTHONPATH=build/package .venv/bin/python benchmarks/rows_held_back.py [district] [city] [--months 6]

Made-up months of the same people, as in benchmarks/over_time.py: 3 in 1000 move in a month, 1 in 1000 dies, and as
many are born; quasi-identifiers are age group and sex, k = 5, levels by the defaults. Each person has a value, drawn
once; 5 in 1000 get another in a month. Few values: one field of three, of 80, 15 and 5 in 100 people. Many values: a
field of ten and one of five, each value half as common as the one before. The first month is an ordinary release,
which shows rare rows; each later one carries on the one before. Suppressed: records that are not shown at all, and of
these those whose values fewer than k of their class have in the coarsest region; metres: mean distance of all who are
shown; alike: the fewest rows of a label that look alike; a few: changes of fewer than k by values, between any two
months, label by label and of all within each region, counted by a plain program. Times are CPU seconds. The district
is the 200 areas of the demonstration city that are nearest its middle.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vbas.benchmarks.nested_release import CITY, DATA_SETS, city, place
from vbas.benchmarks.over_time import SEED, K, months
from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.disclosure.published import Published
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.nesting.making import build_levels
from vbas.core.profile import Profile, profile_records
from vbas.core.records.columns import Column
from vbas.core.records.matching import Records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.updating import FOLLOWED, Update

ANOTHER_VALUE = 0.005
FIELDS: dict[str, dict[str, tuple[float, ...]]] = {
    "few values": {"ill": (0.8, 0.15, 0.05)},
    "many values": {"ill": tuple(0.5**at for at in range(1, 11)), "job": tuple(0.5**at for at in range(1, 6))},
}
SHOWN = ("age_group", "sex")


@dataclass(frozen=True)
class Month:
    suppressed: float
    rare: float
    metres: float
    fewest_identical: int
    few: int
    seconds: float


def with_values(first: Profile, n_areas: int, fields: dict[str, tuple[float, ...]], n: int) -> Iterator[Records]:
    """The records of each month."""
    rng = np.random.default_rng(SEED)
    names = [name for name in first.quasi_identifiers if name in SHOWN]
    values: dict[str, np.ndarray] = {}
    for area, codes in months(first, n):
        for name, shares in fields.items():
            drawn = rng.choice(len(shares), len(area), p=np.array(shares) / sum(shares))
            kept = rng.random(len(area)) >= (ANOTHER_VALUE if name in values else 1.0)
            values[name] = np.where(kept, values[name], drawn) if name in values else drawn
        at = [first.quasi_identifiers.index(name) for name in names]
        columns = {name: Column(codes[:, i], first.categories[i]) for name, i in zip(names, at)}
        beside = {
            name: Column(values[name].copy(), np.array([str(i) for i in range(len(shares))], dtype=object))
            for name, shares in fields.items()
        }
        profile, cell_of = profile_records(area, columns, n_areas)
        table = RecordTable(Column(area, np.arange(n_areas).astype(object)), columns, beside, sensitive=("ill",))
        yield Records(table, profile, cell_of, 0)


CountsByLevel = list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


def counts_of(account: Account) -> CountsByLevel:
    """Of each level, with the label and with all within: a number for each place, one for what a row of it shows, that
    of each, and how many rows show it, from the rows alone."""
    release, counts_by_level = account.release, CountsByLevel()
    names = list(release.fields)
    codes = [release.fields[name].codes.astype(np.int64) for name in names]
    sizes = [len(release.fields[name].categories) for name in names]
    n_quasi = len(account.plan.profile.quasi_identifiers)
    for level in range(len(account.levels)):
        inside = flatten(account.levels, release.level, release.region, level)
        for regions in (np.where(release.level == level, release.region, -1), inside):
            here = regions >= 0
            number = regions[here]
            for own, size in zip(codes[:n_quasi], sizes[:n_quasi]):
                number = number * size + own[here]
            row = number
            for own, size in zip(codes[n_quasi:], sizes[n_quasi:]):
                row = row * size + own[here]
            rows, at = np.unique(row, return_inverse=True)
            counts = np.bincount(at.reshape(-1), release.counts[here], len(rows)).astype(np.int64)
            width = int(np.prod(sizes[n_quasi:]))
            counts_by_level.append((np.unique(number), rows // width, rows, counts))
    return counts_by_level


def few(old: CountsByLevel, new: CountsByLevel) -> int:
    """Places of both of which 1 to k - 1 people came or left by their values."""
    number = 0
    for (places, of_old, rows_old, counts_old), (others, of_new, rows_new, counts_new) in zip(old, new):
        both = np.intersect1d(places, others)
        if not len(both):
            continue
        rows = np.union1d(rows_old, rows_new)
        place, change = np.empty(len(rows), np.int64), np.zeros(len(rows), np.int64)
        for own, of, counts, sign in ((rows_old, of_old, counts_old, -1), (rows_new, of_new, counts_new, 1)):
            at = np.searchsorted(rows, own)
            place[at] = of
            change[at] += sign * counts
        there = np.isin(place, both)
        at = np.searchsorted(both, place[there])
        for side in (change[there], -change[there]):
            sums = np.bincount(at, np.maximum(side, 0), len(both))
            number += int(((sums > 0) & (sums < K)).sum())
    return number


def district() -> tuple[Areas, Profile]:
    """The areas in the middle of the demonstration city, and their people."""
    areas, first = city(CITY)
    near = np.sort(np.argsort(((areas.points - np.median(areas.points, axis=0)) ** 2).sum(axis=1))[:200])
    counts = first.counts[near]
    some = make_areas(areas.identifiers[near].tolist(), areas.points[near], counts.sum(axis=1).A1)
    return some, Profile(counts, first.classes, first.categories, first.quasi_identifiers)


def updates(areas: Areas, levels: Levels, records: list[Records], followed: str) -> Iterator[Month]:
    published, rows = list[Published](), list[CountsByLevel]()
    for of_month in records:
        update = Update(len(published) - 1, followed=followed) if published else None
        started = time.process_time()
        own = areas.with_population(of_month.profile.area_sizes)
        account = anonymise(own, of_month, levels, Ask(K, earlier=Earlier(published), update=update))
        seconds = time.process_time() - started
        now, n = counts_of(account), of_month.profile.n_records
        rare = account.changed.n_rare if account.changed else 0
        yield Month(
            100 * account.measures.n_suppressed / n,
            100 * rare / n,
            account.measures.mean_distance,
            int(account.release.counts.min(initial=n)),
            sum(few(before, now) for before in rows),
            seconds,
        )
        rows.append(now)
        assert account.published is not None
        published.append(account.published)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("towns", nargs="*", default=["district"])
    parser.add_argument("--months", type=int, default=6)
    parser.add_argument("--fields", nargs="*", default=list(FIELDS))
    parser.add_argument("--one-level", action="store_true")
    asked = parser.parse_args()
    print("| town, fields | FOLLOWED | month | suppressed, % | of these rare, % | metres | alike | a few | CPU s |")
    print("|---" * 9 + "|")
    for name in asked.towns:
        areas, first = district() if name == "district" else city(CITY) if name == "city" else place(DATA_SETS[name])
        levels = build_levels(areas, first)
        if asked.one_level:
            levels = Levels(levels.crosswalks[len(levels) // 2 : len(levels) // 2 + 1])
        for kind in asked.fields:
            records = list(with_values(first, len(areas), FIELDS[kind], asked.months + 1))
            for followed in reversed(FOLLOWED):
                for number, month in enumerate(updates(areas, levels, records, followed)):
                    print(
                        f"| {name}, {kind} | {followed} | {number} | {month.suppressed:.2f} | {month.rare:.2f} | "
                        f"{month.metres:.0f} | {month.fewest_identical} | {month.few} | {month.seconds:.1f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
