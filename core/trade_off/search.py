"""The search over the lattice of coarsenings: each node with the finest geography within each budget.

Sites are located, and areas joined, once for each number of sites, as long as neither looks at classes: balanced
density with a Voronoi diagram does not. A coarser node suppresses no more with the same regions, so its search begins
at the number that is known from the nodes below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Callable

import numpy as np

from .. import aggregation, site_location
from ..aggregation import Aggregation
from ..areas import Areas
from ..configuration import Configuration, LocatedSites, Trials
from ..dataclass import dataclass
from ..elementary import log2
from ..generalising import Hierarchy, entropy, generalise_profile, records_by_value
from ..profile import Profile
from ..progress import Progress, part, silent
from ..site_number.suppression_budget import most_within, numbers_tried
from ..suppression import Terms, held_against_budget, in_all_periods, suppressed_by_class

Node = tuple[int, ...]
MOST_NODES = 400  # of a larger lattice not all are looked at
BEAM = 12


@dataclass(frozen=True, eq=False)
class Choice:
    """What a node of the lattice gets within a budget at a k.

    node : the level of each quasi-identifier; profile : at the node; n_sites : the most within the budget, 0 for none;
    aggregation : the regions there, None for none; percent : what the budget is held against, with as many sites, or
    with one where not even that is within
    """

    node: Node
    k: int
    budget: float
    profile: Profile
    n_sites: int
    aggregation: Aggregation | None
    percent: float


@dataclass(frozen=True, eq=False)
class Search:
    """What is searched.

    areas, profile : n areas with the population to balance, and the profile of the records as they are; hierarchies :
    by quasi-identifier, of its categories in this profile; configuration : location, aggregation and their options, and
    the quasi-identifiers of FAIR; ks, budgets : each node is searched for each of them; n_unmatched : records of no
    known area; located : sites of earlier runs over the same areas and profile; period : the quasi-identifier in all of
    whose values classes are to be the same, empty for none
    """

    areas: Areas
    profile: Profile
    hierarchies: Mapping[str, Hierarchy]
    configuration: Configuration
    ks: Sequence[int]
    budgets: Sequence[float]
    n_unmatched: int = 0
    located: LocatedSites | None = None
    period: str = ""

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return heights(self.profile.quasi_identifiers, self.hierarchies)

    def terms(self, k: int, profile: Profile) -> Terms:
        """What is asked of a release of these records, as they are or coarser."""
        return in_all_periods(Terms(k, n_unmatched=self.n_unmatched), profile, self.period)

    def choices(self, progress: Progress = silent, most: int = MOST_NODES) -> Iterator[Choice]:
        """Each node looked at, finer ones first, with what it gets at each k within each budget, the smallest first."""
        known: dict[Node, dict[tuple[int, float], int]] = {}
        shared = Trials(self.areas, self.profile, self.configuration, self.located)
        total = min(n_nodes(self.top), most)
        bits = self._bits()

        def worth(node: Node) -> float:
            """Bits that the attributes keep, and those that the regions give."""
            kept = sum(of_level[level] for of_level, level in zip(bits, node))
            return kept + float(log2(max(max(known[node].values()), 1)))

        for done, node in enumerate(walk(self.top, worth, most)):
            step = part(progress, done / total, (done + 1) / total)
            known[node] = {}
            for choice in self._of_node(node, shared, known, step):
                known[node][choice.k, choice.budget] = choice.n_sites
                yield choice
        progress(1.0)

    def _of_node(
        self, node: Node, shared: Trials, known: Mapping[Node, Mapping[tuple[int, float], int]], progress: Progress
    ) -> Iterator[Choice]:
        profile, class_of = generalise_profile(self.profile, self.hierarchies, node)
        counted = _Counted(self, profile, class_of, shared)
        for done, k in enumerate(self.ks):
            step = part(progress, done / len(self.ks), (done + 1) / len(self.ks))
            at_least = 1
            for budget in sorted(set(self.budgets)):
                finer = (known[child].get((k, budget), 0) for child in below(node) if child in known)
                at_least = max(at_least, *finer, 1)
                tried = numbers_tried(partial(counted.percent, k), len(self.areas), budget, step, at_least)
                n_sites = most_within(tried, budget)
                at_least = max(at_least, n_sites)
                made = counted.trials(k).parts(n_sites)[1] if n_sites else None
                percent = tried[n_sites] if n_sites else min(tried.values())
                yield Choice(node, k, budget, profile, n_sites, made, percent)

    def _bits(self) -> list[list[float]]:
        """The entropy of each quasi-identifier at each of its levels, bits per record."""
        bits = []
        for name, records in zip(self.profile.quasi_identifiers, records_by_value(self.profile)):
            levels = (
                self.hierarchies[name].codes if name in self.hierarchies else [np.arange(len(records), dtype=np.int64)]
            )
            bits.append([entropy(np.bincount(codes, records)) for codes in levels])
        return bits


class _Counted:
    """What numbers of sites suppress at one node: each number is counted once, for all k."""

    def __init__(self, search: Search, profile: Profile, class_of: np.ndarray, shared: Trials) -> None:
        self._search, self._profile, self._class_of, self._shared = search, profile, class_of, shared
        self._percent: dict[tuple[int, int], float] = {}
        self._own: dict[int, Trials] = {}
        settings = search.configuration
        looks = aggregation.APPROACHES[settings.aggregation].uses_attribute_counts
        located = not settings.chooses_sites and site_location.APPROACHES[settings.site_location].uses_attribute_counts
        self._own_regions = looks or located

    def trials(self, k: int) -> Trials:
        """The regions by number of sites: the same for all nodes, or of this node and k where approaches look at it."""
        if not self._own_regions:
            return self._shared
        if k not in self._own:
            search, settings = self._search, self._search.configuration
            options = replace(settings.location_options, k=k), replace(settings.aggregation_options, k=k)
            asked = replace(settings, location_options=options[0], aggregation_options=options[1])
            self._own[k] = Trials(search.areas, self._profile, asked, terms=search.terms(k, self._profile))
        return self._own[k]

    def percent(self, k: int, n_sites: int, progress: Progress) -> float:
        """Suppression in per cent, compared with the budget."""
        if (n_sites, k) not in self._percent:
            search, crosswalk = self._search, self.trials(k).parts(n_sites, progress)[1].crosswalk
            fair = search.configuration.number_options.fair
            # FAIR looks at the groups as they are in the records, however coarse the node shows them.
            counted = (search.profile, self._class_of) if fair else (self._profile, None)
            terms = search.terms(k, counted[0])
            suppressed = suppressed_by_class(counted[0], crosswalk, terms, counted[1])
            self._percent[n_sites, k] = held_against_budget(counted[0], suppressed, terms, fair)
        return self._percent[n_sites, k]


def heights(quasi_identifiers: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> Node:
    """The highest level of each quasi-identifier, 0 for those without a hierarchy."""
    return tuple(len(hierarchies[name]) - 1 if name in hierarchies else 0 for name in quasi_identifiers)


def n_nodes(top: Node) -> int:
    """Nodes of the lattice; top : its highest node."""
    return math.prod(height + 1 for height in top)


def above(node: Node, top: Node) -> Iterator[Node]:
    """The nodes with one attribute one level coarser."""
    for position, (level, height) in enumerate(zip(node, top)):
        if level < height:
            yield (*node[:position], level + 1, *node[position + 1 :])


def below(node: Node) -> Iterator[Node]:
    """The nodes with one attribute one level finer."""
    for position, level in enumerate(node):
        if level:
            yield (*node[:position], level - 1, *node[position + 1 :])


def walk(top: Node, worth: Callable[[Node], float], most: int = MOST_NODES) -> Iterator[Node]:
    """The nodes to look at, finer ones before coarser ones: all where there are at most so many, else a beam.

    worth : of a node that was looked at, more is better. Of each step up the beam keeps the BEAM best nodes, and goes
    to all that have one more attribute coarser; it ends with `most` nodes.
    """
    if n_nodes(top) <= most:
        yield from sorted(product(*(range(height + 1) for height in top)), key=lambda node: (sum(node), node))
        return
    step, looked_at = [(0,) * len(top)], 0
    while step:
        for node in step:
            if looked_at == most:
                return
            looked_at += 1
            yield node
        best = sorted(step, key=lambda node: (-worth(node), node))[:BEAM]
        step = sorted({coarser for node in best for coarser in above(node, top)})
