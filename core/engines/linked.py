"""Persons in an engine with the tables that belong to them, as a source of a release: counted where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from ..areas import Areas
from ..arrays import objects
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..linked.recount import strange, too_few, too_homogeneous
from ..linked.rows import LinkedRows
from ..linked.source import IN_PART, LEFT_OUT, SHOWN, linked_in_update, more_than_k, new_keys
from ..linked.tables import (
    ALL_ROWS,
    ONE_ROW,
    OURS,
    PERSON,
    LinkedTable,
    check_linked,
    keys_missing,
    keys_twice,
    left_out_rows,
    rows_of_nobody,
)
from ..linked.withholding import withhold
from ..log import QUIET, Log
from ..nesting.recount import check_where_released
from ..plan import Plan
from ..privacy.kept_field import KeptField
from ..privacy.kept_fields import ROWS_LOOKED_AT, examine_rows, refuse_kept_fields
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from ..records.columns import Column, column_from_values, columns_at
from ..records.matching import STOP, Records, area_copy
from ..source import ReleasedRows
from . import linked_steps, steps
from .dictionaries import kept_dictionary
from .engine import Engine, Expression
from .examining import categories_of, columns_looked_at, encoded, whole_numbers
from .in_place import Matched
from .linked_asked import People, holders_in_place, requirement_of_groups
from .profiling import size_of
from .releasing import StagedInPlace, check_members, check_values, counted_once_more, released_by, tables_of_plan
from .showing import Showing, showing
from .source import EngineSource

NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class LinkedFields:
    """A linked table in an engine, and its fields.

    name : in the release; table : of the engine; key : says whose a row is; known, kept, sensitive : as in
    `LinkedTable`
    """

    name: str
    table: str
    key: str
    known: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RowsInPlace(LinkedRows):
    """The released rows of a linked table that stay in an engine. n : how many there are; read : reads them"""

    n: int = 0
    read: Callable[[], LinkedRows] | None = None

    def __len__(self) -> int:
        return self.n

    def whole(self) -> LinkedRows:
        """With the rows, read from the engine."""
        return self if self.read is None else self.read()


@dataclass(frozen=True, eq=False)
class LinkedEngineSource(EngineSource):
    """Persons in an engine, one row each by `RecordFields.key`, and the tables that belong to them.

    tables : of the same engine, the last left out first; new_key, rows_known : as in `LinkedSource`; least : how many
    people must look alike in all tables together, None for as many as in the classes of the persons; count_known : of
    tables of which nothing is known else; log : hears of rows that are of nobody
    """

    tables: tuple[LinkedFields, ...] = ()
    least: int | None = None
    rows_known: str = ALL_ROWS
    count_known: bool = True
    areas: Areas | None = None
    log: Log = field(default=QUIET)

    @property
    def linked_names(self) -> tuple[str, ...]:
        """The names of the linked tables."""
        return tuple(table.name for table in self.tables)

    def to_update(self) -> Records:
        """None. Raises InputError."""
        raise linked_in_update()

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The persons as a plan shows them, and the rows of their tables, written and counted in the engine, and seen
        by nobody yet. Raises InputError, PrivacyError and EngineError."""
        asks = requirement.l_diversity > 1 or requirement.max_share < 100
        of_tables = asks and any(table.sensitive for table in self.tables)
        if self.rows_known == ONE_ROW and (requirement.asks_for_more or of_tables):
            raise more_than_k()
        released, whole = released_by(plan), not (requirement.asks_for_values or plan.in_part)
        if nested:
            check_where_released(released, self.matched.profile, plan.levels, whole, plan.hierarchies_of_levels)
        work = _Work(self, plan, nested, requirement, progress)
        kept, staged = work.released()
        return ReleasedRows(released, kept, staged, tuple(work.rows))


def check_tables(engine: Engine, tables: Sequence[LinkedFields], released: Sequence[str], key: str) -> None:
    """Refuse linked tables, and fields of them, that are not there or cannot be released. Raises InputError.

    released : names of the fields of the persons that are released; key : the field that links them
    """
    nothing = Column(np.zeros(0, np.int8), np.empty(0, object))
    check_linked(
        [
            LinkedTable(
                table.name,
                NO_ROWS,
                dict.fromkeys(table.known, nothing),
                dict.fromkeys(table.kept, nothing),
                table.sensitive,
            )
            for table in tables
        ],
        released,
        key,
    )
    for table in tables:
        there = engine.fields_beside(table.table)
        lost = [name for name in (table.key, *table.known, *table.kept) if name not in there]
        if lost:
            raise InputError.saying(
                "Table “{table}” has no field “{field}”; it has {there}: write the names as the table does.",
                table=table.name,
                field=lost[0],
                there=first_values(there, 12),
            )


@dataclass(eq=False)
class _Table:
    """A linked table at work.

    mine : its rows that are of released persons, coded; sensitive : of which fields, by their codes there, something is
    asked; released : those that are shown
    """

    fields: LinkedFields
    known: list[str]
    kept: list[str]
    sensitive: dict[str, str]
    mine: Expression
    n_given: int
    n_persons: int
    released: Expression = None
    n_left_out: int = 0
    flagged: int = 0
    in_part: bool = False


class _Work:
    """A release of persons and linked tables in an engine, step by step."""

    def __init__(
        self,
        source: LinkedEngineSource,
        plan: Plan,
        nested: bool,
        requirement: Requirement,
        progress: Progress,
    ) -> None:
        self.source, self.plan, self.nested, self.progress = source, plan, nested, progress
        self.requirement = requirement
        self.asks_of_values = requirement.l_diversity > 1 or requirement.max_share < 100
        self.matched: Matched = source.matched
        self.in_place = self.matched.in_place
        self.engine: Engine = self.in_place.engine
        self.k = plan.k if source.least is None else min(source.least, plan.k)
        self.rows: list[RowsInPlace] = []
        self.everybody: Expression = None

    def released(self) -> tuple[list[KeptField], StagedInPlace]:
        """What the kept fields tell, and what was written."""
        engine, plan = self.engine, self.plan
        shows = showing(self.in_place, plan)
        places = tables_of_plan(self.matched, plan, np.ones(len(plan.records), bool))
        placed = steps.placed(self.in_place.rows, *places, False)
        self._check_classes(shows.of(steps.placed(self.in_place.with_others, *places, False)))
        self.everybody = engine.keep("vbas_everybody", linked_steps.everybody(self.in_place.rows))
        self._check_keys()
        persons = engine.keep("vbas_people", linked_steps.people(placed))
        tables = [self._read(position, table, persons) for position, table in enumerate(self.source.tables)]
        self.progress(0.2)
        keyed = self._keyed(self._with_groups(persons, tables))
        self.progress(0.4)
        kept = self._examined(placed, keyed, tables)
        refuse_kept_fields(kept)
        staged = self._staged(shows, placed, keyed, tables)
        self.progress(1.0)
        return kept, staged

    def _check_classes(self, placed: Expression) -> None:
        """Count the households and sensitive values of the persons' classes. Raises PrivacyError."""
        check_members(self.matched, self.plan, placed)
        if self.requirement.asks_for_values:
            check_values(self.matched, self.requirement, placed)

    def _row(self, expression: Expression) -> dict[str, Any]:
        (row,) = (row for batch in self.engine.fetch(expression) for row in batch.to_pylist())
        return dict(row)

    def _number(self, expression: Expression) -> int:
        return int(self._row(expression.aggregate(n=expression.count()))["n"])

    def _check_keys(self) -> None:
        """Refuse persons without a key, and keys of several. Raises InputError."""
        counted = self._row(linked_steps.keys(self.everybody))
        if counted["missing"]:
            raise keys_missing(int(counted["missing"]))
        if counted["different"] < counted["rows"]:
            twice = self.engine.fetch(linked_steps.keys_twice(self.everybody))
            raise keys_twice([row["p"] for batch in twice for row in batch.to_pylist()])

    def _read(self, position: int, table: LinkedFields, persons: Expression) -> _Table:
        """A table with the codes of what is known of its rows. Raises InputError for rows of nobody."""
        engine = self.engine
        known = [f"t{position}x{i}" for i in range(len(table.known))]
        kept = [f"t{position}y{i}" for i in range(len(table.kept))]
        names = {"p": table.key, **dict(zip(known, table.known)), **dict(zip(kept, table.kept))}
        rows = engine.beside(table.table, names, f"vbas_linked_{position}")
        lost = linked_steps.of_nobody(rows, self.everybody)
        n_lost = self._number(lost)
        if n_lost and self.source.unmatched == STOP:
            some = lost.select("p").distinct().order_by("p").limit(5)
            keys = [row["p"] for batch in engine.fetch(some) for row in batch.to_pylist()]
            raise rows_of_nobody(table.name, n_lost, keys)
        if n_lost:
            self.source.log.warn(left_out_rows(table.name, n_lost))
        coded = [kept_dictionary(engine, rows, column) for column in known]
        sizes = {column: len(values) for column, (_, values) in zip(known, coded)}
        values = {column: of for column, (of, _) in zip(known, coded)}
        if steps.reach(sizes, known) > steps.MOST_CLASSES:
            raise InputError.saying(
                "LINKED_KNOWN of table “{table}” could make more combinations than 64 bits can number: name fewer "
                "fields, or group their values first.",
                table=table.name,
            )
        sensitive = {name: kept[table.kept.index(name)] for name in table.sensitive if self.asks_of_values}
        for column in sensitive.values():
            values[column] = engine.keep(f"vbas_{column}", steps.dictionary(rows, column))
            sizes[column] = size_of(engine, values[column])
        mine = linked_steps.of_people(rows, persons)
        mine = steps.coded(mine, values, sizes, known)
        mine = engine.keep(f"vbas_mine_{position}", mine)
        self._refuse_area(table, dict(zip((*known, *kept), (*table.known, *table.kept))), mine)
        n_persons = self._number(linked_steps.who_has_rows(rows, self.everybody))
        codes = {name: f"c_{column}" for name, column in sensitive.items()}
        return _Table(table, known, kept, codes, mine, self._number(rows), n_persons)

    def _refuse_area(self, table: LinkedFields, fields: Mapping[str, str], mine: Expression) -> None:
        """Refuse a field that repeats the person's area. Raises InputError."""
        areas = self.source.areas
        if areas is None or not fields:
            return
        position = self.matched.area_of
        code = np.flatnonzero(position >= 0)
        names = [name.lstrip("0") for name in areas.identifiers[position[code]].tolist()]
        columns = {"c_a": code.astype(np.int32), "home": objects(names)}
        homes = self.engine.upload(f"vbas_homes_{table.name}", columns)
        for column, name in fields.items():
            counted = self._row(linked_steps.of_home(mine, homes, column))
            if counted["rows"] and counted["same"] > 0.5 * counted["rows"]:
                raise area_copy(f"{table.name}.{name}")

    def _with_groups(self, persons: Expression, tables: Sequence[_Table]) -> Expression:
        """The persons with their group, and whether their rows of each table are shown; the tables learn which are."""
        n_tables = len(tables)
        if self.source.rows_known == ONE_ROW:
            for table in tables:
                table.released = table.mine
                if table.known:
                    of_many = linked_steps.of_many(table.mine, self.k)
                    table.released = self.engine.keep(f"vbas_shown_{table.fields.name}", of_many)
                    n_left = self._number(table.mine) - self._number(table.released)
                    table.in_part = n_left > 0
                    table.n_left_out = self._people_who_lack(table) if n_left else 0
            return linked_steps.all_released(persons, n_tables)
        known: list[Expression | None] = []
        for position, table in enumerate(tables):
            if not table.known and not self.source.count_known:
                known.append(None)
                continue
            of_person = linked_steps.signatures(table.mine, bool(table.known))
            known.append(self.engine.keep(f"vbas_told_{position}", of_person))
        knowing = self.engine.keep("vbas_knowing", linked_steps.knowing(persons, known))
        groups = self.engine.keep("vbas_indistinguishable", linked_steps.indistinguishable(knowing, n_tables))
        batches = list(self.engine.fetch(groups))
        by_number = np.argsort(whole_numbers(batches, "id"))
        e, people = (whole_numbers(batches, name)[by_number] for name in ("e", "people"))
        signatures = [whole_numbers(batches, f"s{i}")[by_number] for i in range(n_tables)]
        grouped = self.engine.keep("vbas_grouped", linked_steps.grouped(knowing, groups, n_tables))
        of_persons = withhold(e, signatures, self._asked(grouped, people, tables), people)
        flags = {f"w{i}": of_persons.of_table[i].astype(np.int8) for i in range(n_tables)}
        groups_uploaded = self.engine.upload(
            "vbas_known_groups", {"id": np.arange(len(e), dtype=np.int64), "known_group": of_persons.group, **flags}
        )
        with_groups = self.engine.keep(
            "vbas_grouped_persons", linked_steps.with_groups(grouped, groups_uploaded, n_tables)
        )
        for position, table in enumerate(tables):
            there = with_groups.filter(with_groups[f"w{position}"] == 1).select(o_p=with_groups.p)
            table.released = table.mine.semi_join(there, table.mine.p == there.o_p)
            table.flagged = int(people[~of_persons.of_table[position]].sum())
            lost = table.mine.anti_join(there, table.mine.p == there.o_p).select("p").distinct()
            table.n_left_out = self._number(lost)
        return with_groups

    def _asked(self, grouped: Expression, people: np.ndarray, tables: Sequence[_Table]) -> People:
        """What is asked of those who look alike; grouped : the persons with their group; people : of each group."""
        requirement = requirement_of_groups(self.matched, grouped, self.requirement, self.k)
        values = [holders_in_place(self.engine, grouped, table.mine, table.sensitive, len(people)) for table in tables]
        return People(requirement, people, values)

    def _people_who_lack(self, table: _Table) -> int:
        """The persons of whom some rows are not shown."""
        every = table.mine.group_by("p").agg(n=table.mine.count())
        rows = table.released.group_by("p").agg(n=table.released.count())
        there = rows.select(o_p=rows.p, m=rows.n)
        both = every.left_join(there, every.p == there.o_p)
        return self._number(both.filter(both.m.fill_null(0) < both.n))

    def _keyed(self, with_groups: Expression) -> Expression:
        """The persons with their new keys, drawn here from the system's own source, and kept nowhere."""
        n = self.plan.n_released
        numbers = {"position": np.arange(n, dtype=np.int64), "number": new_keys(np.ones(n, bool))}
        drawn = self.engine.upload("vbas_numbers", numbers)
        keyed = self.engine.keep("vbas_keyed", linked_steps.numbered(linked_steps.in_order(with_groups), drawn))
        if self._number(keyed) != n:
            raise strange()
        return keyed

    def _examined(self, placed: Expression, keyed: Expression, tables: Sequence[_Table]) -> list[KeptField]:
        """Look at every kept field: of the persons, and of the rows that are shown, each value of a person once."""
        plan, in_place = self.plan, self.in_place
        own = [f"k{i}" for i in range(len(in_place.fields.kept))]
        n_groups = int(self._row(keyed.aggregate(n=keyed.known_group.max()))["n"] or 0) + 1
        most = max(plan.n_released, *(table.n_given for table in tables if table.kept), 1)
        drawn = np.random.default_rng(0).random(n_groups) < ROWS_LOOKED_AT / most
        looked_at = self.engine.upload("vbas_looked_at", {"l_known_group": np.flatnonzero(drawn)})
        some = keyed.semi_join(looked_at, keyed.known_group == looked_at.l_known_group)
        fine, codes = columns_looked_at(in_place)
        theirs = placed.select(
            **{"i_p": linked_steps.as_key(placed.p)},
            **{name: placed[name] for name in (*own, *fine.values(), *codes.values())},
        )
        joined = some.inner_join(theirs, some.p == theirs.i_p).drop("i_p")
        of_person = ["number", "e", "known_group", "c_a", *fine.values(), *codes.values()]
        examined: list[KeptField] = []
        if own:
            batches = list(self.engine.fetch(joined.select(*of_person, *own)))
            columns = {name: encoded(batches, key) for key, name in zip(own, in_place.fields.kept)}
            examined += self._read_for_examination(batches, columns, {}, fine, codes)
        for table in tables:
            if not table.kept:
                continue
            persons = joined.select("p", *of_person)
            whose = {f"i_{name}": name for name in of_person}
            rows = linked_steps.with_persons(table.released, persons, whose)
            known = [f"c_{name}" for name in table.known]
            batches = list(self.engine.fetch(rows.select(*whose, *known, *table.kept)))
            called = [f"{table.fields.name}.{name}" for name in table.fields.known]
            beside = dict(zip(called, (whole_numbers(batches, name) for name in known)))
            for key, name in zip(table.kept, table.fields.kept):
                column = {f"{table.fields.name}.{name}": encoded(batches, key)}
                examined += self._read_for_examination(batches, column, beside, fine, codes, "i_", once=True)
        return examined

    def _read_for_examination(
        self,
        batches: list[Any],
        columns: Mapping[str, Column],
        known: Mapping[str, np.ndarray],
        fine: Mapping[str, str],
        codes: Mapping[str, str],
        before: str = "",
        once: bool = False,
    ) -> list[KeptField]:
        """Look at fields of rows that were read; before : how the fields of their persons begin; once : each value of a
        person"""
        number, e, group, c_a = (
            whole_numbers(batches, before + name) for name in ("number", "e", "known_group", "c_a")
        )
        rows = np.arange(len(number), dtype=np.int64)
        if once:
            (column,) = columns.values()
            _, rows = np.unique(number * max(len(column.categories), 1) + column.codes, return_index=True)
        beside = {name: values[rows] for name, values in known.items()}
        e, group, area = e[rows], group[rows], self.matched.area_of[c_a[rows]]
        originals = {name: whole_numbers(batches, before + key)[rows] for name, key in fine.items()}
        quasi = {
            name: categories_of(self.in_place, i, whole_numbers(batches, before + key)[rows])
            for i, (name, key) in enumerate(codes.items())
        }
        own = replace(self.plan, k=self.k)
        return examine_rows(own, e, area, columns_at(columns, rows), {**quasi, **beside}, originals, group)

    def _staged(self, shows: Showing, placed: Expression, keyed: Expression, tables: Sequence[_Table]) -> StagedInPlace:
        """Write the persons and the rows of their tables, and count them once more as they were written."""
        engine, fields, destination = self.engine, self.in_place.fields, self.source.destination
        places = ["vbas_level", "vbas_region"] if self.nested else ["vbas_region"]
        decoded = dict(zip(fields.quasi_identifiers, shows.dictionaries.values())) if engine.decodes else {}
        released = self._persons(shows, placed, keyed, tables)
        written = engine.stage(released, destination, decoded)
        of_tables = []
        for table in tables:
            rows = self._rows(table, placed, keyed)
            of_tables.append(engine.stage(rows, engine.place_beside(destination, table.fields.name), {}))
        self.progress(0.7)
        levels, n = counted_once_more(engine, self.plan, shows, fields, self.nested, written)
        self._check_together(written, of_tables, places, tables)
        for table, rows in zip(tables, of_tables):
            self.rows.append(self._rows_in_place(table, self._number(rows), rows))
        engine.unchanged()
        flags = tuple(OURS + table.fields.name for table in tables)
        of_written = replace(fields, kept=(*fields.kept, *flags, PERSON), key="")
        return StagedInPlace(engine, levels, n, (), written, of_written)

    def _persons(self, shows: Showing, placed: Expression, keyed: Expression, tables: Sequence[_Table]) -> Expression:
        """What is released of the persons, sorted by what it shows."""
        fields, as_codes = self.in_place.fields, self.engine.decodes
        flags = {f"i_w{i}": f"w{i}" for i in range(len(tables))}
        own = shows.of(placed)
        own = own.mutate(p=linked_steps.as_key(own.p))
        rows = linked_steps.with_persons(own, keyed, {"i_number": "number", **flags})
        level = [rows.l_level.cast("int64").name("vbas_level")] if self.nested else []
        quasi = [rows[f"c_q{i}" if as_codes else f"q{i}"].name(name) for i, name in enumerate(fields.quasi_identifiers)]
        shown_as = []
        for i, table in enumerate(tables):
            there = IN_PART if table.in_part else SHOWN
            shown_as.append((rows[f"i_w{i}"] == 1).ifelse(there, LEFT_OUT).name(OURS + table.fields.name))
        kept = [rows[f"k{i}"].name(name) for i, name in enumerate(fields.kept)]
        person = [rows.i_number.cast("int64").name(PERSON)]
        order = [rows.l_level, rows.l_region, rows.key, rows.i_number]
        region = [rows.l_region.cast("int64").name("vbas_region")]
        return rows.order_by(order).select(*level, *region, *quasi, *kept, *shown_as, *person)

    def _rows(self, table: _Table, placed: Expression, keyed: Expression) -> Expression:
        """What is released of a linked table, sorted by person."""
        where = placed.select(e=placed.l_look.cast("int64"), level=placed.l_level, region=placed.l_region).distinct()
        where = where.select(o_e=where.e, level=where.level, region=where.region)
        rows = linked_steps.with_persons(table.released, keyed, {"i_number": "number"})
        rows = rows.inner_join(where, rows.e == where.o_e).drop("o_e")
        columns = [rows.i_number.cast("int64").name(PERSON)]
        columns += [rows.level.cast("int64").name("vbas_level")] if self.nested else []
        columns.append(rows.region.cast("int64").name("vbas_region"))
        names = (*zip(table.known, table.fields.known), *zip(table.kept, table.fields.kept))
        columns += [rows[own].name(name) for own, name in names]
        order = [rows.i_number, rows.key, *(rows[name] for name in table.kept)]
        return rows.order_by(order).select(*columns)

    def _check_together(
        self, written: Expression, of_tables: Sequence[Expression], places: list[str], tables: Sequence[_Table]
    ) -> None:
        """Count who looks alike in all that was written. Raises PrivacyError."""
        one_row = self.source.rows_known == ONE_ROW
        for table, rows in zip(tables, of_tables):
            flag = OURS + table.fields.name
            if self._row(linked_steps.astray(rows, written, flag, places, LEFT_OUT))["n"]:
                raise strange()
        if self._row(written.aggregate(n=written.vbas_person.nunique()))["n"] != self.plan.n_released:
            raise strange()
        flags = [OURS + table.fields.name for table in tables]
        shows = [*places, *self.in_place.fields.quasi_identifiers, *flags]
        counted = [(rows, table.fields.known, self.source.count_known) for table, rows in zip(tables, of_tables)]
        groups = [linked_steps.indistinguishable_as_written(written, shows, [] if one_row else counted)]
        if one_row:
            groups += [
                linked_steps.fewest_with_a_row(written, shows, rows, known) for rows, known, _ in counted if known
            ]
        for group in groups:
            below = self._row(linked_steps.how_many_below(group, self.k))["below"]
            if below:
                raise too_few(int(below), self.k)
        if any(table.sensitive for table in tables):
            looked = self.engine.keep("vbas_looks", linked_steps.looks(written, shows, counted))
            for table, rows in zip(tables, of_tables):
                self._check_values(table, rows, looked)

    def _check_values(self, table: _Table, rows: Expression, looked: Expression) -> None:
        """Count the sensitive values of those who look alike as they were written. Raises PrivacyError."""
        asked = self.requirement.l_diversity, self.requirement.max_share
        for name in table.sensitive:
            values = linked_steps.values_of_looks(rows, looked, name)
            wrong = self._number(steps.too_homogeneous(values, ["look"], "person", "value", *asked))
            if wrong:
                raise too_homogeneous(wrong, name, table.fields.name)

    def _rows_in_place(self, table: _Table, n: int, written: Expression) -> RowsInPlace:
        """What is known of a table that was written."""
        fields = {name: column_from_values([]) for name in (*table.fields.known, *table.fields.kept)}
        in_place = RowsInPlace(
            table.fields.name,
            NO_ROWS,
            NO_ROWS,
            NO_ROWS,
            fields,
            len(table.known),
            table.fields.sensitive,
            self.source.count_known,
            table.n_given,
            table.n_persons,
            table.n_left_out,
            table.flagged,
            self.k,
            self.source.rows_known,
            n,
        )
        return replace(in_place, read=partial(_rows_read, self.engine, written, in_place, self.plan, self.nested))


def _rows_read(engine: Engine, written: Expression, in_place: RowsInPlace, plan: Plan, nested: bool) -> LinkedRows:
    """The rows of a linked table as they were written."""
    batches = list(engine.fetch(written))
    number = whole_numbers(batches, "vbas_region")
    level = whole_numbers(batches, "vbas_level") - 1 if nested else np.zeros(len(number), np.int64)
    region = plan.levels.regions(level, number)
    fields = {name: encoded(batches, name) for name in in_place.fields}
    return replace(
        in_place, level=level, region=region, person=whole_numbers(batches, PERSON), fields=fields, read=None
    )
