"""Single steps asked of the smallest cases drawn at random: many of each, near the numbers at which they turn.

What a whole release comes to hides most of its steps: a step that goes wrong may be mended by the next, or touch what
small towns do not have. Here each is asked by itself, and what must hold of it anyway is looked at as well.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.method_bounds import method_bounds
from vbas.core.disclosure.overlay import UNBOUNDED
from vbas.core.disclosure.programs import Problem, decide, solve, tables_of
from vbas.core.disclosure.published import Published, publish
from vbas.core.disclosure.values import KeptValues
from vbas.core.disclosure.zone_tables import ReleasedClasses, proven_small, too_many_pairs, zones_of
from vbas.core.nesting.decoys import Conditions, Secrets, levels_in_zones
from vbas.core.nesting.optimum import ProfileCells, best_levels
from vbas.core.nesting.planning import nest
from vbas.core.nesting.series_helped import CellCounts, best_moves, places_of
from vbas.core.nesting.series_optimum import SeriesCells, lowered
from vbas.core.nesting.tree import Tree, tree_of
from vbas.core.plan import suppress
from vbas.core.privacy.diversity import shares_of
from vbas.core.releases.cheapest import cheapest
from vbas.core.releases.examining import examine
from vbas.core.releases.holding_back import Chances, held_back
from vbas.core.releases.keeping import kept, largest
from vbas.core.releases.valued import Wanted, levels_with_values

from .nested_cases import random_levels
from .release_cases import coarser, profile_over
from .test_updates_recounted import drawn_work


def drawn_tree(rng: np.random.Generator, n: int) -> tuple[Tree, list[np.ndarray]]:
    """Nested levels of some areas, dearer and dearer but for a few; and the region of each area at each level."""
    region_of = [np.arange(n)]
    for _ in range(int(rng.integers(1, 4))):
        joined = rng.integers(0, region_of[-1].max() // 2 + 1, region_of[-1].max() + 1)
        region_of.append(number_compactly(joined[region_of[-1]])[0].region_of)
    losses = [rng.integers(0, 9, int(of.max()) + 1) + 6.0 * level for level, of in enumerate(region_of)]
    return tree_of(region_of, losses), region_of


def drawn_cells(rng: np.random.Generator, n: int, most: int) -> ProfileCells:
    """Records of a few classes in some areas."""
    n_classes = int(rng.integers(1, 4))
    counts = rng.integers(0, most, (n_classes, n)) * (rng.random((n_classes, n)) < 0.8)
    counts[0, 0] += 1
    class_of, area = np.nonzero(counts)
    return ProfileCells(area, class_of, counts[class_of, area])


def zones_made(rng: np.random.Generator) -> object:
    """The finest zones with decoys and without, of which too little must not be left, or something else must hold."""
    n, k = int(rng.integers(2, 11)), int(rng.integers(2, 6))
    tree, region_of = drawn_tree(rng, n)
    cells = drawn_cells(rng, n, int(rng.integers(2, 3 * k)))
    people = np.bincount(cells.area, cells.records, n) + rng.integers(0, 4, n) * (rng.random(n) < 0.5)
    secrets = None
    if rng.random() < 0.75:
        chances = rng.choice([0.0, 0.05, 0.3], 2).tolist()
        secrets = Secrets(np.random.default_rng(int(rng.integers(99))), float(rng.choice([0.0, 0.2, 1.0])), *chances)
    least = (int(rng.integers(0, 3)), float(rng.integers(0, 2 * k))) if rng.random() < 0.4 else (0, 0.0)
    odd = int(rng.integers(3, 9))

    def holds(some: np.ndarray, equivalence_class: np.ndarray, number: int) -> np.ndarray:
        return np.bincount(equivalence_class, cells.records[some] * (cells.area[some] + 1), number) % odd > 0

    level_of = levels_in_zones(cells, tree, k, Conditions(people, secrets, *least), holds if odd < 6 else None)
    shown: dict[tuple[int, int, int], int] = {}
    for area, class_of, records, level in zip(cells.area, cells.class_of, cells.records, level_of.tolist()):
        if level >= 0:
            key = int(class_of), level, int(region_of[level][area])
            shown[key] = shown.get(key, 0) + int(records)
    assert all(records >= k for records in shown.values())
    return level_of


def optimum_of_cells(rng: np.random.Generator) -> object:
    """The levels of cells, of which one of equal choices is taken by turns or as they come."""
    n, k = int(rng.integers(1, 9)), int(rng.choice([2, 3, 4, 5, 20, 21]))
    tree, region_of = drawn_tree(rng, n)
    cells = drawn_cells(rng, n, int(rng.integers(2, 3 * k)))
    turn = rng.permutation(len(cells.records)) if rng.random() < 0.5 else None
    level_of = best_levels(cells, tree, k, turn)
    lost = level_of < 0
    top = cells.class_of * n + region_of[-1][cells.area]
    assert (np.bincount(top, cells.records)[top[lost]] < k).all()
    return level_of


def helped(rng: np.random.Generator) -> object:
    """What is saved at once by cells of several periods that help each other to a smaller region."""
    n, periods, k = int(rng.integers(2, 8)), int(rng.integers(1, 3)), int(rng.integers(2, 5))
    n_classes = int(rng.integers(1, 3))
    area, class_of = np.tile(np.arange(n), n_classes), np.repeat(np.arange(n_classes), n)
    counted = rng.integers(0, k + 2, (len(area), periods)) * (rng.random((len(area), periods)) < 0.8)
    counted[counted.sum(axis=1) == 0, 0] = k
    tree, _ = drawn_tree(rng, n)
    places, level_of = places_of(tree, area), np.full(len(area), len(tree) - 1)
    counts, found = CellCounts(class_of, counted, counted.sum(axis=1)), list[object]()

    def holds() -> bool:
        key = class_of * len(places.loss) + places.region[level_of, np.arange(len(area))]
        shown = [np.bincount(key, of) for of in counted.T]
        return all(((of == 0) | (of >= k)).all() for of in shown)

    cells_of = SeriesCells(area, class_of, counted, counts.records)
    for level in range(len(tree)):
        found.append(lowered(cells_of, tree, k, np.full(len(area), level)))
    for _ in range(4):
        held = holds()
        cells, levels = best_moves(counts, places, k, level_of)
        level_of = level_of.copy()
        level_of[cells] = levels
        found += [cells, levels]
        assert holds() or not held
    return found


def tiny_releases(rng: np.random.Generator) -> list[Published]:
    """Releases of the same few people, with a sensitive field or without."""
    n, k = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 100, (n, 2)).astype(float), np.ones(n))
    n_classes = int(rng.integers(1, 4))
    values = [("x" if i % 2 or rng.random() < 0.5 else "y", f"v{i}") for i in range(n_classes)]
    counts = rng.integers(0, k + 2, (n, n_classes)) * (rng.random((n, n_classes)) < 0.8)
    counts[0, 0] += k
    profile = profile_over(counts, values, ("p", "q"))
    with_values, releases = rng.random() < 0.6, []
    people = np.repeat(np.arange(profile.counts.nnz), profile.counts.data)
    ill = rng.choice(3, len(people), p=[0.6, 0.3, 0.1])
    names = np.array(["no", "flu", "cold"], dtype=object)
    for i in range(int(rng.integers(2, 4))):
        whole = rng.random() < 0.7
        own = profile if whole else coarser(profile, ("p",))
        if rng.random() < 0.4:
            plan = nest(areas, own, random_levels(areas, rng, 3, left_out=True), k)
        else:
            region_of = rng.integers(-1 if rng.random() < 0.2 else 0, max(2, n - 1), n)
            region_of[0] = max(region_of[0], 0)
            plan = suppress(own, number_compactly(region_of)[0], k)
        kept_too = [KeptValues(shares_of("ill", people, ill, np.ones_like(people)), names)]
        releases.append(publish(plan, areas, f"r{i}", kept_too if whole and with_values else []))
    return releases


def disclosed_at_once(rng: np.random.Generator) -> object:
    """What a few releases give away, by programs and without, and what the last adds."""
    releases = tiny_releases(rng)
    progress: list[float] = []
    k = None if rng.random() < 0.7 else int(rng.integers(2, 7))
    found = find_disclosed(releases, k, keep_bounds=True, progress=progress.append)
    less = find_disclosed(releases, k, programs=False)
    assert less.n_tried == found.n_tried or len(found.counts) >= len(less.counts)
    new = examine(releases[-1], releases[:-1], homogeneous=bool(rng.random() < 0.5))
    of_new = [new.families, new.n_counts, new.n_contradicted, new.n_to_mend, new]
    return [found, found.n_persons, progress, less.counts, less.n_undecided, *of_new]


def odd_problems(rng: np.random.Generator) -> object:
    """Sums of which some have no upper bound, are the same, contradict each other or are not linked at all."""
    n, m, q = int(rng.integers(1, 9)), int(rng.integers(0, 5)), int(rng.integers(1, 6))
    rows, asked = ((rng.random((of, n)) < 0.4).astype(np.int64) for of in (m, q))
    low, room = rng.integers(0, 3, n) * (rng.random(n) < 0.5), rng.integers(0, 5, n)
    if n > 2:  # unknowns in the same sums
        rows[:, 1], asked[:, 1], low[:2] = rows[:, 0], asked[:, 0], 0
    if m > 1 and rng.random() < 0.5:
        rows[1] = rows[0]
    high = np.where(rng.random(n) < 0.3, UNBOUNDED, low + room)
    sums = rows @ (low + rng.integers(0, room + 1))
    row_low = sums - rng.integers(0, 2, m)
    row_high = np.where(rng.random(m) < 0.3, UNBOUNDED, sums + rng.integers(0, 2, m))
    if m and rng.random() < 0.15:
        row_low[0], row_high[0] = row_low[0] + 30, row_high[0] + 30
    base = rng.integers(0, 2, q) * (rng.random(q) < 0.3)
    csr = sparse.csr_matrix
    problem = Problem(csr(rows), row_low, row_high, low, high, csr(asked), base)
    answers = decide(problem, int(rng.integers(2, 6)))
    assert (answers.decided | (answers.low == 0)).all()
    people = solve(problem, np.ones(n))[0]
    known = [table.open for table in tables_of(problem)]
    return [answers, known, None if people is None else int(people.sum())]


def attacked(rng: np.random.Generator) -> object:
    """Counts by zone that nobody worked out, held against people who leave little room."""
    n, k = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
    levels = random_levels(areas, rng, int(rng.integers(1, 4)), left_out=True)
    counts = rng.integers(0, 2 * k, (n, int(rng.integers(1, 4))))
    level_of = rng.integers(-1, len(levels), counts.shape)
    table: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for area, one in zip(*np.nonzero(counts)):
        level = int(level_of[area, one])
        region = int(levels.region_of[level][area]) if level >= 0 else -1
        if region >= 0:
            table.setdefault((level, region, int(one)), []).append((int(area), int(counts[area, one])))
    shown = np.array(sorted(table) or [(0, 0, 0)])
    records = np.array([sum(of for _, of in table.get(tuple(key), [(0, k)])) for key in shown.tolist()])
    level, region, class_of = shown.T
    released = ReleasedClasses(levels, level, region, class_of, records, bool(rng.random() < 0.5))
    people = counts.sum(axis=1) + rng.integers(0, 3, n) * (rng.random() < 0.5) - (rng.random(n) < 0.03)
    asked = rng.random(len(records)) < 0.7 if rng.random() < 0.3 else None
    pairs = [(at, *pair) for at, key in enumerate(map(tuple, shown.tolist())) for pair in table.get(key, [])]
    known = tuple(np.array(pairs).T) if pairs and rng.random() < 0.5 else None
    proof = proven_small(released, people, k, known, asked, bool(known is None or rng.random() < 0.5))
    losses = [rng.integers(0, 9, crosswalk.n_regions) + 4.0 * at for at, crosswalk in enumerate(levels.crosswalks)]
    bounds = method_bounds(released, people, losses, k)
    return [proof, too_many_pairs(released, int(rng.integers(1, 9))), zones_of(released, people), bounds]


def shown_next(rng: np.random.Generator) -> object:
    """How many people places show next, who waits, and at which level each person is shown with what they have."""
    shares = Wanted(3, l_diversity=2), Wanted(3, max_share=60.0), Wanted(3, identical_rows=True), Wanted(2), Wanted(4)
    wanted = shares[int(rng.integers(len(shares)))]
    work = drawn_work(rng, wanted)
    while any((places.parent < 0).any() for places in work.places[:-1]):
        work = drawn_work(rng, wanted)
    progress: list[float] = []
    fewer = held_back(work.places, np.random.default_rng(1), Chances(*rng.choice([0.0, 0.1, 0.5, 1.0], 2).tolist()))
    numbers = kept(work.places, wanted.k, np.random.default_rng(2), progress.append)
    levels = levels_with_values(
        work.places, work.by_value, work.people, wanted, np.random.default_rng(3), progress.append
    )
    r, n = int(rng.integers(1, 4)), 8
    earlier = rng.integers(0, 9, (2, n, r)) * (rng.random((2, n, r)) < 0.8)
    most = largest(rng.integers(0, 12, n), rng.integers(0, 6, n), earlier[0], earlier[1], wanted.k)
    for released, places in zip(numbers.released, work.places):
        assert ((released == 0) | (released >= wanted.k)).all() and (released <= places.people).all()
    return [[places.people for places in fewer], numbers, levels, progress, most]


def fewest_of_proofs(rng: np.random.Generator) -> object:
    """The cheapest equivalence classes of which each proof has one, recounted among all choices."""
    n = int(rng.integers(1, 9))
    proofs = [np.flatnonzero(rng.random(n) < 0.4) for _ in range(int(rng.integers(1, 7)))]
    proofs = [proof if len(proof) else np.array([0]) for proof in proofs]
    records = rng.integers(1, 20, n) + np.arange(n) / (2.0 * n)
    choices = [np.array([choice >> i & 1 for i in range(n)], bool) for choice in range(1 << n)]
    least = min(float(records @ choice) for choice in choices if all(choice[proof].any() for proof in proofs))
    chosen = cheapest(proofs, records)
    assert chosen is not None and all(chosen[proof].any() for proof in proofs)
    assert np.isclose(float(records @ chosen), least)
    return chosen
