"""Places with people to attack: the demonstration city, and real areas with generated people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from vbas.benchmarks import demonstration, real_data
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.profile import Profile
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.site_number import SiteNumberOptions
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.city import SENSITIVE, demonstration_city
from vbas.core.synthetic.generator import generate_records, province_from_identifiers

K = 5
QUASI_IDENTIFIERS = ("age_group", "sex", "marital_status", "education")


@dataclass(frozen=True, eq=False)
class Place:
    """Areas with their people. area, diagnosis : (N,) int64; quasi : columns by name."""

    name: str
    areas: Areas
    area: np.ndarray
    quasi: dict[str, Column]
    diagnosis: np.ndarray

    def records(self, rows: np.ndarray | None = None, n_quasi: int = len(QUASI_IDENTIFIERS), **more: Any) -> Records:
        """Some rows (all where None) by their first quasi-identifiers; more : of `RecordTable`, by row of these."""
        rows = np.arange(len(self.area)) if rows is None else rows
        quasi = {
            name: Column(column.codes[rows], column.categories) for name, column in list(self.quasi.items())[:n_quasi]
        }
        table = RecordTable(Column(self.area[rows], self.areas.identifiers), quasi, {})
        return match_records(replace(table, **more), self.areas, k=K)

    def regions(self, profile: Profile, n_sites: int) -> Crosswalk:
        """So many regions by balanced density and iterative Voronoi."""
        made = Configuration("given number", number_options=SiteNumberOptions(n_sites=n_sites))
        return aggregate(self.areas, profile, made).aggregation.crosswalk


def some_column(values: np.ndarray, there: np.ndarray | None = None) -> Column:
    """A column of values, missing where `there` is not true."""
    categories, codes = np.unique(values, return_inverse=True)
    if there is None:
        return Column(codes.reshape(-1), categories.astype(object))
    codes = np.where(there, codes.reshape(-1), len(categories))
    return Column(codes, np.append(categories.astype(object), np.array([None])))


@cache
def city(n_areas: int | None = None) -> Place:
    """The demonstration city, or the same town with so many areas."""
    made = demonstration.city() if n_areas is None else demonstration_city(n_areas=n_areas)
    table, areas = made.people().table(), made.areas()
    area = areas.codes_of(table.area.categories)[table.area.codes]
    quasi = {name: table.quasi_identifiers[name] for name in QUASI_IDENTIFIERS}
    return Place("Demonstration city", areas, area, quasi, table.kept[SENSITIVE].codes.astype(np.int64))


@lru_cache(maxsize=1)
def winnipeg() -> Place | None:
    """The dissemination areas of Winnipeg with as many generated people as live there; None where the data are not."""
    return real_place("Winnipeg")


def real_place(name: str, attributes: Sequence[str] = QUASI_IDENTIFIERS, one_of: int = 1) -> Place | None:
    """Real areas with as many generated people as live there, of these attributes; None where the data are not.

    one_of : people for whom there is one; where areas are in no province of Canada, people are those of Ontario
    """
    if not real_data.available():
        return None
    from vbas.benchmarks.real_areas import areas as real_areas

    areas = real_areas(name)
    areas = areas.with_population(np.floor(areas.population / one_of))
    inhabited = np.flatnonzero(areas.population > 0)
    identifiers = areas.identifiers[inhabited]
    abroad = name not in ("Winnipeg", "East of Canada")
    people = generate_records(
        identifiers,
        np.full(len(identifiers), "35", object) if abroad else province_from_identifiers(identifiers),
        canadian_distributions().selection(attributes),
        areas.population[inhabited].astype(np.int64),
    ).table()
    area = areas.codes_of(people.area.categories)[people.area.codes]
    shares = np.array([0.62, 0.15, 0.1, 0.06, 0.04, 0.02, 0.007, 0.003])  # one diagnosis is frequent, some are rare
    diagnosis = np.random.default_rng(0).choice(len(shares), len(area), p=shares)
    return Place(name, areas, area, dict(people.quasi_identifiers), diagnosis)


def sensitive_column(place: Place, rows: np.ndarray) -> Column:
    """The diagnoses of some rows."""
    return column_from_values([f"d{code}" for code in place.diagnosis[rows].tolist()])
