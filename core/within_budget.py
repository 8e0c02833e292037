"""An exchange within a suppression budget, held against all that is asked of the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .aggregation import Aggregation, AggregationOptions
from .aggregation.anonymity_exchange import exchanged
from .areas import Areas
from .crosswalk import Crosswalk
from .elementary import norms
from .language import tr
from .profile import Profile
from .progress import Progress, part, silent
from .suppression import Terms, class_weights, held_against_budget, suppressed_by_class

TRIES = 3


def exchanged_within_budget(
    areas: Areas,
    profile: Profile,
    start: Aggregation,
    options: AggregationOptions,
    budget: float,
    fair: Sequence[str],
    terms: Terms,
    progress: Progress = silent,
) -> Aggregation:
    """More compact regions than the start's, within the budget that the start is within.

    budget : per cent of the records that may be suppressed, as `held_against_budget` counts; fair : quasi-identifiers
    whose groups weigh the same in the exchange, and of which no group may lose much more. The exchange knows classes
    below k alone, with `options.period` in each period: where terms ask for more, it is tried again with a smaller
    budget, at most TRIES times in all, and in the end the start is kept. So it is where no regions are more compact.
    """
    n_records = max(profile.n_records, 1)
    percent = (budget * (n_records + terms.n_unmatched) - 100 * terms.n_unmatched) / n_records
    weights = class_weights(profile, fair, terms.k) if fair else None
    if weights is not None:
        # Small groups weigh much: the start is within the budget, even where its loss by weight is above.
        lost = suppressed_by_class(profile, start.crosswalk, terms)
        percent = max(percent, float(100 * (weights * lost).sum() / n_records))
    farthest = _distances(areas, start.crosswalk)
    for attempt in range(TRIES):
        settings = replace(options, k=terms.k, budget=max(percent, 0.0), class_weights=weights)
        step = part(progress, attempt / TRIES, (attempt + 1) / TRIES)
        result = exchanged(areas, profile, start.crosswalk, settings, step)
        held = held_against_budget(profile, suppressed_by_class(profile, result.crosswalk, terms), terms, fair)
        if held <= budget:
            if _distances(areas, result.crosswalk) > farthest:
                break
            progress(1.0)
            return replace(result, notes=(*start.notes, *result.notes))
        percent *= 0.98 * budget / held
    note = tr(
        "Anonymity exchange found no more compact regions within the budget, by all that is asked of a class: the "
        "start is kept."
    )
    return replace(start, notes=(*start.notes, note))


def _distances(areas: Areas, crosswalk: Crosswalk) -> float:
    """The sum of the distances from the areas to the mean centre of their region, metres."""
    inside = crosswalk.region_of >= 0
    centres = crosswalk.mean_centres(areas.points)[crosswalk.region_of[inside]]
    return float(np.sum(norms(areas.points[inside] - centres)))
