"""The figures of docs/generalising.md are those of a fresh run, and its table is the one that was run."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest

from vbas.benchmarks import generalising_example
from vbas.core.generalising import hierarchy_rule

from ..exploring import tried

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "generalising.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example():
    return generalising_example.make_example()


def test_the_page_quotes_what_the_script_prints(example):
    # Of the nested releases, which take long, the first two in every run.
    printed = [line for line in islice(generalising_example.printed(example), tried(16, None)) if line]
    assert len(printed) > 9
    in_one_line = re.sub(r"\s+", " ", PAGE)
    for line in printed:
        assert line in (PAGE.splitlines() if line.startswith("|") else in_one_line), line


def test_the_page_shows_the_table_that_was_run():
    assert generalising_example.TABLE in PAGE


def test_the_rules_of_the_page_are_rules():
    rules = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    assert len(rules) == 4
    for rule in rules:
        hierarchy_rule("a", rule)


def test_what_the_page_says_of_coarser_values_holds(example):
    """More regions, fewer suppressed and nearer, the more is given up, in the order of the page's last rows."""
    measures = [one for _, one in example.nodes]
    best = [measures[0], measures[-2], measures[-1]]
    assert [one.n_regions for one in best] == sorted(one.n_regions for one in best)
    assert [one.suppression_percent for one in best] == sorted((one.suppression_percent for one in best), reverse=True)
