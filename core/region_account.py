"""An account of one region: who lives there, what is suppressed of them, and what makes them rare. Internal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .areas import Areas
from .arrays import to_list
from .attribute_costs import AttributeCost, attribute_costs
from .crosswalk import Crosswalk
from .dataclass import dataclass
from .privacy.requirement import Requirement
from .profile import Profile
from .suppression import Terms, suppressed_by_class


@dataclass(frozen=True)
class ValueLost:
    """A value of a quasi-identifier: its records in a region, and how many of them are suppressed."""

    quasi_identifier: str
    value: object
    records: int
    suppressed: int


@dataclass(frozen=True)
class RegionAccount:
    """What one region holds. Internal: suppressed counts are shown.

    areas, population, records : of the region
    classes, smallest, largest : its equivalence classes, and the records of the smallest and largest, 0 for none
    small_classes, suppressed : the classes that are suppressed, and their records
    costs : per cent of the region's records that would still be suppressed without each quasi-identifier
    lost : the values that lose a larger share than the region as a whole, those first that lose most records more
    asks_for_more : whether more than k records is asked of a class, such as several persons or sensitive values
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
    asks_for_more: bool = False

    @property
    def percent(self) -> float:
        """Per cent of the region's records that are suppressed."""
        return 100.0 * self.suppressed / self.records if self.records else 0.0


def account_of_region(
    areas: Areas, profile: Profile, crosswalk: Crosswalk, region: int, k: int, requirement: Requirement | None = None
) -> RegionAccount:
    """The account of one region by itself.

    areas, profile, crosswalk : of the same areas, in the same order; region : 0-based; k : the smallest class allowed;
    requirement : what more is asked of a class, for the cells of the profile
    """
    members = np.flatnonzero(crosswalk.region_of == region)
    inside = replace(profile, counts=profile.counts[members])
    sizes = inside.class_sizes
    used = sizes[sizes > 0]
    more = requirement is not None and (requirement.asks_for_more or requirement.series is not None)
    if more:
        suppressed, costs = _of_all_cells(profile, inside, crosswalk, region, Terms(k, requirement))
    else:
        whole = Crosswalk(np.zeros(len(members), np.int64), 1)
        suppressed = suppressed_by_class(inside, whole, Terms(k))
        costs = tuple(attribute_costs(inside, whole, Terms(k))) if len(used) else ()
    return RegionAccount(
        areas=len(members),
        population=float(areas.population[members].sum()),
        records=int(used.sum()),
        classes=len(used),
        smallest=int(used.min()) if len(used) else 0,
        largest=int(used.max(initial=0)),
        small_classes=int((suppressed > 0).sum()),
        suppressed=int(suppressed.sum()),
        costs=costs,
        lost=_lost(inside, suppressed),
        asks_for_more=more,
    )


def _of_all_cells(
    profile: Profile, inside: Profile, crosswalk: Crosswalk, region: int, terms: Terms
) -> tuple[np.ndarray, tuple[AttributeCost, ...]]:
    """The records of each class that the region suppresses, (C,) int64, and what each quasi-identifier costs it.

    A requirement knows the cells of the whole profile, so that the other areas are left out and not taken away: their
    records, which such a crosswalk counts as suppressed, are subtracted.
    """
    alone = Crosswalk(np.where(crosswalk.region_of == region, 0, -1), 1)
    outside = profile.class_sizes - inside.class_sizes
    suppressed = suppressed_by_class(profile, alone, terms) - outside
    n_records, n_outside, n_inside = profile.n_records, int(outside.sum()), inside.n_records
    if not n_inside:
        return suppressed, ()
    costs = attribute_costs(profile, alone, terms)
    shares = [(cost.without * n_records - 100.0 * n_outside) / n_inside for cost in costs]
    return suppressed, tuple(replace(cost, without=max(share, 0.0)) for cost, share in zip(costs, shares))


def _lost(profile: Profile, suppressed: np.ndarray) -> tuple[ValueLost, ...]:
    """The values that lose more than their share, by how many records more; of equals in the order of the fields."""
    gone, whole, losses = int(suppressed.sum()), profile.n_records, []
    for name, codes, categories in zip(profile.quasi_identifiers, profile.classes.T, profile.categories):
        records, lost = (np.bincount(codes, of, len(categories)) for of in (profile.class_sizes, suppressed))
        for code in to_list(np.flatnonzero(lost * whole > gone * records)):
            value = ValueLost(name, categories[code], int(records[code]), int(lost[code]))
            losses.append((int(lost[code] * whole - gone * records[code]), value))
    return tuple(value for _, value in sorted(losses, key=lambda row: -row[0]))
