"""What spatial analyses lose in releases of one k: regions of one level, nested ones, official areas, masked points.

    PYTHONPATH=build/package .venv/bin/python benchmarks/analysis_study.py                    everything
    PYTHONPATH=build/package .venv/bin/python benchmarks/analysis_study.py study --territory Winnipeg

Croft et al. 2018 ask how aggregation and perturbation compare for spatial analysis. Generated people of real areas get
planted outcomes (`core.analysis.planting`), and every release of them is read as docs/analysing.md says: each record
spread over the areas of its region by people. Settings stand in analysis_study.json and were fixed before the runs; the
territories that are held back there were not looked at before. Areas: those nearest to the place of a territory where
people live densest. Intervals are of 95 %: over populations, where there are several, and in the last table over
territories. Parts:

    study         map, coefficient, scan and rare groups in each release
    null          what each test finds on even maps
    composition   rare groups beside a census table
    classes       the same as study with more classes
    coverage      coefficients, many of them, with fewer and with more classes
    leukaemia     the clusters of upstate New York (Turnbull et al. 1990), seen through each release
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import shapely
from osgeo import ogr
from scipy import sparse, stats
from scipy.spatial import cKDTree

from vbas.benchmarks import analyses, demonstration, real_data
from vbas.benchmarks.nested_rivals import bottom_up
from vbas.benchmarks.real_areas import areas as real_areas
from vbas.core.aggregation import AggregationOptions
from vbas.core.analysis.fitting import AS_WEIGHTS, Margin, fit
from vbas.core.analysis.moran import index_of, weights_of
from vbas.core.analysis.moving import Moved, moved_people
from vbas.core.analysis.outcome import Outcome, p_values
from vbas.core.analysis.planting import (
    NORMAL,
    Planted,
    Planting,
    Reading,
    ReadingAnalyses,
    an_exposure,
    exact_cases,
    exposure_effect,
    measures_of,
    plant,
    slope_of_shares,
)
from vbas.core.analysis.released import ReleasedRows
from vbas.core.analysis.scan import HIGH, POISSON, Circles, scan
from vbas.core.analysis.spreading import spread
from vbas.core.areas import Areas, make_areas
from vbas.core.baselines.options import aggregation_of_labels
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, suppress
from vbas.core.profile import Profile
from vbas.core.progress import silent
from vbas.core.records.columns import codes_of_labels
from vbas.core.site_location import LocationOptions
from vbas.core.site_number import SiteNumberOptions

SETTINGS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
TRUE, NESTED, ALL_ROUNDER, EXCHANGE = "true areas", "nested, spread", "one level, all-rounder", "one level, exchange"
DONUT, NARROW = "donut, k to 10 k of the own class", "donut, k to 2 k of the own class"
PLANTING = Planting(outcomes=SETTINGS["outcomes"], draws=SETTINGS["draws"], map_share=SETTINGS["map_share"])
OUTER, NARROW_OUTER = 10.0, 2.0
SIGNIFICANT = 0.05
# Through which releases the leukaemia of New York is looked at.
SEEN = (NESTED, "nested, flattened", ALL_ROUNDER, "official areas", DONUT)


@dataclass(frozen=True, eq=False)
class Place:
    """Areas of a territory, the district by which its people are generated, and the larger official unit, (n,) each."""

    name: str
    areas: Areas
    districts: np.ndarray
    official: np.ndarray


@dataclass(frozen=True, eq=False)
class Population:
    """People of a place with outcomes on them. moved : where a donut moves each person to, by its name and k; risk :
    (C,), of each class relative to others."""

    place: Place
    profile: Profile
    planted: Planted
    moved: dict[tuple[str, int], np.ndarray]
    levels: Levels
    risk: np.ndarray

    @property
    def areas(self) -> Areas:
        """With the people that were generated."""
        return self.planted.areas


@lru_cache(maxsize=1)
def place_of(name: str) -> Place:
    """One of the territories, cut to its densest part. Raises FileNotFoundError where its data are absent."""
    if name == "city":
        city = demonstration.city()
        areas, districts = city.areas(), city.districts.astype(str)
        used = np.flatnonzero((areas.population > 0) & (districts != "river"))
        used = used[densest(areas.points[used])]
        return Place(name, some_of(areas, used), districts[used], districts[used])
    if not real_data.available():
        raise FileNotFoundError(real_data.DATA)
    areas = denver() if name == "Denver" else real_areas(name)
    used = np.flatnonzero(areas.population > 0)
    areas = some_of(areas, used[densest(areas.points[used])])
    characters = SETTINGS["official"][name]
    official = np.array([identifier[:characters] for identifier in areas.identifiers.tolist()], dtype=object)
    if name == "Winnipeg":
        official = tracts_of_winnipeg(areas)
    return Place(name, areas, rings_of(areas), official)


def densest(points: np.ndarray) -> np.ndarray:
    """The areas around the one whose neighbourhood is smallest, as many as the settings say, in ascending order."""
    n = min(SETTINGS["areas"], len(points))
    far, near = cKDTree(points).query(points, k=n)
    return np.sort(near[int(np.argmin(far[:, -1]))])


def some_of(areas: Areas, used: np.ndarray) -> Areas:
    """Some areas, without neighbours."""
    return make_areas(areas.identifiers[used], areas.points[used], np.round(areas.population[used]), in_metres=True)


def rings_of(areas: Areas) -> np.ndarray:
    """The district of each area, by distance from the middle and people nearer to it, (n,)."""
    middle = np.average(areas.points, axis=0, weights=areas.population)
    order = np.argsort(np.hypot(*(areas.points - middle).T))
    people = np.cumsum(areas.population[order])
    ring = np.empty(len(areas), np.int64)
    ring[order] = np.searchsorted(np.array([0.08, 0.35, 0.85]) * people[-1], people)
    districts = np.array(["centre", "inner suburb", "outer suburb", "rural"])[ring]
    north = (areas.points[:, 1] - middle[1]) > 0.7 * np.abs(areas.points[:, 0] - middle[0])
    districts[(ring == 1) & north] = "north end"
    return districts


def tracts_of_winnipeg(areas: Areas) -> np.ndarray:
    """The census tract of each area, (n,) object."""
    source = ogr.Open(str(real_data.DATA / "winnipeg_da2016.gpkg"))
    tract_of = {str(feature.GetField("DAUID")): str(feature.GetField("ct_uid")) for feature in source.GetLayer(0)}
    return np.array([tract_of[identifier] for identifier in areas.identifiers.tolist()], dtype=object)


def denver() -> Areas:
    """Census blocks of Denver, in metres."""
    source = ogr.Open(str(real_data.DATA / "denver_blocks2020.gpkg"))
    identifiers, people, wkbs = [], [], []
    for feature in source.GetLayer(0):
        identifiers.append(feature.GetField("GEOID20"))
        people.append(float(feature.GetField("TOTPOP20")))
        wkbs.append(bytes(feature.GetGeometryRef().ExportToWkb()))
    points = shapely.get_coordinates(shapely.centroid(shapely.make_valid(shapely.from_wkb(wkbs))))
    return make_areas(identifiers, points * 0.3048006096, people, in_metres=True)  # feet of the survey


def population_of(place: Place, seed: int, names: Sequence[str], masked: bool = True) -> Population:
    """The people of a seed, with outcomes; masked : whether they are moved by donuts, too."""
    territory = analyses.Territory(place.name, place.areas, point_neighbours(place.areas.points), place.districts)
    analyses.SETTINGS.update(
        quasi_identifiers=list(names),
        most_people=SETTINGS["people"],
        tilt=SETTINGS["tilt"],
        risk_by_age=SETTINGS["risk_by_age"],
    )
    people = analyses.people_of(territory, seed)
    areas, profile = people.territory.areas, people.profile
    moved, one_by_one = {}, None
    for k in SETTINGS["k"] if masked else ():
        for name, outer in ((DONUT, OUTER), (NARROW, NARROW_OUTER)):
            cell, moved[name, k] = moved_people(areas, profile, k, seed, outer)
            one_by_one = Moved(cell, np.ones(len(cell), np.int64), moved[name, k])
    age = profile.classes[:, list(names).index("age_group")]
    planted = plant(areas, profile, replace(PLANTING, seed=seed), one_by_one, age, people.risk)
    return Population(place, profile, planted, moved, build_levels(areas, profile), people.risk)


def releases(people: Population, k: int, only: Sequence[str] = ()) -> Iterator[tuple[str, Reading]]:
    """What people are read in, at one k; only : the names of these, all where none is named."""
    return ((name, make()) for name, make in ways(people, k).items() if not only or name in only)


def ways(people: Population, k: int) -> dict[str, Callable[[], Reading]]:
    """How people are released at one k, by name."""
    areas, profile, planted, levels = people.areas, people.profile, people.planted, people.levels
    nested = nest(areas, profile, levels, k)
    level_of = np.where(nested.equivalence_class_of >= 0, nested_levels(nested), SUPPRESSED)

    def one_level(how: str) -> Reading:
        budget = SETTINGS["budget"]
        options = AggregationOptions(k=k, budget=budget)
        number = SiteNumberOptions(budget=budget, k=k)
        configuration = Configuration("suppression budget", "balanced density", how, number, LocationOptions(), options)
        return planted.release(suppress(profile, aggregate(areas, profile, configuration).aggregation.crosswalk, k))

    def moved(name: str) -> Reading:
        return Reading(sparse.identity(len(areas), format="csr"), people.moved[name, k])

    return {
        NESTED: lambda: planted.release(nested),
        "nested, flattened": lambda: planted.shown_at(levels, flattened(profile, level_of)),
        "nested, level 1 alone": lambda: planted.shown_at(levels, np.where(level_of == 0, 0, SUPPRESSED)),
        "nested, bottom-up rule": lambda: planted.release(bottom_up(profile, levels, k)),
        ALL_ROUNDER: lambda: one_level("iterative Voronoi"),
        EXCHANGE: lambda: one_level("anonymity exchange"),
        "global recoding of the areas": lambda: planted.release(global_recoding(profile, levels, k)),
        "official areas": lambda: planted.release(suppress(profile, crosswalk_of(areas, people.place.official), k)),
        "cropped codes": lambda: planted.release(cropped(people, k)),
        DONUT: lambda: moved(DONUT),
        NARROW: lambda: moved(NARROW),
    }


def nested_levels(plan: Plan) -> np.ndarray:
    """The level of each cell, (m,) int64."""
    assert plan.level_of is not None
    return plan.level_of.astype(np.int64)


def flattened(profile: Profile, level_of: np.ndarray) -> np.ndarray:
    """Cells at the finest level that has the share of the rows that the settings say, or not shown, (m,)."""
    released = np.cumsum(np.bincount(level_of[level_of >= 0], profile.counts.data[level_of >= 0]))
    target = int(np.searchsorted(released / released[-1], SETTINGS["flattened_share"]))
    return np.where((level_of >= 0) & (level_of <= target), target, SUPPRESSED)


def global_recoding(profile: Profile, levels: Levels, k: int) -> Plan:
    """The finest of the levels for all records that suppresses no more than the budget; else the coarsest."""
    for crosswalk in levels.crosswalks:
        plan = suppress(profile, crosswalk, k)
        if 100 * (1 - plan.n_released / profile.n_records) <= SETTINGS["budget"]:
            break
    return plan


def cropped(people: Population, k: int) -> Plan:
    """The longest beginning of the identifiers that suppresses no more than the budget; else the shortest that tells
    several regions apart."""
    plan = None
    for characters in range(max(map(len, people.areas.identifiers.tolist())), 0, -1):
        labels = np.array([identifier[:characters] for identifier in people.areas.identifiers.tolist()], dtype=object)
        if plan is not None and len(set(labels.tolist())) < 2:
            break
        plan = suppress(people.profile, crosswalk_of(people.areas, labels), k)
        if 100 * (1 - plan.n_released / people.profile.n_records) <= SETTINGS["budget"]:
            break
    assert plan is not None
    return plan


def crosswalk_of(areas: Areas, labels: np.ndarray) -> Crosswalk:
    """Areas of the same label as regions."""
    return aggregation_of_labels(areas, codes_of_labels(labels.tolist())).crosswalk


# Of each release and k, the figures of every territory.
ALL: dict[tuple[str, int], list[dict[str, tuple[float, float]]]] = {}
HEADER = ("map", "effect", "covered, %", "s.e.", "clusters found", "found rightly", "rare groups", "suppressed, %")


@dataclass(frozen=True, eq=False)
class Read:
    """What is found in a release of one population, and in its true areas. fits, true_fits : (F, 2), coefficients of
    exposures and their standard errors."""

    in_release: ReadingAnalyses
    true: ReadingAnalyses
    fits: np.ndarray
    true_fits: np.ndarray


def study(place: Place, populations: int, names: Sequence[str] = (), only: Sequence[str] = ()) -> None:
    """Map, coefficient, scan and rare groups in each release, against the true areas."""
    names = names or SETTINGS["quasi_identifiers"]
    read: dict[tuple[str, int], list[Read]] = {}
    for seed in range(populations):
        people = population_of(place, seed, names, masked=not only or DONUT in only)
        planted, models = people.planted, models_of(people, seed)
        true, true_fits = planted.analysis_of(planted.true_areas()), fits_of(people, planted.true_areas(), models)
        read.setdefault((TRUE, 0), []).append(Read(true, true, true_fits, true_fits))
        for k in SETTINGS["k"]:
            for name, reading in releases(people, k, only):
                fits = fits_of(people, reading, models)
                read.setdefault((name, k), []).append(Read(planted.analysis_of(reading), true, fits, true_fits))
    print(f"| k | release | {' | '.join(HEADER)} |\n|---|---|{'---|' * len(HEADER)}")
    for (name, k), of in read.items():
        figures_of = figures(of)
        print(f"| {k or ''} | {name} | {' | '.join(in_words(figures_of))} |", flush=True)
        if not only:
            ALL.setdefault((name, k), []).append(figures_of)


def models_of(people: Population, seed: int, n_models: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Exposures and the cases of each unit that they make; n_models : how many, those of the settings for 0."""
    planted, outcomes = people.planted, []
    rng = np.random.default_rng([seed, 6])
    records = people.profile.area_sizes.astype(float)
    class_of = people.profile.counts.indices[planted.cell]
    area, strata = area_of_cells(people.profile)[planted.cell], planted.strata[class_of]
    for _ in range(n_models or SETTINGS["models"]):
        exposure = an_exposure(rng, people.areas, records, PLANTING.reach_share)
        risk = people.risk[class_of] * np.exp(PLANTING.effect * exposure)[area]
        n_cases = int(PLANTING.map_share * records.sum())
        outcomes.append((exposure, exact_cases(rng, planted.people, risk, strata, people.risk[class_of], n_cases)))
    return outcomes


def fits_of(people: Population, reading: Reading, models: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The coefficient of each exposure in a reading and its standard error, (F, 2)."""
    outcomes = people.planted.outcomes(reading, [cases for _, cases in models])
    return np.array([exposure_effect(outcome, exposure) for outcome, (exposure, _) in zip(outcomes, models)])


def figures(read: Sequence[Read]) -> dict[str, tuple[float, float]]:
    """Of each measure a mean and the half width of its interval over populations, NaN where it has none."""
    measures = [measures_of(reading.in_release, reading.true, PLANTING) for reading in read]
    true = [measures_of(reading.true, reading.true, PLANTING) for reading in read]
    fits, true_fits = (np.concatenate([getattr(reading, name) for reading in read]) for name in ("fits", "true_fits"))
    covered = np.abs(fits[:, 0] - PLANTING.effect) <= NORMAL * fits[:, 1]
    planted, in_clusters = (
        sum(float(getattr(reading.in_release, name).sum()) for reading in read)
        for name in ("planted_in_clusters", "people_in_clusters")
    )
    true_found, true_told = (
        sum(float(getattr(reading.true, name).sum()) for reading in read)
        for name in ("planted_in_clusters", "people_in_clusters")
    )
    sensitivity = [reading.cluster_found / max(other.cluster_found, 1e-9) for reading, other in zip(measures, true)]
    right = planted / in_clusters / (true_found / true_told) if in_clusters else np.nan
    return {
        "map": over([reading.map_error for reading in measures]),
        "effect": over([float(reading.fits[:, 0].mean()) / PLANTING.effect for reading in read]),
        "covered": (100 * float(covered.mean()), len(fits)),
        "error": (float(fits[:, 1].mean() / true_fits[:, 1].mean()), np.nan),
        "found": (planted / true_found, over(sensitivity)[1]),
        "right": (right, np.nan),
        "rare": over([reading.rare_slope for reading in measures]),
        "suppressed": (100 * float(np.mean([reading.in_release.suppressed for reading in read])), np.nan),
    }


def in_words(figures_of: dict[str, tuple[float, float]]) -> list[str]:
    """Cells of a row."""
    digits = {"covered": 1, "suppressed": 1}
    return [
        f"{mean:.{digits.get(name, 2)}f}" + (f" ± {width:.2f}" if name not in digits and width == width else "")
        for name, (mean, width) in figures_of.items()
    ]


def over_territories() -> None:
    """Each release over all territories: means, and the worst territory."""
    print("\nover all territories: mean ± half width of its interval over them (worst territory)")
    print(f"| k | release | {' | '.join(HEADER)} |\n|---|---|{'---|' * len(HEADER)}")
    least = ("found", "right", "rare")
    for (name, k), of in ALL.items():
        cells = []
        for measure in of[0]:
            # A territory in which no coefficient is found has no interval either.
            there = [figures_of for figures_of in of if measure != "covered" or np.isfinite(figures_of["effect"][0])]
            values = np.array([figures_of[measure][0] for figures_of in there])
            if measure in ("effect", "covered"):
                worst = values[np.nanargmax(np.abs(values - (1 if measure == "effect" else 95)))]
            else:
                worst = np.nanmin(values) if measure in least else np.nanmax(values)
            digits = 1 if measure in ("covered", "suppressed") else 2
            figures_of = f"{np.nanmean(values):.{digits}f} ± {half_width(values[np.isfinite(values)]):.{digits}f}"
            cells.append(f"{figures_of} ({worst:.{digits}f})")
        print(f"| {k or ''} | {name} | {' | '.join(cells)} |", flush=True)


def over(values: Sequence[float]) -> tuple[float, float]:
    """A mean and the half width of its interval of 95 %."""
    return float(np.mean(values)), half_width(values)


def ratio(values: Sequence[float]) -> str:
    """A mean with the half width of its interval."""
    return f"{np.mean(values):.2f} ± {half_width(values):.2f}"


def half_width(values: Sequence[float] | np.ndarray) -> float:
    """Of the interval of 95 % of a mean of these values."""
    n = len(values)
    return float(stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def classes(place: Place, populations: int) -> None:
    """The study with more classes, of what is nested and of one level."""
    study(place, populations, SETTINGS["more_quasi_identifiers"], (NESTED, ALL_ROUNDER, "nested, flattened"))


def coverage(place: Place, populations: int) -> None:
    """How often the interval of a coefficient holds it, with fewer and with more classes."""
    header = ("classes", "k", "release", "fits", "mean", "deviation", "mean s.e.", "covered, %")
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for names in (SETTINGS["quasi_identifiers"], SETTINGS["more_quasi_identifiers"]):
        fits: dict[tuple[int, str], list[np.ndarray]] = {}
        for seed in range(populations):
            people = population_of(place, seed, names, masked=False)
            models = models_of(people, seed, SETTINGS["coverage_models"])
            fits.setdefault((0, TRUE), []).append(fits_of(people, people.planted.true_areas(), models))
            for k in SETTINGS["k"]:
                for name, reading in releases(people, k, (NESTED,)):
                    fits.setdefault((k, name), []).append(fits_of(people, reading, models))
        n_classes = people.profile.counts.shape[1]
        for (k, name), each in fits.items():
            of = np.concatenate(each)
            covered = 100 * np.mean(np.abs(of[:, 0] - PLANTING.effect) <= NORMAL * of[:, 1])
            cells = f"{len(of)} | {of[:, 0].mean():.3f} | {of[:, 0].std():.3f} | {of[:, 1].mean():.3f} | {covered:.1f}"
            print(f"| {n_classes} | {k or ''} | {name} | {cells} |", flush=True)


def null(place: Place, populations: int) -> None:
    """How many even maps each test rejects at 5 %."""
    rejected: dict[tuple[int, str, str], list[bool]] = {}
    n_maps, n_draws = SETTINGS["null_maps"], SETTINGS["draws"] * 2 + 1
    for seed in range(populations):
        people = population_of(place, seed, SETTINGS["quasi_identifiers"], masked=False)
        planted, points = people.planted, people.areas.points
        neighbours = point_neighbours(points)
        rng = np.random.default_rng([seed, 5])
        strata = planted.strata[people.profile.counts.indices[planted.cell]]
        equal_risk = np.ones(len(planted.people))
        maps = [exact_cases(rng, planted.people, equal_risk, strata, equal_risk, 4_000) for _ in range(n_maps)]
        for k in SETTINGS["k"]:
            for name, reading in releases(people, k, (NESTED, ALL_ROUNDER)):
                outcomes = planted.outcomes(reading, maps)
                seen = np.array(
                    [outcome.cases_by_area * (outcomes[0].n_cases / outcome.n_cases) for outcome in outcomes]
                )
                given = outcomes[0]
                by_chance = np.concatenate(list(given.drawn(n_draws, seed)))
                tests = analyses.tests_of(points, neighbours, given, seen, by_chance, False)
                for test, p in tests:
                    rejected.setdefault((k, name, f"{test}, through the release"), []).extend(
                        (p <= SIGNIFICANT).tolist()
                    )
                for test, p in usual_tests(people, reading, given, seen, maps, rng):
                    rejected.setdefault((k, name, test), []).extend((p <= SIGNIFICANT).tolist())
    print("| k | release | test | even maps | rejected at 5 % |\n|---|---|---|---|---|")
    for (k, name, test), of in rejected.items():
        print(f"| {k} | {name} | {test} | {len(of)} | {100 * np.mean(of):.0f} % |", flush=True)


def usual_tests(
    people: Population,
    reading: Reading,
    given: Outcome,
    seen: np.ndarray,
    maps: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> Iterator[tuple[str, np.ndarray]]:
    """The mistakes of docs/analysing.md: cases at the centres of regions against a census, areas permuted."""
    points, n = people.areas.points, len(people.areas)
    weights = reading.weights
    middles = np.asarray(weights @ points)
    _, centre = cKDTree(points).query(middles)
    at = np.where(reading.profile_of >= 0, centre[reading.profile_of], 0)
    released = reading.profile_of >= 0
    there = np.array([np.bincount(at[released], cases[released], n) for cases in maps])
    census = people.profile.area_sizes.astype(np.int64)
    n_cases = int(there[0].sum())
    own = Outcome(
        sparse.identity(n, format="csr"), np.zeros(n, np.int64), np.arange(n), census, there[0].astype(np.int64)
    )
    circles = Circles(points, own, POISSON, HIGH, PLANTING.largest, silent)
    by_chance = rng.multinomial(n_cases, census / census.sum(), SETTINGS["draws"]).astype(float)
    scaled = there * (n_cases / there.sum(axis=1, keepdims=True))
    yield (
        "scan, at centres against a census",
        p_values(circles.largest_of(scaled, silent), circles.largest_of(by_chance, silent)),
    )
    expected = given.expected
    matrix = weights_of(point_neighbours(points), expected > 0)
    index, _, _ = index_of(seen, expected, matrix)
    rates = np.divide(seen, expected, out=np.ones_like(seen), where=expected > 0)
    p = np.empty(len(seen))
    for number, of_areas in enumerate(rates):
        permuted = np.array([rng.permutation(of_areas) for _ in range(SETTINGS["draws"])]) * expected
        p[number] = p_values(index[[number]], index_of(permuted, expected, matrix)[0])[0]
    yield "Moran, areas permuted", p


def composition(place: Place, populations: int) -> None:
    """The slope of estimated on true shares of rare groups, without and with a census table."""
    slopes_of: dict[tuple[int, str, str], list[float]] = {}
    for seed in range(populations):
        people = population_of(place, seed, SETTINGS["quasi_identifiers"], masked=False)
        profile, areas = people.profile, people.areas
        area, everybody = area_of_cells(profile), profile.area_sizes.astype(float)
        groups = {
            f"{profile.quasi_identifiers[at]} = {profile.categories[at][value]}": (at, value)
            for at, value in rare_values(profile)
        }
        for k in SETTINGS["k"]:
            plan = nest(areas, profile, people.levels, k)
            level_of = np.where(plan.equivalence_class_of >= 0, nested_levels(plan), SUPPRESSED)
            cells = np.flatnonzero(level_of >= 0)
            region = np.array(people.levels.region_of)[level_of[cells], area[cells]]
            counts = profile.counts.data[cells].astype(np.int64)
            rows = ReleasedRows(areas, people.levels, level_of[cells], region, {}, counts)
            weights = spread(rows)
            readings = {"spread by people": weights}
            for at, name in enumerate(profile.quasi_identifiers):
                if name == "sex":
                    continue
                value_of = profile.classes[profile.counts.indices, at]
                n_values = len(profile.categories[at])
                table = sparse.csr_matrix((profile.counts.data, (value_of, area)), (n_values, len(areas))).toarray()
                margin = Margin(value_of[cells], table.astype(float), tuple(map(str, profile.categories[at])))
                readings[f"census of {name}"] = fit(rows, weights, margin, AS_WEIGHTS).spread
            for group, (at, value) in groups.items():
                mine = profile.classes[profile.counts.indices, at] == value
                true = np.bincount(area, profile.counts.data * mine, len(areas))
                for name, of in readings.items():
                    own = of.total(counts * mine[cells])
                    slope = slope_of_shares(own, of.total(counts), true, everybody)
                    slopes_of.setdefault((k, group, name), []).append(slope)
    print("| k | group | weights | slope |\n|---|---|---|---|")
    for (k, group, name), slopes in slopes_of.items():
        print(f"| {k} | {group} | {name} | {ratio(slopes)} |", flush=True)


def rare_values(profile: Profile) -> Iterator[tuple[int, int]]:
    """The rarest value of age and of ethnicity."""
    for at, name in enumerate(profile.quasi_identifiers):
        if name != "sex":
            sizes = np.bincount(profile.classes[:, at], profile.class_sizes, len(profile.categories[at]))
            yield at, int(np.argmin(np.where(sizes > 0, sizes, np.inf)))


def leukaemia(_: Place | None, __: int) -> None:
    """The clusters of the cases of upstate New York, 1978 to 1982, that a scan finds in each release."""
    if not real_data.available():
        print("The data are not there.")
        return
    source = ogr.Open(str(real_data.DATA / "ny8_tracts1980.gpkg"))
    rows = [
        [feature.GetField(name) for name in ("AREAKEY", "AREANAME", "POP8", "Cases")] for feature in source.GetLayer(0)
    ]
    wkbs = [bytes(feature.GetGeometryRef().ExportToWkb()) for feature in source.GetLayer(0)]
    points = shapely.get_coordinates(shapely.centroid(shapely.make_valid(shapely.from_wkb(wkbs))))
    keys, names, sizes, counts = (list(column) for column in zip(*rows))
    areas = make_areas(keys, points, sizes, in_metres=True)
    counties = np.array([key[:5] for key in keys], dtype=object)
    place = Place("upstate New York", areas, rings_of(areas), counties)
    kept: dict[tuple[int, str], list[tuple[float, float, float]]] = {}
    SETTINGS["people"] = int(areas.population.sum()) + 1
    people = population_of(place, 0, SETTINGS["quasi_identifiers"])
    planted = replace(people.planted, strata=np.zeros_like(people.planted.strata))  # their ages are not known
    area_of_units = area_of_cells(people.profile)[planted.cell]
    readings = [(0, TRUE, planted.true_areas())]
    readings += [(k, name, reading) for k in SETTINGS["k"] for name, reading in releases(people, k, SEEN)]
    for seed in range(SETTINGS["leukaemia_assignments"]):
        rng = np.random.default_rng([seed, 8])
        whole = np.floor(counts).astype(np.int64)
        whole += rng.random(len(whole)) < np.array(counts) - whole
        order = rng.permutation(len(area_of_units))
        order = order[np.argsort(area_of_units[order], kind="stable")]
        first = np.searchsorted(area_of_units[order], np.arange(len(areas)))
        cases = np.zeros(len(area_of_units), np.int64)
        for start, n in zip(first.tolist(), whole.tolist()):
            cases[order[start : start + n]] = 1
        for k, name, reading in readings:
            (given,) = planted.outcomes(reading, [cases])
            result = scan(points, given, n_draws=199, seed=seed)
            significant = [cluster for cluster in result.clusters if cluster.p_value <= SIGNIFICANT]
            inside = np.isin(np.arange(len(areas)), np.concatenate([[-1], *(cluster.areas for cluster in significant)]))
            if name == TRUE:
                true_inside = inside
                if not seed:
                    for cluster in significant:
                        at = f"{len(cluster.areas)} tracts around {names[cluster.centre]} ({keys[cluster.centre]})"
                        of = f"{cluster.cases:.0f} cases, {cluster.expected:.1f} expected"
                        print(f"True areas: {at}, {of}, p = {cluster.p_value:.3f}")
            size = areas.population
            both = float(size[inside & true_inside].sum())
            p_value = result.clusters[0].p_value if result.clusters else 1.0
            kept.setdefault((k, name), []).append(
                (both / max(float(size[true_inside].sum()), 1), both / max(float(size[inside].sum()), 1), p_value)
            )
    header = ("k", "release", "of the people in the clusters, found", "of those found, in them", "largest p")
    print(f"| {' | '.join(header)} | suppressed, % |\n|---|---|---|---|---|---|")
    lost = {(k, name): 100 * float(np.mean(reading.profile_of < 0)) for k, name, reading in readings}
    for (k, name), scans in kept.items():
        share, right, _ = np.mean(scans, axis=0)
        most = max(scan_of[2] for scan_of in scans)
        print(f"| {k or ''} | {name} | {share:.2f} | {right:.2f} | {most:.3f} | {lost[k, name]:.1f} |")


PARTS: dict[str, Callable[..., None]] = {
    "study": study,
    "null": null,
    "composition": composition,
    "classes": classes,
    "coverage": coverage,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="*", help=f"which of {', '.join([*PARTS, 'leukaemia'])}; all where none is named"
    )
    parser.add_argument("--territory", action="append", help="which of the territories")
    parser.add_argument("--populations", type=int, default=SETTINGS["populations"])
    asked = parser.parse_args()
    parts = [part for part in asked.parts or PARTS if part in PARTS]
    for name in (asked.territory or SETTINGS["territories"]) if parts else ():
        try:
            place = place_of(name)
        except FileNotFoundError as error:
            print(f"{name}: the data are not there ({error})")
            continue
        for part in parts:
            if asked.parts or part not in ("classes", "coverage") or name in SETTINGS["with_more_classes"]:
                started = time.process_time()
                print(f"\n{name}, {part}: {len(place.areas)} areas, {place.areas.population.sum():.0f} people")
                PARTS[part](place, asked.populations)
                print(f"{time.process_time() - started:.0f} CPU s", flush=True)
    if ALL:
        over_territories()
    if not asked.parts or "leukaemia" in asked.parts:
        started = time.process_time()
        print("\nupstate New York, leukaemia")
        leukaemia(None, 0)
        print(f"{time.process_time() - started:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
