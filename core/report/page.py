"""A report as a page: title, verdict, sections of text, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import VbasError

# How a chart among the pictures begins to draw; no text can contain it, since texts are escaped.
CHART_CALL = "<script>Plotly.newPlot("


@dataclass(frozen=True)
class Section:
    """A part of a report: paragraphs, then a table, then pictures (HTML or SVG from `pictures`)."""

    heading: str
    paragraphs: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    pictures: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """A whole report. verdict : one sentence; good : whether it is good news; internal : do not publish."""

    title: str
    verdict: str
    good: bool = True
    internal: bool = True
    sections: Sequence[Section] = field(default_factory=tuple)


def how_it_was_done(notes: Sequence[str], parameters: Sequence[tuple[str, object]]) -> Section:
    """The section that every report has. notes : sentences; parameters : label and value of each."""
    return Section("How it was done", tuple(notes), ("Parameter", "Value"), list(parameters))


def time_taken(step: str, seconds: Mapping[str, float]) -> Section:
    """Seconds by step; step : what a step is called."""
    return Section("Time", (), (step, "Seconds"), [(name, float(value)) for name, value in seconds.items()])


def render(report: Report) -> str:
    """The page as self-contained HTML. Raises VbasError where Jinja2 is missing."""
    try:
        import jinja2
    except ImportError as error:
        raise VbasError("The report needs the Python package jinja2: install it, or leave REPORT empty.") from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((Path(__file__).parent / "page.html.j2").read_text(encoding="utf-8"))
    charts = any(CHART_CALL in picture for section in report.sections for picture in section.pictures)
    return template.render(report=report, script=_plotly_script() if charts else "", shown=shown)


def shown(value: object) -> str:
    """A value as readers like it: thousands separated, no more digits than are meaningful."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, float):
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}".replace(",", "\u202f")
        text = f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"
        return text.replace(",", "\u202f")
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f") if abs(value) >= 10_000 else str(value)
    return str(value)


def _plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()
