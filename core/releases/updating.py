"""An update: the people of now under the geography of an earlier release, from which no change of a few follows.

What each equivalence class shows is worked out by `keeping`; who of those who live there is shown with it is drawn in
secret, each as likely as the others. See docs/methods.md, “Updates”.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..arrays import turns
from ..dataclass import dataclass
from ..disclosure.published import Published
from ..disclosure.row_values import column_beside, names_beside, parts_of, row_values_in, written_as
from ..disclosure.values import Values, as_text
from ..errors import InputError, first_values
from ..language import as_data
from ..levels import Levels
from ..plan import SUPPRESSED, Plan, area_of_cells, plan_by_levels, suppress
from ..profile import Profile
from ..progress import Progress, part, silent
from ..records.columns import Column, columns_at
from ..records.each_person import each_person
from ..records.matching import Records
from ..records.table import RecordTable
from ..scientific import sparse
from .holding_back import held_back
from .keeping import NOBODY, Kept, Places, kept
from .updates import same_regions
from .valued import People, PlacesByValue, Wanted, levels_with_values, n_rare

FURTHER, UPDATED = as_data("a further period"), as_data("the same people updated")
KINDS = (FURTHER, UPDATED)
HELD_BACK, SHOWN = as_data("held back"), as_data("shown")
FOLLOWED = (HELD_BACK, SHOWN)
NOT_SHOWN = Values("", *(np.empty(0, kind) for kind in (object, np.int64, np.int64, np.int64)))


@dataclass(frozen=True)
class Update:
    """What is updated: an earlier release, and what the records of now are beside it.

    entry : its position among the earlier releases; kind : FURTHER, records of a later period beside which the earlier
    ones stay; UPDATED, the same people with what has changed of them; followed : what becomes of rows that look like
    fewer than k - 1 others of their class and region: HELD_BACK, or SHOWN
    """

    entry: int
    kind: str = UPDATED
    followed: str = HELD_BACK

    @property
    def identical_rows(self) -> bool:
        """Whether each row looks like k - 1 others of its class and region."""
        return self.followed == HELD_BACK


@dataclass(frozen=True)
class Changed:
    """What an update changes beside the release that it updates, in equivalence classes: a class in a region of a
    level.

    same, other : equivalence classes that both show, with the same rows or others; gone, new : that only one of them
    shows
    n_up : people who are shown in a larger region than by a plan of their own; n_lost : people who are suppressed, and
    are not by a plan of their own
    n_records : people of now
    n_followed : rows of the release, and of the last one before that shows its fields, of values that are rare there
    n_rare : people who are shown nowhere as fewer than k of their class in their largest region have their values
    """

    same: int
    other: int
    gone: int
    new: int
    n_up: int
    n_lost: int
    n_records: int
    n_followed: int = 0
    n_rare: int = 0

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


def last_of_the_same(
    earlier: Sequence[Published],
    profile: Profile,
    coarsened: dict[str, int],
    areas: Areas,
    levels: Levels | None,
) -> int | None:
    """The position of the last release that shows the quasi-identifiers of a profile in these areas and, where levels
    are given, in their regions; None for none. coarsened : at what levels of their hierarchies they are shown"""
    if levels is not None:
        same = of_the_same_geography(earlier, under_levels(profile, levels, areas, coarsened))
        return same[-1] if same else None
    identifiers, names = set(areas.identifiers.tolist()), set(profile.quasi_identifiers)
    for at in reversed(range(len(earlier))):
        release = earlier[at]
        fields = set(release.quasi_identifiers), dict(release.coarsened)
        if fields == (names, coarsened) and set(release.areas.tolist()) == identifiers:
            return at
    return None


def levels_of_release(release: Published, areas: Areas) -> Levels:
    """The levels of a release, of the same areas in their order of now. Raises InputError where these are others."""
    position = {identifier: at for at, identifier in enumerate(release.areas.tolist())}
    at = np.array([position.get(identifier, NOBODY) for identifier in areas.identifiers.tolist()], np.int64)
    if len(at) != len(position) or (at < 0).any():
        lacking = [area for area, there in zip(areas.identifiers.tolist(), at.tolist()) if there < 0]
        raise InputError.saying(
            "{release} has other areas than these ({first}), as of another year: give those that it was made with, and "
            "bring the records to them, or begin a new series with a new register.",
            release=release.title.capitalize(),
            first=first_values(lacking or sorted(set(position) - set(areas.identifiers.tolist()))),
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
        raise InputError.saying(
            "{release} shows {theirs}, and not {own}: give the same QUASI_IDENTIFIERS, at the same levels.",
            release=old.title.capitalize(),
            theirs=", ".join(old.quasi_identifiers),
            own=", ".join(now.quasi_identifiers),
        )
    same = of_the_same_geography(earlier, now)
    if update.entry not in same:
        raise InputError.saying(
            "{release} has other regions than CROSSWALK: give the crosswalk that it was made with, or another ENTRY.",
            release=old.title.capitalize(),
        )
    return [*(at for at in same if at != update.entry), update.entry]


def updated(
    records: Records,
    levels: Levels,
    wanted: Wanted,
    earlier: Sequence[Published],
    places: Sequence[Places],
    areas: Areas,
    nested: bool,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[Records, Plan, int]:
    """The records, split by where they are shown, the plan that shows them, and how many people are shown nowhere as
    their values are rare.

    levels : of the earlier releases; wanted : what is asked, its k no less than that of any of them; earlier : those of
    the same geography, the one to be updated last; places : what they show, `places_of`; rng : draws who is shown where
    """
    profile, k = records.profile, wanted.k
    cell, row = _people(records)
    area, class_of = area_of_cells(profile)[cell], profile.counts.indices[cell]
    there, n_classes = np.arange(len(cell), dtype=np.int64), max(len(profile.classes), 1)
    if nested or records.table.kept:
        fewer = held_back(places, rng)
        region = levels.crosswalks[0].region_of[area]
        own = np.where(region >= 0, _positions(places[0].key, region * n_classes + class_of), NOBODY)
        there, places = _drawn(own, np.append(fewer[0].people, len(own)), rng), fewer
    level_of, rare = np.full(len(cell), SUPPRESSED, np.int8), 0
    if records.table.kept:
        by_value, people = _by_value(records, row[there], area[there], class_of[there], levels, earlier, places, areas)
        level_of[there] = levels_with_values(places, by_value, people, wanted, rng, part(progress, 0.0, 0.9))
        rare = _n_rare(records, row, area, class_of, levels, wanted.k) if wanted.identical_rows else 0
    else:
        numbers = kept(places, wanted.k, rng, part(progress, 0.0, 0.6))
        level_of[there] = levels_drawn(area[there], class_of[there], n_classes, levels, places, numbers, rng)
    progress(0.9)
    split, level_of_cells = _split(records, cell, row, level_of, nested)
    if not nested:
        return split, replace(suppress(split.profile, levels.crosswalks[0], k), in_part=True), rare
    return split, replace(plan_by_levels(split.profile, levels, k, level_of_cells), in_part=True), rare


def _drawn(place: np.ndarray, number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """So many people of each place, each as likely as the others: their positions. place : (N,) of each person"""
    order = np.lexsort((rng.random(len(place)), place))
    of_place = place[order]
    return np.sort(order[turns(of_place) < number[of_place]])


def _by_value(
    records: Records,
    row: np.ndarray,
    area: np.ndarray,
    class_of: np.ndarray,
    levels: Levels,
    earlier: Sequence[Published],
    places: Sequence[Places],
    areas: Areas,
) -> tuple[list[PlacesByValue], People]:
    """The places of each level by what rows show beside quasi-identifiers, and where people of now are among them.

    row, area, class_of : of each person
    """
    names, n_classes = names_beside(records.table), max(len(records.profile.classes), 1)
    column = column_beside(records.table, row)
    value, number = _numbered(column)
    values_released = []
    for release in earlier:
        level, region, of_class = _in_own_numbers(release, records.profile, levels, areas)
        kept = written_as(row_values_in(release, names) or NOT_SHOWN, column.categories.tolist())
        at = kept.equivalence_class
        theirs = np.array([number.setdefault(text, len(number)) for text in kept.categories.tolist()], np.int64)
        values_released.append((level[at], region[at], of_class[at], theirs[kept.value], kept.records))
    parts_of_values = _sensitive_parts(list(number), names, records.table.sensitive)
    keys: list[np.ndarray] = []
    pair_keys: list[np.ndarray] = []
    by_value, place_of = [], []
    for height, of_level in enumerate(places):
        region = levels.crosswalks[height].region_of[area]
        place = np.where(region >= 0, _positions(of_level.key, region * n_classes + class_of), NOBODY)
        parts = []
        for turn, (level, at_region, of_class, values, numbers) in enumerate(values_released):
            if height:
                below = (level < height) & (at_region >= 0)
                at_region = np.where(below, levels.parents(height - 1)[at_region], at_region)
                values_released[turn] = level, at_region, of_class, values, numbers
            there = (level <= height) & (at_region >= 0) & (of_class >= 0)
            at = np.where(there, _positions(of_level.key, at_region * n_classes + of_class), NOBODY)
            parts.append((np.where(at >= 0, at * len(number) + values, NOBODY), level == height, numbers))
        pair = np.where(place >= 0, place * len(number) + value, NOBODY)
        key = np.unique(np.concatenate([pair, *(part[0] for part in parts)]))
        key = key[key >= 0]
        released_before, within = (np.zeros((len(key), len(parts)), np.int64) for _ in range(2))
        for turn, (of_pair, here, numbers) in enumerate(parts):
            known = of_pair >= 0
            at = np.searchsorted(key, of_pair[known])
            np.add.at(within[:, turn], at, numbers[known])
            np.add.at(released_before[:, turn], at, np.where(here, numbers, 0)[known])
        of_place, of_value = np.divmod(key, len(number))
        now = np.bincount(np.searchsorted(key, pair[pair >= 0]), minlength=len(key)).astype(np.int64)
        of_fields = [part_of[of_value] for part_of in parts_of_values]
        by_value.append(
            PlacesByValue(
                of_place, of_value, now, np.full(len(key), NOBODY, np.int64), released_before, within, of_fields
            )
        )
        keys.append(key)
        pair_keys.append(pair)
        place_of.append(place)
    for height in range(len(places) - 1):
        around = places[height].parent[by_value[height].place]
        parent = _positions(keys[height + 1], around * len(number) + by_value[height].value)
        by_value[height] = replace(by_value[height], parent=np.where(around >= 0, parent, NOBODY))
    pairs = [np.where(pair >= 0, np.searchsorted(key, pair), NOBODY) for key, pair in zip(keys, pair_keys)]
    return by_value, People(place_of, pairs)


def _numbered(column: Column) -> tuple[np.ndarray, dict[str, int]]:
    """What each person shows beside quasi-identifiers as a number, and that of each text."""
    number: dict[str, int] = {}
    own = np.array([number.setdefault(text, len(number)) for text in column.categories.tolist()], np.int64)
    return own[column.codes], number


def _n_rare(records: Records, row: np.ndarray, area: np.ndarray, class_of: np.ndarray, levels: Levels, k: int) -> int:
    """People whose values fewer than k of their class have in the largest region around them, where k of the class live
    there. They are counted among all, those too who are held back by chance: these have nothing rare.

    row, area, class_of : of each person
    """
    n_classes, first = max(len(records.profile.classes), 1), 0
    place = np.full(len(row), NOBODY, np.int64)
    for crosswalk in levels.crosswalks:
        region = crosswalk.region_of[area]
        inside = region >= 0
        place[inside] = (first + region[inside]) * n_classes + class_of[inside]
        first += crosswalk.n_regions
    return n_rare(place, _numbered(column_beside(records.table, row))[0], k)


def _sensitive_parts(texts: Sequence[str], names: Sequence[str], sensitive: Sequence[str]) -> list[np.ndarray]:
    """For each sensitive field, which of its values each text of `column_beside` has, (V,) int64."""
    columns = list(zip(*(parts_of(text, len(names)) for text in texts)))
    parts = []
    for name in sensitive:
        number: dict[str, int] = {}
        own = columns[names.index(name)] if columns else ()
        parts.append(np.array([number.setdefault(text, len(number)) for text in own], np.int64))
    return parts


def places_of(profile: Profile, levels: Levels, earlier: Sequence[Published], areas: Areas) -> list[Places]:
    """The regions of each level and the classes that anybody has there, or had by an earlier release: what these show,
    and how many there are, nobody too."""
    n_classes = max(len(profile.classes), 1)
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    of_releases_before = [_by_height(release, profile, levels, areas) for release in earlier]
    keys, people = [], []
    for height, crosswalk in enumerate(levels.crosswalks):
        region = crosswalk.region_of[area]
        inside = region >= 0
        own = region[inside] * n_classes + class_of[inside]
        key = np.unique(np.concatenate([own, *(of[height][0] for of in of_releases_before)]))
        keys.append(key)
        numbers = np.bincount(np.searchsorted(key, own), profile.counts.data[inside], len(key))
        people.append(numbers.astype(np.int64))
    of_releases = [np.zeros((len(key), len(earlier)), np.int64) for key in keys]
    within = [np.zeros((len(key), len(earlier)), np.int64) for key in keys]
    for number, of_release in enumerate(of_releases_before):
        for height, (key, records, is_own) in enumerate(of_release):
            at = np.searchsorted(keys[height], key)
            np.add.at(within[height][:, number], at, records)
            np.add.at(of_releases[height][:, number], at[is_own], records[is_own])
    parents = []
    for height, key in enumerate(keys):
        if height == len(keys) - 1:
            parents.append(np.full(len(key), NOBODY, np.int64))
            continue
        region, of_class = np.divmod(key, n_classes)
        around = levels.parents(height)[region]
        parents.append(np.where(around >= 0, _positions(keys[height + 1], around * n_classes + of_class), NOBODY))
    return [Places(*columns) for columns in zip(keys, people, parents, of_releases, within)]


def _by_height(
    release: Published, profile: Profile, levels: Levels, areas: Areas
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each level what a release shows there and within, of classes that anybody has now: the key of the place, the
    records, and whether they are shown with the place itself."""
    n_classes = max(len(profile.classes), 1)
    level, region, own_class = _in_own_numbers(release, profile, levels, areas)
    parts = []
    for height in range(len(levels)):
        if height:
            below = level < height
            region = np.where(below & (region >= 0), levels.parents(height - 1)[region], region)
        there = (level <= height) & (region >= 0) & (own_class >= 0)
        key = region[there] * n_classes + own_class[there]
        parts.append((key, release.records[there].astype(np.int64), level[there] == height))
    return parts


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
        new_of[numbers] = np.arange(len(numbers), dtype=np.int64)
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
        row = row[each_person(records.table.counts[row])]
    return records.cell_of[row].astype(np.int64), row


def levels_drawn(
    area: np.ndarray,
    class_of: np.ndarray,
    n_classes: int,
    levels: Levels,
    places: Sequence[Places],
    numbers: Kept,
    rng: np.random.Generator,
) -> np.ndarray:
    """The level at which each person is shown, (N,) int8, SUPPRESSED for none: of those of a place whom no finer level
    shows so many as it shows, each as likely as the others."""
    level_of = np.full(len(area), SUPPRESSED, np.int8)
    waiting = np.arange(len(area), dtype=np.int64)
    for level, crosswalk in enumerate(levels.crosswalks):
        region = crosswalk.region_of[area[waiting]]
        there = waiting[region >= 0]
        at = _positions(places[level].key, region[region >= 0] * n_classes + class_of[there])
        order = np.lexsort((rng.random(len(there)), at))
        at, there = at[order], there[order]
        level_of[there[turns(at) < numbers.released[level][at]]] = level
        waiting = waiting[level_of[waiting] == SUPPRESSED]
    return level_of


def _split(
    records: Records, cell: np.ndarray, row: np.ndarray, level_of: np.ndarray, nested: bool
) -> tuple[Records, np.ndarray]:
    """The records with a cell for each area, class and level at which people of them are shown; of one level, those who
    are not shown are in none. And the level of each cell."""
    profile, table = records.profile, records.table
    counted_in = np.arange(len(cell), dtype=np.int64) if nested else np.flatnonzero(level_of != SUPPRESSED)
    n_levels = int(level_of.max(initial=0)) + 2
    keys, at = np.unique(cell[counted_in] * n_levels + level_of[counted_in] + 1, return_inverse=True)
    of_cell, level = np.divmod(keys, n_levels)
    of_area = area_of_cells(profile)[of_cell]
    numbers = np.bincount(at.reshape(-1), minlength=len(keys)).astype(profile.counts.dtype)
    starts = np.searchsorted(of_area, np.arange(profile.counts.shape[0] + 1, dtype=np.int64))
    # Given by its parts, a matrix keeps two cells of one area and class apart.
    counts = sparse.csr_matrix((numbers, profile.counts.indices[of_cell], starts), shape=profile.counts.shape)
    counts.has_canonical_format = True  # else newer ones (scipy 1.17) join them as soon as anything is added up
    own = np.full(len(cell), SUPPRESSED, np.int64)
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

    parts = replace(
        table,
        area=table.area.at(rows),
        quasi_identifiers=columns_at(table.quasi_identifiers, rows),
        kept=columns_at(table.kept, rows),
        counts=np.bincount(at.reshape(-1), minlength=len(keys)).astype(np.int64),
    )
    return parts, own - 1


def changed(plan: Plan, own: Plan, places: Sequence[Places], n_records: int, rare: int = 0) -> Changed:
    """What a plan changes beside the release that it updates, by the numbers of its equivalence classes alone; own : a
    plan of these records that knows none; rare : people whom the plan shows nowhere as their values are rare."""
    n_classes = max(len(plan.profile.classes), 1)
    same = other = new = gone = 0
    for level, of_level in enumerate(places):
        before = of_level.released[:, -1]
        after = np.zeros(len(of_level), np.int64)
        here = plan.released & (plan.level == level)
        at = _positions(of_level.key, plan.region[here] * n_classes + plan.class_of[here])
        after[at] = plan.records[here]
        same += int(((before == after) & (before > 0)).sum())
        other += int(((before != after) & (before > 0) & (after > 0)).sum())
        gone += int(((before > 0) & (after == 0)).sum())
        new += int(((before == 0) & (after > 0)).sum())
    fewer = max(own.n_released - plan.n_released, 0)
    n_up, n_lost = max(_fewer_as_fine(plan, own) - fewer, 0), max(fewer - rare, 0)
    return Changed(same, other, gone, new, n_up, n_lost, n_records, n_rare=rare)


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
