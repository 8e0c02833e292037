"""The tables of a release that go into its folder: records, crosswalk and regions, from the account of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..anonymise import Account
from ..arrays import to_list
from ..crosswalk import Crosswalk
from ..language import tr
from ..levels import Levels
from ..linked.rows import LinkedRows
from ..linked.tables import OURS, PERSON
from ..records.columns import Column, column_of_numbers
from ..records.table import COUNT_FIELD
from ..release import Release
from ..tables import linked as declared_linked
from ..tables import regions as declared
from ..tables.schema import OutputField, OutputTable
from .table import (
    AREA,
    COUNT,
    FLAG,
    INTEGER,
    KEPT,
    LEVEL,
    PARENT,
    QUASI,
    REGION,
    SENSITIVE,
    STRING,
    Crs,
    DataField,
    DataTable,
    column_of,
    typed,
)
from .table import PERSON as WHOSE

RECORDS, CROSSWALK, REGIONS = "records", "crosswalk", "regions"
ROLES = {"vbas_level": LEVEL, "vbas_region": REGION, "vbas_parent": PARENT, COUNT_FIELD: COUNT}


def tables_of_release(
    account: Account,
    area_field: str = "area",
    shapes: Sequence[np.ndarray] = (),
    crs: Crs | None = None,
    release: Release | None = None,
) -> tuple[DataTable, ...]:
    """Records, crosswalk and regions of a release: what is published of it, and no more.

    Parameters
    ----------
    account : Account
        Of the release.
    area_field : str
        What the areas' identifiers are called in the crosswalk, where they are text.
    shapes : sequence of ndarray of shape (n_regions,), optional
        Of each level the polygons of its regions.
    crs : Crs, optional
        Of the shapes.
    release : Release, optional
        The rows, where those of the account lack fields that are released, as of records in an engine.

    Raises
    ------
    LookupError
        For an account of what a release would be.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import Ask, anonymise
    >>> from vbas.core.levels import Levels
    >>> from vbas.core.package.dataset import tables_of_release
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2))
    >>> [(table.name, table.names, len(table)) for table in tables_of_release(account)]
    [('records', ('vbas_region', 'sex'), 7), ('crosswalk', ('area', 'vbas_region'), 4), \
('regions', ('vbas_region', 'areas', 'released'), 2)]
    """
    return (
        _records(account, account.release if release is None else release),
        _crosswalk(account, area_field),
        _regions(account, shapes, crs),
        *linked_tables_of_release(account),
    )


def linked_tables_of_release(account: Account) -> tuple[DataTable, ...]:
    """The released rows of the linked tables, in the order of the account; none where there are none."""
    return () if account.rows is None else tuple(_linked(account, rows.whole()) for rows in account.rows.linked)


def _linked(account: Account, rows: LinkedRows) -> DataTable:
    says = declared_linked.RELEASED_LINKED
    numbers = np.zeros_like(rows.region)
    for level, crosswalk in enumerate(account.levels.crosswalks):
        here = rows.level == level
        numbers[here] = crosswalk.numbers[rows.region[here]]
    own = {"vbas_level": rows.level + 1} if account.nested else {}
    own = {**({} if rows.person is None else {PERSON: rows.person}), **own, "vbas_region": numbers}
    fields = [_own(says, name, WHOSE if name == PERSON else "") for name in own]
    columns = [column_of_numbers(values) for values in own.values()]
    for position, (name, column) in enumerate(rows.fields.items()):
        kind, plain = typed(column)
        role = QUASI if position < rows.known else SENSITIVE if name in rows.sensitive else KEPT
        fields.append(DataField(name, kind, name, "", "", role))
        columns.append(plain)
    title = tr("Released rows of “{table}”", table=rows.name)
    return _table(rows.name, replace(says, title=title), fields, columns, np.ones(len(rows), np.int64))


def _records(account: Account, release: Release) -> DataTable:
    table, nested, levels = account.source.values(), account.nested, account.levels
    sensitive = {shares.field for shares in account.requirement.shares}
    flags = {OURS + rows.name for rows in ([] if account.rows is None else account.rows.linked)}
    numbers = release.numbers(levels.crosswalks)
    fields, columns = [], []
    places = {"vbas_level": release.level + 1, "vbas_region": numbers} if nested else {"vbas_region": numbers}
    for name, values in places.items():
        fields.append(_own(declared.RELEASED_RECORDS, name))
        columns.append(column_of_numbers(values))
    for position, (name, column) in enumerate(release.fields.items()):
        kind, plain = typed(column)
        if name in flags or name == PERSON:
            fields.append(_own(declared_linked.RELEASED_PERSONS, name, WHOSE if name == PERSON else FLAG))
            columns.append(plain)
            continue
        role = QUASI if position < len(table.quasi_identifiers) else SENSITIVE if name in sensitive else KEPT
        coarsened = table.coarsened.get(name)
        said = tr("Coarser at the last levels than at the first.") if name in levels.coarser else ""
        fields.append(DataField(name, kind, name, said, "", role, coarsened.level if coarsened else 0))
        columns.append(plain)
    if release.counted:
        fields.append(_own(declared.RELEASED_RECORDS, COUNT_FIELD))
        columns.append(column_of_numbers(release.counts))
    copies = np.ones(len(release.counts), np.int64) if release.counted else release.counts.astype(np.int64, copy=False)
    return _table(RECORDS, declared.RELEASED_RECORDS, fields, columns, copies)


def _crosswalk(account: Account, area_field: str) -> DataTable:
    levels, nested = account.levels, account.nested
    fields = [DataField(area_field, STRING, area_field, tr("Identifier of the area"), "", AREA)]
    columns = [column_of(account.areas.identifiers)]
    for level, crosswalk in enumerate(levels.crosswalks):
        name = f"vbas_region_{level + 1}" if nested else "vbas_region"
        fields.append(_own(declared.CROSSWALK, name, REGION))
        columns.append(_numbers_of(crosswalk, crosswalk.region_of))
    return _table(CROSSWALK, declared.CROSSWALK, fields, columns, np.ones(len(columns[0]), np.int64))


def _numbers_of(crosswalk: Crosswalk, regions: np.ndarray) -> Column:
    """The numbers of some regions by their positions, missing where these are below 0."""
    return column_of_numbers(np.append(crosswalk.numbers, 0)[regions], regions < 0)


def _regions(account: Account, shapes: Sequence[np.ndarray], crs: Crs | None) -> DataTable:
    levels, nested, audit = account.levels, account.nested, account.audit
    of_level = [crosswalk.totals(np.ones(len(crosswalk.region_of))) for crosswalk in levels.crosswalks]
    n_regions = [crosswalk.n_regions for crosswalk in levels.crosswalks]
    columns: dict[str, Column] = {}
    if nested:
        columns["vbas_level"] = column_of_numbers(np.repeat(np.arange(len(levels)) + 1, n_regions))
    columns["vbas_region"] = column_of_numbers(np.concatenate([crosswalk.numbers for crosswalk in levels.crosswalks]))
    if nested:
        columns["vbas_parent"] = _parents(levels)
    columns["areas"] = column_of_numbers(np.concatenate(of_level).astype(np.int64))
    if account.plan.values_of_levels:
        values_of_levels = zip(account.plan.values_of_levels, n_regions)
        columns["vbas_values"] = column_of([values for values, n in values_of_levels for _ in range(n)])
    columns["released"] = column_of_numbers(np.asarray(audit.released))
    if nested:
        columns["within"] = column_of_numbers(np.asarray(audit.within))
    if any(names is not None for names in levels.names):
        columns["name"] = column_of(_names(levels))
    fields = [_own(declared.RELEASED_REGIONS, name) for name in columns]
    drawn = np.concatenate([np.asarray(of, dtype=object) for of in shapes]) if len(shapes) else None
    copies = np.ones(sum(n_regions), np.int64)
    return _table(REGIONS, declared.RELEASED_REGIONS, fields, list(columns.values()), copies, drawn, crs)


def _parents(levels: Levels) -> Column:
    """The number of the region of the next level that holds each, missing at the last."""
    parents = [levels.parents(level) for level in range(len(levels))]
    numbers = [np.append(of.numbers, 0)[above] for of, above in zip(levels.crosswalks[1:], parents)]
    numbers.append(np.zeros(len(parents[-1]), np.int64))
    return column_of_numbers(np.concatenate(numbers), np.concatenate(parents) < 0)


def _names(levels: Levels) -> list[object]:
    """What each region is called, None where it has a number only."""
    each = zip(levels.names, levels.crosswalks)
    names = [name for of, crosswalk in each for name in ([None] * crosswalk.n_regions if of is None else to_list(of))]
    return [None if name is None else str(name) for name in names]


def _table(
    name: str,
    says: OutputTable,
    fields: Sequence[DataField],
    columns: Sequence[Column],
    copies: np.ndarray,
    shapes: np.ndarray | None = None,
    crs: Crs | None = None,
) -> DataTable:
    return DataTable(name, says.title, says.help, tuple(fields), tuple(columns), copies, shapes, crs)


def _own(table: OutputTable, name: str, role: str = "") -> DataField:
    """A field of ours, as its table declares it."""
    field = next(field for field in table.fields if field.alias_of(name))
    kind = STRING if field.kind == "text" else INTEGER
    return DataField(name, kind, field.alias_of(name), _said(field), field.unit, role or ROLES.get(name, ""))


def _said(field: OutputField) -> str:
    return field.help[:1].upper() + field.help[1:]


def by_name(tables: Sequence[DataTable]) -> Mapping[str, DataTable]:
    """The tables by their names."""
    return {table.name: table for table in tables}
