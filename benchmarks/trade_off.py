"""What coarser attributes buy: the lattice of coarsenings, each node with the most regions within a budget.

    PYTHONPATH=build/package .venv/bin/python benchmarks/trade_off.py [Winnipeg] [city]

prints, for each data set, what was searched and what it took; for shares of the attributes' entropy given up, the most
regions within each budget; the rows of the Pareto front at the middle budget; the row that is recommended at each, and
what its attributes cost; and how near a search that looks at some of the nodes only comes to that of all. Level 1 of
the city is written here by hand, elsewhere it joins neighbouring categories in pairs; level 2 says nothing. Areas: open
statistics, and the demonstration city; records: made up. Times are CPU seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.nested_release import city
from vbas.benchmarks.peers import place
from vbas.core.attribute_costs import attribute_costs, cost_sentence
from vbas.core.configuration import Configuration
from vbas.core.generalising import Hierarchy, generalise_profile, make_hierarchy
from vbas.core.outcome import Outcome, with_pareto
from vbas.core.profile import Profile
from vbas.core.recommendation import balance, with_recommendation
from vbas.core.suppression import Terms, suppressed_by_class, suppression_percent
from vbas.core.synthetic.city import ATTRIBUTES
from vbas.core.trade_off.outcomes import levels_in_words, trade_off_outcomes
from vbas.core.trade_off.search import Search, n_nodes

K = 5
BUDGETS = (1.0, 2.0, 5.0)
GIVEN_UP = (0.0, 0.05, 0.1, 0.15, 0.2, 0.28, 0.4)
TARGET = 60.0
SOME = 100  # nodes, of those of the city
CITY_LEVELS = {
    "age_group": {"0 to 24": ("0 to 14", "15 to 24"), "25 to 64": ("25 to 44", "45 to 64")},
    "marital_status": {"couple": ("common law", "married")},
    "ethnicity": {"Asian": ("East Asian", "South Asian"), "other": ("Black", "other")},
    "education": {"school": ("no certificate", "secondary school")},
    "household_income": {
        "lower": ("lowest fifth", "second fifth"),
        "upper": ("fourth fifth", "highest fifth"),
    },
}
REST = {"age_group": "65 and over", "marital_status": "single", "education": "after school"}


def city_hierarchies(profile: Profile) -> dict[str, Hierarchy]:
    """Three levels of every attribute but sex."""
    hierarchies = {}
    for name, categories in zip(profile.quasi_identifiers, profile.categories):
        if name in CITY_LEVELS:
            coarser = {value: group for group, values in CITY_LEVELS[name].items() for value in values}
            first = [coarser.get(value, REST.get(name, value)) for value in categories]
            hierarchies[name] = make_hierarchy(name, categories, [first, ["*"] * len(categories)])
    return hierarchies


def paired_hierarchies(profile: Profile, names: Sequence[str]) -> dict[str, Hierarchy]:
    """Three levels of these attributes: as they are, in pairs, nothing."""
    hierarchies = {}
    for name, categories in zip(profile.quasi_identifiers, profile.categories):
        if name in names:
            pairs = [f"group {position // 2 + 1}" for position in range(len(categories))]
            hierarchies[name] = make_hierarchy(name, categories, [pairs, ["*"] * len(categories)])
    return hierarchies


def search_of(name: str) -> Search:
    """The search over the lattice of that data set."""
    if name == "city":
        areas, profile = city(ATTRIBUTES)
        hierarchies = city_hierarchies(profile)
    else:
        areas, profile = place(name)
        hierarchies = paired_hierarchies(profile, ("age_group", "marital_status", "education", "language"))
    return Search(areas, profile, hierarchies, Configuration(), (K,), BUDGETS)


def traded(name: str) -> bool:
    """Print what one data set trades for what; whether it took less than the target."""
    search = search_of(name)
    started = time.process_time()
    outcomes = with_pareto(trade_off_outcomes(search))
    seconds = time.process_time() - started
    print(
        f"\n{name}: {len(search.areas)} areas, {search.profile.n_records} records, {search.profile.counts.shape[1]} "
        f"classes of {', '.join(search.profile.quasi_identifiers)}; k = {K}. {n_nodes(search.top)} nodes at "
        f"{len(BUDGETS)} budgets in {seconds:.1f} CPU s (at most {TARGET:g}: "
        f"{'reached' if seconds <= TARGET else 'MISSED'}); {sum(o.pareto for o in outcomes)} of {len(outcomes)} rows "
        "on the Pareto front"
    )
    print("\n| at most given up | " + " | ".join(f"regions at {budget:g} %" for budget in BUDGETS) + " |")
    print("|---|" + "---|" * len(BUDGETS))
    for share in GIVEN_UP:
        most = [
            max(
                (o.measures.n_regions for o in outcomes if o.measures and o.budget == budget and o.given_up <= share),
                default=0,
            )
            for budget in BUDGETS
        ]
        print(f"| {100 * share:g} % | " + " | ".join(map(str, most)) + " |")
    _print_front([o for o in outcomes if o.pareto and o.budget == BUDGETS[1]])
    for budget in BUDGETS:
        rated, reason = with_recommendation(outcomes, search.profile, K, budget)
        print(f"\n{reason}")
        _print_costs(search, next((o for o in rated if o.recommended), None))
    return seconds <= TARGET


def _print_front(rows: Sequence[Outcome]) -> None:
    print(f"\nThe Pareto front at {BUDGETS[1]:g} %:\n")
    print("| coarser | given up, % | regions | suppressed, % | mean distance, m | group that loses most |")
    print("|---|---|---|---|---|---|")
    for outcome in sorted(rows, key=lambda o: o.given_up):
        m, worst = outcome.measures, outcome.worst
        assert m is not None and worst is not None
        print(
            f"| {levels_in_words(outcome.generalised)} | {100 * outcome.given_up:.1f} | {m.n_regions} | "
            f"{m.suppression_percent:.2f} | {m.mean_distance:.0f} | {worst.name}, {worst.percent:.1f} % |"
        )


def _print_costs(search: Search, best: Outcome | None) -> None:
    if best is None or best.crosswalk is None:
        return
    levels = dict(best.generalised)
    node = [levels.get(name, 0) for name in search.profile.quasi_identifiers]
    profile, _ = generalise_profile(search.profile, search.hierarchies, node)
    further = {name: hierarchy.above(levels.get(name, 0)) for name, hierarchy in search.hierarchies.items()}
    percent = suppression_percent(profile, suppressed_by_class(profile, best.crosswalk, Terms(K)), Terms(K))
    print(cost_sentence(percent, attribute_costs(profile, best.crosswalk, Terms(K), further)))


def some_of_all(name: str) -> None:
    """How near the search that looks at some nodes comes to that of all."""
    search = replace(search_of(name), budgets=BUDGETS[1:2])
    rows = [with_pareto(trade_off_outcomes(search, most=most)) for most in (n_nodes(search.top), SOME)]
    fronts = [{o.generalised for o in row if o.pareto} for row in rows]
    best = [max(balance(o, search.profile) for o in row if o.measures) for row in rows]
    distances = [
        min(o.measures.mean_distance for o in some if o.measures and o.given_up <= row.given_up + 1e-12)
        / row.measures.mean_distance
        for some in rows[1:]
        for row in rows[0]
        if row.pareto and row.measures and row.measures.mean_distance > 1  # metres: below it regions are single areas
    ]
    print(
        f"\n{name}: of {n_nodes(search.top)} nodes {SOME} looked at: {len(fronts[0] & fronts[1])} of the "
        f"{len(fronts[0])} rows of the front are found; for what each gives up the distance is "
        f"{np.median(distances):.2f} times as large (median; at most {max(distances):.2f}); the balance of the best is "
        f"{best[1]:.3f} against {best[0]:.3f}"
    )


def main(arguments: list[str]) -> int:
    """Print the tables of the data sets named, by default all."""
    names = arguments or ["Winnipeg", "city"]
    problem = real_data.problem_with([]) if names != ["city"] else ""
    if problem:
        print(problem)
        return 1
    reached = [traded(name) for name in names]
    if "city" in names:
        some_of_all("city")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
