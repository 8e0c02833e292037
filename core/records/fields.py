"""Which fields of a table are records, and which of its rows are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from .columns import Column
from .table import MEMBER_FIELDS, RecordTable, check_released_names, counts_of


@dataclass(frozen=True)
class Filter:
    """Rows whose field compares so with a value; value : as text, read as what the field holds."""

    field: str
    operator: str
    value: str = ""


def is_identifier(name: str) -> bool:
    """Whether a field says where or who somebody is, by the name that `RecordFields.names` gives it."""
    return name in ("a", "p") or name.startswith("m")


@dataclass(frozen=True)
class RecordFields:
    """The fields of a table of records, and which of its rows are meant.

    area, count : field names, count empty where each row is one record; members : the field of each kind of people
    kept : released as they are, the sensitive ones among them; filters : all must hold; period : the quasi-identifier,
    the last of them, that is given as PERIOD; key : says which person a row is, and is not released; empty for none
    """

    area: str
    quasi_identifiers: tuple[str, ...]
    kept: tuple[str, ...] = ()
    count: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    period: str = ""
    key: str = ""

    def names(self) -> dict[str, str]:
        """Every field that is needed, by the name it has in the steps."""
        name_of = {"a": self.area}
        name_of.update({f"q{i}": name for i, name in enumerate(self.quasi_identifiers)})
        name_of.update({f"k{i}": name for i, name in enumerate(self.kept)})
        name_of.update({f"m{i}": name for i, name in enumerate(self.members.values())})
        name_of.update({f"f{i}": condition.field for i, condition in enumerate(self.filters)})
        name_of.update({"p": self.key} if self.key else {})
        return {**name_of, "n": self.count} if self.count else name_of

    def by_parameter(self) -> dict[str, Sequence[str]]:
        """The fields that are named, by the parameter that names them."""
        people = {MEMBER_FIELDS[kind]: [name] for kind, name in self.members.items()}
        count = [self.count] if self.count else []
        key = [self.key] if self.key else []
        return {"RECORD_REGION": [self.area], **self._released(), "RECORD_COUNT": count, **people, "KEY": key}

    def _released(self) -> dict[str, Sequence[str]]:
        """The fields that a release shows, by the parameter that names them."""
        return {
            "QUASI_IDENTIFIERS": [name for name in self.quasi_identifiers if name != self.period],
            **({"PERIOD": [self.period]} if self.period else {}),
            "KEEP_FIELDS": [name for name in self.kept if name not in self.sensitive],
            "SENSITIVE": self.sensitive,
        }

    def table(self, columns: Mapping[str, Column]) -> RecordTable:
        """The columns by name as a table of records. Raises InputError for counts that are none."""
        return RecordTable(
            columns[self.area],
            {name: columns[name] for name in self.quasi_identifiers},
            {name: columns[name] for name in self.kept},
            counts_of(columns, self.count),
            {kind: columns[name] for kind, name in self.members.items()},
            self.sensitive,
            key=columns[self.key] if self.key else None,
        )

    def check(self, region_id: str | None = None) -> None:
        """Refuse a choice that would put the area, a person, or anything that stands for them, into the release.

        region_id : REGION_ID of the areas; a field of this name in the records is refused too. Raises InputError.
        """
        for label, names in self._released().items():
            for name in names:
                if name in (self.area, region_id):
                    raise InputError.saying(
                        "Field “{name}” in {label} is the identifier of the area: the release would show the very "
                        "areas it is meant to hide. Take it out.",
                        name=name,
                        label=label,
                    )
                if name == self.count:
                    raise InputError.saying(
                        "Field “{name}” is RECORD_COUNT and cannot be among {label} too. Take it out.",
                        name=name,
                        label=label,
                    )
                for kind, member in self.members.items():
                    if name == member:
                        raise InputError.saying(
                            "Field “{name}” is {parameter}, which identifies {kind} and is never released: take it out "
                            "of {label}.",
                            name=name,
                            parameter=MEMBER_FIELDS[kind],
                            kind=tr(kind),
                            label=label,
                        )
        check_released_names(self.quasi_identifiers, self.kept, bool(self.count), self.sensitive)
