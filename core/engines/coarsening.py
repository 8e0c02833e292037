"""Coarser quasi-identifiers of records in place: counted here, shown by the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..areas import identifier_text
from ..arrays import to_list
from ..generalising.collapsing import generalise_profile, generalise_table
from ..generalising.hierarchies import Hierarchy
from ..generalising.texts import of_the_texts, with_text_first
from ..plan import area_of_cells
from ..profile import Profile
from ..records.coarsened import Coarsened
from ..records.columns import Column
from ..scientific import sparse
from . import steps
from .in_place import InPlace


def coarser_in_place(
    in_place: InPlace, hierarchies: Mapping[str, Hierarchy], node: Sequence[int], word: str = "coarser"
) -> InPlace:
    """The records with their quasi-identifiers at a node, as `generalise_table` shows a table.

    hierarchies : by quasi-identifier, of its categories; node : a level for each, 0 as it is; word : names what the
    engine keeps, another one each time. The cells are added up here; the engine learns which coarser value each value
    has. Raises InputError for a level that there is not.
    """
    names = in_place.fields.quasi_identifiers
    table = generalise_table(in_place.by_class(), hierarchies, node)
    if not table.coarsened:
        return in_place
    cells = sparse.csr_matrix(
        (in_place.records, (in_place.area, in_place.class_of)), shape=(len(in_place.areas), len(in_place.classes))
    )
    profile, _ = generalise_profile(Profile(cells, in_place.classes, in_place.categories, names), hierarchies, node)
    sizes, codes = dict(in_place.sizes), list(in_place.codes)
    dictionaries, maps = dict(in_place.dictionaries), {}
    for position, (key, name) in enumerate(zip(in_place.quasi, names)):
        if name in table.coarsened:
            level = hierarchies[name].codes[node[position]]
            coarser = profile.categories[position]
            codes[position] = np.arange(
                len(coarser), dtype=np.int64
            )  # the missing one, which has no value in the engine, is last
            sizes[key] = len(coarser) - sum(value is None for value in coarser)
            maps[key] = in_place.engine.upload(
                f"vbas_{word}_{key}", _map(in_place, position, level, coarser, codes[position])
            )
            dictionaries[key] = in_place.engine.upload(f"vbas_{word}_values_{key}", values_by_code(key, coarser))
    return replace(
        in_place,
        dictionaries=dictionaries,
        sizes=sizes,
        rows=steps.coarsened(in_place.rows, maps, sizes, in_place.quasi),
        with_others=steps.coarsened(in_place.with_others, maps, sizes, in_place.quasi),
        area=area_of_cells(profile).astype(np.int32),
        class_of=profile.counts.indices.astype(np.int32),
        records=profile.counts.data.astype(np.int64),
        classes=profile.classes,
        class_keys=class_numbers(profile.classes, codes, list(sizes.values())),
        categories=profile.categories,
        codes=tuple(codes),
        coarsened={name: _without_rows(column) for name, column in table.coarsened.items()},
    )


def as_text_in_place(
    in_place: InPlace, hierarchies: Mapping[str, Hierarchy], names: Sequence[str]
) -> tuple[InPlace, dict[str, Hierarchy]]:
    """The records with these quasi-identifiers as text, and all hierarchies, as `with_values_as_text` gives them."""
    here = dict(zip(in_place.fields.quasi_identifiers, in_place.categories))
    others = [name for name in names if any(identifier_text(value) != value for value in to_list(here[name]))]
    if not others:
        return in_place, dict(hierarchies)
    texts = with_text_first(hierarchies, others)
    coarsened = coarser_in_place(in_place, texts, [int(name in others) for name in here], "text")
    # Text is no coarser value: what was coarsened before is all that was.
    return replace(coarsened, coarsened=in_place.coarsened), of_the_texts(texts, others)


def values_by_code(key: str, categories: np.ndarray) -> dict[str, np.ndarray]:
    """The values that are there, with their codes, as `steps.dictionary` gives those of a field; a missing one, which
    has the code that follows them, is last among the categories."""
    there = categories[[value is not None for value in categories]]
    return {f"v_{key}": there, f"c_{key}": np.arange(len(there), dtype=np.int32)}


def class_numbers(classes: np.ndarray, codes: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """The number of each class in the engine, as `steps.numbered` makes it, (C,) int64.

    classes : (C, Q); codes : of each quasi-identifier, the code of each category in the engine; sizes : its values
    """
    key = np.zeros(len(classes), np.int64)
    for column, code, size in zip(classes.T, codes, sizes):
        key = key * (size + 1) + code[column]
    return key


def _map(
    in_place: InPlace, position: int, level: np.ndarray, coarser: np.ndarray, codes: np.ndarray
) -> dict[str, np.ndarray]:
    """Which coarser value each code has; level : (n,) the coarser category of each category."""
    key, original = in_place.quasi[position], in_place.codes[position]
    return {
        f"o_{key}": original.astype(np.int32),
        f"c_{key}": codes[level].astype(np.int32),
        f"v_{key}": coarser[level],
    }


def _without_rows(column: Coarsened) -> Coarsened:
    """The same, with each original value once in place of one a cell."""
    categories = column.original.categories
    return replace(column, original=Column(np.arange(len(categories), dtype=np.int64), categories))
