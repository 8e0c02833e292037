"""What a layer tells: aliases, map tips, metadata, its place in the tree; and the same when a file is opened later."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest
from qgis.core import (
    Qgis,
    QgsExpression,
    QgsField,
    QgsLayerTree,
    QgsLayerTreeModel,
    QgsPalLayerSettings,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingOutputLayerDefinition,
    QgsProject,
    QgsVectorLayer,
    QgsVectorLayerSimpleLabeling,
)
from qgis.PyQt.QtCore import Qt

from vbas.algorithms.layers.delivery.announcing import details_of_run, name_apart
from vbas.algorithms.layers.delivery.groups import LayerGroup, group_of_run, one_group, title_of_run
from vbas.algorithms.layers.delivery.styles import describe, style
from vbas.algorithms.layers.inputs import Inputs
from vbas.algorithms.named import version
from vbas.core.tables import alias_of

from .conftest import make_layer
from .test_styles import squares


def regions(**more):
    columns = {"vbas_region": [1, 2], "areas": [3, 4], "area_km2": [1.25, 2.0], "released": [1200, None], **more}
    return make_layer(columns, squares(2))


@pytest.fixture
def project():
    QgsProject.instance().removeAllMapLayers()
    QgsProject.instance().layerTreeRoot().removeAllChildren()
    yield QgsProject.instance()
    QgsProject.instance().removeAllMapLayers()
    QgsProject.instance().layerTreeRoot().removeAllChildren()


def tips(layer):
    """The map tip of each feature."""
    context = layer.createExpressionContext()
    found = []
    for feature in layer.getFeatures():
        context.setFeature(feature)
        found.append(QgsExpression.replaceExpressionText(layer.mapTipTemplate(), context))
    return found


def test_a_region_tells_its_figures(qgis_app):
    layer = regions()
    style(layer, "RELEASED_REGIONS")
    first, second = tips(layer)
    assert "<b>Region 1</b>" in first
    assert re.search(r"Records released&nbsp;</td><td><b>1,200<", first)
    assert re.search(r"Surface, km²&nbsp;</td><td><b>1\.[23]<", first)
    assert re.search(r"Records released&nbsp;</td><td><b>–<", second)
    assert layer.displayExpression() == "concat('Region ', \"vbas_region\")"


def test_a_region_of_nested_levels_says_its_level(qgis_app):
    layer = regions(vbas_level=[1, 2], vbas_parent=[1, None])
    style(layer, "RELEASED_REGIONS")
    assert "<b>Region 1, level 1</b>" in tips(layer)[0]


@pytest.mark.parametrize("ending", ["gpkg", "shp", "geojson"])
def test_a_file_opened_later_says_the_same(anonymize, tmp_path, ending):
    audit, file = tmp_path / f"audit.{ending}", tmp_path / f"regions.{ending}"
    anonymize(RELEASED_REGIONS=str(file), REGION_AUDIT=str(audit))
    layer = QgsVectorLayer(str(file), "later", "ogr")
    names = {field.name(): field.alias() for field in layer.fields()}
    assert "Records released" in names.values() and "Region" in names.values()
    assert "Region 1<" in tips(layer)[0]
    assert layer.labelsEnabled()
    assert type(layer.renderer()).__name__ == "QgsGraduatedSymbolRenderer"
    over = QgsVectorLayer(str(audit), "later", "ogr")
    assert not over.labelsEnabled()


@pytest.mark.parametrize("ending", ["gpkg", "shp"])
def test_a_file_opened_later_has_its_metadata(anonymize, tmp_path, ending):
    regions, audit = tmp_path / f"regions.{ending}", tmp_path / f"audit.{ending}"
    anonymize(RELEASED_REGIONS=str(regions), REGION_AUDIT=str(audit))
    for file, kind, words in ((regions, "for release", "May be published"), (audit, "internal", "Not to be published")):
        layer = QgsVectorLayer(str(file), "later", "ogr")
        layer.loadDefaultMetadata()  # as QGIS does when somebody adds a file
        metadata = layer.metadata()
        assert metadata.title().endswith(f"({kind})")
        assert len(metadata.abstract()) > len(metadata.title())
        assert [words in licence for licence in metadata.licenses()] == [True]
        (made,) = metadata.history()
        assert "made by “" in made and version() in made


def test_metadata_of_a_release_tell_nothing_of_the_records(anonymize, tmp_path):
    """Two runs, of which one suppresses: their metadata are the same."""
    told = []
    for k in (2, 24):
        file = tmp_path / f"k{k}" / "released.gpkg"
        file.parent.mkdir()
        done = anonymize(RELEASED_RECORDS=str(file), K=k)
        told.append((done.results["N_SUPPRESSED"], _metadata_in(file)))
    (few, one), (many, other) = told
    assert few < many
    assert one == other != ""


def _metadata_in(file):
    """All that a GeoPackage says of itself, without the minute."""
    with closing(sqlite3.connect(file)) as connection:
        said = connection.execute("SELECT metadata FROM gpkg_metadata").fetchall()
        said += connection.execute("SELECT identifier, description FROM gpkg_contents").fetchall()
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", str(said))


def test_an_audit_alone_is_numbered(anonymize, tmp_path):
    anonymize(RELEASED_REGIONS=None, REGION_AUDIT=str(tmp_path / "audit.gpkg"))
    assert QgsVectorLayer(str(tmp_path / "audit.gpkg"), "later", "ogr").labelsEnabled()


def test_what_the_source_notes_of_its_fields_goes_nowhere(anonymize, grid, tmp_path):
    """A comment may be internal; and QGIS 3.44 warns of every alias and comment that memory cannot keep."""
    fields = [QgsField(field) for field in grid[1].fields()]
    for field in fields:
        field.setComment("from the table patients_2024")
    records = QgsVectorLayer("None", "records", "memory")
    records.dataProvider().addAttributes(fields)
    records.updateFields()
    records.dataProvider().addFeatures(list(grid[1].getFeatures()))
    for position in range(len(fields)):
        records.setFieldAlias(position, "as in the ward's list")
    noted = [(field.alias(), field.comment()) for field in records.fields()]
    assert set(noted) == {("as in the ward's list", "from the table patients_2024")}
    for place in ("memory:", str(tmp_path / "released.gpkg")):
        done = anonymize(RECORDS=records, RELEASED_RECORDS=place)
        for field in done.layer("RELEASED_RECORDS").fields():
            assert not field.comment() and field.alias() != "as in the ward's list"
        assert not [line for line in done.log if "not compatible" in line]


def test_field_names_stay_and_fields_of_the_user_get_no_alias(anonymize):
    done = anonymize()
    assert done.layer("RELEASED_REGIONS").fields().names() == ["vbas_region", "areas", "area_km2", "released"]
    assert alias_of("RELEASED_RECORDS", "areas") == ""  # somebody's own field of that name
    assert alias_of("RELEASED_RECORDS", "vbas_region") == "Region"
    assert alias_of("CROSSWALK", "vbas_region_3") == "Region, level 3"
    assert alias_of("AREA_AUDIT", "below_2_5") == "Below the wanted anonymity with inner radius 2.5, %"


def test_layers_stand_in_one_group_whatever_order_they_come_in(project):
    layers = {name: regions() for name in ("RELEASED_REGIONS", "SITE_POINTS", "REGION_AUDIT", "VORONOI")}
    tables = {name: make_layer({"vbas_region": [1]}) for name in ("CROSSWALK", "RELEASED_RECORDS", "NEW", "AUDIT")}
    order = (
        "CROSSWALK",
        "RELEASED_REGIONS",
        "NEW",
        "REGION_AUDIT",
        "AUDIT",
        "VORONOI",
        "RELEASED_RECORDS",
        "SITE_POINTS",
    )
    group = LayerGroup("Regions, k = 5")
    there = project.addMapLayer(regions())
    for name in order:
        group.expect(name)
    for name in order:
        layer = {**layers, **tables}[name]
        layer.setName(name)
        project.addMapLayer(layer)
        group.take(layer, name, project)
    (made,) = project.layerTreeRoot().findGroups()
    assert made.name() == "Regions, k = 5"
    assert [node.layer().name() for node in made.children()] == [
        *("SITE_POINTS", "VORONOI", "REGION_AUDIT", "RELEASED_REGIONS"),
        *("AUDIT", "RELEASED_RECORDS", "CROSSWALK", "NEW"),
    ]
    assert len(project.mapLayers()) == 9
    assert len(project.layerTreeRoot().findLayers()) == 9
    assert project.layerTreeRoot().findLayer(there.id()).parent() is project.layerTreeRoot()


def test_two_runs_are_told_apart_and_only_the_later_one_is_numbered(project):
    noon = datetime(2020, 1, 1, 12, 5)
    assert title_of_run("Regions, k = 5", ["age", "sex", "band", "size"], noon) == (
        "Regions, k = 5 · age, sex, band + 1 · 12:05"
    )
    assert title_of_run("Regions, k = 5", [], noon) == "Regions, k = 5 · 12:05"
    layers = []
    for _ in range(2):
        group = LayerGroup("Regions, k = 5")
        for name in ("RELEASED_REGIONS", "CROSSWALK"):
            group.expect(name)
        layers.append(project.addMapLayer(regions()))
        layers[-1].setLabeling(QgsVectorLayerSimpleLabeling(QgsPalLayerSettings()))
        layers[-1].setLabelsEnabled(True)
        group.take(layers[-1], "RELEASED_REGIONS", project)
    assert [layer.labelsEnabled() for layer in layers] == [False, True]
    assert all(group.isExpanded() for group in project.layerTreeRoot().findGroups())


def test_outputs_of_several_runs_are_called_by_what_differs(project):
    title, mine, names = "Released records (for release)", project.addMapLayer(make_layer({"age": [1]})), []
    mine.setName("Released records · June (for release)")
    for details in (
        ("May", "age", "k = 5", "12:05"),
        ("June", "age", "k = 5", "12:05"),
        ("May", "age", "k = 10", "12:06"),
        ("May", "age", "k = 10", "12:07"),
        ("May", "age", "k = 10", "12:07"),
        ("July", "sex", "k = 5", "12:08"),
    ):
        layer = project.addMapLayer(make_layer({"vbas_region": [1]}))
        layer.setName(name_apart(layer, title, details, project))
        names.append(layer.name())
    assert names == [
        title,
        "Released records · June (2) (for release)",  # somebody has a layer of that name already
        "Released records · k = 10 (for release)",
        "Released records · 12:07 (for release)",
        "Released records · 12:07 (2) (for release)",
        "Released records · July (for release)",
    ]
    other = project.addMapLayer(regions())
    assert name_apart(other, "Released regions (for release)", ("May",), project) == "Released regions (for release)"


def test_the_details_of_a_run_are_its_records_attributes_k_and_method(provider, grid, project):
    areas, records = grid
    project.addMapLayers([areas, records])
    records.setName("people of May")
    given = {"RECORDS": records, "QUASI_IDENTIFIERS": ["age", "sex"], "K": 7, "RELEASE": "nested levels"}
    inputs = Inputs(provider.algorithm("anonymize"), given, QgsProcessingContext())
    assert details_of_run(inputs, datetime(2020, 1, 1, 12, 5)) == (
        "people of May",
        "age, sex",
        "k = 7",
        "nested levels",
        "all-rounder",
        "12:05",
    )


def test_dots_lie_over_the_audit_of_their_groups(project):
    """The audit has the name of that of masked points, and its surfaces hid every dot."""
    group = LayerGroup("Dot map")
    for name in ("AUDIT", "POINTS"):
        group.expect(name)
    for kind, name in (("Polygon", "AUDIT"), ("Point", "POINTS")):
        layer = QgsVectorLayer(kind, name, "memory")
        project.addMapLayer(layer)
        group.take(layer, name, project)
    (run,) = project.layerTreeRoot().findGroups()
    assert [node.name() for node in run.findLayers()] == ["POINTS", "AUDIT"]


def test_a_layer_alone_needs_no_group_and_a_group_that_was_removed_is_made_again(project):
    group = LayerGroup("Crosswalk")
    group.expect("CROSSWALK")
    layer = project.addMapLayer(make_layer({"vbas_region": [1]}))
    group.take(layer, "CROSSWALK", project)
    assert not project.layerTreeRoot().findGroups()
    group.expect("RELEASED_REGIONS")
    for _ in range(2):
        one = project.addMapLayer(regions())
        group.take(one, "RELEASED_REGIONS", project)
        (made,) = project.layerTreeRoot().findGroups()
        project.layerTreeRoot().removeChildNode(made)


def run_into(project, above, *names):
    """The layers of a run, loaded by QGIS into a group of the tree."""
    group = LayerGroup("run")
    layers = [make_layer({"vbas_region": [1]}) if name == "CROSSWALK" else regions() for name in names]
    for name in names:
        group.expect(name)
    for name, layer in zip(names, layers):
        project.addMapLayer(layer, False)
        above.insertLayer(0, layer)
        group.take(layer, name, project)
    return layers


def shown(tree):
    return [node.layer() if QgsLayerTree.isLayer(node) else (node.name(), shown(node)) for node in tree.children()]


def test_a_run_never_stands_in_the_group_of_another(project):
    root = project.layerTreeRoot()
    first = run_into(project, root, "RELEASED_REGIONS", "REGION_AUDIT")
    (group,) = root.findGroups()
    second = run_into(project, group, "RELEASED_REGIONS", "REGION_AUDIT")
    (alone,) = run_into(project, group, "RELEASED_REGIONS")
    runs = [("run (2)", [*reversed(second)]), ("run", [*reversed(first)])]
    assert shown(root) == [alone, *runs]
    assert len(project.mapLayers()) == 5
    background = root.addLayer(project.addMapLayer(regions(), False)).layer()
    below = LayerGroup("run")
    below.expect("MASKED")
    points = project.addMapLayer(regions(), False)
    root.insertLayer(3, points)  # where QGIS puts it while the background is chosen
    below.take(points, "MASKED", project)
    assert shown(root) == [alone, points, *runs, background]


def test_a_table_alone_stands_below_all_that_is_drawn(project):
    root = project.layerTreeRoot()
    mine = root.addGroup("mine")
    (table,) = run_into(project, mine, "CROSSWALK")
    (drawn,) = run_into(project, mine, "RELEASED_REGIONS")  # a group of the user's: where he works
    assert shown(root) == [("mine", [drawn]), table]
    run_into(project, mine, "RELEASED_REGIONS", "REGION_AUDIT")
    assert next(node.name() for node in mine.children()) == "run"


def test_the_steps_of_a_model_share_a_group_and_runs_do_not():
    assert group_of_run("a") is not group_of_run("a")
    with one_group("model"):
        assert group_of_run("a") is group_of_run("b")
        assert group_of_run("a").title == "model"
    assert group_of_run("a").title == "a"


def test_metadata_say_what_it_is_and_whether_it_may_be_published(qgis_app):
    for kind, words in (("for release", "May be published under"), ("internal", "Not to be published")):
        layer = regions()
        describe(layer, f"Regions ({kind})", None, "The regions.", "made today")
        describe(layer, f"Regions ({kind})", "mine", "The regions.", "made today")
        metadata = layer.metadata()
        assert metadata.abstract() == f"Regions ({kind}). The regions."
        assert [words in licence for licence in metadata.licenses()] == [True]
        assert metadata.history() == ["made today"]
        assert layer.name() == f"mine ({kind})"


def test_pages_carry_the_name_of_their_algorithm(provider):
    for found in provider.algorithms():
        made = found.create()
        for output in made.outputDefinitions():
            if output.type() == "outputHtml":
                assert output.description().startswith(f"{found.displayName()}: Report ("), found.name()
    assert version()


def test_the_tree_says_what_a_legend_shows(project, run, grid):
    areas, records = grid
    sink = QgsProcessingOutputLayerDefinition("memory:", project)
    done = run(
        "anonymize",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        RELEASED_RECORDS="memory:",
        RELEASED_REGIONS=sink,
    )
    identifier = done.results["RELEASED_REGIONS"]
    details = done.context.layerToLoadOnCompletionDetails(identifier)
    layer = project.addMapLayer(done.context.takeResultLayer(identifier))
    details.postProcessor().postProcessLayer(layer, done.context, QgsProcessingFeedback())
    node = project.layerTreeRoot().findLayer(layer.id())
    model = QgsLayerTreeModel(project.layerTreeRoot())
    at_mouse = model.data(model.node2index(node), Qt.ItemDataRole.ToolTipRole)
    whole = "Released regions (for release): records released per km²"
    # Later versions of QGIS show the name of the layer and its abstract there.
    assert Qgis.QGIS_VERSION_INT >= 33400 or whole in at_mouse
    assert node.customProperty("legend/title-label") == whole
    assert all("records/km²" in one.label() for one in layer.renderer().ranges() if one.upperValue() > 0)


@pytest.mark.parametrize(
    ("form", "given", "title"),
    [
        ("anonymize", {"K": 7}, "Regions, k = 7, all-rounder"),
        ("anonymize", {"RELEASE": "nested levels"}, "Nested regions, k = 5, all-rounder"),
        (
            "anonymize",
            {"COMBINATION": "custom", "AGGREGATION": "basic Voronoi", "SITE_LOCATION": "random"},
            "Regions, k = 5, custom: random, basic Voronoi",
        ),
        ("locateallocate", {"METHOD": "transportation-location"}, "transportation-location"),
        ("aggregate", {"AGGREGATION": "basic Voronoi"}, "basic Voronoi"),
        ("nestlevels", {}, "levels, iterative Voronoi, balanced density"),  # no records, of which k would be said
        ("nestlevels", {"LEVEL_FIELDS": ["da"]}, "levels"),
        ("nestlevels", {"HELD_PERCENT": 80}, "levels, k = 5, iterative Voronoi, balanced density"),
    ],
)
def test_the_group_of_a_run_names_what_differs(provider, form, given, title):
    algorithm = provider.algorithm(form).create()
    made = algorithm.group_title(Inputs(algorithm, given, QgsProcessingContext()))
    whole = title if form == "anonymize" else title.replace("levels", algorithm.displayName())
    assert made == whole if form in ("anonymize", "nestlevels") else made.endswith(f", {title}")
