"""Which approach of each component is best in each measure: Croft 2018, Table 3, over one's own records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from .configuration import AGGREGATION, LOCATION, NUMBER, Configuration
from .dataclass import dataclass
from .language import in_turn, tr
from .outcome import Outcome

COMPONENTS = (NUMBER, LOCATION, AGGREGATION)
# Measures by their fields in COMPARISON.
MEASURED = {
    "suppression_percent": tr("suppression"),
    "compactness": tr("compactness"),
    "discernibility": tr("discernibility"),
    "non_uniform_entropy": tr("non-uniform entropy"),
    "mean_distance": tr("mean distance"),
    "seconds": tr("running time"),
}
CLEAR = 0.5  # the share of the contests that the best approach must win more than


@dataclass(frozen=True)
class BestApproach:
    """Who is best in a measure. names : who won most contests, several where they share that; n_wins : of each of
    them; n_contests : in all"""

    component: str
    measure: str
    names: tuple[str, ...]
    n_wins: int
    n_contests: int

    @property
    def is_clear(self) -> bool:
        """Whether one approach won more than half of the contests."""
        return len(self.names) == 1 and self.n_wins > CLEAR * self.n_contests

    @property
    def in_words(self) -> str:
        """The approach and how often it won, or that it is inconclusive."""
        words = {"names": ", ".join(self.names), "n_wins": self.n_wins, "n_contests": self.n_contests}
        if self.is_clear:
            return tr("{names} ({n_wins} of {n_contests})", **words)
        return tr("inconclusive ({names}: {n_wins} of {n_contests})", **words)


def best_approaches(runs: Sequence[Sequence[Outcome]]) -> list[BestApproach]:
    """The best approach by component and measure, of the components of which several approaches were run.

    runs : outcomes over the same areas and records, a list for each scenario. Outcomes that differ in one component
    alone are a contest; in each measure it is won by the least value, by all that share it. Outcomes that failed or
    release nothing, nested releases, baselines and those of a searched trade-off are in none.
    """
    best = []
    for component in COMPONENTS:
        wins: dict[str, Counter[str]] = {measure: Counter() for measure in MEASURED}
        n_contests = 0
        for contest in (contest for run in runs for contest in _contests(run, component)):
            n_contests += 1
            for measure, counter in wins.items():
                counter.update(_winners(contest, measure))
        if n_contests:
            best += [_best(component, measure, counter, n_contests) for measure, counter in wins.items()]
    return best


def _best(component: str, measure: str, counter: Counter[str], n_contests: int) -> BestApproach:
    most = max(counter.values())
    return BestApproach(component, measure, tuple(n for n, wins in counter.items() if wins == most), most, n_contests)


Contest = dict[str, Outcome]


def _contests(outcomes: Sequence[Outcome], component: str) -> Iterator[Contest]:
    """Outcomes by the approach of a component, which differ in nothing else, two at least."""
    groups: defaultdict[tuple[object, ...], Contest] = defaultdict(dict)
    known = [(outcome, outcome.configuration) for outcome in outcomes if _takes_part(outcome)]
    locations = list(dict.fromkeys(c.site_location for _, c in known if c and not c.chooses_sites)) or [""]
    for outcome, configuration in known:
        if configuration is not None:
            for others in _OTHERS[component](configuration, locations):
                groups[outcome.k, others].setdefault(_approach(configuration, component), outcome)
    return (contest for contest in groups.values() if len(contest) > 1)


def _takes_part(outcome: Outcome) -> bool:
    m = outcome.measures
    return m is not None and m.n_suppressed < m.n_records and outcome.budget is None


def _approach(configuration: Configuration, component: str) -> str:
    if component == NUMBER:
        return configuration.site_number
    return configuration.site_location if component == LOCATION else configuration.aggregation_title


# What must be the same in the other components, one entry for each contest that a configuration takes part in. An
# aggregation that chooses its own sites has no location to compare, and meets the others beside each location.
_OTHERS: dict[str, Callable[[Configuration, list[str]], list[tuple[str, ...]]]] = {
    NUMBER: lambda c, _: [(c.site_location, c.aggregation_title)],
    LOCATION: lambda c, _: [] if c.chooses_sites else [(c.site_number, c.aggregation_title)],
    AGGREGATION: lambda c, locations: [
        (c.site_number, location) for location in (locations if c.chooses_sites else [c.site_location])
    ],
}


def _winners(contest: Contest, measure: str) -> list[str]:
    """The approaches with the least value."""
    values = {
        name: float(outcome.seconds if measure == "seconds" else getattr(outcome.measures, measure))
        for name, outcome in contest.items()
    }
    return [name for name, value in values.items() if value == min(values.values())]


def component_sentences(best: Sequence[BestApproach]) -> list[str]:
    """For the log: of each component, who is best in what."""
    return [
        tr(
            "Best {component}: {told}.",
            component=tr(component),
            told=in_turn(
                tr("{measure}: {best}", measure=MEASURED[approach.measure], best=approach.in_words)
                for approach in best
                if approach.component == component
            ),
        )
        for component in dict.fromkeys(approach.component for approach in best)
    ]
