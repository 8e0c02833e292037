"""Coarser quasi-identifiers of records in place: the same profile and the same release as of arrays."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from vbas.core.areas import identifier_text
from vbas.core.engines import open_engine
from vbas.core.engines.coarsening import as_text_in_place, coarser_in_place
from vbas.core.engines.profiling import count_in_place, match_in_place, requirement_in_place
from vbas.core.engines.releasing import released_by
from vbas.core.errors import InputError
from vbas.core.generalising.collapsing import generalise_records
from vbas.core.generalising.hierarchies import make_hierarchy
from vbas.core.generalising.texts import with_values_as_text
from vbas.core.levels import with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.planning import nest
from vbas.core.nesting.views import as_released
from vbas.core.plan import suppress
from vbas.core.records.columns import typed
from vbas.core.records.fields import RecordFields
from vbas.core.release import apply

from ..engines_there import needed
from . import engine_cases as cases
from .engine_cases import release_in_place

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

FIELDS = RecordFields("area", cases.QUASI, ("diagnosis",))


def hierarchies(categories):
    """Of the hard texts: by their length, of missing ones none; of ages: one value, which hides the missing one."""
    odd, age = (list(categories[i]) for i in (1, 2))
    texts = [identifier_text(value) for value in odd]
    by_length = [None if text is None else f"{min(len(text), 3)} long" for text in texts]
    return {
        "odd": make_hierarchy("odd", categories[1], [by_length, ["*"] * len(odd)]),
        "age": make_hierarchy("age", categories[2], [["*"] * len(age)]),
    }


def hierarchies_of(quasi, categories):
    """The same, of some of the quasi-identifiers in any order."""
    given = dict(zip(quasi, categories))
    return hierarchies([given.get(name, ()) for name in cases.QUASI])


@pytest.fixture(scope="module")
def server(request):
    needed("adbc_driver_postgresql")
    with request.getfixturevalue("postgres").another() as database:
        yield database.address


@pytest.fixture(params=["Parquet", "PostgreSQL"])
def place(request, tmp_path):
    """place(columns) -> address, table, destination, and what reads the release."""

    def one(columns):
        if request.param == "Parquet":
            out = tmp_path / "released.parquet"
            path = cases.write_parquet(columns, tmp_path / "people.parquet")
            return str(path), "", str(out), lambda: needed("pyarrow.parquet").read_table(out)
        server = request.getfixturevalue("server")
        arrow, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
        with dbapi.connect(server, autocommit=True) as there, there.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS released")
            cursor.adbc_ingest("people", arrow.table(columns), mode="replace")

        def released():
            with dbapi.connect(server) as there, there.cursor() as cursor:
                cursor.execute("SELECT * FROM released")
                return cursor.fetch_arrow_table()

        return server, "people", "released", released

    return one


@pytest.mark.slow
@pytest.mark.parametrize("node", [(0, 1, 0), (0, 2, 1), (0, 0, 1)])
@pytest.mark.parametrize("nested", [False, True])
def test_shown_coarser_as_of_arrays(place, node, nested):
    columns = cases.people()
    address, table, destination, read = place(columns)
    records = cases.in_memory(columns)
    records = generalise_records(records, hierarchies(records.profile.categories), node, cases.areas())
    levels = cases.two_levels() if nested else cases.one_level()

    def plan_of(profile):
        if nested:
            return nest(cases.areas(), profile, levels, cases.K)
        return suppress(profile, levels.crosswalks[0], cases.K)

    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, FIELDS)
        coarser = coarser_in_place(in_place, hierarchies(in_place.categories), node)
        matched = match_in_place(coarser, cases.areas(), k=cases.K)
        assert cases.same_profile(matched.profile, records.profile)
        sentences = [column.sentence for column in coarser.coarsened.values()]
        assert sentences == [column.sentence for column in records.table.coarsened.values()]
        release_in_place(matched, plan_of(matched.profile), destination, nested)
    expected = cases.rows_of(apply(plan_of(records.profile), records), levels, nested)
    assert Counter(tuple(row.values()) for row in read().to_pylist()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("quasi", [cases.QUASI, ("age", "odd")])
def test_last_levels_show_coarser_values_as_arrays_do(place, odd, quasi):
    """Every row shows what its level does; a value that only some levels show is one more code."""
    columns = cases.people()
    address, table, destination, read = place(columns)
    records = cases.in_memory(columns, quasi=quasi)
    before, names = dict.fromkeys(quasi, 0) | {"odd": odd}, ["age", "odd"]
    node = list(before.values())
    levels, fields = cases.two_levels(), RecordFields("area", quasi, ("diagnosis",))

    def levels_of(found):
        """The hierarchies of what is shown: above what all records show coarser."""
        return {name: hierarchy.above(before[name]) for name, hierarchy in hierarchies_of(quasi, found).items()}

    def planned(profile, hierarchies):
        places = places_of(profile, with_coarser_values(levels, [("age", 1), ("odd", 2 - odd)]), hierarchies)
        return nest_coarser(cases.areas(), places, 40, "non-uniform entropy"), places

    ours = levels_of(records.profile.categories)
    shown = generalise_records(records, hierarchies_of(quasi, records.profile.categories), node, cases.areas())
    shown, ours = with_values_as_text(shown, ours, names, cases.areas())
    plan, places = planned(shown.profile, ours)
    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, fields)
        coarser = coarser_in_place(in_place, hierarchies_of(quasi, in_place.categories), node)
        text, theirs = as_text_in_place(coarser, levels_of(in_place.categories), names)
        matched = match_in_place(text, cases.areas(), k=40)
        assert cases.same_profile(matched.profile, shown.profile)
        here, there = planned(matched.profile, theirs)
        done = release_in_place(matched, as_released(here, there), destination, True)
    release = apply(as_released(plan, places), shown)
    assert {level: held.records for level, held in done.levels.items()} == Counter(
        (release.level[release.rows] + 1).tolist()
    )
    assert max(done.levels) > 2, "nothing is shown coarser here"
    assert Counter(tuple(row.values()) for row in read().to_pylist()) == cases.rows_of(release, places.levels, True)


@pytest.mark.parametrize("odd", [1, 2])
def test_a_value_that_several_levels_show_is_one_value_of_what_is_said_of_a_release(odd):
    """The page to publish counts the released records by value, as that of a release of arrays does."""
    records = cases.in_memory(cases.people())
    of_values = hierarchies_of(cases.QUASI, records.profile.categories)
    shown, ours = with_values_as_text(records, of_values, ["age", "odd"], cases.areas())
    places = places_of(shown.profile, with_coarser_values(cases.two_levels(), [("age", 1), ("odd", odd)]), ours)
    plan = as_released(nest_coarser(cases.areas(), places, 40, "non-uniform entropy"), places)
    here, there = released_by(plan), apply(plan, shown)
    assert there.level.min() < 2 <= there.level.max()
    for name, column in here.fields.items():
        assert len({typed(value) for value in column.categories}) == len(column.categories)
        assert _records_by_value(here, name) == _records_by_value(there, name)


def _records_by_value(release, name):
    column = release.fields[name]
    numbers = np.bincount(column.codes, release.counts, len(column.categories)).astype(int)
    return {typed(value): number for value, number in zip(column.categories, numbers.tolist()) if number}


@pytest.mark.slow
def test_a_kept_field_that_gives_back_what_last_levels_take_is_refused(place):
    columns = cases.people()
    columns["diagnosis"] = [None if value is None else f"type {value}" for value in columns["age"]]
    address, table, destination, _ = place(columns)
    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, FIELDS)
        text, above = as_text_in_place(in_place, hierarchies(in_place.categories), ["age"])
        matched = match_in_place(text, cases.areas(), k=40)
        places = places_of(matched.profile, with_coarser_values(cases.two_levels(), [("age", 1)]), above)
        plan = nest_coarser(cases.areas(), places, 40, "non-uniform entropy")
        with pytest.raises(InputError, match="gives back what coarser values take"):
            release_in_place(matched, as_released(plan, places), destination, True)


@pytest.mark.slow
def test_sensitive_values_and_persons_are_counted_in_what_is_shown(place):
    columns = {**cases.people(), "person": [str(i // 2) for i in range(1500)]}
    address, table, _, _ = place(columns)
    fields = RecordFields("area", cases.QUASI, ("diagnosis",), "", {"persons": "person"}, ("diagnosis",))
    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, fields)
        coarser = coarser_in_place(in_place, hierarchies(in_place.categories), (0, 2, 1))
        matched = match_in_place(coarser, cases.areas(), k=cases.K)
        requirement = requirement_in_place(matched, cases.K, 2)
    (members,), (shares,) = requirement.members, requirement.shares
    assert int(shares.records.sum()) == 1500
    pairs = {(area, sex, person) for area, sex, person in zip(columns["area"], columns["sex"], columns["person"])}
    assert len(members.cell) == len(pairs)


def test_a_kept_field_that_gives_the_finer_value_back_is_refused(place):
    columns = cases.people()
    columns["diagnosis"] = [None if value is None else f"type {value}" for value in columns["age"]]
    address, table, destination, _ = place(columns)
    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, FIELDS)
        coarser = coarser_in_place(in_place, hierarchies(in_place.categories), (0, 2, 1))
        matched = match_in_place(coarser, cases.areas(), k=cases.K)
        plan = suppress(matched.profile, cases.one_level().crosswalks[0], cases.K)
        with pytest.raises(InputError, match="gives back what coarser values take"):
            release_in_place(matched, plan, destination)


def test_a_level_that_there_is_not(place):
    address, table, _, _ = place(cases.people())
    with open_engine(address, table) as engine:
        in_place = count_in_place(engine, FIELDS)
        assert coarser_in_place(in_place, {}, (0, 0, 0)) is in_place
        with pytest.raises(InputError, match="level 3"):
            coarser_in_place(in_place, hierarchies(in_place.categories), (0, 3, 0))
        np.testing.assert_array_equal(in_place.codes[0], [0, 1])
