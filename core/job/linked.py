"""Linked tables, as a job names them: read, and linked with the persons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from ..areas import Areas
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..linked.source import LinkedSource, link, refused_together
from ..linked.tables import ALL_ROWS, LinkedTable, keys_missing, left_out_rows, persons_by_key, persons_of_rows
from ..parameters import SMALLEST_K
from ..policy import policies
from ..records.matching import STOP, Records
from .job import Job, ReadTable
from .rules import rule_of
from .values import field_named

KEY, KNOWN, KEEP, SENSITIVE = "KEY", "LINKED_KNOWN", "LINKED_KEEP", "LINKED_SENSITIVE"
REFUSED = ("RECORD_COUNT", "PERSON_ID")  # a row is a person


@dataclass(frozen=True, eq=False)
class Linking:
    """What is asked of linked tables.

    key : the field of the persons, and of the tables but for those that `keys` names one of; tables : by name
    known, kept, sensitive : by table, names of fields that others may know, that are released, and of which the people
    of a class must not have one value in common
    count_known : whether others may know how many rows a person has; new_key : whether rows say whose they are
    k : how many people must look alike in all tables together; 0 for K; rows_known : how much others may know of a
    person's rows (ROWS_KNOWN)
    """

    key: str
    tables: Mapping[str, ReadTable]
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sensitive: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    count_known: bool = True
    new_key: bool = True
    k: int = 0
    rows_known: str = ALL_ROWS


def linked_source(job: Job, linking: Linking, records: Records, areas: Areas) -> LinkedSource:
    """The persons of a job with their linked tables; records : with the key of each, read together with the rest of the
    row: a database may give its rows in another order each time, and to others who change them meanwhile.

    Raises InputError for what cannot be linked.
    """
    for name in REFUSED:
        if job.given(name):
            raise refused_together(name)
    if not linking.tables:
        raise InputError.saying("LINKED_TABLES is empty: choose the tables that belong to the persons.")
    for parameter, of in ((KNOWN, linking.known), (KEEP, linking.kept), (SENSITIVE, linking.sensitive)):
        strange = [name for name in of if name not in linking.tables]
        if strange:
            raise _no_such_table(parameter, strange[0], linking.tables)
    unmatched = job.text("UNMATCHED") if job.has("UNMATCHED") else STOP
    key = field_named(job.fields("RECORDS"), linking.key, KEY, "RECORDS")
    if records.table.key is None:
        raise keys_missing(len(records.table))
    persons = persons_by_key(records.table.key)
    tables = [_read(name, linking, persons, unmatched) for name in linking.tables]
    for table in tables:
        lost = int((table.person < 0).sum())
        if lost:
            job.warn(left_out_rows(table.name, lost))
    return link(
        records, tables, areas, linking.new_key, key, least_indistinguishable(job, linking.k), linking.rows_known
    )


def least_indistinguishable(job: Job, k: int) -> int:
    """How many people must look alike in all tables. Raises InputError for more than in the classes of the persons, and
    PrivacyError for fewer than a policy allows."""
    classes = job.whole("K")
    if not k:
        return classes
    if not SMALLEST_K <= k <= classes:
        raise InputError.saying(
            "LINKED_K is {k}: give a number from {least} to K, {classes}, which is asked of the persons alone.",
            k=k,
            least=SMALLEST_K,
            classes=classes,
        )
    for policy in policies():
        policy.refuse_k("LINKED_K", k)
    rule = rule_of(job) if job.has("RULE") else None
    return max(k, rule.k) if rule else k


def _read(name: str, linking: Linking, persons: Mapping[str, int], unmatched: str) -> LinkedTable:
    table = linking.tables[name]
    key = field_named(table.names, linking.keys.get(name, linking.key), "LINKED_KEYS", name)
    known = [field_named(table.names, of, KNOWN, name) for of in linking.known.get(name, ())]
    sensitive = [field_named(table.names, of, SENSITIVE, name) for of in linking.sensitive.get(name, ())]
    kept = with_sensitive(
        name, known, [field_named(table.names, of, KEEP, name) for of in linking.kept.get(name, ())], sensitive
    )
    columns = table.columns(list(dict.fromkeys([key, *known, *kept])))
    person = persons_of_rows(name, columns[key], persons, unmatched)
    return LinkedTable(
        name,
        person,
        {of: columns[of] for of in known},
        {of: columns[of] for of in kept},
        tuple(sensitive),
        linking.count_known,
    )


def with_sensitive(table: str, known: Sequence[str], kept: Sequence[str], sensitive: Sequence[str]) -> list[str]:
    """The kept fields of a table with the sensitive ones. Raises InputError for one that others know."""
    both = [name for name in sensitive if name in known]
    if both:
        raise InputError.saying(
            "{parameter}: “{field}” of table “{table}” is in LINKED_KNOWN too: what others know of a person cannot be "
            "hidden from them. Take it out of one of the two.",
            parameter=SENSITIVE,
            field=both[0],
            table=table,
        )
    return list(dict.fromkeys([*kept, *sensitive]))


def table_name(name: str) -> str:
    """The name of a layer, a file or a table as a file can have it: its name in the release."""
    return re.sub(r"[^\w-]+", "_", name).strip("_-").lower() or "table"


def by_table(parameter: str, names: Sequence[str], tables: Sequence[str]) -> dict[str, list[str]]:
    """Fields as they are typed, `stays.month`, by table. Raises InputError for one of no table."""
    fields: dict[str, list[str]] = {}
    for typed in names:
        text = typed.strip()
        table = next(
            (name for name in sorted(tables, key=len, reverse=True) if text.lower().startswith(f"{name.lower()}.")),
            None,
        )
        if table is None or len(text) == len(table) + 1:
            raise InputError.saying(
                "{parameter} names “{typed}”: name a field by its table and a point, such as “{example}”. The tables "
                "are {tables}.",
                parameter=parameter,
                typed=text,
                example=f"{tables[0] if tables else 'stays'}.month",
                tables=first_values(tables, 12),
            )
        if any(re.search(rf",\s*{re.escape(name)}\.", text, re.IGNORECASE) for name in tables):
            raise InputError.saying(
                "{parameter} names “{typed}”: write semicolons between fields, such as “{example}”.",
                parameter=parameter,
                typed=text,
                example=re.sub(r",\s*", "; ", text),
            )
        fields.setdefault(table, []).append(text[len(table) + 1 :])
    return fields


def _no_such_table(parameter: str, name: str, tables: Mapping[str, object]) -> InputError:
    return InputError.saying(
        "{parameter} names the table “{table}”, which is none of the linked tables: {tables}.",
        parameter=parameter,
        table=name,
        tables=first_values(tables, 12),
    )
