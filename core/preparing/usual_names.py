"""The usual names of fields, and which field of a table has one."""

from __future__ import annotations

from collections.abc import Iterable

# The finest identifier first: a layer of blocks also says in which area each lies. In any case of letters.
AREA_IDS = (
    *("dbuid", "dauid", "adauid", "ctuid", "csduid", "dguid", "geouid", "geoid", "geo_code", "geocode"),
    *("area_id", "areaid", "region_id", "regionid", "area", "region", "da", "code", "id"),
)
# By the name of a parameter; a name in capitals is another parameter, whose field a table is likely to share.
USUAL_FIELDS = {
    "REGION_ID": AREA_IDS,
    "RECORD_REGION": ("REGION_ID", *AREA_IDS),
    "POPULATION": ("population", "pop", "people", "pop2021", "pop2016", "persons", "total_population"),
    "AREA_ID": AREA_IDS,
    "CELL_ID": ("cell_id", "cellid", "cell", "grid_id", "id"),
    "PROVINCE": ("province", "prov", "pruid", "pr"),
}
# What numbers rows in the formats that QGIS reads.
ROW_NUMBERS = ("fid", "ogc_fid", "gid", "objectid", "rowid", "ogc_fid0")


def usual_field(fields: Iterable[str], names: Iterable[str]) -> str:
    """The field that has the first of these names that any has, as it is spelt; empty where none has."""
    there = {field.lower(): field for field in reversed(list(fields)) if field.lower() not in ROW_NUMBERS}
    return next((there[name.lower()] for name in names if name.lower() in there), "")
