"""Releases at different levels of a quasi-identifier: what they tell together, against the people as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import publish
from vbas.core.errors import InputError
from vbas.core.generalising import generalise_profile, hierarchy_rule, hierarchy_tables
from vbas.core.plan import suppress
from vbas.core.releases.examining import examine, examine_all
from vbas.core.releases.relating import Relating, with_levels
from vbas.core.releases.repair import repair

from ..exploring import tried
from .release_cases import only_seen_values, profile_over, true_table

AGES = ("15-19", "20-24", "25-29", "30-34")
TEN = {"15-19": "15-24", "20-24": "15-24", "25-29": "25-34", "30-34": "25-34"}
TABLE = hierarchy_tables(["age"] * 4, AGES, [[TEN[age] for age in AGES], ["*"] * 4])
CLASSES = [(age, sex) for age in AGES for sex in "FM"]
NAMES = ("age", "sex")


def people(counts):
    """The profile of people by age and sex, counts (n, 8)."""
    return profile_over(np.asarray(counts), CLASSES, NAMES)


def areas_of(n):
    return make_areas([f"a{i}" for i in range(n)], np.arange(2.0 * n).reshape(n, 2), np.ones(n))


def release(profile, areas, region_of, level, k, title):
    hierarchy = TABLE["age"].hierarchy(profile.categories[0])
    own, _ = generalise_profile(profile, {"age": hierarchy}, (level, 0))
    plan = suppress(own, number_compactly(np.asarray(region_of))[0], k)
    return plan, publish(plan, areas, title, coarsened={"age": level} if level else {})


def test_an_age_that_the_coarser_count_tells_is_found():
    """15-19 is shown with 12 people, 15-24 with 14: two people are 20-24."""
    areas = areas_of(2)
    profile = people([[12, 0, 2, 0, 0, 0, 0, 0], [0] * 8])
    _, fine = release(profile, areas, [0, 0], 0, 5, "fine")
    _, coarse = release(profile, areas, [0, 0], 1, 5, "coarse")
    assert examine(coarse, [fine]).n_counts == 0  # by their texts alone they have nothing in common
    relate = Relating([fine, coarse], TABLE)
    findings = examine(relate(coarse), [relate(fine)])
    assert [(count.low, count.high) for count in findings.counts] == [(2, 2)]
    # In the other order too.
    assert [(count.low, count.high) for count in examine(relate(fine), [relate(coarse)]).counts] == [(2, 2)]


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 4))
    profile = people(rng.integers(0, 7, (n, 8)) * (rng.random((n, 8)) < 0.7))
    areas, k = areas_of(n), draw(st.integers(2, 4))
    levels = draw(st.lists(st.integers(0, 2), min_size=2, max_size=3))
    made = [release(profile, areas, rng.integers(0, n, n), level, k, f"r{i}") for i, level in enumerate(levels)]
    return areas, profile, made


@pytest.mark.slow
@given(cases())
@settings(max_examples=tried(20, 60), deadline=None)
def test_true_counts_lie_within_all_bounds(case):
    areas, profile, made = case
    releases = [one for _, one in made]
    relate = Relating(releases, TABLE)
    related = [relate(one) for one in releases]
    disclosed = find_disclosed(related, keep_bounds=True)
    known = [(age, TEN[age], "*", sex) for age, sex in CLASSES]
    every = profile_over(
        profile.counts.toarray()[:, _order(profile)], known, ("age", "age (level 1)", "age (level 2)", "sex")
    )
    table = true_table(disclosed.overlay, _with_single(every, disclosed.overlay), areas)
    assert not len(disclosed.contradicted)
    for joint, bounds in disclosed.bounds:
        if not only_seen_values(disclosed.overlay, table):
            continue
        assert (bounds.low <= table[:, joint]).all() and (table[:, joint] <= bounds.high).all()
    for count in disclosed.counts:
        assert 1 <= count.low <= count.high < disclosed.k


def _order(profile):
    """The columns of a profile in the order of CLASSES."""
    values = [tuple(one[code] for one, code in zip(profile.categories, row)) for row in profile.classes]
    return [values.index(one) for one in CLASSES]


def _with_single(every, over):
    """The people with the names that the overlay has: all releases at one level keep the plain name."""
    plain = {name for schema in over.schemas for name in schema.names}
    if "age" in plain and not any(name.startswith("age (") for name in plain):
        shown = {value for schema in over.schemas for row in schema.classes for value in row}
        at = 1 if shown & {"15-24", "25-34"} else 2 if "*" in shown else 0
        names = list(every.quasi_identifiers)
        names[0], names[at] = names[at], "age"
        return replace(every, quasi_identifiers=tuple(names))
    return every


@pytest.mark.slow
@given(cases())
@settings(max_examples=tried(10, 30), deadline=None)
def test_a_repaired_release_gives_nothing_away_at_any_level(case):
    areas, _, made = case
    releases = [one for _, one in made]
    relate = Relating(releases, TABLE)
    plan, published = made[-1]
    earlier = [relate(one) for one in releases[:-1]]
    done = repair(plan, areas, earlier, relate=relate, coarsened=published.coarsened)
    assert done.after.n_counts == 0
    assert done.published.quasi_identifiers == NAMES
    again = relate(replace(done.published, coarsened=published.coarsened))
    assert examine(again, earlier).n_counts == 0


def test_releases_of_the_same_level_are_left_as_they_are():
    areas = areas_of(2)
    made = [release(people([[9] * 8, [9] * 8]), areas, [0, i], 1, 5, f"r{i}")[1] for i in (0, 1)]
    relate = Relating(made, {})
    assert relate(made[0]).quasi_identifiers == NAMES
    assert relate(made[0]).categories[0].tolist() == ["15-24", "25-34"]


def test_levels_that_nothing_relates_are_refused():
    areas = areas_of(2)
    profile = people([[9] * 8, [0] * 8])
    made = [release(profile, areas, [0, 0], level, 5, f"release {level + 1}")[1] for level in (0, 1)]
    with pytest.raises(InputError, match=r"show “age” at different levels .release 1: 0, release 2: 1.: give HIER"):
        Relating(made, {})
    with pytest.raises(InputError, match="depends on how many records"):
        Relating(made, {"age": hierarchy_rule("age", "other below 9")})
    other = hierarchy_tables(["age"] * 4, AGES, [["a", "a", "b", "b"]])
    with pytest.raises(InputError, match=r"“age” at level 1, with values that .* do not have .“15-24”, “25-34”"):
        Relating(made, other)


def test_a_rule_relates_its_own_groups():
    areas = areas_of(2)
    profile = people([[9] * 8, [0] * 8])
    fine = publish(suppress(profile, number_compactly(np.array([0, 0]))[0], 5), areas, "fine")
    rule = hierarchy_rule("age", "bands 5 10 *")
    hierarchy = rule.hierarchy(profile.categories[0], np.ones(4))
    coarse, _ = generalise_profile(profile, {"age": hierarchy}, (2, 0))
    published = publish(
        suppress(coarse, number_compactly(np.array([0, 0]))[0], 5), areas, "coarse", coarsened={"age": 2}
    )
    relate = Relating([fine, published], {"age": rule}, {"age": [17, None]})
    assert relate(fine).quasi_identifiers == ("age", "age (level 2)", "sex")
    values = dict(zip(relate(fine).categories[0].tolist(), relate(fine).categories[1].tolist()))
    assert relate(published).quasi_identifiers == ("age (level 2)", "sex")
    assert set(relate(fine).categories[1].tolist()) == {"10-19", "20-29", "30-39"}
    assert values["15-19"] == "10-19"


def test_the_levels_of_releases_that_do_not_tell_them():
    areas = areas_of(2)
    profile = people([[9] * 8, [0] * 8])
    for level in (0, 1, 2):
        published = replace(release(profile, areas, [0, 0], level, 5, "r")[1], coarsened={})
        assert with_levels(published, TABLE).coarsened == ({"age": level} if level else {})


def test_all_releases_held_against_each_other_at_once():
    areas = areas_of(2)
    profile = people([[12, 0, 2, 0, 0, 0, 0, 0], [0] * 8])
    made = [release(profile, areas, [0, 0], level, 5, f"r{level}")[1] for level in (0, 1, 2)]
    relate = Relating(made, TABLE)
    assert examine_all([relate(one) for one in made]).n_persons >= 2


def test_a_rule_relates_coarser_groups_without_the_values_in_them():
    areas = areas_of(2)
    profile = people([[9] * 8, [9] * 8])
    rule = hierarchy_rule("age", "bands 5 10 20")
    hierarchy = rule.hierarchy(profile.categories[0], np.ones(4))
    one_region = number_compactly(np.array([0, 0]))[0]
    made = []
    for level in (2, 3):
        own, _ = generalise_profile(profile, {"age": hierarchy}, (level, 0))
        made.append(publish(suppress(own, one_region, 5), areas, f"r{level}", coarsened={"age": level}))
    relate = Relating(made, {"age": rule})
    assert relate(made[0]).quasi_identifiers == ("age (level 2)", "age (level 3)", "sex")
    pairs = {row[:2] for row in relate(made[0]).values_of_classes()}
    assert pairs == {("10-19", "0-19"), ("20-29", "20-39"), ("30-39", "20-39")}


@pytest.mark.parametrize("words", ["bands 20 40", "bands 10", "bands 10 20", "leading characters 2 1"])
def test_another_rule_than_it_was_made_with_is_refused(words):
    areas = areas_of(2)
    profile = people([[9] * 8, [9] * 8])
    hierarchy = hierarchy_rule("age", "bands 5 10 20").hierarchy(profile.categories[0], np.ones(4))
    own, _ = generalise_profile(profile, {"age": hierarchy}, (2, 0))
    one_region = number_compactly(np.array([0, 0]))[0]
    old = publish(suppress(own, one_region, 5), areas, "old", coarsened={"age": 2})
    new = publish(suppress(profile, one_region, 5), areas, "new")
    Relating([old, new], {"age": hierarchy_rule("age", "bands 5 10 20 40")})
    with pytest.raises(InputError, match=r"Old shows “age” at level 2, with values that|cut through groups"):
        Relating([old, new], {"age": hierarchy_rule("age", words)})
