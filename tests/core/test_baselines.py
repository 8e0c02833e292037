"""The baselines: what is merged with what, what is left out, and when merging ends."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.adjacency import connected_parts
from vbas.core.areas import Areas, make_areas
from vbas.core.baselines import BASELINES, ISLAND_CHOICES, NEIGHBOUR_CHOICES, BaselineOptions
from vbas.core.baselines.adjacent_merging import adjacent_merging
from vbas.core.baselines.merging_until_anonymous import merging_until_anonymous
from vbas.core.errors import InputError
from vbas.core.evaluation import evaluate
from vbas.core.neighbours import neighbours_of, polygon_neighbours
from vbas.core.plan import suppress
from vbas.core.profile import Profile

from .strategies import regions


def areas_of(shapes, population, identifiers=None):
    """Regions from polygons, with their neighbours."""
    shapes = np.array(shapes)
    made = make_areas(
        identifiers or [f"46{i:04d}" for i in range(len(shapes))],
        shapely.get_coordinates(shapely.centroid(shapes)),
        np.array(population, float),
    )
    return Areas(made.identifiers, made.points, made.population, polygon_neighbours(shapes))


def row_of(widths, height=10.0):
    """Rectangles side by side."""
    ends = np.cumsum([0, *widths])
    return [shapely.box(a, 0, b, height) for a, b in zip(ends[:-1], ends[1:])]


def profile_of(counts):
    counts = sparse.csr_matrix(np.array(counts, np.int64))
    n_classes = counts.shape[1]
    return Profile(counts, np.arange(n_classes)[:, None], (np.arange(n_classes).astype(object),), ("class",))


def groups(aggregation):
    """Sets of areas by region."""
    region = aggregation.crosswalk.region_of.tolist()
    return {frozenset(np.flatnonzero(np.array(region) == r).tolist()) for r in set(region) - {-1}}


def test_the_static_cutoff_leaves_out_what_does_not_exceed_it():
    found = BASELINES["static cut-off"](
        areas_of(row_of([10] * 4), [101, 100, 500, 3]), None, BaselineOptions(cutoff=100)
    )
    # "Any regions which do not have a population that exceeds the cutoff size" (Croft 2015, 2.2): 100 does not.
    assert found.crosswalk.region_of.tolist() == [0, -1, 1, -1]
    assert "2 of 4 areas" in found.notes[0]
    nobody = BASELINES["static cut-off"](areas_of(row_of([10] * 2), [9, 8]), None, BaselineOptions(cutoff=100))
    plan = suppress(profile_of([[9], [8]]), nobody.crosswalk, 2)
    measures, _ = evaluate(areas_of(row_of([10] * 2), [9, 8]), plan, nobody.sites)
    assert (measures.n_regions, measures.n_suppressed, measures.suppression_percent) == (0, 17, 100)


def test_cropping_joins_what_begins_alike():
    regions = areas_of(row_of([10] * 5), [1] * 5, ["R2C1", "R2C2", "R3C1", "46", "R2C11"])
    found = BASELINES["cropping"](regions, None, BaselineOptions(characters=2))
    assert found.crosswalk.region_of.tolist() == [1, 1, 2, 0, 1]
    longer = BASELINES["cropping"](regions, None, BaselineOptions(characters=4))
    assert longer.crosswalk.region_of.tolist() == [1, 2, 3, 0, 1]
    assert "1 identifier is shorter" in longer.notes[1]


CODES = st.lists(st.text("AB1", min_size=1, max_size=5), min_size=2, max_size=9, unique=True)


@given(codes=CODES, leave_out=st.integers(1, 6))
def test_leaving_out_the_last_characters_is_a_plain_recount(codes, leave_out):
    cropped = BASELINES["cropping"](
        areas_of(row_of([10] * len(codes)), [1] * len(codes), codes), None, leaving(leave_out)
    )
    kept = []
    for code in codes:
        shorter = list(code)
        for _ in range(leave_out):
            if len(shorter) > 1:
                shorter.pop()
        kept.append("".join(shorter))
    regions_of = cropped.crosswalk.region_of.tolist()
    assert [[a == b for a in kept] for b in kept] == [[a == b for a in regions_of] for b in regions_of]
    assert [kept.index(unit) for unit in sorted(set(kept))] == [regions_of.index(i) for i in range(len(set(kept)))]
    too_short = sum(len(code) <= leave_out for code in codes)
    assert (f"{too_short} identifier" in " ".join(cropped.notes)) == (too_short > 0)


def leaving(characters):
    """Cropping by the last characters; those to keep count for nothing then."""
    return BaselineOptions(characters=0, leave_out=characters)


def test_a_hierarchy_joins_the_areas_of_a_unit_and_leaves_out_the_rest():
    regions = areas_of(row_of([10] * 5), [1] * 5)
    found = BASELINES["hierarchy"](regions, None, BaselineOptions(hierarchy=[4611, "4612", None, 4611.0, ""]))
    assert found.crosswalk.region_of.tolist() == [0, 1, -1, 0, -1]
    assert "2 areas lie in no larger unit" in found.notes[1]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("longest border", {0, 1}), ("nearest", {0, 2}), ("smallest population", {0, 3})],
)
def test_the_neighbour_is_the_one_chosen(choice, expected):
    # Area 0 is small; 1 shares its longest side, 2 has the nearest middle, 3 the fewest people.
    shapes = [
        shapely.box(0, 0, 10, 20),
        shapely.box(10, 0, 110, 20),
        shapely.box(-10, 10, 0, 20),
        shapely.box(0, 20, 10, 80),
    ]
    regions = areas_of(shapes, [5, 900, 800, 700])
    merged = adjacent_merging(regions, None, BaselineOptions(cutoff=10, neighbour=choice))
    assert frozenset(expected) in groups(merged)


def test_the_smallest_goes_first():
    # 2 is smallest and takes 1 as its smaller neighbour; that is enough, and 0 must then join them.
    regions = areas_of(row_of([10] * 4), [60, 50, 40, 300])
    merged = adjacent_merging(regions, None, BaselineOptions(cutoff=100, neighbour="smallest population"))
    assert groups(merged) == {frozenset({0, 1, 2}), frozenset({3})}
    assert merged.crosswalk.region_of.tolist() == [0, 0, 0, 1]


def test_borders_of_merged_regions_add_up():
    # 1 and 2 merge first; together their border with 0 (6 + 6) is longer than that of 3 with 0 (10).
    shapes = [
        shapely.box(0, 0, 22, 10),
        shapely.box(0, 10, 6, 20),
        shapely.box(6, 10, 12, 20),
        shapely.box(12, 10, 22, 20),
    ]
    # Once it is they that choose, once it is 0.
    for population in ([40, 10, 9, 1000], [40, 45, 9, 1000]):
        merged = adjacent_merging(areas_of(shapes, population), None, BaselineOptions(cutoff=50))
        assert groups(merged) == {frozenset({0, 1, 2}), frozenset({3})}


def test_islands_join_the_nearest_or_stay():
    shapes = [
        *row_of([10, 10]),
        shapely.box(100, 0, 110, 10),
        shapely.box(110, 0, 120, 10),
        shapely.box(900, 0, 910, 9),
    ]
    regions = areas_of(shapes, [80, 90, 10, 10, 500])
    joined = adjacent_merging(regions, None, BaselineOptions(cutoff=50))
    assert groups(joined) == {frozenset({0}), frozenset({1, 2, 3}), frozenset({4})}
    assert "1 region without a neighbour joined" in " ".join(joined.notes)
    left = adjacent_merging(regions, None, BaselineOptions(cutoff=50, islands="leave alone"))
    assert groups(left) == {frozenset({0}), frozenset({1}), frozenset({2, 3}), frozenset({4})}
    assert "1 region is still below the cut-off" in " ".join(left.notes)


def test_a_boundary_is_not_crossed_and_a_maximum_not_exceeded():
    regions = areas_of(row_of([10] * 4), [30, 40, 20, 90])
    bounded = adjacent_merging(regions, None, BaselineOptions(cutoff=100, boundary=["a", "a", "b", "b"]))
    assert groups(bounded) == {frozenset({0, 1}), frozenset({2, 3})}
    assert "1 region is still below" in " ".join(bounded.notes)
    limited = adjacent_merging(regions, None, BaselineOptions(cutoff=50, most=80))
    assert groups(limited) == {frozenset({0}), frozenset({1, 2}), frozenset({3})}
    with pytest.raises(InputError, match="MAXIMUM is 80, below the cut-off of 100"):
        adjacent_merging(regions, None, BaselineOptions(cutoff=100, most=80))


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_merging_keeps_its_promises(data):
    made = data.draw(regions())
    n = len(made)
    boundary = data.draw(st.sampled_from([None, [str(i % 2) for i in range(n)]]))
    options = BaselineOptions(
        cutoff=float(data.draw(st.integers(1, 2000))),
        neighbour=data.draw(st.sampled_from(NEIGHBOUR_CHOICES)),
        islands=data.draw(st.sampled_from(ISLAND_CHOICES)),
        boundary=boundary,
    )
    merged = adjacent_merging(made, None, options)
    region = merged.crosswalk.region_of
    population = merged.crosswalk.totals(made.population)
    first, second = neighbours_of(made).pairs()
    inside = region[first] == region[second]
    parts = connected_parts(first[inside], second[inside], n)
    assert len(set(zip(region.tolist(), parts.tolist()))) == merged.crosswalk.n_regions  # each hangs together
    below = population < options.cutoff
    if boundary is None:
        assert not below.any() or merged.crosswalk.n_regions == 1
    else:
        assert len(set(zip(region.tolist(), boundary))) == merged.crosswalk.n_regions
        label = np.array(boundary)
        apart = (region[first] != region[second]) & (label[first] == label[second])
        assert not (below[region[first[apart]]] | below[region[second[apart]]]).any()
    merged_for_nothing = [
        members
        for members in groups(merged)
        if min(made.population[list(members)]) >= options.cutoff and len(members) > 1
    ]
    assert not merged_for_nothing


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_merging_until_anonymous_meets_the_budget_and_stops_there(data):
    made = data.draw(regions())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(0, data.draw(st.sampled_from([2, 8])), (len(made), 6))
    counts[0, 0] += 1
    profile = profile_of(counts)
    k, budget = data.draw(st.integers(2, 9)), float(data.draw(st.sampled_from([0, 1, 20, 60])))
    found = merging_until_anonymous(made, profile, BaselineOptions(k=k, budget=budget))
    measures, _ = evaluate(made, suppress(profile, found.crosswalk, k), found.sites)
    assert measures.suppression_percent <= budget + 1e-9 or found.crosswalk.n_regions == 1
    told = [note for note in found.notes if "in classes below k" in note and "records" in note]
    assert told[0].startswith(f"{measures.suppression_percent:.3g} %")
    # Nothing is merged that was fine: a region of several areas has one that had classes below k.
    alone = np.where((counts > 0) & (counts < k), counts, 0).sum(axis=1) > 0
    assert all(alone[list(members)].any() for members in groups(found) if len(members) > 1)


def test_merging_until_anonymous_needs_no_more_merges_than_the_budget_asks_for():
    regions = areas_of(row_of([10] * 4), [10, 20, 30, 40])
    profile = profile_of([[2, 8], [20, 0], [3, 27], [40, 0]])
    assert groups(merging_until_anonymous(regions, profile, BaselineOptions(k=5, budget=5))) == {
        frozenset({i}) for i in range(4)
    }
    # Area 0 alone is taken up, and then 3 of 100 records are below k.
    once = merging_until_anonymous(regions, profile, BaselineOptions(k=5, budget=3))
    assert groups(once) == {frozenset({0, 1}), frozenset({2}), frozenset({3})}
    assert merging_until_anonymous(regions, profile, BaselineOptions(k=5, budget=0)).crosswalk.n_regions == 2


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("static cut-off", BaselineOptions(cutoff=0), "CUTOFF is 0"),
        ("cropping", BaselineOptions(characters=0), "CHARACTERS is 0"),
        ("cropping", BaselineOptions(leave_out=-1), "LEAVE_OUT is -1"),
        ("hierarchy", BaselineOptions(), "HIERARCHY is not given"),
        ("hierarchy", BaselineOptions(hierarchy=[None, "", None]), "HIERARCHY is empty in every area"),
        ("adjacent merging", BaselineOptions(neighbour="largest"), "NEIGHBOUR “largest” is unknown"),
        ("adjacent merging", BaselineOptions(islands="sink"), "ISLANDS “sink” is unknown"),
        ("adjacent merging", BaselineOptions(most=-1), "MAXIMUM is -1"),
        ("merging until k-anonymous", BaselineOptions(budget=101), "BUDGET is 101"),
    ],
)
def test_wrong_settings_are_told_in_a_sentence(name, options, words):
    with pytest.raises(InputError, match=words):
        BASELINES[name](areas_of(row_of([10] * 3), [5, 6, 7]), profile_of([[5], [6], [7]]), options)
    with pytest.raises(InputError, match="needs RECORDS"):
        merging_until_anonymous(areas_of(row_of([10] * 3), [5, 6, 7]), None)


def test_real_areas_merge_to_the_cutoff(real_data):
    winnipeg = pytest.importorskip("vbas.benchmarks.real_areas").areas("Winnipeg")
    merged = adjacent_merging(winnipeg, None, BaselineOptions(cutoff=5_000))
    assert merged.crosswalk.totals(winnipeg.population).min() >= 5_000
    assert sum(Counter(merged.crosswalk.region_of.tolist()).values()) == 1118
