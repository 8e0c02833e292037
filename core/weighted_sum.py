"""A weighted sum of the objectives: one figure for each outcome, by what the user holds dear."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Callable

from .errors import InputError
from .evaluation import Measures
from .language import tr, written
from .outcome import NESTED, Outcome

# By field of COMPARISON; less is better in each. What is not known is NaN.
OF_MEASURES: dict[str, Callable[[Measures], float]] = {
    "suppression_percent": lambda m: m.suppression_percent,
    "compactness": lambda m: m.compactness,
    "discernibility": lambda m: m.discernibility,
    "non_uniform_entropy": lambda m: m.non_uniform_entropy,
    "mean_distance": lambda m: m.mean_distance,
}
OF_OUTCOMES: dict[str, Callable[[Outcome], float]] = {
    "given_up": lambda outcome: outcome.given_up,
    "worst_group_percent": lambda outcome: math.nan if outcome.worst is None else outcome.worst.percent,
    "seconds": lambda outcome: outcome.seconds,
}
OBJECTIVES = (*OF_MEASURES, *OF_OUTCOMES)
_WEIGHT = re.compile(r"\s*(?P<name>\w+)\s*[=: ]\s*(?P<weight>\S+)\s*")


def weights_of(text: str) -> dict[str, float]:
    """Weights by objective, of a text such as `suppression_percent=3, compactness=1`, none of an empty one.

    Raises InputError for what is no objective, is named twice, or has no weight above 0.
    """
    weights: dict[str, float] = {}
    for typed in filter(str.strip, re.split("[,;]", text)):
        match = _WEIGHT.fullmatch(typed)
        name = match["name"].lower() if match else ""
        weight = _number(match["weight"]) if match else math.nan
        if name not in OBJECTIVES or name in weights or not (weight > 0 and math.isfinite(weight)):
            raise InputError.saying(
                "WEIGHTS has “{typed}”: write objectives, each once and with a weight above 0, such as "
                "suppression_percent=3, compactness=1. There are {objectives}.",
                typed=typed.strip(),
                objectives=", ".join(OBJECTIVES),
            )
        weights[name] = weight
    return weights


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def in_words(weights: Mapping[str, float]) -> str:
    """The weights as they can be typed."""
    return ", ".join(f"{name}={written(f'{weight:g}')}" for name, weight in weights.items())


def with_weighted_sums(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> list[Outcome]:
    """The same outcomes with the weighted sum of their objectives, from 0 to 1, less is better (Croft 2018, 1.3).

    The paper names a weighted sum and leaves open how objectives of different units are brought together. Here each is
    taken as a share of the largest value among the outcomes of the same k and kind (nested or not), so that twice as
    much counts twice, and what hardly differs between outcomes hardly counts; a largest value of 0 makes all shares 0.
    Weights count by their proportions. None without weights, for an outcome that failed or releases nothing, and where
    an objective is not known.
    """
    if not weights:
        return list(outcomes)
    values = [_values(outcome, weights) for outcome in outcomes]
    largest: dict[tuple[int, bool], list[float]] = {}
    for outcome, of in zip(outcomes, values):
        if of is not None:
            before = largest.get(group_of(outcome), [0.0] * len(of))
            largest[group_of(outcome)] = [max(pair) for pair in zip(before, of)]
    total = sum(weights.values())
    summed = []
    for outcome, of in zip(outcomes, values):
        weighted_sum = None
        if of is not None:
            shares = [value / most if most else 0.0 for value, most in zip(of, largest[group_of(outcome)])]
            weighted_sum = sum(weight * share for weight, share in zip(weights.values(), shares)) / total
        summed.append(replace(outcome, weighted_sum=weighted_sum))
    return summed


def group_of(outcome: Outcome) -> tuple[int, bool]:
    """The outcomes that one is held against: those of its k, nested releases by themselves."""
    return outcome.k, outcome.family == NESTED


def best_by_weights(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcome with the least weighted sum of each group, in the order of the outcomes; of equals the first."""
    best: dict[tuple[int, bool], tuple[float, Outcome]] = {}
    for outcome in outcomes:
        if outcome.weighted_sum is not None:
            least = best.get(group_of(outcome))
            if least is None or outcome.weighted_sum < least[0]:
                best[group_of(outcome)] = outcome.weighted_sum, outcome
    return [outcome for _, outcome in best.values()]


def best_sentences(outcomes: Sequence[Outcome], weights: Mapping[str, float]) -> list[str]:
    """For log and report: which outcome is best by the weights, and whether it is on the Pareto front."""
    return [_best_sentence(outcome, weights) for outcome in best_by_weights(outcomes)]


def _best_sentence(outcome: Outcome, weights: Mapping[str, float]) -> str:
    words = {"weights": in_words(weights), "k": outcome.k, "name": outcome.name, "weighted_sum": outcome.weighted_sum}
    if outcome.family == NESTED:
        best = tr(
            "By your weights ({weights}) the best nested release at k = {k} is “{name}”: {weighted_sum:.3g}.", **words
        )
    else:
        best = tr("By your weights ({weights}) the best row at k = {k} is “{name}”: {weighted_sum:.3g}.", **words)
    if outcome.pareto:
        return f"{best} {tr('It is on the Pareto front.')}"
    front = tr(
        "It is not on the Pareto front: another row is at least as good in suppression, mean distance and what the "
        "attributes give up, and better in one."
    )
    return f"{best} {front}"


def _values(outcome: Outcome, weights: Mapping[str, float]) -> list[float] | None:
    """The objectives of an outcome in the order of the weights; None where one is not known, or nothing is released."""
    m = outcome.measures
    if m is None or m.n_suppressed == m.n_records or not m.n_regions:
        return None
    values = [float(OF_MEASURES[name](m) if name in OF_MEASURES else OF_OUTCOMES[name](outcome)) for name in weights]
    return None if any(map(math.isnan, values)) else values
