"""Reference cases: releases of people who do not exist, with the content hashes that every system must give.

bash scripts/reference_cases [CASE …] [--door DOOR …] [--folder FOLDER] [--write]

Cases stand in scripts/cases/cases.json: settings of `vbas:anonymize`, the hash of the inputs, and the content
hash of the release. Beside it stand the areas of each, a demonstration city of its own, as a table with shapes: drawn
anew they would be others with another version of GEOS. The people are drawn from the seed.

Doors are the library, with areas and records as arrays; the command, from files; the engine, DuckDB over the file of
the records; the toolbox, by qgis_process. A door that is not here is said, and is no error.

It ends with 0 where every release that was made has the hash that is expected; with 1 where one has not; with 2 where
the inputs are others already, so that nothing can be said, or no door is here.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import shapely

from vbas import anonymize
from vbas.core.command.job_file import written_job
from vbas.core.engines import missing_packages, open_engine
from vbas.core.package.content_hash import content_hash, hash_of_all
from vbas.core.package.dataset import column_of, tables_of_release
from vbas.core.package.table import INTEGER, STRING, DataField, DataTable
from vbas.core.package.writing import write_geopackage
from vbas.core.synthetic.city import CENTRE, City, demonstration_city
from vbas.core.synthetic.distributions import stream

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "scripts" / "cases"
INDEX = CASES / "cases.json"
LIBRARY, COMMAND, ENGINE, TOOLBOX = "library", "command", "engine", "toolbox"
DOORS = (LIBRARY, COMMAND, ENGINE, TOOLBOX)
AGREE, DIFFERS, CANNOT_TELL = 0, 1, 2
MOST_VISITS = 3
WRITTEN = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK")  # which the toolbox does not leave out
FIELDS = {"REGION_ID": "area", "RECORD_REGION": "area", "POPULATION": "population"}


@dataclass(frozen=True, eq=False)
class Inputs:
    """Areas and records of a case, as arrays by field, and the files that hold them.

    areas : with `geometry`, polygons in metres; records : object arrays of text
    """

    areas: Mapping[str, np.ndarray]
    records: Mapping[str, np.ndarray]
    folder: Path

    @property
    def areas_file(self) -> Path:
        """A GeoPackage."""
        return self.folder / "areas.gpkg"

    @property
    def records_file(self) -> Path:
        """A CSV file."""
        return self.folder / "records.csv"

    def hash(self) -> str:
        """SHA-256 of what is given: the records' file, then a line for each area with its shape."""
        digest = hashlib.sha256(self.records_file.read_bytes())
        shapes = shapely.to_wkb(shapely.normalize(self.areas["geometry"]), hex=True, byte_order=1)
        plain = [values for name, values in self.areas.items() if name != "geometry"]
        for row in zip(*plain, shapes):
            digest.update(("\t".join(map(str, row)) + "\n").encode())
        return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases that are asked for; what the program ends with."""
    cases = json.loads(INDEX.read_text(encoding="utf-8"))
    given = _given(arguments, list(cases))
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, shapely "
        f"{shapely.__version__} with GEOS {shapely.geos_version_string}, {platform.platform()}"
    )
    ends = []
    with tempfile.TemporaryDirectory(prefix="vbas-cases-") as temporary:
        for name in given.case or list(cases):
            folder = (given.folder or Path(temporary)) / name.replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            if given.write:
                draw_areas(cases[name])
            ends.append(run_case(name, cases[name], folder, given.door or DOORS, given.write))
    if given.write:
        INDEX.write_text(json.dumps(cases, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    said = {AGREE: "agree", DIFFERS: "DIFFER", CANNOT_TELL: "cannot tell"}
    print(", ".join(f"{said[end]}: {ends.count(end)}" for end in said if end in ends))
    return DIFFERS if DIFFERS in ends else max(ends)


def run_case(name: str, case: dict[str, Any], folder: Path, doors: Sequence[str] = DOORS, write: bool = False) -> int:
    """Make the release of a case by every door that is here, and say what each gives: AGREE, DIFFERS or CANNOT_TELL.

    write : take what the first door gives for what is expected from now on
    """
    print(f"{name}: {case['says']}", flush=True)
    inputs = inputs_of(case, folder)
    found_inputs = inputs.hash()
    if write:
        case["inputs"] = found_inputs
    same = found_inputs == case["inputs"]
    rows = f"{len(inputs.areas['area']):,} areas, {len(inputs.records['area']):,} rows"
    print(f"  inputs    {'agree' if same else 'are others: its people are drawn in another way here'}  {rows}")
    if not same:
        return CANNOT_TELL
    wrong, seen = False, 0
    for door in doors:
        if door == ENGINE and not case.get("in_place"):
            continue
        lacks = not_here(door, case)
        if lacks:
            print(f"  {door:<9} not here: {lacks}")
            continue
        start = time.monotonic()
        content_hash = RUN[door](case, inputs)
        if write and not seen:
            case["content_sha256"] = content_hash
        agrees, seen = content_hash == case["content_sha256"], seen + 1
        wrong |= not agrees
        print(
            f"  {door:<9} {'agrees' if agrees else 'DIFFERS'}  {content_hash}  {time.monotonic() - start:.1f} s",
            flush=True,
        )
    return DIFFERS if wrong else AGREE if seen else CANNOT_TELL


def inputs_of(case: Mapping[str, Any], folder: Path) -> Inputs:
    """The areas and records of a case, written to a folder too."""
    city = _city(case)
    north = shapely.get_coordinates(shapely.centroid(city.polygons))[:, 1] > CENTRE[1]
    halves = np.where(north, " north", " south").astype(object)
    areas = {
        "area": city.identifiers,
        "quarter": city.districts + halves,
        "district": city.districts,
        "population": city.population,
        "geometry": city.polygons,
    }
    people = city.people().table()
    rng = stream(case["seed"], "reference case")
    taken = np.flatnonzero(rng.integers(case["one_in"], size=len(people)) == 0)
    person = np.repeat(taken, rng.integers(1, MOST_VISITS, len(taken), endpoint=True)) if _persons(case) else taken
    columns = {"area": people.area, **people.quasi_identifiers, **people.kept}
    records = {name: column.categories[column.codes[person]] for name, column in columns.items()}
    if _persons(case):
        # Of each visit a diagnosis of its own: that of somebody who is drawn from all.
        records["diagnosis"] = rng.permutation(records["diagnosis"])
        records["person"] = np.array([f"p{number}" for number in person.tolist()], dtype=object)
    inputs = Inputs(areas, records, folder)
    with inputs.records_file.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(records)
        rows.writerows(zip(*records.values()))
    _write_areas(inputs)
    return inputs


def draw_areas(case: Mapping[str, Any]) -> None:
    """Draw the areas of a case anew, and keep them."""
    city = demonstration_city(case["seed"], n_areas=case["areas"])
    shapes = shapely.to_wkt(shapely.normalize(city.polygons), rounding_precision=2).tolist()
    rows = zip(city.identifiers.tolist(), city.districts.tolist(), city.population.tolist(), shapes)
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    _areas_of(case).write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def _city(case: Mapping[str, Any]) -> City:
    rows = gzip.decompress(_areas_of(case).read_bytes()).decode("utf-8").splitlines()
    identifiers, districts, population, shapes = zip(*(row.split("\t") for row in rows))
    identifier, district = (np.array(values, dtype=object) for values in (identifiers, districts))
    return City(identifier, shapely.from_wkt(list(shapes)), district, np.array(population, np.int64), case["seed"])


def _areas_of(case: Mapping[str, Any]) -> Path:
    return CASES / f"areas-{case['seed']}.tsv.gz"


def _persons(case: Mapping[str, Any]) -> bool:
    return "PERSON_ID" in case["settings"]


def _write_areas(inputs: Inputs) -> None:
    inputs.areas_file.unlink(missing_ok=True)
    plain = {name: values for name, values in inputs.areas.items() if name != "geometry"}
    fields = tuple(DataField(name, INTEGER if name == "population" else STRING) for name in plain)
    columns = tuple(column_of(values) for values in plain.values())
    copies = np.ones(len(inputs.areas["area"]), np.int64)
    write_geopackage(inputs.areas_file, [DataTable("areas", "", "", fields, columns, copies, inputs.areas["geometry"])])


def not_here(door: str, case: Mapping[str, Any]) -> str:
    """What a door lacks on this machine, empty where it is here."""
    if door == COMMAND and sys.version_info < (3, 11) and not find_spec("tomli"):
        return "before Python 3.11 a job wants tomli"
    if door == COMMAND and not find_spec("jinja2"):
        return "the page of a folder wants jinja2"
    if door == ENGINE or (door == TOOLBOX and case.get("in_place")):
        lacks = missing_packages("duckdb")
        if lacks:
            return f"it wants {', '.join(lacks)}"
    if door == TOOLBOX and not (shutil.which("qgis_process.bin") or shutil.which("qgis_process")):
        return "it wants QGIS"
    return ""


def by_library(case: Mapping[str, Any], inputs: Inputs) -> str:
    """The content hash of the library's release, of arrays."""
    return _anonymized(case, inputs).content_hash


def _anonymized(case: Mapping[str, Any], inputs: Inputs) -> Any:
    settings: dict[str, Any] = {name.lower(): value for name, value in {**FIELDS, **case["settings"]}.items()}
    return anonymize(inputs.areas, inputs.records, **settings)


def by_command(case: Mapping[str, Any], inputs: Inputs) -> str:
    """The content hash of the command's release, of files, as the folder tells it."""
    files = {"REGIONS": inputs.areas_file.name, "RECORDS": inputs.records_file.name, "RELEASE_FOLDER": "by-command"}
    job = inputs.folder / "job.toml"
    job.write_text(written_job({**files, **FIELDS, **case["settings"]}), encoding="utf-8")
    _ended([sys.executable, "-m", "vbas", "anonymize", str(job), "--quiet"], {})
    return _content_of(inputs.folder / "by-command")


def by_engine(case: Mapping[str, Any], inputs: Inputs) -> str:
    """The content hash of what DuckDB releases by the library's crosswalk."""
    from vbas.core.anonymise import Ask, anonymise
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.source import EngineSource
    from vbas.core.records.fields import RecordFields

    settings, made = case["settings"], _anonymized(case, inputs).account
    fields = RecordFields("area", tuple(settings["QUASI_IDENTIFIERS"]), tuple(settings["KEEP_FIELDS"]), "")
    with open_engine(str(inputs.records_file)) as engine:
        matched = match_in_place(count_in_place(engine, fields), made.areas, k=settings["K"])
        source = EngineSource(matched, str(inputs.folder / "in-place.csv"))
        account = anonymise(made.areas, source, made.levels, Ask(settings["K"]))
        if account.rows is None or account.rows.staged is None:
            raise LookupError("staged")  # which an engine always gives
        rows = account.rows.staged.different_rows(account.plan, account.nested)
        tables = tables_of_release(account, "area", release=rows)
    return hash_of_all({table.name: content_hash(table) for table in tables})


def by_toolbox(case: Mapping[str, Any], inputs: Inputs) -> str:
    """The content hash of the toolbox's release, as the folder tells it."""
    folder = inputs.folder / "by-toolbox"
    given = {"REGIONS": str(inputs.areas_file), **FIELDS, **case["settings"], "RELEASE_FOLDER": str(folder)}
    algorithm = "vbas:anonymize"
    if case.get("in_place"):
        algorithm, made = "vbas:releasedatabase", inputs.folder / "by-library"
        _anonymized(case, inputs).write(made)
        given |= {"CONNECTION": str(inputs.records_file), "CROSSWALK": str(made / "crosswalk.csv")}
        given["DESTINATION"] = str(inputs.folder / "by-toolbox.csv")
    else:
        given["RECORDS"] = str(inputs.records_file)
        given |= {name: str(inputs.folder / f"{name.lower()}.gpkg") for name in WRITTEN}
    words = [f"{name}={';'.join(value) if isinstance(value, list) else value}" for name, value in given.items()]
    _ended(["bash", str(ROOT / "scripts" / "qgis_process"), "run", algorithm, "--", *words], {"VBAS_LANGUAGE": "en"})
    return _content_of(folder)


def _ended(words: Sequence[str], more: Mapping[str, str]) -> None:
    """Run a program to its end. Raises SystemExit with what it said where that is a bad one."""
    ended = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **more}, check=False)
    if ended.returncode:
        raise SystemExit(
            f"{' '.join(words)}\nended with {ended.returncode}:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        )


def _content_of(folder: Path) -> str:
    return str(json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))["vbas"]["content_sha256"])


RUN: Mapping[str, Callable[[Mapping[str, Any], Inputs], str]] = {
    LIBRARY: by_library,
    COMMAND: by_command,
    ENGINE: by_engine,
    TOOLBOX: by_toolbox,
}


def _given(arguments: Sequence[str] | None, names: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("scripts/reference_cases", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("case", nargs="*", help=f"of {', '.join(names)}; all where none is named")
    parser.add_argument("--door", action="append", choices=DOORS, help="all that are here where none is named")
    parser.add_argument("--folder", type=Path, help="where inputs and releases are kept")
    parser.add_argument("--write", action="store_true", help="write what is found here as what is expected")
    given = parser.parse_args(arguments)
    for name in given.case:
        if name not in names:
            parser.error(f"there is no case “{name}”: choose one of {', '.join(names)}")
    return given


if __name__ == "__main__":
    sys.exit(main())
