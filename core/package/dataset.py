"""The tables of a release that go into its folder: records, crosswalk and regions, from the account of the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..account import Account
from ..language import tr
from ..linked.rows import LinkedRows
from ..linked.tables import OURS, PERSON
from ..records.columns import Column, column_of_numbers
from ..records.table import COUNT_FIELD
from ..release import Release
from ..tables import linked as declared_linked
from ..tables import regions as declared
from ..tables.of_levels import crosswalk_columns, region_columns
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
    numbers = account.levels.numbers(rows.level, rows.region)
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
    nested, levels, n_quasi = account.nested, account.levels, len(account.plan.profile.quasi_identifiers)
    sensitive = {shares.field for shares in account.requirement.shares}
    flags = {OURS + rows.name for rows in ([] if account.rows is None else account.rows.linked)}
    numbers = levels.numbers(release.level, release.region)
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
        role = QUASI if position < n_quasi else SENSITIVE if name in sensitive else KEPT
        coarsened = account.coarsened.get(name)
        said = tr("Coarser at the last levels than at the first.") if name in levels.coarser else ""
        fields.append(DataField(name, kind, name, said, "", role, coarsened.level if coarsened else 0))
        columns.append(plain)
    if release.counted:
        fields.append(_own(declared.RELEASED_RECORDS, COUNT_FIELD))
        columns.append(column_of_numbers(release.counts))
    copies = np.ones(len(release.counts), np.int64) if release.counted else release.counts.astype(np.int64, copy=False)
    return _table(RECORDS, declared.RELEASED_RECORDS, fields, columns, copies)


def _crosswalk(account: Account, area_field: str) -> DataTable:
    own, columns = column_of(account.areas.identifiers), crosswalk_columns(account.levels, account.nested)
    fields = [DataField(area_field, STRING, area_field, tr("Identifier of the area"), "", AREA)]
    fields += [_own(declared.CROSSWALK, name, REGION) for name in columns]
    return _table(CROSSWALK, declared.CROSSWALK, fields, [own, *columns.values()], np.ones(len(own), np.int64))


def _regions(account: Account, shapes: Sequence[np.ndarray], crs: Crs | None) -> DataTable:
    nested, audit = account.nested, account.audit
    columns = region_columns(account.levels, nested, account.plan.values_of_levels)
    columns |= {name: column_of_numbers(np.asarray(getattr(audit, name))) for name in ("released", "within")}
    names = [field.name for field in declared.RELEASED_REGIONS.fields_of(nested) if field.name in columns]
    fields = [_own(declared.RELEASED_REGIONS, name) for name in names]
    drawn = np.concatenate([np.asarray(of, dtype=object) for of in shapes]) if len(shapes) else None
    copies = np.ones(len(columns["vbas_region"]), np.int64)
    return _table(REGIONS, declared.RELEASED_REGIONS, fields, [columns[name] for name in names], copies, drawn, crs)


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
