"""Fields and filters of a table that stays where it is, checked."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InputError, first_values
from ..records.fields import RecordFields

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "is missing", "is not missing")
WITHOUT_VALUE = OPERATORS[-2:]


def checked(fields: RecordFields, there: Mapping[str, str]) -> None:
    """Refuse fields that the table does not have, and those that must not be released.

    there : the fields of the table, with their types. Raises InputError.
    """
    fields.check()
    if fields.count and fields.members:
        raise InputError.saying(
            "PERSON_ID or HOUSEHOLD_ID and RECORD_COUNT cannot go together: a row that stands for several records has "
            "no one identifier. Leave one of them empty."
        )
    named = list(fields.names().values())
    lost = [name for name in dict.fromkeys(named) if name not in there]
    if lost:
        raise InputError.saying(
            "The table has no field {first}; it has {there}: write the names as the table does.",
            first=first_values(lost),
            there=first_values(there, 12),
        )
    names = [*fields.quasi_identifiers, *fields.kept]
    twice = [name for i, name in enumerate(names) if name.lower() in [other.lower() for other in names[:i]]]
    if twice:
        raise InputError.saying(
            "QUASI_IDENTIFIERS and KEEP_FIELDS name {twice} twice: name each field once.", twice=first_values(twice)
        )
    wrong = [condition.operator for condition in fields.filters if condition.operator not in OPERATORS]
    if wrong:
        raise InputError.saying(
            "FILTER has the operator {first}: use one of {operators}.",
            first=first_values(wrong),
            operators=", ".join(OPERATORS),
        )
