"""Releases that show a quasi-identifier at different levels, made comparable.

Where one release shows ages 15-19 and 20-24, and another 15-24, the counts of the second are sums of those of the
first. A release that shows the finer values shows the coarser ones too: they become quasi-identifiers of their own, one
for each level in use, so that what is known of sums over quasi-identifiers holds for levels as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Union

import numpy as np

from ..arrays import to_list
from ..disclosure.published import Published
from ..disclosure.values import MISSING, as_text, as_value
from ..errors import InputError, first_values
from ..generalising.hierarchies import SUPPRESSED_VALUE, Hierarchy, make_hierarchy
from ..generalising.rules import HierarchyRule
from ..generalising.table import HierarchyTable
from ..language import tr

Source = Union[HierarchyTable, HierarchyRule]


class Relating:
    """Makes releases comparable whose levels differ; called with a release, it gives that with all coarser values.

    releases : all that are to be compared; sources : what says how the values of an attribute become coarser
    own : values that the sources know beside those of the releases, by attribute: those of the present records
    Where all releases show an attribute at the same level, nothing is done. Raises InputError where levels differ and
    no source relates them, or one that depends on how many records have a value.
    """

    def __init__(
        self,
        releases: Sequence[Published],
        sources: Mapping[str, Source],
        own: Mapping[str, Sequence[object]] | None = None,
    ) -> None:
        self._used: dict[str, list[int]] = {}
        self._hierarchies: dict[str, Hierarchy] = {}
        for name in dict.fromkeys(name for release in releases for name in release.quasi_identifiers):
            showing = [release for release in releases if name in release.quasi_identifiers]
            used = sorted({release.coarsened.get(name, 0) for release in showing})
            if len(used) > 1:
                hierarchy = _hierarchy(name, showing, sources.get(name), (own or {}).get(name, ()))
                self._hierarchies[name] = hierarchy
                self._used[name] = sorted({level_of(release, hierarchy) for release in showing})

    def __call__(self, release: Published) -> Published:
        """The release with a quasi-identifier for each level in use from its own on; its equivalence classes stay."""
        names: list[str] = []
        categories: list[np.ndarray] = []
        codes: list[np.ndarray] = []
        for position, name in enumerate(release.quasi_identifiers):
            of_field, column = release.categories[position], release.classes[:, position]
            if name not in self._hierarchies:
                names, categories, codes = [*names, name], [*categories, of_field], [*codes, column]
                continue
            hierarchy = self._hierarchies[name]
            own = level_of(release, hierarchy)
            for level in (used for used in self._used[name] if used >= own):
                above = _coarser_values(hierarchy, own, level)
                values, at = np.unique(
                    np.array([above[text] for text in of_field.tolist()], dtype=str), return_inverse=True
                )
                names.append(name if not level else tr("{name} (level {level})", name=name, level=level))
                categories.append(values.astype(object))
                codes.append(at.reshape(-1)[column])
        classes = np.column_stack(codes) if codes else release.classes
        return replace(release, quasi_identifiers=tuple(names), categories=tuple(categories), classes=classes)


def with_levels(release: Published, tables: Mapping[str, HierarchyTable]) -> Published:
    """A release of which nobody has recorded it, with the levels it shows: the finest that has all its values.

    Attributes without a table, and those whose values are of no level, stay as they are.
    """
    shown_levels = {}
    for name, of_field in zip(release.quasi_identifiers, release.categories):
        if name in tables:
            texts = set(of_field.tolist()) - {MISSING}
            hierarchy = tables[name].hierarchy(np.array(list(tables[name].rows), dtype=object))
            levels = (as_text(level_values.tolist()) for level_values in hierarchy.categories)
            shown_levels[name] = next((level for level, values in enumerate(levels) if texts <= set(values)), 0)
    return replace(release, coarsened={name: level for name, level in shown_levels.items() if level})


def level_of(release: Published, hierarchy: Hierarchy) -> int:
    """The level of a hierarchy that a release shows. Raises InputError where the hierarchy has not all its values."""
    name = hierarchy.attribute
    texts = set(release.categories[release.quasi_identifiers.index(name)].tolist()) - {MISSING}
    recorded = release.coarsened.get(name, 0)
    if recorded < len(hierarchy) and texts <= set(as_text(hierarchy.categories[recorded].tolist())):
        return recorded
    raise InputError.saying(
        "{release} shows “{name}” at level {recorded}, with values that HIERARCHIES and HIERARCHY_RULES do not have "
        "({first}): give them as they were when it was made, so that the releases can be compared.",
        release=release.title.capitalize(),
        name=name,
        recorded=recorded,
        first=first_values(sorted(texts)),
    )


def _hierarchy(name: str, releases: Sequence[Published], source: Source | None, own: Sequence[object]) -> Hierarchy:
    """The hierarchy of all values that the releases show of an attribute."""
    levels = ", ".join(f"{release.title}: {release.coarsened.get(name, 0)}" for release in releases)
    if source is None:
        raise InputError.saying(
            "The releases show “{name}” at different levels ({levels}): give HIERARCHIES or HIERARCHY_RULES as they "
            "were made with, so that they can be compared.",
            name=name,
            levels=levels,
        )
    if isinstance(source, HierarchyRule) and source.data_dependent:
        raise InputError.saying(
            "The releases show “{name}” at different levels ({levels}), and its rule depends on how many records have "
            "a value, so that nobody can say what the levels have in common: write the groups as a table in "
            "HIERARCHIES.",
            name=name,
            levels=levels,
        )
    if isinstance(source, HierarchyTable):
        as_they_are = (release for release in releases if not release.coarsened.get(name, 0))
        values = dict.fromkeys([*source.rows, *(text for release in as_they_are for text in _values_of(release, name))])
        return source.hierarchy(np.array([*(value for value in values if value is not None), None], dtype=object))
    return _by_rule(source, releases, own)


def _by_rule(rule: HierarchyRule, releases: Sequence[Published], own: Sequence[object]) -> Hierarchy:
    """The hierarchy of the values themselves and of the coarser ones that releases show.

    A rule makes of its own coarser values just what it makes of the values in them. Below the level at which a release
    shows a value, that stays what it is.
    """
    made_at: dict[str, int] = {as_value(text): 0 for text in as_text(own) if text != MISSING}
    for release in sorted(releases, key=lambda candidate: candidate.coarsened.get(rule.attribute, 0)):
        level = release.coarsened.get(rule.attribute, 0)
        for text in _values_of(release, rule.attribute):
            made_at.setdefault(text, level)
    values = np.array([*made_at, None], dtype=object)
    levels = []
    for level in range(1, rule.n_levels + 1):
        texts = [value for value in to_list(values) if value is None or made_at[value] <= level]
        coarser = dict(zip(texts, rule.at_level(texts, np.zeros(len(texts)), level)))
        levels.append([coarser.get(value, value) for value in to_list(values)])
    return make_hierarchy(rule.attribute, values, levels)


def _values_of(release: Published, name: str) -> list[str]:
    """The values that a release shows of an attribute, but for those that say nothing."""
    texts = to_list(release.categories[release.quasi_identifiers.index(name)])
    return [as_value(text) for text in texts if text not in (MISSING, SUPPRESSED_VALUE)]


def _coarser_values(hierarchy: Hierarchy, level: int, above: int) -> Mapping[str, str]:
    """The value at a higher level of each value at a level, as releases write them."""
    fine, coarse = (as_text(to_list(hierarchy.categories[of_level])) for of_level in (level, above))
    pairs = zip(to_list(hierarchy.codes[level]), to_list(hierarchy.codes[above]))
    return {fine[code]: coarse[other] for code, other in pairs}
