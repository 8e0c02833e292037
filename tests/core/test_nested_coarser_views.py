"""A plan with coarser last levels, by region and what is shown: its classes, its measures, and who is shown coarser."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from vbas.core.errors import InputError
from vbas.core.evaluation import evaluate
from vbas.core.generalising import make_hierarchy
from vbas.core.generalising.texts import with_values_as_text
from vbas.core.levels import with_coarser_values
from vbas.core.nesting.coarser import check_no_area_released, nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.planning import nest
from vbas.core.nesting.views import as_released, as_they_were, coarser_by_value, n_released_coarser
from vbas.core.privacy.kept_fields import examine_kept_fields
from vbas.core.records.columns import Column
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

from ..exploring import tried
from .test_nested_coarser import AGES, HIERARCHIES, NAMES, cases, cells_of, shown_by_hand, town


def key_of(plan, equivalence_class):
    """Level, region and values of an equivalence class of a plan by region."""
    profile = plan.profile
    values = [one[code] for one, code in zip(profile.categories, profile.classes[plan.class_of[equivalence_class]])]
    return int(plan.level[equivalence_class]), int(plan.region[equivalence_class]), *values


@pytest.mark.slow
@settings(max_examples=tried(65, 200), deadline=None)
@given(cases(counted=True))
def test_its_equivalence_classes_are_what_is_shown_one_for_one(case):
    areas, records, places, k = case
    plan = nest_coarser(areas, places, k)
    shown = as_released(plan, places)
    by_hand: Counter = Counter()
    assert plan.level_of is not None
    for (area, age, sex, n), level in zip(cells_of(records.profile), plan.level_of.tolist()):
        if level >= 0:
            by_hand[(level, *shown_by_hand(places, area, age, sex, level))] += n
    check_equivalence_classes(shown, by_hand)
    assert shown.records.tolist() == plan.records.tolist() and shown.released.all()
    assert shown.level.tolist() == plan.level.tolist()
    values = {node: of_classes.max() + 1 for node, of_classes in zip(places.nodes, places.class_of)}
    assert len(shown.profile.classes) == sum(values.values()), "levels of the same values share their classes"
    assert [places.region[level][place] for level, place in zip(plan.level, plan.region)] == shown.region.tolist()
    assert shown.profile.area_sizes.tolist() == records.profile.area_sizes.tolist()
    # Each cell finds its equivalence class, and the measures are those of the equivalence classes.
    counts = np.bincount(
        shown.equivalence_class_of[shown.equivalence_class_of >= 0],
        shown.profile.counts.data[shown.equivalence_class_of >= 0],
    )
    assert counts.tolist() == shown.records[: len(counts)].tolist()
    measures, audit = evaluate(areas, shown)
    assert measures.discernibility == sum(n**2 for n in by_hand.values())
    assert measures.n_suppressed == records.profile.n_records - sum(by_hand.values())
    own: Counter = Counter()
    smallest: dict = {}
    for (level, region, *_), n in by_hand.items():
        own[level, region] += n
        smallest[level, region] = min(smallest.get((level, region), n), n)
    for i in range(len(audit.level)):
        place = int(audit.level[i]), int(audit.region[i])
        assert (audit.released[i], audit.smallest[i]) == (own[place], smallest.get(place, 0))


def check_equivalence_classes(plan, by_hand):
    """The equivalence classes found by hand are those of the plan, each once, by level and region."""
    keys = [key_of(plan, equivalence_class) for equivalence_class in range(len(plan.records))]
    assert Counter(keys) == Counter(by_hand.keys())
    assert [by_hand[key] for key in keys] == plan.records.tolist()
    assert keys == sorted(keys, key=lambda key: (key[0], key[1])), "by level and region"


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(cases(counted=True))
def test_who_is_shown_coarser_adds_up_value_by_value(case):
    areas, records, places, k = case
    plan = nest_coarser(areas, places, k)
    found, were = coarser_by_value(plan, places), as_they_were(plan, places)
    by_hand: dict = {}
    coarser = 0
    assert plan.level_of is not None
    for (_area, *values, n), level in zip(cells_of(records.profile), plan.level_of.tolist()):
        coarser += n * (level >= 0 and any(places.nodes[level]))
        for position, (name, value) in enumerate(zip(NAMES, values)):
            if places.nodes[-1][position] and n:
                counts = by_hand.setdefault((name, value), [0, 0, 0, 0])
                counts[0] += n
                counts[1 + (2 if level < 0 else places.nodes[level][position] > 0)] += n
    rows = zip(found.records.tolist(), found.as_is.tolist(), found.coarser.tolist(), found.suppressed.tolist())
    assert dict(zip(zip(found.quasi_identifiers, found.values), map(list, rows))) == by_hand
    assert n_released_coarser(plan, places) == coarser
    assert were.level_of is not None
    assert were.n_released == plan.n_released and were.level_of.tolist() == plan.level_of.tolist()


def test_numbers_become_text_and_nothing_else_changes():
    areas, records, levels = town([0, 0, 0, 1, 2, 0], [0] * 6, [0, 0, 0, 0, 0, 1])
    numbers = np.array([1, 2, 3, None], dtype=object)
    table = replace(records.table, quasi_identifiers={**records.table.quasi_identifiers})
    table.quasi_identifiers["age"] = Column(table.quasi_identifiers["age"].codes, numbers)
    records = match_records(table, areas)
    hierarchy = make_hierarchy("age", numbers, [["1-2", "1-2", "3", None]])
    text, found = with_values_as_text(records, {"age": hierarchy}, ["age"], areas)
    assert text.table.quasi_identifiers["age"].categories.tolist() == ["1", "2", "3", None] == list(AGES)
    assert text.table.coarsened == {} and len(found["age"]) == 2
    places = places_of(text.profile, with_coarser_values(levels, [("age", 1)]), found)
    release = apply(as_released(nest_coarser(areas, places, 2), places), text)
    assert {type(value) for value in release.fields["age"].categories if value is not None} == {str}


def test_values_of_one_text_are_one_value_then():
    areas, records, _ = town([0, 1], [0, 0], [0, 0])
    values = np.array([1, 1.0 + 1e-17, "1"], dtype=object)[[0, 2]]
    table = RecordTable(records.table.area, {"age": Column(np.array([0, 1]), values)}, {})
    records = match_records(table, areas)
    text, _ = with_values_as_text(records, {"age": make_hierarchy("age", values, [["*", "*"]])}, ["age"], areas)
    assert text.profile.counts.data.tolist() == [2]
    with pytest.raises(InputError, match="values that are one at level 1"):
        with_values_as_text(records, {"age": make_hierarchy("age", values, [["a", "b"]])}, ["age"], areas)


def kept_town(kept, n=400):
    """Two areas; ages 1 and 2 are common, 3 and missing are rare; a field that is kept."""
    ages = [i % 2 for i in range(n)] + [2, 2, 3, 3]
    areas, records, levels = town(ages, [0] * len(ages), [i // 2 % 2 for i in range(len(ages))])
    values = sorted(set(kept(ages)))
    column = Column(np.array([values.index(one) for one in kept(ages)]), np.array(values, dtype=object))
    records = match_records(replace(records.table, kept={"field": column}), areas)
    places = places_of(records.profile, with_coarser_values(levels, [("age", 1), ("age", 2)]), HIERARCHIES)
    plan = nest_coarser(areas, places, 3)
    return records, places, plan


def test_a_copy_is_refused_however_few_records_are_shown_coarser():
    records, places, plan = kept_town(lambda ages: [f"y{age}" for age in ages])
    assert 0 < n_released_coarser(plan, places) < 6
    with pytest.raises(InputError, match="“field” gives back what coarser values take"):
        apply(as_released(plan, places), records)
    (found,) = examine_kept_fields(as_released(plan, places), records)
    assert found.regains == "age" and found.regained.placed_share > 0.98


def test_a_finer_value_is_known_though_some_rows_show_it_coarser():
    records, places, plan = kept_town(lambda ages: [f"y{age}{i % 3}" for i, age in enumerate(ages)])
    (found,) = examine_kept_fields(as_released(plan, places), records)
    assert found.refines == "age" and found.refusal


def test_a_field_that_tells_nothing_is_released():
    records, places, plan = kept_town(lambda ages: ["pq"[i // 4 % 2] for i in range(len(ages))])
    (found,) = examine_kept_fields(as_released(plan, places), records)
    assert not found.refusal and not found.regains
    assert len(apply(as_released(plan, places), records)) == plan.n_released


def test_a_coarser_value_that_is_the_area_is_refused():
    areas, records, levels = town([0, 1, 2, 0], [0] * 4, [0, 1, 1, 0])
    hierarchy = make_hierarchy("age", AGES, [["a", "b", "b", None]])
    places = places_of(records.profile, with_coarser_values(levels, [("age", 1)]), {"age": hierarchy})
    with pytest.raises(InputError, match="“age” holds the identifier of the record's area"):
        check_no_area_released(places, records.table, areas, np.array([0, 1, 2, 0]))
    others = places_of(records.profile, with_coarser_values(levels, [("age", 1)]), HIERARCHIES)
    check_no_area_released(others, records.table, areas, np.array([0, 1, 2, 0]))


def test_a_plan_without_coarser_levels_is_the_nested_plan():
    areas, records, levels = town([0, 0, 0, 1, 1, 0], [0] * 6, [0, 0, 1, 0, 1, 1])
    places = places_of(records.profile, levels, {})
    shown, plain = as_released(nest_coarser(areas, places, 2), places), nest(areas, records.profile, levels, 2)
    assert [key_of(shown, i) for i in range(len(shown.records))] == [
        key_of(plain, i) for i in range(len(plain.records))
    ]
    assert evaluate(areas, shown)[0] == evaluate(areas, plain)[0]
