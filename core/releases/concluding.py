"""What is said in the end of a release that was held against earlier ones: no more than what was found."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..disclosure.counts import HOMOGENEOUS
from ..disclosure.published import Published
from ..language import all_of, plural, tr
from ..log import QUIET, Log
from ..privacy.requirement import Requirement
from .examining import Examined
from .matching import Matched


def concluded(
    same: Matched,
    findings: Examined,
    n_earlier: int,
    k: int,
    requirement: Requirement,
    of_persons: bool = False,
    log: Log = QUIET,
    apart: str = "",
    as_it_was: bool = True,
) -> tuple[list[str], bool]:
    """Say what was found once this release gives nothing away; all sentences on it, for the report, and whether all
    could be compared and decided.

    same : which fields are the same; requirement : what is asked of classes beside k; of_persons : whether somebody has
    several of the records of this release; apart : `of_some_people`; as_it_was : whether the register is
    what its chain says
    """
    of_persons = of_persons or any(release.of_persons for release in same.releases)
    beside_counts = any(release.counts_from is not None for release in same.releases)
    warnings = [
        *([counts_rows(k)] if of_persons else []),
        *([apart] if apart else []),
        *_warnings(findings, k, requirement, beside_counts),
    ]
    sure = not (same.warnings or _undecided(findings) or of_persons or apart or not as_it_was)
    result = _result(same, findings, n_earlier, k) if sure else _unsure(n_earlier)
    log.warn(*warnings)
    (log.info if sure else log.warn)(result)
    return [*same.said, *same.warnings, *warnings, result], sure


def of_some_people(releases: Sequence[Published], updated: Collection[int] = ()) -> str:
    """What is said where releases that are taken to be of the same people are not known to be: rows were left
    out of some of them. Empty for none.

    updated : the positions of those that are known to be of other people
    """
    kept = [release for at, release in enumerate(releases) if at not in updated]
    some = [release.title for release in kept if release.of_some]
    if len(kept) < 2 or not some:
        return ""
    return tr(
        "Rows were left out of {releases}, by FILTER, a filter of the layer or a selection, and all releases are taken "
        "to be of the same people: what follows from a release of some people beside one of all is not looked at.",
        releases=all_of(some),
    )


def counts_rows(k: int) -> str:
    """What is said where a person may have several of the rows that a release shows."""
    return tr(
        "The register counts rows, not persons: {k} rows and more that the releases tell together may be of fewer than "
        "{k} persons, which is not noticed.",
        k=k,
    )


def _warnings(findings: Examined, k: int, requirement: Requirement, beside_counts: bool) -> list[str]:
    """beside_counts : whether counts that others publish are among what the release was held against"""
    warnings = []
    if _undecided(findings):
        warnings.append(
            plural(
                "{n} count was too hard to decide.",
                "{n} counts were too many or too hard to decide.",
                _undecided(findings),
            )
        )
    if findings.n_homogeneous and not requirement.asks_for_values:
        warnings.append(
            plural(
                "{n} group of {k} people and more is shown to have one sensitive value by the earlier releases and "
                "this one together; with L_DIVERSITY of 2 or more it would count as given away.",
                "{n} groups of {k} people and more are shown to have one sensitive value by the earlier releases and "
                "this one together; with L_DIVERSITY of 2 or more they would count as given away.",
                findings.n_homogeneous,
                k=k,
            )
        )
    if _given_away_before(findings):
        warnings.append(
            plural(
                "The earlier releases and the counts that others publish give away {n} count of fewer than {k} "
                "people without this one, which adds none.",
                "The earlier releases and the counts that others publish give away {n} counts of fewer than {k} "
                "people without this one, which adds none.",
                _given_away_before(findings),
                k=k,
            )
            if beside_counts
            else plural(
                "The earlier releases give away {n} count of fewer than {k} people without this one, which adds none.",
                "The earlier releases give away {n} counts of fewer than {k} people without this one, which adds none.",
                _given_away_before(findings),
                k=k,
            )
        )
    return warnings


def _undecided(findings: Examined) -> int:
    """Counts that nobody can say of whether they follow, those too that the earlier releases alone leave open."""
    return 0 if findings.disclosed is None else findings.disclosed.n_undecided


def _given_away_before(findings: Examined) -> int:
    """Counts that the earlier releases give away by themselves; found : once this release adds none."""
    return 0 if findings.disclosed is None else sum(count.kind != HOMOGENEOUS for count in findings.disclosed.counts)


def _result(same: Matched, findings: Examined, n_earlier: int, k: int) -> str:
    """The verdict where all could be compared."""
    if same.assumed:
        return plural(
            "Held against {n} earlier release of the register: no count of fewer than {k} people was found to follow "
            "if fields that are taken for different ones are different. {assumption}",
            "Held against {n} earlier releases of the register: no count of fewer than {k} people was found to follow "
            "if fields that are taken for different ones are different. {assumption}",
            n_earlier,
            k=k,
            assumption=same.assumption,
        )
    if _given_away_before(findings):
        return plural(
            "Held against {n} earlier release of the register: no further count of fewer than {k} people was found.",
            "Held against {n} earlier releases of the register: no further count of fewer than {k} people was found.",
            n_earlier,
            k=k,
        )
    return plural(
        "Held against {n} earlier release of the register: no count of fewer than {k} people was found to follow.",
        "Held against {n} earlier releases of the register: no count of fewer than {k} people was found to follow.",
        n_earlier,
        k=k,
    )


def _unsure(n_earlier: int) -> str:
    """The verdict where something could not be compared, or not be decided."""
    return plural(
        "Held against {n} earlier release of the register as far as it could be compared; whether anything is "
        "given away beyond that, nobody can say (see the warnings).",
        "Held against {n} earlier releases of the register as far as they could be compared; whether anything is "
        "given away beyond that, nobody can say (see the warnings).",
        n_earlier,
    )
