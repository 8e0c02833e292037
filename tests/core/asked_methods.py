"""Single methods asked of small cases drawn at random: the optimum, series, totals and counts that others publish."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from vbas.core.areas import Areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.block_flows import are_flows, freed_by_flows
from vbas.core.disclosure.count_tables import own_totals
from vbas.core.disclosure.exchanges import freed_by_exchange, places_of
from vbas.core.disclosure.following import following, follows_anyway, is_free
from vbas.core.disclosure.programs import Problem, decide, solve, tables_of
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.planning import nest, nest_by_losses
from vbas.core.nesting.series_helped import CellCounts, best_moves
from vbas.core.nesting.series_helped import places_of as places_of_cells
from vbas.core.nesting.series_optimum import SeriesCells, best_levels_of_series, improved, lowered
from vbas.core.nesting.tree import tree_of
from vbas.core.plan import suppress
from vbas.core.privacy.margin_programs import cut_off, fewest_to_add
from vbas.core.privacy.margins import disclosed_columns, hold_against_totals
from vbas.core.privacy.published_counts import hold_against_counts
from vbas.core.profile import Profile

from . import asked_tables, asked_towns
from .as_before import outcome
from .asked_towns import drawn_areas, drawn_levels
from .nested_cases import profile_of
from .test_published_counts import block_of


def drawn_profile(rng: np.random.Generator, areas: Areas, most: int = 14) -> Profile:
    """People of a few classes, of which many are nowhere."""
    shape = len(areas), int(rng.integers(1, 5))
    return profile_of(rng.integers(0, int(rng.integers(2, most)), shape) * (rng.random(shape) < 0.7))


def by_two(rng: np.random.Generator, areas: Areas, most: int = 9) -> Profile:
    """People by sex and age."""
    classes = np.array(list(product(range(2), range(3))))
    shape = len(areas), len(classes)
    counts = rng.integers(0, int(rng.integers(2, most)), shape) * (rng.random(shape) < 0.8)
    names = np.array(["F", "M"], dtype=object), np.array(["1", "2", "3"], dtype=object)
    return Profile(sparse.csr_matrix(counts), classes, names, ("sex", "age"))


def optimum(rng: np.random.Generator) -> object:
    """A nested release of any k, and any loss; where choices are equal, the first or any."""
    areas = drawn_areas(rng, 14)
    profile, levels = drawn_profile(rng, areas, 30), drawn_levels(rng, areas, int(rng.integers(1, 5)))
    ties = np.random.default_rng(4) if rng.random() < 0.4 else None
    k = int(rng.integers(2, 41))
    if rng.random() < 0.5:
        return nest(areas, profile, levels, k, list(LOSSES)[int(rng.integers(len(LOSSES)))], ties=ties)
    losses = [rng.random(crosswalk.n_regions) * (1 + level) for level, crosswalk in enumerate(levels.crosswalks)]
    return nest_by_losses(profile, levels, losses, k, ties=ties)


def series(rng: np.random.Generator) -> object:
    """Levels of classes over several periods: the best, made better, and with those who help."""
    n, periods, n_classes = int(rng.integers(3, 10)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    region_of = [np.arange(n)]
    for _ in range(int(rng.integers(0, 3))):
        joined = rng.integers(0, region_of[-1].max() // 2 + 1, region_of[-1].max() + 1)
        region_of.append(number_compactly(joined[region_of[-1]])[0].region_of)
    region_of.append(np.zeros(n, np.int64))
    losses = [rng.integers(0, 12, int(of.max()) + 1) + 10.0 * level for level, of in enumerate(region_of)]
    tree, k = tree_of(region_of, losses), int(rng.integers(2, 6))
    area, class_of = np.tile(np.arange(n), n_classes), np.repeat(np.arange(n_classes), n)
    counted = rng.integers(0, 7, (n * n_classes, periods)) * (rng.random((n * n_classes, periods)) < 0.8)
    there = counted.sum(axis=1) > 0
    area, class_of, counted = area[there], class_of[there], counted[there]
    cells = SeriesCells(area, class_of, counted, counted.sum(axis=1))
    ties = np.random.default_rng(3) if rng.random() < 0.4 else None
    level_of = best_levels_of_series(cells, tree, k, ties)
    found: list[object] = [level_of]
    shown = level_of >= 0
    if shown.any():
        some = SeriesCells(area[shown], class_of[shown], counted[shown], cells.records[shown])
        top = np.full(int(shown.sum()), len(region_of) - 1)
        found += [improved(some, tree, k, top.copy()), lowered(some, tree, k, top.copy())]
        counts = CellCounts(some.class_of, some.counted, some.records)
        places = places_of_cells(tree, some.area)
        found += [best_moves(counts, places, k, top), best_moves(counts, places, k, level_of[shown])]
    return found


def totals(rng: np.random.Generator) -> object:
    """Classes suppressed because of totals, and the least and largest of what is suppressed."""
    areas = drawn_areas(rng, 7)
    profile, k = by_two(rng, areas), int(rng.integers(2, 6))
    levels = drawn_levels(rng, areas, int(rng.integers(1, 4)))
    plan = nest(areas, profile, levels, k) if len(levels) > 1 else suppress(profile, levels.crosswalks[0], k)
    groupings = [profile.classes[:, 0], profile.classes[:, 1], np.zeros(len(profile.classes), np.int64)]
    groupings = groupings[int(rng.integers(0, 2)) : int(rng.integers(2, 4))]
    progress: list[float] = []
    n = int(rng.integers(2, 8))
    groups = [np.unique(rng.integers(0, 3, n), return_inverse=True)[1].reshape(-1) for _ in range(2)]
    records, lost = rng.integers(1, 9, n), rng.random(n) < 0.4
    rows = np.vstack([rng.random((2, n)) < 0.5, np.ones((1, n), bool)]).astype(float)
    sums = rows @ rng.integers(0, 7, n)
    added = fewest_to_add(groups, records, lost, k)
    cuts = [] if added is None else [cut_off(groups, lost, added, at) for at in np.flatnonzero(added).tolist()]
    weight = None if added is None else int(records[added].sum())
    return [
        *hold_against_totals(plan, groupings, progress.append),
        *(progress, weight, cuts if weight == int(records[lost].sum()) else []),
        disclosed_columns(rows, sums, k),
    ]


def counts_held(rng: np.random.Generator) -> object:
    """A release held against counts by area, or by units of areas."""
    areas = drawn_areas(rng, 7)
    profile, k = by_two(rng, areas, 6), int(rng.integers(2, 5))
    levels = drawn_levels(rng, areas, int(rng.integers(1, 4)))
    plan = nest(areas, profile, levels, k) if len(levels) > 1 else suppress(profile, levels.crosswalks[0], k)
    zones = (
        levels.crosswalks[int(rng.integers(len(levels)))]
        if rng.random() < 0.5
        else drawn_levels(rng, areas, 2).crosswalks[-1]
    )
    names = ([], ["sex"], ["age"], ["sex", "age"])[int(rng.integers(4))]
    tables = [own_totals(profile, zones, names)]
    if rng.random() < 0.3:
        tables.append(own_totals(profile, levels.crosswalks[0], ["sex"]))
    ties = np.random.default_rng(4) if rng.random() < 0.3 else None
    loss = list(LOSSES)[int(rng.integers(len(LOSSES)))]
    progress: list[float] = []
    return [hold_against_counts(plan, tables, areas, loss, progress=progress.append, ties=ties), progress]


def blocks(rng: np.random.Generator) -> object:
    """Which counts of a few people follow from a release beside tables, and which of several looks free them."""
    areas = drawn_areas(rng, 6)
    profile, k = by_two(rng, areas, 6), int(rng.integers(2, 5))
    levels = drawn_levels(rng, areas, int(rng.integers(1, 4)))
    plan = nest(areas, profile, levels, k) if len(levels) > 1 else suppress(profile, levels.crosswalks[0], k)
    zones = levels.crosswalks[int(rng.integers(len(levels)))]
    tables = [own_totals(profile, zones, name) for name in (["sex"], ["age"])[: int(rng.integers(1, 3))]]
    block = block_of(plan, *tables)
    found: list[object] = [are_flows(block)]
    for places in places_of(block):
        found.append([places.area, places.class_of, places.people])
        found.append(freed_by_exchange(block, places))
        found += freed_by_flows(block, [places]) if are_flows(block) else []
    counts = following(block)
    alone = [is_free(block, count) for count in counts]
    return [
        *found,
        [[count.area, count.class_of, count.people] for count in counts],
        alone,
        follows_anyway(block, counts),
    ]


def programs(rng: np.random.Generator) -> object:
    """What sums of whole numbers decide; of the tables that fit, that they do."""
    n, m, q = int(rng.integers(2, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    rows = (rng.random((m, n)) < 0.4).astype(np.int64)
    low, room = rng.integers(0, 3, n), rng.integers(0, 5, n)
    sums = rows @ (low + rng.integers(0, room + 1))
    slack = rng.integers(0, 2, m) * (rng.random(m) < 0.5)
    asked = sparse.csr_matrix((rng.random((q, n)) < 0.4).astype(np.int64))
    problem = Problem(
        sparse.csr_matrix(rows), sums - slack, sums + slack, low, low + room, asked, rng.integers(0, 2, q)
    )
    k = int(rng.integers(2, 6))
    fits = []
    for table in tables_of(problem):
        held = rows @ table.people
        known = ~table.open
        fits += [(sums - slack <= held).all() and (held <= sums + slack).all(), (table.people >= low)[known].all()]
    best = [solve(problem, sign * np.ones(n)) for sign in (1, -1)]
    totals_ = [None if people is None else int(people.sum()) for people, _ in best]
    return [decide(problem, k), fits, totals_, problem.components()]


# Sizes beyond which less is looked for: with small ones, what happens there is seen in small cases.
LIMITS = (
    *("disclosure.asked.MOST_UNIONS", "disclosure.asked.MOST_NAMES", "disclosure.asked.MOST_MEMBERS"),
    *("disclosure.asked.MOST_NAMED", "disclosure.bounds.MOST_SWEEPS", "disclosure.overlay.MOST_JOINT_CLASSES"),
    *("disclosure.overlay.MOST_CLASSES_OF_ALL_VALUES", "disclosure.programs.MOST_UNKNOWNS"),
    *("disclosure.programs.MOST_PROGRAMS", "disclosure.zone_tables.MOST_PAIRS", "disclosure.zone_tables.MOST_TABLES"),
    *("disclosure.zone_tables.MOST_NEAR", "disclosure.zone_tables.MOST_PROGRAMS", "disclosure.zone_tables.BESIDE"),
    *("disclosure.zone_tables.FAR", "disclosure.zone_tables.FEW", "disclosure.zone_tables.MOST_LISTED"),
    *("disclosure.guessing.MOST_ZONES", "disclosure.guessing.MOST_AREAS", "disclosure.guessing.MOST_RECORDS"),
    *("disclosure.guessing.MOST_PAIRS", "disclosure.guessing.FITTED_ON", "disclosure.guessing.LEAST_GUESSES"),
    *("nesting.optimum.LARGEST_K_IN_PARTS", "nesting.patterns.MOST_STATES", "nesting.series_helped.MOST_HELPERS"),
    *("nesting.series_optimum.MOST_STATES", "nesting.series_optimum.MOST_ROUNDS", "nesting.company.MOST_ROUNDS"),
    *("nesting.company.MOST_TRIED", "privacy.beside.MOST_TURNS", "privacy.margins.MOST_ROUNDS"),
    *("privacy.margins.MOST_WITNESSES", "privacy.margins.FEW_OPEN", "privacy.published_counts.MOST_TRIED"),
    *("privacy.published_counts.FEW_TRIED", "privacy.published_counts.MANY_TRIED"),
    *("privacy.published_counts.MOST_LOOSENED", "privacy.published_counts.AREAS_LOOSENED"),
    *("privacy.published_counts.MOST_SIBLINGS", "privacy.published_counts.MOST_ROUNDS"),
    *("privacy.kept_fields.ROWS_LOOKED_AT", "privacy.kept_fields.ROWS_FOR_PREFIXES"),
    *("privacy.association.LONGEST_PREFIX", "privacy.association.DEALS", "releases.attributes.MOST_COMPARED"),
    *("releases.attributes.MOST_TURNS", "releases.keeping.MOST_TAKEN", "releases.keeping.MOST_SOURCES"),
    *("releases.repair.MOST_ROUNDS", "releases.valued.MOST_LOWERED", "releases.valued.MOST_TURNS"),
    *("releases.valued.MOST_LOOKS", "releases.cheapest.MOST_UNKNOWNS"),
)


def small_limits(rng: np.random.Generator) -> object:
    """Anything of all that, where one limit or several are reached."""
    asked: tuple[Callable[[np.random.Generator], object], ...] = (
        *(asked_towns.of_one_level, asked_towns.of_several_levels, asked_towns.without_small_counts),
        *(asked_towns.updates, asked_towns.several_releases, asked_towns.repaired_releases),
        *(asked_towns.renamed_releases, asked_towns.attackers, asked_tables.kept_fields, counts_held, totals, series),
    )
    case = asked[int(rng.integers(len(asked)))]
    with pytest.MonkeyPatch.context() as patched:
        for name in rng.choice(LIMITS, int(rng.integers(1, 25)), replace=False).tolist():
            module, _, constant = name.rpartition(".")
            importlib.import_module(f"vbas.core.{module}")
            patched.setattr(f"vbas.core.{module}.{constant}", int(rng.integers(1, 5)))
        return outcome(lambda: case(rng))
