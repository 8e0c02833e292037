"""Balanced density against a plain, slow version that follows Croft 2015, section 3.2.1 sentence by sentence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import make_areas
from vbas.core.site_location.balanced_density import _rows, balanced_density

from ..exploring import tried


def half_up(value):
    """R(x)."""
    return int((Fraction(value) + Fraction(1, 2)).__floor__())


def rows_of_square_root(n_sites):
    """R(√S), without a square root: the root is nearer to r than to r + 1 while S <= r² + r."""
    r = 1
    while n_sites > r * r + r:
        r += 1
    return r


def walked(people, ideal):
    """Lists of positions, and whether the last of them reached the ideal."""
    parts, part, total = [], [], 0
    for i, here in enumerate(people):
        before, total = total, total + here
        part.append(i)
        if total >= ideal:
            if total - ideal <= ideal - before or len(part) == 1:  # Eq. 9
                parts.append(part)
                part, total = [], 0
            else:
                parts.append(part[:-1])
                part, total = [i], here
                if total >= ideal:
                    # The point that opens the row is enough for it alone: it cannot be left to the next one.
                    parts.append(part)
                    part, total = [], 0
    return (parts, True) if not part else ([*parts, part], False)


def plain_rows(people, n_sites):
    ideal = max(half_up(Fraction(sum(people), rows_of_square_root(n_sites))), 1)  # Eqs. 7, 8
    rows, reached = walked(people, ideal)
    if not reached and len(rows) > 1:
        last = rows.pop()
        rows[-1] = rows[-1] + last
    while len(rows) > n_sites:
        joint = [sum(people[i] for i in row + other) for row, other in zip(rows, rows[1:])]
        at = joint.index(min(joint))
        rows[at : at + 2] = [rows[at] + rows[at + 1]]
    return rows


def plain_numbers(totals, sizes, n_sites):
    """Cells of each row: Eqs. 10, 11, then the largest remainders."""
    shares = [Fraction(n_sites * total, sum(totals)) for total in totals]
    cells = [min(max(half_up(share), 1), size) for share, size in zip(shares, sizes)]
    while sum(cells) > n_sites:
        over = [cell - share if cell > 1 else None for cell, share in zip(cells, shares)]
        cells[over.index(max(x for x in over if x is not None))] -= 1
    while sum(cells) < n_sites:
        short = [share - cell if cell < size else None for cell, share, size in zip(cells, shares, sizes)]
        cells[short.index(max(x for x in short if x is not None))] += 1
    return cells


def plain_cells(people, n_cells):
    cells, _ = walked(people, Fraction(sum(people), n_cells))
    if len(cells) > n_cells:
        cells = [*cells[: n_cells - 1], [i for cell in cells[n_cells - 1 :] for i in cell]]
    while len(cells) < n_cells:
        fullest = max(
            (cell for cell in cells if len(cell) > 1), key=lambda cell: (sum(people[i] for i in cell), -cell[0])
        )
        cut = min(
            range(1, len(fullest)),
            key=lambda m: (abs(sum(people[i] for i in fullest[:m]) - sum(people[i] for i in fullest[m:])), m),
        )
        at = cells.index(fullest)
        cells[at : at + 1] = [fullest[:cut], fullest[cut:]]
    return cells


def plain_sites(names, points, people, n_sites):
    upwards = sorted(range(len(names)), key=lambda i: (points[i][1], points[i][0], names[i]))
    rows = plain_rows([people[i] for i in upwards], n_sites)
    rows = [[upwards[i] for i in row] for row in rows]
    numbers = plain_numbers([sum(people[i] for i in row) for row in rows], [len(row) for row in rows], n_sites)
    sites = []
    for row, number in zip(rows, numbers):
        row = sorted(row, key=lambda i: (points[i][0], points[i][1], names[i]))
        for cell in plain_cells([people[i] for i in row], number):
            members = [row[i] for i in cell]
            sites.append([sum(points[i][axis] for i in members) / len(members) for axis in (0, 1)])
    return sites


@pytest.mark.slow
@settings(max_examples=tried(330, 1000), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from([1, 2, 5, 700]), st.sampled_from([3, 100]))
def test_sites_are_those_of_the_plain_version(seed, n, most, reach):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, reach, (n, 2))
    people = rng.integers(0, most + 1, n)
    people[rng.integers(n)] += 1
    n_sites = int(rng.integers(1, n + 1))
    # Two digits at most: identifiers sort as text.
    names = [f"{i:02d}" for i in rng.permutation(n)]
    areas = make_areas(names, points.astype(float), people.astype(float))
    expected = plain_sites(names, points.tolist(), people.tolist(), n_sites)
    assert np.allclose(balanced_density(areas, None, n_sites).sites, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("people", "rows"),
    [
        # S = 7 asks for R(√7) = 3 rows, of 18 people for 6 each. 4 + 4 is 2 over and 4 is 2 under: a tie, kept. The
        # last area would be a row of 2: it joins the row before.
        ([4, 4, 4, 4, 2], [(0, 2), (2, 5)]),
        # Of 16 people for R(5.33) = 5 each: 4 + 3 is 2 over, 4 is 1 under. 3 + 4 is as far from 5 as 3 is.
        ([4, 3, 4, 3, 2], [(0, 1), (1, 3), (3, 5)]),
        # Of 31 people for R(10.33) = 10 each: 6 is nearer than 15, 9 than 15, 6 than 16, and a fourth row reaches 10.
        ([6, 9, 6, 10], [(0, 1), (1, 2), (2, 3), (3, 4)]),
        # Of 17 people for R(5.67) = 6 each; the first area alone is more than that.
        ([9, 5, 1, 1, 1], [(0, 1), (1, 5)]),
    ],
)
def test_rows_by_hand(people, rows):
    assert _rows(np.array(people, float), 7) == rows


def test_cells_are_rounded_halves_up_and_the_lower_row_gives_up_the_surplus():
    # Two rows of six people each and S = 3: 1.5 cells each, rounded to 2 and 2; the lower row gives one up.
    points = np.array([[x, y] for y in (0.0, 10.0) for x in (0.0, 10.0)])
    areas = make_areas(list("abcd"), points, np.full(4, 3.0))
    assert balanced_density(areas, None, 3).sites.tolist() == [[5, 0], [0, 10], [10, 10]]
