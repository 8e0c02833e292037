"""Adjacent merging: regions below a cut-off are merged with a neighbour, smallest first, until all reach it."""

from __future__ import annotations

from ..aggregation import Aggregation
from ..areas import Areas
from ..errors import InputError
from ..language import tr
from ..neighbours import neighbours_of
from ..parameters import CUTOFF
from ..profile import Profile
from ..progress import Progress, silent
from .merging import Merger
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def adjacent_merging(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """The smallest region below the cut-off is merged with a neighbour, again and again (Croft 2015, section 2.2).

    areas : n areas with their neighbours; options : `cutoff`, `neighbour`, `islands`, `boundary`, `most`.
    Of regions as small as each other the one with the lower number goes first. A region that no neighbour may be merged
    with (because of the boundary or the maximum, or an island left alone) stays as it is, and a note says how many do.
    Raises InputError for a cut-off that is not above 0 or that is above the maximum.
    """
    CUTOFF.check(options.cutoff)
    if 0 < options.most < options.cutoff:
        raise InputError.saying(
            "MAXIMUM is {most:g}, below the cut-off of {cutoff:g}, so that no region could reach it: raise it or set "
            "it to 0 for no limit.",
            most=options.most,
            cutoff=options.cutoff,
        )
    merger = Merger(areas, neighbours_of(areas), options)

    def at_risk(region: int) -> bool:
        return merger.population[region] < options.cutoff

    for _, _, n_waiting in merger.merge_smallest(at_risk):
        progress(1.0 - n_waiting / len(areas))
    return aggregation_of_labels(areas, merger.labels(), merger.notes(at_risk, tr("below the cut-off")))
