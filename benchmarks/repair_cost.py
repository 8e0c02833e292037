"""What repairs suppress: against the least there is in small cases, and of towns against the smallest class first.

400 draws of 3 to 8 areas with people of one class, released in two random sets of regions, k = 5; counted are those in
which the second release would give something away. Their least is found by trying all.

    PYTHONPATH=build/package .venv/bin/python benchmarks/repair_cost.py [--towns [examine] [regions] [newcomer]]

--towns: the demonstration city and Winnipeg by four quasi-identifiers, k = 5, one table for each part named, or all.
examine : how long it takes to hold a nested release against one of 40 regions; regions : 41 regions after 40, repaired
by suppressing the smallest equivalence class that tells, over and over, and by the fewest records; newcomer : the same
40 regions after one more person of a large class came. Times are CPU seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from scipy import sparse

from vbas.benchmarks.attack_places import Place, city, winnipeg
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import Published, publish
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.profile import Profile
from vbas.core.releases.examining import Examiner, examine
from vbas.core.releases.repair import repair

K = 5
DRAWS = 400
REGIONS = 40
SECONDS, SHARE = 10.0, 0.75  # what is to be reached: CPU seconds, and records suppressed of those before
PARTS = ("examine", "regions", "newcomer")


def drawn(seed: int) -> tuple[Areas, Plan, list[Published]]:
    """Areas, a plan, and the release before it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    counts = sparse.csr_matrix(rng.integers(0, 9, (n, 1)))
    profile = Profile(counts, np.zeros((1, 1), np.int64), (np.array(["all"], dtype=object),), ("class",))
    old, new = (suppress(profile, number_compactly(rng.integers(0, max(2, n // 2), n))[0], K) for _ in range(2))
    return areas, new, [publish(old, areas)]


def least(areas: Areas, plan: Plan, earlier: list[Published]) -> int:
    """The fewest records without which nothing is given away."""
    examiner, best, equivalence_classes = Examiner(earlier), plan.n_released, np.flatnonzero(plan.released)
    for chosen in product((False, True), repeat=len(equivalence_classes)):
        out = equivalence_classes[np.array(chosen, bool)]
        released = plan.released.copy()
        released[out] = False
        published = replace(publish(replace(plan, released=released), areas), bounded=False, held_back=None)
        if plan.records[out].sum() < best and not examiner.examine(published).n_counts:
            best = int(plan.records[out].sum())
    return best


def small_cases() -> None:
    """Print what is suppressed in small cases, beside the least."""
    ours, fewest, worse, released = [], [], 0, 0
    for seed in range(DRAWS):
        areas, plan, earlier = drawn(seed)
        done = repair(plan, areas, earlier)
        if done.before.n_counts:
            ours.append(done.n_suppressed)
            fewest.append(least(areas, plan, earlier))
            worse += ours[-1] > fewest[-1]
            released += plan.n_released
    print(
        "| cases | released | suppressed by the repair | at least | more | cases with more |\n|---|---|---|---|---|---|"
    )
    more = 100 * (sum(ours) / sum(fewest) - 1)
    print(f"| {len(ours)} | {released} | {sum(ours)} | {sum(fewest)} | {more:.0f} % | {worse} |")


def towns() -> Iterator[Place]:
    """The demonstration city, and Winnipeg where its data are."""
    yield from (place for place in (city(), winnipeg()) if place is not None)


def print_seconds() -> None:
    """Print how long a nested release takes to be held against one of one level."""
    print(f"| town | areas | records | counts given away | undecided | CPU s | at most {SECONDS:g} |")
    print("|---" * 7 + "|")
    for place in towns():
        profile = place.records().profile
        nested = nest(place.areas, profile, build_levels(place.areas, profile), K)
        earlier = publish(suppress(profile, place.regions(profile, REGIONS), K), place.areas)
        new = publish(nested, place.areas)
        start = time.process_time()
        findings = examine(new, [earlier])
        seconds = time.process_time() - start
        row = (
            f"| {place.name} | {len(place.areas)} | {profile.n_records} | {findings.n_counts} | {findings.n_undecided}"
        )
        print(f"{row} | {seconds:.1f} | {said(seconds <= SECONDS)} |", flush=True)


def print_repairs(newcomer: bool) -> None:
    """Print what two ways to repair suppress: 41 regions after 40, or the same 40 after one person more came."""
    print("| town | counts before | after | undecided | smallest first | fewest | ratio | CPU s | at most 3/4 |")
    print("|---" * 9 + "|")
    for place in towns():
        profile = place.records().profile
        crosswalk = place.regions(profile, REGIONS)
        earlier = [publish(suppress(profile, crosswalk, K), place.areas)]
        if newcomer:
            profile = one_more(profile)
        else:
            crosswalk = place.regions(profile, REGIONS + 1)
        plan = suppress(profile, crosswalk, K)
        suppressed = []
        for fewest in (False, True):
            start = time.process_time()
            done = repair(plan, place.areas, earlier, fewest=fewest)
            suppressed.append(done.n_suppressed)
        seconds, (before, now) = time.process_time() - start, suppressed
        row = f"| {place.name} | {done.before.n_counts} | {done.after.n_counts} | {done.after.n_undecided}"
        shares = " | ".join(f"{n} ({100 * n / plan.n_released:.2f} %)" for n in suppressed)
        print(
            f"{row} | {shares} | {now / max(before, 1):.2f} | {seconds:.1f} | {said(now <= SHARE * before)} |",
            flush=True,
        )


def one_more(profile: Profile) -> Profile:
    """The profile with one more person, beside those of the most frequent area and class."""
    counts = profile.counts.copy()
    counts.data[np.argmax(counts.data)] += 1
    return replace(profile, counts=counts)


def said(reached: bool) -> str:
    """Whether what was to be reached is."""
    return "yes" if reached else "no"


def main(arguments: list[str]) -> None:
    """Print the tables asked for."""
    if "--towns" not in arguments:
        small_cases()
        return
    parts = [part for part in PARTS if part in arguments] or list(PARTS)
    if "examine" in parts:
        print_seconds()
    for part in ("regions", "newcomer"):
        if part in parts:
            print(f"\n{part}")
            print_repairs(part == "newcomer")


if __name__ == "__main__":
    main(sys.argv[1:])
