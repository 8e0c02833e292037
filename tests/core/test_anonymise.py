"""The recipe of a release: everything that protects is in it, whoever calls it, and it is the plain steps in order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import HELD, PLANNED_FIRST, Ask, anonymise, rate
from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.errors import InputError, PrivacyError
from vbas.core.evaluation import evaluate
from vbas.core.generalising.hierarchies import make_hierarchy
from vbas.core.levels import Levels, make_levels, own_regions, with_coarser_values
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.margins import hold_against_margins
from vbas.core.publish.register.published_releases import add_release, earlier_releases, read_register
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.releases.earlier import REPAIR
from vbas.core.releases.examining import examine

from ..exploring import tried
from .strategies import column_from_array

N, K = 16, 4
NOWHERE = Path("no such register")
BLOCKS = number_compactly(np.arange(N) // 4)[0]
OTHER_BLOCKS = number_compactly((np.arange(N) + 2) // 4)[0]
WHOLE = number_compactly(np.zeros(N, np.int64))[0]


def places(population=None):
    return make_areas([f"a{i}" for i in range(N)], np.column_stack([np.arange(N) * 1000.0, np.zeros(N)]), population)


def people(seed, n=300):
    """Records of three ages and two sexes, some of them rare, matched with the places."""
    rng = np.random.default_rng(seed)
    ages, sexes = np.array(["child", "adult", "old"]), np.array(["f", "m"])
    quasi = {
        "age": column_from_array(ages[rng.choice(3, n, p=[0.15, 0.75, 0.1])]),
        "sex": column_from_array(sexes[rng.choice(2, n)]),
    }
    homes = column_from_array(np.array([f"a{i}" for i in rng.integers(0, N, n)]))
    return match_records(RecordTable(homes, quasi, {}), places(), k=K)


def one_level():
    return Levels((BLOCKS,))


def nested_levels():
    return make_levels(places(), [own_regions(N), BLOCKS, WHOLE])


def same_rows(release, other):
    assert (release.level == other.level).all() and (release.region == other.region).all()
    assert (release.counts == other.counts).all()
    for name in other.fields:
        assert (release.fields[name].categories == other.fields[name].categories).all()
        assert (release.fields[name].codes == other.fields[name].codes).all()


@pytest.mark.slow
@settings(deadline=None, max_examples=tried(10, 30))
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_it_is_the_steps_in_their_order(seed, nested):
    records = people(seed)
    areas = places().with_population(records.profile.area_sizes)
    levels = nested_levels() if nested else one_level()
    done = anonymise(areas, records, levels, Ask(K))
    plan = nest(areas, records.profile, levels, K) if nested else suppress(records.profile, BLOCKS, K)
    same_rows(done.release, apply(plan, records))
    wanted = evaluate(areas, plan) if nested else evaluate(areas, plan, BLOCKS.mean_centres(areas.points))
    assert done.measures == wanted[0] == rate(areas, records, levels, Ask(K)).measures
    assert done.smallest is None or done.smallest >= K
    assert done.nested == nested and rate(areas, records, levels, Ask(K)).rows is None


@pytest.mark.slow
@settings(deadline=None, max_examples=tried(10, 30))
@given(st.integers(0, 2**32 - 1))
def test_published_totals_are_looked_at(seed):
    records = people(seed)
    done = anonymise(places(), records, one_level(), Ask(K, published_margins="age"))
    held, cost = hold_against_margins(suppress(records.profile, BLOCKS, K), [("age",)])
    same_rows(done.release, apply(held, records))
    assert rate(places(), records, one_level(), Ask(K)).measures.n_suppressed + cost == done.measures.n_suppressed


@pytest.mark.slow
def test_published_totals_cost_something_somewhere():
    costs = [
        anonymise(places(), people(seed), one_level(), Ask(K, published_margins="age")).measures.n_suppressed
        - rate(places(), people(seed), one_level(), Ask(K)).measures.n_suppressed
        for seed in range(20)
    ]
    assert max(costs) > 0


def published(account):
    assert account.published is not None
    return account.published


def releases_that_tell():
    """Seeds whose release by one crosswalk and by another tell a small count together."""
    for seed in range(100):
        records = people(seed)
        first = anonymise(places(), records, one_level(), Ask(K, earlier=earlier_releases(NOWHERE)))
        second = anonymise(places(), records, Levels((OTHER_BLOCKS,)), Ask(K, earlier=earlier_releases(NOWHERE)))
        if examine(published(second), [published(first)]).n_counts:
            yield records


@pytest.mark.slow
def test_a_register_stops_and_repairs(tmp_path):
    for number, records in zip(range(tried(2, 5)), releases_that_tell()):
        register = tmp_path / f"{number}.gpkg"
        first = anonymise(places(), records, one_level(), Ask(K, earlier=earlier_releases(register)))
        assert "new register" in first.notes[0]
        add_release(register, first)
        other = Levels((OTHER_BLOCKS,))
        with pytest.raises(PrivacyError, match="REGISTER"):
            anonymise(places(), records, other, Ask(K, earlier=earlier_releases(register)))
        mended = anonymise(places(), records, other, Ask(K, earlier=earlier_releases(register, REPAIR)))
        assert not examine(published(mended), read_register(register)).n_counts
        assert mended.measures.n_suppressed > rate(places(), records, other, Ask(K)).measures.n_suppressed
        add_release(register, mended)
        assert len(read_register(register)) == 2


@pytest.mark.parametrize("published_margins", ["", "age"])
def test_what_is_published_already_is_checked_as_long_as_nobody_cancels(tmp_path, published_margins):
    """The check takes long where there is much of it: it asks whether to go on, too."""
    register = tmp_path / "register.gpkg"
    if not published_margins:
        add_release(register, anonymise(places(), people(0), one_level(), Ask(K, earlier=earlier_releases(register))))
    earlier = None if published_margins else earlier_releases(register, REPAIR)
    ask = Ask(K, published_margins=published_margins, earlier=earlier)
    plain, checked = (fractions_of(asked) for asked in (Ask(K), ask))
    assert checked == sorted(checked) and len(checked) > len(plain)
    if published_margins:
        assert len({fraction for fraction in checked if PLANNED_FIRST < fraction < HELD}) >= 3


def fractions_of(ask):
    fractions: list[float] = []
    anonymise(places(), people(0), Levels((OTHER_BLOCKS,)), ask, progress=fractions.append)
    return fractions


@pytest.mark.slow
def test_what_is_repaired_is_held_against_published_totals_again(tmp_path):
    """Whatever a repair suppresses, the totals must tell nothing of what is left."""
    for number, records in zip(range(5), releases_that_tell()):
        register = tmp_path / f"{number}.gpkg"
        add_release(register, anonymise(places(), records, one_level(), Ask(K, earlier=earlier_releases(register))))
        ask = Ask(K, published_margins="age", earlier=earlier_releases(register, REPAIR))
        done = anonymise(places(), records, Levels((OTHER_BLOCKS,)), ask)
        assert hold_against_margins(done.plan, [("age",)])[1] == 0


def test_small_regions_are_refused():
    areas, records = places(np.arange(1.0, N + 1)), people(0)
    smallest = BLOCKS.totals(areas.population).min()
    anonymise(areas, records, one_level(), Ask(K, least_population=smallest))
    with pytest.raises(PrivacyError, match="least population"):
        anonymise(areas, records, one_level(), Ask(K, least_population=smallest + 1))


AGES = {"age": make_hierarchy("age", np.array(["adult", "child", "old"], object), [["20+", "below 20", "20+"]])}


def coarser_levels():
    return with_coarser_values(nested_levels(), [("age", 1)])


def test_coarser_levels_go_with_totals_and_not_with_a_register(tmp_path):
    records, ask = people(3), Ask(K, hierarchies=AGES)
    with pytest.raises(InputError, match="REGISTER do not go together"):
        with_register = replace(ask, earlier=earlier_releases(tmp_path / "r.gpkg"))
        anonymise(places(), records, coarser_levels(), with_register)
    account = anonymise(places(), records, coarser_levels(), replace(ask, published_margins="age"))
    assert account.smallest is None or account.smallest >= K
    assert account.notes


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_coarser_levels_suppress_no_more(seed):
    records = people(seed, 60)
    areas = places().with_population(records.profile.area_sizes)
    plain = anonymise(areas, records, nested_levels(), Ask(K))
    coarser = anonymise(areas, records, coarser_levels(), Ask(K, hierarchies=AGES))
    assert coarser.measures.n_suppressed <= plain.measures.n_suppressed
    assert coarser.smallest is None or coarser.smallest >= K
    assert coarser.plan.values_in_words == ("as on level 1",) * 3 + ("age at level 1",)
    assert (coarser.plan.by_value.profile is not coarser.plan.profile) and plain.plan.by_value is plain.plan


def test_a_rating_shows_what_a_release_would_at_coarser_levels_too():
    areas, records, ask = places(), people(3, 60), Ask(K, hierarchies=AGES)
    rated, released = (what(areas, records, coarser_levels(), ask) for what in (rate, anonymise))
    assert rated.measures == released.measures and rated.rows is None
    assert rated.levels.coarser and rated.plan.values_in_words == released.plan.values_in_words
    assert rated.measures != rate(areas, records, nested_levels(), Ask(K)).measures


def test_the_log_hears_of_published_totals_and_of_nothing_else():
    said: list[str] = []

    class Listener:
        def info(self, *sentences):
            said.extend(sentences)

        warn = info

    anonymise(places(), people(1), one_level(), Ask(K), log=Listener())
    assert not said
    anonymise(places(), people(1), one_level(), Ask(K, published_margins="age"), log=Listener())
    assert len(said) == 1 and "published totals" in said[0]


def test_a_release_that_was_held_against_no_register_is_not_added(tmp_path):
    done = anonymise(places(), people(0), one_level(), Ask(K))
    with pytest.raises(InputError, match="against no register"):
        add_release(tmp_path / "r.gpkg", done)
    assert not list(tmp_path.iterdir())
