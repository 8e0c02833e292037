"""What the dock says of the regions shown, in words."""

from __future__ import annotations

import numpy as np

from ...core.evaluation import Measures, placed
from ...core.language import plural
from ...core.release import NOTHING_RELEASED, NOTHING_RELEASED_NESTED
from .session import ExplorerState
from .widgets import unbroken


def summary_of(state: ExplorerState) -> str:
    """The regions shown, in a few lines."""
    measures, levels = state.shown.measures, len(state.shown.levels)
    lines = [
        plural(
            "{n} region of {areas:,} areas.",
            "{n} regions of {areas:,} areas.",
            measures.n_regions,
            areas=len(state.explorer_data.areas),
        ),
        plural(
            "Suppressed: {n} of {records:,} records ({percent:.3g} %).",
            "Suppressed: {n} of {records:,} records ({percent:.3g} %).",
            measures.n_suppressed,
            records=measures.n_records,
            percent=measures.suppression_percent,
        ),
        _placed(measures, levels > 1),
    ]
    if levels > 1:
        lines.insert(1, plural("{n} level above them.", "{n} levels above them.", levels - 1))
    return unbroken("\n".join(lines))


def _placed(measures: Measures, nested: bool) -> str:
    """How far people live from the middle of their region; that there is none where all records are suppressed."""
    if measures.n_suppressed == measures.n_records:
        return NOTHING_RELEASED_NESTED if nested else NOTHING_RELEASED
    return placed(measures.mean_distance)


def where_shown(state: ExplorerState, level: int, number: int) -> str:
    """Where the records of a region of a nested release are shown; empty for a release of one level."""
    audit = state.shown.audit
    if not state.settings.nested:
        return ""
    _, region = state.shown.position(level, number)
    row = int(np.flatnonzero((audit.level == level) & (audit.region == region))[0])
    return plural(
        "Level {level}: {n} record shows this region, {finer:,} a smaller one within, "
        "{coarser:,} a larger one, and {suppressed:,} are suppressed.",
        "Level {level}: {n} records show this region, {finer:,} a smaller one within, "
        "{coarser:,} a larger one, and {suppressed:,} are suppressed.",
        int(audit.released[row]),
        level=level + 1,
        finer=int(audit.finer[row]),
        coarser=int(audit.coarser[row]),
        suppressed=int(audit.suppressed[row]),
    )
