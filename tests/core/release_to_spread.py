"""Releases of made-up people whose areas are known, and plain recounts of where their rows may live."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from vbas.core.analysis.released import ReleasedRows
from vbas.core.analysis.spreading import AT_LEVEL_1, IN_ZONES
from vbas.core.areas import Areas
from vbas.core.levels import Levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import area_of_cells
from vbas.core.profile import Profile
from vbas.core.records.columns import Column


def released(areas: Areas, levels: Levels, profile: Profile, level_of: np.ndarray) -> tuple[ReleasedRows, np.ndarray]:
    """A row for each released record, whose cells are shown at these levels, and the area that each lives in."""
    area, class_of = area_of_cells(profile), profile.counts.indices.astype(np.int64)
    inside = (level_of >= 0) & (levels.crosswalks[0].region_of[area] >= 0)
    cells = np.repeat(np.flatnonzero(inside), profile.counts.data[inside].astype(int))
    level, home = level_of[cells].astype(np.int64), area[cells]
    region_of = np.array(levels.region_of)
    fields = {"q": Column(class_of[cells], profile.categories[0])}
    return ReleasedRows(areas, levels, level, region_of[level, home], fields), home


def nested_release(areas: Areas, profile: Profile, levels: Levels, k: int) -> tuple[ReleasedRows, np.ndarray]:
    """The optimum."""
    plan = nest(areas, profile, levels, k)
    assert plan.level_of is not None
    level_of = np.where(plan.equivalence_class_of >= 0, plan.level_of, -1)
    return released(areas, levels, profile, level_of)


def weights_by_hand(rows: ReleasedRows, leave_out: str, plain: int) -> list[dict[int, float]]:
    """Of each row, area -> weight; plain : how many levels show values as they are."""
    regions, people = rows.levels.region_of, rows.areas.population
    shows: defaultdict[int, set] = defaultdict(set)  # class -> level and region
    for level, region, one in zip(rows.level.tolist(), rows.region.tolist(), rows.fields["q"].codes.tolist()):
        shows[one].add((level, region))
    found = []
    for level, region, one in zip(rows.level.tolist(), rows.region.tolist(), rows.fields["q"].codes.tolist()):
        homes = [i for i in range(len(people)) if regions[level][i] == region]
        finer = {AT_LEVEL_1: range(min(level, 1)), IN_ZONES: range(level)}.get(leave_out, range(0))
        if level < plain:
            homes = [i for i in homes if not any((lower, regions[lower][i]) in shows[one] for lower in finer)]
        total = sum(people[i] for i in homes)
        found.append({i: people[i] / total if total else 1 / len(homes) for i in homes if people[i] or not total})
    return found
