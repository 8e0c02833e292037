"""A job of the library: its settings understood, and frames as its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import InputError
from ..job.job import Job, no_table
from ..job.rules import with_rule_minimums
from ..job.settings import FIELD, FIELDS, SETTINGS, Setting, understood
from ..job.values import field_named, refuse_twice
from ..log import Log
from ..progress import Progress, silent
from .frames import Frame


def job_of(inputs: Mapping[str, object], tables: Mapping[str, Frame], log: Log, progress: Progress = silent) -> Job:
    """A job, its settings understood, its fields spelled as the tables spell them, and raised to what a rule asks for.

    inputs : settings by name, without tables. Raises InputError for what is needed and missing, unknown or wrong.
    """
    values = understood(inputs)
    missing = [
        needed.name
        for needed in SETTINGS.values()
        if needed.needed and needed.name not in values and needed.name not in tables
    ]
    if missing:
        raise InputError.saying("{name} is needed, and is not given.", name=missing[0])
    spelled = {name: _spelled(SETTINGS[name], value, tables) for name, value in values.items()}
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    named = {*spelled, *tables}

    def table(name: str) -> Frame:
        return tables[name] if name in tables else no_table(name)

    job = Job({**defaults, **spelled}, named, table, log, progress)
    minimums = with_rule_minimums(job)
    return replace(job, values={**job.values, **minimums}, named={*named, *minimums})


def _spelled(setting: Setting, value: object, tables: Mapping[str, Frame]) -> object:
    """Names of fields as their table spells them; other values as they are."""
    # What counts may be of another unit than an area: a field of the areas, which its reader looks for.
    if setting.kind not in (FIELD, FIELDS) or setting.table not in tables:
        return value
    names = tables[setting.table].names
    if setting.kind == FIELD:
        return field_named(names, str(value), setting.name, setting.table)
    typed = list(value)  # type: ignore[call-overload]
    own = [field_named(names, name, setting.name, setting.table) for name in typed]
    refuse_twice(setting.name, own, typed)
    return own
