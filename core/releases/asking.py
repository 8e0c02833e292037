"""What is asked, and warned of, where two fields of releases may be the same."""

from __future__ import annotations

from ..errors import first_values
from ..language import tr
from .attributes import Attribute

EXAMPLE = "1=M; 2=F"


def same_content(name: str, newer: str, other: str, release: str, values: str) -> str:
    """The question whether two fields are the same; newer, release : titles; values : those that both have."""
    return tr(
        "“{name}” of {newer} and “{other}” of {release} have other names and the same content ({values}): if they are "
        "the same field, say so in ALIASES: {name}, {other}; if not: {name}, not {other}.",
        name=name,
        newer=newer,
        other=other,
        release=release,
        values=values,
    )


def perhaps_coarser(name: str, new: Attribute, other: str, old: Attribute) -> str:
    """What is said of two fields of which one could be the other in wider groups, made elsewhere."""
    return tr(
        "“{name}” of {newer} ({first}) and “{other}” of {release} ({others}) may be the same field, one of them in "
        "wider groups: it cannot be said what they give away together. Release the values as they are and let "
        "GENERALISE and HIERARCHIES make the groups, so that they can be related; if the fields are different, say "
        "so in ALIASES: {name}, not {other}.",
        **_both(name, new, other, old),
    )


def perhaps_same(name: str, new: Attribute, other: str, old: Attribute, words: str = "") -> str:
    """What is said of two fields, as their releases call them, of which nobody can decide whether they are the same.

    words : which values could be which, as they are typed; an example where empty
    """
    return tr(
        "“{name}” of {newer} ({first}) and “{other}” of {release} ({others}) may be the same field in other words: it "
        "cannot be said what they give away together. If they are, say so in ALIASES: {name}, “{other}: {words}”; if "
        "not: {name}, not {other}.",
        **_both(name, new, other, old),
        words=words or EXAMPLE,
    )


def ask_for_words(name: str, own: str, old: Attribute, new: Attribute) -> str:
    """What is asked where two fields were said to be one and have no value in common; old, new : as they are shown."""
    return tr(
        "ALIASES says that “{name}” is “{other}”, but {release} shows {others} and {newer} {first}: say which values "
        "are the same: {name}, “{other}: 1=M; 2=F”.",
        **_both(name, new, own, old),
    )


def _both(name: str, new: Attribute, other: str, old: Attribute) -> dict[str, str]:
    """The places of a text that tells of two fields: of each its name, its release, and what it shows first."""
    newer = {"name": name, "newer": new.title, "first": first_values(new.by_value, 3)}
    return {**newer, "other": other, "release": old.title, "others": first_values(old.by_value, 3)}
