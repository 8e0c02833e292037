"""Texts that look like formulas: written as they are, as text where a format has it, warned of where it has not."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

RUN = ["=1+1", "=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "@SUM(1)", "\t=1+1", '=HYPERLINK("http://127.0.0.1:9/")']
COMPUTED = ["+1+1", "-2-3", "- other (say which)", "@home"]
FORMULAS = [*RUN, *COMPUTED]
HARMLESS = ["-5", "+3.5", "a=b", "under 5"]


@pytest.fixture
def released(run, tmp_path):
    """released(texts, place, name of their field) -> the run: a release of 12 people per text."""

    def one(texts, place, name="job", **further):
        rows = [text for text in texts for _ in range(12)]
        records = make_layer({"home": ["a", "b"] * (len(rows) // 2), name: rows})
        return run(
            "releaserecords",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=[name],
            CROSSWALK=make_layer({"home": ["a", "b"], "vbas_region": [1, 1]}),
            RELEASED_RECORDS=str(tmp_path / place),
            **further,
        )

    return one


def warnings_of(done):
    return [line for line in done.log if "may run as formulas" in line]


@pytest.mark.parametrize("text", RUN)
@pytest.mark.parametrize("where", ["value", "name"])
def test_what_every_spreadsheet_program_runs_is_refused_in_a_csv(released, tmp_path, text, where):
    words = r"released\.csv would hold texts that spreadsheet programs run|cannot be written: rename it first"
    with pytest.raises(QgsProcessingException, match=words):
        released(*((["x"], "released.csv", text) if where == "name" else ([text], "released.csv")))
    assert list(Path(tmp_path).iterdir()) == []


@pytest.mark.parametrize("text", COMPUTED)
def test_a_csv_holds_the_very_text_and_the_log_warns(released, tmp_path, text):
    done = released([text], "released.csv")
    with (tmp_path / "released.csv").open(encoding="utf-8", newline="") as lines:
        assert {row["job"] for row in csv.DictReader(lines)} == {text}
    (said,) = warnings_of(done)
    assert "RELEASED_RECORDS: released.csv holds texts" in said and "\n" not in said


def test_a_folder_is_looked_at_as_a_file_is(released, tmp_path):
    """The texts of its CSV files; its other formats say what is text."""
    folder = {"RELEASE_FOLDER": str(tmp_path / "release")}
    words = r"RELEASE_FOLDER: records\.csv would hold texts that spreadsheet programs run .*FOLDER_FORMAT"
    with pytest.raises(QgsProcessingException, match=words):
        released(RUN[:1], "released.gpkg", **folder)
    assert list(Path(tmp_path).iterdir()) == []
    (said,) = warnings_of(released(COMPUTED, "released.gpkg", **folder))
    assert said.startswith("RELEASE_FOLDER: records.csv holds texts")
    assert warnings_of(released(HARMLESS, "released.gpkg", **folder)) == []
    assert warnings_of(released(RUN, "released.gpkg", **folder, FOLDER_FORMAT="GeoPackage")) == []


def test_the_name_of_a_field_is_looked_at_too(released):
    assert warnings_of(released(["x"], "released.csv", "+1+1"))


def test_numbers_and_harmless_texts_are_not_warned_of(released):
    assert warnings_of(released(HARMLESS, "released.csv")) == []


def test_a_spreadsheet_holds_them_as_text(released, tmp_path):
    done = released(FORMULAS, "released.xlsx")
    assert warnings_of(done) == []
    with zipfile.ZipFile(tmp_path / "released.xlsx") as file:
        cells = re.findall(r"<c [^>]*>.*?</c>", file.read("xl/worksheets/sheet1.xml").decode(), re.DOTALL)
        links = [name for name in file.namelist() if "externalLink" in name or "connections" in name]
    assert len(cells) > 2 * 12 * len(FORMULAS) - 1 and links == []
    assert not [cell for cell in cells if "<f" in cell]
    assert sum('t="s"' in cell or 't="inlineStr"' in cell for cell in cells) >= 12 * len(FORMULAS)


@pytest.mark.parametrize("text", ["of:=1+1", 'of:="x"'])
def test_what_an_ods_file_would_run_is_refused(released, tmp_path, text):
    """GDAL writes these, and these alone, as formulas there."""
    with pytest.raises(QgsProcessingException, match="does not keep the values"):
        released([text], "released.ods")
    assert list(Path(tmp_path).iterdir()) == []
    released(FORMULAS[:1], "released.ods")
    with zipfile.ZipFile(tmp_path / "released.ods") as file:
        assert "table:formula" not in file.read("content.xml").decode()


def opened_by_gnumeric(file, folder):
    """The cells of a file as Gnumeric opens it: for each row the texts that it shows, and its formulas."""
    program = shutil.which("ssconvert")
    if program is None:
        pytest.skip("ssconvert of Gnumeric is not installed: bash scripts/setup engines")
    environment = {**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    made = folder / "opened.gnumeric"
    done = subprocess.run(
        [program, str(file), str(made)], capture_output=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    with gzip.open(made) as lines:
        cells = ElementTree.parse(lines).iter("{http://www.gnumeric.org/v10.dtd}Cell")
        # A cell without a type of value is a formula.
        found = [("ValueType" in cell.attrib, cell.text) for cell in cells]
    return [text for is_value, text in found if is_value], [text for is_value, text in found if not is_value]


def opened_by_libreoffice(file, folder):
    """As `opened_by_gnumeric`; an import without its own settings, as a program that calls it makes it."""
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("soffice of LibreOffice is not installed (on Debian: libreoffice-calc-nogui)")
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", "fods"]
    done = subprocess.run([*command, "--outdir", str(folder), str(file)], capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    table = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
    opened = (folder / f"{file.stem}.fods").read_text(encoding="utf-8").replace("<text:tab/>", "&#9;")
    cells = list(ElementTree.fromstring(opened).iter(f"{table}table-cell"))
    formulas = [cell.get(f"{table}formula") for cell in cells if cell.get(f"{table}formula")]
    links = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}a"
    formulas += [link.get("{http://www.w3.org/1999/xlink}href") for cell in cells for link in cell.iter(links)]
    return ["\n".join("".join(line.itertext()) for line in cell) for cell in cells], formulas


OPENERS = {"Gnumeric": opened_by_gnumeric, "LibreOffice": opened_by_libreoffice}


@pytest.mark.parametrize("program", OPENERS)
def test_a_spreadsheet_program_runs_formulas_of_a_csv(tmp_path, program):
    """Why they are refused: the program computes them as it opens the file."""
    file = tmp_path / "rows.csv"
    file.write_text("region,job\n" + "".join(f'1,"{text}"\n' for text in ("=1+1", "a", "=NOW()")), encoding="utf-8")
    texts, formulas = OPENERS[program](file, tmp_path)
    assert sorted(formula.lower().removeprefix("of:") for formula in formulas) == ["=1+1", "=now()"] and "a" in texts


@pytest.mark.parametrize("program", OPENERS)
@pytest.mark.parametrize(
    ("place", "texts"),
    [
        (
            "released.csv",
            [*COMPUTED, *HARMLESS, "'=1+1", " =1+1", "a,=1+1", 'a";=1+1', "a\n=1+1", "a\r=1+1", "a\t=1+1"],
        ),
        ("released.xlsx", [*FORMULAS, *HARMLESS]),
        ("released.ods", [*FORMULAS, *HARMLESS]),
    ],
)
def test_a_spreadsheet_program_runs_nothing_of_what_is_released(released, tmp_path, place, texts, program):
    released(texts, place)
    (tmp_path / "opened").mkdir()
    found, formulas = OPENERS[program](tmp_path / place, tmp_path / "opened")
    assert formulas == []
    if not place.endswith(".csv"):
        assert set(texts) <= {*found, *(text.lstrip("+") for text in found)}


@pytest.mark.slow
def test_a_spreadsheet_program_runs_nothing_of_a_release_in_place(run, tmp_path):
    import pyarrow
    import pyarrow.parquet

    place = tmp_path / "released.csv"

    def release(texts):
        rows = {"home": ["a"] * 12 * len(texts), "job": [text for text in texts for _ in range(12)]}
        pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "records.parquet")
        crosswalk = make_layer({"home": ["a", "b"], "vbas_region": [1, 1]})
        given = {"CONNECTION": str(tmp_path / "records.parquet"), "RECORD_REGION": "home", "QUASI_IDENTIFIERS": "job"}
        run("releasedatabase", **given, CROSSWALK=crosswalk, DESTINATION=str(place))

    for text in RUN:
        with pytest.raises(QgsProcessingException, match="would hold texts that spreadsheet programs run"):
            release(["x", text])
        assert [path.name for path in tmp_path.iterdir()] == ["records.parquet"]
    release([*COMPUTED, *HARMLESS])
    (tmp_path / "opened").mkdir()
    assert opened_by_gnumeric(place, tmp_path / "opened")[1] == []
