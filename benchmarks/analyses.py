"""What an analyst reads from a release that is spread, against the true areas: maps, scans, Moran's I, coefficients.

Outcomes are planted on generated people of real areas and of the demonstration city. Settings stand in analyses.json,
fixed before the runs. Both sides take the same outcome, and choose bandwidths by themselves.

    python benchmarks/analyses.py                 all parts, on all territories that are there
    python benchmarks/analyses.py null --populations 4 --territory Winnipeg
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit

from vbas.benchmarks import demonstration, real_data
from vbas.core.adjacency import Adjacency
from vbas.core.analysis.moran import index_of, moran, weights_of
from vbas.core.analysis.outcome import Outcome, outcome_of, p_values
from vbas.core.analysis.rates import EMPIRICAL_BAYES, KERNEL, rate_map
from vbas.core.analysis.released import ReleasedRows
from vbas.core.analysis.scan import BERNOULLI, HIGH, POISSON, Circles, scan
from vbas.core.analysis.spreading import AT_LEVEL_1, NONE, Spread, spread
from vbas.core.areas import Areas
from vbas.core.levels import Levels, own_regions
from vbas.core.neighbours import neighbours_of, polygon_neighbours
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import area_of_cells
from vbas.core.profile import Profile, profile_records
from vbas.core.progress import silent
from vbas.core.records.columns import Column
from vbas.core.synthetic.city_people import city_dependents, city_distributions
from vbas.core.synthetic.generator import SpatialTilt, generate_records

SETTINGS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
LARGEST = SETTINGS["largest"]
LOGISTIC, POISSON_MODEL = MODELS = ("logistic", "Poisson")
KINDS = (("inside", False, False), ("inside, by age", True, False), ("outside", False, True))


@dataclass(frozen=True, eq=False)
class Territory:
    """Areas with people and neighbours, and the district by which its people are generated, (n,)."""

    name: str
    areas: Areas
    neighbours: Adjacency
    districts: np.ndarray


@dataclass(frozen=True, eq=False)
class People:
    """Generated people by area and class; risk : (C,), of each class relative to others, where risks differ."""

    territory: Territory
    profile: Profile
    risk: np.ndarray


@dataclass(frozen=True, eq=False)
class Reading:
    """How people are read: their cells of area and class where they are shown, and the weights of each."""

    rows: ReleasedRows
    cells: np.ndarray
    leave_out: str = NONE


@lru_cache(maxsize=1)
def territory(name: str) -> Territory:
    """One of the territories; raises FileNotFoundError where its data are absent."""
    if name == "city":
        city = demonstration.city()
        areas = city.areas()
        return Territory(name, areas, polygon_neighbours(city.polygons), city.districts.astype(str))
    if not real_data.available():
        raise FileNotFoundError(real_data.DATA)
    from vbas.benchmarks.real_areas import areas as real_areas

    areas = real_areas(name)
    areas = areas.with_population(np.round(areas.population))
    middle = np.average(areas.points, axis=0, weights=areas.population)
    far = np.hypot(*(areas.points - middle).T)
    people = np.cumsum(areas.population[np.argsort(far)])
    ring = np.empty(len(areas), np.int64)
    ring[np.argsort(far)] = np.searchsorted(np.array([0.08, 0.35, 0.85]) * people[-1], people)
    districts = np.array(["centre", "inner suburb", "outer suburb", "rural"])[ring]
    north = (areas.points[:, 1] - middle[1]) > 0.7 * np.abs(areas.points[:, 0] - middle[0])
    districts[(ring == 1) & north] = "north end"
    return Territory(name, areas, neighbours_of(areas), districts)


def people_of(place: Territory, seed: int) -> People:
    """The people of a seed: as many of each area as live there."""
    inhabited = np.flatnonzero((place.areas.population > 0) & (place.districts != "river"))
    population = place.areas.population[inhabited].astype(np.int64)
    most = SETTINGS["most_people"]
    if population.sum() > most:
        population = np.maximum(np.round(population * (most / population.sum())), 1).astype(np.int64)
    table = generate_records(
        place.areas.identifiers[inhabited],
        place.districts[inhabited],
        city_distributions(),
        population,
        seed,
        dependents=city_dependents(),
        tilt=SpatialTilt(place.areas.points[inhabited], *SETTINGS["tilt"]),
    ).table()
    code = place.areas.codes_of(table.area.categories)[table.area.codes]
    names = SETTINGS["quasi_identifiers"]
    profile, _ = profile_records(code, {name: table.quasi_identifiers[name] for name in names}, len(place.areas))
    people = replace(place, areas=place.areas.with_population(profile.area_sizes))
    at = names.index("age_group")
    ages = [str(value) for value in profile.categories[at].tolist()]
    risk = np.array([SETTINGS["risk_by_age"][age] for age in ages])[profile.classes[:, at]]
    return People(people, profile, risk)


def readings(people: People) -> Iterator[tuple[str, Reading]]:
    """The true areas, and releases."""
    areas, profile = people.territory.areas, people.profile
    own = Levels((own_regions(len(areas)),))
    yield "true areas", _reading(people, own, np.zeros(profile.counts.nnz, np.int64))
    levels = build_levels(areas, profile)
    for k in SETTINGS["k"]:
        plan = nest(areas, profile, levels, k)
        assert plan.level_of is not None
        level_of = np.where(plan.equivalence_class_of >= 0, plan.level_of, -1).astype(np.int64)
        nested = _reading(people, levels, level_of)
        yield f"nested, k = {k}", nested
        if k == SETTINGS["k"][0]:
            yield f"nested, k = {k}, not where shown", replace(nested, leave_out=AT_LEVEL_1)


def _reading(people: People, levels: Levels, level_of: np.ndarray) -> Reading:
    """The cells that are shown, twice over: those who are no cases, and those who are."""
    profile = people.profile
    cells = np.flatnonzero(level_of >= 0)
    level, area = level_of[cells], area_of_cells(profile)[cells]
    region = np.array(levels.region_of)[level, area]
    class_of = profile.counts.indices[cells].astype(np.int64)
    at = SETTINGS["quasi_identifiers"].index("age_group")
    fields = {
        "class": Column(np.tile(class_of, 2), np.arange(profile.counts.shape[1])),
        "age": Column(np.tile(profile.classes[class_of, at], 2), profile.categories[at]),
    }
    rows = ReleasedRows(people.territory.areas, levels, np.tile(level, 2), np.tile(region, 2), fields)
    return Reading(rows, cells)


@lru_cache(maxsize=8)
def _spread(reading: Reading) -> Spread:
    return spread(reading.rows, reading.leave_out, ["class"])


def outcome(people: People, reading: Reading, cases: np.ndarray, strata: tuple[str, ...], outside: bool) -> Outcome:
    """What the analyst has of an outcome; cases : of each cell of the profile."""
    counts = people.profile.counts.data[reading.cells].astype(np.int64)
    mine = cases[reading.cells]
    rows = replace(reading.rows, counts=np.concatenate([counts - mine, mine]))
    is_case = np.repeat([0, 1], len(mine))
    weights = replace(_spread(reading), records=rows.records)
    population = people.territory.areas.population if outside else None
    return outcome_of(rows, weights, is_case, strata, population)


def draw_cases(rng: np.random.Generator, people: People, relative: np.ndarray, by_age: bool, n: int) -> np.ndarray:
    """Cases of each cell, where risks are relative to each other by area, (n_areas,), and by age if asked."""
    profile = people.profile
    risk = relative[area_of_cells(profile)]
    if by_age:
        risk = risk * people.risk[profile.counts.indices]
    counts = profile.counts.data.astype(np.int64)
    risk = risk * (n / (risk * counts).sum())
    return rng.binomial(counts, np.minimum(risk, 1.0))


def clusters_of(rng: np.random.Generator, areas: Areas) -> list[np.ndarray]:
    """Two clusters, each an area by chance and the nearest ones around it, with a share of all people."""
    clusters: list[np.ndarray] = []
    while len(clusters) < SETTINGS["clusters"]:
        centre = rng.choice(len(areas), p=areas.population / areas.population.sum())
        order = np.argsort(np.hypot(*(areas.points - areas.points[centre]).T), kind="stable")
        people = np.cumsum(areas.population[order])
        inside = order[: int(np.searchsorted(people, SETTINGS["cluster_share"] * people[-1])) + 1]
        if all(not np.isin(inside, other).any() for other in clusters):
            clusters.append(inside)
    return clusters


def null(place: Territory, populations: int) -> None:
    """How often each test finds something where there is nothing.

    Every map of a population has as many cases, of each age where that matters: so one set of draws serves them all.
    """
    rejected: dict[tuple[str, str], list[float]] = {}
    points, neighbours = place.areas.points, place.neighbours
    n_maps, n_draws = SETTINGS["null_maps"], SETTINGS["null_draws"]
    for seed in range(populations):
        people = people_of(place, seed)
        rng = np.random.default_rng([seed, 1])
        drawn = {by_age: even_cases(rng, people, by_age, n_maps) for by_age in (False, True)}
        for name, reading in readings(people):
            if name.startswith("true"):
                continue
            for kind, by_age, outside in KINDS:
                maps_of = drawn[by_age]
                given = outcome(people, reading, maps_of[0], ("age",) if by_age else (), outside)
                seen = np.concatenate(
                    [outcome(people, reading, cases, (), False).cases_by_area[None] for cases in maps_of]
                )
                by_chance = np.concatenate(list(given.drawn(n_draws, seed)))
                for test, p in tests_of(points, neighbours, given, seen, by_chance, kind == "inside"):
                    rejected.setdefault((name, f"{test}, {kind}"), []).extend((p <= 0.05).tolist())
    print("| release | test | maps | rejected at 5 % |\n|---|---|---|---|")
    for (name, test), of in rejected.items():
        print(f"| {name} | {test} | {len(of)} | {100 * np.mean(of):.1f} % |", flush=True)


def even_cases(rng: np.random.Generator, people: People, by_age: bool, n_maps: int) -> np.ndarray:
    """Cases of each cell, (n_maps, cells), as many on each map: of all people, or of each age by its risk."""
    profile = people.profile
    counts = profile.counts.data.astype(np.int64)
    cells = people.risk[profile.counts.indices] if by_age else np.ones(len(counts))
    cases = np.zeros((n_maps, len(counts)), np.int64)
    scale = SETTINGS["cases"] / (cells * counts).sum()
    for risk in np.unique(cells):
        there = cells == risk
        n = round(risk * scale * counts[there].sum())
        cases[:, there] = rng.multivariate_hypergeometric(counts[there], n, n_maps, method="count")
    return cases


def tests_of(
    points: np.ndarray,
    neighbours: Adjacency,
    given: Outcome,
    seen: np.ndarray,
    by_chance: np.ndarray,
    bernoulli: bool,
) -> Iterator[tuple[str, np.ndarray]]:
    """The p-value of each map; seen : (maps, n) and by_chance : (draws, n), cases by area."""
    for model in (POISSON, BERNOULLI) if bernoulli else (POISSON,):
        circles = Circles(points, given, model, HIGH, LARGEST, silent)
        yield f"scan, {model}", p_values(circles.largest_of(seen, silent), circles.largest_of(by_chance, silent))
    weights = weights_of(neighbours, given.expected > 0)
    index, local, _ = index_of(seen, given.expected, weights)
    index_drawn, local_drawn, _ = index_of(by_chance, given.expected, weights)
    yield "Moran", p_values(index, index_drawn)
    yield "local Moran", local_p_values(local, local_drawn)


def local_p_values(local: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The p-value of the largest of each map, (maps,), each area by its own mean and deviation.

    The map is among the draws that these are of, as in `moran`: by those of the draws alone a map stands out too often.
    """
    n, total, squares = len(drawn) + 1, drawn.sum(axis=0), (drawn**2).sum(axis=0)
    p = np.empty(len(local))
    for number, own in enumerate(local):
        mean = (total + own) / n
        deviation = np.sqrt(np.maximum((squares + own**2) / n - mean**2, 1e-18))
        largest = ((drawn - mean) / deviation).max(axis=1)
        p[number] = p_values(((own - mean) / deviation).max()[None], largest)[0]
    return p


def maps(place: Territory, populations: int) -> None:
    """The error of the map, and whether planted clusters are found."""
    measures: dict[str, list[dict[str, float]]] = {}
    for seed in range(populations):
        people = people_of(place, seed)
        areas = people.territory.areas
        rng = np.random.default_rng([seed, 2])
        clusters = clusters_of(rng, areas)
        inside = np.isin(np.arange(len(areas)), np.concatenate(clusters))
        relative = np.where(inside, SETTINGS["relative_risk"], 1.0)
        site = areas.points[rng.choice(len(areas), p=areas.population / areas.population.sum())]
        far = np.hypot(*(areas.points - site).T)
        gradient = np.exp(SETTINGS["gradient"] * np.exp(-far / SETTINGS["reach"]))
        mapped = draw_cases(rng, people, relative * gradient, True, SETTINGS["map_cases"])
        clustered = draw_cases(rng, people, relative, True, SETTINGS["cases"])
        for name, reading in readings(people):
            of: dict[str, float] = {}
            given = outcome(people, reading, mapped, ("age",), False)
            for smoothing in (KERNEL, EMPIRICAL_BAYES):
                drawn = rate_map(areas.points, given, smoothing, seed=seed)
                truth = relative * gradient
                weight = areas.population / areas.population.sum()
                truth = truth / (truth @ weight)
                used = weight > 0
                error = np.sqrt(weight[used] @ (drawn.ratio[used] - truth[used]) ** 2)
                of[smoothing] = error / np.sqrt(weight @ (truth - 1) ** 2)
                if smoothing == KERNEL:
                    of["bandwidth"] = drawn.bandwidth
            given = outcome(people, reading, clustered, ("age",), False)
            result = scan(areas.points, given, largest=LARGEST, n_draws=SETTINGS["draws"], seed=seed)
            named = [cluster.areas for cluster in result.clusters if cluster.p_value <= 0.05]
            in_clusters = np.isin(np.arange(len(areas)), np.concatenate([[-1], *named]))
            both = areas.population[in_clusters & inside].sum()
            of["sensitivity"] = both / areas.population[inside].sum()
            of["ppv"] = both / areas.population[in_clusters].sum() if in_clusters.any() else np.nan
            measures.setdefault(name, []).append(of)
    true = {key: np.nanmean([row[key] for row in measures["true areas"]]) for key in measures["true areas"][0]}
    print(
        "| release | populations | map, kernel | against true areas | map, empirical Bayes | against | bandwidth, m | "
        "sensitivity | against | PPV | against |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, rows in measures.items():
        mean = {key: np.nanmean([row[key] for row in rows]) for key in rows[0]}
        print(
            f"| {name} | {len(rows)} | {mean[KERNEL]:.3f} | {mean[KERNEL] / true[KERNEL]:.3f} | "
            f"{mean[EMPIRICAL_BAYES]:.3f} | {mean[EMPIRICAL_BAYES] / true[EMPIRICAL_BAYES]:.3f} | "
            f"{mean['bandwidth']:.0f} | {mean['sensitivity']:.3f} | {mean['sensitivity'] / true['sensitivity']:.2f} | "
            f"{mean['ppv']:.3f} | {mean['ppv'] / true['ppv']:.2f} |",
            flush=True,
        )


def coefficients(place: Territory, populations: int) -> None:
    """How well the coefficient of an exposure of the place is found, in a model with the quasi-identifiers.

    Each record takes its mean exposure. Standard errors are those of the model, robust ones (HC1), and robust ones that
    allow records of a region to be alike.
    """
    fits: dict[tuple[str, str], list[tuple[float, np.ndarray]]] = {}
    wanted = SETTINGS["gradient"]
    for seed in range(populations):
        people = people_of(place, seed)
        profile, points = people.profile, people.territory.areas.points
        weight = people.territory.areas.population / people.territory.areas.population.sum()
        rng = np.random.default_rng([seed, 3])
        counts, class_of = profile.counts.data.astype(np.int64), profile.counts.indices
        values = np.concatenate(
            [profile.classes[:, [at]] == np.arange(1, len(own)) for at, own in enumerate(profile.categories)], axis=1
        )
        each = [
            (np.exp(-np.hypot(*(points - points[rng.choice(len(points), p=weight)]).T) / SETTINGS["reach"]), model)
            for _ in range(SETTINGS["model_outcomes"])
            for model in MODELS
        ]
        outcomes = [
            draw_outcome(rng, counts, wanted * x[area_of_cells(profile)] + np.log(people.risk[class_of]), model)
            for x, model in each
        ]
        for name, reading in readings(people):
            if reading.leave_out != NONE:
                continue
            weights = _spread(reading)
            cells, rows = reading.cells, reading.rows
            groups = (rows.level * len(points) + rows.region)[: len(cells)]
            attributes = values[class_of[cells]].astype(float)
            design = np.column_stack([np.zeros(len(cells)), np.ones(len(cells)), attributes])
            start = {model: np.zeros(design.shape[1]) for model in MODELS}
            for (x, model), cases in zip(each, outcomes):
                design[:, 0] = weights.exposure(x)[0][: len(cells)]
                start[model], errors = fit_counts(design, counts[cells], cases[cells], groups, model, start[model])
                fits.setdefault((model, name), []).append((start[model][0], errors))
    print("| model | release | fits | mean estimate | deviation | covered, model | robust | by region |")
    print("|---|---|---|---|---|---|---|---|")
    for (model, name), of in fits.items():
        estimate, errors = np.array([class_of[0] for class_of in of]), np.array([class_of[1] for class_of in of])
        covered = 100 * (np.abs(estimate - wanted)[:, None] <= 1.96 * errors).mean(axis=0)
        percents = " | ".join(f"{class_of:.1f} %" for class_of in covered)
        print(f"| {model} | {name} | {len(of)} | {estimate.mean():.3f} | {estimate.std():.3f} | {percents} |")


def draw_outcome(rng: np.random.Generator, counts: np.ndarray, effect: np.ndarray, model: str) -> np.ndarray:
    """Cases of each cell by a model; effect : (cells,), logarithms of relative risks or odds."""

    def risk(constant: float) -> np.ndarray:
        return np.asarray(expit(constant + effect) if model == LOGISTIC else np.minimum(np.exp(constant + effect), 1.0))

    constant = brentq(lambda at: float(risk(at) @ counts) - SETTINGS["map_cases"], -30.0, 5.0)
    return rng.binomial(counts, risk(constant))


def fit_counts(
    design: np.ndarray, counts: np.ndarray, cases: np.ndarray, group: np.ndarray, model: str, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of a model of who has something, by Newton's method, and the standard errors of the first: of
    the model, robust, and robust by group.

    design : (cells, p), the second column 1; counts, cases : (cells,), people alike; group : (cells,); start : (p,)
    """
    coefficient = start.copy()
    if not coefficient.any():
        coefficient[1] = np.log(cases.sum() / counts.sum())
    for _ in range(50):
        risk = np.exp(design @ coefficient) if model == POISSON_MODEL else expit(design @ coefficient)
        curve = counts * (risk if model == POISSON_MODEL else risk * (1 - risk))
        bread = np.linalg.inv(design.T @ (curve[:, None] * design))
        step = bread @ (design.T @ (cases - counts * risk))
        coefficient += step
        if np.abs(step).max() < 1e-6:
            break
    n, p = counts.sum(), design.shape[1]
    squares = cases * (1 - risk) ** 2 + (counts - cases) * risk**2
    robust = bread @ (design.T @ (squares[:, None] * design)) @ bread * n / (n - p)
    scores = sparse.csr_matrix((cases - counts * risk, (group, np.arange(len(group))))) @ design
    scores = scores[np.bincount(group) > 0]
    by_group = bread @ (scores.T @ scores) @ bread * len(scores) / (len(scores) - 1)
    return coefficient, np.sqrt([of[0, 0] for of in (bread, robust, by_group)])


def speed(place: Territory, _: int) -> None:
    """CPU seconds of a scan with 999 draws."""
    people = people_of(place, 0)
    cases = draw_cases(np.random.default_rng(0), people, np.ones(len(place.areas)), False, SETTINGS["cases"])
    print("| release | records | areas | what | CPU s |\n|---|---|---|---|---|")
    for name, reading in readings(people):
        started = time.process_time()
        given = outcome(people, reading, cases, (), False)
        jobs = {
            "scan, 999 draws": lambda of=given: scan(place.areas.points, of),
            "Moran, 999 draws": lambda of=given: moran(place.neighbours, of),
            "rate map": lambda of=given: rate_map(place.areas.points, of),
        }
        print(f"| {name} | {given.n_at_risk} | {len(place.areas)} | spread | {time.process_time() - started:.1f} |")
        for what, job in jobs.items():
            started = time.process_time()
            job()
            seconds = time.process_time() - started
            print(f"| {name} | {given.n_at_risk} | {len(place.areas)} | {what} | {seconds:.1f} |", flush=True)


PARTS = {"speed": speed, "maps": maps, "null": null, "coefficients": coefficients}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, []], help="which parts")
    parser.add_argument("--territory", action="append", help="which of the territories")
    parser.add_argument("--quasi-identifiers", nargs="+", help="others than those of the settings")
    parser.add_argument("--populations", type=int, default=SETTINGS["populations"])
    asked = parser.parse_args()
    if asked.quasi_identifiers:
        SETTINGS["quasi_identifiers"] = asked.quasi_identifiers
    for name in asked.territory or SETTINGS["territories"]:
        try:
            place = territory(name)
        except FileNotFoundError as error:
            print(f"{name}: the data are not there ({error})")
            continue
        for part in asked.parts or PARTS:
            print(f"\n{name}, {part}: {len(place.areas)} areas")
            PARTS[part](place, asked.populations)


if __name__ == "__main__":
    main()
