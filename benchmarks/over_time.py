"""One geography for ten years, against a geography of its own for each: what the same classes in all years cost.

    PYTHONPATH=build/package .venv/bin/python benchmarks/over_time.py [Winnipeg] [East] [city] [--write]

Ten made-up years of the same people: 9 in 100 move in a year, to an area drawn by population; everybody grows older,
who leaves the oldest age group is replaced by somebody in the youngest. k = 5.
"""

from __future__ import annotations

import numpy as np

from vbas.core.areas import Areas
from vbas.core.plan import area_of_cells
from vbas.core.profile import Profile, profile_records
from vbas.core.records.columns import Column

K, YEARS, MOVES, AGES, SEED = 5, 10, 0.09, 0.06, 0


def drifting(areas: Areas, profile: Profile, years: int = YEARS, seed: int = SEED) -> Profile:
    """The people of a profile over so many years, with the year as last quasi-identifier."""
    rng = np.random.default_rng(seed)
    area = np.repeat(area_of_cells(profile), profile.counts.data)
    codes = profile.classes[np.repeat(profile.counts.indices, profile.counts.data)].copy()
    age = next(i for i, name in enumerate(profile.quasi_identifiers) if "age" in name.lower())
    oldest = len(profile.categories[age]) - 1
    share = profile.area_sizes / profile.n_records
    areas_of, codes_of = [], []
    for _ in range(years):
        areas_of.append(area.copy())
        codes_of.append(codes.copy())
        moves = rng.random(len(area)) < MOVES
        area[moves] = rng.choice(len(share), int(moves.sum()), p=share)
        older = rng.random(len(area)) < AGES
        codes[older, age] = np.where(codes[older, age] == oldest, 0, codes[older, age] + 1)
    year = np.repeat(np.arange(years), len(area))
    every = np.concatenate(codes_of)
    columns = {name: Column(every[:, i], profile.categories[i]) for i, name in enumerate(profile.quasi_identifiers)}
    columns["year"] = Column(year, np.array([str(2011 + i) for i in range(years)], dtype=object))
    return profile_records(np.concatenate(areas_of), columns, len(areas))[0]
