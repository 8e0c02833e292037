"""The papers' comparisons, run again at their scale: real points of dissemination areas, generated people.

    python benchmarks/paper_tables.py [East] [West]

needs the package vbas on the path (PYTHONPATH=build/package, made by scripts/setup), GDAL's Python module and the
folder of real data next to the checkout (or where the environment variable VBAS_DATA points). Naming a part of Canada
runs that part alone. Points: Statistics Canada, open licence. People: made up (`scenarios.py`).

Each table is a function that takes the parts and prints; TABLES lists them.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from vbas.benchmarks import real_data
from vbas.benchmarks.best_approaches import best_approaches
from vbas.benchmarks.clustering_findings import compactness_table, suppression_table
from vbas.benchmarks.scenarios import SELECTIONS, scenario
from vbas.benchmarks.transport_findings import suppression_by_limit, transport_findings
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.evaluation import Measures, evaluate
from vbas.core.plan import suppress
from vbas.core.profile import Profile

K = 5
PARTS = ("East", "West")  # Croft 2015, section 4.2


class Rated(NamedTuple):
    """What one configuration gave."""

    n_sites: int
    measures: Measures
    seconds: float


def rate(regions: Areas, profile: Profile, configuration: Configuration) -> Rated:
    """Run a configuration and measure it at K."""
    run = aggregate(regions, profile, configuration)
    measures, _ = evaluate(regions, suppress(profile, run.aggregation.crosswalk, K), run.aggregation.sites)
    return Rated(run.number.n_sites, measures, sum(run.seconds.values()))


def site_number_table(parts: tuple[str, ...]) -> None:
    """Max combinations against entropy in single scenarios; `site_number_ratios.py` compares with the paper."""
    print(f"Site numbers: balanced density, iterative Voronoi, k = {K}, natural logarithm")
    print(f"{'':37}{'':>9}{'sup-':>10}{'':>9}{'compact-':>12}{'discerni-':>12}{'non-uniform':>13}{'':>9}")
    print(
        f"{'scenario':37}{'sites':>9}{'pressed':>10}{'%':>9}{'ness, km':>12}{'bility':>12}{'entropy':>13}{'seconds':>9}"
    )
    for part in parts:
        for number, selection in enumerate(SELECTIONS):
            regions, profile = scenario(part, number)
            print(
                f"{part} {number}: {', '.join(selection)} "
                f"({len(regions)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes)"
            )
            combinations, entropy = (
                rate(regions, profile, Configuration(site_number=name))
                for name in ("max combinations (2018)", "entropy")
            )
            _print_rated("  max combinations", combinations)
            _print_rated("  entropy", entropy)


def _print_rated(name: str, rated: Rated) -> None:
    measures = rated.measures
    print(
        f"{name:37}{rated.n_sites:9d}{measures.n_suppressed:10d}{measures.suppression_percent:9.3f}"
        f"{measures.compactness / 1000:12.0f}{measures.discernibility:12.3e}{measures.non_uniform_entropy:13.3e}"
        f"{rated.seconds:9.2f}",
        flush=True,
    )


def best_approaches_table(parts: tuple[str, ...]) -> None:
    """Croft 2018, Table 3: four selections of quasi-identifiers in each part, every configuration."""
    print("\nThe best approach in each measure (Croft 2018, Table 3)")
    best_approaches(parts, (0, 1, 2, 3))


def transport_table(parts: tuple[str, ...]) -> None:
    """Croft 2018, Figure 2: the transport heuristics at every limit, and how suppression follows it."""
    transport_findings(parts)
    for part in parts:
        suppression_by_limit(part)


TABLES = (site_number_table, suppression_table, compactness_table, transport_table, best_approaches_table)


def main(arguments: list[str]) -> int:
    """Print every table; 1 where the data are absent or a part is unknown."""
    problem = real_data.problem_with(arguments)
    if problem:
        print(problem)
        return 1
    for table in TABLES:
        table(tuple(arguments) or PARTS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
