"""Candidates: the addresses that a masked point could have come from, which is what it is really hidden among."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import counted
from ..dataclass import dataclass
from ..language import plural, tr
from ..progress import Progress, part, silent
from .donut import EARLIER_ELSEWHERE, FEW_CANDIDATES, Masking
from .homes import Homes
from .populations import NEIGHBOURS_AT_ONCE, Households

K_MIN = 5
_TOLERANCE = 0.01  # metres: earlier places have been projected and rounded


def candidates(
    households: Households,
    household_area: np.ndarray,
    places: np.ndarray,
    area_of: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
    progress: Progress = silent,
) -> np.ndarray:
    """Households from which a point could have come to each place, (n,) float; NaN where there is no place.

    Those of the place's own area from which it is not nearer than the inner and not farther than the outer radius: the
    rings of one area are alike, and a point stays in its area.
    household_area : (h,), -1 for none; places : (n, 2) masked positions; area_of : (n,); inner, outer : (n,) metres.
    """
    counts = np.full(len(places), np.nan)
    rows = np.flatnonzero(np.isfinite(places).all(axis=1))
    around = _Layers(households, household_area, places[rows])
    spots, limit = around.with_area_as_height(places[rows], area_of[rows]), around.limited(outer[rows])
    within = around.tree.nearer_than(spots, np.nextafter(limit, np.inf), part(progress, 0.0, 0.5))
    nearer = around.tree.nearer_than(spots, around.limited(inner[rows]), part(progress, 0.5, 1.0))
    counts[rows] = np.round(within - nearer, 9)  # sums of weights differ by their rounding
    return counts


def places_held_back(
    masking: Masking, households: Households, household_area: np.ndarray, area_of: np.ndarray, k_min: int
) -> Masking:
    """The masking without the places that have fewer than K_MIN candidates, each place by itself.

    household_area : (h,), -1 for none; area_of : (N,) of the points
    """
    counts = candidates(households, household_area, masking.points, area_of, masking.inner, masking.outer)
    return replace(masking, points=np.where((counts < k_min)[:, None], np.nan, masking.points))


def candidates_of_all(
    households: Households,
    household_area: np.ndarray,
    places: np.ndarray,
    owner: np.ndarray,
    area_of: np.ndarray,
    inner: np.ndarray,
    outer: np.ndarray,
) -> np.ndarray:
    """Households from which each owner could have come to all of its places, (H,) float; NaN for those without any.

    places : (p, 2); owner : (p,) positions in area_of, inner, outer : (H,). What is left to guess where several masked
    places of one home are known.
    """
    counts = np.full(len(area_of), np.nan)
    order = np.argsort(owner, kind="stable")
    places, owner = places[order], owner[order]
    around = _Layers(households, household_area, places)
    spots, limit = around.with_area_as_height(places, area_of[owner]), around.limited(outer[owner])
    lengths = around.tree.lengths(spots, limit)
    total = np.bincount(owner, weights=lengths, minlength=len(area_of))
    block = ((np.cumsum(total) - total) // NEIGHBOURS_AT_ONCE).astype(np.int64)[owner]
    for number in np.unique(block):
        some = np.flatnonzero(block == number)
        which, household = around.tree.within(spots[some], limit[some])
        far = np.hypot(*(places[some][which] - around.points[household]).T) >= inner[owner[some]][which]
        pair = owner[some][which[far]] * len(around.points) + household[far]
        pair, times = np.unique(pair, return_counts=True)
        whose, household = np.divmod(pair, max(len(around.points), 1))
        all_of_them = times == np.bincount(owner, minlength=len(area_of))[whose]
        weights = around.tree.weights[household[all_of_them]]
        sums = np.bincount(whose[all_of_them], weights=weights, minlength=len(area_of))
        here = np.unique(owner[some])
        counts[here] = np.round(sums[here], 9)
    return counts


class _Layers:
    """Households by area: the area is a third coordinate, so that a search around a place finds those of its own."""

    def __init__(self, households: Households, household_area: np.ndarray, places: np.ndarray) -> None:
        self.points = households.points
        everything = np.concatenate([self.points, places, np.zeros((1, 2)) if not len(places) else places[:1]])
        self._reach = 1.0 + float(np.hypot(*np.ptp(everything, axis=0)))
        weights = None if households.unweighted else households.weights
        self.tree = Households(self.with_area_as_height(self.points, household_area), weights)

    def with_area_as_height(self, points: np.ndarray, area: np.ndarray) -> np.ndarray:
        """Points (n, 2) with their area as the third coordinate, (n, 3)."""
        return np.column_stack([points, 3.0 * self._reach * area])

    def limited(self, radius: np.ndarray) -> np.ndarray:
        """Radii that do not reach into another area, and leave out nobody of their own."""
        return np.minimum(radius, 2.0 * self._reach)


@dataclass(frozen=True, eq=False)
class Hiding:
    """Among how many addresses H homes hide.

    alone : (H,) candidates of the masked place, NaN where there is none; left : (H,) those left with all earlier places
    too, 0 where an earlier place is not in the home's ring, so that nothing can be said
    again, elsewhere : (H,) bool, homes masked now that were masked before, and those of them with such a place
    members : (H,) points of each home; weighted : whether an address counts as often as there are households
    by_category : whether homes move by the people of a category, while addresses count whoever lives there
    """

    alone: np.ndarray
    left: np.ndarray
    again: np.ndarray
    elsewhere: np.ndarray
    members: np.ndarray
    weighted: bool = False
    by_category: bool = False

    def sentence(self) -> str:
        """What earlier places take away; empty where there are none."""
        if not self.again.any():
            return ""
        before, after = (float(np.median(values[self.again])) for values in (self.alone, self.left))
        said = plural(
            "{n} home was masked before: with the earlier place it keeps {after:g} candidate "
            "addresses or fewer; without, {before:g}.",
            "{n} homes were masked before: with the earlier places, half of them keep {after:g} "
            "candidate addresses or fewer; without, {before:g}.",
            int(self.again.sum()),
            after=after,
            before=before,
        )
        odd = int(self.elsewhere.sum())
        if odd:
            outside = plural(
                "The earlier place of {n} of them is not in the ring of now: it counts as having none.",
                "The earlier places of {n} of them are not in the ring of now: they count as having none.",
                odd,
            )
            said = f"{said} {outside}"
        return said

    def shortfall(self, k_min: int) -> Shortfall:
        """How many fall short of K_MIN; of 5, where K_MIN is 0."""
        drawn, wanted = np.isfinite(self.left), k_min or K_MIN
        short = drawn & (self.left < wanted)
        points, below = int(self.members[drawn].sum()), int(self.members[short].sum())
        homes = int(drawn.sum())
        return Shortfall(wanted, k_min > 0, points, homes, below, int(short.sum()), self.weighted, self.by_category)


@dataclass(frozen=True)
class Shortfall:
    """Masked points with fewer than k_min candidate addresses, counted as points (people) and as homes.

    held : they are held back; weighted : an address counts as often as there are households, which share its door
    by_category : as of `Hiding`
    """

    k_min: int
    held: bool
    points: int
    homes: int
    points_below: int
    homes_below: int
    weighted: bool = False
    by_category: bool = False

    @property
    def percent(self) -> float:
        """Share of the masked points that fall short, per cent; 0 where none was masked."""
        return 100.0 * self.points_below / max(self.points, 1)

    @property
    def most(self) -> bool:
        """Whether more than half of the points or of the homes fall short."""
        return 2 * self.points_below > self.points or 2 * self.homes_below > self.homes

    def sentence(self) -> str:
        """The share that falls short and what becomes of it; what to do, where most do; what a category tells."""
        known = (
            tr(
                "The addresses are counted whoever lives there: who knows where people of the point's category live "
                "guesses among these alone, and they may be fewer than {k_min}.",
                k_min=self.k_min,
            )
            if self.by_category
            else ""
        )
        return " ".join(filter(None, (self._counted(), known)))

    def _counted(self) -> str:
        if not self.points_below:
            if self.weighted:
                return tr(
                    "Each masked point could have come from the addresses of at least {k_min} households; they may be "
                    "fewer addresses, since several households can share one (HOUSEHOLD_COUNT).",
                    k_min=self.k_min,
                )
            return tr("Each masked point could have come from at least {k_min} addresses.", k_min=self.k_min)
        texts = {
            "percent": self.percent,
            "points_below": self.points_below,
            "points": self.points,
            "homes_below": self.homes_below,
            "homes": counted.homes(self.homes),
            "k_min": self.k_min,
        }
        if self.weighted:
            share = tr(
                "{percent:.2f} % of the masked points ({points_below} of {points}, in {homes_below} "
                "of {homes}) could have come from the addresses of fewer than {k_min} households.",
                **texts,
            )
        else:
            share = tr(
                "{percent:.2f} % of the masked points ({points_below} of {points}, in {homes_below} "
                "of {homes}) could have come from fewer than {k_min} addresses.",
                **texts,
            )
        fate = tr("They are held back.") if self.held else tr("K_MIN is 0, so they are not held back.")
        advice = tr("Most fall short, so what is left is not to be published: raise K_INNER.") if self.most else ""
        return " ".join(filter(None, (share, fate, advice)))


def hiding(
    masking: Masking,
    homes: Homes,
    households: Households,
    household_area: np.ndarray,
    earlier: tuple[np.ndarray, np.ndarray] | None = None,
    progress: Progress = silent,
    by_category: bool = False,
) -> Hiding:
    """Count the candidate addresses of masked homes.

    masking : of the H homes; earlier : (p, 2) earlier masked places in planar metres and (p,) the home of each. Earlier
    places are taken to come from the same kind of ring, and are counted where the home is masked now; by_category : as
    of `Hiding`.
    """
    alone = candidates(
        households, household_area, masking.points, homes.area_of, masking.inner, masking.outer, progress
    )
    nobody, weighted = np.zeros(len(homes), bool), not households.unweighted
    if earlier is None:
        return Hiding(alone, alone, nobody, nobody, homes.members, weighted, by_category)
    places, owner = earlier
    known = np.isfinite(places).all(axis=1) & masking.masked[owner]
    places, owner = places[known], owner[known]
    again, elsewhere = nobody.copy(), nobody.copy()
    again[owner] = True
    far = np.hypot(*(places - homes.points[owner]).T)
    outside = (far < masking.inner[owner] - _TOLERANCE) | (far > masking.outer[owner] + _TOLERANCE)
    elsewhere[owner[outside]] = True
    now = np.flatnonzero(again)
    left = candidates_of_all(
        households,
        household_area,
        np.concatenate([places, masking.points[now]]),
        np.concatenate([owner, now]),
        homes.area_of,
        masking.inner,
        masking.outer,
    )
    left = np.where(elsewhere, 0.0, np.where(again, left, alone))
    return Hiding(alone, left, again, elsewhere, homes.members, weighted, by_category)


def hold_back(masking: Masking, candidates: Hiding, k_min: int) -> Masking:
    """The masking without the homes that have fewer than K_MIN candidates left; K_MIN = 0 holds nothing back.

    Their displacement stays, for the audit; their place does not.
    """
    few = masking.masked & (candidates.left < k_min)
    reason = np.where(few, np.where(candidates.elsewhere, EARLIER_ELSEWHERE, FEW_CANDIDATES), masking.reason)
    return replace(masking, reason=reason.astype(np.int8), points=np.where(few[:, None], np.nan, masking.points))
