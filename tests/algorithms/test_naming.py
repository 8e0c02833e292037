"""Fields in another case, fields named twice, and parameters named as the dialog names them."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingContext, QgsProcessingException, QgsVectorFileWriter, QgsVectorLayer

from vbas.algorithms.form.base import VbasAlgorithm
from vbas.algorithms.form.understanding import as_spelled, with_labels
from vbas.algorithms.layers.inputs import Inputs
from vbas.core.errors import InputError

from .conftest import make_layer


def other_case(value):
    return [other_case(one) for one in value] if isinstance(value, list) else value.swapcase()


def fields_of(algorithm):
    return [parameter for parameter in algorithm.parameterDefinitions() if parameter.type() == "field"]


def layers_for(algorithm):
    """A layer for each parameter that fields are chosen from, with the fields a1, a2, ..."""
    parents = {field.parentLayerParameterName() for field in fields_of(algorithm)}
    return {name: make_layer({f"a{i}": [i] for i in range(5)}, ["Point (1 2)"]) for name in parents}


@pytest.mark.slow
def test_all_algorithms_find_fields_in_another_case(provider):
    n_fields = 0
    for algorithm in provider.algorithms():
        if not isinstance(algorithm, VbasAlgorithm):
            continue  # a model hands its parameters on to these
        for definition in fields_of(algorithm):
            several = definition.allowMultiple()
            parameters = {
                **layers_for(algorithm),
                definition.name(): ["A1", "a2"] if several else "A1",
            }
            own = as_spelled(Inputs(algorithm.create(), parameters, QgsProcessingContext())).parameters
            assert own[definition.name()] == (["a1", "a2"] if several else "a1"), (algorithm.id(), definition.name())
            if several:
                parameters[definition.name()] = ["a1", "A1"]
                with pytest.raises(InputError, match=f"{definition.name()} names a field twice .*“a1”.*“A1”"):
                    as_spelled(Inputs(algorithm.create(), parameters, QgsProcessingContext()))
            n_fields += 1
    assert n_fields > 50


@pytest.mark.slow
def test_runs_with_fields_in_another_case(run, anonymize, grid, tmp_path):
    plain = anonymize(KEEP_FIELDS=["diagnosis"])
    changed = anonymize(
        REGION_ID="DA",
        RECORD_REGION="Home",
        QUASI_IDENTIFIERS=["SEX", "Age"],
        KEEP_FIELDS=["DIAGNOSIS"],
        POPULATION=None,
    )
    for name in ("RELEASED_RECORDS", "CROSSWALK"):
        assert changed.rows(name) == plain.rows(name)
    crosswalk = plain.layer("CROSSWALK")
    records = {
        "RECORDS": grid[1],
        "RECORD_REGION": "HOME",
        "QUASI_IDENTIFIERS": ["SEX", "AGE"],
    }
    regions = {"REGIONS": grid[0], "REGION_ID": "DA"}
    assert run("profilerecords", **records, PROFILE="memory:").rows("PROFILE")[0].keys() == {
        "home",
        "sex",
        "age",
        "records",
    }
    done = run(
        "releaserecords",
        **{**records, "KEEP_FIELDS": ["Diagnosis"]},
        CROSSWALK=crosswalk,
        CROSSWALK_ID="DA",
        RELEASED_RECORDS="memory:",
    )
    assert list(done.rows("RELEASED_RECORDS")[0]) == ["vbas_region", "sex", "age", "diagnosis"]
    done = run("evaluate", **regions, **records, CROSSWALK=crosswalk, CROSSWALK_ID="Da", REGION_AUDIT="memory:")
    assert len(done.rows("REGION_AUDIT")) == 6
    assert run("sitenumber", **records, SITE_NUMBER="entropy").results["N_SITES"] >= 1
    done = run("mergeadjacent", **regions, CUTOFF=100, POPULATION="PEOPLE", CROSSWALK="memory:")
    assert list(done.rows("CROSSWALK")[0]) == ["da", "vbas_region"]
    # A file is read by its own names, too.
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    path = str(tmp_path / "records.gpkg")
    QgsVectorFileWriter.writeAsVectorFormatV3(grid[1], path, QgsProcessingContext().transformContext(), options)
    from_file = anonymize(RECORDS=path, RECORD_REGION="HOME", QUASI_IDENTIFIERS=["SEX", "AGE"])
    assert from_file.rows("CROSSWALK") == plain.rows("CROSSWALK")


def test_errors_name_parameters_as_the_dialog_does(anonymize):
    for change, words in (
        (
            {"RECORD_REGION": "x"},
            "Field with the area code, in the records (RECORD_REGION): there is no field “x” in Records (RECORDS)",
        ),
        ({"QUASI_IDENTIFIERS": ["sex", "SEX"]}, "Quasi-identifiers (QUASI_IDENTIFIERS) names a field twice"),
        (
            {"UNMATCHED": "maybe"},
            "Records whose area is not in the layer (UNMATCHED) is “maybe”, which is not among the choices",
        ),
    ):
        with pytest.raises(QgsProcessingException) as raised:
            anonymize(**change)
        assert words in str(raised.value.__cause__)


def test_labels_leave_data_and_brackets_alone(provider):
    algorithm = provider.algorithm("anonymize").create()
    assert (
        with_labels(algorithm, "K is “K”; with K = 1 field “RECORDS” of Areas (REGIONS) and XK in RECORDS.")
        == "k (K) is “K”; with K = 1 field “RECORDS” of Areas (REGIONS) and XK in Records (RECORDS)."
    )


def test_row_numbers_are_no_areas(anonymize, grid, tmp_path):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    paths = [str(tmp_path / name) for name in ("areas.gpkg", "records.gpkg")]
    for layer, path in zip(grid, paths):
        QgsVectorFileWriter.writeAsVectorFormatV3(layer, path, QgsProcessingContext().transformContext(), options)
    assert QgsVectorLayer(paths[0], "x", "ogr").fields().names()[0] == "fid"
    for unmatched in ("stop", "suppress"):
        with pytest.raises(QgsProcessingException) as raised:
            anonymize(REGIONS=paths[0], REGION_ID="fid", RECORDS=paths[1], RECORD_REGION="fid", UNMATCHED=unmatched)
        assert "RECORD_REGION and REGION_ID are both “fid”, which numbers" in str(raised.value)
    with pytest.raises(QgsProcessingException, match="RECORD_REGION is “fid”, which numbers the rows"):
        anonymize(RECORDS=paths[1], RECORD_REGION="fid")
