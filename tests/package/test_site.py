"""The guide as a site, read from a folder without a server: built anew, opened in a browser, searched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .. import chromium

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("mkdocs", reason="mkdocs is not installed: bash scripts/docs")
pytest.importorskip("material", reason="mkdocs-material is not installed: bash scripts/docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """As scripts/docs builds it, in a folder with a blank."""
    folder = tmp_path_factory.mktemp("site") / "a guide"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_fetches_anything(site):
    fetched = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//[^"' >]+""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        assert fetched.findall(page.read_text(encoding="utf-8")) == [], page.name


@pytest.mark.skipif(chromium.CHROMIUM is None, reason="chromium is not installed: apt-get install chromium")
@pytest.mark.parametrize(
    ("start", "typed", "page"),
    [
        ("index.html", "nested rele", "nested.html"),
        ("index.html", "MAX_SHARE", "reference/anonymize.html"),
        ("fr/index.html", "quasi-identifiants", "fr/tutoriel.html"),
    ],
)
def test_a_search_in_a_folder_finds_the_page(site, tmp_path, start, typed, page):
    with chromium.page(tmp_path / "profile") as browser:
        browser.open((site / start).as_uri())
        browser.found("document.querySelector('.md-search__input').focus()")
        browser.type(typed)
        try:
            browser.until("document.querySelectorAll('.md-search-result__item').length")
        finally:
            browser.picture(tmp_path / "searched.png")
        found = browser.found("[...document.querySelectorAll('.md-search-result__link')].map(one => one.href)")
    assert any(address.partition("?")[0].endswith(page) for address in found), found
