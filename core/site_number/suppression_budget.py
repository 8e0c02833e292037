"""Suppression budget: as many regions as keep suppression within what may be lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Callable

from ..elementary import log, power
from ..errors import InputError
from ..language import plural, rounded_up, tr
from ..parameters import BUDGET
from ..profile import Profile
from ..progress import Progress, silent
from ..suppression import FAIR_FACTOR
from .cutoff import class_entropy, releasable_combinations
from .options import DEFAULTS, SiteNumber, SiteNumberOptions

# Of a number of sites, per cent of the records; progress within that one evaluation.
Suppression = Callable[[int, Progress], float]
MOST_EVALUATIONS = 30
GRID = 4  # a number of the first grid per number before it
# How far above the number found a larger one is looked for, as a share of it, and at least so many numbers.
PROBED_SHARE, LEAST_PROBED = 0.1, 8


def suppression_budget(
    profile: Profile,
    identifiers: Sequence[object],
    options: SiteNumberOptions = DEFAULTS,
    suppression: Suppression | None = None,
    progress: Progress = silent,
) -> SiteNumber:
    """The most regions with which at most BUDGET per cent of the records are suppressed at your K, found by trying
    numbers with the chosen location and aggregation; the log says which.

    suppression : what the budget is held against, of a number of sites, by the components that come after.
    Raises InputError for a budget outside 0 to 100, where no number of sites keeps within it, and where nothing can be
    tried.
    """
    BUDGET.check(options.budget)
    if suppression is None:
        raise InputError.saying(
            "SITE_NUMBER “suppression budget” tries numbers of regions, for which it needs the areas: give REGIONS and "
            "REGION_ID, or choose another SITE_NUMBER."
        )
    tried = numbers_tried(suppression, len(identifiers), options.budget, progress)
    n_sites = most_within(tried, options.budget)
    if not n_sites:
        least = min(tried.values())
        raise InputError(
            _with_fair(
                options,
                tr(
                    "BUDGET is {budget:g} %, but at K = {k} it takes at least {least:.3g} %, even with a single "
                    "region: "
                    "allow more, or choose fewer or coarser QUASI_IDENTIFIERS. Nothing is released.",
                    budget=options.budget,
                    k=options.k,
                    least=rounded_up(least),
                ),
            )
        )
    return SiteNumber(
        n_sites,
        n_sites,
        profile.n_records / n_sites,
        class_entropy(profile, options.log_base),
        releasable_combinations(profile, options.k),
        (_note(tried, n_sites, options),),
    )


def most_within(tried: dict[int, float], budget: float) -> int:
    """The largest number whose suppression is within the budget; 0 where none is."""
    return max((number for number, percent in tried.items() if percent <= budget), default=0)


def numbers_tried(
    suppression: Suppression, largest: int, budget: float, progress: Progress = silent, at_least: int = 1
) -> dict[int, float]:
    """The suppression of the numbers tried, at most MOST_EVALUATIONS of 1 to `largest`, in the order tried.

    at_least : a number that is known to be within the budget, to begin at.

    Suppression grows with the number of sites, but not strictly. A grid of numbers brackets the budget, the bracket is
    narrowed to two neighbouring numbers, and numbers above these are tried, thinner the farther up.
    """
    tried: dict[int, float] = {}

    def within(number: int) -> bool:
        if number not in tried:
            done = len(tried) / MOST_EVALUATIONS
            tried[number] = suppression(number, lambda part: progress(done + part / MOST_EVALUATIONS))
        return tried[number] <= budget

    below, above = _bracket(within, largest, at_least if within(at_least) else 1)
    if not below or above is None:
        return tried
    while above - below > 1 and len(tried) < MOST_EVALUATIONS:
        middle = _between(below, above, tried, budget)
        if within(middle):
            below = middle
        else:
            above = middle
    _probe(within, below, largest, tried)
    return tried


def _bracket(within: Callable[[int], bool], largest: int, first: int) -> tuple[int, int | None]:
    """A number within the budget (0 where the grid has none), and the next of the grid, which is not (None: none)."""
    below, number = 0, first
    while True:
        if within(number):
            below = number
        elif below:
            return below, number
        if number == largest:
            return below, None
        number = min(number * GRID, largest)


def _between(below: int, above: int, tried: dict[int, float], budget: float) -> int:
    """Where suppression, as a power of the number, reaches the budget; in the middle every third time."""
    low, high = tried[below], tried[above]
    if low <= 0 or budget <= 0 or high <= low or len(tried) % 3 == 0:
        guess = math.sqrt(below * above)
    else:
        guess = below * float(power(above / below, log(budget / low) / log(high / low)))
    return min(max(math.floor(guess), below + 1), above - 1)


def _probe(within: Callable[[int], bool], below: int, largest: int, tried: dict[int, float]) -> None:
    """Try numbers above one that is within the budget, and above each that is found so."""
    step = 1
    while step <= max(LEAST_PROBED, PROBED_SHARE * below) and below + step <= largest:
        if below + step not in tried and len(tried) >= MOST_EVALUATIONS:
            return
        if within(below + step):
            below, step = below + step, 1
        else:
            step = max(step + 1, math.ceil(1.3 * step))


def _note(tried: dict[int, float], n_sites: int, options: SiteNumberOptions) -> str:
    """The numbers tried, and what each suppresses."""
    numbers = ", ".join(
        tr("{number} ({percent:.3g} %)", number=number, percent=percent) for number, percent in sorted(tried.items())
    )
    if options.fair:
        said = plural(
            "{n} site is the most found within a budget of {budget:g} % at K = {k}: {percent:.3g} %, as the budget "
            "counts. Tried, with per cent counted so: {numbers}.",
            "{n} sites are the most found within a budget of {budget:g} % at K = {k}: {percent:.3g} %, as the budget "
            "counts. Tried, with per cent counted so: {numbers}.",
            n_sites,
            percent=tried[n_sites],
            k=options.k,
            budget=options.budget,
            numbers=numbers,
        )
        return _with_fair(options, said)
    return plural(
        "{n} site suppresses {percent:.3g} % of the records at K = {k}: the most found within a budget of {budget:g} "
        "%. Tried, with per cent suppressed: {numbers}.",
        "{n} sites suppress {percent:.3g} % of the records at K = {k}: the most found within a budget of {budget:g} %. "
        "Tried, with per cent suppressed: {numbers}.",
        n_sites,
        percent=tried[n_sites],
        k=options.k,
        budget=options.budget,
        numbers=numbers,
    )


def _with_fair(options: SiteNumberOptions, said: str) -> str:
    """A sentence, and where groups are kept intact another one on how its per cent are counted."""
    if not options.fair:
        return said
    how = tr(
        "Per cent are those of all records or, if that is more, those of the group of {fair} that loses most, divided "
        "by {fair_factor:g}.",
        fair_factor=FAIR_FACTOR,
        fair=", ".join(options.fair),
    )
    return f"{said} {how}"
