"""A geography chosen once, with a reserve: how often it holds in the years that follow.

    PYTHONPATH=build/package .venv/bin/python benchmarks/reserve.py [city] [Winnipeg] [--percent 80] [--years 4]

The made-up years are those of over_time.py. From each of the first years but the last the finest regions are made that
hold with a reserve (`core.nesting.holding`): at least PERCENT of the records of each are of classes of k times the
reserve and more. Then it is counted, with k itself, how many of them hold in the next year, and in the one after. And
of each year a nested release is planned on levels from the areas up, once with k times the reserve: how many of the
classes that it shows, and of their records, have k people at the same place in the next year, so that a series could
show them there. What it costs is the mean distance of the people of a record's region from its centre, metres.
"""

from __future__ import annotations

import argparse

import numpy as np

from vbas.benchmarks.nested_rivals import losses_of, mean_loss
from vbas.benchmarks.over_time import K, of_year, town
from vbas.core.errors import InputError
from vbas.core.levels import own_regions
from vbas.core.nesting.holding import Holding, counted_by, held_percent, joined_until_held
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import area_of_cells

RESERVES = (1.0, 1.25, 1.5, 2.0)


def regions(name: str, reserve: float, percent: float, years: int) -> tuple[float, float, float, float]:
    """Regions on average; per cent of them that hold in the year itself with k, in the next, and in the one after."""
    made = town(name)
    held: list[list[float]] = [[], [], []]
    numbers = []
    for year in range(years):
        tables = [counted_by(of_year(made.profile, year))]
        joined = joined_until_held(made.areas, tables, own_regions(len(made.areas)), Holding(K, reserve, percent))
        numbers.append(joined.n_regions)
        for later in range(3):
            table = counted_by(of_year(made.profile, year + later))
            held[later].append(100 * float((held_percent([table], joined, K) >= percent).mean()))
    return (float(np.mean(numbers)), *(float(np.mean(some)) for some in held))  # type: ignore[return-value]


def labels(name: str, reserve: float, years: int) -> tuple[float, float, float, float]:
    """Per cent of the classes at a place, and of their records, that have k there in the next year; per cent of the
    records suppressed, and the mean distance."""
    made = town(name)
    levels = build_levels(made.areas, made.first)
    losses = losses_of(made.areas, made.first, levels)
    figures = []
    for year in range(years):
        profile, after = of_year(made.profile, year), of_year(made.profile, year + 1)
        plan = nest(made.areas, profile, levels, Holding(K, reserve).least)
        assert plan.level_of is not None
        n_classes = int(np.prod([len(of) for of in profile.categories]))
        own, later = (
            np.ravel_multi_index(tuple(of_profile.classes.T), [len(of) for of in of_profile.categories])[
                of_profile.counts.indices
            ]
            for of_profile in (profile, after)
        )
        level_of = np.full((len(made.areas), n_classes), -1)
        level_of[area_of_cells(profile), own] = plan.level_of
        n_shown = n_held = records = records_held = 0
        for level, crosswalk in enumerate(levels.crosswalks):
            here = plan.level_of == level
            key = crosswalk.region_of[area_of_cells(profile)[here]] * n_classes + own[here]
            places, at = np.unique(key, return_inverse=True)
            now = np.bincount(at.reshape(-1), profile.counts.data[here], len(places))
            there = level_of[area_of_cells(after), later] == level
            key = crosswalk.region_of[area_of_cells(after)[there]] * n_classes + later[there]
            at = np.minimum(np.searchsorted(places, key), max(len(places) - 1, 0))
            inside = places[at] == key if len(places) else np.zeros(len(key), bool)
            then = np.bincount(at[inside], after.counts.data[there][inside], len(places))
            n_shown, n_held = n_shown + len(places), n_held + int((then >= K).sum())
            records, records_held = records + int(now.sum()), records_held + int(now[then >= K].sum())
        suppressed = 100 * (1 - plan.n_released / profile.n_records)
        figures.append((100 * n_held / n_shown, 100 * records_held / records, suppressed, mean_loss(plan, losses)))
    return tuple(np.mean(figures, axis=0).tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("towns", nargs="*", default=["city", "Winnipeg"])
    parser.add_argument("--percent", type=float, default=80.0)
    parser.add_argument("--years", type=int, default=4)
    asked = parser.parse_args()
    print(
        "| regions | reserve | finest regions | hold now, % | next year, % | the year after, % |\n" + "|---" * 6 + "|"
    )
    for name in asked.towns:
        for reserve in RESERVES:
            try:
                n, *held = regions(name, reserve, asked.percent, asked.years)
                cells = " | ".join(f"{percent:.1f}" for percent in held)
                print(f"| {name}, {asked.percent:g} % | {reserve:g} | {n:.0f} | {cells} |", flush=True)
            except InputError as error:
                print(f"| {name} | {reserve:g} | {error} | | | |", flush=True)
    print(
        "\n| nested | reserve | classes still k, % | their records, % | suppressed, % | metres |\n" + "|---" * 6 + "|"
    )
    for name in asked.towns:
        for reserve in RESERVES:
            classes, records, suppressed, metres = labels(name, reserve, asked.years)
            print(
                f"| {name} | {reserve:g} | {classes:.1f} | {records:.1f} | {suppressed:.2f} | {metres:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
