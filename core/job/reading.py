"""The records, as a job names them: read, shown as coarse as is asked, matched with the areas and counted."""

from __future__ import annotations

from collections.abc import Sequence

from .. import counted
from ..areas import Areas
from ..generalising.asked import Generalising
from ..language import plural, tr
from ..parameters import SMALLEST_K
from ..privacy.series import EACH_BY_ITSELF, THE_SAME
from ..records.fields import RecordFields
from ..records.identifiers import refuse_identifiers
from ..records.matching import STOP, Records, match_records
from ..records.table import MEMBER_FIELDS, PERSONS, RecordTable, check_enough_members
from .generalising import generalising_of
from .job import Job
from .values import field_named


def fields_of_records(job: Job, key: str = "") -> RecordFields:
    """The fields of RECORDS that a job names; key : the field that links tables with them, empty for none."""
    named, kept, sensitive = (
        tuple(job.several(name)) if job.has(name) else () for name in ("QUASI_IDENTIFIERS", "KEEP_FIELDS", "SENSITIVE")
    )
    quasi_identifiers, period = quasi_identifiers_of(job, named)
    members = {kind: job.text(name) for kind, name in MEMBER_FIELDS.items() if job.given(name)}
    area, kept = job.text("RECORD_REGION"), tuple(dict.fromkeys([*kept, *sensitive]))
    count = job.text("RECORD_COUNT") if job.has("RECORD_COUNT") else ""
    return RecordFields(area, quasi_identifiers, kept, count, members, sensitive, period=period, key=key)


def table_of(job: Job, key: str = "") -> tuple[RecordTable, Generalising]:
    """RECORDS and its fields, read at once, and shown as coarse as is asked; and what is asked of coarser values.

    key : as in `fields_of_records`. Raises InputError.
    """
    fields = fields_of_records(job, key)
    fields.check(job.text("REGION_ID") if job.has("REGION_ID") else None)
    there = job.fields("RECORDS")
    named = fields.by_parameter()
    for parameter, names in named.items():
        for name in names:
            field_named(there, name, parameter, "RECORDS")
    columns = job.columns("RECORDS", list(dict.fromkeys(name for names in named.values() for name in names)))
    shown = fields.table(columns)
    if not job.generalises:
        return shown, Generalising()
    asked = generalising_of(job, fields.quasi_identifiers)
    shown = asked.shown(shown)
    job.info(*(column.sentence for column in shown.coarsened.values()))
    return shown, asked


def records_of(job: Job, areas: Areas, k: int | None, aside: str = "", key: str = "") -> Records:
    """RECORDS, read, matched with the areas and counted.

    k : None for what does not suppress; aside : a sentence on areas that may be missing; key : as in
    `fields_of_records`
    Raises InputError.
    """
    table, asked = table_of(job, key)
    if k is not None:
        persons = table.members.get(PERSONS)
        job.warn(*refuse_identifiers(table.quasi_identifiers, table.counts, persons, {*asked.tables, *asked.rules}))
    unmatched = job.text("UNMATCHED") if job.has("UNMATCHED") else STOP
    field = job.text("RECORD_REGION")
    records = match_records(table, areas, unmatched, SMALLEST_K if k is None else k, field, aside)
    if k is not None:
        check_enough_members(table.n_members, table.n_records, k)
    job.info(
        plural(
            "{records} in {n} of {n_areas} areas, {classes} of quasi-identifiers.",
            "{records} in {n} of {n_areas} areas, {classes} of quasi-identifiers.",
            int((records.profile.area_sizes > 0).sum()),
            records=counted.records(records.profile.n_records),
            n_areas=len(areas),
            classes=counted.classes(int((records.profile.class_sizes > 0).sum())),
        )
    )
    job.warn(*records.warnings)
    return records


PERIOD, PERIODS = "PERIOD", "PERIODS"


def period_of(job: Job) -> str:
    """The field that is the period of a record; empty where there is none."""
    return job.text(PERIOD).strip() if job.has(PERIOD) else ""


def periods_of(job: Job) -> str:
    """How the classes of several periods go together: each by itself where nothing else can be asked for."""
    return job.text(PERIODS) if job.has(PERIODS) else EACH_BY_ITSELF


def same_in_all_of(job: Job) -> str:
    """The period where classes are to be the same in all of them; else empty."""
    return period_of(job) if periods_of(job) == THE_SAME else ""


def quasi_identifiers_of(job: Job, named: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """What a record shows, the period last, and the period; named : QUASI_IDENTIFIERS."""
    period = period_of(job)
    if not period:
        return tuple(named), ""
    if period in named:
        job.info(tr("“{period}” is PERIOD and among QUASI_IDENTIFIERS: it counts once, as the period.", period=period))
    return (*(name for name in named if name != period), period), period
