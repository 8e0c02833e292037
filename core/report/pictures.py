"""Pictures for reports: maps as SVG, charts by plotly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import shapely
from scipy.stats import rankdata

from ..errors import VbasError
from .page import CHART_CALL

MAP_WIDTH = 900
# A light and a dark end, and all shades between them.
GREENS = ((238, 245, 240), (27, 122, 90))
REDS = ((253, 243, 234), (179, 38, 30))
LINE_COLOURS = ("#1b7a5a", "#7b3fa0", "#2a5fa5", "#c2711a", "#5b6470")
SERIES_COLOURS = ("#2a5fa5", "#7b3fa0")
BINS = 40
EXAMPLE_WIDTH = 200


def region_map(
    shapes: np.ndarray,
    values: np.ndarray,
    labels: Sequence[str],
    caption: str,
    ramp: tuple[tuple[int, int, int], tuple[int, int, int]] = GREENS,
) -> str:
    """A map of polygons coloured by value, as SVG; hovering shows the label.

    shapes : (m,) polygons in planar coordinates; values : (m,) numbers, coloured by rank so that a few extremes do
    not hide the rest; labels : m texts.
    """
    bounds = shapely.total_bounds(shapes)
    if not np.isfinite(bounds).all():
        return f"<p>{escape(caption)}: no shapes to draw.</p>"
    west, south, east, north = bounds
    scale = MAP_WIDTH / max(east - west, (north - south) * 0.9, 1e-9)
    height = max((north - south) * scale, 1.0)
    width = max((east - west) * scale, 1.0)
    # Nothing smaller than a third of a pixel can be seen.
    simple = shapely.simplify(shapes, 0.3 / scale)
    local = shapely.transform(simple, lambda c: (c - (west, north)) * (scale, -scale))
    rank = rankdata(values, "dense") - 1
    shade = rank / max(rank.max(), 1)
    paths = [
        f'<path d="{_path(shape)}" fill="{_mix(ramp, tone)}"><title>{escape(label)}</title></path>'
        for shape, tone, label in zip(local, shade, labels)
    ]
    # Outlines must not cover what they surround: thousands of regions on one map are a pixel each.
    outline = min(0.5, 0.08 * scale * float(np.sqrt(np.median(shapely.area(shapes)))))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width + 2:.0f} {height + 2:.0f}" '
        f'width="{width + 2:.0f}" stroke="#5b6470" stroke-width="{outline:.2f}" fill-rule="evenodd">'
        f"{''.join(paths)}</svg>"
        f"<figcaption>{escape(caption)}</figcaption>"
    )


def horizontal_bars(names: Sequence[str], lengths: Sequence[float], caption: str, mark: float | None = None) -> str:
    """A bar per name, as SVG; hovering shows the length; `mark` draws a dashed line down all bars."""
    step, text, room = 20, 300, 520
    scale = room / max([*lengths, mark or 0.0, 1e-9])
    rows = "".join(
        f'<text x="{text - 8}" y="{i * step + 14}" text-anchor="end" font-size="12">{escape(_clipped(name))}</text>'
        f'<rect x="{text}" y="{i * step + 4}" width="{max(length * scale, 0.5):.1f}" height="13" fill="#2f8f6d">'
        f"<title>{escape(name)}: {length:,.0f}</title></rect>"
        f'<text x="{text + length * scale + 4:.1f}" y="{i * step + 14}" font-size="11" fill="#5b6470">{length:,.0f}'
        "</text>"
        for i, (name, length) in enumerate(zip(names, lengths))
    )
    height = step * len(names) + 6
    line = (
        f'<line x1="{text + mark * scale:.1f}" x2="{text + mark * scale:.1f}" y1="0" y2="{height}" stroke="#b3261e" '
        'stroke-dasharray="5 4"/>'
        if mark is not None
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {text + room + 80} {height}" '
        f'width="{text + room + 80}">{rows}{line}</svg><figcaption>{escape(caption)}</figcaption>'
    )


def _clipped(name: str, most: int = 46) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def histogram(values: np.ndarray, title: str, x_title: str, y_title: str, mark: float | None = None) -> str:
    """How often values occur, as a plotly fragment; `mark` draws a line, such as k."""
    graph = graph_objects()
    figure = graph.Figure(graph.Histogram(x=np.asarray(values).tolist(), marker_color="#2f8f6d"))
    if mark is not None:
        figure.add_vline(x=mark, line_dash="dash", line_color="#b3261e")
    return fragment(figure, title, x_title, y_title)


def bars(groups: Mapping[str, tuple[Sequence[str], Sequence[float]]], title: str, y_title: str) -> str:
    """Bars, a row of them per group (heights may differ by orders of magnitude): {group: (names, heights)}."""
    graph_objects()
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=max(len(groups), 1), cols=1, shared_xaxes=True, subplot_titles=list(groups), vertical_spacing=0.12
    )
    for row, (names, heights) in enumerate(groups.values(), 1):
        figure.add_bar(x=list(names), y=list(heights), marker_color="#2f8f6d", showlegend=False, row=row, col=1)
        figure.update_yaxes(title_text=y_title, row=row, col=1)
    return fragment(figure, title, height=220 * len(groups) + 260)


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    x_title: str,
    y_title: str,
    level: float | None = None,
) -> str:
    """Lines with a mark at each value: {legend: (x, y)}, as a plotly fragment; `level` draws a dashed line across."""
    graph = graph_objects()
    figure = graph.Figure(
        [
            graph.Scatter(name=name, x=list(x), y=list(y), mode="lines+markers", line_color=colour)
            for (name, (x, y)), colour in zip(series.items(), cycle(LINE_COLOURS))
        ]
    )
    if level is not None:
        figure.add_hline(y=level, line_dash="dash", line_color="#b3261e")
    return fragment(figure, title, x_title, y_title)


def fragment(figure: Any, title: str, x_title: str = "", y_title: str = "", height: int = 420) -> str:
    """A plotly figure as HTML for a report; height in pixels."""
    figure.update_layout(title=title, template="plotly_white", height=height, margin={"t": 60})
    if x_title or y_title:
        figure.update_layout(xaxis_title=x_title, yaxis_title=y_title)
    drawn = json.loads(figure.to_json())
    data, layout = script_value(drawn["data"]), script_value(drawn["layout"])
    return (
        f'<div class="plotly-graph-div"></div>{CHART_CALL}document.currentScript.previousElementSibling,'
        f'{data},{layout},{{"responsive":true}})</script>'
    )


def script_value(value: object) -> str:
    """A value as JSON that is safe in a script of a page; plotly.js shows its texts as they are.

    Charts show names of fields and areas. As entities, their < and > can neither end the script nor begin the markup
    (links, bold) that plotly.js accepts in texts. plotly's own `to_html` leaves them unescaped in some versions.
    """
    return json.dumps(value, separators=(",", ":")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def graph_objects() -> Any:
    """plotly's graph objects. Raises VbasError where plotly is missing."""
    try:
        from plotly import graph_objects
    except ImportError as error:
        raise VbasError("The report needs the Python package plotly: install it, or leave REPORT empty.") from error
    return graph_objects


def _mix(ramp: tuple[tuple[int, int, int], tuple[int, int, int]], tone: float) -> str:
    light, dark = ramp
    return "#" + "".join(f"{round(a + (b - a) * tone):02x}" for a, b in zip(light, dark))


def _path(shape: shapely.Geometry) -> str:
    rings = [
        ring
        for polygon in shapely.get_parts(shape)
        if polygon.geom_type == "Polygon" and not polygon.is_empty
        for ring in (polygon.exterior, *polygon.interiors)
    ]
    return "".join(
        "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in shapely.get_coordinates(ring)[:-1].tolist()) + "Z"
        for ring in rings
    )


def scatter(points: Sequence[tuple[str, str, float, float, bool]], title: str, x_title: str, y_title: str) -> str:
    """Points (label, name, x, y, marked): the label stands next to a marked point, hovering shows the name."""
    graph = graph_objects()
    figure = graph.Figure()
    looks = (
        (False, "others", {"color": "#8a94a0", "size": 8}),
        (True, "not beaten in both by any other", {"color": "#1b7a5a", "size": 12, "symbol": "diamond"}),
    )
    for wanted, legend, marker in looks:
        chosen = sorted((point for point in points if point[4] == wanted), key=lambda point: point[2])
        figure.add_scatter(
            x=[point[2] for point in chosen],
            y=[point[3] for point in chosen],
            text=[point[0] for point in chosen],
            hovertext=[point[1] for point in chosen],
            mode="lines+markers+text" if wanted else "markers",
            line={"color": "#1b7a5a", "dash": "dot", "width": 1},
            textposition="top right",
            marker=marker,
            name=legend,
        )
    figure.update_layout(legend={"orientation": "h", "y": -0.15})
    return fragment(figure, title, x_title, y_title, 560)


def spread(series: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str, x_title: str, y_title: str) -> str:
    """How positive values are spread, in per cent of the weights, over bins that widen with them; a plotly fragment.

    series : {legend: (values, weights)}.
    """
    graph = graph_objects()
    everything = np.concatenate([values for values, _ in series.values()])
    edges = np.geomspace(everything.min() * 0.999, everything.max() * 1.001, BINS + 1)
    middles = np.sqrt(edges[:-1] * edges[1:]).tolist()
    figure = graph.Figure()
    for (name, (values, weights)), colour in zip(series.items(), SERIES_COLOURS):
        heights = 100.0 * np.histogram(values, edges, weights=weights)[0] / weights.sum()
        line = {"color": colour, "shape": "hvh", "width": 2}
        figure.add_trace(graph.Scatter(name=name, x=middles, y=heights.tolist(), line=line, fill="tozeroy"))
    figure.update_layout(showlegend=len(series) > 1)
    figure.update_xaxes(**_logarithmic(everything))
    return fragment(figure, title, x_title, y_title)


def sizes(counts: np.ndarray, title: str, x_title: str, y_title: str) -> str:
    """Per cent of the groups by their number of cells, as a plotly fragment; the last bar holds all larger ones."""
    graph = graph_objects()
    step = max(1, int(np.ceil(np.percentile(counts, 99.5) / BINS)))
    place = np.minimum((counts - 1) // step, BINS)
    heights = 100.0 * np.bincount(place) / len(counts)
    first = 1 + step * np.arange(len(heights))
    names = [str(one) if step == 1 else f"{one}-{one + step - 1}" for one in first.tolist()]
    if len(names) > BINS:
        names[-1] = f"≥ {first[-1]}"
    figure = graph.Figure(graph.Bar(x=names, y=heights.tolist(), marker_color=SERIES_COLOURS[0]))
    figure.update_xaxes(type="category")
    return fragment(figure, title, x_title, y_title)


def cloud(x: np.ndarray, y: np.ndarray, title: str, x_title: str, y_title: str) -> str:
    """A point for each pair of values, both axes logarithmic, as a plotly fragment."""
    graph = graph_objects()
    marker = {"color": SERIES_COLOURS[0], "size": 4, "opacity": 0.35}
    figure = graph.Figure(graph.Scatter(x=x.tolist(), y=y.tolist(), mode="markers", marker=marker, hoverinfo="skip"))
    figure.update_xaxes(**_logarithmic(x))
    figure.update_yaxes(**_logarithmic(y))
    return fragment(figure, title, x_title, y_title)


def in_hull(shape: shapely.Geometry, caption: str) -> str:
    """A group inside its convex hull, as SVG. shape : planar polygon or multipolygon."""
    west, south, east, north = shape.bounds
    scale = EXAMPLE_WIDTH / max(east - west, north - south)

    def path(polygon: shapely.Geometry) -> str:
        return _path(shapely.transform(polygon, lambda c: (c - (west, north)) * (scale, -scale)))

    width, height = (east - west) * scale, (north - south) * scale
    return (
        f'<div><svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4:.0f} {height + 4:.0f}" '
        f'width="{width + 4:.0f}" fill-rule="evenodd"><path d="{path(shapely.convex_hull(shape))}" fill="#eef2f9" '
        f'stroke="#7b3fa0" stroke-dasharray="4 3"/><path d="{path(shape)}" fill="#2a5fa5"/></svg>'
        f"<figcaption>{escape(caption)}</figcaption></div>"
    )


def _logarithmic(values: np.ndarray) -> dict[str, Any]:
    """A logarithmic axis for values above 0, labelled at 1, 2 and 5."""
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    ticks = [step * 10.0**power for power in np.arange(low, high + 1) for step in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
