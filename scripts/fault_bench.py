"""The bench of scripts/faults: a town, two releases of it that are told apart, and runs that something happens to."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from osgeo import ogr, osr

if TYPE_CHECKING:
    from vbas.tests.headless.loaded import ForkedProcess, LoadedQgis

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "scripts" / "qgis_process"
SIDE, PER_AREA = 12, 150  # areas in a row and a column of the town, and the records of each
FILES = {
    "RELEASED_RECORDS": "released.gpkg",
    "RELEASED_REGIONS": "regions.gpkg",
    "CROSSWALK": "crosswalk.csv",
    "REGION_AUDIT": "audit.gpkg",
    "REPORT": "report.html",
}
FEW, MANY = 4, 9  # regions of the two releases
SECONDS = 120  # a run that takes longer hangs
ABSENT = None
# What the report says of the file of the records: rows and a checksum, or that it has changed since it was read.
RECORDS = r"<tr>(?:(?!</tr>).)*records\.(?:csv|gpkg)(?:(?!</tr>).)*</tr>"
# What differs between two reports of the same: the date, this, and seconds, numbers in the table that ends it.
DIFFERS = rf'class="date">[^<]*<|class="number">[\d.]+<|{RECORDS}'

Contents = dict[str, object]


@dataclass
class Bench:
    """Folders that every run uses anew, so that what it writes does not differ by where it stands.

    releases : what each output holds after a whole run, by the number of regions; old : its files, as they are
    seconds : from the first word of a run to its end; writing : from the first file that it writes to its end
    memory : the most of its address space, in bytes
    loaded : QGIS in a process whose copies are the runs; None where each is `qgis_process`, which takes longer to start
    """

    folder: Path
    loaded: LoadedQgis | None = None
    releases: dict[int, Contents] = field(default_factory=dict)
    seconds: float = 0.0
    writing: float = 0.0
    memory: int = 0

    @property
    def town(self) -> Path:
        """Where the inputs are."""
        return self.folder / "town"

    @property
    def final(self) -> Path:
        """Where the outputs go."""
        return self.folder / "final"

    @property
    def staging(self) -> Path:
        """Where temporary files go."""
        return self.folder / "staging"

    def old(self, n_sites: int) -> Path:
        """The files of a whole run."""
        return self.folder / f"old {n_sites}"

    def prepare(self, twice: bool = True) -> None:
        """Make the town and both releases. Raises RuntimeError where a run, if it is tried, differs the second time."""
        made = self.folder / "town as it is made"
        made.mkdir()
        make_town(made)
        self.new_town()
        for n_sites in (FEW, MANY):
            self.clear()
            run = Run(self, n_sites)
            run.wait_until_it_reads()
            begun = writes = time.monotonic()
            while run.process.poll() is None:
                writes = writes if run.writes() else time.monotonic()
                self.memory = max(self.memory, run.address_space())
                time.sleep(0.02)
            run.end()
            if run.code:
                raise RuntimeError(f"a run without a fault fails: {run.said}")
            self.seconds, self.writing = (time.monotonic() - since for since in (begun, writes))
            self.releases[n_sites] = contents(self.final)
            shutil.copytree(self.final, self.old(n_sites))
        self.clear()
        if not twice:
            return
        again = Run(self, FEW).end()
        if again.code or contents(self.final) != self.releases[FEW]:
            raise RuntimeError("a run without a fault does not do the same twice")

    def memory_of_a_process(self) -> int:
        """The most address space of a run that is no copy of a loaded QGIS, in bytes."""
        if self.loaded is None:
            return self.memory
        run, most = Run(self, MANY, copied=False), 0
        while run.process.poll() is None:
            most = max(most, run.address_space())
            time.sleep(0.02)
        return most

    def new_town(self) -> None:
        """The inputs as they were, to the byte: the report holds their checksums."""
        shutil.rmtree(self.town, ignore_errors=True)
        shutil.copytree(self.folder / "town as it is made", self.town)

    def clear(self, n_sites: int | None = None) -> None:
        """Empty folders, or with the outputs of an earlier release in the final one."""
        for folder in (self.final, self.staging):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for file in self.old(n_sites).iterdir() if n_sites else ():
            shutil.copy2(file, self.final)


class Run:
    """A run on the bench.

    records : the ending of the file of records; limits : of the system, such as {resource.RLIMIT_FSIZE: 10**6}
    copied : whether it is a copy of the loaded QGIS, where there is one
    """

    def __init__(
        self,
        bench: Bench,
        n_sites: int,
        records: str = "gpkg",
        limits: Mapping[int, int] = MappingProxyType({}),
        copied: bool = True,
    ) -> None:
        self.bench = bench
        self.log = bench.folder / f"log {n_sites}.txt"
        self.left_by_others = set(bench.staging.glob("vbas-*"))
        given = {
            "REGIONS": bench.town / "areas.gpkg",
            "REGION_ID": "area",
            "RECORDS": bench.town / f"records.{records}",
            "RECORD_REGION": "area",
            "QUASI_IDENTIFIERS": "sex;age",
            "COMBINATION": "custom",
            "SITE_NUMBER": "given number",
            "N_SITES": n_sites,
            **{name: bench.final / file for name, file in FILES.items()},
        }

        arguments = ["run", "vbas:anonymize", "--", *(f"{name}={value}" for name, value in given.items())]
        home = {"VBAS_HEADLESS_HOME": str(bench.folder / "home"), "TMPDIR": str(bench.staging)}
        self.process: subprocess.Popen[bytes] | ForkedProcess
        if bench.loaded is not None and copied:
            self.process = bench.loaded.start_into(self.log, *arguments, variables=home, limits=limits)
            return

        def begin() -> None:
            # Whoever is started in the background has been told to ignore Ctrl-C; and QGIS, before its Python starts,
            # would be ended by the signal of a limit.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            for kind, most in limits.items():
                resource.setrlimit(kind, (most, most))

        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(PROGRAM), *arguments], stdout=log, stderr=log, env={**os.environ, **home}, preexec_fn=begin
            )

    @property
    def said(self) -> str:
        """All that it has said."""
        return self.log.read_text(errors="replace")

    @property
    def code(self) -> int | None:
        """What it ended with; None while it runs, and where it was killed because it hung."""
        return self.process.returncode

    def wait_until_it_reads(self) -> None:
        """Until it has read what it was given, or has ended."""
        while "Inputs" not in self.said and self.process.poll() is None:
            time.sleep(0.01)

    def writes(self) -> bool:
        """Whether it has begun to write outputs."""
        with suppress(FileNotFoundError):  # a folder that is removed while it is looked at
            return any(
                any(path.glob("[A-Z]*/*")) for path in set(self.bench.staging.glob("vbas-*")) - self.left_by_others
            )
        return False

    def wait_until_it_writes(self) -> None:
        """Until it has begun to write outputs, or has ended."""
        while not self.writes() and self.process.poll() is None:
            time.sleep(0.005)

    def address_space(self) -> int:
        """The most that it has taken, in bytes; 0 once it has ended."""
        with suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            return 1024 * int((re.findall(r"VmPeak:\s*(\d+)", status) or ["0"])[0])
        return 0

    def end(self) -> Run:
        """Wait for its end; one that hangs is killed, and has no code then."""
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.process.returncode = None
        return self

    def complaints(self, killed: bool = False) -> list[str]:
        """What is wrong with how it ended: a success, or a sentence; killed : or a signal."""
        if self.code is None:
            # QGIS shows what its own code could not get memory for in a window, which nobody can close here.
            return [] if killed and "Caught unhandled std::exception" in self.said else ["it hangs"]
        if self.code == 0 or killed:
            return []
        wrong = [f"it says “{word}”" for word in ("Traceback", "Segmentation") if word in self.said]
        return wrong if wrong or "ERROR" in self.said else [f"it ends with {self.code} and without a sentence"]


def contents(folder: Path) -> Contents:
    """What each output there holds, ABSENT where there is none; whole files, whatever their dates are."""
    return {file: _content(folder / file) for file in FILES.values()}


def _content(file: Path) -> object:
    if not file.exists():
        return ABSENT
    if file.suffix == ".html":
        return re.sub(DIFFERS, "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    if file.suffix == ".csv":
        return file.read_bytes()
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            whole = connection.execute("PRAGMA integrity_check").fetchall()
            return whole, connection.execute(f'SELECT * FROM "{file.stem}"').fetchall()
    except sqlite3.Error as error:
        return f"damaged: {error}"


def others(folder: Path, hidden: bool = True) -> list[str]:
    """Names of what is there beside the outputs; hidden : also what begins with a dot."""
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [name for name in there if name not in FILES.values() and (hidden or not name.startswith("."))]


def make_town(folder: Path) -> None:
    """Areas and records of a town: areas.gpkg, records.gpkg and records.csv."""
    names = [f"{row:02d}{column:02d}" for row in range(SIDE) for column in range(SIDE)]
    crs = osr.SpatialReference()
    crs.ImportFromEPSG(26914)
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(folder / "areas.gpkg"))
    layer = dataset.CreateLayer("areas", crs, ogr.wkbPolygon)
    layer.CreateField(ogr.FieldDefn("area", ogr.OFTString))
    for position, name in enumerate(names):
        x, y = 630_000 + 500 * (position % SIDE), 5_520_000 + 500 * (position // SIDE)
        feature = ogr.Feature(layer.GetLayerDefn())
        feature["area"] = name
        ring = f"(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))"
        feature.SetGeometry(ogr.CreateGeometryFromWkt(f"POLYGON {ring}"))
        layer.CreateFeature(feature)
    rows = [(name, "FM"[i % 2], f"{i % 7}", f"person {name}-{i}") for name in names for i in range(PER_AREA)]
    head = ("area", "sex", "age", "person")
    dataset = ogr.GetDriverByName("GPKG").CreateDataSource(str(folder / "records.gpkg"))
    layer = dataset.CreateLayer("records", None, ogr.wkbNone)
    for field_name in head:
        layer.CreateField(ogr.FieldDefn(field_name, ogr.OFTString))
    feature = layer = dataset = None  # GDAL writes the files as it lets go
    with closing(sqlite3.connect(folder / "records.gpkg")) as connection, connection:
        connection.executemany("INSERT INTO records (area, sex, age, person) VALUES (?, ?, ?, ?)", rows)
    lines = "\n".join(",".join(f'"{value}"' for value in row) for row in (head, *rows))
    (folder / "records.csv").write_text(lines + "\n", encoding="utf-8")
