"""`vbas`: a job in a file makes the release of the library, says how it ended, and leaves nothing it did not finish."""

from __future__ import annotations

import csv
import errno
import hashlib
import html
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vbas import anonymize
from vbas.core.arrays import to_list
from vbas.core.command import main as program
from vbas.core.command.files import CsvFrame, table_of_source
from vbas.core.command.job_file import read_job, written_job
from vbas.core.command.main import CANCELLED, DOES_NOT_HOLD, DONE, INPUT, NOT_WRITTEN, REFUSED, main
from vbas.core.errors import InputError
from vbas.core.job.settings import SETTINGS
from vbas.core.library.frames import frame_of
from vbas.core.package.place import FolderPlace
from vbas.core.publish.files import FileSystem
from vbas.core.publish.geopackage.making import make_geopackage
from vbas.core.publish.register import entry
from vbas.core.publish.register.published_releases import read_register
from vbas.core.releases.updates import Comparing

from ..exploring import tried
from ..systems import of_posix
from .test_library_frames import AREAS, people

ROOT = Path(__file__).resolve().parents[2]
JOB = {
    "REGIONS": "areas.csv",
    "REGION_ID": "area",
    "RECORDS": "records.csv",
    "RECORD_REGION": "area",
    "QUASI_IDENTIFIERS": ["sex", "age"],
    "RELEASE_FOLDER": "release",
}


@pytest.fixture(scope="module")
def rows():
    """People as a CSV file has them: every value is text."""
    frame = pd.DataFrame({name: values for name, values in people().items() if name != "since"})
    texts = frame.astype({"age": "Int64"}).astype("string").fillna("")
    return {name: texts[name].to_list() for name in texts}


@pytest.fixture
def job(tmp_path, rows):
    """job(**changes) -> the file of a job, with its inputs beside it; None leaves a key out."""
    pd.DataFrame(AREAS).to_csv(tmp_path / "areas.csv", index=False)
    pd.DataFrame(rows).to_csv(tmp_path / "records.csv", index=False)

    def one(**changes):
        told = {name: value for name, value in {**JOB, **changes}.items() if value is not None}
        (tmp_path / "job.toml").write_text(written_job(told, ["Made for a test"]), encoding="utf-8")
        return str(tmp_path / "job.toml")

    return one


def content_of(folder):
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["content_sha256"]


@pytest.mark.slow
def test_a_job_makes_the_release_of_the_library(job, tmp_path, rows, capsys):
    assert main(["anonymize", job(RELEASE="nested levels", REPORT="internal.html")]) == DONE
    said = capsys.readouterr()
    release = anonymize(AREAS, rows, area="area", quasi_identifiers=["sex", "age"], release="nested levels")
    assert said.out == f"{release.content_hash}\n" == f"{content_of(tmp_path / 'release')}\n"
    assert "5-anonymous, recounted" in said.err and "%" in said.err
    internal = (tmp_path / "internal.html").read_text(encoding="utf-8")
    assert "vbas anonymize job.toml" in internal and "RECORD_REGION = &#34;area&#34;" in internal
    assert main(["check", str(tmp_path / "release")]) == main(["verify", str(tmp_path / "release")]) == DONE
    assert main(["check", str(tmp_path / "release"), "--k", "9000"]) == DOES_NOT_HOLD
    assert main(["verify", str(tmp_path / "release"), "--k", "9000"]) == DOES_NOT_HOLD


def code_after(page, heading):
    """What is shown to be typed as it stands, under a heading of a page."""
    return html.unescape(page.split(f">{heading}</h2>")[1].split("<code>")[1].split("</code>")[0])


def test_the_page_says_what_makes_this_release_again(job, tmp_path, capsys, monkeypatch):
    """Its command as a shell takes it, and its job with the changes."""
    monkeypatch.chdir(tmp_path)
    job(RELEASE="nested levels", K=7)
    given = ["anonymize", "job.toml", "--folder", "of may", "--set", "RELEASE=one level", "--set", "REPORT=page.html"]
    assert main([*given, "--set", "K=6", "--quiet"]) == DONE
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    hash_of_first = capsys.readouterr().out
    program, *words = shlex.split(code_after(page, "Run it again"))
    assert program == "vbas" and words == [*given, "--set", "K=6"]
    (tmp_path / "again.toml").write_text(code_after(page, "The job"), encoding="utf-8")
    shutil.rmtree(tmp_path / "of may")
    assert main(["anonymize", "again.toml", "--quiet"]) == DONE
    assert capsys.readouterr().out == hash_of_first and (tmp_path / "of may").is_dir()
    assert "With this text, “vbas anonymize job.toml” makes the release" in page
    package = json.loads((tmp_path / "of may" / "datapackage.json").read_text(encoding="utf-8"))
    words = shlex.split(package["vbas"]["made_by"]["command"])
    assert "QUASI_IDENTIFIERS=sex;age" in words
    # Whatever was chosen, by its parts: they count for custom alone.
    assert {"COMBINATION=custom", "SITE_LOCATION=balanced density"} <= set(words)


def test_names_that_a_code_page_lacks_are_written_by_their_numbers(job, tmp_path, rows):
    """Whose output goes into a file on Windows has it in the system's code page, in which Greek cannot be written."""
    pd.DataFrame({"φύλο" if name == "sex" else name: rows[name] for name in rows}).to_csv(
        tmp_path / "records.csv", index=False
    )
    assert main(["anonymize", job(QUASI_IDENTIFIERS=["φύλο"], RELEASE_FOLDER="release")]) == DONE
    told = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    for command in (["-m", "vbas", "check"], ["-m", "vbas", "verify"], [str(ROOT / "verify" / "verify.py")]):
        done = subprocess.run(
            [sys.executable, *command, str(tmp_path / "release")], capture_output=True, env=told, check=False
        )
        assert done.returncode == DONE, done.stderr
        assert "\\u03c6" in done.stdout.decode("cp1252")


@pytest.mark.slow
def test_a_job_is_carried_on_month_by_month(job, tmp_path, rows, capsys):
    path = job(REGISTER="register.gpkg", RELEASE="nested levels")
    assert main(["anonymize", path, "--quiet"]) == DONE
    pd.DataFrame(rows).iloc[3:].to_csv(tmp_path / "april.csv", index=False)
    folder = str(tmp_path / "april")
    assert main(["update", path, "--set", "RECORDS=april.csv", "--folder", folder]) == DONE
    said = capsys.readouterr().err
    assert "changes by nobody or by at least 5 records" in said and "as that of a further period" in said
    assert main(["check", folder]) == main(["verify", folder]) == DONE
    march, april = read_register(tmp_path / "register.gpkg")
    compared = Comparing().compare(march, april, march.k)
    assert compared is not None and compared.few.n_compared and not len(compared.few)
    assert main(["update", path, "--entry", "March", "--quiet"]) == INPUT
    again = ["update", path, "--entry", "1", "--replaces", "--set", "RECORDS=april.csv", "--folder", f"{folder}-again"]
    assert main(again) == DONE
    assert "takes the place of the earlier ones" in capsys.readouterr().err


@pytest.mark.slow
def test_every_kind_of_file_gives_one_release(job, tmp_path, rows, capsys):
    geopandas, _ = (pytest.importorskip(name) for name in ("geopandas", "pyarrow"))
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "records.parquet")
    points = geopandas.GeoDataFrame(
        {"area": AREAS["area"], "people": AREAS["people"]},
        geometry=shapely.points(AREAS["x"], AREAS["y"]),
        crs="EPSG:32632",
    )
    points.to_file(tmp_path / "areas.gpkg", layer="areas", driver="GPKG")
    points.to_file(tmp_path / "areas.geojson", driver="GeoJSON")
    points.to_parquet(tmp_path / "areas.parquet")
    geopandas.GeoDataFrame(frame, geometry=shapely.points(np.zeros((len(frame), 2)))).to_file(
        tmp_path / "records.gpkg", layer="people", driver="GPKG"
    )
    found = set()
    for areas, records in (
        ("areas.gpkg", "records.csv"),
        ("areas.gpkg|layername=areas", "records.gpkg|layername=people"),
        ("areas.parquet", "records.parquet"),
    ):
        assert main(["anonymize", job(REGIONS=areas, RECORDS=records), "--quiet"]) == DONE
        found.add(capsys.readouterr().out)
    assert len(found) == 1
    assert main(["anonymize", job(REGIONS="areas.geojson"), "--quiet"]) == DONE  # in degrees: another plane


def test_what_is_set_on_the_line_counts(job, tmp_path, capsys):
    path = job(RELEASE_FOLDER=None)
    assert (
        main(["anonymize", path, "--quiet", "--set", "K=11", "--folder", str(tmp_path / "b"), "--set", "RULE=none"])
        == DONE
    )
    assert json.loads((tmp_path / "b" / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["k"] == 11


def test_the_internal_page_has_the_hashes_of_those_to_publish(job, tmp_path):
    pytest.importorskip("jinja2")
    assert main(["anonymize", job(REPORT="internal.html", RELEASE_REPORT="public.html"), "--quiet"]) == DONE
    internal = (tmp_path / "internal.html").read_text(encoding="utf-8")
    for page in (tmp_path / "public.html", tmp_path / "release" / "report.html"):
        assert content_of(tmp_path / "release") in page.read_text(encoding="utf-8")
        assert hashlib.sha256(page.read_bytes()).hexdigest() in internal


@pytest.mark.parametrize(
    ("changes", "code", "sentence"),
    [
        ({"QUASI_IDENTIFIER": ["sex"]}, INPUT, "“QUASI_IDENTIFIER” is no setting: did you mean “QUASI_IDENTIFIERS”?"),
        ({"ZZZZ": 5}, INPUT, "“ZZZZ” is no setting, and none is called nearly so: docs/library.md lists them."),
        ({"k": 5}, INPUT, "“k” is no setting: did you mean “K”?"),
        ({"RELEASE_FOLDER": ["a", "b"]}, INPUT, "RELEASE_FOLDER: give a path, in quotation marks"),
        ({"REGISTER": "a\0b"}, INPUT, "REGISTER: give a path"),
        ({"RECORDS": "people.csv"}, INPUT, "RECORDS: there is no file"),
        ({"RECORDS": None}, INPUT, "RECORDS is needed, and is not given."),
        ({"RECORDS": "records.csv|subset=age > 3"}, INPUT, "is more than a file and a table"),
        ({"RELEASE_FOLDER": None}, INPUT, "give RELEASE_FOLDER or --folder"),
        ({"KEEP_FIELDS": ["area"]}, INPUT, "identifier of the area"),
        ({"REGIONS": "job.toml"}, INPUT, "REGIONS"),
        ({"LEAST_POPULATION": 1e9}, INPUT, "LEAST_POPULATION"),
        ({"K": 5, "FOLDER_FORMAT": "XLSX"}, INPUT, "FOLDER_FORMAT is “XLSX”, which is not among the choices"),
    ],
)
def test_a_job_that_cannot_be_done_ends_in_a_sentence_and_writes_nothing(
    job, tmp_path, capsys, changes, code, sentence
):
    path = job(**changes)
    before = sorted(one.name for one in tmp_path.iterdir())
    assert main(["anonymize", path, "--quiet"]) == code
    said = capsys.readouterr()
    assert sentence in said.err and "Traceback" not in said.err and not said.out
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_a_register_that_cannot_be_made_is_refused_before_any_work(job, capsys):
    assert main(["anonymize", job(REGISTER="register.sqlite")]) == INPUT
    said = capsys.readouterr().err
    assert said.startswith("REGISTER: ") and said.count("\n") == 1
    assert said.endswith("cannot be made: name a .gpkg file in a folder that is there.\n")


@pytest.mark.parametrize(
    ("step", "why", "code"),
    [
        ("make_geopackage", "database or disk is full", NOT_WRITTEN),
        ("mark_changed", "database or disk is full", NOT_WRITTEN),
        ("mark_changed", "database is locked", NOT_WRITTEN),
        ("mark_changed", "attempt to write a readonly database", NOT_WRITTEN),
        ("mark_changed", "database disk image is malformed", INPUT),
    ],
)
def test_a_register_that_cannot_be_written_to_is_no_fault_of_the_job(
    job, tmp_path, capsys, monkeypatch, step, why, code
):
    def fails(*_):
        raise sqlite3.OperationalError(why)

    monkeypatch.setattr(entry, step, fails)
    path = job(REGISTER="register.gpkg", POPULATION="people")
    before = sorted(one.name for one in tmp_path.iterdir())
    assert main(["anonymize", path, "--quiet"]) == code
    assert capsys.readouterr().err.splitlines()[-1].startswith("REGISTER: ")
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_a_release_that_would_give_something_away_is_refused(job, tmp_path, capsys):
    given = {"REGISTER": "register.gpkg", "POPULATION": "people"}
    assert main(["anonymize", job(**given), "--quiet"]) == DONE
    text = (tmp_path / "records.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "records.csv").write_text("\n".join(text[:-1]) + "\n", encoding="utf-8")  # one person less
    path = job(**given, RELEASE_FOLDER="second")
    before = sorted(one.name for one in tmp_path.iterdir())
    assert main(["anonymize", path, "--quiet"]) == REFUSED
    assert "earlier" in capsys.readouterr().err
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_a_file_that_is_no_job_ends_in_a_sentence(tmp_path, capsys):
    (tmp_path / "job.toml").write_text("K = = 5", encoding="utf-8")
    assert main(["anonymize", str(tmp_path / "job.toml")]) == INPUT
    assert "is no TOML" in capsys.readouterr().err
    assert main(["anonymize", str(tmp_path / "none.toml")]) == main(["check", str(tmp_path)]) == INPUT


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "area;sex;age\na;é;1\n".encode("latin-1"),
            "RECORDS: records.csv is in another encoding than UTF-8: save it as ",
        ),
        (b'area,sex,age\na,"F"x,1\n', "RECORDS: records.csv is no CSV file (',' expected after '\"'): save it as one."),
    ],
)
def test_a_table_that_cannot_be_read_is_told_of_in_words(job, tmp_path, capsys, content, told):
    path = job()
    (tmp_path / "records.csv").write_bytes(content)
    assert main(["anonymize", path]) == INPUT
    said = capsys.readouterr().err
    assert told in said and "codec" not in said and not (tmp_path / "release").exists()


def test_the_layers_of_the_toolbox_are_told_to_be_left_out(job, tmp_path, capsys):
    assert main(["anonymize", job(RELEASED_RECORDS="released.gpkg"), "--quiet"]) == DONE
    assert "RELEASED_RECORDS: only the toolbox writes these" in capsys.readouterr().err
    assert not (tmp_path / "released.gpkg").exists()


def test_a_job_is_written_as_it_is_read(tmp_path):
    values = {
        "K": 5,
        "RATIO": 2.5,
        "RULE": 'a "quoted" \\ name\n\ttab\x7f é “”',
        "QUASI_IDENTIFIERS": ["a", "b"],
        "ALIASES": ["x", 1],
    }
    (tmp_path / "job.toml").write_text(written_job(values, ["one\ntwo"]), encoding="utf-8")
    assert read_job(tmp_path / "job.toml") == values
    assert set(values) < set(SETTINGS)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@of_posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_breaks_off_once_all_is_in_its_place_is_not_told_that_nothing_was_written(
    job, tmp_path, capsys, monkeypatch, number
):
    forget, before = FolderPlace.forget, signal.getsignal(number)

    def broken_off(place):
        os.kill(os.getpid(), number)
        return forget(place)

    monkeypatch.setattr(FolderPlace, "forget", broken_off)
    assert main(["anonymize", job(), "--quiet"]) == DONE
    assert capsys.readouterr() == (f"{content_of(tmp_path / 'release')}\n", "")
    assert signal.getsignal(number) == before


@of_posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, CANCELLED), (signal.SIGTERM, 143)])
def test_who_breaks_off_twice_gets_one_sentence(job, tmp_path, capsys, monkeypatch, number, code):
    failed = program._failed

    def broken_off(*given):
        os.kill(os.getpid(), number)
        return failed(*given)

    monkeypatch.setattr(program, "_failed", broken_off)
    monkeypatch.setattr(FolderPlace, "put", lambda place: os.kill(os.getpid(), number))
    assert main(["anonymize", job(), "--quiet"]) == code
    assert "nothing was written" in capsys.readouterr().err and not (tmp_path / "release").exists()


if sys.platform == "win32":
    STOPPING = [(signal.CTRL_BREAK_EVENT, 143)]
else:
    STOPPING = [(signal.SIGINT, CANCELLED), (signal.SIGTERM, 143)]


@pytest.mark.parametrize(("number", "code"), STOPPING)
def test_whoever_stops_it_finds_nothing_written(job, tmp_path, number, code):
    path = job()
    many = pd.concat([pd.read_csv(tmp_path / "records.csv", dtype=str)] * 40)
    many.to_csv(tmp_path / "records.csv", index=False)
    before = sorted(one.name for one in tmp_path.iterdir())
    running = subprocess.Popen(
        [sys.executable, "-m", "vbas", "anonymize", path],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        # A test run in the background has been told to ignore Ctrl-C, and would hand that on.
        preexec_fn=None if sys.platform == "win32" else lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    assert running.stderr is not None
    while "%" not in (line := running.stderr.readline()):
        assert line, "it ended before"
    try:
        running.send_signal(number)
    except SystemError:  # so Python for Windows says that Ctrl-Break did not arrive
        running.kill()
        running.communicate(timeout=60)
        pytest.skip("there is no console here, which Ctrl-Break would come from")
    _, said = running.communicate(timeout=60)
    assert running.returncode == code and "nothing was written" in said
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_analysts_get_counts_by_area(job, tmp_path, capsys):
    assert main(["anonymize", job(), "--quiet"]) == DONE
    given = [
        str(tmp_path / "release"),
        str(tmp_path / "areas.csv"),
        str(tmp_path / "counts.csv"),
        "--population",
        "people",
    ]
    assert main(["spread", *given, "--by", "sex"]) == DONE
    counts = pd.read_csv(tmp_path / "counts.csv")
    assert set(counts["sex"]) == {"F", "M"} and set(counts["area"]) == set(AREAS["area"])
    released = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))["resources"][0][
        "rows"
    ]
    assert counts["estimate"].sum() == pytest.approx(released)


def spread_of(tmp_path, *given):
    """The rows that “spread” writes, as text."""
    output = tmp_path / "counts.csv"
    assert main(["spread", str(tmp_path / "release"), *given, str(output), "--population", "people"]) == DONE
    return list(csv.reader(output.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("written", ["CSV", "GeoPackage"])
def test_counts_of_rows_that_come_with_counts(job, rows, tmp_path, written):
    pd.DataFrame(rows).assign(n=3).to_csv(tmp_path / "records.csv", index=False)
    assert main(["anonymize", job(RECORD_COUNT="n", FOLDER_FORMAT=written), "--quiet"]) == DONE
    resource = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))["resources"][0]
    estimates = [float(row[1]) for row in spread_of(tmp_path, str(tmp_path / "areas.csv"))[1:]]
    assert sum(estimates) > 2.9 * resource["rows"]


def test_areas_of_counts_are_read_as_those_of_a_job(job, tmp_path, capsys):
    assert main(["anonymize", job(), "--quiet"]) == DONE
    expected = spread_of(tmp_path, str(tmp_path / "areas.csv"), "--by", "sex")
    areas = pd.read_csv(tmp_path / "areas.csv", dtype=str)
    areas.to_csv(tmp_path / "others.csv", index=False, sep=";")
    assert spread_of(tmp_path, str(tmp_path / "others.csv"), "--by", "sex") == expected
    file = tmp_path / "areas.gpkg"
    make_geopackage(file, {"census": dict.fromkeys(areas, "TEXT"), "others": {"area": "TEXT"}})
    with closing(sqlite3.connect(file)) as connection:
        names, places = ", ".join(areas), ", ".join("?" * len(areas.columns))
        connection.executemany(f"INSERT INTO census ({names}) VALUES ({places})", areas.values.tolist())
        connection.commit()
    assert spread_of(tmp_path, f"{file}|layername=census", "--by", "sex") == expected
    (tmp_path / "latin.csv").write_bytes("area;people;name\n1;5;é\n".encode("latin-1"))
    for strange in ("latin.csv", "release/datapackage.json"):
        given = [str(tmp_path / "release"), str(tmp_path / strange), str(tmp_path / "other.csv")]
        assert main(["spread", *given]) == INPUT
        assert capsys.readouterr().err.startswith("Areas: ")


def test_counts_tell_an_empty_text_from_a_missing_one(tmp_path):
    areas = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0], "people": [30, 10]}
    people = {"area": ["a", "b"] * 45, "sex": ["F", "", None] * 30, "ill": [True] * 90}
    anonymize(areas, people, area="area", quasi_identifiers=["sex", "ill"]).write(tmp_path / "release")
    pd.DataFrame(areas).to_csv(tmp_path / "areas.csv", index=False)
    rows = spread_of(tmp_path, str(tmp_path / "areas.csv"), "--by", "sex,ill")
    assert rows[0][:3] == ["area", "sex", "ill"]
    assert [row[:4] for row in rows[1:4]] == [["a", sex, "true", "22.5"] for sex in ("", "F", "NA")]


def test_counts_of_a_release_that_was_changed_come_with_a_warning(job, tmp_path, capsys):
    assert main(["anonymize", job(), "--quiet"]) == DONE
    records = tmp_path / "release" / "records.csv"
    lines = records.read_text(encoding="utf-8").splitlines(keepends=True)
    spread_of(tmp_path, str(tmp_path / "areas.csv"))
    assert "does not hold" not in capsys.readouterr().err
    records.write_text("".join(lines[:-1]), encoding="utf-8")
    spread_of(tmp_path, str(tmp_path / "areas.csv"))
    assert "Warning: release: “content records” does not hold" in capsys.readouterr().err


def test_what_counts_cannot_be_made_of_is_said_in_a_sentence(job, tmp_path, capsys):
    given = [str(tmp_path / "areas.csv"), str(tmp_path / "counts.csv"), "--population", "people"]
    job()
    assert main(["spread", str(tmp_path / "nowhere"), *given]) == INPUT
    assert "There is no folder" in capsys.readouterr().err
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "crosswalk.csv").write_text("area,vbas_region\na,1\n", encoding="utf-8")
    (tmp_path / "plain" / "released_records.csv").write_bytes("vbas_region,q\n1,é\n".encode("latin-1"))
    assert main(["spread", str(tmp_path / "plain"), *given]) == INPUT
    assert capsys.readouterr().err.startswith("Released records: ")


@of_posix
def test_counts_by_area_are_put_in_their_place_whole_or_not_at_all(job, tmp_path, capsys, monkeypatch):
    assert main(["anonymize", job(), "--quiet"]) == DONE
    release, areas = str(tmp_path / "release"), str(tmp_path / "areas.csv")
    asked = ["--population", "people", "--by", "sex"]
    before = tmp_path / "counts.csv"
    before.write_text("of last month\n", encoding="utf-8")

    def no_room(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(FileSystem, "keep", no_room)  # of a copy
        full.setattr(FileSystem, "keep_written", no_room)  # of a second name
        assert main(["spread", release, areas, str(before), *asked]) == NOT_WRITTEN
    assert before.read_text(encoding="utf-8") == "of last month\n"
    before.with_name("link.csv").symlink_to(before)
    assert main(["spread", release, areas, str(before.with_name("link.csv")), *asked]) != DONE
    assert before.read_text(encoding="utf-8") == "of last month\n"
    assert main(["spread", release, areas, str(tmp_path / "nowhere" / "counts.csv"), *asked]) == INPUT
    assert "make it first" in capsys.readouterr().err
    assert main(["spread", release, areas, str(before), *asked]) == DONE
    assert before.read_text(encoding="utf-8").startswith("area")


def test_values_of_csv_are_text_as_in_qgis(tmp_path):
    (tmp_path / "table.csv").write_text('key,x\na,10\nb,\nc,"9"\nd,007\n\n', encoding="utf-8-sig")
    column = CsvFrame(tmp_path / "table.csv", "RECORDS").column("x")
    assert to_list(column.categories[column.codes]) == ["10", "", "9", "007"]


def test_fields_may_be_separated_by_semicolons(tmp_path):
    (tmp_path / "table.csv").write_text('key;"x, y"\na;"1;2"\nb;"3,5"\n', encoding="utf-8-sig")
    assert CsvFrame(tmp_path / "table.csv", "RECORDS").column("x, y").categories.tolist() == ["1;2", "3,5"]


@settings(max_examples=tried(100, 1000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from(["", "a", "é", "7", "007", '"a"', '"a;b"', '"a,b"', '""', " a", '"a""b"'])] * 2)
    ),
    separator=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    empty=st.booleans(),
)
def test_a_plain_csv_file_has_the_same_columns_as_row_by_row(tmp_path, rows, separator, end, empty):
    rows = [row for row in rows if all(cell[:1] == '"' or separator not in cell for cell in row)]
    lines = [f"key{separator}x", *map(separator.join, rows), *([""] if empty else [])]
    (tmp_path / "table.csv").write_bytes(end.join(lines).encode())
    frame = CsvFrame(tmp_path / "table.csv", "RECORDS")
    read, by_rows = frame.columns(["x", "key", "x"]), frame._by_rows(["x", "key"])
    assert list(read) == list(by_rows)
    for column, other in zip(read.values(), by_rows.values()):
        assert to_list(column.categories) == to_list(other.categories)
        assert column.codes.tolist() == other.codes.tolist()


@pytest.mark.parametrize("text", ["a,b\n1\n", "a,b\n1,2,3\n", 'a,b\n"1,2\n', b"a,b\n\xff,2\n"])
def test_a_csv_file_that_is_none_ends_in_a_sentence(tmp_path, text):
    (tmp_path / "table.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError, match="RECORDS"):
        table_of_source("table.csv", tmp_path, "RECORDS").columns(["a"])


@pytest.mark.parametrize("ending", ["geojson", "fgb", "shp"])
def test_values_of_other_formats_stay_what_they_are_beside_missing_ones(tmp_path, ending):
    """As in QGIS: numbers whole, flags true or false, dates without a time; pandas alone makes others of them."""
    geopandas = pytest.importorskip("geopandas")
    n, flag = pd.array([7, None, 2**53 - 1], dtype="Int64"), pd.array([True, None, False], dtype="boolean")
    given = {"n": n, "flag": flag, "day": [date(2020, 1, 1), None, date(2021, 1, 1)], "all": [1, 2, 2**53 + 1]}
    geopandas.GeoDataFrame(given, geometry=shapely.points([[0, 0]] * 3), crs=32633).to_file(tmp_path / f"t.{ending}")
    read = table_of_source(f"t.{ending}", tmp_path, "RECORDS")
    assert read.values("n") == [7, None, 2**53 - 1] and read.values("all") == given["all"]
    assert read.values("flag") == [True, None, False]
    assert all(type(value) is kind for name, kind in (("n", int), ("flag", bool)) for value in read.values(name)[::2])
    assert [str(value)[:11] for value in read.values("day")] == ["2020-01-01", "None", "2021-01-01"]


def test_numbers_that_would_lose_their_last_digits_are_refused(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    codes = pd.array([9007199254740993, None], dtype="Int64")
    geopandas.GeoDataFrame({"code": codes}, geometry=shapely.points([[0, 0]] * 2)).to_file(tmp_path / "t.geojson")
    with pytest.raises(InputError, match="“code” has whole numbers of 16 digits"):
        table_of_source("t.geojson", tmp_path, "RECORDS").columns(["code"])


@pytest.mark.parametrize(("ending", "says"), [("geojson", "of 19 digits"), ("shp", "are rounded when they are read")])
def test_numbers_that_gdal_takes_for_real_ones_are_refused_where_they_are_read(tmp_path, ending, says):
    geopandas = pytest.importorskip("geopandas")
    given = {"code": [9007199254740993, -4611686018427387904], "sex": ["f", "m"], "share": [0.5, 2.5]}
    frame = geopandas.GeoDataFrame(given, geometry=shapely.points([[0, 0]] * 2), crs=32633)
    frame.to_file(tmp_path / f"t.{ending}")
    table = table_of_source(f"t.{ending}", tmp_path, "RECORDS")
    assert table.values("sex") == ["f", "m"] and table.values("share") == [0.5, 2.5]
    with pytest.raises(InputError, match=says):
        table.columns(["code"])


TYPED = [
    ("INTEGER", [1, 2, "abc"], "“abc”"),
    ("INTEGER", [1, 2.5], "“2.5”"),
    ("SMALLINT", [1, 70_000], "“70000”"),
    ("MEDIUMINT", [1, 5_000_000_000], "“5000000000”"),
    ("REAL", [1.5, "abc"], "“abc”"),
    ("BOOLEAN", [0, 1, 7], "“?7”?"),
    ("BOOLEAN", [0, 1, "no"], "“?no”?"),
    ("DATE", ["2020-01-01", "foo"], "“?'?foo'?”?"),
    ("DATETIME", ["2020-01-01T00:00:00Z", "foo"], "“?'?foo'?”?"),
    ("TEXT", ["a", b"b"], "“62”"),
    ("INTEGER", [1, None, 2**31 - 1], None),
    ("BIGINT", [-(2**63), 2**63 - 1], None),
    ("REAL", [0.5, None, 1e300], None),
    ("VARCHAR(2)", ["longer", "", None], None),
    ("BOOLEAN", [0, 1, None], None),
]


@pytest.mark.parametrize("ending", ["db", "gpkg"])
@pytest.mark.parametrize(("kind", "values", "wrong"), TYPED)
def test_values_in_sqlite_are_those_of_the_field_or_refused(tmp_path, ending, kind, values, wrong):
    """SQLite keeps whatever is put into a field; GDAL makes 0 of a text and the largest number of a larger one."""
    pytest.importorskip("pyogrio")
    if ending == "gpkg" and kind in ("SMALLINT", "BIGINT"):
        pytest.skip("no reader makes others of them")
    file = tmp_path / f"t.{ending}"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE people (area TEXT, v {kind}, unasked INTEGER)")
        connection.executemany("INSERT INTO people VALUES ('a', ?, 'abc')", [(value,) for value in values])
        if ending == "gpkg":
            connection.execute("CREATE TABLE gpkg_contents (table_name TEXT)")
            connection.execute("CREATE TABLE gpkg_geometry_columns (table_name, column_name, srs_id)")
            connection.execute(
                "CREATE TABLE gpkg_spatial_ref_sys (organization, organization_coordsys_id, definition, srs_id)"
            )
            connection.execute("INSERT INTO gpkg_contents VALUES ('people')")
    table = table_of_source(file.name, tmp_path, "RECORDS")
    if wrong is None:
        assert table.values("v") == ([None if v is None else bool(v) for v in values] if kind == "BOOLEAN" else values)
    else:
        with pytest.raises(InputError, match=f"RECORDS.*“v”.*{wrong}"):
            table.columns(["v"])


def test_values_that_gdal_says_it_altered_are_refused(tmp_path):
    """Elsewhere than in SQLite GDAL says so in a warning alone."""
    pytest.importorskip("pyogrio")
    (tmp_path / "t.psv").write_text("area|v\na|1\nb|abc\n", encoding="utf-8")
    (tmp_path / "t.csvt").write_text('"String","Integer"', encoding="utf-8")
    with pytest.raises(InputError, match=r"RECORDS cannot be read as it is .*Invalid value type"):
        table_of_source("t.psv", tmp_path, "RECORDS")


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_texts_of_several_lines_are_those_that_qgis_reads(tmp_path, ends):
    text = f'area,v{ends}a,"x{ends}y{ends}"{ends}b,"x\u2028{ends}y"{ends}'
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert table_of_source("t.csv", tmp_path, "RECORDS").values("v") == ["x\ny\n", "x\u2028\ny"]


@pytest.mark.parametrize("shown", ["people", "seen"])
def test_values_are_those_of_their_rows_though_a_field_has_an_index(tmp_path, shown):
    """SQLite goes along an index that holds all fields that are asked for: dates of others would be read."""
    frame = pd.DataFrame({"n": range(40), "born": pd.to_datetime([f"{2000 - i * 7 % 40}-01-01" for i in range(40)])})
    frame["old"] = [(i * 7 % 40) > 20 for i in range(40)]
    frame["size"] = [i * 7 % 40 + 0.5 for i in range(40)]
    shapes = pytest.importorskip("geopandas").GeoSeries(shapely.points(np.arange(40.0), 0.0), crs=3347)
    pytest.importorskip("geopandas").GeoDataFrame(frame, geometry=shapes).to_file(tmp_path / "people.gpkg")
    with closing(sqlite3.connect(tmp_path / "people.gpkg")) as connection:
        for name in ("born", "old", "size", "n"):
            connection.execute(f"CREATE INDEX along_{name} ON people ({name})")
        connection.execute("CREATE VIEW seen AS SELECT * FROM people")
        connection.execute("INSERT INTO gpkg_contents (table_name, data_type) VALUES ('seen', 'attributes')")
        connection.commit()
    read = table_of_source(f"people.gpkg|layername={shown}", tmp_path, "RECORDS")
    n: Any = read.values("n")
    born: Any = read.values("born")
    assert sorted(n) == list(range(40))
    assert [day.year for day in born] == [2000 - i * 7 % 40 for i in n]
    assert read.values("old") == [(i * 7 % 40) > 20 for i in n]
    assert read.values("size") == [i * 7 % 40 + 0.5 for i in n]
    together = read.columns(["n", "born", "size"])
    assert {len(column) for column in together.values()} == {40}
    rows = zip(*(to_list(column.categories[column.codes]) for column in together.values()))
    assert all((day.year, size) == (2000 - i * 7 % 40, i * 7 % 40 + 0.5) for i, day, size in rows)
    if shown == "people":
        assert shapely.get_x(shapely.from_wkb(read.array(read.geometry))).tolist() == n


@pytest.mark.parametrize("ending", ["gpkg", "csv"])
def test_fields_of_a_file_that_is_changed_between_them_are_not_put_together(tmp_path, ending):
    frame = pd.DataFrame({"n": range(9), "old": [True, False, False] * 3})
    path = tmp_path / f"people.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        shapes = pytest.importorskip("geopandas").GeoSeries(shapely.points(np.arange(9.0), 0.0), crs=3347)
        pytest.importorskip("geopandas").GeoDataFrame(frame, geometry=shapes).to_file(path)
    read = table_of_source(path.name, tmp_path, "RECORDS")
    assert len(read.values("n")) == len(read.values("old")) == 9
    if ending == "csv":
        frame[::-1].to_csv(path, index=False)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE others (a)")
            connection.commit()
    with pytest.raises(InputError, match=f"RECORDS: people.{ending} was changed by another program"):
        read.values("old")


def test_a_table_with_tabs_is_read_as_text(tmp_path):
    (tmp_path / "t.tsv").write_text('a,b\tv\n007\t"x\ty"\n008\t\n', encoding="utf-8")
    table = table_of_source("t.tsv", tmp_path, "RECORDS")
    assert [table.values(name) for name in ("a,b", "v")] == [["007", "008"], ["x\ty", ""]]


def test_shapes_are_no_values(tmp_path):
    """What is called “geometry” in the file is hidden by the shapes, which tell where somebody lives."""
    geopandas = pytest.importorskip("geopandas")
    given = {"area": ["a", "b"], "sex": ["f", "m"]}
    frame = geopandas.GeoDataFrame(given, geometry=shapely.points([[0, 0], [5, 5]]), crs=4326)
    frame.to_file(tmp_path / "t.geojson")
    for table in (table_of_source("t.geojson", tmp_path, "RECORDS"), frame_of(frame, "RECORDS")):
        assert list(table.columns(["sex"])) == ["sex"]
        with pytest.raises(InputError, match="RECORDS: field “geometry” holds lists, maps, bytes or shapes"):
            table.columns(["geometry"])
    with pytest.raises(InputError, match="RECORDS: field “geometry” holds lists, maps, bytes or shapes"):
        frame_of({"geometry": list(frame.geometry)}, "RECORDS").columns(["geometry"])


def test_a_file_without_a_table_or_with_several_ends_in_a_sentence(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    pytest.importorskip("pyogrio")
    with closing(sqlite3.connect(tmp_path / "none.sqlite")) as connection:
        connection.execute("VACUUM")
    with pytest.raises(InputError, match=r"RECORDS: no table is found in none\.sqlite: name one as"):
        table_of_source("none.sqlite", tmp_path, "RECORDS")
    for layer in ("persons", "stays"):
        points = geopandas.GeoDataFrame({"of": [layer]}, geometry=shapely.points([[0, 0]]), crs=4326)
        points.to_file(tmp_path / "two.sqlite", driver="SQLite", layer=layer, mode="a")
    with pytest.raises(InputError, match=r"two\.sqlite has the tables “persons”, “stays”: name one of them"):
        table_of_source("two.sqlite", tmp_path, "RECORDS")
    with pytest.raises(InputError, match=r"one\.gpkg has the table “of it”: name it as one\.gpkg\|layername=TABLE, or"):
        points.to_file(tmp_path / "one.gpkg", layer="of it")
        table_of_source("one.gpkg|layername=of", tmp_path, "RECORDS")
    assert table_of_source("two.sqlite|layername=stays", tmp_path, "RECORDS").values("of") == ["stays"]
    # Beside tables of shapes GDAL lists no plain one, but reads it where it is named.
    with closing(sqlite3.connect(tmp_path / "two.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE plain (of TEXT)")
        connection.execute("INSERT INTO plain VALUES ('plain')")
    assert table_of_source("two.sqlite|layername=plain", tmp_path, "RECORDS").values("of") == ["plain"]


def test_a_system_that_only_newer_words_describe_is_read_from_a_geopackage(tmp_path):
    geopandas, pyproj = pytest.importorskip("geopandas"), pytest.importorskip("pyproj")
    turned = "+proj=ob_tran +o_proj=longlat +o_lon_p=-162 +o_lat_p=39.25 +lon_0=180 +R=6371000 +no_defs"
    frame = geopandas.GeoDataFrame({"area": ["a", "b"]}, geometry=shapely.points([[0, 0], [1, 1]]), crs=32633)
    frame.to_file(tmp_path / "areas.gpkg")
    with closing(sqlite3.connect(tmp_path / "areas.gpkg")) as connection, connection:
        connection.execute("ALTER TABLE gpkg_spatial_ref_sys ADD COLUMN definition_12_063 TEXT")
        change = (
            "UPDATE gpkg_spatial_ref_sys SET organization = 'NONE', definition = 'undefined', definition_12_063 = ?"
        )
        connection.execute(f"{change} WHERE srs_id = 32633", [pyproj.CRS(turned).to_wkt()])
    read = table_of_source("areas.gpkg", tmp_path, "REGIONS").crs
    there = pyproj.Transformer.from_crs(read, 4326, always_xy=True).transform(0, 0)
    assert there == pytest.approx(pyproj.Transformer.from_crs(turned, 4326, always_xy=True).transform(0, 0))


def test_folders_and_files_of_no_known_format_end_in_a_sentence(tmp_path):
    pytest.importorskip("pyogrio")
    (tmp_path / "records.gdb").mkdir()
    with pytest.raises(InputError, match=r"RECORDS: .*records\.gdb” is a folder: save the table as"):
        table_of_source("records.gdb", tmp_path, "RECORDS")
    for name in ("records.txt", "records.csv.gz"):
        (tmp_path / name).write_bytes(b"area,sex\na,f\n")
        with pytest.raises(InputError, match=rf"RECORDS: .*{name}” is in no format that is known here: save it as"):
            table_of_source(name, tmp_path, "RECORDS")


def test_days_that_pandas_has_no_moments_for_are_read_without_a_warning(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    given = {"day": [date(9999, 12, 31), date(1850, 1, 1)]}
    geopandas.GeoDataFrame(given, geometry=shapely.points([[0, 0]] * 2), crs=4326).to_file(tmp_path / "t.geojson")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = table_of_source("t.geojson", tmp_path, "RECORDS").values("day")
    assert list(map(str, read)) == ["9999-12-31", "1850-01-01"]


def test_a_table_that_is_cut_short_is_refused(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame({"sex": ["f", "m"] * 50}, geometry=shapely.points([[0, 0]] * 100), crs=32633)
    frame.to_file(tmp_path / "t.shp")
    whole = (tmp_path / "t.dbf").read_bytes()
    (tmp_path / "t.dbf").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(InputError, match=r"t\.dbf is cut short"):
        table_of_source("t.shp", tmp_path, "RECORDS")


def test_a_row_that_is_lost_on_the_way_is_noticed(tmp_path, monkeypatch):
    geopandas = pytest.importorskip("geopandas")
    frame = geopandas.GeoDataFrame({"sex": ["f", "m"] * 2}, geometry=shapely.points([[0, 0]] * 4), crs=32633)
    frame.to_file(tmp_path / "t.shp")
    read = geopandas.read_file
    monkeypatch.setattr(geopandas, "read_file", lambda *given, **asked: read(*given, **asked).iloc[:-1])
    with pytest.raises(InputError, match="3 rows were read where 4 are"):
        table_of_source("t.shp", tmp_path, "RECORDS")


def test_fields_of_one_name_are_called_as_qgis_calls_them(tmp_path):
    (tmp_path / "table.csv").write_text("area,sex,sex,sex_1\n1,f,g,h\n2,m,n,o\n")
    table = table_of_source("table.csv", tmp_path, "RECORDS")
    assert table.names == ["area", "sex", "sex_1", "sex_1_1"]
    assert [table.values(name) for name in table.names[1:]] == [["f", "m"], ["g", "n"], ["h", "o"]]


def test_a_parquet_file_is_read_as_it_is_wherever_it_lies(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "area=007"
    folder.mkdir()
    sexes = arrow.array(["f", "m"])
    parquet.write_table(arrow.table({"sex": sexes}), folder / "one.parquet")
    assert table_of_source("area=007/one.parquet", tmp_path, "RECORDS").names == ["sex"]
    parquet.write_table(arrow.Table.from_arrays([sexes, sexes], names=["sex", "sex"]), folder / "two.parquet")
    with pytest.raises(InputError, match="RECORDS has two fields “sex”: rename one of them"):
        table_of_source("area=007/two.parquet", tmp_path, "RECORDS")


@pytest.mark.parametrize("geo", [b"{", b"[]", b'{"primary_column": "geometry"}'])
def test_what_geoparquet_says_of_shapes_may_be_damaged(tmp_path, geo):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"area": ["1"]}).replace_schema_metadata({b"geo": geo})
    parquet.write_table(table, tmp_path / "areas.parquet")
    with pytest.raises(InputError, match="GeoParquet metadata say of shapes is damaged"):
        table_of_source("areas.parquet", tmp_path, "REGIONS")


@pytest.mark.parametrize("name", ["records.csv", "areas.csv", "job.toml"])
def test_no_page_takes_the_place_of_what_the_job_reads(job, tmp_path, capsys, name):
    path = job()
    before = (tmp_path / name).read_bytes()
    assert main(["anonymize", path, "--quiet", "--set", f"REPORT={name}"]) == INPUT
    assert "are the same file" in capsys.readouterr().err
    assert (tmp_path / name).read_bytes() == before and not (tmp_path / "release").exists()


def test_no_page_takes_the_place_of_a_linked_table_or_of_the_register(job, tmp_path, capsys):
    path = job(REGISTER="register.gpkg")
    assert main(["anonymize", path, "--quiet"]) == DONE
    (tmp_path / "stays.csv").write_text("person,ward\np1,a\n", encoding="utf-8")
    before = (tmp_path / "register.gpkg").read_bytes()
    assert main(["anonymize", path, "--quiet", "--set", "REPORT=register.gpkg"]) == INPUT
    assert (tmp_path / "register.gpkg").read_bytes() == before
    linked = ["--set", 'LINKED_TABLES={stays="stays.csv"}', "--set", "KEY=sex", "--set", "REGISTER="]
    assert main(["anonymize", path, "--quiet", *linked, "--set", "REPORT=stays.csv"]) == INPUT
    assert "LINKED_TABLES: stays are the same file" in capsys.readouterr().err
    assert (tmp_path / "stays.csv").read_text(encoding="utf-8").startswith("person")


def test_the_internal_page_and_the_one_to_publish_are_two_files(job, tmp_path, capsys):
    assert main(["anonymize", job(REPORT="page.html", RELEASE_REPORT="page.html"), "--quiet"]) == INPUT
    assert "are the same file" in capsys.readouterr().err
    assert main(["anonymize", job(REPORT="release"), "--quiet"]) == INPUT


@pytest.mark.parametrize("name", ["con", "aux.x", "nul", "release.", "release ", "a:b", "x?y", "COM1", "ü" * 140])
def test_names_that_windows_reads_otherwise_are_refused_before_the_work(job, tmp_path, capsys, name):
    path, there = job(), sorted(tmp_path.iterdir())
    assert main(["anonymize", path, "--quiet", "--folder", str(tmp_path / name)]) == INPUT
    assert main(["anonymize", path, "--quiet", "--set", f"REPORT={name}"]) == INPUT
    assert "RELEASE_FOLDER" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == there


def test_counts_do_not_take_the_place_of_what_they_are_made_of(job, tmp_path, capsys):
    assert main(["anonymize", job(), "--quiet"]) == DONE
    release, areas = str(tmp_path / "release"), str(tmp_path / "areas.csv")
    for output in (areas, str(tmp_path / "release" / "records.csv")):
        before = Path(output).read_bytes()
        assert main(["spread", release, areas, output, "--population", "people"]) == INPUT
        assert Path(output).read_bytes() == before


def test_a_job_of_another_encoding_and_paths_with_backslashes_are_told_of(job, tmp_path, capsys):
    path = Path(job())
    text = path.read_text(encoding="utf-8")
    path.write_bytes(text.encode("utf-16"))
    assert main(["anonymize", str(path)]) == INPUT
    assert "is in another encoding than UTF-8: save it in UTF-8." in capsys.readouterr().err
    for place in (r"C:\Users\me\records.csv", r"C:\temp\new.csv"):
        path.write_text(text.replace('"records.csv"', f'"{place}"'), encoding="utf-8-sig", newline="\r\n")
        assert main(["anonymize", str(path)]) == INPUT
        assert r"between single quotation marks, 'C:\folder\file'" in capsys.readouterr().err


def test_a_table_that_another_program_has_open_is_an_input_that_cannot_be_used(job, tmp_path, capsys, monkeypatch):
    path, read = job(), Path.open

    def held(self, *given, **named):
        if self.name == "records.csv":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(self, *given, **named)

    monkeypatch.setattr(Path, "open", held)
    assert main(["anonymize", path, "--quiet"]) == INPUT
    assert "RECORDS: records.csv cannot be read (Permission denied)" in capsys.readouterr().err


def test_a_console_that_is_closed_ends_it_as_the_system_does(monkeypatch, tmp_path):
    noted: dict[int, object] = {}
    monkeypatch.setattr(signal, "SIGBREAK", 21, raising=False)
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda number, answer: answer is None or noted.update({number: answer}))
    assert main(["check", str(tmp_path)]) == INPUT
    assert set(noted) == {signal.SIGTERM, 21} and len(set(noted.values())) == 1
