"""What two releases give away of one area, from nobody to more than k people there: where counting begins and ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.certificate import certify_classes
from vbas.core.disclosure.counts import CELL, HIDDEN, HOMOGENEOUS, Count, persons_in
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import publish
from vbas.core.errors import InputError
from vbas.core.plan import suppress
from vbas.core.releases.examining import examine

from .nested_cases import profile_of

K = 4


def releases_of(people, *regions_of, k=K):
    """The same people by area, (n, classes), in releases of these regions."""
    people = np.atleast_2d(np.transpose(people)).T
    areas = make_areas([f"a{i}" for i in range(len(people))], [(float(i), 0.0) for i in range(len(people))])
    profile = profile_of(people)
    return [
        publish(suppress(profile, Crosswalk(np.array(of), max(of) + 1), k), areas, f"r{i}")
        for i, of in enumerate(regions_of)
    ]


@pytest.mark.parametrize("programs", [True, False])
@pytest.mark.parametrize("between", range(K + 3))
def test_what_lies_between_two_regions_is_disclosed_from_one_person_to_one_fewer_than_k(between, programs):
    """Of three areas one release joins the first two, the other the last two: the second area is known."""
    releases = releases_of([6, between, 8], [0, 0, 1], [0, 1, 1])
    found = find_disclosed(releases, programs=programs)
    few = 1 <= between < K
    assert found.k == K and not len(found.contradicted) and not found.n_undecided and not found.undecided
    assert [(c.kind, c.cells.tolist(), c.joint.tolist(), c.low, c.high) for c in found.counts] == (
        [(CELL, [1], [0], between, between)] if few else []
    )
    assert found.n_persons == between * few
    assert all(set(count.releases) == {0, 1} and count.less == 0 for count in found.counts)


@pytest.mark.parametrize(("k", "few"), [(2, False), (3, False), (4, True), (5, True), (None, True)])
def test_counts_are_looked_for_below_the_k_that_is_asked_for_or_the_least_of_the_releases(k, few):
    releases = releases_of([6, 3, 8], [0, 0, 1], [0, 1, 1])
    assert bool(find_disclosed(releases, k).counts) == few
    assert find_disclosed(releases, k).k == (k or K)
    higher = [replace(releases[0], k=K + 5), releases[1]]
    assert find_disclosed(higher).k == find_disclosed(higher[::-1]).k == K


def test_one_release_is_not_held_against_others():
    (one,) = releases_of([6, 3, 8], [0, 0, 1])
    for some in ([], [one]):
        with pytest.raises(InputError, match="at least two releases"):
            find_disclosed(some)


@pytest.mark.parametrize("people", list(product((0, 3, 4), repeat=3)))
def test_areas_of_three_are_told_as_all_tables_that_fit_tell_them(people):
    """The first two areas together, and each by itself where k people are there: every table of up to twice k."""
    releases = releases_of(people, [0, 0, 1], [0, 1, 2])
    shown = {
        0: {0: people[0] + people[1], 1: people[2]},
        1: dict(enumerate(people)),
    }
    fitting = [
        table
        for table in product(range(13), repeat=3)
        if all(
            (now == true) if true >= K else now < K
            for true, now in [
                (shown[0][0], table[0] + table[1]),
                (shown[0][1], table[2]),
                *((shown[1][i], table[i]) for i in range(3)),
            ]
        )
    ]
    low, high = np.min(fitting, axis=0), np.max(fitting, axis=0)
    found = find_disclosed(releases, keep_bounds=True)
    over = found.overlay
    cells = {int(c.cells[0]): (c.low, c.high) for c in found.counts if len(c.cells) == 1}
    if not len(over.entries):
        assert people[0] + people[1] < K and people[2] < K
        return
    for i in range(3):
        cell = int(over.cell_of[i])
        told = low[i] >= 1 and high[i] < K
        assert (cell in cells) == told
        assert not told or cells[cell] == (low[i], high[i])
    ((_, bounds),) = found.bounds
    for i in range(3):
        cell = int(over.cell_of[i])
        assert bounds.low[cell, 0] <= low[i] <= high[i] <= bounds.high[cell, 0]


def test_persons_of_counts_that_share_a_cell_are_counted_once():
    def count(cells, low, kind=CELL, joint=(0,)):
        return Count(kind, np.array(cells), np.array(joint), low, 4, (0,))

    assert persons_in([count([1], 2), count([1, 2], 3), count([2], 1)]) == 3
    assert persons_in([count([1], 2), count([1], 2, joint=(1,))]) == 4
    assert persons_in([]) == 0
    releases = releases_of([6, 3, 8], [0, 0, 1], [0, 1, 1])
    found = find_disclosed(releases)
    also = replace(found, counts=[*found.counts, count([0], 2, HOMOGENEOUS)])
    assert also.n_persons == 3  # people of one value are no few people


@pytest.mark.parametrize("between", range(K + 2))
def test_an_examination_counts_what_is_disclosed(between):
    first, second = releases_of([6, between, 8], [0, 0, 1], [0, 1, 1])
    found = examine(first, [second])
    few = 1 <= between < K
    assert (found.n_counts, found.n_undecided, found.n_contradicted, found.n_to_mend) == (few, 0, 0, few)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_classes_alone_are_certified_below_k(k):
    sizes = np.array([0, 1, k - 1, k, k + 1])
    certificate = certify_classes(sizes, k)
    assert certificate.follow == Counter((sizes >= 1) & (sizes < k))[True] and certificate.tried == 5


def test_a_class_suppressed_in_one_release_is_told_by_the_other():
    """Of a region that one release suppresses the other shows all areas: its people are known."""
    releases = releases_of([3, 9, 12], [0, 1, 1], [0, 0, 1])
    (count,) = find_disclosed(releases).counts
    assert (count.kind in (CELL, HIDDEN), count.low, count.high) == (True, 3, 3)


@pytest.mark.parametrize(("most", "too_many"), [(1, True), (2, True), (3, False)])
def test_releases_that_combine_to_too_many_classes_are_refused(most, too_many, monkeypatch):
    """Two classes, and the people of whom neither release shows any: three to look at."""
    monkeypatch.setattr("vbas.core.disclosure.overlay.MOST_JOINT_CLASSES", most)
    releases = releases_of([[6, 5], [3, 7], [8, 9]], [0, 0, 1], [0, 1, 1])
    if too_many:
        with pytest.raises(InputError, match=f"combine to more than {most} classes"):
            find_disclosed(releases)
    else:
        assert len(find_disclosed(releases).counts) == 1
