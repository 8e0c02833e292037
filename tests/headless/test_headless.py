"""As a server would call it: qgis_process run, its exit codes, its files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import ROOT
from .jobs import inputs, outputs, query


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


# What is refused before a run and what is refused in it is seen once each as a server would, else in a copy of QGIS.
STARTED = [
    ({"RECORD_REGION": "home"}, "(RECORD_REGION): there is no field “home” in Records (RECORDS)"),
    ({"K": "1000000"}, "(K) is 1\u00a0000\u00a0000, but Records (RECORDS) has only"),
]
LOADED = [
    (
        {"QUASI_IDENTIFIERS": "age_group;area"},
        "“area” in Quasi-identifiers (QUASI_IDENTIFIERS) is the identifier of the area",
    ),
    ({"K": "1"}, "K"),
    ({"RECORDS": "/nowhere.gpkg"}, "RECORDS"),
    ({"COMBINATION": "the best"}, "(COMBINATION) is “the best”, which is not among the choices: choose from “"),
    ({"UNMATCHED": "2"}, "(UNMATCHED) is “2”, which is not among the choices: choose from “stop”, “suppress”"),
]


@pytest.mark.parametrize(
    ("way", "change", "words"),
    [("qgis_process", *case) for case in STARTED] + [("qgis_loaded", *case) for case in LOADED],
)
def test_bad_input_ends_with_a_code_and_a_sentence(request, town, tmp_path, way, change, words):
    given = dict(item.split("=", 1) for item in (*inputs(town), *outputs(tmp_path)))
    run = request.getfixturevalue(way)
    done = run("run", "vbas:anonymize", "--", *(f"{k}={v}" for k, v in {**given, **change}.items()))
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


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
