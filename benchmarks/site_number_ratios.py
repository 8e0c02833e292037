"""Max combinations against entropy over random selections of quasi-identifiers, compared with Croft 2015, section 5.1.

    python benchmarks/site_number_ratios.py [East] [West]

The paper averages over its scenarios; here an average is one over six selections, drawn again and again from forty that
chance chose, and what is printed is the median of such averages with the range that holds nine tenths of them. The
configuration is the paper's: sites by balanced density or by anonymity-driven clustering (2015), areas joined by basic
Voronoi. Points: Statistics Canada, open licence. People: made up (`scenarios.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import random_selections, scenario
from vbas.core.configuration import Configuration, aggregate
from vbas.core.evaluation import Measures, evaluate
from vbas.core.plan import suppress
from vbas.core.site_location import LocationOptions

# Croft 2015, section 5.1: suppression of max combinations in % of entropy's; the others of entropy in % of max
# combinations', averaged over the paper's scenarios.
PUBLISHED = {"suppression": 13.2, "compactness": 48.7, "discernibility": 35.8, "non-uniform entropy": 64.2}
SITE_NUMBERS = ("max combinations", "entropy")
SITE_LOCATIONS = ("balanced density", "anonymity-driven clustering (2015)")
KS = (3, 5, 10, 20)
N_SELECTIONS = 40
AVERAGED = 6
N_AVERAGES = 10_000
RANGE = (50, 5, 95)
UNKNOWN = (
    "The papers name neither k, nor the shares of the attributes, nor the selections of quasi-identifiers behind their "
    "averages: they are unknown to us, and agreement or difference here is that of another experiment."
)


def ratios(part: str, selection: tuple[str, ...]) -> np.ndarray:
    """The ratios of one scenario in %, (site locations, ks, measures); NaN where neither suppresses anything."""
    regions, profile = scenario(part, selection)
    ratios_of = np.empty((len(SITE_LOCATIONS), len(KS), len(PUBLISHED)))
    for i, location in enumerate(SITE_LOCATIONS):
        for j, k in enumerate(KS):
            rated = []
            for number in SITE_NUMBERS:
                run = aggregate(
                    regions,
                    profile,
                    Configuration(number, location, "basic Voronoi", location_options=LocationOptions(k=k)),
                )
                rated.append(
                    evaluate(regions, suppress(profile, run.aggregation.crosswalk, k), run.aggregation.sites)[0]
                )
            ratios_of[i, j] = _ratios(*rated)
    return ratios_of


def _ratios(combinations: Measures, entropy: Measures) -> list[float]:
    """In the order of PUBLISHED."""
    return [
        100 * combinations.n_suppressed / entropy.n_suppressed if entropy.n_suppressed else np.nan,
        100 * entropy.compactness / combinations.compactness,
        100 * entropy.discernibility / combinations.discernibility if combinations.discernibility else np.nan,
        100 * entropy.non_uniform_entropy / combinations.non_uniform_entropy,
    ]


def averages_of_six(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Median, 5 % and 95 % of averages over six selections, (3, measures). values : (selections, ..., measures)."""
    rng = np.random.default_rng(seed)
    chosen = np.array([rng.choice(len(values), AVERAGED, replace=False) for _ in range(N_AVERAGES)])
    flat = values.reshape(len(values), -1, values.shape[-1])
    with np.errstate(invalid="ignore"):  # a measure may have no ratio in any of the six
        means = np.nansum(flat[chosen], axis=(1, 2)) / np.isfinite(flat[chosen]).sum(axis=(1, 2))
    return np.nanpercentile(means, RANGE, axis=0)


def site_number_ratios(parts: Sequence[str]) -> None:
    """Print the table: a row for each part, way of placing sites and k, a column for each measure."""
    selections = random_selections(N_SELECTIONS)
    print(f"Max combinations against entropy: {N_SELECTIONS} random selections of 2 to 6 quasi-identifiers.")
    print(
        f"Averages over {AVERAGED} of them, in %: median (5 to 95 % of such averages). Sites joined by basic Voronoi."
    )
    print(UNKNOWN)
    print("\n| part | sites by | k | " + " | ".join(PUBLISHED) + " |")
    print("|---|---|---|" + "---|" * len(PUBLISHED))
    print("| Croft 2015, 5.1 | | unknown | " + " | ".join(f"{value:.1f}" for value in PUBLISHED.values()) + " |")
    for part in parts:
        cases = np.array([ratios(part, selection) for selection in selections])
        for j, k in enumerate(KS):
            _print_row(part, "both", k, cases[:, :, j])
            for i, location in enumerate(SITE_LOCATIONS):
                _print_row(part, location, k, cases[:, i, j])
        _print_row(part, "both", "all", cases)
        undefined = int(np.isnan(cases[..., 0]).sum())
        print(
            f"\n{part}: {undefined} of {cases[..., 0].size} cases suppress nothing either way and count for nothing.\n"
        )


def _print_row(part: str, location: str, k: object, values: np.ndarray) -> None:
    middle, low, high = averages_of_six(values)
    cells = [f"{m:.1f} ({a:.1f} to {b:.1f})" for m, a, b in zip(middle, low, high)]
    print(f"| {part} | {location} | {k} | " + " | ".join(cells) + " |", flush=True)


def main(arguments: list[str]) -> int:
    """Print the table for the parts named, East by default; 1 where the data are absent or a part is unknown."""
    problem = real_data.problem_with(arguments)
    if problem:
        print(problem)
        return 1
    site_number_ratios(tuple(arguments) or ("East",))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
