"""Regions and crosswalks: what they refuse and what they mean."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table, number_compactly
from vbas.core.errors import InputError
from vbas.core.records.columns import Column
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

SQUARE = [[0, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("identifiers", "points", "words"),
    [
        ([], [], "REGIONS is empty"),
        (["a"], [[0, 0]], "only one area"),
        (["a", "b", "a"], SQUARE, "not unique: 1 identifier .*“a”"),
        (["a", None, "c"], SQUARE, "missing in 1 area:"),
        (["a", "b", "c"], [[0, 0], [np.nan, 0], [0, 1]], "1 area .* empty geometry .*“b”"),
    ],
)
def test_unusable_regions_are_refused(identifiers, points, words):
    with pytest.raises(InputError, match=words):
        make_areas(identifiers, np.array(points, dtype=float))


@pytest.mark.parametrize(
    ("population", "words"),
    [([1, -2, 3], "negative in 1 area .*“b”"), ([1, np.nan, np.nan], "missing in 2 areas"), ([0, 0, 0], "0 in every")],
)
def test_unusable_populations_are_refused(population, words):
    with pytest.raises(InputError, match=words):
        make_areas(list("abc"), SQUARE).with_population(np.array(population, dtype=float))


@pytest.mark.parametrize(
    ("identifiers", "numbers", "words"),
    [
        (["a", "b"], [1, 1], "lacks 1 area .*“c”"),
        (["a", "b", "c", "d"], [1, 1, 2, 2], "1 area that is not in REGIONS .*“d”"),
        (["a", "b", "c", "a"], [1, 1, 2, 2], "more than once .*“a”"),
        (["a", "b", "c"], [None, None, None], "no area a vbas_region"),
        (["a", "b", "c"], [1, "north", 2], "not a whole number in 1 row .*“north”"),
    ],
)
def test_unusable_crosswalks_are_refused(identifiers, numbers, words):
    with pytest.raises(InputError, match=words):
        crosswalk_from_table(make_areas(list("abc"), SQUARE), identifiers, numbers)


def test_labels_are_numbered_without_gaps():
    crosswalk, labels = number_compactly(np.array([7, -1, 3, 7]))
    assert crosswalk.region_of.tolist() == [1, -1, 0, 1]
    assert labels.tolist() == [3, 7]
    assert crosswalk.totals(np.array([1.0, 10, 100, 1000])).tolist() == [100, 1001]


def test_a_table_of_another_type_and_order_keeps_its_numbers():
    areas = make_areas([100, 200, 300], SQUARE)
    crosswalk = crosswalk_from_table(areas, ["300", "100", "200"], ["7", 3.0, None])
    assert crosswalk.region_of.tolist() == [0, -1, 1]
    assert crosswalk.numbers.tolist() == [3, 7]


def test_a_row_that_stands_for_no_record_needs_no_area():
    areas = make_areas(["a", "b", "c"], SQUARE)
    homes, sexes = Column(np.array([0, 1, 2, 2]), np.array(["a", "b", "x"], dtype=object)), ["F", "F", "M", "F"]
    values = Column(np.array([0, 0, 1, 0]), np.unique(sexes))

    def table(*counts):
        return RecordTable(homes, {"sex": values}, {}, np.array(counts))

    records = match_records(table(3, 4, 0, 0), areas)
    assert records.profile.counts.toarray().sum() == 7 and records.n_unmatched == 0
    with pytest.raises(InputError, match=r"2 records have an area .*“x”"):
        match_records(table(3, 4, 2, 0), areas)


@pytest.mark.slow
def test_core_needs_no_qgis():
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('qgis', 'osgeo', 'PyQt5', 'PyQt6')))\n"
        "import importlib, pkgutil, vbas.core\n"
        "names = [m.name for m in pkgutil.walk_packages(vbas.core.__path__, 'vbas.core.')]\n"
        "needed = [name for name in names if '.engines.' not in name]\n"  # engines load packages of their own
        "[importlib.import_module(name) for name in needed]\n"
        "print(len(names))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_what_the_tests_of_core_begin_with_needs_no_qgis():
    """As `scripts/test-core` has it: neither QGIS nor GDAL is there."""
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('qgis', 'osgeo', 'PyQt5', 'PyQt6')))\nimport vbas.tests.conftest"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
