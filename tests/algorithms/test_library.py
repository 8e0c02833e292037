"""The library is the form without QGIS: the same settings, and the same release by its content hash."""

from __future__ import annotations

import inspect
import json
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from qgis.core import QgsApplication
from shapely import from_wkt

from vbas import anonymize as door
from vbas.algorithms.form.parameters import INTEGER
from vbas.core.job.settings import CHOICE, FIELD, FIELDS, FILE, NUMBER, ROWS, SETTINGS, TABLE, TEXT, WHOLE
from vbas.core.package.checking import check_folder

from .conftest import make_grid, make_layer, python

KINDS = {
    "source": TABLE,
    "field": FIELD,
    "enum": CHOICE,
    "matrix": ROWS,
    "string": TEXT,
    "file": FILE,
    "number": NUMBER,
}
LARGEST = 1e300


def kind_of(definition):
    kind = KINDS[definition.type()]
    if kind == FIELD and definition.allowMultiple():
        return FIELDS
    return WHOLE if kind == NUMBER and definition.dataType() == INTEGER else kind


def test_the_settings_are_the_parameters_of_the_form(provider):
    form = QgsApplication.processingRegistry().algorithmById("vbas:anonymize")
    declared = {one.name(): one for one in form.parameterDefinitions() if not one.isDestination()}
    assert list(SETTINGS) == [name for name in declared if name in SETTINGS] and not declared.keys() - SETTINGS.keys()
    for name, definition in declared.items():
        setting = SETTINGS[name]
        assert setting.kind == kind_of(definition), name
        assert (setting.default or None) == (definition.defaultValue() or None), name
        assert setting.needed == (not definition.flags() & definition.Flag.FlagOptional and setting.default is None), (
            name
        )
        if setting.kind == CHOICE and name != "RULE":  # whose words are those of files
            assert list(setting.choices) == definition.options(), name
        if setting.kind in (NUMBER, WHOLE):
            bounds = [definition.minimum(), definition.maximum()]
            assert [b for b in bounds if abs(b) < 2**31 - 1] == [
                b for b in (setting.least, setting.most) if abs(b) < np.inf
            ]
        if setting.kind in (FIELD, FIELDS):
            assert setting.table == definition.parentLayerParameterName(), name


def test_every_setting_is_a_keyword_of_the_library_and_told_there():
    signature = inspect.signature(door).parameters
    keywords = {name: one.default for name, one in signature.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}
    own = {"area", "crs", "progress", "log"}
    settings = {one.keyword: one.default for one in SETTINGS.values() if one.name not in ("REGIONS", "RECORDS")}
    assert keywords.keys() - own == settings.keys()
    for name, default in settings.items():
        assert keywords[name] is inspect.Parameter.empty or keywords[name] == default, name
    told = str(inspect.getdoc(door)).partition("Parameters")[2].partition("Returns")[0]
    named = {
        name.strip()
        for line in told.splitlines()
        if line[:1] not in ("", " ")
        for name in line.split(":")[0].split(",")
    }
    assert keywords.keys() <= named


def frame_of(layer, crs=None):
    names = layer.fields().names()
    features = list(layer.getFeatures())
    columns = {name: [python(feature[name]) for feature in features] for name in names}
    if not layer.isSpatial():
        return pd.DataFrame(columns)
    shapes = from_wkt([feature.geometry().asWkt(17) for feature in features])
    return geopandas.GeoDataFrame(columns, geometry=list(shapes), crs=layer.crs().authid())


def both(run, areas, records, folder, **given):
    """The content hashes of a release of the toolbox and of the library, and the library's release."""
    asked = {"REGION_ID": "da", "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"], **given}
    tables = {name: value for name, value in asked.items() if SETTINGS[name].kind == TABLE}
    run(
        "anonymize",
        REGIONS=areas,
        RECORDS=records,
        RELEASED_RECORDS="memory:",
        RELEASE_FOLDER=str(folder / "toolbox"),
        **asked,
    )
    theirs = json.loads((folder / "toolbox" / "datapackage.json").read_text(encoding="utf-8"))["vbas"]
    keywords = {name.lower(): value for name, value in asked.items()}
    keywords.update({name.lower(): frame_of(table) for name, table in tables.items()})
    release = door(frame_of(areas), frame_of(records), **keywords)
    ours = release.write(folder / "library")
    assert all(claim.holds for claim in check_folder(folder / "library").claims)
    assert (
        json.loads((folder / "library" / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["content_sha256"]
        == ours
    )
    return theirs, ours, release


CASES: dict[str, dict[str, Any]] = {
    "one level": {"K": 6},
    "custom": {"COMBINATION": "custom", "SITE_NUMBER": "suppression budget", "BUDGET": 5.0, "FAIR": ["sex"], "K": 11},
    "transport": {"COMBINATION": "compact by transport", "KEEP_FIELDS": ["diagnosis"], "POPULATION": "people"},
    "nested": {"RELEASE": "nested levels", "SENSITIVE": ["diagnosis"], "L_DIVERSITY": 2, "K": 7},
    "coarser": {
        "RELEASE": "nested levels",
        "K": 60,
        "GENERALISE": ["age", 1],
        "HIERARCHY_RULES": ["age", "bands 2 4 *"],
        "LEVELS_COARSER": ["age", 2],
        "RULE": "SACRO safe setting",
    },
    "fields": {
        "RELEASE": "nested levels",
        "LEVEL_FIELDS": ["da", "district"],
        "LEAST_POPULATION": 70,
        "POPULATION": "people",
    },
    "configuration": {
        "RELEASE": "nested levels",
        "FINEST": "configuration",
        "COARSEST": 2,
        "AREA_POINT": "point on surface",
    },
    "published": {"RELEASE": "nested levels", "PUBLISHED_MARGINS": "age", "K": 9},
}


@pytest.mark.parametrize("name", CASES)
def test_the_release_is_that_of_the_toolbox(run, tmp_path, name):
    areas, records = make_grid(side=4 if name == "published" else 6)
    if "LEVEL_FIELDS" in CASES[name]:
        rows = list(areas.getFeatures())
        columns = {name: [row[name] for row in rows] for name in ("da", "people")}
        columns["district"] = [identifier[:4] for identifier in columns["da"]]
        areas = make_layer(columns, [row.geometry().asWkt() for row in rows])
    theirs, ours, release = both(run, areas, records, tmp_path, **CASES[name])
    assert theirs["content_sha256"] == ours
    assert theirs["made_by"]["algorithm"] == "vbas:anonymize" and theirs["k"] == release.account.ask.k
    assert len(release.records) == release.account.release.n_records > 0


@pytest.mark.slow
def test_degrees_are_projected_as_the_toolbox_does(run, tmp_path):
    squares = [
        f"Polygon(({x} {y}, {x + 0.01} {y}, {x + 0.01} {y + 0.01}, {x} {y + 0.01}, {x} {y}))"
        for y in (51.3 + 0.01 * np.arange(6))
        for x in (7.1 + 0.01 * np.arange(6))
    ]
    for name, shift in (("Germany", (0, 0)), ("Canada", (-104.3, -1.4))):
        moved = geopandas.GeoSeries.from_wkt(squares).translate(*shift).to_wkt().tolist()
        areas = make_layer({"da": [f"46{i:04d}" for i in range(36)]}, moved, crs="EPSG:4326")
        homes = np.repeat([f"46{i:04d}" for i in range(36)], 30).tolist()
        sexes, ages = (
            np.random.default_rng(3).choice(values, len(homes)).tolist() for values in (["F", "M"], [1, 2, 3])
        )
        records = make_layer({"home": homes, "sex": sexes, "age": ages})
        (tmp_path / name).mkdir()
        theirs, ours, release = both(run, areas, records, tmp_path / name, RELEASE="nested levels")
        assert theirs["content_sha256"] == ours
        assert release.regions.crs == "EPSG:4326" and len(release.regions) == len(release._tables[2])


@pytest.mark.slow
def test_counts_and_hierarchies_of_others_are_frames(run, tmp_path):
    areas, records = make_grid(side=3)
    people = frame_of(records)
    counts = people.groupby(["home", "sex"]).size().reset_index(name="n")
    counts = make_layer({name: counts[name].tolist() for name in counts})
    ages = make_layer(
        {"attribute": ["age"] * 5, "value": [1, 2, 3, 4, 5], "level_1": ["low", "low", "mid", "high", "high"]}
    )
    given = {
        "PUBLISHED_COUNTS": counts,
        "PUBLISHED_AREA": "home",
        "PUBLISHED_NUMBER": "n",
        "HIERARCHIES": ages,
        "GENERALISE": ["age", 1],
        "RELEASE": "nested levels",
    }
    theirs, ours, _ = both(run, areas, records, tmp_path, **given)
    assert theirs["content_sha256"] == ours
