"""Places: what a record shows where the last levels of a nested release show quasi-identifiers coarser.

A level is a set of regions and a node: a level of each quasi-identifier. First regions become larger, then values
become coarser. A place is a region and a class of coarser values; places nest as regions do, and what a nested release
does with areas, regions and classes it does here with cells of the profile, places, and the coarsest classes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import objects, to_list
from ..crosswalk import LEFT_OUT, Crosswalk
from ..dataclass import dataclass
from ..errors import InputError
from ..generalising.collapsing import generalise_profile
from ..generalising.hierarchies import Hierarchy, checked_node
from ..levels import Levels
from ..plan import area_of_cells
from ..profile import Profile
from ..records.columns import category_order, typed
from ..scientific import sparse


@dataclass(frozen=True, eq=False)
class Places:
    """The places of a profile of m cells and C classes under L levels, the finest first.

    profile, hierarchies : what is shown as it is, and how it becomes coarser
    levels : the regions of each level; those of coarser values repeat the coarsest regions
    nodes : of each level, a level for each quasi-identifier, never finer than before
    class_of : of each level, (C,) the class there of each class of the profile
    of_cells : the places of each cell: crosswalks of the m cells
    cells : the m cells by coarsest class, a profile whose cells stand in the same order
    region : of each level, (n_places,) the region of each place
    """

    profile: Profile
    hierarchies: Mapping[str, Hierarchy]
    levels: Levels
    nodes: tuple[tuple[int, ...], ...]
    class_of: tuple[np.ndarray, ...]
    of_cells: Levels
    cells: Profile
    region: tuple[np.ndarray, ...]

    @property
    def n_coarser(self) -> np.ndarray:
        """Of each level, how many times a quasi-identifier has become coarser, (L,)."""
        changes = [0, *(before != after for before, after in zip(self.nodes, self.nodes[1:]))]
        return np.cumsum(changes, dtype=np.int64)

    def codes(self, level: int, position: int) -> np.ndarray:
        """The value shown at a level for each value of a quasi-identifier, (n_values,) positions in `categories`."""
        hierarchy = self._hierarchy(level, position)
        if hierarchy is None:
            return np.arange(len(self.profile.categories[position]), dtype=np.int64)
        return hierarchy.codes[self.nodes[level][position]]

    def categories(self, level: int, position: int) -> np.ndarray:
        """The values of a quasi-identifier at a level."""
        hierarchy = self._hierarchy(level, position)
        if hierarchy is None:
            return self.profile.categories[position]
        return hierarchy.categories[self.nodes[level][position]]

    def all_levels(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Every value of a quasi-identifier that some level shows, in the order of every column, the missing one last;
        and the position among them of what each level shows for each value, (L, n_values)."""
        levels = range(len(self.levels))
        every = {typed(value): value for level in levels for value in to_list(self.categories(level, position))}
        values = sorted(every.values(), key=category_order)
        place = {typed(value): at for at, value in enumerate(values)}
        at_level = [
            np.array([place[typed(value)] for value in self.categories(level, position)], np.int64) for level in levels
        ]
        return objects(values), np.array([at[self.codes(level, position)] for level, at in enumerate(at_level)])

    def _hierarchy(self, level: int, position: int) -> Hierarchy | None:
        node = self.nodes[level][position]
        return self.hierarchies[self.profile.quasi_identifiers[position]] if node else None


def places_of(profile: Profile, levels: Levels, hierarchies: Mapping[str, Hierarchy]) -> Places:
    """The places of levels whose values become coarser, see `levels.with_coarser_values`.

    levels : of the areas of the profile; hierarchies : by quasi-identifier, of its categories.
    Raises InputError for names and levels that there are not.
    """
    for name in levels.coarser:
        if name not in profile.quasi_identifiers:
            raise InputError.saying(
                "“{name}” is not among QUASI_IDENTIFIERS: only these can be shown coarser.", name=name
            )
    nodes = levels.nodes(profile.quasi_identifiers)
    for node in nodes:
        checked_node(hierarchies, profile.quasi_identifiers, node)
    area, fine = area_of_cells(profile), profile.counts.indices
    class_of, of_cells, regions = [], [], []
    for crosswalk, node in zip(levels.crosswalks, nodes):
        coarse, here = generalise_profile(profile, hierarchies, node)
        n_classes = max(len(coarse.classes), 1)
        region = crosswalk.region_of[area]
        keys, place = np.unique(np.where(region >= 0, region * n_classes + here[fine], -1), return_inverse=True)
        place, left_out = place.reshape(-1), int(len(keys) > 0 and keys[0] < 0)
        of_cells.append(Crosswalk(np.where(region >= 0, place - left_out, LEFT_OUT), len(keys) - left_out))
        class_of.append(here)
        regions.append(keys[left_out:] // n_classes)
    return Places(
        profile,
        hierarchies,
        levels,
        nodes,
        tuple(class_of),
        Levels(tuple(of_cells)),
        _by_coarsest_class(profile, class_of[-1]),
        tuple(regions),
    )


def _by_coarsest_class(profile: Profile, class_of: np.ndarray) -> Profile:
    """Each cell as an area of its own, which holds its records by the coarsest class."""
    m, n_classes = profile.counts.nnz, int(class_of.max(initial=-1)) + 1
    counts = sparse.csr_matrix(
        (profile.counts.data, class_of[profile.counts.indices], np.arange(m + 1, dtype=np.int64)), shape=(m, n_classes)
    )
    return Profile(counts, np.zeros((n_classes, 0), np.int64), (), ())
