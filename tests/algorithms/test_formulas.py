"""Texts that look like formulas: written as they are, as text where a format has it, warned of where it has not."""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-2-3", "@SUM(1)", "\t=1+1", '=HYPERLINK("http://127.0.0.1:9/")']
HARMLESS = ["-5", "+3.5", "a=b", "under 5"]


@pytest.fixture
def released(run, tmp_path):
    """released(texts, place, name of their field) -> the run: a release of 12 people per text."""

    def one(texts, place, name="job"):
        rows = [text for text in texts for _ in range(12)]
        records = make_layer({"home": ["a", "b"] * (len(rows) // 2), name: rows})
        return run(
            "releaserecords",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=[name],
            CROSSWALK=make_layer({"home": ["a", "b"], "vbas_region": [1, 1]}),
            RELEASED_RECORDS=str(tmp_path / place),
        )

    return one


def warnings_of(done):
    return [line for line in done.log if "may run as formulas" in line]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_csv_holds_the_very_text_and_the_log_warns(released, tmp_path, text):
    done = released([text], "released.csv")
    with (tmp_path / "released.csv").open(encoding="utf-8", newline="") as lines:
        assert {row["job"] for row in csv.DictReader(lines)} == {text}
    (said,) = warnings_of(done)
    assert "RELEASED_RECORDS: released.csv holds texts" in said and "\n" not in said


def test_the_name_of_a_field_is_looked_at_too(released):
    assert warnings_of(released(["x"], "released.csv", "=1+1"))


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
