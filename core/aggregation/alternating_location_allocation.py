"""Alternating location-allocation: the cheapest allocation within the capacities, then each site to the centre."""

from __future__ import annotations

from ..areas import Areas
from ..convergence import convergence
from ..language import plural, tr
from ..profile import Profile
from ..progress import Progress, part, silent
from ..transport import Allocation, allocate
from ..transport.facilities import facility_capacity, first_facilities, load_note, recentred
from .options import DEFAULTS, Aggregation, AggregationOptions, aggregation_by_site

SAME = 1e-12  # relative difference of costs that rounding may make
ROUND_LIMIT = 1_000


def alternating_location_allocation(
    areas: Areas,
    profile: Profile | None,
    n_sites: int,
    options: AggregationOptions = DEFAULTS,
    progress: Progress = silent,
) -> Aggregation:
    """The areas join sites with the smallest sum of distances, none taking more than the capacity factor allows, and
    each site moves to the middle of its areas, in turn (Goodchild and Massam 1969, as described by Croft 2018, 2.4.1).

    Components 2 and 3 together. areas : n areas, a demand of 1 each; 1 <= n_sites <= n. options : `capacity_factor`,
    `start_sites`.
    Each allocation is optimal over all n x S arcs, proved by its prices, and starts from the prices of the one before.
    The loop ends when no site moves, or with the best allocation seen when a step makes the sum of the distances
    no better. A site that serves no area is dropped.
    Raises InputError for a capacity factor that is neither 0 nor at least 1, and for another number of start sites.
    """
    points = areas.points
    capacity = facility_capacity(len(areas), n_sites, options.capacity_factor)
    sites = first_facilities(points, n_sites, options.start_sites, part(progress, 0.0, 0.1))
    best, best_sites = allocate(points, sites, capacity, None, part(progress, 0.1, 0.3)), sites
    gap, costs = best.gap, [best.cost]
    reason = tr("the limit of {round_limit} rounds was reached", round_limit=ROUND_LIMIT)
    rounds = 1
    while rounds < ROUND_LIMIT:
        done = 1.0 - 0.7 * 0.9**rounds
        sites = recentred(points, best.facility_of, best_sites)
        if (sites == best_sites).all():
            reason = tr("no site moved any more")
            break
        step = allocate(points, sites, capacity, best, part(progress, done, done + 0.07 * 0.9**rounds))
        rounds += 1
        gap = max(gap, step.gap)
        if step.cost >= best.cost * (1 - SAME):
            settled = (step.facility_of == best.facility_of).all() and step.cost <= best.cost * (1 + SAME)
            reason = tr("no area changed its site any more") if settled else tr("the next one was no better")
            break
        best, best_sites = step, sites
        costs.append(best.cost)
    progress(1.0)
    series = convergence(tr("Alternating location-allocation"), tr("rounds"), tr("sum of the distances, m"), costs)
    return aggregation_by_site(best.facility_of, best_sites, _notes(best, rounds, reason, gap), series)


def _notes(best: Allocation, rounds: int, reason: str, gap: float) -> tuple[str, ...]:
    return (
        plural(
            "Alternating location-allocation ended after {n} allocation: {reason}.",
            "Alternating location-allocation ended after {n} allocations: {reason}.",
            rounds,
            reason=reason,
        ),
        tr(
            "Every allocation was proved optimal over all areas and sites, with a relative gap of {gap:.1e} at most.",
            gap=gap,
        ),
        load_note(best.loads, best.capacity),
    )
