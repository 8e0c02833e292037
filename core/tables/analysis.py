"""The tables that are made of a release: estimates, which say so."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .regions import LEVEL, RECORDS, REGION, SURFACE
from .schema import ALL, ESTIMATE, LONG, OutputTable, own, real

SHOWN_AT = replace(LEVEL, kind=LONG, levels=ALL)
ALIKE = replace(RECORDS, label=tr("Records that show the same"))

SPREAD = OutputTable(
    "SPREAD",
    tr("Spread records"),
    ESTIMATE,
    tr(
        "A row for each class of records that show the same and each area that they may live in. The weights of a "
        "class add up to 1."
    ),
    (
        own(tr("the identifier of the area, the quasi-identifiers and the further fields you named")),
        SHOWN_AT,
        REGION,
        ALIKE,
        real("weight", tr("Estimated share of them that lives in the area")),
        real("estimate", tr("Estimated records in the area"), tr("records times weight")),
    ),
)
AREA_COUNTS = OutputTable(
    "AREA_COUNTS",
    tr("Estimated counts by area"),
    ESTIMATE,
    tr(
        "The areas with the records estimated to live there: a row for each area and group, so that areas lie over "
        "each other where there are groups. For a map choose one by a filter. For areas given as points: their Voronoi "
        "cells."
    ),
    (
        own(tr("the identifier of the area, and the fields that make groups")),
        real("estimate", tr("Estimated records")),
        real("share", tr("Estimated share of the area's records"), tr("empty where none is estimated"), "%"),
        real("rows", tr("Records that may live there")),
        real(
            "effective",
            tr("Effective number of records"),
            tr("as many records of a known area would tell as much; few mean that the estimate is mostly spread"),
        ),
        real(
            "at_area",
            tr("Estimated records whose area is known"),
            tr("of the estimate; empty where it is 0"),
            "%",
        ),
        SURFACE,
    ),
    "polygons",
    tr("Area"),
    tr("estimated records per km²"),
)
EXPOSURES = OutputTable(
    "EXPOSURES",
    tr("Mean exposures"),
    ESTIMATE,
    tr(
        "A row for each class of records that show the same, with the mean of each exposure over the areas that they "
        "may live in, and how much it varies there."
    ),
    (
        SHOWN_AT,
        REGION,
        own(tr("the quasi-identifiers and the further fields you named")),
        ALIKE,
        real("mean_{attribute}", tr("Estimated mean of {attribute}")),
        real(
            "sd_{attribute}",
            tr("Standard deviation of {attribute} where they may live"),
            tr("0 where the area is known"),
        ),
    ),
)
