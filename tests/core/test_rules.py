"""Rules of the house: read from a table, extended by one's own, refused where they make no sense."""

from __future__ import annotations

import pytest

from vbas.core.errors import InputError
from vbas.core.privacy.rules import COLUMNS, NO_RULE, read_rules


def test_every_shipped_rule_names_its_source_and_says_how_it_was_read():
    rules = read_rules()
    assert len(rules) >= 15
    for name, rule in rules.items():
        assert name == rule.name != NO_RULE
        assert rule.source
        assert rule.says.endswith(".")
        assert 2000 < int(rule.year) < 2100
        assert rule.read in ("text", "second hand")
        assert ("second hand" in rule.sentence) == (rule.read == "second hand")
        assert rule.source in rule.sentence
        assert "for you to judge" in rule.sentence
    assert rules["CMS cell size"].k == 11
    assert rules["HIPAA Safe Harbor geography"].least_population == 20_001


def test_a_file_of_ones_own_adds_rules_and_replaces_those_of_the_same_name(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(
        f"{','.join(COLUMNS)}\nOur ethics board,12,500,2,Ours.,Minutes,2026,text\nPCORnet,9,0,1,x.,y,2026,text\n"
    )
    rules = read_rules(file)
    assert (rules["Our ethics board"].k, rules["Our ethics board"].l_diversity) == (12, 2)
    assert rules["PCORnet"].k == 9
    assert len(rules) == len(read_rules()) + 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x,five,0,1,s.,q,2026,text", "line 2: k, least_population and l_diversity of “x” must be numbers"),
        ("x,1,0,1,s.,q,2026,text", "needs a k of at least 2"),
        ("x,5,-1,1,s.,q,2026,text", "people from 0"),
        ("x,5,nan,1,s.,q,2026,text", "people from 0"),
        (",5,0,1,s.,q,2026,text", "give the rule a name"),
        ("none,5,0,1,s.,q,2026,text", "give the rule a name"),
    ],
)
def test_rules_that_make_no_sense_are_refused(tmp_path, line, words):
    file = tmp_path / "mine.csv"
    file.write_text(f"{','.join(COLUMNS)}\n{line}\n")
    with pytest.raises(InputError, match=words):
        read_rules(file)
    file.write_text("name,k\nx,5\n")
    with pytest.raises(InputError, match="lacks the columns least_population"):
        read_rules(file)
