"""A CSV file that is put together from cells which GDAL wrote once is the very file that GDAL writes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.algorithms.compat import field
from vbas.algorithms.layers.delivery import csv_cells
from vbas.algorithms.layers.delivery.writing import write_file
from vbas.algorithms.layers.tables import Table
from vbas.core.records.columns import column_from_values

TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", " ", "a", "1", "1.0", "1e5", "-", "a,b", 'a"b', '"', '""', "é", "true", "0012", ";", "\t", "'"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6),
)
REAL = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 1 / 3, 1e-7, 1e22, 123456789.125]))
ROWS = st.lists(
    st.tuples(TEXTS, TEXTS, REAL, st.one_of(st.none(), st.integers(-(2**40), 2**40))), min_size=1, max_size=9
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


@given(ROWS, st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_file_is_the_one_that_gdal_writes(place, rows, repeated):
    columns = [column_from_values(list(values) * 5) for values in zip(*rows)]
    kinds = {"home, town": "text", "n": "text", "income": "real", "number": "long"}
    region = np.arange(5 * len(rows)) % 3 - 1
    fields = [field("vbas_region", "long"), *(field(name, kind) for name, kind in kinds.items())]
    copies = np.arange(5 * len(rows)) % 4 if repeated else None
    table = Table(fields, [region, *columns], copies=copies)
    written = []
    for many, name in ((10**9, "by_gdal.csv"), (1, "by_cells.csv")):
        (place / name).unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_cells, "MANY", many)
            patch.setattr(csv_cells, "CHUNK", 7)
            write_file(place / name, table, "Records")
        written.append((place / name).read_bytes())
    assert written[0] == written[1]


def test_a_line_break_in_a_value_is_left_to_gdal(place, monkeypatch):
    monkeypatch.setattr(csv_cells, "MANY", 1)
    columns = [column_from_values(["a\nb", "c"] * 9), column_from_values(["x"] * 18)]
    table = Table([field("one", "text"), field("two", "text")], columns)
    assert csv_cells.cells_of(table, lambda *_: None) is None
    write_file(place / "lines.csv", table, "Records")
    assert (place / "lines.csv").read_bytes().count(b"a\nb") == 9
