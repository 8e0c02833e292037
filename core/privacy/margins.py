"""Tables that others publish: totals from which a suppressed class could be told by taking the shown ones away.

Where the records are a full count, a table of age by sex has the number of every age and sex. If all but one of the
classes of women over 80 in a region are shown, the one that is not follows by subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from ..errors import InputError
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..profile import Profile
from ..progress import Progress, silent
from ..records.columns import combine_codes
from ..ties import Ties, ranks


def parse_margins(text: str, quasi_identifiers: Sequence[str]) -> list[tuple[str, ...]]:
    """Margins written `age;sex, ethnicity` as sets of quasi-identifiers. Raises InputError for names there are not."""
    margins = []
    for part in text.split(","):
        names = tuple(name.strip() for name in part.split(";") if name.strip())
        unknown = [name for name in names if name not in quasi_identifiers]
        if unknown:
            raise InputError(
                f"PUBLISHED_MARGINS names “{unknown[0]}”, which is not a quasi-identifier: write sets of them, such as "
                "age;sex, ethnicity."
            )
        if names:
            margins.append(names)
    return margins


def hold_against_margins(
    plan: Plan, margins: Sequence[Sequence[str]], progress: Progress = silent, ties: Ties = None
) -> tuple[Plan, int]:
    """The plan, with further classes suppressed until nobody who has the totals by these margins can tell any count
    from 1 to k - 1; and the records that took.

    margins : sets of quasi-identifiers whose totals by region are published, the regions those of the coarsest level.
    In every region and margin the suppressed records add up to 0, or to at least k over at least two classes: the
    smallest class that is shown there is suppressed until it is so. What linear programs still bound within 1 to k - 1
    is mended in the same way. A margin with fewer than k records in all cannot be mended: it is published.
    ties : decides among classes of one size, the first where None.
    """
    crosswalk, profile, k = plan.levels.crosswalks[-1], plan.profile, plan.k
    area = area_of_cells(profile)
    inside = np.flatnonzero(crosswalk.region_of[area] >= 0)
    n_classes = max(len(profile.classes), 1)
    keys, place_of = np.unique(
        crosswalk.region_of[area[inside]] * n_classes + profile.counts.indices[inside], return_inverse=True
    )
    place_of = place_of.reshape(-1)
    records = np.bincount(place_of, profile.counts.data[inside], len(keys)).astype(np.int64)
    lost = np.bincount(place_of, plan.label_of[inside] == SUPPRESSED, len(keys)) > 0
    before = lost.copy()
    region, class_of = np.divmod(keys, n_classes)
    groups = [_groups(profile, region, class_of, margin) for margin in margins]
    # Smaller classes come first, equal ones in an order of their own.
    size = np.empty(len(keys), np.int64)
    size[np.lexsort((ranks(len(keys), ties), records))] = np.arange(len(keys))
    while True:
        more = _smallest_to_add(groups, records, size, lost, k)
        if not len(more):
            more = _still_pinned(groups, region, records, size, lost, k, progress)
        if not len(more):
            break
        lost[more] = True
    added = lost & ~before
    if not added.any():
        return plan, 0
    cells = inside[added[place_of]]
    label = plan.label_of[cells]
    hidden = np.zeros(len(plan.records), bool)
    hidden[label[label >= 0]] = True
    level_of = plan.level_of
    if level_of is not None:
        level_of = level_of.copy()
        level_of[cells] = SUPPRESSED
    return replace(plan, shown=plan.shown & ~hidden, level_of=level_of), int(records[added].sum())


def _groups(profile: Profile, region: np.ndarray, class_of: np.ndarray, margin: Sequence[str]) -> np.ndarray:
    """The number of the published total that each region and class counts in, (p,) int64."""
    positions = [profile.quasi_identifiers.index(name) for name in margin]
    codes = [profile.classes[class_of, position] for position in positions]
    sizes = [len(profile.categories[position]) for position in positions]
    return combine_codes([region, *codes], [int(region.max(initial=0)) + 1, *sizes])[0]


def _smallest_to_add(
    groups: Sequence[np.ndarray], records: np.ndarray, size: np.ndarray, lost: np.ndarray, k: int
) -> np.ndarray:
    """The smallest shown place of every total whose suppressed records are too few, or of one class only."""
    found = []
    for group in groups:
        n_groups = int(group.max(initial=-1)) + 1
        suppressed = np.bincount(group, records * lost, n_groups)
        short = (suppressed > 0) & ((suppressed < k) | (np.bincount(group, lost, n_groups) < 2))
        found.append(_first_shown(np.flatnonzero(short), group, size, lost))
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)


def _first_shown(wanted: np.ndarray, group: np.ndarray, size: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """The smallest place that is shown in each of these groups, by the rank of its size; none where none is shown."""
    shown = np.flatnonzero(~lost & np.isin(group, wanted))
    order = shown[np.lexsort((size[shown], group[shown]))]
    return order[np.diff(group[order], prepend=-1) != 0]


def _still_pinned(
    groups: Sequence[np.ndarray],
    region: np.ndarray,
    records: np.ndarray,
    size: np.ndarray,
    lost: np.ndarray,
    k: int,
    progress: Progress,
) -> np.ndarray:
    """Places to suppress beside those that linear programs bound within 1 to k - 1 from the totals."""
    found = []
    regions = np.unique(region[lost])
    for done, one in enumerate(regions.tolist()):
        unknown = np.flatnonzero(lost & (region == one))
        rows = np.vstack(
            [(group[unknown] == total).astype(float) for group in groups for total in np.unique(group[unknown])]
        )
        sums = rows @ records[unknown]
        for column in pinned_columns(rows, sums, k):
            for group in groups:
                found.append(_first_shown(group[unknown[column : column + 1]], group, size, lost))
        progress((done + 1) / len(regions))
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)


def pinned_columns(rows: np.ndarray, sums: np.ndarray, k: int) -> list[int]:
    """The unknowns that lie within 1 to k - 1 in every solution.

    rows : (s, u) of 0 and 1, the unknowns of each sum; sums : (s,) what they add up to
    """
    pinned = []
    # No unknown is larger than any total it counts in: only those below k can be pinned.
    highest = np.min(np.where(rows > 0, sums[:, None], np.inf), axis=0)
    for column in range(rows.shape[1]):
        wish = np.zeros(rows.shape[1])
        wish[column] = 1.0
        high = highest[column]
        if high >= k:
            high = -linprog(-wish, A_eq=rows, b_eq=sums, method="highs").fun
        if high < k - 0.5 and linprog(wish, A_eq=rows, b_eq=sums, method="highs").fun > 0.5:
            pinned.append(column)
    return pinned
