"""What the kept fields of a release give away beside the quasi-identifiers, looked at over the released rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from ..errors import InputError
from ..plan import SUPPRESSED, Plan, areas_at, of_rows
from ..records.columns import Column, columns_at, integer_up_to, looked_up
from ..records.matching import Records
from .association import (
    Places,
    RowsByArea,
    disclosed_by_prefix,
    group_sizes,
    refined_identifier,
    regained_identifier,
    spread_of,
)
from .kept_field import EXPOSED, RARE, KeptField

ROWS_LOOKED_AT = 1_000_000  # of a larger release, whole classes drawn at random until there are as many
ROWS_FOR_PREFIXES = 100_000
NOT_COARSENED: Mapping[str, tuple[np.ndarray, np.ndarray]] = {}


def examine_kept_fields(plan: Plan, records: Records) -> list[KeptField]:
    """Look at every kept field of a release."""
    table = records.table
    if not table.kept:
        return []
    of_cells = plan.counted.equivalence_class_of
    equivalence_class = of_rows(of_cells.astype(integer_up_to(len(plan.records))), records.cell_of)
    rows = rows_looked_at(equivalence_class, len(plan.records))
    area = areas_at(plan.profile_of_records, records.cell_of[rows])
    columns = columns_at(table.kept, rows)
    quasi = {name: column.codes[rows] for name, column in table.quasi_identifiers.items()}
    originals = {name: column.original.codes[rows] for name, column in table.coarsened.items()}
    equivalence_class = equivalence_class[rows].astype(np.int64)  # those of all are not held meanwhile
    return examine_rows(plan, equivalence_class, area, columns, quasi, originals)


def rows_looked_at(equivalence_class: np.ndarray, n_equivalence_classes: int) -> np.ndarray:
    """The rows that are in an equivalence class, or where there are very many those of some drawn at random."""
    inside = equivalence_class != SUPPRESSED
    n_rows = int(inside.sum())
    if n_rows > ROWS_LOOKED_AT:
        drawn = np.random.default_rng(0).random(n_equivalence_classes) < ROWS_LOOKED_AT / n_rows
        inside &= looked_up(drawn, equivalence_class)  # what it says of SUPPRESSED, the last, does not count
    return np.flatnonzero(inside)


def examine_rows(
    plan: Plan,
    equivalence_class: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    quasi: Mapping[str, np.ndarray],
    originals: Mapping[str, np.ndarray],
    group: np.ndarray | None = None,
) -> list[KeptField]:
    """Look at fields of released rows; equivalence_class, area : (r,) int64, of each row.

    quasi : the codes of each row's values, as records were counted by them, and of what else is known of the row;
    originals : of the quasi-identifiers that all records show coarser, the code of the value as it was read; group :
    (r,) int64, who looks alike where rows show more than their class.
    Few rows may show the values of coarser levels, of which hardly a pair differs. So what a field gives back of a
    quasi-identifier is measured over all rows, as if each showed the last level, against the values as they were read;
    and whether it is a finer value, against the finest values shown.
    """
    first = plan.levels.first_regions()
    region = first[plan.level[equivalence_class]] + plan.region[equivalence_class]
    coarsened = {
        name: (plan.all_levels(position)[1][-1, quasi[name]], originals.get(name, quasi[name]))
        for position, name in enumerate(plan.profile.quasi_identifiers)
        if name in originals or name in plan.levels.coarser
    }
    return examine_values(
        equivalence_class if group is None else group, region, area, columns, quasi, plan.k, coarsened
    )


def examine_values(
    equivalence_class: np.ndarray,
    region: np.ndarray,
    area: np.ndarray,
    columns: Mapping[str, Column],
    quasi_identifiers: Mapping[str, np.ndarray],
    k: int,
    coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> list[KeptField]:
    """Look at fields of rows; equivalence_class, region, area : (r,), of each row, and its quasi-identifiers.

    coarsened : of those that are shown coarser, the codes of each row's coarser and original value
    """
    looking = Looking(equivalence_class, region, area, quasi_identifiers, coarsened)
    return [_examine(name, column, looking, k) for name, column in columns.items()]


def examine_columns(
    columns: Mapping[str, Column], class_of: np.ndarray, quasi_identifiers: Mapping[str, Column], k: int
) -> list[KeptField]:
    """Look at fields of any table, whose areas are not known; class_of : (N,) the class of each row."""
    nowhere = np.zeros(len(class_of), np.int64)
    quasi = {name: column.codes for name, column in quasi_identifiers.items()}
    return examine_values(class_of, nowhere, nowhere, columns, quasi, k, NOT_COARSENED)


def refuse_kept_fields(kept_fields: Sequence[KeptField]) -> None:
    """Raises InputError for the first field that gives away the area or the person."""
    for field in kept_fields:
        if field.refusal:
            raise InputError(field.refusal)


class Looking:
    """What all fields of the same rows are held against, made once for all of them, and only where it is asked for."""

    def __init__(
        self,
        equivalence_class: np.ndarray,
        region: np.ndarray,
        area: np.ndarray,
        quasi_identifiers: Mapping[str, np.ndarray],
        coarsened: Mapping[str, tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """The arguments of `examine_values`."""
        self.equivalence_class = equivalence_class
        self.some = slice(None, None, max(1, len(equivalence_class) // ROWS_LOOKED_AT))
        self._region, self._area = region, area
        self._quasi_identifiers, self._coarsened = quasi_identifiers, coarsened

    @cached_property
    def places(self) -> Places:
        """Of all rows."""
        return self.rows_by_area.places if self.some.step == 1 else Places(self._region, self._area)

    @cached_property
    def rows_by_area(self) -> RowsByArea:
        """Of some rows, enough to say what values disclose of the area."""
        return RowsByArea(self._region[self.some], self._area[self.some])

    @cached_property
    def for_prefixes(self) -> slice:
        """Of those, the fewer that are enough for their first characters."""
        n_rows = len(self._region[self.some])
        return slice(None, None, max(1, n_rows // ROWS_FOR_PREFIXES))

    @cached_property
    def rows_for_prefixes(self) -> RowsByArea:
        """Of these."""
        return RowsByArea(self._region[self.some][self.for_prefixes], self._area[self.some][self.for_prefixes])

    @cached_property
    def quasi_identifiers(self) -> dict[str, RowsByArea]:
        """Of some rows, each quasi-identifier as the areas of one region."""
        named = {name: codes[self.some] for name, codes in self._quasi_identifiers.items()}
        return {name: RowsByArea(np.zeros(len(codes), np.int8), codes) for name, codes in named.items()}

    @cached_property
    def coarsened(self) -> dict[str, RowsByArea]:
        """Of some rows, each original value as an area of what is shown."""
        return {name: RowsByArea(coarser[self.some], of[self.some]) for name, (coarser, of) in self._coarsened.items()}


def _examine(name: str, column: Column, looking: Looking, k: int) -> KeptField:
    """One field. No value is a value too, as an empty text or “unknown” is one: it may stand for the area as others do,
    and never hides what the others tell."""
    value = column.codes.astype(np.int64)
    some = value[looking.some]
    prefix, disclosed = 0, looking.rows_by_area.disclosed_by(some)
    if disclosed.placed_share < EXPOSED:
        beginning = some[looking.for_prefixes]
        prefix, by_prefix = disclosed_by_prefix(column.categories, looking.rows_for_prefixes, beginning, EXPOSED)
        disclosed = by_prefix if prefix else disclosed
    refines, finer = refined_identifier(some, looking.quasi_identifiers, EXPOSED)
    regains, regained = regained_identifier(some, looking.coarsened, EXPOSED)
    known = np.array([category is not None for category in column.categories], bool)
    there = slice(None) if known.all() else known[value]
    spread = spread_of(looking.places, value).of_values(known)
    times = spread.times(len(known))
    equivalence_class = looking.equivalence_class
    groups = group_sizes(equivalence_class[there], value[there])
    finer_groups = group_sizes(equivalence_class[looking.some][finer], some[finer])
    return KeptField(
        name=name,
        k=k,
        values=int((times > 0).sum()),
        rows=int(times.sum()),
        looked_at=len(value),
        single=int((times == 1).sum()),
        rare=int(times[times < RARE].sum()),
        bits_before=spread.bits_before,
        bits_left=spread.bits_left,
        in_one_area=spread.in_one_area,
        below_k=int(groups[groups < k].sum()),
        alone=int((groups == 1).sum()),
        disclosed=disclosed,
        prefix=prefix,
        refines=refines,
        finer=int(finer.sum()),
        finer_alone=int((finer_groups == 1).sum()),
        regains=regains,
        regained=regained,
    )
