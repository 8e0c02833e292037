"""Where anonymity-driven clustering starts: START and SITES in the forms."""

from __future__ import annotations

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

CLUSTERING = "anonymity-driven clustering"
OLD = "anonymity-driven clustering (2015)"


@pytest.fixture
def located(run, grid):
    """located(…) -> the run of `vbas:sitelocation` over the grid."""
    areas, records = grid

    def one_run(**more):
        parameters = {
            "REGIONS": areas,
            "REGION_ID": "da",
            "RECORDS": records,
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "SITE_LOCATION": CLUSTERING,
            "SITE_POINTS": "memory:",
            "N_SITES": 7,
            "K": 12,
            **more,
        }
        return run("sitelocation", **{name: value for name, value in parameters.items() if value is not None})

    return one_run


def sites_of(done):
    places = [feature.geometry().asPoint() for feature in done.layer("SITE_POINTS").getFeatures()]
    return np.array([(place.x(), place.y()) for place in places])


def idle(done):
    return [line.split()[0] for line in done.log if "has no effect here" in line]


def test_it_starts_where_it_is_told_to(located):
    sites = {}
    for start in (None, "balanced density", "random", OLD):
        done = located(START=start, SEED=3 if start == "random" else None)
        assert any(f"started from “{start or 'balanced density'}”" in line for line in done.log)
        assert len(sites_of(done)) == done.results["N_SITES"] == 7 and not idle(done)
        sites[start] = sites_of(done)
    assert np.array_equal(sites[None], sites["balanced density"])
    assert not np.array_equal(sites[None], sites["random"])
    assert not np.array_equal(sites["random"], sites_of(located(START="random", SEED=4)))
    assert idle(located(SEED=4)) == ["SEED"]
    with pytest.raises(QgsProcessingException, match=f"START is “{CLUSTERING}”"):
        located(START=CLUSTERING)


def test_it_starts_from_the_sites_of_another_run(located):
    first = located(SITE_LOCATION="random", SEED=5, N_SITES=9)
    own = located(SITES=first.layer("SITE_POINTS"), N_SITES=None)
    assert any("started from the sites given" in line for line in own.log)
    assert own.results["N_SITES"] == 9
    assert np.allclose(sites_of(own), sites_of(located(START="random", SEED=5, N_SITES=9)), atol=1e-3)
    typed = located(SITES=first.layer("SITE_POINTS"), START="random", N_SITES=4)
    assert idle(typed) == ["N_SITES", "START"] and typed.results["N_SITES"] == 9
    other = located(SITES=first.layer("SITE_POINTS"), SITE_LOCATION="balanced density")
    assert idle(other) == ["SITES"] and other.results["N_SITES"] == 7


def test_sites_far_from_all_areas_are_refused(located):
    with pytest.raises(QgsProcessingException, match="All SITES lie far outside the areas"):
        located(SITES=make_layer({"i": [1]}, ["Point(0 0)"]))


@pytest.mark.parametrize("aggregation", ["basic Voronoi", "iterative Voronoi"])
def test_the_main_algorithm_starts_there_too(run, grid, anonymize, located, aggregation):
    done = anonymize(SITE_LOCATION=CLUSTERING, AGGREGATION=aggregation, N_SITES=7, START="random", SEED=3, K=12)
    assert any("started from “random”" in line for line in done.log) and not idle(done)
    areas, records = grid
    step = located(START="random", SEED=3)  # kept, since the layer goes with it
    joined = run(
        "aggregate",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        SITES=step.layer("SITE_POINTS"),
        AGGREGATION=aggregation,
        CROSSWALK="memory:",
    )
    assert joined.rows("CROSSWALK") == done.rows("CROSSWALK")
    assert idle(anonymize(START="random")) == ["START"]


def test_a_combination_with_clustering_takes_the_start(anonymize):
    done = anonymize(COMBINATION="least suppression", SITE_NUMBER=None, N_SITES=None, START="random", SEED=3)
    assert any("started from “random”" in line for line in done.log) and not idle(done)


def test_a_comparison_runs_it_and_says_so_in_the_command(run, grid):
    areas, records = grid
    done = run(
        "compare",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        SITE_NUMBERS="given number",
        N_SITES=5,
        SITE_LOCATIONS=CLUSTERING,
        AGGREGATIONS="basic Voronoi",
        START="random",
        SEED=3,
        BUDGET=50,
        COMPARISON="memory:",
    )
    command = next(line for line in done.log if line.startswith("qgis_process run"))
    assert "START=random" in command and "START" not in idle(done) and "SEED" not in idle(done)
