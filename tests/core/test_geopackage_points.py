"""Points and surfaces in a new GeoPackage: what stands in the rows, and that the index finds what a rectangle meets."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing

import numpy as np
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vbas.core.progress import silent
from vbas.core.publish.geopackage.filling import fill_geopackage
from vbas.core.publish.geopackage.points import _above, _below
from vbas.core.records.sqlite_file import quoted

from ..systems import of_posix


class Numbered:
    """Rows of one number each."""

    def __init__(self, n):
        self._n = n

    def __len__(self):
        return self._n

    def runs(self):
        return None

    def coded(self):
        return None

    def rows_at(self, positions):
        return [(int(position),) for position in positions]

    def chunks(self):
        for start in range(0, self._n, 700):
            yield start, [(position,) for position in range(start, min(start + 700, self._n))]


def empty_file(file, table, node_size, with_index=True):
    """What OGR makes of a GeoPackage, as far as it is looked at here."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA page_size = {node_size}")
        connection.execute("CREATE TABLE gpkg_contents (table_name, min_x, min_y, max_x, max_y)")
        connection.execute("INSERT INTO gpkg_contents (table_name) VALUES (?)", (table,))
        connection.execute("CREATE TABLE gpkg_geometry_columns (table_name, column_name, srs_id)")
        connection.execute("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', 26914)", (table,))
        connection.execute(
            f"CREATE TABLE {quoted(table)} (fid INTEGER PRIMARY KEY AUTOINCREMENT, geom BLOB, number INTEGER)"
        )
        if with_index:
            connection.execute(
                f"CREATE VIRTUAL TABLE {quoted(f'rtree_{table}_geom')} USING rtree(id, minx, maxx, miny, maxy)"
            )
        connection.commit()


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(0, 400) | st.sampled_from([51, 52, 2601, 2602, 7000]),
    kind=st.sampled_from(["anywhere", "one place", "a grid", "a line", "degrees"]),
    nowhere=st.sampled_from([0.0, 0.3, 1.0]),
    node_size=st.sampled_from([512, 1024, 4096]),
    seed=st.integers(0, 2**32 - 1),
)
@example(n=7000, kind="anywhere", nowhere=0.0, node_size=512, seed=0)
@example(n=400, kind="anywhere", nowhere=0.3, node_size=1024, seed=0)  # of 960 bytes, 39 cells have room
@of_posix
def test_the_index_finds_what_lies_in_a_rectangle(tmp_path_factory, n, kind, nowhere, node_size, seed):
    draws = np.random.default_rng(seed)
    points = draws.uniform(-1e7, 1e7, (n, 2))
    if kind == "one place":
        points[:] = [630_000.123, 5_520_000.456]
    elif kind == "a grid":
        points = np.round(points, -6)
    elif kind == "a line":
        points[:, 1] = 0.1
    elif kind == "degrees":
        points /= 1e5
    lost = draws.random(n) < nowhere
    points[lost, draws.integers(0, 2, int(lost.sum()))] = np.nan  # a place is nowhere that lacks one number
    table = 'a "b"'
    file = tmp_path_factory.mktemp("points") / f"{table}.gpkg"
    empty_file(file, table, node_size)
    fill_geopackage(file, ["number"], Numbered(n), silent, points)
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute('SELECT fid, number, geom FROM "a ""b"""').fetchall()
        assert [(fid, number) for fid, number, _ in rows] == [(i + 1, i) for i in range(n)]
        for (_, number, place), (x, y) in zip(rows, points.tolist()):
            header = b"GP\x00\x01" + struct.pack("<i", 26914)
            assert place == (None if lost[number] else header + struct.pack("<BIdd", 1, 1, x, y))
        assert connection.execute("SELECT rtreecheck(?)", ('rtree_a "b"_geom',)).fetchone() == ("ok",)
        there = points[~lost]
        reach = connection.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents").fetchone()
        assert reach == ((*there.min(axis=0), *there.max(axis=0)) if len(there) else (None,) * 4)
        for _ in range(4 if len(there) else 0):
            west, south = np.minimum(*(corners := draws.choice(there, 2)))
            east, north = np.maximum(*corners)
            found = connection.execute(
                'SELECT id FROM "rtree_a ""b""_geom" WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?',
                (west, east, south, north),
            )
            ids = np.array([fid for (fid,) in found], np.int64)
            inside = (points >= [west, south]).all(axis=1) & (points <= [east, north]).all(axis=1)
            assert set(np.flatnonzero(inside) + 1) <= set(ids.tolist())
            # Numbers of 32 bits: a little more may be found, no more than a step of theirs away.
            near = np.spacing(np.abs(points[ids - 1]).astype(np.float32)).astype(float)
            assert (points[ids - 1] >= [west, south] - 2 * near).all()
            assert (points[ids - 1] <= [east, north] + 2 * near).all()
        assert connection.execute('SELECT count(*) FROM "rtree_a ""b""_geom"').fetchone() == (len(there),)
        # Rows that somebody adds or takes away later find their place in it.
        if len(there):
            connection.execute('INSERT INTO "rtree_a ""b""_geom" VALUES (?, 0, 0, 0, 0)', (n + 1,))
            connection.execute('DELETE FROM "rtree_a ""b""_geom" WHERE id = ?', (int(np.flatnonzero(~lost)[0]) + 1,))
            assert connection.execute("SELECT rtreecheck(?)", ('rtree_a "b"_geom',)).fetchone() == ("ok",)


def test_a_table_without_an_index_gets_none(tmp_path):
    file = tmp_path / "points.gpkg"
    empty_file(file, "points", 4096, with_index=False)
    fill_geopackage(file, ["number"], Numbered(3), silent, np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]]))
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*), count(geom) FROM points").fetchone() == (3, 2)


def test_surfaces_stand_in_their_rows_with_what_they_reach_and_are_found(tmp_path):
    draws = np.random.default_rng(1)
    corner = draws.uniform(-1e6, 1e6, (700, 2))
    boxes = shapely.box(*corner.T, *(corner + draws.uniform(1, 1e5, (700, 2))).T)
    file = tmp_path / "a.gpkg"
    empty_file(file, "a", 512)
    fill_geopackage(
        file, ["number"], Numbered(700), silent, surfaces=shapely.multipolygons(boxes, indices=np.arange(700))
    )
    bounds = shapely.bounds(boxes)
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT number, geom FROM a ORDER BY fid").fetchall()
        for (number, blob), box, (west, south, east, north) in zip(rows, boxes, bounds.tolist()):
            assert blob[:40] == b"GP\x00\x03" + struct.pack("<i4d", 26914, west, east, south, north)
            assert shapely.from_wkb(blob[40:]).geom_type == "MultiPolygon"
            assert shapely.equals_exact(shapely.get_parts(shapely.from_wkb(blob[40:]))[0], box) and boxes[number] is box
        assert connection.execute("SELECT rtreecheck('rtree_a_geom')").fetchone() == ("ok",)
        reach = connection.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents").fetchone()
        assert reach == (*bounds[:, :2].min(axis=0), *bounds[:, 2:].max(axis=0))
        for west, south, east, north in bounds[:50].tolist():
            found = connection.execute(
                "SELECT id FROM rtree_a_geom WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?",
                (west, east, south, north),
            )
            meet = (bounds[:, :2] <= [east, north]).all(axis=1) & (bounds[:, 2:] >= [west, south]).all(axis=1)
            assert set(np.flatnonzero(meet) + 1) <= {number for (number,) in found}


def test_bounds_of_32_bits_are_the_nearest_that_hold_a_number():
    numbers = np.array([0.0, 1.0, -1.0, 0.1, -0.1, 2.0**24 + 1, 5e6 + 1 / 3, -(2.0**25) - 1, 1e-60, -1e-60])
    below, above = _below(numbers), _above(numbers)
    assert below.dtype == above.dtype == np.float32
    assert (below <= numbers).all() and (np.nextafter(below, np.float32(np.inf)) > numbers).all()
    assert (above >= numbers).all() and (np.nextafter(above, np.float32(-np.inf)) < numbers).all()
