"""What tests are of one kind of system."""

import os
import sqlite3

import pytest

ON_WINDOWS = os.name == "nt"
KILLED = 9 if ON_WINDOWS else -9  # the code of a process that ended itself so
of_posix = pytest.mark.skipif(ON_WINDOWS, reason="of rights, links, signals, limits and names of POSIX")


def _gdal() -> int:
    """The version of GDAL, such as 3060200; above all where there is none."""
    try:
        from osgeo import gdal
    except ImportError:
        return 2**31
    return int(gdal.VersionInfo())


reads_without_a_trace = pytest.mark.skipif(
    _gdal() < 3_04_02_00, reason="before GDAL 3.4.2 QGIS writes into GeoPackages that it reads, and beside them"
)
reads_as_arrow = pytest.mark.skipif(_gdal() < 3_06_00_00, reason="before GDAL 3.6 it gives no layer as Arrow")
of_sqlite_since_3_40 = pytest.mark.skipif(
    sqlite3.sqlite_version_info < (3, 40), reason="SQLite before 3.40 finds other damage"
)
