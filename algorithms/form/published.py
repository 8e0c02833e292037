"""Counts that others publish by area: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.areas import identifier_text
from ...core.errors import InputError
from ...core.language import tr
from ...core.privacy.count_rows import CountRows
from ...core.records.table import RecordTable
from ..layers.reading.fields import field_index
from ..layers.reading.records import read_columns
from .areas import values_of
from .effective import GIVEN, Conditions
from .form import Form
from .generalising import generalising_of
from .parameters import field, source, text

CONDITIONS: Conditions = {name: [{"PUBLISHED_COUNTS": GIVEN}] for name in ("PUBLISHED_AREA", "PUBLISHED_NUMBER")}


def published_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """PUBLISHED_MARGINS, PUBLISHED_COUNTS, PUBLISHED_AREA and PUBLISHED_NUMBER."""
    yield published_margins()
    yield source(
        "PUBLISHED_COUNTS",
        tr("Counts by area that others publish (a table)"),
        tr(
            "What a census publishes of the same people, such as age by sex of every area: a row for each area and "
            "each combination of some quasi-identifiers, which are recognised by their field names, and a count. "
            "Together with it the release must give away no count of fewer than k people: classes from which one would "
            "follow are shown in larger regions, or suppressed where none is larger. A value that is missing stands "
            "for all, so that several tables may stand one below the other; combinations without a row are counts of "
            "nobody, areas without a row say nothing. Ages in other bands are brought to those of the records by the "
            "coarser values that HIERARCHIES or HIERARCHY_RULES give. Where it counts more people than the records, it "
            "is taken for the most that there can be."
        ),
        optional=True,
        advanced=True,
    )
    yield field(
        "PUBLISHED_AREA",
        tr("Counts by area that others publish: field with the area"),
        "PUBLISHED_COUNTS",
        tr(
            "The identifiers of the areas; or, if it is named as a field of the areas, the values of that field: the "
            "counts are of all areas that have the same one."
        ),
        optional=True,
        advanced=True,
    )
    yield field(
        "PUBLISHED_NUMBER",
        tr("Counts by area that others publish: field with the count"),
        "PUBLISHED_COUNTS",
        tr("Whole numbers; empty where a count is not published."),
        numeric=True,
        optional=True,
        advanced=True,
    )


def published_margins() -> QgsProcessingParameterDefinition:
    """PUBLISHED_MARGINS."""
    return text(
        "PUBLISHED_MARGINS",
        tr("Totals published elsewhere (censuses only)"),
        "",
        tr(
            "Where the records are a full count, totals that anyone has give suppressed classes away by "
            "subtraction. Write the sets of quasi-identifiers whose totals by region are published, such as "
            "age;sex, ethnicity: those of the regions of every level. Further classes are shown in larger regions, or "
            "suppressed where none is larger, until no count below k follows from them."
        ),
        optional=True,
        advanced=True,
    )


def published_counts_of(form: Form, table: RecordTable) -> CountRows | None:
    """PUBLISHED_COUNTS, read; None where it is not given. table : the records, whose quasi-identifiers are looked at.

    Raises InputError for fields that there are not.
    """
    if not (form.has("PUBLISHED_COUNTS") and form.given("PUBLISHED_COUNTS")):
        return None
    counts = form.source("PUBLISHED_COUNTS")
    fields = counts.fields()
    chosen = {}
    for name in ("PUBLISHED_AREA", "PUBLISHED_NUMBER"):
        chosen[name] = fields[field_index(fields, form.text(name), name, "PUBLISHED_COUNTS")].name()
    area, number = chosen.values()
    names = {}
    for quasi_identifier in table.quasi_identifiers:
        index = fields.lookupField(quasi_identifier)
        if index >= 0 and fields[index].name() not in (area, number):
            names[quasi_identifier] = fields[index].name()
    if area == number:
        raise InputError(
            tr(
                "PUBLISHED_AREA and PUBLISHED_NUMBER are both “{field}”: choose the field with the area, and the one "
                "with the count.",
                field=area,
            )
        )
    columns = read_columns(counts, [area, number, *names.values()], form.feedback)
    values = {name: column.categories[column.codes].tolist() for name, column in columns.items()}
    asked = generalising_of(form, tuple(table.quasi_identifiers))
    return CountRows(
        values[area],
        {quasi_identifier: values[name] for quasi_identifier, name in names.items()},
        values[number],
        _units(form, area),
        {**asked.tables, **asked.rules},
    )


def _units(form: Form, name: str) -> dict[str, object] | None:
    """The value that each area has in the field of REGIONS of this name; None where the counts are of the areas."""
    if not (form.has("REGIONS") and form.given("REGIONS")):
        return None
    fields = form.source("REGIONS").fields()
    index, own = fields.lookupField(name), fields.lookupField(form.text("REGION_ID"))
    if index < 0 or index == own:
        return None
    identifiers = values_of(form, "REGIONS", form.text("REGION_ID"))
    units = values_of(form, "REGIONS", fields[index].name())
    return {str(identifier_text(identifier)): unit for identifier, unit in zip(identifiers, units)}
