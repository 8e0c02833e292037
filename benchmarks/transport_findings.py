"""The comparison of the two transport heuristics (Croft 2018, section 4.4 and figure 2), without a run left out.

    python benchmarks/transport_findings.py [East] [West] [Centre]

needs the package installed (pip install -e .), GDAL's Python module and the folder of real data (see real_data.py).
Points: Statistics Canada, open licence. People: made up (scenarios.py). The paper left out Western Canada with
entropy at four of five limits, since each run of the alternating heuristic took more than 10 hours.

East takes half a minute, West two minutes, Centre four.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import NamedTuple

from vbas.benchmarks import real_data
from vbas.benchmarks.scenarios import LARGE_SELECTION, SELECTIONS, scenario
from vbas.core.aggregation import APPROACHES, AggregationOptions
from vbas.core.areas import Areas
from vbas.core.evaluation import Measures, evaluate
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.site_number import APPROACHES as SITE_NUMBERS
from vbas.core.site_number import SiteNumberOptions

K = 5
PARTS = ("East", "West", "Centre")
FACTORS = (1.0, 1.2, 2.0, 5.0, 0.0)
HEURISTICS = ("alternating location-allocation", "transportation-location")
GAP_LIMIT = 1e-12
SECONDS_LIMIT = {"East": 120.0, "West": 120.0, "Centre": 300.0}
MEGABYTES_LIMIT = 2048.0


class Rated(NamedTuple):
    """What one run gave: measures, CPU seconds, the largest relative gap of its allocations, why it ended."""

    measures: Measures
    seconds: float
    gap: float
    note: str


def rate(regions: Areas, profile: Profile, heuristic: str, n_sites: int, factor: float) -> Rated:
    """Run one heuristic and measure it at K."""
    started = time.process_time()
    result = APPROACHES[heuristic](regions, None, n_sites, AggregationOptions(capacity_factor=factor))
    seconds = time.process_time() - started
    measures, _ = evaluate(regions, suppress(profile, result.crosswalk, K), result.sites)
    gap = float(result.notes[1].split("relative gap of ")[1].split()[0].rstrip("."))
    return Rated(measures, seconds, gap, result.notes[0].split(" ended after ")[1].rstrip("."))


def transport_findings(parts: tuple[str, ...] = PARTS, selection: int = LARGE_SELECTION) -> None:
    """Print a table for each part and site number, then what the paper found and whether it shows here."""
    for part in parts:
        regions, profile = scenario(part, selection)
        print(
            f"\n{part}: {len(regions)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes, k = {K}",
            flush=True,
        )
        for number in ("max combinations (2018)", "entropy"):
            n_sites = SITE_NUMBERS[number](profile, regions.identifiers, SiteNumberOptions()).n_sites
            print(f"{number}, {n_sites} sites")
            table = {
                (heuristic, factor): _rated_row(part, regions, profile, heuristic, n_sites, factor)
                for heuristic in HEURISTICS
                for factor in FACTORS
            }
            _print_findings(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of the process, records included: {peak:.0f} MB; no run left out.")


def suppression_by_limit(part: str = "East") -> None:
    """Print how suppression follows the limit in each selection of quasi-identifiers: no rule holds for all."""
    print(f"\n{part}, alternating location-allocation: % suppressed at factor " + ", ".join(map(_limit, FACTORS)))
    for selection, names in enumerate(SELECTIONS):
        regions, profile = scenario(part, selection)
        for number in ("max combinations (2018)", "entropy"):
            n_sites = SITE_NUMBERS[number](profile, regions.identifiers, SiteNumberOptions()).n_sites
            rated = [rate(regions, profile, HEURISTICS[0], n_sites, factor).measures for factor in FACTORS]
            lost = [measures.n_suppressed for measures in rated]
            steps = {(later > earlier) - (later < earlier) for earlier, later in zip(lost, lost[1:])} - {0}
            way = "falls and rises" if len(steps) > 1 else "rises" if 1 in steps else "falls"
            shares = "".join(f"{measures.suppression_percent:9.4f}" for measures in rated)
            print(f"  {', '.join(names):58}{number:17}{n_sites:5d}{shares}  {way} as the limit loosens", flush=True)


def _rated_row(part: str, regions: Areas, profile: Profile, heuristic: str, n_sites: int, factor: float) -> Rated:
    if factor == FACTORS[0]:
        heads = f"{'suppressed':>11}{'%':>8}{'compactness, km':>17}{'discernibility':>16}{'CPU s':>8}{'gap':>10}"
        print(f"  {heuristic:33}{heads}")
    rated = rate(regions, profile, heuristic, n_sites, factor)
    measures = rated.measures
    print(
        f"    {_limit(factor):31}{measures.n_suppressed:11d}"
        f"{measures.suppression_percent:8.3f}{measures.compactness / 1000:17.0f}{measures.discernibility:16.4e}"
        f"{rated.seconds:8.2f}{rated.gap:10.1e}  {rated.note}",
        flush=True,
    )
    if rated.gap > GAP_LIMIT:
        raise SystemExit(f"The gap is {rated.gap:.1e}, but must be at most {GAP_LIMIT:.0e}.")
    if rated.seconds > SECONDS_LIMIT[part]:
        print(f"    LATE: more than the {SECONDS_LIMIT[part]:.0f} s that were set")
    return rated


def _print_findings(table: dict[tuple[str, float], Rated]) -> None:
    """The paper's findings on one site number, each with the numbers it rests on."""
    for heuristic in HEURISTICS:
        compact = [table[heuristic, factor].measures.compactness for factor in FACTORS]
        loosening = ", ".join(f"{value / compact[0]:.3f}" for value in compact)
        rising = all(later <= 1.005 * earlier for earlier, later in zip(compact, compact[1:]))
        print(f"    {heuristic}: more compact as the limit loosens (within 0.5 %): {_word(rising)} ({loosening})")
        lost = [table[heuristic, factor].measures.n_suppressed for factor in FACTORS]
        steps = [(later > earlier) - (later < earlier) for earlier, later in zip(lost, lost[1:])]
        print(
            f"    {heuristic}: a tighter limit does not always suppress less: {_word(-1 in steps)}; "
            f"suppression goes both up and down as it loosens: {_word({1, -1} <= set(steps))}"
        )
    ratios = [
        table[HEURISTICS[1], factor].measures.compactness / table[HEURISTICS[0], factor].measures.compactness
        for factor in FACTORS
    ]
    note = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    meet = all(abs(ratio - 1) <= 0.02 for ratio in ratios[2:])
    print(f"    the two meet from factor 2 up (within 2 %): {_word(meet)} (compactness of the second / first: {note})")


def _limit(factor: float) -> str:
    return format(factor, "g") if factor else "unlimited"


def _word(holds: bool) -> str:
    return "yes" if holds else "NO"


def main(arguments: list[str]) -> int:
    """Print the findings for the parts named, or all; 1 where the data are absent or a part is unknown."""
    unknown = [part for part in arguments if part not in PARTS]
    if unknown:
        print(f"Unknown: {', '.join(unknown)}; choose from {', '.join(PARTS)}.")
        return 1
    if not real_data.available():
        print(f"No real data in {real_data.DATA}: nothing to compare.")
        return 1
    transport_findings(tuple(arguments) or PARTS)
    suppression_by_limit()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
