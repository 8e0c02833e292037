"""vbas:dotmap in the toolbox: rates, records, groups that are not shown, bad input."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from qgis.core import QgsProcessingException, QgsVectorLayer

from .conftest import make_layer

WEST, SOUTH, SIDE = 598_000.0, 6_643_000.0, 500.0
COUNTS = {"1": (40, 60), "2": (9, 91), "3": (0, 30), "4": (0, 0)}


def groups(crs="EPSG:25833", scale=SIDE, origin=(WEST, SOUTH)):
    wkts = []
    for i in range(4):
        x, y = origin[0] + i * scale, origin[1]
        wkts.append(f"Polygon(({x} {y}, {x + scale} {y}, {x + scale} {y + scale}, {x} {y + scale}, {x} {y}))")
    people = [sum(counts) for counts in COUNTS.values()]
    rates = [having / max(having + rest, 1) for having, rest in COUNTS.values()]
    return make_layer({"vbas_region": [1, 2, 3, 4], "people": people, "employed": rates}, wkts, crs)


def records():
    rows = [(name, value) for name, counts in COUNTS.items() for value, n in zip("yn", counts) for _ in range(n)]
    rows += [("99", "y")] * 3
    return make_layer({"home": [name for name, _ in rows], "job": [value for _, value in rows]})


@pytest.fixture
def dotmap(run):
    def one(**changes):
        given = {"GROUPS": groups(), "GROUP_ID": "vbas_region", "POINTS": "memory:", "AUDIT": "memory:"}
        return run("dotmap", **{**given, **changes})

    return one


def test_rates(dotmap):
    done = dotmap(PEOPLE="people", RATE="employed", ALLOCATION="as counted")
    dots = done.rows("POINTS")
    assert list(dots[0]) == ["vbas_region", "category"]
    assert Counter((row["vbas_region"], row["category"]) for row in dots) == {
        (1, "employed"): 40,
        (1, "others"): 60,
        (3, "others"): 30,
    }
    for feature in done.layer("POINTS").getFeatures():
        x = feature.geometry().asPoint().x() - WEST
        assert (feature["vbas_region"] - 1) * SIDE <= x <= feature["vbas_region"] * SIDE
    audit = {
        row["vbas_region"]: (row["group_people"], row["smallest"], row["shown"], row["dots"])
        for row in done.rows("AUDIT")
    }
    assert audit == {1: (100, 40, 1, 100), 2: (100, 9, 0, 0), 3: (30, 30, 1, 30), 4: (0, 0, 1, 0)}
    assert {name: done.results[name] for name in ("N_DOTS", "N_SHOWN", "N_HIDDEN")} == {
        "N_DOTS": 130,
        "N_SHOWN": 3,
        "N_HIDDEN": 1,
    }
    assert any("A single group is not shown" in line for line in done.log)
    assert any("all people are of one category" in line for line in done.log)


def test_records(dotmap):
    done = dotmap(RECORDS=records(), RECORD_REGION="home", CATEGORY="job", LEAST=9, ALLOCATION="as counted")
    found = Counter((str(row["vbas_region"]), row["category"]) for row in done.rows("POINTS"))
    assert found == {(name, value): n for name, counts in COUNTS.items() for value, n in zip("yn", counts) if n}
    assert any("3 records are in none of the groups" in line for line in done.log)


def test_dots_have_the_colour_of_their_category(dotmap, tmp_path):
    """And their categories' own words, which no language changes."""
    given = {"RECORDS": records(), "RECORD_REGION": "home", "CATEGORY": "job", "LEAST": 9}
    dotmap(**given, POINTS=str(tmp_path / "dots.gpkg"))
    layer = QgsVectorLayer(str(tmp_path / "dots.gpkg"), "dots", "ogr")
    categories = layer.renderer().categories()
    assert [(one.value(), one.label()) for one in categories] == [("n", "n"), ("y", "y")]
    assert len({one.symbol().color().name() for one in categories}) == 2


def test_the_seed(dotmap):
    given = {"PEOPLE": "people", "RATE": "employed"}

    def places(**changes):
        done = dotmap(**given, **changes)
        return [feature.geometry().asWkt(12) for feature in done.layer("POINTS").getFeatures()]

    assert places(SEED=1) == places(SEED=1) != places(SEED=2)


def test_groups_in_degrees(run):
    done = run(
        "dotmap",
        GROUPS=groups("EPSG:4326", 0.01, (10.0, 60.0)),
        GROUP_ID="vbas_region",
        PEOPLE="people",
        RATE="employed",
        POINTS="memory:",
    )
    for feature in done.layer("POINTS").getFeatures():
        point = feature.geometry().asPoint()
        assert (
            10.0 + 0.01 * (feature["vbas_region"] - 1) - 1e-6
            <= point.x()
            <= 10.0 + 0.01 * feature["vbas_region"] + 1e-6
        )
        assert 60 <= point.y() <= 60.01


def test_the_report_says_what_it_tells(dotmap, tmp_path):
    page = tmp_path / "dots.html"
    dotmap(PEOPLE="people", RATE="employed", REPORT=str(page))
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
    assert "recounted after the dots were drawn" in text
    assert "What was not looked at" in text
    assert "Whether groups overlap" in text
    assert "has fewer than 10 people there: 1 of 4," in text


def test_the_report_of_dots_for_several_people_says_so(dotmap, tmp_path):
    """Group 3 has too few people for a dot, though its one category has enough: it was said to have a small one."""
    page, given = tmp_path / "dots.html", {"PEOPLE": "people", "RATE": "employed", "PEOPLE_PER_DOT": 80}
    done = dotmap(**given, ALLOCATION="as counted", REPORT=str(page))
    assert Counter(row["vbas_region"] for row in done.rows("POINTS")) == {1: 1}
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
    assert "A group without dots has too few people for one dot, or a category" in text
    assert "A group without dots has nobody" not in text and "The dots of a category are its count" not in text
    dotmap(**given, REPORT=str(page))
    assert "near its count" not in re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))


def test_rows_that_count_nobody_are_not_missed(dotmap):
    people = make_layer({"home": ["1", "99"], "job": ["y", "y"], "n": [12, 0]})
    done = dotmap(RECORDS=people, RECORD_REGION="home", CATEGORY="job", RECORD_COUNT="n")
    assert not any("in none of the groups" in line for line in done.log)


def test_outputs_say_what_they_are(provider):
    algorithm = provider.algorithm("dotmap")
    kinds = {
        one.name(): re.findall(r"\((for release|internal)\)", one.description())[0]
        for one in algorithm.destinationParameterDefinitions()
    }
    assert kinds == {"POINTS": "for release", "AUDIT": "internal", "REPORT": "internal"}
    for definition in algorithm.parameterDefinitions():
        assert definition.help(), definition.name()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Who is in the groups"),
        ({"PEOPLE": "people"}, "Who is in the groups"),
        ({"RECORDS": "@records", "RECORD_REGION": "home"}, "RECORD_REGION and CATEGORY"),
        ({"PEOPLE": "people", "RATE": "people"}, "more than 1"),
        ({"PEOPLE": "people", "RATE": "employed", "LEAST": 1000}, "No group can be shown"),
    ],
)
def test_bad_input_ends_in_a_sentence(dotmap, changes, sentence):
    given = {name: records() if value == "@records" else value for name, value in changes.items()}
    with pytest.raises(QgsProcessingException, match=sentence):
        dotmap(**given)
