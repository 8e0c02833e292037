"""A plain CSV file read by its separators gives the very columns that QGIS shows; any other is left to its reader."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qgis.core import QgsProcessingContext, QgsVectorLayer

from vbas.algorithms.layers.inputs import Inputs
from vbas.algorithms.layers.reading import records
from vbas.algorithms.layers.reading.checked_source import checked_source
from vbas.algorithms.layers.reading.layer_file import described, layer_file
from vbas.core.errors import Cancelled
from vbas.core.records import csv_columns
from vbas.core.records.csv_columns import read_plain_csv
from vbas.core.records.table_file import TableFile

NAMES = ["home", "sex", "age"]
CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "a",
            "F",
            "é – x",
            "007",
            "7",
            "-7",
            "0",
            "-0",
            "+5",
            "1e5",
            " a",
            "a ",
            "a b",
            "\ta",
            "NULL",
            "12345678901",
            "2.50",
            "-0.0",
            "0.1",
            ".5",
            "7.",
            "x" * 70,
            "a,b;c",
            "Fa\tb",
            'a"b',
            'Fa""b',
            '"a',
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='",;|'), max_size=12),
)
PLAIN = st.sampled_from(
    ["", "a", "F", "é – x", "007", "7", "-7", "0", "a b", "NULL", "12345678901", "x" * 70, "a, b; c"]
)
DECIMAL = st.one_of(
    st.sampled_from(["", "7", "-7", "0", "0.0", "2.50", "0.1", "-19.99"]),
    st.decimals(-(10**9), 10**9, places=3).map(str),
    st.floats(-1e12, 1e12).map(repr),
)
ROWS = st.sampled_from([PLAIN, CELLS, DECIMAL]).flatmap(
    lambda cell: st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=9)
)


def source_of(provider, path):
    layer = QgsVectorLayer(str(path), "records", "ogr")
    assert layer.isValid()
    given_to = Inputs(provider.algorithm("profilerecords").create(), {"RECORDS": layer}, QgsProcessingContext())
    return checked_source(given_to, "RECORDS")


def plainly(source, names, n_rows):
    layer = source.plain_layer
    file = layer_file(layer)
    assert file is not None
    return read_plain_csv(described(layer, file, names), n_rows)


@settings(max_examples=40, deadline=None)
@given(
    rows=ROWS,
    separator=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    quoted=st.sampled_from(["", "all", "some"]),
    types=st.sampled_from(
        [
            "",
            '"String","String","String"',
            '"String","String","Integer"',
            '"String","Integer64","String"',
            '"String","Real","Real"',
        ]
    ),
    at_once=st.sampled_from([16, 40, 1 << 22]),
)
def test_what_is_read_plainly_is_what_qgis_shows(
    provider, tmp_path_factory, rows, separator, end, last, quoted, types, at_once
):
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    if quoted:
        marked = "".join(cell for row in rows for cell in row) if quoted == "all" else "aF7 "
        names = [f'"{name}"' if quoted == "all" else name for name in NAMES]
        rows = [[f'"{cell}"' if not cell or cell[0] in marked else cell for cell in row] for row in rows]
    else:
        names = NAMES
        rows = [[cell.replace(separator, "_") for cell in row] for row in rows]
    lines = end.join(separator.join(row) for row in [names, *rows]) + (end if last else "")
    path.write_bytes(lines.encode())
    if types:
        path.with_suffix(".csvt").write_text(types)
    source = source_of(provider, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_columns, "AT_ONCE", at_once)
        read = plainly(source, NAMES, len(rows))
    if read is None:
        return
    shown = records._read_features(source, [source.fields().lookupField(name) for name in NAMES], lambda _: None)
    for name in NAMES:
        values = [read[name].categories.tolist(), shown[name].categories.tolist()]
        assert values[0] == values[1] and [*map(type, values[0])] == [*map(type, values[1])]
        assert read[name].codes.tolist() == shown[name].codes.tolist()


def plain_file(folder, content, kinds=("text", "text"), names=("home", "age")):
    path = folder / "people.csv"
    path.write_bytes(content)
    return TableFile(path, "", list(names), list(names), dict(zip(names, kinds)))


def test_a_plain_file_is_read_plainly(tmp_path):
    file = plain_file(tmp_path, "\ufeffhome,age\r\né1,07\r\n,\r\né1,9".encode(), ("text", "integer"))
    assert read_plain_csv(file, 3) is None  # 07 is no number as it is written
    file = plain_file(tmp_path, "\ufeffhome,age\r\né1,7\r\n,\r\né1,-19".encode(), ("text", "integer"))
    read = read_plain_csv(file, 3)
    assert read is not None
    assert [column.categories[column.codes].tolist() for column in read.values()] == [["é1", "", "é1"], [7, None, -19]]


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (b'home,age\n"1,7\n', ("text", "text")),
        (b'home,age\n"1" ,7\n', ("text", "text")),
        (b'home,age\n1"2",7\n', ("text", "text")),
        (b'home,age\n"""",7\n', ("text", "text")),
        (b'home,age\n"1""2",7\n', ("text", "text")),
        (b'home,age\n"1\n2",7\n', ("text", "text")),
        (b"home,age\n1,7\n2\n", ("text", "text")),
        (b"home,age\n1,7,8\n2\n", ("text", "text")),
        (b"home,age\n1,7\n\n", ("text", "text")),
        (b"home,age\n1,7\r2,8\n", ("text", "text")),
        (b"home,age\n1, 7\n", ("text", "text")),
        (b"home,sex\n1,7\n", ("text", "text")),
        (b"home,age\n\xe9,7\n", ("text", "text")),
        (b"home,age\n1,2147483648\n", ("text", "integer")),
        (b"home,age\n1,7e2\n", ("text", "real")),
        (b"home,age\n1,-0.0\n", ("text", "real")),
        (b"home,age\n1,.5\n", ("text", "real")),
        (b"home,age\n1,7\n2,8\n", ("text", "text")),  # not as many rows as were counted
    ],
)
def test_any_other_file_is_left_to_its_reader(tmp_path, content, kinds):
    assert read_plain_csv(plain_file(tmp_path, content, kinds), 1) is None


def test_a_field_by_itself_or_twice_is_left_to_its_reader(tmp_path):
    assert read_plain_csv(plain_file(tmp_path, b"home\n1\n", ("text",), ("home",)), 1) is None
    assert read_plain_csv(plain_file(tmp_path, b"home,HOME\n1,2\n", names=("home", "HOME")), 1) is None
    file = plain_file(tmp_path, b"home,age\n1,2\n")
    file.path.with_suffix(".csvt").write_text('"String(3)","String"')
    assert read_plain_csv(file, 1) is None


def test_reading_plainly_can_be_cancelled(tmp_path):
    def stop(fraction):
        raise Cancelled("Cancelled.")

    with pytest.raises(Cancelled):
        read_plain_csv(plain_file(tmp_path, b"home,age\n1,7\n"), 1, stop)
