"""What Croft 2018, Table 4 says of its seven combinations, and how often it holds over random selections.

    python benchmarks/recommended_combinations.py [East] [West]

runs every combination over random selections of quasi-identifiers and prints, for each, the sentence that the toolbox
shows (`Combination.measured`), marking those that no longer fit what was found. Points: Statistics Canada, open
licence. People: made up (`scenarios.py`). Times are CPU seconds, the smallest of three runs where one takes less than a
second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Callable, NamedTuple

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import random_selections, scenario
from vbas.core.areas import Areas
from vbas.core.configuration import RECOMMENDED, Configuration, aggregate
from vbas.core.evaluation import evaluate
from vbas.core.plan import suppress
from vbas.core.profile import Profile

K = 5
# The first twelve of the random selections that have at most so many quasi-identifiers: with more, one anonymity-driven
# clustering takes minutes.
N_SCENARIOS, MOST_ATTRIBUTES = 12, 4
MEASURES = ("suppressed", "compactness", "discernibility", "entropy", "seconds")
ScenarioMeasures = dict[str, np.ndarray]


class Claim(NamedTuple):
    """What is counted: the words for it, and whether it holds in each scenario. found : {measure: (7, scenarios)}."""

    words: str
    holds: Callable[[ScenarioMeasures], np.ndarray]


def _less(measure: str, number: int, other: int) -> Callable[[ScenarioMeasures], np.ndarray]:
    return lambda measures: measures[measure][number - 1] < measures[measure][other - 1]


def _smallest(measure: str, number: int) -> Callable[[ScenarioMeasures], np.ndarray]:
    return lambda measures: measures[measure][number - 1] <= measures[measure].min(axis=0)


def _between(measure: str, number: int, low: int, high: int) -> Callable[[ScenarioMeasures], np.ndarray]:
    return lambda measures: (
        (measures[measure][low - 1] < measures[measure][number - 1])
        & (measures[measure][number - 1] < measures[measure][high - 1])
    )


# By the number of the combination.
CLAIMS = {
    1: Claim("it suppressed less than the all-rounder", _less("suppressed", 1, 2)),
    2: Claim("it suppressed the fewest of the seven", _smallest("suppressed", 2)),
    3: Claim("it lost less information than the all-rounder", _less("discernibility", 3, 2)),
    4: Claim("it was the fastest of the seven", _smallest("seconds", 4)),
    5: Claim("it was the most compact of the seven", _smallest("compactness", 5)),
    6: Claim("it suppressed less than the most compact", _less("suppressed", 6, 5)),
    7: Claim(
        "its suppression was between those of the all-rounder and the most compact", _between("suppressed", 7, 2, 5)
    ),
}


def scenarios() -> list[tuple[str, ...]]:
    """The selections of quasi-identifiers."""
    drawn = random_selections(4 * N_SCENARIOS)
    return [selection for selection in drawn if len(selection) <= MOST_ATTRIBUTES][:N_SCENARIOS]


def rated(regions: Areas, profile: Profile) -> np.ndarray:
    """Each combination's MEASURES, (7, 5)."""
    rows = []
    for combination in RECOMMENDED.values():
        configuration = Configuration(
            combination.site_number, combination.site_location or "balanced density", combination.aggregation
        )
        seconds: list[float] = []
        while not seconds or (len(seconds) < 3 and seconds[0] < 1.0):
            started = time.process_time()
            run = aggregate(regions, profile, configuration)
            seconds.append(time.process_time() - started)
        m, _ = evaluate(regions, suppress(profile, run.aggregation.crosswalk, K), run.aggregation.sites)
        rows.append([m.n_suppressed, m.compactness, m.discernibility, m.non_uniform_entropy, min(seconds)])
    return np.array(rows)


def recommended_combinations(parts: Sequence[str]) -> bool:
    """Print what was found, part by part; whether the toolbox's sentences fit the whole."""
    selections = scenarios()
    print(
        f"The seven combinations over {len(selections)} random selections of 2 to {MOST_ATTRIBUTES} quasi-identifiers,"
    )
    print(f"k = {K}: medians", flush=True)
    everything = []
    for part in parts:
        rows = []
        for selection in selections:
            rows.append(rated(*scenario(part, selection)))
            print(f"  {part}, {', '.join(selection)}: {rows[-1][:, -1].sum():.1f} CPU s", file=sys.stderr, flush=True)
        measures = np.stack(rows, axis=-1)
        everything.append(measures)
        print(f"\n| {part} | suppressed | compactness, km | discernibility | entropy, bits | CPU s |")
        print("|---|---|---|---|---|---|")
        for (name, combination), row in zip(RECOMMENDED.items(), np.median(measures, axis=-1)):
            print(
                f"| {combination.number} {name} | {row[0]:.0f} | {row[1] / 1000:.0f} | {row[2]:.3e} | {row[3]:.3e} | "
                f"{row[4]:.3f} |"
            )
        _print_claims(measures)
        print(_against(measures), flush=True)
    whole = np.concatenate(everything, axis=-1)
    if len(parts) > 1:
        _print_claims(whole)
        print(_against(whole))
    return _fits(whole)


def sentences(measures: np.ndarray) -> dict[int, str]:
    """What the toolbox is to say of each combination. found : (7, measures, scenarios)."""
    by_measure = dict(zip(MEASURES, np.moveaxis(measures, 1, 0)))
    return {
        number: f"{claim.words} in {int(claim.holds(by_measure).sum())} of {measures.shape[-1]}"
        for number, claim in CLAIMS.items()
    }


def _print_claims(measures: np.ndarray) -> None:
    for number, sentence in sentences(measures).items():
        print(f"{number}: {sentence}")


def _against(measures: np.ndarray) -> str:
    """How much the first differs from the second, and the sixth from the fifth, in suppression."""
    texts = []
    for number, other in ((1, 2), (6, 5)):
        a, b = measures[number - 1, 0], measures[other - 1, 0]
        share = 100 * a[b > 0] / b[b > 0]
        low, middle, high = np.percentile(share, (5, 50, 95))
        texts.append(
            f"Suppressed by {number} in % of {other}: median {middle:.1f} ({low:.1f} to {high:.1f}); less in "
            f"{int((a < b).sum())}, more in {int((a > b).sum())}, the same in {int((a == b).sum())} of {len(a)}."
        )
    return "\n".join(texts)


def _fits(measures: np.ndarray) -> bool:
    """Whether the toolbox says what was found; prints what it does not."""
    expected = sentences(measures)
    wrong = [
        combination for combination in RECOMMENDED.values() if combination.measured != expected[combination.number]
    ]
    for combination in wrong:
        print(
            f"core/configuration.py says of {combination.number}: “{combination.measured}”; "
            f"found: “{expected[combination.number]}”."
        )
    if not wrong:
        print("core/configuration.py says the same.")
    return not wrong


def main(arguments: list[str]) -> int:
    """Print the tables for the parts named, East by default; 1 where the data or a part are missing."""
    problem = real_data.problem_with(arguments)
    if problem:
        print(problem)
        return 1
    return 0 if recommended_combinations(tuple(arguments) or ("East",)) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
