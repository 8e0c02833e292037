"""The models of chained steps do what the main algorithm does, headless."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from ..engines_there import needed
from .conftest import ROOT
from .jobs import QUASI_IDENTIFIERS, inputs, query

MODELS = [
    ROOT / "models" / f"vbas_{name}.model3"
    for name in ("step_by_step", "nested_step_by_step", "in_place_step_by_step", "monthly_update")
]
FOR_RELEASE = {
    *("releaserecords:RELEASED_RECORDS", "releasedatabase:RELEASE_REPORT", "updaterelease:RELEASED_RECORDS"),
}

MAKING_REGIONS = ("sitenumber", "sitelocation", "aggregate", "nestlevels")
COARSER = [
    "GENERALISE=age_group,1,education,1",
    "HIERARCHY_RULES=age_group,other below 14000,education,leading characters 1",
]


@pytest.mark.parametrize(
    "choices",
    [
        ["COMBINATION=all-rounder", *COARSER],
        ["COMBINATION=all-rounder"],
        ["COMBINATION=compact by transport"],
        ["COMBINATION=least suppression", "START=random", "SEED=4"],
        [
            "COMBINATION=custom",
            "SITE_NUMBER=given number",
            "N_SITES=15",
            "SITE_LOCATION=random",
            "AGGREGATION=site optimisation",
            "SEED=5",
        ],
        [
            "COMBINATION=custom",
            "SITE_NUMBER=suppression budget",
            "BUDGET=2",
            "FAIR=education",
            "SENSITIVE=diagnosis",
            "L_DIVERSITY=2",
            "AGGREGATION=site optimisation",
        ],
    ],
)
def test_model_equals_the_main_algorithm(qgis_loaded, town, tmp_path, choices):
    common = [*inputs(town), "K=6", "KEEP_FIELDS=diagnosis", *choices]
    main = qgis_loaded(
        "run",
        "vbas:anonymize",
        "--",
        *common,
        f"RELEASED_RECORDS={tmp_path / 'main.gpkg'}",
        f"CROSSWALK={tmp_path / 'main.csv'}",
    )
    assert main.returncode == 0, main.stderr
    model = qgis_loaded(
        "run",
        "vbas:anonymizestepbystep",
        "--",
        *common,
        f"releaserecords:RELEASED_RECORDS={tmp_path / 'model.gpkg'}",
        f"aggregate:CROSSWALK={tmp_path / 'model.csv'}",
    )
    assert model.returncode == 0, model.stderr
    assert (tmp_path / "main.csv").read_text() == (tmp_path / "model.csv").read_text()
    rows = [query(tmp_path / f"{name}.gpkg", f"select * from {name}") for name in ("main", "model")]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 50_000


@pytest.mark.parametrize(
    ("of_main", "of_model"),
    [
        (["COMBINATION=all-rounder"], []),
        (
            ["COMBINATION=all-rounder", "RATIO=4", "COARSEST=3", "LEAST_POPULATION=900", "LOSS=non-uniform entropy"],
            None,
        ),
        (
            ["COMBINATION=custom", "SITE_LOCATION=random", "AGGREGATION=basic Voronoi", "SEED=5"],
            ["SITE_LOCATION=random", "AGGREGATION=basic Voronoi", "SEED=5"],
        ),
        (["LEVEL_FIELDS=area;district", *COARSER], None),
    ],
    ids=["all-rounder", "settings", "approaches", "fields, shown coarser"],
)
def test_nested_model_equals_the_main_algorithm(qgis_loaded, town, tmp_path, of_main, of_model):
    of_model = [one for one in of_main if not one.startswith("COMBINATION")] if of_model is None else of_model
    common = [*inputs(town), "K=6", "KEEP_FIELDS=diagnosis"]
    main = qgis_loaded(
        "run",
        "vbas:anonymize",
        "--",
        *common,
        "RELEASE=nested levels",
        *of_main,
        f"RELEASED_RECORDS={tmp_path / 'main.gpkg'}",
        f"CROSSWALK={tmp_path / 'main.csv'}",
        f"REGION_AUDIT={tmp_path / 'main_audit.gpkg'}",
    )
    assert main.returncode == 0, main.stderr
    model = qgis_loaded(
        "run",
        "vbas:nestedstepbystep",
        "--",
        *common,
        *of_model,
        f"releaserecords:RELEASED_RECORDS={tmp_path / 'model.gpkg'}",
        f"nestlevels:CROSSWALK={tmp_path / 'model.csv'}",
        f"releaserecords:REGION_AUDIT={tmp_path / 'model_audit.gpkg'}",
    )
    assert model.returncode == 0, model.stderr
    assert (tmp_path / "main.csv").read_text() == (tmp_path / "model.csv").read_text()
    for name in ("{}", "{}_audit"):
        one, other = (
            query(tmp_path / f"{name.format(of)}.gpkg", f"select * from {name.format(of)}") for of in ("main", "model")
        )
        assert one == other
    ((least,),) = query(
        tmp_path / "model.gpkg",
        "select min(n) from (select count(*) n from model group by vbas_level, vbas_region, age_group, sex, "
        "marital_status, education)",
    )
    assert least >= 6
    ((rows,),) = query(tmp_path / "model.gpkg", "select count(*) from model")
    assert rows > 50_000


@pytest.mark.parametrize("levels", ["one level", "nested levels"])
def test_model_in_place_equals_the_main_algorithm(qgis_loaded, town, tmp_path, levels):
    """Profiled there, anonymised here, released there: what “Anonymise records” releases of the loaded table."""
    arrow, files = needed("pyarrow"), needed("pyarrow.parquet")
    for package in ("ibis", "duckdb"):
        needed(package)
    names = ["area", *QUASI_IDENTIFIERS.split(";"), "diagnosis"]
    rows = query(town / "records.gpkg", f"select {', '.join(names)} from records")
    files.write_table(arrow.table(dict(zip(names, map(list, zip(*rows))))), tmp_path / "people.parquet")
    common = ["K=6", "KEEP_FIELDS=diagnosis", f"RELEASE={levels}"]
    main = qgis_loaded(
        "run",
        "vbas:anonymize",
        "--",
        *inputs(town),
        *common,
        f"RELEASED_RECORDS={tmp_path / 'main.gpkg'}",
        f"CROSSWALK={tmp_path / 'main.csv'}",
    )
    assert main.returncode == 0, main.stderr
    model = qgis_loaded(
        "run",
        "vbas:inplacestepbystep",
        "--",
        *(one for one in inputs(town) if not one.startswith("RECORDS=")),
        *common,
        f"CONNECTION={tmp_path / 'people.parquet'}",
        f"DESTINATION={tmp_path / 'model.parquet'}",
        f"anonymize:CROSSWALK={tmp_path / 'model.csv'}",
        f"releasedatabase:RELEASE_REPORT={tmp_path / 'page.html'}",
    )
    assert model.returncode == 0, model.stderr
    assert (tmp_path / "main.csv").read_text() == (tmp_path / "model.csv").read_text()
    released = files.read_table(tmp_path / "model.parquet")
    there = query(tmp_path / "main.gpkg", f"select {', '.join(released.column_names)} from main")
    assert Counter(zip(*(column.to_pylist() for column in released.columns))) == Counter(there)
    assert len(there) > 50_000
    assert "is 6-anonymous" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(time) -> the folder that all models were made into, each time by another process, and what they say."""

    @cache
    def made_again(time):
        folder = tmp_path_factory.mktemp(time)
        python_path = os.pathsep.join([str(ROOT / "scripts"), os.environ["PYTHONPATH"]])
        script = [sys.executable, Path(__file__).with_name("model_contents.py"), folder, *MODELS]
        run = subprocess.run(
            script, cwd=ROOT, timeout=120, env={**os.environ, "PYTHONPATH": python_path}, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return folder, json.loads(run.stdout)

    return made_again


@pytest.fixture(params=MODELS, ids=lambda model: model.stem)
def written(request, made):
    """A model of the project and one made now: the two files, and what they say."""
    folder, found = made("once")
    return (request.param, folder / request.param.name), found[request.param.name]


def test_every_model_is_here():
    assert sorted(MODELS) == sorted((ROOT / "models").iterdir())


def test_every_input_of_a_model_goes_into_a_step(written):
    """An input that no step takes would be asked for and have no effect."""
    _, found = written
    used = json.dumps([step["inputs"] for step in found["kept"]["steps"].values()])
    for one in found["kept"]["inputs"]:
        assert f'"{one["name"]}"' in used or f"parameter('{one['name']}')" in used, one["name"]


def test_what_protects_goes_along_wires(written):
    """The designer keeps a wire where an input is renamed, and an expression it does not: k would be lost unnoticed. So
    it is in each step that releases, or says what a release is."""
    _, found = written
    protecting = {name: step for name, step in found["kept"]["steps"].items() if name not in MAKING_REGIONS}
    assert protecting
    taken = json.dumps([step["inputs"] for step in protecting.values()])
    for name in ("K", "PERSON_ID", "SENSITIVE", "L_DIVERSITY", "GENERALISE", "PERIOD", "FILTER", "FOLLOWED", "RULE"):
        assert f"parameter('{name}')" not in taken, name


def test_model_says_what_the_script_makes(written):
    """A model that was not made again after a change of parameters would miss them."""
    _, found = written
    for part, again in found["again"].items():
        if part != "output names":  # a later QGIS names those of a new model otherwise
            assert found["kept"][part] == again, part


def test_outputs_of_the_model_have_their_promised_names(written):
    """Scripts hold on to them: `child:OUTPUT` on every QGIS."""
    _, found = written
    promised = {f"{name}:{output}" for name, step in found["kept"]["steps"].items() for output in step["outputs"]}
    assert set(found["kept"]["output names"]) == promised
    assert FOR_RELEASE & promised


def test_outputs_say_beside_their_name_what_they_are_and_whether_they_go_out(written):
    """The designer draws the name alone, which is a promise to scripts."""
    _, found = written
    for step in found["kept"]["steps"].values():
        for output, (_, _, description, _, _, beside) in step["outputs"].items():
            assert beside == description and re.search(r"\((internal|for release)", beside), output


def test_model_file_is_what_the_script_writes(written):
    """To the letter, where the QGIS that wrote it runs: others add options of their own."""
    (kept, again), found = written
    if not found["QGIS"].startswith(found["written by"] + "."):
        pytest.skip(f"the model was written by QGIS {found['written by']}; this is {found['QGIS']}")
    assert again.read_bytes() == kept.read_bytes()


def test_made_twice_a_model_is_the_same(written, made):
    """In another process: Qt orders what it writes anew in each."""
    (_, again), _ = written
    assert (made("again")[0] / again.name).read_bytes() == again.read_bytes()
