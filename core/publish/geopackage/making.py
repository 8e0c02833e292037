"""A new GeoPackage of tables without shapes, made by SQLite itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from ...records.sqlite_file import quoted
from ...records.table import unused_name
from ..files import DISK

# Types of columns, as the GeoPackage standard calls them.
SHORT, LONG, REAL, TEXT = "MEDIUMINT", "INTEGER", "REAL", "TEXT"
WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],'
    'AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,'
    'AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]'
)
# What every GeoPackage holds (GeoPackage 1.2, 1.1.1 to 1.1.3), and the list of columns of shapes, though empty: GDAL
# opens no file without it.
BEGINNING = (
    "PRAGMA application_id = 1196444487",  # “GPKG”
    "PRAGMA user_version = 10200",
    "BEGIN",
    "CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, "
    "organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, "
    "description TEXT)",
    "CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, "
    "identifier TEXT UNIQUE, description TEXT DEFAULT '', "
    "last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), "
    "min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, "
    "CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id))",
    "CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, "
    "geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL, "
    "CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name), "
    "CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name), "
    "CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id))",
)
SYSTEMS = (
    ("Undefined Cartesian SRS", -1, "NONE", -1, "undefined"),
    ("Undefined geographic SRS", 0, "NONE", 0, "undefined"),
    ("WGS 84 geodetic", 4326, "EPSG", 4326, WGS84),
)


def make_geopackage(file: Path, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Make a GeoPackage of empty tables. Raises sqlite3.Error where it cannot be, and nothing stays.

    tables : by name, of each column its type: SHORT, LONG, REAL or TEXT; rows are numbered in a column `fid`, or
    `row_id` where one of them has that name
    """
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            for statement in BEGINNING:
                connection.execute(statement)
            connection.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)", SYSTEMS)
            for name, columns in tables.items():
                add_table(connection, name, columns)
            connection.execute("COMMIT")
    except sqlite3.Error:
        DISK.remove(file, missing_ok=True)
        raise


def add_table(connection: sqlite3.Connection, name: str, columns: Mapping[str, str]) -> None:
    """Add an empty table to an open GeoPackage; columns : of each its type

    A table of that name may have been there: who takes one out, or renames it, by hand leaves its line in the list.
    """
    # Names cannot be bound: they are this program's own, and quoted.
    typed = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns.items())
    number = unused_name("row_id" if unused_name("fid", columns) != "fid" else "fid", columns)
    numbered = "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,"
    connection.execute(" ".join(("CREATE TABLE", quoted(name), "(", quoted(number), numbered, typed, ")")))
    connection.execute("DELETE FROM gpkg_contents WHERE table_name = ?", (name,))
    connection.execute("UPDATE gpkg_contents SET identifier = table_name WHERE identifier = ?", (name,))
    connection.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES (?, 'attributes', ?)",
        (name, name),
    )
