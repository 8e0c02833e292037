"""The report of what several releases give away together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..language import tr
from ..releases.counts import ALIKE, CELL, DIFFERENCE, HIDDEN, REST, TOLD
from ..releases.examining import AllExamined
from ..releases.listing import ALIKE_CHANGE, CHANGE, Row
from ..releases.published import Published
from .page import Report, Section, render
from .running import Running, how_it_was_done

MEANING = {
    CELL: tr("people of one class in the areas that lie in the same regions of all releases"),
    HIDDEN: tr("a class that a release does not show, which the others tell"),
    DIFFERENCE: tr("people of one class in a region but not in the smaller one of another release"),
    REST: tr("what is left of a count once the counts of another release within it are taken away"),
    TOLD: tr("a count that the sensitive values tell, and the counts alone do not"),
    ALIKE: tr("k people and more who all have one sensitive value, which no release alone shows"),
    ALIKE_CHANGE: tr("k people and more who were added or taken out, all of one sensitive value"),
    CHANGE: tr("people who were added to a count, or taken out, between two releases of the same regions"),
}


def releases_report(
    found: AllExamined,
    rows: Sequence[Row],
    releases: Sequence[Published],
    k: int,
    running: Running,
    taken: Sequence[str] = (),
    unsure: Sequence[str] = (),
) -> str:
    """The page as HTML; running : what the run was; taken : sentences on which fields are the same; unsure : on what
    could not be compared."""
    sections = [
        Section(tr("What could not be compared"), tuple(unsure)),
        _releases_section(releases),
        _kinds_section(rows, k),
        _together_section(rows),
        *how_it_was_done([*taken, *_notes(found, releases)], running),
    ]
    return render(
        Report(
            tr("Earlier releases report"),
            verdict(found, k, unsure),
            not rows and not unsure,
            True,
            sections,
            running.date,
            True,
        )
    )


def verdict(found: AllExamined, k: int, unsure: Sequence[str] = ()) -> str:
    """What was found, and after it what could not be compared; unsure : sentences on that."""
    if not unsure:
        return _verdict(found, k)
    return tr(
        "{found} Not everything could be compared, so that they may give away more: see the warnings.",
        found=_verdict(found, k),
    )


def _verdict(found: AllExamined, k: int) -> str:
    """One sentence or two."""
    alike = (
        tr(
            " {n_alike} groups of {k} people and more have one sensitive value, as the releases together show.",
            n_alike=found.n_alike,
            k=k,
        )
        if found.n_alike
        else ""
    )
    if not found.n_counts:
        undecided = 0 if found.pinned is None else found.pinned.n_undecided
        but = tr(" that could be decided ({undecided} could not)", undecided=undecided) if undecided else ""
        return tr(
            "The releases together give away no count of 1 to {k} people{but}.{alike}", k=k - 1, but=but, alike=alike
        )
    values = (
        tr(" Of {n_values} of them the sensitive values are known.", n_values=found.n_values) if found.n_values else ""
    )
    return tr(
        "The releases together give away {n_counts} counts of 1 to {k} people, with at least "
        "{n_persons} people in them, although each release has {least} and more in every class.{values}{alike}",
        n_counts=found.n_counts,
        k=k - 1,
        n_persons=found.n_persons,
        least=k,
        values=values,
        alike=alike,
    )


def _releases_section(releases: Sequence[Published]) -> Section:
    header = (
        tr("Release"),
        tr("Title"),
        "k",
        tr("Regions"),
        tr("Quasi-identifiers"),
        tr("Sensitive fields"),
        tr("Counts shown"),
        tr("Records"),
    )
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
    return Section(tr("Releases"), (), header, table)


def _kinds_section(rows: Sequence[Row], k: int) -> Section:
    """How many counts of which kind, and of how many people."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    header = (
        tr("Kind"),
        tr("Counts"),
        *(tr("Exactly {n}", n=n) for n in range(1, k)),
        tr("Other"),
        tr("Values known"),
        tr("Meaning"),
    )
    table = []
    for kind in kinds:
        own = [row for row in rows if row.kind == kind]
        exact = Counter(row.low for row in own if row.low == row.high)
        others = len(own) - sum(exact[n] for n in range(1, k))
        known = sum(bool(row.sensitive) for row in own)
        table.append((tr(kind), len(own), *(exact[n] for n in range(1, k)), others, known, MEANING[kind]))
    return Section(tr("What is given away"), (tr("A person can be in several counts."),), header, table)


def _together_section(rows: Sequence[Row]) -> Section:
    """Which releases tell."""
    together = Counter(row.releases for row in rows)
    table = [("; ".join(str(one + 1) for one in sorted(releases)), n) for releases, n in together.most_common()]
    return Section(tr("Which releases tell together"), (), (tr("Releases"), tr("Counts")), table)


def _notes(found: AllExamined, releases: Sequence[Published]) -> list[str]:
    notes = [tr("Releases of the same regions whose counts differ are updates: they are compared count by count.")]
    if any(one.sensitive for one in releases):
        notes.append(
            tr(
                "Sensitive values are bounded by interval propagation, one field at a time: what several fields tell "
                "together, or only linear programming would find, is not looked at."
            )
        )
    if found.pinned is not None:
        notes.append(
            tr(
                "{n_cells} overlay cells and {n_entries} classes were looked "
                "at; {n_by_programs} of the counts were found by linear programming alone; "
                "{n_undecided} could not be decided.",
                n_cells=found.pinned.overlay.n_cells,
                n_entries=len(found.pinned.overlay.entries),
                n_by_programs=found.pinned.n_by_programs,
                n_undecided=found.pinned.n_undecided,
            )
        )
        if len(found.pinned.contradicted):
            notes.append(
                tr(
                    "In {n_contradicted} classes the releases contradict each other: they are of "
                    "different people there, and were not looked at.",
                    n_contradicted=len(found.pinned.contradicted),
                )
            )
    return notes
