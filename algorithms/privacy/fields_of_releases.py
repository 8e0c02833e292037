"""The fields of releases that are given as layers: found under other names, looked for where a release lacks one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from qgis.core import QgsFields

from ...core.dataclass import dataclass
from ...core.disclosure.published import Published
from ...core.disclosure.values import values_of_rows
from ...core.errors import InputError, first_values
from ...core.language import tr
from ...core.records.columns import Column, combine_codes
from ...core.records.table import counts_of
from ...core.releases.aliases import Aliases
from ...core.releases.asking import perhaps_same, same_content
from ...core.releases.attributes import Attribute, attributes_of
from ...core.releases.matching import NEARLY_ALL, SOME
from ...core.releases.naming import names_in
from ...core.releases.writing import one_is_cut, same_but_for_case
from ..compat import kind_of
from ..form.form import Form
from ..layers.reading.checked_source import CheckedSource
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.reading.records import read_columns

OF_FILES = ("fid", "ogc_fid")
SAYS_A_CLASS = ("text", "integer", "long", "boolean")


@dataclass(frozen=True)
class Wanted:
    """What is read of releases: their quasi-identifiers and sensitive fields, by the names given; count : the field
    with records per row, where a release has it"""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    count: str
    aliases: Aliases

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.quasi_identifiers, *self.sensitive)

    def counts(self, fields: QgsFields) -> bool:
        """Whether a release with these fields has records per row."""
        own = fields_for(fields, self.quasi_identifiers, self.aliases).values()
        return bool(self.count) and fields.lookupField(self.count) >= 0 and self.count not in own


def fields_for(fields: QgsFields, names: Sequence[str], aliases: Aliases) -> dict[str, str]:
    """The field of a release for each name that it has one for, in whatever case, or else under an alias or cut."""
    field_of = {name: name for name in names if fields.lookupField(name) >= 0}
    for name in names:
        other = None if name in field_of else field_for(fields, name, aliases)
        if other is not None and not any(same_but_for_case(other, field) for field in field_of.values()):
            field_of[name] = other
    return {name: field_of[name] for name in names if name in field_of}


def field_for(fields: QgsFields, name: str, aliases: Aliases) -> str | None:
    """The field of this name, in whatever case, under an alias or cut to ten characters; None where there is none."""
    for alias in (name, *aliases.names_for(name)):
        if fields.lookupField(alias) >= 0:
            return alias
    cut = [field for field in fields.names() if one_is_cut(field, name) and not aliases.are_different(field, name)]
    return cut[0] if len(cut) == 1 else None


def looked_for(
    form: Form, tables: Sequence[CheckedSource], releases: Sequence[Published], wanted: Wanted
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is said, and warned, of fields that some releases lack. Raises InputError where one has another name, and
    where a release may have been made by a field that nobody named."""
    asked: list[str] = []
    unnamed: list[str] = []
    said: list[str] = []
    warnings: list[str] = []
    attributes_shown = [attributes_of(published) for published in releases]
    for table, release in zip(tables, releases):
        there = names_in(release)
        lacking = [name for name in wanted.names if not {name, *wanted.aliases.names_for(name)} & {*there}]
        own = fields_for(table.fields(), wanted.names, wanted.aliases)
        said += [
            tr("“{own}” of {release} is taken for “{name}”.", own=field, release=release.title, name=name)
            for name, field in own.items()
            if not same_but_for_case(name, field)
        ]
        others = _others(form, table, release, wanted)
        unnamed += [
            _may_have_made_classes(name, release) for name, attribute in others.items() if attribute.divides(release.k)
        ]
        for name in lacking:
            of_others = [attributes[name] for attributes in attributes_shown if name in attributes]
            for other, attribute in others.items():
                if not wanted.aliases.are_different(name, other):
                    _hold(attribute, of_others, name, asked, warnings)
            said.append(
                tr(
                    "{release} has no “{name}”: it is held against the others without it.",
                    release=release.title,
                    name=name,
                )
            )
    if asked or unnamed:
        raise InputError(" ".join(dict.fromkeys(asked or unnamed)))
    return tuple(said), tuple(dict.fromkeys(warnings))


def _may_have_made_classes(name: str, release: Published) -> str:
    """What is asked where all classes have k records by a field more: those below k by it may be suppressed."""
    return tr(
        "{release} shows “{name}”, by which each of its classes has {k} records and more: if they were made by it, "
        "name it in QUASI_IDENTIFIERS, or the counts without it are not of all people; if not, name it in SENSITIVE.",
        release=release.title,
        name=name,
        k=release.k,
    )


def _hold(attribute: Attribute, others: Sequence[Attribute], name: str, asked: list[str], warnings: list[str]) -> None:
    """Hold a field that nobody named against one that its release lacks."""
    for other in others:
        both = attribute.share_among(other.values), other.share_among(attribute.values)
        if min(both) >= NEARLY_ALL:
            asked.append(
                same_content(attribute.name, attribute.title, name, other.title, first_values(other.by_value, 4))
            )
        elif min(both) >= SOME:
            warnings.append(perhaps_same(attribute.name, attribute, name, other))


def _others(form: Form, table: CheckedSource, release: Published, wanted: Wanted) -> Mapping[str, Attribute]:
    """The fields of a release that are not among those named, as attributes of all its rows."""
    fields = table.fields()
    named = fields_for(fields, wanted.names, wanted.aliases)
    taken = {*named.values(), NUMBER, LEVEL, wanted.count, *OF_FILES}
    left = [
        field.name()
        for field in fields
        if kind_of(field) in SAYS_A_CLASS and not any(same_but_for_case(field.name(), name) for name in taken)
    ]
    if not left:
        return {}
    classes = [named[name] for name in wanted.quasi_identifiers if name in named]
    classes += [name for name in (NUMBER, LEVEL) if fields.lookupField(name) >= 0]
    count = wanted.count if wanted.counts(fields) else ""
    columns = read_columns(table, list(dict.fromkeys([*left, *classes, *filter(None, [count])])), form.feedback)
    counts = counts_of(columns, count)
    codes = [columns[name].codes for name in classes]
    equivalence_class = combine_codes(codes, [len(columns[name].categories) for name in classes])[0]
    return {name: _attribute(name, release.title, columns[name], equivalence_class, counts) for name in left}


def _attribute(
    name: str, title: str, column: Column, equivalence_class: np.ndarray, counts: np.ndarray | None
) -> Attribute:
    values = values_of_rows(name, column.categories, equivalence_class, column.codes, counts)
    return Attribute(
        name, title, tuple(values.categories.tolist()), 0, False, values.equivalence_class, values.value, values.records
    )
