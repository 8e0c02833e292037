"""Every form of the toolbox, clicked through: filled where it must be, run, and its outputs looked at on a map."""

from __future__ import annotations

import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from qgis.core import Qgis, QgsApplication, QgsProcessingModelAlgorithm, QgsProject, QgsSettings, QgsVectorLayer
from scipy.sparse import csr_matrix

import vbas.core.synthetic.city
from vbas.algorithms.layers.delivery.styles import MAY_BE_PUBLISHED
from vbas.algorithms.named import version
from vbas.algorithms.testdata.people import records_output
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.language import ENGLISH, language, tr
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.publish.register.published_releases import new_entry
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.synthetic.city import CRS, demonstration_city
from vbas.core.tables.schema import ESTIMATE, FOR_RELEASE, INTERNAL, TEST_DATA
from vbas.core.tables.testdata import GENERATED

from ..engines_there import needed
from ..exploring import tried
from .conftest import make_layer
from .dialogs import click_through
from .maps import assert_drawn

N_AREAS = 40
TEXTS = ("html", "fileDestination", "folderDestination")


def ending_of(out):
    """How the name of an output's file ends."""
    own = {"fileDestination": f".{out.defaultFileExtension()}", "folderDestination": ""}
    return own.get(out.type(), ".gpkg")


def values(column):
    return column.categories[column.codes].tolist()


@pytest.fixture(scope="module")
def town():
    """The demonstration city with few areas, its records, points of it, cells and microdata: layers by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vbas.core.synthetic.city, "N_AREAS", N_AREAS)
        city = demonstration_city(0)
    people = list(city.people().chunks())
    records = {
        "area": [value for chunk in people for value in values(chunk.area)],
        "age_group": [value for chunk in people for value in values(chunk.quasi_identifiers["age_group"])],
        "sex": [value for chunk in people for value in values(chunk.quasi_identifiers["sex"])],
    }
    records = {name: column[::2] for name, column in records.items()}  # of some who live there
    rng = np.random.default_rng(1)
    inhabited = np.flatnonzero(city.population)
    homes = rng.choice(inhabited, 150)
    spots = shapely.get_coordinates(shapely.point_on_surface(city.polygons[homes])) + rng.uniform(-20, 20, (150, 2))
    side = np.arange(8)
    cells = [
        f"Polygon(({x} {y}, {x + 100} {y}, {x + 100} {y + 100}, {x} {y + 100}, {x} {y}))"
        for y in 5_463_000 + 100 * side
        for x in 594_000 + 100 * side
    ]
    cells.append("Polygon((590000 5463000, 590100 5463000, 590100 5463100, 590000 5463100, 590000 5463000))")  # alone
    n = len(cells)
    areas = {
        "area": city.identifiers.tolist(),
        "district": city.districts.tolist(),
        "population": city.population.tolist(),
    }
    layers = {
        "areas": make_layer(areas, [polygon.wkt for polygon in city.polygons], CRS, "Polygon"),
        "records": make_layer(records),
        "points": make_layer(
            {"case": list(range(150)), "home": list(range(150))}, [f"Point({x} {y})" for x, y in spots], CRS
        ),
        "cells": make_layer(
            {
                "cell": [f"c{i}" for i in range(n)],
                "parish": ["p" if i % 8 < 4 else "q" for i in range(n)],
                "people_1": rng.integers(0, 30, n).tolist(),
                "people_2": rng.integers(0, 30, n).tolist(),
            },
            cells,
            CRS,
        ),
        "blocks": make_layer({"cell": [f"c{i}" for i in range(n)], "vbas_region": [1 + i // 9 for i in range(n)]}),
        "coarse": make_layer({"area": areas["area"], "vbas_region": [1 + i % 4 // 2 for i in range(len(city))]}),
        "first": make_layer({"vbas_region": [1, 2, 3], "sex": ["F"] * 3, "records": [10] * 3}),
        "second": make_layer({"vbas_region": [1, 2], "sex": ["F"] * 2, "records": [20, 13]}),
        "levels": make_layer(
            {
                "area": areas["area"],
                "vbas_region_1": [1 + i for i in range(len(city))],
                "vbas_region_2": [1 + i % 4 for i in range(len(city))],
            }
        ),
        "nested": make_layer(
            {
                "vbas_level": [1] * 24 + [2] * 12,
                "vbas_region": [1, 2, 3, 4] * 6 + [1, 2] * 6,
                "age_group": ["young"] * 24 + ["old"] * 12,
                "sex": ["F"] * 36,
                "ill": [1, 0, 0, 0] * 6 + [0] * 12,
            }
        ),
        "crosswalk": make_layer({"area": areas["area"], "vbas_region": [1 + i % 4 for i in range(len(city))]}),
        "coarser": make_layer({"attribute": ["sex"] * 2, "value": ["female", "male"], "level_1": ["*"] * 2}),
        "sites": make_layer(
            {"vbas_region": [1, 2, 3, 4]},
            [shapely.centroid(city.polygons[i]).wkt for i in inhabited[:40:10]],
            CRS,
        ),
        "microdata": make_layer(
            {"prov": ["46"] * 60, "sex": ["F", "M", "M"] * 20, "age": ["young", "old"] * 30, "weight": [36.5] * 60}
        ),
    }
    by_area = Counter(zip(records["area"], records["age_group"]))
    census = {name: list(column) for name, column in zip(("area", "age_group"), zip(*by_area))}
    layers["census"] = make_layer({**census, "people": list(by_area.values())})
    counted = Counter(zip(*records.values()))
    profile = {name: list(column) for name, column in zip(records, zip(*counted))}
    layers["profile"] = make_layer({**profile, "records": list(counted.values())})
    keys = [f"p{i}" for i in range(2_000)]
    homes_of = {"person": keys, "home": [f"h{i // 2}" for i in range(len(keys))]}
    layers["persons"] = make_layer({**{name: column[::4][:2_000] for name, column in records.items()}, **homes_of})
    layers["visits"] = make_layer({"person": keys[::2], "year": [2020 + i % 2 for i in range(len(keys[::2]))]})
    for name, layer in layers.items():
        layer.setName(name)
        assert layer.isValid() and layer.featureCount()
    return layers


@pytest.fixture(scope="module")
def people(town, tmp_path_factory):
    """The records of the town as a text file and in DuckDB, its persons, and their stays: paths."""
    folder = tmp_path_factory.mktemp("people")
    for name, of in (("people", "records"), ("persons", "persons")):
        rows = [",".join(town[of].fields().names())]
        rows += [",".join(map(str, feature.attributes())) for feature in town[of].getFeatures()]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    keys = [feature["person"] for feature in town["persons"].getFeatures()]
    stays = [f"{key},{1 + i % 2},{('E10', 'G35', 'J45')[i % 3]}" for i, key in enumerate(keys) if i % 4]
    (folder / "stays.csv").write_text("\n".join(["person,month,reason", *stays]) + "\n", encoding="utf-8")
    if find_spec("duckdb") is not None:
        import duckdb

        with duckdb.connect(str(folder / "people.duckdb")) as database:
            database.read_csv(str(folder / "people.csv")).create("people")
    return sorted(folder.iterdir())


@pytest.fixture
def filled(provider, town, people, qgis_iface, monkeypatch, tmp_path, tmp_path_factory):
    """filled(fields): what a form is filled with, its layers chosen from the project."""
    for file in people:
        shutil.copy(file, tmp_path)
    # The stub of the main window that pytest-qgis gives lacks a browser; QGIS takes none for none.
    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    project = QgsProject.instance()
    project.removeAllMapLayers()  # of other tests: layers are chosen by name
    for layer in town.values():
        project.addMapLayer(layer.clone())

    def given(value):
        if isinstance(value, list):
            return [given(one) for one in value]
        if value == "#register":
            return str(make_register(tmp_path_factory.mktemp("register") / "register.gpkg"))
        if value == "#month":
            return str(make_month(tmp_path_factory.mktemp("month") / "register.gpkg", town))
        if isinstance(value, str) and value.startswith("#"):
            return str(tmp_path / value[1:])
        return project.mapLayersByName(value[1:])[0].id() if _is_layer(value) else value

    yield lambda fields: {name: given(value) for name, value in fields.items()}
    project.removeAllMapLayers()


@pytest.fixture
def by_hand(filled):
    """click(id, fields, files, choices): the form of an algorithm, its layers chosen from the project."""

    def click(algorithm, fields, files=None, choices=None):
        return click_through(f"vbas:{algorithm}", filled(fields), files, choices)

    return click


def make_register(path):
    """A register with one release."""
    counts = np.full((4, 1), 9)
    areas = make_areas([f"a{i}" for i in range(4)], np.arange(8.0).reshape(4, 2))
    profile = Profile(csr_matrix(counts), np.zeros((1, 1), np.int64), (np.array(["F"], dtype=object),), ("sex",))
    entry = new_entry(path, publish(suppress(profile, Crosswalk(np.arange(4) // 2, 2), 5), areas), 0)
    entry.put()
    return path


def make_month(path, town):
    """A register with the release of the people of the town by its crosswalk, of whom ten have come since."""
    columns = {name: [row[name] for row in town["records"].getFeatures()][10:] for name in ("area", "age_group", "sex")}
    regions = {row["area"]: row["vbas_region"] for row in town["crosswalk"].getFeatures()}
    areas = make_areas(list(regions), np.zeros((len(regions), 2)))
    area, *shown = (column_from_values(column) for column in columns.values())
    table = RecordTable(area, dict(zip(("age_group", "sex"), shown)), {})
    crosswalk = Crosswalk(np.array(list(regions.values())) - 1, 4)
    plan = suppress(match_records(table, areas).profile, crosswalk, 5)
    new_entry(path, publish(plan, areas), 0).put()
    return path


def assert_together(layers):
    """Several layers of a run are in a group of their own, the audit over the regions, tables at the end."""
    if not layers:
        return
    root = QgsProject.instance().layerTreeRoot()
    nodes = [root.findLayer(layer.id()) for layer in layers]
    assert all(nodes)
    groups = {id(node.parent()): node.parent() for node in nodes}
    assert len(groups) == 1
    (group,) = groups.values()
    assert (group is root) == (len(layers) < 2)
    if len(layers) > 1:
        inside = [node.layer() for node in group.children()]
        assert {one.id() for one in inside} == {layer.id() for layer in layers}
        spatial = [layer.isSpatial() for layer in inside]
        assert spatial == sorted(spatial, reverse=True)
        titles = [layer.metadata().title() for layer in inside]
        audit, released = tr("Region audit (internal)"), tr("Released regions (for release)")
        if {audit, released} <= set(titles):
            assert titles.index(audit) < titles.index(released)
            named = dict(zip(titles, inside))
            assert named[released].labelsEnabled()
            assert not named[audit].labelsEnabled()


def assert_told(layer, given):
    """Fields have names for readers, unless they are the user's; the layer says what it is, and whether to publish."""
    for field in layer.fields():
        made_up = layer.metadata().title().startswith(tuple(map(tr, ("Records", "Generated records", "Distributions"))))
        assert field.alias() or made_up or field.name() in {*given, "fid"}, field.name()
    metadata = layer.metadata()
    assert len(metadata.abstract()) > len(metadata.title()) + 20
    (licence,) = metadata.licenses()
    assert (licence == MAY_BE_PUBLISHED[INTERNAL]) == (f"({INTERNAL})" in metadata.title())
    (history,) = metadata.history()
    assert f"VBAS {version()}." in history
    if layer.isSpatial():
        untold = tuple(map(tr, ("Masked points", "Counts given away")))
        assert "[%" in layer.mapTipTemplate() or layer.metadata().title().startswith(untold)


def _is_layer(value):
    return isinstance(value, str) and value.startswith("@")


REGIONS = {"REGIONS": "@areas", "REGION_ID": "area"}
PEOPLE = {"RECORDS": "@records", "RECORD_REGION": "area", "QUASI_IDENTIFIERS": ["age_group", "sex"]}
IN_PLACE = {"CONNECTION": "#people.csv", "RECORD_REGION": "area", "QUASI_IDENTIFIERS": "age_group;sex"}
STUDIED = {
    **REGIONS,
    "POPULATION": "population",
    "RECORDS": "@nested",
    "QUASI_IDENTIFIERS": ["age_group", "sex"],
    "CROSSWALK": "@levels",
    "CASE_FIELD": "ill",
}
FORMS: dict[str, dict[str, Any]] = {
    "anonymize": {**REGIONS, **PEOPLE},
    "anonymizelinked": {
        **REGIONS,
        **PEOPLE,
        "RECORDS": "@persons",
        "KEY": "person",
        "LINKED_TABLES": ["@visits"],
        "LINKED_KNOWN": "visits.year",
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 4,
    },
    "anonymizestepbystep": {**REGIONS, **PEOPLE},
    "profilerecords": PEOPLE,
    "sitenumber": {**REGIONS, **PEOPLE},
    "sitelocation": {**REGIONS, **PEOPLE},
    "aggregate": {**REGIONS, "SITES": "@sites"},
    "locateallocate": {**REGIONS, "N_SITES": 4},
    "nestlevels": REGIONS,
    "flattenrelease": {
        "RECORDS": "@nested",
        "QUASI_IDENTIFIERS": ["age_group", "sex"],
        "CROSSWALK": "@levels",
        "LEVEL": 2,
    },
    "spreadrelease": {
        **REGIONS,
        "POPULATION": "population",
        "RECORDS": "@nested",
        "QUASI_IDENTIFIERS": ["age_group", "sex"],
        "CROSSWALK": "@levels",
        "GROUPS": ["age_group"],
        "EXPOSURE_FIELDS": ["population"],
    },
    "ratemap": STUDIED,
    "clusterscan": {**STUDIED, "DRAWS": 19, "SIGNIFICANCE": 0.5},
    "moran": {**STUDIED, "DRAWS": 19, "SIGNIFICANCE": 0.5},
    "nestedstepbystep": {**REGIONS, **PEOPLE},
    "releaserecords": {**PEOPLE, "CROSSWALK": "@crosswalk"},
    "updaterelease": {**PEOPLE, "CROSSWALK": "@crosswalk", "REGISTER": "#month", "UPDATE": "the same people updated"},
    "monthlyupdate": {**PEOPLE, "CROSSWALK": "@crosswalk", "REGISTER": "#month"},
    "evaluate": {**REGIONS, **PEOPLE, "CROSSWALK": "@crosswalk"},
    "anonymizedatabase": {**IN_PLACE, **REGIONS, "DESTINATION": "#released.csv"},
    "profiledatabase": IN_PLACE,
    "releasedatabase": {**IN_PLACE, **REGIONS, "CROSSWALK": "@crosswalk", "DESTINATION": "#released.csv"},
    "inplacestepbystep": {**IN_PLACE, **REGIONS, "DESTINATION": "#released.csv"},
    "compare": {**REGIONS, **PEOPLE},
    "checkrelease": {"RECORDS": "@records", "QUASI_IDENTIFIERS": ["area", "age_group"], "K": 90, "STOP": False},
    "checkreleases": {
        "RELEASES": ["@first", "@second"],
        "CROSSWALKS": ["@crosswalk", "@coarse"],
        "QUASI_IDENTIFIERS": "sex",
        "COUNT_FIELD": "records",
    },
    "editregister": {"REGISTER": "#register"},
    "staticcutoff": {**REGIONS, "POPULATION": "population", "CUTOFF": 550.0},
    "cropidentifiers": {**REGIONS, "CHARACTERS": 7},
    "mergeadjacent": {**REGIONS, "POPULATION": "population", "CUTOFF": 3_000.0},
    "estimatedistributions": {"MICRODATA": "@microdata", "PROVINCE": "prov", "ATTRIBUTES": ["sex", "age"]},
    "generaterecords": REGIONS,
    "demonstrationcity": {},
    "donutmask": {"POINTS": "@points", "AREAS": "@areas", "POPULATION": "population"},
    "donutaudit": {"HOUSEHOLDS": "@points", "AREAS": "@areas", "POPULATION": "population"},
    "partitioncells": {"CELLS": "@cells", "CELL_ID": "cell", "POPULATIONS": ["people_1", "people_2"], "K": 60},
    "mendpartition": {
        "CELLS": "@cells",
        "CELL_ID": "cell",
        "POPULATIONS": ["people_1", "people_2"],
        "K": 30,
        "CROSSWALK": "@blocks",
    },
    "dotmap": {
        "GROUPS": "@areas",
        "GROUP_ID": "area",
        "RECORDS": "@records",
        "RECORD_REGION": "area",
        "CATEGORY": "sex",
    },
}
NESTED = {"RELEASE": "nested levels"}
CENSUS = {"PUBLISHED_COUNTS": "@census", "PUBLISHED_AREA": "area", "PUBLISHED_NUMBER": "people"}
HELD = {
    "DISCLOSURE": "no small count follows",
    "CLOSED_BY_CHANCE": 5.0,
    "LEAST_LEFT_AREAS": 2,
    "LEAST_LEFT_PEOPLE": 300.0,
}
# The same forms with other choices made.
COARSER = {
    "GENERALISE": ["age_group", "1", "sex", "1"],
    "HIERARCHIES": "@coarser",
    "HIERARCHY_RULES": ["age_group", "other below 200"],
}
COARSER_LEVELS = {
    "HIERARCHIES": "@coarser",
    "LEVELS_COARSER": ["age_group", "1", "sex", "1"],
    "HIERARCHY_RULES": ["age_group", "other below 200"],
}
OTHERS = {
    "sitelocation, from sites of one's own": {
        **REGIONS,
        **PEOPLE,
        "SITE_LOCATION": "anonymity-driven clustering",
        "SITES": "@sites",
    },
    "anonymize, clustering from random sites": {
        **REGIONS,
        **PEOPLE,
        "COMBINATION": "least suppression",
        "START": "random",
    },
    "locateallocate, from sites of one's own": {**REGIONS, "SITES": "@sites"},
    "nestlevels, clustering from random sites": {
        **REGIONS,
        **PEOPLE,
        "FINEST": "configuration",
        "SITE_NUMBER": "given number",
        "SITE_LOCATION": "anonymity-driven clustering",
        "START": "random",
    },
    "compare, cropped by the last characters": {**REGIONS, **PEOPLE, "BASELINES": ["cropping"], "LEAVE_OUT": 2},
    "compare, with analyses": {**REGIONS, **PEOPLE, "ANALYSES": 1},
    "compare, by weights": {**REGIONS, **PEOPLE, "WEIGHTS": "compactness=2, seconds=1"},
    "partitioncells, within units": {
        "CELLS": "@cells",
        "CELL_ID": "cell",
        "POPULATIONS": ["people_1", "people_2"],
        "K": 60,
        "WITHIN": "parish",
        "FALL_BACK": True,
    },
    "partitioncells, within a distance": {
        "CELLS": "@cells",
        "CELL_ID": "cell",
        "POPULATIONS": ["people_1", "people_2"],
        "K": 60,
        "NEIGHBOURS": "within a distance",
        "NEIGHBOUR_DISTANCE": 150.0,
        "LEAST_HULL_SHARE": 0.5,
    },
    "staticcutoff, by a model": {
        **REGIONS,
        **PEOPLE,
        "PUBLISHED": "entropy",
        "GAPS_REGION": "custom",
        "GAPS_COEFFICIENT": 300.0,
    },
    "mergeadjacent, by a model": {**REGIONS, **PEOPLE, "PUBLISHED": "max combinations"},
    "cropidentifiers, without their last characters": {**REGIONS, "LEAVE_OUT": 2},
    "anonymize, shown coarser": {**REGIONS, **PEOPLE, **COARSER},
    "anonymize, nested and shown coarser": {**REGIONS, **PEOPLE, **NESTED, **COARSER},
    "releaserecords, shown coarser": {**PEOPLE, **COARSER, "CROSSWALK": "@crosswalk"},
    "profilerecords, shown coarser": {**PEOPLE, **COARSER},
    "nestedstepbystep, shown coarser": {**REGIONS, **PEOPLE, **COARSER},
    "anonymize, nested": {**REGIONS, **PEOPLE, **NESTED},
    "anonymize, nested with coarser levels": {
        **REGIONS,
        **PEOPLE,
        **NESTED,
        **COARSER_LEVELS,
    },
    "anonymize, nested from which no small count follows": {**REGIONS, **PEOPLE, **NESTED, **HELD},
    "releaserecords, from which no small count follows": {**REGIONS, **PEOPLE, **HELD, "CROSSWALK": "@levels"},
    "evaluate, whether no small count follows": {**REGIONS, **PEOPLE, **HELD, "CROSSWALK": "@levels"},
    "releasedatabase, from which no small count follows": {
        **IN_PLACE,
        **REGIONS,
        **HELD,
        "CROSSWALK": "@levels",
        "DESTINATION": "#released.parquet",
    },
    "anonymize, nested from fields": {**REGIONS, **PEOPLE, **NESTED, "LEVEL_FIELDS": ["area", "district"]},
    "anonymize, nested from a configuration": {
        **REGIONS,
        **PEOPLE,
        **NESTED,
        "FINEST": "configuration",
        "LOSS": "non-uniform entropy",
    },
    "nestlevels, from crosswalks": {**REGIONS, "CROSSWALKS": ["@crosswalk", "@coarse"]},
    "nestlevels, from a crosswalk": {**REGIONS, "CROSSWALKS": ["@crosswalk"]},
    "nestlevels, from fields": {**REGIONS, "LEVEL_FIELDS": ["area", "district"]},
    "nestlevels, from records": {**REGIONS, **PEOPLE, "RATIO": 3.0, "COARSEST": 2, "LEAST_POPULATION": 900.0},
    "nestlevels, that hold": {**REGIONS, **PEOPLE, "HELD_PERCENT": 60.0, "RESERVE": 1.5, "MORE_RECORDS": ["@records"]},
    "releaserecords, nested": {**PEOPLE, "CROSSWALK": "@levels"},
    "releaserecords, nested with areas": {**REGIONS, **PEOPLE, "CROSSWALK": "@levels"},
    "profiledatabase, shown coarser": {**IN_PLACE, **COARSER},
    "releasedatabase, with all that protects": {
        **IN_PLACE,
        **REGIONS,
        "GENERALISE": ["sex", "1"],
        "HIERARCHIES": "@coarser",
        "CROSSWALK": "@crosswalk",
        "PROFILE": "@profile",
        "DESTINATION": "#released.csv",
        "RULE": "CMS cell size",
        "REGISTER": "#new.gpkg",
    },
    "releasedatabase, nested": {
        **IN_PLACE,
        **REGIONS,
        "CROSSWALK": "@levels",
        "DESTINATION": "#released.parquet",
        "SENSITIVE": "sex",
        "QUASI_IDENTIFIERS": "age_group",
        "L_DIVERSITY": 2,
    },
    "releasedatabase, with linked tables": {
        **IN_PLACE,
        **REGIONS,
        "CONNECTION": "#persons.csv",
        "CROSSWALK": "@levels",
        "DESTINATION": "#released.parquet",
        "HOUSEHOLD_ID": "home",
        "KEY": "person",
        "LINKED_TABLES": "#stays.csv",
        "LINKED_KNOWN": "stays.month",
        "LINKED_SENSITIVE": "stays.reason",
        "L_DIVERSITY": 2,
        "MAX_SHARE": 60.0,
    },
    "releaserecords, with coarser levels": {**PEOPLE, **COARSER_LEVELS, "CROSSWALK": "@levels"},
    "releasedatabase, with coarser levels": {
        **IN_PLACE,
        **REGIONS,
        **COARSER_LEVELS,
        "CROSSWALK": "@levels",
        "DESTINATION": "#released.parquet",
    },
    "anonymize, beside counts of a census": {**REGIONS, **PEOPLE, **CENSUS},
    "anonymize, nested beside counts of a census": {**REGIONS, **PEOPLE, **NESTED, **CENSUS},
    "releaserecords, beside counts of a census": {**PEOPLE, **CENSUS, "CROSSWALK": "@levels"},
    "releasedatabase, beside counts of a census": {
        **IN_PLACE,
        **REGIONS,
        **CENSUS,
        "CROSSWALK": "@levels",
        "DESTINATION": "#released.parquet",
    },
    "anonymizedatabase, of a DuckDB file": {
        **IN_PLACE,
        **REGIONS,
        "CONNECTION": "#people.duckdb",
        "TABLE": "people",
        "DESTINATION": "#released.parquet",
    },
    "anonymizedatabase, nested": {
        **IN_PLACE,
        **REGIONS,
        **NESTED,
        **COARSER_LEVELS,
        "DESTINATION": "#released.parquet",
    },
    "evaluate, nested": {**REGIONS, **PEOPLE, "CROSSWALK": "@levels"},
    "compare, over scenarios": {**REGIONS, **PEOPLE, "SCENARIOS": 2, "LEAST_ATTRIBUTES": 1, "PART_FIELD": "district"},
    "anonymize, by a rule": {
        **REGIONS,
        **PEOPLE,
        "QUASI_IDENTIFIERS": ["age_group"],
        "RULE": "OMOP tools",
        "SENSITIVE": ["sex"],
        "L_DIVERSITY": 2,
    },
}
# Regions of nested levels are not drawn by sites.
NOT_MADE: dict[str, tuple[str, ...]] = {
    name: ("SITE_POINTS", "VORONOI")
    for name in OTHERS
    if name.startswith(("anonymize, nested", "anonymizedatabase, nested"))
}
NOT_MADE |= dict.fromkeys(
    ("compare", "compare, by weights", "compare, with analyses", "compare, cropped by the last characters"),
    ("SCENARIO_AVERAGES",),
)
# The records of “Generate records” say by run whether somebody is in them.
TITLES = {records_output().description(): GENERATED.label}


def test_every_form_of_the_toolbox_is_here(provider):
    assert set(FORMS) == {algorithm.name() for algorithm in provider.algorithms()}


# What is asked again in another form: every run has each choice in two forms at least, and of each form some of them.
AGAIN = (
    "anonymize, nested and shown coarser",
    "anonymize, nested from a configuration",
    "anonymize, nested from fields",
    "anonymize, beside counts of a census",
    "nestedstepbystep, shown coarser",
    "profiledatabase, shown coarser",
    "releaserecords, nested",
    "releasedatabase, from which no small count follows",
    "releasedatabase, beside counts of a census",
)
# Each form with files, also with everything else that can be asked of it; with temporary layers where it speaks another
# language (test_french.py), every fifth in every run.
CHOICES = [form for form in OTHERS if form not in tried(AGAIN, ())]
RUN_IN_FRENCH = list(FORMS)[:: tried(5, 1)]
RUN = [(form, True) for form in (*FORMS, *CHOICES)] if language() == ENGLISH else [(it, False) for it in RUN_IN_FRENCH]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "to_files"), RUN, ids=[f"{form}-{'files' if to_files else 'temporary'}" for form, to_files in RUN]
)
def test_form_runs_and_its_outputs_are_seen(by_hand, town, monkeypatch, tmp_path, form, to_files):
    name = form.partition(",")[0]
    if name in ("anonymizedatabase", "profiledatabase", "releasedatabase", "inplacestepbystep"):
        needed("ibis")
        needed("duckdb")
    monkeypatch.setattr(vbas.core.synthetic.city, "N_AREAS", N_AREAS)
    # QGIS names layers by their files, but not those in the temporary folder: let that be another one.
    QgsSettings().setValue("Processing/Configuration/PREFER_FILENAME_AS_LAYER_NAME", True)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    algorithm = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").create()
    outputs = algorithm.destinationParameterDefinitions()
    is_model = isinstance(algorithm, QgsProcessingModelAlgorithm)
    if is_model and to_files and 33400 <= Qgis.QGIS_VERSION_INT < 33500:
        pytest.skip("the window of QGIS 3.34 takes the pages of a model for layers, and says of the run that it failed")
    files = {}
    if to_files:
        files = {out.name(): tmp_path / f"{i}{ending_of(out)}" for i, out in enumerate(outputs)}

    done = by_hand(name, {**FORMS, **OTHERS}[form], files)

    assert done.successful, done.log
    expected = {out.name() for out in outputs if out.type() not in TEXTS and (to_files or out.createByDefault())}
    expected -= {*NOT_MADE.get(form, ())}
    assert len(done.layers) == len(expected), done.log
    for out in outputs:
        if out.name() in expected:
            title = TITLES.get(out.description(), out.description())
            kind = title[title.rindex("(") :]
            assert kind in [f"({one})" for one in (FOR_RELEASE, INTERNAL, TEST_DATA, ESTIMATE)]
            named = [layer for layer in done.layers if layer.metadata().title() == title]
            assert [layer.name() for layer in named] == [f"{files[out.name()].stem} {kind}" if to_files else title]
    assert_together(done.layers)
    given = {field for layer in town.values() for field in layer.fields().names()}
    for layer in done.layers:
        assert isinstance(layer, QgsVectorLayer) and layer.isValid()
        assert_told(layer, given)
        found = layer.metadata().title() != "Counts given away (internal)"  # months that tell nothing together
        assert layer.featureCount() > 0 or not found, layer.name()
        if layer.isSpatial():
            assert_drawn(layer)
    for out in outputs:
        if out.name() == "JOB_FILE" and to_files:
            assert "QUASI_IDENTIFIERS = [" in Path(done.results["JOB_FILE"]).read_text(encoding="utf-8")
        elif out.name() == "SIGN_PAGE" and to_files:
            assert Path(done.results["SIGN_PAGE"]).read_bytes().startswith(b"%PDF")
        elif out.name() == "RELEASED_TABLES":
            assert Path(done.results["RELEASED_TABLES"]).read_bytes().startswith(b"SQLite format 3")
        elif out.type() in TEXTS and (to_files or out.createByDefault()):
            place = Path(done.results[out.name()])
            page = place / "report.html" if out.type() == "folderDestination" else place
            assert "<html" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_points_masked_before_and_households_are_chosen_in_the_form(by_hand):
    counted = {"HOUSEHOLDS": "@points", "HOUSEHOLD_ID": "home", "K_MIN": 1, "FIND_CLUSTERS": True}
    once = by_hand("donutmask", {**FORMS["donutmask"], **counted, "KEEP_FIELDS": ["case"]})
    assert once.successful, once.log
    masked = next(layer for layer in once.layers if layer.metadata().title() == "Masked points (for release)").clone()
    masked.setName("earlier")
    QgsProject.instance().addMapLayer(masked)
    given = {**FORMS["donutmask"], **counted, "EARLIER": "@earlier", "EARLIER_ID": "case"}
    done = by_hand("donutmask", given)
    assert done.successful, done.log
    audit = next(layer for layer in done.layers if "candidates_left" in layer.fields().names())
    assert all(
        feature["candidates_left"] <= feature["candidates"] for feature in audit.getFeatures() if feature["k_act"]
    )


@pytest.mark.slow
def test_other_masks_and_outer_radii_are_chosen_in_the_form_of_the_audit(by_hand):
    given = {"K_INNER": "5,10", "K_MIN": "5", "K_OUTER": "40,80", "PLANTED_CLUSTERS": 1, "CLUSTER_CASES": 60}
    done = by_hand("donutaudit", {**FORMS["donutaudit"], **given}, choices={"COMPARE_WITH": [0, 1]})
    assert done.successful, done.log
    audit = next(layer for layer in done.layers if "method" in layer.fields().names())
    rows = [(one["method"], one["k_inner"], one["k_outer"]) for one in audit.getFeatures()]
    assert [row for row in rows if row[0] == "donut"] == [("donut", a, b) for a in (5, 10) for b in (40, 80)]
    assert [row[0] for row in rows[4:]] == ["random perturbation"] * 2 + ["centre of the area"]
    assert "sensitivity" in audit.fields().names()


@pytest.mark.slow
def test_approaches_ticked_in_a_list_are_compared(by_hand):
    done = by_hand("compare", FORMS["compare"], choices={"SITE_NUMBERS": [3], "AGGREGATIONS": [0, 1]})
    assert done.successful, done.log
    rows = [feature["aggregation"] for feature in done.layers[0].getFeatures()]
    assert rows == list(AGGREGATIONS)[:2]


@pytest.mark.slow
def test_crosswalks_chosen_in_their_order_become_levels(by_hand):
    done = by_hand("nestlevels", OTHERS["nestlevels, from crosswalks"])
    assert done.successful, done.log
    crosswalk = next(layer for layer in done.layers if not layer.isSpatial())
    rows = [feature.attributes() for feature in crosswalk.getFeatures()]
    assert crosswalk.fields().names() == ["area", "vbas_region_1", "vbas_region_2"]
    assert [row[1:] for row in rows] == [[1 + i % 4, 1 + i % 4 // 2] for i in range(len(rows))]
    assert (done.results["N_LEVELS"], done.results["N_SITES"]) == (2, 4)
    done = by_hand("nestlevels", {**REGIONS, "CROSSWALKS": ["@coarse", "@crosswalk"]})
    assert not done.successful
    assert "lie in several regions of crosswalk 2" in done.log
