"""The usual names of fields, and which field of a table has one."""

from __future__ import annotations

import re
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
    "POPULATION": (
        *("population", "pop", "people", "pop2021", "pop2016", "persons", "total_population"),
        *("totpop", "tot_pop", "pop_tot", "pop_total", "pop100", "poptotal", "totalpop"),
    ),
    "AREA_ID": AREA_IDS,
    "CELL_ID": ("cell_id", "cellid", "cell", "grid_id", "id"),
    "PROVINCE": ("province", "prov", "pruid", "pr"),
}
# What numbers rows in the formats that QGIS reads.
ROW_NUMBERS = ("fid", "ogc_fid", "gid", "objectid", "rowid", "ogc_fid0")
_DATED = re.compile(r"(.*[a-z])_?((?:19|20)?\d\d)")


def usual_field(fields: Iterable[str], names: Iterable[str]) -> str:
    """The field that has the first of these names that any has, as it is spelt; else that has one with a year behind
    it, the latest; empty where none has."""
    there = {field.lower(): field for field in reversed(list(fields)) if field.lower() not in ROW_NUMBERS}
    dated = {match[1]: there[name] for name in sorted(there) if (match := _DATED.fullmatch(name)) is not None}
    wanted = [name.lower() for name in names]
    return next((of[name] for of in (there, dated) for name in wanted if name in of), "")
