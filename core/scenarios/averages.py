"""What each configuration gave on average over the scenarios, and between which bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..configuration import Configuration
from ..dataclass import dataclass
from ..evaluation import Measures
from ..outcome import Outcome
from .runs import EVERYWHERE, ScenarioRun


def _distance(m: Measures) -> float:
    """Over the records released; not known where there are none."""
    return m.mean_distance if m.n_suppressed < m.n_records else np.nan


# By field: the measure of a run.
MEASURED: dict[str, Callable[[Measures], float]] = {
    "n_sites": lambda m: m.n_regions,
    "suppression_percent": lambda m: m.suppression_percent,
    "compactness": lambda m: m.compactness,
    "discernibility": lambda m: m.discernibility,
    "non_uniform_entropy": lambda m: m.non_uniform_entropy,
    "mean_distance": _distance,
}
SECONDS = "seconds"
# By field: what is set against the first configuration's in the same scenario, in % of it (Croft 2015, section 5.1).
OF_FIRST: dict[str, Callable[[Measures], float]] = {
    "suppressed_of_first": lambda m: m.n_suppressed,
    "compactness_of_first": lambda m: m.compactness,
    "discernibility_of_first": lambda m: m.discernibility,
    "entropy_of_first": lambda m: m.non_uniform_entropy,
}


@dataclass(frozen=True)
class Average:
    """A mean over scenarios, with the least and the most of them."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class ScenarioAverages:
    """What a configuration gave over the scenarios of a part at a k.

    part : EVERYWHERE for those of all parts together; n_scenarios : in which it was run to the end; n_failed : in which
    it failed, which count for nothing else; values : by the fields of MEASURED, SECONDS and OF_FIRST, None where no
    scenario has a value
    """

    part: str
    k: int
    configuration: Configuration
    n_scenarios: int
    n_failed: int
    values: dict[str, Average | None]


def scenario_averages(runs: Sequence[ScenarioRun]) -> list[ScenarioAverages]:
    """Averages by part, k and configuration, in the order of the runs; where there are several parts, those over all of
    their scenarios follow.

    Each scenario counts the same, however many areas it has. A share of the first configuration's is that of a scenario
    before it is averaged; a scenario in which the first failed, or came to 0, has none.
    """
    parts = list(dict.fromkeys(run.scenario.part for run in runs))
    rows = [row for part in parts for row in _rows(part, [run for run in runs if run.scenario.part == part])]
    return rows + (_rows(EVERYWHERE, runs) if len(parts) > 1 else [])


def _rows(part: str, runs: Sequence[ScenarioRun]) -> list[ScenarioAverages]:
    rows = []
    for k in dict.fromkeys(run.k for run in runs):
        of_k = [run for run in runs if run.k == k]
        firsts = [run.outcomes[0].measures for run in of_k]
        for position, configuration in enumerate(of_k[0].configurations):
            outcomes = [run.outcomes[position] for run in of_k]
            n_failed = sum(outcome.measures is None for outcome in outcomes)
            values = _values(outcomes, firsts)
            rows.append(ScenarioAverages(part, k, configuration, len(outcomes) - n_failed, n_failed, values))
    return rows


def _values(outcomes: Sequence[Outcome], firsts: Sequence[Measures | None]) -> dict[str, Average | None]:
    """outcomes : of one configuration, by scenario; firsts : the measures of the first configuration, by scenario."""
    rated = [(m, outcome.seconds, first) for outcome, first in zip(outcomes, firsts) if (m := outcome.measures)]
    values = {name: _average(measure(m) for m, _, _ in rated) for name, measure in MEASURED.items()}
    values[SECONDS] = _average(seconds for _, seconds, _ in rated)
    for name, measure in OF_FIRST.items():
        values[name] = _average(
            100.0 * measure(m) / measure(first) for m, _, first in rated if first and measure(first) > 0
        )
    return values


def _average(values: Iterable[float]) -> Average | None:
    """Of the values that are known; None where there are none."""
    known = [float(value) for value in values if np.isfinite(value)]
    return Average(float(np.mean(known)), min(known), max(known)) if known else None
