"""The toolbox in French: each form looked at, filled and run by its widgets, in a process that speaks French.

The language is chosen before the package is imported, so it needs a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .in_either_language import JOBS, make_town, write_down
from .test_dialogs import FORMS, RUN_IN_FRENCH
from .test_explorer_window import BAD

pytestmark = pytest.mark.slow

WORDS = ("title", "description", "created")
HERE = Path(__file__).resolve().parent


def in_language(code, *tests, **variables):
    """Run tests in a process that speaks a language; fails with what they say where they fail."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        # Of hypothesis none of these tests has anything, and its plugin reads the whole package first.
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *tests],
        capture_output=True,
        text=True,
        cwd=HERE.parent.parent,
        env={**environment, "VBAS_LANGUAGE": code, **variables},
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-1000:]
    return done.stdout


def without_words(described):
    """What describes a release, without what is in the language of whoever made it, or of their time: sentences, and
    the bytes of files that hold some."""
    if isinstance(described, dict):
        left = {name: without_words(value) for name, value in described.items() if name not in WORDS}
        if "path" in left and left.get("profile") != "tabular-data-resource":
            return {name: value for name, value in left.items() if name not in ("hash", "bytes")}
        return left
    return [without_words(value) for value in described] if isinstance(described, list) else described


def test_every_form_is_french_from_label_to_help_and_runs_with_temporary_layers_and_so_is_the_dock():
    of_forms, of_the_dock = 2 * len(FORMS) + 2, 1 + sum(sentence is not None for _, sentence in BAD.values())
    runs = f"{HERE / 'test_dialogs.py'}::test_form_runs_and_its_outputs_are_seen"
    said = in_language("fr_CA", str(HERE / "in_french.py"), str(HERE / "in_french_dock.py"), runs)
    assert f"{of_forms + of_the_dock + len(RUN_IN_FRENCH)} passed" in said


def test_language_changes_no_datum(run, monkeypatch, tmp_path):
    for code in ("en", "fr"):
        (tmp_path / code).mkdir()
    in_language("fr", str(HERE / "in_either_language.py"), VBAS_RESULTS=str(tmp_path / "fr"))
    with monkeypatch.context() as small:
        small.setattr("vbas.core.synthetic.city.N_AREAS", 40)
        town = make_town()
        for job in JOBS:
            write_down(job, run, town, tmp_path / "en")
    found = {}
    for code in ("en", "fr"):
        files = [file for file in sorted((tmp_path / code).rglob("*")) if file.suffix in (".csv", ".json", ".html")]
        found[code] = {
            str(file.relative_to(tmp_path / code)): file.read_text(encoding="utf-8").replace(f"/{code}/", "/")
            for file in files
        }
    english, french = found["en"], found["fr"]
    assert list(english) == list(french) and len(english) > 20
    for name, text in english.items():
        if name.endswith(".html"):
            assert '<html lang="en"' in text and '<html lang="fr"' in french[name]
        elif name.endswith("datapackage.json"):
            assert without_words(json.loads(text)) == without_words(json.loads(french[name])), name
        else:
            assert text == french[name], name
