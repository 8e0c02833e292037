"""What a release is to hold against, and what is said of it: that no count below k can be derived from it, or that this
is not proven."""

from __future__ import annotations

from ..counted import few
from ..language import as_data, plural, tr

CLASS_HAS_K, NO_SMALL_COUNT = as_data("a class has k"), as_data("no small count follows")
DISCLOSURES = (CLASS_HAS_K, NO_SMALL_COUNT)


def not_proven(k: int) -> str:
    """What log and report say of a nested release at k whose levels were chosen for k alone."""
    return tr(
        "It is not proven that no count of {few} can be derived. A nested release shows no class of fewer than "
        "{k}, but somebody who knows how its levels are chosen can prove of many classes that {few} of their "
        "people live in a part of a region, often in one area (docs/privacy.md, “Knowing the method”). Neither a "
        "larger k nor TIES changes that. Where it must not be, ask for it (DISCLOSURE), or release one level.",
        k=k,
        few=few(k),
    )


def what_is_proven(k: int, together: bool = True, open_beside: bool = False) -> tuple[str, ...]:
    """What log and report say of a release at k that was made so that no small count follows: what holds, against whom,
    and what is taken for granted. together : whether it was looked at what people of all classes together prove;
    open_beside : as for `Account`
    """
    return (
        tr(
            "What can be proven from this release, also by somebody who knows the method, its program and all "
            "parameters but the draws, are the counts of its zones, each {k} or more; where in a zone they live is a "
            "matter of chance. A zone is a region without the smaller regions in it that show the class themselves.",
            k=k,
        ),
        tr(
            "This takes for granted that somebody may know how many people live in each area, but no counts of them "
            "by these quasi-identifiers, other than those that were named to this run (published totals, earlier "
            "releases); that the draws stay secret, which come from the computer's own source and are kept nowhere; "
            "and that of these records this release alone is published. Every run gives another release: two runs of "
            "the same records held beside each other are two releases, from which small counts can follow."
        ),
        *((OPEN_BESIDE,) if open_beside else ()),
        *(() if together else (NOT_TOGETHER,)),
    )


OPEN_BESIDE = tr(
    "But what this release tells together with the published totals or earlier releases that were named to this run "
    "could not be looked at in full."
)
NOT_TOGETHER = tr(
    "Each class was looked at by itself: what the people of an area prove of all classes together was not, as levels "
    "show coarser values."
)


def in_short(k: int, open_beside: bool = False) -> str:
    """The same in a sentence or two, for the end of a log."""
    proven = plural(
        "No count of {n} follows from this release, also for somebody who knows the method: what can be proven are the "
        "counts of its zones, each {k} or more. Publish one run only: every run gives another release.",
        "No count of 1 to {n} follows from this release, also for somebody who knows the method: what can be proven "
        "are the counts of its zones, each {k} or more. Publish one run only: every run gives another release.",
        k - 1,
        k=k,
    )
    return f"{proven} {OPEN_BESIDE}" if open_beside else proven
