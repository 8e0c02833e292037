"""Homes: points of one home share one move, since the average of many moves leads back to where they started."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from .. import counted
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import tr
from ..records.columns import Column, combine_codes
from ..scientific import sparse, spatial
from .donut import Masking
from .placing import NO_AREA

SAME_PLACE = 1.0  # metres: as far as coordinates of one address differ by rounding
ONE_HOUSEHOLD = 100.0  # metres: members of a household farther apart than this are an error of the data


@dataclass(frozen=True, eq=False)
class Homes:
    """N points in H homes, which are numbered by their first member.

    home_of : (N,) int64; points : (H, 2) planar metres, where a home is, NaN for none; area_of : (H,)
    people : (H,) float, the fewest that any member hides among, so that the home's ring is wide enough for each
    """

    home_of: np.ndarray
    points: np.ndarray
    area_of: np.ndarray
    people: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    @property
    def members(self) -> np.ndarray:
        """Points of each home, (H,) int64."""
        return np.bincount(self.home_of, minlength=len(self))

    def of_points(self, masking: Masking) -> Masking:
        """The masking of the N points from that of the H homes: every member where its home went."""
        return Masking(*(getattr(masking, field.name)[self.home_of] for field in fields(masking)))

    def sentence(self) -> str:
        """How many points share a move; empty where none do."""
        if len(self) == len(self.home_of):
            return ""
        return tr(
            "{points} in {homes}, up to {members} in one: the points of a home share one move, "
            "or their average would show where it is.",
            points=counted.points(len(self.home_of)),
            homes=counted.homes(len(self)),
            members=self.members.max(),
        )


def homes_of(
    points: np.ndarray, area_of: np.ndarray, people: np.ndarray, household: Column | None = None, field: str = ""
) -> Homes:
    """Points at the same place, or of the same household, as homes.

    points : (N, 2) planar metres, NaN for none; area_of : (N,), -1 for none; people : (N,) that each hides among;
    household : (N,) optional identifiers, and the field they come from. Places within a metre are one. A household is
    where most of its members are (on a tie: farthest west); members in another area are a home of their own, since they
    must stay there. Points that cannot be masked are homes of their own. Raises InputError for a household whose
    members lie more than 100 m apart.
    """
    rows = np.flatnonzero(np.isfinite(points).all(axis=1) & (area_of != NO_AREA) & (people > 0))
    first, spot_of = _spots(np.column_stack([points, area_of])[rows])
    label = np.arange(len(points), dtype=np.int64) + len(rows)
    label[rows] = _joined(points[rows][first], area_of[rows], first, spot_of, household, rows)[spot_of]
    _, earliest, home = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(earliest), np.int64)
    rank[np.argsort(earliest)] = np.arange(len(earliest), dtype=np.int64)
    home_of, member = rank[home.reshape(-1)], np.sort(earliest)
    centre = points[member].copy()
    common = np.argsort(-np.bincount(spot_of, minlength=len(first)), kind="stable")[::-1]  # the most common is last
    centre[home_of[rows[first[common]]]] = points[rows[first[common]]]
    if household is not None:
        _check_households(points[rows], centre[home_of[rows]], household, rows, field)
    fewest = np.full(len(member), np.inf)
    with np.errstate(invalid="ignore"):  # whoever lives in no area has no number of people; numpy 2 warns of it
        np.minimum.at(fewest, home_of, people)
    return Homes(home_of, centre, area_of[member], fewest)


def _spots(placed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of x, y and area, each as its first point (s,), from west to east; and that of each point."""
    order = np.lexsort(placed.T[::-1])
    new = np.ones(len(placed), bool)
    new[1:] = (np.diff(placed[order], axis=0) != 0).any(axis=1)
    spot_of = np.empty(len(placed), np.int64)
    spot_of[order] = np.cumsum(new, dtype=np.int64) - 1
    return order[new], spot_of


def _joined(
    spots: np.ndarray,
    area_of: np.ndarray,
    first: np.ndarray,
    spot_of: np.ndarray,
    household: Column | None,
    rows: np.ndarray,
) -> np.ndarray:
    """The home of each place, (s,): places are joined where they are one, or a household of one area has both."""
    # The area as a third coordinate keeps places of two areas apart.
    pairs = spatial.cKDTree(np.column_stack([spots, 10.0 * SAME_PLACE * area_of[first]])).query_pairs(
        SAME_PLACE, output_type="ndarray"
    )
    n, edges = len(spots), [pairs.reshape(-1, 2)]
    if household is not None and len(rows):
        unit, names = combine_codes(
            [household.codes[rows], area_of], [len(household.categories), int(area_of.max()) + 1]
        )
        known = np.array([value is not None for value in household.categories])[household.codes[rows]]
        edges.append(np.column_stack([spot_of[known], n + unit[known]]))
        n += len(names)
    links = np.concatenate(edges)
    matrix = sparse.coo_matrix((np.ones(len(links), np.int8), (links[:, 0], links[:, 1])), shape=(n, n))
    return np.asarray(sparse.csgraph.connected_components(matrix, directed=False)[1][: len(spots)], np.int64)


def _check_households(points: np.ndarray, centres: np.ndarray, household: Column, rows: np.ndarray, field: str) -> None:
    """Refuse households whose members are not in one place. Raises InputError."""
    far = np.hypot(*(points - centres).T) > ONE_HOUSEHOLD
    if far.any():
        wrong = to_list(household.categories[np.unique(household.codes[rows[far]])])
        raise InputError.counting(
            "HOUSEHOLD_ID “{field}”: {n} household has members more than {one_household:g} m apart (first: {first}): a "
            "household is moved from one place. Correct the field or the places, or leave the field empty: points at "
            "the same place move together anyway.",
            "HOUSEHOLD_ID “{field}”: {n} households have members more than {one_household:g} m apart (first: {first}): "
            "a household is moved from one place. Correct the field or the places, or leave the field empty: points at "
            "the same place move together anyway.",
            len(wrong),
            field=field,
            one_household=ONE_HOUSEHOLD,
            first=first_values(wrong),
        )


NEARLY_ALL = 0.8


def share_in_common(area_of: np.ndarray, earlier_area_of: np.ndarray) -> float:
    """The share of the points of the smaller set that can be points of the other, 0 to 1; 0 where a set is empty.

    area_of, earlier_area_of : (n,) and (m,) the area of each point, true or masked, NO_AREA for none
    In every area as many points can be the same as the set with fewer there has. Sets of different people come near 1
    too where each area has many points of both.
    """
    sets = [areas[areas != NO_AREA] for areas in (area_of, earlier_area_of)]
    n_areas = max((int(areas.max(initial=-1)) + 1 for areas in sets), default=0)
    now, before = (np.bincount(areas, minlength=n_areas) for areas in sets)
    fewer = min(len(areas) for areas in sets)
    return float(np.minimum(now, before).sum() / fewer) if fewer else 0.0
