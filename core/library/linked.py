"""A release with linked tables, as a program gets it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..package.dataset import linked_tables_of_release
from .released import Anonymized


class AnonymizedLinked(Anonymized):
    """A release of persons and the tables that belong to them, made by `anonymize_linked`: nothing is written yet."""

    ALGORITHM = "vbas:anonymizelinked"

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The released rows of each linked table by its name, frames of the kind that the areas came in: for
        release."""
        return {table.name: self._frame(table) for table in linked_tables_of_release(self.account)}
