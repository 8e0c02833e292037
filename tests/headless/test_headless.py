"""As a server would call it: qgis_process run, its exit codes, its files, its signals."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress

import pytest

from .conftest import ROOT

QUASI_IDENTIFIERS = "age_group;sex;marital_status;education"


def inputs(city):
    return [
        f"REGIONS={city / 'areas.gpkg'}",
        "REGION_ID=area",
        "POPULATION=population",
        f"RECORDS={city / 'records.gpkg'}",
        "RECORD_REGION=area",
        f"QUASI_IDENTIFIERS={QUASI_IDENTIFIERS}",
    ]


def outputs(folder):
    return [
        f"RELEASED_RECORDS={folder / 'released.gpkg'}",
        f"RELEASED_REGIONS={folder / 'regions.gpkg'}",
        f"CROSSWALK={folder / 'crosswalk.csv'}",
        f"REGION_AUDIT={folder / 'audit.gpkg'}",
        f"REPORT={folder / 'report.html'}",
    ]


def query(file, statement):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchall()


def test_main_job(qgis_process, city, tmp_path):
    done = qgis_process(
        "run", "vbas:anonymize", "--json", "--", *inputs(city), "KEEP_FIELDS=diagnosis", *outputs(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    results = done.results  # stdout is JSON and nothing else
    released = tmp_path / "released.gpkg"
    assert results["RELEASED_RECORDS"] == str(released)
    ((least,),) = query(
        released,
        "select min(n) from (select count(*) n from released group by vbas_region, age_group, sex, marital_status, "
        "education)",
    )
    assert least >= 5
    ((rows,),) = query(released, "select count(*) from released")
    assert rows + results["N_SUPPRESSED"] == results["N_RECORDS"] > 500_000
    names = [row[1] for row in query(released, "pragma table_info(released)")]
    assert names == ["fid", "vbas_region", "age_group", "sex", "marital_status", "education", "diagnosis"]
    ((regions,),) = query(tmp_path / "regions.gpkg", "select count(*) from regions")
    assert regions == results["N_SITES"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "audit.gpkg",
        "crosswalk.csv",
        "regions.gpkg",
        "released.gpkg",
        "report.html",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"RECORD_REGION": "home"}, "(RECORD_REGION): there is no field “home” in Records (RECORDS)"),
        (
            {"QUASI_IDENTIFIERS": "age_group;area"},
            "“area” in Quasi-identifiers (QUASI_IDENTIFIERS) is the identifier of the area",
        ),
        ({"K": "1000000"}, "(K) is 1\u00a0000\u00a0000, but Records (RECORDS) has only"),
        ({"K": "1"}, "K"),
        ({"RECORDS": "/nowhere.gpkg"}, "RECORDS"),
        ({"COMBINATION": "the best"}, "(COMBINATION) is “the best”, which is not among the choices: choose from “"),
        ({"UNMATCHED": "2"}, "(UNMATCHED) is “2”, which is not among the choices: choose from “stop”, “suppress”"),
    ],
)
def test_bad_input_ends_with_a_code_and_a_sentence(qgis_process, city, tmp_path, change, words):
    given = dict(item.split("=", 1) for item in (*inputs(city), *outputs(tmp_path)))
    done = qgis_process("run", "vbas:anonymize", "--", *(f"{k}={v}" for k, v in {**given, **change}.items()))
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def wait_until(reached, process):
    """Wait for a moment of a run; a run that ends before it has missed the point of the test."""
    while True:
        with suppress(FileNotFoundError):  # a folder that is removed while it is looked at
            if reached():
                return
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("moment", "after"),
    # What is hit while QGIS loads its plugins depends on the moment: several in the seconds that this takes.
    [("start", 0.3), ("start", 0.8), ("start", 1.4), ("start", 1.6), ("start", 1.8), ("reading", 0.2), ("writing", 0)],
)
def test_interrupting_leaves_nothing(headless_home, city, tmp_path, number, moment, after):
    staging, final, log = tmp_path / "staging", tmp_path / "final", tmp_path / "log.txt"
    staging.mkdir()
    final.mkdir()
    with log.open("wb") as stdout:
        process = subprocess.Popen(
            [str(ROOT / "scripts" / "qgis_process"), "run", "vbas:anonymize", "--", *inputs(city), *outputs(final)],
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home), "TMPDIR": str(staging)},
            # A test run in the background has been told to ignore Ctrl-C, and would hand that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    moments = {
        "start": lambda: True,
        "reading": lambda: b"Inputs" in log.read_bytes(),
        "writing": lambda: any(staging.glob("vbas-*/[A-Z]*/*")),
    }
    wait_until(moments[moment], process)
    time.sleep(after)
    process.send_signal(number)
    assert process.wait(timeout=60) != 0
    assert list(final.iterdir()) == []
    assert [path for path in staging.iterdir() if path.name.startswith("vbas-")] == []


def test_demonstration_prints_what_it_made(tmp_path):
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "demo"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    columns, one, nested = done.stdout.split("\n\n")[1:]
    assert columns.splitlines()[0].split("  ")[-1].strip() == "nested levels"
    for column, prefix, printed in ((-2, "", one), (-1, "nested_", nested)):
        numbers = {line.split("  ")[1]: line.split()[column] for line in columns.splitlines()[1:]}
        told = dict(line.strip().split("  ", 1) for line in printed.splitlines()[1:])
        place = tmp_path / f"{prefix}released_records.gpkg"
        ((released,),) = query(place, f"select count(*) from {place.stem}")
        records, suppressed = (int(numbers[name].replace(",", "")) for name in ("Records", "Records suppressed"))
        assert records == released + suppressed
        assert told["Released records (for release)"].strip() == str(place)
        assert told["Anonymise records: Report (internal)"].strip() == str(tmp_path / f"{prefix}report.html")


def test_the_command_of_the_guide_makes_the_nested_release_of_the_tutorial(headless_home, city, tmp_path):
    page, tutorial = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("headless.md", "tutorial.md"))
    (command,) = re.findall(r'^scripts/qgis_process (run .*RELEASE="nested levels"(?:.*\\\n)+.*)\n', page, re.MULTILINE)
    done = subprocess.run(
        [str(ROOT / "scripts" / "qgis_process"), *shlex.split(command.replace("output/city_", f"{city}/"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "VBAS_HEADLESS_HOME": str(headless_home)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    shown = f"{results['SUPPRESSION_PERCENT']:#.2g} % | {results['N_SITES']} | {results['MEAN_DISTANCE']:.0f} m"
    assert f"| four, nested levels, two diagnoses in each class | {shown} | 0 of " in tutorial
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "crosswalk.csv",
        "regions.gpkg",
        "released.gpkg",
        "report.html",
    ]


def test_missing_package_is_named(tmp_path):
    """A QGIS whose shapely is missing lists the algorithms and says what is missing when one is run."""
    script = tmp_path / "check.py"
    script.write_text(
        "import os, sys; sys.modules['shapely'] = None\n"
        "from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback\n"
        "application = QgsApplication([], False); application.initQgis()\n"
        "from vbas.vbas_plugin.provider import VbasProvider\n"
        "provider = VbasProvider(); QgsApplication.processingRegistry().addProvider(provider)\n"
        "print(len(provider.algorithms()), 'algorithms')\n"
        "found = provider.algorithm('anonymize')\n"
        "print(found.displayName(), *found.canExecute())\n"
        "try: found.create().run({}, QgsProcessingContext(), QgsProcessingFeedback(), {}, False)\n"
        "except Exception as error: print('RAISED', error)\n"
        "sys.stdout.flush(); os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert "Anonymise records False VBAS needs shapely 2.0 or later" in done.stdout, done.stdout + done.stderr
    assert "RAISED VBAS needs shapely 2.0 or later" in done.stdout
    forms = list((ROOT / "algorithms").rglob("*.py"))
    n_algorithms = sum("    ID = " in form.read_text(encoding="utf-8") for form in forms)
    assert f"{n_algorithms} algorithms" in done.stdout


def test_a_second_release_is_held_against_the_register(qgis_process, city, tmp_path):
    """Twice headless with one register: the second run stops, then is repaired; a trial is taken out again."""
    register = tmp_path / "register.gpkg"

    def anonymize(n_sites, name, *more):
        return qgis_process(
            "--json",
            "run",
            "vbas:anonymize",
            "--",
            f"REGIONS={city / 'areas.gpkg'}",
            "REGION_ID=area",
            f"RECORDS={city / 'records.gpkg'}",
            "RECORD_REGION=area",
            "QUASI_IDENTIFIERS=age_group",
            "QUASI_IDENTIFIERS=ethnicity",
            "COMBINATION=custom",
            "SITE_NUMBER=given number",
            f"N_SITES={n_sites}",
            f"REGISTER={register}",
            f"RELEASED_RECORDS={tmp_path / name}",
            *more,
        )

    def edit(*more):
        done = qgis_process("--json", "run", "vbas:editregister", "--", f"REGISTER={register}", *more)
        assert done.returncode == 0, done.stderr
        return done.results

    first = anonymize(60, "first.gpkg")
    assert first.returncode == 0, first.stderr
    stopped = anonymize(61, "second.gpkg")
    assert stopped.returncode != 0 and "would give away" in stopped.stderr
    assert not (tmp_path / "second.gpkg").exists()
    assert edit()["N_RELEASES"] == 1
    repaired = anonymize(61, "second.gpkg", "REGISTER_ACTION=repair")
    assert repaired.returncode == 0, repaired.stderr
    checked = qgis_process("--json", "run", "vbas:checkreleases", "--", f"REGISTER={register}")
    assert (checked.results["N_PINNED"], checked.results["N_UNDECIDED"]) == (0, 0)
    assert edit("REMOVE=2", "NEVER_PUBLISHED=true")["N_RELEASES"] == 1
