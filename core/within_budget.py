"""An exchange within a suppression budget, held against all that is asked of the release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from .aggregation import Aggregation, AggregationOptions
from .aggregation.anonymity_exchange import exchanged
from .areas import Areas
from .language import tr
from .profile import Profile
from .progress import Progress, part, silent
from .suppression import Terms, class_weights, held_against_budget, suppressed_by_class

TRIES = 3
# Of classes that are the same in all periods: how many times k in each period, on average, hold in most cases, and
# which share of the budget is then kept, both by trial on made-up years (benchmarks/over_time.py).
ENOUGH_IN_ALL, OF_BUDGET = 1.4, 0.55


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
    below k alone: where terms ask for more, it is tried again with a smaller budget, at most TRIES times in all, and in
    the end the start is kept. Of classes that are the same in all periods it knows those of all periods together.
    """
    n_records = max(profile.n_records, 1)
    percent = (budget * (n_records + terms.n_unmatched) - 100 * terms.n_unmatched) / n_records
    counted, k, notes = _by_all_periods(profile, terms)
    if counted is not profile:
        percent *= OF_BUDGET
    weighed = [name for name in fair if name in counted.quasi_identifiers]
    weights = class_weights(counted, weighed, k) if weighed else None
    for attempt in range(TRIES):
        settings = replace(options, k=k, budget=max(percent, 0.0), class_weights=weights)
        step = part(progress, attempt / TRIES, (attempt + 1) / TRIES)
        result = exchanged(areas, counted, start.crosswalk, settings, step)
        held = held_against_budget(profile, suppressed_by_class(profile, result.crosswalk, terms), terms, fair)
        if held <= budget:
            progress(1.0)
            return replace(result, notes=(*start.notes, *(notes or result.notes)))
        percent *= 0.98 * budget / held
    note = tr(
        "Anonymity exchange found no regions within the budget, by all that is asked of a class: the start is kept."
    )
    return replace(start, notes=(*start.notes, note))


def _by_all_periods(profile: Profile, terms: Terms) -> tuple[Profile, int, tuple[str, ...]]:
    """What the exchange counts, the smallest class of that, and what is said of it where it is not the release's."""
    series = None if terms.requirement is None else terms.requirement.series
    if series is None:
        return profile, terms.k, ()
    k = math.ceil(ENOUGH_IN_ALL * terms.k * series.n_periods)
    note = tr(
        "Anonymity exchange, over all periods together, by classes below {k}: whether k holds in each period is "
        "counted afterwards.",
        k=k,
    )
    return series.base, k, (note,)
