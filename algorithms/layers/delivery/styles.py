"""How outputs look and what they say of themselves when QGIS loads them.

An output has looks by preference; the first that the layer's fields can show is taken, so that whatever is written (a
release with counts, a crosswalk drawn without records, a Shapefile that cuts names, no rows at all) is drawn whole.
"""

from __future__ import annotations

from pathlib import Path
from typing import Union

from qgis.core import (
    QgsPalLayerSettings,
    QgsTextBufferSettings,
    QgsTextFormat,
    QgsVectorLayer,
    QgsVectorLayerSimpleLabeling,
)
from qgis.PyQt.QtGui import QColor

from ....core.analysis.moran import HIGH_HIGH, HIGH_LOW, LOW_HIGH, LOW_LOW, NOT_TOLD
from ....core.cells.dots import OTHERS
from ....core.language import as_data, tr
from ....core.tables import tables_of
from ....core.tables.schema import ESTIMATE, FOR_RELEASE, INTERNAL, TEST_DATA, kind_of_output
from ...compat import geometry_kind, label_placement, save_style
from .fields import name_fields, tell_features
from .opening import opened
from .renderers import (
    DIVERGING,
    ENDLESS,
    GREENS_TO_BLUES,
    NO_VALUE,
    REDS,
    REGION,
    Categorised,
    Graduated,
    NestedLevels,
    Plain,
    field_of,
)

RELEASED = Graduated(
    ("released", "area_km2"), "{0} / {1}", tr("records/km²"), tr("none released"), tr("no surface"), GREENS_TO_BLUES
)
# Per cent: two people lost are not as red as a fifth of all, in whatever run.
SHARES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# Of ratios, so that a colour means the same on every map: as much more as less on both sides of 1.
RATIOS = (0.0, 0.5, 0.67, 0.8, 0.95, 1.05, 1.25, 1.5, 2.0, ENDLESS)
PATTERNS = {
    HIGH_HIGH: "#b2182b",
    LOW_LOW: "#2166ac",
    HIGH_LOW: "#f4a582",
    LOW_HIGH: "#92c5de",
    NOT_TOLD: "#f7f7f7",
}
Style = Union[Graduated, NestedLevels, Categorised, Plain]
# Of the demonstration city, from the centre outwards, in the same eight colours.
DISTRICTS = {
    as_data("centre"): "#d55e00",
    as_data("inner suburb"): "#e69f00",
    as_data("north end"): "#cc79a7",
    as_data("university"): "#0072b2",
    as_data("outer suburb"): "#f0e442",
    as_data("rural"): "#009e73",
    as_data("river"): "#56b4e9",
}
POINT = {"name": "circle", "outline_color": "#ffffff"}
DOT = {"name": "circle", "outline_style": "no", "size": "1"}
# The looks of each output by preference; the last fits every layer.
STYLES_OF: dict[str, tuple[Style, ...]] = {
    "RELEASED_REGIONS": (NestedLevels(RELEASED), RELEASED, Plain(REGION)),
    "REGION_AUDIT": (
        NestedLevels(
            Graduated(
                ("coarser", "suppressed", "records"),
                "100.0 * ({0} + {1}) / {2}",
                tr("% not shown here"),
                tr("all shown here"),
                tr("no records"),
                REDS,
                SHARES,
            )
        ),
        Graduated(
            ("suppressed", "records"),
            "100.0 * {0} / {1}",
            tr("% suppressed"),
            tr("none suppressed"),
            tr("no records"),
            REDS,
            SHARES,
        ),
        Plain(REGION),
    ),
    "AREA_COUNTS": (
        Graduated(
            ("estimate", "area_km2"),
            "{0} / {1}",
            tr("records/km² (estimate)"),
            tr("none estimated"),
            tr("no surface"),
            GREENS_TO_BLUES,
        ),
        Plain(REGION),
    ),
    "RATE_MAP": (
        Graduated(
            ("ratio",),
            "{0}",
            tr("× as many cases as expected"),
            tr("no cases"),
            tr("nobody at risk"),
            DIVERGING,
            RATIOS,
            (("ratio_low", "ratio_high"), "{0} <= 1 AND {1} >= 1"),
        ),
        Plain(REGION),
    ),
    "CLUSTERS": (
        Graduated(
            ("relative_risk",), "{0}", tr("× the risk outside"), tr("no cases"), tr("not known"), DIVERGING, RATIOS
        ),
        Plain(REGION),
    ),
    "CIRCLES": (Plain({"style": "no", "outline_color": "#1f2937", "outline_width": "0.5"}),),
    "LOCAL_MORAN": (Categorised("pattern", PATTERNS), Plain(REGION)),
    "AREA_AUDIT": (
        Graduated(
            ("percent_below",),
            "{0}",
            tr("% below K_MIN"),
            tr("none below K_MIN"),
            tr("no households masked"),
            REDS,
            SHARES,
        ),
        Plain(REGION),
    ),
    "DETAIL": (
        Graduated(
            ("areas",),
            "{0}",
            tr("areas in the smallest region"),
            tr("nothing released"),
            tr("nothing released"),
            GREENS_TO_BLUES,
            (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, ENDLESS),
            singular=tr("area in the smallest region"),
        ),
        Plain(REGION),
    ),
    "GROUPS": (
        Graduated(("density",), "{0}", tr("people/km²"), tr("nobody"), tr("no surface"), GREENS_TO_BLUES),
        Plain(REGION),
    ),
    "AREAS": (Categorised("district", DISTRICTS), Plain(REGION)),
    "LEFT_OUT": (Categorised("reason"), Plain(NO_VALUE)),
    "AUDIT": (Categorised("outcome"), Plain(REGION)),  # masked points; the groups of a dot map
    "MASKED": (Plain({**POINT, "color": "#009e73", "size": "1.8"}),),
    "POINTS": (Categorised("category", ours=(OTHERS,), symbol_style=DOT), Plain({**DOT, "color": "#0072b2"})),
    "SITE_POINTS": (Plain({**POINT, "color": "#7b3fa0", "size": "1.8"}),),
    "VORONOI": (Plain({"style": "no", "outline_color": "#7b3fa0", "outline_width": "0.3"}),),
}
# The outputs whose polygons are labelled: with the name of a region where it has one, with its number elsewhere.
LABELLED = ("RELEASED_REGIONS", "REGION_AUDIT", "GROUPS")

MAY_BE_PUBLISHED = {
    FOR_RELEASE: tr("May be published under the rules that bind you."),
    INTERNAL: tr("Not to be published: suppressed counts could be derived from it."),
    TEST_DATA: tr("May be published: nobody in it exists."),
    ESTIMATE: tr("Not to be published as counts: estimated from a release."),
}


def legend_title(name: str) -> str:
    """What the numbers in the legend of an output are, with their unit; empty where it has none."""
    return next((table.legend for table in tables_of(name) if table.legend), "")


def style(layer: QgsVectorLayer, name: str, labelled: bool = True) -> bool:
    """Give a layer the look of the output of that name, and its fields their aliases; False where there is nothing to
    draw (tables). labelled : whether regions are numbered."""
    name_fields(layer, name)
    if not layer.isSpatial():
        return False
    styles = STYLES_OF.get(name, (Plain(REGION),))
    layer.setRenderer(
        next(renderer for renderer in (candidate.renderer(layer) for candidate in styles) if renderer is not None)
    )
    tell_features(layer, name)
    if name in LABELLED and labelled:
        _label_regions(layer)
    else:
        layer.setLabelsEnabled(False)
    return True


def describe(layer: QgsVectorLayer, title: str, name: str | None = None, abstract: str = "", history: str = "") -> None:
    """Metadata, and a name: whether the layer is for release or internal is said in both.

    title : of the output, such as “Released regions (for release)”; name : what QGIS would call the layer, if anything;
    abstract : what it is; history : a sentence on what made it, from which nothing follows that is not published
    """
    kind = title[title.rfind("(") :]
    layer.setName(title if name is None else name if kind in name else f"{name} {kind}")
    metadata = layer.metadata()
    metadata.setTitle(title)
    metadata.setAbstract(f"{title}. {abstract}".strip() if abstract else metadata.abstract() or title)
    metadata.setLicenses([MAY_BE_PUBLISHED[output_kind]] if (output_kind := kind_of_output(title)) else [])
    if history and history not in metadata.history():
        metadata.addHistoryItem(history)
    layer.setMetadata(metadata)


def store_style(
    file: Path, name: str, title: str, labelled: bool = True, abstract: str = "", history: str = ""
) -> None:
    """Keep style and metadata with the file: inside a GeoPackage, beside any other format that is drawn.

    Arguments as for `style` and `describe`.
    """
    in_the_file = file.suffix.lower() == ".gpkg"
    with opened(file, title) as layer:
        drawn = layer.isValid() and style(layer, name, labelled)
        if not layer.isValid() or not (drawn or in_the_file):
            return
        if not in_the_file:
            layer.saveNamedStyle(str(file.with_suffix(".qml")))
        elif drawn:
            save_style(layer, name.lower(), title)
        describe(layer, title, None, abstract, history)
        layer.saveDefaultMetadata()


def _label_regions(layer: QgsVectorLayer) -> None:
    """Number the regions, each where the label fits into it: so there are more as one zooms in."""
    field = field_of(layer, "name") or field_of(layer, "vbas_region")
    if field is None or geometry_kind(layer) != "polygon":
        return
    halo = QgsTextBufferSettings()
    halo.setEnabled(True)
    halo.setColor(QColor("#ffffff"))
    halo.setSize(0.8)
    words = QgsTextFormat()
    words.setSize(8)
    words.setColor(QColor("#1f2937"))
    words.setBuffer(halo)
    settings = QgsPalLayerSettings()
    settings.fieldName = field
    level = field_of(layer, "vbas_level")
    if level is not None:  # of nested levels only the finest is numbered: the others lie over it
        settings.fieldName = f'CASE WHEN "{level}" = 1 THEN "{field}" END'
        settings.isExpression = True
    settings.fitInPolygonOnly = True
    settings.placement = label_placement("Horizontal")
    settings.setFormat(words)
    layer.setLabeling(QgsVectorLayerSimpleLabeling(settings))
    layer.setLabelsEnabled(True)
