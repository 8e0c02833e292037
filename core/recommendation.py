"""Which of several outcomes to choose, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from . import counted
from .elementary import log
from .generalising import entropy
from .language import plural, rounded_up, tr
from .outcome import Outcome
from .profile import Profile

SMALLEST_SHARE = 1e-9  # in place of nothing, whose logarithm there is not


def balance(outcome: Outcome, profile: Profile) -> float:
    """How well what an outcome keeps is balanced, the larger the better: a sum of logarithms, at most 0.

    Kept are, of all records, those released; of the place, its entropy less what it takes to guess an area from its
    region (Croft 2015, Eqs. 22, 23); of each quasi-identifier, its entropy less what is given up. The product of these
    shares is largest where none gains at too high a cost of another (the bargaining solution of Nash 1950): an
    attribute that is given up whole, or a single region, is only recommended where nothing else is left.
    """
    m = outcome.measures
    if m is None:
        return -math.inf
    shares = [
        1.0 - m.suppression_percent / 100.0,
        place_kept(outcome, profile),
        *(1.0 - lost for lost in outcome.losses),
    ]
    return sum(float(log(max(share, SMALLEST_SHARE))) for share in shares)


def place_kept(outcome: Outcome, profile: Profile) -> float:
    """The share of what the area of a record tells that its region still tells, 0 to 1."""
    place, m = entropy(profile.area_sizes), outcome.measures
    if m is None or not place or not profile.n_records:
        return 0.0
    return min(max(1.0 - m.non_uniform_entropy / profile.n_records / place, 0.0), 1.0)


def with_recommendation(
    outcomes: Sequence[Outcome], profile: Profile, k: int, budget: float
) -> tuple[list[Outcome], str]:
    """The same outcomes, one of them recommended, and the reason in a sentence, or why there is none.

    Of the outcomes of the Pareto front of one level at this k that suppress at most so many per cent it is the one
    whose `balance` is best; of equals the first.
    """
    asked = [o for o in outcomes if o.configuration is not None and o.k == k and o.pareto]
    percents = [(o.measures.suppression_percent, o) for o in asked if o.measures is not None]
    within = [o for percent, o in percents if percent <= budget]
    if not within:
        least = min((percent for percent, _ in percents), default=None)
        return list(outcomes), _nothing(k, budget, least)
    best = max(within, key=lambda outcome: balance(outcome, profile))
    reason = f"{_recommended(best, profile)} {_why(len(within), k, budget)}"
    return [replace(o, recommended=reason if o is best else "") for o in outcomes], reason


def _nothing(k: int, budget: float, least: float | None) -> str:
    if least is None:
        return tr(
            "Nothing is recommended: no row at K = {k} suppresses at most {budget:g} % of the records. Allow more, or "
            "let attributes be coarser (HIERARCHIES, HIERARCHY_RULES).",
            k=k,
            budget=budget,
        )
    return tr(
        "Nothing is recommended: no row at K = {k} suppresses at most {budget:g} % of the records; the least is "
        "{least:.3g} %. Allow more, or let attributes be coarser (HIERARCHIES, HIERARCHY_RULES).",
        k=k,
        budget=budget,
        least=rounded_up(least),
    )


def _recommended(best: Outcome, profile: Profile) -> str:
    m = best.measures
    return tr(
        "Recommended is “{name}” ({regions}, {suppressed:.3g} % suppressed): it keeps {place:.0f} % of what the "
        "place of "
        "a record tells and {attributes:.0f} % of what the attributes tell.",
        name=best.name,
        regions=counted.regions(m.n_regions if m else 0),
        suppressed=m.suppression_percent if m else 0.0,
        place=100 * place_kept(best, profile),
        attributes=100 * (1 - best.given_up),
    )


def _why(n_within: int, k: int, budget: float) -> str:
    return plural(
        "It is the only row of the Pareto front at K = {k} that suppresses at most {budget:g} %.",
        "Of the {n} rows of the Pareto front at K = {k} that suppress at most {budget:g} % it balances best what is "
        "kept of the records, of the place and of each attribute.",
        n_within,
        k=k,
        budget=budget,
    )
