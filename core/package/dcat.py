"""The description of a release as DCAT (W3C), in JSON-LD, which portals harvest; made of datapackage.json alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FILE = "dcat.jsonld"
CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
MEDIA = "https://www.iana.org/assignments/media-types/"


def dcat(package: Mapping[str, Any]) -> str:
    """The description as JSON-LD; package : the content of datapackage.json."""
    dataset: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "dcat:Dataset",
        "dct:identifier": package["vbas"]["content_sha256"],
        "dct:title": package["title"],
        "dct:description": package["description"],
    }
    if "created" in package:
        dataset["dct:issued"] = {"@type": "xsd:dateTime", "@value": package["created"]}
    licences = [
        {"@id": licence["path"]} if "path" in licence else licence.get("title") or licence["name"]
        for licence in package.get("licenses", [])
    ]
    if licences:
        dataset["dct:license"] = licences[0]
    dataset["dcat:distribution"] = [_distribution(resource) for resource in package["resources"]]
    return json.dumps(dataset, ensure_ascii=False, indent=2) + "\n"


def _distribution(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "dcat:Distribution",
        "dct:title": resource["title"],
        "dcat:downloadURL": {"@id": resource["path"]},
        "dcat:mediaType": {"@id": MEDIA + resource["mediatype"]},
        "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": str(resource["bytes"])},
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": resource["hash"].partition(":")[2]},
        },
    }
