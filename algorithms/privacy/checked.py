"""The table that is checked: read, and its classes that fall short written."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.privacy.checking import ReleaseCheck
from ...core.records.columns import Column
from ...core.records.table import MEMBER_FIELDS, counts_of
from ...core.tables.privacy import CHECK
from ..form.form import Form
from ..layers.reading.fields import field_index
from ..layers.reading.records import read_columns
from ..layers.tables import Table, filled

Columns = Mapping[str, Column]


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


def check_table_of(form: Form, quasi: Columns, check: ReleaseCheck) -> Table:
    """CHECK: a row per class that falls short, the smallest first."""
    rows = np.flatnonzero(check.fails)
    rows = rows[np.lexsort((rows, check.people[rows]))]
    fields = form.source("RECORDS").fields()
    own = [
        (fields.field(name), Column(check.classes[rows, position], column.categories))
        for position, (name, column) in enumerate(quasi.items())
    ]
    columns = {"vbas_records": check.records[rows], "vbas_people": check.people[rows]}
    for number, diversity in enumerate(check.diversity.values(), 1):
        columns[f"vbas_values_{number}"] = diversity.distinct[rows]
        columns[f"vbas_share_{number}"] = diversity.largest_share[rows]
    return filled(CHECK, columns, own=own)
