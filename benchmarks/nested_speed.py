"""What a nested release takes: seconds against reading the records, and memory at scale; see nested_release.py."""

from __future__ import annotations

import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, TypeVar

import numpy as np
from osgeo import gdal
from scipy import sparse

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import LARGE_SELECTION, SELECTIONS
from vbas.core.areas import Areas
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.profile import Profile
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import SyntheticRecords, generate_records, province_from_identifiers

K = 5
TIMES = 3  # the least seconds of so many runs count: other programs disturb the others
READING_TARGET = 1.0
# About 20 000 of 21 600 possible classes, and 20 million people in 33 818 areas.
MANY_CLASSES = ("sex", "age_group", "education", "income_group", "ethnicity", "occupation", "tenure")
LARGE_POPULATION = (433, 750)
SCALE_SECONDS, SCALE_GB = 120.0, 4.0
PARTS = (
    ("core/nesting/losses.py", "mean_distance", "losses"),
    ("core/nesting/optimum.py", "best_levels", "optimum"),
    ("core/nesting/optimum.py", "_gathered", "· finding what has to be placed"),
    ("core/nesting/optimum.py", "_work_out", "· up the levels"),
    ("core/nesting/patterns.py", "numbers", "· · patterns of cells"),
    ("core/nesting/states.py", "solved", "· · adding regions"),
    ("core/nesting/states.py", "_handed_up", "· · · state by state"),
    ("core/nesting/states.py", "traced", "· finding choices again (on the way up and back down)"),
    ("core/nesting/patterns.py", "released", "· finding those of cells again"),
    ("core/nesting/optimum.py", "_walk_back", "· back down"),
    ("core/plan.py", "plan_by_levels", "the plan's equivalence classes"),
)
Result = TypeVar("Result")


def people(part: str, selection: tuple[str, ...], population: tuple[int, int]) -> tuple[Areas, SyntheticRecords]:
    """The areas of a part of Canada and their made-up inhabitants."""
    regions = real_data.canada(part)
    provinces = province_from_identifiers(regions.identifiers)
    made = generate_records(regions.identifiers, provinces, canadian_distributions().selection(selection), population)
    return regions.with_population(made.population), made


def seconds_of(call: Callable[[], Result]) -> tuple[Result, float]:
    """What a call gives and the least CPU seconds of TIMES runs."""
    seconds = []
    for _ in range(TIMES):
        started = time.process_time()
        result = call()
        seconds.append(time.process_time() - started)
    return result, min(seconds)


def reading() -> None:
    """East of Canada: levels, optimum and plan against reading the records from a GeoPackage."""
    regions, made = people("East", SELECTIONS[LARGE_SELECTION], (400, 700))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.gpkg"
        write(made, path)
        qgis()
        table, read = seconds_of(lambda: read_by_plugin(path, made.fields))
        n_rows, by_gdal = seconds_of(lambda: read_by_gdal(path, made.fields))
    if n_rows != len(table):
        raise RuntimeError("The two readers do not agree.")
    records, matched = seconds_of(lambda: match_records(table, regions, k=K))
    profile = records.profile
    levels, built = seconds_of(lambda: build_levels(regions, profile))
    plan, nested = seconds_of(lambda: nest(regions, profile, levels, K))
    release, applied = seconds_of(lambda: apply(plan, records))
    print(
        f"{len(regions)} areas, {profile.n_records} records in {len(profile.classes)} classes, {profile.counts.nnz} "
        f"cells; {len(levels)} levels; {len(release)} records released. The least of {TIMES} runs:"
    )
    print("| step | CPU s |\n|---|---|")
    for title, seconds in (
        ("reading the records, as vbas:anonymize does", read),
        ("reading them by GDAL's Arrow stream, nothing looked at", by_gdal),
        ("matching and counting them", matched),
        ("build_levels", built),
        ("nest", nested),
        ("apply", applied),
    ):
        print(f"| {title} | {seconds:.2f} |")
    ours = built + nested + applied
    print(
        f"\nLevels, optimum and plan take {ours:.2f} CPU s, {ours / read:.2f} times the reading (target: at most "
        f"{READING_TARGET:g}). Reached: {'yes' if ours <= READING_TARGET * read else 'NO'}. Without apply: "
        f"{(built + nested) / read:.2f}; against GDAL's stream: {ours / by_gdal:.2f}; against reading, matching and "
        f"counting: {ours / (read + matched):.2f}."
    )


def write(made: SyntheticRecords, path: Path) -> None:
    """The records as a GeoPackage of text."""
    text = path.with_suffix(".csv")
    with text.open("w", encoding="utf-8") as file:
        file.write(",".join(f'"{name}"' for name in ("DAUID", *made.fields)) + "\n")
        for chunk in made.chunks():
            columns = (chunk.area, *chunk.quasi_identifiers.values())
            values = [column.categories.astype(str)[column.codes].tolist() for column in columns]
            file.writelines('"' + '","'.join(row) + '"\n' for row in zip(*values))
    gdal.UseExceptions()
    gdal.VectorTranslate(str(path), str(text), format="GPKG", layerName="records")
    text.unlink()


@lru_cache(maxsize=1)
def qgis() -> tuple[Any, Any]:
    """QGIS and the plugin's provider, to hold on to."""
    from qgis.core import QgsApplication

    from vbas.vbas_plugin.provider import VbasProvider

    application, provider = QgsApplication([], False), VbasProvider()
    application.initQgis()
    application.processingRegistry().addProvider(provider)
    return application, provider


def read_by_plugin(path: Path, quasi_identifiers: tuple[str, ...]) -> RecordTable:
    """The records as vbas:anonymize reads them."""
    from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsVectorLayer

    from vbas.algorithms.layers.inputs import Inputs
    from vbas.algorithms.layers.reading.checked_source import checked_source
    from vbas.algorithms.layers.reading.records import read_records
    from vbas.core.records.fields import RecordFields

    layer = QgsVectorLayer(str(path), "records", "ogr")
    algorithm = qgis()[1].algorithm("anonymize").create()
    source = checked_source(Inputs(algorithm, {"RECORDS": layer}, QgsProcessingContext()), "RECORDS")
    assert source is not None
    return read_records(source, RecordFields("DAUID", quasi_identifiers), QgsProcessingFeedback(False))


def read_by_gdal(path: Path, quasi_identifiers: tuple[str, ...]) -> int:
    """How many records GDAL's stream gives, as batches of arrays that nobody looks at."""
    dataset = gdal.OpenEx(str(path))
    layer = dataset.GetLayer(0)
    batches = layer.GetArrowStreamAsNumPy(options=["INCLUDE_FID=NO"])
    return sum(len(batch["DAUID"]) for batch in batches)


def scale() -> None:
    """Centre of Canada, 20 million records in some 20 000 classes, given as a profile; a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for step in ("make", "nest"):
            done = subprocess.run(
                [sys.executable, __file__, step, folder], stdout=subprocess.PIPE, text=True, check=True
            )
    result = json.loads(done.stdout)
    print(
        f"{result['areas']} areas, {result['records']} records, {result['classes']} classes, {result['cells']} cells."
    )
    print("| | measured | target | reached |\n|---|---|---|---|")
    slow, large = result["nest"] > SCALE_SECONDS, result["peak"] > SCALE_GB
    print(f"| nest, CPU s | {result['nest']:.1f} | at most {SCALE_SECONDS:g} | {'NO' if slow else 'yes'} |")
    print(
        f"| peak memory of the process, GB | {result['peak']:.2f} | at most {SCALE_GB:g} | {'NO' if large else 'yes'} |"
    )
    print(f"| peak before nest, with the profile and the levels, GB | {result['before']:.2f} | | |")
    print(f"| added by nest, GB | {result['peak'] - result['before']:.2f} | | |")
    print(f"| build_levels, CPU s | {result['levels']:.1f} | | |")
    print(f"Suppressed: {result['suppressed']}; unavoidable: {result['unavoidable']}.")


def make(folder: Path) -> None:
    """Count the records part by part, without ever holding them together."""
    regions, made = people("Centre", MANY_CLASSES, LARGE_POPULATION)
    sizes = [len(categories) for categories in _categories(made)]
    parts = []
    for chunk in made.chunks():
        class_of = np.ravel_multi_index([column.codes for column in chunk.quasi_identifiers.values()], sizes)
        parts.append(np.unique(chunk.area.codes.astype(np.int64) * int(np.prod(sizes)) + class_of, return_counts=True))
    key, records = (np.concatenate(arrays) for arrays in zip(*parts))
    area, class_of = np.divmod(key, int(np.prod(sizes)))
    used, class_of = np.unique(class_of, return_inverse=True)
    counts = sparse.csr_matrix(
        (records, (area, class_of)), shape=(len(regions), len(used))
    )  # adds what two chunks hold
    counts.sort_indices()
    np.savez(folder / "profile.npz", data=counts.data.astype(np.int64), indices=counts.indices, indptr=counts.indptr)


def _categories(made: SyntheticRecords) -> list[np.ndarray]:
    return [column.categories for column in next(made.chunks(1)).quasi_identifiers.values()]


def nest_alone(folder: Path) -> None:
    """Read the profile that `make` wrote and print what nest takes."""
    with np.load(folder / "profile.npz") as given:
        counts = sparse.csr_matrix((given["data"], given["indices"], given["indptr"]))
    n_classes = counts.shape[1]
    profile = Profile(counts, np.arange(n_classes)[:, None], (np.arange(n_classes).astype(object),), ("class",))
    regions = real_data.canada("Centre").with_population(profile.area_sizes)
    started = time.process_time()
    levels = build_levels(regions, profile)
    built, before = time.process_time(), _peak()
    plan = nest(regions, profile, levels, K)
    done = time.process_time()
    sizes = profile.class_sizes
    figures = {
        "areas": len(regions),
        "records": profile.n_records,
        "classes": n_classes,
        "cells": counts.nnz,
        "levels": built - started,
        "nest": done - built,
        "before": before,
        "peak": _peak(),
        "suppressed": profile.n_records - plan.n_released,
        "unavoidable": int(sizes[sizes < K].sum()),
    }
    print(json.dumps(figures))


def _peak() -> float:
    """The most memory this process ever had, in GB; what `resource` tells may be its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024**2


def parts() -> None:
    """East of Canada: the CPU seconds of nest by part, with the profiler, which makes it slower."""
    regions, made = people("East", SELECTIONS[LARGE_SELECTION], (400, 700))
    profile = match_records(made.table(), regions, k=K).profile
    levels = build_levels(regions, profile)
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(nest, regions, profile, levels, K)
    figures: Any = pstats.Stats(profiler)
    of = {(file, name): (calls, seconds) for (file, _, name), (_, calls, _, seconds, _) in figures.stats.items()}
    whole = next(seconds for (file, name), (_, seconds) in of.items() if name == "nest")
    print("| part | CPU s | share | calls |\n|---|---|---|---|")
    print(f"| nest | {whole:.2f} | 100 % | 1 |")
    for end, name, title in PARTS:
        calls, seconds = next((of[key] for key in of if key[0].endswith(end) and key[1] == name), (0, 0.0))
        print(f"| {title} | {seconds:.2f} | {100 * seconds / whole:.0f} % | {calls} |")


if __name__ == "__main__":
    {"make": make, "nest": nest_alone}[sys.argv[1]](Path(sys.argv[2]))
