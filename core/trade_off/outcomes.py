"""The rows of a searched trade-off: each choice rated as any other outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..configuration import Configuration
from ..errors import Cancelled
from ..evaluation import evaluate, evaluate_by_value, worst_group
from ..generalising import entropy, entropy_given_up, records_by_value
from ..language import as_data, rounded_up, tr
from ..outcome import Outcome
from ..plan import suppress
from ..progress import Progress, silent
from .search import MOST_NODES, Choice, Node, Search

SEARCHED = "suppression budget"  # the site number that each row has
AT_LEVEL, AS_THEY_ARE = as_data("{name} at level {level}"), as_data("attributes as they are")


def trade_off_outcomes(search: Search, progress: Progress = silent, most: int = MOST_NODES) -> list[Outcome]:
    """An outcome for each choice; where no number of regions keeps within the budget, one with a problem.

    Cancelling ends the search with the outcomes so far.
    """
    outcomes: list[Outcome] = []
    records = records_by_value(search.profile)
    started = time.perf_counter()
    try:
        for choice in search.choices(progress, most):
            outcome = _rated(search, choice, records)
            outcomes.append(replace(outcome, seconds=time.perf_counter() - started))
            started = time.perf_counter()
    except Cancelled:
        pass
    return outcomes


def _rated(search: Search, choice: Choice, records: Sequence) -> Outcome:
    names = search.profile.quasi_identifiers
    generalised = tuple((name, level) for name, level in zip(names, choice.node) if level)
    configuration, losses = _configuration(search.configuration, choice), _losses(search, choice.node, records)
    within = tr("at most {budget:g} % at k = {k}", budget=choice.budget, k=choice.k)
    title = " · ".join((configuration.title, within, levels_in_words(generalised)))
    outcome = Outcome(
        SEARCHED,
        title,
        None,
        0.0,
        configuration=configuration,
        k=choice.k,
        budget=choice.budget,
        generalised=generalised,
        losses=losses,
        given_up=_given_up(losses, records),
    )
    if choice.aggregation is None:
        return replace(
            outcome,
            problem=tr("Even with the fewest regions it takes {percent:.3g} %.", percent=rounded_up(choice.percent)),
        )
    crosswalk = choice.aggregation.crosswalk
    plan = suppress(choice.profile, crosswalk, choice.k, search.terms(choice.k, choice.profile).requirement)
    measures, _ = evaluate(search.areas, plan, choice.aggregation.sites, search.n_unmatched)
    worst = worst_group(evaluate_by_value(search.areas, plan), choice.k)
    return replace(outcome, measures=measures, crosswalk=crosswalk, worst=worst)


def levels_in_words(generalised: Sequence[tuple[str, int]], say: Callable[..., str] = tr) -> str:
    """Which attributes are coarser, and how much; say : `tr`, or `as_data` for data."""
    levels = ", ".join(say(AT_LEVEL, name=name, level=level) for name, level in generalised)
    return levels or say(AS_THEY_ARE)


def _configuration(settings: Configuration, choice: Choice) -> Configuration:
    """The configuration of a row, which makes it again."""
    number = replace(settings.number_options, k=choice.k, budget=choice.budget, n_sites=max(choice.n_sites, 1))
    location = replace(settings.location_options, k=choice.k)
    how = replace(settings.aggregation_options, k=choice.k)
    return replace(
        settings, site_number=SEARCHED, number_options=number, location_options=location, aggregation_options=how
    )


def _losses(search: Search, node: Node, records: Sequence) -> tuple[float, ...]:
    """The share of the entropy of each quasi-identifier that a node gives up."""
    return tuple(
        entropy_given_up(search.hierarchies[name], level, of_value) if level else 0.0
        for name, level, of_value in zip(search.profile.quasi_identifiers, node, records)
    )


def _given_up(losses: Sequence[float], records: Sequence) -> float:
    """The share of the entropies of all quasi-identifiers together that is given up."""
    bits = [entropy(of_value) for of_value in records]
    return sum(lost * whole for lost, whole in zip(losses, bits)) / sum(bits) if sum(bits) else 0.0
