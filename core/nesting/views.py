"""A plan of places as measures and reports want it: by region and by what is shown, or by what was.

In the plan of `nest_coarser` an equivalence class's region is a place. Here it is a region again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from functools import cached_property
from typing import Any, Callable

import numpy as np

from ..dataclass import dataclass
from ..generalising.hierarchies import Hierarchy
from ..language import as_data, tr
from ..plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels
from ..profile import Profile
from ..scientific import sparse
from .coarser_places import Places

FINEST, AT_LEVEL = as_data("as on level 1"), as_data("{name} at level {level}")
AS_READ: Mapping[str, int] = {}


def _unknown() -> Any:
    raise LookupError("what a plan was made from")


@dataclass(frozen=True, eq=False)
class CoarserPlan(Plan):
    """A plan by what is shown whose last levels show coarser values.

    in_places, places_shown : the plan of `nest_coarser` that it was made from, over the profile of the records
    level_before : by name, the quasi-identifiers that all records show coarser, and the level at which they do
    """

    in_places: Plan = field(default_factory=_unknown)
    places_shown: Places = field(default_factory=_unknown)
    level_before: Mapping[str, int] = field(default_factory=_unknown)

    @property
    def counted(self) -> Plan:
        """That over places."""
        return self.in_places

    @property
    def profile_of_records(self) -> Profile:
        """See `Plan`."""
        return self.places_shown.profile

    @cached_property
    def by_value(self) -> Plan:
        """See `Plan`."""
        return as_they_were(self.in_places, self.places_shown)

    @property
    def values_of_levels(self) -> tuple[str, ...]:
        """See `Plan`."""
        return self._said(as_data)

    @property
    def values_in_words(self) -> tuple[str, ...]:
        """See `Plan`."""
        return self._said(tr)

    @property
    def hierarchies_of_levels(self) -> Mapping[str, Hierarchy]:
        """See `Plan`."""
        return self.places_shown.hierarchies

    @property
    def classes_at_levels(self) -> tuple[np.ndarray | None, ...]:
        """See `Plan`."""
        return tuple(of if any(node) else None for of, node in zip(self.places_shown.class_of, self.places_shown.nodes))

    def all_levels(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Plan`."""
        return self.places_shown.all_levels(position)

    def shown_by(self, counted: Plan) -> Plan:
        """See `Plan`."""
        return as_released(counted, self.places_shown, self.level_before)

    def _said(self, say: Callable[..., str]) -> tuple[str, ...]:
        """What each level shows."""
        sentences = []
        for heights in self.levels.heights:
            names = (name for name in self.profile.quasi_identifiers if name in heights)
            coarser = [say(AT_LEVEL, name=name, level=self.level_before.get(name, 0) + heights[name]) for name in names]
            sentences.append(", ".join(coarser) or say(FINEST))
        return tuple(sentences)


def as_released(plan: Plan, places: Places, level_before: Mapping[str, int] = AS_READ) -> CoarserPlan:
    """The same plan over areas and the classes that are shown: it has the same equivalence classes, one for one.

    Its profile counts each record under the values that it shows; suppressed records keep theirs. So cells that are
    shown as one are one. Values of two levels are different classes, also where they have the same name.
    level_before : as in `CoarserPlan`
    """
    profile, level_of = places.profile, plan.levels_of_cells
    first, classes, categories = _classes_of_all_levels(places)
    class_of = first[np.maximum(level_of, 0)]
    for level, of_classes in enumerate(places.class_of):
        here = np.flatnonzero((level_of == level) | ((level_of == SUPPRESSED) & (level == 0)))
        class_of[here] += of_classes[profile.counts.indices[here]]
    area, n_classes, n_areas = area_of_cells(profile), max(len(classes), 1), profile.counts.shape[0]
    keys, cell = np.unique(area * n_classes + class_of, return_inverse=True)
    cell = cell.reshape(-1)
    records = np.bincount(cell, profile.counts.data, len(keys)).astype(np.int64)
    starts = np.searchsorted(keys, np.arange(n_areas + 1, dtype=np.int64) * n_classes)
    counts = sparse.csr_matrix((records, keys % n_classes, starts), shape=(n_areas, n_classes))
    released = Profile(counts, classes, categories, profile.quasi_identifiers)
    of_cells = np.full(len(keys), SUPPRESSED, np.int64)
    of_cells[cell] = level_of
    shown = replace(plan_by_levels(released, places.levels, plan.k, of_cells), people=plan.people)
    of_plan = {field.name: getattr(shown, field.name) for field in fields(Plan)}
    return CoarserPlan(**of_plan, in_places=plan, places_shown=places, level_before=level_before)


def as_they_were(plan: Plan, places: Places) -> Plan:
    """The same records where the plan shows them, under the values of level 1: for what is said by value.

    Its equivalence classes are no classes of the release, and may have fewer than k records.
    """
    shown_plan = plan_by_levels(places.profile, places.levels, plan.k, plan.levels_of_cells)
    return replace(shown_plan, released=np.ones(len(shown_plan.released), bool))


def _classes_of_all_levels(places: Places) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Of each level, the first of its classes, (L,); the classes of all levels, as in a profile; their categories.

    Levels of the same values have the same classes.
    """
    n_attributes = len(places.profile.quasi_identifiers)
    first: list[int] = []
    blocks, n_before, reach = [], 0, [0] * n_attributes
    categories: list[list[np.ndarray]] = [[] for _ in range(n_attributes)]
    for level, node in enumerate(places.nodes):
        if level and node == places.nodes[level - 1]:
            first.append(first[-1])
            continue
        of_classes = places.class_of[level]
        block = np.zeros((int(of_classes.max(initial=-1)) + 1, n_attributes), np.int64)
        for position in range(n_attributes):
            codes = places.codes(level, position)[places.profile.classes[:, position]]
            block[of_classes, position] = codes + reach[position]
            categories[position].append(places.categories(level, position))
            reach[position] += len(categories[position][-1])
        first.append(n_before)
        blocks.append(block)
        n_before += len(block)
    return np.array(first, np.int64), np.concatenate(blocks), tuple(np.concatenate(parts) for parts in categories)


@dataclass(frozen=True, eq=False)
class CoarserByValue:
    """Who is shown coarser: for each value, at level 1, of the quasi-identifiers that become coarser.

    quasi_identifiers, values : (V,) lists; records : (V,) int64, of the value; as_is, coarser, suppressed : those of
    them that show the value, a coarser one, or nothing. Internal: suppressed counts are shown
    """

    quasi_identifiers: list[str]
    values: list[object]
    records: np.ndarray
    as_is: np.ndarray
    coarser: np.ndarray
    suppressed: np.ndarray


def coarser_by_value(plan: Plan, places: Places) -> CoarserByValue:
    """Who is shown coarser in the plan of `nest_coarser`."""
    profile, level_of = places.profile, plan.levels_of_cells
    names: list[str] = []
    values: list[object] = []
    parts = []
    for position, name in enumerate(profile.quasi_identifiers):
        nodes = np.array([node[position] for node in places.nodes])
        if not nodes[-1]:
            continue
        code, categories = profile.classes[profile.counts.indices, position], profile.categories[position]
        hidden = level_of == SUPPRESSED
        coarser = ~hidden & (nodes[level_of] > 0)
        chosen = (np.ones(len(code), bool), ~hidden & ~coarser, coarser, hidden)
        counts = [np.bincount(code[cells], profile.counts.data[cells], len(categories)) for cells in chosen]
        used = np.flatnonzero(counts[0])
        names += [name] * len(used)
        values += categories[used].tolist()
        parts.append([count[used].astype(np.int64) for count in counts])
    columns = [np.concatenate(column) for column in zip(*parts)] if parts else [np.empty(0, np.int64)] * 4
    return CoarserByValue(names, values, *columns)


def n_released_coarser(plan: Plan, places: Places) -> int:
    """The records that show any quasi-identifier coarser."""
    return int(plan.records[plan.released & (places.n_coarser[plan.level] > 0)].sum())
