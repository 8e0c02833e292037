"""The number of regions that a suppression budget allows, searched against all numbers tried one by one.

    PYTHONPATH=build/package .venv/bin/python benchmarks/suppression_budget.py [Winnipeg] [East] [California] [city]
        [city-4]

prints, for each data set, location and aggregation, the largest number within each budget at each k, of all numbers
one by one and by the search, and how many the search tried. One by one goes up to the number from which suppression at
the least k is above BEYOND times the largest budget. Then who is lost: the group of the demonstration city that loses
most against the mean, with FAIR and without. Areas: open statistics, and the demonstration city; records: made up (in
California one for ten people). Times are CPU seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from vbas.benchmarks import real_data
from vbas.benchmarks.nested_release import CITY, DATA_SETS, city
from vbas.benchmarks.peers import place
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, LocatedSites, Trials
from vbas.core.errors import InputError
from vbas.core.profile import Profile
from vbas.core.site_number import SiteNumberOptions
from vbas.core.site_number.suppression_budget import MOST_EVALUATIONS, most_within, numbers_tried
from vbas.core.suppression import Terms, group_shares, suppressed_by_class, suppression_percent
from vbas.core.synthetic.city import ATTRIBUTES

KS = (5, 10, 20)
BUDGETS = (0.5, 1.0, 2.0, 5.0, 10.0)
BEYOND = 1.5
TARGET = 0.01
PLACES = dict.fromkeys(("Winnipeg", "East", "California"), place)
CITIES = {"city": ATTRIBUTES, "city-4": CITY}
# Location and aggregation, and on which data sets.
CONFIGURATIONS = {
    ("balanced density", "iterative Voronoi"): (*PLACES, *CITIES),
    ("balanced density", "site optimisation"): ("Winnipeg", "city-4"),
    ("random", "basic Voronoi"): ("Winnipeg", "city-4"),
}


def data(name: str) -> tuple[Areas, Profile]:
    """The areas and the profile of that name."""
    return city(CITIES[name]) if name in CITIES else place(DATA_SETS[name])


def one_by_one(trials: Trials, profile: Profile, n_areas: int) -> dict[int, dict[int, float]]:
    """Per cent suppressed at each k, of every number of sites until BEYOND the largest budget."""
    percents: dict[int, dict[int, float]] = {k: {} for k in KS}
    for n_sites in range(1, n_areas + 1):
        crosswalk = trials.parts(n_sites)[1].crosswalk
        for k in KS:
            terms = Terms(k)
            suppressed = suppressed_by_class(profile, crosswalk, terms)
            percents[k][n_sites] = suppression_percent(profile, suppressed, terms)
        if percents[min(KS)][n_sites] > BEYOND * max(BUDGETS):
            break
    return percents


def compared(name: str, location: str, aggregation: str) -> list[tuple[float, int]]:
    """Print a table; for each budget and k how far below the largest number the search ends, and the numbers tried."""
    areas, profile = data(name)
    configuration = Configuration("given number", location, aggregation)
    trials = Trials(areas, profile, configuration)
    started = time.process_time()
    every = one_by_one(trials, profile, len(areas))
    seconds = time.process_time() - started
    n_tried = len(every[KS[0]])
    print(
        f"\n{name}: {len(areas)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes; {location}, "
        f"{aggregation}; {n_tried} numbers one by one in {seconds:.1f} CPU s"
    )
    print("| k | " + " | ".join(f"at most {budget:g} %" for budget in BUDGETS) + " |")
    print("|---|" + "---|" * len(BUDGETS))
    rows = []
    for k in KS:
        cells = []
        for budget in BUDGETS:
            largest = most_within(every[k], budget)
            started = time.process_time()
            # A search of its own: nothing that was run one by one is used again.
            searching = Trials(areas, profile, configuration, terms=Terms(k))
            tried = numbers_tried(searching.suppression, len(areas), budget)
            seconds = time.process_time() - started
            number = most_within(tried, budget)
            rows.append((1 - number / largest if largest else 0.0, len(tried)))
            cells.append(f"{largest or 'none'}, {number or 'none'} by {len(tried)} in {seconds:.2f} s")
        print(f"| {k} | " + " | ".join(cells) + " |", flush=True)
    return rows


def who_is_lost(attributes: Sequence[str], field: str, k: int = 5) -> None:
    """The demonstration city: the group that loses most, with FAIR and without."""
    areas, profile = city(attributes)
    print(f"\nThe city, {len(attributes)} quasi-identifiers, k = {k}: {field}, the group that loses most")
    print("| budget, % | FAIR | regions | suppressed, % | worst group, % | times the mean |")
    print("|---|---|---|---|---|---|")
    located: LocatedSites = {}
    for budget in BUDGETS:
        for fair in ((), (field,)):
            options = SiteNumberOptions(budget=budget, fair=fair, k=k)
            trials = Trials(areas, profile, Configuration("suppression budget", number_options=options), located)
            try:
                number = trials.number()
            except InputError:
                print(f"| {budget:g} | {'on' if fair else 'off'} | none | | | |")
                continue
            crosswalk = trials.parts(number.n_sites)[1].crosswalk
            suppressed = suppressed_by_class(profile, crosswalk, Terms(k))
            mean = suppression_percent(profile, suppressed, Terms(k))
            worst = float(group_shares(profile, suppressed, field, k)[1].max())
            print(
                f"| {budget:g} | {'on' if fair else 'off'} | {crosswalk.n_regions} | {mean:.2f} | {worst:.2f} | "
                f"{worst / mean:.2f} |"
            )


def main(arguments: list[str]) -> int:
    """Print the tables of the data sets named, by default all."""
    names = arguments or [*PLACES, *CITIES]
    unknown = [name for name in names if name not in (*PLACES, *CITIES)]
    problem = (
        f"Unknown: {', '.join(unknown)}."
        if unknown
        else ""
        if set(names) <= set(CITIES)
        else real_data.problem_with([])
    )
    if problem:
        print(problem)
        return 1
    print("Each cell: the largest number of all one by one, then the number found by how many evaluations.")
    rows = []
    for (location, aggregation), where in CONFIGURATIONS.items():
        for name in names:
            if name in where:
                rows += compared(name, location, aggregation)
    below, most = max(share for share, _ in rows), max(tried for _, tried in rows)
    reached = below <= TARGET and most <= MOST_EVALUATIONS
    exact = sum(share == 0 for share, _ in rows)
    print(
        f"\n{len(rows)} searches: the very number in {exact}, at most {100 * below:.1f} % below it, at most {most} "
        f"evaluations: {'reached' if reached else 'MISSED'}"
    )
    if set(names) & set(CITIES):
        who_is_lost(CITY, "ethnicity")
        who_is_lost(ATTRIBUTES, "ethnicity")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
