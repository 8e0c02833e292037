"""The steps of linked tables in an engine, as `steps`: whose rows are whose, who looks alike, and what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis

from .engine import Expression
from .steps import names_nobody

LENGTH, MISSING = ":", "-"


def as_key(column: Expression) -> Expression:
    """A key as text, as it links tables whose fields have other types."""
    text = column.cast("string")
    if not column.type().is_floating():
        return text
    return (column == column.floor()).ifelse(column.cast("int64").cast("string"), text)


def everybody(rows: Expression) -> Expression:
    """The keys of all persons, whether they are released or not: p, as text."""
    return rows.select(p=as_key(rows.p))


def keys(every: Expression) -> Expression:
    """One row: how many persons there are, how many have no key, and how many keys there are; every : of `everybody`"""
    missing = names_nobody(every.p).ifelse(1, 0).sum().cast("int64")
    return every.aggregate(rows=every.count(), missing=missing, different=every.p.nunique())


def keys_twice(every: Expression) -> Expression:
    """Some keys that several persons have, `p`."""
    times = every.group_by("p").agg(times=every.count())
    return times.filter(times.times > 1).order_by("p").limit(5).select("p")


def people(placed: Expression) -> Expression:
    """The released persons: p their key, e their equivalence class, c_a the code of their area."""
    return placed.select(p=as_key(placed.p), e=placed.l_look.cast("int64"), c_a=placed.c_a)


def of_nobody(table: Expression, every: Expression) -> Expression:
    """The rows of a linked table whose key no person has."""
    own, theirs = table.mutate(p=as_key(table.p)), every.select(o_p=every.p)
    return own.anti_join(theirs, own.p == theirs.o_p)


def who_has_rows(table: Expression, every: Expression) -> Expression:
    """The keys of persons who have any rows of a linked table, once each."""
    own = table.select(o_p=as_key(table.p))
    return every.semi_join(own, every.p == own.o_p)


def of_people(table: Expression, persons: Expression) -> Expression:
    """The rows of a linked table that are of these persons, with their e and c_a."""
    own = table.mutate(p=as_key(table.p))
    theirs = persons.select(o_p=persons.p, e=persons.e, c_a=persons.c_a)
    joined = own.inner_join(theirs, own.p == theirs.o_p)
    return joined.drop("o_p")


def of_home(rows: Expression, homes: Expression, field: str) -> Expression:
    """One row: the rows of known persons, and those of them whose field repeats the person's area, leading zeros aside.

    homes : c_a, `home`, the identifier of the area of each code, as text without leading zeros
    """
    named = homes.select(h_a=homes.c_a, home=homes.home)
    joined = rows.inner_join(named, rows.c_a == named.h_a)
    same = (joined[field].cast("string").re_replace("^0+", "") == joined.home).fill_null(False)
    return joined.aggregate(rows=joined.count(), same=same.ifelse(1, 0).sum().cast("int64"))


def signatures(rows: Expression, known: bool) -> Expression:
    """What may be known of each person who has rows: p, and s, equal for people of whom it is the same, from 1.

    rows : with `key`, a number for the known values of the row; known : whether there are any, else the number of rows
    """
    what = rows.key.collect(order_by=rows.key) if known else rows.count()
    of_person = rows.group_by("p").agg(what=what)
    number = ibis.dense_rank().over(order_by=of_person.what)
    return of_person.select("p", s=number.cast("int64") + 1)


def knowing(persons: Expression, of_tables: Sequence[Expression | None]) -> Expression:
    """The persons with s0, s1 and so on, what may be known of them by table: 0 for no rows, and where nothing is."""
    known = persons
    for position, table in enumerate(of_tables):
        name = f"s{position}"
        if table is None:
            known = known.mutate(**{name: ibis.literal(0, type="int64")})
            continue
        own = table.select(**{"o_p": table.p, name: table.s})
        joined = known.left_join(own, known.p == own.o_p)
        known = joined.select(*known.columns, **{name: joined[name].fill_null(0)})
    return known


def indistinguishable(known: Expression, n_tables: int) -> Expression:
    """How many people are alike in all that may be known of them: e, s0, s1 and so on, people, and a number, id."""
    by = ["e", *(f"s{i}" for i in range(n_tables))]
    groups = known.group_by(by).agg(people=known.count().cast("int64"))
    return groups.mutate(id=ibis.row_number().over(order_by=[groups[name] for name in by]).cast("int64"))


def grouped(known: Expression, groups: Expression, n_tables: int) -> Expression:
    """The persons with the number of those who are alike, `id`; groups : of `indistinguishable`."""
    by = ["e", *(f"s{i}" for i in range(n_tables))]
    named = groups.select(**{f"g_{name}": groups[name] for name in by}, id=groups.id)
    joined = known.inner_join(named, [known[name] == named[f"g_{name}"] for name in by])
    return joined.select("p", "e", "c_a", "id")


def in_groups(rows: Expression, persons: Expression, codes: Sequence[str]) -> Expression:
    """These codes of the rows of persons, with the person, p, and the number of those who are alike, id."""
    own = persons.select(o_p=persons.p, id=persons.id)
    theirs = rows.select(*codes, p=as_key(rows.p))
    return theirs.inner_join(own, theirs.p == own.o_p).drop("o_p")


def holders(rows: Expression, by: Sequence[str]) -> Expression:
    """How many persons there are of each combination, `people`; rows : of `in_groups`."""
    return rows.group_by(list(by)).agg(people=rows.p.nunique().cast("int64"))


def with_groups(persons: Expression, groups: Expression, n_tables: int) -> Expression:
    """The persons with their group and, as w0, w1 and so on, whether their rows of each table are shown.

    persons : of `grouped`; groups : id, known_group, w0, w1 and so on
    """
    more = ["known_group", *(f"w{i}" for i in range(n_tables))]
    numbered = groups.select(s_id=groups.id, **{name: groups[name] for name in more})
    joined = persons.inner_join(numbered, persons.id == numbered.s_id)
    return joined.select("p", "e", "c_a", *more)


def all_released(persons: Expression, n_tables: int) -> Expression:
    """The persons with their equivalence class as their group, and their rows of each table shown."""
    return persons.mutate(known_group=persons.e, **{f"w{i}": ibis.literal(1, type="int8") for i in range(n_tables)})


def in_order(persons: Expression) -> Expression:
    """The persons with their position by key, which is kept nowhere, from 0."""
    return persons.mutate(position=ibis.row_number().over(order_by=persons.p).cast("int64"))


def numbered(persons: Expression, numbers: Expression) -> Expression:
    """The persons with a new key, `number`; numbers : one for each position."""
    drawn = numbers.select(d_position=numbers.position, number=numbers.number)
    joined = persons.inner_join(drawn, persons.position == drawn.d_position)
    return joined.drop("d_position", "position")


def of_many(rows: Expression, k: int) -> Expression:
    """The rows whose known values k people of the equivalence class have; rows : with `key`."""
    by = rows.group_by(["e", "key"]).agg(people=rows.p.nunique())
    many = by.filter(by.people >= k).select(m_e=by.e, m_key=by.key)
    return rows.semi_join(many, [rows.e == many.m_e, rows.key == many.m_key])


def with_persons(rows: Expression, persons: Expression, columns: Mapping[str, str]) -> Expression:
    """Rows with further columns of their persons; columns : by the name that each has then."""
    own = persons.select(**{"o_p": persons.p, **{name: persons[of] for name, of in columns.items()}})
    return rows.inner_join(own, rows.p == own.o_p).drop("o_p")


def text_of(rows: Expression, names: Sequence[str]) -> Expression:
    """The values of several fields of a row as one text, which tells them apart from all others."""
    text = ibis.literal("")
    for name in names:
        value = rows[name].cast("string")
        text = text + value.length().cast("string").fill_null(MISSING) + LENGTH + value.fill_null("")
    return text


def astray(rows: Expression, persons: Expression, flag: str, places: Sequence[str], left_out: str) -> Expression:
    """One row, `n`: the written rows of a linked table that are of nobody who shows them, or not where that person is.

    rows, persons : as they were written; places : the fields that both say where somebody is by
    """
    own = persons.select(
        **{"o_person": persons.vbas_person.cast("int64"), "o_flag": persons[flag].cast("string")},
        **{f"o_{name}": persons[name].cast("int64") for name in places},
    )
    there = rows.mutate(
        i_person=rows.vbas_person.cast("int64"), **{f"i_{name}": rows[name].cast("int64") for name in places}
    )
    joined = there.left_join(own, there.i_person == own.o_person)
    wrong = joined.o_person.isnull() | (joined.o_flag == left_out)
    for name in places:
        wrong |= joined[f"i_{name}"] != joined[f"o_{name}"]
    strays = joined.filter(wrong)
    return strays.aggregate(n=strays.count())


def indistinguishable_as_written(
    persons: Expression, shows: Sequence[str], tables: Sequence[tuple[Expression, Sequence[str], bool]]
) -> Expression:
    """How many people look alike in all that was written, `people` of each looks.

    shows : the fields of persons by which they look alike; tables : the rows of each, their known fields, and whether
    others may know how many there are
    """
    keyed, by = _looking(persons, shows, tables)
    return keyed.group_by(by).agg(people=keyed.count().cast("int64"))


def looks(
    persons: Expression, shows: Sequence[str], tables: Sequence[tuple[Expression, Sequence[str], bool]]
) -> Expression:
    """The persons that were written, numbered by how they look as in `indistinguishable_as_written`: person, look."""
    keyed, by = _looking(persons, shows, tables)
    number = ibis.dense_rank().over(order_by=[keyed[name] for name in by])
    return keyed.select("person", look=number.cast("int64"))


def _looking(
    persons: Expression, shows: Sequence[str], tables: Sequence[tuple[Expression, Sequence[str], bool]]
) -> tuple[Expression, list[str]]:
    """The persons, and the columns by which they look alike."""
    joined_persons = persons.select(
        **{f"l{i}": persons[name] for i, name in enumerate(shows)}, person=persons.vbas_person.cast("int64")
    )
    by = [f"l{i}" for i in range(len(shows))]
    for position, (rows, known, count_known) in enumerate(tables):
        if not known and not count_known:
            continue
        own = rows.select(o_person=rows.vbas_person.cast("int64"), item=text_of(rows, known))
        of_person = own.group_by("o_person").agg(**{f"t{position}": own.item.collect(order_by=own.item)})
        joined = joined_persons.left_join(of_person, joined_persons.person == of_person.o_person)
        joined_persons = joined.drop("o_person")
        by.append(f"t{position}")
    return joined_persons, by


def values_of_looks(rows: Expression, looked: Expression, field: str) -> Expression:
    """The values of a field as they were written: look, person, value; looked : of `looks`."""
    own = rows.select(o_person=rows.vbas_person.cast("int64"), value=rows[field])
    return own.inner_join(looked, own.o_person == looked.person).select("look", "person", "value")


def fewest_with_a_row(persons: Expression, shows: Sequence[str], rows: Expression, known: Sequence[str]) -> Expression:
    """How many people who look alike have each of the written rows, `people`."""
    keyed = persons.select(
        **{f"l{i}": persons[name] for i, name in enumerate(shows)}, person=persons.vbas_person.cast("int64")
    )
    own = rows.select(o_person=rows.vbas_person.cast("int64"), item=text_of(rows, known))
    joined = own.inner_join(keyed, own.o_person == keyed.person)
    return joined.group_by([*(f"l{i}" for i in range(len(shows))), "item"]).agg(
        people=joined.person.nunique().cast("int64")
    )


def how_many_below(groups: Expression, k: int) -> Expression:
    """One row, `below`: how many groups there are of fewer than k people."""
    few = groups.filter(groups.people < k)
    return few.aggregate(below=few.count())
