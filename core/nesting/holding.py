"""Regions that hold: of which every table, in every period, shows a share of the records, with something in reserve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..areas import Areas
from ..crosswalk import Crosswalk
from ..dataclass import dataclass
from ..elementary import norms
from ..errors import InputError
from ..parameters import HELD_PERCENT, RESERVE, K
from ..profile import Profile
from ..progress import Progress, silent
from ..scientific import spatial
from .making import joined_by, regions_as_areas


@dataclass(frozen=True)
class Holding:
    """What a region must show to hold.

    k : records that a class needs; reserve : how many times as many it needs now, so that it will have k later on
    percent : of the records of a region, those that must be of such classes, in every table and period; 0 asks for none
    """

    k: int
    reserve: float = 1.0
    percent: float = 0.0

    @property
    def least(self) -> int:
        """Records that a class needs now."""
        return int(np.ceil(self.k * self.reserve - 1e-9))

    def check(self) -> None:
        """Raise InputError for numbers that mean nothing."""
        K.check(self.k)
        RESERVE.check(self.reserve)
        HELD_PERCENT.check(self.percent)


@dataclass(frozen=True, eq=False)
class Counted:
    """Records counted by area and class: profile; period_of : (C,), the period of each class, from 0."""

    profile: Profile
    period_of: np.ndarray


def counted_by(profile: Profile, period: str = "") -> Counted:
    """A profile with the periods of its classes; period : the quasi-identifier that says which, empty for none"""
    if not period:
        return Counted(profile, np.zeros(len(profile.classes), np.int64))
    codes = profile.classes[:, profile.quasi_identifiers.index(period)]
    return Counted(profile, np.unique(codes, return_inverse=True)[1].reshape(-1))


def held_percent(tables: Sequence[Counted], crosswalk: Crosswalk, least: int) -> np.ndarray:
    """Of each region the per cent of its records that are of classes of `least` and more there, (n_regions,); of all
    tables and periods that with the least. 100 where there is nobody."""
    worst = np.full(crosswalk.n_regions, 100.0)
    for table in tables:
        counts = (crosswalk.membership() @ table.profile.counts).tocsr()
        n_periods = int(table.period_of.max(initial=0)) + 1
        region = np.repeat(np.arange(crosswalk.n_regions, dtype=np.int64), np.diff(counts.indptr))
        key = region * n_periods + table.period_of[counts.indices]
        n_keys = crosswalk.n_regions * n_periods
        there = np.bincount(key, counts.data, n_keys)
        held = np.bincount(key, np.where(counts.data >= least, counts.data, 0), n_keys)
        percent = 100.0 * np.divide(held, there, out=np.ones(n_keys), where=there > 0)
        worst = np.minimum(worst, percent.reshape(crosswalk.n_regions, n_periods).min(axis=1))
    return worst


def joined_until_held(
    areas: Areas,
    tables: Sequence[Counted],
    crosswalk: Crosswalk,
    holding: Holding,
    progress: Progress = silent,
) -> Crosswalk:
    """The crosswalk, its regions joined until each holds: one that does not is joined with the nearest, a neighbour
    where areas have such, the shortest ways first; so until all do.

    areas : n areas; tables : of the same areas. What is joined holds if its parts do, as no class gets fewer records.
    Raises InputError for numbers that mean nothing, and where all areas together do not hold.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> from vbas.core.levels import own_regions
    >>> from vbas.core.nesting.holding import Holding, counted_by, joined_until_held
    >>> areas, records, _ = hamlet()
    >>> tables = [counted_by(records.profile)]
    >>> joined_until_held(areas, tables, own_regions(len(areas)), Holding(2, 1.0, 50.0)).n_regions
    3
    """
    holding.check()
    if not holding.percent:
        return crosswalk
    at_first = crosswalk.n_regions
    while True:
        percent = held_percent(tables, crosswalk, holding.least)
        short = np.flatnonzero(percent < holding.percent - 1e-9)
        if not len(short):
            return crosswalk
        if crosswalk.n_regions == 1:
            raise InputError.saying(
                "Of all areas together {percent:.1f} % of the records are of classes of {least} and more, where the "
                "fewest are, and HELD_PERCENT is {wanted:g}: choose a smaller share or RESERVE, or coarser values.",
                percent=float(percent[0]),
                least=holding.least,
                wanted=holding.percent,
            )
        progress(min(1.0, (at_first - crosswalk.n_regions) / max(at_first - 1, 1)))
        crosswalk = joined_by(crosswalk, _joined(areas, crosswalk, short))


def _joined(areas: Areas, crosswalk: Crosswalk, short: np.ndarray) -> Crosswalk:
    """Regions that do not hold, each with the nearest; those that another has taken meanwhile wait."""
    regions = regions_as_areas(areas, crosswalk)
    nearest, way = _nearest(regions, short)
    to = np.arange(crosswalk.n_regions, dtype=np.int64)
    taken = np.zeros(crosswalk.n_regions, bool)
    for at in np.lexsort((short, way)).tolist():
        region, other = int(short[at]), int(nearest[at])
        if not taken[region] and not taken[other]:
            taken[[region, other]] = True
            to[max(region, other)] = min(region, other)
    _, region_of = np.unique(to, return_inverse=True)
    return Crosswalk(region_of.reshape(-1), int(region_of.max()) + 1)


def _nearest(regions: Areas, short: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of some regions the nearest other one, a neighbour where there is one, and how far it is."""
    way, candidates = spatial.cKDTree(regions.points).query(regions.points[short], 2)
    own = candidates[:, 0] == short
    nearest, away = np.where(own, candidates[:, 1], candidates[:, 0]), np.where(own, way[:, 1], way[:, 0])
    if regions.neighbours is not None:
        first, second = regions.neighbours.pairs()
        owner, other = np.concatenate([first, second]), np.concatenate([second, first])
        far = norms(regions.points[owner] - regions.points[other])
        order = np.lexsort((other, far, owner))
        owner, other, far = owner[order], other[order], far[order]
        begins = np.searchsorted(owner, short)
        has = np.append(owner, -1)[begins] == short
        nearest[has], away[has] = other[begins[has]], far[begins[has]]
    return nearest, away
