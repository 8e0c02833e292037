"""An identifier among the quasi-identifiers is refused at once, in every form that reads them."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException, QgsProject

from ..engines_there import needed
from .conftest import make_layer
from .explorer_window import look
from .test_explorer import entry  # a fixture  # noqa: F401

SENTENCE = "Nothing can be released: “name” is different in every record. It is an identifier: leave it out."


@pytest.fixture
def columns(grid):
    """The records of the grid, each with a name of its own."""
    names = grid[1].fields().names()
    rows = [row.attributes() for row in grid[1].getFeatures()]
    found = {name: [row[i] or None for row in rows] for i, name in enumerate(names)}
    return {**found, "name": [f"n{i}" for i in range(len(rows))]}


@pytest.fixture
def given(grid, columns):
    """What a form is given, with the name among the quasi-identifiers."""
    return {
        "REGIONS": grid[0],
        "REGION_ID": "da",
        "RECORDS": make_layer(columns),
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "name"],
        "K": 5,
    }


@pytest.fixture
def crosswalk(grid):
    """Four regions of the grid's areas."""
    areas = [feature["da"] for feature in grid[0].getFeatures()]
    return make_layer({"da": areas, "vbas_region": [1 + i // 9 for i in range(36)]})


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("anonymize", {"RELEASED_RECORDS": "memory:"}),
        ("anonymize", {"RELEASED_RECORDS": "memory:", "RELEASE": "nested levels"}),
        ("releaserecords", {"RELEASED_RECORDS": "memory:"}),
        ("evaluate", {"REGION_AUDIT": "memory:"}),
        ("compare", {"COMPARISON": "memory:"}),
        ("sitelocation", {"SITE_POINTS": "memory:", "N_SITES": 4}),
    ],
)
def test_it_is_said_before_anything_is_made(run, given, crosswalk, form, more):
    of_regions = {"CROSSWALK": crosswalk} if form in ("releaserecords", "evaluate") else {}
    with pytest.raises(QgsProcessingException) as raised:
        run(form, **given, **of_regions, **more)
    assert SENTENCE in str(raised.value)


def test_what_may_be_shown_coarser_is_let_be(run, given):
    rule = {"HIERARCHY_RULES": ["name", "leading characters 1"], "GENERALISE": ["name", "1"]}
    done = run("anonymize", **given, **rule, RELEASED_RECORDS="memory:")
    assert done.results["N_SUPPRESSED"] < done.results["N_RECORDS"]


def test_it_is_said_of_records_in_place(run, columns, crosswalk, tmp_path):
    arrow, files = needed("pyarrow"), needed("pyarrow.parquet")
    needed("ibis"), needed("duckdb")
    files.write_table(arrow.table(columns), tmp_path / "people.parquet")
    with pytest.raises(QgsProcessingException) as raised:
        run(
            "releasedatabase",
            CONNECTION=str(tmp_path / "people.parquet"),
            RECORD_REGION="home",
            QUASI_IDENTIFIERS="sex;name",
            CROSSWALK=crosswalk,
            K=5,
            DESTINATION=str(tmp_path / "released.parquet"),
        )
    assert SENTENCE in str(raised.value)


def test_the_explorer_says_it(entry, given):  # noqa: F811
    for name in ("REGIONS", "RECORDS"):
        QgsProject.instance().addMapLayer(given[name].clone())
    entry.show()
    data = entry.dock.data
    data.region_id.setField("da")
    data.record_region.setField("home")
    look(entry.dock.look, "sex", "name")
    assert SENTENCE in entry.dock.look.message.text()
