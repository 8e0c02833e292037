"""Sites, their regions and levels of anonymity, kept up to date while one site at a time moves."""

from __future__ import annotations

import numpy as np

from ...arrays import to_list
from ...crosswalk import Crosswalk
from ...dataclass import dataclass
from ...elementary import norms
from ...neighbours import adjacent_sites
from ...scientific import sparse, spatial
from ...voronoi import nearest_site
from .counts import DenseCounts, LocalCounts, RegionCounts, SparseCounts, Terms, as_they_are, levels_of_groups, terms_of

TIE = 1e-12  # relative: distances nearer to each other than this are left to `nearest_site` to decide
DENSE_CLASSES = 8_000  # with more classes than this, whole rows of counts take longer than those that occur (measured)
DENSE_CELLS = 10**8  # of counts in whole rows: above, they would take too much memory


@dataclass(frozen=True, eq=False)
class Transfers:
    """The areas that change their region, in K cases that differ.

    areas : (m,) the areas that change in any case
    case, column, before, after : (h,) the case, the area's position in `areas`, the region it leaves, the one it joins
    n_cases : K
    """

    areas: np.ndarray
    case: np.ndarray
    column: np.ndarray
    before: np.ndarray
    after: np.ndarray
    n_cases: int


@dataclass(frozen=True, eq=False)
class Proposals:
    """Proposed moves of the site of one region, counted but not made.

    positions : (B, 2); case_of : (B,) the case of transfers each comes to; terms : (B,) entries
    touched : (t,) the regions that any proposal changes
    pair_case, pair_region : (P,) each region that each case changes; pair_state : (4, P) its levels and areas then
    signs : (P, m) +1 where local area j joins, -1 where it leaves; local : the counts before, of `touched`
    """

    region: int
    positions: np.ndarray
    case_of: np.ndarray
    terms: Terms
    touched: np.ndarray
    pair_case: np.ndarray
    pair_region: np.ndarray
    pair_state: np.ndarray
    signs: np.ndarray
    local: LocalCounts


@dataclass(frozen=True, eq=False)
class Change:
    """What a committed move changed, so that refusals that rest on it are forgotten.

    regions : whose site, counts, border or nearest rivals changed; areas : whose nearest site is another or lies at
    another distance
    """

    regions: np.ndarray
    areas: np.ndarray


class ClusteringState:
    """Membership, counts and levels for sites that move one at a time.

    points : (n, 2) metres; profile_counts : (n, C) of the areas; sites : (S, 2), copied.

    Each area knows its three nearest sites, so that what a move takes from a region, and what it gives to it, is read
    off: an area of the moved site stays if the new position is nearer than its second site, any other area joins if the
    new position is nearer than its first. Only the rows of counts of the regions that lose or gain are summed.
    """

    def __init__(self, points: np.ndarray, profile_counts: sparse.csr_matrix, sites: np.ndarray) -> None:
        self.points = points
        self.profile_counts = profile_counts
        self.sites = np.array(sites, dtype=float)
        self._xy = np.ascontiguousarray(points.T)
        self._tree = spatial.cKDTree(self.sites)
        distances, nearest = self._tree.query(points, k=3)
        # Row 0 the nearest, then the second and third; infinitely far where there are fewer sites.
        self._distances = np.ascontiguousarray(distances.T)
        self._nearest = np.ascontiguousarray(nearest.T, dtype=np.int64)
        self._settle_ties()
        grouped = Crosswalk(self.region_of, len(self.sites)).membership() @ profile_counts
        grouped.eliminate_zeros()
        grouped.sort_indices()
        cells = (len(points) + len(self.sites)) * profile_counts.shape[1]
        dense = profile_counts.shape[1] <= DENSE_CLASSES and cells <= DENSE_CELLS
        self.counts: RegionCounts = (DenseCounts if dense else SparseCounts)(profile_counts, grouped)
        # Rows: anonymity, classes at that level, classes, areas (see `counts`).
        areas = np.bincount(self.region_of, minlength=len(self.sites))
        self._regions = np.vstack([levels_of_groups(grouped), areas])
        self._adjacent: list[np.ndarray | None] = [None] * len(self.sites)
        self._now: Terms | None = None

    @property
    def region_of(self) -> np.ndarray:
        """The nearest site of each area, (n,) int64: what `nearest_site` gives."""
        return self._nearest[0]

    @property
    def distances(self) -> np.ndarray:
        """How far the nearest site of each area is, (n,)."""
        return self._distances[0]

    @property
    def anonymity(self) -> np.ndarray:
        """The level alpha_a of each region, (S,) int64; 0 where no record lives."""
        return self._regions[0]

    @property
    def has_ties(self) -> bool:
        """Whether an area is as near to a second site as to its own."""
        return bool(self._tied.any())

    @property
    def now(self) -> Terms:
        """What the objectives are made of, for the sites as they are; entries of length 1."""
        if self._now is None:
            self._now = as_they_are(self._regions)
        return self._now

    @property
    def lowest(self) -> int:
        """alpha, the lowest level of a region; NO_LEVEL where no record lives anywhere."""
        return int(self.now.lowest[0])

    def adjacent(self, region: int) -> np.ndarray:
        """The Delaunay neighbours of a site, counterclockwise."""
        neighbours = self._adjacent[region]
        if neighbours is None:
            neighbours = self._adjacent[region] = adjacent_sites(self.sites, region, self._tree)
        return neighbours

    def try_moves(self, region: int, positions: np.ndarray) -> Proposals:
        """Count what each of the moves of a region's site to `positions` (B, 2) would change."""
        transfers, case_of = self._transfers(region, positions)
        n_sites = len(self.sites)
        leaving = transfers.case * n_sites + transfers.before
        joining = transfers.case * n_sites + transfers.after
        pairs, pair = np.unique(np.concatenate([leaving, joining]), return_inverse=True)
        pair_case, pair_region = np.divmod(pairs, n_sites)
        touched, slot = _distinct(pair_region, n_sites)
        local = self.counts.local(touched, transfers.areas)
        signs = np.zeros((len(pairs), len(transfers.areas)), np.int8)
        signs[pair[: len(leaving)], transfers.column] = -1
        signs[pair[len(leaving) :], transfers.column] = 1
        pair_state = np.empty((4, len(pairs)), np.int64)
        pair_state[:3] = _levels_of_pairs(local, slot, signs)
        pair_state[3] = self._regions[3, pair_region] + signs.sum(axis=1, dtype=np.int64)
        terms = terms_of(self._regions, touched, slot, pair_case, pair_state, transfers.n_cases).of(case_of)
        return Proposals(region, positions, case_of, terms, touched, pair_case, pair_region, pair_state, signs, local)

    def commit(self, proposals: Proposals, proposal: int) -> Change:
        """Make one of the proposed moves of the sites as they are."""
        pairs = np.flatnonzero(proposals.pair_case == proposals.case_of[proposal])
        regions = proposals.pair_region[pairs]
        for slot, pair in zip(to_list(np.searchsorted(proposals.touched, regions)), to_list(pairs)):
            proposals.local.transfer(slot, proposals.signs[pair])
        self._regions[:, regions] = proposals.pair_state[:, pairs]
        self._now = None
        moved = proposals.region
        neighbours = self.adjacent(moved)
        self.sites[moved] = proposals.positions[proposal]
        rivals, areas = self._follow(moved)
        self._adjacent[moved] = None
        neighbours = np.union1d(neighbours, self.adjacent(moved))
        for site in to_list(neighbours):
            self._adjacent[site] = None
        return Change(np.unique(np.concatenate([[moved], regions, neighbours, rivals])), areas)

    def _settle_ties(self) -> None:
        """Let `nearest_site` decide to which of several equally near sites an area belongs."""
        self._tied = self._distances[1] <= self._distances[0] * (1 + TIE)
        tied = np.flatnonzero(self._tied)
        if len(tied) == 0:
            return
        chosen = nearest_site(self.points[tied], self.sites)
        for other in (1, 2):
            swapped = tied[self._nearest[other, tied] == chosen]
            self._nearest[other, swapped] = self._nearest[0, swapped]
        self._nearest[0, tied] = chosen

    def _transfers(self, region: int, positions: np.ndarray) -> tuple[Transfers, np.ndarray]:
        """The distinct cases of areas that change their region, and the case of each position, (B,)."""
        reach = self._within_reach(region, positions)
        now = self._nearest[0, reach]
        after = self._owners_after(region, positions, reach)
        moving = (after != now).any(axis=0)
        reach, now, after = reach[moving], now[moving], np.ascontiguousarray(after[:, moving])
        if after.shape[1] == 0:
            nothing = np.zeros(0, np.int64)
            return Transfers(reach, nothing, nothing, nothing, nothing, 1), np.zeros(len(positions), np.int64)
        as_bytes = after.view(np.dtype((np.void, after.itemsize * after.shape[1])))
        _, first, case_of = np.unique(as_bytes, return_index=True, return_inverse=True)
        after = after[first]
        case, column = np.nonzero(after != now)
        return Transfers(reach, case, column, now[column], after[case, column], len(first)), case_of.reshape(-1)

    def _within_reach(self, region: int, positions: np.ndarray) -> np.ndarray:
        """The areas that may change their region if the site moves to any of the positions, and some more."""
        centre = 0.5 * (positions.min(axis=0) + positions.max(axis=0))
        radius = norms(positions - centre).max()
        away = (self._xy[0] - centre[0]) ** 2 + (self._xy[1] - centre[1]) ** 2
        near = away <= ((self.distances + radius) * (1 + 1e-9)) ** 2
        return np.flatnonzero(near | (self.region_of == region) | self._tied)

    def _owners_after(self, region: int, positions: np.ndarray, areas: np.ndarray) -> np.ndarray:
        """The nearest site of each of the areas (m,) after a move to each position, (B, m)."""
        nearest, distances, tied = self._nearest[:, areas], self._distances[:, areas], self._tied[areas]
        own = nearest[0] == region
        rival = np.where(own, nearest[1], nearest[0])
        limit = np.where(own, distances[1], distances[0])
        x, y = self._xy[:, areas]
        away = np.sqrt((positions[:, :1] - x) ** 2 + (positions[:, 1:] - y) ** 2)
        owners = np.where(away < limit, region, rival)
        several = np.where(own, distances[2] <= limit * (1 + TIE), tied)
        doubtful = several | (np.abs(away - limit) <= TIE * limit)
        for proposal in to_list(np.flatnonzero(doubtful.any(axis=1))):
            sites = self.sites.copy()
            sites[region] = positions[proposal]
            unsure = doubtful[proposal]
            owners[proposal, unsure] = nearest_site(self.points[areas[unsure]], sites)
        return owners

    def _follow(self, moved: int) -> tuple[np.ndarray, np.ndarray]:
        """Bring the nearest sites up to date after a site has moved.

        Returns the regions, before and after, of areas for which any of the three changed, and the areas whose nearest
        site is another or lies at another distance.
        """
        x, y = self.sites[moved]
        away = (self._xy[0] - x) ** 2 + (self._xy[1] - y) ** 2
        concerned = away <= (self._distances[2] * (1 + 1e-9)) ** 2
        for rank in self._nearest:
            concerned |= rank == moved
        areas = np.flatnonzero(concerned | self._tied)
        region_before, distance_before = self.region_of[areas], self.distances[areas]
        self._tree = spatial.cKDTree(self.sites)
        distances, nearest = self._tree.query(self.points[areas], k=3)
        self._distances[:, areas], self._nearest[:, areas] = distances.T, nearest.T
        self._settle_ties()
        changed = (region_before != self.region_of[areas]) | (distance_before != self.distances[areas])
        return np.union1d(region_before, self.region_of[areas]), areas[changed]


def _distinct(regions: np.ndarray, n_regions: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct regions, ascending, and the position of each entry among them; quicker than sorting."""
    position = np.zeros(n_regions, np.int64)
    position[regions] = 1
    distinct = np.flatnonzero(position)
    position[distinct] = np.arange(len(distinct), dtype=np.int64)
    return distinct, position[regions]


def _levels_of_pairs(local: LocalCounts, slot: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The levels, (3, P), of the regions `slot` (P,) after the transfers `signs` (P, m).

    Cases that differ often do the same to a region; that is counted once. (An area that changes either leaves a given
    region or joins it, so that the sign need not be compared.)
    """
    if len(slot) == 0:
        return np.zeros((3, 0), np.int64)
    marks = np.hstack([slot.astype(np.uint32).view(np.uint8).reshape(-1, 4), np.packbits(signs != 0, axis=1)])
    as_bytes = marks.view(np.dtype((np.void, marks.shape[1])))
    _, first, equal = np.unique(as_bytes, return_index=True, return_inverse=True)
    return local.levels(slot[first], signs[first])[:, equal.reshape(-1)]
