"""What an update refuses: records that it cannot follow, and releases of which it does not know what they told."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from ..disclosure.published import Published
from ..disclosure.row_values import known_fields, names_beside, row_values_in, rows_by_value
from ..disclosure.values import as_text
from ..errors import InputError, in_quotes
from ..language import all_of
from ..profile import Profile
from ..records.table import HOUSEHOLDS, PERSONS, RecordTable
from .writing import words_for_missing


def check_updated_members(table: RecordTable) -> None:
    """Refuse persons with several rows, and households. Raises InputError."""
    if PERSONS in table.members:
        codes = table.members[PERSONS].codes
        refuse_rows_of_one_person(len(codes) - len(np.unique(codes)))
    if HOUSEHOLDS in table.members:
        raise households_in_update()


def refuse_rows_of_one_person(several: int) -> None:
    """Refuse that many rows of persons who have another. Raises InputError."""
    if several:
        raise InputError.counting(
            "An update takes one row for each person; {n} row is of a person who has another: who leaves would take "
            "all of them along, and the register does not know of how many persons its numbers are. Give each person "
            "one row, or use “Release records”, with REGISTER.",
            "An update takes one row for each person; {n} rows are of persons who have another: who leaves would take "
            "all of them along, and the register does not know of how many persons its numbers are. Give each person "
            "one row, or use “Release records”, with REGISTER.",
            several,
        )


def households_in_update() -> InputError:
    """What is said of an update that is to count households."""
    return InputError.saying(
        "An update counts persons, and not households: a household that leaves would be a change of several records, "
        "and the register does not know of how many households its numbers are. Leave HOUSEHOLD_ID empty, or use "
        "“Release records”, with REGISTER."
    )


def check_updated_releases(earlier: Sequence[Published], names: Sequence[str]) -> None:
    """Refuse earlier releases of which an update cannot know what they told. Raises InputError.

    earlier : those of its geography; names : the fields that it shows beside quasi-identifiers
    """
    for release in earlier:
        if release.period:
            raise InputError.saying(
                "{release} shows the same classes in all periods of “{period}”: who leaves in one period would take a "
                "whole series along. Use “Release records”, with REGISTER.",
                release=release.title.capitalize(),
                period=release.period,
            )
        if release.of_persons:
            raise InputError.saying(
                "{release} counts persons, who may have several rows: how many persons a change of its rows is, the "
                "register does not know, so that it cannot be updated. Use “Release records”, with REGISTER.",
                release=release.title.capitalize(),
            )
        # An update shows no field that the register does not keep: it is known to have shown none of these.
        none_shown = release.updates is not None and not known_fields(release) & set(names)
        if names and len(release.records) and not none_shown and row_values_in(release, names) is None:
            raise InputError.saying(
                "Of {release} the register does not keep what its rows showed in {fields}, so that a change of one "
                "person would not be seen: leave these out of KEEP_FIELDS and SENSITIVE, or begin a register with a "
                "release that shows all of them.",
                release=release.title,
                fields=all_of([in_quotes(name) for name in names]),
            )
    showing = [release for release in earlier if len(release.records)]
    if names and showing and all(row_values_in(release, names) is None for release in showing):
        raise InputError.saying(
            "No release of the register is known to have shown {fields} in its rows, and what they showed under other "
            "names would not be seen: leave these out of KEEP_FIELDS and SENSITIVE, or begin a register with a release "
            "that shows all of them.",
            fields=all_of([in_quotes(name) for name in names]),
        )


def check_empty_values(earlier: Sequence[Published], profile: Profile, table: RecordTable) -> None:
    """Refuse values that are missing now where an earlier release showed empty texts, or the other way round, as the
    same file has by a layer and in a database: whoever reads both tells them not apart. Raises InputError.

    earlier : those of its geography; profile, table : of the records of now
    """
    kinds = set(as_text([None, ""]))
    names = names_beside(table)
    now = {name: set(as_text(of.tolist())) for name, of in zip(profile.quasi_identifiers, profile.categories)}
    now |= {name: set(as_text(table.kept[name].categories.tolist())) for name in names}
    for release in earlier:
        before = {name: set(of.tolist()) for name, of in zip(release.quasi_identifiers, release.categories)}
        values = row_values_in(release, names) if names else None
        if values is not None:
            before |= {name: set(of) for name, of in zip(names, rows_by_value(values))}
        for name, theirs in before.items():
            empty_then, empty_now = kinds & theirs, kinds & now[name]
            if empty_then and empty_now and not empty_then & empty_now:
                raise InputError.saying(
                    "“{name}” is missing where {release} shows an empty text, or the other way round: a reader tells "
                    "them not apart, and would see a change of a few people. Read the records as the earlier release "
                    "did, from a layer or from a database, or write a word such as “unknown”.",
                    name=name,
                    release=release.title,
                )
            _refuse_missing_in_words(name, release.title, theirs, now[name])
            _refuse_missing_in_words(name, release.title, now[name], theirs)


def _refuse_missing_in_words(name: str, release: str, values: Set[str], others: Set[str]) -> None:
    """Refuse values of which some are missing where the others show what programs write for a missing one, and nothing
    that is missing. Raises InputError."""
    words = words_for_missing(values, others)
    if words:
        raise InputError.saying(
            "“{name}” is missing where {release} shows “{word}”, or the other way round: programs write that for a "
            "missing value, and a reader would see a change of a few people. Write missing values as the earlier "
            "release does.",
            name=name,
            release=release,
            word=words[0],
        )
