"""Transportation-location: the nearest site for all, then one area at a time out of the overfull regions."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..convergence import convergence
from ..language import plural, tr
from ..profile import Profile
from ..progress import Progress, part, silent
from ..transport import Allocation, allocate
from ..transport.facilities import facility_capacity, first_facilities, load_note
from ..transport.single_moves import SingleMoves, settle
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site


def transportation_location(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """Each area joins the nearest site, areas leave one by one where a site has more than the capacity factor allows,
    and each site moves to the middle of its areas (Cooper 1972, as described by Croft 2018, 2.4.2).

    Components 2 and 3 together. areas : n areas, a demand of 1 each; 1 <= n_sites <= n. options : `capacity_factor`,
    `start_sites`.
    All areas go to the nearest site; while a site is over its limit, the cheapest move of one area from such a site
    to one with room is made, and after each the sites go to their centres and areas to nearer sites with room, until
    nothing moves, or with the best seen when, all sites within their limits, a step makes the sum of the distances
    worse. A site that serves no area is dropped.
    Raises InputError for a capacity factor that is neither 0 nor at least 1, and for another number of start sites.
    """
    points = areas.points
    capacity = facility_capacity(len(areas), n_sites, options.capacity_factor)
    sites = first_facilities(points, n_sites, options.start_sites, part(progress, 0.0, 0.1))
    moves = SingleMoves(points, sites, capacity)
    settled = settle(moves, np.ones(n_sites, bool))
    beyond = [moves.excess]
    n_moves = 0
    while moves.excess:
        settled = settle(moves, moves.move_cheapest())
        n_moves += 1
        beyond.append(moves.excess)
        progress(0.8 - 0.7 * beyond[-1] / beyond[0])
    optimum = allocate(points, moves.facilities, capacity, None, part(progress, 0.8, 1.0))
    series = convergence(tr("Transportation-location"), tr("moves made"), tr("areas beyond the capacities"), beyond)
    return aggregation_by_site(moves.facility_of, moves.facilities, _notes(moves, n_moves, settled, optimum), series)


def _notes(moves: SingleMoves, n_moves: int, settled: bool, optimum: Allocation) -> tuple[str, ...]:
    reason = tr("nothing moved any more") if settled else tr("the next step was worse, so that the best seen is kept")
    longer = 100.0 * (moves.cost / optimum.cost - 1.0) if optimum.cost > 0 else 0.0
    return (
        plural(
            "Transportation-location ended after {n} move out of overfull regions: {reason}.",
            "Transportation-location ended after {n} moves out of overfull regions: {reason}.",
            n_moves,
            reason=reason,
        ),
        tr(
            "The sum of distances is {longer:.3g} % above that of the best allocation to the same sites, "
            "which is proved with a relative gap of {gap:.1e}.",
            longer=max(longer, 0.0),
            gap=optimum.gap,
        ),
        load_note(moves.load, moves.capacity),
    )
