"""A batch of moves: areas, drawn at random, that join the region on the other side of a border, or leave for one of
their own."""

from __future__ import annotations

import numpy as np

from ...dataclass import dataclass
from .pieces import Surroundings
from .regions import Regions

# The borders are listed again after so many batches; what is no border any more by then is not drawn.
LISTED_EVERY = 8
# Moves that pass, per region, that a batch is meant to have: of more, most would share a region.
PASSING = 0.5
FEWEST, MOST = 8, 1024
LEARNING = 0.02
ALONE = 0.05  # of the moves drawn: an area, at a border or not, becomes a region of its own


@dataclass()
class Batches:
    """Batches of moves over regions. surroundings : of the same areas; draws : every random draw comes from it.

    work : entries of the profile looked at, and what a batch takes beside them, in entries
    """

    regions: Regions
    surroundings: Surroundings
    draws: np.random.Generator
    work: float = 0.0

    def __post_init__(self) -> None:
        self._passing, self._n_batches = 0.3, 0
        self._border: np.ndarray = np.empty(0, np.int64)
        # What a batch takes beside looking at entries, measured in these.
        self._beside = 16_000 + 8.0 * len(self.regions.territory)

    def relist(self) -> None:
        """List the borders before the next batch: the regions are others now."""
        self._n_batches = 0

    def make(self, temperature: float, price: float) -> int:
        """Draw a batch and make the moves that pass and touch no other one; how many were made.

        A move passes with the probability exp(-change / temperature) (Metropolis and others 1953); change : that of the
        sum of distances, metres, and `price` metres for each record of weight 1 that is suppressed more.
        """
        regions = self.regions
        self.work += self._beside
        areas, targets = self._drawn()
        if not len(areas):
            return 0
        allowed = temperature * self.draws.standard_exponential(len(areas))
        lost, n_entries = regions.loss_change(areas, targets)
        self.work += n_entries
        passing = np.flatnonzero(regions.length_change(areas, targets) + price * lost <= allowed)
        self._passing += LEARNING * (len(passing) / len(areas) - self._passing)
        passing = passing[self.surroundings.leave_whole(areas[passing], regions.region_of)]
        made = passing[_apart(regions.region_of[areas[passing]], targets[passing], regions.n_regions)]
        if len(made):
            regions.move(areas[made], targets[made], lost[made])
        return len(made)

    def _drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Areas, and the region that each would join: across a border, or one without areas."""
        territory, region_of = self.regions.territory, self.regions.region_of
        owners, others = territory.owners, territory.adjacency.others
        if self._n_batches % LISTED_EVERY == 0:
            self._border = np.flatnonzero(region_of[owners] != region_of[others])
        self._n_batches += 1
        wanted = self.regions.n_regions * PASSING / max(self._passing, 1e-3)
        n_drawn = int(min(max(wanted, FEWEST), MOST))
        drawn = self._border[self.draws.integers(0, len(self._border), n_drawn)] if len(self._border) else self._border
        alone = self.draws.integers(0, len(region_of), int(np.ceil(ALONE * n_drawn)))
        empty = self.regions.empty
        alone = alone[self.regions.sizes[region_of[alone]] > 1] if len(empty) else empty
        areas = np.concatenate([owners[drawn], alone])
        targets = np.concatenate([region_of[others[drawn]], np.resize(empty, len(alone))])
        across = region_of[areas] != targets
        order = self.draws.permutation(np.flatnonzero(across))
        return areas[order], targets[order]


def _apart(sources: np.ndarray, targets: np.ndarray, n_regions: int) -> np.ndarray:
    """Which moves are the first to touch both of their regions, (m,) bool."""
    position = np.arange(len(sources), dtype=np.int64)
    first = np.full(n_regions, len(sources), np.int64)
    np.minimum.at(first, sources, position)
    np.minimum.at(first, targets, position)
    return (first[sources] == position) & (first[targets] == position)
