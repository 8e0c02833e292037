"""`vbas:compare` with several k, budgets and coarser attributes: its rows, the one to choose, and its command."""

from __future__ import annotations

import shlex

import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms import compared
from vbas.core.comparison import compare as core_compare

RULES = ["age", "bands 2, 4, *", "sex", "*"]
ONE = {"SITE_NUMBERS": "given number", "AGGREGATIONS": "iterative Voronoi", "N_SITES": 4}


@pytest.fixture
def compare(run, grid, tmp_path):
    """Run vbas:compare on the grid, with what the test changes."""

    def one(**changes):
        areas, records = grid
        return run(
            "compare",
            REGIONS=areas,
            REGION_ID="da",
            RECORDS=records,
            RECORD_REGION="home",
            QUASI_IDENTIFIERS=["sex", "age"],
            COMPARISON="memory:",
            REPORT=str(tmp_path / "report.html"),
            **{**ONE, **changes},
        )

    return one


def command_in(done):
    """Names and values of the command in the log."""
    (line,) = [line for line in done.log if line.startswith("qgis_process run vbas:anonymize")]
    words = [word.partition("=") for word in shlex.split(line.replace("\\\n", " ")) if "=" in word]
    found: dict[str, list] = {}
    for name, _, value in words:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


@pytest.mark.slow
def test_every_combination_of_levels_is_a_row_with_the_most_regions_within_the_budget(compare, anonymize):
    done = compare(BUDGETS="2, 8", HIERARCHY_RULES=RULES, K=8)
    rows = [row for row in done.rows("COMPARISON") if row["budget"] is not None]
    assert len(rows) == 2 * 4 * 2
    assert {row["site_number"] for row in rows} == {"suppression budget"}
    for row in rows:
        if row["n_sites"] is None:
            assert "it takes" in row["problem"]
            assert not row["pareto"]
            continue
        assert row["suppression_percent"] <= row["budget"]
    bottom = next(row for row in rows if row["generalised"] == "attributes as they are" and row["budget"] == 8)
    alone = anonymize(SITE_NUMBER="suppression budget", BUDGET=8, K=8)
    assert bottom["n_sites"] == alone.results["N_SITES"]
    assert (bottom["given_up"], bottom["lost_age"], bottom["lost_sex"]) == (0, 0, 0)
    middle = next(row for row in rows if row["generalised"] == "age at level 1" and row["budget"] == 8)
    coarser = anonymize(SITE_NUMBER="suppression budget", BUDGET=8, K=8, HIERARCHY_RULES=RULES, GENERALISE=["age", "1"])
    assert middle["n_sites"] == coarser.results["N_SITES"] > bottom["n_sites"]
    assert 0 < middle["given_up"] < middle["lost_age"] < 100
    assert 0 < sum(row["pareto"] for row in rows) < len(rows)


def test_the_command_of_the_recommended_row_makes_its_regions(compare, run, grid, anonymize, tmp_path):
    done = compare(BUDGETS="2", HIERARCHY_RULES=RULES, K=8)
    (best,) = [row for row in done.rows("COMPARISON") if row["recommended"]]
    assert best["pareto"] == 1
    assert best["budget"] == 2
    given = command_in(done)
    assert given["RELEASED_RECORDS"] == "released.gpkg"
    areas, records = grid
    given.update(REGIONS=areas, RECORDS=records, RELEASED_RECORDS="memory:", CROSSWALK="memory:")
    again = run("anonymize", **given)
    assert again.results["N_SITES"] == best["n_sites"]
    assert again.results["N_SUPPRESSED"] == best["suppressed"]
    assert not [line for line in again.log if "has no effect" in line]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    reason = next(line for line in done.log if line.startswith("Recommended is"))
    assert f"{best['n_sites']} regions" in reason
    for text in ("What to choose", "Recommended is", "What coarser attributes buy", "Which attribute costs what in it"):
        assert text in page
    assert "qgis_process run vbas:anonymize" in page


def test_a_row_of_the_chosen_approaches_is_recommended_where_nothing_is_searched(compare, anonymize):
    done = compare(BUDGET=50)
    (row,) = done.rows("COMPARISON")
    assert row["recommended"] == 1
    given = command_in(done)
    assert (given["SITE_NUMBER"], given["N_SITES"], given["COMBINATION"]) == ("given number", "4", "custom")
    assert "lost_age" not in row
    none = compare(N_SITES=36, BUDGET=0.01, K=12)
    assert [line for line in none.log if line.startswith("Nothing is recommended: no row at K = 12")]


@pytest.mark.slow
def test_everything_is_run_at_every_k(compare, anonymize):
    done = compare(K_VALUES="8, 12", N_SITES=12, K=5)
    rows = done.rows("COMPARISON")
    assert [row["k"] for row in rows] == [5, 8, 12]
    expected = [anonymize(N_SITES=12, K=k).results["N_SUPPRESSED"] for k in (5, 8, 12)]
    assert [row["suppressed"] for row in rows] == expected
    assert [row["pareto"] for row in rows] == [1, 1, 1]  # another k promises more: no row beats another
    searched = compare(K_VALUES="8", BUDGETS="3", K=5).rows("COMPARISON")
    assert [(row["k"], row["budget"]) for row in searched] == [(5, None), (8, None), (5, 3), (8, 3)]
    assert searched[2]["n_sites"] > searched[3]["n_sites"]
    assert [bool(row["recommended"]) for row in searched].count(True) == 1
    budgeted = compare(K_VALUES="8", SITE_NUMBERS="suppression budget", BUDGET=3, K=5).rows("COMPARISON")
    assert [row["n_sites"] for row in budgeted] == [row["n_sites"] for row in searched[2:]]


def test_every_component_is_run_at_the_k_of_its_row(compare, monkeypatch):
    run_at: list[tuple] = []

    def spy(areas, profile, configurations, k, *others):
        run_at.extend(
            (k, configuration.number_options.k, configuration.location_options.k, configuration.aggregation_options.k)
            for configuration in configurations
        )
        run_at.append((k, others[5].number_options.k))
        return core_compare(areas, profile, configurations, k, *others)

    monkeypatch.setattr(compared, "compare", spy)
    compare(K_VALUES="9", K=3)
    assert run_at == [(3, 3, 3, 3), (3, 3), (9, 9, 9, 9), (9, 9)]


def test_levels_go_on_from_those_that_are_shown(compare):
    done = compare(BUDGETS="2", HIERARCHY_RULES=["age", "bands 2, 4, *"], GENERALISE=["age", "1"], K=12)
    rows = [row for row in done.rows("COMPARISON") if row["budget"] is not None]
    assert len(rows) == 3
    assert command_in(done)["GENERALISE"] == ["age", "1"]
    # At this k bands of 2 are too narrow wherever the regions are: one level more is recommended.
    done = compare(BUDGETS="2", HIERARCHY_RULES=["age", "bands 2, 4, *"], GENERALISE=["age", "1"], K=250)
    (best,) = [row for row in done.rows("COMPARISON") if row["recommended"]]
    assert best["generalised"] == "age at level 1"
    assert command_in(done)["GENERALISE"] == ["age", "2"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"BUDGETS": "5, 101"}, "BUDGETS has 101"),
        ({"BUDGETS": "little"}, "BUDGETS is “little”"),
        ({"K_VALUES": "1"}, "K_VALUES has 1"),
        ({"K_VALUES": "5.5"}, r"K_VALUES has 5\.5"),
    ],
)
def test_what_is_no_budget_and_no_k_is_refused(compare, changes, message):
    with pytest.raises(QgsProcessingException, match=message):
        compare(**changes)


def test_hierarchies_count_only_where_something_is_searched_or_shown_coarser(compare):
    idle = compare(HIERARCHY_RULES=RULES)
    assert any(line.startswith("HIERARCHY_RULES = ") and "has no effect" in line for line in idle.log)
    searched = compare(HIERARCHY_RULES=RULES, BUDGETS="5")
    assert not any("has no effect" in line for line in searched.log)
