"""Values that were said to be the same in other words, brought to the words of the newest release."""

from __future__ import annotations

from collections.abc import Mapping

from ..disclosure.published import Published
from ..errors import InputError
from ..plain_text import without_writing
from .aliases import Alias, Aliases
from .attributes import attributes_of
from .naming import Named, with_values


def in_said_words(position: int, naming: Named, aliases: Aliases) -> Published:
    """A release with values in the words that the newest release with the same attribute has for them.

    Raises InputError where that would make one value of two, and where words could be of either side.
    """
    release = naming.releases[position]
    for name, own in naming.own[position].items():
        newest = max(at for at, names in enumerate(naming.own) if name in names)
        if newest == position:
            continue
        for row in aliases.rows:
            if row.values and row.speaks_of(own, naming.own[newest][name]):
                values = attributes_of(naming.releases[newest])[name].values
                release = _in_words(release, name, _words(row, own, values), row)
    return release


def _words(row: Alias, own: str, values: tuple[str, ...]) -> Mapping[str, str]:
    """What each value becomes, plainly written; own : what the release calls the field; values : words wanted."""
    wanted = {without_writing(value): value for value in values}
    left, right = ({without_writing(pair[side]) for pair in row.values} for side in (0, 1))
    if row.field != row.other:
        from_left = own == row.field
    elif left & right:
        raise InputError.saying(
            "ALIASES gives “{field}” values that stand on both sides ({value}), so that nobody can say which release "
            "writes which: write them alike in the records.",
            field=row.field,
            value=min(left & right),
        )
    else:
        from_left = len(right & wanted.keys()) > len(left & wanted.keys())
    pairs = row.values if from_left else [(of, value) for value, of in row.values]
    return {without_writing(value): wanted.get(without_writing(of), of) for value, of in pairs}


def _in_words(release: Published, name: str, words: Mapping[str, str], row: Alias) -> Published:
    values = attributes_of(release)[name].values
    becomes = {value: words[without_writing(value)] for value in values if without_writing(value) in words}
    after = [becomes.get(value, value) for value in values]
    twice = next((value for value in after if after.count(value) > 1), None)
    if twice is not None:
        raise InputError.saying(
            "ALIASES makes “{value}” of two values that {release} shows of “{field}”: values go one to one.",
            value=twice,
            release=release.title,
            field=row.field,
        )
    return with_values(release, name, becomes)
