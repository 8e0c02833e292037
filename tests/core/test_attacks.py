"""The attacks of benchmarks/attacks.py: each finds something without its cure, and nothing with it."""

from __future__ import annotations

import pytest

from vbas.benchmarks import attack_cases, attacks, side_files
from vbas.benchmarks.attack_places import K, city

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place():
    return city()


def test_classes_of_visits_hold_fewer_than_five_patients_unless_k_counts_persons(place):
    row = attack_cases.visits(place)
    assert row.before > 100 and row.after == 0


def test_weighted_classes_rest_on_few_respondents_and_the_log_says_so(place):
    row = attack_cases.weights(place)
    assert row.before > 100 and row.after == 0 and row.shown_after.startswith("warned of")


def test_no_further_field_that_gives_something_away_passes_without_a_word(place):
    rows = {row.attack: row for row, _ in attack_cases.kept_fields(place)}
    assert len(rows) == 6 and all(row.before > 1000 and row.after == 0 for row in rows.values())
    warned = {name for name, row in rows.items() if row.shown_after == "warned of"}
    assert warned == {"exact age beside age groups"}


def test_no_class_has_one_diagnosis_where_two_are_asked_for(place):
    row = attack_cases.one_diagnosis(place)
    assert row.before > 10 and row.after == 0


def test_no_class_shows_what_most_of_its_patients_have_whatever_their_further_visits_say(place):
    row = attack_cases.told_by_visits(place)
    assert row.before > 10 and row.after == 0


def test_published_totals_tell_no_suppressed_class(place):
    row = attack_cases.margins(place, place.records())
    assert row.before > 5 and row.after == 0


def test_raw_names_come_back_from_a_log_unless_the_delivery_removes_it():
    pytest.importorskip("osgeo", reason="GDAL is not there")
    assert side_files.names_that_come_back(cured=False) == side_files.N_NAMES
    assert side_files.names_that_come_back(cured=True) == 0


def test_every_attack_of_the_table_has_the_figure_first_found(place, monkeypatch):
    def few(*_):
        yield attack_cases.Row("8 and 10 regions", "", 0, 0, "", "")

    monkeypatch.setattr(attack_cases, "releases", few)
    monkeypatch.setattr(attack_cases, "update", lambda *_: next(few()))
    keys = {key for key, _ in attacks.cases(place)}
    assert keys <= set(attacks.FIRST_FOUND) and len(keys) == 13 and K == 5
