"""What a nested release must hold against, in the forms."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

N = 12
HELD = {"DISCLOSURE": "no small count follows"}


@pytest.fixture
def street():
    """Twelve areas in pairs and in one; in each ten men, and a woman."""
    homes = [f"a{i:02}" for i in range(N)]
    rows = [(home, sex) for home in homes for sex in ["M"] * 10 + ["F"]]
    levels = {"vbas_region_1": range(N), "vbas_region_2": (i // 2 for i in range(N)), "vbas_region_3": [0] * N}
    crosswalk = {"area": homes, **{name: [1 + region for region in regions] for name, regions in levels.items()}}
    areas = make_layer({"area": homes}, [f"Point({500 * i} 0)" for i in range(N)])
    return areas, make_layer(dict(zip(("home", "sex"), map(list, zip(*rows))))), make_layer(crosswalk)


@pytest.mark.parametrize("of", ["no areas", "areas"])
def test_people_who_are_not_known_are_no_reason_to_suppress(run, street, of):
    """Each area was taken for one person's: twelve women of twelve people are one in each, and none was shown."""
    areas, records, crosswalk = street
    given = {"REGIONS": areas, "REGION_ID": "area"} if of == "areas" else {}
    done = run(
        "releaserecords",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=crosswalk,
        K=3,
        LOSS="non-uniform entropy",
        RELEASED_RECORDS="memory:",
        **HELD,
        **given,
    )
    assert done.results["N_SUPPRESSED"] == 0
    assert any("counts of its zones, each 3 or more" in line for line in done.log)


@pytest.mark.parametrize("name", ["LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE", "REGISTER"])
def test_what_does_not_go_with_coarser_values_is_refused_before_anything_is_read(run, street, tmp_path, name):
    _, records, crosswalk = street
    value = str(tmp_path / "none.gpkg") if name == "REGISTER" else 2
    # No field has this name: whoever read the records would say so first.
    given = {"RECORDS": records, "RECORD_REGION": "nowhere", "QUASI_IDENTIFIERS": ["sex"], "CROSSWALK": crosswalk}
    with pytest.raises(QgsProcessingException, match=f"LEVELS_COARSER and {name} do not go together"):
        run("releaserecords", **given, **HELD, LEVELS_COARSER=["sex", "1"], RELEASED_RECORDS="memory:", **{name: value})


def test_one_level_has_nothing_to_choose_and_says_so(run, street):
    _, records, _ = street
    one = make_layer({"area": [f"a{i:02}" for i in range(N)], "vbas_region": [1 + i // 4 for i in range(N)]})
    given = {"RECORDS": records, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex"], "RELEASED_RECORDS": "memory:"}
    done = run("releaserecords", **given, CROSSWALK=one, **HELD)
    assert any("DISCLOSURE, LEAST_LEFT_AREAS and LEAST_LEFT_PEOPLE have no effect" in line for line in done.log)
    assert not any("counts of its zones" in line for line in done.log)
