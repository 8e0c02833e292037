"""Persons in arrays with the tables that belong to them, as a source of a release."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas, identifier_text
from ..arrays import objects
from ..dataclass import dataclass
from ..errors import InputError
from ..language import as_data
from ..nesting.recount import check_where_released
from ..parameters import check_choice
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..privacy.diversity import Shares, shares_of, tallies_of
from ..privacy.kept_field import KeptField
from ..privacy.kept_fields import examine_rows, rows_looked_at
from ..privacy.requirement import Requirement
from ..progress import Progress, part, silent
from ..records.columns import Column, columns_at, smallest_integers
from ..records.matching import Records, area_copy, requirement_of
from ..records.read_alike import columns_read_alike
from ..records.table import PERSONS, RecordTable
from ..release import Release, apply
from ..source import RecordSource, ReleasedRows
from .one_row import rows_of_many
from .recount import check_linked_rows
from .rows import LinkedRows, linked_rows
from .signatures import signatures_of
from .tables import ALL_ROWS, ONE_ROW, PERSON, ROWS_KNOWN, LinkedTable, check_linked
from .withholding import NOWHERE, RowsOfPersons, withhold

SHOWN, LEFT_OUT, IN_PART = as_data("shown"), as_data("left out"), as_data("in part")


@dataclass(frozen=True, eq=False)
class LinkedSource(RecordSource):
    """Persons, one record each, and the tables that belong to them.

    new_key : whether a key that is drawn anew links the released rows of a person; k : how many people must look alike
    in all tables together, None for as many as in the classes of the persons
    rows_known : whether others may know all rows of a person, or one (ROWS_KNOWN)
    """

    tables: tuple[LinkedTable, ...] = ()
    new_key: bool = True
    k: int | None = None
    rows_known: str = ALL_ROWS

    @property
    def linked_names(self) -> tuple[str, ...]:
        """The names of the linked tables."""
        return tuple(table.name for table in self.tables)

    def to_update(self) -> Records:
        """None. Raises InputError."""
        raise linked_in_update()

    def release(self, plan: Plan, nested: bool, requirement: Requirement, progress: Progress = silent) -> ReleasedRows:
        """The persons as a plan shows them, and the rows of their tables, all recounted. Raises InputError and
        PrivacyError."""
        records, k = self.records, plan.k
        where = _where(plan, records)
        equivalence_class, released = where.equivalence_class, where.equivalence_class != SUPPRESSED
        together = k if self.k is None else min(self.k, k)
        asked = _Asked(records, self.tables, replace(requirement, k=together))
        of_persons, of_many = self._rows_of_persons(equivalence_class, asked, progress)
        kept = self._examined(plan, of_persons, of_many, where, together)
        progress(0.6)
        key = new_keys(released)
        keyed = replace(records, table=_with_fields(records.table, self.tables, of_persons, of_many, key, released))
        release = _released(plan, nested, keyed, kept, requirement)
        rows = []
        for i, table in enumerate(self.tables):
            rows.append(
                linked_rows(table, where.level, where.region, of_persons.of_table[i], key, together, of_many[i])
            )
            progress(0.7 + 0.2 * (i + 1) / len(self.tables))
        of = release.rows
        fields = columns_at(release.fields, of)
        check_linked_rows(
            (release.level[of], release.region[of]),
            fields,
            len(records.table.quasi_identifiers),
            [fields[table.flag].categories[fields[table.flag].codes] != LEFT_OUT for table in self.tables],
            rows,
            replace(requirement, k=together),
        )
        if not self.new_key:
            unkeyed = replace(
                records, table=_with_fields(records.table, self.tables, of_persons, of_many, None, released)
            )
            release = _released(plan, nested, unkeyed, kept, requirement)
            rows = [
                linked_rows(table, where.level, where.region, of_persons.of_table[i], None, together, of_many[i])
                for i, table in enumerate(self.tables)
            ]
        progress(1.0)
        return ReleasedRows(release, kept, linked=tuple(rows))

    def _rows_of_persons(
        self, equivalence_class: np.ndarray, asked: _Asked, progress: Progress
    ) -> tuple[RowsOfPersons, list[np.ndarray | None]]:
        """Whose rows are shown, and of each table which rows are, None for all of these people."""
        if self.rows_known == ONE_ROW:
            asked.refuse_more_than_k()
            everywhere = np.tile(equivalence_class >= 0, (len(self.tables), 1))
            of_many = [rows_of_many(table, equivalence_class, asked.k) for table in self.tables]
            number = np.unique(equivalence_class, return_inverse=True)[1].reshape(-1)
            group = np.where(equivalence_class >= 0, number, NOWHERE).astype(np.int64)
            return RowsOfPersons(everywhere, group), [*of_many]
        step, signatures = part(progress, 0.0, 0.5), []
        for i, table in enumerate(self.tables):
            signatures.append(signatures_of(table, len(self.records.table)))
            step((i + 1) / len(self.tables))
        return withhold(equivalence_class, signatures, asked), [None] * len(self.tables)

    def _examined(
        self,
        plan: Plan,
        of_persons: RowsOfPersons,
        of_many: Sequence[np.ndarray | None],
        where: _Where,
        k: int,
    ) -> list[KeptField]:
        """Look at every kept field: of the persons, and of the rows that are shown, each value of a person once."""
        table = self.records.table
        area = np.append(area_of_cells(self.records.profile), SUPPRESSED)[self.records.cell_of]

        def examined(rows: np.ndarray, columns: Mapping[str, Column], known: Mapping[str, Column]) -> list[KeptField]:
            quasi = {**table.quasi_identifiers, **known}
            codes = {name: column.codes[rows] if name not in known else column.codes for name, column in quasi.items()}
            originals = {name: column.original.codes[rows] for name, column in table.coarsened.items()}
            own, at = replace(plan, k=k), where.equivalence_class[rows]
            return examine_rows(own, at, area[rows], columns, codes, originals, of_persons.group[rows])

        kept: list[KeptField] = []
        if table.kept:
            rows = rows_looked_at(of_persons.group, of_persons.n_groups)
            kept += examined(rows, columns_at(table.kept, rows), {})
        for linked, there, some in zip(self.tables, of_persons.of_table, of_many):
            if not linked.kept:
                continue
            group = np.append(np.where(there, of_persons.group, NOWHERE), NOWHERE)[linked.person]
            group = group if some is None else np.where(some, group, NOWHERE)
            rows = rows_looked_at(group, of_persons.n_groups)
            for name, column in linked.kept.items():
                once = _once(linked.person[rows], column.codes[rows], len(column.categories))
                at = rows[once]
                called = {f"{linked.name}.{name}": column.at(at)}
                known = {f"{linked.name}.{own}": of for own, of in columns_at(linked.known, at).items()}
                kept += examined(linked.person[at], called, known)
        return kept


def link(
    records: Records,
    tables: Sequence[LinkedTable],
    areas: Areas,
    new_key: bool = True,
    key: str = "",
    k: int | None = None,
    rows_known: str = ALL_ROWS,
) -> LinkedSource:
    """Persons with the tables that belong to them, checked.

    records : one a person, matched with the areas; key : the field that links them, for messages;
    k, rows_known : as in `LinkedSource`
    Raises InputError for rows that stand for several people, names that cannot be released, and fields that repeat the
    person's area.
    """
    table = records.table
    if table.counts is not None:
        raise refused_together("RECORD_COUNT")
    if PERSONS in table.members:
        raise refused_together("PERSON_ID")
    check_linked(tables, [*table.quasi_identifiers, *table.kept], key)
    tables = [
        replace(linked, known=columns_read_alike(linked.known), kept=columns_read_alike(linked.kept))
        for linked in tables
    ]
    area = np.append(area_of_cells(records.profile), SUPPRESSED)[records.cell_of]
    for linked in tables:
        inside = linked.person >= 0
        home = area[linked.person[inside]]
        for name, column in linked.fields.items():
            texts = np.array([identifier_text(value) for value in column.categories], dtype=object)
            position = areas.named_by(texts)
            if len(home) and (position >= 0).any() and np.mean(position[column.codes[inside]] == home) > 0.5:
                raise area_copy(f"{linked.name}.{name}")
    check_choice("ROWS_KNOWN", rows_known, ROWS_KNOWN)
    return LinkedSource(records, tuple(tables), new_key, k, rows_known)


def refused_together(name: str) -> InputError:
    """What is said of a parameter that linked tables do not know."""
    return InputError.saying(
        "{name} and linked tables do not go together yet: what they tell together cannot be checked. Leave {name} as "
        "it is by default.",
        name=name,
    )


def more_than_k() -> InputError:
    """What is said of what is asked beside k where others may know one row of a person."""
    return InputError.saying(
        "ROWS_KNOWN “{rows_known}” does not go together yet with HOUSEHOLD_ID, L_DIVERSITY and MAX_SHARE: choose "
        "“{all_rows}”, or leave these as they are by default.",
        rows_known=ONE_ROW,
        all_rows=ALL_ROWS,
    )


def linked_in_update() -> InputError:
    """What is said of an update that is to show linked tables."""
    return InputError.saying(
        "An update shows persons alone: what the rows of linked tables tell of one person beside those of earlier "
        "months cannot be checked. Leave LINKED_TABLES empty, and release linked tables once, in one run."
    )


def new_keys(released: np.ndarray) -> np.ndarray:
    """A new key for each released person, 1..n in an order from the system's own source; 0 for the others, (N,) int64.

    The old keys and their order have no part in it, and it is kept nowhere.
    """
    rows = np.flatnonzero(released)
    drawn = np.frombuffer(secrets.token_bytes(16 * len(rows)), np.uint64).reshape(len(rows), 2)
    keys = np.zeros(len(released), np.int64)
    keys[rows[np.lexsort(drawn.T)]] = np.arange(1, len(rows) + 1, dtype=np.int64)
    return keys


@dataclass(frozen=True, eq=False)
class _Where:
    """Where each of N persons is shown: the equivalence class, SUPPRESSED for none; level and region, NOWHERE for none;
    (N,) int64."""

    equivalence_class: np.ndarray
    level: np.ndarray
    region: np.ndarray


def _where(plan: Plan, records: Records) -> _Where:
    """Where a plan shows each person."""
    equivalence_class = np.append(plan.counted.equivalence_class_of, SUPPRESSED)[records.cell_of].astype(np.int64)
    level = np.append(plan.level, NOWHERE)[equivalence_class].astype(np.int64)
    region = np.append(plan.region, NOWHERE)[equivalence_class].astype(np.int64)
    return _Where(equivalence_class, level, region)


def _released(
    plan: Plan, nested: bool, records: Records, kept: Sequence[KeptField], requirement: Requirement
) -> Release:
    """The persons' rows, recounted. Raises InputError and PrivacyError."""
    whole = not (requirement.asks_for_values or plan.in_part)
    release = apply(plan, records, kept, requirement)
    if nested:
        check_where_released(release, records.profile, plan.levels, whole, plan.hierarchies_of_levels)
    return release


class _Asked:
    """What is asked of people who look alike: each person is a cell of its own."""

    def __init__(self, records: Records, tables: Sequence[LinkedTable], requirement: Requirement) -> None:
        self.k = requirement.k
        alone = replace(records, cell_of=np.arange(len(records.table), dtype=np.int64))
        self._of_persons = requirement_of(alone, requirement.k, requirement.l_diversity, requirement.max_share)
        self._of_values = replace(requirement, members=(), shares=(), series=None)
        asks = requirement.l_diversity > 1 or requirement.max_share < 100
        self._shares: list[list[Shares]] = [self._values_of(table) if asks else [] for table in tables]

    def refuse_more_than_k(self) -> None:
        """Refuse what is asked beside k where others may know one row. Raises InputError."""
        if self._of_persons.asks_for_more or any(self._shares):
            raise more_than_k()

    @staticmethod
    def _values_of(table: LinkedTable) -> list[Shares]:
        there = table.person >= 0
        person = table.person[there]
        return [
            shares_of(name, person, table.kept[name].codes[there], None, {PERSONS: person}) for name in table.sensitive
        ]

    def people(self, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether the people of each group are enough, and different enough, (n_groups,) bool."""
        inside = np.flatnonzero(group >= 0)
        enough = np.bincount(group[inside], minlength=n_groups) >= self.k
        if self._of_persons.asks_for_more:
            enough &= self._of_persons.holds(inside, group[inside], n_groups)
        return enough

    def values(self, table: int, group: np.ndarray, n_groups: int) -> np.ndarray:
        """Whether what a table shows of the people of each group is different enough; of those who have any rows."""
        fits = np.ones(n_groups, bool)
        for shares in self._shares[table]:
            inside = np.flatnonzero(group >= 0)
            asked = replace(self._of_values, shares=(shares,))
            has = np.zeros(n_groups, bool)
            for tally in tallies_of(group, shares, n_groups):
                has |= tally.people > 0
            fits &= asked.holds(inside, group[inside], n_groups) | ~has
        return fits


def _with_fields(
    table: RecordTable,
    linked: Sequence[LinkedTable],
    of_persons: RowsOfPersons,
    of_many: Sequence[np.ndarray | None],
    key: np.ndarray | None,
    released: np.ndarray,
) -> RecordTable:
    """The persons with a field for each table that says whether its rows are shown, and with the new key."""
    words = np.array([LEFT_OUT, SHOWN, IN_PART], dtype=object)
    more = {}
    for of, there, some in zip(linked, of_persons.of_table, of_many):
        # Of everybody, or of nobody: in which classes rows are left out is not said.
        in_part = some is not None and bool((~some & np.append(released, False)[of.person]).any())
        more[of.flag] = Column(there.astype(np.int8) * (2 if in_part else 1), words)
    if key is not None:
        n = int(released.sum())
        numbers = objects(np.arange(1, max(n, 1) + 1, dtype=np.int64).tolist())
        more[PERSON] = Column(smallest_integers(np.maximum(key - 1, 0), max(n, 1)), numbers)
    return replace(table, kept={**table.kept, **more})


def _once(person: np.ndarray, codes: np.ndarray, n_codes: int) -> np.ndarray:
    """The first row of each person and value."""
    return np.unique(person * max(n_codes, 1) + codes, return_index=True)[1]


__all__ = ["LEFT_OUT", "SHOWN", "LinkedRows", "LinkedSource", "link", "new_keys", "refused_together"]
