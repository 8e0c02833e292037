"""Pieces of reports with hostile text in every place that takes text: nothing of it is run, all of it is shown."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from vbas.core.report import pictures
from vbas.core.report.page import Report, Section, render

from ..html_scripts import HARMLESS, HOSTILE, Page, assert_runs_no_more_than

SQUARES = np.array([shapely.box(i, 0, i + 1, 1) for i in range(3)], dtype=object)
VALUES = np.array([1.0, 2.0, 3.0])

PICTURES = {
    "map": lambda text: pictures.region_map(SQUARES, VALUES, [text] * 3, text),
    "map without shapes": lambda text: pictures.region_map(np.array([shapely.Polygon()]), VALUES[:1], [text], text),
    "hull": lambda text: pictures.in_hull(SQUARES[0], text),
    "histogram": lambda text: pictures.histogram(VALUES, text, text, text, mark=2.0),
    "bars": lambda text: pictures.bars({text: ([text, "b"], [1.0, 2.0])}, text, text),
    "lines": lambda text: pictures.lines({text: ([1.0, 2.0], [1.0, 2.0])}, text, text, text, level=1.0),
    "scatter": lambda text: pictures.scatter(
        [(text, text, 1.0, 1.0, True), ("2", text, 2.0, 2.0, False)], text, text, text
    ),
    "spread": lambda text: pictures.spread({text: (VALUES, VALUES), "b": (VALUES, VALUES)}, text, text, text),
    "sizes": lambda text: pictures.sizes(np.array([1, 2, 3]), text, text, text),
    "cloud": lambda text: pictures.cloud(VALUES, VALUES, text, text, text),
}


def page_with(picture: str) -> str:
    return render(Report("t", "v", sections=[Section("h", pictures=(picture,))]))


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_runs_nothing_of_its_texts(name, hostile):
    draw = PICTURES[name]
    assert_runs_no_more_than(page_with(draw(hostile)), page_with(draw(HARMLESS)))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_page_shows_its_texts_and_runs_nothing_of_them(hostile):
    def page(text):
        section = Section(text, (text, "b"), (text, "b"), [(text, 1), (1.5, text)])
        return render(Report(text, text, False, True, [section]))

    assert_runs_no_more_than(page(hostile), page(HARMLESS))
    # Title, title, verdict, heading, paragraph, header and two cells: to the letter, braces not reckoned out.
    assert "".join(Page(page(hostile)).shown).count(hostile) == 8


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_map_shows_its_labels_to_the_letter(hostile):
    assert Page(page_with(PICTURES["map"](hostile))).shown.count(hostile) == 4


def test_a_chart_shows_names_as_they_are_and_its_data_whole():
    # plotly.js takes texts for a little markup of its own (<b>, <a href>): escaped, they are shown as they are.
    chart = Page(page_with(PICTURES["lines"]("<b>a & b</b>"))).charts[0]
    assert '"name":"&lt;b&gt;a &amp; b&lt;/b&gt;"' in chart
    assert '"x":[1.0,2.0]' in chart
    assert Page(page_with(PICTURES["lines"]("Ünîcode “é”"))).charts[0].count("\\u201c\\u00e9\\u201d") > 2


def test_the_same_figure_is_the_same_page():
    first, second = (page_with(PICTURES["bars"]("a")) for _ in range(2))
    assert first == second
