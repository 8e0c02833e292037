"""The report of a partition held against further years: what fails, what mends it, and what that gives away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import counted
from ..arrays import to_list
from ..cells.mending import FAULTS, HOLDS, Mending
from ..crosswalk import Crosswalk
from ..language import plural, tr
from .page import Report, Section, render
from .pictures import REDS, region_map
from .provenance import Provenance, how_it_was_done


def failing_sentence(faults: np.ndarray) -> str:
    """How many groups fail. faults : (n_groups,) positions in FAULTS."""
    return plural(
        "{n} of {groups} fails by these years.",
        "{n} of {groups} fail by these years.",
        int((faults != HOLDS).sum()),
        groups=counted.groups(len(faults)),
    )


def mending_sentences(mending: Mending, n_small: int) -> list[str]:
    """What mends the groups, and what it gives away. n_small : pieces of both partitions that are below a minimum."""
    moved = int(mending.moved.sum())
    if not moved:
        return [tr("There is nothing to mend.")]
    sentences = [
        plural("{n} cell gets another group.", "{n} cells get another group.", moved),
        tr("No mend has fewer moves.")
        if mending.proven
        else tr("Whether fewer moves would do is not known: the search looked near each group that fails, no farther."),
    ]
    if mending.n_given_up:
        sentences.append(plural("{n} group is given up.", "{n} groups are given up.", mending.n_given_up))
    lost = int(((mending.before > 0) & (mending.after == 0)).sum())
    if lost:
        sentences.append(plural("{n} cell that had a group has none.", "{n} cells that had a group have none.", lost))
    if n_small:
        sentences.append(
            plural(
                "Old and new groups overlap in {n} piece that is below a minimum: whoever has counts of the same "
                "people by both can subtract. Publish by one of them only.",
                "Old and new groups overlap in {n} pieces that are below a minimum: whoever has counts of the same "
                "people by both can subtract. Publish by one of them only.",
                n_small,
            )
        )
    return sentences


def mending_report(
    faults: np.ndarray,
    least: np.ndarray,
    crosswalk: Crosswalk,
    sentences: Sequence[str],
    shapes: np.ndarray,
    north: float | None,
    provenance: Provenance,
) -> str:
    """The page as HTML. faults, least : (n_groups,) of the old groups; shapes : (n_groups,) planar polygons;
    sentences : on what mends them; north : degrees clockwise from the top of the map; provenance : what the run was."""
    failing = faults != HOLDS
    labels = [
        tr("Group {number}: {least:g} people in the year with the fewest; {fault}", number=number, least=n, fault=fault)
        for number, n, fault in zip(
            to_list(crosswalk.numbers), to_list(least), [tr(FAULTS[fault]) or tr("holds") for fault in to_list(faults)]
        )
    ]
    rows = [(tr(FAULTS[fault]), int((faults == fault).sum())) for fault in (1, 2) if (faults == fault).any()]
    sections = [
        Section(tr("What is the matter"), (), (tr("Fault"), tr("Groups")), rows),
        Section(tr("What mends it"), tuple(sentences)),
        Section(
            tr("What was not looked at"),
            (
                tr(
                    "What old and mended groups give away together beyond the pieces in which they overlap, and with "
                    "releases before them: “Check several releases” looks at that, by the records."
                ),
                tr("How compact the groups are: a mend has as few moves as were found, whatever their shape."),
            ),
        ),
        Section(
            tr("The groups"),
            pictures=(
                region_map(shapes, failing.astype(float), labels, tr("Dark: groups that fail."), REDS, "", north),
            ),
        ),
        *how_it_was_done((), provenance),
    ]
    verdict = failing_sentence(faults)
    return render(
        Report(tr("A partition and further years"), verdict, not failing.any(), True, sections, provenance.date)
    )
