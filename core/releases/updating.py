"""An update: the people of now under the geography of an earlier release, from which no change of a few follows.

What each label shows is worked out by `keeping`; who of those who live there is shown with it is drawn in secret, each
as likely as the others. See docs/methods.md, section 20.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..areas import Areas
from ..disclosure.published import Published
from ..disclosure.values import as_text
from ..errors import InputError, first_values
from ..language import as_data, tr
from ..levels import Levels
from ..plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels, suppress
from ..profile import Profile
from ..progress import Progress, part, silent
from ..records.columns import Column
from ..records.matching import Records
from ..records.table import RecordTable
from ..scientific import sparse
from .holding_back import held_back
from .keeping import NOBODY, Kept, Places, kept
from .updates import same_regions

FURTHER, UPDATED = as_data("a further period"), as_data("the same people updated")
KINDS = (FURTHER, UPDATED)


@dataclass(frozen=True)
class Update:
    """What is updated: an earlier release, and what the records of now are beside it.

    entry : its position among the earlier releases; kind : FURTHER, records of a later period beside which the earlier
    ones stay; UPDATED, the same people with what has changed of them
    """

    entry: int
    kind: str = UPDATED


@dataclass(frozen=True)
class Changed:
    """What an update changes beside the release that it updates, in labels: a class in a region of a level.

    same, other : labels that both show, with as many people or others; gone, new : that only one of them shows
    n_up : people who are shown in a
    larger region than by a plan of their own; n_lost : people who are suppressed, and are not by a plan of their own
    n_records : people of now
    """

    same: int
    other: int
    gone: int
    new: int
    n_up: int
    n_lost: int
    n_records: int

    @property
    def percent(self) -> float:
        """People who are suppressed, or shown in a larger region, because of the earlier releases."""
        return 100.0 * (self.n_up + self.n_lost) / max(self.n_records, 1)


def of_the_same_geography(earlier: Sequence[Published], now: Published) -> list[int]:
    """The positions of the releases that show the same quasi-identifiers in the same regions."""
    return [
        at
        for at, release in enumerate(earlier)
        if dict(release.coarsened) == dict(now.coarsened) and same_regions(release, now) is not None
    ]


def last_of_the_same(earlier: Sequence[Published], records: Records, areas: Areas, levels: Levels | None) -> int | None:
    """The position of the last release that shows the quasi-identifiers of these records in these areas and, where
    levels are given, in their regions; None for none."""
    coarsened = {name: column.level for name, column in records.table.coarsened.items()}
    if levels is not None:
        same = of_the_same_geography(earlier, under_levels(records.profile, levels, areas, coarsened))
        return same[-1] if same else None
    identifiers, names = set(areas.identifiers.tolist()), set(records.profile.quasi_identifiers)
    for at in reversed(range(len(earlier))):
        release = earlier[at]
        shown = set(release.quasi_identifiers), dict(release.coarsened)
        if shown == (names, coarsened) and set(release.areas.tolist()) == identifiers:
            return at
    return None


def levels_of_release(release: Published, areas: Areas) -> Levels:
    """The levels of a release, of the same areas in their order of now. Raises InputError where these are others."""
    position = {identifier: at for at, identifier in enumerate(release.areas.tolist())}
    at = np.array([position.get(identifier, NOBODY) for identifier in areas.identifiers.tolist()], np.int64)
    if len(at) != len(position) or (at < 0).any():
        lacking = [area for area, there in zip(areas.identifiers.tolist(), at.tolist()) if there < 0]
        raise InputError(
            tr(
                "{release} has other areas than REGIONS ({first}): give those that it was made with.",
                release=release.title.capitalize(),
                first=first_values(lacking or sorted(set(position) - set(areas.identifiers.tolist()))),
            )
        )
    crosswalks = (replace(crosswalk, region_of=crosswalk.region_of[at]) for crosswalk in release.levels.crosswalks)
    return Levels(tuple(crosswalks))


def check_update(earlier: Sequence[Published], now: Published, update: Update) -> list[int]:
    """The positions of the releases that an update must go with, the one that it updates last.

    now : anything published under the levels of now. Raises InputError where the one to be updated is not of the same
    geography, or shows other quasi-identifiers.
    """
    old = earlier[update.entry]
    if set(old.quasi_identifiers) != set(now.quasi_identifiers) or dict(old.coarsened) != dict(now.coarsened):
        raise InputError(
            tr(
                "{release} shows {theirs}, and not {own}: give the same QUASI_IDENTIFIERS, at the same levels.",
                release=old.title.capitalize(),
                theirs=", ".join(old.quasi_identifiers),
                own=", ".join(now.quasi_identifiers),
            )
        )
    same = of_the_same_geography(earlier, now)
    if update.entry not in same:
        raise InputError(
            tr(
                "{release} has other regions than CROSSWALK: give the crosswalk that it was made with, or another "
                "ENTRY.",
                release=old.title.capitalize(),
            )
        )
    return [*(at for at in same if at != update.entry), update.entry]


def check_updated_fields(table: RecordTable) -> None:
    """Refuse what an update cannot keep the same yet. Raises InputError."""
    kept_fields = [name for name, column in table.kept.items() if len(np.unique(column.codes)) > 1]
    if kept_fields:
        raise InputError(
            tr(
                "An update cannot show “{field}”: where somebody leaves and somebody comes, the rows of a class would "
                "change by one, and the register does not keep what rows show beside the quasi-identifiers. Leave "
                "KEEP_FIELDS and SENSITIVE empty, or release them by “Release records”.",
                field=kept_fields[0],
            )
        )
    for name in table.members:
        raise InputError(
            tr(
                "An update counts records, and not yet {kind}: leave PERSON_ID and HOUSEHOLD_ID empty, with a record "
                "for each, or use “Release records”, with REGISTER.",
                kind=name,
            )
        )


def updated(
    records: Records,
    levels: Levels,
    k: int,
    earlier: Sequence[Published],
    places: Sequence[Places],
    nested: bool,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[Records, Plan]:
    """The records, split by where they are shown, and the plan that shows them.

    levels : of the earlier releases; earlier : those of the same geography, the one to be updated last; places : what
    they show, `places_of`; rng : draws who is shown where
    """
    profile = records.profile
    step = max(k, *(release.k for release in earlier))
    there = held_back(places, rng) if nested else places
    shown = kept(there, step, rng, part(progress, 0.0, 0.6))
    cell, row = _people(records)
    area, class_of = area_of_cells(profile)[cell], profile.counts.indices[cell]
    level_of = levels_drawn(area, class_of, max(len(profile.classes), 1), levels, places, shown, rng)
    progress(0.9)
    split, level_of_cells = _split(records, cell, row, level_of, nested)
    if not nested:
        return split, replace(suppress(split.profile, levels.crosswalks[0], k), in_part=True)
    return split, replace(plan_by_levels(split.profile, levels, k, level_of_cells), in_part=True)


def places_of(profile: Profile, levels: Levels, earlier: Sequence[Published], areas: Areas) -> list[Places]:
    """The regions of each level and the classes that anybody has there, with what earlier releases show of them."""
    n_classes = max(len(profile.classes), 1)
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    keys, people = [], []
    for crosswalk in levels.crosswalks:
        region = crosswalk.region_of[area]
        inside = region >= 0
        key, at = np.unique(region[inside] * n_classes + class_of[inside], return_inverse=True)
        keys.append(key)
        people.append(np.bincount(at.reshape(-1), profile.counts.data[inside], len(key)).astype(np.int64))
    shown = [np.zeros((len(key), len(earlier)), np.int64) for key in keys]
    within = [np.zeros((len(key), len(earlier)), np.int64) for key in keys]
    for number, release in enumerate(earlier):
        level, region, own_class = _in_own_numbers(release, profile, levels, areas)
        for height in range(len(levels)):
            if height:
                below = level < height
                region = np.where(below & (region >= 0), levels.parents(height - 1)[region], region)
            there = (level <= height) & (region >= 0) & (own_class >= 0)
            at = _positions(keys[height], region[there] * n_classes + own_class[there])
            found, records = at >= 0, release.records[there]
            np.add.at(within[height][:, number], at[found], records[found])
            found &= level[there] == height
            np.add.at(shown[height][:, number], at[found], records[found])
    parents = []
    for height, key in enumerate(keys):
        if height == len(keys) - 1:
            parents.append(np.full(len(key), NOBODY))
            continue
        region, of_class = np.divmod(key, n_classes)
        around = levels.parents(height)[region]
        parents.append(np.where(around >= 0, _positions(keys[height + 1], around * n_classes + of_class), NOBODY))
    return [Places(*columns) for columns in zip(keys, people, parents, shown, within)]


def _positions(keys: np.ndarray, key: np.ndarray) -> np.ndarray:
    at = np.searchsorted(keys, key)
    return np.where(np.append(keys, -1)[at] == key, at, NOBODY)


def _in_own_numbers(
    release: Published, profile: Profile, levels: Levels, areas: Areas
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Level, region and class of what a release shows, by the numbers of now; NOBODY for a class that nobody has."""
    now = _nothing(profile, levels, areas)
    old_numbers = same_regions(release, now) or []  # which is known to be so
    region = np.empty(len(release.region), np.int64)
    for level, numbers in enumerate(old_numbers):
        new_of = np.empty(len(numbers), np.int64)
        new_of[numbers] = np.arange(len(numbers))
        here = release.level == level
        region[here] = new_of[release.region[here]]
    names = release.quasi_identifiers
    texts = [
        np.array(as_text(categories.tolist()), dtype=object)[codes].tolist()
        for categories, codes in zip(profile.categories, profile.classes.T)
    ]
    at = [profile.quasi_identifiers.index(name) for name in names]
    position = {values: number for number, values in enumerate(zip(*(texts[i] for i in at)))}
    of_class = np.array([position.get(values, NOBODY) for values in release.values_of_classes()], np.int64)
    return release.level, region, of_class[release.class_of]


def _nothing(profile: Profile, levels: Levels, areas: Areas) -> Published:
    """A release of these quasi-identifiers and levels that shows nothing."""
    none = np.empty(0, np.int64)
    names = profile.quasi_identifiers
    categories = tuple(np.empty(0, object) for _ in names)
    classes = np.empty((0, len(names)), np.int64)
    return Published("", 2, areas.identifiers, levels, names, categories, classes, none, none, none, none)


def under_levels(profile: Profile, levels: Levels, areas: Areas, coarsened: dict[str, int]) -> Published:
    """The same, which tells at what levels of their hierarchies quasi-identifiers are shown."""
    return replace(_nothing(profile, levels, areas), coarsened=coarsened)


def _people(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Of each record that is counted the cell and the row, which may stand for several."""
    row = np.flatnonzero(records.cell_of >= 0)
    if records.table.counts is not None:
        row = np.repeat(row, records.table.counts[row])
    return records.cell_of[row], row


def levels_drawn(
    area: np.ndarray,
    class_of: np.ndarray,
    n_classes: int,
    levels: Levels,
    places: Sequence[Places],
    shown: Kept,
    rng: np.random.Generator,
) -> np.ndarray:
    """The level at which each person is shown, (N,) int8, SUPPRESSED for none: of those of a place whom no finer level
    shows so many as it shows, each as likely as the others."""
    level_of = np.full(len(area), SUPPRESSED, np.int8)
    waiting = np.arange(len(area))
    for level, crosswalk in enumerate(levels.crosswalks):
        region = crosswalk.region_of[area[waiting]]
        there = waiting[region >= 0]
        at = _positions(places[level].key, region[region >= 0] * n_classes + class_of[there])
        order = np.lexsort((rng.random(len(there)), at))
        at, there = at[order], there[order]
        starts = np.flatnonzero(np.diff(at, prepend=NOBODY))
        rank = np.arange(len(at)) - np.repeat(starts, np.diff(starts, append=len(at)))
        level_of[there[rank < shown.shown[level][at]]] = level
        waiting = waiting[level_of[waiting] == SUPPRESSED]
    return level_of


def _split(
    records: Records, cell: np.ndarray, row: np.ndarray, level_of: np.ndarray, nested: bool
) -> tuple[Records, np.ndarray]:
    """The records with a cell for each area, class and level at which people of them are shown; of one level, those who
    are not shown are in none. And the level of each cell."""
    profile, table = records.profile, records.table
    counted_in = np.arange(len(cell)) if nested else np.flatnonzero(level_of != SUPPRESSED)
    n_levels = int(level_of.max(initial=0)) + 2
    keys, at = np.unique(cell[counted_in] * n_levels + level_of[counted_in] + 1, return_inverse=True)
    of_cell, level = np.divmod(keys, n_levels)
    of_area = area_of_cells(profile)[of_cell]
    numbers = np.bincount(at.reshape(-1), minlength=len(keys)).astype(profile.counts.dtype)
    starts = np.searchsorted(of_area, np.arange(profile.counts.shape[0] + 1))
    # Given by its parts, a matrix keeps two cells of one area and class apart.
    counts = sparse.csr_matrix((numbers, profile.counts.indices[of_cell], starts), shape=profile.counts.shape)
    own = np.full(len(cell), SUPPRESSED)
    own[counted_in] = at.reshape(-1)
    cell_of = np.full(len(table), -1, np.int64)
    if table.counts is None:
        cell_of[row] = own
    else:
        table, cell_of = _rows_in_parts(table, row, own)
    n_unmatched = records.n_unmatched + len(cell) - len(counted_in)
    split = replace(records, table=table, profile=replace(profile, counts=counts), cell_of=cell_of)
    return replace(split, n_unmatched=n_unmatched), (level - 1).astype(np.int8)


def _rows_in_parts(table: RecordTable, row: np.ndarray, cell: np.ndarray) -> tuple[RecordTable, np.ndarray]:
    """Rows that stand for several records, with a row for each cell that these are in; row, cell : (N,) of each record.

    Rows that stand for nobody, or are in no known area, are left out.
    """
    n_cells = int(cell.max(initial=0)) + 2
    keys, at = np.unique(row * n_cells + cell + 1, return_inverse=True)
    rows, own = np.divmod(keys, n_cells)

    def taken(columns: Mapping[str, Column]) -> dict[str, Column]:
        return {name: Column(column.codes[rows], column.categories) for name, column in columns.items()}

    parts = replace(
        table,
        area=Column(table.area.codes[rows], table.area.categories),
        quasi_identifiers=taken(table.quasi_identifiers),
        kept=taken(table.kept),
        counts=np.bincount(at.reshape(-1), minlength=len(keys)).astype(np.int64),
    )
    return parts, own - 1


def changed(plan: Plan, own: Plan, places: Sequence[Places], n_records: int) -> Changed:
    """What a plan changes beside the release that it updates; own : a plan of these records that knows none."""
    n_classes = max(len(plan.profile.classes), 1)
    same = other = new = gone = 0
    for level, of_level in enumerate(places):
        before = of_level.shown[:, -1]
        after = np.zeros(len(of_level), np.int64)
        here = plan.released & (plan.level == level)
        at = _positions(of_level.key, plan.region[here] * n_classes + plan.class_of[here])
        after[at] = plan.records[here]
        same += int(((before == after) & (before > 0)).sum())
        other += int(((before != after) & (before > 0) & (after > 0)).sum())
        gone += int(((before > 0) & (after == 0)).sum())
        new += int(((before == 0) & (after > 0)).sum())
    n_lost = max(own.n_released - plan.n_released, 0)
    n_up = max(_fewer_as_fine(plan, own) - n_lost, 0)
    return Changed(same, other, gone, new, n_up, n_lost, n_records)


def _fewer_as_fine(plan: Plan, own: Plan) -> int:
    """People who are shown in larger regions than by another plan, or not at all: of each class the most by which, up
    to some level, fewer are shown."""
    n_classes = len(plan.profile.classes)

    def up_to_each_level(some: Plan) -> np.ndarray:
        records = np.where(some.released, some.records, 0)
        table = np.bincount(some.level * n_classes + some.class_of, records, len(some.levels) * n_classes)
        return table.reshape(len(some.levels), n_classes).cumsum(axis=0)

    fewer = up_to_each_level(own) - up_to_each_level(plan)
    return int(fewer.max(axis=0, initial=0).sum())
