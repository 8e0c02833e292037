"""What a run was given, by the names of the form's parameters: by a form of QGIS, the library, or a file of a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..log import Log
from ..progress import Progress
from ..records.columns import Column


class Parameters(Protocol):
    """Parameters by name."""

    def has(self, name: str) -> bool:
        """Whether there is such a parameter: what several forms read, some declare only in part."""

    def text(self, name: str) -> str:
        """A choice among words, a line, or the name of a field; empty where it is not given."""

    def whole(self, name: str) -> int:
        """A whole number."""

    def number(self, name: str) -> float:
        """A number."""

    def field_names(self, name: str) -> list[str]:
        """The fields chosen."""

    def cells(self, name: str) -> list[object]:
        """The cells of a table that is filled in by hand, row by row."""

    def rule_files(self) -> Sequence[Path]:
        """Files of rules beside those that are shipped."""


class Inputs(Parameters, Log, Protocol):
    """One run, as it is read: parameters by name, tables by the parameter that gives them, and a log."""

    def given(self, name: str) -> bool:
        """Whether a parameter that may be left out was given."""

    def fields(self, table: str) -> Sequence[str]:
        """The names of the fields of a table. Raises InputError where it is not there."""

    def columns(self, table: str, names: Sequence[str]) -> Mapping[str, Column]:
        """Fields of a table by the names given. Raises InputError for those that there are not."""

    def values_in(self, table: str, name: str) -> list[object]:
        """The values of one field, in the order of the table. Raises InputError for a field that there is not."""

    def progress(self, start: float, stop: float) -> Progress:
        """A progress callable for the stretch from start to stop, in per cent; it raises to cancel."""

    def seconds(self) -> float:
        """Since the run began."""
