"""The tables of cells that are joined into groups."""

from __future__ import annotations

from ..language import tr
from .regions import REGION, SURFACE
from .schema import FOR_RELEASE, INTEGER, INTERNAL, NUMBER, REAL, TEXT, OutputField, OutputTable, own

CELL_CROSSWALK = OutputTable(
    "CROSSWALK",
    tr("Crosswalk"),
    FOR_RELEASE,
    tr(
        "Which group each cell belongs to; a cell that is left out has none. “Release records” and “Evaluate regions” "
        "take it."
    ),
    (own(tr("the identifier of the cell")), REGION),
)
GROUPS = OutputTable(
    "GROUPS",
    tr("Groups"),
    FOR_RELEASE,
    tr("The groups as polygons."),
    (
        REGION,
        OutputField("cells", INTEGER, tr("Cells joined")),
        own(tr("the people of each population field")),
        OutputField("least", NUMBER, tr("Fewest people in any year")),
        OutputField("least_{number}", NUMBER, tr("Fewest of population {number} in any year"), always=False),
        OutputField("density", REAL, tr("People per km²")),
        SURFACE,
        OutputField(
            "area_hull",
            REAL,
            tr("Share of the hull that is filled"),
            tr("surface over that of the convex hull; below about 0.4 a group branches out"),
        ),
        OutputField(
            "sqrt_hull",
            REAL,
            tr("Side of a square as large as the hull"),
            tr("the square root of the hull's surface"),
            "m",
        ),
    ),
    "polygons",
    tr("Group"),
    tr("people per km²"),
)
LEFT_OUT = OutputTable(
    "LEFT_OUT",
    tr("Cells left out"),
    INTERNAL,
    tr("The cells that are in no group, with the reason."),
    (
        own(tr("the identifier of the cell, and its people of each population field")),
        OutputField("reason", TEXT, tr("Why it is left out")),
    ),
    "polygons",
    tr("Left out"),
    tr("why it is left out"),
)
