"""The tables that are made of a release: estimates, which say so."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .regions import LEVEL, RECORDS, REGION, SURFACE
from .schema import ALL, ESTIMATE, LONG, OutputTable, integer, own, real, text

SHOWN_AT = replace(LEVEL, kind=LONG, levels=ALL)
SAME_RECORDS = replace(RECORDS, label=tr("Records that show the same"))

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
        SAME_RECORDS,
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
        SAME_RECORDS,
        real("mean_{attribute}", tr("Estimated mean of {attribute}")),
        real(
            "sd_{attribute}",
            tr("Standard deviation of {attribute} where they may live"),
            tr("0 where the area is known"),
        ),
    ),
)
OF_AREA = own(tr("the identifier of the area"))
CASES = real("cases", tr("Estimated cases"))
EXPECTED = real("expected", tr("Expected cases"), tr("if all had the rate of their group"))
RATE_MAP = OutputTable(
    "RATE_MAP",
    tr("Map of rates"),
    ESTIMATE,
    tr(
        "A row for each area. Ratios are cases over expected cases: 1 is the rate of all. Where 1 lies in the "
        "interval, the map is hatched: the area is not told from the others. For areas given as points: their Voronoi "
        "cells."
    ),
    (
        OF_AREA,
        CASES,
        real("at_risk", tr("People at risk"), tr("estimated records, or the population")),
        EXPECTED,
        real("raw_ratio", tr("Cases over expected cases"), tr("not smoothed; empty where none is expected")),
        real("ratio", tr("Smoothed ratio")),
        real("ratio_low", tr("Lower end of its 95 % interval"), tr("by chance and by hidden places")),
        real("ratio_high", tr("Upper end of its 95 % interval"), tr("by chance and by hidden places")),
        real("rate", tr("Smoothed rate"), tr("as many as PER people")),
        real("sd_chance", tr("Standard deviation of the ratio by chance")),
        real("sd_places", tr("Standard deviation of the ratio by hidden places"), tr("0 where all areas are known")),
        SURFACE,
    ),
    "polygons",
    tr("Area"),
    tr("cases over expected; hatched: may be 1"),
)
CLUSTER_FIELDS = (
    integer("cluster", tr("Cluster"), tr("1 is the likeliest")),
    own(tr("the identifier of the area in its middle")),
    integer("areas", tr("Areas in the circle")),
    real("radius", tr("Radius"), tr("from the middle to the farthest point of an area; 0 for one area"), "m"),
    CASES,
    EXPECTED,
    real(
        "effective",
        tr("Effective expected cases"),
        tr("as many of known areas would tell as much; few mean that the cluster is mostly spread"),
    ),
    real("ratio", tr("Cases over expected cases"), tr("spreading takes off some")),
    real("relative_risk", tr("Relative risk"), tr("inside over outside; what spreading takes off is put back")),
    real("llr", tr("Log likelihood ratio")),
    real("p_value", tr("p-value"), tr("of the likeliest circle of all, through the release")),
)
CLUSTERS = OutputTable(
    "CLUSTERS",
    tr("Clusters"),
    ESTIMATE,
    tr("The areas of each cluster, joined; none where no p-value is as small as SIGNIFICANCE."),
    CLUSTER_FIELDS,
    "polygons",
    tr("Cluster"),
    tr("relative risk"),
)
CIRCLES = OutputTable(
    "CIRCLES",
    tr("Circles of clusters"),
    ESTIMATE,
    tr("The circle of each cluster; for a single area one of its size."),
    CLUSTER_FIELDS,
    "polygons",
    tr("Cluster"),
)
LOCAL_MORAN = OutputTable(
    "LOCAL_MORAN",
    tr("Local Moran"),
    ESTIMATE,
    tr(
        "A row for each area: whether it and its neighbours have more, or fewer, cases than chance gives any area of "
        "the map. For areas given as points: their Voronoi cells."
    ),
    (
        OF_AREA,
        CASES,
        EXPECTED,
        real("residual", tr("Cases less expected cases, over the root of expected cases")),
        real("local_i", tr("Local I"), tr("the area's part of Moran's I")),
        real("p_value", tr("p-value"), tr("of the largest local I of the whole map, through the release")),
        text(
            "pattern",
            tr("Pattern"),
            tr("of areas whose p-value is at most SIGNIFICANCE; “not told from chance” elsewhere"),
        ),
    ),
    "polygons",
    tr("Area"),
)
