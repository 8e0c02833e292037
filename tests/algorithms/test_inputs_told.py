"""A layer that is filtered, edited or restricted is read so, and the run says so: log, sentence and report."""

from __future__ import annotations

import pytest
from qgis.core import QgsProcessingException, QgsProcessingFeatureSourceDefinition, QgsProject

FILTERED = "Areas (REGIONS) is filtered: \"da\" <> '460000'. What the filter leaves out is not there for this run."


@pytest.fixture
def saved(grid, tmp_path, run):
    """Areas and records in files, in the project."""
    import processing

    layers = []
    for layer, name in zip(grid, ("areas", "people")):
        file = str(tmp_path / f"{name}.gpkg")
        processing.run("native:savefeatures", {"INPUT": layer, "OUTPUT": file})
        from qgis.core import QgsVectorLayer

        layers.append(QgsVectorLayer(file, name, "ogr"))
        assert layers[-1].isValid()
    QgsProject.instance().addMapLayers(layers)
    yield layers
    QgsProject.instance().removeMapLayers([one.id() for one in layers])


def test_a_filter_is_told_and_its_victims_are_not_blamed(anonymize, saved):
    areas, records = saved
    assert areas.setSubsetString("\"da\" <> '460000'")
    with pytest.raises(
        QgsProcessingException, match=r"that (is|are) not in .*REGIONS.* is filtered: \"da\" <> '460000'"
    ):
        anonymize(REGIONS=areas, RECORDS=records)


def test_the_log_and_the_report_tell_a_filter(anonymize, saved, tmp_path):
    areas, records = saved
    assert areas.setSubsetString("\"da\" <> '460000'") and records.setSubsetString("\"sex\" = 'F'")
    page = tmp_path / "report.html"
    done = anonymize(REGIONS=areas, RECORDS=records, UNMATCHED="suppress", REPORT=str(page))
    assert done.log.count(FILTERED) == 1
    assert any(line.startswith("Records (RECORDS) is filtered: \"sex\" = 'F'.") for line in done.log)
    assert "Areas (REGIONS) is filtered: " in page.read_text(encoding="utf-8")


def test_edits_that_were_not_saved_are_told(anonymize, saved, tmp_path):
    areas, records = saved
    assert records.startEditing()
    records.deleteFeature(next(records.getFeatures()).id())
    page = tmp_path / "report.html"
    done = anonymize(REGIONS=areas, RECORDS=records, REPORT=str(page))
    told = "Records (RECORDS) has edits that were not saved: it is read with them, as QGIS shows it."
    assert done.log.count(told) == 1 and told in page.read_text(encoding="utf-8")
    assert records.rollBack()
    assert told not in anonymize(REGIONS=areas, RECORDS=records).log


def test_a_selection_is_told(run, saved):
    areas, records = saved
    areas.selectAll()
    records.selectByExpression("\"sex\" = 'F'")
    done = run(
        "profilerecords",
        RECORDS=QgsProcessingFeatureSourceDefinition(records.id(), True),
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        PROFILE="memory:",
    )
    n = records.selectedFeatureCount()
    assert f"Of Records (RECORDS) only the {n} selected features are read." in done.log
