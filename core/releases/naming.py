"""Releases whose fields, values and areas are written otherwise, brought to the writing of the newest one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..dataclass import dataclass
from ..disclosure.published import Published, check_areas
from ..disclosure.row_values import with_field_names, with_field_values
from ..errors import InputError, first_values
from ..language import plural, tr
from .aliases import Aliases
from .writing import one_is_cut, same_but_for_case, written_otherwise


@dataclass(frozen=True, eq=False)
class Named:
    """Releases whose attributes have the same name where they are the same.

    own : of each release, what an attribute is called in it, by the name that it has now
    said : what was recognised, and warnings : what could not be, as sentences
    """

    releases: list[Published]
    own: list[dict[str, str]]
    said: list[str]
    warnings: list[str]


def named(releases: Sequence[Published], aliases: Aliases) -> Named:
    """Releases in the writing of the last one, the newest: areas, and names of attributes as they are recognised.

    Raises InputError where releases have no area in common, and where aliases join two fields of one release.
    """
    releases, said, warnings = _same_areas(releases)
    own = _names(releases, aliases)
    for release, names in zip(releases, own):
        said += [
            tr(
                "“{own}” of {release} is taken for “{name}”: the names differ in case, or are cut to ten characters.",
                own=before,
                release=release.title,
                name=name,
            )
            for name, before in names.items()
            if name != before and not aliases.are_same(name, before) and _recognised(name, before)
        ]
    renamed = [with_names(release, {was: name for name, was in names.items()}) for release, names in zip(releases, own)]
    return Named(renamed, own, said, warnings)


def with_names(release: Published, name_of: Mapping[str, str]) -> Published:
    """The release with other names of attributes; those without one keep theirs."""
    return replace(
        release,
        quasi_identifiers=tuple(name_of.get(name, name) for name in release.quasi_identifiers),
        coarsened={name_of.get(name, name): level for name, level in release.coarsened.items()},
        period=name_of.get(release.period, release.period),
        sensitive=tuple(with_field_names(field, name_of) for field in release.sensitive),
        rows=None if release.rows is None else with_field_names(release.rows, name_of),
    )


def with_values(release: Published, name: str, value_of: Mapping[str, str]) -> Published:
    """The release with other values of an attribute, one to one; those without one stay as they are."""
    if not value_of:
        return release

    def written(texts: np.ndarray) -> np.ndarray:
        return np.array([value_of.get(text, text) for text in texts.tolist()], dtype=object)

    categories = tuple(
        written(texts) if quasi_identifier == name else texts
        for quasi_identifier, texts in zip(release.quasi_identifiers, release.categories)
    )
    sensitive = tuple(with_field_values(field, name, value_of) for field in release.sensitive)
    rows = None if release.rows is None else with_field_values(release.rows, name, value_of)
    return replace(release, categories=categories, sensitive=sensitive, rows=rows)


def names_in(release: Published) -> list[str]:
    """The names of all attributes of a release, quasi-identifiers first."""
    return list(dict.fromkeys([*release.quasi_identifiers, *(field.field for field in release.sensitive)]))


def _same_areas(releases: Sequence[Published]) -> tuple[list[Published], list[str], list[str]]:
    """The releases with areas written as newer ones write them, what was recognised, and what does not fit."""
    renamed: list[Published] = []
    said, warnings = [], []
    known: dict[str, None] = {}
    for release in reversed(releases):
        other = written_otherwise(release.areas.tolist(), known)
        if other:
            said.append(
                plural(
                    "{n} area of {release} is written otherwise there ({first}): it is taken for the same.",
                    "{n} areas of {release} are written otherwise there ({first}): they are taken for the same.",
                    len(other),
                    release=release.title,
                    first=_pairs_shown(other),
                )
            )
            areas = np.array([other.get(area, area) for area in release.areas.tolist()], dtype=object)
            release = replace(release, areas=areas)
        renamed.insert(0, release)
        known.update(dict.fromkeys(release.areas.tolist()))
    check_areas(renamed)
    for position, release in enumerate(renamed):
        warnings += next(([warning] for newer in renamed[position + 1 :] if (warning := _partly(release, newer))), [])
    return renamed, said, warnings


def _partly(release: Published, newer: Published) -> str:
    """What is said where both releases have areas that the other lacks, empty where they have not."""
    mine, others = set(release.areas.tolist()), set(newer.areas.tolist())
    if mine <= others or others <= mine:
        return ""
    return tr(
        "Of the {all} areas of {release} {n} are not among those of {newer} ({first}), which has others ({others}). If "
        "these are the same places under other codes, nothing can be said of them: write the codes alike.",
        n=len(mine - others),
        all=len(mine),
        release=release.title,
        newer=newer.title,
        first=first_values(sorted(mine - others)),
        others=first_values(sorted(others - mine)),
    )


def _pairs_shown(other: Mapping[str, str]) -> str:
    return first_values((tr("{value} for {of}", value=value, of=of) for value, of in sorted(other.items())), 3)


@dataclass(eq=False)
class _Group:
    """One attribute: what it is called now, and in each release that has it, by position."""

    name: str
    members: dict[int, str]


def _names(releases: Sequence[Published], aliases: Aliases) -> list[dict[str, str]]:
    """Of each release, what each attribute is called in it, by the name it gets: the newest there is of it."""
    groups: list[_Group] = []
    for position in reversed(range(len(releases))):
        left = names_in(releases[position])
        _refuse_two(left, releases[position], aliases)
        for same in (aliases.are_same, str.__eq__, same_but_for_case, one_is_cut):
            left = _joined(left, position, groups, same, aliases)
            if same == aliases.are_same:
                _refuse_not_joined(left, releases[position], groups, aliases)
        for name in left:
            free = all(group.name != name for group in groups)
            title = releases[position].title
            groups.append(_Group(name if free else in_release(name, title), {position: name}))
    return [{group.name: group.members[i] for group in groups if i in group.members} for i in range(len(releases))]


def in_release(name: str, title: str) -> str:
    """The name of an attribute that is not what others of that name are."""
    return tr("{name} ({title})", name=name, title=title)


def _joined(
    names: Sequence[str],
    position: int,
    groups: Sequence[_Group],
    same: Callable[[str, str], bool],
    aliases: Aliases,
) -> list[str]:
    """Add names of a release to the groups that they belong to; those that belong to none, or to several."""
    fitting = {
        name: [
            group
            for group in groups
            if position not in group.members
            and any(same(name, other) for other in group.members.values())
            and not any(aliases.are_different(name, other) for other in group.members.values())
        ]
        for name in names
    }
    wanted = [id(candidates[0]) for candidates in fitting.values() if len(candidates) == 1]
    left = []
    for name, candidates in fitting.items():
        if len(candidates) == 1 and wanted.count(id(candidates[0])) == 1:
            candidates[0].members[position] = name
        else:
            left.append(name)
    return left


def _refuse_two(names: Sequence[str], release: Published, aliases: Aliases) -> None:
    for name in names:
        for other in names:
            if name != other and aliases.are_same(name, other):
                raise InputError.saying(
                    "ALIASES says that “{name}” and “{other}” are the same, but {release} has both: take that row out.",
                    name=name,
                    other=other,
                    release=release.title,
                )


def _refuse_not_joined(names: Sequence[str], release: Published, groups: Sequence[_Group], aliases: Aliases) -> None:
    """Refuse names that were said to be what others are that are not the same."""
    for name in names:
        for other in (member for group in groups for member in group.members.values()):
            if aliases.are_same(name, other):
                raise InputError.saying(
                    "ALIASES says that “{name}” of {release} is “{other}”, but so is another field, or the rows "
                    "contradict each other: name each field once.",
                    name=name,
                    release=release.title,
                    other=other,
                )


def _recognised(name: str, own: str) -> bool:
    return same_but_for_case(name, own) or one_is_cut(name, own)
