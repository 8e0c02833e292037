"""The data of a release, looked over before anything is decided: what joins, what does not, and what columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .. import counted
from ..areas import identifier_text
from ..errors import first_values
from ..language import plural, tr
from ..progress import Progress, silent
from ..records.columns import Column
from .joining import Join, joining
from .persons import Persons, several_rows
from .roles import Looks, proposed_roles


@dataclass(frozen=True, eq=False)
class DataChecked:
    """What was found.

    n_areas, n_records : rows; n_sample : the first records, by which columns are judged
    chosen : whether both fields that join them are; twice : identifiers that several areas have
    without_area, unknown_area : records whose area is missing, or is none of the areas; unknown : some such values
    empty_areas : areas without records
    joins : the pairs of fields by which records join areas, the best first; persons : the column that says whose a row
    is, where persons have several; looks : what each column of the records looks like
    """

    n_areas: int
    n_records: int
    n_sample: int
    chosen: bool
    twice: tuple[str, ...] = ()
    without_area: int = 0
    unknown_area: int = 0
    unknown: tuple[str, ...] = ()
    empty_areas: int = 0
    joins: tuple[Join, ...] = ()
    persons: Persons | None = None
    looks: Mapping[str, Looks] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the records whose area is known."""
        lost = self.without_area + self.unknown_area
        return (self.n_records - lost) / self.n_records if self.n_records and self.chosen else 0.0

    def sentences(self) -> list[str]:
        """What there is, and what joins."""
        told = [
            tr(
                "{records}, {areas}.",
                records=counted.records(self.n_records),
                areas=counted.areas(self.n_areas),
            )
        ]
        if self.n_records and self.joined:
            told.append(tr("The area of {percent:.4g} % of the records is known.", percent=_floored(100 * self.share)))
        if self.of_sample():
            told.append(self.of_sample())
        if self.joined and self.empty_areas:
            told.append(plural("{n} area has no records.", "{n} areas have no records.", self.empty_areas))
        return told

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
        told = []
        if self.twice:
            told.append(
                plural(
                    "{n} area code occurs twice ({first}): join the parts of an area to one, or choose another field.",
                    "{n} area codes occur twice (first: {first}): join the parts of an area to one, or choose another "
                    "field.",
                    len(self.twice),
                    first=first_values(self.twice),
                )
            )
        if not self.chosen:
            return told
        if self.n_records and not self.joined:
            told.append(tr("No record has the code of an area: choose the fields that hold the same codes."))
            return told
        if self.without_area:
            told.append(plural("{n} record has no area.", "{n} records have no area.", self.without_area))
        if self.unknown_area:
            told.append(
                plural(
                    "{n} record has an area that is not among the areas ({first}).",
                    "{n} records have an area that is not among the areas (first: {first}).",
                    self.unknown_area,
                    first=first_values(self.unknown),
                )
            )
        return told


def check_data(
    areas: Mapping[str, Column],
    records: Mapping[str, Column],
    region_id: str = "",
    record_region: str = "",
    progress: Progress = silent,
    everybody: Column | None = None,
) -> DataChecked:
    """Look over columns of the areas and of the records; progress raises to cancel.

    region_id, record_region : the fields by which they are joined; empty where that is not chosen yet; everybody : the
    second of these of all records, where `records` are the first of them
    """
    n_areas, n_sample = (len(next(iter(columns.values()), ())) for columns in (areas, records))
    n_records = n_sample if everybody is None else len(everybody)
    checked = _joined(areas.get(region_id), records.get(record_region) if everybody is None else everybody)
    progress(0.2)
    joins = tuple(joining(areas, records))
    progress(0.5)
    persons = several_rows(records, record_region)
    progress(0.7)
    looks = proposed_roles(records, record_region, persons.name if persons else "")
    progress(1.0)
    chosen = region_id in areas and record_region in records
    return DataChecked(n_areas, n_records, n_sample, chosen, *checked, joins, persons, looks, records)


def _joined(areas: Column | None, records: Column | None) -> tuple[tuple[str, ...], int, int, tuple[str, ...], int]:
    """Codes of several areas; records without an area, with an unknown one, and their values; areas without records."""
    if areas is None:
        return (), 0, 0, (), 0
    n_of_code: dict[str | None, int] = {}
    for value, n in zip(areas.categories.tolist(), np.bincount(areas.codes, minlength=len(areas.categories)).tolist()):
        text = identifier_text(value)
        n_of_code[text] = n_of_code.get(text, 0) + n
    twice = tuple(text for text, n in n_of_code.items() if n > 1 and text is not None)
    if records is None:
        return twice, 0, 0, (), 0
    texts = [identifier_text(value) for value in records.categories.tolist()]
    held = np.bincount(records.codes, minlength=len(texts))
    missing = np.array([text is None for text in texts], bool)
    unknown = np.array([text is not None and text not in n_of_code for text in texts], bool)
    lost = tuple(sorted({text for text, is_lost in zip(texts, unknown) if is_lost and text is not None}))
    used = {text for text, n in zip(texts, held) if n}
    empty = sum(n for text, n in n_of_code.items() if text not in used)
    return twice, int(held[missing].sum()), int(held[unknown].sum()), lost, empty


def _floored(percent: float) -> float:
    """Never 100 where one record is lost."""
    return percent if percent == 100 else min(percent, np.floor(100 * percent) / 100)
