"""How coarse quasi-identifiers are asked for, as typed."""

from __future__ import annotations

import pytest

from vbas.core.errors import InputError
from vbas.core.generalising.asked import generalising_asked, steps_asked
from vbas.core.records.columns import column_from_values
from vbas.core.records.table import RecordTable

QUASI = ("age", "Sex")
HIERARCHIES = [["sex", "sex", "sex"], ["F", "M", "X"], ["F", "other", "other"], ["*", "*", "*"]]


def table():
    column = column_from_values
    return RecordTable(column(list("aabb")), {"age": column([3, 7, 14, 15]), "Sex": column(["F", "M", "X", "F"])}, {})


def test_values_are_shown_as_coarse_as_is_asked_and_could_be_shown_coarser():
    asked = generalising_asked(QUASI, ["sex", " 1 "], ["AGE", "bands 5 10"], HIERARCHIES)
    assert asked.names == {"age", "Sex"}
    assert asked.node(QUASI) == [0, 1]
    shown = asked.shown(table())
    sex = shown.quasi_identifiers["Sex"]
    assert sex.categories[sex.codes].tolist() == ["F", "other", "other", "F"]
    assert shown.quasi_identifiers["age"] is not None and "age" not in shown.coarsened
    assert {name: len(every) for name, every in asked.still_coarser(shown).items()} == {"age": 3, "Sex": 2}
    assert steps_asked("LEVELS_COARSER", ["Sex", 2, "age", 1], shown, asked.still_coarser(shown)) == [
        ("Sex", 1),
        ("age", 1),
    ]


def test_nothing_asked_changes_nothing():
    asked, rows = generalising_asked(QUASI, [], []), table()
    assert asked.shown(rows) is rows
    assert asked.names == set() and asked.still_coarser(rows) == {}


@pytest.mark.parametrize(
    ("levels", "rules", "columns", "words"),
    [
        (["age"], [], [], "GENERALISE has an odd number of cells"),
        (["town", "1"], [], [], "GENERALISE names “town”, which is not among"),
        (["age", "1", "AGE", "2"], [], [], "GENERALISE names “age” twice"),
        (["age", "one"], [], [], "asks for level “one” of “age”"),
        (["age", " "], [], [], "gives no level for “age”"),
        ([], ["sex", "*"], HIERARCHIES, "“Sex” has both rows in HIERARCHIES and a rule"),
    ],
)
def test_what_says_nothing_of_them_is_refused(levels, rules, columns, words):
    with pytest.raises(InputError, match=words):
        generalising_asked(QUASI, levels, rules, columns)


@pytest.mark.parametrize(
    ("cells", "words"),
    [(["Sex", "1"], "level 1 after level 1"), (["age", "3"], "0 .as it is. to 2"), (["age", "x"], "level “x”")],
)
def test_further_levels_must_be_coarser(cells, words):
    asked = generalising_asked(QUASI, ["sex", "1"], ["age", "bands 5 10"], HIERARCHIES)
    shown = asked.shown(table())
    with pytest.raises(InputError, match=words):
        steps_asked("LEVELS_COARSER", cells, shown, asked.still_coarser(shown))
