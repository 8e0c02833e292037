"""What a crosswalk tells of suppressed records: made again with a record in each place where the person could live.

The attacker knows the method, all its settings and every other record, and looks for one suppressed record among some
areas. Where the record's class in another area leads to another crosswalk than the published one, the person does not
live there. Held against who guesses the area with most people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Callable

import numpy as np
from scipy import sparse

from vbas.benchmarks.minimality import SURE, Guesses, guess
from vbas.core import aggregation, site_location, site_number
from vbas.core.aggregation import AggregationOptions
from vbas.core.approach import depending_on_attribute_counts
from vbas.core.areas import Areas
from vbas.core.baselines import BASELINES, BaselineOptions
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.plan import SUPPRESSED, area_of_cells, suppress
from vbas.core.profile import Profile
from vbas.core.site_location import LocationOptions
from vbas.core.site_number import SiteNumberOptions

# Makes the regions of areas whose population is given, from a profile.
Maker = Callable[[Areas, Profile], Crosswalk]


CONFIGURED = (
    ("max combinations", "balanced density", "iterative Voronoi"),
    ("max combinations (2018)", "balanced density", "iterative Voronoi"),
    ("entropy", "balanced density", "iterative Voronoi"),
    ("suppression budget", "balanced density", "iterative Voronoi"),
    ("given number", "anonymity-driven clustering", "iterative Voronoi"),
    ("given number", "anonymity-driven clustering (2015)", "iterative Voronoi"),
    ("given number", "balanced density", "anonymity exchange"),
)
MERGING = "merging until k-anonymous"
BUDGET = 2.0  # per cent of the records


def makers(k: int, n_sites: int) -> Mapping[str, Maker]:
    """Methods by name; the number of regions is given but where it is what is attacked."""
    number_options = SiteNumberOptions(n_sites=n_sites, k=k, gaps_region="Western Canada", budget=BUDGET)
    aggregation_options = AggregationOptions(k=k)

    def configured(parts: tuple[str, str, str], areas: Areas, profile: Profile) -> Crosswalk:
        made = Configuration(*parts, number_options, LocationOptions(k=k), aggregation_options)
        return aggregate(areas, profile, made).aggregation.crosswalk

    def by_records(areas: Areas, profile: Profile) -> Crosswalk:
        return configured(CONFIGURED[0], areas.with_population(profile.area_sizes), profile)

    def merged(areas: Areas, profile: Profile) -> Crosswalk:
        return BASELINES[MERGING](areas, profile, BaselineOptions(k=k, budget=BUDGET)).crosswalk

    maker_of: dict[str, Maker] = {", ".join(parts): partial(configured, parts) for parts in CONFIGURED}
    return {**maker_of, f"{', '.join(CONFIGURED[0])}, no population field": by_records, MERGING: merged}


def uses_attribute_counts(name: str) -> bool:
    """Whether any approach in a name of `makers` says so of itself."""
    rooms = (site_number.APPROACHES, site_location.APPROACHES, aggregation.APPROACHES, BASELINES)
    return any(part in depending_on_attribute_counts(room) for part in name.split(", ") for room in rooms)


def suppressed_record_attack(
    areas: Areas, profile: Profile, make: Maker, k: int, n_targets: int = 10, n_candidates: int = 10, seed: int = 0
) -> Guesses:
    """Suppressed records looked for among areas drawn by chance, their own among them."""
    rng, crosswalk = np.random.default_rng(seed), make(areas, profile)
    cells = np.flatnonzero(suppress(profile, crosswalk, k).equivalence_class_of == SUPPRESSED)
    if not len(cells):
        return Guesses()
    area, class_of = area_of_cells(profile), profile.counts.indices
    records, guesses = profile.counts.data, Guesses()
    inhabited = np.flatnonzero(profile.area_sizes > 0)
    for cell in rng.choice(cells, n_targets, p=records[cells] / records[cells].sum()).tolist():
        home = int(area[cell])
        others = rng.choice(inhabited[inhabited != home], n_candidates - 1, replace=False)
        near = rng.permutation(np.append(others, home))
        fits = np.array(
            [
                neighbour == home
                or _same(crosswalk, make(areas, _moved(profile, home, neighbour, int(class_of[cell]))))
                for neighbour in near.tolist()
            ]
        )
        by_people, share = guess(near, areas.population[near])
        by_method, probability = guess(near[fits], areas.population[near[fits]])
        sure, right = probability >= SURE > share, by_method == home
        guesses = guesses.plus(Guesses(1, int(by_people == home), int(right), int(sure), int(sure and right)))
    return guesses


def _same(crosswalk: Crosswalk, other: Crosswalk) -> bool:
    """Whether two crosswalks join the same areas, whatever the regions are called."""
    pairs = np.unique(np.column_stack([crosswalk.region_of, other.region_of]), axis=0)
    return len(pairs) == len(np.unique(crosswalk.region_of)) == len(np.unique(other.region_of))


def _moved(profile: Profile, start: int, end: int, class_of: int) -> Profile:
    """The profile with one record of a class in another area."""
    shape = profile.counts.shape
    change = sparse.csr_matrix(([-1, 1], ([start, end], [class_of, class_of])), shape=shape, dtype=np.int64)
    counts = (profile.counts + change).tocsr()
    counts.eliminate_zeros()
    return replace(profile, counts=counts)
