"""What several releases give away together: bounds, programs, and brute force over all tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.chunk import Chunk
from vbas.core.disclosure.counts import CELL, DIFFERENCE, HIDDEN, REST
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import Published, publish_rows
from vbas.core.levels import Levels
from vbas.core.records.columns import column_from_values
from vbas.core.releases.examining import examine, examine_all
from vbas.core.releases.listing import ANY, OTHERS, rows_of

from ..exploring import tried
from .release_cases import all_tables, only_seen_values, several_releases, true_table


@pytest.mark.slow
@given(several_releases(most_areas=12, most_releases=4, most_count=9, most_classes=4))
@settings(max_examples=tried(25, 75), deadline=None)
def test_true_counts_lie_within_all_bounds(case):
    areas, profile, releases = case
    disclosed = find_disclosed(releases, keep_bounds=True)
    table = true_table(disclosed.overlay, profile, areas)
    assert not len(disclosed.contradicted)
    for joint, bounds in disclosed.bounds:
        if not only_seen_values(disclosed.overlay, table):
            continue
        assert (bounds.low <= table[:, joint]).all() and (table[:, joint] <= bounds.high).all()
    for count in disclosed.counts:
        true = table[np.ix_(count.cells, count.joint)].sum()
        assert count.low >= 1 and count.high < disclosed.k
        if count.kind == CELL and only_seen_values(disclosed.overlay, table):
            assert count.low <= true <= count.high


@pytest.mark.slow
@given(several_releases(most_areas=8, most_releases=3, most_count=7, most_classes=4))
@settings(max_examples=tried(15, 40), deadline=None)
def test_rows_say_who_is_counted_and_who_is_not(case):
    """The people of its areas and values, less those whom the release shows there, are as many as a row says."""
    areas, profile, releases = case
    findings = examine_all(releases)
    assert findings.disclosed is not None
    over = findings.disclosed.overlay
    table = true_table(over, profile, areas)
    for row in rows_of(findings, releases):
        cells = np.unique(over.cell_of[np.isin(over.areas, row.areas)])
        joint = np.flatnonzero([has(row.values, over.values_of(entry)) for entry in range(len(over.entries))])
        if only_seen_values(over, table):
            assert row.low <= table[np.ix_(cells, joint)].sum() - row.less <= row.high, row
        assert not row.less or row.kind == REST


def has(values, of_joint):
    """Whether a joint class has the values of a row; one of several has any."""
    return all(values[name] in (ANY, OTHERS if value is None else value) for name, value in of_joint.items())


@pytest.mark.slow
@given(several_releases(most_areas=4, most_releases=3, most_count=4))
@settings(max_examples=tried(15, 50), deadline=None)
def test_brute_force_finds_the_same_cells(case):
    _, _, releases = case
    findings = find_disclosed(releases)
    assert findings.n_undecided == 0
    over, largest = findings.overlay, 7
    cells = {(int(c.cells[0]), int(c.joint[0])): (c.low, c.high) for c in findings.counts if c.kind == CELL}
    for group in np.unique(over.group_of):
        joint = np.flatnonzero(over.group_of == group)
        if (largest + 1) ** (over.n_cells * len(joint)) > 5_000:
            continue
        tables = all_tables(over, joint, largest)
        if not len(tables):  # all have a cell of more people than are tried
            continue
        low, high = tables.min(axis=0), tables.max(axis=0)
        for cell in range(over.n_cells):
            for column, one in enumerate(joint.tolist()):
                disclosed = low[cell, column] >= 1 and high[cell, column] < findings.k
                assert ((cell, one) in cells) == disclosed, (cell, one, low, high)
                if disclosed:
                    assert cells[cell, one][0] <= low[cell, column] <= high[cell, column] <= cells[cell, one][1]
        hidden = {(c.cells.tobytes(), c.joint.tobytes()) for c in findings.counts if c.kind != CELL}
        for family in over.sums(joint):
            for region, one in np.argwhere((family.low == 0) & (family.high < findings.k) & family.exact):
                inside, of_class = family.region == region, family.class_of == one
                sums = tables[:, inside][:, :, of_class].sum(axis=(1, 2))
                if inside.sum() * of_class.sum() > 1 and sums.min() >= 1:
                    key = np.flatnonzero(inside), joint[of_class]
                    # Where only one overlay cell of one joint class can have people, the sum is its count.
                    somebody = tables[:, inside][:, :, of_class].max(axis=0) > 0
                    only = next(zip(*(where[at].tolist() for where, at in zip(key, np.nonzero(somebody)))))
                    is_cell = somebody.sum() == 1 and only in cells
                    assert is_cell or (key[0].astype(int).tobytes(), key[1].tobytes()) in hidden
        for count in findings.counts:
            if count.kind in (DIFFERENCE, HIDDEN) and np.isin(count.joint, joint).all():
                sums = tables[:, count.cells][:, :, np.isin(joint, count.joint)].sum(axis=(1, 2))
                assert count.low <= sums.min() <= sums.max() <= count.high


def test_what_contradicts_one_joint_class_contradicts_all_that_have_sums_with_it():
    over: Any = SimpleNamespace(group_of=np.array([7, 4, 4, 7, 9]))
    bounds: Any = None
    chunk = Chunk(over, np.array([1, 3, 2, 4]), [], bounds, 5, np.array([False, False, False, True]))
    assert chunk.without(np.array([0])).contradicted.tolist() == [True, False, True, True]
    assert chunk.contradicted.tolist() == [False, False, False, True]


def shown(k: int, regions: list[int], names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Published:
    """What a release of one level shows; regions : of each area; rows : region, values and records."""
    areas = make_areas([f"a{i}" for i in range(len(regions))], [(0, 900 * i) for i in range(len(regions))])
    levels = Levels((Crosswalk(np.array(regions), max(regions) + 1),))
    region, *columns, records = zip(*rows)
    fields = {name: column_from_values(column) for name, column in zip(names, columns)}
    level = np.zeros(len(rows), np.int64)
    return publish_rows(", ".join(names), k, areas, levels, level, np.array(region), fields, np.array(records))


def cells_of(releases: list[Published]) -> list[tuple[list[dict[str, str | None]], int, int]]:
    """The counts of overlay cells that releases give away: values, least and most."""
    found = find_disclosed(releases)
    return [
        ([found.overlay.values_of(joint) for joint in count.joint.tolist()], count.low, count.high)
        for count in found.counts
        if count.kind == CELL
    ]


def test_a_further_release_hides_nothing_that_others_tell():
    """One of four on a farm is a man. That many women of a1 have kinds of work that nobody is told of changes nothing:
    a woman on a farm is among those whom sex and work together show."""
    both = shown(3, [0, 1], ("sex", "work"), [(0, "F", "farm", 3), (1, "F", "farm", 3), (1, "M", "farm", 3)])
    sex = shown(3, [0, 1], ("sex",), [(0, "F", 3), (0, "M", 3), (1, "F", 17), (1, "M", 3)])
    work = shown(3, [0, 1], ("work",), [(0, "farm", 4), (1, "farm", 6)])
    man = ([{"sex": "M", "work": "farm"}], 1, 1)
    assert man in cells_of([both, work])
    assert man in cells_of([both, sex, work])


@pytest.mark.parametrize("first", [2, 3, 6, 9])
def test_counts_below_the_k_of_a_new_release_are_looked_for(first):
    """Ten women in two areas, fourteen in three: four in the third, which a release at k = 6 may not tell, whatever the
    k of the earlier one."""
    earlier = shown(first, [0, 0, 0], ("sex",), [(0, "F", 14)])
    new = shown(6, [0, 0, 1], ("sex",), [(0, "F", 10)])
    (count,) = examine(new, [earlier]).counts
    assert (count.low, count.high) == (4, 4)
    assert not examine(shown(4, [0, 0, 1], ("sex",), [(0, "F", 10), (1, "F", 4)]), [earlier]).counts


def test_what_an_earlier_release_shows_by_a_smaller_k_is_not_told_by_a_new_one():
    earlier = shown(2, [0, 1], ("sex",), [(0, "F", 3), (1, "F", 20)])
    assert not examine(shown(6, [0, 0], ("sex",), [(0, "F", 23)]), [earlier]).n_to_mend
