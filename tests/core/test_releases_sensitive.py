"""What sensitive values add to what several releases give away: worked examples, truth, and brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure import sensitive
from vbas.core.disclosure.counts import CELL, DISCLOSED_BY_VALUES, HOMOGENEOUS, REST
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.values import KeptValues
from vbas.core.errors import Cancelled
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.diversity import Shares
from vbas.core.releases.examining import examine

from ..exploring import tried
from .nested_cases import random_levels
from .release_cases import coarser, only_seen_values, profile_over, true_table

pytestmark = pytest.mark.slow

ILLS = np.array(["cold", "flu", "HIV"], dtype=object)
NAMES = ("p", "q")


def kept_values(profile, people):
    """The field “ill” of people (n, C, V), by the cells of their profile."""
    area = np.repeat(np.arange(profile.counts.shape[0]), np.diff(profile.counts.indptr))
    cell, value = np.nonzero(people[area, profile.counts.indices])
    records = people[area, profile.counts.indices][cell, value]
    return KeptValues(Shares("ill", cell, value, records), ILLS)


def numbered(*region_of):
    return number_compactly(np.array(region_of))[0]


def areas_of(n):
    return make_areas([f"a{i}" for i in range(n)], np.arange(2.0 * n).reshape(n, 2) ** 1.5, np.ones(n))


def release(people, region_of, k=5, classes=(("x", "y"),), field=True):
    """One level of regions of people (n, C, V)."""
    profile = profile_over(people.sum(axis=2), list(classes), NAMES)
    plan = suppress(profile, numbered(*region_of), k)
    return publish(plan, areas_of(len(people)), sensitive=[kept_values(profile, people)] if field else [])


def test_the_value_of_the_one_who_is_missing():
    people = np.array([[[5, 1, 0]], [[0, 0, 1]]])
    disclosed = find_disclosed([release(people, [0, 0]), release(people, [0, 1])])
    (count,) = [one for one in disclosed.counts if one.kind == CELL]
    assert (count.low, count.high, count.values) == (1, 1, (("ill", "HIV", 1),))
    without = find_disclosed([release(people, [0, 0], field=False), release(people, [0, 1], field=False)])
    assert [one.values for one in without.counts] == [()]
    one_shows = find_disclosed([release(people, [0, 0]), release(people, [0, 1], field=False)])
    assert [one.values for one in one_shows.counts] == [()]


def test_it_is_cancelled_while_values_are_looked_for(monkeypatch):
    """Of two releases of a city there are tens of thousands of counts, which took an hour that nobody could end."""
    monkeypatch.setattr(sensitive, "AT_ONCE", 1)
    people = np.array([[[5, 1, 0]], [[0, 0, 1]]])
    done: list[float] = []
    find_disclosed([release(people, [0, 0]), release(people, [0, 1])], progress=done.append)
    told = len(find_disclosed([release(people, [0, 0]), release(people, [0, 1])]).counts)
    assert done == sorted(done) and done[-1] == 1 and len(done) >= 2 + told

    def cancel(fraction):
        if fraction > 0.5:  # the counts are found, and their values are looked for
            raise Cancelled

    with pytest.raises(Cancelled):
        find_disclosed([release(people, [0, 0]), release(people, [0, 1])], progress=cancel)


def test_as_many_as_you_like_of_one_value():
    people = np.array([[[6, 2, 3]], [[0, 0, 7]]])
    disclosed = find_disclosed([release(people, [0, 0]), release(people, [0, -1])])
    (count,) = disclosed.counts
    assert (count.kind, count.low, count.values) == (HOMOGENEOUS, 7, (("ill", "HIV", 7),))
    # Where the second release shows these seven as a class of their own, it says so by itself.
    assert not find_disclosed([release(people, [0, 0]), release(people, [0, 1])]).counts


def test_what_two_classes_have_in_common():
    """Regions that overlap: who lives in both has a value that both show."""
    people = np.array([[[4, 0, 0]], [[0, 6, 0]], [[0, 0, 5]]])
    disclosed = find_disclosed([release(people, [0, 0, 1]), release(people, [0, 1, 1], k=4)], k=4)
    middle = [count for count in disclosed.counts if count.cells.tolist() == [1] and count.kind == HOMOGENEOUS]
    assert [one.values for one in middle] == [(("ill", "flu", 6),)]


def test_values_pin_what_counts_leave_open():
    people = np.array([[[4, 0, 0]], [[0, 4, 0]], [[0, 0, 6]], [[5, 0, 0]]])
    overlapping = [0, 0, -1, -1], [-1, 0, 0, -1], [0, -1, -1, 1]
    assert not find_disclosed([release(people, one, field=False) for one in overlapping]).counts
    findings = find_disclosed([release(people, one) for one in overlapping])
    over = findings.overlay
    disclosed = {
        (count.kind, over.areas[over.cell_of == count.cells[0]].item(), count.values) for count in findings.counts
    }
    cold, flu, hiv = ((("ill", one, n),) for one, n in (("cold", 4), ("flu", 4), ("HIV", 6)))
    assert disclosed == {(DISCLOSED_BY_VALUES, "a0", cold), (DISCLOSED_BY_VALUES, "a1", flu), (HOMOGENEOUS, "a2", hiv)}


def test_the_rest_of_a_class_after_one_more_quasi_identifier():
    people = np.array([[[5, 0, 1], [0, 1, 0]], [[2, 2, 2], [1, 0, 0]]])
    classes = [("x", "y"), ("x", "z")]
    fine = release(people, [0, 0], classes=classes)
    profile = coarser(profile_over(people.sum(axis=2), classes, NAMES), ("p",))
    plan = suppress(profile, numbered(0, 0), 5)
    wide = publish(plan, areas_of(2), sensitive=[kept_values(profile, people.sum(axis=1, keepdims=True))])
    (count,) = [one for one in find_disclosed([wide, fine]).counts if one.kind in (REST, CELL)]
    assert (count.low, count.values) == (2, (("ill", "cold", 1), ("ill", "flu", 1)))


def test_releases_that_show_no_class_with_its_values():
    """Two tables without a row, by another quasi-identifier than one that shows a class."""
    people = np.array([[[2, 2, 1]], [[0, 0, 0]], [[0, 0, 0]]])
    profile = coarser(profile_over(people.sum(axis=2), [("x", "y")], NAMES), ("p",))
    nobody = replace(profile, categories=(ILLS[:0],), classes=profile.classes[:0], counts=profile.counts[:, :0])
    values = KeptValues(Shares("ill", *np.empty((3, 0), np.int64)), ILLS[:0])
    by_other = coarser(profile_over(people.sum(axis=2), [("x", "y")], NAMES), ("q",))
    shown = publish(suppress(by_other, numbered(0, 0, 0), 5), areas_of(3), sensitive=[kept_values(by_other, people)])
    splits = (0, 0, 0), (0, 1, 2)
    empty = [publish(suppress(nobody, numbered(*to), 5), areas_of(3), sensitive=[values]) for to in splits]
    assert not find_disclosed([empty[0], shown, empty[1]]).counts


@st.composite
def people_and_releases(draw, most_areas=6, most_classes=3, most=5, nested=True):
    """(people (n, C, V), their releases, most of which show the field)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_values = int(rng.integers(2, most_areas + 1)), int(rng.integers(1, 4))
    n_classes = int(rng.integers(1, most_classes + 1))
    people = np.zeros((n, n_classes, 3), np.int64)
    shape = (n, n_classes, n_values)
    people[:, :, :n_values] = rng.integers(0, most, shape) * (rng.random(shape) < rng.choice([0.3, 0.7]))
    values = [("x" if i % 2 else "y", f"v{i}") for i in range(n_classes)]
    profile, areas, releases = profile_over(people.sum(axis=2), values, NAMES), areas_of(n), []
    k = draw(st.integers(2, 4))
    for _ in range(int(rng.integers(2, 4))):
        own, of = profile, people
        if rng.random() < 0.25:
            own = coarser(profile, ("p",))
            belongs = (own.categories[0][own.classes[:, 0]][:, None] == [value[0] for value in values]).astype(np.int64)
            of = np.einsum("dc,acv->adv", belongs, people)
        if nested and rng.random() < 0.4:
            plan = nest(areas, own, random_levels(areas, rng, 3, left_out=True), k)
        else:
            region_of = rng.integers(-1 if rng.random() < 0.3 else 0, max(2, n - 1), n)
            region_of[0] = max(region_of[0], 0)
            plan = suppress(own, number_compactly(region_of)[0], k)
        releases.append(publish(plan, areas, "r", [kept_values(own, of)] if rng.random() < 0.85 else []))
    return people, values, releases


def true_values(over, count, people, values):
    """The people of a count by value."""
    shown = np.zeros(3, np.int64)
    schema_rows = {tuple(over.entries[one]) for one in count.joint}
    for c, value in enumerate(values):
        person = dict(zip(NAMES, value))
        own = [tuple(person[name] for name in schema.names) for schema in over.schemas]
        entry = [schema.classes.index(one) if one in schema.classes else -1 for schema, one in zip(over.schemas, own)]
        if tuple(entry) in schema_rows:
            position = [over.areas.tolist().index(f"a{i}") for i in range(len(people))]
            inside = np.isin(over.cell_of[position], count.cells)
            shown += people[inside, c].sum(axis=0)
    return shown - taken_values(over, count)


def taken_values(over, count):
    """The people whom a count takes away, by value; of one value where their release does not show it."""
    taken = np.zeros(3, np.int64)
    (values,) = over.releases[count.releases[0]].sensitive or (None,)
    if values is not None:
        there = np.isin(values.equivalence_class, count.taken)
        at = [ILLS.tolist().index(one) for one in values.categories]
        np.add.at(taken, np.array(at, int)[values.value[there]], values.records[there])
    elif count.values:
        assert not count.less or len(count.values) == 1
        taken[ILLS.tolist().index(count.values[0][1])] = count.less
    return taken


@given(people_and_releases())
@settings(max_examples=tried(20, 60), deadline=None)
def test_whatever_is_told_is_true(case):
    people, values, releases = case
    findings = find_disclosed(releases)
    assert not len(findings.contradicted)
    counts = people.sum(axis=2)
    areas = areas_of(len(people))
    if not only_seen_values(findings.overlay, true_table(findings.overlay, profile_over(counts, values, NAMES), areas)):
        return  # all values that there are were taken for those that somebody shows
    for count in findings.counts:
        true = dict(zip(ILLS.tolist(), true_values(findings.overlay, count, people, values).tolist()))
        total = sum(true.values())
        if count.kind in (DISCLOSED_BY_VALUES, HOMOGENEOUS, CELL):
            assert 1 <= count.low <= total <= count.high
        assert (count.kind == HOMOGENEOUS) <= (len(count.values) == 1)
        if count.values:
            disclosed = {value for _, value, _ in count.values}
            assert all(true[value] >= least for _, value, least in count.values)
            assert all(number == 0 for value, number in true.items() if value not in disclosed)
        if len(count.values) > 1:
            assert {value: least for _, value, least in count.values} == {v: n for v, n in true.items() if n}


@given(people_and_releases(most_areas=3, most_classes=1, most=4, nested=False))
@settings(max_examples=tried(35, 100), deadline=None)
def test_brute_force_finds_no_more_cells_of_one_value(case):
    _, values, releases = case
    disclosed = find_disclosed(releases)
    over, shown = disclosed.overlay, ILLS.tolist()
    if len(values) != 1 or over.n_cells > 2 or len(over.entries) != 1:
        return
    tables = np.array(list(product(range(7), repeat=over.n_cells * 3))).reshape(-1, over.n_cells, 3)
    for family in over.sums(np.array([0])):
        for region in range(family.n_regions):
            inside = tables[:, family.region == region].sum(axis=1)
            if family.class_of[0] < 0:
                continue
            total = inside.sum(axis=1)
            tables = tables[(total >= family.low[region, 0]) & (total <= family.high[region, 0])]
            inside = tables[:, family.region == region].sum(axis=1)
            release = releases[family.release]
            equivalence_classes = np.flatnonzero(release.region == region)
            for one in release.sensitive:
                if len(equivalence_classes):
                    counts = [
                        one.records[
                            (one.equivalence_class == equivalence_classes[0]) & (one.categories[one.value] == v)
                        ]
                        for v in shown
                    ]
                    exact = [int(number.sum()) for number in counts]
                    tables = tables[(inside == exact).all(axis=1)]
                    inside = tables[:, family.region == region].sum(axis=1)
    cells = {int(count.cells[0]): count for count in disclosed.counts if len(count.cells) == 1}
    for cell in range(over.n_cells):
        total = tables[:, cell].sum(axis=1)
        if total.min() >= 1 and total.max() < disclosed.k:
            assert cell in cells
            if (tables[:, cell] == tables[0, cell]).all():
                assert cells[cell].values


def test_an_update_shows_the_value_of_the_new_one_and_of_many():
    crosswalk = [0, 0]
    old = release(np.array([[[5, 1, 0]], [[0, 0, 1]]]), crosswalk)

    def found(people, homogeneous=False):
        return examine(release(np.array(people), crosswalk), [old], homogeneous=homogeneous)

    ((_, one),) = found([[[5, 1, 0]], [[0, 0, 2]]]).changes
    assert (one.people.tolist(), one.values) == ([1], ((("ill", "HIV", 1),),))
    # As many as before, of whom one has another diagnosis.
    ((_, one),) = found([[[5, 0, 0]], [[0, 0, 2]]]).changes
    assert (one.people.tolist(), one.before.tolist(), one.after.tolist()) == ([1], [7], [7])
    assert one.values == ((("ill", "HIV", 1), ("ill", "flu", -1)),)
    # Five more, all of one value: told only where that was asked for, and counted anyway.
    many = [[[5, 1, 0]], [[0, 0, 6]]]
    assert (found(many).n_counts, found(many).n_homogeneous, found(many, homogeneous=True).n_counts) == (0, 1, 1)
    assert found([[[8, 1, 0]], [[0, 0, 3]]]).n_homogeneous == 0


@given(people_and_releases())
@settings(max_examples=tried(8, 25), deadline=None)
def test_a_release_held_against_others_of_one_value_counts_them_only_if_asked(case):
    *earlier, new = case[2]
    plain, asked = examine(new, earlier), examine(new, earlier, homogeneous=True)
    assert all(count.kind != HOMOGENEOUS for count in plain.counts)
    assert asked.n_counts - plain.n_counts == plain.n_homogeneous == asked.n_homogeneous


def test_what_is_left_over_several_regions_is_left_value_by_value():
    people = np.array([[[5, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 0]], [[5, 1, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]]])
    fine = release(people, [0, 0, 1, 1], classes=[("x", "y"), ("x", "z")])
    profile = coarser(profile_over(people.sum(axis=2), [("x", "y"), ("x", "z")], NAMES), ("p",))
    plan = suppress(profile, number_compactly(np.zeros(4, np.int64))[0], 5)
    wide = publish(plan, areas_of(4), sensitive=[kept_values(profile, people.sum(axis=1, keepdims=True))])
    (count,) = [one for one in find_disclosed([wide, fine]).counts if one.kind == REST]
    assert (len(count.cells), count.low, count.values) == (2, 2, (("ill", "cold", 1), ("ill", "flu", 1)))


def test_what_is_left_beside_areas_whose_values_are_known_only_together():
    """Two areas are shown together with their values and one by one without: what both others hold is left by value."""
    people = np.array([[[3, 2, 0]], [[2, 4, 0]], [[1, 0, 0]], [[0, 0, 1]]])
    shown = [release(people, [0, 0, 0, 0]), release(people, [0, 0, 1, 1]), release(people, [0, 1, 2, 3], field=False)]
    (count,) = find_disclosed(shown).counts
    assert (len(count.cells), count.low) == (2, 2)
    assert set(count.values) == {("ill", "cold", 1), ("ill", "HIV", 1)}


def test_of_values_that_contradict_each_other_none_is_told():
    """Five have flu in one release and six, who hold the five, have a cold in the other: the sixth is counted alone."""
    one, other = np.array([[[5, 0, 0]], [[1, 0, 0]]]), np.array([[[0, 5, 0]], [[1, 0, 0]]])
    findings = find_disclosed([release(one, [0, 0]), release(other, [0, 1])])
    assert [(count.low, count.high, count.values) for count in findings.counts] == [(1, 1, ())]
    assert len(findings.contradicted) == 1


def test_a_release_that_adds_only_the_value_of_a_count_given_away_before_is_held_back():
    people = np.array([[[6, 0, 0]], [[1, 0, 0]]])
    earlier = [release(people, one, field=False) for one in ([0, 0], [0, 1])]
    assert examine(release(people, [0, 0], field=False), earlier).n_counts == 0
    (count,) = examine(release(people, [0, 0]), earlier).counts
    assert count.values == (("ill", "cold", 1),)


def test_all_of_one_value_between_a_region_and_a_smaller_one():
    """Of two areas that the one release does not show apart, the other shows neither: six people, all with flu."""
    for others, found in (((3, 0), [(6, (("ill", "flu", 6),))]), ((2, 1), [])):
        people = np.array([[[5, 5, 0]], [[0, 3, 0]], [[0, *others]]])
        disclosed = find_disclosed([release(people, [0, 0, 0]), release(people, [0, 1, 2])])
        alike = [count for count in disclosed.counts if count.kind == HOMOGENEOUS]
        assert [(count.low, count.values) for count in alike] == found
        assert all(count.high >= count.low and len(count.cells) == 2 for count in alike)
