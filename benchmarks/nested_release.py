"""What nested levels of regions give, against one level, a plain rule and the exact optimum; and what they take.

    PYTHONPATH=build/package .venv/bin/python benchmarks/nested_release.py [Winnipeg] [East] [California] [city]
        [city-6] [--only suppression distance exact rule two-levels reading scale parts] [--classes 200]

prints one table per claim, over the data sets named and of the claims named, by default all of them; `--classes` says
how many classes are compared with the exact optimum, which takes HiGHS up to SECONDS each. Areas: open statistics, and
the demonstration city; records: made up (in California one for ten people). Loss is the mean distance: of a record,
that of the people of its region from the region's centre, in metres. Levels are built by the defaults of
`core.nesting.making`. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vbas.benchmarks import demonstration, nested_speed, real_data
from vbas.benchmarks.nested_rivals import (
    at_share,
    bottom_up,
    by_class,
    front,
    least_loss,
    losses_of,
    mean_loss,
    single_level,
    single_levels,
)
from vbas.benchmarks.peers import place
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, suppress
from vbas.core.profile import Profile, profile_records
from vbas.core.site_number import SiteNumberOptions
from vbas.core.synthetic.city import ATTRIBUTES

K = 5
# Of the real areas with 5 quasi-identifiers, of the city with 4, and with all 6, where one record in 200 is too rare.
DATA_SETS = {"Winnipeg": "Winnipeg", "East": "East of Canada", "California": "California", "city": "", "city-6": ""}
# The identifiers of California's tracts name no province to take the cut-off from.
ALL_ROUNDER = {name: Configuration() for name in DATA_SETS} | {
    "California": Configuration(number_options=SiteNumberOptions(gaps_region="Western Canada"))
}
CITY = ("age_group", "sex", "marital_status", "ethnicity")
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
SHARES = (0.001, 0.01, 0.05)  # of records suppressed: what a single level gives there is printed too
POINTS = 8  # of the front, printed
N_CLASSES, SEED, SECONDS = 200, 0, 20.0
DISTANCE_TARGET, EXACT_TARGET, CLASS_TARGET, TWO_LEVELS_TARGET = 0.2, 1.01, 1.25, 0.6


@dataclass(frozen=True, eq=False)
class Case:
    """A data set with its levels and its nested release. losses : of each region of each level."""

    name: str
    areas: Areas
    profile: Profile
    levels: Levels
    losses: list[np.ndarray]
    plan: Plan

    @property
    def suppressed(self) -> int:
        return self.profile.n_records - self.plan.n_released

    @property
    def distance(self) -> float:
        return mean_loss(self.plan, self.losses)


@lru_cache(maxsize=1)
def case(name: str) -> Case:
    regions, profile = city(CITY if name == "city" else ATTRIBUTES) if "city" in name else place(DATA_SETS[name])
    levels = build_levels(regions, profile)
    print(
        f"\n{name}: {len(regions)} areas, {profile.n_records} records, {profile.counts.shape[1]} classes of "
        f"{', '.join(profile.quasi_identifiers)}; {len(levels)} levels of "
        f"{', '.join(str(crosswalk.n_regions) for crosswalk in levels.crosswalks)} regions; k = {K}"
    )
    return Case(name, regions, profile, levels, losses_of(regions, profile, levels), nest(regions, profile, levels, K))


@lru_cache(maxsize=2)
def city(attributes: Sequence[str]) -> tuple[Areas, Profile]:
    """The demonstration city, with the number of its records as population."""
    made = demonstration.city()
    regions, people = made.areas(), made.people()
    table = people.table()
    code = regions.codes_of(people.identifiers)[table.area.codes]
    profile, _ = profile_records(code, {name: table.quasi_identifiers[name] for name in attributes}, len(regions))
    return regions.with_population(profile.area_sizes), profile


def suppression(data: Case) -> None:
    """No record is lost that need not be."""
    sizes = data.profile.class_sizes
    unavoidable = int(sizes[sizes < K].sum())
    print("| suppressed records | unavoidable: of classes below k in the whole territory | target | reached |")
    print("|---|---|---|---|")
    print(
        f"| {data.suppressed} ({percent(data.suppressed / data.profile.n_records)}) | {unavoidable} | equal | "
        f"{said(data.suppressed == unavoidable)} |"
    )


def distance(data: Case) -> None:
    """The front of the paper's configurations, with every number of regions of the grid."""
    started = time.process_time()
    numbers = [number for number in NUMBERS if number <= len(data.areas)]
    singles = list(single_levels(data.areas, data.profile, numbers, K))
    best, share = front(singles), data.suppressed / data.profile.n_records
    seconds = time.process_time() - started
    titles = {single.title for single in singles}
    print(
        f"One level: the paper's {2 * len(titles)} configurations are {len(titles)} with a given number of regions. "
        f"Each ran with {', '.join(map(str, numbers))} ({seconds:.0f} CPU s). The front has {len(best)} points; "
        "the first:"
    )
    print("| suppressed | mean distance, m | regions | configuration |\n|---|---|---|---|")
    for single in best[:POINTS]:
        print(f"| {percent(single.share)} | {single.distance:.0f} | {single.n_regions} | {single.title} |")
    where = (
        f"the front begins at {percent(best[0].share)}"
        if share < best[0].share - 1e-12
        else "the front's first point"
        if share <= best[0].share + 1e-12
        else "interpolated"
    )
    against = f"{at_share(best, share):.0f} m ({where})"
    print("\n| nested: suppressed | mean distance | best single level as much suppressed | ratio | target | reached |")
    print("|---|---|---|---|---|---|")
    ratio = data.distance / at_share(best, share)
    print(
        f"| {percent(share)} | {data.distance:.0f} m | {against} | {ratio:.3f} (1/{1 / ratio:.1f}) | "
        f"at most {DISTANCE_TARGET} | {said(ratio <= DISTANCE_TARGET)} |"
    )
    for more in SHARES:
        if more > share:
            other = at_share(best, more)
            print(f"A single level that suppresses {percent(more)}: {other:.0f} m (1/{other / data.distance:.1f}).")


def exact(data: Case, n_classes: int = N_CLASSES) -> None:
    """Classes drawn at random, each against its exact optimum by HiGHS."""
    sizes, ours = data.profile.class_sizes, by_class(data.plan, data.losses)
    enough = np.flatnonzero(sizes >= K)
    drawn = np.random.default_rng(SEED).choice(enough, min(n_classes, len(enough)), replace=False)
    by_column = data.profile.counts.tocsc()
    least, ratios, unfinished = [], [], []
    started = time.process_time()
    for number in drawn.tolist():
        cells = slice(by_column.indptr[number], by_column.indptr[number + 1])
        result = least_loss(by_column.indices[cells], by_column.data[cells], data.levels, data.losses, K, SECONDS)
        least.append(result.bound)
        ratios.append(ours[number] / result.bound if result.bound > 0 else 1.0 if ours[number] == 0 else np.inf)
        if not result.finished:
            unfinished.append((number, int(sizes[number]), result.loss / max(result.bound, 1e-9), ratios[-1]))
    seconds = time.process_time() - started
    total = ours[drawn].sum() / np.sum(least)
    print(
        f"| classes | sum of losses, km | exact optimum, km | ratio | target | worst class | target | solved |"
        " reached |"
        f"\n{'|---' * 9}|"
    )
    print(
        f"| {len(drawn)} | {ours[drawn].sum() / 1000:.0f} | {np.sum(least) / 1000:.0f} | {total:.4f} | at most "
        f"{EXACT_TARGET} | {max(ratios):.3f} | at most {CLASS_TARGET} | {len(drawn) - len(unfinished)} "
        f"({seconds:.0f} CPU s) | {said(total <= EXACT_TARGET and max(ratios) <= CLASS_TARGET)} |"
    )
    print(
        f"Classes by ratio: {' '.join(f'{percentile:.4f}' for percentile in np.percentile(ratios, (50, 90, 95, 99)))} "
        f"(50th, 90th, 95th, 99th percentile); {int(np.sum(np.array(ratios) < 1 + 1e-6))} at the optimum."
    )
    if unfinished:
        print(
            f"Not finished by HiGHS in {SECONDS:g} s, and compared with its bound (above as well): "
            + "; ".join(
                f"class {number} ({size} records; HiGHS itself {theirs:.4f}, ours {ratio:.4f})"
                for number, size, theirs, ratio in unfinished
            )
        )


def rule(data: Case) -> None:
    """The bottom-up rule with the same levels."""
    plain = bottom_up(data.profile, data.levels, K)
    lost, loss = data.profile.n_records - plain.n_released, mean_loss(plain, data.losses)
    sizes = data.profile.class_sizes
    avoidable = lost - int(sizes[sizes < K].sum())
    fewer = data.suppressed < lost
    print("| | suppressed | avoidable | mean distance, m | sum of losses, km |\n|---|---|---|---|---|")
    total = by_class(data.plan, data.losses).sum()
    print(
        f"| nested | {data.suppressed} | {data.suppressed - lost + avoidable} | {data.distance:.1f} | "
        f"{total / 1000:.0f} |"
    )
    print(f"| bottom-up rule | {lost} | {avoidable} | {loss:.1f} | {by_class(plain, data.losses).sum() / 1000:.0f} |")
    ratio = data.distance / loss
    words = "below" if fewer else "equal: the rule suppresses nothing avoidable" if avoidable == 0 else "not below"
    reached = (fewer or avoidable == 0) and ratio < 1
    print(f"Suppression: {words}. Mean distance: ratio {ratio:.4f}. Target: below in both. Reached: {said(reached)}.")


def two_levels(data: Case) -> None:
    """The areas, and the regions of the all-rounder: against those regions alone."""
    crosswalk = aggregate(data.areas, data.profile, ALL_ROUNDER[data.name]).aggregation.crosswalk
    levels = make_levels(data.areas, [own_regions(len(data.areas)), crosswalk])
    losses = losses_of(data.areas, data.profile, levels)
    nested = nest(data.areas, data.profile, levels, K)
    single = single_level("all-rounder", data.areas, data.profile, crosswalk, K)
    alone = suppress(data.profile, crosswalk, K)
    distance, lost = mean_loss(nested, losses), data.profile.n_records - nested.n_released
    lost_alone = data.profile.n_records - alone.n_released
    ratio = distance / single.distance
    print("| | regions | suppressed | mean distance, m | shown in their own area |\n|---|---|---|---|---|")
    own = nested.records[nested.level == 0].sum() / data.profile.n_records
    print(f"| two levels | {len(data.areas)}, {crosswalk.n_regions} | {lost} | {distance:.0f} | {percent(own)} |")
    print(f"| all-rounder alone | {crosswalk.n_regions} | {lost_alone} | {single.distance:.0f} | 0 % |")
    print(
        f"Ratio {ratio:.3f}, target at most {TWO_LEVELS_TARGET} at no more suppression. Reached: "
        f"{said(lost <= lost_alone and ratio <= TWO_LEVELS_TARGET)}."
    )
    counts, alone_loss = data.profile.counts, losses[-1][crosswalk.region_of[area_of_cells(data.profile)]]
    could = counts.data >= K
    # By cell; the last equivalence class stands for none, where it is not shown.
    released = alone.released[alone.equivalence_class_of]
    released &= alone.equivalence_class_of != SUPPRESSED
    least = (counts.data * alone_loss)[released & ~could].sum() / alone.n_released
    print(
        f"{percent(counts.data[could].sum() / data.profile.n_records)} of the records are {K} or more of a class in "
        f"their area. With all of them shown there and nobody else the ratio is {least / single.distance:.3f}: less is "
        "not possible with these levels and this suppression."
    )


def percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.1f} %"


def said(reached: bool) -> str:
    return "yes" if reached else "NO"


OF_DATA_SETS = {
    "suppression": suppression,
    "distance": distance,
    "exact": exact,
    "rule": rule,
    "two-levels": two_levels,
}
# On East of Canada and Centre of Canada, whichever data sets are named.
OF_SPEED = {"reading": nested_speed.reading, "scale": nested_speed.scale, "parts": nested_speed.parts}


def claims(names: Sequence[str]) -> Iterator[str]:
    yield from (name for name in (*OF_DATA_SETS, *OF_SPEED) if not names or name in names)


def main(arguments: list[str]) -> int:
    """Print the tables; 1 where the data are absent."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data_sets", nargs="*", metavar="DATA_SET", help=", ".join(DATA_SETS))
    parser.add_argument("--only", nargs="+", choices=(*OF_DATA_SETS, *OF_SPEED), default=[])
    parser.add_argument("--classes", type=int, default=N_CLASSES, help="how many are compared with the exact optimum")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.data_sets if name not in DATA_SETS]
    problem = f"Unknown: {', '.join(unknown)}. Choose among {', '.join(DATA_SETS)}." if unknown else ""
    problem = problem or real_data.problem_with([])
    if problem:
        print(problem)
        return 1
    for name in asked.data_sets or DATA_SETS:
        for claim in claims(asked.only):
            if claim in OF_DATA_SETS:
                data = case(name)
                print(f"\n{name}, {claim}: {OF_DATA_SETS[claim].__doc__}\n")
                OF_DATA_SETS[claim](data, *([asked.classes] if claim == "exact" else []))
                sys.stdout.flush()
    for claim in claims(asked.only):
        if claim in OF_SPEED and (asked.only or not asked.data_sets):
            print(f"\n{claim}: {OF_SPEED[claim].__doc__}\n")
            OF_SPEED[claim]()
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
