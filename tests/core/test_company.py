"""Zones with company: nobody is suppressed because of what chance has closed."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, crosswalk_from_table
from vbas.core.disclosure.inhabitants import inhabitants_of
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.company import in_company
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values

# Of eight areas in three and two regions, by class: where few people live, and all are in the records.
PEOPLE = np.array([[0, 0, 0], [122, 43, 13], [120, 60, 27], [0, 0, 0], [5, 0, 6], [112, 28, 24], [9, 0, 0], [1, 10, 2]])


@pytest.mark.parametrize("people", [[9, 3, 2], [9, 3, 1], [14, 14, 14]], ids=str)
def test_of_what_cannot_be_hidden_all_is_suppressed_or_nothing(people):
    """Once the nine and the three were shown and the two were not, which the recount then refused."""
    records = [9, 3, 2]
    areas = make_areas(list("abc"), [(i, 0) for i in range(3)]).with_population(np.array(people, float))
    whole = crosswalk_from_table(areas, list("abc"), [1, 1, 1])
    profile, _ = profile_records(np.repeat([0, 1, 2], records), {"class": column_from_values(["c"] * 14)}, len(areas))
    conditions = Conditions(areas.population, Secrets(np.random.default_rng(0)))
    plan = nest(areas, profile, make_levels(areas, [own_regions(3), whole]), 3, conditions=conditions)
    assert plan.n_released == (0 if people == records else 14)


def test_where_people_of_small_areas_tell_much_the_coarsest_level_is_left():
    """Two classes of 22 areas, most of them of a few people who all are in the records: once nothing was shown."""
    women = [8, 0, 2, 2, 0, 0, 2, 0, 1, 0, 8, 1, 2, 0, 0, 0, 185, 1, 1, 2, 8, 0]
    men = [0, 3, 0, 1, 0, 2, 0, 0, 2, 0, 2, 5, 0, 0, 0, 0, 94, 0, 0, 8, 0, 0]
    people = np.array([women, men])
    areas = make_areas([f"a{of}" for of in range(22)], [(of, 0) for of in range(22)])
    areas = areas.with_population(people.sum(axis=0).astype(float))
    class_of, area = (np.repeat(of.reshape(-1), people.reshape(-1)) for of in np.indices(people.shape))
    profile, _ = profile_records(area, {"sex": column_from_values([["F", "M"][of] for of in class_of])}, len(areas))
    regions_of = [
        "0 3 6 9 9 1 4 7 10 12 2 5 7 11 11 14 16 8 8 13 15 17",
        "0 3 3 7 7 1 4 5 8 8 2 5 5 8 8 10 12 6 6 9 11 13",
        "0 3 3 5 5 1 3 4 5 5 2 4 4 5 5 7 9 9 9 6 8 10",
        "0 2 2 2 2 0 2 3 2 2 1 3 3 2 2 5 7 7 7 4 6 8",
        "0 0 0 0 0 0 0 2 0 0 1 2 2 0 0 4 6 6 6 3 5 7",
        "1 1 1 1 1 1 1 0 1 1 0 0 0 1 1 3 5 5 5 2 4 6",
        "1 1 1 1 1 1 1 0 1 1 0 0 0 1 1 2 4 4 4 1 3 5",
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 3 3 3 0 2 4",
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2 2 0 1 3",
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2 2 0 1 2",
        "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 1 0 0",
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    ]
    coarser = [crosswalk_from_table(areas, areas.identifiers.tolist(), row.split()) for row in regions_of]
    levels = make_levels(areas, [own_regions(22), *coarser])
    conditions = Conditions(areas.population, Secrets(np.random.default_rng(0)))
    assert nest(areas, profile, levels, 3, conditions=conditions).n_released == people.sum()


@pytest.mark.slow
@pytest.mark.parametrize("closed", [0.002, 0.5])
def test_no_class_is_suppressed_because_of_what_smaller_regions_show(closed):
    """Of nine in areas 6 to 11 five were shown in areas 9 to 11 by themselves; then the other four told too much, and
    all were suppressed. Suppressed are three alone, whose class has no more in its coarsest region."""
    old = [11, 3, 0, 0, 0, 2, 0, 0, 2, 2, 1, 1, 0, 12, 10, 1, 2, 10, 0, 1, 1, 3, 8, 1]
    few = [5, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 9, 0, 0, 2, 1, 1, 0, 0, 1, 0]
    young = [21, 1, 3, 2, 1, 0, 0, 1, 3, 2, 2, 1, 0, 17, 14, 4, 1, 26, 0, 0, 2, 2, 17, 4]
    people = np.array([old, few, young])
    areas = make_areas(range(24), [(of % 6, of // 6) for of in range(24)])
    areas = areas.with_population(people.sum(axis=0).astype(float))
    class_of, area = (np.repeat(of.reshape(-1), people.reshape(-1)) for of in np.indices(people.shape))
    profile, _ = profile_records(area, {"class": column_from_values([f"c{of}" for of in class_of])}, len(areas))
    levels = make_levels(areas, [own_regions(24), *(Crosswalk(np.arange(24) // of, 24 // of) for of in (3, 6))])
    for seed in range(16):
        secrets = Secrets(np.random.default_rng(seed), closed=closed)
        plan = nest(areas, profile, levels, 4, conditions=Conditions(areas.population, secrets))
        assert plan.n_released == people.sum() - 3
        assert (
            in_company(plan, inhabitants_of(profile, areas.population)).n_released == plan.n_released
        )  # the people tell nothing of it
