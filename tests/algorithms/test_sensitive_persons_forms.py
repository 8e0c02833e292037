"""Sensitive values of persons with several visits, in QGIS: what was written is counted again by sets of persons."""

from __future__ import annotations

import csv
import re
from collections import defaultdict

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

SIDE, K = 4, 5
ASKED = {"PERSON_ID": "person", "SENSITIVE": ["ill"], "L_DIVERSITY": 2, "MAX_SHARE": 60}


@pytest.fixture(scope="module")
def clinic(provider):
    """16 square areas with women of two ages and men; of each class of most areas all, or nearly all, have the same
    diagnosis, and one person has many others."""
    rng = np.random.default_rng(11)
    squares, homes, rows = [], [], []
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = 630_000 + 500 * column, 5_520_000 + 500 * row
            squares.append(f"Polygon(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))")
            homes.append(f"4690{row}{column}")
    for number, home in enumerate(homes):
        for sex, age in (("F", 1), ("F", 2), ("M", 1), ("M", 2)):
            for one in range(int(rng.integers(4, 9))):
                person = f"patient {home}-{sex}{age}-{one}"
                common = sex == "F" or number < 5 or rng.random() < 0.4
                visits = ["hiv"] if common else []
                visits += [f"other {i}" for i in range(6)] if one == 0 else []
                visits += [str(rng.choice(["flu", "cold", "cough"]))] if not visits or rng.random() < 0.3 else []
                rows += [(home, sex, age, ill, person) for ill in visits]
    names = ("home", "sex", "age", "ill", "person")
    areas = make_layer({"da": homes, "people": [50] * len(homes)}, squares)
    return areas, make_layer(dict(zip(names, map(list, zip(*rows))))), rows


def given(clinic, tmp_path, **more):
    return {
        "REGIONS": clinic[0],
        "REGION_ID": "da",
        "POPULATION": "people",
        "RECORDS": clinic[1],
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "K": K,
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 6,
        "RELEASED_RECORDS": str(tmp_path / "released.csv"),
        "CROSSWALK": str(tmp_path / "crosswalk.csv"),
        **ASKED,
        **more,
    }


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def classes(clinic, released, crosswalk):
    """Who has which value in each class that is shown, from the visits and the crosswalk: level, region, sex, age.

    Of several levels the finest that shows the class in the region of an area.
    """
    fields = [name for name in crosswalk[0] if name.startswith("vbas_region")]
    of_area = {row["da"]: [row[name] for name in fields] for row in crosswalk}
    released_classes = {(row.get("vbas_level", "1"), row["vbas_region"], row["sex"], row["age"]) for row in released}
    found: defaultdict[tuple, defaultdict[object, set]] = defaultdict(lambda: defaultdict(set))
    for home, sex, age, ill, person in clinic[2]:
        for level, region in enumerate(of_area[home], 1):
            key = (str(level), region, sex, str(age))
            if key in released_classes:
                found[key][ill].add(person)
                break
    return found


def told(holders, share=60):
    """Whether a value is had by all persons of a class, or by more than a share of them."""
    everybody = set().union(*holders.values())
    return max(map(len, holders.values())) > share / 100 * len(everybody)


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_no_class_shows_what_its_persons_have_in_common(run, clinic, tmp_path, release):
    done = run("anonymize", **given(clinic, tmp_path, RELEASE=release, REPORT=str(tmp_path / "report.html")))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A person has a sensitive value if any of" in page
    assert re.search(r"in 0 of \d+ released classes all people have one value in common", page)
    by_class = classes(clinic, read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv"))
    if release == "one level":  # of several, the crosswalk does not say which of them a visit is shown at
        assert by_class and not any(map(told, by_class.values()))
        assert all(len(set().union(*holders.values())) >= K for holders in by_class.values())
        assert any(holders["hiv"] for holders in by_class.values())
    # By rows the same classes passed.
    without = run("anonymize", **given(clinic, tmp_path, RELEASE=release, L_DIVERSITY=1, MAX_SHARE=100))
    by_class = classes(clinic, read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv"))
    assert any(map(told, by_class.values()))
    assert without.results["N_SUPPRESSED"] < done.results["N_SUPPRESSED"]


def test_a_crosswalk_releases_and_rates_the_same(run, clinic, tmp_path):
    made = run("anonymize", **given(clinic, tmp_path))
    names = ("RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "K", *ASKED)
    shared = {name: value for name, value in given(clinic, tmp_path).items() if name in names}
    shared["CROSSWALK"] = str(tmp_path / "crosswalk.csv")
    run("releaserecords", **shared, RELEASED_RECORDS=str(tmp_path / "again.csv"))
    assert read(tmp_path / "again.csv") == read(tmp_path / "released.csv")
    rated = run("evaluate", **shared, REGIONS=clinic[0], REGION_ID="da", POPULATION="people")
    assert rated.results["N_SUPPRESSED"] == made.results["N_SUPPRESSED"]


def test_a_budget_goes_by_persons(run, clinic, tmp_path):
    budget = {"SITE_NUMBER": "suppression budget", "BUDGET": 60.0}
    made = run("anonymize", **given(clinic, tmp_path, **budget))
    assert made.results["SUPPRESSION_PERCENT"] <= 60
    by_class = classes(clinic, read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv"))
    n_released = len(read(tmp_path / "released.csv"))
    assert not any(map(told, by_class.values()))
    assert 100 * (1 - n_released / len(clinic[2])) == pytest.approx(made.results["SUPPRESSION_PERCENT"])
    with pytest.raises(QgsProcessingException, match="even with a single region"):
        run("anonymize", **given(clinic, tmp_path, **{**budget, "BUDGET": 5.0}))


def test_a_table_whose_persons_have_a_value_in_common_is_refused(run, clinic):
    table = {"RECORDS": clinic[1], "QUASI_IDENTIFIERS": ["home", "sex", "age"], "K": 4, "CHECK": "memory:"}
    with pytest.raises(QgsProcessingException, match="fall short"):
        run("checkrelease", **table, **ASKED)
    done = run("checkrelease", **table, **ASKED, STOP=False)
    behind: defaultdict[tuple, defaultdict[object, set]] = defaultdict(lambda: defaultdict(set))
    for home, sex, age, ill, person in clinic[2]:
        behind[home, sex, age][ill].add(person)
    short = {key for key, holders in behind.items() if told(holders)}
    assert {(row["home"], row["sex"], row["age"]) for row in done.rows("CHECK")} == short
    assert done.results["L_FOUND"] == 1
    for row in done.rows("CHECK"):
        holders = behind[row["home"], row["sex"], row["age"]]
        everybody = set().union(*holders.values())
        assert row["vbas_share_1"] == pytest.approx(100 * max(map(len, holders.values())) / len(everybody))
        assert (row["vbas_values_1"] == 1) == (everybody in holders.values())
    rows_alone = run("checkrelease", **table, SENSITIVE=["ill"], L_DIVERSITY=2, STOP=False)
    assert rows_alone.results["N_BELOW"] < done.results["N_BELOW"]
    assert rows_alone.results["L_FOUND"] > 1


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_a_register_says_that_it_counts_rows(run, clinic, tmp_path, nested):
    register = {"REGISTER": str(tmp_path / "register.gpkg"), "RELEASE": "nested levels" if nested else "one level"}
    first = run("anonymize", **given(clinic, tmp_path, **register))
    assert not any("counts rows, not persons" in line for line in first.log)  # it holds nothing to be held against
    again = run("anonymize", **given(clinic, tmp_path, N_SITES=4, REGISTER_ACTION="repair", **register))
    assert any("The register counts rows, not persons: 5 rows and more" in line for line in again.log)
    assert not any("was found to follow" in line for line in again.log)
    by_class = classes(clinic, read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv"))
    assert nested or not any(map(told, by_class.values()))
    for done in (
        run("anonymize", **given(clinic, tmp_path, REGISTER_ACTION="repair", **{**register, "PERSON_ID": ""})),
        run("checkreleases", REGISTER=register["REGISTER"], PINNED="memory:", REPORT=str(tmp_path / "page.html")),
    ):
        assert any("The register counts rows, not persons: 5 rows and more" in line for line in done.log)
        assert not any("was found to follow" in line for line in done.log)
    assert done.results["N_NOT_COMPARED"] == 0
    assert any("Not everything could be compared" in line for line in done.log)
    assert "The register counts rows, not persons" in (tmp_path / "page.html").read_text(encoding="utf-8")
