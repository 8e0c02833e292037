"""The reports of a part of the city: small, read in a browser that neither complains nor fetches, and run again."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ..html_scripts import assert_runs_nothing
from .conftest import ROOT
from .jobs import inputs, query

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MOST_BYTES = 500_000
# What Chromium itself asks for at its start.
OF_THE_BROWSER = {"clients2.google.com", "update.googleapis.com", "accounts.google.com", "redirector.gvt1.com"}
KINDS = {"one level": "", "nested levels": "nested_"}
PAGES = [f"{prefix}{name}.html" for prefix in KINDS.values() for name in ("report", "release_report")]


@pytest.fixture(scope="session")
def pages(qgis_loaded, town, tmp_path_factory):
    """A folder with both reports of both kinds of release, and what was released."""
    folder = tmp_path_factory.mktemp("pages")
    for release, prefix in KINDS.items():
        done = qgis_loaded(
            "run",
            "vbas:anonymize",
            "--",
            *inputs(town),
            f"RELEASE={release}",
            "KEEP_FIELDS=diagnosis",
            f"RELEASED_RECORDS={folder / f'{prefix}released.gpkg'}",
            f"CROSSWALK={folder / f'{prefix}crosswalk.csv'}",
            f"REPORT={folder / f'{prefix}report.html'}",
            f"RELEASE_REPORT={folder / f'{prefix}release_report.html'}",
        )
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small_and_runs_nothing(pages, name):
    text = (pages / name).read_text(encoding="utf-8")
    print(f"{name}: {len(text.encode()):,} bytes")
    assert len(text.encode()) <= MOST_BYTES
    page = assert_runs_nothing(text)
    assert page.headings[0] == 1 and {2} <= set(page.headings[1:]) <= {2, 3}


def opened(page, folder, *arguments):
    """What the browser says on its console, and the hosts it asks, of one page."""
    log = folder / "net.json"
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}",
            *arguments,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    asked = re.findall(r'"url":"([a-z]+)://([^/"]*)', log.read_text(encoding="utf-8", errors="replace"))
    return console, {host for scheme, host in asked if scheme != "file"} - OF_THE_BROWSER


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_complaints_and_requests_would_be_noticed(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text('<!DOCTYPE html><script>throw 1</script><img src="http://127.0.0.1:9/x">', encoding="utf-8")
    console, asked = opened(page, tmp_path, f"--screenshot={tmp_path / 'page.png'}")
    assert len(console) == 1 and asked == {"127.0.0.1:9"}


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("name", PAGES)
def test_a_browser_shows_and_prints_the_page_without_complaint_or_request(pages, tmp_path, name):
    picture, paper = tmp_path / "page.png", tmp_path / "page.pdf"
    shown = opened(pages / name, tmp_path, "--window-size=1100,3000", f"--screenshot={picture}")
    printed = opened(pages / name, tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    assert shown == printed == ([], set())
    assert picture.stat().st_size > 50_000
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes())) <= 14


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_no_page_is_wider_than_a_phone(pages, evaluated, tmp_path):
    """Tables and charts may be wider, and are scrolled on their own; the page never is."""
    files = [*(pages / name for name in PAGES), evaluated / "evaluation.html", evaluated / "comparison.html"]
    frames = "".join(f'<iframe src="{file.as_uri()}" width="375" height="800"></iframe>' for file in files)
    measure = (
        "addEventListener('load', () => { document.title = [...document.querySelectorAll('iframe')].map("
        "frame => { const page = frame.contentDocument.documentElement;"
        " return page.scrollWidth - page.clientWidth }).join(' ') })"
    )
    phones = tmp_path / "phones.html"
    phones.write_text(f"<title>-</title><body>{frames}<script>{measure}</script>", encoding="utf-8")
    done = subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"),
            *("--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", phones.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    (found,) = re.findall(r"<title>(.*?)</title>", done.stdout)
    assert dict(zip((file.name for file in files), found.split())) == {file.name: "0" for file in files}


@pytest.fixture(scope="session")
def evaluated(qgis_loaded, town, pages, tmp_path_factory):
    """A folder with the pages of an evaluation and of a comparison at two k."""
    folder = tmp_path_factory.mktemp("evaluated")
    for name, *more in (
        ("evaluate", f"CROSSWALK={pages / 'crosswalk.csv'}", f"REPORT={folder / 'evaluation.html'}"),
        (
            "compare",
            *("SITE_NUMBERS=max combinations", "AGGREGATIONS=basic Voronoi", "K_VALUES=5,10"),
            *(f"COMPARISON={folder / 'table.csv'}", f"REPORT={folder / 'comparison.html'}"),
        ),
    ):
        done = qgis_loaded("run", f"vbas:{name}", "--", *inputs(town), *more)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("prefix", KINDS.values())
def test_the_command_of_a_report_does_the_same_again(pages, headless_home, tmp_path, prefix):
    page = (pages / f"{prefix}report.html").read_text(encoding="utf-8")
    (code,) = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    command = html.unescape(code).replace(str(pages), str(tmp_path))
    program = tmp_path / "bin" / "qgis_process"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{ROOT / "scripts" / "qgis_process"}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "VBAS_HEADLESS_HOME": str(headless_home)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{prefix}crosswalk.csv").read_bytes() == (pages / f"{prefix}crosswalk.csv").read_bytes()
    everything = f"select * from {prefix}released"
    assert query(tmp_path / f"{prefix}released.gpkg", everything) == query(pages / f"{prefix}released.gpkg", everything)
    first, again = (
        re.sub(r'class="date">[^<]*<', "", Path(folder / f"{prefix}release_report.html").read_text(encoding="utf-8"))
        for folder in (pages, tmp_path)
    )
    assert first == again
