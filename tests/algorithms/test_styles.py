"""Every output is drawn whole, with a look that fits what it holds, in the layer and in the file."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import processing
import pytest
import shapely
from qgis.core import QgsExpression, QgsProject, QgsVectorLayer
from qgis.PyQt.QtGui import QColor

from vbas.algorithms.compat import python_value
from vbas.algorithms.layers.delivery.renderers import GREENS_TO_BLUES, QUALITATIVE, REDS, quantile_breaks, shades
from vbas.algorithms.layers.delivery.styles import store_style, style
from vbas.algorithms.layers.delivery.writing import write_file
from vbas.algorithms.layers.tables import Table, number_fields

from ..systems import reads_without_a_trace
from .conftest import make_grid, make_layer
from .maps import assert_drawn, draw

FORMATS = ("gpkg", "shp", "geojson")
# An output whose look is a number: its fields beside vbas_region, each value as a list of them.
NUMBERS = {
    "RELEASED_REGIONS": lambda value: {"released": [value], "area_km2": [0.25]},
    "REGION_AUDIT": lambda value: {"suppressed": [value], "records": [100]},
    "AREA_AUDIT": lambda value: {"percent_below": [value]},
    "GROUPS": lambda value: {"density": [value]},
}
VALUES: dict[str, list] = {
    "none at all": [],
    "one": [7],
    "all equal": [7] * 5,
    "all nought": [0] * 5,
    "all missing": [None] * 4,
    "nought, missing and others": [0, None, 3, 50, 99, 0, None, 12],
    "awkward ends": [0.1, 0.2, 0.1 + 0.2, 1 / 3, 2 / 3, 99.99999999999999],
    "round ends": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    "minute": [1e-9, 2e-9, 3e-8],
    "near one another": [50.0001, 50.0002, 50.0003],
    "skewed": [1] * 50 + [2, 3, 5, 90],
}


def squares(n, side=500.0, west=630_000.0, south=5_520_000.0):
    return [
        f"Polygon(({x} {south}, {x + side} {south}, {x + side} {south + side}, {x} {south + side}, {x} {south}))"
        for x in west + side * np.arange(n)
    ]


def regions(name, values):
    columns: dict[str, list] = {"vbas_region": list(range(1, len(values) + 1))}
    for value in values:
        for field, (one,) in NUMBERS[name](value).items():
            columns.setdefault(field, []).append(one if one is None else float(one))
    if values:
        return make_layer(columns, squares(len(values)), kind="Polygon")
    fields = "".join(f"&field={field}:double" for field in ("vbas_region", *NUMBERS[name](0)))
    return QgsVectorLayer(f"Polygon?crs=EPSG:26914{fields}", name, "memory")


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("name", NUMBERS)
def test_every_value_is_drawn(qgis_app, name, values):
    layer = regions(name, values)
    assert style(layer, name)
    assert_drawn(layer)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", NUMBERS)
def test_the_style_in_the_file_draws_every_value(qgis_app, tmp_path, name, kind):
    """Numbers are written as text and read back; a Shapefile cuts the names of fields."""
    values = VALUES["awkward ends"] + VALUES["nought, missing and others"]
    layer = regions(name, values)
    features = list(layer.getFeatures())
    columns = [[python_value(value) for value in column] for column in zip(*(f.attributes() for f in features))]
    kinds = {field.name(): "integer" if field.name() == "vbas_region" else "real" for field in layer.fields()}
    shapes = shapely.from_wkt([feature.geometry().asWkt() for feature in features])
    file = tmp_path / f"map.{kind}"
    table = Table(number_fields(**kinds), columns, "polygons", shapes, layer.crs())
    write_file(file, table, "Map (for release)")

    store_style(file, name, "Map (for release)")

    loaded = QgsVectorLayer(str(file), "map", "ogr")
    assert type(loaded.renderer()).__name__ == "QgsGraduatedSymbolRenderer"
    assert loaded.featureCount() == len(values)
    assert_drawn(loaded)


@pytest.mark.parametrize(
    "name", ["RELEASED_REGIONS", "REGION_AUDIT", "AREA_AUDIT", "GROUPS", "AREAS", "LEFT_OUT", "NEW"]
)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_layer_that_lacks_the_fields_is_drawn_all_the_same(qgis_app, name, n):
    layer = make_layer({"other": ["a"] * 3}, squares(3))
    layer.dataProvider().deleteFeatures([f.id() for f in layer.getFeatures()][n:])
    assert style(layer, name)
    assert_drawn(layer)


@pytest.mark.parametrize("values", [["a", "b", None], [None, None], ["", "a"], [str(i) for i in range(30)]])
def test_every_category_is_drawn(qgis_app, values):
    layer = make_layer({"reason": values}, squares(len(values)))
    assert style(layer, "LEFT_OUT")
    assert_drawn(layer)
    shown = {value for value in values if value is not None}
    if 0 < len(shown) <= len(QUALITATIVE):
        assert [item.label() for item in layer.renderer().legendSymbolItems()] == [
            *(value or "(no value)" for value in sorted(shown)),
            *(["no value"] if None in values else []),
        ]


def test_columns_of_the_attribute_table_are_as_wide_as_their_headings(qgis_app):
    layer = make_layer({"vbas_region": [1], "sex": ["F"], "released": [7]}, ["Point(0 0)"], "EPSG:26914")
    style(layer, "RELEASED_REGIONS")
    region, sex, released = layer.attributeTableConfig().columns()[:3]
    assert layer.fields()[2].alias() == "Records released"
    assert released.width > region.width and sex.width == -1  # as QGIS has it


def test_dots_are_seen_on_the_audit_of_their_groups(qgis_app):
    """It had the colour of the first category."""
    square = "Polygon((0 0, 9 0, 9 9, 0 9, 0 0))"
    audit = make_layer({"vbas_region": [1], "shown": [1]}, [square], "EPSG:26914", "Polygon")
    dots = make_layer({"vbas_region": [1] * 3, "category": ["others", "a", "b"]}, ["Point(1 1)"] * 3, "EPSG:26914")
    style(audit, "AUDIT")
    style(dots, "POINTS")
    fill = audit.renderer().symbol().color()
    for category in dots.renderer().categories():
        assert abs(category.symbol().color().lightness() - fill.lightness()) > 60


def test_tables_have_no_look(qgis_app):
    assert not style(make_layer({"vbas_region": [1]}), "RELEASED_REGIONS")


def test_the_legend_tells_numbers_and_what_they_count(qgis_app):
    layer = regions("RELEASED_REGIONS", [0, None, 250, 500, 1_000, 2_000])
    style(layer, "RELEASED_REGIONS")
    labels = [item.label() for item in layer.renderer().legendSymbolItems()]
    assert labels[:2] == ["no surface", "none released"]
    assert labels[2].startswith("1000 – ") and labels[-1].endswith(" – 8000 records/km²")
    alike = regions("RELEASED_REGIONS", [40, 40])
    style(alike, "RELEASED_REGIONS")
    assert [item.label() for item in alike.renderer().legendSymbolItems()] == ["160 records/km²"]
    audit = regions("REGION_AUDIT", [0, 3, 8])  # the steps are the same in every layer
    style(audit, "REGION_AUDIT")
    labels = [item.label() for item in audit.renderer().legendSymbolItems()]
    assert labels == ["none suppressed", "2 – 5 % suppressed", "5 – 10 % suppressed"]


def test_the_legend_of_the_register_counts_whole_areas(qgis_app):
    layer = make_layer({"areas": [0, 1, 2, 3, 5, 60]}, squares(6))
    assert style(layer, "DETAIL")
    where = "in the smallest region"
    assert [item.label() for item in layer.renderer().legendSymbolItems()] == [
        "nothing released",
        f"1 area {where}",
        *(f"{areas} areas {where}" for areas in ("2", "3 – 5", "6 – 10", "11 – 20", "21 – 50", "over 50")),
    ]
    one = make_layer({"areas": [1, 1]}, squares(2))
    assert style(one, "DETAIL") and one.renderer().legendSymbolItems()[0].label() == f"1 area {where}"


@pytest.mark.parametrize("n", [1, 2, 5, 40, 3_000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_breaks_hold_all_values_in_few_ascending_classes(n, scale):
    values = scale * np.random.default_rng(n).lognormal(0.0, 2.0, n)
    breaks = np.array(quantile_breaks(values))
    assert (np.diff(breaks) > 0).all()
    assert breaks[0] <= values.min() and values.max() <= breaks[-1]
    assert 2 <= len(breaks) <= 7
    assert len(breaks) == 7 or n < 40


def test_breaks_tell_values_apart_where_most_are_the_same():
    breaks = quantile_breaks(np.array([100.0] * 500 + [100 / 3, 50.0, 200 / 3]))
    assert np.allclose(breaks, (33, 46, 58, 75, 100))
    assert quantile_breaks(np.array([])) == ()


@pytest.mark.slow
def test_ends_of_breaks_are_round_and_never_miss_by_the_last_bit():
    assert quantile_breaks(np.array([106.3, 520.0, 992.4]))[::3] == (100.0, 1_000.0)
    for number in (float(f"{digits}e{power}") for digits in range(10, 100) for power in (-12, -2, 9)):
        for value in (np.nextafter(number, 0), number, np.nextafter(number, np.inf)):
            breaks = quantile_breaks(np.array([value, 3 * value]))
            assert breaks[0] <= value and 3 * value <= breaks[-1]


def lightness(colour):
    """CIE L* of a colour."""
    parts = np.array(QColor(colour).getRgb()[:3]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(y) - 16


@pytest.mark.parametrize("ramp", [GREENS_TO_BLUES, REDS])
def test_classes_differ_in_lightness_for_all_kinds_of_colour_vision(ramp):
    steps = -np.diff([lightness(colour) for colour in ("#ffffff", *shades(ramp, 6))])
    assert (steps > 9).all(), steps


def test_regions_are_numbered_and_told_apart_where_there_is_no_count(qgis_app):
    layer = make_layer({"vbas_region": [1, 2, 3], "areas": [4, 4, 4], "area_km2": [1.0] * 3}, squares(3))
    style(layer, "RELEASED_REGIONS")
    plain = draw(layer, labels=False)
    colours = {QColor(plain.pixel(column, plain.height() // 2)).name() for column in range(plain.width())}
    assert len(colours) >= 3  # paper, fill, outline
    assert draw(layer) != plain  # the labels
    assert layer.labeling().settings().fieldName == "vbas_region"
    named = make_layer({"vbas_region": [1], "name": ["4601"]}, squares(1))
    style(named, "RELEASED_REGIONS")
    assert named.labeling().settings().fieldName == "name"
    groups = make_layer({"vbas_region": [1, 2, 3], "density": [2.0] * 3}, squares(3))
    style(groups, "GROUPS")
    assert draw(groups) != draw(groups, labels=False)  # groups of one colour have numbers, too
    assert groups.labeling().settings().fieldName == "vbas_region"


MERGE = {"REGION_ID": "da", "POPULATION": "people", "CUTOFF": 150.0}
WITHOUT_COUNTS: dict[str, dict[str, object]] = {
    "mergeadjacent": MERGE,
    "staticcutoff": {**MERGE, "CUTOFF": 10.0},
    "cropidentifiers": {"REGION_ID": "da", "CHARACTERS": 4},
    "locateallocate": {"REGION_ID": "da", "N_SITES": 5},
    "aggregate": {"REGION_ID": "da"},
}


@pytest.fixture
def loaded(provider, qgis_iface, grid):
    """loaded(id, parameters): run as the Python console does, results loaded into the project: layers by title."""
    project = QgsProject.instance()

    def run(algorithm, **parameters):
        before = set(project.mapLayers())
        processing.runAndLoadResults(f"vbas:{algorithm}", parameters)
        layers = [layer for key, layer in project.mapLayers().items() if key not in before]
        return {layer.metadata().title(): layer for layer in layers}

    yield run
    project.removeAllMapLayers()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["TEMPORARY_OUTPUT", "gpkg", "shp", "geojson", "database"])
@pytest.mark.parametrize("name", WITHOUT_COUNTS)
def test_regions_without_counts_are_seen_once_loaded(loaded, grid, tmp_path, name, place):
    parameters = dict(WITHOUT_COUNTS[name])
    if name == "aggregate":
        parameters["SITES"] = make_layer({"vbas_region": [1, 2]}, ["Point(630500 5520500)", "Point(632500 5522500)"])
    out = f"ogr:dbname='{tmp_path / 'base.gpkg'}' table=\"regions\" (geom)" if place == "database" else place
    out = str(tmp_path / f"mine.{place}") if place in FORMATS else out
    (layer,) = loaded(name, REGIONS=grid[0], RELEASED_REGIONS=out, **parameters).values()
    assert layer.metadata().title() == "Released regions (for release)"
    assert "(for release)" in layer.name()
    assert layer.labelsEnabled()
    # Not the random colour that QGIS gives.
    assert layer.renderer().symbol().color().name() == "#e9eef5"
    assert_drawn(layer)


def test_counts_are_graduated_once_loaded_from_a_file(loaded, grid, tmp_path):
    layers = loaded(
        "anonymize",
        REGIONS=grid[0],
        REGION_ID="da",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        COMBINATION="custom",
        SITE_NUMBER="given number",
        N_SITES=6,
        RELEASED_RECORDS="TEMPORARY_OUTPUT",
        RELEASED_REGIONS=str(tmp_path / "published.shp"),
        REGION_AUDIT=str(tmp_path / "kept.gpkg"),
    )
    assert set(layers) == {
        "Released records (for release)",
        "Released regions (for release)",
        "Region audit (internal)",
    }
    for title in ("Released regions (for release)", "Region audit (internal)"):
        assert type(layers[title].renderer()).__name__ == "QgsGraduatedSymbolRenderer"
        assert_drawn(layers[title])


@reads_without_a_trace
def test_a_second_run_into_a_layer_that_is_loaded_shows_the_new_values(loaded, grid, tmp_path):
    """QGIS keeps the layer; classes of the run before might hold none of its values."""
    out = str(tmp_path / "audit.gpkg")
    crosswalk = make_layer({"da": [f["da"] for f in grid[0].getFeatures()], "vbas_region": [1] * 18 + [2] * 18})
    common = {"REGIONS": grid[0], "REGION_ID": "da", "RECORD_REGION": "home", "CROSSWALK": crosswalk, "K": 2}
    for records in (grid[1], make_grid(per_area=4, seed=3)[1]):
        loaded("evaluate", **common, RECORDS=records, QUASI_IDENTIFIERS=["sex", "age"], REGION_AUDIT=out, REPORT=None)
    (layer,) = QgsProject.instance().mapLayers().values()
    assert_drawn(layer)


def test_the_look_that_the_user_chose_for_an_output_stays(loaded, grid, tmp_path, monkeypatch):
    from processing.gui.RenderingStyles import RenderingStyles

    mine = make_layer({"vbas_region": [1]}, squares(1))
    mine.renderer().symbol().setColor(QColor("#123456"))
    mine.saveNamedStyle(str(tmp_path / "mine.qml"))
    chosen = {"vbas:mergeadjacent": {"RELEASED_REGIONS": str(tmp_path / "mine.qml")}}
    monkeypatch.setattr(RenderingStyles, "styles", chosen)
    (layer,) = loaded(
        "mergeadjacent", REGIONS=grid[0], RELEASED_REGIONS=str(tmp_path / "regions.shp"), **MERGE
    ).values()
    assert layer.renderer().symbol().color().name() == "#123456"
    assert "(for release)" in layer.name()


def test_the_style_in_a_file_tells_nothing_of_the_machine(run, grid, tmp_path):
    for kind in ("gpkg", "shp"):
        run("mergeadjacent", REGIONS=grid[0], **MERGE, RELEASED_REGIONS=str(tmp_path / f"regions.{kind}"))
    with closing(sqlite3.connect(tmp_path / "regions.gpkg")) as connection:
        ((owner, qml, sld),) = connection.execute("SELECT owner, styleQML, styleSLD FROM layer_styles").fetchall()
    assert not owner
    for text in (qml, sld, (tmp_path / "regions.qml").read_text(encoding="utf-8")):
        assert str(Path.home()) not in text and tempfile.gettempdir() not in text


def nested_squares(values, audit=False):
    """Regions of three levels, as RELEASED_REGIONS or REGION_AUDIT hold them; values : of the finest level."""
    n = len(values)
    shapes = [*squares(n), *squares((n + 1) // 2, 1000.0), *squares(1, 500.0 * n)]
    levels = [1] * n + [2] * ((n + 1) // 2) + [3]
    rest = [5] * (len(levels) - n)
    columns = {"vbas_level": levels, "vbas_region": [*range(1, n + 1), *range(1, (n + 1) // 2 + 1), 1]}
    if audit:
        columns |= {"coarser": [*values, *rest], "suppressed": [0] * len(levels), "records": [100] * len(levels)}
    else:
        columns |= {"released": [*values, *rest], "area_km2": [0.25] * len(levels)}
    return make_layer(columns, shapes)


@pytest.mark.parametrize("audit", [False, True])
@pytest.mark.parametrize("values", [[7], [0, 0, 0], [0, 5, 5, 20, 40, 90], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
def test_nested_levels_are_all_drawn_the_finest_filled_by_classes_that_do_not_overlap(values, audit):
    name = "REGION_AUDIT" if audit else "RELEASED_REGIONS"
    layer = nested_squares(values, audit)
    assert style(layer, name)
    assert layer.renderer().type() == "RuleRenderer"
    assert_drawn(layer)
    finest, *others = layer.renderer().rootRule().children()
    half = (len(values) + 1) // 2
    titles = [f"Level 2: {half} region{'s' * (half != 1)}", "Level 3: 1 region"]
    if not audit:  # what is released with a region or one within, on average, to two digits
        within = sum(values) + 5 * half
        means = [float(f"{mean:.2g}") for mean in (within / half, within + 5)]
        titles = [f"{title}, about {mean:.0f} records in each" for title, mean in zip(titles, means)]
    assert [rule.label() for rule in others] == titles
    for feature in layer.getFeatures('"vbas_level" = 1'):
        context = layer.createExpressionContext()
        context.setFeature(feature)
        drawing = [rule for rule in finest.children() if QgsExpression(rule.filterExpression()).evaluate(context)]
        assert len(drawing) == 1


def test_nested_levels_without_records_show_the_finest_under_the_outlines_of_the_others():
    layer = make_layer({"vbas_level": [1, 1, 2], "vbas_region": [1, 2, 1]}, [*squares(2), *squares(1, 1000.0)])
    assert style(layer, "RELEASED_REGIONS")
    assert_drawn(layer)
    finest, coarser = layer.renderer().rootRule().children()
    assert finest.symbol().symbolLayer(0).brushStyle() != coarser.symbol().symbolLayer(0).brushStyle() == 0


def colours_of(name, values, nested=False):
    """The colours that are drawn, from the smallest share of those lost on."""
    n = len(values)
    columns = {"vbas_region": list(range(n)), "suppressed": [float(one) for one in values], "records": [1_000.0] * n}
    if nested:
        columns |= {"vbas_level": [1] * n, "coarser": [0.0] * n}
    layer = make_layer(columns, squares(n), kind="Polygon")
    assert style(layer, name)
    assert_drawn(layer)
    renderer = layer.renderer()
    if not nested:
        return [one.symbol().color().name() for one in renderer.ranges()]
    root = renderer.rootRule()  # each is held: its children go with it
    fill = root.children()[0]
    return [child.symbol().color().name() for child in fill.children()]


@pytest.mark.parametrize("nested", [False, True])
def test_what_is_lost_is_as_red_as_its_share_in_every_layer(qgis_app, nested):
    few, many = (colours_of("REGION_AUDIT", values, nested) for values in ([2, 3, 1], [150, 200, 180]))
    both = colours_of("REGION_AUDIT", [2, 3, 1, 150, 200, 180], nested)
    assert len(few) == len(many) == 1  # 0.1 to 0.3 per cent, and 15 to 20
    assert few[0] != many[0]
    assert (both[0], both[-1]) == (few[0], many[0])
    lightness = [QColor(colour).lightness() for colour in (*few, *many)]
    assert lightness[0] > lightness[1] + 30
