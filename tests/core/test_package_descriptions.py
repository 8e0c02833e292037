"""The descriptions of a release are those of data packages, archives and portals, as their own readers see them."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from vbas.core.package.ddi import SPACE
from vbas.core.package.descriptor import FILE, Said
from vbas.core.package.folder import write_folder
from vbas.core.package.writing import FORMATS

from .package_cases import drawn_account, tables_of

SAID = Said("A title\x01 <&>", "1.0", "abc", "2026-01-01T00:00:00Z", "vbas:anonymize", {"K": 3}, "run", "CC-BY-4.0")
# What DDI Codebook 2.5 lets stand in an element, in this order: the part of its schema that is written here, each file
# of which was held against the whole schema by hand.
CHILDREN = {
    "codeBook": ["stdyDscr", "fileDscr", "dataDscr"],
    "stdyDscr": ["citation", "stdyInfo", "dataAccs"],
    "citation": ["titlStmt", "prodStmt"],
    "titlStmt": ["titl"],
    "prodStmt": ["prodDate", "software"],
    "stdyInfo": ["abstract"],
    "dataAccs": ["useStmt"],
    "useStmt": ["conditions"],
    "fileDscr": ["fileTxt"],
    "fileTxt": ["fileName", "fileCont", "dimensns", "fileType", "dataChck"],
    "dimensns": ["caseQnty", "varQnty"],
    "dataDscr": ["var"],
    "var": ["labl", "txt", "catgry", "varFormat"],
    "catgry": ["catValu"],
}
NEEDED = {"codeBook": ["stdyDscr"], "stdyDscr": ["citation"], "citation": ["titlStmt"], "titlStmt": ["titl"]}


@pytest.fixture(params=range(6))
def release(request, tmp_path):
    """A release and its folder, in each format in turn."""
    account = drawn_account(np.random.default_rng([7, request.param]))
    write_folder(tmp_path, account, tables_of(account), FORMATS[request.param % 2 * 2], SAID)
    return account, tmp_path


@pytest.mark.slow
def test_frictionless_finds_no_error(tmp_path):
    frictionless = pytest.importorskip("frictionless")
    for number in range(6):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        account = drawn_account(np.random.default_rng([8, number]))
        write_folder(folder, account, tables_of(account), "CSV", SAID)
        report = frictionless.validate(str(folder / FILE))
        assert report.valid, report.flatten(["type", "note"])
        tables = [task for task in report.tasks if task.type == "table"]
        assert len(tables) == 3 and sum(task.stats["errors"] for task in tables) == 0
    (folder / "records.csv").write_bytes((folder / "records.csv").read_bytes() + b"999,,\n")
    assert not frictionless.validate(str(folder / FILE)).valid


def test_frictionless_takes_the_description_of_every_format(tmp_path):
    frictionless = pytest.importorskip("frictionless")
    for written in FORMATS:
        if written == "Parquet":
            pytest.importorskip("pyarrow")
        folder = tmp_path / written
        folder.mkdir()
        account = drawn_account(np.random.default_rng([9]))
        write_folder(folder, account, tables_of(account), written, SAID)
        described = frictionless.Package.from_descriptor(str(folder / FILE))
        assert {"records", "crosswalk", "regions", "ddi", "dcat"} <= set(described.resource_names)


def test_ddi_is_built_as_its_schema_says(release):
    _, folder = release
    book = ElementTree.parse(folder / "ddi.xml").getroot()
    for element in book.iter():
        space, _, name = element.tag[1:].partition("}")
        assert space == SPACE
        children = [child.tag.partition("}")[2] for child in element]
        allowed = CHILDREN.get(name, [])
        assert set(children) <= set(allowed) and set(NEEDED.get(name, [])) <= set(children)
        places = [allowed.index(child) for child in children]
        assert places == sorted(places)
    ids = [element.get("ID") for element in book.iter() if element.get("ID")]
    assert len(set(ids)) == len(ids)
    files = {element.get("files") for element in book.iter(f"{{{SPACE}}}var")}
    assert files == {element.get("ID") for element in book.iter(f"{{{SPACE}}}fileDscr")}


def test_ddi_names_every_field_and_count(release):
    account, folder = release
    book = ElementTree.parse(folder / "ddi.xml").getroot()
    package = json.loads((folder / FILE).read_text(encoding="utf-8"))
    fields = [one["name"] for table in package["resources"] if "schema" in table for one in table["schema"]["fields"]]
    assert [one.get("name") for one in book.iter(f"{{{SPACE}}}var")] == fields
    rows = next(book.iter(f"{{{SPACE}}}caseQnty")).text
    assert rows is not None and int(rows) == len(account.release)


def test_dcat_names_every_file_with_its_checksum(release):
    _, folder = release
    dataset = json.loads((folder / "dcat.jsonld").read_text(encoding="utf-8"))
    package = json.loads((folder / FILE).read_text(encoding="utf-8"))
    assert dataset["@type"] == "dcat:Dataset" and dataset["dct:identifier"] == package["vbas"]["content_sha256"]
    told = {one["dcat:downloadURL"]["@id"]: one for one in dataset["dcat:distribution"]}
    for resource in package["resources"]:
        if resource["name"] != "dcat":  # which cannot name itself
            checksum = told[resource["path"]]["spdx:checksum"]["spdx:checksumValue"]["@value"]
            assert resource["hash"] == f"sha256:{checksum}"
