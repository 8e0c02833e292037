"""The tables of regions: releases, crosswalks, audits, sites; and of configurations that are compared."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .schema import (
    FOR_RELEASE,
    INTERNAL,
    LONG,
    NESTED,
    ONE_LEVEL,
    OutputField,
    OutputTable,
    integer,
    long,
    own,
    real,
    text,
)

LEVEL = integer("vbas_level", tr("Level (1 is the finest)"), levels=NESTED)
REGION = long("vbas_region", tr("Region"))
PARENT = long("vbas_parent", tr("Region of the next level"), levels=NESTED)
AREAS = integer("areas", tr("Areas joined"))
SURFACE = real("area_km2", tr("Surface"), unit="km²")
RELEASED = long("released", tr("Records released"))
RECORDS = long("records", tr("Records"))
SUPPRESSED = long("suppressed", tr("Records suppressed"))
MEAN_DISTANCE = tr("Mean distance of the people from the middle")
COUNTED = replace(RECORDS, help=tr("of a row, where they were already counted"), always=False)

RELEASED_RECORDS = OutputTable(
    "RELEASED_RECORDS",
    tr("Released records"),
    FOR_RELEASE,
    tr(
        "The records with their region in place of their area, and nothing else. Rows are sorted by what they show, so "
        "that their order reveals nothing."
    ),
    (replace(LEVEL, kind=LONG), REGION, own(tr("the quasi-identifiers and the further fields you named")), COUNTED),
)
FLATTENED = OutputTable(
    "FLATTENED",
    tr("Records of one level"),
    FOR_RELEASE,
    tr("The records with their region of that level, and all fields of the release."),
    (REGION, own(tr("the fields of the release")), COUNTED),
)
PROFILE = OutputTable(
    "PROFILE",
    tr("Profile"),
    INTERNAL,
    tr("A row for each area and class that occurs."),
    (own(tr("the area and the quasi-identifiers")), RECORDS),
)
RELEASED_REGIONS = OutputTable(
    "RELEASED_REGIONS",
    tr("Released regions"),
    FOR_RELEASE,
    tr("The regions as polygons. For areas given as points: their Voronoi cells."),
    (
        LEVEL,
        REGION,
        PARENT,
        AREAS,
        SURFACE,
        text("vbas_values", tr("Values that this level shows"), levels=NESTED, always=False),
        replace(RELEASED, always=False),
        long("within", tr("Records released here or in regions within"), levels=NESTED, always=False),
        text("name", tr("Name"), always=False),
    ),
    "polygons",
    tr("Region"),
    tr("records released per km²"),
)
CROSSWALK = OutputTable(
    "CROSSWALK",
    tr("Crosswalk"),
    FOR_RELEASE,
    tr(
        "The region that each area belongs to, to link other statistics of the areas with the release. Areas that a "
        "method leaves out have no region."
    ),
    (
        own(tr("the identifier of the area")),
        replace(REGION, levels=ONE_LEVEL),
        long("vbas_region_{level}", tr("Region, level {level}"), tr("1 is the finest"), levels=NESTED),
    ),
)
REGION_AUDIT = OutputTable(
    "REGION_AUDIT",
    tr("Region audit"),
    INTERNAL,
    tr("The regions with what they cost."),
    (
        LEVEL,
        REGION,
        PARENT,
        AREAS,
        SURFACE,
        replace(RELEASED, levels=ONE_LEVEL),
        real("population", tr("Population")),
        RECORDS,
        long("shown", tr("Records shown here"), levels=NESTED),
        long("finer", tr("Records shown in finer regions"), levels=NESTED),
        long("coarser", tr("Records shown only in coarser regions"), levels=NESTED),
        SUPPRESSED,
        long("anonymity", tr("Smallest class before suppression"), levels=ONE_LEVEL),
        integer("classes", tr("Classes of quasi-identifiers")),
        long("smallest", tr("Smallest class shown here"), levels=NESTED),
        real("compactness", tr("Compactness: sum of distances to the site"), unit="m", levels=ONE_LEVEL),
        real("distance", MEAN_DISTANCE, unit="m", levels=NESTED),
        integer("parts", tr("Pieces that do not touch")),
        real("area_hull", tr("Share of the hull that is filled")),
        real("elongation", tr("Longest diameter over that of a circle as large"), tr("1 is round, a square has 1.25")),
        real("least_area_hull", tr("Least share of its hull that an area fills"), always=False),
        real("most_elongation", tr("Largest elongation of an area"), tr("not of areas given as points"), always=False),
        integer(
            "distorting",
            tr("Areas that distort"),
            tr("elongation above 2, and longer than a circle as large as the region"),
            always=False,
        ),
    ),
    "polygons",
    tr("Region"),
    tr("records suppressed, % of all"),
)
SITE_POINTS = OutputTable(
    "SITE_POINTS",
    tr("Sites"),
    INTERNAL,
    tr("The points that draw the regions."),
    (REGION,),
    "points",
    tr("Site of region"),
)
VORONOI = OutputTable(
    "VORONOI",
    tr("Voronoi diagram"),
    INTERNAL,
    tr(
        "The cells of the sites. An area joins the site nearest to its point, so regions follow the cells along the "
        "borders of the areas."
    ),
    (REGION,),
    "polygons",
    tr("Cell of region"),
)
# What a researcher finds of planted outcomes, by the names of `AnalysisMeasures`.
ANALYSES = (
    real("map_error", tr("Error of a map over that with true areas"), always=False),
    real("effect_found", tr("Planted effect that is found"), tr("1 is all of it"), always=False),
    real("effect_covered", tr("95 % intervals that hold the effect"), unit="%", always=False),
    real("effect_error", tr("Standard error of the effect over that with true areas"), always=False),
    real("cluster_found", tr("Of the people in planted clusters found"), unit="%", always=False),
    real("cluster_right", tr("Of the people found in planted clusters"), unit="%", always=False),
    real("rare_slope", tr("Rare groups: slope of estimated on true shares"), always=False),
    real("rare_kept", tr("Rare groups: records released"), unit="%", always=False),
)
COMPARISON = OutputTable(
    "COMPARISON",
    tr("Comparison"),
    INTERNAL,
    tr(
        "A row per configuration with its measures; nested releases and baselines stand under their names. Measures "
        "are empty where a configuration failed."
    ),
    (
        text("site_number", tr("Number of regions by")),
        text("site_location", tr("Sites by")),
        text("aggregation", tr("Regions by")),
        real("capacity_factor", tr("Capacity factor")),
        integer("n_sites", tr("Regions")),
        SUPPRESSED,
        real("suppression_percent", tr("Records suppressed"), unit="%"),
        real("compactness", tr("Compactness: sum of distances to the site"), unit="m"),
        real("discernibility", tr("Discernibility")),
        real("non_uniform_entropy", tr("Non-uniform entropy"), unit=tr("bits")),
        real("mean_distance", MEAN_DISTANCE, tr("of the region that a record shows"), "m"),
        text("worst_group", tr("Group that loses most"), tr("the value that loses the largest share of its records")),
        real("worst_group_percent", tr("Of that group suppressed"), unit="%"),
        real("seconds", tr("Seconds")),
        integer("combination", tr("Combination of Croft et al. (2018)"), tr("Table 4")),
        integer(
            "pareto",
            tr("1 where no other is as good in all and better in one"),
            tr(
                "of suppression, mean distance and what the attributes give up, among rows of the same k and kind "
                "(one level, or nested)"
            ),
        ),
        text("problem", tr("Why it failed")),
        integer("k", "k"),
        real("budget", tr("Budget of suppression"), unit="%"),
        text("generalised", tr("Coarser values"), tr("the level of each attribute, where they were searched")),
        real("given_up", tr("What the coarser values give up"), tr("of the entropy of all attributes"), "%"),
        integer("recommended", tr("1 where it is recommended")),
        real("weighted_sum", tr("Weighted sum"), tr("of the objectives, by WEIGHTS; less is better"), always=False),
        real("lost_{attribute}", tr("Given up of {attribute}"), tr("of its entropy"), "%", always=False),
        *ANALYSES,
    ),
)


def _with_range(mean: OutputField) -> tuple[OutputField, OutputField, OutputField]:
    """An average, and the least and the most of the scenarios."""
    least = replace(mean, name=f"{mean.name}_least", label=tr("{measure}: least", measure=mean.label), help="")
    most = replace(mean, name=f"{mean.name}_most", label=tr("{measure}: most", measure=mean.label), help="")
    return mean, least, most


_AVERAGED = (
    real("n_sites", tr("Regions, on average")),
    real("suppression_percent", tr("Records suppressed, on average"), unit="%"),
    real("compactness", tr("Compactness, on average"), unit="m"),
    real("discernibility", tr("Discernibility, on average")),
    real("non_uniform_entropy", tr("Non-uniform entropy, on average"), unit=tr("bits")),
    real("mean_distance", tr("Mean distance of the people from the middle, on average"), unit="m"),
    real("seconds", tr("Seconds, on average")),
    real("suppressed_of_first", tr("Suppressed, of what the first configuration suppresses"), unit="%"),
    real("compactness_of_first", tr("Compactness, of that of the first configuration"), unit="%"),
    real("discernibility_of_first", tr("Discernibility, of that of the first configuration"), unit="%"),
    real("entropy_of_first", tr("Non-uniform entropy, of that of the first configuration"), unit="%"),
)
SCENARIO_AVERAGES = OutputTable(
    "SCENARIO_AVERAGES",
    tr("Averages over scenarios"),
    INTERNAL,
    tr(
        "A row per configuration and part, and one per configuration for all parts together: averages over the random "
        "selections, in which every scenario counts the same, with the least and the most of them. What is given of "
        "the first configuration is its share in each scenario, averaged where the first is not 0."
    ),
    (
        text("part", tr("Part"), tr("empty for all together")),
        text("site_number", tr("Number of regions by")),
        text("site_location", tr("Sites by")),
        text("aggregation", tr("Regions by")),
        real("capacity_factor", tr("Capacity factor")),
        integer("k", "k"),
        integer("scenarios", tr("Scenarios that were run")),
        integer("failed", tr("Scenarios in which it failed")),
        *(field for mean in _AVERAGED for field in _with_range(mean)),
    ),
)
