"""A field of an output is one line of core/tables and the number that it shows: all else tells of it by itself."""

from __future__ import annotations

import runpy
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import shapely
from qgis.core import QgsCoordinateReferenceSystem, QgsVectorLayer

from vbas.algorithms.form.base import _declared
from vbas.algorithms.layers.delivery import writing
from vbas.algorithms.layers.delivery.styles import STYLES_OF, style
from vbas.algorithms.layers.tables import Table, TableColumn, filled, number_fields
from vbas.algorithms.named import DOCS
from vbas.core.evaluation import RegionAudit
from vbas.core.tables import TABLES, cells, privacy, regions, tables_of
from vbas.core.tables.schema import NESTED, ONE_LEVEL, real

SCRATCH = real("scratch", "Scratch", "half of the records, to try", "m")


@pytest.fixture
def with_field():
    """with_field(table, field): the table has one more field, before the last, until the test ends."""
    kept = []
    _declared.clear()  # what forms declared before does not tell of it

    def add(table, field):
        kept.append((table, table.fields))
        object.__setattr__(table, "fields", (*table.fields[:-1], field, table.fields[-1]))

    yield add
    for table, fields in reversed(kept):
        object.__setattr__(table, "fields", fields)
    _declared.clear()


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_a_field_that_is_added_is_complete(anonymize, provider, monkeypatch, tmp_path, with_field, release):
    """One line in the table, and what measures it: the file, its alias, tips, help and reference have it."""
    with_field(regions.REGION_AUDIT, SCRATCH)
    monkeypatch.setattr(RegionAudit, "scratch", property(lambda self: self.records / 2), raising=False)
    file = tmp_path / "audit.gpkg"
    anonymize(REGION_AUDIT=str(file), RELEASE=release)
    layer = QgsVectorLayer(str(file), "audit", "ogr")
    assert layer.fields().field("scratch").alias() == "Scratch, m"
    rows = [(feature["records"], feature["scratch"]) for feature in layer.getFeatures()]
    assert rows and all(half == records / 2 for records, half in rows)
    assert "Scratch, m&nbsp;" in layer.mapTipTemplate()
    layer.loadDefaultMetadata()
    told = "“scratch”: Scratch, m (half of the records, to try)"
    form = provider.algorithm("anonymize").create()
    for text in (layer.metadata().abstract(), form.parameterDefinition("REGION_AUDIT").help()):
        assert told in text
    page = runpy.run_path(str(DOCS.parent / "scripts" / "reference.py"))["page_of"](form)
    assert "\n| `scratch` | Scratch, m | a number | half of the records, to try |\n" in page


def test_a_field_of_some_releases_is_in_those(with_field):
    with_field(regions.VORONOI, real("single", "Single", levels=ONE_LEVEL))
    with_field(regions.VORONOI, real("nested", "Nested", levels=NESTED))
    with_field(regions.VORONOI, real("seldom", "Seldom", always=False))
    columns: dict[str, TableColumn] = {"vbas_region": [1], "single": [1.0], "nested": [2.0]}
    for nested, names in ((False, ["single", "vbas_region"]), (True, ["nested", "vbas_region"])):
        table = filled(regions.VORONOI, columns, nested=nested)
        assert [field.name() for field in table.fields] == names
        with pytest.raises(KeyError, match=names[0]):  # nothing measures it
            filled(regions.VORONOI, {"vbas_region": [1]}, nested=nested)
    assert [field.name() for field in filled(regions.VORONOI, {**columns, "seldom": [3.0]}).fields][1] == "seldom"


def test_a_column_without_a_field_is_refused():
    with pytest.raises(KeyError, match="other"):
        filled(regions.SITE_POINTS, {"vbas_region": [1], "other": [2]})
    with pytest.raises(KeyError, match="vbas_region"):
        filled(regions.SITE_POINTS, {})


def test_no_number_is_no_value_and_fields_take_turns():
    (name,) = number_fields(sex="text")
    shares: dict[str, TableColumn] = {"vbas_share_1": np.array([0.5, np.nan]), "vbas_share_2": [0.25, None]}
    values = {"vbas_values_1": np.array([1, 2]), "vbas_values_2": np.array([3, 4])}
    columns: dict[str, TableColumn] = {"vbas_records": [5, 6], "vbas_people": [5, 6]}
    for n in (1, 2):
        columns |= {f"vbas_values_{n}": values[f"vbas_values_{n}"], f"vbas_share_{n}": shares[f"vbas_share_{n}"]}
    table = filled(privacy.CHECK, columns, own=[(name, ["F", "M"])])
    assert [field.name() for field in table.fields] == ["sex", *columns]
    assert table.rows_at(np.array([1])) == [("M", 6, 6, 2, None, 4, None)]


def test_looks_name_fields_of_their_table():
    for output, styles in STYLES_OF.items():
        named = {name for look in styles for part in (look, getattr(look, "finest", look)) for name in _fields_of(part)}
        known = {name for table in tables_of(output) for name in table.names}
        assert named <= known, output
    assert set(STYLES_OF) <= {table.parameter for table in TABLES}


def _fields_of(look):
    return (*getattr(look, "fields", ()), *([look.field] if hasattr(look, "field") else []))


def test_names_that_a_format_cut_are_told_and_those_of_the_user_are_not(qgis_app):
    layer = QgsVectorLayer("None?field=candidates:double&field=percent_be:double&field=people:double", "x", "memory")
    style(layer, "AUDIT")
    aliases = [field.alias() for field in layer.fields()]
    assert aliases == ["Addresses it may have come from", "Below the wanted anonymity, %", _of("people")]
    style(layer, "GROUPS")
    other = QgsVectorLayer("None?field=people:double&field=cells:int", "x", "memory")
    style(other, "GROUPS")
    assert [field.alias() for field in other.fields()] == ["", cells.GROUPS.alias_of("cells")]


def _of(name):
    return next(table.alias_of(name) for table in tables_of("AUDIT") if table.alias_of(name))


@pytest.mark.parametrize("crs", ["EPSG:3347", "EPSG:4326"])
def test_surfaces_written_in_bulk_are_those_that_qgis_writes(tmp_path, monkeypatch, crs):
    """The very bytes of each row; one that is empty is left to QGIS, with all others."""
    draws = np.random.default_rng(2)
    centres = draws.uniform(-80, 80, (300, 2))
    shapes = shapely.buffer(shapely.points(centres), draws.uniform(0.1, 9, 300))
    shapes[:50] = [shapely.union(shape, shapely.box(170, 0, 171, 1)) for shape in shapes[:50]]
    shapes[50:99] = shapely.difference(shapes[50:99], shapely.buffer(shapely.points(centres[50:99]), 0.05))
    fields = number_fields(vbas_region="long", area_km2="real")
    columns = [np.arange(300), draws.uniform(0, 9, 300)]
    written = {}
    for way in ("in bulk", "by QGIS", "with an empty one"):
        if way == "with an empty one":
            shapes = np.append(shapes[:-1], shapely.MultiPolygon())
        with monkeypatch.context() as patched:
            if way == "by QGIS":
                patched.setattr(writing, "_surfaces", lambda _: None)
            file = tmp_path / f"{way[:2]}" / "regions.gpkg"
            file.parent.mkdir(exist_ok=True)
            table = Table(fields, columns, "polygons", shapes, QgsCoordinateReferenceSystem(crs))
            file.unlink(missing_ok=True)
            writing.write_file(file, table, "Regions")
        with closing(sqlite3.connect(file)) as connection:
            written[way] = [
                connection.execute(sql).fetchall()
                for sql in (
                    "SELECT * FROM regions ORDER BY fid",
                    "SELECT id FROM rtree_regions_geom ORDER BY id",
                    "SELECT feature_count FROM gpkg_ogr_contents",
                    "SELECT name, sql FROM sqlite_master ORDER BY name",
                    "SELECT rtreecheck('rtree_regions_geom')",
                )
            ]
    assert written["in bulk"] == written["by QGIS"] and written["in bulk"][-1] == [("ok",)]
    assert written["with an empty one"][0][:-1] == written["by QGIS"][0][:-1]
