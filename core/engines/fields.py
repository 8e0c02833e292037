"""Which fields of a table are records, and which of its rows are meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import InputError, first_values
from ..language import tr
from ..records.table import check_fields

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "is missing", "is not missing")
WITHOUT_VALUE = OPERATORS[-2:]


@dataclass(frozen=True)
class Filter:
    """Rows whose field compares so with a value; value : as text, read as what the field holds."""

    field: str
    operator: str
    value: str = ""


@dataclass(frozen=True)
class RecordFields:
    """The fields of a table that stays where it is.

    area, count : field names, count empty where each row is one record; members : the field of each kind of people
    kept : released as they are, the sensitive ones among them; filters : all must hold
    """

    area: str
    quasi_identifiers: tuple[str, ...]
    kept: tuple[str, ...] = ()
    count: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()

    def names(self) -> dict[str, str]:
        """Every field that is needed, by the name it has in the steps."""
        name_of = {"a": self.area}
        name_of.update({f"q{i}": name for i, name in enumerate(self.quasi_identifiers)})
        name_of.update({f"k{i}": name for i, name in enumerate(self.kept)})
        name_of.update({f"m{i}": name for i, name in enumerate(self.members.values())})
        name_of.update({f"f{i}": condition.field for i, condition in enumerate(self.filters)})
        return {**name_of, "n": self.count} if self.count else name_of


def checked(fields: RecordFields, there: Mapping[str, str]) -> None:
    """Refuse fields that the table does not have, and those that must not be released.

    there : the fields of the table, with their types. Raises InputError.
    """
    check_fields(fields.area, fields.quasi_identifiers, fields.kept, None, fields.count or None, fields.members)
    if fields.count and fields.members:
        raise InputError(
            tr(
                "PERSON_ID or HOUSEHOLD_ID and RECORD_COUNT cannot go together: a row that stands for several records "
                "has no one identifier. Leave one of them empty."
            )
        )
    named = list(fields.names().values())
    lost = [name for name in dict.fromkeys(named) if name not in there]
    if lost:
        raise InputError(
            tr(
                "The table has no field {first}; it has {there}: write the names as the table does.",
                first=first_values(lost),
                there=first_values(there, 12),
            )
        )
    shown = [*fields.quasi_identifiers, *fields.kept]
    twice = [name for i, name in enumerate(shown) if name.lower() in [other.lower() for other in shown[:i]]]
    if twice:
        raise InputError(
            tr("QUASI_IDENTIFIERS and KEEP_FIELDS name {twice} twice: name each field once.", twice=first_values(twice))
        )
    wrong = [condition.operator for condition in fields.filters if condition.operator not in OPERATORS]
    if wrong:
        raise InputError(
            tr(
                "FILTER has the operator {first}: use one of {operators}.",
                first=first_values(wrong),
                operators=", ".join(OPERATORS),
            )
        )
