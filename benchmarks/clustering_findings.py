"""What moving sites changes: suppression by anonymity-driven clustering, compactness by the aggregations.

Two tables for `paper_tables.py`. Sites start from balanced density everywhere. Times are CPU seconds of one run.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from vbas.benchmarks.scenarios import SELECTIONS, scenario
from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.areas import Areas
from vbas.core.evaluation import evaluate
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.site_location import LocationOptions
from vbas.core.site_number import APPROACHES as SITE_NUMBERS

K = 5
VARIANTS = ("anonymity-driven clustering (2015)", "anonymity-driven clustering")
JOINED_BY = ("basic Voronoi", "iterative Voronoi")
COMPACTNESS = ("basic Voronoi", "iterative Voronoi", "site optimisation")
NUMBERS = ("max combinations (2018)", "entropy")


class PlacedSites(NamedTuple):
    """Records suppressed with each of JOINED_BY, CPU seconds, the notes."""

    suppressed: tuple[int, ...]
    seconds: float
    notes: tuple[str, ...]


def place_sites(regions: Areas, profile: Profile, name: str, n_sites: int) -> PlacedSites:
    """Place sites by one approach, and suppress."""
    started = time.process_time()
    result = LOCATIONS[name](regions, profile, n_sites, LocationOptions(k=K))
    seconds = time.process_time() - started
    joined = (AGGREGATIONS[aggregation](regions, None, result.sites) for aggregation in JOINED_BY)
    rated = (evaluate(regions, suppress(profile, each.crosswalk, K), each.sites)[0] for each in joined)
    return PlacedSites(tuple(measures.n_suppressed for measures in rated), seconds, result.notes)


def suppression_table(parts: tuple[str, ...]) -> None:
    """Anonymity-driven clustering against balanced density, scenario by scenario (Croft 2015, 5.2; Croft 2018, 4.2)."""
    print("\nSuppressed records: balanced density, and in % of it after anonymity-driven clustering")
    print(f"{'':27}{'':>6}{'--- basic Voronoi ---':>30}{'--- iterative Voronoi ---':>30}{'moves':>13}{'CPU s':>15}")
    titles = "".join(f"{title:>10}" for title in ("density", "2015", "2018") * 2)
    print(f"{'scenario':27}{'sites':>6}{titles}{'2015':>6}{'2018':>7}{'2015':>8}{'2018':>7}")
    changes: list[np.ndarray] = []
    for part in parts:
        for selection in range(len(SELECTIONS)):
            regions, profile = scenario(part, selection)
            for number in NUMBERS:
                n_sites = SITE_NUMBERS[number](profile, regions.identifiers).n_sites
                before = place_sites(regions, profile, "balanced density", n_sites)
                after = [place_sites(regions, profile, name, n_sites) for name in VARIANTS]
                percent = np.array(
                    [[100 * s / max(b, 1) for s, b in zip(each.suppressed, before.suppressed)] for each in after]
                )
                changes.append(percent)
                _print_suppression(f"{part} {selection} {number}", n_sites, before, after, percent)
    for name, of_variant in zip(VARIANTS, np.stack(changes, axis=1)):
        for aggregation, values in zip(JOINED_BY, of_variant.T):
            print(
                f"{name}, {aggregation}: less suppression in {np.count_nonzero(values < 100)} of {len(values)} cases, "
                f"more in {np.count_nonzero(values > 100)}, median {np.median(values):.1f} % "
                f"(best {values.min():.1f} %, worst {values.max():.1f} %)"
            )


def _print_suppression(
    name: str, n_sites: int, before: PlacedSites, after: list[PlacedSites], percent: np.ndarray
) -> None:
    columns = "".join(
        f"{suppressed:10d}{percent[0, column]:10.1f}{percent[1, column]:10.1f}"
        for column, suppressed in enumerate(before.suppressed)
    )
    moves = [each.notes[-1].split(" made ")[1].split()[0] for each in after]
    print(
        f"{name:27}{n_sites:6d}{columns}{moves[0]:>6}{moves[1]:>7}{after[0].seconds:8.2f}{after[1].seconds:7.2f}",
        flush=True,
    )


def compactness_table(parts: tuple[str, ...]) -> None:
    """Basic Voronoi, iterative Voronoi and site optimisation (Croft 2018, section 4.3)."""
    print("\nCompactness, sum of distances in km: sites by balanced density")
    print(f"{'':27}{'':>6}{'basic':>11}{'iterative':>11}{'site':>13}{'regions':>17}{'suppressed':>21}{'CPU s':>8}")
    print(
        f"{'scenario':27}{'sites':>6}{'':>22}{'optimisation':>13}{'it.':>11}{'opt.':>6}{'it.':>12}{'opt.':>9}{'opt.':>8}"
    )
    ordered, improved, worse, cases = 0, 0, 0, 0
    for part in parts:
        for selection in range(len(SELECTIONS)):
            regions, profile = scenario(part, selection)
            for number in NUMBERS:
                n_sites = SITE_NUMBERS[number](profile, regions.identifiers).n_sites
                sites = LOCATIONS["balanced density"](regions, profile, n_sites).sites
                rated, seconds = [], 0.0
                for name in COMPACTNESS:
                    started = time.process_time()
                    result = AGGREGATIONS[name](regions, None, sites)
                    seconds = time.process_time() - started
                    rated.append(evaluate(regions, suppress(profile, result.crosswalk, K), result.sites)[0])
                basic, iterative, optimised = rated
                cases += 1
                ordered += optimised.compactness <= iterative.compactness < basic.compactness
                improved += optimised.compactness < iterative.compactness
                worse += optimised.compactness > iterative.compactness
                print(
                    f"{f'{part} {selection} {number}':27}{n_sites:6d}{basic.compactness / 1000:11.0f}"
                    f"{iterative.compactness / 1000:11.0f}{optimised.compactness / 1000:13.0f}"
                    f"{iterative.n_regions:11d}{optimised.n_regions:6d}{iterative.n_suppressed:12d}"
                    f"{optimised.n_suppressed:9d}{seconds:8.2f}",
                    flush=True,
                )
    print(
        f"Site optimisation at least as compact as iterative Voronoi, and that more than basic: {ordered} of {cases} "
        f"cases; site optimisation more compact than iterative Voronoi in {improved}, less in {worse}."
    )
