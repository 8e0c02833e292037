"""The table that is checked: read, and its classes that fall short written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from qgis.core import QgsField

from ...core.errors import InputError
from ...core.package.checking import Claim, check_folder, read_descriptor
from ...core.package.dataset import RECORDS
from ...core.package.descriptor import OURS
from ...core.package.table import BOOLEAN, COUNT, INTEGER, KEPT, LEVEL, NUMBER, QUASI, REGION, SENSITIVE
from ...core.privacy.checking import ReleaseCheck
from ...core.records.columns import Column
from ...core.records.table import MEMBER_FIELDS, counts_of
from ...core.tables.privacy import CHECK
from ..compat import field as qgis_field
from ..form.form import Form
from ..layers.reading.fields import field_index
from ..layers.reading.records import read_columns
from ..layers.tables import Table, filled

Columns = Mapping[str, Column]
# The kinds of fields of QGIS, by the types of a schema; dates are read as text.
KINDS = {INTEGER: "long", NUMBER: "real", BOOLEAN: "boolean"}


@dataclass(frozen=True, eq=False)
class TableToCheck:
    """What is checked, as columns by name: quasi-identifiers, other fields, members by kind, sensitive fields.

    counts : records of each row; fields : by name; k, l_diversity, max_share : asked, by the folder too; claims : of a
    folder, empty for a table
    """

    quasi: Columns
    others: Columns
    members: Columns
    sensitive: Columns
    counts: np.ndarray | None
    fields: Mapping[str, QgsField]
    k: int
    l_diversity: int
    max_share: float
    claims: tuple[Claim, ...] = ()

    @property
    def broken(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.holds is False)


def table_to_check(form: Form) -> TableToCheck:
    """RECORDS, or the records of RELEASE_FOLDER with its claims. Raises InputError."""
    k, distinct, share = form.whole("K"), form.whole("L_DIVERSITY"), form.number("MAX_SHARE")
    if not form.given("RELEASE_FOLDER"):
        source = form.source("RECORDS")
        fields = {field.name(): field for field in source.fields()}
        return TableToCheck(*columns_of(form), fields, k, distinct, share)
    folder = Path(form.text("RELEASE_FOLDER"))
    checked, ours = check_folder(folder, k), read_descriptor(folder)[OURS]
    table = checked.tables.get(RECORDS)
    if table is None:
        raise InputError(next(claim.says for claim in checked.claims if claim.name == f"fields {RECORDS}"))
    rows = np.repeat(np.arange(len(table.copies)), table.copies)
    columns = {name: Column(of.codes[rows], of.categories) for name, of in zip(table.names, table.columns)}
    role = {field.name: field.role for field in table.fields}
    counts = next((columns[name] for name in role if role[name] == COUNT), None)
    return TableToCheck(
        {name: of for name, of in columns.items() if role[name] in (LEVEL, REGION, QUASI)},
        {name: of for name, of in columns.items() if role[name] == KEPT},
        {},
        {name: of for name, of in columns.items() if role[name] == SENSITIVE},
        None if counts is None else np.array([*counts.categories, 0], np.int64)[counts.codes],
        {field.name: qgis_field(field.name, KINDS.get(field.type, "text")) for field in table.fields},
        checked.k,
        max(distinct, int(ours.get("l_diversity", 1))),
        min(share, float(ours.get("max_share", 100.0))),
        checked.claims,
    )


def columns_of(form: Form) -> tuple[Columns, Columns, Columns, Columns, np.ndarray | None]:
    """Quasi-identifiers, other fields, members by kind, sensitive fields, and counts, from RECORDS."""
    source = form.source("RECORDS")
    quasi, sensitive = form.field_names("QUASI_IDENTIFIERS"), form.field_names("SENSITIVE")
    members = {kind: form.text(name) for kind, name in MEMBER_FIELDS.items() if form.given(name)}
    count = form.text("RECORD_COUNT")
    named = [("QUASI_IDENTIFIERS", quasi), ("SENSITIVE", sensitive), ("RECORD_COUNT", [count] if count else [])]
    named += [(MEMBER_FIELDS[kind], [name]) for kind, name in members.items()]
    for parameter, names in named:
        for name in names:
            field_index(source.fields(), name, parameter, "RECORDS")
    keys = (
        {source.fields().at(index).name() for index in source.layer.primaryKeyAttributes()} if source.layer else set()
    )
    used = {*quasi, *sensitive, *members.values(), count, *keys}
    others = [name for name in source.fields().names() if name not in used and name.lower() not in ("fid", "ogc_fid")]
    wanted = dict.fromkeys([*quasi, *sensitive, *others, *members.values(), *([count] if count else [])])
    columns = read_columns(source, list(wanted), form.feedback)
    counts = counts_of(columns, count)
    return (
        {name: columns[name] for name in quasi},
        {name: columns[name] for name in others},
        {kind: columns[name] for kind, name in members.items()},
        {name: columns[name] for name in sensitive if name not in quasi},
        counts,
    )


def check_table_of(table: TableToCheck, check: ReleaseCheck) -> Table:
    """CHECK: a row per class that falls short, the smallest first."""
    rows = np.flatnonzero(check.fails)
    rows = rows[np.lexsort((rows, check.people[rows]))]
    own = [
        (table.fields[name], Column(check.classes[rows, position], column.categories))
        for position, (name, column) in enumerate(table.quasi.items())
    ]
    columns = {"vbas_records": check.records[rows], "vbas_people": check.people[rows]}
    for number, diversity in enumerate(check.diversity.values(), 1):
        columns[f"vbas_values_{number}"] = diversity.distinct[rows]
        columns[f"vbas_share_{number}"] = diversity.largest_share[rows]
    return filled(CHECK, columns, own=own)
