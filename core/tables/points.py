"""The tables of masked points, and of the audit of a masking."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .schema import FOR_RELEASE, INTEGER, INTERNAL, LONG, REAL, TEXT, OutputField, OutputTable, own

PEOPLE, HOUSEHOLDS = tr("people"), tr("households")
K_INNER = OutputField("k_inner", REAL, tr("Inner radius"), tr("the inner radius K_INNER"), PEOPLE)
K_MIN = OutputField("k_min", REAL, tr("Wanted anonymity"), tr("the wanted anonymity K_MIN"), HOUSEHOLDS)
BELOW = OutputField(
    "percent_below",
    REAL,
    tr("Below the wanted anonymity"),
    tr("masked households with fewer than K_MIN households nearer by"),
    "%",
)
NOT_MASKED = OutputField("percent_not_masked", REAL, tr("Not masked"), unit="%")

MASKED = OutputTable(
    "MASKED",
    tr("Masked points"),
    FOR_RELEASE,
    tr(
        "The masked points and nothing else, in the coordinate reference system of the points. Rows are sorted by "
        "where they lie, so that their order reveals nothing. Where most points turn out to have fewer than K_MIN "
        "candidate addresses, the layer is called internal instead."
    ),
    (own(tr("the fields you named")),),
    "points",
)
MASKING_AUDIT = OutputTable(
    "AUDIT",
    tr("Masking audit"),
    INTERNAL,
    tr("Every point at its true place, and what became of it. It would undo the masking."),
    (
        OutputField("point", LONG, tr("Number of the point")),
        OutputField("outcome", TEXT, tr("What became of the point"), tr("what became of the point, and why")),
        OutputField("area", TEXT, tr("Area")),
        OutputField("people", REAL, tr("People to hide among in the area")),
        OutputField("inner_m", REAL, tr("Inner radius"), unit="m"),
        OutputField("outer_m", REAL, tr("Outer radius"), unit="m"),
        OutputField("displacement", REAL, tr("Displacement"), unit="m"),
        OutputField("k_est", REAL, tr("Estimated anonymity"), unit=PEOPLE),
        OutputField("home", LONG, tr("Home"), tr("the home that the point belongs to")),
        OutputField("members", LONG, tr("Points of the same home")),
        OutputField(
            "candidates",
            REAL,
            tr("Addresses it may have come from"),
            tr("addresses from which it could have come, empty without households, since they cannot be counted"),
        ),
        OutputField(
            "candidates_left",
            REAL,
            tr("Addresses left with the earlier place"),
            tr("with EARLIER, the addresses that fit all places"),
            always=False,
        ),
        OutputField("category", TEXT, tr("Category"), always=False),
        OutputField("k_act", REAL, tr("Actual anonymity"), unit=tr("households nearer by"), always=False),
    ),
    "points",
    tr("Point"),
    tr("what became of each point"),
)
DONUT_AUDIT = OutputTable(
    "AUDIT",
    tr("Donut audit"),
    INTERNAL,
    tr("A row for each K_INNER and K_MIN."),
    (
        K_INNER,
        OutputField("k_outer", REAL, tr("Outer radius"), unit=PEOPLE),
        K_MIN,
        BELOW,
        OutputField(
            "percent_below_candidates",
            REAL,
            tr("With too few possible addresses"),
            tr(
                "masked households whose masked place could have come from fewer than K_MIN households, which is what "
                "an outsider has to guess among"
            ),
            "%",
        ),
        NOT_MASKED,
    ),
)
SMALLEST = OutputTable(
    "SMALLEST",
    tr("Smallest K_INNER"),
    INTERNAL,
    tr("For each K_MIN the smallest K_INNER that keeps failures to the rate you accept; empty where none does."),
    (K_MIN, replace(K_INNER, kind=INTEGER), BELOW, NOT_MASKED),
)
AREA_AUDIT = OutputTable(
    "AREA_AUDIT",
    tr("Area audit"),
    INTERNAL,
    tr("Each area with its households, those that fall short, and, with finer areas, how its people are spread."),
    (
        own(tr("the identifier of the area")),
        OutputField("households", REAL, tr("Households")),
        OutputField("not_masked", REAL, tr("Households that could not be masked")),
        replace(BELOW, help=tr("masked households that fall short of the smallest K_MIN for the first K_INNER")),
        OutputField(
            "below_{radius}",
            REAL,
            tr("Below the wanted anonymity with inner radius {radius}"),
            tr("the same for every other K_INNER"),
            "%",
            always=False,
        ),
        OutputField("sub_areas", INTEGER, tr("Finer areas"), always=False),
        OutputField("density_variance", REAL, tr("Variance of the density of the finer areas"), always=False),
        OutputField("density_variation", REAL, tr("Variation of the density of the finer areas"), always=False),
    ),
    "polygons",
    tr("Area"),
    tr("households below the wanted anonymity, %"),
)
