"""Every attack that the plugin was built against, without the cure and with it, on a made-up city and on real areas.

    PYTHONPATH=build/package .venv/bin/python benchmarks/attacks.py [--large | --nested [city]]

Without a cure means: the release as it was made before there was one (k of rows, fields kept unseen, releases one by
one, a file copied over an old one, points moved one by one). Beside our figures stand those that were found when the
plugin was first attacked, on other places (mostly the areas of Gateshead) and other samples: they are like ours in
kind, not in number. Real areas: Winnipeg, with as many generated people as live in each area, and the addresses of
Ottawa; with --large also a province of 4 480 areas (`earlier_releases.py`). With --nested nothing but the attacks on
nested releases: by the defaults without the cure, with it, and with it under DISCLOSURE = “no small count follows”.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vbas.benchmarks import attack_cases, earlier_releases, point_attacks, side_files
from vbas.benchmarks.attack_places import K, Place, city, winnipeg
from vbas.benchmarks.crosswalk_attack import makers, suppressed_record_attack, uses_attribute_counts
from vbas.core.areas import make_areas
from vbas.core.masking.candidates import K_MIN, hold_back
from vbas.core.masking.homes import homes_of
from vbas.core.neighbours import point_neighbours
from vbas.core.records.matching import Records, match_records

N_AREAS_OF_TOWN, N_SITES_OF_TOWN = 120, 8
FIRST_FOUND = {
    "visits": "177 of 358",
    "weights": "136 of 138",
    "area identifier in 45 % of the rows": "passed",
    "area code with 0.01 % errors": "passed",
    "next larger unit": "passed; 33 680 rows in groups < 5",
    "personal numbers in 45 % of the rows": "passed",
    "dates of birth": "passed",
    "exact age beside age groups": "passed; 2 404 unique rows",
    "one_diagnosis": "682 of 2 636",
    "told_by_visits": "14 of 21",
    "40 and 41 regions": "825 exactly, 267 single persons",
    "8 and 10 regions": "924",
    "3 and 4 quasi-identifiers": "251",
    "update": "196 of 200",
    "margins": "81 of 584, 55 single persons",
    "side files": "19 801 of 20 000 names",
    "homes": "51 % of homes of ten",
    "candidates": "47 of 56 points with k_act >= 5",
}


def line(*cells: object) -> None:
    """A row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def cases(place: Place) -> Iterator[tuple[str, attack_cases.Row]]:
    """The attacks on records, by the name of what was first found."""
    yield "visits", attack_cases.visits(place)
    yield "weights", attack_cases.weights(place)
    for row, _ in attack_cases.kept_fields(place):
        yield row.attack, row
    yield "one_diagnosis", attack_cases.one_diagnosis(place)
    yield "told_by_visits", attack_cases.told_by_visits(place)
    records = place.records()
    for row in attack_cases.releases(place, records):
        yield row.attack, row
    yield "update", attack_cases.update(place, records)
    yield "margins", attack_cases.margins(place, records)


def points(name: str, town: point_attacks.Town) -> Iterator[tuple[str, str, str, str, str]]:
    """The attacks on masked points: key, attack, what was looked at, before, after."""
    for members in (1, 10):
        before, after = (max(point_attacks.homes_guessed(town, 5, members, shared)) for shared in (False, True))
        attack = f"home of {members} guessed from its points ({name})"
        yield "homes" if members == 10 else "", attack, "homes guessed", f"{before:.1f} %", f"{after:.1f} %"
    run = point_attacks.masked_twice(town, 15)
    homes = homes_of(town.addresses, town.area_of, town.people())
    left = point_attacks.recounted(town, homes.area_of, run.second, run.second.points)
    few, released = left < K_MIN, hold_back(run.second, run.hiding, K_MIN).masked
    attack, looked_at = f"addresses a point could be from ({name})", f"points with < {K_MIN}"
    guessed = f"{int(few.sum())} of {int(np.isfinite(left).sum())}, {int((few & (run.k_act >= K_MIN)).sum())} of them "
    left_over = f"{int((few & released).sum())} of {int(released.sum())}"
    yield "candidates", attack, looked_at, f"{guessed}with k_act >= {K_MIN}", left_over


def town_of(place: Place) -> tuple[Place, Records]:
    """The areas in the middle of a place, with their neighbours, and their records."""
    middle = place.areas.points.mean(axis=0)
    near = np.sort(np.argsort(np.hypot(*(place.areas.points - middle).T))[:N_AREAS_OF_TOWN])
    areas = make_areas(place.areas.identifiers[near].tolist(), place.areas.points[near], place.areas.population[near])
    areas = replace(areas, neighbours=point_neighbours(areas.points))
    return replace(place, areas=areas), match_records(place.records().table, areas, "suppress", K)


def print_method(place: Place) -> None:
    """What knowing the method is worth."""
    print(f"\n{place.name}: records guessed by who knows the method, % of those looked for\n")
    line("attacker", "looked for", "by population", "by the method", "known for sure")
    line(*["---"] * 5)
    for name, guesses in attack_cases.nested_attacks(place, place.records()).items():
        line(f"nested release, {name}", guesses.attacked, *(f"{share:.1f}" for share in guesses.shares()))
    town, records = town_of(place)
    for name, make in makers(K, N_SITES_OF_TOWN).items():
        guesses = suppressed_record_attack(town.areas, records.profile, make, K)
        looks = "looks at classes" if uses_attribute_counts(name) else "does not look at classes"
        line(f"crosswalk, {name} ({looks})", guesses.attacked, *(f"{share:.1f}" for share in guesses.shares()))


def print_nested(place: Place) -> None:
    """The attacks on nested releases, and what knowing the method is worth there."""
    print(f"\n{place.name}: nested releases, {len(place.areas)} areas, {len(place.area)} people, k = {K}\n")
    line("attack", "looked at", "without the cure", "with it", "with it and DISCLOSURE")
    line(*["---"] * 5)
    records = place.records()
    for row in attack_cases.nested_of_rows(place):
        line(row.attack, row.looked_at, *row.shown)
    for name, guesses in attack_cases.nested_attacks(place, records).items():
        line(f"records guessed: {name}", guesses.attacked, *(f"{share:.1f}" for share in guesses.shares()))
    for row in attack_cases.nested_releases(place, records):
        line(row.attack, row.looked_at, *row.shown)
    row = attack_cases.nested_update(place, records)
    line(row.attack, row.looked_at, *row.shown)


def main() -> None:
    """Print all tables."""
    if "--nested" in sys.argv:
        for place in (city(), None if "city" in sys.argv else winnipeg()):
            if place is not None:
                print_nested(place)
        return
    places = [place for place in (city(), winnipeg()) if place is not None]
    if len(places) == 1:
        print("The real data are not there: set VBAS_DATA.\n")
    for place in places:
        print(f"\n{place.name}: {len(place.areas)} areas, {len(place.area)} people, k = {K}\n")
        line("attack", "looked at", "first found", "without the cure", "with it")
        line(*["---"] * 5)
        for key, row in cases(place):
            line(row.attack, row.looked_at, FIRST_FOUND[key], row.shown_before, row.shown_after)
    print("\nFiles and points\n")
    line("attack", "looked at", "first found", "without the cure", "with it")
    line(*["---"] * 5)
    back = [f"{side_files.names_that_come_back(cured)} of {side_files.N_NAMES}" for cured in (False, True)]
    line("-wal of a crashed program beside the target", "raw names", FIRST_FOUND["side files"], *back)
    for name, town in (("made-up town", point_attacks.town()), ("Ottawa", point_attacks.real_town())):
        for key, *cells in points(name, town) if town is not None else ():
            line(*cells[:2], FIRST_FOUND.get(key, ""), *cells[2:])
    for place in places:
        print_method(place)
    if "--large" in sys.argv:
        print()
        earlier_releases.main()


if __name__ == "__main__":
    main()
