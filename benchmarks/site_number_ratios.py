"""Max combinations against entropy over random selections of quasi-identifiers, compared with Croft 2015, section 5.1.

    python benchmarks/site_number_ratios.py [East] [West] [clustering]

runs both parts of the paper, or the one named. The paper averages over six selections in two parts, twelve scenarios;
here an average is one over six selections in the parts named, drawn again and again from those that chance chose, and
what is printed is the median of such averages with the range that holds nine tenths of them. Then the six selections of
`scenarios.SELECTIONS`, picked by hand: their average, and the least and the most of the scenarios. Sites by balanced
density, joined by basic Voronoi, as in the paper; with the word `clustering` by anonymity-driven clustering (2015) as
well, which takes minutes where there are many classes. Points: Statistics Canada, open licence. People: made up
(`scenarios.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import SELECTIONS, random_selections, scenario
from vbas.core.configuration import Configuration, aggregate
from vbas.core.evaluation import Measures, evaluate
from vbas.core.plan import suppress
from vbas.core.site_location import LocationOptions

# Croft 2015, section 5.1: suppression of max combinations in % of entropy's; the others of entropy in % of max
# combinations', averaged over the paper's scenarios.
PUBLISHED = {"suppression": 13.2, "compactness": 48.7, "discernibility": 35.8, "non-uniform entropy": 64.2}
PARTS = ("East", "West")  # Croft 2015, section 4.2
SITE_NUMBERS = ("max combinations", "entropy")
BALANCED, CLUSTERING = "balanced density", "anonymity-driven clustering (2015)"
KS = (3, 5, 10, 20)
N_SELECTIONS = 40
# Of the random selections, those with so many quasi-identifiers at most are shown by themselves: the share suppressed
# hangs on how many classes there are.
FEW_ATTRIBUTES = 4
AVERAGED = 6
N_AVERAGES = 10_000
RANGE = (50, 5, 95)
UNKNOWN = (
    "The papers name neither k, nor the shares of the attributes, nor the selections of quasi-identifiers behind their "
    "averages: they are unknown to us, and agreement or difference here is that of another experiment."
)
Selections = Sequence[tuple[str, ...]]


def ratios(part: str, selection: tuple[str, ...], locations: Sequence[str]) -> np.ndarray:
    """The ratios of one scenario in %, (site locations, ks, measures); NaN where neither suppresses anything."""
    regions, profile = scenario(part, selection)
    values = np.empty((len(locations), len(KS), len(PUBLISHED)))
    for i, location in enumerate(locations):
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
            values[i, j] = _ratios(*rated)
    return values


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


def average_of_all(values: np.ndarray) -> np.ndarray:
    """Mean, least and most over all scenarios, (3, measures). values : (selections, ..., measures)."""
    flat = values.reshape(-1, values.shape[-1])
    return np.array([np.nanmean(flat, axis=0), np.nanmin(flat, axis=0), np.nanmax(flat, axis=0)])


def site_number_ratios(parts: Sequence[str] = PARTS, locations: Sequence[str] = (BALANCED,)) -> None:
    """Print the table: a row for each group of selections, part and k, a column for each measure."""
    drawn, picked = random_selections(N_SELECTIONS), SELECTIONS
    few = [len(selection) <= FEW_ATTRIBUTES for selection in drawn]
    print(f"Max combinations against entropy: {', '.join(parts)}; sites by {', '.join(locations)}; basic Voronoi.")
    print(f"Random selections: {N_SELECTIONS} of 2 to 6 quasi-identifiers, {sum(few)} with at most {FEW_ATTRIBUTES}.")
    print(f"Averages over {AVERAGED} of them, in %: median (5 to 95 % of such averages).")
    print(f"The {len(picked)} picked by hand: their average (least to most of the scenarios).")
    print(UNKNOWN)
    print("\n| selections | part | k | " + " | ".join(PUBLISHED) + " |")
    print("|---|---|---|" + "---|" * len(PUBLISHED))
    print(
        "| Croft 2015, 5.1: six | both | unknown | " + " | ".join(f"{value:.1f}" for value in PUBLISHED.values()) + " |"
    )
    random_ones = _by_part(parts, drawn, locations)
    _print_rows(f"{N_SELECTIONS} random", random_ones, averages_of_six)
    _print_rows(f"{sum(few)} random", {part: values[few] for part, values in random_ones.items()}, averages_of_six)
    _print_rows(f"{len(picked)} picked", _by_part(parts, picked, locations), average_of_all)
    for part, values in random_ones.items():
        suppression = values[..., 0][np.isfinite(values[..., 0])]
        print(f"\n{part}: single random scenarios lie between {suppression.min():.1f} and {suppression.max():.1f} %,")
        print(f"{(suppression >= 100).sum()} of {suppression.size} at 100 % or more;", end=" ")
        print(f"{values[..., 0].size} were run, and in the others neither suppresses anything.")


def _by_part(parts: Sequence[str], selections: Selections, locations: Sequence[str]) -> dict[str, np.ndarray]:
    """The ratios of each part, (selections, site locations, ks, measures)."""
    by_part = {}
    for part in parts:
        rows = []
        for selection in selections:
            rows.append(ratios(part, selection, locations))
            print(f"  {part}: {', '.join(selection)}", file=sys.stderr, flush=True)
        by_part[part] = np.array(rows)
    return by_part


def _print_rows(name: str, by_part: dict[str, np.ndarray], averaged: Callable[[np.ndarray], np.ndarray]) -> None:
    """Rows of each part, and of all parts together: an average is then over each of its selections in each part."""
    together = {"both": np.stack(list(by_part.values()), axis=1)} if len(by_part) > 1 else {}
    for part, values in {**by_part, **together}.items():
        for j, k in enumerate(KS):
            middle, low, high = averaged(values[..., j, :])
            cells = [f"{m:.1f} ({a:.1f} to {b:.1f})" for m, a, b in zip(middle, low, high)]
            print(f"| {name} | {part} | {k} | " + " | ".join(cells) + " |", flush=True)


def main(arguments: list[str]) -> int:
    """Print the table for the parts named, both by default; 1 where the data are absent or a part is unknown."""
    parts = [word for word in arguments if word != "clustering"]
    problem = real_data.problem_with(parts)
    if problem:
        print(problem)
        return 1
    site_number_ratios(parts or PARTS, (BALANCED, CLUSTERING) if "clustering" in arguments else (BALANCED,))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
