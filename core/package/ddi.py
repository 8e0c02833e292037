"""The description of a release as DDI Codebook 2.5, which data archives read; made of datapackage.json alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Nothing is read with it: what its parser trusts does not matter here.
from xml.etree import ElementTree  # nosec B405

from ..language import tr
from ..plain_text import visible
from .descriptor import OURS

FILE = "ddi.xml"
SPACE = "ddi:codebook:2_5"
NUMERIC = ("integer", "number")
Element = ElementTree.Element


def ddi(package: Mapping[str, Any]) -> str:
    """The description as XML; package : the content of datapackage.json."""
    book = Element("codeBook", {"xmlns": SPACE, "version": "2.5"})
    made_by = package[OURS].get("made_by", {})
    study = _in(book, "stdyDscr")
    citation = _in(study, "citation")
    _in(_in(citation, "titlStmt"), "titl", package["title"])
    produced = _in(citation, "prodStmt")
    if "created" in package:
        _in(produced, "prodDate", package["created"][:10], date=package["created"][:10])
    if made_by:
        _in(produced, "software", made_by.get("program", ""), version=made_by.get("version") or "")
    _in(_in(study, "stdyInfo"), "abstract", package["description"])
    for licence in package.get("licenses", []):
        use = _in(_in(study, "dataAccs"), "useStmt")
        _in(use, "conditions", licence.get("title") or licence.get("name") or licence.get("path", ""))
    tables = [resource for resource in package["resources"] if "schema" in resource]
    for number, resource in enumerate(tables, 1):
        _file(book, f"F{number}", resource)
    data = _in(book, "dataDscr")
    for number, resource in enumerate(tables, 1):
        for position, field in enumerate(resource["schema"]["fields"], 1):
            _variable(data, f"F{number}", position, field)
    return ElementTree.tostring(book, encoding="utf-8", xml_declaration=True).decode("utf-8") + "\n"


def _file(book: Element, number: str, resource: Mapping[str, Any]) -> None:
    file_text = _in(_in(book, "fileDscr", ID=number, URI=resource["path"]), "fileTxt")
    _in(file_text, "fileName", resource["path"])
    _in(file_text, "fileCont", resource["description"])
    size = _in(file_text, "dimensns")
    _in(size, "caseQnty", str(resource["rows"]))
    _in(size, "varQnty", str(len(resource["schema"]["fields"])))
    _in(file_text, "fileType", resource["mediatype"])
    _in(file_text, "dataChck", _fingerprint(resource["content_sha256"]))


def _fingerprint(content_hash: str) -> str:
    return tr("Content hash (SHA-256 of the canonical rows): {content_hash}", content_hash=content_hash)


def _variable(data: Element, number: str, position: int, field: Mapping[str, Any]) -> None:
    listed = field.get("constraints", {}).get("enum", [])
    contin = field["type"] == "number"
    variable = _in(
        data,
        "var",
        ID=f"{number}V{position}",
        name=field["name"],
        files=number,
        intrvl="contin" if contin else "discrete",
    )
    _in(variable, "labl", field.get("title") or field["name"])
    texts = [field.get("description", ""), field.get("role", "")]
    if any(texts):
        _in(variable, "txt", "; ".join(filter(None, texts)))
    for value in listed:
        _in(_in(variable, "catgry"), "catValu", str(value).lower() if isinstance(value, bool) else str(value))
    _in(variable, "varFormat", type="numeric" if field["type"] in NUMERIC else "character")


def _in(parent: Element, tag: str, text: str = "", /, **attributes: str) -> Element:
    """A new element in another."""
    element = ElementTree.SubElement(parent, tag, {key: visible(value) for key, value in attributes.items()})
    element.text = visible(text) or None
    return element
