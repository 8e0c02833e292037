"""Anonymity-driven clustering against plain, slow versions of its objectives and of its search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial import Delaunay, cKDTree

from vbas.core.areas import make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.errors import Cancelled, InputError
from vbas.core.neighbours import adjacent_sites
from vbas.core.profile import Profile
from vbas.core.site_location import APPROACHES, LocationOptions
from vbas.core.site_location.clustering import climbing as climbing_module
from vbas.core.site_location.clustering import counts as region_counts
from vbas.core.site_location.clustering import state as clustering_state
from vbas.core.site_location.clustering.anonymity_driven_clustering import VARIANT as VARIANT_2018
from vbas.core.site_location.clustering.anonymity_driven_clustering_2015 import VARIANT as VARIANT_2015
from vbas.core.site_location.clustering.climbing import Climb, climb
from vbas.core.site_location.clustering.counts import Terms
from vbas.core.site_location.clustering.state import ClusteringState
from vbas.core.site_number import SiteNumberOptions
from vbas.core.voronoi import nearest_site

from ..exploring import tried

NAMES = ["anonymity-driven clustering", "anonymity-driven clustering (2015)"]
VARIANTS = {"2018": VARIANT_2018, "2015": VARIANT_2015}


# --- plain, slow versions -------------------------------------------------------------------------------------------


def plain_groups(points, counts, sites):
    """G, (S, C), counted anew."""
    groups = np.zeros((len(sites), counts.shape[1]), int)
    np.add.at(groups, nearest_site(points, sites), counts)
    return groups


def plain_levels(groups):
    """alpha_a of every region in which a record lives, and the equivalence classes' cardinalities."""
    occupied = [row[row > 0] for row in groups if row.any()]
    return [int(row.min()) for row in occupied], np.concatenate(occupied or [np.zeros(0, int)])


def plain_objective(variant, groups):
    levels, cardinalities = plain_levels(groups)
    if not levels:
        return Fraction(0)
    if variant == "2018":  # Croft 2018, Eq. 5
        at_lowest = int((cardinalities == min(levels)).sum())
        return sum(levels) + 1 - Fraction(at_lowest, len(cardinalities))
    return Fraction(min(levels) * len(levels) - levels.count(min(levels)))  # Croft 2015, Eq. 14


def plain_neighbours(sites, own):
    if len(sites) < 4:  # all of two or three sites (not in line) are adjacent to one another
        return [b for b in range(len(sites)) if b != own]
    starts, neighbours = Delaunay(sites - sites.mean(axis=0)).vertex_neighbor_vertices
    around = neighbours[starts[own] : starts[own + 1]]
    return around[np.argsort(np.arctan2(*(sites[around] - sites[own]).T[::-1]))].tolist()


def plain_inside(points, corners):
    """Whether a ray to the right of each point crosses the outline an odd number of times; a corner is inside."""
    inside = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0)):
        passes = (y0 > points[:, 1]) != (y1 > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            inside ^= passes & (points[:, 0] < x0 + (points[:, 1] - y0) * (x1 - x0) / (y1 - y0))
    return inside | (points[:, None] == corners).all(axis=2).any(axis=1)


def plain_proposal(variant, points, counts, sites, own, c):
    groups, around = plain_groups(points, counts, sites), plain_neighbours(sites, own)
    if variant == "2018":
        weights = [10.0] + [float(groups[b, c]) ** 2 for b in around]
        return np.average(sites[[own, *around]], axis=0, weights=weights)
    inside = nearest_site(points, sites) == own
    if len(around) > 2:
        corners = around
        if len(sites) >= 4:  # start at the open side, so that the outline does not depend on where angles begin
            turns = np.arctan2(*(sites[around] - sites[own]).T[::-1])
            gaps = np.diff(np.append(turns, turns[0] + 2 * np.pi))
            first = (int(gaps.argmax()) + 1) % len(around)
            corners = around[first:] + around[:first]
        inside |= plain_inside(points, sites[corners])
    return np.average(points[inside], axis=0, weights=counts[inside, c])


def plain_climb(variant, points, counts, sites, k):
    """The search as the papers tell it, everything counted anew for every proposal; yields the sites at each move."""
    sites = sites.copy()

    def occupied(some_sites):
        groups, members = plain_groups(points, counts, some_sites), nearest_site(points, some_sites)
        return groups.any(axis=1).tolist(), np.isin(np.arange(len(sites)), members).tolist()

    def visit(own, level):
        pending = np.flatnonzero(plain_groups(points, counts, sites)[own] == level).tolist()
        for c in pending:
            groups = plain_groups(points, counts, sites)
            if groups[own, c] != level:
                continue
            moved = sites.copy()
            moved[own] = plain_proposal(variant, points, counts, sites, own, c)
            then = plain_groups(points, counts, moved)
            if occupied(moved) == occupied(sites) and plain_objective(variant, then) > plain_objective(variant, groups):
                sites[own] = moved[own]
                yield then

    while True:
        moves = 0
        groups = plain_groups(points, counts, sites)
        level = min(plain_levels(groups)[0], default=k)
        if level >= k:
            return
        for own in range(len(sites)):
            row = plain_groups(points, counts, sites)[own]
            if not row.any() or row[row > 0].min() != level:
                continue
            anew = False
            for then in visit(own, level):
                moves += 1
                yield sites.copy()
                row = then[own]
                anew = row[row > 0].min() != level or min(plain_levels(then)[0]) != level
                if anew:
                    break
            if anew:
                break
        if not moves:
            return


# --- small random cases ---------------------------------------------------------------------------------------------


@st.composite
def cases(draw, generic=False):
    """points (n, 2), counts (n, C), sites (S, 2), k; coordinates that coincide and tie unless `generic`."""
    rng = np.random.default_rng([draw(st.integers(0, 2**32 - 1)), 1])
    sizes = [(70, 5, 12), (60, 8, 7), (60, 3, 5), (30, 3, 4), (2, 1, 1)]
    n, n_classes, n_sites = sizes[rng.choice(5, p=[0.3, 0.3, 0.2, 0.1, 0.1])]
    if generic:
        n, n_sites = max(n, 9), max(n_sites, 4)
        points: np.ndarray = rng.random((n, 2)) * 1e5 + 7e6
        sites: np.ndarray = rng.random((n_sites, 2)) * 1e5 + 7e6
    else:
        reach = rng.choice([12, 8, 2], p=[0.5, 0.4, 0.1])
        points = rng.integers(0, reach, (n, 2)) * 10.0
        sites = rng.integers(0, 2 * reach, (n_sites, 2)) * 5.0
        if rng.random() < 0.15:  # all in one line
            points[:, 1], sites[:, 1] = 0, 0
    counts = rng.poisson(rng.uniform(0.1, rng.choice([1.0, 3.0]), n_classes), (n, n_classes))
    counts[rng.random(n) < rng.choice([0.0, 0.3])] = 0
    return points, counts, sites, int(rng.choice([1000, 4], p=[0.8, 0.2]))


@pytest.fixture(params=["dense", "sparse", "double", "few at a time"])
def form(request, monkeypatch):
    """Every way in which counts can be held and summed."""
    if request.param == "sparse":
        monkeypatch.setattr(clustering_state, "DENSE_CLASSES", 0)
        monkeypatch.setattr(region_counts, "ENTRIES_AT_ONCE", 50)
    if request.param == "double":
        monkeypatch.setattr(region_counts, "EXACT_IN_FLOAT32", 0)
    if request.param == "few at a time":
        monkeypatch.setattr(region_counts, "CELLS_AT_ONCE", 5)
        monkeypatch.setattr(region_counts, "SMALL_PRODUCT", 7)
        monkeypatch.setattr(climbing_module, "FEW", 1)
        monkeypatch.setattr(climbing_module, "MANY", 2)
    return request.param


def start(case):
    points, counts, sites, _ = case
    return ClusteringState(points, sparse.csr_matrix(counts.astype(np.int64)), sites)


def groups_kept(state):
    """G as the state holds it."""
    every = np.arange(len(state.sites)), np.arange(state.profile_counts.shape[1])
    return state.counts.of(*every)


# --- the objectives, the search, the guarantees ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=tried(8, 25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_committed_move_agrees_with_counting_anew(variant, form, data):
    points, counts, sites, k = case = data.draw(cases(data.draw(st.booleans())))
    state, record = start(case), Climb()
    before = plain_objective(variant, plain_groups(points, counts, sites))
    occupied = np.flatnonzero(plain_groups(points, counts, sites).any(axis=1))
    areas = np.unique(nearest_site(points, sites))
    steps = 0
    for moved in climb(state, VARIANTS[variant], k, record):
        steps += 1
        assert np.array_equal(moved.region_of, nearest_site(points, moved.sites))
        groups = plain_groups(points, counts, moved.sites)
        assert np.array_equal(groups_kept(moved), groups)
        levels, cardinalities = plain_levels(groups)
        now = moved.now
        assert int(now.levels[0]) == sum(levels) and moved.lowest == min(levels)
        assert int(now.classes[0]) == len(cardinalities)
        assert int(now.classes_at_lowest[0]) == (cardinalities == min(levels)).sum()
        assert (int(now.regions[0]), int(now.regions_at_lowest[0])) == (len(levels), levels.count(min(levels)))
        after = plain_objective(variant, groups)
        assert after > before
        before = after
        assert np.array_equal(np.flatnonzero(groups.any(axis=1)), occupied)
        assert np.array_equal(np.unique(moved.region_of), areas)
    assert record.moves == steps and record.reason and not record.limited
    assert state.lowest >= k or "no move" in record.reason


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=tried(8, 25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cases(generic=True))
def test_the_search_is_that_of_the_papers_move_by_move(variant, form, case):
    """What is remembered as refused, and the neighbours found locally, change nothing: the plain search moves alike."""
    points, counts, sites, k = case
    state = start(case)
    ours = [moved.sites.copy() for moved in climb(state, VARIANTS[variant], k, Climb())]
    plain = list(plain_climb(variant, points, counts, sites, k))
    assert len(ours) == len(plain)
    for mine, theirs in zip(ours, plain):
        assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_the_search_is_that_of_the_papers_with_many_bottleneck_classes(variant, seed):
    rng = np.random.default_rng(seed)
    points, sites = rng.random((90, 2)) * 1e5, rng.random((8, 2)) * 1e5
    counts = rng.poisson(rng.uniform(0.02, 0.4, 40), (90, 40))
    state = start((points, counts, sites, 5))
    ours = [moved.sites.copy() for moved in climb(state, VARIANTS[variant], 5, Climb())]
    plain = list(plain_climb(variant, points, counts, sites, 5))
    assert len(ours) == len(plain) and (variant == "2015" or len(ours) > 8)
    assert all(np.allclose(mine, theirs, rtol=1e-9, atol=1e-3) for mine, theirs in zip(ours, plain))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [(300, 50, 30, 0.6, 5), (300, 100, 5, 3.0, 20), (500, 50, 6, 1.5, 20)])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_remembered_as_refused_changes_no_move(variant, size, seed, monkeypatch):
    """Many regions, crowded in places, so that most moves leave most of what was refused in force."""
    n, n_sites, n_classes, most, k = size
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 1, (n, 2)) * rng.lognormal(0, 1.6, (n, 1)) * [3e4, 1e3]
    sites = points[rng.choice(n, n_sites, replace=False)] + rng.normal(0, 100, (n_sites, 2))
    counts = rng.poisson(rng.uniform(0.05, most, n_classes), (n, n_classes))
    records, paths = [Climb(), Climb()], []
    for record in records:
        state = start((points, counts, sites, k))
        paths.append([moved.sites.tobytes() for moved in climb(state, VARIANTS[variant], k, record)])
        monkeypatch.setattr(climbing_module.RefusedRegions, "remember", lambda *of_what: None)
    assert paths[0] == paths[1]
    assert variant == "2015" or len(paths[0]) > 5
    assert records[0].proposals <= records[1].proposals
    assert records[0].rounds == records[1].rounds


WHOLE = np.array([2, 5, 40, 200, 12, 40, 6])  # alpha, alpha touched, sum, |E|, |E_alpha|, |R|, |R_alpha|


def terms_like(rows):
    """An Terms from rows of alpha, alpha touched, sum, |E|, |E_alpha|, |R|, |R_alpha|."""
    low, touched, levels, classes, at_lowest, regions, regions_at_lowest = np.atleast_2d(rows).T
    nothing = np.zeros(len(low), int)
    return Terms(low, touched, levels, classes, at_lowest, regions, regions_at_lowest, nothing)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=6), st.integers(1, 199))
def test_a_refused_move_stays_refused_exactly_while_the_share_is_in_the_window(changes, at_lowest):
    """Moves that change |E_alpha| and |E| by so much, and the same moves when |E_alpha| is another elsewhere."""
    rows = [np.add(WHOLE, [0, -3, 0, classes, lowest, 0, 0]) for lowest, classes in changes]
    now, then = terms_like(WHOLE), terms_like(rows)
    refused = ~VARIANT_2018.rises(now, then)
    if not refused.any():
        return
    kept = terms_like(np.array(rows)[refused])
    window = VARIANT_2018.window(now, kept)
    assert window is not None
    lower, upper = window
    elsewhere = np.array([0, 0, 0, 0, at_lowest - WHOLE[4], 0, 0])
    later = VARIANT_2018.rises(terms_like(WHOLE + elsewhere), terms_like(np.array(rows)[refused] + elsewhere))
    assert later.any() == (not lower <= at_lowest / WHOLE[3] <= upper)


def test_no_window_where_a_move_brings_another_lowest_level():
    now = terms_like(WHOLE)
    assert VARIANT_2018.window(now, terms_like(np.add(WHOLE, [-1, -4, 0, 0, 9, 0, 0]))) is None
    assert VARIANT_2018.window(now, terms_like(np.add(WHOLE, [-1, -4, -1, 0, 9, 0, 0]))) == (-np.inf, np.inf)


def clustered_town(seed=0, n=240, n_classes=30):
    """A town with a dense middle; classes some of which are rare."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 1, (n, 2)) * rng.lognormal(0, 1, (n, 1)) * 1000
    shares = rng.dirichlet(np.full(n_classes, 0.6), 3)
    counts = rng.multinomial(rng.integers(40, 70, n), shares[rng.integers(0, 3, n)])
    regions = make_areas(np.arange(n), points, counts.sum(axis=1))
    codes = np.arange(n_classes)[:, None]
    labels = np.array([str(c) for c in range(n_classes)], dtype=object)
    return regions, Profile(sparse.csr_matrix(counts.astype(np.int64)), codes, (labels,), ("kind",))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_better_than_the_start_and_the_same_twice(name, seed):
    regions, profile = clustered_town(seed)
    variant = "2015" if "2015" in name else "2018"
    results = [APPROACHES[name](regions, profile, 20, LocationOptions()) for _ in range(2)]
    assert results[0].sites.tobytes() == results[1].sites.tobytes()
    assert results[0].notes == results[1].notes
    counts = profile.counts.toarray()
    seed_sites = APPROACHES["balanced density"](regions, profile, 20).sites
    before = plain_objective(variant, plain_groups(regions.points, counts, seed_sites))
    after = plain_objective(variant, plain_groups(regions.points, counts, results[0].sites))
    assert after >= before
    if variant == "2018":
        assert after > before  # the town gives it room


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_sites", [1, 2, 3, 240])
def test_few_sites_and_as_many_as_areas(name, n_sites):
    regions, profile = clustered_town(n_classes=4)
    result = APPROACHES[name](regions, profile, n_sites, LocationOptions(k=50))
    assert result.sites.shape == (n_sites, 2) and np.isfinite(result.sites).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_lattice_full_of_ties_comes_to_an_end(variant):
    rng = np.random.default_rng(1)
    points = np.stack(np.meshgrid(np.arange(14.0), np.arange(14.0)), axis=-1).reshape(-1, 2) * 250
    counts = rng.poisson(0.7, (len(points), 12))
    sites = points[(points % 500 == 250).all(axis=1)]
    state, record = start((points, counts, sites, 5)), Climb()
    assert state.has_ties
    for moved in climb(state, VARIANTS[variant], 5, record):
        assert np.array_equal(moved.region_of, nearest_site(points, moved.sites))
        assert np.array_equal(groups_kept(moved), plain_groups(points, counts, moved.sites))
    assert record.moves > 0 and record.reason and not record.limited


def test_stops_when_every_region_has_reached_k():
    points = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0]])
    state, record = start((points, np.full((4, 2), 3), np.array([[0.5, 0], [10.5, 0]]), 6)), Climb()
    assert list(climb(state, VARIANT_2018, 6, record)) == []
    assert record.reason == "every region has reached 6 records in its smallest class"


@pytest.mark.parametrize("variant", VARIANTS)
def test_nobody_anywhere_is_no_reason_to_move(variant):
    points = np.array([[0.0, 0], [1, 0], [10, 0], [11, 0]])
    state = start((points, np.zeros((4, 2), int), np.array([[0.5, 0], [10.5, 0]]), 6))
    assert list(climb(state, VARIANTS[variant], 6, Climb())) == []


# --- the start, the notes, progress ---------------------------------------------------------------------------------


def test_notes_tell_rounds_moves_and_why_it_stopped():
    regions, profile = clustered_town()
    (note,) = APPROACHES[NAMES[0]](regions, profile, 20).notes
    assert note.startswith("Anonymity-driven clustering, started from “balanced density”, made ")
    assert " rounds and stopped because no move of a region at the lowest level raises the objective" in note


def test_a_whole_configuration_runs_and_tells_of_both():
    regions, profile = clustered_town()
    for name in NAMES:
        chosen = Configuration("given number", name, "site optimisation", SiteNumberOptions(n_sites=20))
        run = aggregate(regions, profile, chosen)
        told = run.notes[-2:]
        assert told[0].startswith(f"{name[0].upper()}{name[1:]}, started from “balanced density”")
        assert "site optimisation" in told[1].lower()
        assert run.aggregation.crosswalk.n_regions == len(run.aggregation.sites)


def test_a_limit_warns_and_leaves_sites_to_use(monkeypatch):
    monkeypatch.setattr(climbing_module, "MOVES_PER_SITE", 0.1)
    regions, profile = clustered_town()
    result = APPROACHES[NAMES[0]](regions, profile, 20)
    assert "limit of 3 moves" in result.notes[0] and result.notes[1].startswith("Warning:")
    assert np.isfinite(result.sites).all()


@pytest.mark.parametrize("name", NAMES)
def test_progress_rises_and_cancels(name):
    regions, profile = clustered_town()
    seen: list[float] = []
    APPROACHES[name](regions, profile, 20, LocationOptions(), seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(seen) > 10

    def cancel(fraction):
        if fraction > 0.06:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        APPROACHES[name](regions, profile, 20, LocationOptions(), cancel)


# --- adjacent sites -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(n=st.integers(4, 120), seed=st.integers(0, 2**32 - 1))
def test_adjacent_sites_are_delaunay_neighbours(n, seed):
    sites = np.random.default_rng(seed).lognormal(0, 1.5, (n, 2)) * 1e5 + [7e6, 1e6]
    tree = cKDTree(sites)
    for own in range(n):
        found = adjacent_sites(sites, own, tree)
        assert sorted(found.tolist()) == sorted(plain_neighbours(sites, own))
        turns = np.unwrap(np.arctan2(*(sites[found] - sites[own]).T[::-1]))
        assert (np.diff(turns) > 0).all() and turns[-1] - turns[0] < 2 * np.pi


def adjacent(sites, own):
    sites = np.array(sites, dtype=float)
    return adjacent_sites(sites, own, cKDTree(sites)).tolist()


def test_adjacent_sites_in_a_line_in_one_place_on_a_lattice():
    line = [[x, 0] for x in range(60)]
    assert sorted(adjacent(line, 20)) == [19, 21] and adjacent(line, 0) == [1] and adjacent(line, 59) == [58]
    assert adjacent([[1, 1]], 0) == [] and adjacent([[1, 1]] * 40, 3) == []
    assert sorted(adjacent([[0, 0], [0, 0], [3, 4], [3, 4]], 0)) == [2, 3]
    assert sorted(adjacent([[0, 0]] * 30 + [[x, 1] for x in range(5)], 0)) == [30, 31, 32, 33, 34]
    lattice = [[x, y] for x in range(9) for y in range(9)]
    assert sorted(adjacent(lattice, 40)) == [31, 39, 41, 49]
    assert sorted(adjacent(lattice, 0)) == [1, 9]


# --- other starts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("begin", ["random", "the other variant", "given"])
def test_from_another_start_it_is_the_papers_search_from_there(name, begin):
    regions, profile = clustered_town(0, n=80, n_classes=20)
    counts, variant = profile.counts.toarray(), "2015" if "2015" in name else "2018"
    (other,) = set(NAMES) - {name}
    own_sites = regions.points[3:40:5] + np.array([10.0, -20.0])
    options, n_sites = {
        "random": (LocationOptions(k=5, seed=7, start="random"), 10),
        "the other variant": (LocationOptions(k=5, start=other), 10),
        "given": (LocationOptions(k=5, start_sites=tuple(map(tuple, own_sites.tolist()))), 3),
    }[begin]
    sites = {
        "random": lambda: APPROACHES["random"](regions, profile, 10, LocationOptions(seed=7)).sites,
        "the other variant": lambda: APPROACHES[other](regions, profile, 10, LocationOptions(k=5)).sites,
        "given": lambda: own_sites,
    }[begin]()
    made = APPROACHES[name](regions, profile, n_sites, options)
    plain = [sites, *list(plain_climb(variant, regions.points, counts, sites, 5))][-1]
    assert np.allclose(made.sites, plain, rtol=1e-9, atol=1e-3)
    told = {"random": "“random”", "the other variant": f"“{other}”", "given": "the sites given"}[begin]
    assert f", started from {told}, made " in made.notes[-1]
    assert " made 0 of " not in made.notes[-1]
    assert len(made.notes) == len(made.convergence) == (2 if begin == "the other variant" else 1)


def test_sites_that_no_area_is_nearest_to_are_dropped_and_too_many_refused():
    regions, profile = clustered_town(4, n=60, n_classes=8)
    far = ((1e7, 1e7), *map(tuple, regions.points[:5].tolist()), tuple(regions.points[0].tolist()))
    made = APPROACHES[NAMES[0]](regions, profile, 2, LocationOptions(start_sites=far))
    assert len(made.sites) == 5
    assert made.notes[0] == "2 of 7 sites given have no area that they are nearest to, and are dropped."
    with pytest.raises(InputError, match="SITES has 61 points for 60 areas"):
        APPROACHES[NAMES[0]](regions, profile, 2, LocationOptions(start_sites=((0.0, 0.0),) * 61))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("begin", ["itself", "nowhere"])
def test_a_start_that_there_is_not_is_refused_with_those_that_there_are(name, begin):
    regions, profile = clustered_town(4, n=60, n_classes=8)
    options = LocationOptions(start=name if begin == "itself" else begin)
    with pytest.raises(InputError, match=r"starts from “balanced density”, .*“random”"):
        APPROACHES[name](regions, profile, 2, options)


def test_sites_of_each_start_are_shared_by_the_aggregations_and_by_no_other_start():
    regions, profile = clustered_town()
    located: dict = {}
    for begin in ("balanced density", "random"):
        options = LocationOptions(start=begin)
        for aggregation in ("basic Voronoi", "iterative Voronoi"):
            chosen = Configuration("given number", NAMES[0], aggregation, SiteNumberOptions(n_sites=9), options)
            aggregate(regions, profile, chosen, located=located)
    assert [options.start for _, _, options in located] == ["balanced density", "random"]
    first, second = (of[0].sites for of in located.values())
    assert not np.array_equal(first, second)
