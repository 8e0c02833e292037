"""What anonymity exchange suppresses at equal compactness, against the papers' 38 configurations over all numbers of
regions, and the time it takes.

    PYTHONPATH=build/package .venv/bin/python benchmarks/anonymity_exchange.py [Winnipeg] [East] [California] [city]
        [--budgets 0.5 1 2 5 10] [--ratio 1.3] [--points FOLDER]

runs every configuration with every number of regions of a geometric grid (a number, and the next `ratio` times as
large); the front is what none of them beats in both suppression and compactness, with powers between its points. Then,
for each budget, the start (balanced density and iterative Voronoi with the number of sites that “suppression budget”
finds) and the exchange from there with that budget. Compactness is the sum of the distances from the areas to the site
of their region; for the exchange sites are mean centres. The mean distance of a person to the middle of the region is
held against that of the front's configurations too, at equal suppression. Areas: open statistics, and the demonstration
city; records: made up. k = 5. Times are CPU seconds of the exchange alone. What the configurations gave is kept in the
folder `--points`, if one is given, and read from there the next time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.best_approaches import AGGREGATIONS, CAPACITY_FACTORS
from vbas.benchmarks.nested_release import CITY, city
from vbas.benchmarks.nested_rivals import SITE_LOCATIONS
from vbas.benchmarks.peers import place
from vbas.core.aggregation import Aggregation, AggregationOptions
from vbas.core.aggregation.anonymity_exchange import exchanged
from vbas.core.areas import Areas
from vbas.core.comparison import configurations_of
from vbas.core.configuration import Configuration, LocatedSites, aggregate
from vbas.core.evaluation import evaluate
from vbas.core.neighbours import neighbours_of
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.site_number import SiteNumberOptions

K = 5
DATA_SETS = {"Winnipeg": "Winnipeg", "East": "East of Canada", "California": "California", "city": ""}
BUDGETS = (0.5, 1.0, 2.0, 5.0, 10.0)
RATIO, FEWEST, BEYOND = 1.3, 4, 2.0
LESS_TARGET, SECONDS_TARGET = 15.0, 60.0


@dataclass(frozen=True)
class Point:
    """What a division gives: per cent suppressed, compactness and mean distance in metres, its regions."""

    percent: float
    compactness: float
    mean_distance: float
    n_regions: int


def point(areas: Areas, profile: Profile, aggregation: Aggregation) -> Point:
    measures, _ = evaluate(areas, suppress(profile, aggregation.crosswalk, K), aggregation.sites)
    return Point(measures.suppression_percent, measures.compactness, measures.mean_distance, measures.n_regions)


def papers_points(areas: Areas, profile: Profile, ratio: float, most: float) -> list[Point]:
    """Every configuration with every number of regions, until even the least suppressed is far beyond `most`."""
    configurations = configurations_of(
        ("given number",), SITE_LOCATIONS, AGGREGATIONS, CAPACITY_FACTORS, Configuration()
    )
    points: list[Point] = []
    for n_sites in np.unique(np.geomspace(FEWEST, len(areas), grid_size(len(areas), ratio)).astype(int)).tolist():
        located: LocatedSites = {}
        for configuration in configurations:
            given = replace(configuration, number_options=SiteNumberOptions(n_sites=n_sites))
            points.append(point(areas, profile, aggregate(areas, profile, given, located=located).aggregation))
        if min(own_point.percent for own_point in points[-len(configurations) :]) > BEYOND * most:
            break
    return points


def kept_points(file: Path | None, areas: Areas, profile: Profile, ratio: float, most: float) -> list[Point]:
    """The same, read from a file, or written to it where it is not there."""
    if file is not None and file.is_file():
        return [Point(**kept) for kept in json.loads(file.read_text(encoding="utf-8"))]
    points = papers_points(areas, profile, ratio, most)
    if file is not None:
        file.write_text(json.dumps([asdict(own_point) for own_point in points]), encoding="utf-8")
    return points


def grid_size(n_areas: int, ratio: float) -> int:
    return 1 + int(np.ceil(np.log(n_areas / FEWEST) / np.log(ratio)))


@dataclass(frozen=True)
class Front:
    """What no point beats in suppression and a length, as logarithms by ascending length."""

    length: np.ndarray
    percent: np.ndarray

    def percent_at(self, length: float) -> float:
        return float(np.exp(np.interp(np.log(length), self.length, self.percent)))

    def length_at(self, percent: float) -> float:
        if not len(self.percent):
            return float("nan")
        return float(np.exp(np.interp(-np.log(percent), -self.percent, self.length)))


def front_of(points: Sequence[Point], measure: str) -> Front:
    kept: list[tuple[float, float]] = []
    for own_point in sorted(points, key=lambda own_point: (getattr(own_point, measure), own_point.percent)):
        if own_point.percent > 0 and getattr(own_point, measure) > 0 and (not kept or own_point.percent < kept[-1][1]):
            kept.append((getattr(own_point, measure), own_point.percent))
    return Front(*np.log(np.array(kept).reshape(-1, 2)).T)


def rows(name: str, budgets: Sequence[float], ratio: float, folder: Path | None) -> list[tuple[float, float]]:
    """Print the table of a data set; per cent less suppressed, and CPU seconds, by budget."""
    areas, profile = city(CITY) if name == "city" else place(DATA_SETS[name])
    areas = replace(areas, neighbours=neighbours_of(areas))
    file = None if folder is None else folder / f"{name}.json"
    points = kept_points(file, areas, profile, ratio, max(budgets))
    compact, distant = front_of(points, "compactness"), front_of(points, "mean_distance")
    print(
        f"\n{name}: {len(areas)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes; the papers' "
        f"configurations at {len(points)} points, {len(compact.length)} of them on the front\n"
        "| budget | start: regions, suppressed | exchange: regions, suppressed | compactness, km | the front "
        "suppresses there | less suppressed | more compact, equally suppressed | mean distance, m | of the front's | "
        "CPU s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    reached = []
    for budget in budgets:
        options = SiteNumberOptions(budget=budget, k=K)
        run = aggregate(areas, profile, Configuration("suppression budget", number_options=options))
        begun = point(areas, profile, run.aggregation)
        started = time.process_time()
        result = exchanged(areas, profile, run.aggregation.crosswalk, AggregationOptions(k=K, budget=budget))
        seconds = time.process_time() - started
        end = point(areas, profile, result)
        there = compact.percent_at(end.compactness)
        less = 100 * (1 - end.percent / there)
        shorter = 100 * (1 - end.compactness / compact.length_at(end.percent))
        share = 100 * end.mean_distance / distant.length_at(end.percent)
        reached.append((less, seconds))
        print(
            f"| {budget:g} % | {begun.n_regions}, {begun.percent:.3f} % | {end.n_regions}, {end.percent:.3f} % | "
            f"{end.compactness / 1000:.0f} | {there:.3f} % | {less:.1f} % | {shorter:.1f} % | "
            f"{end.mean_distance:.0f} | {share:.0f} % | {seconds:.1f} |",
            flush=True,
        )
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *DATA_SETS], default=[])
    parser.add_argument("--budgets", type=float, nargs="+", default=BUDGETS)
    parser.add_argument("--ratio", type=float, default=RATIO)
    parser.add_argument("--points", type=Path)
    given = parser.parse_args()
    names = given.names or list(DATA_SETS)
    if not real_data.available() and names != ["city"]:
        sys.exit(f"The folder of real data is not at {real_data.DATA}: set VBAS_DATA to where it is.")
    reached = {name: rows(name, given.budgets, given.ratio, given.points) for name in names}
    less = [share for of_name in reached.values() for share, _ in of_name]
    print("\n| | target | measured | reached |\n|---|---|---|---|")
    median, least = float(np.median(less)), min(less)
    print(f"| less suppressed, median | {LESS_TARGET:g} % | {median:.1f} % | {said(median >= LESS_TARGET)} |")
    print(f"| less suppressed, everywhere | 0 % | at least {least:.1f} % | {said(least >= 0)} |")
    if "East" in reached:
        longest = max(seconds for _, seconds in reached["East"])
        print(f"| CPU s in East | {SECONDS_TARGET:g} | {longest:.1f} | {said(longest <= SECONDS_TARGET)} |")


def said(yes: bool) -> str:
    return "yes" if yes else "no"


if __name__ == "__main__":
    main()
