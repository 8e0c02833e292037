"""What the plugin manager shows of the plugin is there in each language that its texts are in."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

import vbas
from vbas.core.language import languages

METADATA = Path(vbas.__file__).resolve().parent / "metadata.txt"
# Those of which QGIS reads a translation, by their name with the language in brackets.
TRANSLATED = ("name", "description", "about", "tags")


@pytest.mark.parametrize("code", languages()[1:])
def test_the_plugin_manager_speaks_the_language(code):
    metadata = configparser.ConfigParser(interpolation=None)
    metadata.read(METADATA, encoding="utf-8")
    general = metadata["general"]
    for name in TRANSLATED:
        assert general[f"{name}[{code}]"].strip() and general[f"{name}[{code}]"] != general[name], name
    assert general["name"].split()[0] == general[f"name[{code}]"].split()[0]
