"""What is said of an update in the end: what stayed, what moved, what that costs, and when to begin anew."""

from __future__ import annotations

from .. import counted
from ..language import plural, tr
from ..log import Log
from .updating import FURTHER, Changed, Update

BEGIN_ANEW = 10.0  # per cent of the records that are suppressed or moved because of earlier releases


def say_what_changed(changed: Changed, update: Update, n_earlier: int, k: int, log: Log) -> tuple[str, ...]:
    """Say it, and give the sentences for the report; n_earlier : releases of this geography; k : the least change."""
    before = changed.same + changed.other + changed.gone
    kept = plural(
        "Of {n} class of a region that the earlier release shows, {same} is as it was; {other} shows other "
        "numbers, {gone} is shown no more, and {new} new ones are.",
        "Of {n} classes of regions that the earlier release shows, {same} are as they were; {other} show other "
        "numbers, {gone} are shown no more, and {new} new ones are.",
        before,
        same=changed.same,
        other=changed.other,
        gone=changed.gone,
        new=changed.new,
    )
    steps = plural(
        "Between this release and {n} earlier one, each class of a region changes by nobody or by at least {k} "
        "records, and so do all of a class in a region and those within.",
        "Between this release and each of {n} earlier ones, each class of a region changes by nobody or by at least "
        "{k} records, and so do all of a class in a region and those within.",
        n_earlier,
        k=k,
    )
    proven = tr(
        "From these releases it follows of no class of a region that 1 to {most} people came or left, not even for "
        "somebody who knows the method; that some did may well be likely.",
        most=k - 1,
    )
    cost = tr(
        "For that, {up} are shown in larger regions than in a release that knew no earlier one, and {lost} suppressed "
        "beyond it ({percent:.2g} % together).",
        up=counted.records(changed.n_up),
        lost=counted.records(changed.n_lost),
        percent=changed.percent,
    )
    log.info(kept, steps, proven, cost)
    said = (kept, steps, proven, cost)
    if update.kind == FURTHER:
        later = tr("The earlier releases stay: this one stands beside them, as that of a further period.")
    else:
        later = tr(
            "This release takes the place of the earlier ones. Whoever has them keeps them, so the register keeps what "
            "they show."
        )
    log.info(later)
    if changed.percent < BEGIN_ANEW:
        return (*said, later)
    anew = tr(
        "That is more than {most:g} %: where the earlier releases can be withdrawn, or a new series begins with other "
        "people, a new geography with a new register shows more.",
        most=BEGIN_ANEW,
    )
    log.warn(anew)
    return (*said, later, anew)
