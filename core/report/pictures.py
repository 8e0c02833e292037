"""Pictures for reports: maps as SVG, charts by plotly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import shapely

from ..errors import VbasError
from .page import CHART_CALL

MAP_WIDTH = 900
# A light and a dark end, mixed in between.
GREENS = ((238, 245, 240), (27, 122, 90))
REDS = ((253, 243, 234), (179, 38, 30))
LINE_COLOURS = ("#1b7a5a", "#7b3fa0", "#2a5fa5", "#c2711a", "#5b6470")


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
    # What is smaller than a third of a pixel cannot be seen.
    simple = shapely.simplify(shapes, 0.3 / scale)
    local = shapely.transform(simple, lambda c: (c - (west, north)) * (scale, -scale))
    shade = _ranks(np.asarray(values, dtype=float))
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


def histogram(values: np.ndarray, title: str, x_title: str, y_title: str, mark: float | None = None) -> str:
    """How often values occur, as a plotly fragment; `mark` draws a line, such as k."""
    graph = graph_objects()
    figure = graph.Figure(graph.Histogram(x=np.asarray(values).tolist(), marker_color="#2f8f6d"))
    if mark is not None:
        figure.add_vline(x=mark, line_dash="dash", line_color="#b3261e")
    return fragment(figure, title, x_title, y_title)


def bars(groups: dict[str, tuple[Sequence[str], Sequence[float]]], title: str, y_title: str) -> str:
    """Bars, one row of them per group (their heights may differ by orders): {group: (names, heights)}."""
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
    """A plotly figure as HTML to stand in a report; height in pixels."""
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
    """A value as JSON that may stand in a script of a page, its texts shown by plotly.js as they are.

    Names of fields and areas stand in charts. As entities their < and > can neither end the script nor begin the bit
    of markup (links, bold) that plotly.js takes in texts. plotly's own `to_html` leaves them in some versions.
    """
    return json.dumps(value, separators=(",", ":")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def graph_objects() -> Any:
    """plotly's graph objects. Raises VbasError where plotly is missing."""
    try:
        from plotly import graph_objects
    except ImportError as error:
        raise VbasError("The report needs the Python package plotly: install it, or leave REPORT empty.") from error
    return graph_objects


def _ranks(values: np.ndarray) -> np.ndarray:
    """Each value's rank from 0 to 1, equal values alike."""
    unique, position = np.unique(values, return_inverse=True)
    return position.reshape(-1) / max(len(unique) - 1, 1)


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
    """Points (label, name, x, y, marked): the label stands beside a marked point, the name shows on hovering."""
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
