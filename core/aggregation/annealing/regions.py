"""The regions at one moment: their areas, what they suppress, and how far their areas lie from the middle."""

from __future__ import annotations

import numpy as np

from ... import counted
from ...elementary import norms
from ...errors import InputError
from ...language import tr
from ...voronoi import mean_centres
from .territory import Territory

# Counts that are held at once, of regions by classes: 2 GB.
MOST_COUNTS = 500_000_000
# Regions without areas, for areas that become a region of their own: a share of the others, and at least so many.
SPARE_SHARE, LEAST_SPARE = 0.05, 2


class Regions:
    """A division of a territory that moves change; some regions are without areas, which the moves may give them.

    region_of : (n,) int64; counts : (n_regions, C) records; lost : weight of what is suppressed, but for what no
    division can release; sizes, centres : of each region, (0, 0) for one without areas
    distances : (n,) metres from each area's point to the centre; pull : (n_regions, 2) the sum of the unit vectors from
    the centre to the areas, by which the sum of distances grows when the centre moves the other way
    """

    def __init__(self, territory: Territory, region_of: np.ndarray) -> None:
        self.territory = territory
        self.divide(region_of)

    def divide(self, region_of: np.ndarray) -> None:
        """Take over a division, its regions numbered anew without gaps, those without areas last.

        Raises InputError where the counts are too many to hold.
        """
        used, position = np.unique(region_of, return_inverse=True)
        n_classes = self.territory.counts.shape[1]
        n_regions = len(used) + max(LEAST_SPARE, int(SPARE_SHARE * len(used)))
        if n_regions * n_classes > MOST_COUNTS:
            raise InputError(
                tr(
                    "“anonymity exchange” cannot hold so many counts: of {regions} by {classes} of "
                    "QUASI_IDENTIFIERS. Choose fewer or coarser quasi-identifiers, fewer regions, or "
                    "another AGGREGATION.",
                    regions=counted.regions(len(used)),
                    classes=counted.classes(n_classes),
                )
            )
        self.region_of = position.reshape(-1).astype(np.int64)
        self.counts = self.territory.grouped(self.region_of, n_regions).toarray()
        self.lost = float(self.territory.lost(self.counts).sum())
        self.measure()

    @property
    def n_regions(self) -> int:
        """Number of regions, those without areas included."""
        return len(self.counts)

    @property
    def empty(self) -> np.ndarray:
        """The regions without areas."""
        return np.flatnonzero(self.sizes == 0)

    @property
    def length(self) -> float:
        """The sum of the distances from the areas to the centres, metres."""
        return float(self.distances.sum())

    def measure(self) -> None:
        """Find centres and distances again."""
        points, region_of, n_regions = self.territory.points, self.region_of, self.n_regions
        self.sizes = np.bincount(region_of, minlength=n_regions)
        self.centres = mean_centres(points, region_of, n_regions)
        offsets = points - self.centres[region_of]
        self.distances = norms(offsets)
        units = offsets / np.maximum(self.distances, np.finfo(float).tiny)[:, None]
        self.pull = np.column_stack([np.bincount(region_of, units[:, axis], n_regions) for axis in (0, 1)])

    def loss_change(self, areas: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, int]:
        """By how much each single move changes what is suppressed, (m,); and the entries that were looked at."""
        territory = self.territory
        entries, lengths = territory.entries(areas)
        class_of, moved = territory.counts.indices[entries], territory.counts.data[entries]
        counts, n_classes = self.counts.reshape(-1), self.counts.shape[1]
        change: np.ndarray = np.zeros(1)
        for region, sign in ((self.region_of[areas], -1), (targets, 1)):
            before = counts.take(np.repeat(region * n_classes, lengths) + class_of)
            change = change + territory.lost(before + sign * moved, class_of) - territory.lost(before, class_of)
        return np.bincount(np.repeat(np.arange(len(areas)), lengths), change, len(areas)), len(entries)

    def length_change(self, areas: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """By how much each single move changes the sum of distances, (m,) metres, to first order in the centres' moves.

        An area alone in its region takes the whole of its distance, which is 0, along.
        """
        points, sources = self.territory.points[areas], self.region_of[areas]
        from_source, from_target = points - self.centres[sources], points - self.centres[targets]
        left, joined = self.distances[areas], norms(from_target)
        unit = from_source / np.maximum(left, np.finfo(float).tiny)[:, None]
        source_moves = -from_source / np.maximum(self.sizes[sources] - 1, 1)[:, None]
        share = 1.0 / (self.sizes[targets] + 1)
        return (
            joined * (1 - share)
            - left
            - ((self.pull[sources] - unit) * source_moves).sum(axis=1)
            - (self.pull[targets] * from_target * share[:, None]).sum(axis=1)
        )

    def move(self, areas: np.ndarray, targets: np.ndarray, loss_change: np.ndarray) -> None:
        """Make moves of which no two share a region; loss_change : (m,), of each."""
        territory = self.territory
        entries, lengths = territory.entries(areas)
        class_of, moved = territory.counts.indices[entries], territory.counts.data[entries]
        self.counts[np.repeat(self.region_of[areas], lengths), class_of] -= moved
        self.counts[np.repeat(targets, lengths), class_of] += moved
        self.region_of[areas] = targets
        self.lost += float(loss_change.sum())
        self.measure()
