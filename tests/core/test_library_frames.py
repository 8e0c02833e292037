"""The library takes and gives frames of any kind: one release, whatever holds the records, and one sentence for what
cannot be used."""

from __future__ import annotations

import datetime
import pickle
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vbas import anonymize
from vbas.core.errors import InputError, PrivacyError, VbasError
from vbas.core.library.frames import column_of_codes, frame_of
from vbas.core.package.checking import check_folder
from vbas.core.publish.register.published_releases import read_register
from vbas.core.records.columns import column_from_values

SIDE = 8
AREAS: dict[str, Any] = {
    "area": [f"a{i}" for i in range(SIDE * SIDE)],
    "x": (np.arange(SIDE * SIDE) % SIDE) * 1000.0,
    "y": (np.arange(SIDE * SIDE) // SIDE) * 1000.0,
    "people": np.full(SIDE * SIDE, 40),
}
MISSING = (None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT"))


def people(n=2500, seed=0):
    rng = np.random.default_rng(seed)
    ages = [None if age == 9 else int(age) for age in rng.integers(0, 10, n)]
    return {
        "area": rng.choice(AREAS["area"], n).tolist(),
        "sex": rng.choice(["F", "M"], n).tolist(),
        "age": ages,
        "since": [None if age is None else datetime.date(2020 + age // 5, 1, 1) for age in ages],
    }


def release_of(records, areas=None, **more):
    given = {"area": "area", "quasi_identifiers": ["sex", "age", "since"], "release": "nested levels", **more}
    return anonymize(AREAS if areas is None else areas, records, **given)


def same(one, other):
    assert one.categories.tolist() == other.categories.tolist()
    assert list(map(type, one.categories)) == list(map(type, other.categories))
    assert one.codes.tolist() == other.codes.tolist() and one.codes.dtype == other.codes.dtype


@given(st.lists(st.sampled_from(["b", "a", "c", "", None]), min_size=1), st.booleans())
def test_texts_of_pandas_are_the_columns_of_lists(values, nullable):
    expected = column_from_values(values)
    for dtype in [object, "category", *(["string"] if nullable else [])]:
        same(frame_of(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), "RECORDS").column("x"), expected)


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1))
def test_numbers_of_pandas_are_the_columns_of_lists(values):
    whole = pd.DataFrame({"x": pd.Series(values, dtype="Int64")})
    same(frame_of(whole, "RECORDS").column("x"), column_from_values(values))
    same(frame_of({"x": values}, "RECORDS").column("x"), column_from_values(values))
    real = [None if value is None else value / 2 for value in values]
    same(frame_of(pd.DataFrame({"x": pd.Series(real, dtype=float)}), "RECORDS").column("x"), column_from_values(real))


@given(st.lists(st.sampled_from([*MISSING, 1, 1.0, True, "1", 2.5]), min_size=1))
def test_values_of_several_types_are_kept_apart(values):
    same(
        frame_of(pd.DataFrame({"x": pd.Series(values, dtype=object)}), "RECORDS").column("x"),
        column_from_values(values),
    )


@given(st.lists(st.sampled_from([*MISSING, 7, 3, "a", 2.0]), min_size=1), st.data())
def test_codes_and_their_values_make_the_column_of_the_values(values, data):
    codes = data.draw(st.lists(st.integers(-1, len(values) - 1), min_size=1))
    listed = [None if code < 0 else values[code] for code in codes]
    same(column_of_codes(np.array(codes, np.int8), values), column_from_values(listed))


def test_every_kind_of_frame_gives_one_release_and_gets_its_kind_back():
    rows = people()
    plain = release_of(rows)
    assert plain.smallest >= 5 and set(plain.records) == {"vbas_level", "vbas_region", "sex", "age", "since"}
    frame = pd.DataFrame(rows).astype({"age": "Int8", "sex": "category"})
    by_pandas = release_of(frame)
    assert by_pandas.content_hash == plain.content_hash
    assert by_pandas.records["age"].dtype == "Int8" and by_pandas.records["sex"].dtype == frame["sex"].dtype
    assert len(by_pandas.records) == len(plain.records["sex"]) == plain.account.release.n_records


def test_bands_that_pandas_cut_are_given_back():
    """They are read as text, of which the type of the field knew nothing: every value of the release was missing."""
    ages = pd.cut([5, 35, 65, np.nan] * 24, [0, 30, 60, 90], right=False)
    rows = pd.DataFrame({"area": ["a", "b"] * 48, "age": ages})
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    release = anonymize(places, rows, area="area", quasi_identifiers="age", k=5)
    assert release.records["age"].dtype == ages.dtype
    assert sorted(map(str, release.records["age"])) == sorted(map(str, rows["age"]))


@pytest.mark.parametrize("written", ["CSV", "GeoPackage", "Parquet"])
def test_numbers_of_more_than_64_bits_are_text_in_a_folder(tmp_path, written):
    rows = {"area": ["a", "b"] * 12, "code": [2**63, 2**63, 7, 7] * 6}
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    release = anonymize(places, rows, area="area", quasi_identifiers="code", k=5)
    assert release.write(tmp_path / "release", folder_format=written) == release.content_hash
    claims = check_folder(tmp_path / "release").claims
    assert all(claim.holds for claim in claims)
    (of_regions,) = [claim.says for claim in claims if claim.name == "content regions"]
    assert of_regions.endswith(" of 1 row.")  # such a small town is one region
    assert set(release.records["code"]) == {2**63, 7}


@pytest.mark.parametrize("written", ["CSV", "GeoPackage", "Parquet"])
def test_a_folder_holds_fields_of_any_name_and_none_twice(tmp_path, written):
    places = {"vbas_region": ["a", "b"], "area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    rows = {"area": ["a", "b"] * 12, "fid": ["u", "v"] * 12, "sex": ["F", "M"] * 12, "SEX": ["m"] * 24}
    hashes = set()
    for name in ("fid", "sex"):
        release = anonymize(places, rows, area="area", quasi_identifiers=name, k=5)
        hashes.add(release.write(tmp_path / name, folder_format=written))
        assert all(claim.holds for claim in check_folder(tmp_path / name).claims)
    assert len(hashes) == 2
    twice = anonymize(places, rows, area="area", quasi_identifiers="sex", keep_fields="SEX", k=5)
    with pytest.raises(InputError, match="records would have two fields called “SEX”"):
        twice.write(tmp_path / "twice", folder_format=written)
    again = anonymize(places, rows, area="area", region_id="vbas_region", quasi_identifiers="sex", k=5)
    with pytest.raises(InputError, match="crosswalk would have two fields called “vbas_region”"):
        again.write(tmp_path / "again", folder_format=written)
    assert not (tmp_path / "twice").exists() and not (tmp_path / "again").exists()


def test_a_field_of_shapes_that_holds_none_is_refused():
    places = {"area": ["a", "b"], "geom": ["POINT (0 0)", "POINT (900 0)"], "x": [0, 900], "y": [0, 0]}
    with pytest.raises(InputError, match="field “geom” holds no shapes, but “POINT"):
        anonymize(places, {"area": ["a"] * 9, "sex": ["F"] * 9}, area="area", quasi_identifiers="sex")


def test_arrow_gives_the_same_and_is_given_back():
    pa = pytest.importorskip("pyarrow")
    rows = people()
    table = pa.table(rows)
    release = release_of(table)
    assert release.content_hash == release_of(rows).content_hash
    assert isinstance(release.records, pa.Table)
    assert release.records.schema.field("since").type == table.schema.field("since").type
    words = table.set_column(1, "sex", table.column("sex").dictionary_encode())
    assert release_of(words).content_hash == release.content_hash
    assert release_of(pa.concat_tables([table[:100], table[100:]])).content_hash == release.content_hash


def test_polars_gives_the_same_and_is_given_back():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    rows = people()
    release = release_of(polars.DataFrame(rows))
    assert release.content_hash == release_of(rows).content_hash
    assert isinstance(release.records, polars.DataFrame)
    assert release.records["age"].dtype == polars.Int64


def test_areas_are_shapes_or_points_in_any_frame():
    shapes = shapely.box(AREAS["x"] - 500, AREAS["y"] - 500, AREAS["x"] + 500, AREAS["y"] + 500)
    rows = people()
    expected = release_of(rows).content_hash
    drawn = {"area": AREAS["area"], "geometry": shapes}
    for areas in (drawn, pd.DataFrame(drawn), {**drawn, "geometry": shapely.to_wkb(shapes)}):
        release = release_of(rows, areas)
        assert release.content_hash == expected
        assert len(release.regions["vbas_region"]) == sum(
            level.n_regions for level in release.account.levels.crosswalks
        )
    geopandas = pytest.importorskip("geopandas")
    release = release_of(rows, geopandas.GeoDataFrame(drawn, crs="EPSG:32632"))
    assert release.content_hash == expected
    assert release.regions.crs == "EPSG:32632" and release.regions.area.sum() == pytest.approx(
        len(release.account.levels) * SIDE * SIDE * 1e6
    )


@pytest.mark.slow
def test_it_writes_a_folder_that_holds_and_a_register(tmp_path):
    register = tmp_path / "register.gpkg"
    release = release_of(people(), register=register, population="people", licence="CC-BY-4.0")
    assert not register.exists()
    found = release.write(tmp_path / "release", report=tmp_path / "internal.html")
    assert found == release.content_hash
    assert all(claim.holds for claim in check_folder(tmp_path / "release").claims)
    assert len(read_register(register)) == 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["internal.html", "register.gpkg", "release"]
    assert (tmp_path / "internal.html").read_text(encoding="utf-8").count("<html") == 1
    with pytest.raises(VbasError, match="another run has added a release"):
        release.write(tmp_path / "again")
    assert not (tmp_path / "again").exists() and len(read_register(register)) == 1


def test_a_folder_holds_nothing_that_spreadsheet_programs_run(tmp_path):
    frame = {"area": ["a", "b"] * 12, "job": ["=1+1", "=1+1", "@home", "@home"] * 6}
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    release = anonymize(places, frame, area="area", quasi_identifiers="job", k=2)
    with pytest.raises(InputError, match=r"records\.csv would hold texts that spreadsheet programs run"):
        release.write(tmp_path / "release")
    assert not list(tmp_path.iterdir())
    release.write(tmp_path / "release", folder_format="GeoPackage")
    frame["job"] = ["+1+1"] * 24
    milder = anonymize(places, frame, area="area", quasi_identifiers="job", k=2)
    with pytest.warns(UserWarning, match="may run as formulas"):
        milder.write(tmp_path / "milder")


def test_a_folder_of_others_stays_as_it_is(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words", encoding="utf-8")
    with pytest.raises(InputError, match="no folder of an earlier release"):
        release_of(people()).write(tmp_path / "mine")
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="there is no folder"):
        release_of(people()).write(tmp_path / "none" / "release")


def test_what_is_said_is_a_warning_or_goes_to_a_log():
    rows = people()
    rows["area"][0] = "elsewhere"
    with pytest.warns(UserWarning, match="1 record has no known area"):
        release = release_of(rows, unmatched="suppress")
    assert any("1 record has no known area" in sentence for sentence in release.said)

    class Log(list):
        def info(self, *sentences):
            self += sentences

        warn = info

    log = Log()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release_of(rows, unmatched="suppress", log=log)
    assert tuple(log) == release.said


def test_progress_goes_on_and_cancels():
    told: list[float] = []
    release_of(people(), progress=told.append)
    assert told == sorted(told) and 0 <= told[0] <= told[-1] <= 1

    def cancel(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_of(people(), progress=cancel)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": "many"}, "K is “many”: give a whole number"),
        ({"k": 1}, "K is 1: give a number of at least 2"),
        ({"release": "nested"}, "RELEASE is “nested”, which is not among the choices"),
        ({"quasi_identifiers": ["sexe"]}, "QUASI_IDENTIFIERS: there is no field “sexe” in RECORDS"),
        ({"quasi_identifiers": ["sex", "SEX"]}, "QUASI_IDENTIFIERS names a field twice"),
        ({"area": None}, "REGION_ID is needed, and is not given"),
        ({"area": None, "region_id": "area"}, "RECORD_REGION is needed, and is not given"),
        ({"population": "peopel"}, "POPULATION: there is no field “peopel” in REGIONS"),
        ({"rule": "mine"}, "RULE: there is no rule “mine”"),
        ({"generalise": {"age": 1}}, "age"),
        ({"crs": "nowhere"}, "REGIONS: “nowhere” is no coordinate reference system"),
        ({"quasi_identifiers": 5}, "QUASI_IDENTIFIERS: give the names of fields as a list"),
        ({"aliases": [["a", "b", "c"]]}, "ALIASES: each row has two cells"),
        ({"population": ["people", "x"]}, "POPULATION takes one value"),
    ],
)
def test_what_cannot_be_used_ends_in_one_sentence(changes, sentence):
    with pytest.raises((InputError, PrivacyError), match=sentence) as error:
        release_of(people(), **changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("areas", "sentence"),
    [
        (7, "REGIONS: give a frame of pandas, geopandas, Arrow or polars, or arrays by name; this is “int”"),
        ({"area": ["a", "b"]}, "REGIONS has neither a field “geometry” nor fields “x” and “y”"),
        ({"area": ["a", "b"], "x": [1.0], "y": [2.0]}, "REGIONS has arrays of different lengths"),
        ({"area": ["a", "b"], "x": [1.0, None], "y": [2.0, 3.0]}, "an empty geometry|coordinates that are missing"),
        ({"area": ["a", "b"], "geometry": [shapely.LineString([(0, 0), (1, 1)])] * 2}, "neither polygons nor points"),
        ({**AREAS, "x": AREAS["x"] / 1e6 + 7, "y": AREAS["y"] / 1e6 + 51}, r"longitudes and .* as crs="),
    ],
)
def test_areas_that_cannot_be_used_end_in_one_sentence(areas, sentence):
    with pytest.raises(InputError, match=sentence):
        release_of(people(), areas)


@pytest.mark.parametrize("unit", ['"foot",0.3048', '"metre",1'])
def test_a_system_that_is_not_tied_to_the_globe_must_be_in_metres(unit):
    pytest.importorskip("pyproj")
    crs = f'LOCAL_CS["the mine",UNIT[{unit}]]'
    if "metre" in unit:
        assert release_of(people(), crs=crs).content_hash == release_of(people()).content_hash
    else:
        with pytest.raises(
            InputError, match="REGIONS is in the mine, which is not in metres and not tied to the globe"
        ):
            release_of(people(), crs=crs)


def test_areas_without_a_surface_are_named():
    boxes = [shapely.box(x, y, x + 500, y + 500) for x, y in zip(AREAS["x"], AREAS["y"])]
    with_line = [shapely.GeometryCollection([boxes[0], shapely.LineString([(0, 0), (9, 9)])]), *boxes[1:]]
    areas = {"area": AREAS["area"], "people": AREAS["people"]}
    plain = release_of(people(), {**areas, "geometry": boxes})
    assert release_of(people(), {**areas, "geometry": with_line}).content_hash == plain.content_hash
    for other in (shapely.LineString([(0, 0), (9, 9)]), shapely.Point(0, 0)):
        with pytest.raises(InputError, match=rf"1 area of REGIONS has no surface \(“{AREAS['area'][1]}”\)"):
            release_of(people(), {**areas, "geometry": [boxes[0], other, *boxes[2:]]})


@pytest.mark.parametrize("role", ["quasi_identifiers", "keep_fields"])
@pytest.mark.parametrize("kind", ["category", "dictionary"])
def test_a_frame_lists_no_value_of_a_suppressed_row(role, kind):
    """The type of a field was that of the records: its categories told a value that one suppressed person has."""
    dtype: Any = "category"
    if kind == "dictionary":
        arrow = pytest.importorskip("pyarrow")
        dtype = pd.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.string()))
    rows = pd.DataFrame(
        {"area": ["a", "b"] * 20, "sex": ["F"] * 39 + ["M"], "job": ["x", "x", "y", "y"] * 9 + ["x", "x", "y", "pope"]}
    )
    rows["job"] = rows["job"].astype(dtype)
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    given = {"quasi_identifiers": "job"} if role == "quasi_identifiers" else {"quasi_identifiers": "sex", role: "job"}
    released = anonymize(places, rows, area="area", n_sites=1, k=5, **given).records["job"]
    assert released.dtype == dtype and set(released) == {"x", "y"}
    assert b"pope" not in pickle.dumps(released)


@pytest.mark.parametrize("value", [2**63 + 1, "a\0"])
def test_arrays_give_back_each_value_as_it_was(value):
    """numpy made of whole numbers beside one above 2**63 real ones, and took the last zero off a text."""
    other = 7 if isinstance(value, int) else "b"
    rows = {"area": ["a", "b"] * 12, "code": [value, value, other, other] * 6}
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    assert set(anonymize(places, rows, area="area", quasi_identifiers="code", k=5).records["code"]) == {value, other}


def test_shapes_in_bytes_that_end_with_zeros_are_read():
    """As those of a square do that begins at 0: of a list of them numpy made shorter ones."""
    squares = [shapely.box(900 * x, 900 * y, 900 * x + 900, 900 * y + 900) for x in range(2) for y in range(2)]
    squares = [shapely.Polygon(np.roll(shapely.get_coordinates(square)[:4], 1, axis=0)) for square in squares]
    assert any(square.wkb.endswith(b"\0") for square in squares)
    places = {"area": list("abcd"), "geometry": [square.wkb for square in squares]}
    rows = {"area": list("abcd") * 6, "sex": ["F"] * 24}
    given: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", "k": 5}
    hashes = {anonymize({**places, "geometry": of}, rows, **given).content_hash for of in (places["geometry"], squares)}
    assert len(hashes) == 1


def test_arrays_of_two_dimensions_are_no_values():
    two = np.zeros((SIDE * SIDE, 2))
    with pytest.raises(InputError, match="REGIONS: field “x” holds lists"):
        release_of(people(), {**AREAS, "x": two})
    with pytest.raises(InputError, match="RECORDS: field “sex” holds lists"):
        release_of({**people(), "sex": np.zeros((2500, 2))})


def test_numbers_in_the_other_order_of_bytes_are_numbers():
    """As files of other systems have them; pandas cannot tell them apart, and the run ended in its ValueError."""
    rows = pd.DataFrame({"area": people()["area"], "sex": np.array([1, 2] * 1250, ">i4")})
    given = {"quasi_identifiers": "sex"}
    assert release_of(rows, **given).content_hash == release_of({**rows, "sex": [1, 2] * 1250}, **given).content_hash


def test_missing_values_of_arrow_among_arrays_are_missing():
    arrow = pytest.importorskip("pyarrow")
    same(frame_of({"x": arrow.array(["F", None])}, "RECORDS").column("x"), column_from_values(["F", None]))


@pytest.mark.parametrize(
    "array", [[3, 1, 3], [0.5, 1.5, 0.5], ["F", "M", "F"], [True, False, True], np.array(["F", "M", 1], object)]
)
def test_masked_values_are_missing(array):
    values = np.ma.array(array, mask=[False, False, True])
    same(frame_of({"x": values}, "RECORDS").column("x"), column_from_values([*np.array(array).tolist()[:2], None]))
    days = np.ma.array(np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), mask=[False, True])
    assert frame_of({"x": days}, "RECORDS").values("x") == [datetime.datetime(2020, 1, 1), None]


def test_a_person_of_two_types_is_one():
    """As pandas reads a long CSV file in parts, 7 in one and “7” in the next: k counted two persons."""
    rows = {"area": ["a", "b"] * 12, "sex": ["F"] * 24, "id": [*range(12), *map(str, range(6)), *map(float, range(6))]}
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    for table in (rows, pd.DataFrame(rows)):
        for k, shown in ((12, 24), (13, 0)):  # of twelve persons
            release = anonymize(places, table, area="area", quasi_identifiers="sex", person_id="id", k=k)
            assert len(release.records["sex"]) == shown


def test_two_fields_of_one_name_are_refused():
    frame = pd.DataFrame([["a0", "F", "M"]], columns=["area", "sex", "sex"])
    with pytest.raises(InputError, match="RECORDS has two fields “sex”"):
        release_of(frame)
    with pytest.raises(InputError, match="RECORDS has two fields “1”"):
        release_of({**people(), 1: ["F"] * 2500, "1": ["M"] * 2500})


def test_fields_of_arrays_are_called_by_the_text_of_their_key():
    """As those of a frame of pandas are; a number ended in a fault."""
    rows = {"area": people()["area"], 1: people()["sex"]}
    assert set(release_of(rows, quasi_identifiers="1").records["1"]) == {"F", "M"}


def test_coarser_values_are_text_where_the_numbers_were():
    rows = people()
    frame = pd.DataFrame({name: rows[name] for name in ("area", "sex", "age")}).astype({"age": "Int8"})
    given = {"quasi_identifiers": ["sex", "age"], "generalise": {"age": 1}, "hierarchy_rules": {"age": "bands 5"}}
    release = release_of(frame, **given)
    assert set(release.records["age"].dropna()) == {"0-4", "5-9"}


@pytest.mark.slow
def test_the_door_needs_no_qgis_and_is_opened_when_it_is_asked_for():
    program = (
        "import sys, vbas; before = len(sys.modules); assert 'numpy' not in sys.modules; vbas.anonymize; "
        "assert not [name for name in sys.modules if name.split('.')[0] in ('qgis', 'osgeo', 'pandas', 'pyarrow')]"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.home())
    assert done.returncode == 0, done.stderr
    with pytest.raises(ImportError):
        from vbas import anonymise  # noqa: F401


def test_definitions_of_a_distribution_are_found_from_a_virtual_environment(tmp_path, monkeypatch):
    datadir, exceptions = (pytest.importorskip(f"pyproj.{name}") for name in ("datadir", "exceptions"))

    def lost():
        raise exceptions.DataDirError("not found")

    chosen: list[str] = []
    monkeypatch.setattr(datadir, "get_data_dir", lost)
    monkeypatch.setattr(datadir, "set_data_dir", chosen.append)
    monkeypatch.setattr("sys.base_prefix", str(tmp_path))
    areas = {name: values for name, values in AREAS.items() if name not in ("x", "y")}
    areas["geometry"] = shapely.points(AREAS["x"], AREAS["y"])
    asked: dict[str, Any] = {"area": "area", "quasi_identifiers": ["sex"], "crs": "EPSG:32632"}
    with pytest.raises(InputError, match="PROJ_DATA"):
        anonymize(areas, people(200), **asked)
    (tmp_path / "share" / "proj").mkdir(parents=True)
    (tmp_path / "share" / "proj" / "proj.db").touch()
    anonymize(areas, people(200), **asked)
    assert set(chosen) == {str(tmp_path / "share" / "proj")}


@pytest.mark.parametrize(
    ("value", "says"),
    [([1], "RECORDS: field “sex” holds lists"), ("a\udce9", "text with bytes of another encoding (first: “a?”)")],
)
@pytest.mark.parametrize("kind", [dict, partial(pd.DataFrame, dtype=object)])  # else pandas looks at text, from 3 on
def test_values_that_are_none_of_a_table_are_named(kind, value, says):
    with pytest.raises(InputError, match=re.escape(says)):
        release_of(kind({**people(), "sex": [value, *["F"] * 2499]}))


@pytest.mark.parametrize("names", [np.array(["sex", "age"]), pd.Index(["sex", "age"]), ("sex", "age"), "sex;age"])
def test_names_of_fields_come_in_any_kind_of_list(names):
    assert {"sex", "age"} < set(release_of(people(), quasi_identifiers=names).records)


@pytest.mark.parametrize("k", [pd.NA, np.array([5, 6]), float("nan")])
def test_what_is_no_number_is_no_k(k):
    with pytest.raises(InputError, match="K"):
        release_of(people(), k=k)


def test_a_field_of_one_value_is_none():
    with pytest.raises(InputError, match="RECORDS: field “sex” is no list of values"):
        release_of({**people(), "sex": 1})


def test_lists_of_arrow_are_named():
    arrow = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="field “sex” holds lists"):
        release_of(arrow.table({**people(), "sex": [[1]] * 2500}))


def test_published_counts_of_other_areas_are_said_to_be_passed_over():
    records = people()
    number = {area: records["area"].count(area) for area in AREAS["area"]}
    counts = {"area": [*number, "b1"], "n": [*number.values(), 7]}
    given = {"published_counts": counts, "published_area": "area", "published_number": "n"}
    with pytest.warns(UserWarning, match="1 row of PUBLISHED_COUNTS is of no area there is .“b1”."):
        release_of(records, quasi_identifiers="sex", **given)


VIENNA = ZoneInfo("Europe/Vienna")
# An hour that comes twice: the same time of the clock, an hour apart.
AUTUMN = [datetime.datetime(2020, 10, 25, 2, 30, tzinfo=VIENNA, fold=fold) for fold in (0, 1)]


@pytest.mark.parametrize("kind", ["lists", "pandas", "objects", "Arrow", "Arrow in nanoseconds"])
def test_moments_with_a_time_zone_are_in_utc_in_every_frame(kind):
    table: object = {"at": AUTUMN}
    if kind == "pandas":
        table = pd.DataFrame({"at": pd.to_datetime(["2020-10-25T00:30Z", "2020-10-25T01:30Z"]).tz_convert(VIENNA)})
    elif kind == "objects":
        table = pd.DataFrame({"at": pd.Series(AUTUMN, dtype=object)})
    elif kind.startswith("Arrow"):
        arrow = pytest.importorskip("pyarrow")
        unit = arrow.timestamp("ns" if kind.endswith("nanoseconds") else "us", "Europe/Vienna")
        table = arrow.table({"at": arrow.array([moment.astimezone(datetime.timezone.utc) for moment in AUTUMN], unit)})
    values = frame_of(table, "RECORDS").values("at")
    assert [str(value) for value in values] == ["2020-10-25 00:30:00+00:00", "2020-10-25 01:30:00+00:00"]


@pytest.mark.parametrize("kind", ["pandas", "objects", "Arrow", "arrays"])
def test_moments_keep_their_last_digit(kind):
    texts = [f"2020-01-01 00:00:0{end}" for end in ("0.000000001", "0.000000002", "1.000500", "2")]
    moments = pd.Series(pd.to_datetime(texts, format="ISO8601"))
    table: object = pd.DataFrame({"at": moments if kind == "pandas" else moments.astype(object)})
    if kind == "Arrow":
        table = pytest.importorskip("pyarrow").table({"at": moments})
    elif kind == "arrays":
        table = {"at": moments.to_numpy()}
    assert list(map(str, frame_of(table, "RECORDS").values("at"))) == texts


@pytest.mark.parametrize("value", [b"ab", np.array([1, 2]), bytearray(b"ab")])
@pytest.mark.parametrize("kind", [dict, partial(pd.DataFrame, dtype=object)])
def test_bytes_and_arrays_are_no_values(kind, value):
    with pytest.raises(InputError, match="RECORDS: field “sex” holds lists, maps, bytes or shapes"):
        release_of(kind({**people(), "sex": [value] * 2500}))


def test_bytes_and_short_numbers_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="RECORDS: field “sex” holds lists, maps, bytes or shapes"):
        release_of(arrow.table({**people(), "sex": [b"f"] * 2500}))
    short = arrow.table({"share": arrow.array(np.array([0.5, 1, 0.5], np.float16))})
    assert frame_of(short, "RECORDS").values("share") == [0.5, 1.0, 0.5]
