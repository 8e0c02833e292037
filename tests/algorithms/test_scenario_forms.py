"""`vbas:compare` over scenarios: its averages are those of comparisons over each part by itself."""

from __future__ import annotations

from itertools import combinations

import pytest
from qgis.core import QgsProcessingException

from vbas.core.tables.regions import SCENARIO_AVERAGES

from .conftest import make_layer

MEASURES = (
    "n_sites",
    "suppression_percent",
    "compactness",
    "discernibility",
    "non_uniform_entropy",
    "mean_distance",
)
PARTS = {"north": range(3), "south": range(3, 6)}  # rows of areas


@pytest.fixture
def divided(grid):
    """The grid with the part of the country in a field, and its rows of areas and records."""
    areas, records = grid
    names = {row: part for part, rows in PARTS.items() for row in rows}
    features = list(areas.getFeatures())
    codes = [feature["da"] for feature in features]
    columns = {"da": codes, "part": [names[int(code[2:4])] for code in codes], "other": [None] * len(codes)}
    return make_layer(columns, [feature.geometry().asWkt() for feature in features], "EPSG:26914", "Polygon"), records


@pytest.fixture
def compare(run, divided, tmp_path):
    """Run vbas:compare on the divided grid, with what the test changes."""

    def run_it(stop_at=None, **changes):
        areas, records = divided
        return run(
            "compare",
            stop_at=stop_at,
            **{
                "REGIONS": areas,
                "REGION_ID": "da",
                "RECORDS": records,
                "RECORD_REGION": "home",
                "QUASI_IDENTIFIERS": ["sex", "age", "diagnosis"],
                "SITE_NUMBERS": "given number",
                "N_SITES": 3,
                "AGGREGATIONS": ["basic Voronoi", "iterative Voronoi"],
                "COMPARISON": "memory:",
                "SCENARIO_AVERAGES": "memory:",
                "REPORT": str(tmp_path / "report.html"),
                **changes,
            },
        )

    return run_it


def of_part(layer, field, part):
    """The rows of a layer whose area lies in a part."""
    chosen = layer.clone()
    rows = ",".join(f"'{row:02d}'" for row in PARTS[part])
    chosen.setSubsetString(f"substr({field}, 3, 2) in ({rows})")
    return chosen


@pytest.mark.slow
def test_averages_are_those_of_the_comparisons_of_each_part_alone(compare, divided):
    areas, records = divided
    done = compare(SCENARIOS=4, MOST_ATTRIBUTES=3, PART_FIELD="part", K_VALUES="8")
    rows = done.rows("SCENARIO_AVERAGES")
    assert [(row["part"], row["aggregation"], row["k"]) for row in rows] == [
        (part, how, k) for part in (*PARTS, None) for k in (5, 8) for how in ("basic Voronoi", "iterative Voronoi")
    ]
    assert done.results["N_SCENARIOS"] == 8
    selections = [chosen for size in (2, 3) for chosen in combinations(["sex", "age", "diagnosis"], size)]
    alone = {
        part: [
            compare(
                REGIONS=of_part(areas, "da", part),
                RECORDS=of_part(records, "home", part),
                QUASI_IDENTIFIERS=list(chosen),
                K_VALUES="8",
                SCENARIO_AVERAGES=None,
            ).rows("COMPARISON")
            for chosen in selections
        ]
        for part in PARTS
    }
    for row in rows:
        comparisons = alone[row["part"]] if row["part"] else [one for part in alone.values() for one in part]
        same = [
            other
            for comparison in comparisons
            for other in comparison
            if (other["aggregation"], other["k"]) == (row["aggregation"], row["k"])
        ]
        assert len(same) == row["scenarios"] == (4 if row["part"] else 8)
        assert row["failed"] == 0
        for name in MEASURES:
            values = [other[name] for other in same]
            assert row[name] == pytest.approx(sum(values) / len(values))
            assert row[f"{name}_least"] == pytest.approx(min(values))
            assert row[f"{name}_most"] == pytest.approx(max(values))
        firsts = [c[0 if row["k"] == 5 else 2] for c in comparisons]
        shares = [100 * o["compactness"] / f["compactness"] for o, f in zip(same, firsts)]
        assert row["compactness_of_first"] == pytest.approx(sum(shares) / len(shares))
    assert rows[0]["suppressed_of_first"] == 100


def test_the_comparison_itself_is_what_it_is_without_scenarios(compare):
    with_them = compare(SCENARIOS=2).rows("COMPARISON")
    without = compare(SCENARIO_AVERAGES=None).rows("COMPARISON")
    for row in (*with_them, *without):
        del row["seconds"]
    assert with_them == without


def test_the_report_has_the_averages_and_the_selections(compare, tmp_path):
    done = compare(SCENARIOS=2, PART_FIELD="part", SEED=3)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in ("Averages over scenarios", "4 scenarios of 4 were run", "The random selections", "north", "south"):
        assert text in page
    assert "4 of 4 scenarios were run." in done.log
    assert {field.name() for field in done.layer("SCENARIO_AVERAGES").fields()} >= {*SCENARIO_AVERAGES.names}


def test_parts_that_nobody_can_run_are_left_out_and_told(compare, divided):
    areas, _ = divided
    columns = {name: [feature[name] for feature in areas.getFeatures()] for name in ("da", "part")}
    columns["part"][0], columns["part"][1:4] = "alone", [None] * 3
    shapes = [feature.geometry().asWkt() for feature in areas.getFeatures()]
    layer = make_layer(columns, shapes, "EPSG:26914", "Polygon")
    done = compare(REGIONS=layer, SCENARIOS=1, PART_FIELD="part")
    assert {row["part"] for row in done.rows("SCENARIO_AVERAGES")} == {"north", "south", None}
    assert any("1 part of PART_FIELD is left out" in line and "alone" in line for line in done.log)
    assert "3 areas have no value in PART_FIELD and belong to no part." in done.log


def test_a_configuration_that_fails_in_a_part_is_counted(compare):
    done = compare(SCENARIOS=1, PART_FIELD="part", N_SITES=20)  # each part has 18 areas
    rows = done.rows("SCENARIO_AVERAGES")
    assert [(row["scenarios"], row["failed"]) for row in rows] == [(0, 1)] * 4 + [(0, 2)] * 2
    assert {row["suppression_percent"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SCENARIOS": 3, "LEAST_ATTRIBUTES": 4}, "cannot be drawn from 3"),
        ({"SCENARIOS": 3, "LEAST_ATTRIBUTES": 3, "MOST_ATTRIBUTES": 2}, "cannot be drawn"),
        ({"SCENARIOS": 3, "PART_FIELD": "other"}, "PART_FIELD “other” makes no part"),
        ({"SCENARIOS": 3, "PART_FIELD": "da"}, "PART_FIELD “da” makes no part"),
    ],
)
def test_what_makes_no_scenario_is_refused_before_anything_is_run(compare, changes, message):
    with pytest.raises(QgsProcessingException, match=message):
        compare(**changes)


def test_what_has_no_effect_is_told(compare):
    done = compare(PART_FIELD="part", MOST_ATTRIBUTES=3)
    assert "SCENARIO_AVERAGES is not written, since SCENARIOS is 0." in done.log
    for name in ("PART_FIELD", "MOST_ATTRIBUTES"):
        assert any(line.startswith(f"{name} = ") and "has no effect" in line for line in done.log)
    assert done.results["N_SCENARIOS"] == 0


def test_cancelling_keeps_the_comparison_and_whole_scenarios(compare, tmp_path):
    place = tmp_path / "averages.csv"
    done = compare(stop_at=75, SCENARIOS=4, PART_FIELD="part", SCENARIO_AVERAGES=str(place))
    assert len(done.rows("COMPARISON")) == 2
    assert 0 < done.results["N_SCENARIOS"] < 8
    rows = done.rows("SCENARIO_AVERAGES")
    assert all(int(row["scenarios"]) == done.results["N_SCENARIOS"] for row in rows if not row["part"])
