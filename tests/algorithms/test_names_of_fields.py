"""Fields and tables of the user's may be called as the columns and tables of the program's own are."""

from __future__ import annotations

from collections import Counter

import pytest

from .conftest import make_layer
from .test_destinations import save

# A quasi-identifier, another one, a kept field.
NAMES = [
    ("vbas_class", "vbas_n", "vbas_rows"),
    ("cell", "label", "n"),
    ("key", "size", "count"),
    ("fid", "geom", "rowid"),
    ("row_id", "shape", "fid"),
    ("vbas_row_id", "row_id", "fid"),
    ("ogc_fid", "a", "b"),
    ("records", "level", "region"),
    ("class", "group", "order"),
    ("self", "name", "table"),
    ("two words", "it's", "50%"),
    ("{}", "a|b", "a.b"),
]


def renamed(records, names):
    columns = {field.name(): [] for field in records.fields()}
    for feature in records.getFeatures():
        for name, value in zip(columns, feature.attributes()):
            columns[name].append(value or None)
    other = dict(zip(("sex", "age", "diagnosis"), names))
    return make_layer({other.get(name, name): values for name, values in columns.items()})


def rows(run, names):
    return Counter(tuple(row[name] or None for name in ("vbas_region", *names)) for row in run.rows("RELEASED_RECORDS"))


@pytest.mark.parametrize("ending", ["memory", "gpkg", "csv"])
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_fields_may_be_called_as_our_own(anonymize, grid, tmp_path, names, ending):
    expected = rows(anonymize(KEEP_FIELDS=["diagnosis"]), ("sex", "age", "diagnosis"))
    records, output = renamed(grid[1], names), "memory:"
    if ending != "memory":
        output = str(tmp_path / f"out.{ending}")
    if ending == "csv" or (ending == "gpkg" and "fid" not in names):  # which GeoPackages number their rows by
        save(records, tmp_path / f"records.{ending}", {"gpkg": "GPKG", "csv": "CSV"}[ending])
        records = str(tmp_path / f"records.{ending}")
    done = anonymize(RECORDS=records, QUASI_IDENTIFIERS=[*names[:2]], KEEP_FIELDS=[names[2]], RELEASED_RECORDS=output)
    found = rows(done, names)
    if ending == "csv":
        found = Counter({(int(r), s, a and int(a), d): n for (r, s, a, d), n in found.items()})
    assert found == expected


@pytest.mark.parametrize("name", ["vbas_numbers", "main", "temp", "vbas_query", "size", "n", "a", "x"])
def test_a_geopackage_may_be_called_as_our_own(anonymize, tmp_path, name):
    expected = rows(anonymize(), ("sex", "age"))
    done = anonymize(RELEASED_RECORDS=str(tmp_path / f"{name}.gpkg"))
    assert rows(done, ("sex", "age")) == expected
