"""An outcome: what one way to make regions gave, to be held against others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .anonymity import DEFAULT_K
from .arrays import to_list
from .configuration import Configuration
from .crosswalk import Crosswalk
from .evaluation import Measures, WorstGroup
from .front import unbeaten

BASELINE, NESTED = "baseline", "nested"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a configuration, a nested release or a baseline gave; where it failed, `measures` is None and `problem` a
    sentence.

    family : what the pictures put side by side, the site number of a configuration; title : the rest in a few words;
    seconds : of components 1 to 3; configuration : None for the others; combination : number in Croft 2018, Table 4, or
    None; pareto : whether it is on the front of `with_pareto`; worst : the group that loses most
    k : the smallest class allowed; budget : per cent that it was searched for, None for others; generalised : the level
    of each quasi-identifier that is shown coarser, by name; losses : (Q,) the share of the entropy of each
    quasi-identifier that this gives up, empty where nothing is coarser; recommended : why it is the one to choose
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
    recommended: str = ""

    @property
    def name(self) -> str:
        """Which one it is, in a few words."""
        return f"{self.family} · {self.title}"


def with_pareto(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same outcomes, marked where none is at least as good in every measure and better in one.

    The measures are suppression, mean distance, and the share of the entropy of each quasi-identifier that is given up.
    Outcomes of another k are not held against each other, nor nested releases, which show regions of several sizes,
    against those of one level. An outcome that releases nothing is never marked.
    """
    groups: dict[tuple[int, bool], list[int]] = {}
    for position, outcome in enumerate(outcomes):
        m = outcome.measures
        if m is not None and m.n_suppressed < m.n_records and m.n_regions:
            groups.setdefault((outcome.k, outcome.family == NESTED), []).append(position)
    width = max((len(outcome.losses) for outcome in outcomes), default=0)
    best: set[int] = set()
    for positions in groups.values():
        table = np.array([_measures(outcomes[position], width) for position in positions])
        best.update(position for position, on in zip(positions, to_list(unbeaten(table))) if on)
    return [replace(outcome, pareto=position in best) for position, outcome in enumerate(outcomes)]


def _measures(outcome: Outcome, n_losses: int) -> list[float]:
    m = outcome.measures
    suppressed, distance = (m.suppression_percent, m.mean_distance) if m is not None else (np.inf, np.inf)
    return [suppressed, distance, *(outcome.losses or (0.0,) * n_losses)]
