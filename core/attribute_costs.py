"""Which attribute costs what: what a crosswalk would suppress without a quasi-identifier, or with it coarser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .crosswalk import Crosswalk
from .dataclass import dataclass
from .generalising import Hierarchy, entropy_given_up, generalise_profile, records_by_value
from .language import tr
from .profile import Profile
from .suppression import Terms, suppressed_by_class, suppression_percent

SAID = 2  # attributes named in a sentence
ROUNDED = 1e-9  # per cent that rounding alone makes


@dataclass(frozen=True)
class AttributeCost:
    """What one quasi-identifier costs: per cent of the records that are suppressed without it, and one level coarser.

    coarser : None where it has no coarser level; given_up : the share of its entropy that this level gives up
    """

    quasi_identifier: str
    without: float
    coarser: float | None = None
    given_up: float | None = None


def attribute_costs(
    profile: Profile,
    crosswalk: Crosswalk,
    terms: Terms,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> list[AttributeCost]:
    """What each quasi-identifier costs with these regions, in the order of the profile.

    profile, crosswalk : of the same areas; hierarchies : by quasi-identifier, of its categories in this profile
    """
    names, known = profile.quasi_identifiers, hierarchies or {}
    records = records_by_value(profile) if known else ()
    costs = []
    for position, name in enumerate(names):
        without = _percent(profile, crosswalk, terms, _classes_without(profile, position))
        coarser = given_up = None
        hierarchy = known.get(name)
        if hierarchy is not None and len(hierarchy) > 1:
            node = [int(other == name) for other in names]
            coarser = _percent(profile, crosswalk, terms, generalise_profile(profile, {name: hierarchy}, node)[1])
            given_up = entropy_given_up(hierarchy, 1, records[position])
        costs.append(AttributeCost(name, without, coarser, given_up))
    return costs


def cost_sentence(percent: float, costs: Sequence[AttributeCost], suppressed: float | None = None) -> str:
    """The attributes that cost most, in a sentence; percent : suppressed with these regions and all as they are;
    suppressed : by the release in truth, where that may be more, such as beside earlier releases."""
    dearest = sorted(costs, key=lambda cost: cost.without)[:SAID]
    parts = [
        tr("without “{quasi_identifier}” {without:.3g} %", quasi_identifier=cost.quasi_identifier, without=cost.without)
        for cost in dearest
        if cost.without < percent
    ]
    eased = [
        (cost.coarser, cost.quasi_identifier) for cost in costs if cost.coarser is not None and cost.coarser < percent
    ]
    parts += [
        tr("with “{name}” one level coarser {coarser:.3g} %", name=name, coarser=coarser)
        for coarser, name in sorted(eased)[:SAID]
    ]
    if not parts:
        parts = [tr("leaving out one quasi-identifier alone would spare none")]
    if suppressed is not None and suppressed > percent + ROUNDED:
        return tr(
            "Were nothing published yet, {percent:.3g} % of the records would be suppressed with these regions; "
            "{parts}.",
            percent=percent,
            parts=", ".join(parts),
        )
    return tr(
        "With these regions {percent:.3g} % of the records are suppressed; {parts}.",
        percent=percent,
        parts=", ".join(parts),
    )


def _percent(profile: Profile, crosswalk: Crosswalk, terms: Terms, coarser: np.ndarray) -> float:
    return suppression_percent(profile, suppressed_by_class(profile, crosswalk, terms, coarser), terms)


def _classes_without(profile: Profile, position: int) -> np.ndarray:
    """The class of each class without one quasi-identifier, (C,) int64."""
    names = profile.quasi_identifiers
    return profile.combinations([*names[:position], *names[position + 1 :]])[0]
