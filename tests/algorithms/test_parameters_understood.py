"""What is given to a form is understood or refused before any work: names, blanks, choices, numbers, lists."""

from __future__ import annotations

import pytest
from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback, QgsProperty
from qgis.PyQt.QtCore import QVariant

from vbas.algorithms.catalogue import ALGORITHMS
from vbas.algorithms.form.understanding import is_blank, understood
from vbas.algorithms.layers.inputs import Inputs
from vbas.vbas_plugin.models import TITLES

from .conftest import make_layer

NULL = QVariant()
BLANKS = ["", [], [""], [NULL], NULL, None, ["", ""]]


def form(name):
    return QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").create()


def every(kind, several=None):
    """(algorithm, parameter) of all optional inputs of a kind."""
    found = []
    for algorithm in ALGORITHMS:
        one = algorithm()
        one.initAlgorithm()
        for definition in one.parameterDefinitions():
            optional = definition.flags() & definition.Flag.FlagOptional
            if definition.type() != kind or not optional or definition.isDestination():
                continue
            if several is None or definition.allowMultiple() == several:
                found.append((one.name(), definition.name()))
    return found


# ---- names


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("k", "K"),
        ("COMBINATON", "COMBINATION"),
        ("REPROT", "REPORT"),
        ("record_region", "RECORD_REGION"),
        ("--K", "K"),
        ("QUASI_IDENTIFIER", "QUASI_IDENTIFIERS"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest(anonymize, tmp_path, given, near):
    with pytest.raises(QgsProcessingException, match=rf"“{given}” is not a parameter of “Anonymise .* “{near}”\?"):
        anonymize(**{given: 20}, RELEASED_RECORDS=str(tmp_path / "released.gpkg"))
    assert list(tmp_path.iterdir()) == []


MOST_LETTERS = 400  # of a sentence on parameters that there are not, however many


@pytest.mark.parametrize("name", [*(algorithm.ID for algorithm in ALGORITHMS), *TITLES])
def test_every_form_refuses_an_unknown_name_when_checked_and_when_run(provider, name):
    context = QgsProcessingContext()
    ok, message = form(name).checkParameterValues({"NONSENSE": 1}, context)
    assert not ok
    assert "“NONSENSE” is not a parameter of" in message
    assert len(form(name).checkParameterValues({f"X{i:03}" * 30: 1 for i in range(90)}, context)[1]) <= MOST_LETTERS
    # A model runs its steps, and a script may run a form, without the check.
    with pytest.raises(QgsProcessingException, match="NONSENSE"):
        form(name).run({"NONSENSE": 1}, context, QgsProcessingFeedback(), {}, False)


def test_options_of_qgis_process_are_told_their_place(anonymize):
    with pytest.raises(QgsProcessingException, match=r"“PROJECT_PATH” is an option of qgis_process, .* before the"):
        anonymize(PROJECT_PATH="/some.qgz")


def test_processing_run_stops_too(provider, grid):
    import processing

    areas, records = grid
    with pytest.raises(QgsProcessingException, match="did you mean “K”"):
        processing.run(
            "vbas:anonymize",
            {
                "REGIONS": areas,
                "REGION_ID": "da",
                "RECORDS": records,
                "RECORD_REGION": "home",
                "QUASI_IDENTIFIERS": ["sex"],
                "k": 20,
                "RELEASED_RECORDS": "memory:",
            },
        )


# ---- blanks


@pytest.mark.slow
@pytest.mark.parametrize("value", BLANKS, ids=repr)
def test_blanks_are_not_given_wherever_a_parameter_may_be_left_out(provider, value):
    assert is_blank(value)
    context = QgsProcessingContext()
    kinds = ("field", "matrix", "number", "string", "source", "enum")
    checked = [pair for kind in kinds for pair in every(kind)]
    assert ("donutmask", "CATEGORY_POPULATIONS") in checked
    assert ("compare", "BASELINES") in checked
    assert ("anonymize", "KEEP_FIELDS") in checked
    for name, parameter in checked:
        assert parameter not in understood(form(name), {parameter: value}, context), (name, parameter)


@pytest.mark.parametrize("value", [0, False, "0", [0], " x "])
def test_what_is_filled_in_is_no_blank(value):
    assert not is_blank(value)


def test_a_blank_where_a_value_is_needed_is_refused(anonymize):
    blanks: tuple = ("", [], NULL)
    for value in blanks:
        with pytest.raises(QgsProcessingException, match="K is empty: give a value"):
            anonymize(K=value)


@pytest.mark.parametrize("table", [[""], [NULL], ["", ""], "", None, NULL])
def test_donut_masking_runs_with_an_untouched_table_of_categories(run, table):
    square = "Polygon((630000 5520000, 634000 5520000, 634000 5524000, 630000 5524000, 630000 5520000))"
    done = run(
        "donutmask",
        POINTS=make_layer({"id": [1]}, ["Point(632000 5522000)"]),
        AREAS=make_layer({"people": [900]}, [square]),
        POPULATION="people",
        CATEGORY_POPULATIONS=table,
        MASKED="memory:",
    )
    assert done.results["N_MASKED"] == 1


def test_rows_of_a_table_that_nobody_filled_in_are_left_out(provider):
    given = {"CATEGORY_POPULATIONS": ["", "", "F", "women", NULL, ""]}
    values = understood(form("donutmask"), given, QgsProcessingContext())
    assert values == {"CATEGORY_POPULATIONS": ["F", "women"]}


def test_empty_fields_in_a_list_are_left_out(provider):
    values = understood(form("anonymize"), {"QUASI_IDENTIFIERS": ["sex", "", NULL, "age"]}, QgsProcessingContext())
    assert values == {"QUASI_IDENTIFIERS": ["sex", "age"]}
    values = understood(form("anonymize"), {"QUASI_IDENTIFIERS": "sex;age;"}, QgsProcessingContext())
    assert values == {"QUASI_IDENTIFIERS": ["sex", "age"]}


# ---- lists where one value is wanted


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("K", ["5", "20"]),
        ("REGION_ID", ["da", "people"]),
        ("COMBINATION", ["fastest", "custom"]),
        ("CROSSWALK", ["/tmp/a.csv", "/tmp/b.csv"]),
        ("RECORDS", ["a.gpkg", "b.gpkg"]),
    ],
)
def test_a_name_given_twice_is_refused(anonymize, parameter, values):
    """Headless QGIS makes a list of a name that stands twice on the command line."""
    with pytest.raises(QgsProcessingException, match=rf"{parameter} has several values .*“{values[1]}”.* give it once"):
        anonymize(**{parameter: values})


def test_a_list_of_one_is_one(anonymize):
    assert anonymize(K=["6"], REGION_ID=["da"]).rows("CROSSWALK")


# ---- choices among several


def test_several_choices_are_by_position_and_single_ones_by_word(provider):
    """The dialog of QGIS 3.22 refuses every word of a choice among several but the default."""
    for algorithm in ALGORITHMS:
        one = form(algorithm.ID)
        for definition in one.parameterDefinitions():
            if definition.type() == "enum":
                assert definition.usesStaticStrings() != definition.allowMultiple(), (one.name(), definition.name())


@pytest.mark.parametrize(
    "told",
    [
        ["entropy", "given number"],
        "entropy,given number",
        "entropy;given number",
        "entropy; given number",
        [1, 3],
        "1,3",
        ["1", "given number"],
        ["entropy,given number"],
    ],
    ids=repr,
)
def test_several_choices_in_any_spelling(provider, told):
    context, one = QgsProcessingContext(), form("compare")
    values = understood(one, {"SITE_NUMBERS": told}, context)
    assert values == {"SITE_NUMBERS": [1, 3]}
    assert Inputs(one, values, context).words("SITE_NUMBERS") == ["entropy", "given number"]


def test_the_defaults_of_compare_are_what_they_were(provider):
    one, context = form("compare"), QgsProcessingContext()
    assert Inputs(one, {}, context).words("SITE_NUMBERS") == ["max combinations", "entropy"]
    assert Inputs(one, {}, context).words("SITE_LOCATIONS") == ["balanced density"]
    assert Inputs(one, {}, context).words("BASELINES") == []


# ---- numbers and the rest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"K": 1}, r"^K is 1: give a number of at least 2\.$"),
        ({"K": "abc"}, r"^K is “abc”: give a whole number of at least 2\.$"),
        ({"K": "5.7"}, r"^K is “5.7”: give a whole number of at least 2\.$"),
        ({"K": "nan"}, "^K is “nan”: give a whole number"),
        ({"K": "1_0"}, "^K is “1_0”: give a whole number"),
        (
            {"K": 10**12},
            "^K is 1\u00a0000\u00a0000\u00a0000\u00a0000: give a number from 2 to 2\u00a0147\u00a0483\u00a0647",
        ),
        ({"K": 10**9}, "^K is 1\u00a0000\u00a0000\u00a0000, but RECORDS has only 1440 records"),
        ({"K": "inf"}, "^K is inf: give a number"),
        ({"K": QgsProperty.fromExpression("3 - 2")}, "^K is 1: give a number of at least 2"),
        ({"N_SITES": 0}, "^N_SITES is 0, but must be between 1 and the number of areas, 36"),
        ({"N_SITES": -(10**10)}, "^N_SITES is -10\u00a0000\u00a0000\u00a0000: give a number"),
        ({"CAPACITY_FACTOR": -1}, "^CAPACITY_FACTOR is -1: give a number of at least 0"),
        ({"GAPS_EXPONENT": 1e308}, "^GAPS_EXPONENT is 1 × 10³⁰⁸: give a number up to 1 × 10¹⁵"),
        ({"GAPS_EXPONENT": "-1e308"}, "^GAPS_EXPONENT is -1 × 10³⁰⁸: give a number"),
        ({"FLOOR": "many"}, r"^FLOOR is “many”: give a number of at least 0\.$"),
        ({"SITE_NUMBER": "population cut-off", "CUTOFF": 0}, "^CUTOFF is 0: give the population a region needs"),
        ({"SITE_NUMBER": "population cut-off", "CUTOFF": "1e308"}, "^CUTOFF is 1 × 10³⁰⁸: give a number"),
        (
            {"SITE_NUMBER": "most"},
            "^SITE_NUMBER is “most”, which is not among the choices: choose from “max",
        ),
        ({"SEED": 1.5}, r"^SEED is “1.5”: give a whole number of at least 0\.$"),
    ],
    ids=repr,
)
def test_a_wrong_value_gets_one_sentence(anonymize, changes, words):
    with pytest.raises(QgsProcessingException, match=words):
        anonymize(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"GAPS_EXPONENT": 1e9},
        {"GAPS_EXPONENT": -1e9},
        {"GAPS_COEFFICIENT": 1e-15, "GAPS_EXPONENT": -300},
        {"GAPS_COEFFICIENT": 1e15, "GAPS_EXPONENT": 300},
    ],
    ids=repr,
)
@pytest.mark.parametrize("number", ["max combinations", "entropy"])
def test_a_cut_off_model_that_overflows_is_named(anonymize, changes, number):
    with pytest.raises(QgsProcessingException, match=r"GAPS_COEFFICIENT .* and GAPS_EXPONENT .* give a cut-off"):
        anonymize(SITE_NUMBER=number, GAPS_REGION="custom", **changes)


@pytest.mark.parametrize("population", [1e308, 1e13, float("inf")])
@pytest.mark.parametrize("aggregation", ["site optimisation", "iterative Voronoi", "population floor"])
def test_populations_that_nobody_has_are_refused(anonymize, grid, population, aggregation):
    areas = make_layer(
        {"da": [f["da"] for f in grid[0].getFeatures()], "people": [population] * 36},
        [f.geometry().asWkt() for f in grid[0].getFeatures()],
    )
    with pytest.raises(
        QgsProcessingException,
        match=r"^POPULATION is (above 1\u00a0000\u00a0000\u00a0000\u00a0000|missing) in 36 areas .*“460000”",
    ):
        anonymize(REGIONS=areas, POPULATION="people", AGGREGATION=aggregation)


@pytest.mark.parametrize(("told", "word"), [("true", True), ("false", False), ("1", True), ("no", False), (True, True)])
def test_yes_and_no(provider, told, word):
    assert understood(form("partitioncells"), {"EMPTY_YEARS": told}, QgsProcessingContext()) == {"EMPTY_YEARS": word}


def test_neither_yes_nor_no(provider):
    with pytest.raises(QgsProcessingException, match="EMPTY_YEARS is “perhaps”: give “true” or “false”"):
        understood(form("partitioncells"), {"EMPTY_YEARS": "perhaps"}, QgsProcessingContext())
