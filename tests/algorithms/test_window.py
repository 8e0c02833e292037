"""What somebody sees who opens the toolbox and a form: the order, what is asked first, which fields are proposed."""

from __future__ import annotations

import locale
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qgis.core import QgsApplication, QgsProcessingParameterDefinition, QgsProject, QgsVectorFileWriter, QgsVectorLayer
from qgis.PyQt.QtCore import QUrl

from vbas.algorithms import named
from vbas.algorithms.form.parameters import for_whom, label_of, whole
from vbas.algorithms.named import DOCS, GROUPS
from vbas.core.preparing.usual_names import ROW_NUMBERS, USUAL_FIELDS, usual_field

from .conftest import make_grid, make_layer

ADVANCED = QgsProcessingParameterDefinition.Flag.FlagAdvanced
FIRST = ["REGIONS", "REGION_ID", "POPULATION", "RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "K", "COMBINATION"]


def algorithm(name):
    return QgsApplication.processingRegistry().algorithmById(f"vbas:{name}")


def test_groups_stand_in_the_order_of_the_work(provider):
    """QGIS sorts them by their names as the user's language does."""
    names = list(GROUPS.values())
    assert [name.partition(". ")[2] for name in names] == [
        *("Prepare", "Anonymise", "Steps", "In a database", "Compare and check", "Points", "Cells over time"),
        *("Baselines", "Test data", "Analyse a release"),
    ]
    assert sorted(names, key=locale.strxfrm) == names == sorted(names)
    assert {one.group() for one in provider.algorithms()} == set(names)


@pytest.mark.parametrize("name", ["anonymize", "anonymizestepbystep", "nestedstepbystep"])
def test_a_form_asks_the_main_things_first(provider, name):
    inputs = [parameter for parameter in algorithm(name).parameterDefinitions() if not parameter.isDestination()]
    plain = [one.name() for one in inputs if not one.flags() & ADVANCED]
    expected = [one for one in FIRST if one != "COMBINATION" or name != "nestedstepbystep"]
    assert plain == [*expected, *(["RELEASE"] if name == "anonymize" else [])]


# Advanced ones that serve every form that has them, or say in their own words whom they serve.
SERVES_ALL = {"RULE", "KEEP_FIELDS", "HOUSEHOLD_ID", "SENSITIVE", "UNMATCHED", "SEED", "TIES", "LEAST_POPULATION"}
SERVES_ALL |= {"PUBLISHED_COUNTS", "PERIOD", "PERIODS"}
SAYS_WHOM = {
    "RECORD_COUNT": "(tables already counted)",
    "PERSON_ID": "(if people have several rows)",
    "PUBLISHED_MARGINS": "(censuses only)",
}


def test_what_is_advanced_says_whom_it_serves(provider):
    advanced = [
        parameter
        for parameter in algorithm("anonymize").parameterDefinitions()
        if not parameter.isDestination() and parameter.flags() & ADVANCED
    ]
    without = {one.name() for one in advanced if ": " not in one.description()}
    assert without == SERVES_ALL | SAYS_WHOM.keys()
    for one in advanced:
        assert SAYS_WHOM.get(one.name(), "") in one.description()
    labels = {parameter.name(): parameter.description() for parameter in algorithm("anonymize").parameterDefinitions()}
    assert labels["AGGREGATION"] == "Custom only: which area joins which region"
    assert labels["COARSEST"] == "Nested levels only: regions of the coarsest level"
    assert "Custom only" not in algorithm("aggregate").parameterDefinition("AGGREGATION").description()


def test_messages_name_a_parameter_without_whom_it_serves():
    (one,) = for_whom("Custom only", [whole("N", "Number of regions", 1, "")])
    assert (one.description(), label_of(one)) == ("Custom only: number of regions", "Number of regions")
    assert label_of(whole("K", "k: smallest class allowed", 5, "")) == "k"
    assert label_of(whole("SEED", "Seed", 0, "")) == "Seed"


def test_no_label_is_an_identifier(provider):
    for found in provider.algorithms():
        for parameter in found.parameterDefinitions():
            assert parameter.description() != parameter.name(), (found.name(), parameter.name())


def test_the_help_button_opens_the_algorithms_own_page(provider, monkeypatch, tmp_path):
    """The best page that there is: on the site, as the plugin's zip has it, as it lies in docs/; none without docs."""
    monkeypatch.setattr(named, "SITE", tmp_path / "nowhere")
    monkeypatch.setattr(named, "language", lambda: "fr")
    for found in provider.algorithms():
        assert Path(QUrl(found.helpUrl()).toLocalFile()) == DOCS / "reference" / f"{found.name()}.md"
        assert (DOCS / "reference" / f"{found.name()}.md").is_file()
    monkeypatch.setattr(named, "DOCS", tmp_path / "docs")
    assert algorithm("anonymize").helpUrl() == ""
    # From the last choice to the first.
    for page in ("docs/{}.md", "docs/{}.html", "nowhere/{}.html", "docs/fr/{}.html", "nowhere/fr/{}.html"):
        expected = tmp_path / page.replace("{}", "reference/anonymize")
        expected.parent.mkdir(parents=True, exist_ok=True)
        expected.touch()
        assert Path(QUrl(algorithm("anonymize").helpUrl()).toLocalFile()) == expected
    monkeypatch.setattr(named, "language", lambda: "en")
    expected = tmp_path / "nowhere" / "reference" / "anonymize.html"
    assert Path(QUrl(algorithm("anonymize").helpUrl()).toLocalFile()) == expected


@pytest.mark.parametrize("name", ["anonymizestepbystep", "nestedstepbystep"])
def test_models_explain_their_inputs_and_outputs(provider, name):
    model = algorithm(name).create()
    texts = model.helpContent()
    for parameter in model.parameterDefinitions():
        assert len(texts[parameter.name()]) > 20, parameter.name()
        if parameter.isDestination():
            assert parameter.description().endswith(("(for release)", "(internal)")), parameter.name()
        else:
            assert parameter.help() == texts[parameter.name()]
    assert model.destinationParameterDefinitions()


@pytest.mark.parametrize("name", ["anonymizestepbystep", "nestedstepbystep", "inplacestepbystep", "monthlyupdate"])
def test_the_designer_finds_nothing_missing_in_a_model(provider, name):
    """It draws a step in red that lacks what it must have, and warns before each run."""
    model = algorithm(name).create()
    assert len(model.childAlgorithms()) >= 2
    for step in model.childAlgorithms():
        assert model.validateChildAlgorithm(step) == (True, []), step


@given(st.lists(st.sampled_from(["fid", "FID", "ogc_fid", "id", "DAUID", "DBUID", "pop", "objectid", "x"]), max_size=6))
def test_a_row_number_is_never_proposed(fields):
    for names in USUAL_FIELDS.values():
        found = usual_field(fields, names)
        assert found == "" or found in fields
        assert found.lower() not in ROW_NUMBERS
    assert usual_field(fields, ROW_NUMBERS) == ""  # as where it identifies the areas in the other table
    ids = usual_field(fields, USUAL_FIELDS["REGION_ID"])
    known = [name for name in ("DBUID", "DAUID", "id") if name in fields]
    assert ids == (known[0] if known else "")


@pytest.fixture
def form_of(provider, qgis_iface, monkeypatch, tmp_path):
    """form_of(id, layers): the form of an algorithm, and its widgets' values by name."""
    import processing

    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    project, dialogs = QgsProject.instance(), []

    def written(name, layer):
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.driverName = "GPKG"
        path = str(tmp_path / f"{name}.gpkg")
        QgsVectorFileWriter.writeAsVectorFormatV3(layer, path, project.transformContext(), options)
        return project.addMapLayer(QgsVectorLayer(path, name, "ogr"))

    def open_form(name, layers):
        kept = {one: written(one, layer) for one, layer in layers.items()}
        dialog = processing.createAlgorithmDialog(f"vbas:{name}", {})
        dialogs.append(dialog)
        dialog.show()
        wrappers = dialog.mainWidget().wrappers

        def choose(**chosen):
            for parameter, value in chosen.items():
                value = kept[value].id() if value in kept else value
                wrappers[parameter].setParameterValue(value, dialog.mainWidget().processing_context)

        def values(*names):
            return [wrappers[one].parameterValue() or None for one in names]

        return choose, values

    yield open_form
    for dialog in dialogs:
        dialog.close()
        dialog.deleteLater()
    project.removeAllMapLayers()


FIELDS = ("REGION_ID", "POPULATION", "RECORD_REGION")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anonymize", "anonymizestepbystep"])
def test_fields_of_usual_names_are_proposed_as_layers_are_chosen(form_of, name):
    squares = [feature.geometry().asWkt() for feature in make_grid(side=2)[0].getFeatures()]
    one = {"PRUID": ["46"] * 4, "DAUID": list("abcd"), "POP": [1, 2, 3, 4]}
    layers = {
        "canada": make_layer(one, squares),
        "elsewhere": make_layer({"a": list("abcd"), "Region_ID": list("wxyz"), "population": [1] * 4}, squares),
        "strange": make_layer({"a": list("abcd"), "b": [1] * 4}, squares),
        "records": make_layer({"sex": ["F"] * 4, "home": list("abcd"), "dauid": list("abcd"), "Region_ID": [1] * 4}),
        "others": make_layer({"sex": ["F"] * 4, "name": list("abcd")}),
    }
    choose, values = form_of(name, layers)
    choose(REGIONS="canada", RECORDS="records")
    assert values(*FIELDS) == ["DAUID", "POP", "dauid"]
    choose(REGIONS="elsewhere", RECORDS="others")
    assert values(*FIELDS) == ["Region_ID", "population", None]
    choose(RECORDS="records")
    assert values(*FIELDS) == ["Region_ID", "population", "Region_ID"]
    choose(REGIONS="strange")
    assert values("REGION_ID", "POPULATION") == ["a", None]  # which the records repeat
    choose(REGIONS="elsewhere", REGION_ID="a")
    assert values("REGION_ID") == ["a"]


def test_what_a_script_or_the_history_gives_stays(form_of):
    squares = [feature.geometry().asWkt() for feature in make_grid(side=2)[0].getFeatures()]
    choose, values = form_of("anonymize", {"areas": make_layer({"DAUID": list("abcd"), "x": list("abcd")}, squares)})
    choose(REGIONS="areas", REGION_ID="x")
    assert values("REGION_ID") == ["x"]


def test_scripts_and_models_get_no_default_field(provider):
    for name in ("anonymize", "anonymizestepbystep"):
        for field in FIELDS:
            assert algorithm(name).parameterDefinition(field).defaultValue() is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one level", "nested levels"])
def test_the_log_ends_with_verdict_cost_and_next_step(anonymize, tmp_path, kind):
    done = anonymize(N_SITES=30, RELEASE=kind, REPORT=str(tmp_path / "report.html"))
    verdict, cost, step = done.log[-3:]
    rows = done.rows("RELEASED_RECORDS")
    classes = Counter(tuple(row[name] for name in row if name != "diagnosis") for row in rows)
    assert verdict == f"5-anonymous, recounted: the smallest released class holds {min(classes.values())} records."
    lost, share = done.results["N_SUPPRESSED"], done.results["SUPPRESSION_PERCENT"]
    assert cost.startswith(f"Suppressed: {lost} of 1440 records ({share:.3g} %), in {done.results['N_SITES']} ")
    assert f" shows live {done.results['MEAN_DISTANCE']:.0f} m from its middle: each area counts as one point" in cost
    if kind == "one level":
        assert lost and step.startswith(f"With these regions {share:.3g} %")
        assert "without “" in step and step.endswith("leave one out or show it coarser.")
    else:
        assert step.startswith("Look at the report; what is marked “for release” may be published")
        unreported = anonymize(N_SITES=30, RELEASE=kind)
        assert unreported.log[-1].startswith(
            "What is marked “for release” may be published"
        )  # there is none to look at


def test_where_nothing_is_suppressed_smaller_regions_are_the_next_step(anonymize):
    whole = anonymize(N_SITES=1, K=2)
    assert whole.results["N_SUPPRESSED"] == 0 and whole.results["N_SITES"] == 1
    assert whole.log[-1].startswith("Nothing is suppressed: smaller regions may hide everybody as well.")


def test_steps_end_with_the_same_three_lines(run, grid, anonymize):
    areas, records = grid
    whole = anonymize(N_SITES=30)
    given = {"RECORDS": records, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"]}
    crosswalk = whole.layer("CROSSWALK")
    rated = run("evaluate", **given, REGIONS=areas, REGION_ID="da", CROSSWALK=crosswalk)
    assert rated.log[-3] == "Nothing is released here: this is what a release at k = 5 would be."
    assert rated.log[-1] == whole.log[-1]
    step = run("releaserecords", **given, CROSSWALK=crosswalk, RELEASED_RECORDS="memory:")
    assert step.log[-3] == whole.log[-3]
    assert step.log[-2] == whole.log[-2].partition(" On average")[0]
    nobody = run("releaserecords", **given, CROSSWALK=crosswalk, RELEASED_RECORDS="memory:", K=1000)
    assert nobody.log[-3] == "Nothing is released: no class of a region meets k = 1000 and what else is asked."


def test_the_model_designer_and_the_batch_form_open_too(provider, qgis_iface, monkeypatch):
    from processing.gui.BatchAlgorithmDialog import BatchAlgorithmDialog
    from processing.modeler.ModelerParametersDialog import ModelerParametersDialog
    from qgis.core import QgsProcessingModelAlgorithm

    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    dialogs = [
        ModelerParametersDialog(algorithm("anonymize").create(), QgsProcessingModelAlgorithm()),
        BatchAlgorithmDialog(algorithm("anonymize").create()),
    ]
    for dialog in dialogs:
        dialog.show()
        dialog.close()
        dialog.deleteLater()
