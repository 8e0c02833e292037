"""What zones and the people of all areas prove together, against an attacker who shares no code with it."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.benchmarks import attack_places
from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure import zone_flows, zone_tables
from vbas.core.disclosure.certificate import certify_plan
from vbas.core.disclosure.count_tables import own_totals
from vbas.core.disclosure.inhabitants import inhabitants_of
from vbas.core.disclosure.overlay import NONE
from vbas.core.disclosure.zone_tables import parts_of, proven_small, records_of, released_classes, zones_of
from vbas.core.errors import PrivacyError
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.company import in_company
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, area_of_cells, plan_by_levels
from vbas.core.privacy.beside import TablesBeside, hold_beside, hold_beside_and_together
from vbas.core.privacy.published_counts import hold_against_counts
from vbas.core.privacy.requirement import Requirement, members_of
from vbas.core.records.table import HOUSEHOLDS

from ..exploring import EXPLORES, tried
from . import zone_attacker
from .nested_cases import profile_of
from .test_zone_attacker import in_zones, territories, written

# The larger ones, which take a minute, where other cases are drawn than usual.
REAL_PLACES = [("Winnipeg", 1, 11)]
if EXPLORES:
    REAL_PLACES += [("Winnipeg", 1, 5), ("California", 100, 5)]


def found_by_the_program(plan, people, k, known=None):
    """Claims as sets: class, level and region of the zone, areas."""
    shown, at = released_classes(plan)
    found = proven_small(shown, people, k, known, every=known is None)
    assert not len(found.open_parts) and not len(found.open_rests)
    claims = set()
    for part, rest in [*((p, False) for p in found.parts.tolist()), *((p, True) for p in found.rests.tolist())]:
        zone = int(found.of.zone[part])
        every = found.zones.area[found.zones.zone == zone]
        pairs = found.of.pairs.indices[found.of.pairs.indptr[part] : found.of.pairs.indptr[part + 1]]
        own = found.zones.area[pairs]
        areas = np.setdiff1d(every, own) if rest else own
        of = at[found.zones.released[zone]]
        claims.add((int(plan.class_of[of]), int(plan.level[of]), int(plan.region[of]), tuple(areas.tolist())))
    return claims


@pytest.mark.slow
@given(territories())
@settings(max_examples=tried(50, 150))
def test_it_proves_what_the_attacker_proves_and_nothing_else(drawn):
    areas, counts, levels, k, _ = drawn
    plan = nest(areas, profile_of(counts), levels, k, conditions=Conditions(np.full(len(areas), 1e6), None))
    release = written(plan, areas)
    claims = zone_attacker.AllClasses(release).proven(k) if release.counts else []
    inhabited = set(np.flatnonzero(areas.population > 0).tolist())
    by_attacker = {
        (int(c.zone.values[0][1:]), c.zone.level, c.zone.region - 1, tuple(a for a in c.areas if a in inhabited))
        for c in claims
    }
    assert found_by_the_program(plan, areas.population, k) == by_attacker
    # From the table that it was made from, with tables of a few areas at a time, it is the same.
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(zone_flows, "PAIRS_AT_ONCE", 5)
        changed.setattr(zone_tables, "FEW", 0)
        changed.setattr(zone_tables, "MOST_NEAR", 0)  # what is open is asked of all areas
        assert found_by_the_program(plan, areas.population, k, records_of(plan)) == by_attacker


@pytest.mark.slow
@given(territories(most_classes=5))
@settings(max_examples=tried(50, 150))
def test_under_disclosure_nothing_follows_of_all_classes_together(drawn):
    areas, counts, levels, k, seed = drawn
    plan = in_zones(areas, counts, levels, k, seed)
    release = written(plan, areas)
    assert not release.counts or zone_attacker.AllClasses(release).proven(k) == []
    assert (plan.records[plan.released] >= k).all()


def two_halves():
    """Two halves of two areas; all people are in the records; of one class three live here and two there."""
    areas = make_areas(list("abcd"), np.arange(8.0).reshape(4, 2), [33.0, 20.0, 27.0, 22.0])
    counts = np.array([[3, 20, 10], [0, 20, 0], [2, 15, 10], [0, 12, 10]])
    halves, whole = (number_compactly(np.array(of))[0] for of in ([0, 0, 1, 1], [0, 0, 0, 0]))
    return areas, counts, make_levels(areas, [own_regions(4), halves, whole])


def test_a_class_that_alone_is_shown_around_a_region_gets_company():
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    told = {claim[3] for claim in found_by_the_program(plan, areas.population, 5)}
    assert {(0, 1), (2, 3)} <= told or {(0,), (2,)} <= told
    held = in_company(plan, inhabitants_of(plan.profile, areas.population))
    assert found_by_the_program(held, areas.population, 5) == set()
    assert zone_attacker.AllClasses(written(held, areas)).proven(5) == []
    assert held.in_zones and held.n_released == plan.n_released == counts.sum()


def test_a_class_of_the_whole_territory_gets_company_from_beside_before_it_is_suppressed():
    """In the areas that show nothing else all people are of it: of 4 and 1 of them the count would be known."""
    counts = np.array([[4, 0], [1, 0], [6, 0], [2, 0], [14, 9]])
    areas = make_areas(list("abcde"), np.arange(10.0).reshape(5, 2), counts.sum(axis=1).astype(float))
    parts, whole = (number_compactly(np.array(of))[0] for of in ([0, 0, 1, 1, 2], [0] * 5))
    levels = make_levels(areas, [parts, whole])
    profile = profile_of(counts)
    level_of = np.where(profile.counts.indices == 0, 1, 0).astype(np.int8)
    plan = replace(plan_by_levels(profile, levels, 5, level_of), in_zones=True)
    assert found_by_the_program(plan, areas.population, 5)
    held = in_company(plan, inhabitants_of(plan.profile, areas.population))
    assert found_by_the_program(held, areas.population, 5) == set()
    assert held.in_zones and held.n_released == counts.sum()


def halves_beside_totals():
    """Two halves in zones that know nothing of people, and published totals of two kinds of each half."""
    _, _, levels = two_halves()
    counts = np.array([[6, 20, 10], [0, 20, 0], [1, 15, 10], [0, 12, 13]])
    areas = make_areas(list("abcd"), np.arange(8.0).reshape(4, 2), counts.sum(axis=1).astype(float))
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(np.full(4, 1e6), None))
    totals = own_totals(plan.profile, levels.crosswalks[1], [])
    nothing = np.zeros((2, 2), np.int64)
    totals = replace(totals, group_of=np.array([1, NONE, 1]), n_groups=2, low=nothing, high=nothing, values=())
    true = totals.true_counts(plan.profile)
    return areas, plan, TablesBeside(areas, [replace(totals, low=true, high=true)])


def test_what_moves_for_people_is_held_against_published_totals_again(monkeypatch):
    areas, plan, beside = halves_beside_totals()
    once = hold_beside(plan, beside)[0]
    assert in_company(once, inhabitants_of(once.profile, areas.population)) is not once  # something moves
    looked_at = []

    def look(one, *given):
        looked_at.append(one)
        return hold_against_counts(one, *given)

    monkeypatch.setattr("vbas.core.privacy.beside.hold_against_counts", look)
    held = hold_beside_and_together(plan, beside, inhabitants_of(plan.profile, areas.population), moved=True)[0]
    assert len(looked_at) > 1 and looked_at[-1] is held
    assert held.in_zones
    assert hold_beside(held, beside)[0] is held
    assert found_by_the_program(held, areas.population, 5) == set()
    assert zone_attacker.AllClasses(written(held, areas)).proven(5) == []


@pytest.mark.parametrize("moved", [False, True])
def test_what_moved_before_is_held_against_people_though_no_total_moves_it(moved):
    areas, plan, beside = halves_beside_totals()
    free = replace(beside.tables[0], low=0 * beside.tables[0].low, high=beside.tables[0].high + 1_000)
    beside = replace(beside, tables=[free])
    assert (
        hold_beside(plan, beside)[0] is plan
        and in_company(plan, inhabitants_of(plan.profile, areas.population)) is not plan
    )
    held = hold_beside_and_together(plan, beside, inhabitants_of(plan.profile, areas.population), moved=moved)[0]
    assert (held is plan) != moved  # what has not moved was held against them
    assert not moved or found_by_the_program(held, areas.population, 5) == set()


def test_nothing_is_released_where_no_way_is_found(monkeypatch):
    areas, plan, beside = halves_beside_totals()
    monkeypatch.setattr("vbas.core.privacy.beside.MOST_TURNS", 1)
    with pytest.raises(PrivacyError, match="neither from published totals nor from the people of all areas"):
        hold_beside_and_together(plan, beside, inhabitants_of(plan.profile, areas.population), moved=True)
    monkeypatch.setattr("vbas.core.nesting.company.MOST_ROUNDS", 1)
    with pytest.raises(PrivacyError, match="no small count follows from the people of all areas"):
        in_company(plan, inhabitants_of(plan.profile, areas.population))


@pytest.mark.slow
@given(territories())
@settings(max_examples=tried(25, 60))
def test_of_households_too_nothing_follows(drawn):
    areas, counts, levels, k, seed = drawn
    profile, rng = profile_of(counts), np.random.default_rng(seed)
    cell = np.repeat(np.arange(profile.counts.nnz), profile.counts.data)
    household = 100 * area_of_cells(profile)[cell] + rng.integers(0, 8, len(cell))
    requirement = Requirement(k, (members_of(HOUSEHOLDS, cell, household),))
    conditions = Conditions(areas.population, Secrets(rng, closed=0.05))
    plan = nest(areas, profile, levels, k, requirement=requirement, conditions=conditions)
    shown_as = plan.equivalence_class_of[cell]
    homes = np.unique(np.column_stack([shown_as, household])[shown_as != SUPPRESSED], axis=0)[:, 0]
    assert (np.bincount(homes, minlength=len(plan.records))[plan.released] >= k).all()
    release = written(plan, areas)
    if plan.in_zones and release.counts:
        assert zone_attacker.AllClasses(release).proven(k) == []


def test_what_takes_too_long_is_not_decided_and_counts_as_proven(monkeypatch):
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    monkeypatch.setattr(zone_tables, "MOST_PROGRAMS", 0)
    shown, _ = released_classes(plan)
    found = proven_small(shown, areas.population, 5)
    assert not len(found.parts) and len(found.open_parts)
    monkeypatch.setattr(zone_tables, "MOST_PAIRS", 0)
    found = proven_small(shown, areas.population, 5)
    assert len(found.open_parts) == len(found.of) and not found.contradicted


class Ended(Exception):
    """Somebody cancelled."""


@pytest.mark.parametrize("few", [60, 0])  # counts are decided one by one, or by further tables first
def test_looking_for_what_people_prove_can_be_ended(monkeypatch, few):
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    monkeypatch.setattr(zone_tables, "FEW", few)
    shown, _ = released_classes(plan)
    heard: list[float] = []
    proven_small(shown, areas.population, 5, progress=heard.append)
    assert heard and all(0 <= fraction <= 1 for fraction in heard) and (few > 0 or min(heard) < 1)

    def end(fraction):
        raise Ended

    with pytest.raises(Ended):
        proven_small(shown, areas.population, 5, progress=end)
    people = inhabitants_of(plan.profile, areas.population, "")
    for work in (
        lambda: certify_plan(plan, people, progress=end),
        lambda: in_company(plan, people, progress=end),
    ):
        with pytest.raises(Ended):
            work()


@given(territories(), st.integers(1, 9))
@settings(max_examples=tried(30, 200))
def test_however_many_pairs_are_looked_at_together_the_parts_are_the_same(drawn, pairs):
    areas, counts, levels, k, _ = drawn
    plan = nest(areas, profile_of(counts), levels, k, conditions=Conditions(areas.population, None))
    shown, _ = released_classes(plan)

    def parts():
        of = parts_of(zones_of(shown, areas.population), shown)
        own = [tuple(row.indices.tolist()) for row in of.pairs]
        listed = sorted(zip(of.zone.tolist(), of.level.tolist(), of.region.tolist(), own))
        return listed, of.n_areas, of.n_larger, of.n_rests

    whole = parts()
    with mock.patch.object(zone_tables, "PAIRS_AT_ONCE", pairs):
        assert parts() == whole


@pytest.mark.slow
@pytest.mark.parametrize("name, one_of, k", REAL_PLACES)
def test_the_attacker_finds_nothing_in_real_areas(name, one_of, k, tmp_path):
    pytest.importorskip("osgeo", reason="GDAL is not there")
    place = attack_places.real_place(name, one_of=one_of)
    if place is None:
        pytest.skip("the real data are not there")
    profile = place.records().profile
    levels = build_levels(place.areas, profile)
    conditions = Conditions(place.areas.population, Secrets(np.random.default_rng(k)))
    release = written(nest(place.areas, profile, levels, k, conditions=conditions), place.areas, tmp_path)
    assert zone_attacker.proven_by_people(release, k) == []
    everything = zone_attacker.AllClasses(release)
    assert not everything.contradicted()
    assert everything.proven(k) == []
