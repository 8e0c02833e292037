"""Pictures of a partition of cells: how sizes and precision are spread, and groups inside their hulls."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import shapely

from .pictures import fragment, graph_objects

BINS = 40
COLOURS = ("#2a5fa5", "#7b3fa0")
EXAMPLE_WIDTH = 200


def spread(series: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str, x_title: str, y_title: str) -> str:
    """How positive values are spread, in per cent of the weights, over bins that widen with them; a plotly fragment.

    series : {legend: (values, weights)}.
    """
    graph = graph_objects()
    everything = np.concatenate([values for values, _ in series.values()])
    edges = np.geomspace(everything.min() * 0.999, everything.max() * 1.001, BINS + 1)
    middles = np.sqrt(edges[:-1] * edges[1:]).tolist()
    figure = graph.Figure()
    for (name, (values, weights)), colour in zip(series.items(), COLOURS):
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
    figure = graph.Figure(graph.Bar(x=names, y=heights.tolist(), marker_color=COLOURS[0]))
    figure.update_xaxes(type="category")
    return fragment(figure, title, x_title, y_title)


def cloud(x: np.ndarray, y: np.ndarray, title: str, x_title: str, y_title: str) -> str:
    """A point for each pair of values, both axes logarithmic, as a plotly fragment."""
    graph = graph_objects()
    marker = {"color": COLOURS[0], "size": 4, "opacity": 0.35}
    figure = graph.Figure(graph.Scatter(x=x.tolist(), y=y.tolist(), mode="markers", marker=marker, hoverinfo="skip"))
    figure.update_xaxes(**_logarithmic(x))
    figure.update_yaxes(**_logarithmic(y))
    return fragment(figure, title, x_title, y_title)


def in_hull(shape: shapely.Geometry, caption: str) -> str:
    """A group inside its convex hull, as SVG. shape : planar polygon or multipolygon."""
    west, south, east, north = shape.bounds
    scale = EXAMPLE_WIDTH / max(east - west, north - south)

    def path(polygon: shapely.Geometry) -> str:
        local = shapely.transform(polygon, lambda c: (c - (west, north)) * (scale, -scale))
        rings = [ring for part in shapely.get_parts(local) for ring in (part.exterior, *part.interiors)]
        return "".join(
            "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in shapely.get_coordinates(ring)[:-1].tolist()) + "Z"
            for ring in rings
        )

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
