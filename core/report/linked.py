"""What a report says of linked tables: which rows are shown, of whom they are left out, and what that rests on."""

from __future__ import annotations

from ..account import Account
from ..language import tr
from ..linked.saying import ALL_KNOWN, ONE_KNOWN, WITH_KEY, WITHOUT_KEY
from ..linked.tables import ONE_ROW
from .page import Section

HEADER = (
    tr("Table"),
    tr("Rows"),
    tr("Rows released"),
    tr("Rows released, %"),
    tr("People with rows"),
    tr("Of them released without all of these"),
    tr("Known to others"),
)


def linked_section(account: Account) -> Section:
    """The linked tables, a row each; empty where there are none."""
    tables = () if account.rows is None else account.rows.linked
    if not tables:
        return Section("")
    with_key = any(table.person is not None for table in tables)
    known = ONE_KNOWN if tables[0].rows_known == ONE_ROW else ALL_KNOWN
    rows = [
        (
            table.name,
            table.n_given,
            len(table),
            100.0 * len(table) / max(table.n_given, 1),
            table.n_persons,
            table.n_left_out,
            ", ".join(list(table.fields)[: table.known]) or (tr("number of rows") if table.count_known else tr("none")),
        )
        for table in tables
    ]
    return Section(tr("The linked tables"), (known, WITH_KEY if with_key else WITHOUT_KEY), HEADER, rows)
