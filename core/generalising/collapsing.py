"""Profiles, tables and records at coarser values of their quasi-identifiers: a node of the lattice of all levels.

A node is a level for each quasi-identifier, in the order of the profile: (0, 0, …) shows all as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..plan import area_of_cells
from ..profile import Profile
from ..records.coarsened import Coarsened
from ..records.columns import Column, combine_codes, smallest_integers
from ..records.matching import Records, check_no_area_copy
from ..records.table import RecordTable
from ..scientific import sparse
from .hierarchies import Hierarchy, checked_node, entropy, records_by_category


def generalise_profile(
    profile: Profile, hierarchies: Mapping[str, Hierarchy], node: Sequence[int]
) -> tuple[Profile, np.ndarray]:
    """The profile at a node, and the class there of each of its classes, (C,) int64.

    hierarchies : by quasi-identifier, of its categories in this profile; those without one stay at level 0. The counts
    are one sparse product with the matrix of classes; new classes are in lexicographic order of their codes, and the
    cells of a row in the order of the classes, as `profile_records` gives them. At level 0 throughout it is the profile
    itself. Raises InputError for a level that there is not.
    """
    chosen = checked_node(hierarchies, profile.quasi_identifiers, node)
    n_classes = len(profile.classes)
    if all(hierarchy is None for _, hierarchy in chosen):
        return profile, np.arange(n_classes, dtype=np.int64)
    codes = [
        profile.classes[:, position] if hierarchy is None else hierarchy.codes[level][profile.classes[:, position]]
        for position, (level, hierarchy) in enumerate(chosen)
    ]
    categories = tuple(
        profile.categories[position] if hierarchy is None else hierarchy.categories[level]
        for position, (level, hierarchy) in enumerate(chosen)
    )
    class_of, classes = combine_codes(codes, [len(values) for values in categories])
    counts = _collapsed(profile.counts, class_of, len(classes))
    return Profile(counts, classes, categories, profile.quasi_identifiers), class_of


def generalise_table(table: RecordTable, hierarchies: Mapping[str, Hierarchy], node: Sequence[int]) -> RecordTable:
    """The table with its quasi-identifiers at a node; hierarchies : of their categories. Raises InputError."""
    chosen = checked_node(hierarchies, tuple(table.quasi_identifiers), node)
    columns = {
        name: column if hierarchy is None else _at_level(column, hierarchy, level)
        for (name, column), (level, hierarchy) in zip(table.quasi_identifiers.items(), chosen)
    }
    coarsened = {
        name: _coarsened(table, name, columns[name], level, hierarchy)
        for name, (level, hierarchy) in zip(columns, chosen)
        if hierarchy is not None
    }
    return replace(table, quasi_identifiers=columns, coarsened={**table.coarsened, **coarsened})


def generalise_records(
    records: Records, hierarchies: Mapping[str, Hierarchy], node: Sequence[int], areas: Areas
) -> Records:
    """The records with their quasi-identifiers at a node, without reading or matching them again.

    areas : those that the records were matched with. What is released of them shows the coarser values, k is counted on
    these, and so are persons, households and sensitive values (`requirement_of`). Raises InputError for a level that
    there is not, and where coarser values repeat the record's area.
    """
    profile, class_of = generalise_profile(records.profile, hierarchies, node)
    if profile is records.profile:
        return records
    table = generalise_table(records.table, hierarchies, node)
    area = np.append(area_of_cells(records.profile), -1)
    check_no_area_copy(table, areas, area[records.cell_of])
    position = np.append(_positions(records.profile, profile, class_of), -1)
    return replace(records, table=table, profile=profile, cell_of=position[records.cell_of])


def _positions(fine: Profile, coarse: Profile, class_of: np.ndarray) -> np.ndarray:
    """The cell of the coarse profile that each cell of the fine one went into, (m,) int64."""
    n_classes = max(len(coarse.classes), 1)
    keys = area_of_cells(coarse) * n_classes + coarse.counts.indices
    wanted = area_of_cells(fine) * n_classes + class_of[fine.counts.indices]
    return np.searchsorted(keys, wanted)


def _at_level(column: Column, hierarchy: Hierarchy, level: int) -> Column:
    categories = hierarchy.categories[level]
    codes = smallest_integers(hierarchy.codes[level], len(categories))
    return Column(codes[column.codes], categories)


def _coarsened(table: RecordTable, name: str, coarser: Column, level: int, hierarchy: Hierarchy) -> Coarsened:
    original = table.quasi_identifiers[name]
    bits, bits_left = (entropy(records_by_category(column, table.counts)) for column in (original, coarser))
    return Coarsened(name, level, len(hierarchy) - 1, original, len(coarser.categories), bits, bits_left)


def _collapsed(counts: sparse.csr_matrix, class_of: np.ndarray, n_classes: int) -> sparse.csr_matrix:
    """The counts by area and new class, the classes of each row in ascending order."""
    ones = np.ones(len(class_of), np.int64)
    joins = sparse.csr_matrix(
        (ones, (np.arange(len(class_of), dtype=np.int64), class_of)), shape=(len(class_of), n_classes)
    )
    product = counts @ joins
    # There and back sorts each row in linear time, which `sort_indices` does not.
    return product.tocsc().tocsr()
