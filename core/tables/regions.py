"""The tables of regions: releases, crosswalks, audits, sites; and of configurations that are compared."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .schema import (
    FOR_RELEASE,
    INTEGER,
    INTERNAL,
    LONG,
    NESTED,
    ONE_LEVEL,
    REAL,
    TEXT,
    OutputField,
    OutputTable,
    own,
)

LEVEL = OutputField("vbas_level", INTEGER, tr("Level (1 is the finest)"), levels=NESTED)
REGION = OutputField("vbas_region", LONG, tr("Region"), tr("the number of the region"))
PARENT = OutputField("vbas_parent", LONG, tr("Region of the next level"), levels=NESTED)
AREAS = OutputField("areas", INTEGER, tr("Areas joined"))
SURFACE = OutputField("area_km2", REAL, tr("Surface"), unit="km²")
RELEASED = OutputField("released", LONG, tr("Records released"), levels=ONE_LEVEL)
POPULATION = OutputField("population", REAL, tr("Population"))
RECORDS = OutputField("records", LONG, tr("Records"))
SUPPRESSED = OutputField("suppressed", LONG, tr("Records suppressed"))
MEAN_DISTANCE = tr("Mean distance of the people from the middle")
COUNTED = replace(RECORDS, help=tr("how many records each row stands for, where they were already counted"))

RELEASED_RECORDS = OutputTable(
    "RELEASED_RECORDS",
    tr("Released records"),
    FOR_RELEASE,
    tr(
        "The records with their region in place of their area, and nothing else. Rows are sorted by what they show, so "
        "that their order reveals nothing."
    ),
    (
        replace(LEVEL, kind=LONG, help=tr("which level the region is of; 1 is the finest")),
        REGION,
        own(tr("the quasi-identifiers and the further fields you named")),
        replace(COUNTED, always=False),
    ),
)
FLATTENED = OutputTable(
    "FLATTENED",
    tr("Records of one level"),
    FOR_RELEASE,
    tr("The records with their region of that level, and all fields of the release."),
    (REGION, own(tr("the fields of the release")), replace(COUNTED, always=False)),
)
PROFILE = OutputTable(
    "PROFILE",
    tr("Profile"),
    INTERNAL,
    tr("A row for each area and class that occurs."),
    (own(tr("the area and the quasi-identifiers")), replace(RECORDS, help=tr("how many records it has"))),
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
        OutputField("vbas_values", TEXT, tr("Values that this level shows"), levels=NESTED, always=False),
        OutputField("released", LONG, tr("Records released"), tr("records released with this region"), always=False),
        OutputField("within", LONG, tr("Records released here or in regions within"), levels=NESTED, always=False),
        OutputField("name", TEXT, tr("Name"), tr("what the region is called, where it has a name"), always=False),
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
        OutputField(
            "vbas_region_{level}",
            LONG,
            tr("Region, level {level}"),
            tr("the number of the region at each level; 1 is the finest"),
            levels=NESTED,
        ),
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
        RELEASED,
        POPULATION,
        RECORDS,
        OutputField("shown", LONG, tr("Records shown here"), levels=NESTED),
        OutputField("finer", LONG, tr("Records shown in finer regions"), levels=NESTED),
        OutputField("coarser", LONG, tr("Records shown only in coarser regions"), levels=NESTED),
        SUPPRESSED,
        OutputField("anonymity", LONG, tr("Smallest class before suppression"), levels=ONE_LEVEL),
        OutputField("classes", INTEGER, tr("Classes of quasi-identifiers")),
        OutputField("smallest", LONG, tr("Smallest class shown here"), levels=NESTED),
        OutputField("compactness", REAL, tr("Compactness: sum of distances to the site"), unit="m", levels=ONE_LEVEL),
        OutputField("distance", REAL, MEAN_DISTANCE, unit="m", levels=NESTED),
        OutputField("parts", INTEGER, tr("Pieces that do not touch")),
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
COMPARISON = OutputTable(
    "COMPARISON",
    tr("Comparison"),
    INTERNAL,
    tr(
        "A row per configuration with its measures; nested releases and baselines stand under their names. Measures "
        "are empty where a configuration failed."
    ),
    (
        OutputField("site_number", TEXT, tr("Number of regions by")),
        OutputField("site_location", TEXT, tr("Sites by")),
        OutputField("aggregation", TEXT, tr("Regions by")),
        OutputField("capacity_factor", REAL, tr("Capacity factor")),
        OutputField("n_sites", INTEGER, tr("Regions")),
        SUPPRESSED,
        OutputField("suppression_percent", REAL, tr("Records suppressed"), unit="%"),
        OutputField("compactness", REAL, tr("Compactness: sum of distances to the site"), unit="m"),
        OutputField("discernibility", REAL, tr("Discernibility")),
        OutputField("non_uniform_entropy", REAL, tr("Non-uniform entropy"), unit=tr("bits")),
        OutputField(
            "mean_distance",
            REAL,
            MEAN_DISTANCE,
            tr("how far the people of a record's region live from its middle, on average"),
            "m",
        ),
        OutputField(
            "worst_group",
            TEXT,
            tr("Group that loses most"),
            tr("the value of a quasi-identifier that loses the largest share of its records"),
        ),
        OutputField("worst_group_percent", REAL, tr("Of that group suppressed"), unit="%"),
        OutputField("seconds", REAL, tr("Seconds")),
        OutputField(
            "combination",
            INTEGER,
            tr("Combination of Croft et al. (2018)"),
            tr("the number of the combination in Croft et al. (2018, Table 4)"),
        ),
        OutputField(
            "pareto",
            INTEGER,
            tr("1 where no other is as good in all and better in one"),
            tr(
                "1 where no other row of the same k is at least as good in suppression, mean distance and what the "
                "attributes give up, and better in one"
            ),
        ),
        OutputField("problem", TEXT, tr("Why it failed")),
        OutputField("k", INTEGER, "k"),
        OutputField(
            "budget", REAL, tr("Budget of suppression"), tr("the budget of suppression that was searched for"), "%"
        ),
        OutputField(
            "generalised", TEXT, tr("Coarser values"), tr("the levels of the attributes, where coarser ones were tried")
        ),
        OutputField(
            "given_up",
            REAL,
            tr("What the coarser values give up"),
            tr("the share of the attributes' entropy that the coarser values give up"),
            "%",
        ),
        OutputField("recommended", INTEGER, tr("1 where it is recommended"), tr("1 in the row to choose")),
        OutputField(
            "lost_{attribute}",
            REAL,
            tr("Given up of {attribute}"),
            tr("the share of its entropy that each attribute gives up"),
            "%",
            always=False,
        ),
    ),
)
