"""Axes of charts: from values to places on the page, with round marks."""

from __future__ import annotations

import numpy as np

from ...arrays import to_list
from ...dataclass import dataclass
from ...language import tr, written
from ..numbers import formatted
from .svg import FONT, GRID, INK, LETTER, QUIET, element, words

WIDTH, HEIGHT = 660.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 96.0, 30.0, 14.0, 56.0
WIDE = 20.0  # so many times the median the largest value is an outlier, and the axis logarithmic
STEPS = 6  # about so many of an axis


@dataclass(frozen=True)
class Axis:
    """An axis from low to high. logarithmic : low is above 0 then; names : of categories at 0, 1,
    2, …; step : between marks, a round one where None"""

    title: str
    low: float
    high: float
    logarithmic: bool = False
    names: tuple[str, ...] = ()
    step: float | None = None

    def places(self, values: np.ndarray) -> np.ndarray:
        """Where values are, 0 at the low end and 1 at the high one."""
        values = np.asarray(values, dtype=float)
        low, high = self.low, self.high
        if self.logarithmic:
            values, low, high = np.log10(np.maximum(values, low)), np.log10(low), np.log10(high)
        return (values - low) / max(high - low, 1e-300)

    def marks(self) -> list[tuple[float, str]]:
        """Values to label, and their labels."""
        if self.names:
            every = max(1, -(-len(self.names) // 10))
            return [(float(i), name) for i, name in enumerate(self.names) if i % every == 0]
        if self.logarithmic:
            powers = range(int(np.floor(np.log10(self.low))), int(np.ceil(np.log10(self.high))) + 1)
            steps = (1, 2, 5) if len(powers) <= 4 else (1,)
            values = [step * 10.0**power for power in powers for step in steps]
        else:
            apart = self.step or round_step(self.high - self.low)
            first, last = np.ceil(self.low / apart - 1e-9), np.floor(self.high / apart + 1e-9)
            values = to_list(np.arange(first, last + 1, dtype=np.int64) * apart)
        inside = [value for value in values if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9) or value == 0]
        return [(value, _mark(value)) for value in inside]


def linear(title: str, values: np.ndarray, from_zero: bool = True) -> Axis:
    """An axis for these values, its ends round."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low = min(low, 0.0) if from_zero else low
    if high <= low:
        high = low + max(abs(low), 1.0)
    step = round_step(high - low)
    if (known == np.rint(known)).all():
        step = max(step, 1.0)
    low, high = float(np.floor(low / step + 1e-9) * step), float(np.ceil(high / step - 1e-9) * step)
    return Axis(title, low, high, step=step)


def logarithmic(title: str, values: np.ndarray) -> Axis:
    """A logarithmic axis for these values, those above 0 at least; the others stand at its low end."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known) & (known > 0)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 10.0)
    ends = [step * 10.0**power for power in range(-12, 19) for step in (1, 2, 5)]
    below = max((end for end in ends if end <= low), default=low)
    above = min((end for end in ends if end >= high and end > below), default=high)
    return Axis(title, below, above, True)


def with_outliers(title: str, values: np.ndarray) -> Axis:
    """Linear from 0; logarithmic where an outlier would press all others together, which the title says."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if len(known) > 2 and known.min() > 0 and known.max() > WIDE * np.median(known):
        return logarithmic(tr("{title} (logarithmic)", title=title), known)
    return linear(title, known)


def round_step(extent: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, so that the extent has about six."""
    power = 10.0 ** np.floor(np.log10(max(extent, 1e-300) / STEPS))
    return float(min((digit * power for digit in (1, 2, 5, 10)), key=lambda step: abs(extent / step - STEPS)))


@dataclass(frozen=True)
class Frame:
    """A chart's two axes; `at` places values within it."""

    x: Axis
    y: Axis
    height: float = HEIGHT

    def at(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pixels of values."""
        wide, tall = WIDTH - LEFT - RIGHT, self.height - TOP - BOTTOM
        return LEFT + self.x.places(x) * wide, TOP + (1 - self.y.places(y)) * tall

    def line(self, x: np.ndarray, y: np.ndarray) -> str:
        """The data of a path through values."""
        return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(*map(to_list, self.at(x, y))))

    def drawn(self) -> str:
        """Grid, marks and titles."""
        right, bottom = WIDTH - RIGHT, self.height - BOTTOM
        parts = []
        for value, label in self.y.marks():
            y = float(self.at(np.array([self.x.low]), np.array([value]))[1][0])
            parts.append(element("path", d=f"M{LEFT:.1f} {y:.1f}H{right:.1f}", stroke=GRID, stroke_width=1))
            parts.append(words(LEFT - 7, y + 4.5, label, text_anchor="end", fill=QUIET))
        past = -np.inf
        for value, label in self.x.marks():
            x = float(self.at(np.array([value]), np.array([self.y.low]))[0][0])
            half = 0.5 * LETTER * FONT * len(label) + 4
            if x - half < past:
                continue
            past = x + half
            parts.append(element("path", d=f"M{x:.1f} {bottom:.1f}v5", stroke=QUIET, stroke_width=1))
            parts.append(words(x, bottom + 20, label, text_anchor="middle", fill=QUIET))
        parts.append(element("path", d=f"M{LEFT:.1f} {bottom:.1f}H{right:.1f}", stroke=QUIET, stroke_width=1))
        middle = 0.5 * (TOP + bottom)
        turned = f"rotate(-90 16 {middle:.1f})"
        parts.append(words(0.5 * (LEFT + right), self.height - 10, self.x.title, text_anchor="middle", fill=INK))
        parts.append(words(16, middle, self.y.title, text_anchor="middle", fill=INK, transform=turned))
        return "".join(parts)


def _mark(value: float) -> str:
    """A mark in few letters."""
    value += 0.0  # no -0
    if abs(value) >= 1e6:
        power = int(np.floor(np.log10(abs(value)) / 3) * 3)
        many = value / 10.0**power
        if power == 6:
            return tr("{n:g} million", n=many)
        return tr("{n:g} billion", n=many) if power == 9 else written(f"{value:.1e}")
    return formatted(value) if abs(value) >= 1000 else written(f"{value:.6g}")
