"""Static cut-off: areas whose population does not exceed a fixed one are at risk, all their records are suppressed."""

from __future__ import annotations

import numpy as np

from ..aggregation import Aggregation
from ..areas import Areas
from ..crosswalk import LEFT_OUT
from ..language import plural
from ..parameters import CUTOFF
from ..profile import Profile
from ..progress import Progress, silent
from .options import DEFAULTS, BaselineOptions, aggregation_of_labels


def static_cutoff(
    areas: Areas, profile: Profile | None, options: BaselineOptions = DEFAULTS, progress: Progress = silent
) -> Aggregation:
    """Areas whose population does not exceed the cut-off are left out, the others stay as they are (Croft 2015,
    section 2.2).

    What statistical offices did before areas were merged. areas : n areas;
    options : `cutoff`. Raises InputError for a cut-off that is not above 0.
    """
    CUTOFF.check(options.cutoff)
    at_risk = ~(areas.population > options.cutoff)
    labels = np.where(at_risk, LEFT_OUT, np.arange(len(areas), dtype=np.int64))
    note = plural(
        "{n} of {n_areas} areas does not exceed the cut-off of {cutoff:g}: left out.",
        "{n} of {n_areas} areas do not exceed the cut-off of {cutoff:g}: left out.",
        int(at_risk.sum()),
        n_areas=len(areas),
        cutoff=options.cutoff,
    )
    return aggregation_of_labels(areas, labels, (note,))
