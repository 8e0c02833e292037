"""Counts that others publish laid beside a release: no small count follows, by linear programs of the tests' own."""

from __future__ import annotations

from collections import Counter

from ..core.table_attack import told_by_table
from .reading import loose

MOST_UNKNOWN = 2_000
NOT_SIMPLE = ("GENERALISE", "LEVELS_COARSER", "REGISTER")
# What the run says where the table is of other people, or nothing can be done.
SAID = ("may follow from published totals", "counts more people than the records")


def told_beside_counts(case, outcome, records, released, regions, k):
    """Where PUBLISHED_COUNTS has every area by the values of one field: that no count of 1 to k - 1 follows.

    released : (level and region, or the region alone; values; kept; how many); regions : of each area, by level
    """
    given = case.parameters
    table = given.get("PUBLISHED_COUNTS")
    said = any(text in line for text in SAID for line in outcome.log)
    if not table or said or any(given.get(name) for name in NOT_SIMPLE):
        return
    position = next((i for i, name in enumerate(records.quasi) if name in table.names), None)
    if position is None or None in table.values("number"):
        return
    areas = {area: path for area, path in regions.items() if None not in path}
    n_levels = len(next(iter(regions.values())))
    live: Counter[tuple] = Counter()
    for row in records.rows:
        if records.home(row) in areas:
            live[records.home(row), tuple(map(loose, records.of(row, records.quasi)))] += records.people(row)
    classes = {one for _, one in live}
    group_of = {one: one[position] for one in classes}
    if None in group_of.values() or len(areas) * len(classes) > MOST_UNKNOWN:
        return
    counted: Counter[tuple] = Counter()
    for (area, one), n in live.items():
        counted[area, group_of[one]] += n
    shown: Counter[tuple] = Counter()
    for place, values, _, n in released:
        level, region = place if len(place) > 1 else (1, place[0])
        shown[level - 1, region, tuple(map(loose, values))] += n
    paths = [{area: path[level] for area, path in areas.items()} for level in range(n_levels)]
    told = told_by_table(shown, paths, counted, group_of, live, k)
    if told:
        yield f"Beside PUBLISHED_COUNTS {len(told)} counts follow, the first {told[0]!r}, {live[told[0]]} people."
