"""Whether a region still hangs together after an area or two changed hands."""

from __future__ import annotations

from collections.abc import Sequence


def stays_connected(
    labels: Sequence[int], beside: Sequence[Sequence[int]], region: int, changed: Sequence[int]
) -> bool:
    """Whether a region that was in one piece still is, after the areas in `changed` left it or came.

    labels : region of each of n areas, after the change; beside : neighbours of each area
    Only what is beside the changed areas can have come apart: it must be found from one of its areas.
    """
    wanted = {other for area in changed for other in beside[area] if labels[other] == region}
    wanted |= {area for area in changed if labels[area] == region}
    if len(wanted) <= 1:
        # A region of one area, or one whose only link to the others is where nothing changed.
        return bool(wanted)
    reached = {wanted.pop()}
    waiting = list(reached)
    while waiting and wanted:
        for other in beside[waiting.pop()]:
            if labels[other] == region and other not in reached:
                reached.add(other)
                wanted.discard(other)
                waiting.append(other)
    return not wanted
