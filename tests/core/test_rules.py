"""Rules of the house: read from a table, extended by one's own, refused where they make no sense."""

from __future__ import annotations

import pytest

from vbas.core.errors import InputError
from vbas.core.job.job import Job
from vbas.core.job.rules import rule_sentences
from vbas.core.privacy.rules import COLUMNS, NO_RULE, NOR_DERIVABLE, list_rules, read_rules


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
        assert ("not against counts that can be derived" in rule.sentence) != rule.nor_derivable
        assert ("and against counts that can be derived" in rule.sentence) == rule.nor_derivable
    assert rules["CMS cell size"].k == 11
    assert [name for name, rule in rules.items() if rule.nor_derivable] == ["CMS cell size"]
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


def test_a_file_may_say_that_counts_must_not_be_derivable_either(tmp_path):
    file = tmp_path / "mine.csv"
    lines = ("Ours,12,0,1,Ours.,Minutes,2026,text", "Theirs,12,0,1,Theirs.,Minutes,2026,text")
    file.write_text("\n".join([",".join(COLUMNS), *lines]), encoding="utf-8")
    assert not any(read_rules(file)[name].nor_derivable for name in ("Ours", "Theirs"))  # as files were before
    header = f"{','.join(COLUMNS)},{NOR_DERIVABLE}"
    file.write_text("\n".join([header, f"{lines[0]},yes", f"{lines[1]},no"]), encoding="utf-8")
    assert [read_rules(file)[name].nor_derivable for name in ("Ours", "Theirs")] == [True, False]
    file.write_text("\n".join([header, f"{lines[0]},maybe"]), encoding="utf-8")
    with pytest.raises(InputError, match="line 2, column nor_derivable: “maybe” is neither “yes” nor “no”"):
        read_rules(file)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x,five,0,1,s.,q,2026,text", "line 2, column k: “five” is no number"),
        ("x,5.5,0,1,s.,q,2026,text", "line 2, column k: “5.5” is no number"),
        ("x,5,many,1,s.,q,2026,text", "line 2, column least_population: “many” is no number"),
        ("x,5,0,,s.,q,2026,text", "line 2, column l_diversity: “” is no number"),
        ("x,5,0,1,s, and t.,q,2026,text", "line 2 has more or fewer values .9. than the first line names columns .8."),
        ("x,5,0,1", "line 2 has more or fewer values"),
        ("y,30,0,1,s.,q,2026,text\ny,11,0,1,s.,q,2026,text", "line 3: “y” is there twice"),
        ('x,5,0,1,"s.,q,2026,text\ny,30,0,1,s.,q,2026,text', "line 2: this is no CSV from there on"),
        ('x,5,0,1,"s.\nt.",q,2026,text\n\ny,k,0,1,s.,q,2026,text', "line 5, column k"),
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


OURS = "CMS cell size,30,0,1,Ours.,Minutes,2026,text"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ([OURS, "x,five,0,1,s.,q,2026,text"], ["x"]),
        (["x,five,0,1,s.,q,2026,text", OURS, "y,7,0,1,s.,q,2026,text"], ["x", "y"]),
        ([OURS, 'x,5,0,1,"s.,q,2026,text'], []),
        ([OURS.replace("30", "3O"), "y,7,0,1,s.,q,2026,text"], ["y"]),
        ([OURS, ",5,0,1,s.,q,2026,text"], []),  # what no rule can be called is no name to choose
        ([OURS, '"a, b",5,0,1,s.,q,2026,text'], []),
        ([OURS, "none,5,0,1,s.,q,2026,text"], []),
    ],
)
def test_a_list_has_what_can_be_read_and_says_what_cannot(tmp_path, lines, names):
    """A typo in one line took the whole file away: a rule that it raised to 30 was followed as it is shipped, at 11."""
    file = tmp_path / "vbas_rules.csv"
    file.write_text("\n".join([",".join(COLUMNS), *lines]), encoding="utf-8")
    listing = list_rules(file)
    assert "vbas_rules.csv, line" in listing.problem
    assert {*read_rules(), *names} == set(listing.names)
    with pytest.raises(InputError, match=r"vbas_rules\.csv, line"):
        read_rules(file)


def test_files_of_spreadsheets_are_read_or_said_to_be_of_another_kind(tmp_path):
    file = tmp_path / "vbas_rules.csv"
    text = f"{','.join(COLUMNS)}\r\nNotre comité d’éthique,12,0,1,À nous.,Procès-verbal,2026,text\r\n"
    file.write_bytes(text.encode("utf-8-sig"))
    assert read_rules(file)["Notre comité d’éthique"].k == 12
    file.write_bytes(text.encode("cp1252"))
    with pytest.raises(InputError, match=r"vbas_rules\.csv, line 2: a character is not in UTF-8"):
        read_rules(file)
    file.write_text(text.replace(",", ";"), encoding="utf-8")
    with pytest.raises(InputError, match="lacks the columns name"):
        read_rules(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match=r"vbas_rules\.csv cannot be read"):
        read_rules(file)


@pytest.mark.parametrize(("asked", "said"), [(0.0, "at least 5000 people"), (8000.0, "at least 8000 people")])
def test_the_people_of_every_region_are_those_of_the_rule_or_more_where_more_are_asked_for(asked, said):
    values = {"RULE": "CDC: sub-county counts of common outcomes", "K": 5, "LEAST_POPULATION": asked}
    (sentence,) = every_region(values, {"RULE", "POPULATION"}, nested=True)
    assert said in sentence and "what is left" in sentence
    for nested in (True, False):
        (sentence,) = every_region(values, {"RULE"}, nested)
        assert said.replace("people", "records") in sentence and "a region may have fewer people" in sentence
    (sentence,) = every_region({"LEAST_POPULATION": 7.0}, set(), nested=False)
    assert "at least 7 records" in sentence
    assert not every_region({"LEAST_POPULATION": 7.0}, {"POPULATION"}, nested=False)


def every_region(values, named, nested):
    return [one for one in rule_sentences(Job(values, named), nested) if one.startswith("Every region")]
