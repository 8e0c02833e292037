"""Further fields that give away the area or the person, however few rows have them, and harmless ones: what is refused.

    PYTHONPATH=build/package .venv/bin/python benchmarks/kept_fields.py

On the demonstration city and, where the data are, on Winnipeg; releases of one level and nested, of 60 000 people and
of 6 000. Harmful fields stand in some share of the rows, the others have one filler, several, or none. Harmless
ones are as plain as can be, or follow age, or come in clusters of areas, or are shared by the people of a household.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from vbas.benchmarks.attack_places import K, Place, city, some_column, winnipeg
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.kept_field import KeptField
from vbas.core.privacy.kept_fields import examine_kept_fields
from vbas.core.records.columns import Column
from vbas.core.records.matching import Records

SHARES = (0.45, 0.2, 0.05, 0.02)
FILLERS: dict[str, list] = {
    "nothing": [None],
    "one filler": ["unknown"],
    "several fillers": ["", "unknown", "refused", "-9", "n/a"],
}
N_SITES, N_QUASI, PEOPLE_OF_HOUSEHOLD = 20, 3, 2.4


@dataclass(frozen=True)
class Outcome:
    """What became of one field: refused, warned of or silent."""

    release: str
    field: str
    said: str


def said_of(field: KeptField) -> str:
    """What a custodian is told."""
    return "refused" if field.refusal else "warned of" if field.warning else "silent"


def harmful(place: Place, rows: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Fields that place or name people, by name: a text for each row."""
    area, n = place.area[rows], len(rows)
    return {
        "area code": np.char.add("A", area.astype(str)),
        "code that begins with the area": np.array(
            [
                f"{area_number:05d}-{number:07d}"
                for area_number, number in zip(area.tolist(), rng.permutation(n).tolist())
            ]
        ),
        "personal number": np.char.add("P", rng.permutation(n).astype(str)),
    }


def harmless(place: Place, rows: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Fields that a custodian may release, by name: a value for each row."""
    n, area = len(rows), place.area[rows]
    age = 15 * place.quasi["age_group"].codes[rows] + rng.integers(0, 15, n)
    income = np.round(rng.lognormal(10.6, 0.7, n), -3).astype(int)
    east = np.argsort(np.argsort(place.areas.points[:, 0]))[area] / len(place.areas)
    order = np.argsort(area, kind="stable")
    home = np.empty(n, np.int64)
    home[order] = np.cumsum(rng.random(n) < 1 / PEOPLE_OF_HOUSEHOLD)
    of_home = np.round(rng.lognormal(10.9, 0.6, int(home.max()) + 1), -3).astype(int)
    return {
        "diagnosis": place.diagnosis[rows],
        "diagnosis, 400 codes of which most are rare": np.minimum(rng.zipf(1.3, n), 400),
        "diagnosis that goes with age": age // 10 + rng.integers(0, 30, n),
        "diagnosis, no limit to its codes": np.minimum(rng.zipf(1.6, n), 100_000),
        "income in thousands": income,
        "income in hundreds": np.round(rng.lognormal(10.6, 0.7, n), -2).astype(int),
        "income of the household in thousands": of_home[home],
        "income in thousands, higher in the east": (income * (1 + east) // 1000).astype(int),
        "day of the year": rng.integers(0, 365, n),
        "a fifth only, others empty": np.where(rng.random(n) < 0.2, rng.integers(1, 60, n), 0),
        "home language, one in the east": np.where(rng.random(n) < 0.6 * east, 1, rng.integers(2, 12, n)),
        "tenure, as the street": (rng.random(n) < rng.beta(0.7, 0.7, len(place.areas))[area]).astype(int),
    }


def releases(place: Place, rows: np.ndarray) -> Iterator[tuple[str, Plan, Records]]:
    """A release of one level, and a nested one, of these people."""
    records = place.records(rows, N_QUASI)
    yield "one level", suppress(records.profile, place.regions(records.profile, N_SITES), K), records
    levels = build_levels(place.areas, records.profile)
    yield "nested", nest(place.areas, records.profile, levels, K), records


def outcomes(place: Place, n_rows: int, seed: int = 0) -> Iterator[tuple[bool, Outcome]]:
    """What became of each field, and whether it is a harmful one."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(place.area), min(n_rows, len(place.area)), replace=False)
    for release, plan, records in releases(place, rows):
        for name, values in harmless(place, rows, rng).items():
            yield False, Outcome(release, name, _looked_at(plan, records, some_column(values)))
        for name, values in harmful(place, rows, rng).items():
            for filler, others in FILLERS.items():
                for share in SHARES:
                    column = _filled(values, rng.random(len(rows)) < share, others, rng)
                    field = f"{name} in {100 * share:.0f} % of the rows, {filler}"
                    yield True, Outcome(release, field, _looked_at(plan, records, column))


def _filled(values: np.ndarray, there: np.ndarray, others: list, rng: np.random.Generator) -> Column:
    if others == [None]:
        return some_column(values, there)
    return some_column(np.where(there, values, rng.choice(others, len(values))))


def _looked_at(plan: Plan, records: Records, column: Column) -> str:
    with_field = replace(records, table=replace(records.table, kept={"field": column}))
    return said_of(examine_kept_fields(plan, with_field)[0])


def main() -> None:
    for place in (city(), winnipeg()):
        if place is None:
            print("The real areas are not there.")
            continue
        for n_rows in (60_000, 6_000):
            rated_fields = list(outcomes(place, n_rows))
            for bad, kind, wanted in ((True, "harmful", "refused"), (False, "harmless", "silent")):
                mine = [outcome for is_bad, outcome in rated_fields if is_bad == bad]
                n = {said: sum(outcome.said == said for outcome in mine) for said in ("refused", "warned of", "silent")}
                figures = ", ".join(f"{number} {said}" for said, number in n.items())
                print(f"{place.name}, {n_rows} people, {len(mine)} {kind} fields: {figures}")
                for outcome in mine:
                    if outcome.said != wanted:
                        print(f"    {outcome.said}: {outcome.field} ({outcome.release})")


if __name__ == "__main__":
    main()
