"""The report of what several releases give away together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .. import counted
from ..disclosure.certificate import Certificate, certify_classes
from ..disclosure.counts import CELL, DIFFERENCE, DISCLOSED_BY_VALUES, HIDDEN, HOMOGENEOUS, REST, SUM
from ..disclosure.published import Published
from ..language import plural, tr
from ..releases.examining import AllExamined
from ..releases.listing import CHANGE, CHANGE_BY_VALUES, HOMOGENEOUS_CHANGE, Row
from .certificate import checked_section
from .page import Report, Section, render
from .provenance import Provenance, how_it_was_done

MEANING = {
    CELL: tr("people of one class in the areas that lie in the same regions of all releases"),
    HIDDEN: tr("a class that a release does not show, which the others tell"),
    DIFFERENCE: tr("people of one class in a region but not in the smaller one of another release"),
    REST: tr("what is left of a count once the counts of another release within it are taken away"),
    SUM: tr("people of one or several classes in one or several regions, or parts of them, together"),
    DISCLOSED_BY_VALUES: tr("a count that the sensitive values tell, and the counts alone do not"),
    HOMOGENEOUS: tr("k people and more who all have one sensitive value, which no release alone shows"),
    HOMOGENEOUS_CHANGE: tr("k people and more who were added or taken out, all of one sensitive value"),
    CHANGE: tr("people who were added to a count, or taken out, between two releases of the same regions"),
    CHANGE_BY_VALUES: tr(
        "a few people who were added to a count beside many who were taken out, or the other way round, as their "
        "sensitive values tell"
    ),
}


def releases_report(
    findings: AllExamined,
    rows: Sequence[Row],
    releases: Sequence[Published],
    k: int,
    provenance: Provenance,
    taken: Sequence[str] = (),
    unsure: Sequence[str] = (),
    assumption: str = "",
) -> str:
    """The page as HTML; provenance : what the run was; taken : sentences on which fields are the same; unsure : on what
    could not be compared; assumption : as `verdict` takes it."""
    sections = [
        Section(tr("What could not be compared"), tuple(unsure)),
        _releases_section(releases),
        _kinds_section(rows, k),
        _together_section(rows),
        checked_section(certificate_of_all(findings, releases, k), nested_by_nobody_knows(releases)),
        *how_it_was_done([*taken, *_notes(findings, releases)], provenance),
    ]
    return render(
        Report(
            tr("Earlier releases report"),
            verdict(findings, k, min(release.k for release in releases), unsure, assumption),
            not rows and not unsure and not findings.n_contradicted and not findings.n_undecided,
            True,
            sections,
            provenance.date,
            True,
        )
    )


def certificate_of_all(findings: AllExamined, releases: Sequence[Published], k: int) -> Certificate:
    """Which counts were tried: the classes of each release by themselves, and what releases tell together."""
    shown_alone = np.concatenate([release.records for release in releases if release.counts_from is None])
    return certify_classes(shown_alone, k, findings.families)


def nested_by_nobody_knows(releases: Sequence[Published]) -> bool:
    """Whether some release has several levels and is not known to have been made so that no small count follows."""
    return any(release.nested and not release.in_zones for release in releases)


def verdict(findings: AllExamined, k: int, least: int, unsure: Sequence[str] = (), assumption: str = "") -> str:
    """What was found, in a few sentences, and after it what could not be compared.

    least : the smallest k of the releases; unsure : sentences on what could not be compared; assumption : the sentence
    on fields that are taken for different ones, which nothing found rests on
    """
    said = [_contradicted(findings.n_contradicted)] if findings.n_contradicted else []
    said.append(_given_away(findings, k, least) if findings.n_counts else _nothing_given_away(findings, k))
    if findings.n_counts and findings.n_values:
        said.append(tr("Of {n_values} of them the sensitive values are known.", n_values=findings.n_values))
    if findings.n_homogeneous:
        said.append(
            plural(
                "{n} group of {k} people and more has one sensitive value, as the releases together show.",
                "{n} groups of {k} people and more have one sensitive value, as the releases together show.",
                findings.n_homogeneous,
                k=k,
            )
        )
    if assumption:
        said.append(
            tr(
                "This holds if fields that are taken for different ones are different. {assumption}",
                assumption=assumption,
            )
        )
    if unsure:
        said.append(tr("Not everything could be compared, so that they may give away more: see the warnings."))
    return " ".join(said)


def _contradicted(n: int) -> str:
    return plural(
        "In {n} class the releases contradict each other, and nobody can say what they give away there: they are of "
        "other people, or their quasi-identifiers, their k or why classes are suppressed is not what was said here.",
        "In {n} classes the releases contradict each other, and nobody can say what they give away there: they are of "
        "other people, or their quasi-identifiers, their k or why classes are suppressed is not what was said here.",
        n,
    )


def _given_away(findings: AllExamined, k: int, least: int) -> str:
    return plural(
        "The releases together give away {n} count of fewer than {k} people, with at least {people} in it, although "
        "each release has {least} and more in every class.",
        "The releases together give away {n} counts of fewer than {k} people, with at least {people} in them, although "
        "each release has {least} and more in every class.",
        findings.n_counts,
        k=k,
        people=counted.people(findings.n_persons),
        least=least,
    )


def _nothing_given_away(findings: AllExamined, k: int) -> str:
    if findings.n_undecided:
        return plural(
            "No count of fewer than {k} people was found that the releases give away together; but {n} could not be "
            "decided, and may be given away.",
            "No count of fewer than {k} people was found that the releases give away together; but {n} could not be "
            "decided, and may be given away.",
            findings.n_undecided,
            k=k,
        )
    if findings.n_contradicted:
        return tr("In the other classes no count of fewer than {k} people was found.", k=k)
    return tr("No count of fewer than {k} people was found that the releases give away together.", k=k)


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
            release.title,
            release.k,
            ", ".join(str(crosswalk.n_regions) for crosswalk in release.levels.crosswalks),
            ", ".join(release.quasi_identifiers),
            ", ".join(values.field for values in release.sensitive),
            len(release.records),
            int(release.records.sum()),
        )
        for number, release in enumerate(releases)
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
    table = [("; ".join(str(number + 1) for number in sorted(releases)), n) for releases, n in together.most_common()]
    return Section(tr("Which releases tell together"), (), (tr("Releases"), tr("Counts")), table)


def _notes(findings: AllExamined, releases: Sequence[Published]) -> list[str]:
    notes = [tr("Releases of the same regions whose counts differ are updates: they are compared count by count.")]
    if any(release.sensitive for release in releases):
        notes.append(
            tr(
                "Sensitive values are bounded by interval propagation, one field at a time: what several fields tell "
                "together, or only linear programming would find, is not looked at."
            )
        )
    for disclosed, _ in findings.each:
        notes.append(
            tr(
                "Looked at: cells of the overlay ({n_cells}) and classes ({n_classes}). Found by linear programming "
                "alone: {n_by_programs} of the counts. Not decided: {n_undecided}.",
                n_cells=disclosed.overlay.n_cells,
                n_classes=len(disclosed.overlay.entries),
                n_by_programs=disclosed.n_by_programs,
                n_undecided=disclosed.n_undecided,
            )
        )
        if len(disclosed.contradicted):
            notes.append(
                plural(
                    "In {n} class the releases contradict each other: it was not looked at.",
                    "In {n} classes the releases contradict each other: they were not looked at.",
                    len(disclosed.contradicted),
                )
            )
    return notes
