"""What a run really works with: in the log and the report, and a warning for what was given and counts for nothing."""

from __future__ import annotations

import re

import pytest
from qgis.core import QgsApplication, QgsProcessingContext

from vbas.algorithms.catalogue import ALGORITHMS
from vbas.algorithms.form.parameters import label_of, label_of_setting
from vbas.algorithms.form.understanding import understood

from .conftest import make_layer


def form(name):
    return QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").create()


def effective(name, **parameters):
    one, context = form(name), QgsProcessingContext()
    return one.effective(understood(one, parameters, context), context)


def table(page):
    """The rows of the report's table of parameters."""
    rows = re.findall(r"<tr><td[^>]*>([^<]*)\((\w+)\)</td><td[^>]*>([^<]*)</td></tr>", page)
    return {name: value for _, name, value in rows}


def idle(log):
    return sorted(line.split(" = ")[0] for line in log if "has no effect here" in line)


def test_the_report_lists_what_ran_and_not_what_was_typed(anonymize, tmp_path):
    report = tmp_path / "report.html"
    done = anonymize(
        COMBINATION="most compact", SITE_NUMBER="given number", N_SITES=20, CAPACITY_FACTOR=2, REPORT=str(report)
    )
    page = report.read_text(encoding="utf-8")
    found = table(page)
    assert found["COMBINATION"] == "most compact"
    assert found["SITE_NUMBER"] == "entropy"
    assert found["SITE_LOCATION"] == "balanced density"
    assert found["AGGREGATION"] == "site optimisation"
    assert found["K"] == "5"
    assert not {"N_SITES", "CAPACITY_FACTOR", "CUTOFF", "FLOOR", "SEED", "GAPS_COEFFICIENT"} & set(found)
    assert "given number" not in page
    assert idle(done.log) == ["CAPACITY_FACTOR", "N_SITES", "SITE_NUMBER"]
    told = next(line for line in done.log if line.startswith("N_SITES = "))
    assert told == (
        "N_SITES = 20 has no effect here: it counts only where SITE_NUMBER is “given number”. Here SITE_NUMBER "
        "is “entropy”."
    )
    log = next(line for line in done.log if line.startswith("Settings used: "))
    assert "counts as the paper does) = entropy · " in log
    assert "Given number only" not in log


def test_the_report_and_the_log_tell_the_cut_off_and_where_it_led(anonymize, tmp_path):
    report = tmp_path / "report.html"
    done = anonymize(SITE_NUMBER="population cut-off", CUTOFF=180, REPORT=str(report))
    told = "At 180 people per region 1440 records make 8 regions."
    assert told in done.log
    assert told in report.read_text(encoding="utf-8")
    assert done.results["N_SITES"] == 8


def test_a_number_capped_at_the_areas_is_told(anonymize, run, grid, tmp_path):
    report = tmp_path / "report.html"
    told = (
        "At 10 people per region 1440 records would make 144 regions, but there are only 36 areas: so many regions "
        "are aimed for."
    )
    done = anonymize(SITE_NUMBER="population cut-off", CUTOFF=10, REPORT=str(report))
    assert told in done.log
    assert told in report.read_text(encoding="utf-8")
    step = run(
        "sitenumber",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        SITE_NUMBER="population cut-off",
        CUTOFF=10,
    )
    assert told in step.log
    assert (step.results["N_SITES"], step.results["N_SITES_ASKED"]) == (36, 144)


def test_no_two_settings_are_told_under_one_name(provider):
    for algorithm in ALGORITHMS:
        one = form(algorithm.ID)
        inputs = [definition for definition in one.parameterDefinitions() if not definition.isDestination()]
        for told in (label_of, label_of_setting):
            labels = [told(definition) for definition in inputs]
            assert sorted(set(labels)) == sorted(labels), algorithm.ID


def test_what_counts_is_told_without_whom_else_it_serves(anonymize, tmp_path):
    """“Custom only” of what a combination chose, or “Nested levels only” of one level, would be wrong."""
    report, public_report = tmp_path / "report.html", tmp_path / "public_report.html"
    done = anonymize(COMBINATION="custom", SITE_NUMBER="given number", N_SITES=6, REPORT=str(report))
    log = next(line for line in done.log if line.startswith("Settings used: "))
    assert "counts as the paper does) = given number · " in log and "Regions to aim for = 6 · " in log
    anonymize(REPORT=str(report), RELEASE_REPORT=str(public_report))
    page = report.read_text(encoding="utf-8")
    for shown in (page, public_report.read_text(encoding="utf-8")):
        assert "Where the sites go (SITE_LOCATION)" in shown and "k: smallest class allowed (K)" in shown
        assert "ustom only" not in shown and "ested levels only" not in shown
    assert "counts as the paper does) (SITE_NUMBER)" in page


def test_a_least_population_is_not_for_nested_levels_only(provider):
    one = form("anonymize")
    assert (
        one.parameterDefinition("LEAST_POPULATION").description()
        == "Least population of a region (some rules ask for one)"
    )


def test_combinations_by_transport_have_no_location_and_no_limit(provider):
    values = effective("anonymize", COMBINATION="compact by transport").values()
    assert values["AGGREGATION"] == "transportation-location"
    assert values["CAPACITY_FACTOR"] == 0
    assert "SITE_LOCATION" not in values


def test_defaults_are_never_warned_of(provider):
    """A dialog sends every parameter it shows."""
    for algorithm in ALGORITHMS:
        one = form(algorithm.ID)
        defaults = {
            definition.name(): definition.defaultValue()
            for definition in one.parameterDefinitions()
            if definition.defaultValue() is not None
        }
        assert effective(algorithm.ID, **defaults).idle() == [], algorithm.ID


def test_every_condition_names_parameters_and_choices_that_there_are(provider):
    for algorithm in ALGORITHMS:
        one = form(algorithm.ID)
        names = {definition.name() for definition in one.parameterDefinitions()}
        for name, conditions in one.conditions().items():
            if name not in names:
                continue
            for condition in conditions:
                for choice, words in condition.items():
                    assert choice in names, (algorithm.ID, name, choice)
                    if not isinstance(words, bool):
                        assert set(words) <= set(one.parameterDefinition(choice).options()), (algorithm.ID, name)


@pytest.mark.parametrize(
    ("name", "given", "counts_for_nothing"),
    [
        ("anonymize", {"COMBINATION": "custom", "N_SITES": 9}, ["N_SITES"]),
        ("anonymize", {"COMBINATION": "custom", "SITE_NUMBER": "given number", "N_SITES": 9}, []),
        ("anonymize", {"COMBINATION": "fastest", "GAPS_REGION": "custom", "GAPS_EXPONENT": 0.5}, []),
        ("anonymize", {"COMBINATION": "fastest", "GAPS_EXPONENT": 0.5}, ["GAPS_EXPONENT"]),
        ("anonymize", {"COMBINATION": "all-rounder", "LOG_BASE": 2}, ["LOG_BASE"]),
        ("anonymize", {"COMBINATION": "custom", "AGGREGATION": "transportation-location", "CAPACITY_FACTOR": 2}, []),
        ("anonymize", {"COMBINATION": "custom", "AGGREGATION": "basic Voronoi", "FLOOR": 2}, ["FLOOR"]),
        (
            "anonymize",
            {"COMBINATION": "custom", "AGGREGATION": "population floor", "SITE_LOCATION": "random", "SEED": 3},
            ["SITE_LOCATION", "SEED"],
        ),
        (
            "anonymize",
            {"FINEST": "configuration", "RATIO": 3, "LOSS": "non-uniform entropy"},
            ["FINEST", "RATIO", "LOSS"],
        ),
        ("anonymize", {"LEVEL_FIELDS": ["a"], "LEAST_POPULATION": 9}, ["LEVEL_FIELDS"]),
        ("anonymize", {"L_DIVERSITY": 2, "MAX_SHARE": 50}, ["L_DIVERSITY", "MAX_SHARE"]),
        ("anonymize", {"TIES": "secret"}, ["TIES"]),
        ("anonymize", {"TIES": "secret", "RELEASE": "nested levels"}, []),
        ("anonymize", {"TIES": "secret", "PUBLISHED_MARGINS": "a"}, []),
        ("anonymize", {"TIES": "secret", "REGISTER": "r.gpkg", "REGISTER_ACTION": "repair"}, []),
        ("releaserecords", {"TIES": "secret"}, []),
        (
            "anonymize",
            {"DISCLOSURE": "no small count follows", "CLOSED_BY_CHANCE": 2, "LEAST_LEFT_AREAS": 3},
            ["DISCLOSURE", "CLOSED_BY_CHANCE", "LEAST_LEFT_AREAS"],
        ),
        (
            "anonymize",
            {
                "RELEASE": "nested levels",
                "DISCLOSURE": "no small count follows",
                "CLOSED_BY_CHANCE": 2,
                "LEAST_LEFT_PEOPLE": 99,
            },
            [],
        ),
        ("anonymize", {"RELEASE": "nested levels", "CLOSED_BY_CHANCE": 2}, ["CLOSED_BY_CHANCE"]),
        ("evaluate", {"CLOSED_BY_CHANCE": 2, "LEAST_LEFT_AREAS": 3}, ["CLOSED_BY_CHANCE"]),
        ("releasedatabase", {"DISCLOSURE": "no small count follows", "CLOSED_BY_CHANCE": 2}, []),
        ("releaserecords", {"HIERARCHY_RULES": ["a", "*"]}, ["HIERARCHY_RULES"]),
        ("releaserecords", {"LEVELS_COARSER": ["a", 1], "HIERARCHY_RULES": ["a", "*"]}, []),
        ("releasedatabase", {"LEVELS_COARSER": ["a", 1], "HIERARCHY_RULES": ["a", "*"]}, []),
        (
            "releasedatabase",
            {
                "SCHEMA": "s",
                "REGION_ID": "a",
                "L_DIVERSITY": 2,
                "HIERARCHY_RULES": ["a", "*"],
                "REGISTER_ACTION": "repair",
            },
            ["SCHEMA", "HIERARCHY_RULES", "L_DIVERSITY", "REGION_ID", "REGISTER_ACTION"],
        ),
        (
            "releasedatabase",
            {
                "SCHEMA": "s",
                "TABLE": "t",
                "GENERALISE": ["a", 1],
                "HIERARCHY_RULES": ["a", "*"],
                "RULE": "CMS cell size",
            },
            [],
        ),
        ("profiledatabase", {"SCHEMA": "s", "HIERARCHY_RULES": ["a", "*"]}, ["SCHEMA", "HIERARCHY_RULES"]),
        (
            "anonymizedatabase",
            {"SCHEMA": "s", "KEEP_FIELDS": "a", "N_SITES": 9, "FINEST": "configuration", "L_DIVERSITY": 2},
            ["SCHEMA", "KEEP_FIELDS", "L_DIVERSITY", "N_SITES", "FINEST"],
        ),
        (
            "anonymizedatabase",
            {
                "TABLE": "t",
                "SCHEMA": "s",
                "KEEP_FIELDS": "a",
                "DESTINATION": "d",
                "COMBINATION": "custom",
                "SITE_NUMBER": "suppression budget",
                "FAIR": "a",
            },
            [],
        ),
        ("anonymize", {"SENSITIVE": ["d"], "L_DIVERSITY": 2, "PERSON_ID": "p"}, []),
        ("checkrelease", {"REGION_ID": "a", "MAX_SHARE": 50}, ["MAX_SHARE", "REGION_ID"]),
        ("anonymize", {"RELEASE": "nested levels", "FINEST": "configuration", "COARSEST": 3, "RATIO": 3}, []),
        ("anonymize", {"RELEASE": "nested levels", "LEVEL_FIELDS": ["a"], "LEAST_POPULATION": 9}, []),
        ("anonymize", {"RELEASE": "nested levels", "LEVEL_FIELDS": ["a"], "RATIO": 3}, ["RATIO"]),
        ("anonymize", {"LEVELS_COARSER": ["a", 1]}, ["LEVELS_COARSER"]),
        ("anonymize", {"RELEASE": "nested levels", "HIERARCHY_RULES": ["a", "*"]}, ["HIERARCHY_RULES"]),
        (
            "anonymize",
            {"RELEASE": "nested levels", "LEVELS_COARSER": ["a", 1], "HIERARCHY_RULES": ["a", "*"]},
            [],
        ),
        ("nestlevels", {"RATIO": 3, "COARSEST": 2, "LEAST_POPULATION": 9, "SITE_LOCATION": "random", "SEED": 3}, []),
        (
            "nestlevels",
            {"LEVEL_FIELDS": ["a"], "RATIO": 3, "SITE_LOCATION": "random", "LEAST_POPULATION": 9},
            ["RATIO", "SITE_LOCATION"],
        ),
        ("nestlevels", {"RECORD_REGION": "a", "QUASI_IDENTIFIERS": ["a"], "K": 9}, None),
        ("nestlevels", {"AGGREGATION": "basic Voronoi", "CAPACITY_FACTOR": 2, "SEED": 9}, ["CAPACITY_FACTOR", "SEED"]),
        ("sitenumber", {"SITE_NUMBER": "entropy", "CUTOFF": 9, "UNMATCHED": "suppress"}, ["UNMATCHED", "CUTOFF"]),
        ("sitenumber", {"SITE_NUMBER": "given number", "LOG_BASE": 2, "N_SITES": 3}, []),
        ("sitenumber", {"SITE_NUMBER": "max combinations (2018)", "GAPS_REGION": "Eastern Canada"}, []),
        ("sitenumber", {"SITE_NUMBER": "entropy", "BUDGET": 2, "AGGREGATION": "basic Voronoi", "FAIR": ["a"]}, None),
        ("sitenumber", {"SITE_NUMBER": "suppression budget", "BUDGET": 2, "AGGREGATION": "basic Voronoi"}, []),
        (
            "sitenumber",
            {"SITE_NUMBER": "suppression budget", "CAPACITY_FACTOR": 2, "FLOOR": 9, "SEED": 3},
            ["CAPACITY_FACTOR", "FLOOR", "SEED"],
        ),
        (
            "nestlevels",
            {"RECORDS": "r", "SITE_LOCATION": "anonymity-driven clustering", "START": "random", "SEED": 9},
            [],
        ),
        ("nestlevels", {"SITE_LOCATION": "random", "START": "random", "SEED": 9}, ["START"]),
        ("sitelocation", {"SITE_LOCATION": "balanced density", "SEED": 9}, ["SEED"]),
        ("sitelocation", {"SITE_LOCATION": "balanced density", "START": "random", "SEED": 9}, ["START", "SEED"]),
        ("anonymize", {"COMBINATION": "least suppression", "START": "random", "SEED": 9}, []),
        ("anonymize", {"COMBINATION": "all-rounder", "START": "random"}, ["START"]),
        ("aggregate", {"AGGREGATION": "basic Voronoi", "CAPACITY_FACTOR": 2, "RECORD_COUNT": "n"}, None),
        (
            "aggregate",
            {"AGGREGATION": "basic Voronoi", "QUASI_IDENTIFIERS": ["a"], "K": 9, "BUDGET": 2, "SEED": 3},
            ["QUASI_IDENTIFIERS", "K", "BUDGET", "SEED"],
        ),
        (
            "aggregate",
            {"AGGREGATION": "anonymity exchange", "QUASI_IDENTIFIERS": ["a"], "K": 9, "BUDGET": 2, "SEED": 3},
            [],
        ),
        ("anonymize", {"COMBINATION": "custom", "AGGREGATION": "anonymity exchange", "SEED": 3}, []),
        ("staticcutoff", {"PUBLISHED": "US Census Bureau", "CUTOFF": 9}, ["CUTOFF"]),
        (
            "staticcutoff",
            {"GAPS_REGION": "Western Canada", "QUASI_IDENTIFIERS": ["a"]},
            ["GAPS_REGION", "QUASI_IDENTIFIERS"],
        ),
        ("staticcutoff", {"PUBLISHED": "entropy", "CUTOFF": 9, "K": 9, "LOG_BASE": 2}, ["CUTOFF", "K"]),
        (
            "mergeadjacent",
            {"UNTIL": "the records are k-anonymous", "PUBLISHED": "entropy", "LOG_BASE": 2},
            ["PUBLISHED", "LOG_BASE"],
        ),
        ("mergeadjacent", {"PUBLISHED": "max combinations", "K": 9, "QUASI_IDENTIFIERS": ["a"]}, []),
        ("mergeadjacent", {"K": 9, "CUTOFF": 9}, ["K"]),
        ("mergeadjacent", {"UNTIL": "the records are k-anonymous", "K": 9, "CUTOFF": 9}, ["CUTOFF"]),
        ("cropidentifiers", {"HIERARCHY": "unit", "CHARACTERS": 2}, ["CHARACTERS"]),
        ("cropidentifiers", {"CHARACTERS": 2, "LEAVE_OUT": 3}, ["CHARACTERS"]),
        ("cropidentifiers", {"HIERARCHY": "unit", "LEAVE_OUT": 3}, ["LEAVE_OUT"]),
        ("compare", {"BASELINES": "cropping", "CHARACTERS": 2, "LEAVE_OUT": 3}, ["CHARACTERS"]),
        ("generaterecords", {"REACH": 9, "LEAST": 1, "PROVINCE": "p", "PROVINCE_CHARACTERS": 1}, None),
        ("generaterecords", {"VARIATION": 0.5, "REACH": 9}, []),
        ("partitioncells", {"K_2": 9, "ATTEMPTS": 9}, ["K_2", "ATTEMPTS"]),
        ("partitioncells", {"POPULATIONS_2": ["h"], "K_2": 9, "APPROACH": "random growth", "REGROUPINGS": 9}, None),
        ("partitioncells", {"NEIGHBOUR_DISTANCE": 9}, ["NEIGHBOUR_DISTANCE"]),
        ("mendpartition", {"NEIGHBOUR_DISTANCE": 9, "NEIGHBOURS": "within a distance"}, []),
        ("partitioncells", {"FALL_BACK": True}, ["FALL_BACK"]),
        ("partitioncells", {"FALL_BACK": True, "WITHIN": "parish"}, []),
        ("mendpartition", {"K_2": 9}, ["K_2"]),
        ("dotmap", {"RECORDS": "r", "PEOPLE": "p"}, ["PEOPLE"]),
        ("dotmap", {"CATEGORY": "c", "PEOPLE": "p"}, ["CATEGORY"]),
        ("spreadrelease", {"MARGIN_AREA": "a", "MARGINS_DIFFER": "take it as weights"}, None),
        ("spreadrelease", {"MARGINS": "m", "MARGIN_AREA": "a", "MARGIN_FIELDS": ["f"], "MARGIN_COUNT": "n"}, []),
        ("ratemap", {"SMOOTHING": "empirical Bayes", "BANDWIDTH": 9.0, "SEED": 3}, ["BANDWIDTH", "SEED"]),
        ("clusterscan", {"DENOMINATOR": "population of the areas", "ADJUST": ["age"]}, ["ADJUST"]),
        ("moran", {"ADJUST": ["age"], "MARGIN_AREA": "a"}, ["MARGIN_AREA"]),
        ("donutmask", {"CATEGORY_FIELD": "sex", "POPULATION": "people"}, ["POPULATION"]),
        ("donutmask", {"FIND_CLUSTERS": True}, ["FIND_CLUSTERS"]),
        ("donutmask", {"K_MIN": 9, "EARLIER_ID": "id"}, ["K_MIN", "EARLIER_ID"]),
        ("donutaudit", {"FINER_POPULATION": "people"}, ["FINER_POPULATION"]),
        ("donutaudit", {"K_OUTER": "100", "OUTER_FACTOR": 4}, ["OUTER_FACTOR"]),
        ("donutaudit", {"CLUSTER_CASES": 9, "CLUSTER_RISK": 9}, ["CLUSTER_CASES", "CLUSTER_RISK"]),
        ("donutaudit", {"PLANTED_CLUSTERS": 2, "CLUSTER_PERCENT": 9}, []),
        ("compare", {"N_SITES": 9, "CUTOFF": 9, "CHARACTERS": 2}, ["CHARACTERS", "CUTOFF", "N_SITES"]),
        ("compare", {"BASELINES": "cropping,static cut-off", "CUTOFF": 9, "CHARACTERS": 2}, []),
        ("compare", {"AGGREGATIONS": "basic Voronoi", "CAPACITY_FACTORS": "1,2"}, ["CAPACITY_FACTORS"]),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_counts_for_nothing_is_named(provider, name, given, counts_for_nothing):
    expected = {
        "aggregate": ["RECORD_COUNT", "CAPACITY_FACTOR"],
        "generaterecords": ["PROVINCE_CHARACTERS", "REACH"],
        "nestlevels": ["RECORD_REGION", "QUASI_IDENTIFIERS", "K"],
        "partitioncells": ["REGROUPINGS"],
        "sitenumber": ["BUDGET", "FAIR", "AGGREGATION"],
        "spreadrelease": ["MARGIN_AREA", "MARGINS_DIFFER"],
    }
    wanted = expected[name] if counts_for_nothing is None else counts_for_nothing
    values = effective(name, **given)
    assert [sentence.split(" = ")[0] for sentence in values.idle()] == wanted
    assert not set(wanted) & set(values.values())


def test_the_log_of_a_form_warns_and_goes_on(run, tmp_path):
    square = "Polygon((630000 5520000, 634000 5520000, 634000 5524000, 630000 5524000, 630000 5520000))"
    report = tmp_path / "report.html"
    done = run(
        "donutmask",
        POINTS=make_layer({"sex": ["F"]}, ["Point(632000 5522000)"]),
        AREAS=make_layer({"people": [900], "F": [500]}, [square]),
        POPULATION="people",
        CATEGORY_FIELD="sex",
        MASKED="memory:",
        REPORT=str(report),
    )
    assert done.results["N_MASKED"] == 1
    assert idle(done.log) == ["POPULATION"]
    assert "POPULATION" not in table(report.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "told"), [("5,10; 15", "= 5,10; 15"), ("1e3", "= 1e3"), ("5 nan", "= “5 nan”"), ("-inf", "= “-inf”")]
)
def test_numbers_in_a_text_are_told_as_they_are_typed_and_other_words_in_quotation_marks(provider, text, told):
    assert f"{told} · " in effective("donutaudit", K_OUTER=text).sentence()


@pytest.mark.parametrize("algorithm", ["releaserecords", "evaluate"])
def test_over_a_crosswalk_of_one_level_nothing_counts_that_chooses_among_levels(
    anonymize, run, grid, tmp_path, algorithm
):
    areas, records = grid
    made = anonymize()  # holds its layers
    report = tmp_path / "report.html"
    output = {"RELEASED_RECORDS": "memory:"} if algorithm == "releaserecords" else {}
    done = run(
        algorithm,
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        CROSSWALK=made.layer("CROSSWALK"),
        REGIONS=areas,
        REGION_ID="da",
        DISCLOSURE="no small count follows",
        CLOSED_BY_CHANCE=20,
        LEAST_LEFT_AREAS=3,
        REPORT=str(report),
        **output,
    )
    used = table(report.read_text(encoding="utf-8"))
    assert used["DISCLOSURE"] == "a class has k"
    assert not {"LOSS", "CLOSED_BY_CHANCE", "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE"} & used.keys()
    assert any("CROSSWALK has one level" in line for line in done.log)
    (idle_line,) = [line for line in done.log if "has no effect here" in line]
    assert "CLOSED_BY_CHANCE" in idle_line
