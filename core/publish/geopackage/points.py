"""Shapes in the table of a new GeoPackage, and the index of their places, made at once for all of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
import shapely

from ...records.sqlite_file import quoted

# A place as GeoPackage 1.3 (2.1.3) has it: a header without an envelope, and a point as WKB, lowest byte first.
_HEADER = (("magic", "S2"), ("version", "u1"), ("flags", "u1"), ("crs", "<i4"))
_PLACE = np.dtype([*_HEADER, ("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")])
# What stands before a surface: a header with an envelope, of west, east, south and north.
_FRONT, _ENVELOPE_THERE, _LOWEST_FIRST = np.dtype([*_HEADER, ("envelope", "<f8", 4)]), 2, 1
# A cell of SQLite's R*Tree: what it leads to, and its bounds.
_CELL = np.dtype([("to", ">i8"), ("bounds", ">f4", 4)])
MOST_CELLS = 51  # of a node, whatever its size


def place_points(connection: sqlite3.Connection, table: str, points: np.ndarray) -> tuple[str, Sequence[bytes | None]]:
    """The name of the table's geometry field, and what stands there for each point; says how far they reach.

    points : (N, 2), NaN for nowhere
    """
    shape, crs = _column_of(connection, table)
    places = np.zeros(len(points), _PLACE)
    for name, value in (("magic", b"GP"), ("flags", _LOWEST_FIRST), ("crs", crs), ("order", 1), ("kind", 1)):
        places[name] = value
    places["x"], places["y"] = points.T
    there = np.isfinite(points).all(axis=1)
    blobs = places.view(np.dtype((np.void, _PLACE.itemsize))).astype(object)
    blobs[~there] = None
    _say_how_far(connection, table, np.hstack([points[there], points[there]]))
    return shape, blobs.tolist()


def place_surfaces(connection: sqlite3.Connection, table: str, surfaces: np.ndarray) -> tuple[str, Sequence[bytes]]:
    """The same of surfaces. surfaces : (N,) flat multipolygons, none of them empty"""
    shape, crs = _column_of(connection, table)
    bounds = shapely.bounds(surfaces)
    fronts = np.zeros(len(surfaces), _FRONT)
    for name, value in (("magic", b"GP"), ("flags", _ENVELOPE_THERE | _LOWEST_FIRST), ("crs", crs)):
        fronts[name] = value
    fronts["envelope"] = bounds[:, [0, 2, 1, 3]]
    _say_how_far(connection, table, bounds)
    wkbs = shapely.to_wkb(surfaces, byte_order=1, flavor="iso")
    return shape, [front.tobytes() + wkb for front, wkb in zip(fronts, wkbs)]


def _column_of(connection: sqlite3.Connection, table: str) -> tuple[str, int]:
    """The name of a table's geometry field, and its coordinate reference system."""
    shape, crs = connection.execute(
        "SELECT column_name, srs_id FROM gpkg_geometry_columns WHERE table_name = ?", (table,)
    ).fetchone()
    return str(shape), int(crs)


def _say_how_far(connection: sqlite3.Connection, table: str, bounds: np.ndarray) -> None:
    """Note how far shapes reach, if there are any; bounds : (m, 4), west, south, east, north"""
    if len(bounds):
        (west, south), (east, north) = bounds[:, :2].min(axis=0).tolist(), bounds[:, 2:].max(axis=0).tolist()
        connection.execute(
            "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? WHERE table_name = ?",
            (west, south, east, north, table),
        )


def add_index(connection: sqlite3.Connection, table: str, shape: str, bounds: np.ndarray) -> None:
    """Fill the empty R*Tree that OGR made for the places of rows 1 to N; nothing where it made none.

    bounds : (N, 4), west, south, east, north; NaN for nowhere. Its nodes are written whole, level by level, as SQLite
    keeps them: one row at a time it takes longer than all else that is written. Cells that lie together share a node
    (Leutenegger and others 1997: a simple and efficient algorithm for R-tree packing).
    """
    index = f"rtree_{table}_{shape}"
    nodes, of_rows, parents = (quoted(f"{index}_{name}") for name in ("node", "rowid", "parent"))
    known = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (f"{index}_node",)).fetchone()
    rows = np.flatnonzero(np.isfinite(bounds).all(axis=1))
    if not known[0] or not len(rows):
        return
    (size,) = connection.execute(" ".join(("SELECT length(data) FROM", nodes, "WHERE nodeno = 1"))).fetchone()
    most = min(MOST_CELLS, (size - 4) // _CELL.itemsize)
    cells = np.zeros(len(rows), _CELL)
    cells["to"] = rows + 1
    cells["bounds"][:, 0::2], cells["bounds"][:, 1::2] = _below(bounds[rows, :2]), _above(bounds[rows, 2:])
    number, depth = 2, 0
    connection.execute(" ".join(("DELETE FROM", nodes)))
    while len(cells) > most:
        cells, starts = _packed(cells, most)
        numbers = number + np.arange(len(starts), dtype=np.int64)
        node_of = np.repeat(numbers, np.diff(starts, append=len(cells)))
        led_to = zip(cells["to"].tolist(), node_of.tolist())
        connection.executemany(_insertion(parents if depth else of_rows), led_to)
        connection.executemany(_insertion(nodes), zip(numbers.tolist(), _nodes(cells, starts, 0, size)))
        above = np.zeros(len(starts), _CELL)
        above["to"] = numbers
        of_cells = cells["bounds"].astype(np.float32)
        above["bounds"][:, 0::2] = np.minimum.reduceat(of_cells[:, 0::2], starts)
        above["bounds"][:, 1::2] = np.maximum.reduceat(of_cells[:, 1::2], starts)
        cells, number, depth = above, number + len(starts), depth + 1
    connection.executemany(_insertion(parents if depth else of_rows), ((to, 1) for to in cells["to"].tolist()))
    (root,) = _nodes(cells, np.zeros(1, np.int64), depth, size)
    connection.execute(_insertion(nodes), (1, root))


def _insertion(own_table: str) -> str:
    # Names cannot be bound: they are those that SQLite gave its own tables, quoted.
    return " ".join(("INSERT INTO", own_table, "VALUES (?, ?)"))


def _packed(cells: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells in the order of their nodes, and where each node starts: upright strips, each cut from south to north."""
    n_nodes = -(-len(cells) // most)
    n_strips = int(np.ceil(np.sqrt(n_nodes)))
    strip_size = most * -(-n_nodes // n_strips)
    strip = np.empty(len(cells), np.int64)
    strip[np.argsort(cells["bounds"][:, 0], kind="stable")] = np.arange(len(cells), dtype=np.int64) // strip_size
    cells = cells[np.lexsort([cells["bounds"][:, 2], strip])]
    return cells, np.arange(0, len(cells), most, dtype=np.int64)


def _nodes(cells: np.ndarray, starts: np.ndarray, depth: int, size: int) -> list[bytes]:
    """Nodes as SQLite keeps them: the tree's depth (in its root), how many cells, the cells, zeros up to `size`."""
    content, ends = cells.tobytes(), [*starts[1:].tolist(), len(cells)]
    return [
        (
            depth.to_bytes(2, "big")
            + (end - start).to_bytes(2, "big")
            + content[start * _CELL.itemsize : end * _CELL.itemsize]
        ).ljust(size, b"\0")
        for start, end in zip(starts.tolist(), ends)
    ]


def _below(values: np.ndarray) -> np.ndarray:
    """The largest numbers of 32 bits that are not above these."""
    near = values.astype(np.float32)
    return np.where(near > values, np.nextafter(near, np.float32(-np.inf)), near)


def _above(values: np.ndarray) -> np.ndarray:
    """The smallest that are not below."""
    near = values.astype(np.float32)
    return np.where(near < values, np.nextafter(near, np.float32(np.inf)), near)
