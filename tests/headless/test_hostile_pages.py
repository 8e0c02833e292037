"""Reports of names and values that would run or fetch something, read in a browser: it neither complains nor asks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from html import unescape

import pytest

from ..html_scripts import assert_runs_nothing
from ..scripts import script
from .test_reports import CHROMIUM, opened

CANARY = "http://127.0.0.1:9/"  # where nobody listens: that it is asked is enough
# No semicolons: QGIS splits lists of fields at them.
NAMES = (f'<img src="{CANARY}a" onerror="throw 1">', f"'\"></td><svg onload=fetch('{CANARY}b')>")
VALUES = (
    f"</script><script>fetch('{CANARY}c')</script>",
    f"\"><iframe src='{CANARY}d'></iframe>",
    f"<link rel=stylesheet href={CANARY}e><style>*{{background:url({CANARY}f)}}</style>",
    f"<svg><image href='{CANARY}g'/><script>fetch('{CANARY}h')</script></svg>",
    f"<meta http-equiv=refresh content='0,url={CANARY}i'>",
    "<!--",
    "-->{{7*7}}{% raw %}",
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def pages(qgis_process, tmp_path_factory):
    """Both reports of a town where all names and values are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    script("fault_bench").make_town(folder)
    with closing(sqlite3.connect(folder / "records.gpkg")) as connection, connection:
        for position, value in enumerate(VALUES):
            connection.execute("UPDATE records SET age = ? WHERE age = ?", (value, str(position)))
        for old, new in zip(("sex", "age"), NAMES):
            quoted = new.replace('"', '""')
            connection.execute(f'ALTER TABLE records RENAME COLUMN {old} TO "{quoted}"')
    done = qgis_process(
        *("run", "vbas:anonymize", "--"),
        f"REGIONS={folder / 'areas.gpkg'}",
        "REGION_ID=area",
        f"RECORDS={folder / 'records.gpkg'}",
        "RECORD_REGION=area",
        *(f"QUASI_IDENTIFIERS={name}" for name in NAMES),
        f"RELEASED_RECORDS={folder / 'released.gpkg'}",
        f"REPORT={folder / 'report.html'}",
        f"RELEASE_REPORT={folder / 'release_report.html'}",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("name", ["report.html", "release_report.html"])
def test_a_browser_runs_and_fetches_nothing_of_hostile_names_and_values(pages, tmp_path, name):
    text = (pages / name).read_text(encoding="utf-8")
    assert all(one in unescape(text) for one in NAMES)  # they are shown
    assert_runs_nothing(text)
    assert opened(pages / name, tmp_path, f"--screenshot={tmp_path / 'page.png'}") == ([], set())


@pytest.mark.parametrize("hostile", [one for one in (*NAMES, *VALUES) if CANARY in one])
def test_each_would_be_noticed_if_it_ran(tmp_path, hostile):
    page = tmp_path / "bad.html"
    page.write_text(f"<!DOCTYPE html><table><td>{hostile}</table>", encoding="utf-8")
    console, asked = opened(page, tmp_path, f"--screenshot={tmp_path / 'page.png'}")
    assert console or asked
