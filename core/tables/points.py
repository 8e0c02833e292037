"""The tables of masked points, and of the audit of a masking."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .schema import FOR_RELEASE, INTEGER, INTERNAL, OutputTable, integer, long, own, real, text

PEOPLE = tr("people")
K_INNER = real("k_inner", tr("Inner radius"), unit=PEOPLE)
K_MIN = real("k_min", tr("Wanted anonymity"), unit=tr("households"))
BELOW = real("percent_below", tr("Below the wanted anonymity"), tr("fewer than K_MIN households are nearer by"), "%")
NOT_MASKED = real("percent_not_masked", tr("Not masked"), unit="%")
K_OUTER = real("k_outer", tr("Outer radius"), unit=PEOPLE)
MOVED = real("mean_displacement", tr("Mean displacement"), tr("what it costs in spatial resolution"), "m")

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
        long("point", tr("Number of the point")),
        text("outcome", tr("What became of the point")),
        text("area", tr("Area")),
        real("people", tr("People to hide among in the area")),
        real("inner_m", tr("Inner radius"), unit="m"),
        real("outer_m", tr("Outer radius"), unit="m"),
        real("displacement", tr("Displacement"), unit="m"),
        real("k_est", tr("Estimated anonymity"), unit=PEOPLE),
        long("home", tr("Home")),
        long("members", tr("Points of the same home")),
        real("candidates", tr("Addresses it may have come from"), tr("empty without HOUSEHOLDS")),
        real("candidates_left", tr("Addresses left with the earlier place"), tr("with EARLIER"), always=False),
        text("category", tr("Category"), always=False),
        real("k_act", tr("Actual anonymity"), unit=tr("households nearer by"), always=False),
    ),
    "points",
    tr("Point"),
    tr("what became of each point"),
)
DONUT_AUDIT = OutputTable(
    "AUDIT",
    tr("Donut audit"),
    INTERNAL,
    tr("A row for each K_INNER, K_OUTER and K_MIN, and for each mask to compare with."),
    (
        text("method", tr("How points were masked"), tr("“donut”, or what it is compared with")),
        replace(K_INNER, help=tr("0 without an inner radius, empty without a ring")),
        replace(K_OUTER, help=tr("empty without a ring")),
        K_MIN,
        BELOW,
        real(
            "percent_below_candidates",
            tr("With too few possible addresses"),
            tr("fewer than K_MIN, among which an outsider has to guess"),
            "%",
        ),
        NOT_MASKED,
        MOVED,
        real("median_displacement", tr("Median displacement"), unit="m"),
        real("clusters_found", tr("Planted clusters found"), tr("with PLANTED_CLUSTERS"), "%", always=False),
        real(
            "sensitivity",
            tr("Sensitivity"),
            tr("of the households in a planted cluster, those in the one that is found"),
            "%",
            always=False,
        ),
        real(
            "specificity",
            tr("Specificity"),
            tr("of the households outside it, those outside the one that is found"),
            "%",
            always=False,
        ),
    ),
)
SMALLEST = OutputTable(
    "SMALLEST",
    tr("Smallest K_INNER"),
    INTERNAL,
    tr(
        "For each K_MIN, and each K_OUTER if you list some, the smallest K_INNER that keeps failures to the rate you "
        "accept; empty where none does."
    ),
    (K_MIN, replace(K_INNER, kind=INTEGER), K_OUTER, BELOW, NOT_MASKED, MOVED),
)
AREA_AUDIT = OutputTable(
    "AREA_AUDIT",
    tr("Area audit"),
    INTERNAL,
    tr("Each area with its households, those that fall short, and, with finer areas, how its people are spread."),
    (
        own(tr("the identifier of the area")),
        real("households", tr("Households")),
        real("not_masked", tr("Households that could not be masked")),
        replace(BELOW, help=tr("the smallest K_MIN, with the first K_INNER")),
        real("below_{radius}", tr("Below the wanted anonymity with inner radius {radius}"), unit="%", always=False),
        integer(
            "quintile_{radius}",
            tr("Fifth of the areas with inner radius {radius}"),
            tr("by the same share, 5 the worst; of several K_OUTER the smallest"),
            always=False,
        ),
        integer("sub_areas", tr("Finer areas"), always=False),
        real("density_variance", tr("Variance of the density of the finer areas"), always=False),
        real("density_variation", tr("Variation of the density of the finer areas"), always=False),
    ),
    "polygons",
    tr("Area"),
    tr("households below the wanted anonymity, %"),
)
