"""The records: declared and read; and the population they give the areas."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

import numpy as np
from qgis.core import QgsField, QgsProcessingParameterDefinition

from ...core.areas import Areas
from ...core.errors import InputError
from ...core.job import reading
from ...core.job.linked import KEY
from ...core.language import plural, tr
from ...core.parameters import SMALLEST_K
from ...core.profile import Profile, profile_records
from ...core.records.fields import RecordFields
from ...core.records.matching import STOP, SUPPRESS, UNMATCHED, Records, match_areas
from ...core.records.table import RecordTable, check_table
from ..compat import field as make_field
from ..layers.reading.checked_source import CheckedSource
from ..layers.reading.records import read_records
from ..layers.shapes.areas import AreaLayer
from .effective import GIVEN, Conditions
from .form import FormJob
from .generalising import generalising_parameters
from .guarantees import protection_parameters
from .parameters import choice, field, source
from .published import published_parameters

PERIOD_LABEL = tr("Period (year, quarter or wave of a record)")
PERIOD_HELP = tr(
    "Where the table holds the records of several years, quarters or waves: the field that says which. k, and all else "
    "that is asked of a class, then holds in each period, and all have the same regions. It is released under its "
    "name, as a further quasi-identifier."
)


def record_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, RECORD_REGION, QUASI_IDENTIFIERS, PERIOD, RECORD_COUNT, and how quasi-identifiers are shown coarser."""
    yield source(
        "RECORDS",
        tr("Records"),
        tr(
            "The person records, one per row: a table, or a layer whose geometry is not used. A plain "
            "GeoPackage or CSV is read fastest. A table already counted by area and class, such as “Profile "
            "records” makes, will do as well: give its count under “Record count field”."
        ),
    )
    yield field(
        "RECORD_REGION",
        tr("Field with the area code, in the records"),
        "RECORDS",
        tr("The field that says which area a person lives in, with the same identifiers as the areas."),
    )
    yield field(
        "QUASI_IDENTIFIERS",
        tr("Quasi-identifiers"),
        "RECORDS",
        tr(
            "What an outsider could know about a person: age group, sex, ethnicity, … People who share all of "
            "these in one region hide each other. A missing value counts as a value of its own. The values "
            "are released as they are, so group them first (age groups, not dates of birth), or say under "
            "“Coarser values” how."
        ),
        several=True,
    )
    yield field("PERIOD", PERIOD_LABEL, "RECORDS", PERIOD_HELP, optional=True, advanced=True)
    yield record_count(
        True,
        tr(
            "A survey weight is none: a class of k by weight may rest on one respondent. Leave it empty then, "
            "so that k counts respondents. Weights with fractions are refused, and numbers that look like "
            "weights are warned of."
        ),
    )
    yield from generalising_parameters()


def counted_records(
    text: str, quasi_identifiers: bool = False, advanced: bool = True, period: bool = False
) -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, RECORD_REGION and RECORD_COUNT, all optional; with QUASI_IDENTIFIERS, and how these are shown coarser,
    where classes matter, and PERIOD, where they may be of several."""
    yield source("RECORDS", tr("Records"), text, optional=True, advanced=advanced)
    yield field(
        "RECORD_REGION",
        tr("Field with the area code, in the records"),
        "RECORDS",
        tr("The field that says which area a person lives in."),
        optional=True,
        advanced=advanced,
    )
    if quasi_identifiers:
        yield field(
            "QUASI_IDENTIFIERS",
            tr("Quasi-identifiers"),
            "RECORDS",
            tr("What an outsider could know about a person."),
            several=True,
            optional=True,
            advanced=advanced,
        )
    if period:
        yield field("PERIOD", PERIOD_LABEL, "RECORDS", PERIOD_HELP, optional=True, advanced=True)
    yield record_count(numeric=False)
    if quasi_identifiers:
        yield from generalising_parameters()


# Where the fields of optional records count.
COUNTED_RECORDS: Conditions = {name: [{"RECORDS": GIVEN}] for name in ("RECORD_REGION", "RECORD_COUNT")}


def record_count(numeric: bool, more: str = "") -> QgsProcessingParameterDefinition:
    """RECORD_COUNT; more : what else its help says."""
    text = tr("For a table that is already counted: how many records each row stands for. {more}", more=more).strip()
    label = tr("Record count field (tables already counted)")
    return field("RECORD_COUNT", label, "RECORDS", text, numeric, optional=True, advanced=True)


def keep_fields() -> QgsProcessingParameterDefinition:
    """KEEP_FIELDS."""
    return field(
        "KEEP_FIELDS",
        tr("Additional fields to release"),
        "RECORDS",
        tr(
            "Columns that researchers need and that identify nobody, such as a diagnosis. They are released "
            "unchanged and are not protected by k: leave out names, numbers, dates and anything finer than "
            "the region. Each field is looked at by itself, value by value: the run stops where its values stand "
            "for the area in one released row of a hundred or more, or number persons. Of a date or an amount that "
            "many rows have alone it only warns. What several fields tell together is not looked at."
        ),
        several=True,
        optional=True,
        advanced=True,
    )


def released_fields() -> Iterable[QgsProcessingParameterDefinition]:
    """KEEP_FIELDS, what protects persons beside k, what others publish, and UNMATCHED."""
    yield keep_fields()
    yield from protection_parameters()
    yield from published_parameters()
    yield unmatched()


def unmatched() -> QgsProcessingParameterDefinition:
    """UNMATCHED."""
    return choice(
        "UNMATCHED",
        tr("Records whose area is not in the layer"),
        UNMATCHED,
        STOP,
        tr(
            "Records whose area is missing or is not among the areas: “stop” refuses the table and says how "
            "many there are, “suppress” leaves them out and counts them as suppressed. With “Selected "
            "features only” for the areas, that is everybody outside the selection: select their records too."
        ),
        advanced=True,
    )


def _refuse_row_numbers(job: FormJob) -> None:
    """Refuse the number of the row as the record's area: both tables have one, and they would even seem to match."""
    source, field = job.layers.source("RECORDS"), job.text("RECORD_REGION")
    counted = job.has("RECORD_COUNT") and bool(job.text("RECORD_COUNT"))
    index = source.fields().lookupField(field) if field else -1
    if counted or index < 0 or source.layer is None or index not in source.layer.primaryKeyAttributes():
        return
    area = job.text("REGION_ID") if job.has("REGION_ID") else ""
    if area == field:
        raise InputError.saying(
            "RECORD_REGION and REGION_ID are both “{field}”, which numbers the rows of a table and identifies no area: "
            "choose the fields that hold the identifiers of the areas.",
            field=field,
        )
    raise InputError.saying(
        "RECORD_REGION is “{field}”, which numbers the rows of a table and identifies no area: choose the field that "
        "holds the identifiers of the areas.",
        field=field,
    )


def records_of(job: FormJob, areas: Areas, k: int | None) -> Records:
    """The table matched with the areas and counted; k is None for steps that do not suppress."""
    unmatched = job.text("UNMATCHED") if job.has("UNMATCHED") else STOP
    aside = _of_missing_areas(job, unmatched)
    _refuse_row_numbers(job)
    return reading.records_of(job, areas, k, aside, job.text(KEY) if job.has(KEY) else "")


def _of_missing_areas(job: FormJob, unmatched: str) -> str:
    """A sentence on why areas may be missing: the layer gives a part of them.

    Where records of no known area are suppressed, it is said before they are read who will count as such.
    """
    areas = job.layers.optional_source("REGIONS") if job.has("REGIONS") else None
    if areas is None:
        return ""
    if unmatched == SUPPRESS and areas.is_restricted and areas.layer is not None:
        job.warn(of_selected_areas(areas.featureCount(), areas.layer.featureCount()))
    return " ".join(areas.taken)


def of_selected_areas(taken: int, n_areas: int) -> str:
    """A warning of the people in other areas; taken, n_areas : as QGIS counts them, below 0 where it does not know."""
    if min(taken, n_areas) < 0:
        return tr(
            "Only a part of the areas of REGIONS is taken (“Selected features only”, or a "
            "filter), and UNMATCHED is “suppress”: everybody who lives in the other areas counts "
            "as suppressed, in every share of suppression. To release the chosen areas alone, "
            "select their records too."
        )
    return plural(
        "Only {n} of {n_areas} areas of REGIONS is taken (“Selected features only”, or a "
        "filter), and UNMATCHED is “suppress”: everybody who lives in the other areas counts "
        "as suppressed, in every share of suppression. To release the chosen areas alone, "
        "select their records too.",
        "Only {n} of {n_areas} areas of REGIONS are taken (“Selected features only”, or a "
        "filter), and UNMATCHED is “suppress”: everybody who lives in the other areas counts "
        "as suppressed, in every share of suppression. To release the chosen areas alone, "
        "select their records too.",
        taken,
        n_areas=n_areas,
    )


def profile_of(job: FormJob) -> tuple[Profile, np.ndarray, RecordTable]:
    """The table counted by the areas that occur in it, their identifiers, and the table."""
    _refuse_row_numbers(job)
    table, _ = reading.table_of(job)
    check_table(table, SMALLEST_K)
    identifiers = table.area.categories
    profile, _ = profile_records(table.area.codes, table.quasi_identifiers, len(identifiers), table.counts)
    return profile, identifiers, table


def shown_fields(source: CheckedSource, names: Iterable[str], coarsened: Collection[str]) -> list[QgsField]:
    """Fields of RECORDS for an output; those of coarser values hold text."""
    there = source.fields()
    return [make_field(name, "text") if name in coarsened else there.field(name) for name in names]


class Profiled(Protocol):
    """Records, wherever they are, that are counted by area and class."""

    @property
    def profile(self) -> Profile:
        """The counts."""


def populated(layer: AreaLayer, records: Profiled) -> Areas:
    """The areas with the population to balance: the user's field, else the number of records."""
    return layer.areas if layer.has_population else layer.areas.with_population(records.profile.area_sizes)


def populated_by_records(job: FormJob, layer: AreaLayer) -> Areas:
    """The areas with the population field, else the number of records if RECORDS is given, else one each."""
    source = job.layers.optional_source("RECORDS")
    if layer.has_population or source is None:
        return layer.areas
    area = job.text("RECORD_REGION")
    table = read_records(source, RecordFields(area, (), count=job.text("RECORD_COUNT")), job.layers.feedback)
    codes = match_areas(table, layer.areas, SUPPRESS, area)
    inside = codes >= 0
    weights = None if table.counts is None else table.counts[inside]
    return layer.areas.with_population(np.bincount(codes[inside], weights, len(layer.areas)))
