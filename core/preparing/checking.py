"""The data of a release, looked over before anything is decided: what joins, what does not, and what columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from heapq import nsmallest

import numpy as np

from .. import counted
from ..areas import identifier_text, said_of_lost_zeros, without_zeros_of
from ..dataclass import dataclass
from ..errors import first_values
from ..language import plural, tr
from ..progress import Progress, silent
from ..records.columns import Column, combine_columns
from .joining import ENOUGH, Join, joining
from .roles import ColumnSummary, proposed_roles

SHOWN_UNKNOWN = 10  # values that no area has, of which messages show the first few


@dataclass(frozen=True, eq=False)
class DataChecked:
    """What was found.

    n_areas, n_records : rows; n_sample : the first records, by which columns are judged
    chosen : whether both fields that join them are; twice : identifiers that several areas have
    without_area, unknown_area : records whose area is missing, or is none of the areas; unknown : some such values;
    lost_zeros : some that are areas but for leading zeros
    empty_areas : areas without records
    joins : the pairs of fields by which records join areas, the best first; persons : the column that says whose a row
    is, where persons have several; looks : what each column of the records looks like
    region_id, record_region : the fields that join them
    whole : whether all records were counted, and not only those by which columns are judged
    """

    n_areas: int
    n_records: int
    n_sample: int
    chosen: bool
    twice: tuple[str, ...] = ()
    without_area: int = 0
    unknown_area: int = 0
    unknown: tuple[str, ...] = ()
    lost_zeros: tuple[str, ...] = ()
    empty_areas: int = 0
    joins: tuple[Join, ...] = ()
    persons: Persons | None = None
    looks: Mapping[str, ColumnSummary] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    region_id: str = ""
    record_region: str = ""
    whole: bool = True

    @property
    def share(self) -> float:
        """The share of the records whose area is known."""
        lost = self.without_area + self.unknown_area
        return (self.n_records - lost) / self.n_records if self.n_records and self.chosen else 0.0

    def sentences(self) -> list[str]:
        """What there is, and what joins."""
        if not self.whole:
            return [
                tr("The first {records} were looked at; all are being read.", records=counted.records(self.n_sample))
            ]
        sentences = [
            tr(
                "{records}, {areas}.",
                records=counted.records(self.n_records),
                areas=counted.areas(self.n_areas),
            )
        ]
        if self.n_records and self.joined:
            sentences.append(
                tr("The area of {percent:.4g} % of the records is known.", percent=_floored(100 * self.share))
            )
        if self.of_sample():
            sentences.append(self.of_sample())
        if self.joined and self.empty_areas:
            sentences.append(plural("{n} area has no records.", "{n} areas have no records.", self.empty_areas))
        return sentences

    def of_sample(self) -> str:
        """How many records columns are judged by, where these are not all; empty where they are."""
        if self.n_sample >= self.n_records:
            return ""
        return tr("Columns are judged by the first {records}.", records=counted.records(self.n_sample))

    @property
    def joined(self) -> bool:
        """Whether any record joins an area by the fields that are chosen."""
        return self.chosen and self.n_records > self.without_area + self.unknown_area

    def problems(self) -> list[str]:
        """What has to be mended, or decided."""
        problems = []
        if self.twice:
            problems.append(
                plural(
                    "{n} area code occurs twice ({first}): join the parts of an area to one, or choose another field.",
                    "{n} area codes occur twice (first: {first}): join the parts of an area to one, or choose another "
                    "field.",
                    len(self.twice),
                    first=first_values(self.twice),
                )
            )
        if self.whole and not self.n_records:
            problems.append(tr("The table of records is empty: choose another one, or look at its filter."))
        if not self.chosen or not self.whole:
            return problems
        if self.n_records and not self.joined:
            problems.append(
                said_of_lost_zeros(self.lost_zeros)
                if self.lost_zeros
                else tr("No record has the code of an area: choose the fields that hold the same codes.")
            )
            return problems
        if self.without_area:
            problems.append(plural("{n} record has no area.", "{n} records have no area.", self.without_area))
        if self.unknown_area:
            problems.append(
                plural(
                    "{n} record has an area that is not among the areas ({first}).",
                    "{n} records have an area that is not among the areas (first: {first}).",
                    self.unknown_area,
                    first=first_values(self.unknown),
                )
            )
        if self.lost_zeros:
            problems.append(said_of_lost_zeros(self.lost_zeros))
        return problems


def check_data(
    areas: Mapping[str, Column],
    records: Mapping[str, Column],
    region_id: str = "",
    record_region: str = "",
    progress: Progress = silent,
    mend: bool = False,
) -> DataChecked:
    """Look over columns of the areas and of the records; progress raises to cancel.

    region_id, record_region : the fields by which they are joined; empty where that is not chosen yet
    mend : take those that join best where these join hardly any record
    """
    joins = tuple(joining(areas, records))
    if mend:
        region_id, record_region = _better(joins, region_id, record_region)
    progress(0.3)
    persons = several_rows(records, record_region)
    progress(0.6)
    looks = proposed_roles(records, record_region, persons.name if persons else "")
    progress(0.9)
    n_areas, n_records = (len(next(iter(columns.values()), ())) for columns in (areas, records))
    checked = DataChecked(
        n_areas,
        n_records,
        n_records,
        region_id in areas and record_region in records,
        joins=joins,
        persons=persons,
        looks=looks,
        columns=records,
        region_id=region_id,
        record_region=record_region,
    )
    return counted_over(checked, areas.get(region_id), records.get(record_region))


def counted_over(checked: DataChecked, areas: Column | None, records: Column | None) -> DataChecked:
    """The same, counted over all areas and records, where it was made of the first of them.

    areas, records : the fields that join them, None where that is not chosen
    """
    twice, without, unknown, values, lost_zeros, empty = _joined(areas, records)
    return replace(
        checked,
        n_areas=checked.n_areas if areas is None else len(areas),
        n_records=checked.n_records if records is None else len(records),
        twice=twice,
        without_area=without,
        unknown_area=unknown,
        unknown=values,
        lost_zeros=lost_zeros,
        empty_areas=empty,
        whole=True,
    )


def _better(joins: tuple[Join, ...], region_id: str, record_region: str) -> tuple[str, str]:
    """The fields that join best, where those that are given join hardly any record."""
    share = {(join.region_id, join.record_region): join.share for join in joins}
    if not joins or joins[0].share < ENOUGH or share.get((region_id, record_region), 0.0) >= ENOUGH:
        return region_id, record_region
    return joins[0].region_id, joins[0].record_region


def _joined(
    areas: Column | None, records: Column | None
) -> tuple[tuple[str, ...], int, int, tuple[str, ...], tuple[str, ...], int]:
    """Codes of several areas; records without an area, with an unknown one, their values, and those that are areas but
    for leading zeros; areas without records."""
    if areas is None:
        return (), 0, 0, (), (), 0
    n_of_code: dict[str | None, int] = {}
    for value, n in zip(areas.categories.tolist(), np.bincount(areas.codes, minlength=len(areas.categories)).tolist()):
        text = identifier_text(value)
        n_of_code[text] = n_of_code.get(text, 0) + n
    twice = tuple(text for text, n in n_of_code.items() if n > 1 and text is not None)
    if records is None:
        return twice, 0, 0, (), (), 0
    texts = [identifier_text(value) for value in records.categories.tolist()]
    held = np.bincount(records.codes, minlength=len(texts))
    missing = np.array([text is None for text in texts], bool)
    unknown = np.array([text is not None and text not in n_of_code for text in texts], bool)
    lost = {text for text, is_lost in zip(texts, unknown) if is_lost and text is not None}
    bare = {without_zeros_of(text) for text in n_of_code if text is not None}
    lost_zeros = tuple(nsmallest(SHOWN_UNKNOWN, (text for text in lost if without_zeros_of(text) in bare)))
    used = {text for text, n in zip(texts, held) if n}
    empty = sum(n for text, n in n_of_code.items() if text not in used)
    first_lost = tuple(nsmallest(SHOWN_UNKNOWN, lost))
    return twice, int(held[missing].sum()), int(held[unknown].sum()), first_lost, lost_zeros, empty


def _floored(percent: float) -> float:
    """Never 100 where one record is lost."""
    return percent if percent == 100 else min(percent, np.floor(100 * percent) / 100)


LEAST_SHARED = 0.02  # of the rows: a column that is different in all others is an identifier of rows
MOST_A_PERSON = 200.0  # rows on average: more is a category, and no person
MOST_COMPARED = 150  # values of a column that is held to be the same in all rows of a person
NEARLY = 0.99  # of the persons have one value


@dataclass(frozen=True)
class Persons:
    """A column that seems to say whose a row is. same : the columns that are the same in all rows of a person"""

    name: str
    n_persons: int
    n_rows: int
    same: tuple[str, ...]


def several_rows(records: Mapping[str, Column], area: str) -> Persons | None:
    """The column that says whose a row is, where persons have several; None where none seems to.

    area : the column of the area. Its value, and at least two others that the area does not say already, are the same
    in all rows of a person. Of several columns that with the most different values is taken, so that persons come
    before households.
    """
    if area not in records or not len(records[area]):
        return None
    candidates = [
        persons for name in records if name != area and (persons := _persons(records, name, area)) is not None
    ]
    return max(candidates, key=lambda persons: persons.n_persons, default=None)


def _persons(records: Mapping[str, Column], name: str, area: str) -> Persons | None:
    column, n_rows = records[name], len(records[name])
    n_persons = len(np.unique(column.codes))
    if not n_persons < n_rows * (1 - LEAST_SHARED) or n_rows > MOST_A_PERSON * n_persons or None in column.categories:
        return None
    if not _says(column, records[area], n_persons) or _says(records[area], column, len(np.unique(records[area].codes))):
        return None
    same = [
        other
        for other, values in records.items()
        if other not in (name, area)
        and 1 < len(values.categories) <= MOST_COMPARED
        and not _says(records[area], values, len(np.unique(records[area].codes)))
        and _says(column, values, n_persons)
    ]
    return Persons(name, n_persons, n_rows, tuple(same)) if len(same) >= 2 else None


def _says(of: Column, other: Column, n_values: int) -> bool:
    """Whether nearly every value of a column goes with a single value of the other."""
    _, pairs = combine_columns([of, other])
    several = len(pairs) - n_values
    return several <= (1 - NEARLY) * n_values
