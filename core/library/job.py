"""A job of the library: settings by name, frames as its tables, and who hears what is said."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import InputError, first_values
from ..job.rules import raised_by_rule
from ..job.settings import FIELD, FIELDS, SETTINGS, TABLE, Setting, understood
from ..job.values import field_named
from ..language import tr
from ..log import Log
from ..progress import Progress, part, silent
from ..records.columns import Column
from .frames import Frame
from .places import values_in


@dataclass(eq=False)
class Job:
    """What a call of the library, or the file of a job, was given: it is read as a form is (`core.job.inputs.Inputs`).

    values : settings by name, as `understood` gives them, without tables; tables : frames by the parameter that gives
    them
    """

    values: Mapping[str, object]
    tables: Mapping[str, Frame]
    log: Log
    told: Progress = silent
    _started: float = field(default_factory=time.perf_counter)

    def has(self, name: str) -> bool:
        """Whether there is such a setting."""
        return name in SETTINGS

    def given(self, name: str) -> bool:
        """Whether a setting was given."""
        return name in self.values or name in self.tables

    def text(self, name: str) -> str:
        """A choice, a line, or the name of a field; empty where it is not given."""
        value = self._value(name)
        return "" if value is None else str(value)

    def whole(self, name: str) -> int:
        """A whole number."""
        return int(self._value(name))  # type: ignore[call-overload]

    def number(self, name: str) -> float:
        """A number."""
        return float(self._value(name))  # type: ignore[arg-type]

    def field_names(self, name: str) -> list[str]:
        """The fields chosen."""
        return list(self.values.get(name, ()))  # type: ignore[call-overload]

    def cells(self, name: str) -> list[object]:
        """The cells of rows, row by row."""
        return list(self.values.get(name, ()))  # type: ignore[call-overload]

    def rule_files(self) -> Sequence[Path]:
        """None beside those that are shipped."""
        return ()

    def fields(self, table: str) -> Sequence[str]:
        """The names of the fields of a table."""
        return self._table(table).names

    def columns(self, table: str, names: Sequence[str]) -> Mapping[str, Column]:
        """Fields of a table by the names given."""
        frame = self._table(table)
        own = [field_named(frame.names, name, table, table) for name in names]
        read = frame.columns(own)
        return {name: read[field] for name, field in zip(names, own)}

    def values_in(self, table: str, name: str) -> list[object]:
        """The values of one field, in the order of the table."""
        frame = self._table(table)
        return values_in(frame, field_named(frame.names, name, table, table))

    def progress(self, start: float, stop: float) -> Progress:
        """A progress callable for the stretch from start to stop, in per cent."""
        return part(self.told, start / 100, stop / 100)

    def seconds(self) -> float:
        """Since the job was made."""
        return time.perf_counter() - self._started

    def info(self, *sentences: str) -> None:
        """What was done."""
        self.log.info(*sentences)

    def warn(self, *sentences: str) -> None:
        """What a person has to look at."""
        self.log.warn(*sentences)

    def _value(self, name: str) -> object:
        return self.values.get(name, SETTINGS[name].default)

    def _table(self, name: str) -> Frame:
        if name not in self.tables:
            raise InputError(tr("{name} is not given.", name=name))
        return self.tables[name]


def job_of(given: Mapping[str, object], tables: Mapping[str, Frame], log: Log, progress: Progress = silent) -> Job:
    """A job, its settings understood, its fields spelled as the tables spell them, and raised to what a rule asks for.

    given : settings by name, without tables. Raises InputError for what is needed and missing, unknown or wrong.
    """
    values = understood(given)
    missing = [
        one.name for one in SETTINGS.values() if one.needed and one.name not in values and one.name not in tables
    ]
    if missing:
        raise InputError(tr("{name} is needed, and is not given.", name=missing[0]))
    spelled = {name: _spelled(SETTINGS[name], value, tables) for name, value in values.items()}
    job = Job(spelled, tables, log, progress)
    return replace(job, values={**spelled, **raised_by_rule(job)})


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
    twice = [name for i, name in enumerate(own) if name in own[:i]]
    if twice:
        raise InputError(
            tr(
                "{name} names a field twice ({first}; given: {given}): name each field once.",
                name=setting.name,
                first=first_values(dict.fromkeys(twice)),
                given=first_values(typed, 12),
            )
        )
    return own


def tables_of(given: Mapping[str, object]) -> list[str]:
    """The names of the settings that are tables, of those that are given."""
    return [name for name, value in given.items() if SETTINGS[name].kind == TABLE and value is not None]
