"""How much more a repair suppresses than the least there is, over small cases whose least is found by trying all.

400 draws of 3 to 8 areas with people of one class, released in two random sets of regions, k = 5; counted are those in
which the second release would give something away.

    PYTHONPATH=build/package .venv/bin/python benchmarks/repair_cost.py
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy import sparse

from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import Published, publish
from vbas.core.plan import Plan, suppress
from vbas.core.profile import Profile
from vbas.core.releases.examining import Examiner
from vbas.core.releases.repair import repair

K = 5
DRAWS = 400


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


def main() -> None:
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


if __name__ == "__main__":
    main()
