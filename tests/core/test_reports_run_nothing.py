"""Pieces of reports with hostile text in every place that takes text: nothing of it is run, all of it is shown."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from vbas.core.report import pictures
from vbas.core.report.page import Report, Section, render
from vbas.core.report.pictures.svg import element, picture

from ..html_scripts import HARMLESS, HOSTILE, Page, assert_runs_no_more_than, assert_runs_nothing

SQUARES = np.array([shapely.box(i, 0, i + 1, 1) for i in range(3)], dtype=object)
VALUES = np.array([1.0, 2.0, 3.0])

PICTURES = {
    "map": lambda text: pictures.region_map(SQUARES, VALUES, [text] * 3, text),
    "map without shapes": lambda text: pictures.region_map(np.array([shapely.Polygon()]), VALUES[:1], [text], text),
    "hull": lambda text: pictures.in_hull(SQUARES[0], text),
    "bars beside each other": lambda text: pictures.horizontal_bars([text, "b"], [1.0, 900.0], text, 2.0, {0: text}),
    "histogram": lambda text: pictures.histogram(VALUES, text, text, text, mark=2.0),
    "bars": lambda text: pictures.bars({text: ([text, "b"], [1.0, 2.0])}, text, text),
    "lines": lambda text: pictures.lines({text: ([1.0, 2.0], [1.0, 2.0])}, text, text, text, level=1.0),
    "scatter": lambda text: pictures.scatter(
        [(text, text, 1.0, 1.0, True), ("2", text, 2.0, 2.0, False)], text, text, text, text
    ),
    "spread": lambda text: pictures.spread({text: (VALUES, VALUES), "b": (VALUES, VALUES)}, text, text, text),
    "sizes": lambda text: pictures.sizes(np.array([1, 2, 3]), text, text, text),
    "cloud": lambda text: pictures.cloud(VALUES, VALUES, text, text, text),
}


def page_with(picture: str) -> str:
    return render(Report("t", "v", sections=[Section("h", pictures=(picture,))]))


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_runs_nothing_of_its_texts(name, hostile):
    draw = PICTURES[name]
    assert_runs_no_more_than(page_with(draw(hostile)), page_with(draw(HARMLESS)))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_an_attribute_stays_an_attribute(hostile):
    page = assert_runs_nothing(page_with(picture(element("rect", data_name=hostile, width=1), 1, 1, "n", "d")))
    assert ("rect", {"data-name": hostile, "width": "1"}) in page.attributes


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_page_shows_its_texts_and_runs_nothing_of_them(hostile):
    def page(text):
        section = Section(text, (text, "b"), (text, "b"), [(text, 1), (1.5, text)], code=text)
        return render(Report(text, text, False, True, [section], text))

    assert_runs_no_more_than(page(hostile), page(HARMLESS))
    # Title, title, date, verdict, heading, paragraph, header, two cells, code: to the letter, braces not reckoned out.
    assert "".join(Page(page(hostile)).shown).count(hostile) == 10


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_map_shows_its_labels_to_the_letter(hostile):
    assert Page(page_with(PICTURES["map"](hostile))).shown.count(hostile) == 5  # map, areas, caption


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_names_as_they_are(name):
    text = "<b>a & b</b> “é”"
    assert text in "".join(Page(page_with(PICTURES[name](text))).shown)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_told_to_those_who_do_not_see_it(name):
    drawn = [attrs for tag, attrs in Page(page_with(PICTURES[name]("what it is"))).attributes if tag == "svg"]
    assert all(one.get("aria-hidden") == "true" or (one["role"] == "img" and one["aria-label"]) for one in drawn)


def test_the_page_forbids_what_it_does_not_need():
    page = Page(page_with(PICTURES["map"]("x")))
    policy = [
        attrs["content"] for tag, attrs in page.attributes if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert ("html", {"lang": "en"}) in page.attributes
    assert page.headings[:2] == [1, 2] and set(page.headings) == {1, 2}


def test_the_same_figure_is_the_same_page():
    first, second = (page_with(PICTURES["bars"]("a")) for _ in range(2))
    assert first == second
