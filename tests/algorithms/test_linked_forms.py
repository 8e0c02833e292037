"""Persons with their stays and drugs, in QGIS: released together, counted again from the files."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing

import numpy as np
import pytest
from qgis.core import QgsProcessingException, QgsProject, QgsProviderRegistry, QgsVectorLayer

from vbas.core.command.main import DONE, main
from vbas.core.package.checking import check_folder

from .conftest import make_layer
from .test_job_file import content_of, saved

SIDE, K = 4, 4


@pytest.fixture
def town(provider):
    """16 square areas with 400 people, their stays and drugs, as layers of the project."""
    rng = np.random.default_rng(3)
    squares, homes = [], []
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = 630_000 + 500 * column, 5_520_000 + 500 * row
            squares.append(f"Polygon(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))")
            homes.append(f"4690{row}{column}")
    n = 400
    people = {
        "id": [f"p{i}" for i in range(n)],
        "home": [homes[i] for i in rng.integers(0, 16, n)],
        "sex": [("F", "M")[i] for i in rng.integers(0, 2, n)],
    }
    whose = rng.integers(0, n, 250)
    stays = {
        "id": [f"p{i}" for i in whose],
        "month": rng.integers(1, 4, 250).tolist(),
        "days": rng.integers(1, 9, 250).tolist(),
    }
    whose = rng.integers(0, n, 250)
    drugs = {"patient": [f"p{i}" for i in whose], "atc": [("N", "C")[i] for i in rng.integers(0, 2, 250)]}
    layers = {
        "areas": make_layer({"da": homes, "people": [50] * 16}, squares),
        **{name: make_layer(columns) for name, columns in (("people", people), ("stays", stays), ("drugs", drugs))},
    }
    for name, layer in layers.items():
        layer.setName(name.capitalize())
        QgsProject.instance().addMapLayer(layer, False)
    yield layers, people, stays
    QgsProject.instance().removeMapLayers([layer.id() for layer in layers.values()])


def given(layers, tmp_path, **more):
    return {
        "REGIONS": layers["areas"],
        "REGION_ID": "da",
        "POPULATION": "people",
        "RECORDS": layers["people"],
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex"],
        "KEY": "id",
        "LINKED_TABLES": [layers["stays"], layers["drugs"]],
        "LINKED_KEYS": "drugs.patient",
        "LINKED_KNOWN": "stays.month",
        "LINKED_KEEP": "stays.days; drugs.atc",
        "K": 20,
        "LINKED_K": K,
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 3,
        "RELEASED_TABLES": str(tmp_path / "released.gpkg"),
        **more,
    }


def rows_of(file, table):
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')]


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_people_look_alike_in_all_tables_of_the_file(run, town, tmp_path, release):
    layers, _, stays = town
    out = run(
        "anonymizelinked",
        **given(
            layers,
            tmp_path,
            RELEASE=release,
            RELEASE_FOLDER=str(tmp_path / "folder"),
            REPORT=str(tmp_path / "report.html"),
            SIGN_PAGE=str(tmp_path / "sign.pdf"),
        ),
    )
    persons, months, drugs = (rows_of(tmp_path / "released.gpkg", table) for table in ("records", "stays", "drugs"))
    place = [name for name in ("vbas_level", "vbas_region") if name in persons[0]]
    by_key = {row["vbas_person"]: row for row in persons}
    known: defaultdict[int, list[int]] = defaultdict(list)
    number: Counter[int] = Counter()
    for row in months:
        known[row["vbas_person"]].append(row["month"])
    for row in drugs:
        number[row["vbas_person"]] += 1
    for name, rows in (("stays", months), ("drugs", drugs)):
        for row in rows:
            whose = by_key[row["vbas_person"]]
            assert [whose[field] for field in place] == [row[field] for field in place]
            assert whose[f"vbas_{name}"] == "shown"
    alike = Counter(
        (
            *(row[field] for field in place),
            row["sex"],
            row["vbas_stays"],
            row["vbas_drugs"],
            tuple(sorted(known[row["vbas_person"]])),
            number[row["vbas_person"]],
        )
        for row in persons
    )
    assert min(alike.values()) >= K
    assert 0 < len(months) <= 250
    own = Counter(stays["id"])
    assert max(Counter(row["vbas_person"] for row in months).values()) <= max(own.values())
    assert all(claim.holds for claim in check_folder(tmp_path / "folder").claims)
    assert "The linked tables" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert any("Table “stays”" in line for line in out.log)
    assert (tmp_path / "sign.pdf").stat().st_size > 1000


def test_its_job_makes_the_same_by_the_command(run, town, tmp_path, capsys):
    layers, *_ = town
    for name, layer in layers.items():
        saved(layer, tmp_path / f"{name}.gpkg")
    files = {name: QgsVectorLayer(str(tmp_path / f"{name}.gpkg"), name, "ogr") for name in layers}
    files["drugs"].setName("Drugs of 2026")
    QgsProject.instance().addMapLayers(list(files.values()), False)
    try:
        keys = {"LINKED_KEYS": "drugs_of_2026.patient", "LINKED_KEEP": "stays.days; drugs_of_2026.atc"}
        done = run(
            "anonymizelinked",
            **{**given(files, tmp_path, NEW_KEY=False), **keys},
            RELEASE_FOLDER=str(tmp_path / "folder"),
            JOB_FILE=str(tmp_path / "job.toml"),
        )
    finally:
        QgsProject.instance().removeMapLayers([layer.id() for layer in files.values()])
    assert done.results["JOB_FILE"] == str(tmp_path / "job.toml")
    assert main(["anonymize", str(tmp_path / "job.toml"), "--folder", str(tmp_path / "again"), "--quiet"]) == DONE
    assert capsys.readouterr().out.strip() == content_of(tmp_path / "folder")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"LINKED_KNOWN": "month"}, "LINKED_KNOWN names “month”"),
        ({"LINKED_KEEP": "stays.days, drugs.atc"}, "write semicolons between fields, such as “stays.days; drugs.atc”"),
        ({"LINKED_KEEP": "stays.weeks"}, "there is no field “weeks” in stays"),
        ({"LINKED_KEYS": None}, "there is no field “id” in drugs"),
        ({"KEY": "sex"}, "stands in several rows"),
        ({"LINKED_K": 21}, "LINKED_K is 21"),
        ({"LINKED_TABLES": []}, "LINKED_TABLES"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, town, tmp_path, more, says):
    with pytest.raises(QgsProcessingException, match=says):
        run("anonymizelinked", **given(town[0], tmp_path, **more))
    assert not (tmp_path / "released.gpkg").exists()


@pytest.mark.parametrize("key", ["text", "int8"])
def test_rows_of_a_database_are_those_of_their_persons(run, town, tmp_path, request, key):
    """Fields of some types are read by features, in the order of the table, and others by GDAL, in that of the key."""
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    if metadata is None:
        pytest.skip("this QGIS does not read PostgreSQL")
    layers, people, _ = town
    order = np.random.default_rng(1).permutation(len(people["id"]))
    rows = ", ".join(
        f"({person[1:]}, '{people['home'][i]}', '{people['sex'][i]}', {i % 2})"
        for i in order.tolist()
        for person in [people["id"][i]]
    )
    with request.getfixturevalue("postgres").another() as database:
        connection = metadata.createConnection(database.uri, {})
        connection.executeSql(f"CREATE TABLE people (id {key} PRIMARY KEY, home text, sex text, age numeric)")
        connection.executeSql(f"INSERT INTO people VALUES {rows}")
        persons = QgsVectorLayer(f'{database.uri} key=\'id\' table="public"."people"', "people", "postgres")
        assert persons.isValid()
        ids = [person[1:] for person in people["id"]]
        stays = make_layer({"id": ids, "mark": people["sex"]})
        stays.setName("Stays")
        QgsProject.instance().addMapLayers([persons, stays], False)
        asked = {"LINKED_KEYS": "", "LINKED_KNOWN": "", "LINKED_KEEP": "stays.mark", "LINKED_K": 0, "K": K}
        run(
            "anonymizelinked",
            **given(layers, tmp_path, RECORDS=persons, LINKED_TABLES=[stays], **asked)
            | {"QUASI_IDENTIFIERS": ["sex", "age"]},
        )
        QgsProject.instance().removeMapLayers([persons.id(), stays.id()])
        del connection, persons
    sexes = {row["vbas_person"]: row["sex"] for row in rows_of(tmp_path / "released.gpkg", "records")}
    shown = rows_of(tmp_path / "released.gpkg", "stays")
    assert len(shown) > 300
    assert all(sexes[row["vbas_person"]] == row["mark"] for row in shown)


def test_a_file_of_an_earlier_run_is_said_to_be_there(run, town, tmp_path):
    """Its tables are those of this output itself, and no others."""
    layers, _, _ = town
    run("anonymizelinked", **given(layers, tmp_path))
    before = (tmp_path / "released.gpkg").read_bytes()
    with pytest.raises(QgsProcessingException, match=r"is there already and holds layers.*remove this one first"):
        run("anonymizelinked", **given(layers, tmp_path))
    assert (tmp_path / "released.gpkg").read_bytes() == before
