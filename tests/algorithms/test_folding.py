"""The fields of a form: few at once, the others in groups that fold, choices in the user's language."""

from __future__ import annotations

import pytest
from qgis.core import QgsApplication
from qgis.PyQt.QtWidgets import QApplication, QComboBox

from vbas.algorithms.candidates import rules_to_follow
from vbas.algorithms.window import choices
from vbas.algorithms.window.groups import (
    FURTHER_OUTPUTS,
    FURTHER_SETTINGS,
    LESS_ASKED_FOR,
    LESS_OFTEN_SET,
    MOST_FIELDS,
    Parameter,
    folded,
)

from .dialogs import MOST_WORDS, cut_boxes, scrolls_sideways, words_of_help
from .test_dialogs import FORMS

MAIN = "anonymize"
# Formats, institutions and people, which read alike in all languages.
NAMES = {"CSV", "Parquet", "GeoPackage", "Poisson", "Bernoulli", "US Census Bureau", "Canadian Community Health Survey"}


@pytest.fixture
def opened(provider, qgis_iface, monkeypatch):
    """opened(id, parameters) -> the open dialog of a form."""
    import processing

    monkeypatch.setattr(qgis_iface, "browserModel", lambda: None, raising=False)
    dialogs = []

    def open_one(name, parameters=None):
        dialogs.append(processing.createAlgorithmDialog(f"vbas:{name}", parameters or {}))
        dialogs[-1].show()
        QApplication.processEvents()
        return dialogs[-1]

    yield open_one
    for dialog in dialogs:
        dialog.close()
        dialog.deleteLater()


def groups_of(dialog):
    return {fold.title: group for fold, group in dialog.mainWidget()._groups.items()}


def seen(dialog):
    """The parameters whose fields are seen without opening anything."""
    wrappers = dialog.mainWidget().wrappers
    return [name for name, wrapper in wrappers.items() if wrapper.wrappedWidget().isVisibleTo(dialog.mainWidget())]


@pytest.mark.slow
def test_no_form_scrolls_sideways_or_shows_much_at_once_or_needs_a_long_read(opened):
    wrong, cut = [], []
    for name in FORMS:
        dialog = opened(name)
        found = len(seen(dialog)), scrolls_sideways(dialog), words_of_help(dialog.algorithm())  # all is open by then
        if found[0] > MOST_FIELDS or found[1] or found[2] > MOST_WORDS:
            wrong.append((name, *found))
        cut += cut_boxes(dialog)
    assert not wrong and not cut


def test_the_main_form_shows_few_fields_and_has_all(opened):
    dialog = opened(MAIN)
    at_once = seen(dialog)
    assert len(at_once) <= MOST_FIELDS and {"REGIONS", "RECORDS", "QUASI_IDENTIFIERS", "K", "REPORT"} <= set(at_once)
    for group in groups_of(dialog).values():
        group.setCollapsed(False)
    QApplication.processEvents()
    assert set(seen(dialog)) == {one.name() for one in dialog.algorithm().parameterDefinitions()}


def test_every_folded_parameter_is_in_one_group(provider):
    for name in FORMS:
        definitions = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}").parameterDefinitions()
        advanced = {one.name() for one in definitions if one.flags() & one.FlagAdvanced}
        outputs = {one.name() for one in definitions if one.isDestination()}
        given = [Parameter(one.name(), one.name() in advanced, one.name() in outputs) for one in definitions]
        names = [each for fold in folded(given) for each in fold.names]
        assert len(names) == len(set(names)) and set(names) <= advanced | outputs | {*LESS_OFTEN_SET}


def test_settings_fold_where_outputs_are_not_enough():
    plain = [Parameter(f"INPUT_{i}", False, False) for i in range(MOST_FIELDS - 1)]
    settings = [Parameter(name, False, False) for name in LESS_OFTEN_SET[:3]]
    assert folded(plain + settings[:1]) == []
    (fold,) = folded(plain + settings[:2])  # one too many: one field alone is no group
    assert fold.title == FURTHER_SETTINGS and fold.names == LESS_OFTEN_SET[:2]


def test_outputs_fold_only_where_a_form_shows_too_many_fields():
    inputs = [Parameter(f"INPUT_{i}", False, False) for i in range(MOST_FIELDS - 2)]
    outputs = [Parameter(name, False, True) for name in LESS_ASKED_FOR[:3]]
    assert folded(inputs[:-1] + outputs) == []
    (fold,) = folded(inputs + outputs)
    assert fold.title == FURTHER_OUTPUTS and fold.names == LESS_ASKED_FOR[:1]


def test_what_is_set_is_seen(opened):
    dialog = opened(MAIN, {"MAX_SHARE": 40.0, "L_DIVERSITY": 2})
    groups = groups_of(dialog)
    sensitive = groups.pop("Persons and sensitive data")
    assert not sensitive.isCollapsed() and all(group.isCollapsed() for group in groups.values())
    sensitive.setCollapsed(True)
    assert sensitive.title() == "Persons and sensitive data (2 set)"
    sensitive.setCollapsed(False)
    assert sensitive.title() == "Persons and sensitive data"
    assert dialog.mainWidget().wrappers["MAX_SHARE"].parameterValue() == 40.0


def test_every_choice_of_every_form_has_words_to_read(provider):
    definitions = [one for name in FORMS for one in provider.algorithm(name).parameterDefinitions()]
    words = {word for one in definitions if one.type() == "enum" for word in one.options()}
    assert words - NAMES - {*rules_to_follow()} <= {*choices.LABELS}


def test_a_choice_of_several_reads_in_the_language_too_and_stays_the_word(opened, monkeypatch):
    monkeypatch.setattr(choices, "LABELS", {"cropping": "troncature"})
    dialog = opened("compare", {"BASELINES": [1]})
    assert "troncature (cropping)" in dialog.algorithm().parameterDefinition("BASELINES").options()
    assert dialog.mainWidget().wrappers["BASELINES"].parameterValue() == [1]
    run = dialog.algorithm().create()  # as QGIS does for each run
    assert "cropping" in run.parameterDefinition("BASELINES").options()


def test_a_choice_reads_in_the_language_and_stays_the_word(opened, monkeypatch):
    monkeypatch.setattr(choices, "LABELS", {"nested levels": "niveaux emboîtés"})
    wrapper = opened(MAIN).mainWidget().wrappers["RELEASE"]
    box: QComboBox = wrapper.wrappedWidget()
    assert [box.itemText(i) for i in range(box.count())] == ["one level", "niveaux emboîtés (nested levels)"]
    box.setCurrentIndex(1)
    assert wrapper.parameterValue() == "nested levels"
