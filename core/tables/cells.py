"""The tables of cells that are joined into groups."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .regions import REGION, SURFACE
from .schema import FOR_RELEASE, INTERNAL, NESTED, ONE_LEVEL, OutputTable, integer, long, number, own, real, text

CELL_CROSSWALK = OutputTable(
    "CROSSWALK",
    tr("Crosswalk"),
    FOR_RELEASE,
    tr(
        "Which group each cell belongs to; a cell that is left out has none. “Release records” and “Evaluate regions” "
        "take it."
    ),
    (
        own(tr("the identifier of the cell")),
        replace(REGION, levels=ONE_LEVEL),
        long("vbas_region_{level}", tr("Region, level {level}"), tr("1 is the finest"), levels=NESTED),
    ),
)
GROUPS = OutputTable(
    "GROUPS",
    tr("Groups"),
    FOR_RELEASE,
    tr("The groups as polygons."),
    (
        REGION,
        integer("cells", tr("Cells joined")),
        own(tr("the people of each population field")),
        number("least", tr("Fewest people in any year")),
        number("least_{number}", tr("Fewest of population {number} in any year"), always=False),
        real("density", tr("People per km²")),
        SURFACE,
        real("area_hull", tr("Share of the hull that is filled"), tr("below about 0.4 a group branches out")),
        real("sqrt_hull", tr("Side of a square as large as the hull"), unit="m"),
        text("rest_of", tr("Unit whose rest it is"), tr("empty for groups"), always=False),
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
        text("reason", tr("Why it is left out")),
        long("vbas_rest", tr("Region of the rest of its unit"), tr("empty where it has none"), always=False),
    ),
    "polygons",
    tr("Left out"),
    tr("why it is left out"),
)
DOTS = OutputTable(
    "POINTS",
    tr("Dots"),
    FOR_RELEASE,
    tr(
        "A dot for each of the people (or for several), at a random place of the group; groups in which some category "
        "has fewer people than LEAST have none. Count on it that readers learn the counts of the groups shown."
    ),
    (own(tr("the identifier of the group")), text("category", tr("Category"))),
    "points",
    tr("Dot"),
)
DOT_AUDIT = OutputTable(
    "AUDIT",
    tr("Dot map audit"),
    INTERNAL,
    tr("Every group with its people, and whether it is shown."),
    (
        own(tr("the identifier of the group")),
        long("group_people", tr("People")),
        long("smallest", tr("Smallest category"), tr("people; categories of nobody aside")),
        integer("shown", tr("Whether the group is shown"), tr("1 or 0")),
        long("dots", tr("Dots")),
    ),
    "polygons",
    tr("Group"),
    tr("whether the group is shown"),
)
FAILING = OutputTable(
    "FAILING",
    tr("Groups that fail"),
    INTERNAL,
    tr("The groups that no longer reach their minimums, or are in pieces."),
    (
        REGION,
        text("fault", tr("What is the matter")),
        integer("cells", tr("Cells joined")),
        own(tr("the people of each population field")),
        number("least", tr("Fewest people in any year")),
    ),
    "polygons",
    tr("Group"),
    tr("what is the matter"),
)
MOVES = OutputTable(
    "MOVES",
    tr("Moves"),
    INTERNAL,
    tr("The cells that get another group, so that all groups hold."),
    (
        own(tr("the identifier of the cell, and its people of each population field")),
        long("from_region", tr("Group before"), tr("empty for none")),
        long("to_region", tr("Group now"), tr("empty for none")),
    ),
    "polygons",
    tr("Cell"),
    tr("group now"),
)
MENDED = OutputTable(
    "MENDED",
    tr("Mended crosswalk"),
    FOR_RELEASE,
    tr(
        "Which group each cell belongs to now, under the numbers of before. It shows no people; but what is counted by "
        "both crosswalks for the same people gives the cells that moved away by subtraction: publish by one of them, "
        "or run “Check several releases” on both."
    ),
    (own(tr("the identifier of the cell")), REGION),
)
