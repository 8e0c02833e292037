"""The test scenarios: real points of dissemination areas, generated people (Croft 2015, section 4; methods: section 8).

    regions, profile = scenario("East", 3, seed=0)

The papers name neither their shares nor their selections of quasi-identifiers: both are our own here. `SELECTIONS` are
six picked by hand, to time and compare methods on always the same; nothing about the papers' averages may be concluded
from so few. For that there are `random_selections`, which nobody picked.
"""

from __future__ import annotations

from functools import lru_cache

from vbas.benchmarks import real_data
from vbas.core.areas import Areas
from vbas.core.profile import Profile, profile_records
from vbas.core.scenarios import parts
from vbas.core.synthetic.canada import canadian_distributions
from vbas.core.synthetic.generator import generate_records, province_from_identifiers

SELECTIONS: tuple[tuple[str, ...], ...] = (
    ("sex", "age_group", "marital_status"),  # 60 possible classes
    ("sex", "age_group", "education"),  # 60
    ("sex", "age_group", "tenure"),  # 24
    ("sex", "age_group", "marital_status", "education", "language"),  # 900
    ("sex", "education", "tenure", "labour_force"),  # 60
    ("sex", "age_group", "ethnicity"),  # 72, some of them rare
)
# Five quasi-identifiers and 900 classes, all of them in use: the scenario to quote speeds on.
LARGE_SELECTION = 3


def random_selections(number: int, seed: int = 0) -> list[tuple[str, ...]]:
    """Different random selections of 2 to 6 of the generator's eleven attributes."""
    return parts.random_selections(tuple(canadian_distributions().attributes), number, seed=seed)


def scenario(part: str, selection: int | tuple[str, ...], seed: int = 0) -> tuple[Areas, Profile]:
    """The DAs of a part of Canada ("East", "Centre", "West") and the profile of their generated people.

    selection : names of attributes, or an index into SELECTIONS. 400 to 700 people in each DA, each attribute drawn
    independently from its province's shares; the population of a DA is the number of its records. Points in EPSG:3347.
    """
    regions = _points(part)
    distributions = canadian_distributions().selection(
        SELECTIONS[selection] if isinstance(selection, int) else selection
    )
    people = generate_records(
        regions.identifiers, province_from_identifiers(regions.identifiers), distributions, seed=seed
    )
    table = people.table()
    profile, _ = profile_records(table.area.codes, table.quasi_identifiers, len(regions))
    return regions.with_population(people.population), profile


@lru_cache(maxsize=3)
def _points(part: str) -> Areas:
    return real_data.canada(part)
