"""Coarser quasi-identifiers in QGIS: released as asked for, counted on what is shown, and the same in every step."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from qgis.core import QgsProcessingException

from .conftest import make_layer

OWN_TABLE = {
    "attribute": ["age"] * 5 + ["sex"] * 2,
    "value": ["1", "2", "3", "4", "5", "F", "M"],
    "level_1": ["young", "young", "middle", "old", "old", "*", "*"],
    "Level 2": ["below", "below", "below", "above", "above", None, None],
}
YOUNG = {1: "young", 2: "young", 3: "middle", 4: "old", 5: "old"}


@pytest.fixture
def table():
    return make_layer(OWN_TABLE)


def by_value(rows, name, weight=None):
    found: Counter[object] = Counter()
    for row in rows:
        found[row[name]] += 1 if weight is None else row[weight]
    return found


def test_a_release_shows_the_coarser_value_and_counts_k_on_it(anonymize, grid, table):
    records = [
        dict(zip(("home", "sex", "age", "diagnosis"), feature.attributes())) for feature in grid[1].getFeatures()
    ]
    fine = anonymize(K=30)
    done = anonymize(K=30, GENERALISE=["age", 1, "SEX", "0"], HIERARCHIES=table)
    rows = done.rows("RELEASED_RECORDS")
    classes = Counter((row["vbas_region"], row["sex"], row["age"]) for row in rows)
    assert min(classes.values()) >= 30
    assert done.results["N_SUPPRESSED"] < fine.results["N_SUPPRESSED"]
    # By hand: region by region of the crosswalk, every coarser class of k and more is there, and no other.
    region = {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    by_hand = Counter((region[record["home"]], record["sex"], YOUNG[record["age"]]) for record in records)
    assert classes == {key: number for key, number in by_hand.items() if number >= 30}
    assert done.layer("RELEASED_RECORDS").fields().field("age").typeName().lower() in ("string", "text")
    told = next(line for line in done.log if "is shown at level" in line)
    assert told.startswith("“age” is shown at level 1 of 2: 3 values in place of 5. That gives up ")
    assert "“sex” is shown" not in "".join(done.log)


def test_the_report_says_what_is_shown_and_what_it_gives_up(anonymize, table, tmp_path):
    report = tmp_path / "report.html"
    anonymize(GENERALISE=["age", 2], HIERARCHIES=table, REPORT=str(report))
    page = report.read_text(encoding="utf-8")
    assert "“age” is shown at level 2 of 2: 2 values in place of 5." in page
    assert "(GENERALISE)" in page


def test_a_suppressed_attribute_shows_a_star(anonymize, table):
    rows = anonymize(GENERALISE="sex,1", HIERARCHIES=table).rows("RELEASED_RECORDS")
    assert set(by_value(rows, "sex")) == {"*"}


def test_by_rule_on_the_command_line(anonymize):
    done = anonymize(GENERALISE="age,1,sex,1", HIERARCHY_RULES="age,bands 2 4,sex,*")
    rows = done.rows("RELEASED_RECORDS")
    assert set(by_value(rows, "age")) == {"0-1", "2-3", "4-5"}
    assert set(by_value(rows, "sex")) == {"*"}


PEOPLE = {"RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
COARSER = {"GENERALISE": ["age", 1], "HIERARCHY_RULES": ["age", "other below 290"]}


@pytest.mark.slow
def test_the_steps_give_what_the_whole_gives(anonymize, run, grid):
    areas, records = grid
    people = {"RECORDS": records, **PEOPLE, **COARSER}
    regions = {"REGIONS": areas, "REGION_ID": "da"}
    whole = anonymize(
        **COARSER, K=12, SITE_NUMBER="max combinations", N_SITES=None, SITE_LOCATION="anonymity-driven clustering"
    )
    number = run("sitenumber", **people, **regions, SITE_NUMBER="max combinations", K=12)
    assert number.results["N_SITES"] == whole.results["N_SITES"]
    assert (
        number.results["MAX_COMBINATIONS"]
        < run("sitenumber", RECORDS=records, **PEOPLE, SITE_NUMBER="max combinations").results["MAX_COMBINATIONS"]
    )
    alone = run("sitenumber", **people, SITE_NUMBER="max combinations", K=12)
    assert alone.results["MAX_COMBINATIONS"] == number.results["MAX_COMBINATIONS"]
    location = run(
        "sitelocation",
        **people,
        **regions,
        N_SITES=number.results["N_SITES"],
        SITE_LOCATION="anonymity-driven clustering",
        K=12,
        SITE_POINTS="memory:",
    )
    aggregated = run(
        "aggregate",
        **regions,
        RECORDS=records,
        RECORD_REGION="home",
        SITES=location.layer("SITE_POINTS"),
        AGGREGATION="iterative Voronoi",
        **dict.fromkeys(("CROSSWALK", "SITE_POINTS"), "memory:"),
    )
    assert aggregated.rows("CROSSWALK") == whole.rows("CROSSWALK")
    crosswalk = aggregated.layer("CROSSWALK")
    release = run("releaserecords", **people, CROSSWALK=crosswalk, K=12, RELEASED_RECORDS="memory:")
    assert release.rows("RELEASED_RECORDS") == whole.rows("RELEASED_RECORDS")
    rated = run("evaluate", **people, **regions, CROSSWALK=crosswalk, K=12, REGION_AUDIT="memory:")
    assert rated.results["N_SUPPRESSED"] == whole.results["N_SUPPRESSED"]
    # A profile at coarser values goes wherever records go.
    profile = run("profilerecords", **people, PROFILE="memory:")  # kept: its layer lives as long
    again = run(
        "releaserecords",
        RECORDS=profile.layer("PROFILE"),
        **PEOPLE,
        RECORD_COUNT="records",
        CROSSWALK=crosswalk,
        K=12,
        RELEASED_RECORDS="memory:",
    )
    names = ("vbas_region", "sex", "age")
    counted: Counter[tuple] = Counter()
    for row in again.rows("RELEASED_RECORDS"):
        counted[tuple(row[name] for name in names)] += row["records"]
    assert counted == Counter(tuple(row[name] for name in names) for row in whole.rows("RELEASED_RECORDS"))


def test_a_nested_release_at_coarser_values(anonymize, table):
    done = anonymize(RELEASE="nested levels", K=25, GENERALISE=["age", 1], HIERARCHIES=table)
    rows = done.rows("RELEASED_RECORDS")
    classes = Counter((row["vbas_level"], row["vbas_region"], row["sex"], row["age"]) for row in rows)
    assert min(classes.values()) >= 25
    assert {row["age"] for row in rows} == {"young", "middle", "old"}


def test_a_file_is_counted_again_by_what_it_shows(anonymize, table, tmp_path):
    path = tmp_path / "released.csv"
    anonymize(K=20, GENERALISE=["age", 1], HIERARCHIES=table, RELEASED_RECORDS=str(path))
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert min(Counter((row["vbas_region"], row["sex"], row["age"]) for row in rows).values()) >= 20
    assert {row["age"] for row in rows} <= set(YOUNG.values())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"GENERALISE": ["age", 3]}, "“age” is to be shown at level 3, but its levels are 0"),
        ({"GENERALISE": ["age", "one"]}, "GENERALISE asks for level “one” of “age”"),
        ({"GENERALISE": ["age", -1]}, "GENERALISE asks for level “-1” of “age”"),
        ({"GENERALISE": ["age", 1, "AGE", 2]}, "GENERALISE names “age” twice"),
        ({"GENERALISE": ["diagnosis", 1]}, "GENERALISE names “diagnosis”, which is not among QUASI_IDENTIFIERS"),
        ({"GENERALISE": ["age"]}, "GENERALISE"),
        ({"GENERALISE": ["age", 1], "HIERARCHY_RULES": ["age", "bands 2"]}, "“age” has both rows in HIERARCHIES and"),
        ({"GENERALISE": ["age", 1], "HIERARCHIES": None}, "nothing says what its coarser values are"),
        ({"GENERALISE": ["sex", 1], "HIERARCHY_RULES": ["sex", "bands"], "HIERARCHIES": None}, "is no rule: write"),
        ({"GENERALISE": ["sex", 1], "HIERARCHY_RULES": ["sex", ""], "HIERARCHIES": None}, "“sex” has no rule: write"),
    ],
)
def test_what_does_not_fit_ends_in_a_sentence(anonymize, table, changes, words):
    with pytest.raises(QgsProcessingException, match=words):
        anonymize(**{"HIERARCHIES": table, **changes})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"attribute": ["age"], "value": ["1"]}, "name those of the coarser values level_1, level_2"),
        ({"attribute": ["age"], "value": ["1"], "level_2": ["x"]}, "without a gap"),
        ({"attribute": ["age"], "level_1": ["x"]}, "there is no field “value” in HIERARCHIES"),
        ({"attribute": ["age"], "value": ["1"], "level_1": ["x"]}, "4 values of “age” are not in the table .“2”, “3”"),
    ],
)
def test_tables_that_are_none_end_in_a_sentence(anonymize, columns, words):
    with pytest.raises(QgsProcessingException, match=words):
        anonymize(GENERALISE=["age", 1], HIERARCHIES=make_layer(columns))


def with_field(records, name, value_of):
    """The records with a further field."""
    names = ("home", "sex", "age", "diagnosis")
    rows = [dict(zip(names, feature.attributes())) for feature in records.getFeatures()]
    columns = {one: [row[one] for row in rows] for one in names[:3]}
    return make_layer({**columns, name: [value_of(i, row) for i, row in enumerate(rows)]})


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_kept_copy_of_the_finer_attribute_is_refused(anonymize, grid, level):
    records = with_field(grid[1], "years", lambda _, row: row["age"] * 10)
    with pytest.raises(
        QgsProcessingException,
        match=r"“years” gives back what coarser values take: in 100.0 % of the .* show a coarser “age”",
    ):
        anonymize(
            RECORDS=records, KEEP_FIELDS=["years"], GENERALISE=["age", level], HIERARCHY_RULES=["age", "bands 2 4 *"]
        )


def test_a_kept_field_that_gives_part_of_it_back_is_warned_of(anonymize, grid):
    records = with_field(grid[1], "half", lambda _, row: "low" if row["age"] < 3 else "high")
    done = anonymize(RECORDS=records, KEEP_FIELDS=["half"], GENERALISE=["age", 1], HIERARCHY_RULES=["age", "*"])
    assert any("“half” gives back part of what coarser values take" in line for line in done.log)
    same = with_field(grid[1], "coin", lambda i, _: "ab"[i % 7 % 2])
    done = anonymize(RECORDS=same, KEEP_FIELDS=["coin"], GENERALISE=["age", 1], HIERARCHY_RULES=["age", "*"])
    assert not any("gives back" in line for line in done.log)


def test_hierarchies_count_only_where_something_is_shown_coarser(anonymize, table):
    done = anonymize(HIERARCHIES=table, RELEASE="nested levels")
    assert any(line.startswith("HIERARCHIES = ") and "has no effect here" in line for line in done.log)


def test_published_totals_are_those_of_the_coarser_values(anonymize, grid, table):
    """By region and age as shown, nobody is suppressed, or k and more of both sexes."""
    k = 30
    done = anonymize(K=k, GENERALISE=["age", 1], HIERARCHIES=table, PUBLISHED_MARGINS="age")
    region = {row["da"]: row["vbas_region"] for row in done.rows("CROSSWALK")}
    names = ("home", "sex", "age")
    records = [dict(zip(names, feature.attributes())) for feature in grid[1].getFeatures()]
    everybody = Counter((region[record["home"]], record["sex"], YOUNG[record["age"]]) for record in records)
    released = Counter((row["vbas_region"], row["sex"], row["age"]) for row in done.rows("RELEASED_RECORDS"))
    lost: Counter[tuple] = Counter()
    for (where, sex, age), number in everybody.items():
        if (where, sex, age) not in released:
            lost[where, age] += number
        else:
            assert released[where, sex, age] == number >= k
    assert lost
    assert min(lost.values()) >= k
