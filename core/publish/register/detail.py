"""In which detail areas were released: by a register, how often each was, and in how small regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...disclosure.published import Published


@dataclass(frozen=True, eq=False)
class Detail:
    """How areas were released, arrays over them.

    identifiers : object; releases : those that show a count of a region around the area; level : the finest level of
    such a region in any of them, from 1, and areas : the areas of the smallest such region, 0 where there is none; last
    : the number of the last such release, 0 where there is none
    """

    identifiers: np.ndarray
    releases: np.ndarray
    level: np.ndarray
    areas: np.ndarray
    last: np.ndarray


def detail_of(releases: Sequence[Published], numbers: Sequence[int], identifiers: np.ndarray | None = None) -> Detail:
    """How areas were released.

    releases, numbers : of a register; identifiers : (n,) text of the areas that are asked for, those of all releases
    where None
    """
    if identifiers is None:
        identifiers = np.array(list(dict.fromkeys(area for one in releases for area in one.areas.tolist())), object)
    position = {identifier: i for i, identifier in enumerate(identifiers.tolist())}
    n, times, last = len(identifiers), np.zeros(len(identifiers), np.int64), np.zeros(len(identifiers), np.int64)
    level, areas = (np.full(n, np.iinfo(np.int64).max) for _ in range(2))
    for release, number in zip(releases, numbers):
        at = np.array([position.get(area, n) for area in release.areas.tolist()], np.int64)
        shown = np.zeros(n + 1, bool)
        for height, crosswalk in enumerate(release.levels.crosswalks):
            counted = np.zeros(crosswalk.n_regions + 1, bool)
            counted[release.region[release.level == height]] = True
            counted[-1] = False  # for areas that are left out
            size = np.append(
                np.bincount(crosswalk.region_of[crosswalk.region_of >= 0], minlength=crosswalk.n_regions), 0
            )
            here = counted[crosswalk.region_of] & (at < n)
            there = at[here]
            shown[there] = True
            level[there] = np.minimum(level[there], height + 1)
            areas[there] = np.minimum(areas[there], size[crosswalk.region_of[here]])
        times += shown[:n]
        last[shown[:n]] = number
    return Detail(identifiers, times, np.where(times > 0, level, 0), np.where(times > 0, areas, 0), last)
