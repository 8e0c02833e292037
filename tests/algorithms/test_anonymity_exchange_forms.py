"""The aggregation `anonymity exchange` in the toolbox: as a step, in the main algorithm, in the comparison."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer


@pytest.fixture
def step(run, grid):
    """`vbas:aggregate` with the exchange, by nine sites, over areas and records of the grid."""
    areas, records = grid
    sites = make_layer(
        {"n": list(range(9))},
        [f"Point({630_000 + 500 + 1000 * (i % 3)} {5_520_000 + 500 + 1000 * (i // 3)})" for i in range(9)],
    )
    common = {
        "REGIONS": areas,
        "REGION_ID": "da",
        "AGGREGATION": "anonymity exchange",
        "SITES": sites,
        "CROSSWALK": "memory:",
    }
    people = {"RECORDS": records, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}

    def one(with_people=True, **parameters):
        return run("aggregate", **{**common, **(people if with_people else {}), **parameters})

    return one


def suppressed(run, grid, crosswalk):
    areas, records = grid
    return run(
        "evaluate",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        CROSSWALK=crosswalk,
    ).results["SUPPRESSION_PERCENT"]


@pytest.mark.slow
def test_as_a_step_it_is_more_compact_and_suppresses_no_more(run, grid, step):
    before = step(AGGREGATION="iterative Voronoi")
    after = step()
    assert after.results["COMPACTNESS"] < before.results["COMPACTNESS"]
    percent = suppressed(run, grid, before.layer("CROSSWALK"))
    assert suppressed(run, grid, after.layer("CROSSWALK")) <= percent
    assert any(line.startswith("Anonymity exchange, by classes below 5: from ") for line in after.log)
    tight = step(BUDGET=percent / 2)
    assert suppressed(run, grid, tight.layer("CROSSWALK")) <= percent / 2


@pytest.mark.slow
def test_it_starts_from_a_crosswalk_in_place_of_sites(run, grid, step):
    start = step(AGGREGATION="basic Voronoi")
    again = step(SITES=None, START=start.layer("CROSSWALK"))
    assert again.results["COMPACTNESS"] <= start.results["COMPACTNESS"]
    before, after = (suppressed(run, grid, one.layer("CROSSWALK")) for one in (start, again))
    assert after <= before


def test_without_records_a_sentence_says_what_it_needs(step):
    with pytest.raises(QgsProcessingException, match="looks at the classes of the records: give RECORDS"):
        step(with_people=False)
    with pytest.raises(QgsProcessingException, match="looks at the classes of the records: give RECORDS"):
        step(QUASI_IDENTIFIERS=None)


@pytest.mark.slow
def test_in_the_main_algorithm_it_spends_the_budget(anonymize):
    parameters = {"SITE_NUMBER": "suppression budget", "BUDGET": 20}
    before = anonymize(**parameters, AGGREGATION="iterative Voronoi")
    after = anonymize(**parameters, AGGREGATION="anonymity exchange")
    assert after.results["SUPPRESSION_PERCENT"] <= 20
    assert after.results["COMPACTNESS"] < before.results["COMPACTNESS"]


@pytest.mark.slow
def test_in_the_comparison(run, grid):
    areas, records = grid
    rows = run(
        "compare",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        SITE_NUMBERS=["given number"],
        N_SITES=6,
        SITE_LOCATIONS=["balanced density"],
        AGGREGATIONS=["iterative Voronoi", "anonymity exchange"],
        COMPARISON="memory:",
    ).rows("COMPARISON")
    voronoi, exchange = rows
    assert exchange["aggregation"] == "anonymity exchange"
    assert exchange["problem"] is None
    assert exchange["suppressed"] <= voronoi["suppressed"]
    assert exchange["compactness"] <= voronoi["compactness"]
