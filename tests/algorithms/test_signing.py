"""The page that is signed: one sheet, page 1 of the report, with the content hashes of everything that goes out."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import pytest
from qgis.core import QgsApplication, QgsProcessingException, QgsProject

from vbas.algorithms.form.signing import pdf_of
from vbas.core import language
from vbas.core.command.files import GeoPackageFrame
from vbas.core.package.content_hash import content_hash
from vbas.core.package.table import DataField, DataTable
from vbas.core.report.sign import FileToSign, SignPage, printed

from .conftest import make_layer

WHO = {"RECIPIENT": "Institute of Health", "PURPOSE": "Asthma <by> small area", "PREPARED_BY": "M. Roy"}


def sheets(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.fixture(autouse=True)
def forgetful_project():
    yield
    for name in WHO:
        QgsProject.instance().removeEntry("vbas", name.lower())


def test_the_page_has_the_hashes_of_all_that_goes_out(anonymize, tmp_path):
    report, sheet, folder = tmp_path / "report.html", tmp_path / "sign.pdf", tmp_path / "out"
    files = {name: str(tmp_path / f"{name}.gpkg") for name in ("RELEASED_RECORDS", "CROSSWALK")}
    anonymize(REPORT=str(report), SIGN_PAGE=str(sheet), RELEASE_FOLDER=str(folder), **files, **WHO)
    first, _, appendix = report.read_text(encoding="utf-8").partition('<section aria-labelledby="part-1"')
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    hashes = {one["name"]: one["content_sha256"] for one in package["resources"] if "content_sha256" in one}
    assert len(hashes) == 3 and all(value in first for value in hashes.values())
    assert package["vbas"]["content_sha256"] in first and "Asthma &lt;by&gt; small area" in first
    assert "RELEASED_RECORDS.gpkg, out/" in first and first.count("<td></td><td></td><td></td><td></td>") == 2
    assert "Checked by" not in appendix
    assert sheets(sheet.read_bytes()) == 1
    for output, name in (("RELEASED_RECORDS", "records"), ("CROSSWALK", "crosswalk")):
        assert hash_of(tmp_path / f"{output}.gpkg", package, name) == hashes[name]


def hash_of(file, package, name):
    """The content hash of a file alone, its fields by the types that the description of the folder gives them."""
    schema = next(one for one in package["resources"] if one["name"] == name)["schema"]
    fields = tuple(DataField(one["name"], one["type"]) for one in schema["fields"])
    read = GeoPackageFrame(file, "", "FILE").columns([one.name for one in fields])
    columns = tuple(read[one.name] for one in fields)
    return content_hash(DataTable(name, "", "", fields, columns, np.ones(len(columns[0].codes), np.int64)))


def test_release_records_has_the_page_too(run, grid, tmp_path):
    codes = [feature["da"] for feature in grid[0].getFeatures()]
    crosswalk = make_layer({"da": codes, "vbas_region": [1 + i // 9 for i in range(36)]})
    given = {"RECORDS": grid[1], "RECORD_REGION": "home", "QUASI_IDENTIFIERS": ["sex", "age"], "CROSSWALK": crosswalk}
    run("releaserecords", **given, SIGN_PAGE=str(tmp_path / "sign.pdf"), RELEASED_RECORDS="memory:")
    assert sheets((tmp_path / "sign.pdf").read_bytes()) == 1


@pytest.mark.parametrize("nested", [False, True])
def test_pages_to_publish_hold_hashes_of_tables_and_their_own_stand_on_the_internal_one(anonymize, tmp_path, nested):
    files = {"REPORT": tmp_path / "internal.html", "RELEASE_REPORT": tmp_path / "public.html"}
    kind = {"RELEASE": "nested levels"} if nested else {}
    anonymize(**{name: str(file) for name, file in files.items()}, RELEASE_FOLDER=str(tmp_path / "release"), **kind)
    internal, public = (file.read_text(encoding="utf-8") for file in files.values())
    package = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))
    content = [one["content_sha256"] for one in package["resources"] if "content_sha256" in one]
    for page in (public, (tmp_path / "release" / "report.html").read_text(encoding="utf-8")):
        assert all(page.count(value) == 1 for value in [*content, package["vbas"]["content_sha256"]])
    published = [files["RELEASE_REPORT"], tmp_path / "release" / "report.html"]
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in published]
    assert all(internal.count(value) == 1 for value in hashes)
    assert f"sha256:{hashes[1]}" in {one["hash"] for one in package["resources"]}


def test_the_project_proposes_what_was_said_last(anonymize, tmp_path):
    anonymize(SIGN_PAGE=str(tmp_path / "sign.pdf"), **WHO)
    form = QgsApplication.processingRegistry().algorithmById("vbas:anonymize").create()
    assert {name: form.parameterDefinition(name).defaultValue() for name in WHO} == WHO


def test_a_page_to_print_is_a_pdf(anonymize, tmp_path):
    with pytest.raises(QgsProcessingException, match=r"SIGN_PAGE is a page to print"):
        anonymize(SIGN_PAGE=str(tmp_path / "sign.html"))


@pytest.mark.parametrize("spoken", ["en", "fr"])
def test_a_full_page_stays_one_sheet(provider, spoken):
    long, sha = "A sentence of many words. " * 16, "0123456789abcdef" * 4
    page = SignPage(
        "Release",
        "2026-11-23",
        long,
        True,
        [(f"Fact {i}", long[:390]) for i in range(5)],
        [(f"Term {i}", long[:180]) for i in range(9)],
        [("12.3 %", "of the records"), ("5", "records"), ("250 m", "mean distance")],
        long[:200],
        [FileToSign(f"Table {i}", "RELEASED_RECORDS.gpkg, a_folder_of_a_release/", sha) for i in range(5)],
        sha,
    )
    language.speak(spoken)
    try:
        html = printed(page)
    finally:
        language.speak("en")
    assert sheets(pdf_of(html)) == 1 and html.count(sha) == 6
