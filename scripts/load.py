"""Runs the main job again and again in one QGIS, and sees that nothing grows: memory, open files, threads, layers.

Started by `bash scripts/load [runs]`. The first runs fill what is kept once: what counts is what the later ones add.
Prints a line every tenth of the runs. Ends with 1 if anything grew.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qgis.core import QgsProcessingAlgorithm, QgsProject

RUNS, FIRST = 200, 10
MEMORY_PER_RUN = 40 * 1024  # bytes: below a tenth of the records of one run
MEMORY_AT_ONCE = 2 * 2**20  # bytes: what the allocator asks for now and then, however many runs there are


@dataclass(frozen=True)
class Held:
    """What a process holds: bytes of memory, open files, threads, layers, and temporary folders of ours."""

    memory: int
    files: int
    threads: int
    layers: int
    folders: int

    def __str__(self) -> str:
        counts = f"{self.files} files, {self.threads} threads, {self.layers} layers, {self.folders} folders"
        return f"{self.memory / 2**20:.1f} MiB, {counts}"


def held(folder: Path) -> Held:
    """What this process holds now; folder : where its temporary files go."""
    from qgis.core import QgsMapLayer

    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    threads = max(threading.active_count(), len(os.listdir("/proc/self/task")))  # noqa: PTH208
    layers = sum(isinstance(item, QgsMapLayer) for item in gc.get_objects())
    files = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    return Held(pages * os.sysconf("SC_PAGE_SIZE"), files, threads, layers, len(list(folder.glob("vbas-*"))))


def grown(before: Held, after: Held, runs: int) -> list[str]:
    """What grew between two moments, so many runs apart."""
    counted = ("files", "threads", "layers", "folders")
    wrong = [name for name in counted if getattr(after, name) > getattr(before, name)]
    allowed = MEMORY_AT_ONCE + MEMORY_PER_RUN * runs
    return wrong + (["memory"] if after.memory - before.memory > allowed else [])


def one_run(algorithm: QgsProcessingAlgorithm, given: dict[str, object], project: QgsProject) -> None:
    """The main job, as the toolbox runs it: into files and layers in memory, which are let go of then."""
    from qgis.core import QgsProcessingContext, QgsProcessingFeedback

    context, feedback = QgsProcessingContext(), QgsProcessingFeedback(False)
    context.setProject(project)
    _, ended_well = algorithm.create().run(given, context, feedback, {}, False)
    if not ended_well:
        raise RuntimeError(feedback.textLog())


def watch(
    algorithm: QgsProcessingAlgorithm, given: dict[str, object], project: QgsProject, folder: Path, runs: int
) -> list[str]:
    """Run so often; what grew after the first runs. Prints what is held on the way."""
    seen: dict[int, Held] = {}
    for i in range(runs + 1):
        if i in (FIRST, runs) or i % max(runs // 10, 1) == 0:
            seen[i] = held(folder)
            print(f"after {i} runs: {seen[i]}", flush=True)
        if i < runs:
            one_run(algorithm, given, project)
    return grown(seen[min(FIRST, runs)], seen[runs], runs - FIRST)


def main(words: list[str]) -> int:
    """Run the main job in a QGIS of its own."""
    runs = int(words[0]) if words else RUNS
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        folder = Path(name)
        os.environ["TMPDIR"] = tempfile.tempdir = name
        from qgis.core import QgsApplication, QgsProject

        application = QgsApplication([], False)
        application.initQgis()
        from vbas.vbas_plugin.provider import VbasProvider

        provider = VbasProvider()
        QgsApplication.processingRegistry().addProvider(provider)
        algorithm = QgsApplication.processingRegistry().algorithmById("vbas:anonymize")
        wrong = watch(algorithm, town_in(folder), QgsProject.instance(), folder, runs)
        print(f"Grown over {runs - FIRST} runs: {', '.join(wrong) or 'nothing'}.")
        sys.stdout.flush()
        return int(bool(wrong))


def town_in(folder: Path) -> dict[str, object]:
    """A town in files, and what the main job is given of it: outputs of all kinds."""
    from fault_bench import FILES, make_town

    make_town(folder)
    return {
        "REGIONS": str(folder / "areas.gpkg"),
        "REGION_ID": "area",
        "RECORDS": str(folder / "records.gpkg"),
        "RECORD_REGION": "area",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        **{name: str(folder / f"out {file}") for name, file in FILES.items()},
        "SITE_POINTS": "memory:",
    }


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    os._exit(ended)  # QGIS may crash as it lets go of itself
