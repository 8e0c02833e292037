"""An account of one region: who lives there, what is suppressed of them, and what makes them rare. Internal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .areas import Areas
from .arrays import to_list
from .attribute_costs import AttributeCost, attribute_costs
from .crosswalk import Crosswalk
from .profile import Profile
from .suppression import Terms, suppressed_by_class


@dataclass(frozen=True)
class ValueLost:
    """A value of a quasi-identifier: its records in a region, and how many of them are in classes below k."""

    quasi_identifier: str
    value: object
    records: int
    suppressed: int


@dataclass(frozen=True)
class RegionAccount:
    """What one region holds. Internal: suppressed counts are shown.

    areas, population, records : of the region
    classes, smallest, largest : its equivalence classes, and the records of the smallest and largest, 0 for none
    small_classes, suppressed : the classes of fewer than k records, and their records
    costs : per cent of the region's records that would still be suppressed without each quasi-identifier
    lost : the values that lose a larger share than the region as a whole, those first that lose most records more
    """

    areas: int
    population: float
    records: int
    classes: int
    smallest: int
    largest: int
    small_classes: int
    suppressed: int
    costs: tuple[AttributeCost, ...]
    lost: tuple[ValueLost, ...]

    @property
    def percent(self) -> float:
        """Per cent of the region's records that are in classes below k."""
        return 100.0 * self.suppressed / self.records if self.records else 0.0


def account_of_region(areas: Areas, profile: Profile, crosswalk: Crosswalk, region: int, k: int) -> RegionAccount:
    """The account of one region by itself.

    areas, profile, crosswalk : of the same areas, in the same order; region : 0-based; k : the smallest class allowed
    """
    members = np.flatnonzero(crosswalk.region_of == region)
    inside = replace(profile, counts=profile.counts[members])
    whole = Crosswalk(np.zeros(len(members), np.int64), 1)
    terms = Terms(k)
    sizes = inside.class_sizes
    used = sizes[sizes > 0]
    suppressed = suppressed_by_class(inside, whole, terms)
    return RegionAccount(
        areas=len(members),
        population=float(areas.population[members].sum()),
        records=int(used.sum()),
        classes=len(used),
        smallest=int(used.min()) if len(used) else 0,
        largest=int(used.max(initial=0)),
        small_classes=int((used < k).sum()),
        suppressed=int(suppressed.sum()),
        costs=tuple(attribute_costs(inside, whole, terms)) if len(used) else (),
        lost=_lost(inside, suppressed),
    )


def _lost(profile: Profile, suppressed: np.ndarray) -> tuple[ValueLost, ...]:
    """The values that lose more than their share, by how many records more; of equals in the order of the fields."""
    gone, whole, losses = int(suppressed.sum()), profile.n_records, []
    for name, codes, categories in zip(profile.quasi_identifiers, profile.classes.T, profile.categories):
        records, lost = (np.bincount(codes, of, len(categories)) for of in (profile.class_sizes, suppressed))
        for code in to_list(np.flatnonzero(lost * whole > gone * records)):
            value = ValueLost(name, categories[code], int(records[code]), int(lost[code]))
            losses.append((int(lost[code] * whole - gone * records[code]), value))
    return tuple(value for _, value in sorted(losses, key=lambda row: -row[0]))
