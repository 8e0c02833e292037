"""The report of what several releases give away together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..releases.examining import AllExamined
from ..releases.listing import Row
from ..releases.published import Published
from .page import Report, Section, render
from .running import Running, how_it_was_done

MEANING = {
    "overlay cell": "people of one class in the areas that lie in the same regions of all releases",
    "suppressed class": "a class that a release does not show, which the others tell",
    "difference of two regions": "people of one class in a region but not in the smaller one of another release",
    "rest of a count": "what is left of a count once the counts of another release within it are taken away",
    "told by sensitive values": "a count that the sensitive values tell, and the counts alone do not",
    "one sensitive value": "k people and more who all have one sensitive value, which no release alone shows",
    "change by one sensitive value": "k people and more who were added or taken out, all of one sensitive value",
    "change since": "people who were added to a count, or taken out, between two releases of the same regions",
}


def releases_report(
    found: AllExamined,
    rows: Sequence[Row],
    releases: Sequence[Published],
    k: int,
    running: Running,
) -> str:
    """The page as HTML; running : what the run was."""
    sections = [
        _releases_section(releases),
        _kinds_section(rows, k),
        _together_section(rows),
        *how_it_was_done(_notes(found, releases), running),
    ]
    return render(Report("Earlier releases report", verdict(found, k), not rows, True, sections, running.date, True))


def verdict(found: AllExamined, k: int) -> str:
    """One sentence or two."""
    alike = (
        f" {found.n_alike} groups of {k} people and more have one sensitive value, as the releases together show."
        if found.n_alike
        else ""
    )
    if not found.n_counts:
        undecided = 0 if found.pinned is None else found.pinned.n_undecided
        but = f" that could be decided ({undecided} could not)" if undecided else ""
        return f"The releases together give away no count of 1 to {k - 1} people{but}.{alike}"
    values = f" Of {found.n_values} of them the sensitive values are known." if found.n_values else ""
    return (
        f"The releases together give away {found.n_counts} counts of 1 to {k - 1} people, with at least "
        f"{found.n_persons} people in them, although each release has {k} and more in every class.{values}{alike}"
    )


def _releases_section(releases: Sequence[Published]) -> Section:
    header = ("Release", "Title", "k", "Regions", "Quasi-identifiers", "Sensitive fields", "Counts shown", "Records")
    table = [
        (
            number + 1,
            one.title,
            one.k,
            ", ".join(str(crosswalk.n_regions) for crosswalk in one.levels.crosswalks),
            ", ".join(one.quasi_identifiers),
            ", ".join(values.field for values in one.sensitive),
            len(one.records),
            int(one.records.sum()),
        )
        for number, one in enumerate(releases)
    ]
    return Section("Releases", (), header, table)


def _kinds_section(rows: Sequence[Row], k: int) -> Section:
    """How many counts of which kind, and of how many people."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    header = ("Kind", "Counts", *(f"Exactly {n}" for n in range(1, k)), "Other", "Values known", "Meaning")
    table = []
    for kind in kinds:
        own = [row for row in rows if row.kind == kind]
        exact = Counter(row.low for row in own if row.low == row.high)
        others = len(own) - sum(exact[n] for n in range(1, k))
        known = sum(bool(row.sensitive) for row in own)
        table.append((kind, len(own), *(exact[n] for n in range(1, k)), others, known, MEANING[kind]))
    return Section("What is given away", ("A person can be in several counts.",), header, table)


def _together_section(rows: Sequence[Row]) -> Section:
    """Which releases tell."""
    together = Counter(row.releases for row in rows)
    table = [("; ".join(str(one + 1) for one in sorted(releases)), n) for releases, n in together.most_common()]
    return Section("Which releases tell together", (), ("Releases", "Counts"), table)


def _notes(found: AllExamined, releases: Sequence[Published]) -> list[str]:
    notes = ["Releases of the same regions whose counts differ are updates: they are compared count by count."]
    if any(one.sensitive for one in releases):
        notes.append(
            "Sensitive values are bounded by interval propagation, one field at a time: what several fields tell "
            "together, or only linear programming would find, is not looked at."
        )
    if found.pinned is not None:
        notes.append(
            f"{found.pinned.overlay.n_cells} overlay cells and {len(found.pinned.overlay.entries)} classes were looked "
            f"at; {found.pinned.n_by_programs} of the counts were found by linear programming alone; "
            f"{found.pinned.n_undecided} could not be decided."
        )
        if len(found.pinned.contradicted):
            notes.append(
                f"In {len(found.pinned.contradicted)} classes the releases contradict each other: they are of "
                "different people there, and were not looked at."
            )
    return notes
