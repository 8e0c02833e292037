"""What a library user calls says how: each of these doors has an example that runs as it stands.

The doors are what `vbas` and `vbas.core.analysis` offer, what the guide and its notebook import, what the page of the
library names, and the public methods of what comes back. Further ones are listed here.
"""

from __future__ import annotations

import doctest
import inspect
import json
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import vbas
import vbas.core.analysis

DOCS = Path(__file__).resolve().parents[2] / "docs"
FURTHER = {
    "analysis.fitting": ("fit", "margin_of"),
    "analysis.moran": ("moran",),
    "analysis.outcome": ("outcome_of",),
    "analysis.planting": ("plant",),
    "analysis.rates": ("rate_map",),
    "analysis.released": ("released_rows",),
    "analysis.scan": ("scan",),
    "analysis.spread_table": ("read_spread",),
    "analysis.spreading": ("spread",),
    "anonymise": ("rate", "Account"),
    "evaluation": ("evaluate",),
    "levels": ("make_levels", "levels_from_fields", "with_coarser_values", "with_least_population"),
    "library.linked": ("AnonymizedLinked",),
    "library.released": ("Anonymized",),
    "nesting.planning": ("nest",),
    "plan": ("suppress",),
    "privacy.margins": ("hold_against_margins",),
    "publish.register.published_releases": ("read_register",),
    "release": ("apply",),
}
COME_BACK = {"AnalysableRelease", "Anonymized", "AnonymizedLinked"}  # whose methods are doors, too
NO_DOORS = {"classFactory", "CRS"}  # for QGIS alone; a constant
IMPORT = re.compile(r"^ *from (vbas[\w.]*) import (.+)$", re.MULTILINE)
NAMED = re.compile(r"`(?:vbas\.)?core\.([a-z_.]+)\.(\w+)")
NEEDED = {
    "vbas.core.analysis": ("pandas",),
    "vbas.core.analysis.reader": ("pandas",),
    "vbas.core.engines": ("ibis", "duckdb"),
    "vbas.core.engines.spreading": ("ibis", "duckdb"),
}


def code_of_guide() -> str:
    """The pages of the guide, and the code of its notebook."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    for notebook in DOCS.rglob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return "\n".join(texts)


def doors() -> list[tuple[str, str]]:
    """Module and name of each, a method by its class."""
    there = {("vbas", name) for name in vbas.__all__}
    there |= {("vbas.core.analysis", name) for name in vbas.core.analysis.__all__}
    there |= {(module, name) for module, names in IMPORT.findall(code_of_guide()) for name in names.split(", ")}
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    there |= {(f"vbas.core.{module}", name) for module, name in NAMED.findall(page)}
    there |= {(f"vbas.core.{module}", name) for module, names in FURTHER.items() for name in names}
    there = {(module, name) for module, name in there if name not in NO_DOORS}
    own = {
        (module, f"{name}.{method}")
        for module, name in there
        if name in COME_BACK
        for method, of in vars(getattr(import_module(module), name)).items()
        if inspect.isfunction(of) and not method.startswith("_")
    }
    return sorted(there | own)


DOORS = doors()


@pytest.mark.parametrize(("module", "name"), DOORS, ids=[f"{module[5:]}.{name}" for module, name in DOORS])
def test_the_example_of_a_door_runs(module, name, tmp_path, monkeypatch):
    for package in NEEDED.get(module, ()):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)  # some make files
    door = attrgetter(name)(import_module(module))
    # Nothing of the module is at hand: a reader has what the example imports, and no more.
    tests = [test for test in doctest.DocTestFinder().find(door, name, globs={}) if test.name == name and test.examples]
    assert tests, f"{name} has no example"
    said: list[str] = []
    done = doctest.DocTestRunner().run(tests[0], out=said.append)
    assert done.attempted > 1 and not done.failed, "".join(said)


@pytest.mark.parametrize(("module", "name"), DOORS, ids=[f"{module[5:]}.{name}" for module, name in DOORS])
def test_a_door_says_what_it_takes_and_gives_in_sections(module, name):
    door = attrgetter(name)(import_module(module))
    text = inspect.getdoc(door) or ""
    sections = ["Attributes|Parameters"]
    if inspect.isfunction(door):
        takes = inspect.signature(door)
        sections = ["Parameters"] if set(takes.parameters) - {"self"} else []
        sections += ["Returns"] if takes.return_annotation != "None" else []
    lacking = [section for section in sections if not re.search(rf"^({section})\n-+$", text, re.MULTILINE)]
    assert not lacking, f"{name} has no section {lacking}"


def test_what_is_offered_and_imported_is_among_them():
    names = {name for _, name in DOORS}
    assert {"anonymize", "update_release", "read_release", "open_engine", "check_folder", "build_levels"} <= names
    assert {"Anonymized.write", "AnalysableRelease.rates", "speak"} <= names
