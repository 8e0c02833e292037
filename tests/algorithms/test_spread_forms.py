"""vbas:spreadrelease in a real QGIS: against plain recounts of the rows and the crosswalk."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer
from .nested_town import make_town

QUASI = ["sex", "age"]
TABLES = ("AREA_COUNTS", "SPREAD", "EXPOSURES")


@pytest.fixture(scope="module")
def town():
    return make_town()


@pytest.fixture
def released(run, town):
    """A nested release of the town, from its areas up."""

    def one(**changes):
        given = {
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            "RECORDS": town.record_layer(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": QUASI,
            "KEEP_FIELDS": ["diagnosis"],
            "RELEASE": "nested levels",
            "RELEASED_RECORDS": "memory:",
            "CROSSWALK": "memory:",
        }
        return run("anonymize", **{**given, **changes})

    return one


@pytest.fixture
def spread(run, town):
    def one(release, **changes):
        given = {
            "RECORDS": release.layer("RELEASED_RECORDS"),
            "CROSSWALK": release.layer("CROSSWALK"),
            "QUASI_IDENTIFIERS": QUASI,
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            **dict.fromkeys(TABLES, "memory:"),
        }
        return run("spreadrelease", **{**given, **changes})

    return one


def weights_of(release, people, shows=None):
    """Each released row and where it may live: area -> weight; shows : (level, region, class) left out, if any."""
    crosswalk = {row["da"]: row for row in release.rows("CROSSWALK")}
    for row in release.rows("RELEASED_RECORDS"):
        name = f"vbas_region_{row['vbas_level']}" if "vbas_level" in row else "vbas_region"
        homes = [area for area, path in crosswalk.items() if path[name] == row["vbas_region"]]
        if shows and row["vbas_level"] > 1:
            kind = row["sex"], row["age"]
            homes = [area for area in homes if (crosswalk[area]["vbas_region_1"], kind) not in shows]
        total = sum(people[area] for area in homes)
        yield row, {area: people[area] / total for area in homes}


@pytest.fixture
def people(town):
    return dict(zip(town.identifiers, town.people))


@pytest.mark.slow
def test_a_release_is_spread_by_people(spread, released, people):
    release = released()
    done = spread(release, GROUPS=["diagnosis"], KEEP_FIELDS=["diagnosis"], EXPOSURE_FIELDS=["people"])
    wanted: defaultdict[tuple, float] = defaultdict(float)
    by_area: defaultdict[tuple, float] = defaultdict(float)
    at_area: Counter[tuple] = Counter()
    for row, weights in weights_of(release, people):
        for area, weight in weights.items():
            wanted[(area, *row.values())] += weight
            by_area[area, row["diagnosis"]] += weight
            at_area[area, row["diagnosis"]] += weight if len(weights) == 1 else 0
    rows = done.rows("SPREAD")
    assert list(rows[0]) == ["da", *QUASI, "diagnosis", "vbas_level", "vbas_region", "records", "weight", "estimate"]
    found = {
        (row["da"], row["vbas_level"], row["vbas_region"], row["sex"], row["age"], row["diagnosis"]): row["estimate"]
        for row in rows
    }
    assert found == pytest.approx(wanted)
    counts = done.rows("AREA_COUNTS")
    assert {(row["da"], row["diagnosis"]): row["estimate"] for row in counts} == pytest.approx(
        {(row["da"], row["diagnosis"]): by_area[row["da"], row["diagnosis"]] for row in counts}
    )
    assert len(counts) == 36 * 3
    for row in counts:
        assert row["at_area"] == pytest.approx(100 * at_area[row["da"], row["diagnosis"]] / row["estimate"])
        assert row["effective"] <= row["rows"] + 1e-9
    for area in people:
        assert sum(row["share"] for row in counts if row["da"] == area) == pytest.approx(100)
    exposures = done.rows("EXPOSURES")
    assert sum(row["records"] for row in exposures) == done.results["N_RECORDS"]
    alone = [row for row in exposures if row["vbas_level"] == 1]
    assert alone and all(row["sd_people"] == 0 for row in alone)
    assert any(row["sd_people"] > 0 for row in exposures)
    assert all("(estimate)" in done.layer(name).name() for name in TABLES)


@pytest.mark.slow
def test_areas_that_show_the_class_are_left_out_when_asked_for(spread, released, people):
    release = released()
    done = spread(release, LEAVE_OUT="where level 1 shows the class")
    shows = {
        (row["vbas_region"], (row["sex"], row["age"]))
        for row in release.rows("RELEASED_RECORDS")
        if row["vbas_level"] == 1
    }
    wanted: defaultdict[str, float] = defaultdict(float)
    for _, weights in weights_of(release, people, shows):
        for area, weight in weights.items():
            wanted[area] += weight
    assert {row["da"]: row["estimate"] for row in done.rows("AREA_COUNTS")} == pytest.approx(wanted)
    assert any(shows)


def test_a_release_from_which_no_small_count_follows_is_spread_within_its_zones(spread, released, town):
    release = released(DISCLOSURE="no small count follows")
    done = spread(release, LEAVE_OUT="in zones")
    crosswalk = {row["da"]: row for row in release.rows("CROSSWALK")}
    shown: defaultdict[tuple, set] = defaultdict(set)
    for row in release.rows("RELEASED_RECORDS"):
        shown[row["sex"], row["age"]].add((row["vbas_level"], row["vbas_region"]))
    for row in done.rows("SPREAD"):
        path, places = crosswalk[row["da"]], shown[row["sex"], row["age"]]
        assert not any((level, path[f"vbas_region_{level}"]) in places for level in range(1, row["vbas_level"]))
    # Nobody is ruled out where somebody lives.
    may = {(row["da"], row["sex"], row["age"]) for row in done.rows("SPREAD")}
    suppressed = Counter((sex, age) for _, sex, age, *_ in town.records)
    suppressed.subtract(Counter((row["sex"], row["age"]) for row in release.rows("RELEASED_RECORDS")))
    assert all((home, *kind) in may for home, kind in town.live() if suppressed[kind] == 0)


def test_one_level_and_counted_rows(spread, run, released, town, people):
    release = released(RELEASE="one level")
    done = spread(release)
    wanted: defaultdict[str, float] = defaultdict(float)
    for _, weights in weights_of(release, people):
        for area, weight in weights.items():
            wanted[area] += weight
    assert {row["da"]: row["estimate"] for row in done.rows("AREA_COUNTS")} == pytest.approx(wanted)
    counted = released(RELEASE="one level", RECORDS=town.counted_layer(), RECORD_COUNT="n")
    again = spread(counted, RECORD_COUNT="records")
    assert again.results == pytest.approx({**done.results, **{name: again.results[name] for name in TABLES}})
    assert [row["estimate"] for row in again.rows("AREA_COUNTS")] == pytest.approx(
        [row["estimate"] for row in done.rows("AREA_COUNTS")]
    )
    words = "each row is taken for one record"
    of_log = [any(words in sentence for sentence in ran.log) for ran in (spread(counted), again, done)]
    assert of_log == [True, False, False]


def table_of_people(town, change=lambda area, n: n):
    """People by area and sex, as a census has them: all, also those that were suppressed."""
    counted = Counter((home, sex) for home, sex, *_ in town.records)
    rows = [(area, sex, change(area, counted[area, sex])) for area in town.identifiers for sex in (None, "F", "M")]
    return make_layer(dict(zip(("place", "sex", "n"), map(list, zip(*rows)))))


MARGINS = {"MARGIN_AREA": "place", "MARGIN_FIELDS": ["sex"], "MARGIN_COUNT": "n"}


def test_a_table_of_people_is_met(spread, released, town):
    release = released()
    done = spread(release, GROUPS=["sex"], MARGINS=table_of_people(town), **MARGINS)
    table = Counter((home, sex) for home, sex, *_ in town.records)
    found = {(row["da"], row["sex"]): row["estimate"] for row in done.rows("AREA_COUNTS")}
    shown = Counter(row["sex"] for row in release.rows("RELEASED_RECORDS"))
    for sex in (None, "F", "M"):
        whole = sum(n for (_, one), n in table.items() if one == sex)
        for area in town.identifiers:
            assert found[area, sex] <= table[area, sex] + 1e-6
            if shown[sex] == whole:
                assert found[area, sex] == pytest.approx(table[area, sex], abs=1e-6)
    assert any("The weights meet MARGINS" in line for line in done.log)


def test_a_table_that_contradicts_the_release_is_named_or_taken_as_weights(spread, released, town):
    release, wrong = released(), table_of_people(town, lambda area, n: n // 2)
    with pytest.raises(QgsProcessingException, match=r"MARGINS contradicts the release.*the table has [0-9]+ people"):
        spread(release, MARGINS=wrong, **MARGINS)
    done = spread(release, MARGINS=wrong, **MARGINS, MARGINS_DIFFER="take it as weights")
    assert any("used as weights only" in line for line in done.log)
    assert sum(row["estimate"] for row in done.rows("AREA_COUNTS")) == pytest.approx(done.results["N_RECORDS"])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "half a table": ({"MARGINS": "table"}, "say in MARGIN_AREA, MARGIN_FIELDS and MARGIN_COUNT which fields it has"),
    "levels as a field": ({"KEEP_FIELDS": ["vbas_level"]}, "“vbas_level” says where a record is shown"),
    "areas that the crosswalk lacks": ({"REGIONS": "others"}, "CROSSWALK"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_spread_is_refused_in_one_sentence(spread, released, town, case):
    given, words = REFUSED[case]
    layers = {
        "table": table_of_people(town),
        "others": make_layer({"da": ["x", "y"], "people": [5, 6]}, town.squares()[:2]),
    }
    with pytest.raises(QgsProcessingException, match=words):
        spread(released(), **{name: layers.get(str(value), value) for name, value in given.items()})


def test_areas_given_as_points_have_voronoi_cells(spread, released, town):
    points = make_layer(
        {"da": town.identifiers, "people": town.people},
        [f"Point({630_250 + 500 * (i % 6)} {5_520_250 + 500 * (i // 6)})" for i in range(36)],
    )
    release = released()
    by_points, by_polygons = spread(release, REGIONS=points), spread(release)
    assert by_points.rows("SPREAD") == by_polygons.rows("SPREAD")
    cells = list(by_points.layer("AREA_COUNTS").getFeatures())
    assert all(cell.geometry().area() == pytest.approx(500**2, rel=0.9) for cell in cells)
