"""Adjacent merging: regions below a cut-off are merged with a neighbour, smallest first, until all reach it."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError
from ..neighbours import neighbours_of
from ..profile import Profile
from ..progress import Progress, silent
from .merging import Merger
from .options import BaselineOptions, aggregation_of_labels
from .static_cutoff import check_cutoff

DEFAULTS = BaselineOptions()


def adjacent_merging(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """The smallest region below the cut-off is merged with a neighbour, again and again (Croft 2015, section 2.2).

    areas : n areas with their neighbours; options : `cutoff`, `neighbour`, `islands`, `boundary`, `most`.
    Of regions as small as each other the one with the lower number goes first. A region that no neighbour may be merged
    with (because of the boundary or the maximum, or an island left alone) stays as it is, and a note says how many do.
    Raises InputError for a cut-off that is not above 0 or that is above the maximum.
    """
    check_cutoff(options.cutoff)
    if 0 < options.most < options.cutoff:
        raise InputError(
            f"MAXIMUM is {options.most:g}, below the cut-off of {options.cutoff:g}, so that no region could reach it: "
            "raise it or set it to 0 for no limit."
        )
    merger = Merger(areas, neighbours_of(areas), options)
    waiting = [(population, area) for area, population in enumerate(merger.population) if population < options.cutoff]
    heapify(waiting)
    total, stuck = max(len(waiting), 1), set()
    while waiting:
        population, region = heappop(waiting)
        if merger.of(region) != region or merger.population[region] != population:
            continue  # it was merged since
        partner = merger.partner(region)
        if partner is None:
            stuck.add(region)
            continue
        kept = merger.merge(region, partner)
        if merger.population[kept] < options.cutoff:
            heappush(waiting, (merger.population[kept], kept))
        progress(1.0 - len(waiting) / total)
    left = sum(merger.of(region) == region and merger.population[region] < options.cutoff for region in stuck)
    return aggregation_of_labels(areas, merger.labels(), merging_notes(merger, left, "below the cut-off"))


def merging_notes(merger: Merger, n_left: int, state: str) -> tuple[str, ...]:
    """Sentences on what merging came to; n_left : regions in that state that could not be merged."""
    notes = [f"Merging neighbours left {merger.n_alive} regions."]
    if merger.n_joined:
        notes.append(f"{merger.n_joined} regions without a neighbour joined the nearest region.")
    if n_left:
        notes.append(f"{n_left} regions are still {state}: there is no neighbour they may be merged with.")
    return tuple(notes)
