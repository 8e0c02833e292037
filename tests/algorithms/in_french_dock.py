"""The dock as a French reader sees it. Run by test_french.py, in a process that speaks French from its start."""

from __future__ import annotations

import pytest
from qgis.PyQt.QtWidgets import QComboBox, QWidget

from vbas.algorithms.candidates import rules_to_follow
from vbas.algorithms.window.choices import LABELS, choice_label
from vbas.core.configuration import CUSTOM
from vbas.core.language import language

from .explorer_window import choose_combination, choose_number, look, settle, wait_for
from .in_french import english, english_words, plain, texts_of
from .test_explorer import FIELDS, dock, entry
from .test_explorer_window import BAD

__all__ = ["dock", "english", "entry"]


OF_QT = {"Close", "Closes the dock widget", "Float", "Undocks and re-attaches the dock widget"}
OF_QT |= {"Full path to the file(s), including name and extension"}


def shown_in(dock):
    """All that its widgets show or say: labels, buttons, lists, tool tips, what a screen reader is told."""
    found = set(texts_of(dock))
    for one in (dock, *dock.findChildren(QWidget)):
        found |= {one.accessibleName(), one.accessibleDescription(), one.toolTip(), one.windowTitle(), one.whatsThis()}
        if isinstance(one, QComboBox):
            found |= {one.itemText(i) for i in range(one.count())}
    return {plain(one).strip() for one in found} - {""}


def test_nothing_in_the_dock_is_english(dock, entry, english):
    assert language() == "fr"
    window = entry.dock
    wait_for(lambda: not window.data.busy)
    seen = set()
    for step in range(5):
        window.go_to(step)
        wait_for(lambda: not (window.look.session.busy or window.decide.busy))
        seen |= shown_in(window)
    for nested in (False, True):
        dock.choices.nested.setChecked(nested)
        choose_combination(dock, CUSTOM, "random", "basic Voronoi")
        look(dock, *FIELDS)
        for number in (1, 9):
            choose_number(dock, number)
            seen |= shown_in(window)
    assert len(seen) > 40
    # Layers and fields have names of their own, and QGIS and Qt their words.
    assert not seen & english - {"areas", "people", *FIELDS, *OF_QT}
    named = {*OF_QT, *rules_to_follow(), *(choice_label(word) for word in LABELS)}  # published rules have names
    assert not {text for text in seen - named if english_words(text)}


@pytest.mark.parametrize("case", [case for case, (_, sentence) in BAD.items() if sentence is not None])
def test_nor_what_it_says_of_bad_input(dock, case):
    dock.data.tick(list(FIELDS))
    BAD[case][0](dock)
    dock.look.click()
    settle(dock)
    told = dock.message.text()
    assert told and BAD[case][1] not in told and not english_words(told), told
