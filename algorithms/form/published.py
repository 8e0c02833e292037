"""Counts that others publish by area: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.job.conditions import conditions_of
from ...core.language import tr
from .effective import Conditions
from .parameters import field, source, text

CONDITIONS: Conditions = conditions_of("PUBLISHED_AREA", "PUBLISHED_NUMBER")


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
