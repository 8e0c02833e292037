"""The looks that a layer can have: classes of a number, nested levels, a colour per value, the same for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field as dataclass_field

import numpy as np
from qgis.core import (
    QgsCategorizedSymbolRenderer,
    QgsFeatureRenderer,
    QgsFeatureRequest,
    QgsFillSymbol,
    QgsGradientColorRamp,
    QgsGradientStop,
    QgsGraduatedSymbolRenderer,
    QgsLinePatternFillSymbolLayer,
    QgsLineSymbol,
    QgsMarkerSymbol,
    QgsProperty,
    QgsRendererCategory,
    QgsRendererRange,
    QgsRuleBasedRenderer,
    QgsSingleSymbolRenderer,
    QgsSymbol,
    QgsSymbolLayer,
    QgsVectorLayer,
    QgsVectorLayerUtils,
)
from qgis.PyQt.QtGui import QColor

from ....core import counted
from ....core.arrays import to_list
from ....core.dataclass import dataclass
from ....core.language import plural, tr, written
from ....core.plain_text import value_text
from ...compat import geometry_kind, python_value

CLASSES = 6
DBF_NAME = 10  # characters of a field's name that a Shapefile keeps
ENDLESS = 1e9  # the end of a class without one
MISSING = -1.0  # what stands for no value in a renderer: it would not draw NULL

# Light to dark in even steps, so that they read without colour vision and in print. The hues are those of ColorBrewer's
# YlGnBu and OrRd, which are safe for the colour-blind (Harrower & Brewer 2003). Zero is white, lighter still.
GREENS_TO_BLUES = ("#cbe7b0", "#2a93b5", "#081d58")
OUTLINES = ("#8a94a0", "#5d3a78", "#2a0a3d")
REDS = ("#fdd49e", "#e8603c", "#7f0000")
DIVERGING = ("#2166ac", "#f7f7f7", "#b2182b")  # RdBu of the same: less on one side, more on the other
# Eight colours that all kinds of colour vision tell apart (Okabe & Ito 2008).
QUALITATIVE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00", "#999999")

OUTLINE = {"outline_color": "#828c9a", "outline_width": "0.25"}  # seen on the lightest and on the darkest class
NO_VALUE = {"style": "b_diagonal", "color": "#9aa0a6", **OUTLINE}
NOTHING = {"color": "#ffffff", **OUTLINE}
REGION = {"color": "#e9eef5", "outline_color": "#33415c", "outline_width": "0.45"}


@dataclass(frozen=True)
class Graduated:
    """Classes of a number: `expression` with a place for each of `fields`.

    unit : what a number of the legend counts; none : the legend's words for zero; missing : those for no value
    steps : the ends of classes that are the same for all layers, from 0, so that a colour means the same everywhere;
    empty for classes of about as many values each
    unsure : fields, and an expression of them that holds where a value may be none: it is hatched
    singular : what the legend counts where the number is 1, for a number that is whole; empty where it need not be
    """

    fields: tuple[str, ...]
    expression: str
    unit: str
    none: str
    missing: str
    ramp: tuple[str, ...]
    steps: tuple[float, ...] = ()
    unsure: tuple[tuple[str, ...], str] = ((), "")
    singular: str = ""

    def renderer(self, layer: QgsVectorLayer) -> QgsFeatureRenderer | None:
        """None where the layer lacks the fields, or has no value to show."""
        expression = self.expression_in(layer)
        ranges = self.ranges(layer, _numbers(layer, expression)) if expression else []
        unsure = self._unsure_in(layer)
        if unsure:
            for interval in ranges[ranges[0].lowerValue() == MISSING :] if ranges else []:
                symbol = interval.symbol().clone()
                _hatch(symbol, unsure)
                interval.setSymbol(symbol)
        if not ranges:
            return None
        renderer = QgsGraduatedSymbolRenderer(f"coalesce({expression}, {MISSING:g})", ranges)
        renderer.setSourceSymbol(_symbol(layer, OUTLINE))
        middle = QgsGradientStop(0.5, QColor(self.ramp[1]))
        renderer.setSourceColorRamp(QgsGradientColorRamp(QColor(self.ramp[0]), QColor(self.ramp[-1]), False, [middle]))
        return renderer

    def expression_in(self, layer: QgsVectorLayer) -> str:
        """The expression with the fields as the layer has them; empty where it lacks one."""
        names = [field_of(layer, field) for field in self.fields]
        return "" if None in names else self.expression.format(*(f'"{name}"' for name in names))

    def _unsure_in(self, layer: QgsVectorLayer) -> str:
        """Where values are hatched; empty for nowhere."""
        fields, expression = self.unsure
        names = [field_of(layer, field) for field in fields]
        return "" if None in names else expression.format(*(f'"{name}"' for name in names))

    def ranges(self, layer: QgsVectorLayer, values: np.ndarray) -> list[QgsRendererRange]:
        """The classes of values, with their symbols and labels; none where there is no value."""
        known = values[np.isfinite(values)]
        if not known.size:
            return []
        positive = known[known > 0]
        breaks = self.steps if self.steps and positive.size else quantile_breaks(positive)
        classes = list(zip(_classes(breaks, bool(self.singular)), shades(self.ramp, len(breaks) - 1)))
        if self.steps and positive.size:  # the legend need not show what no value reaches
            first, last = to_list(np.searchsorted(breaks[1:], [positive.min(), positive.max()]))
            classes = classes[first : last + 1]
        ranges = [
            QgsRendererRange(
                low,
                high,
                _symbol(layer, {"color": colour, **OUTLINE}),
                f"{text} {self.singular if self.singular and high == 1 else self.unit}",
            )
            for (low, high, text), colour in classes
        ]
        if (known == 0).any():
            ranges.insert(0, QgsRendererRange(0.0, 0.0, _symbol(layer, NOTHING), self.none))
        if known.size < values.size:
            ranges.insert(0, QgsRendererRange(MISSING, MISSING, _symbol(layer, NO_VALUE), self.missing))
        return ranges


@dataclass(frozen=True)
class NestedLevels:
    """Regions of several levels: the finest by a number, the others as outlines on top, heavier the coarser."""

    finest: Graduated
    field: str = "vbas_level"

    def renderer(self, layer: QgsVectorLayer) -> QgsFeatureRenderer | None:
        """None where the layer has no levels; each level is a rule that can be switched off in the legend."""
        name = field_of(layer, self.field)
        if name is None:
            return None
        at = _numbers(layer, f'"{name}"')
        levels, n_regions = np.unique(at, return_counts=True)
        if not levels.size:
            return None
        titles = [
            plural("Level {level:g}: {n} region", "Level {level:g}: {n} regions", n, level=level)
            for level, n in zip(levels.tolist(), n_regions.tolist())
        ]
        titles = [
            tr("{title}, about {records} in each", title=title, records=counted.records(records)) if records else title
            for title, records in zip(titles, _records_within(layer, at, levels, n_regions))
        ]
        root = QgsRuleBasedRenderer.Rule(None)
        fill = self._finest(
            layer,
            f'"{name}" = {levels.min():g}',
            tr("{title} (finest)", title=titles[0]),
        )
        root.appendChild(fill)
        colours, widths = shades(OUTLINES, len(levels)), to_list(np.linspace(0.2, 1.3, max(len(levels), 2)))
        for level, title, colour, width in list(zip(to_list(levels), titles, colours, widths))[1:]:
            outline = {"style": "no", "outline_color": colour, "outline_width": f"{width:.2f}"}
            root.appendChild(QgsRuleBasedRenderer.Rule(_symbol(layer, outline), 0, 0, f'"{name}" = {level:g}', title))
        renderer = QgsRuleBasedRenderer(root)
        renderer.setOrderBy(QgsFeatureRequest.OrderBy([QgsFeatureRequest.OrderByClause(f'"{name}"', True)]))
        renderer.setOrderByEnabled(True)
        return renderer

    def _finest(self, layer: QgsVectorLayer, condition: str, title: str) -> QgsRuleBasedRenderer.Rule:
        """The rule of the finest level: classes of its number, the same for all where the layer has no such number."""
        expression = self.finest.expression_in(layer)
        if not expression:
            return QgsRuleBasedRenderer.Rule(_symbol(layer, REGION), 0, 0, condition, title)
        fill = QgsRuleBasedRenderer.Rule(None, 0, 0, condition, title)
        value = f"coalesce({expression}, {MISSING:g})"
        values = _numbers(layer, f"CASE WHEN {condition} THEN {value} END")
        values = values[np.isfinite(values)]
        below = "-1e308"  # classes meet at their ends: each begins above the one before
        for value_range in self.finest.ranges(layer, np.where(values == MISSING, np.nan, values)):
            between = f"{value} > {below} AND {value} <= {value_range.upperValue()!r}"
            fill.appendChild(
                QgsRuleBasedRenderer.Rule(value_range.symbol().clone(), 0, 0, between, value_range.label())
            )
            below = repr(value_range.upperValue())
        return fill


@dataclass(frozen=True)
class Categorised:
    """A colour per value of a text field with few values; in the order of `colours` where that names them.

    missing : the legend's words for no value; ours : the values that are ours and English, which the legend shows in
    the language of the user, None for all; symbol_style : of the symbols beside their colours
    """

    field: str
    colours: dict[str, str] = dataclass_field(default_factory=dict)
    missing: str = ""
    ours: tuple[str, ...] | None = None
    symbol_style: dict[str, str] = dataclass_field(default_factory=lambda: OUTLINE)

    def renderer(self, layer: QgsVectorLayer) -> QgsFeatureRenderer | None:
        """None where the layer lacks the field, has no value to show, or more of them than there are colours."""
        name = field_of(layer, self.field)
        if name is None:
            return None
        values = {python_value(value) for value in layer.uniqueValues(layer.fields().indexOf(name))}
        known = sorted(str(value) for value in values if value is not None)
        drawn = [*(value for value in self.colours if value in known), *(v for v in known if v not in self.colours)]
        if not 0 < len(drawn) <= len(QUALITATIVE):
            return None
        free = iter([colour for colour in QUALITATIVE if colour not in self.colours.values()] + list(QUALITATIVE))
        categories = [
            QgsRendererCategory(
                value,
                _symbol(layer, {"color": self.colours.get(value) or next(free), **self.symbol_style}),
                tr(value_text(value)) if self.ours is None or value in self.ours else value_text(value),
            )
            for value in drawn
        ]
        if len(known) < len(values):
            # The category without a value takes all the rest, NULL among them.
            categories.append(QgsRendererCategory(None, _symbol(layer, NO_VALUE), self.missing or tr("no value")))
        return QgsCategorizedSymbolRenderer(name, categories)


@dataclass(frozen=True)
class Plain:
    """The same symbol for all."""

    properties: dict[str, str]

    def renderer(self, layer: QgsVectorLayer) -> QgsFeatureRenderer:
        """Fits every layer."""
        return QgsSingleSymbolRenderer(_symbol(layer, self.properties))


def field_of(layer: QgsVectorLayer, name: str) -> str | None:
    """What a field is called in the layer: a Shapefile keeps ten characters, a database its own case."""
    there = {field.lower(): field for field in layer.fields().names()}
    return there.get(name.lower(), there.get(name[:DBF_NAME].lower()))


def quantile_breaks(values: np.ndarray) -> tuple[float, ...]:
    """Ends of at most CLASSES classes that hold about as many values each, rounded to few digits; none of no values.

    Where many values are the same, about as many different values each.
    values : (n,) positive; all lie between the first and the last end
    """
    if not values.size:
        return ()
    different = np.unique(values)
    inner = np.linspace(0.0, 1.0, min(CLASSES, len(different)) + 1)[1:-1]
    tried = [
        _rounded_breaks(values, np.quantile(these, inner), digits)
        for these in (values, different)
        for digits in range(2, 7)
    ]
    breaks = max(tried, key=len)  # the first of those with most classes: the fewest digits
    # One value alone may be round itself; and a rounded end may miss by the last bit of a floating number.
    return (min(breaks[0], values.min() * (1 - 1e-9)), *breaks[1:-1], max(breaks[-1], values.max() * (1 + 1e-9)))


def _rounded_breaks(values: np.ndarray, inner: np.ndarray, digits: int) -> tuple[float, ...]:
    low, high = _to_digits(values.min(), digits, np.floor), _to_digits(values.max(), digits, np.ceil)
    between = {_to_digits(value, digits, np.round) for value in to_list(inner)}
    return (low, *sorted(value for value in between if low < value < high), high)


def _to_digits(value: float, digits: int, how: Callable[[float], float]) -> float:
    step = 10.0 ** (int(np.floor(np.log10(value))) - digits + 1)
    return float(f"{how(value / step) * step:.12g}")


def _classes(breaks: Sequence[float], whole: bool = False) -> list[tuple[float, float, str]]:
    """Each class with its words: (low, high, "from – to"), or the number alone where both ends read the same.

    whole : the numbers are whole: above 2 and up to 5 is “3 – 5”
    """
    ends = [
        (low, high, _for_people(low + 1 if whole and high < ENDLESS else low), _for_people(high))
        for low, high in zip(breaks, breaks[1:])
    ]
    return [
        (
            low,
            high,
            first if first == last else tr("over {number}", number=first) if high >= ENDLESS else f"{first} – {last}",
        )
        for low, high, first, last in ends
    ]


def _for_people(number: float) -> str:
    return written(f"{number:.6g}")


def shades(ramp: tuple[str, ...], n: int) -> list[str]:
    """n colours from the light end of a ramp of three to the dark one; its middle for a single class."""
    stops = np.array([QColor(colour).getRgb()[:3] for colour in ramp], dtype=float)
    at = np.linspace(0.0, len(ramp) - 1.0, n) if n > 1 else np.array([(len(ramp) - 1) / 2])
    parts = [np.interp(at, np.arange(len(ramp), dtype=np.int64), stops[:, part]) for part in range(3)]
    return [QColor(*colour).name() for colour in np.round(np.column_stack(parts)).astype(np.int64).tolist()]


def _hatch(symbol: QgsSymbol, condition: str) -> None:
    """Thin lines over a polygon where a condition holds.

    In the legend, where no expression can be told, the lines are too far from each other to be seen.
    """
    if not isinstance(symbol, QgsFillSymbol):
        return
    lines = QgsLinePatternFillSymbolLayer.create({"angle": "45", "distance": "30"})
    lines.setSubSymbol(QgsLineSymbol.createSimple({"color": "#4b5563", "width": "0.12"}))
    property_of_layer = QgsProperty.fromExpression(f"coalesce({condition}, false)")
    lines.setDataDefinedProperty(QgsSymbolLayer.Property.PropertyLayerEnabled, property_of_layer)
    distance = QgsProperty.fromExpression(f"CASE WHEN {condition} THEN 1.2 END")
    lines.setDataDefinedProperty(QgsSymbolLayer.Property.PropertyLineDistance, distance)
    symbol.appendSymbolLayer(lines)


def _records_within(layer: QgsVectorLayer, at: np.ndarray, levels: np.ndarray, n_regions: np.ndarray) -> list[int]:
    """The released records that a region of each level, or a smaller one within it, shows on average, to two digits; 0
    where the layer does not say. Of released numbers alone. at : the level of each feature."""
    released = field_of(layer, "released")
    if released is None:
        return [0] * len(levels)
    records = np.nan_to_num(_numbers(layer, f'"{released}"'))
    within = np.cumsum([records[at == place].sum() for place in levels])
    return [round(float(f"{mean:.2g}")) for mean in within / n_regions]


def _numbers(layer: QgsVectorLayer, expression: str) -> np.ndarray:
    """Values of all features, NaN for none, (n,) float."""
    values, _ = QgsVectorLayerUtils.getValues(layer, expression)
    try:
        return np.array(values, dtype=float)  # None becomes NaN
    except (TypeError, ValueError):
        return np.array([python_value(value) for value in values], dtype=float)


def _symbol(layer: QgsVectorLayer, properties: dict[str, str]) -> QgsSymbol:
    """A symbol for the layer's kind of geometry, which is not always the output's: a format may know lines alone."""
    make = {"point": QgsMarkerSymbol, "line": QgsLineSymbol}.get(geometry_kind(layer), QgsFillSymbol)
    return make.createSimple(properties)
