"""Anonymity exchange: areas change regions, so that little is suppressed and the regions are compact together."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..areas import Areas
from ..crosswalk import LEFT_OUT, Crosswalk, number_compactly
from ..elementary import norms
from ..errors import InputError
from ..language import tr
from ..neighbours import neighbours_of
from ..parameters import BUDGET, K
from ..plan import suppress
from ..privacy.in_each_period import with_series
from ..privacy.requirement import Requirement
from ..profile import Profile
from ..progress import Progress, part, silent
from .annealing.schedule import annealed
from .annealing.territory import territory_of
from .iterative_voronoi import relocate
from .options import DEFAULTS, Aggregation, AggregationOptions


def anonymity_exchange(
    areas: Areas,
    profile: Profile | None,
    sites: np.ndarray,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """As iterative Voronoi, then areas at borders change regions, and regions join and split, so that areas lie nearer
    to the middle of theirs, and no more is suppressed than the budget allows or, without one, than before.

    areas : n areas with their neighbours; profile : of the same areas; sites : (S, 2), metres, which the start is drawn
    by; options : `k`, `seed`, `budget`, `class_weights`, `period`. See `exchanged`.
    Raises InputError without a profile, and what `exchanged` raises.
    """
    start = relocate(areas.points, sites, part(progress, 0.0, 0.05))[0]
    return exchanged(areas, profile, number_compactly(start)[0], options, part(progress, 0.05, 1.0))


def exchanged(
    areas: Areas,
    profile: Profile | None,
    start: Crosswalk,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """The same from any crosswalk of these areas; areas that it leaves out stay so.

    What is minimised is the compactness, the sum of the distances from the areas to the mean centre of their region,
    with at most `options.budget` per cent of the records suppressed or, where it is None, at most as many as by the
    start; with class weights, per cent of the weight of all records. Where the start is above the budget and no way
    below it is found, the least that was found is suppressed. Suppressed are records whose class has fewer than k in
    their region; with `options.period` all records of a class that has 1 to k - 1 there in some period: what more a
    release asks of a class (such as distinct sensitive values) is not looked at here.
    Simulated annealing: batches of moves that share no region; a region never comes to be in more pieces.
    Raises InputError without a profile, for k below 2 and a budget outside 0 to 100, and where the counts of all
    regions by all classes are too many to hold.
    """
    if profile is None:
        raise InputError.saying(
            "AGGREGATION “anonymity exchange” looks at the classes of the records: give RECORDS, RECORD_REGION and "
            "QUASI_IDENTIFIERS."
        )
    K.check(options.k)
    if options.budget is not None:
        BUDGET.check(options.budget)
    inside = np.flatnonzero(start.region_of >= 0)
    region_of = np.full(len(areas), LEFT_OUT, np.int64)
    territory = territory_of(
        areas.points[inside],
        neighbours_of(areas).within(inside),
        Profile(profile.counts[inside], profile.classes, profile.categories, profile.quasi_identifiers),
        options.k,
        options.class_weights,
        options.period,
    )
    lost = territory.lost_of_rows(territory.grouped(start.region_of[inside], start.n_regions)).sum()
    most = lost if options.budget is None else options.budget / 100 * territory.total - territory.unavoidable
    region_of[inside] = annealed(territory, start.region_of[inside], max(float(most), 0.0), options.seed, progress)
    crosswalk = number_compactly(region_of)[0]
    return Aggregation(
        crosswalk, crosswalk.mean_centres(areas.points), _notes(areas, profile, start, crosswalk, options)
    )


def _notes(
    areas: Areas, profile: Profile, start: Crosswalk, end: Crosswalk, options: AggregationOptions
) -> tuple[str, ...]:
    """What was reached, from where."""
    sentences, percents, requirement = [], [], Requirement(options.k)
    if options.period:
        requirement = with_series(requirement, profile, options.period)
    for crosswalk in (start, end):
        inside = crosswalk.region_of >= 0
        centres = crosswalk.mean_centres(areas.points)[crosswalk.region_of[inside]]
        metres = norms(areas.points[inside] - centres).sum()
        n_released = suppress(profile, crosswalk, options.k, requirement).n_released
        percents.append(100.0 * (profile.n_records - n_released) / max(profile.n_records, 1))
        sentences.append(
            tr(
                "{regions}, {percent:.3g} % suppressed, compactness {metres:.0f} m",
                regions=counted.regions(crosswalk.n_regions),
                percent=percents[-1],
                metres=metres,
            )
        )
    notes = [
        tr(
            "Anonymity exchange, by classes below {k}: from {before} to {after}.",
            k=options.k,
            before=sentences[0],
            after=sentences[1],
        )
    ]
    if options.budget is not None and options.class_weights is None and percents[1] > options.budget:
        notes.append(
            tr(
                "Warning: no regions were found that suppress at most {budget:g} %; these suppress the least that "
                "was found.",
                budget=options.budget,
            )
        )
    return tuple(notes)
