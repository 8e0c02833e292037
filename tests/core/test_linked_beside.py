"""Linked tables in releases that hold against more: coarser values, who knows the method, earlier releases, rules."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas import anonymize, anonymize_linked, update_release
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table
from vbas.core.errors import PrivacyError
from vbas.core.levels import Levels
from vbas.core.linked.source import LinkedSource, link
from vbas.core.linked.tables import LinkedTable
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.publish.register.chain import chain_of
from vbas.core.publish.register.published_releases import read_register
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

AREAS = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
Frame = dict[str, list[Any]]


@st.composite
def towns(draw: st.DrawFn, least: int = 6) -> tuple[Frame, dict[str, Frame]]:
    """Persons with sex and age, their stays and drugs."""
    n = draw(st.integers(least, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    persons = {
        "id": [f"p{i}" for i in range(n)],
        "area": rng.choice(list("abcd"), n).tolist(),
        "sex": rng.choice(list("FM"), n).tolist(),
        "age": rng.choice([31, 33, 37, 52], n).tolist(),
    }
    tables = {}
    for name in ("stays", "drugs"):
        rows = draw(st.integers(1, 2 * n))
        tables[name] = {
            "id": [f"p{i}" for i in rng.integers(0, n, rows)],
            "month": rng.choice(list("xy"), rows).tolist(),
            "days": rng.integers(1, 3, rows).tolist(),
        }
    return persons, tables


def rows_of(frame: Any) -> list[dict[str, Any]]:
    return [dict(zip(frame, values)) for values in zip(*(np.asarray(frame[name]).tolist() for name in frame))]


def released(town: tuple[Frame, dict[str, Frame]], **more: Any) -> Any:
    chosen: dict[str, Any] = {
        "key": "id",
        "known": {"stays": "month"},
        "keep": {"stays": "days", "drugs": "days"},
        "area": "area",
        "quasi_identifiers": ["sex", "age"],
        "k": 3,
        "release": "nested levels",
        **more,
    }
    return anonymize_linked(AREAS, town[0], town[1], **chosen)


COARSER = {"levels_coarser": [("age", 1), ("sex", 1)], "hierarchy_rules": [("age", "bands 10"), ("sex", "*")]}


@settings(max_examples=15, deadline=None)
@given(towns(), st.sampled_from(["all rows", "one row"]))
def test_with_coarser_values_whoever_knows_a_person_and_the_rows_finds_k_or_nobody(
    town: tuple[Frame, dict[str, Frame]], rows_known: str
) -> None:
    release = released(town, rows_known=rows_known, **COARSER)
    persons, tables = town
    crosswalk = {row["area"]: row for row in rows_of(release.crosswalk)}
    shown, linked = rows_of(release.records), {name: rows_of(release.tables[name]) for name in tables}
    months = {row["vbas_person"]: Counter[str]() for row in shown}
    drugs: Counter[int] = Counter()
    for row in linked["stays"]:
        months[row["vbas_person"]][row["month"]] += 1
    for row in linked["drugs"]:
        drugs[row["vbas_person"]] += 1
    assert {row["age"] for row in shown} <= {"31", "33", "37", "52", "30-39", "50-59"}
    of = {row["vbas_person"]: row for row in shown}
    for row in (*linked["stays"], *linked["drugs"]):
        whose = of[row["vbas_person"]]
        assert (whose["vbas_level"], whose["vbas_region"]) == (row["vbas_level"], row["vbas_region"])

    def fits(row: dict[str, Any], person: int) -> bool:
        tens = persons["age"][person] // 10 * 10
        ages = {str(persons["age"][person]), f"{tens}-{tens + 9}"}
        here = crosswalk[persons["area"][person]][f"vbas_region_{row['vbas_level']}"]
        same = row["vbas_region"] == here and row["age"] in ages
        return bool(same and row["sex"] in (persons["sex"][person], "*"))

    for person, name in enumerate(persons["id"]):
        own = Counter(
            month for who, month in zip(*(tables["stays"][field] for field in ("id", "month"))) if who == name
        )
        number = tables["drugs"]["id"].count(name)
        found = [row for row in shown if fits(row, person)]
        if rows_known == "one row":
            for month in own:
                having = [row for row in found if months[row["vbas_person"]][month]]
                assert not having or len(having) >= 3
            assert not found or len(found) >= 3
            continue
        found = [
            row
            for row in found
            if (row["vbas_stays"] == "left out" or months[row["vbas_person"]] == own)
            and (row["vbas_drugs"] == "left out" or drugs[row["vbas_person"]] == number)
        ]
        assert not found or len(found) >= 3


PLACES = make_areas(list("abcd"), [(0, 0), (100, 0), (0, 900), (100, 900)]).with_population(np.full(4, 20.0))
TWO = Levels(
    (crosswalk_from_table(PLACES, list("abcd"), [1, 2, 3, 4]), crosswalk_from_table(PLACES, list("abcd"), [1, 1, 1, 1]))
)


def source_of(town: tuple[Frame, dict[str, Frame]], order: np.ndarray, home: list[str]) -> LinkedSource:
    """The town with its people in another order, and at these homes."""
    persons, tables = town
    sex = column_from_values([persons["sex"][i] for i in order])
    records = match_records(RecordTable(column_from_values([home[i] for i in order]), {"sex": sex}, {}), PLACES)
    at = {persons["id"][i]: position for position, i in enumerate(order.tolist())}
    linked = [
        LinkedTable(
            name,
            np.array([at[who] for who in rows["id"]], np.int64),
            {"month": column_from_values(rows["month"])},
            {"days": column_from_values(rows["days"])},
        )
        for name, rows in tables.items()
    ]
    return link(records, linked, PLACES, new_key=False)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(towns(10), st.integers(0, 2**32))
def test_linked_rows_tell_nothing_of_where_the_people_of_a_class_live_nor_of_the_order_of_rows(
    town: tuple[Frame, dict[str, Frame]], seed: int
) -> None:
    """So “no small count follows” holds with them: whoever knows the method sees the same, whoever lives where."""
    home, dice = town[0]["area"], random.Random(seed)  # how much of it is drawn depends on what is released by chance
    source = source_of(town, np.arange(len(home)), home)
    account = anonymise(PLACES, source, TWO, Ask(k=2, disclosure=NO_SMALL_COUNT))
    shown_as = account.plan.equivalence_class_of[source.records.cell_of]
    moved = list(home)
    for equivalence_class in set(shown_as.tolist()) - {-1}:  # those whom nobody can tell apart change homes
        people = np.flatnonzero(shown_as == equivalence_class).tolist()
        homes = [home[i] for i in people]
        dice.shuffle(homes)
        for person, place in zip(people, homes):
            moved[person] = place
    order = list(range(len(home)))
    dice.shuffle(order)
    again = source_of(town, np.array(order), moved)
    assert account.rows is not None
    rows = again.release(account.plan, True, account.requirement)
    for one, other in zip(account.rows.linked, rows.linked, strict=True):
        assert np.array_equal(one.level, other.level) and np.array_equal(one.region, other.region)
        for name, column in one.fields.items():
            own = other.fields[name]
            assert column.categories[column.codes].tolist() == own.categories[own.codes].tolist()
    for name, column in account.release.fields.items():
        own = rows.release.fields[name]
        assert column.categories[column.codes].tolist() == own.categories[own.codes].tolist()


def large_town(n: int = 240) -> tuple[Frame, dict[str, Frame]]:
    rng = np.random.default_rng(4)
    persons = {
        "id": [f"p{i}" for i in range(n)],
        "area": [list("abcd")[i % 4] for i in range(n)],
        "sex": [list("FM")[i // 4 % 2] for i in range(n)],
    }
    stays = {
        "id": [f"p{i}" for i in range(n)],
        "month": rng.choice(list("xy"), n).tolist(),
        "ward": rng.choice(list("uvw"), n).tolist(),
        "days": rng.integers(1, 9, n).tolist(),
    }
    return persons, {"stays": stays}


def test_a_register_keeps_that_linked_tables_were_released_and_stops_a_second_time(tmp_path: Path) -> None:
    register = tmp_path / "register.gpkg"
    town = large_town()
    plain: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", "k": 5, "register": str(register)}
    asked: dict[str, Any] = {"key": "id", "known": {"stays": "month"}, **plain}
    with pytest.warns(UserWarning, match="is a new register"):
        anonymize(AREAS, town[0], **plain).write(tmp_path / "persons")
    anonymize_linked(AREAS, *town, **asked).write(tmp_path / "linked")
    assert [release.linked for release in read_register(register)] == [(), ("stays",)]
    assert not chain_of(register).problems
    with pytest.raises(PrivacyError, match=r"released linked tables of these people already \(stays\)"):
        anonymize_linked(AREAS, *town, **{**asked, "known": {"stays": "ward"}})
    anonymize(AREAS, town[0], **plain).write(tmp_path / "persons again")
    assert [release.linked for release in read_register(register)] == [(), ("stays",), ()]
    with sqlite3.connect(register) as connection:  # as the chain holds it against whoever changes it
        connection.execute("DELETE FROM vbas_told WHERE what = 'linked tables'")
    assert chain_of(register).problems


def test_persons_go_on_month_by_month_beside_linked_tables_that_were_released_once(tmp_path: Path) -> None:
    """What can be done each month with persons and stays: the persons as updates, before the stays and after."""
    register, (persons, tables) = tmp_path / "register.gpkg", large_town()
    plain: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", "k": 5, "register": str(register)}
    asked: dict[str, Any] = {"key": "id", "known": {"stays": "month"}, **plain}
    with pytest.warns(UserWarning, match="is a new register"):
        months = [anonymize(AREAS, persons, **plain, n_sites=2)]
    months[0].write(tmp_path / "january")
    for month in (1, 2, 3):
        for one in np.random.default_rng(month).permutation(len(persons["id"]))[:12].tolist():
            persons["area"][one] = "abcd"[one % 3]
        if month == 2:
            months.append(anonymize_linked(AREAS, persons, tables, **asked, n_sites=2, register_action="repair"))
        else:
            months.append(update_release(AREAS, persons, **plain))
        months[-1].write(tmp_path / str(month))
    shown = [Counter((row["vbas_region"], row["sex"]) for row in rows_of(month.records)) for month in months]
    for later, new in enumerate(shown):
        for old in shown[:later]:
            assert not [label for label in new.keys() & old.keys() if 0 < abs(new[label] - old[label]) < 5]
    assert [release.linked for release in read_register(register)] == [(), (), ("stays",), ()]
    with pytest.raises(PrivacyError, match="released linked tables of these people already"):
        anonymize_linked(AREAS, persons, tables, **asked)


@pytest.mark.parametrize("again", ["the same rows", "rows of a new year"])
def test_why_a_second_time_is_stopped_two_releases_that_hold_show_one_person_together(again: str) -> None:
    """Whoever knows a month and a ward, or a month of each year, finds one person in two releases, joined by the days
    that both keep: as a chronic disease does, they come again each year."""
    n = 24
    days = list(combinations(range(8), 2))[:n]  # how long the two stays of each person were
    persons = {"id": list(range(n)), "area": ["a"] * n, "sex": ["F"] * n}
    month, ward = ["x"] * 12 + ["y"] * 12, ["u"] + ["v"] * 11 + ["u"] * 11 + ["v"]
    twice = [i for i in range(n) for _ in range(2)]
    stays = {
        "id": twice,
        "month": [month[i] for i in twice],
        "ward": [ward[i] for i in twice],
        "days": [of for own in days for of in own],
    }
    of_next_year = {"id": stays["id"], "month": stays["ward"], "days": stays["days"]}
    found = {}
    for known in ("month", "ward"):
        rows = of_next_year if (again, known) == ("rows of a new year", "ward") else stays
        asked = known if known in rows else "month"
        release = anonymize_linked(
            AREAS,
            persons,
            {"stays": rows},
            key="id",
            area="area",
            quasi_identifiers="sex",
            k=5,
            known={"stays": asked},
            keep={"stays": "days"},
        )
        people: dict[int, tuple[str, list[int]]] = {}
        for row in rows_of(release.tables["stays"]):
            people.setdefault(row["vbas_person"], (row[asked], []))[1].append(row["days"])
        found[known] = {tuple(sorted(own)): value for value, own in people.values()}
        assert min(Counter(found[known].values()).values()) >= 5
    assert set(found["month"]) == set(found["ward"]) == set(days)
    joined = Counter((found["month"][own], found["ward"][own]) for own in days)
    assert joined["y", "v"] == 1


def test_a_rule_raises_what_is_asked_of_linked_tables_too() -> None:
    release = anonymize_linked(
        AREAS,
        *large_town(),
        key="id",
        known={"stays": "month"},
        linked_k=2,
        area="area",
        quasi_identifiers="sex",
        rule="CMS cell size",
    )
    assert release.account.rows is not None
    assert release.account.rows.linked[0].k >= release.account.ask.k > 2
