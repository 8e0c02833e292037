"""The figures of README, docs/nested.md and its picture are those of a fresh run."""

from __future__ import annotations

import re
import runpy
from html import unescape
from pathlib import Path

import pytest

from vbas.benchmarks import nested_example

from ..exploring import tried

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "nested.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def example():
    return nested_example.make_example()


def in_one_line(text):
    return re.sub(r"\s+", " ", text)


def test_the_page_quotes_what_the_script_prints(example, monkeypatch):
    asked = nested_example.ASKED  # of the zones: what costs nothing and what costs most in every run
    monkeypatch.setattr(nested_example, "ASKED", tried((asked[0], asked[3]), asked))
    printed = [line for line in nested_example.printed(example) if line]
    assert len(printed) > 16
    for line in printed:
        assert line in (PAGE.splitlines() if line.startswith("|") else in_one_line(PAGE)), line


def test_readme_quotes_what_the_script_prints(example):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(nested_example.result_table(example)) in readme


def test_the_picture_is_that_of_this_city(example):
    written = runpy.run_path(str(ROOT / "scripts" / "nested_picture.py"))
    drawn, stored = (
        [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
        for svg in (written["picture"](example), written["PLACE"].read_text(encoding="utf-8"))
    )
    # Where a number has just room may depend on the version of GEOS.
    words = [[text for text in texts if not text.isdigit()] for texts in (drawn, stored)]
    assert words[0] == words[1]
    assert len(words[0]) > 20
    assert written["PLACE"].stat().st_size < 300_000
