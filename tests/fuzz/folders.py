"""The folder of a release, recounted by verify.py, which shares no line with what wrote it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"


@lru_cache(maxsize=1)
def _verify() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verify_as_it_stands", VERIFY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recount_folder(case, outcome) -> Iterator[str]:
    """What does not hold of RELEASE_FOLDER, where one was written."""
    if "RELEASE_FOLDER" not in outcome.results:
        return
    verify, folder = _verify(), Path(str(outcome.results["RELEASE_FOLDER"]))
    package = verify.read_description(folder)
    if package is None:
        yield "RELEASE_FOLDER is no folder of a release."
        return
    claims = list(verify.verified(folder, package))
    yield from (f"RELEASE_FOLDER: {name}: {found}" for name, status, found in claims if status == verify.FAILS)
    records = next((int(one["rows"]) for one in package["resources"] if one["name"] == "records"), None)
    counted = case.parameters.get("RECORD_COUNT")
    if not counted and records != outcome.results["N_RECORDS"] - outcome.results["N_SUPPRESSED"]:
        yield f"RELEASE_FOLDER holds {records} records."
    listed = {"datapackage.json", *(one["path"] for one in package["resources"])}
    yield from (f"RELEASE_FOLDER holds {file.name} as well." for file in folder.iterdir() if file.name not in listed)
