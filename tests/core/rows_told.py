"""What somebody learns who has the rows of all months: read from the rows alone, by a plain program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas
from vbas.core.disclosure.published import Published
from vbas.core.errors import InputError
from vbas.core.levels import Levels
from vbas.core.nesting.flattening import flatten
from vbas.core.records.matching import Records
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.updating import HELD_BACK, Update

Place = tuple[str, int, int, int]  # “label”, or “all” with the regions within; level, region, class
PlacesByValue = Mapping[Place, Counter[tuple[str, ...]]]


def carried(
    areas: Areas, levels: Levels, k: int, months: Sequence[Records], followed: str = HELD_BACK, **asked: Any
) -> list[Account]:
    """The release of each month, which carries on the one before."""
    accounts: list[Account] = []
    for month in months:
        published = [published_of(account) for account in accounts]
        update = Update(len(published) - 1, followed=followed) if published else None
        try:
            accounts.append(anonymise(areas, month, levels, Ask(k, earlier=Earlier(published), update=update, **asked)))
        except InputError as error:  # as anywhere, of a value that stands for an area, or where all have the same
            assert "stands for the area" in str(error) or "so nothing could be released" in str(error)
            break
    return accounts


def published_of(account: Account) -> Published:
    """What a release published."""
    assert account.published is not None
    return account.published


def told(account: Account, names: Sequence[str]) -> PlacesByValue:
    """Of each label, and of each region with all within, how many rows of each class show which values of fields."""
    release, rows = account.release, dict[Place, Counter[tuple[str, ...]]]()
    columns = [release.fields[name] for name in names]
    values = list(zip(*([repr(column.categories[code]) for code in column.codes.tolist()] for column in columns)))

    def add(what: str, level: int, regions: np.ndarray, there: np.ndarray) -> None:
        shown = regions.tolist(), release.fields["q"].codes.tolist(), values, release.counts.tolist()
        for here, region, code, value, count in zip(there.tolist(), *shown):
            if here and region >= 0:
                rows.setdefault((what, level, region, code), Counter())[value] += count

    for level in range(len(account.levels)):
        add("label", level, release.region, release.level == level)
        inside = flatten(account.levels, release.level, release.region, level)
        add("all", level, inside, inside >= 0)
    return rows


def changes(months: Sequence[PlacesByValue]) -> Iterator[tuple[Place, Counter[tuple[str, ...]]]]:
    """Of each place that two months show, the values of those who came, and of those who left."""
    for later, new in enumerate(months):
        for old in months[:later]:
            for place in new.keys() & old.keys():
                yield place, new[place] - old[place]
                yield place, old[place] - new[place]


def assert_no_few_came_or_left(months: Sequence[PlacesByValue], k: int, several: Sequence[int] = ()) -> None:
    """several : the fields of which those who came or left never all have the same value"""
    for place, change in changes(months):
        assert change.total() == 0 or change.total() >= k, (place, change)
        if change:
            for at in several:
                assert len({values[at] for values in change}) > 1, (place, change)


def assert_rows_are_alike(month: PlacesByValue, k: int) -> None:
    """Each row of a label looks like k - 1 others of it, and so does each of a region with all within."""
    for place, values in month.items():
        assert min(values.values()) >= k, (place, values)
