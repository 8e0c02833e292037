"""How often tests reject even maps where a release breaks what they rest on: the figures of docs/analysing.md.

    PYTHONPATH=build/package .venv/bin/python benchmarks/level_of_tests.py [maps]

Made-up towns of 36 areas and four kinds of people, nested levels, k = 5; who is ill is drawn alike for everybody, so
that each map that is rejected at 5 % is rejected wrongly:

* records : one row a person, as it should be;
* margins : weights that meet a census table of ill people by area, of nested levels, and of regions of four areas;
* rows : three rows a person on average, ill in all of them or in none;
* values : a release of which each class shows both values (l = 2).
"""

from __future__ import annotations

import sys

import numpy as np

from vbas.core.adjacency import Adjacency, adjacency_of_pairs
from vbas.core.analysis.fitting import fit, margin_of
from vbas.core.analysis.moran import moran
from vbas.core.analysis.outcome import Outcome, outcome_of
from vbas.core.analysis.released import ReleasedRows, released_rows
from vbas.core.analysis.scan import scan
from vbas.core.analysis.spreading import Spread, spread
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

KINDS = ("records", "margins", "margins of one level", "rows", "values")
SIDE, K, ILL, DRAWS, LEVEL, MAPS = 6, 5, 0.1, 99, 0.05, 300
PEOPLE, CLASSES, ROWS_EACH = 25, 4, 3


def town(rng: np.random.Generator) -> tuple[Areas, Adjacency, Levels, np.ndarray, np.ndarray]:
    """Areas, who are neighbours, levels, and the area and class of each person, (N,)."""
    column, row = np.arange(SIDE**2) % SIDE, np.arange(SIDE**2) // SIDE
    shares = rng.dirichlet(np.full(CLASSES, 0.5))
    counts = rng.poisson(PEOPLE * shares * rng.gamma(1.0, 1.0, (SIDE**2, CLASSES)))
    points = np.column_stack([column, row]) * 500.0 + rng.normal(0.0, 20.0, (SIDE**2, 2))
    areas = make_areas([f"{i:02d}" for i in range(SIDE**2)], points, counts.sum(axis=1).astype(float))
    blocks = np.unique(column // 2 + SIDE * (row // 2), return_inverse=True)[1].reshape(-1)
    whole = np.zeros(SIDE**2, np.int64)
    levels = make_levels(areas, [own_regions(SIDE**2), Crosswalk(blocks, int(blocks.max()) + 1), Crosswalk(whole, 1)])
    beside, above = np.flatnonzero(column < SIDE - 1), np.flatnonzero(row < SIDE - 1)
    first, second = np.concatenate([beside, above]), np.concatenate([beside + 1, above + SIDE])
    neighbours = adjacency_of_pairs(first, second, np.ones(len(first)), SIDE**2)
    area, of_class = np.nonzero(counts)
    times = counts[area, of_class]
    return areas, neighbours, levels, np.repeat(area, times), np.repeat(of_class, times)


def released(areas: Areas, levels: Levels, columns: dict[str, np.ndarray], both_values: bool) -> ReleasedRows:
    """The rows of a nested release of people, one each; columns : area, class and whether ill, (N,)."""
    table = RecordTable(
        Column(columns["area"], areas.identifiers),
        {"class": column_from_values(columns["class"].tolist())},
        {"ill": column_from_values(columns["ill"].tolist())},
        sensitive=("ill",) if both_values else (),
    )
    asked = Ask(K, l_diversity=2 if both_values else 1, nested=True)
    account = anonymise(areas, match_records(table, areas), levels, asked)
    release = account.release
    places = {"vbas_level": release.level + 1, "vbas_region": account.levels.numbers(release.level, release.region)}
    shown = {name: column_from_values(values.astype(int).tolist()) for name, values in places.items()}
    counts = release.counts.astype(np.int64)
    return released_rows(areas, account.levels, {**shown, **release.fields}, counts)


def outcome(kind: str, rng: np.random.Generator) -> tuple[Areas, Adjacency, Outcome] | None:
    """An even map; None where the release is refused."""
    areas, neighbours, levels, area, of_class = town(rng)
    if kind == "margins of one level":
        levels = Levels(levels.crosswalks[1:2])
    columns = {"area": area, "class": of_class, "ill": (rng.random(len(area)) < ILL).astype(int)}
    if kind == "rows":
        times = rng.geometric(1 / ROWS_EACH, len(area))
        columns = {name: np.repeat(values, times) for name, values in columns.items()}
    try:
        rows = released(areas, levels, columns, kind == "values")
    except InputError:
        return None
    weights = spread(rows)
    if kind.startswith("margins"):
        weights = met(rows, weights, columns)
    ill = rows.fields["ill"]
    return areas, neighbours, outcome_of(rows, weights, np.asarray(ill.categories, int)[ill.codes])


def met(rows: ReleasedRows, weights: Spread, columns: dict[str, np.ndarray]) -> Spread:
    """Weights that meet a table of all people by area and whether they are ill."""
    pairs, people = np.unique(np.column_stack([columns["area"], columns["ill"]]), axis=0, return_counts=True)
    empty = np.setdiff1d(np.arange(len(rows.areas)), pairs[:, 0])
    pairs = np.vstack([pairs, np.column_stack([empty, np.zeros_like(empty)])])
    people = np.concatenate([people, np.zeros(len(empty), int)])
    ill = {"ill": column_from_values(pairs[:, 1].tolist())}
    margin, _ = margin_of(rows, Column(pairs[:, 0], rows.areas.identifiers), ill, people)
    return fit(rows, weights, margin).spread


def main(maps: int) -> None:
    """Print the share of even maps that are rejected, per cent, by kind and test."""
    for kind in KINDS:
        rejected: list[list[bool]] = []
        for number in range(maps):
            drawn = outcome(kind, np.random.default_rng([KINDS.index(kind), number]))
            if drawn is None:
                continue
            areas, neighbours, cases = drawn
            neighbouring = moran(neighbours, cases, DRAWS, number)
            likeliest = scan(areas.points, cases, n_draws=DRAWS, seed=number).most_likely
            p_values = (
                neighbouring.p_value,
                float(np.nanmin(neighbouring.local_p)),
                likeliest.p_value if likeliest else 1.0,
            )
            rejected.append([p <= LEVEL + 1e-9 for p in p_values])
        shares = 100 * np.mean(rejected, axis=0)
        named = zip(("Moran's I", "local I", "scan"), shares)
        print(f"{kind}, {len(rejected)} maps:", ", ".join(f"{name} {share:.1f} %" for name, share in named), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MAPS)
