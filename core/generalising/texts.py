"""Records whose values are text, for fields that show some values as they are and some coarser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..areas import Areas, identifier_text
from ..records.matching import Records
from .collapsing import generalise_records
from .hierarchies import Hierarchy, make_hierarchy


def with_values_as_text(
    records: Records, hierarchies: Mapping[str, Hierarchy], names: Sequence[str], areas: Areas
) -> tuple[Records, dict[str, Hierarchy]]:
    """The records with these quasi-identifiers as text, and all hierarchies, those of these of the text.

    hierarchies : of the categories of the records, by quasi-identifier, one for each of `names` at least; areas : those
    that the records were matched with. Values of the same text, such as 1 and 1.0, are one value then, and k is counted
    on that. Raises InputError where values of the same text are shown differently at a higher level.
    """
    extended = with_text_first(hierarchies, names)
    quasi_identifiers = records.profile.quasi_identifiers
    coarsened = generalise_records(records, extended, [int(name in names) for name in quasi_identifiers], areas)
    # Text is no coarser value: what was coarsened before is all that was.
    table = replace(coarsened.table, coarsened=records.table.coarsened)
    return replace(coarsened, table=table), of_the_texts(extended, names)


def with_text_first(hierarchies: Mapping[str, Hierarchy], names: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies, in those of `names` one level more before the coarser ones: the text of each value.

    Raises InputError where values of the same text are shown differently at a higher level.
    """
    extended = dict(hierarchies)
    for name in names:
        hierarchy = hierarchies[name]
        texts = [identifier_text(value) for value in hierarchy.values.tolist()]
        coarser = [hierarchy.categories[level][hierarchy.codes[level]].tolist() for level in range(1, len(hierarchy))]
        extended[name] = make_hierarchy(name, hierarchy.values, [texts, *coarser])
    return extended


def of_the_texts(hierarchies: Mapping[str, Hierarchy], names: Sequence[str]) -> dict[str, Hierarchy]:
    """What `with_text_first` gives, those of `names` from the text on."""
    return {name: hierarchy.above(int(name in names)) for name, hierarchy in hierarchies.items()}
