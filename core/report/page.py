"""A report as a page: title, verdict, sections of text, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from ..dataclass import dataclass
from ..errors import VbasError
from ..language import language, tr
from .numbers import formatted_rows
from .sign import SIGNING, SignPage, texts_of_page
from .template import template_of

NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Section:
    """A part of a report: paragraphs, then a table, then pictures (HTML or SVG from `pictures`), then what is to be
    typed as it stands, such as a command."""

    heading: str
    paragraphs: Sequence[str] = ()
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    pictures: Sequence[str] = ()
    code: str = ""


@dataclass(frozen=True)
class Report:
    """A whole report. verdict : one sentence; good : whether it is good news; internal : do not publish; date : when
    it was made, empty for none; to_sign : whether it ends with a place to sign; sign : the first page, to be signed."""

    title: str
    verdict: str
    good: bool = True
    internal: bool = True
    sections: Sequence[Section] = field(default_factory=tuple)
    date: str = ""
    to_sign: bool = False
    sign: SignPage | None = None


def time_taken(step: str, seconds: Mapping[str, float]) -> Section:
    """Seconds by step; step : what a step is called."""
    return Section(
        tr("Time"), (), (step, tr("Seconds")), [(name, round(float(value), 2)) for name, value in seconds.items()]
    )


def render(report: Report) -> str:
    """The page as self-contained HTML that runs nothing. Raises VbasError where Jinja2 is missing."""
    try:
        template = template_of("page.html.j2")
    except ImportError as error:
        raise VbasError.saying(
            "The report needs the Python package jinja2: install it, or leave REPORT empty."
        ) from error
    sections = [section for section in report.sections if _has_content(section)]
    return template.render(
        report=report,
        sections=sections,
        cells_of=_cells_of,
        are_maps=_are_maps,
        texts=_texts(),
        of_sign=texts_of_page(),
        signing=SIGNING,
        language=language(),
    )


def _texts() -> dict[str, str | tuple[str, ...]]:
    """What stands on every page."""
    return {
        "internal": tr("Internal: for the custodian of the records. Do not publish this page."),
        "release": tr("For release: made from the released records, their regions and the areas alone."),
        "sections": tr("Sections"),
        "checked": tr("Checked by"),
        "to_sign": (tr("Name"), tr("Function"), tr("Date"), tr("Signature")),
    }


def _are_maps(section: Section) -> bool:
    """Whether all pictures of a section are maps, which stand side by side."""
    return all(picture.startswith('<svg role="img" class="map"') for picture in section.pictures)


def _has_content(section: Section) -> bool:
    return bool(section.paragraphs or section.rows or section.pictures or section.code)


def _cells_of(section: Section) -> list[list[tuple[str, bool]]]:
    """The cells of a section's table: what is shown, and whether it is a number."""
    numeric = [[isinstance(cell, NUMBERS) and not isinstance(cell, bool) for cell in row] for row in section.rows]
    return [list(zip(texts, kinds)) for texts, kinds in zip(formatted_rows(section.rows), numeric)]
