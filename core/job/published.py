"""What is published already, as a job gives it: counts by area, and a register of earlier releases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..areas import identifier_text
from ..arrays import to_list
from ..errors import InputError
from ..privacy.count_rows import CountRows
from ..publish.register.published_releases import earlier_releases
from ..records.table import RecordTable
from ..releases.earlier import Earlier
from .generalising import generalising_of
from .job import Job
from .values import field_named, position_of


def published_counts_of(job: Job, table: RecordTable) -> CountRows:
    """PUBLISHED_COUNTS, read. table : the records, whose quasi-identifiers are looked at.

    Raises InputError for fields that there are not.
    """
    fields = job.fields("PUBLISHED_COUNTS")
    area, number = (
        field_named(fields, job.text(name), name, "PUBLISHED_COUNTS") for name in ("PUBLISHED_AREA", "PUBLISHED_NUMBER")
    )
    names = {}
    for quasi_identifier in table.quasi_identifiers:
        position = position_of(fields, quasi_identifier)
        if position >= 0 and fields[position] not in (area, number):
            names[quasi_identifier] = fields[position]
    if area == number:
        raise InputError.saying(
            "PUBLISHED_AREA and PUBLISHED_NUMBER are both “{field}”: choose the field with the area, and the one with "
            "the count.",
            field=area,
        )
    columns = job.columns("PUBLISHED_COUNTS", [area, number, *names.values()])
    values = {name: column.categories[column.codes].tolist() for name, column in columns.items()}
    asked = generalising_of(job, tuple(table.quasi_identifiers))
    return CountRows(
        values[area],
        {quasi_identifier: values[name] for quasi_identifier, name in names.items()},
        values[number],
        _units(job, area),
        {**asked.tables, **asked.rules},
    )


def _units(job: Job, name: str) -> dict[str, object] | None:
    """The value that each area has in the field of REGIONS of this name; None where the counts are of the areas."""
    if not job.given("REGIONS"):
        return None
    fields = job.fields("REGIONS")
    position, own = position_of(fields, name), position_of(fields, job.text("REGION_ID"))
    if position in (-1, own):
        return None
    columns = job.columns("REGIONS", [fields[own], fields[position]])
    identifiers, units = (to_list(column.categories[column.codes]) for column in columns.values())
    return {str(identifier_text(identifier)): unit for identifier, unit in zip(identifiers, units)}


def earlier_of(job: Job, table: RecordTable) -> Earlier:
    """The releases of REGISTER; table : the records, whose quasi-identifiers are looked at."""
    asked = generalising_of(job, tuple(table.quasi_identifiers))
    path = Path(job.text("REGISTER"))
    earlier = earlier_releases(path, job.text("REGISTER_ACTION"), answers_in(job), asked.tables, asked.rules)
    return replace(earlier, of_some=is_of_some(job))


def is_of_some(job: Job) -> bool:
    """Whether FILTER leaves rows out, or the records are read in part."""
    filtered = job.has("FILTER") and job.given("FILTER")
    return filtered or (job.has("RECORDS") and job.reads_in_part("RECORDS"))


def answers_in(job: Job) -> list[tuple[str, str]]:
    """The rows of ALIASES: a field and what it is. Raises InputError for half a row."""
    cells = [str(cell).strip() for cell in job.several("ALIASES")] if job.has("ALIASES") else []
    if len(cells) % 2:
        raise InputError.counting(
            "ALIASES has {n} cell: give two a row, a field and what it is, such as gender, sex.",
            "ALIASES has {n} cells: give two a row, a field and what it is, such as gender, sex.",
            len(cells),
        )
    return list(zip(cells[::2], cells[1::2]))
