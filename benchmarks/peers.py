"""VBAS, the baselines and other people's tools over the same areas and the same records, in one table.

    PYTHONPATH=build/package .venv/bin/python benchmarks/peers.py [Winnipeg] [California] [East of Canada]

The peers that Python packages hold (scikit-learn; spopt with geopandas) run in processes of their own, by the Python
that VBAS_PEERS_PYTHON names (default python3) with the folder VBAS_PEERS_PATH in front of its path, so that nothing of
theirs is needed here: `pip install --target FOLDER spopt scikit-learn`. One that is absent, or takes longer than
VBAS_PEERS_LIMIT seconds (default 900), stands in the table as such. Seconds are CPU seconds of the method alone.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
import scipy
import shapely

from vbas.benchmarks import real_data
from vbas.benchmarks.real_areas import areas
from vbas.benchmarks.scenarios import LARGE_SELECTION, SELECTIONS, scenario
from vbas.core.adjacency import connected_parts
from vbas.core.aggregation import APPROACHES, AggregationOptions
from vbas.core.aggregation.iterative_voronoi import relocate
from vbas.core.areas import Areas
from vbas.core.baselines import BASELINES, BaselineOptions
from vbas.core.crosswalk import number_compactly
from vbas.core.evaluation import evaluate
from vbas.core.neighbours import point_neighbours
from vbas.core.plan import suppress
from vbas.core.profile import Profile, profile_records
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import generate_records

K = 5
# Place: the population every region is to have, and the characters of the identifier that cropping keeps.
PLACES = {"Winnipeg": (5_000, 4), "California": (50_000, 5), "East of Canada": (3_300, 4)}
# One record for ten people: 34 million would show nothing more.
THINNED = {"California": 10}
Row = tuple[str, ...]
HEADER = ("method", "regions", "smallest pop.", "compactness, km", "suppressed, %", "in one piece", "seconds")


def place(name: str) -> tuple[Areas, Profile]:
    """The areas with neighbours and population, and the profile of generated records (5 quasi-identifiers)."""
    if name == "East of Canada":  # the scale of the papers' tests, 400 to 700 people in each of 4 480 areas
        regions, profile = scenario("East", LARGE_SELECTION)
        return replace(regions, neighbours=point_neighbours(regions.points)), profile
    regions = areas(name)
    people = np.round(regions.population / THINNED.get(name, 1))
    distributions = canadian_distributions().selection(SELECTIONS[LARGE_SELECTION])
    provinces = np.full(len(regions), distributions.provinces[6], dtype=object)
    table = generate_records(regions.identifiers, provinces, distributions, people).table()
    return regions, profile_records(table.area.codes, table.quasi_identifiers, len(regions))[0]


def row(name: str, regions: Areas, profile: Profile, region_of: np.ndarray, seconds: float) -> Row:
    """A line of the table; compactness from the mean centres for all, so that it is the same measure."""
    crosswalk, _ = number_compactly(region_of)
    measures, audit = evaluate(regions, suppress(profile, crosswalk, K), crosswalk.mean_centres(regions.points))
    first, second = _pairs(regions)
    same = (region_of[first] == region_of[second]) & (region_of[first] >= 0)
    piece = connected_parts(first[same], second[same], len(regions))
    inside = region_of >= 0
    pieces = len(np.unique(piece[inside]))
    whole = "yes" if pieces == crosswalk.n_regions else f"{pieces} pieces"
    least = f"{audit.population.min():.0f}" if len(audit.population) else "-"
    return (
        name,
        str(measures.n_regions),
        least,
        f"{measures.compactness / 1000:.0f}",
        f"{measures.suppression_percent:.2f}",
        whole,
        f"{seconds:.3f}",
    )


def _pairs(regions: Areas) -> tuple[np.ndarray, np.ndarray]:
    assert regions.neighbours is not None
    return regions.neighbours.pairs()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    result = call()
    return result, time.process_time() - started


def own_rows(regions: Areas, profile: Profile, floor: float, characters: int, start: np.ndarray) -> Iterator[Row]:
    """Our configurations for as many regions as the floor could give, and the baselines."""
    n_sites = len(start)
    result, seconds = timed(lambda: APPROACHES["population floor"](regions, None, 1, AggregationOptions(floor=floor)))
    yield row("population floor", regions, profile, result.crosswalk.region_of, seconds)
    for location in ("balanced density", "anonymity-driven clustering"):
        located, before = timed(partial(LOCATIONS[location], regions, profile, n_sites))
        for name in ("basic Voronoi", "iterative Voronoi", "site optimisation"):
            how = APPROACHES[name]
            result, seconds = timed(partial(how, regions, None, located.sites))
            yield row(f"{location} + {name}", regions, profile, result.crosswalk.region_of, before + seconds)
    for name in ("transportation-location",):
        result, seconds = timed(partial(APPROACHES[name], regions, None, n_sites))
        yield row(f"{name}, no limit", regions, profile, result.crosswalk.region_of, seconds)
    options = BaselineOptions(cutoff=floor, characters=characters, k=K, budget=1.0)
    for name, baseline in BASELINES.items():
        if name != "hierarchy":  # these areas name no larger unit but by their identifiers
            result, seconds = timed(partial(baseline, regions, profile, options))
            yield row(f"baseline: {name}", regions, profile, result.crosswalk.region_of, seconds)
    (region_of, _, _), seconds = timed(lambda: relocate(regions.points, start))
    yield row("our site loop, from random areas", regions, profile, region_of, seconds)


def peer_row(peer: str, title: str, regions: Areas, profile: Profile, floor: float, start: np.ndarray) -> Row:
    """A peer in a process of its own."""
    first, second = _pairs(regions)
    result, why = peer_result(peer, regions, first, second, floor, start)
    if result is None:
        return (f"{title}: {why}", *("-",) * 6)
    name = f"{title} {result['version']}"
    return row(name, regions, profile, result["region"].astype(np.int64), float(result["seconds"]))


def peer_result(
    peer: str, regions: Areas, first: np.ndarray, second: np.ndarray, floor: float, start: np.ndarray
) -> tuple[dict[str, np.ndarray] | None, str]:
    """What a peer gives, or None and why it gives nothing."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "given.npz", Path(folder) / "result.npz"
        points, population = regions.points, regions.population
        np.savez(given, points=points, population=population, first=first, second=second, sites=start, floor=floor)
        limit = float(os.environ.get("VBAS_PEERS_LIMIT", "900"))
        environment = {**os.environ, "PYTHONPATH": os.environ.get("VBAS_PEERS_PATH", ""), "OMP_NUM_THREADS": "1"}
        script = Path(__file__).with_name("peer_process.py")
        command = [os.environ.get("VBAS_PEERS_PYTHON", "python3"), str(script), peer, str(given), str(result)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None, f"not done after {limit:.0f} seconds"
        if done.returncode:
            return None, f"absent ({(done.stderr.strip().splitlines() or ['no reason given'])[-1]})"
        with np.load(result) as arrays:
            return dict(arrays), ""


def qgis_row(regions: Areas, profile: Profile, n_sites: int) -> Row:
    """QGIS's native k-means, called as a script would; its seconds include reading the layer of points."""
    try:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from qgis.analysis import QgsNativeAlgorithms
        from qgis.core import (
            Qgis,
            QgsApplication,
            QgsFeature,
            QgsGeometry,
            QgsPointXY,
            QgsProcessingContext,
            QgsProcessingFeedback,
            QgsVectorLayer,
        )
    except ImportError as error:
        return (f"QGIS k-means: absent ({error})", *("-",) * 6)
    application = QgsApplication.instance() or QgsApplication([], False)
    application.initQgis()
    registry = QgsApplication.processingRegistry()
    if registry.providerById("native") is None:
        registry.addProvider(QgsNativeAlgorithms(registry))
    layer = QgsVectorLayer("Point?crs=EPSG:3347", "areas", "memory")
    features = []
    for x, y in regions.points.tolist():
        feature = QgsFeature()
        feature.setGeometry(QgsGeometry.fromPointXY(QgsPointXY(x, y)))
        features.append(feature)
    layer.dataProvider().addFeatures(features)
    context = QgsProcessingContext()
    algorithm = registry.createAlgorithmById("native:kmeansclustering")
    parameters = {"INPUT": layer, "CLUSTERS": n_sites, "FIELD_NAME": "cluster", "OUTPUT": "memory:"}
    (results, _), seconds = timed(lambda: algorithm.run(parameters, context, QgsProcessingFeedback()))
    clusters = context.getMapLayer(results["OUTPUT"])
    region_of = np.array([feature["cluster"] for feature in clusters.getFeatures()], np.int64)
    return row(f"QGIS {Qgis.QGIS_VERSION.split('-')[0]} k-means", regions, profile, region_of, seconds)


def site_loop_speed() -> None:
    """Our site loop and scikit-learn's from the same 6 000 starts over the 33 818 areas of the Centre of Canada."""
    regions = real_data.canada("Centre")
    start = regions.points[np.random.default_rng(0).choice(len(regions), 6_000, replace=False)]
    (region_of, sites, rounds), seconds = timed(lambda: relocate(regions.points, start))
    print(f"## Site loop: {len(regions)} areas of the Centre of Canada, 6000 starts\n")
    print("| method | sites in the end | squared distances, km² | seconds |\n|---|---|---|---|")
    squares = ((regions.points - sites[region_of]) ** 2).sum()
    print(f"| our site loop ({rounds} rounds) | {len(sites)} | {squares / 1e6:.0f} | {seconds:.3f} |", flush=True)
    none = np.zeros(0, np.int64)
    result, why = peer_result("scikit-learn", regions, none, none, 0.0, start)
    if result is None:
        print(f"| scikit-learn KMeans: {why} | - | - | - |\n")
        return
    sizes = np.bincount(result["region"])
    centres = np.column_stack([np.bincount(result["region"], regions.points[:, axis]) / sizes for axis in (0, 1)])
    squares = ((regions.points - centres[result["region"]]) ** 2).sum()
    print(
        f"| scikit-learn KMeans {result['version']} | {len(sizes)} | {squares / 1e6:.0f} | {result['seconds']:.3f} |\n"
    )


def main(names: list[str]) -> None:
    if not real_data.available():
        sys.exit(f"The real data are not there ({real_data.DATA}); see tests/README.md.")
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"shapely {shapely.__version__}; k = {K}, CPU seconds\n"
    )
    for name in names or list(PLACES):
        floor, characters = PLACES[name]
        regions, profile = place(name)
        n_sites = int(regions.population.sum() / floor)
        start = regions.points[np.random.default_rng(0).choice(len(regions), n_sites, replace=False)]
        print(f"## {name}: {len(regions)} areas, floor {floor}, {profile.n_records} records in {n_sites} regions\n")
        print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
        for line in own_rows(regions, profile, floor, characters, start):
            print("| " + " | ".join(line) + " |", flush=True)
        print("| " + " | ".join(qgis_row(regions, profile, n_sites)) + " |", flush=True)
        for peer, title in (("scikit-learn", "scikit-learn KMeans, same start"), ("spopt", "spopt MaxPHeuristic")):
            print("| " + " | ".join(peer_row(peer, title, regions, profile, floor, start)) + " |", flush=True)
        print()
    site_loop_speed()


if __name__ == "__main__":
    main(sys.argv[1:])
