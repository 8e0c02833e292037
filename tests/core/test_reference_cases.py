"""The reference cases say agree where rows are those that are expected, and nothing else where they are not."""

from __future__ import annotations

import json
import re

import pytest

from ..scripts import ROOT, script

CASES = json.loads((ROOT / "scripts" / "cases" / "cases.json").read_text(encoding="utf-8"))
SMALLEST = min(CASES, key=lambda name: CASES[name]["areas"])


@pytest.fixture(scope="module")
def cases():
    return script("reference_cases")


@pytest.mark.parametrize(
    ("changed", "end", "says"),
    [
        ({}, 0, "library   agrees"),
        ({"content_sha256": "0" * 64}, 1, "library   DIFFERS"),
        ({"inputs": "0" * 64}, 2, "inputs    are others"),
    ],
    ids=["agree", "differ", "cannot tell"],
)
def test_the_smallest_case_says_whether_it_agrees(cases, tmp_path, capsys, changed, end, says):
    case = {**CASES[SMALLEST], **changed}
    assert cases.run_case(SMALLEST, case, tmp_path, [cases.LIBRARY]) == end
    assert says in capsys.readouterr().out


def test_another_k_gives_another_hash(cases, tmp_path, capsys):
    settings = {**CASES[SMALLEST]["settings"], "K": 6}
    assert cases.run_case(SMALLEST, {**CASES[SMALLEST], "settings": settings}, tmp_path, [cases.LIBRARY]) == 1


def test_each_kind_of_release_has_its_case():
    asked = [set(case["settings"]) | {key for key in case if key == "in_place"} for case in CASES.values()]
    assert all(any(kind in one for one in asked) for kind in ("LEVEL_FIELDS", "PERSON_ID", "RELEASE", "in_place"))
    hashes = [case[name] for case in CASES.values() for name in ("inputs", "content_sha256")]
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes) and len(set(hashes)) == 2 * len(CASES)


def test_a_case_that_there_is_not_is_named(cases, capsys):
    with pytest.raises(SystemExit):
        cases.main(["cities"])
    assert "one of one level, hierarchy" in capsys.readouterr().err
