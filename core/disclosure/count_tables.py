"""Counts that others publish: of areas, or of groups of them, by some of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from ..areas import Areas
from ..crosswalk import LEFT_OUT, Crosswalk
from ..dataclass import dataclass
from ..levels import Levels
from ..profile import Profile
from ..scientific import sparse
from .overlay import UNBOUNDED, together
from .published import Published
from .values import as_text

MANY = int(UNBOUNDED)  # the most where nothing is known


@dataclass(frozen=True, eq=False)
class CountTable:
    """A table of counts of all people of a profile of n areas and C classes.

    title : what it is called in messages; names : its quasi-identifiers
    zone_of : (n,) int64, the zone of each area, NONE where nothing is known; n_zones
    group_of : (C,) int64, the combination of values in which each class counts, NONE where nothing is known; n_groups
    low, high : (n_zones, n_groups) int64, the least and the most people of each, both the same where they are counted
    values : of each combination its values as text; levels : of quasi-identifiers that are coarser than they were read
    """

    title: str
    names: tuple[str, ...]
    zone_of: np.ndarray
    n_zones: int
    group_of: np.ndarray
    n_groups: int
    low: np.ndarray
    high: np.ndarray
    values: tuple[tuple[str, ...], ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether all that it counts is of these very people."""
        return bool((self.low == self.high)[self.high < MANY].all())

    @property
    def is_full(self) -> bool:
        """Whether it says how many there are of each combination in each zone."""
        return bool((self.low == self.high).all())

    def true_counts(self, profile: Profile) -> np.ndarray:
        """The people of a profile by zone and combination, (n_zones, n_groups) int64."""
        zones, groups = _members(self.zone_of, self.n_zones), _members(self.group_of, self.n_groups)
        return np.asarray((zones @ profile.counts @ groups.T).toarray(), np.int64)


def own_totals(
    profile: Profile,
    crosswalk: Crosswalk,
    names: Sequence[str],
    title: str = "",
    levels: Mapping[str, int] | None = None,
) -> CountTable:
    """The totals of a profile itself, by region and these quasi-identifiers; levels : at which it shows them.

    Examples
    --------
    >>> from vbas.core.disclosure.count_tables import own_totals
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> own_totals(records.profile, crosswalk, ["sex"]).low.tolist()
    [[2, 2], [3, 1]]
    """
    group_of, groups = profile.combinations(names)
    nothing = np.zeros((crosswalk.n_regions, len(groups)), np.int64)
    texts = [as_text(profile.categories[profile.quasi_identifiers.index(name)].tolist()) for name in names]
    values = tuple(tuple(text[code] for text, code in zip(texts, codes)) for codes in groups.tolist())
    own = {name: level for name, level in (levels or {}).items() if name in names}
    table = CountTable(
        title,
        tuple(names),
        crosswalk.region_of,
        crosswalk.n_regions,
        group_of,
        len(groups),
        nothing,
        nothing,
        values,
        own,
    )
    counts = table.true_counts(profile)
    return replace(table, low=counts, high=counts)


def blocks_of(divisions: Sequence[np.ndarray], n_classes: int) -> list[np.ndarray]:
    """Classes that hang together, as `together`."""
    block = together(divisions, n_classes)
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1) if n_classes else []


def _members(part_of: np.ndarray, n: int) -> sparse.csr_matrix:
    there = np.flatnonzero(part_of >= 0)
    return sparse.csr_matrix((np.ones(len(there), np.int64), (part_of[there], there)), shape=(n, len(part_of)))


def published_table(table: CountTable, areas: Areas, k: int) -> Published:
    """What a table of these areas publishes, for a release at k: all its counts, those of nobody too."""
    columns = list(zip(*table.values)) if table.names else []
    categories, codes = [], []
    for column in columns:
        used, at = np.unique(np.array(column, dtype=str), return_inverse=True)
        categories.append(used.astype(object))
        codes.append(at.reshape(-1))
    classes = np.column_stack(codes) if codes else np.zeros((table.n_groups, 0), np.int64)
    zone, class_of = np.nonzero(table.high < MANY)
    return Published(
        table.title,
        k,
        areas.identifiers,
        Levels((Crosswalk(np.where(table.zone_of >= 0, table.zone_of, LEFT_OUT), table.n_zones),)),
        table.names,
        tuple(categories),
        classes,
        np.zeros(len(zone), np.int64),
        zone,
        class_of,
        table.high[zone, class_of],
        bounded=False,
        coarsened=table.levels,
        counts_from=table.low[zone, class_of],
    )
