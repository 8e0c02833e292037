"""The tables of made-up areas and people, and of the shares that people are drawn from."""

from __future__ import annotations

from ..language import tr
from .schema import INTERNAL, TEST_DATA, OutputTable, integer, own, real, text

CITY_AREAS = OutputTable(
    "AREAS",
    tr("Areas"),
    TEST_DATA,
    tr("The areas of the city."),
    (
        text("area", tr("Area")),
        text("district", tr("District")),
        integer("population", tr("Population")),
    ),
    "polygons",
    tr("Area"),
    tr("district"),
)
CITY_RECORDS = OutputTable(
    "RECORDS",
    tr("Records"),
    TEST_DATA,
    tr("A row per inhabitant."),
    (own(tr("the identifier of the area (area), six attributes and the diagnosis")),),
)
GENERATED = OutputTable(
    "RECORDS",
    tr("Generated records"),
    TEST_DATA,
    tr(
        "A row per person. Nobody in it exists where the shares are made up. With DRAW “whole rows” each row is a real "
        "person's, only the area is made up; of given shares or microdata the values are real, so that it is internal, "
        "too: do not publish it."
    ),
    (own(tr("the identifier of the area, and the attributes")),),
)
DISTRIBUTIONS = OutputTable(
    "DISTRIBUTIONS",
    tr("Distributions"),
    INTERNAL,
    tr("A row per province, attribute and category with its share, as it is in the microdata: nothing is suppressed."),
    (
        text("province", tr("Province")),
        text("attribute", tr("Attribute")),
        text("category", tr("Category")),
        real("share", tr("Share")),
    ),
)
