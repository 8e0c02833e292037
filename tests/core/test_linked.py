"""Persons with linked tables, against an attacker who knows a person and all of their rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels
from vbas.core.linked import signatures, source
from vbas.core.linked.source import IN_PART, LEFT_OUT, SHOWN, link, new_keys
from vbas.core.linked.tables import ALL_ROWS, ONE_ROW, PERSON, LinkedTable, persons_by_key, persons_of_rows
from vbas.core.linked.withholding import RowsOfPersons
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

AREAS = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)])
HALVES = crosswalk_from_table(AREAS, list("abcd"), [1, 1, 2, 2])
WHOLE = crosswalk_from_table(AREAS, list("abcd"), [1, 1, 1, 1])


@dataclass
class Case:
    """persons : area, quasi-identifier and income of each; tables : by name of each row the person, the known value
    and the diagnosis"""

    persons: list[tuple[str, str, int]]
    tables: dict[str, list[tuple[int, str, str]]]
    k: int
    l_diversity: int
    known: bool
    count_known: bool
    nested: bool
    new_key: bool = True


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(4, 14))
    person = st.tuples(st.sampled_from("abcd"), st.sampled_from("FM"), st.integers(0, 2))
    persons = [draw(person) for _ in range(n)]
    row = st.tuples(st.integers(0, n - 1), st.sampled_from("xy"), st.sampled_from("pq"))
    tables = {name: draw(st.lists(row, max_size=16)) for name in ("stays", "drugs")}
    return Case(
        persons,
        tables,
        draw(st.integers(2, 3)),
        draw(st.sampled_from([1, 1, 2])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def made(case: Case, rows_known: str = ALL_ROWS) -> Account:
    areas, quasi, income = (column_from_values(list(values)) for values in zip(*case.persons))
    table = RecordTable(areas, {"sex": quasi}, {"income": income})
    records = match_records(table, AREAS)
    tables = []
    for name, rows in case.tables.items():
        whose = np.array([person for person, _, _ in rows], np.int64)
        known = {"month": column_from_values([month for _, month, _ in rows])} if case.known else {}
        kept = {"diagnosis": column_from_values([diagnosis for _, _, diagnosis in rows])}
        tables.append(LinkedTable(name, whose, known, kept, ("diagnosis",), case.count_known))
    levels = Levels((HALVES, WHOLE) if case.nested else (HALVES,))
    linked = link(records, tables, AREAS, case.new_key, rows_known=rows_known)
    return anonymise(AREAS, linked, levels, Ask(k=case.k, l_diversity=case.l_diversity, nested=case.nested))


def rows_of(account: Account) -> list[dict[str, object]]:
    release = account.release
    columns = {name: column.categories[column.codes] for name, column in release.fields.items()}
    return [
        {"level": release.level[i], "region": release.region[i], **{name: of[i] for name, of in columns.items()}}
        for i in release.rows
    ]


def linked_of(account: Account) -> dict[str, list[dict[str, object]]]:
    assert account.rows is not None
    tables = {}
    for table in account.rows.linked:
        columns = {name: column.categories[column.codes] for name, column in table.fields.items()}
        tables[table.name] = [
            {
                "level": table.level[i],
                "region": table.region[i],
                PERSON: None if table.person is None else table.person[i],
                **{name: of[i] for name, of in columns.items()},
            }
            for i in range(len(table))
        ]
    return tables


def knowledge(case: Case, rows: list[tuple[int, str, str]], person: int) -> object:
    own = [month for whose, month, _ in rows if whose == person]
    return sorted(own) if case.known else len(own) if case.count_known else None


def looks(case: Case, rows: list[dict[str, object]], person: object) -> object:
    own = [str(row.get("month")) for row in rows if row[PERSON] == person]
    return sorted(own) if case.known else len(own) if case.count_known else None


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(cases())
def test_whoever_knows_a_person_and_all_their_rows_finds_k_or_nobody(case: Case) -> None:
    case.new_key = True
    account = made(case)
    persons, tables = rows_of(account), linked_of(account)
    crosswalks = account.levels.crosswalks
    looked = {row[PERSON]: {name: looks(case, rows, row[PERSON]) for name, rows in tables.items()} for row in persons}
    for number, (area, sex, _) in enumerate(case.persons):
        position = list("abcd").index(area)
        found = [
            row
            for row in persons
            if row["sex"] == sex
            and crosswalks[int(str(row["level"]))].region_of[position] == row["region"]
            and all(
                row[f"vbas_{name}"] == LEFT_OUT
                or looked[row[PERSON]][name] == knowledge(case, case.tables[name], number)
                for name in tables
            )
        ]
        assert not found or len(found) >= case.k
    # Who looks alike in everything is one of k, and where a table is shown its diagnoses differ.
    alike = defaultdict(list)
    for row in persons:
        flags = [row[f"vbas_{name}"] for name in tables]
        shown = [looked[row[PERSON]][name] if row[f"vbas_{name}"] == SHOWN else "" for name in tables]
        alike[repr([row["level"], row["region"], row["sex"], flags, shown])].append(row[PERSON])
    for people in alike.values():
        assert len(people) >= case.k
        for rows in tables.values():
            values = [{row["diagnosis"] for row in rows if row[PERSON] == person} for person in people]
            having = [own for own in values if own]
            if case.l_diversity > 1 and having:
                assert not any(all(value in own for own in having) for value in "pq")


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(cases())
def test_no_row_is_invented_lost_or_elsewhere_and_no_person_is_lost(case: Case) -> None:
    account = made(case)
    persons, tables = rows_of(account), linked_of(account)
    areas, quasi, income = (column_from_values(list(values)) for values in zip(*case.persons))
    alone = anonymise(
        AREAS,
        match_records(RecordTable(areas, {"sex": quasi}, {"income": income}), AREAS),
        account.levels,
        Ask(k=case.k, nested=case.nested),
    )

    def told(rows: list[dict[str, object]]) -> Counter[tuple[object, ...]]:
        return Counter((row["level"], row["region"], row["sex"], row["income"]) for row in rows)

    assert told(persons) == told(rows_of(alone))
    if not case.new_key:
        assert all(PERSON not in row for row in persons)
        assert all(row[PERSON] is None for rows in tables.values() for row in rows)
        return
    keys = [row[PERSON] for row in persons]
    assert Counter(keys) == Counter(range(1, len(keys) + 1))
    by_key = {row[PERSON]: row for row in persons}
    for name, rows in tables.items():
        for row in rows:
            whose = by_key[row[PERSON]]
            assert (whose["level"], whose["region"], whose[f"vbas_{name}"]) == (row["level"], row["region"], SHOWN)

    # Each released person is somebody, who has these very rows, and nobody is there twice.
    def whole(number: int, name: str) -> list[tuple[str, str]]:
        return sorted((month if case.known else "", of) for who, month, of in case.tables[name] if who == number)

    def seen(row: dict[str, object], name: str) -> list[tuple[str, str]]:
        own = [one for one in tables[name] if one[PERSON] == row[PERSON]]
        return sorted((str(one["month"]) if case.known else "", str(one["diagnosis"])) for one in own)

    for names in {tuple(name for name in tables if row[f"vbas_{name}"] == SHOWN) for row in persons}:
        given_people = Counter(
            repr([sex, own, *(whole(number, name) for name in names)])
            for number, (_, sex, own) in enumerate(case.persons)
        )
        released = Counter(
            repr([row["sex"], row["income"], *(seen(row, name) for name in names)])
            for row in persons
            if all(row[f"vbas_{name}"] == SHOWN for name in names)
        )
        assert released <= given_people
    for row in persons:
        assert not any(seen(row, name) for name in tables if row[f"vbas_{name}"] == LEFT_OUT)


def test_keys_are_drawn_anew_each_time_and_follow_no_order() -> None:
    n = 400
    persons = [("abcd"[i % 4], "F", i % 3) for i in range(n)]
    case = Case(persons, {"stays": [(i, "x", "p") for i in range(n)]}, 2, 1, False, False, False)
    keys = [[row[PERSON] for row in sorted(rows_of(made(case)), key=lambda row: str(row))] for _ in range(2)]
    assert keys[0] != keys[1]
    drawn = new_keys(np.ones(n, bool))
    assert sorted(drawn.tolist()) == list(range(1, n + 1))
    assert abs(np.corrcoef(drawn, np.arange(n))[0, 1]) < 0.3


def test_a_field_that_only_one_person_has_is_refused() -> None:
    n = 200
    persons = [("abcd"[i % 4], "F", i % 3) for i in range(n)]
    stays = [(i, "x", f"{i}") for i in range(n) for _ in range(3)]  # a number of the person, in each of their rows
    with pytest.raises(InputError, match=r"stays\.diagnosis"):
        made(Case(persons, {"stays": stays}, 2, 1, False, False, False))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (LinkedTable("records", np.zeros(1, np.int64)), "a name of its own"),
        (LinkedTable("SQLite_stays", np.zeros(1, np.int64)), "other than records, crosswalk, regions, sqlite_…"),
        (LinkedTable("stays", np.zeros(1, np.int64), {"vbas_region": column_from_values(["x"])}), "itself uses"),
        (LinkedTable("stays", np.zeros(1, np.int64), {"ward": column_from_values(["b"])}), r"stays\.ward"),
        (LinkedTable("stays", np.zeros(1, np.int64), {}, {}, ("days",)), "sensitive"),
    ],
)
def test_what_cannot_be_linked_is_refused(table: LinkedTable, says: str) -> None:
    areas, sex = column_from_values(list("bbcd")), column_from_values(list("FFFF"))
    records = match_records(RecordTable(areas, {"sex": sex}, {}), AREAS)
    with pytest.raises(InputError, match=says):
        link(records, [table], AREAS)


def test_keys_name_one_person_each() -> None:
    persons = persons_by_key(column_from_values(["a", "b", 7]))
    rows = persons_of_rows("stays", column_from_values(["b", "7", "b"]), persons)
    assert rows.tolist() == [1, 2, 1]
    with pytest.raises(InputError, match="no person has"):
        persons_of_rows("stays", column_from_values(["b", "c"]), persons)
    assert persons_of_rows("stays", column_from_values(["b", None]), persons, "suppress").tolist() == [1, -1]
    with pytest.raises(InputError, match="stands in several rows"):
        persons_by_key(column_from_values(["a", "a"]))
    with pytest.raises(InputError, match="stands in several rows"):
        persons_by_key(column_from_values([7, "7"]))
    for nobody in (None, "", " "):
        with pytest.raises(InputError, match="is missing in 1 row"):
            persons_by_key(column_from_values(["a", nobody]))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(cases())
def test_whoever_knows_one_row_of_a_person_finds_k_or_nobody(case: Case) -> None:
    case.new_key, case.known, case.l_diversity = True, True, 1
    account = made(case, ONE_ROW)
    persons, tables = rows_of(account), linked_of(account)
    by_key = {row[PERSON]: row for row in persons}
    crosswalks = account.levels.crosswalks
    for name, rows in case.tables.items():
        has = {(row[PERSON], str(row["month"])) for row in tables[name]}
        shown = {row[f"vbas_{name}"] for row in persons}
        assert shown <= {SHOWN} or shown == {IN_PART}
        for row in tables[name]:
            whose = by_key[row[PERSON]]
            assert (whose["level"], whose["region"]) == (row["level"], row["region"])
        for number, month, _ in rows:
            area, sex, _ = case.persons[number]
            at = list("abcd").index(area)
            fits = [
                row
                for row in persons
                if row["sex"] == sex and crosswalks[int(str(row["level"]))].region_of[at] == row["region"]
            ]
            found = [row for row in fits if (row[PERSON], month) in has]
            assert len(found) >= case.k or (not found and (not fits or len(fits) >= case.k))
        # A row that is not shown has a value that fewer than k released people of its class have.
        own = Counter(
            (row["level"], row["region"], row["sex"], month)
            for row in persons
            for month in "xy"
            if (row[PERSON], month) in has
        )
        assert all(number >= case.k for number in own.values())
        told = Counter((str(row["month"]), str(row["diagnosis"])) for row in tables[name])
        assert told <= Counter((month, diagnosis) for _, month, diagnosis in rows)


def test_with_one_row_known_far_more_is_shown_and_what_is_asked_of_values_is_refused() -> None:
    rng = np.random.default_rng(2)
    persons = [("abcd"[i % 4], "FM"[i % 2], 0) for i in range(200)]
    stays = [(int(i), "xyz"[j], "p") for i, j in rng.integers(0, (200, 3), (1_500, 2))]
    case = Case(persons, {"stays": stays}, 3, 1, True, True, False)
    every, one = (made(case, known).rows for known in (ALL_ROWS, ONE_ROW))
    assert every is not None and one is not None
    assert len(every.linked[0]) < 150
    assert len(one.linked[0]) == 1_500
    case.l_diversity = 2
    with pytest.raises(InputError, match="does not go together yet with HOUSEHOLD_ID"):
        made(case, ONE_ROW)


def test_the_second_count_finds_what_the_first_lets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    persons = [("abcd"[i % 4], "F", 0) for i in range(40)]
    stays = [(i, "x" if i else "y", "p") for i in range(40)]
    everybody = Case(persons, {"stays": stays}, 3, 1, True, True, False)
    monkeypatch.setattr(source, "rows_of_many", lambda table, *_: table.person >= 0)
    monkeypatch.setattr(
        source, "withhold", lambda classes, *_: RowsOfPersons(np.ones((1, 40), bool), np.zeros(40, np.int64))
    )
    for known in (ALL_ROWS, ONE_ROW):
        with pytest.raises(PrivacyError, match="fewer than 3 people who look alike"):
            made(everybody, known)


class _Dull:
    """Draws the same number for all items the first time."""

    def __init__(self) -> None:
        self.drawn, self.rng = 0, np.random.Generator(np.random.PCG64(0))

    def integers(self, low: int, high: int, size: int, kind: type) -> np.ndarray:
        self.drawn += 1
        return np.ones(size, np.uint64) if self.drawn == 1 else self.rng.integers(low, high, size, kind)


def test_hashes_that_collide_make_nobody_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    dull = _Dull()
    monkeypatch.setattr(signatures.np.random, "default_rng", lambda seed: dull)
    person, item = np.array([0, 0, 1, 1, 2, 2, 4]), np.array([0, 1, 1, 0, 1, 1, 0])
    numbers = signatures.multisets(person, item, 2, np.bincount(person, minlength=6))
    assert dull.drawn == 2
    assert numbers[0] == numbers[1] and numbers[3] == numbers[5]
    assert len({*numbers.tolist()}) == 4
