"""What totals that others publish give away of suppressed classes, and what it costs to prevent it.

The demonstration city (four quasi-identifiers) and the dissemination areas of Winnipeg (generated people), each in the
regions of the all-rounder, k = 5; the totals are those of each region. A suppressed class is known exactly, or within 1
to k - 1, where linear programs over the totals and the classes shown say so, before and after; not counted are those
that the totals tell by themselves, whatever is suppressed. The last columns are what suppressing the smallest class
again and again would have cost.

    PYTHONPATH=build/package .venv/bin/python benchmarks/published_totals.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from scipy.optimize import linprog

from vbas.benchmarks import real_areas, real_data
from vbas.benchmarks.nested_release import city
from vbas.benchmarks.scenarios import SELECTIONS
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.plan import Plan, suppress
from vbas.core.privacy import margins as core
from vbas.core.profile import Profile, profile_records
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import generate_records, province_from_identifiers

K = 5
CITY = ("age_group", "sex", "marital_status", "education")
WINNIPEG = SELECTIONS[3]  # five quasi-identifiers, 900 classes
MARGINS = (
    "age_group;sex",
    "age_group;sex, marital_status",
    "age_group;sex, age_group;marital_status, sex;education",
)


def winnipeg() -> tuple[Areas, Profile]:
    """The areas with as many generated people as live there, by five quasi-identifiers."""
    areas = real_areas.areas("Winnipeg")
    code = province_from_identifiers(areas.identifiers)
    inhabited = areas.population > 0
    people = generate_records(
        areas.identifiers[inhabited],
        code[inhabited],
        canadian_distributions().selection(WINNIPEG),
        areas.population[inhabited].astype(np.int64),
    )
    table = people.table()
    at = areas.codes_of(table.area.categories)[table.area.codes]
    return areas, profile_records(at, table.quasi_identifiers, len(areas))[0]


def given_away(plan: Plan, margins: Sequence[tuple[str, ...]]) -> tuple[int, int, int, int]:
    """Suppressed classes by region; and of those exactly known, single persons, and known within 1 to k - 1."""
    counts = (plan.crosswalk.membership() @ plan.profile.counts).tocsr()
    released = np.zeros(counts.shape, bool)
    released[plan.region[plan.released], plan.class_of[plan.released]] = True
    suppressed = exact = single = disclosed = 0
    groupings = [plan.profile.combinations(margin)[0] for margin in margins]
    for region in range(counts.shape[0]):
        here = counts[region].toarray()[0]
        classes = np.flatnonzero(here)
        lost = ~released[region, classes]
        suppressed += int(lost.sum())
        groups = [np.unique(grouping[classes], return_inverse=True)[1].reshape(-1) for grouping in groupings]
        alone = core._disclosed(groups, here[classes], np.ones(len(classes), bool), K, np.flatnonzero(lost))
        for place in core._disclosed(groups, here[classes], lost, K, None, alone):
            disclosed += 1
            known = exactly(groups, here[classes], lost, place)
            exact += known
            single += known and here[classes[place]] == 1
    return suppressed, exact, single, disclosed


def exactly(groups: Sequence[np.ndarray], records: np.ndarray, lost: np.ndarray, place: int) -> bool:
    """Whether only one number of a suppressed place fits the totals."""
    unknown = np.flatnonzero(lost)
    rows = np.vstack([group[unknown] == total for group in groups for total in np.unique(group[unknown])]).astype(float)
    wish = (unknown == place).astype(float)
    ends = [linprog(sign * wish, A_eq=rows, b_eq=rows @ records[unknown], method="highs").fun for sign in (1, -1)]
    return bool(ends[0] + ends[1] > -0.5)


@contextmanager
def smallest_first() -> Iterator[None]:
    """The way of a search that looks for no optimum."""
    before, core.MOST_ROUNDS = core.MOST_ROUNDS, 0
    try:
        yield
    finally:
        core.MOST_ROUNDS = before


def main() -> None:
    problem = real_data.problem_with(["West"])
    if problem:
        sys.exit(problem)
    print(
        "| data | records | regions | totals published | suppressed before | classes suppressed | known exactly | "
        "single persons | within 1 to k - 1 | suppressed after | known | seconds | smallest first | seconds |"
    )
    print("|---" * 14 + "|")
    for name, (areas, profile) in {"demonstration city": city(CITY), "Winnipeg": winnipeg()}.items():
        plan = suppress(profile, aggregate(areas, profile, Configuration()).aggregation.crosswalk, K)
        for text in MARGINS:
            margins = core.parse_margins(text, profile.quasi_identifiers)
            suppressed, exact, single, disclosed = given_away(plan, margins)
            start = time.process_time()
            held, cost = core.hold_against_margins(plan, margins)
            seconds = time.process_time() - start
            left = given_away(held, margins)[3]
            start = time.process_time()
            with smallest_first():
                plainly = core.hold_against_margins(plan, margins)[1]
            slow = time.process_time() - start
            lost, n = profile.n_records - plan.n_released, profile.n_records
            before, after, plain = (f"{100 * number / n:.2f} %" for number in (lost, lost + cost, lost + plainly))
            print(
                f"| {name} | {n} | {plan.crosswalk.n_regions} | {text} | {before} | {suppressed} | {exact} | {single} "
                f"| {disclosed} | {after} | {left} | {seconds:.1f} | {plain} | {slow:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
