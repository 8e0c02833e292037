"""Updates and repairs: nothing is given away afterwards, by the same check."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure import asked, programs
from vbas.core.disclosure.published import Published, publish
from vbas.core.disclosure.values import KeptValues
from vbas.core.errors import PrivacyError
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, plan_by_levels, suppress
from vbas.core.privacy.diversity import shares_of
from vbas.core.privacy.margins import hold_against_margins
from vbas.core.privacy.requirement import Requirement, members_of
from vbas.core.profile import Profile
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases import cheapest
from vbas.core.releases import repair as repairing
from vbas.core.releases.earlier import REPAIR, Earlier, held_against_earlier
from vbas.core.releases.examining import Examiner, examine
from vbas.core.releases.repair import repair, without
from vbas.core.releases.updates import Changes, Comparing

from ..exploring import tried
from .nested_cases import profile_of, random_levels

pytestmark = pytest.mark.slow


@st.composite
def two_plans(draw, tries=6):
    """(areas, plan, earlier releases) of the same people; the more tries, the likelier they give something away."""
    seed, n, k = draw(st.integers(0, 2**32 - 1)), draw(st.integers(2, 12)), draw(st.integers(2, 5))
    nested, n_earlier = draw(st.booleans()), draw(st.integers(1, 2))
    for one in range(tries):
        areas, plan, earlier = plans_of(np.random.default_rng((seed, one)), n, k, nested, n_earlier)
        if one < tries - 1 and examine(publish(plan, areas), earlier).n_counts:
            break
    return areas, plan, earlier


def plans_of(rng, n, k, nested, n_earlier):
    """Some people of n areas in releases that know nothing of each other: (areas, plan, earlier releases)."""
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 100, (n, 2)).astype(float), np.ones(n))
    profile = profile_of(rng.integers(0, 9, (n, 3)) * (rng.random((n, 3)) < 0.8))

    def one(nested):
        if nested:
            return nest(areas, profile, random_levels(areas, rng, 3, left_out=False), k)
        return suppress(profile, number_compactly(rng.integers(0, max(2, n // 2), n))[0], k)

    earlier = [publish(one(rng.random() < 0.3), areas, f"r{i}") for i in range(n_earlier)]
    return areas, one(nested), earlier


def test_a_count_of_classes_that_share_no_sum_is_mended():
    """Who has a job, of all ages: where nobody is shown without the age, ages share no sum."""
    people: list[tuple[str, str, str | None]] = [("c", "30", None)] * 2
    people += [("c", age, None) for age in ("0", "10", "10")]
    people += [("c", "20", None), ("c", "10", "j"), ("d", "10", "j"), *[("d", age, "j") for age in ("20", "30") * 2]]
    areas = make_areas(list("abcd"), np.arange(8.0).reshape(4, 2))
    home, age, job = (column_from_values(column) for column in zip(*people))
    published: list[Published] = []
    for fields, region_of, k in (
        ({"job": job}, [2, 3, 1, 0], 5),
        ({"age": age, "job": job}, [0, 0, 1, 1], 5),
        ({"age": age}, [0, 0, 1, 1], 6),
        ({"job": job}, [1, 2, 0, 0], 5),
    ):
        records = match_records(RecordTable(home, fields, {}), areas)
        levels = Levels((Crosswalk(np.array(region_of), max(region_of) + 1),))
        account = anonymise(areas, records, levels, Ask(k, earlier=Earlier(published, action=REPAIR)))
        assert account.published is not None
        published = [*published, account.published]
    assert examine(published[-1], published[:-1]).n_counts == 0


@given(two_plans())
@settings(max_examples=tried(10, 35), deadline=None)
def test_nothing_is_given_away_after_a_repair(case):
    areas, plan, earlier = case
    done = repair(plan, areas, earlier)
    assert examine(done.published, earlier).n_counts == done.after.n_counts == 0
    assert done.before.n_counts or done.plan is plan
    assert done.n_suppressed == plan.n_released - done.plan.n_released >= 0
    assert (done.plan.records[done.plan.released] >= plan.k).all()
    if plan.level_of is None:
        assert not (done.plan.released & ~plan.released).any() and not done.n_coarser
    else:
        kept = done.plan.equivalence_class_of != SUPPRESSED
        assert done.plan.level_of is not None
        assert (done.plan.level_of[kept] >= plan.level_of[kept]).all()
        # A class is shown in a coarsest region with all its records, or not at all.
        assert publish(done.plan, areas).whole


@given(two_plans(), st.integers(0, 2**32 - 1))
@settings(max_examples=tried(10, 30), deadline=None)
def test_what_is_asked_of_equivalence_classes_holds_after_a_repair(case, seed):
    """Distinct values and persons, and the largest share of a value; of one level and of several."""
    areas, plain, earlier = case
    rng = np.random.default_rng(seed)
    profile = plain.profile
    rows = np.repeat(np.arange(profile.counts.nnz), profile.counts.data)
    if not len(rows):
        return
    codes = rng.choice(3, len(rows), p=rng.dirichlet(np.ones(3)))
    person = rng.integers(0, rng.choice([10, 30]), len(rows))
    shares = shares_of("ill", rows, codes, None, {"persons": person})
    persons = members_of("persons", rows, person)
    requirement = Requirement(plain.k, (persons,), (shares,), int(rng.integers(1, 3)), float(rng.choice([70.0, 100.0])))
    sensitive = [KeptValues(shares, np.array(["a", "b", "c"], dtype=object))]
    if plain.level_of is None:
        plan = suppress(profile, plain.crosswalk, plain.k, requirement)
    else:
        plan = nest(areas, profile, plain.levels, plain.k, requirement=requirement)
    done = repair(plan, areas, earlier, sensitive=sensitive, homogeneous=True, requirement=requirement)
    assert examine(done.published, earlier, homogeneous=True).n_counts == done.after.n_counts == 0
    cells = np.flatnonzero(done.plan.equivalence_class_of != SUPPRESSED)
    holds = requirement.holds(cells, done.plan.equivalence_class_of[cells], len(done.plan.records))
    assert holds[np.unique(done.plan.equivalence_class_of[cells])].all()
    behind: dict = {}
    for cell, who, value in zip(rows.tolist(), person.tolist(), codes.tolist()):
        behind.setdefault(int(done.plan.equivalence_class_of[cell]), {}).setdefault(value, set()).add(who)
    for equivalence_class, holders in behind.items():
        if equivalence_class != SUPPRESSED:
            everybody = set().union(*holders.values())
            assert len(everybody) == done.plan.sizes[equivalence_class] >= plain.k
            assert max(len(who) / len(everybody) for who in holders.values()) <= requirement.max_share / 100 + 1e-9
            assert requirement.l_diversity == 1 or everybody not in holders.values()


def test_what_is_taken_out_joins_the_coarsest_level_and_is_suppressed_where_it_is_there_already():
    """k = 3. Of two areas joined: 4 are shown in each; of a second class 4 in one area, and 3 for both."""
    areas = make_areas(["a", "b"], [(0, 0), (9, 0)])
    levels = make_levels(areas, [own_regions(2), Crosswalk(np.zeros(2, np.int64), 1)])
    people = [[4, 4, 1], [4, 3, 2]]
    plan = plan_by_levels(profile_of(np.array(people)), levels, 3, np.array([0, 0, 1, 0, 1, 1], np.int8))

    def shown(some):
        plan_without = without(plan, some)
        assert plan_without.level_of is not None
        return plan_without.level_of.tolist(), sorted(plan_without.records[plan_without.released].tolist())

    level, one = plan.level, plan.class_of
    assert shown((level == 0) & (one == 0)) == ([1, 0, 1, 1, 1, 1], [3, 3, 4, 8])
    assert shown((level == 1) & (one == 2)) == ([0, 0, -1, 0, 1, -1], [3, 4, 4, 4])
    assert shown((level == 1) & (one == 1)) == ([0, 1, 1, 0, 1, 1], [3, 4, 4, 7])


def test_in_the_end_a_repair_looks_at_classes_that_only_programs_find():
    """The first round takes away what shows other classes, which propagation finds; then these alone were looked at."""
    places = np.array([(57, 6), (92, 33), (79, 95), (32, 48), (42, 38), (65, 3), (11, 95)])
    areas = make_areas([f"a{i}" for i in range(7)], places)
    coarser = (Crosswalk(np.array(region_of), max(region_of) + 1) for region_of in ([0, 0, 0, 1, 2, 2, 2], [0] * 7))
    counts = np.zeros((7, 3), np.int64)
    counts[:, 1], counts[:, 2] = [4, 1, 3, 5, 0, 8, 6], [6, 3, 8, 2, 6, 3, 1]
    counts[0, 0], counts[2, 0] = 5, 1
    categories = (np.array(["x", "y", "z"], dtype=object),)
    profile = Profile(sparse.csr_matrix(counts), np.arange(3)[:, None], categories, ("q",))
    nested = nest(areas, profile, make_levels(areas, [own_regions(7), *coarser]), 2)
    plan = suppress(profile, Crosswalk(np.array([1, 1, 0, 1, 0, 1, 0]), 2), 2)
    done = repair(plan, areas, [publish(nested, areas)])
    assert done.before.n_counts > 0
    assert examine(done.published, [publish(nested, areas)]).n_counts == done.after.n_counts == 0


@pytest.mark.parametrize("seed", [101, 305, 337])
def test_a_repair_without_proofs_ends_with_a_look_at_all_classes(monkeypatch, seed):
    """As of releases too large for proofs: what propagation finds is taken away, then looked at by itself."""
    monkeypatch.setattr(cheapest, "MOST_UNKNOWNS", 0)
    rng = np.random.default_rng(seed)
    areas, plan, earlier = plans_of(rng, int(rng.integers(4, 9)), int(rng.integers(2, 5)), False, 2)
    done = repair(plan, areas, earlier)
    assert done.before.n_counts > 0
    assert examine(done.published, earlier).n_counts == done.after.n_counts == 0


@pytest.mark.parametrize("with_values", [False, True])
def test_what_is_not_decided_is_mended(monkeypatch, with_values):
    """No program may be asked: what propagation leaves open and no table rules out is taken to be given away.

    with_values : sensitive values are released too
    """
    monkeypatch.setattr(programs, "MOST_UNKNOWNS", 0)
    undecided = 0
    for seed in range(tried(3, 6)):
        rng = np.random.default_rng(seed)
        areas, plan, earlier = plans_of(rng, 10, 4, bool(seed % 2), 1)
        rows = np.repeat(np.arange(plan.profile.counts.nnz), plan.profile.counts.data)
        shares = shares_of("ill", rows, rng.integers(0, 3, len(rows)), None)
        sensitive = [KeptValues(shares, np.array(["a", "b", "c"], dtype=object))] if with_values else []
        before = examine(publish(plan, areas, sensitive=sensitive), earlier)
        assert len(before.undecided) == before.n_undecided
        done = repair(plan, areas, earlier, sensitive=sensitive)
        assert done.after.n_to_mend == examine(done.published, earlier).n_to_mend == 0
        undecided += before.n_undecided
    assert undecided > tried(5, 10)


@pytest.mark.parametrize("limit", ["MOST_UNKNOWNS", "MOST_MEMBERS"])
def test_a_release_stops_or_is_mended_where_counts_are_not_decided(monkeypatch, limit):
    monkeypatch.setattr(*(programs, limit, 0) if limit == "MOST_UNKNOWNS" else (asked, limit, 0))
    for seed in range(200):
        areas, plan, earlier = plans_of(np.random.default_rng(seed), 6, 3, False, 1)
        released = publish(plan, areas)
        found = examine(released, earlier)
        if found.n_undecided and not found.n_counts:
            break
    assert found.undecided and not found.n_counts
    quasi = {"q": Column(np.zeros(1, np.int64), np.array(["c0"], dtype=object))}
    table = RecordTable(Column(np.zeros(1, np.int64), areas.identifiers), quasi, {})
    with pytest.raises(PrivacyError, match="hard to decide"):
        held_against_earlier(plan, areas, table, (), Requirement(plan.k), Earlier(earlier), lambda plan: plan)
    mended = repair(plan, areas, earlier)
    assert not mended.published.bounded
    assert mended.after.n_to_mend == examine(mended.published, earlier).n_to_mend == 0


@pytest.mark.parametrize("nested", [False, True])
def test_a_repair_that_ends_too_early_says_what_its_release_gives_away_and_is_refused(monkeypatch, nested):
    monkeypatch.setattr(repairing, "MOST_ROUNDS", 1)
    monkeypatch.setattr(cheapest, "MOST_UNKNOWNS", 0)  # no proofs: one round is not enough
    areas, plan, earlier = plans_of(np.random.default_rng(3), 8, 3, nested, 2)
    done = repair(plan, areas, earlier)
    assert done.n_suppressed or done.n_coarser
    assert done.after.n_to_mend == examine(done.published, earlier).n_to_mend > 0
    quasi = {"q": Column(np.zeros(1, np.int64), np.array(["c0"], dtype=object))}
    table = RecordTable(Column(np.zeros(1, np.int64), areas.identifiers), quasi, {})
    ask = Earlier(earlier, action=REPAIR)
    with pytest.raises(PrivacyError, match=r"would give away.*came to no end") as refused:
        held_against_earlier(plan, areas, table, (), Requirement(plan.k), ask, lambda plan: plan)
    assert "REGISTER_ACTION" not in str(refused.value)  # it is set already


def test_what_else_must_hold_holds_after_a_repair():
    """What a repair suppresses may be told by totals, which then need more to be suppressed."""
    rng = np.random.default_rng(0)
    repaired = 0
    for _ in range(tried(5, 12)):
        areas = make_areas([f"a{i}" for i in range(8)], rng.random((8, 2)), np.ones(8))
        counts = rng.poisson(2.0, (8, 6))
        profile = replace(
            profile_of(counts),
            classes=np.array([[i // 3, i % 3] for i in range(6)]),
            categories=(np.array(["x", "y"], dtype=object), np.array(list("abc"), dtype=object)),
            quasi_identifiers=("p", "q"),
        )
        old = publish(suppress(profile, number_compactly(rng.integers(0, 3, 8))[0], 5), areas)

        def also(plan):
            return hold_against_margins(plan, [("p",)])[0]

        plan = also(suppress(profile, number_compactly(rng.integers(0, 3, 8))[0], 5))
        plainly, done = (repair(plan, areas, [old], also=what) for what in (None, also))
        assert done.after.n_counts == 0 and also(done.plan).n_released == done.plan.n_released
        assert examine(done.published, [old]).n_counts == 0
        repaired += also(plainly.plan).n_released < plainly.plan.n_released
    assert repaired  # it was needed


@given(two_plans(tries=1), st.integers(0, 2**32 - 1))
@settings(max_examples=tried(30, 80), deadline=None)
def test_updates_change_by_nobody_or_by_k(case, seed):
    areas, plan, _ = case
    rng = np.random.default_rng(seed)
    counts = plan.profile.counts.toarray()
    added = counts + (rng.random(counts.shape) < 0.3) * rng.integers(0, 9, counts.shape)
    old = publish(plan, areas, "old")
    levels = plan.levels
    profile = profile_of(added)
    if plan.level_of is None:
        new = suppress(profile, levels.crosswalks[0], plan.k)
    else:
        new = nest(areas, profile, levels, plan.k)
    changes = changes_of(old, publish(new, areas))
    if plan.level_of is None:
        before, after = (levels.crosswalks[0].membership() @ one for one in (counts, added))
        change = np.abs(after - before)
        expected = int(((before >= plan.k) & (after >= plan.k) & (change >= 1) & (change < plan.k)).sum())
        assert len(changes) == expected
    done = repair(new, areas, [old])
    assert len(changes_of(old, done.published)) == 0
    assert done.after.n_counts == 0


def changes_of(old: Published, new: Published) -> Changes:
    """The visible changes between two releases by the same regions."""
    compared = Comparing().compare(old, new, new.k)
    assert compared is not None
    return compared.few


def test_one_more_patient_is_seen_and_held_back():
    rng = np.random.default_rng(0)
    areas = make_areas([f"a{i}" for i in range(40)], rng.random((40, 2)), np.ones(40))
    crosswalk = number_compactly(np.arange(40) // 5)[0]
    counts = rng.poisson(3.0, (40, 12))
    old = publish(suppress(profile_of(counts), crosswalk, 5), areas)
    seen = 0
    for trial in range(200):
        more = counts.copy()
        more[rng.integers(40), rng.integers(12)] += 1
        plan = suppress(profile_of(more), crosswalk, 5)
        changes = changes_of(old, publish(plan, areas))
        seen += len(changes) == 1 and changes.after[0] - changes.before[0] == 1
        if trial < 10:
            done = repair(plan, areas, [old])
            assert len(changes_of(old, done.published)) == 0 and done.after.n_counts == 0
    assert seen >= 195


def test_regions_are_the_same_whatever_they_are_called():
    areas = make_areas(["a", "b", "c"], np.zeros((3, 2)) + np.arange(3)[:, None], np.ones(3))
    counts = np.array([[7], [8], [9]])
    first = suppress(profile_of(counts), number_compactly(np.array([0, 0, 1]))[0], 5)
    other = suppress(profile_of(np.add(counts, [[1], [0], [0]])), number_compactly(np.array([1, 1, 0]))[0], 5)
    renamed = replace(publish(other, areas), title="other")
    changes = changes_of(publish(first, areas), renamed)
    assert changes.before.tolist() == [15] and changes.after.tolist() == [16]
    apart = suppress(profile_of(counts), number_compactly(np.array([0, 1, 1]))[0], 5)
    assert Comparing().compare(publish(first, areas), publish(apart, areas), 5) is None


def test_the_cost_is_close_to_the_least_there_is():
    """Against every choice of equivalence classes, over small cases of one class."""
    ours = least = 0
    for seed in range(tried(20, 80)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        areas = make_areas([f"a{i}" for i in range(n)], rng.random((n, 2)), np.ones(n))
        profile = profile_of(rng.integers(0, 9, (n, 1)))
        old, plan = (suppress(profile, number_compactly(rng.integers(0, max(2, n // 2), n))[0], 5) for _ in range(2))
        earlier = [publish(old, areas)]
        done, examiner = repair(plan, areas, earlier), Examiner(earlier)
        if not done.before.n_counts:
            continue
        best, equivalence_classes = plan.n_released, np.flatnonzero(plan.released)
        for chosen in product((False, True), repeat=len(equivalence_classes)):
            out = equivalence_classes[np.array(chosen, bool)]
            released = plan.released & ~np.isin(np.arange(len(plan.released)), out)
            published = replace(publish(replace(plan, released=released), areas), bounded=False, held_back=None)
            if plan.records[out].sum() < best and not examiner.examine(published).n_counts:
                best = int(plan.records[out].sum())
        ours, least = ours + done.n_suppressed, least + best
    assert least <= ours <= 1.15 * least
