"""The guide: it builds without a warning and fetches nothing, its pictures show something, its commands are there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import takewhile
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from vbas.benchmarks import guide_examples

from ..exploring import EXPLORES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in DOCS.rglob("*.md") if "reference" not in path.parts]
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
LANGUAGES = ("en", "fr")
LARGEST, LARGEST_TOGETHER = 120_000, 2_500_000
needs_mkdocs = pytest.mark.skipif(
    importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None,
    reason="mkdocs or its theme is not installed: bash scripts/setup test",
)


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def pictures_of(page):
    return [(page.parent / address).resolve() for _, address in PICTURE.findall(page.read_text(encoding="utf-8"))]


def built(folder, docs=None):
    """The site in a folder, and what building it said."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("docs_dir: docs", f"docs_dir: {docs or DOCS}")
    settings = settings.replace("hooks: [scripts/", f"hooks: [{ROOT}/scripts/")
    file = folder / "mkdocs.yml"
    file.write_text(settings, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(file), "-d", str(folder / "site")],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    code, said = built(folder)
    assert code == 0, said
    return folder / "site"


class Addresses(HTMLParser):
    """What a browser loads with a page, without a click."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video", "audio", "embed"):
            self.loaded += [given["src"]] if "src" in given else []
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev", "alternate"):
            self.loaded.append(given["href"])


@pytest.mark.slow
@needs_mkdocs
def test_the_site_builds_without_a_warning_and_fetches_nothing(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        parser = Addresses()
        parser.feed(page.read_text(encoding="utf-8"))
        assert parser.loaded
        for address in parser.loaded:
            parts = urlsplit(address)
            assert not parts.scheme and not parts.netloc, (page.name, address)
            # The page of missing pages alone has addresses from the root of a server.
            assert page.name == "404.html" or (page.parent / parts.path).is_file(), (page.name, address)
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", style.read_text(encoding="utf-8")), style.name


@pytest.mark.slow
@needs_mkdocs
def test_french_pages_are_french_around_the_text_too(site):
    for page, language in (("fr/tutoriel.html", "fr"), ("tutorial.html", "en")):
        assert f'<html lang="{language}"' in (site / page).read_text(encoding="utf-8")


@pytest.mark.slow
@needs_mkdocs
def test_plain_pages_lead_to_each_other_and_run_nothing(tmp_path):
    """Those of the plugin's zip, which the Help buttons open."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from plain_pages import plain_pages

    french = tmp_path / "fr"
    french.mkdir()
    (french / "anonymize.md").write_text("# Anonymiser\n\n[guide](../../tutorial.md#3-a-first-try-two-minutes)\n")
    pages = dict(plain_pages(DOCS, french))
    assert {"README.html", "reference/anonymize.html", "fr/tutoriel.html", "fr/reference/anonymize.html"} < pages.keys()
    assert len(pages) == len(list(DOCS.rglob("*.md"))) + 1
    ids = {name: set(re.findall(r'id="([^"]+)"', text)) for name, text in pages.items()}
    n_links = 0
    for name, text in pages.items():
        assert "<script" not in text and f'<html lang="{"fr" if name.startswith("fr/") else "en"}"' in text
        for address in re.findall(r'(?:href|src)="([^"]+)"', text):
            path, _, anchor = address.partition("#")
            if re.match("https?:", path):
                continue
            target = os.path.normpath(Path(name).parent / path) if path else name
            assert target in pages or (DOCS / target).is_file(), (name, address)
            assert not anchor or anchor in ids[target], (name, address)
            n_links += 1
    assert n_links > 120


@pytest.mark.slow
@needs_mkdocs
def test_wrong_links_are_found(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for path in DOCS.rglob("*"):
        target = docs / path.relative_to(DOCS)
        if path.is_dir():
            target.mkdir()
        else:
            target.symlink_to(path)
    (docs / "limits.md").unlink()
    links = {"nowhere.md": "[x](nowhere.md)", "no-such-thing": "[x](privacy.md#no-such-thing)"}
    (docs / "limits.md").write_text("\n".join([text_of("limits.md"), *links.values(), ""]), encoding="utf-8")
    code, said = built(tmp_path, docs)
    assert code != 0 and [what for what in links if what in said] == list(links)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_pictures_are_there_and_say_what_they_show(page):
    for words, address in PICTURE.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / address).is_file(), address
        assert len(words) > 20, address


def test_pictures_of_windows_show_something_and_are_small():
    image = pytest.importorskip("PIL.Image")
    files = list((DOCS / "pictures").rglob("*.png"))
    used = {picture.name for page in PAGES for picture in pictures_of(page)}
    assert {path.name for path in files} <= used
    assert {path.name for path in files if path.parent.name == "en"} >= {
        path.name for path in files if path.parent.name == "fr"
    }
    for path in files:
        with image.open(path) as picture:
            pixels = np.asarray(picture.convert("L"))
        height, width = pixels.shape
        assert 380 <= width <= 1200 and height >= 300, path
        # An empty window is one colour nearly everywhere; a part of it at least must not be.
        tiles = pixels[: height // 20 * 20, : width // 20 * 20].reshape(height // 20, 20, width // 20, 20)
        assert (tiles.std(axis=(1, 3)) > 8).mean() > 0.15, path
        assert path.stat().st_size <= LARGEST, path
    assert sum(path.stat().st_size for path in files) <= LARGEST_TOGETHER


def test_the_tutorial_is_the_same_in_both_languages():
    english, french = (DOCS / "tutorial.md", DOCS / "fr" / "tutoriel.md")
    assert [path.name for path in pictures_of(english)] == [path.name for path in pictures_of(french)]
    assert [path.parent.name for path in pictures_of(french)] == ["fr"] * len(pictures_of(english))
    for pattern in (r"^## ", r"^\d\. \*\*", r"^\|", r"`(\w+)`"):
        counts = [len(re.findall(pattern, page.read_text(encoding="utf-8"), re.M)) for page in (english, french)]
        assert counts[0] == counts[1] > 3, pattern


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_scripts_that_pages_name_are_there(page):
    """Paths in code, such as `scripts/demo` or `benchmarks/attacks.py Winnipeg`."""
    named = re.findall(r"\b((?:scripts|benchmarks|models|tests)/[\w./-]*\w)", page.read_text(encoding="utf-8"))
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.slow
def test_figures_of_the_guide_are_those_of_a_fresh_run():
    # The last way out takes as long as all else.
    last = "| nested levels, coarser values last |"
    lines = takewhile(lambda line: EXPLORES or not line.startswith(last), guide_examples.printed())
    tables = "\n".join(lines).split("\n\n")
    pages = ("tutorial.md", "choosing.md", "too-much-suppressed.md", "too-much-suppressed.md")
    assert len(tables) == len(pages)
    for table, page in zip(tables, pages):
        assert table in text_of(page), table
    # The French tutorial has the same figures, written as French does.
    french = text_of("fr/tutoriel.md").replace("\u202f", "").replace("\u00a0", " ").replace(",", ".")
    for line in tables[0].splitlines()[2:]:
        cells = line.replace(" of ", " sur ").split(" | ", 1)[1]
        assert cells in french, cells


def test_the_french_tutorial_has_the_blanks_of_french():
    for page in (DOCS / "fr").glob("*.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\w [:;?!»]|« ", text), page.name
