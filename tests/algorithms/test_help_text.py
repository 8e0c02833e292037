"""The help as plain text, which qgis_process prints: all words of the HTML, none of its signs."""

from __future__ import annotations

import re

import pytest
from qgis.core import QgsApplication
from qgis.PyQt.QtGui import QTextDocument

from vbas.algorithms.catalogue import ALGORITHMS
from vbas.algorithms.form.help_panel import help_of, help_panel, help_text
from vbas.vbas_plugin.models import SUMMARIES, TITLES


@pytest.fixture
def algorithms(provider):
    return [QgsApplication.processingRegistry().algorithmById(f"vbas:{one.ID}") for one in ALGORITHMS]


def words(text):
    return re.findall(r"\w+", text)


def test_plain_text_has_all_words_and_no_tag(algorithms):
    for algorithm in algorithms:
        told, document = help_text(algorithm.HELP), QTextDocument()
        document.setHtml(algorithm.HELP)
        assert not re.search(r"<\w|</|&\w+;", told), algorithm.name()
        assert words(told) == words(document.toPlainText()), algorithm.name()


def test_boxes_that_a_help_says_to_tick_are_in_the_form(algorithms):
    named = []
    for algorithm in algorithms:
        boxes = [parameter.description() for parameter in algorithm.parameterDefinitions()]
        for box in re.findall(r"tick “([^”]+)”", help_text(algorithm.HELP)):
            assert box in boxes, algorithm.name()
            named.append(box)
    assert named


def test_lists_and_signs_stay_readable():
    html = "<p>First &amp; <b>last</b><br>line</p><ul><li>one</li><li>two: a &lt; b</li></ul>"
    assert help_text(html) == "First & last line\n- one\n- two: a < b"


def test_a_window_has_the_panel(algorithms):
    one = algorithms[0]
    assert help_of(one.HELP, one.parameterDefinitions()) == help_panel(one.HELP, one.parameterDefinitions())


@pytest.mark.parametrize("name", TITLES)
def test_models_say_what_they_are_and_are_found(provider, name):
    model = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}")
    assert model.shortDescription() == SUMMARIES[name]
    assert {"vbas", "k-anonymity", "workflow"} <= set(model.tags())
