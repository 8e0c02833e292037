"""What a run was given, by the names of the form's parameters: by a form of QGIS, the library, or a file of a job."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np

from ..areas import Areas, identifier_text
from ..arrays import objects, to_list
from ..dataclass import dataclass
from ..errors import InputError
from ..log import QUIET, Log
from ..privacy.rules import NO_RULE
from ..progress import Progress, part, silent
from ..records.columns import Column
from .values import field_named, parts_of

GENERALISING = ("GENERALISE", "HIERARCHIES", "HIERARCHY_RULES")


class ReadTable(Protocol):
    """A table that can be read."""

    @property
    def names(self) -> Sequence[str]:
        """Its fields."""

    def columns(self, names: Sequence[str]) -> Mapping[str, Column]:
        """Some of its fields, by their very names."""


def no_table(name: str) -> NoReturn:
    """Raise InputError for a table that is not given."""
    raise InputError.saying("{name} is not given.", name=name)


@dataclass(frozen=True, eq=False)
class Job:
    """One run as it was given, parsed once: plain values that forms, library and command hand to what makes a release.

    values : of every parameter that there is, its default where none is given; named : those that were given; table :
    a table by the parameter that gives it, which raises InputError where it is not there; log : who hears what is said;
    whole_run : how far the run is; rule_files : rules beside those that are shipped; started : when, in seconds
    """

    values: Mapping[str, object]
    named: Collection[str]
    table: Callable[[str], ReadTable] = no_table
    log: Log = QUIET
    whole_run: Progress = silent
    rule_files: Sequence[Path] = ()
    started: float = field(default_factory=time.perf_counter)

    def has(self, name: str) -> bool:
        """Whether there is such a parameter: what several forms read, some declare only in part."""
        return name in self.values

    def given(self, name: str) -> bool:
        """Whether a parameter that may be left out was given."""
        return name in self.named

    @property
    def follows_rule(self) -> bool:
        """Whether a published rule is followed."""
        return self.has("RULE") and self.text("RULE") != NO_RULE

    @property
    def generalises(self) -> bool:
        """Whether anything is said of coarser values."""
        return any(map(self.given, GENERALISING))

    def text(self, name: str) -> str:
        """A choice among words, a line, or the name of a field; empty where it is not given."""
        value = self.values[name]
        return "" if value is None else str(value)

    def whole(self, name: str) -> int:
        """A whole number."""
        return int(self.values[name])  # type: ignore[call-overload]

    def number(self, name: str) -> float:
        """A number."""
        return float(self.values[name])  # type: ignore[arg-type]

    def yes(self, name: str) -> bool:
        """Whether a box is ticked."""
        return bool(self.values[name])

    def several(self, name: str) -> list[str]:
        """The fields chosen, in a list or in a line; or the cells of a table that is filled in by hand, row by row."""
        value = self.values[name]
        return parts_of(value) if isinstance(value, str) else list(value or ())  # type: ignore[call-overload]

    def fields(self, table: str) -> Sequence[str]:
        """The names of the fields of a table. Raises InputError where it is not there."""
        return self.table(table).names

    def columns(self, table: str, names: Sequence[str]) -> Mapping[str, Column]:
        """Fields of a table by the names given. Raises InputError for those that there are not."""
        read = self.table(table)
        own = [field_named(read.names, name, table, table) for name in names]
        columns = read.columns(own)
        return {name: columns[field] for name, field in zip(names, own)}

    def reads_in_part(self, table: str) -> bool:
        """Whether rows of a table are left out: it is selected from, or filtered where it comes from."""
        return False

    def values_of_areas(self, name: str, areas: Areas) -> list[object]:
        """The value of a field of REGIONS in each area, missing ones as None.

        It is found by the identifier, which is read together with it: a table may give its rows in another order where
        other fields are asked for, and another program may change it. Raises InputError for a field that there is not.
        """
        own = self.text("REGION_ID")
        columns = self.columns("REGIONS", list(dict.fromkeys([own, name])))
        texts = objects([identifier_text(value) for value in to_list(columns[own].categories)])
        area, code = areas.codes_of(texts)[columns[own].codes], np.full(len(areas), -1, np.int64)
        code[area[area >= 0]] = columns[name].codes[area >= 0]
        if (code < 0).any() or len(area) != len(areas):
            raise InputError.saying(
                "REGIONS was changed by another program while it was read: run again when that has ended."
            )
        values: list[object] = columns[name].categories[code].tolist()
        return values

    def progress(self, start: float, stop: float) -> Progress:
        """A progress callable for the stretch from start to stop, in per cent; it raises to cancel."""
        return part(self.whole_run, start / 100, stop / 100)

    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self.started

    def info(self, *sentences: str) -> None:
        """What was done."""
        self.log.info(*sentences)

    def warn(self, *sentences: str) -> None:
        """What a person has to look at."""
        self.log.warn(*sentences)
