"""The rows of a release as whoever analyses it has them: of a single level, nested, or with coarser last levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..errors import InputError
from ..levels import Levels
from ..records.columns import Column, combine_columns

LEVEL, REGION = "vbas_level", "vbas_region"


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """R released rows, the crosswalk that came with them, and the areas with the people that anybody can look up.

    areas : n areas; levels : of these areas
    level, region : (R,) int64, the level that a row is shown at and the position of its region there, both 0-based
    fields : the other fields by name; counts : (R,) int64, how many records a row stands for, None for one each
    """

    areas: Areas
    levels: Levels
    level: np.ndarray
    region: np.ndarray
    fields: Mapping[str, Column]
    counts: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.level)

    @property
    def records(self) -> np.ndarray:
        """How many records each row stands for, (R,) float."""
        return np.ones(len(self)) if self.counts is None else self.counts.astype(float)

    def numbers(self, at: np.ndarray) -> np.ndarray:
        """The numbers that the regions of the rows at these positions have in the release, int64."""
        return self.levels.numbers(self.level[at], self.region[at]).astype(np.int64)

    def column(self, name: str) -> Column:
        """A field of the release. Raises InputError for one that there is not."""
        if name not in self.fields:
            raise InputError.saying(
                "The release has no field “{name}”: it has {names}.", name=name, names=", ".join(self.fields)
            )
        return self.fields[name]

    def groups(self, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The combination of values of these fields that each row shows, (R,) int64, and the combinations, as rows of
        positions among the categories of each field, (G, len(names)); one group of all rows where none is named."""
        columns = [self.column(name) for name in names]
        if not columns or not len(self):
            return np.zeros(len(self), np.int64), np.zeros(
                (min(len(self), 1) if columns else 1, len(columns)), np.int64
            )
        return combine_columns(columns)


def whole_numbers(column: Column, name: str) -> np.ndarray:
    """The whole number of each row, (R,) int64. Raises InputError where one is missing or none."""
    try:
        values = np.array([_whole(value) for value in column.categories.tolist()], np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError.saying(
            "Field “{name}” of RECORDS is not a whole number in all rows: give the nested release.", name=name
        ) from error
    return values[column.codes] if len(values) else np.empty(0, np.int64)


def _whole(value: object) -> int:
    """A number without a fraction, of any type or as text; raises where it is none."""
    number = int(value)  # type: ignore[call-overload]
    if isinstance(value, float) and number != value:
        raise ValueError(value)
    return number


def positions(levels: Levels, level: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The position of each row's region among those of its level, (R,) int64.

    level : (R,) 0-based; number : (R,) the region's number there. Raises InputError for one that is not there.
    """
    position = levels.regions(level, number)
    lost = position < 0
    if lost.any():
        raise InputError.counting(
            "{n} row shows a region that CROSSWALK does not have (first: level {level}, region {number}): use the "
            "crosswalk that came with the release.",
            "{n} rows show a region that CROSSWALK does not have (first: level {level}, region {number}): use the "
            "crosswalk that came with the release.",
            int(lost.sum()),
            level=int(level[lost][0]) + 1,
            number=int(number[lost][0]),
        )
    return position


def released_rows(
    areas: Areas, levels: Levels, columns: Mapping[str, Column], counts: np.ndarray | None = None
) -> ReleasedRows:
    """The rows from the columns of a release, checked against the levels.

    Parameters
    ----------
    areas : Areas
        n areas with their people.
    levels : Levels
        Of these areas: the crosswalk that came with the release.
    columns : mapping of str to Column
        All fields of the release by name: vbas_region, vbas_level unless there is a single level, and others.
    counts : ndarray of shape (R,), int64, optional
        How many records each row stands for.

    Returns
    -------
    ReleasedRows
        In the order of the columns.

    Raises
    ------
    InputError
        Where a level or region is missing, or is not in the levels.

    Examples
    --------
    >>> from vbas.core.analysis.released import released_rows
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.levels import Levels, own_regions
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)], [30, 10])
    >>> levels = Levels((own_regions(2), crosswalk_from_table(areas, ["a", "b"], [7, 7])))
    >>> shown = {"vbas_level": [1, 1, 2], "vbas_region": [2, 1, 7], "sex": ["F", "M", "F"]}
    >>> rows = released_rows(areas, levels, {name: column_from_values(one) for name, one in shown.items()})
    >>> rows.level.tolist(), rows.region.tolist(), list(rows.fields)
    ([0, 0, 1], [1, 0, 0], ['sex'])
    """
    if REGION not in columns:
        raise InputError.saying("The release has no field vbas_region: give the released records.")
    number = whole_numbers(columns[REGION], REGION)
    if LEVEL in columns:
        level = whole_numbers(columns[LEVEL], LEVEL) - 1
    elif len(levels) > 1:
        raise InputError.saying(
            "CROSSWALK has several levels, but the release has no field vbas_level: use the crosswalk that came with "
            "the release."
        )
    else:
        level = np.zeros(len(number), np.int64)
    fields = {name: column for name, column in columns.items() if name not in (LEVEL, REGION)}
    return ReleasedRows(areas, levels, level, positions(levels, level, number), fields, counts)
