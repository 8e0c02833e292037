"""Breaks drawn at random: each is code, differs from what stood there, and is held against the tests that reach it."""

from __future__ import annotations

import ast
import json
import sys
from contextlib import nullcontext

import pytest

from ..scripts import ROOT, script

pytest.importorskip("resource", reason="mutants are run in forks, which Windows does not have")

drawing = script("drawn_mutants")
BREAKS = drawing.all_breaks(("core/privacy",))

CODE = b'''"""A small room."""

SMALLEST = 2


def shown(records: int, k: int = SMALLEST) -> bool:
    """Whether a class is shown."""
    if k < SMALLEST:
        raise ValueError("too small")
    return records >= k and k is not None


def unreached() -> int:
    """What no test runs."""
    return 7
'''
TESTS = """
from vbas.core.privacy.small import shown

def test_least():
    assert shown(2) and not shown(1)

def test_more():
    assert shown(7, 7)
"""


@pytest.mark.slow
def test_every_break_is_another_code_and_has_a_key_of_its_own():
    assert len({one.key for one in BREAKS}) == len(BREAKS) > 500
    for one in BREAKS[::40]:
        code = (ROOT / one.file).read_bytes()
        assert ast.dump(ast.parse(one.applied(code))) != ast.dump(ast.parse(code)), one.key


def test_the_same_are_drawn_where_other_code_changes():
    first = drawing.drawn(BREAKS, 30, 1)
    assert first == drawing.drawn(BREAKS[::-1], 30, 1) and first != drawing.drawn(BREAKS, 30, 2)
    others = [one for one in BREAKS if one in first or one.file != first[0].file]
    assert drawing.drawn(others, 30, 1) == first


def test_a_break_is_held_against_the_cheapest_tests_that_reach_it_within_the_budget():
    one = next(one for one in BREAKS if one.statement[1])
    lines = {one.file: {str(one.statement[0]): [0, 1, 2], "1": [3]}}
    reached = drawing.Reached([("dear", 9.0), ("cheap", 1.0), ("next", 2.0), ("elsewhere", 0.1)], lines)
    assert reached.of(one, 3.5) == ["cheap", "next"]
    assert reached.of(one, 0.5) == ["cheap"]  # never none
    of_two_files = [("a::1", 0.1), ("a::2", 0.2), ("a::3", 0.3), ("b::1", 1.0), ("b::2", 2.0)]
    all_reach = drawing.Reached(of_two_files, {one.file: {str(one.line): [0, 1, 2, 3, 4]}})
    assert all_reach.of(one, 9.0) == ["a::1", "b::1", "a::2", "a::3", "b::2"]
    outside = drawing.Break(one.file, "", 1, 0, 1, "x", "y", (0, 0))
    assert reached.of(outside, 3.5) == ["elsewhere", "cheap", "next"]  # whatever runs with the file loaded
    of_constants = f"{drawing.OF_CONSTANTS}test_limits"
    assert drawing.Reached([(of_constants, 1.0)], {}).of(outside, 3.5) == [of_constants]
    assert drawing.Reached([(of_constants, 1.0)], lines | {one.file: {}}).of(one, 3.5) == []


@pytest.fixture(scope="module")
def every_break():
    """Those of all rooms, which take a while to be found."""
    return drawing.all_breaks()


@pytest.fixture
def found_once(every_break, monkeypatch):
    """The program takes them as they were found."""
    monkeypatch.setattr(drawing, "all_breaks", lambda: every_break)


@pytest.mark.slow
def test_reasons_are_of_breaks_that_can_be_drawn(every_break):
    breaks = {one.key for one in every_break}
    told = drawing.reasons()
    assert [key for key in told if key not in breaks] == [] and all(told.values())


@pytest.mark.slow
@pytest.mark.parametrize(("outcome", "ends_with"), [("killed", 0), ("survived", 1)])
@pytest.mark.usefixtures("found_once")
def test_what_is_known_is_told_without_trying_anything(tmp_path, capsys, every_break, outcome, ends_with):
    kept, one = tmp_path / "kept.jsonl", drawing.drawn(every_break, 1, 1)[0]
    row = {"key": one.key, "line": "1", "outcome": outcome, "by": "", "tests": "1"}
    kept.write_text(json.dumps(row) + "\n", encoding="utf-8")
    known = kept.read_bytes()
    assert drawing.main(["--drawn", "3", "--seed", "1", "--tell", "--results", str(kept)]) == ends_with
    assert "1 of 3 drawn are decided" in capsys.readouterr().out and kept.read_bytes() == known


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A small checkout, and what its tests reach."""
    root = tmp_path_factory.mktemp("small") / "tree"
    for folder in ("core/privacy", "tests/core", "build/package", "scripts"):
        (root / folder).mkdir(parents=True)
    (root / "build" / "package" / "vbas").symlink_to(root)
    (root / ".venv").symlink_to(sys.prefix)
    for package in ("", "core", "core/privacy"):
        (root / package / "__init__.py").touch()
    (root / "core" / "privacy" / "small.py").write_bytes(CODE)
    (root / "tests" / "core" / "test_small.py").write_text(TESTS)
    for name in ("reached_lines", "breaks_in_forks", "drawn_mutants", "tree_copy"):
        (root / "scripts" / f"{name}.py").write_bytes((ROOT / "scripts" / f"{name}.py").read_bytes())
    drawing.note_reached(root, ["tests/core"], root / "reached.json")
    return root


@pytest.mark.slow
def test_lines_are_noted_with_the_tests_that_reach_them(tree):
    noted = json.loads((tree / "reached.json").read_text())
    assert [test for test, _ in noted["tests"]] == [
        f"tests/core/test_small.py::test_{name}" for name in ("least", "more")
    ]
    (lines,) = noted["lines"].values()
    assert lines["10"] == [0, 1] and "9" not in lines and "15" not in lines


@pytest.mark.slow
@pytest.mark.parametrize(("failing", "more", "whole"), [(0, [], True), (1, [], True), (1, ["-x"], False)])
def test_lines_of_a_run_that_was_ended_early_are_not_taken_for_all(tree, tmp_path, monkeypatch, failing, more, whole):
    """A test that fails does not end it."""
    tests = tmp_path / "test_it.py"
    tests.write_text(f"def test_first():\n    assert not {failing}\n\ndef test_second():\n    pass\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-p no:pytest_qgis {' '.join(more)}")
    drawing.note_reached(tree, [str(tests)], tmp_path / "reached.json")
    if whole:
        assert len(drawing.read_reached([tmp_path / "reached.json"]).tests) == 2
        return
    with pytest.raises(ValueError, match="remove it"):
        drawing.read_reached([tree / "reached.json", tmp_path / "reached.json"])


@pytest.mark.slow
@pytest.mark.usefixtures("found_once")
def test_nothing_is_tried_with_lines_of_a_run_that_was_ended_early(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(drawing, "copy_of_the_tree", lambda: nullcontext(tmp_path))
    (tmp_path / "reached.json").write_text('{"tests": [], "lines": {}}')
    asked = ["--drawn", "1", "--results", str(tmp_path / "kept.jsonl"), "--reached", str(tmp_path / "reached.json")]
    assert drawing.main(asked) == 2
    assert "remove it" in capsys.readouterr().out and not (tmp_path / "kept.jsonl").exists()


@pytest.mark.slow
def test_outcomes_are_true(tree):
    reached, trial = drawing.read_reached([tree / "reached.json"]), drawing.Trial(tree)
    breaks = {f"{one.text} -> {one.instead}": one for one in drawing.all_breaks(("core/privacy",), tree)}

    def outcome(told, tests=None):
        one = breaks[told]
        return trial.outcome(one, tests or reached.of(one, 60), 60)

    assert outcome("records >= k -> (records > k)")[0] == "killed"
    assert outcome("k is not None -> (k is None)")[0] == "killed"
    assert outcome("k < SMALLEST -> (k <= SMALLEST)")[0] == "killed"
    assert reached.of(breaks["return 7 -> return None"], 60) == []
    # Only whoever passes without the break has noticed it.
    (tree / "tests" / "core" / "test_wrong.py").write_text("def test_it():\n    assert False\n")
    wrong = "tests/core/test_wrong.py::test_it"
    assert outcome("records >= k -> (records > k)", [wrong])[0] == "not run"
    assert outcome("7 -> 8", [wrong, "tests/core/test_small.py::test_more"]) == ("survived", "")
    assert (tree / "core" / "privacy" / "small.py").read_bytes() == CODE


@pytest.mark.slow
def test_outcomes_in_forks_are_true(tree):
    reached, told = drawing.read_reached([tree / "reached.json"]), tree / "told.jsonl"
    breaks = drawing.all_breaks(("core/privacy",), tree)
    (tree / "tests" / "core" / "test_fails.py").write_text("def test_it():\n    assert False\n")
    wrong = "tests/core/test_fails.py::test_it"
    drawing.in_forks(tree, {one.key: [wrong, *reached.of(one, 60)] for one in breaks}, 20, told)
    rows = [json.loads(line) for line in told.read_text().splitlines()]
    outcomes = {row["key"].rpartition(" | ")[2]: (row["outcome"], row["by"]) for row in rows}
    assert len(outcomes) == len(breaks)
    outcome, by = outcomes["records >= k -> (records > k)"]  # of two tests the one that took less time comes first
    assert outcome == "killed" and by.startswith("tests/core/test_small.py::")
    assert outcomes["7 -> 8"][0] == "not run"  # no test reaches it but one that fails anyway
    assert drawing.NOT_HERE in {outcome for outcome, _ in outcomes.values()}  # what runs as the file is read
    assert (tree / "core" / "privacy" / "small.py").read_bytes() == CODE
    assert not {row["key"] for row in rows if row["outcome"] == drawing.NOT_HERE} & set(drawing.read_results(told))
