"""What the project says of itself is the same wherever it says it."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: bash scripts/setup test")
ROOT = Path(__file__).resolve().parents[2]
PAGES = ("SECURITY.md", "CODE_OF_CONDUCT.md", "ROADMAP.md")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_all_say_one_version():
    metadata = configparser.ConfigParser(interpolation=None)
    metadata.read(ROOT / "metadata.txt", encoding="utf-8")
    version, cited = metadata["general"]["version"], yaml.safe_load(text_of("CITATION.cff"))
    assert re.findall(r'^version = "(.*)"', text_of("pyproject.toml"), re.M) == [version]
    assert cited["version"] == version
    released = re.findall(r"^## \[(.+)\] - (\S+)$", text_of("CHANGELOG.md"), re.M)
    assert released[0] == (version, str(cited["date-released"]))
    for page in ("docs/install.md", "docs/fr/installer.md"):
        assert set(re.findall(r"vbas-([0-9.]+)\.zip", text_of(page))) == {version}


def test_what_is_cited_can_be_cited():
    cited = yaml.safe_load(text_of("CITATION.cff"))
    needed = {"cff-version", "message", "title", "authors"}
    assert needed <= cited.keys() and cited["type"] == "software" and cited["license"] == "GPL-3.0-or-later"
    for one in cited["references"]:
        assert {"type", "title", "authors", "year"} <= one.keys()


@pytest.mark.parametrize("name", PAGES)
def test_no_page_promises_an_address_that_there_is_not(name):
    """Addresses are the publisher's to give, in scripts/addresses.ini."""
    assert not re.search(r"https?://|mailto:|\S+@\S+\.\S+", text_of(name))
    for link in re.findall(r"\]\(([^)#]+)", text_of(name)):
        assert (ROOT / link).exists(), link
    assert name in text_of("README.md")


def test_the_figures_of_the_paper_are_those_of_the_study():
    """Which benchmarks/analysis_study.py prints."""
    paper, study = text_of("paper/paper.md"), text_of("docs/analysis-study.md").splitlines()
    rows = [line for line in paper.splitlines() if line.startswith("| 5 |")]
    assert len(rows) > 4 and set(rows) <= set(study)
    begin = study.index(next(line for line in study if line.startswith("| k | release | map")))
    assert all(begin < study.index(row) < begin + 40 for row in rows)


def test_the_paper_counts_and_cites_what_there_is():
    paper, cases = text_of("paper/paper.md"), json.loads(text_of("scripts/cases/cases.json"))
    assert f"{('no', 'one', 'two', 'three', 'four', 'Five', 'Six')[len(cases)]} reference\ncases" in paper
    cited = set(re.findall(r"@(\w+)", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", text_of("paper/paper.bib"), re.M))
    for script in re.findall(r"`((?:scripts|benchmarks)/[^`]+)`", paper):
        assert (ROOT / script).exists(), script
    for heading in ("# Summary", "# Statement of need", "# References"):
        assert heading in paper
