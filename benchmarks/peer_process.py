"""Runs one peer on areas from a file, in a process and an environment of its own; it knows nothing of this project.

    python peer_process.py scikit-learn|spopt INPUT.npz OUTPUT.npz

INPUT holds points (n, 2), population (n,), first and second (b,) the pairs of neighbours, sites (S, 2) and the floor;
OUTPUT gets region (n,), the CPU seconds of the call alone and the version.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

import numpy as np


def scikit_learn(given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, float, str]:
    import sklearn
    from sklearn.cluster import KMeans

    model = KMeans(len(given["sites"]), init=given["sites"], n_init=1, max_iter=10_000, tol=0)
    started = time.process_time()
    region = model.fit_predict(given["points"])
    return region, time.process_time() - started, sklearn.__version__


def spopt(given: Mapping[str, np.ndarray]) -> tuple[np.ndarray, float, str]:
    import geopandas
    import libpysal
    import spopt
    from spopt.region import MaxPHeuristic

    points = given["points"]
    neighbours: dict[int, list[int]] = {i: [] for i in range(len(points))}
    for a, b in zip(given["first"].tolist(), given["second"].tolist()):
        neighbours[a].append(b)
        neighbours[b].append(a)
    weights = libpysal.weights.W(neighbours, silence_warnings=True)
    frame = geopandas.GeoDataFrame(
        {"x": points[:, 0], "y": points[:, 1], "people": given["population"]},
        geometry=geopandas.points_from_xy(*points.T),
    )
    np.random.seed(0)  # noqa: NPY002 - spopt draws from numpy's global state
    started = time.process_time()
    model = MaxPHeuristic(frame, weights, ["x", "y"], "people", float(given["floor"]), 2)
    model.solve()
    return np.asarray(model.labels_), time.process_time() - started, spopt.__version__


if __name__ == "__main__":
    run = {"scikit-learn": scikit_learn, "spopt": spopt}[sys.argv[1]]
    regions, seconds, version = run(np.load(sys.argv[2]))
    np.savez(sys.argv[3], region=np.unique(regions, return_inverse=True)[1], seconds=seconds, version=version)
