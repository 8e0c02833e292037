"""An outcome: what one way to make regions gave, to be held against others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .analysis.planting import AnalysisMeasures
from .arrays import to_list
from .configuration import Configuration
from .crosswalk import Crosswalk
from .dataclass import dataclass
from .evaluation import Measures, WorstGroup
from .parameters import DEFAULT_K

BASELINE, NESTED = "baseline", "nested"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a configuration, a nested release or a baseline gave; where it failed, `measures` is None and `problem` a
    sentence.

    family : what the pictures put side by side, the site number of a configuration; title : the rest in a few words;
    seconds : of components 1 to 3; configuration : None for the others; combination : number in Croft 2018, Table 4, or
    None; pareto : whether it is on the Pareto front of `with_pareto`; worst : the group that loses most
    k : the smallest class allowed; budget : per cent that it was searched for, None for others; generalised : the level
    of each quasi-identifier that is shown coarser, by name; losses : (Q,) the share of the entropy of each
    quasi-identifier that this gives up, empty where nothing is coarser; given_up : the share of all entropies together;
    recommended : why it is the one to choose, empty for the others; weighted_sum : of its objectives by the user's
    weights, None where there are none; analysis : what a researcher finds of planted outcomes, None where none are
    """

    family: str
    title: str
    measures: Measures | None
    seconds: float
    notes: tuple[str, ...] = ()
    problem: str = ""
    configuration: Configuration | None = None
    combination: int | None = None
    pareto: bool = False
    crosswalk: Crosswalk | None = None
    worst: WorstGroup | None = None
    k: int = DEFAULT_K
    budget: float | None = None
    generalised: tuple[tuple[str, int], ...] = ()
    losses: tuple[float, ...] = ()
    given_up: float = 0.0
    recommended: str = ""
    weighted_sum: float | None = None
    analysis: AnalysisMeasures | None = None

    @property
    def name(self) -> str:
        """Which one it is, in a few words."""
        return f"{self.family} · {self.title}"


def with_pareto(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same outcomes, marked where none is at least as good in every measure and better in one.

    The measures are suppression, mean distance, and the share of the attributes' entropy that is given up. Of two
    outcomes that were searched for the same budget neither is better in suppression: how little below the budget they
    come to lie is chance. Outcomes of another k are not held against each other, nor nested releases, which show
    regions of several sizes, against those of one level. An outcome that releases nothing is never marked.
    """
    everyone, searched = _Groups(), _Groups()
    for position, outcome in enumerate(outcomes):
        m = outcome.measures
        if m is None or m.n_suppressed == m.n_records or not m.n_regions:
            continue
        group = outcome.k, outcome.family == NESTED
        everyone.add(group, position, [m.suppression_percent, m.mean_distance, outcome.given_up])
        if outcome.budget is not None:
            searched.add(group, position, [outcome.budget, m.mean_distance, outcome.given_up])
    beaten = everyone.beaten() | searched.beaten()
    return [
        replace(outcome, pareto=position in everyone.positions and position not in beaten)
        for position, outcome in enumerate(outcomes)
    ]


class _Groups:
    """Rows of measures, held against each other within their group."""

    def __init__(self) -> None:
        self.positions: set[int] = set()
        self._rows: dict[object, list[tuple[int, list[float]]]] = {}

    def add(self, group: object, position: int, measures: list[float]) -> None:
        """Take in a row."""
        self.positions.add(position)
        self._rows.setdefault(group, []).append((position, measures))

    def beaten(self) -> set[int]:
        """The positions of the rows that another of their group beats."""
        positions: set[int] = set()
        for rows in self._rows.values():
            best = to_list(pareto_front(np.array([measures for _, measures in rows])))
            positions.update(position for (position, _), on in zip(rows, best) if not on)
        return positions


CHUNK = 256  # rows held against all others at once


def pareto_front(measures: np.ndarray) -> np.ndarray:
    """Whether no other row is at least as good in every measure and better in one, (n,) bool.

    measures : (n, m), less is better. Rows that are equal in all do not beat each other.
    """
    table = np.asarray(measures, dtype=float)
    best = np.ones(len(table), bool)
    for start in range(0, len(table), CHUNK):
        rows = table[start : start + CHUNK, None, :]
        no_worse = np.all(table[None, :, :] <= rows, axis=2)
        better = np.any(table[None, :, :] < rows, axis=2)
        best[start : start + CHUNK] = ~np.any(no_worse & better, axis=1)
    return best
