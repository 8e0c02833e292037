"""Charts: how values are spread, go together, and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import counted
from ...arrays import to_list
from ...language import in_turn, tr
from ..numbers import formatted
from .axes import BOTTOM, RIGHT, TOP, WIDE, WIDTH, Axis, Frame, linear, logarithmic, with_outliers
from .svg import DASHES, FONT, INK, LETTER, MARK, QUIET, SERIES, caption, clipped, element, hint, legend, picture, words

BINS = 40
FILL = SERIES[0]
HALO: dict[str, Any] = {
    "stroke": "#fff",
    "stroke_width": 4,
    "paint_order": "stroke",
}  # so that lines behind a text do not cross it
LONGEST_NAME = 42
ROW = 22.0
GAP = 20.0
CLIPPED = 3.0  # so many times the upper quarter of the bars one is drawn; see `horizontal_bars`


class Point(NamedTuple):
    """A point of a scatter: its label, its name, where it is, whether it is marked, and the series it is of."""

    label: str
    name: str
    x: float
    y: float
    marked: bool
    series: str = ""


def histogram(values: np.ndarray, title: str, x_title: str, y_title: str, mark: float | None = None) -> str:
    """How often values occur; `mark` draws a dashed line, such as k."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if not len(known):
        return caption(tr("{title}: nothing to draw.", title=title))
    wholes = bool((known == np.rint(known)).all())
    low, high = float(known.min()), float(known.max())
    frequent = np.median(known)
    if wholes and low > 0 and high > WIDE * frequent:
        edges = np.unique(np.rint(np.geomspace(low, high + 1, BINS // 2 + 1))) - 0.5
    elif wholes:
        step = max(1.0, np.ceil((high - low + 1) / BINS))
        edges = np.arange(low - 0.5, high + 0.5 + step, step, dtype=float)
    else:
        edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    heights = np.histogram(known, edges)[0]
    ends = [np.floor(edges[0]), np.ceil(edges[-1])] if wholes else [edges[0], edges[-1]]
    around = np.array([*ends, *([] if mark is None else [mark])])
    if wholes and low > 0 and high > WIDE * frequent:
        across = logarithmic(tr("{x_title} (logarithmic)", x_title=x_title), around)
    else:
        across = linear(x_title, around, from_zero=low < 0.3 * high)
    frame = Frame(across, linear(y_title, heights))
    content = frame.drawn() + _columns(frame, edges, heights)
    text = title
    if mark is not None:
        content += _across(frame, x=mark)
        text = tr("{title}. The dashed line is at {mark}.", title=title, mark=formatted(mark))
    described = tr(
        "From {low} to {high}, median {middle}. Across: {x_title}; upwards: {y_title}.",
        low=formatted(low),
        high=formatted(high),
        middle=formatted(float(np.median(known))),
        x_title=x_title,
        y_title=y_title,
    )
    return picture(content, WIDTH, frame.height, title, described) + caption(text)


def bars(groups: Mapping[str, tuple[Sequence[str], Sequence[float]]], title: str, y_title: str) -> str:
    """A bar per name, group after group: {group: (names, heights)}."""
    names = [name for own, _ in groups.values() for name in own]
    lengths = [length for _, own in groups.values() for length in own]
    heads = dict(zip(np.cumsum([0, *(len(own) for own, _ in groups.values())], dtype=np.int64).tolist(), groups))
    return horizontal_bars(names, lengths, title if title == y_title else f"{title} ({y_title})", heads=heads)


def horizontal_bars(
    names: Sequence[str],
    lengths: Sequence[float],
    text: str,
    mark: float | None = None,
    heads: Mapping[int, str] | None = None,
) -> str:
    """A bar per name with its length; `mark` draws a dashed line down all bars.

    heads : headings before the bars of these positions. A bar that would press all others together is cut off, with a
    gap near its end; its length stands beside it all the same.
    """
    if not len(names):
        return caption(tr("{text}: nothing to draw.", text=text))
    heads = heads or {}
    column = min(max(LETTER * FONT * max(min(len(name), LONGEST_NAME) for name in names) + 10, 60.0), 310.0)
    room = WIDTH - column - LETTER * FONT * max(len(formatted(float(length))) for length in lengths) - 14
    values = np.asarray(lengths, dtype=float)
    limit = _limit(values, mark)
    scale = room / limit
    parts, y = [], 4.0
    for i, (name, length) in enumerate(zip(names, to_list(values))):
        if i in heads:
            y += 4 if i else 0
            parts.append(words(0, y + 15, clipped(heads[i], 80), font_weight="600", fill=INK))
            y += ROW
        parts.append(_bar(name, length, column, y, scale, limit))
        y += ROW
    if mark is not None:
        path = f"M{column + mark * scale:.1f} 0V{y:.1f}"
        parts.insert(0, element("path", d=path, stroke=MARK, stroke_width=1.5, stroke_dasharray="5 4"))
    if (values > limit).any():
        text = tr("{text} Bars with a gap are cut off: the number is their length.", text=text)
    described = in_turn(
        tr("{name}: {value}", name=name, value=formatted(length))
        for name, length in list(zip(names, to_list(values)))[:60]
    )
    return picture("".join(parts), WIDTH, y + 4, text, described) + caption(text)


def _limit(values: np.ndarray, mark: float | None) -> float:
    """The longest bar that is drawn whole."""
    longest, usual = float(values.max(initial=0.0)), float(np.quantile(values, 0.75))
    limit = CLIPPED * usual if 0 < 2 * CLIPPED * usual < longest else longest
    return max(limit, mark or 0.0, 1e-9)


def _bar(name: str, length: float, column: float, y: float, scale: float, limit: float) -> str:
    wide = max(min(length, limit) * scale, 0.5)
    top, tall = y + 3, ROW - 7
    shape = f"M{column:.1f} {top:.1f}h{wide:.1f}v{tall:.1f}h-{wide:.1f}z"
    if length > limit:  # two pieces, a slanted gap between them
        rest = wide - GAP
        shape = f"M{column:.1f} {top:.1f}h{rest:.1f}l-5 {tall:.1f}H{column:.1f}z"
        shape += f"M{column + rest + 5:.1f} {top:.1f}H{column + wide:.1f}v{tall:.1f}h-{GAP:.1f}z"
    drawn = element("path", hint(tr("{name}: {value}", name=name, value=formatted(length))), d=shape, fill=FILL)
    return (
        words(column - 7, y + 15, clipped(name, LONGEST_NAME), text_anchor="end", fill=INK)
        + drawn
        + words(column + wide + 5, y + 15, formatted(length), fill=QUIET, **HALO)
    )


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    x_title: str,
    y_title: str,
    level: float | None = None,
    from_zero: bool = True,
) -> str:
    """Lines with a mark at each value: {legend: (x, y)}; `level` draws a dashed line across.

    from_zero : whether the upward axis begins at 0
    """
    xs = np.concatenate([np.asarray(x, dtype=float) for x, _ in series.values()])
    ys = np.concatenate([np.asarray(y, dtype=float) for _, y in series.values()])
    above = ys if level is None else np.append(ys, level)
    frame = Frame(linear(x_title, xs, from_zero=False), linear(y_title, above, from_zero))
    content, key = frame.drawn(), []
    for i, (name, (x, y)) in enumerate(series.items()):
        colour, dash = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
        there = np.isfinite(np.asarray(x, dtype=float)) & np.isfinite(np.asarray(y, dtype=float))
        x, y = np.asarray(x, dtype=float)[there], np.asarray(y, dtype=float)[there]
        if len(x):
            path = frame.line(x, y)
            content += element("path", d=path, fill="none", stroke=colour, stroke_width=2, stroke_dasharray=dash)
        if len(x) <= BINS:
            content += "".join(
                element(
                    "circle",
                    hint(tr("{name}: {value}", name=name, value=f"{formatted(x[j])}, {formatted(y[j])}")),
                    cx=a,
                    cy=b,
                    r=3,
                    fill=colour,
                )
                for j, (a, b) in enumerate(zip(*map(to_list, frame.at(x, y))))
            )
        key.append((colour, dash, name))
    if level is not None:
        content += _across(frame, y=level)
    described = in_turn(_run_of(name, x, y) for name, (x, y) in series.items())
    whole = picture(
        content,
        WIDTH,
        frame.height,
        title,
        tr(
            "{described}. Across: {x_title}; upwards: {y_title}.", described=described, x_title=x_title, y_title=y_title
        ),
    )
    return whole + (legend(key) if len(key) > 1 else "") + caption(title)


def scatter(
    points: Sequence[tuple[str, str, float, float, bool] | Point],
    title: str,
    x_title: str,
    y_title: str,
    diamonds: str,
) -> str:
    """Points: the label stands next to a marked one, pointing at one shows its name. Outliers make an axis logarithmic.

    Each series has its colour; the marked points of a series are joined by a dotted line. diamonds : what is said of
    the marked ones, to be translated
    """
    every = [Point(*point) for point in points]
    x, y = (np.array([getattr(point, axis) for point in every], dtype=float) for axis in ("x", "y"))
    frame = Frame(with_outliers(x_title, x), with_outliers(y_title, y), 430.0)
    content, key = frame.drawn(), []
    names = list(dict.fromkeys(point.series for point in every))
    across, upwards = map(to_list, frame.at(x, y))
    for i, series in enumerate(names):
        colour = SERIES[i % len(SERIES)]
        own = sorted((j for j, point in enumerate(every) if point.series == series), key=lambda j: every[j].x)
        best = [j for j in own if every[j].marked]
        if len(best) > 1:
            path = "M" + "L".join(f"{across[j]:.1f} {upwards[j]:.1f}" for j in best)
            content += element("path", d=path, fill="none", stroke=colour, stroke_width=1, stroke_dasharray="2 3")
        for j in own:
            tooltip = hint(
                tr("{name}: {value}", name=every[j].name, value=f"{formatted(every[j].x)}, {formatted(every[j].y)}")
            )
            if every[j].marked:
                a, b = across[j], upwards[j]
                shape = f"M{a:.1f} {b - 7:.1f}l7 7l-7 7l-7-7z"
                content += element("path", tooltip, d=shape, fill=colour, stroke="#fff", stroke_width=1)
                content += words(a + 8, b - 6, every[j].label, fill=INK)
            else:
                content += element("circle", tooltip, cx=across[j], cy=upwards[j], r=4, fill=colour, fill_opacity=0.55)
        if series or len(best) < len(own):
            key.append((colour, "point", series or tr("others")))
    if any(point.marked for point in every):
        key.append((SERIES[0] if len(names) == 1 else QUIET, "diamond", tr(diamonds)))
    marked = in_turn(
        tr("{label}: {name}, {x} and {y}", label=p.label, name=p.name, x=formatted(p.x), y=formatted(p.y))
        for p in every
        if p.marked
    )
    described = tr(
        "{points}. Across: {x_title}; upwards: {y_title}.",
        points=counted.points(len(every)),
        x_title=x_title,
        y_title=y_title,
    )
    if marked:
        described += " " + tr("Diamonds, {diamonds}: {marked}.", diamonds=tr(diamonds), marked=marked)
    return picture(content, WIDTH, frame.height, title, described) + legend(key) + caption(title)


def spread(series: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str, x_title: str, y_title: str) -> str:
    """How positive values are spread, in per cent of the weights, over bins that widen with them.

    series : {legend: (values, weights)}.
    """
    everything = np.concatenate([values for values, _ in series.values()])
    edges = np.geomspace(everything.min() * 0.999, everything.max() * 1.001, BINS + 1)
    heights = {
        name: 100.0 * np.histogram(values, edges, weights=weights)[0] / weights.sum()
        for name, (values, weights) in series.items()
    }
    frame = Frame(logarithmic(x_title, edges), linear(y_title, np.concatenate(list(heights.values()))))
    content, key = frame.drawn(), []
    for i, (name, own) in enumerate(heights.items()):
        colour, dash = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
        steps = np.concatenate([[0.0], np.repeat(own, 2), [0.0]])
        path = frame.line(np.repeat(edges, 2), steps)
        content += element("path", d=path, fill=colour, fill_opacity=0.15, stroke="none")
        content += element("path", d=path, fill="none", stroke=colour, stroke_width=2, stroke_dasharray=dash)
        key.append((colour, dash, name))
    described = tr(
        "From {low} to {high}. Across: {x_title}.",
        low=formatted(float(everything.min())),
        high=formatted(float(everything.max())),
        x_title=x_title,
    )
    whole = picture(content, WIDTH, frame.height, title, described)
    return whole + (legend(key) if len(key) > 1 else "") + caption(title)


def sizes(counts: np.ndarray, title: str, x_title: str, y_title: str) -> str:
    """Per cent of the groups by their number; the last bar holds all larger ones."""
    step = max(1, int(np.ceil(np.percentile(counts, 99.5) / BINS)))
    place = np.minimum((counts - 1) // step, BINS)
    heights = 100.0 * np.bincount(place) / len(counts)
    first = 1 + step * np.arange(len(heights), dtype=np.int64)
    names = [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in first.tolist()]
    if len(names) > BINS:
        names[-1] = f"≥ {first[-1]}"
    frame = Frame(Axis(x_title, -0.6, len(names) - 0.4, names=tuple(names)), linear(y_title, heights))
    edges = np.arange(len(names) + 1, dtype=np.int64) - 0.5
    described = tr(
        "Half of them have at most {middle}, the largest {counts}.",
        middle=formatted(float(np.median(counts))),
        counts=formatted(counts.max()),
    )
    content = frame.drawn() + _columns(frame, edges, heights)
    return picture(content, WIDTH, frame.height, title, described) + caption(title)


def cloud(x: np.ndarray, y: np.ndarray, title: str, x_title: str, y_title: str) -> str:
    """A point for each pair of positive values, both axes logarithmic; points at one place are drawn once."""
    frame = Frame(
        logarithmic(tr("{x_title} (logarithmic)", x_title=x_title), x),
        logarithmic(tr("{y_title} (logarithmic)", y_title=y_title), y),
    )
    places = np.unique(np.rint(np.column_stack(frame.at(x, y))).astype(np.int64), axis=0)
    dots = "".join(f"M{a} {b}h.1" for a, b in to_list(places))
    content = frame.drawn() + element(
        "path", d=dots, stroke=FILL, stroke_width=7, stroke_linecap="round", stroke_opacity=0.35
    )
    described = tr(
        "{points}. Across: {x_title}; upwards: {y_title}.",
        points=counted.points(len(x)),
        x_title=x_title,
        y_title=y_title,
    )
    return picture(content, WIDTH, frame.height, title, described) + caption(title)


def _columns(frame: Frame, edges: np.ndarray, heights: np.ndarray) -> str:
    """Upright bars between the edges."""
    x, top = frame.at(edges, np.append(heights, 0.0))
    base = frame.height - BOTTOM
    return "".join(
        element(
            "rect",
            hint(formatted(height)),
            x=left,
            y=high,
            width=max(right - left - 1, 0.5),
            height=base - high,
            fill=FILL,
        )
        for left, right, high, height in zip(to_list(x[:-1]), to_list(x[1:]), to_list(top[:-1]), to_list(heights))
        if height
    )


def _across(frame: Frame, x: float | None = None, y: float | None = None) -> str:
    """A dashed line at a value."""
    if x is not None:
        a = float(frame.at(np.array([x]), np.array([frame.y.low]))[0][0])
        path = f"M{a:.1f} {TOP:.1f}V{frame.height - BOTTOM:.1f}"
    else:
        b = float(frame.at(np.array([frame.x.low]), np.array([y]))[1][0])
        path = f"M{frame.at(np.array([frame.x.low]), np.array([y]))[0][0]:.1f} {b:.1f}H{WIDTH - RIGHT:.1f}"
    return element("path", d=path, stroke=MARK, stroke_width=1.5, stroke_dasharray="5 4")


def _run_of(name: str, x: Sequence[float], y: Sequence[float]) -> str:
    """A line in words."""
    known = [(a, b) for a, b in zip(x, y) if np.isfinite(b)]
    if not known:
        return tr("{name}: nothing known", name=name)
    return tr(
        "{name}: from {first} to {last}",
        name=name,
        first=formatted(float(known[0][1])),
        last=formatted(float(known[-1][1])),
    )
