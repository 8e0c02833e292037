"""Groups that grow compactly and are then improved: merged, split anew, and cells exchanged."""

from __future__ import annotations

from ..progress import Progress, part, silent
from .building import build
from .draws import Draws
from .exchanges import exchange
from .grouping import Area, Grouping
from .options import PartitionOptions
from .regrouping import regroup

START_NOISE = 0.5


def compact_growth(area: Area, draws: Draws, options: PartitionOptions, progress: Progress = silent) -> Grouping:
    """Grow groups by what lengthens the diagonal least, from the cells that are hardest to place; then improve them.

    Improving: cells are exchanged one for one, neighbouring groups merged and split anew, cells exchanged again; each
    step is kept only if it makes the loss (Bjerre-Nielsen & Gandil 2018, Eq. 4) no worse. Raises what `progress`
    raises.
    """
    grouping = Grouping(area)
    built, _ = build(area, range(len(area)), draws, START_NOISE, part(progress, 0.0, 0.1))
    for group in built:
        grouping.add(group.members)
    if options.exchanges:
        exchange(grouping, progress=part(progress, 0.1, 0.15))
    regroup(grouping, draws, options.regroupings, part(progress, 0.15, 0.9))
    if options.exchanges:
        exchange(grouping, progress=part(progress, 0.9, 1.0))
    return grouping
