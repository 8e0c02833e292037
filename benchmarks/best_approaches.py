"""Who is best in each measure, component by component: Croft 2018, Table 3, again.

Every configuration of every scenario is run and rated. For one component, the approaches are compared with everything
else held the same; each such comparison has a winner in each measure. The table names the approach that wins most
often, with its share of the comparisons, next to the published one. Running times are wall seconds of one run: where
two approaches take milliseconds, who is faster is noise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from vbas.benchmarks.scenarios import scenario
from vbas.core.comparison import compare, configurations_of
from vbas.core.configuration import Configuration
from vbas.core.outcome import Outcome

K = 5
SITE_NUMBERS = ("max combinations (2018)", "entropy")
SITE_LOCATIONS = ("balanced density", "anonymity-driven clustering")
AGGREGATIONS = (
    "basic Voronoi",
    "iterative Voronoi",
    "site optimisation",
    "alternating location-allocation",
    "transportation-location",
)
CAPACITY_FACTORS = (1.0, 1.2, 2.0, 5.0, 0.0)
MEASURES = ("suppression_percent", "compactness", "discernibility", "seconds")
TITLES = ("suppression", "compactness", "information loss", "running time")
# Croft 2018, Table 3; where several are tied or it is inconclusive, all that may stand there.
PUBLISHED = {
    "site number": ("max combinations (2018)", "entropy", "entropy", "max combinations (2018)"),
    "site location": ("anonymity-driven clustering", "balanced density", "balanced density", "balanced density"),
    "aggregation": (
        "inconclusive",
        "site optimisation",
        "alternating location-allocation (1) / transportation-location (1) / site optimisation",
        "basic Voronoi",
    ),
}
CLEAR = 0.5


def outcomes_of(part: str, selection: int) -> list[Outcome]:
    """Every configuration of one scenario, rated."""
    regions, profile = scenario(part, selection)
    configurations = configurations_of(SITE_NUMBERS, SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, Configuration())
    return compare(regions, profile, configurations, K)


def best_approaches(parts: Sequence[str], selections: Sequence[int]) -> None:
    """Run everything and print the table."""
    wins: dict[str, list[Counter]] = {component: [Counter() for _ in MEASURES] for component in PUBLISHED}
    contests: Counter[str] = Counter()
    for part in parts:
        for selection in selections:
            outcomes = [outcome for outcome in outcomes_of(part, selection) if outcome.measures is not None]
            print(f"{part} {selection}: {len(outcomes)} configurations, {sum(o.seconds for o in outcomes):.0f} s")
            for component in PUBLISHED:
                for contest in _contests(outcomes, component):
                    contests[component] += 1
                    for counter, measure in zip(wins[component], MEASURES):
                        counter.update(_winners(contest, component, measure))
    _print_table(wins, contests)


def _contests(outcomes: Sequence[Outcome], component: str) -> Iterator[list[Outcome]]:
    """Groups of outcomes that differ in one component only, at least two in each."""
    groups: defaultdict[tuple, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        c = outcome.configuration
        assert c is not None
        factor = c.aggregation_options.capacity_factor
        if component == "site number":
            key: tuple = (c.site_location, c.aggregation, factor)
        elif component == "site location":
            if not c.site_location:  # transport chooses its own sites
                continue
            key = (c.site_number, c.aggregation)
        else:
            # Transport has no location: it meets the aggregations that start from balanced density.
            if c.site_location not in ("", "balanced density"):
                continue
            key = (c.site_number,)
        groups[key].append(outcome)
    return (group for group in groups.values() if len(group) > 1)


def _winners(contest: Sequence[Outcome], component: str, measure: str) -> set[str]:
    """The approach with the smallest value; all that share it."""
    values = [outcome.seconds if measure == "seconds" else getattr(outcome.measures, measure) for outcome in contest]
    return {_approach(outcome, component) for outcome, value in zip(contest, values) if value == min(values)}


def _approach(outcome: Outcome, component: str) -> str:
    configuration = outcome.configuration
    assert configuration is not None
    if component == "site number":
        return configuration.site_number
    if component == "site location":
        return configuration.site_location
    factor = configuration.aggregation_options.capacity_factor
    limited = not configuration.site_location
    return f"{configuration.aggregation} ({factor:g})" if limited else configuration.aggregation


def _print_table(wins: dict[str, list[Counter]], contests: Counter) -> None:
    print(f"\n{'component':14}{'measure':18}{'here (share of comparisons won)':52}{'published':32}")
    for component, counters in wins.items():
        for title, counter, published in zip(TITLES, counters, PUBLISHED[component]):
            best, count = counter.most_common(1)[0]
            share = count / contests[component]
            here = f"{best} ({100 * share:.0f} %)" if share >= CLEAR else f"inconclusive: {best} ({100 * share:.0f} %)"
            agrees = best in published or (published == "inconclusive" and share < CLEAR)
            print(f"{component:14}{title:18}{here:52}{published}{'' if agrees else '   <- differs'}")
