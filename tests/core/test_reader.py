"""The reader for analysts: frames and files in, frames out, against the plain recount of weights."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas import anonymize
from vbas.core.analysis.fitting import AS_WEIGHTS
from vbas.core.analysis.reader import read_release
from vbas.core.analysis.spreading import AT_LEVEL_1, NONE
from vbas.core.errors import InputError
from vbas.core.levels import without_last_repeats

from ..engines_there import needed
from .nested_cases import nested_cases
from .release_to_spread import nested_release, weights_by_hand
from .test_spreading import NO_SHRINK, whole

pd = pytest.importorskip("pandas", reason="pandas is not installed: bash scripts/setup test")


def frames(areas, levels, rows):
    """A release as frames: records, crosswalk, areas."""
    numbers = rows.numbers(np.arange(len(rows)))
    codes = rows.fields["q"].codes
    records = pd.DataFrame({"vbas_level": rows.level + 1, "vbas_region": numbers, "q": codes})
    columns = {
        f"vbas_region_{position + 1}": [
            int(crosswalk.numbers[region]) if region >= 0 else None for region in crosswalk.region_of
        ]
        for position, crosswalk in enumerate(levels.crosswalks)
    }
    crosswalk = pd.DataFrame({"code": areas.identifiers, **columns})
    return records, crosswalk, pd.DataFrame({"code": areas.identifiers, "population": areas.population})


@pytest.mark.slow
@settings(deadline=None, phases=NO_SHRINK, max_examples=40)
@given(nested_cases(), st.integers(2, 6), st.sampled_from([NONE, AT_LEVEL_1]))
def test_the_weights_of_the_reader_are_those_of_a_recount(case, k, leave_out):
    areas, profile, levels = whole(case) if leave_out == AT_LEVEL_1 else case
    rows, _ = nested_release(areas, profile, levels, k)
    if not len(rows):
        return
    records, crosswalk, places = frames(areas, levels, rows)
    release = read_release(records, crosswalk, places.iloc[::-1]).leaving_out(leave_out, "q")
    expected = weights_by_hand(rows, leave_out, len(without_last_repeats(levels)))
    found: list[dict] = [{} for _ in expected]
    for row, area, weight in release.spread().itertuples():
        found[row][area] = weight
    for one, of_row in zip(found, expected):
        assert one == pytest.approx({str(areas.identifiers[i]): weight for i, weight in of_row.items()})
    by_class = release.spread(by="q")
    assert by_class.groupby(["vbas_level", "vbas_region", "q"])["weight"].sum().to_numpy() == pytest.approx(1)
    assert by_class["estimate"].sum() == pytest.approx(len(rows))
    counts = release.counts(by="q")
    wanted = release.records.join(release.spread()).groupby(["code", "q"])["weight"].sum()
    there = counts[counts["estimate"] > 0].set_index("q", append=True)["estimate"]
    pd.testing.assert_series_equal(
        there.sort_index(), wanted.rename("estimate"), check_dtype=False, check_names=False, check_index_type=False
    )


RECORDS = {
    "vbas_level": [1, 1, 1, 2, 2, 2],
    "vbas_region": [7, 7, 9, 1, 1, 1],
    "code": ["007", "010", "007", None, "1", "007"],
    "ill": [1, 0, 1, 0, 0, 1],
}
CROSSWALK = {"area": ["01", "02", "03"], "vbas_region_1": [7, 8, 9], "vbas_region_2": [1, 1, 1]}
AREAS = {"area": ["03", "02", "01", "99"], "population": [30, 20, 10, 5], "traffic": [1.0, 2.0, 3.0, None]}


@pytest.fixture
def release():
    return read_release(*map(pd.DataFrame, (RECORDS, CROSSWALK, AREAS)))


def test_rates_by_hand(release):
    rates = release.rates("ill", per=100)
    people = {"01": 2 + 3 / 6, "02": 3 / 3, "03": 1 + 3 / 2}
    cases = {"01": 1 + 1 / 6, "02": 1 / 3, "03": 1 + 1 / 2}
    assert rates["records"].to_dict() == pytest.approx(people)
    assert rates["cases"].to_dict() == pytest.approx(cases)
    assert rates["rate"].to_dict() == pytest.approx({area: 100 * cases[area] / people[area] for area in people})
    assert rates["expected"].to_dict() == pytest.approx({area: people[area] / 2 for area in people})
    assert rates["at_area"].to_dict() == pytest.approx({"01": 2 / 2.5, "02": 0, "03": 1 / 2.5})
    # Of the three with 007 all are ill, of the others none: nothing is left to explain.
    adjusted = release.rates(release.records["ill"] == 1, adjusted_for="code")
    assert adjusted["ratio"].to_numpy() == pytest.approx(1)
    with pytest.raises(InputError, match="for each of the 6 released rows"):
        release.rates([True])


def test_exposures_by_field_or_series(release):
    by_field = release.exposure("traffic")
    mean = 30 / 60 * 1 + 20 / 60 * 2 + 10 / 60 * 3
    assert by_field["mean_traffic"].tolist() == pytest.approx([3, 3, 1, mean, mean, mean])
    assert by_field["sd_traffic"].tolist()[:3] == [0, 0, 0]
    series = pd.Series([3.0, 1.0, 2.0], ["01", "03", "02"], name="traffic")
    pd.testing.assert_frame_equal(release.exposure(series), by_field)
    with pytest.raises(InputError, match="1 area has no exposure"):
        release.exposure(series.drop("02"))


def test_a_margin_is_met_or_named(release):
    census = pd.DataFrame({"where": ["01", "02", "03"] * 2, "code": ["007"] * 3 + ["010"] * 3, "n": [1, 1, 1, 1, 0, 0]})
    fitted = release.with_margins(census, "where", "code", "n")
    estimate = fitted.counts(by="code").set_index("code", append=True)["estimate"]
    assert [estimate[area, "007"] for area in ("01", "02", "03")] == pytest.approx([1, 1, 1], abs=1e-6)
    assert fitted.fitted.unknown == 2  # without a code, and “1”
    census["n"] = 0
    with pytest.raises(InputError, match="MARGINS contradicts the release"):
        release.with_margins(census, "where", "code", "n").spread()
    as_weights = release.with_margins(census, "where", "code", "n", AS_WEIGHTS)
    assert as_weights.spread()["weight"].sum() == pytest.approx(6) and as_weights.fitted.contradictions


def to_csv(frame, path):
    frame.to_csv(path.with_suffix(".csv"), index=False)


def to_parquet(frame, path):
    needed("pyarrow")
    frame.to_parquet(path.with_suffix(".parquet"))


def to_geopackage(frame, path):
    """A table without shapes, as far as a reader needs it."""
    with closing(sqlite3.connect(path.with_suffix(".gpkg"))) as connection:
        connection.execute("CREATE TABLE gpkg_contents (table_name TEXT)")
        connection.execute("CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT)")
        connection.executemany("INSERT INTO gpkg_contents VALUES (?)", [(path.name,), ("layer_styles",)])
        names = ", ".join(f'"{name}"' for name in frame.columns)
        connection.execute(f'CREATE TABLE "{path.name}" (fid INTEGER PRIMARY KEY, {names})')
        places = ", ".join("?" * len(frame.columns))
        rows = frame.astype(object).where(frame.notna(), None).values.tolist()
        connection.executemany(f'INSERT INTO "{path.name}" ({names}) VALUES ({places})', rows)
        connection.commit()


@pytest.mark.parametrize("write", [to_csv, to_parquet, to_geopackage])
def test_a_folder_of_files_is_the_same_release(release, tmp_path, write):
    for name, columns in (("released_records", RECORDS), ("crosswalk", CROSSWALK), ("areas", AREAS)):
        write(pd.DataFrame(columns), tmp_path / name)
    read = read_release(str(tmp_path))
    assert [None if pd.isna(code) else code for code in read.records["code"]] == RECORDS["code"]  # 007 is no 7
    pd.testing.assert_frame_equal(read.spread(), release.spread())
    pd.testing.assert_frame_equal(read.rates("ill"), release.rates("ill"))


def test_counted_rows(release):
    counted = pd.DataFrame(RECORDS).assign(n=[2, 1, 1, 4, 0, 1])
    read = read_release(counted, pd.DataFrame(CROSSWALK), pd.DataFrame(AREAS), count="n")
    assert read.counts()["estimate"].sum() == pytest.approx(9)
    with pytest.raises(InputError, match="“n” is not a whole number in all released rows"):
        read_release(counted.assign(n=0.5), pd.DataFrame(CROSSWALK), pd.DataFrame(AREAS), count="n")


def changed(name, **columns):
    given = {"records": RECORDS, "crosswalk": CROSSWALK, "areas": AREAS}
    frame = pd.DataFrame({**given[name], **columns})
    return {**{one: pd.DataFrame(value) for one, value in given.items()}, name: frame}


WRONG = {
    "another crosswalk": (changed("records", vbas_region=[1] * 6), "shows? a region that CROSSWALK does not have"),
    "no population": ({**changed("areas"), "population": "people"}, "Areas: there is no field “people” among area"),
    "no level": ({**changed("records"), "records": pd.DataFrame({"vbas_region": [1]})}, "no field vbas_level"),
    "areas that are not there": (
        changed("areas", area=["1", "2", "3", "4"]),
        "3 areas of the crosswalk are not among them",
    ),
    "several fields": (changed("crosswalk", more=[1, 2, 3]), "say in “area” which holds the areas"),
    "a level that is lost": (changed("crosswalk", vbas_region_4=[1, 1, 1]), "no field “vbas_region_3”"),
    "no file": ({**changed("areas"), "areas": "/nowhere/areas.csv"}, "Areas: there is no file"),
    "no crosswalk": ({"records": pd.DataFrame(RECORDS)}, "or a folder that has them"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_go_together_is_said_in_a_sentence(case):
    given, words = WRONG[case]
    with pytest.raises(InputError, match=words):
        read_release(**given)


def test_a_folder_without_a_release(tmp_path):
    with pytest.raises(InputError, match=r"must have one of released_records\.csv, .*: it has none of them"):
        read_release(tmp_path)


@pytest.mark.slow
def test_the_reader_needs_no_qgis_and_nothing_but_pandas():
    """In an interpreter that finds none of the others."""
    script = (
        "import sys\n"
        "for name in ('qgis', 'geopandas', 'statsmodels', 'ibis', 'duckdb', 'pyarrow'): sys.modules[name] = None\n"
        "from vbas.core.analysis import read_release\n"
        "assert 'pandas' not in sys.modules\n"
        "import pandas as pd\n"
        f"release = read_release(*map(pd.DataFrame, ({RECORDS!r}, {CROSSWALK!r}, {AREAS!r})))\n"
        "print(len(release.spread()), len(release.rates('ill')))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"12 3\n", done.stdout)


def test_shapes_of_the_areas_are_kept():
    geopandas = needed("geopandas", "pip install vbas[analysis]")
    import shapely

    shapes = [shapely.box(i, 0, i + 1, 1) for i in range(4)]
    areas = geopandas.GeoDataFrame(AREAS, geometry=shapes, crs="EPSG:3857")
    release = read_release(pd.DataFrame(RECORDS), pd.DataFrame(CROSSWALK), areas)
    for table in (release.rates("ill"), release.counts(by="code")):
        assert isinstance(table, geopandas.GeoDataFrame) and table.crs == areas.crs
        assert table.geometry["02"].bounds[0] == 1 if table.index.is_unique else True


@pytest.mark.parametrize("written", ["CSV", "Parquet", "GeoPackage"])
def test_a_folder_is_read_in_whatever_format(tmp_path, written):
    if written == "Parquet":
        pytest.importorskip("pyarrow")
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = {"area": ["a", "b"] * 30, "sex": ["F"] * 30 + ["M"] * 30}
    made = anonymize(areas, people, area="area", quasi_identifiers="sex", k=5)
    made.write(tmp_path / "release", folder_format=written)
    release = read_release(tmp_path / "release", areas=areas)
    assert release.counts("sex")["estimate"].tolist() == [22.5, 22.5, 7.5, 7.5]


def test_a_folder_is_read_as_its_description_says(tmp_path):
    """Where a text is empty another word stands for a missing one, and true and false are no texts."""
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    sexes = ["F"] * 20 + [""] * 15 + [None] * 25
    people = {"area": ["a", "b"] * 30, "sex": sexes, "ill": [i % 5 == 0 for i in range(60)]}
    anonymize(areas, people, area="area", quasi_identifiers="sex", k=5, keep_fields="ill").write(tmp_path / "release")
    assert "NA" in (tmp_path / "release" / "records.csv").read_text(encoding="utf-8")
    for records in (tmp_path / "release", tmp_path / "release" / "records.csv"):
        release = read_release(records, tmp_path / "release" / "crosswalk.csv", areas)
        counts = release.counts("sex").fillna("missing").groupby("sex")["estimate"].sum()
        assert counts.round(9).to_dict() == {"": 15, "F": 20, "missing": 25}
        assert release.rates("ill")["cases"].sum() == pytest.approx(12)


@pytest.mark.parametrize("written", ["CSV", "Parquet", "GeoPackage"])
def test_rows_of_a_folder_that_come_with_counts_are_counted_by_them(tmp_path, written):
    if written == "Parquet":
        pytest.importorskip("pyarrow")
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = {"area": ["a", "b"], "sex": ["F", "M"], "n": [30, 50]}
    made = anonymize(areas, people, area="area", quasi_identifiers="sex", k=5, record_count="n")
    made.write(tmp_path / "release", folder_format=written)
    release = read_release(tmp_path / "release", areas=areas)
    assert release.counts("sex")["estimate"].tolist() == [22.5, 37.5, 7.5, 12.5]


CODES = {"as decimals": ["53.10", "53.1"], "longer than numbers": ["1234567890123456789012", "1234567890123456789013"]}


@pytest.mark.parametrize("codes", CODES.values(), ids=list(CODES))
@pytest.mark.parametrize("folder", [True, False])
def test_codes_that_look_like_numbers_stay_what_they_are(tmp_path, codes, folder):
    """Areas and values that numbers do not tell apart, or show with other digits."""
    areas = pd.DataFrame({"area": codes, "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = {"area": codes * 30, "code": [codes[i // 30] for i in range(60)]}
    anonymize(areas, people, area="area", quasi_identifiers="code", k=5).write(tmp_path)
    areas.to_csv(tmp_path / "areas.csv", index=False)
    if not folder:
        (tmp_path / "datapackage.json").unlink()
        (tmp_path / "records.csv").rename(tmp_path / "released_records.csv")
    counts = read_release(tmp_path, areas=tmp_path / "areas.csv").counts("code")
    wanted = {(area, code): 22.5 if area == codes[0] else 7.5 for area in codes for code in codes}
    assert dict(zip(zip(counts.index, counts["code"]), counts["estimate"])) == wanted


def test_codes_of_a_table_of_people_stay_what_they_are(tmp_path):
    codes = ["53.10", "54.20"]
    release = read_release(
        pd.DataFrame({"vbas_region": [1] * 4, "code": codes[:1] * 4}),
        pd.DataFrame({"area": codes, "vbas_region": [1, 1]}),
        pd.DataFrame({"area": codes, "population": [30, 10]}),
    )
    pd.DataFrame({"area": codes, "code": codes[:1] * 2, "people": [1, 3]}).to_csv(tmp_path / "people.csv", index=False)
    fitted = release.with_margins(tmp_path / "people.csv", "area", "code", "people")
    assert fitted.counts()["estimate"].tolist() == pytest.approx([1, 3])


def test_whole_numbers_beside_missing_ones_stay_whole(tmp_path):
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    ages = pd.array([34] * 30 + [None] * 30, "Int64")
    people = pd.DataFrame({"area": ["a", "b"] * 30, "age": ages})
    anonymize(areas, people, area="area", quasi_identifiers="age", k=5).write(tmp_path / "release")
    counts = read_release(tmp_path / "release", areas=areas).counts("age")
    assert [repr(age) for age in counts["age"].tolist()[:2]] == ["34", "None"]


def test_texts_that_are_numbers_are_numbers_for_models_and_texts_as_groups(tmp_path):
    """Of a table in CSV, of which every value is text."""
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = pd.DataFrame({"area": ["a", "b"] * 30, "dose": ["2.50", "10.25", "007"] * 20, "age": ["34", "7"] * 30})
    made = anonymize(areas, people, area="area", quasi_identifiers=["age"], k=5, keep_fields="dose")
    made.write(tmp_path / "release")
    release = read_release(tmp_path / "release", areas=areas)
    assert release.records["age"].tolist()[:1] == [34] and "007" in set(release.records["dose"])
    assert set(release.counts("age")["age"]) == set(release.spread("age")["age"]) == {"34", "7"}


@pytest.mark.parametrize("codes", [["1", "2", "3"], ["4", "02", "3"]])
def test_areas_that_lost_their_zeros_are_told_of(codes):
    areas = pd.DataFrame({"area": codes, "population": [1, 1, 1]})
    crosswalk = pd.DataFrame({"area": ["01", "02", "03"], "vbas_region": [1, 1, 1]})
    with pytest.raises(InputError, match=r"of the crosswalk (is|are) not among them .* but for leading zeros"):
        read_release(pd.DataFrame({"vbas_region": [1, 1]}), crosswalk, areas)


@pytest.mark.parametrize("name", ["rows", "share", "area"])
def test_a_field_does_not_vanish_behind_a_column_of_ours(name):
    """Nor a column of ours behind it."""
    records = pd.DataFrame(RECORDS).rename(columns={"code": name, "ill": "weight"})
    release = read_release(records, *map(pd.DataFrame, (CROSSWALK, AREAS)))
    with pytest.raises(InputError, match=f"“{name}” has the name of a column that the result has anyhow"):
        release.counts(by=["weight", name])
    with pytest.raises(InputError, match="“weight” has the name of a column"):
        release.spread(by="weight")


def test_a_table_of_a_folder_that_is_not_what_its_description_says_is_refused(tmp_path):
    areas = pd.DataFrame({"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = {"area": ["a", "b"] * 30, "sex": ["F"] * 30 + ["M"] * 30}
    anonymize(areas, people, area="area", quasi_identifiers="sex", k=5).write(tmp_path)
    (tmp_path / "records.csv").write_text("vbas_region,age\n1,7\n", encoding="utf-8")
    with pytest.raises(InputError, match="“records” is not what its schema says"):
        read_release(tmp_path, areas=areas)
