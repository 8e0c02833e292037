"""What is asked of a release beside k, on its edges: recounted by trying everything, or by plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from vbas.core.areas import make_areas
from vbas.core.privacy import margins
from vbas.core.privacy.count_rows import CountRows, count_tables
from vbas.core.privacy.margin_programs import Cut, fewest_to_add
from vbas.core.privacy.series import series_of

from ..each import for_each_seed
from .release_cases import profile_over


@for_each_seed(40)
def test_the_fewest_records_that_hide_every_total_by_trying_all(seed):
    """Of each total nothing is suppressed, or k records of two places, or all; what is lost stays lost; and of what a
    cut says one more is suppressed, or one less."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 9)), int(rng.integers(4, 12))
    records, lost = rng.integers(1, 9, n), rng.random(n) < 0.3
    groups = [np.unique(rng.integers(0, most, n), return_inverse=True)[1].reshape(-1) for most in (1, 4, 4)]
    cuts = []
    for _ in range(int(rng.integers(0, 4))):
        more = rng.random(n) < 0.3
        cuts.append(Cut(np.flatnonzero(more), np.flatnonzero(~more & ~lost & (rng.random(n) < 0.4))))
    every = (np.arange(1 << n)[:, None] >> np.arange(n)) % 2 == 1
    fits = every[:, lost].all(axis=1)
    for group in groups:
        for of in np.unique(group):
            own, number = every[:, group == of], records[group == of]
            fits &= ~own.any(axis=1) | own.all(axis=1) | ((own @ number >= k) & (own.sum(axis=1) >= 2))
    for cut in cuts:
        fits &= every[:, cut.more].any(axis=1) | ~every[:, cut.fewer].all(axis=1)
    chosen = fewest_to_add(groups, records, lost, k, cuts)
    if not fits.any():
        assert chosen is None
        return
    assert chosen is not None and fits[chosen @ (1 << np.arange(n))]
    assert int(records[chosen].sum()) == (every[fits] @ records).min()


def pinned(groups, records, suppressed, k):
    """The suppressed places that hold 1 to k - 1 in all tables of whole numbers with the same totals of them."""
    at = np.flatnonzero(suppressed)
    every = np.array(list(product(range(int(records[at].max(initial=0) + records.max()) + 1), repeat=len(at))))
    for group in groups:
        for of in np.unique(group[at]):
            inside = group[at] == of
            every = every[every[:, inside].sum(axis=1) == records[at][inside].sum()]
    return set(at[(every.min(axis=0) >= 1) & (every.max(axis=0) < k)].tolist())


@pytest.mark.parametrize("rounds", [0, 50])
def test_totals_tell_of_nobody_also_where_no_program_finds_the_fewest(rounds, monkeypatch):
    """Without programs the smallest are added: as safe, and seldom the fewest."""
    monkeypatch.setattr(margins, "MOST_ROUNDS", rounds)
    added = 0
    for seed in range(20):
        rng, k, n = np.random.default_rng(seed), 3, 4
        records = rng.integers(1, 5, n)
        lost = rng.random(n) < 0.4
        groups = [np.unique(rng.integers(0, 2, n), return_inverse=True)[1].reshape(-1) for _ in range(2)]
        mended = margins._mended(groups, records, lost, k)
        assert not (lost & ~mended).any() and (lost.any() or not mended.any())
        for group in groups:
            for of in range(int(group.max()) + 1):
                own = mended[group == of]
                enough = records[mended & (group == of)].sum() >= k and own.sum() >= 2
                assert not own.any() or own.all() or enough
        anyway = pinned(groups, records, np.ones(n, bool), k)
        assert pinned(groups, records, mended, k) <= anyway
        added += int((mended & ~lost).sum())
    assert added > 5


def test_counts_of_values_as_they_are_are_at_no_coarser_level():
    areas = make_areas(["a", "b"], np.array([[0.0, 0], [1, 0]]), np.ones(2))
    profile = profile_over(np.array([[3, 4], [5, 6]]), [("F",), ("M",)], ("sex",))
    rows = CountRows(["a", "a", "b", "b"], {"sex": ["F", "M", "F", "M"]}, [3, 4, 5, 6])
    (table,) = count_tables(rows, areas, profile)
    assert dict(table.levels) == {} and table.low.tolist() == table.high.tolist() == [[3, 4], [5, 6]]


def test_where_only_periods_are_told_all_people_are_one_class():
    series = series_of(profile_over(np.array([[3, 4], [5, 6]]), [("2021",), ("2022",)], ("year",)), "year")
    assert len(series.base.classes) == 1 and set(series.class_of.tolist()) == {0}
