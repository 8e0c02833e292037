"""Every form as a French reader sees it. Run by test_french.py, in a process that speaks French from its start."""

from __future__ import annotations

import gettext
from typing import Any

import pytest
from qgis.core import QgsApplication, QgsProject
from qgis.PyQt.QtGui import QTextDocument
from qgis.PyQt.QtWidgets import QAbstractButton, QGroupBox, QLabel, QTabWidget, QTextBrowser

from vbas.algorithms.layers.delivery.styles import style
from vbas.core.language import CATALOGUES, language

from .conftest import make_layer
from .dialogs import MOST_WORDS, cut_boxes, scrolls_sideways, words_of_help
from .test_dialogs import FORMS

# Words that every English sentence of some length has, and no French one.
ENGLISH_WORDS = {"the", "of", "is", "are", "and", "with", "which", "from", "their"}
# What stays English: operators of the command line, titles of papers.
SPOKEN_ENGLISH = (
    "Local indicators of spatial association",
    "Mapping disease and mortality rates using empirical Bayes estimators",
    "is not missing",
    "is missing",
    "Geomasking sensitive health data and privacy protection",
    "Privacy in spatial data with high resolution and time invariance",
)


@pytest.fixture(scope="module")
def english():
    """The English texts that read differently in French."""
    with (CATALOGUES / "fr.mo").open("rb") as stream:
        translations: Any = gettext.GNUTranslations(stream)
    pairs = translations._catalog.items()
    return {text for text, french in pairs if isinstance(text, str) and text and text != french}


@pytest.fixture
def dialog(provider, qgis_iface, monkeypatch):
    """dialog(id) -> the open form of an algorithm, of QGIS or of ours."""
    import processing

    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    opened = []

    def open_one(name):
        opened.append(processing.createAlgorithmDialog(name, {}))
        opened[-1].show()
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
        one.deleteLater()
    QgsProject.instance().clear()


def texts_of(dialog):
    """What the widgets of a form show, without the markup, the keys of buttons, and “optional” of QGIS."""
    found = [(one, one.text()) for kind in (QLabel, QAbstractButton) for one in dialog.findChildren(kind)]
    found += [(one, one.title()) for one in dialog.findChildren(QGroupBox)]
    found += [(one, one.tabText(i)) for one in dialog.findChildren(QTabWidget) for i in range(one.count())]
    found += [(one, one.toolTip()) for one, _ in list(found)]
    return {text.replace("&", "").replace(" [optional]", "").strip() for _, text in found if text}


def english_words(text):
    """The English words of a text, apart from what is quoted: the words of the command line."""
    for one in SPOKEN_ENGLISH:
        text = text.replace(one, "")
    quoted = False
    words = []
    for word in text.replace("«", " « ").replace("»", " » ").replace("'", " ").split():
        quoted = word == "«" if word in "«»" else quoted
        words += [] if quoted else [word.strip(".,;:()").lower()]
    return ENGLISH_WORDS & set(words)


def plain(html):
    document = QTextDocument()
    document.setHtml(html)
    return document.toPlainText()


def test_french_is_spoken():
    assert language() == "fr"


@pytest.mark.parametrize("name", FORMS)
def test_nothing_in_a_form_is_english(dialog, english, name):
    form = dialog(f"vbas:{name}")
    algorithm = form.algorithm()
    shown = texts_of(form)
    assert algorithm.parameterDefinitions()[0].description() in shown or name == "editregister"
    # QGIS has words of its own around every form.
    assert not (shown - texts_of(dialog("native:dissolve"))) & english
    for browser in form.findChildren(QTextBrowser):
        assert not english_words(browser.toPlainText())
    assert scrolls_sideways(form) == 0
    assert not cut_boxes(form)
    assert words_of_help(algorithm) <= MOST_WORDS


@pytest.mark.parametrize("name", FORMS)
def test_no_help_of_a_form_is_english(provider, english, name):
    algorithm = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").create()
    definitions = algorithm.parameterDefinitions()
    titles = [algorithm.displayName(), algorithm.group()]
    titles += [one.description() for one in (*definitions, *algorithm.outputDefinitions())]
    titles += [header for definition in definitions if definition.type() == "matrix" for header in definition.headers()]
    assert not set(titles) & english
    helps = [
        plain(algorithm.shortHelpString()),
        algorithm.shortDescription(),
        *(definition.help() for definition in definitions),
    ]
    for text in helps:
        assert not english_words(text), text
    # The choices are the words of the command line, the same in every language.
    choices = [word for definition in definitions if definition.type() == "enum" for word in definition.options()]
    assert all(word.isascii() for word in choices)


def test_the_legend_of_dots_translates_our_word_and_no_category_of_theirs(qgis_app):
    layer = make_layer({"category": ["others", "rural"]}, ["Point(0 0)", "Point(1 1)"], "EPSG:26914")
    style(layer, "POINTS")
    assert [item.label() for item in layer.renderer().legendSymbolItems()] == ["autres", "rural"]
