"""A release with linked tables, as a program gets it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..package.dataset import linked_tables_of_release
from .released import Anonymized


class AnonymizedLinked(Anonymized):
    """A release of persons and the tables that belong to them, made by `anonymize_linked`: nothing is written yet.

    Attributes
    ----------
    tables : dict of str to frame
        The released rows by table. All else is as `Anonymized` has it.

    Examples
    --------
    >>> from vbas import anonymize_linked
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> people = {"id": list(range(24)), "area": list("abcd") * 6, "sex": ["F", "M"] * 12}
    >>> stays = {"id": list(range(24)), "month": ["May"] * 24}
    >>> release = anonymize_linked(areas, people, {"stays": stays}, key="id", area="area", quasi_identifiers="sex")
    >>> sorted(release.tables["stays"]), sorted(release.records)
    (['vbas_person', 'vbas_region'], ['sex', 'vbas_person', 'vbas_region', 'vbas_stays'])
    """

    ALGORITHM = "vbas:anonymizelinked"

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The released rows of each linked table by its name, frames of the kind that the areas came in: for
        release."""
        return {table.name: self._frame(table) for table in linked_tables_of_release(self.account)}
