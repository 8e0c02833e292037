"""What is said of an update in the end: what stayed, what moved, what that costs, and when to begin anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import counted
from ..disclosure.published import Published
from ..disclosure.row_values import fields_in_new_words, known_row_fields, n_that_can_be_followed
from ..errors import in_quotes
from ..language import all_of, plural, tr
from ..log import Log
from ..plan import Plan
from .carrying_on import CarriedOn
from .updating import FURTHER, SHOWN, Changed, Update

BEGIN_ANEW = 10.0  # per cent of the records that are suppressed or moved because of earlier releases


def say_what_update_does(
    carried: CarriedOn,
    plan: Plan,
    published: Published | None,
    k: int,
    log: Log,
    beside_counts: bool,
    sure: bool,
) -> tuple[Changed, Published | None, tuple[str, ...]]:
    """What an update changes, what the register is to keep of it, and what was said of it, for the report.

    plan, published : what is released in the end, and what that shows; beside_counts, sure : as in `say_what_changed`,
    the latter by what is known of the register alone
    """
    update, earlier = carried.update, carried.earlier
    changed = carried.changed_by(plan, published)
    new_words = [] if published is None else fields_in_new_words(published, earlier, k)
    sure = sure and not new_words
    said = say_what_changed(changed, update, len(earlier), carried.least_change, log, beside_counts, sure)
    if published is None:
        return changed, None, said
    published = replace(published, updates=(update.entry, update.kind))
    if update.identical_rows:
        of_rows = say_who_is_held_back(published, changed.n_rare, k, log)
    else:
        changed = replace(changed, n_followed=n_that_can_be_followed(published, earlier, k))
        of_rows = say_who_can_be_followed(published, changed.n_followed, k, log)
    return changed, published, (*said, *of_rows, *say_what_is_in_new_words(new_words, k, log))


def say_what_changed(
    changed: Changed, update: Update, n_earlier: int, k: int, log: Log, beside_counts: bool = False, sure: bool = True
) -> tuple[str, ...]:
    """Say it, and give the sentences for the report.

    n_earlier : releases of this geography; k : the least change; beside_counts : whether the update was held against
    counts that others publish, by which more than the people whom it shows decides what it shows; sure : whether the
    earlier releases are what they were, and their values are known to be written as those of now
    """
    before = changed.same + changed.other + changed.gone
    kept = tr(
        "Classes of regions that the earlier release shows: {n}; as they were: {same}; with other numbers or values: "
        "{other}; shown no more: {gone}. New ones: {new}.",
        n=before,
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
    proven = (
        tr(
            "From these releases alone it follows of no class of a region that some, but fewer than {k}, came or left; "
            "that some did may well be likely. What follows together with the counts that others publish of several "
            "months, or for somebody who knows the method, is not looked at.",
            k=k,
        )
        if beside_counts
        else tr(
            "From these releases it follows of no class of a region that some, but fewer than {k}, came or left, not "
            "even for somebody who knows the method; that some did may well be likely.",
            k=k,
        )
    )
    cost = (
        tr(
            "What that costs, and that no count below k follows from published totals: shown in larger regions than in "
            "a release that knew neither: {up}; suppressed beyond it: {lost} ({percent:.2g} % together).",
            up=counted.records(changed.n_up),
            lost=counted.records(changed.n_lost),
            percent=changed.percent,
        )
        if beside_counts
        else tr(
            "What that costs: shown in larger regions than in a release that knew no earlier one: {up}; suppressed "
            "beyond it: {lost} ({percent:.2g} % together).",
            up=counted.records(changed.n_up),
            lost=counted.records(changed.n_lost),
            percent=changed.percent,
        )
    )
    unsure = tr(
        "Whether classes of regions change by fewer than {k} records between this release and the earlier ones "
        "nobody can say, as not everything could be compared (see the warnings).",
        k=k,
    )
    known = (steps, proven) if sure else (unsure,)
    log.info(kept)
    (log.info if sure else log.warn)(*known)
    said = (kept, *known, cost)
    log.info(cost)
    if update.kind == FURTHER:
        later = tr("The earlier releases stay: this one stands beside them, as that of a further period.")
    else:
        later = tr(
            "This release takes the place of the earlier ones. Whoever has them keeps them, so the register keeps what "
            "they show."
        )
    log.info(later)
    if changed.percent <= BEGIN_ANEW or beside_counts:  # of these a new geography may show no more
        return (*said, later)
    anew = tr(
        "That is more than {most:g} %: where the earlier releases can be withdrawn, or a new series begins with other "
        "people, a new geography with a new register shows more.",
        most=BEGIN_ANEW,
    )
    log.warn(anew)
    return (*said, later, anew)


def say_that_k_is_more(earlier: Sequence[Published], k: int, log: Log) -> tuple[str, ...]:
    """Say by which earlier release of its geography an update has a larger k than was asked for, and give the sentence
    for the report."""
    strictest = max(earlier, key=lambda release: release.k)
    more = tr(
        "K is {k}, and {release} was made with {theirs}: an update has {theirs}, too.",
        k=k,
        release=strictest.title,
        theirs=strictest.k,
    )
    log.warn(more)
    return (more,)


def say_who_can_be_followed(release: Published, n: int, k: int, log: Log) -> tuple[str, ...]:
    """Say how many rows whoever compares months may know again, and give the sentence for the report; none for none."""
    if not n:
        return ()
    followed = plural(
        "{n} row of this release and the one before can be followed from month to month: fewer than {k} rows of its "
        "class show what it shows in {fields}. Somebody who knows that a certain person left may read that person's "
        "values out of the two: group the values, or keep fewer fields.",
        "{n} rows of this release and the one before can be followed from month to month: fewer than {k} rows of their "
        "class show what they show in {fields}. Somebody who knows that a certain person left may read that person's "
        "values out of the two: group the values, or keep fewer fields.",
        n,
        k=k,
        fields=all_of([in_quotes(name) for name in known_row_fields(release)]),
    )
    log.warn(followed)
    return (followed,)


def say_who_is_held_back(release: Published, n: int, k: int, log: Log) -> tuple[str, ...]:
    """Say that no row of an update can be followed by rare values, and how many people that costs; none where it shows
    no field beside quasi-identifiers."""
    names = known_row_fields(release)
    if not names:
        return ()
    fields = all_of([in_quotes(name) for name in names])
    identical = tr(
        "Each row of this release looks like at least {others} others of its class and region in {fields}, too.",
        others=k - 1,
        fields=fields,
    )
    log.info(identical)
    if not n:
        return (identical,)
    rare = plural(
        "{n} record is held back because its values are rare: fewer than {k} records of its class in its largest "
        "region show what it shows in {fields}. To show more, group the values, keep fewer fields, or set FOLLOWED to "
        "“{shown}”, by which rare rows can be followed from month to month.",
        "{n} records are held back because their values are rare: fewer than {k} records of their class in their "
        "largest region show what they show in {fields}. To show more, group the values, keep fewer fields, or set "
        "FOLLOWED to “{shown}”, by which rare rows can be followed from month to month.",
        n,
        k=k,
        fields=fields,
        shown=SHOWN,
    )
    log.warn(rare)
    return (identical, rare)


def say_what_is_in_new_words(fields: Sequence[str], k: int, log: Log) -> tuple[str, ...]:
    """Say of which fields values may be written in other words, and give the sentence for the report; none for none."""
    if not fields:
        return ()
    said = tr(
        "{fields}: a value that {k} rows or more of the release before show is gone, and another is new. If the one is "
        "the other in other words, changes of a few people among them are not seen, and whoever knows both words may "
        "see them: write values as before.",
        fields=all_of([in_quotes(name) for name in fields]),
        k=k,
    )
    log.warn(said)
    return (said,)
