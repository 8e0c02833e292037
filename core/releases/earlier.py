"""A release held against those that were published before: stopped, or repaired, where they tell a count together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Callable

from .. import counted
from ..areas import Areas
from ..dataclass import dataclass
from ..disclosure.certificate import Family
from ..disclosure.in_series import as_series
from ..disclosure.published import Published, publish, with_rows
from ..disclosure.values import KeptValues
from ..errors import PrivacyError
from ..generalising.rules import HierarchyRule
from ..generalising.table import HierarchyTable
from ..language import plural, tr
from ..log import QUIET, Log
from ..plan import Plan
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from ..records.table import RecordTable
from ..ties import FIXED, ties_of
from .comparable import refuse_data_dependent_groups, related
from .concluding import concluded, of_some_people
from .examining import Examined, examine
from .repair import Repaired, on_earlier_regions, repair

STOP, REPAIR = "stop", "repair"
ACTIONS = (STOP, REPAIR)


@dataclass(frozen=True, eq=False)
class Earlier:
    """What was published of the same people before, and what becomes of a release that tells a count beside it.

    releases : those of a register, the first first; action : STOP or REPAIR; aliases : rows of ALIASES, a field and
    what it is; tables, rules : what coarser values are, by quasi-identifier; warning : what is said of a register that
    knows no release; broken : what is said of a register that somebody changed by hand; updated : the positions of
    those that the new release carries on, which are of other people; entries : of each release its number in the
    register and when it was added, None where that is not known; of_some :
    whether the new release is of some of the people only, as rows were left out
    """

    releases: Sequence[Published]
    action: str = STOP
    aliases: Sequence[tuple[str, str]] = ()
    tables: Mapping[str, HierarchyTable] = field(default_factory=dict)
    rules: Mapping[str, HierarchyRule] = field(default_factory=dict)
    warning: str = ""
    broken: str = ""
    updated: Sequence[int] = ()
    entries: Sequence[tuple[int, str]] | None = None
    of_some: bool = False


@dataclass(frozen=True, eq=False)
class HeldAgainst:
    """A plan beside which the earlier releases tell no count; what it publishes; sentences on it for the report, which
    counts were tried in the end, whether the earlier releases are as they were and could all be compared, and whether
    anything of what all tell together could not be looked at or decided."""

    plan: Plan
    published: Published
    notes: tuple[str, ...]
    families: tuple[Family, ...] = ()
    sure: bool = True
    is_open: bool = False


def held_against_earlier(
    plan: Plan,
    areas: Areas,
    table: RecordTable,
    sensitive: tuple[KeptValues, ...],
    requirement: Requirement,
    earlier: Earlier,
    also: Callable[[Plan], Plan],
    ties: str = FIXED,
    log: Log = QUIET,
    tables: Sequence[Published] = (),
    progress: Progress = silent,
    rows: KeptValues | None = None,
) -> HeldAgainst:
    """The plan, from which no count below k was found to follow together with earlier releases.

    table : the records or their cells, of which names and values are looked at; sensitive : their sensitive fields;
    also : what else must hold of a plan that is repaired, a function that suppresses further equivalence classes where
    it does not; tables : of counts that others publish, which are known together with the earlier releases; progress :
    begins anew with each check, and raises to cancel; rows : what rows show together beside quasi-identifiers, which is
    compared with the earlier releases only where either carries on another one. Raises
    PrivacyError where counts follow and may not be, or cannot be, mended, and where the releases
    contradict each other; InputError where somebody has to say which fields are the same.
    """
    refuse_data_dependent_groups(table, earlier.rules)
    coarsened = {name: column.level for name, column in table.coarsened.items()}
    of_persons = requirement.has_several(plan.profile.n_records)
    carried_on = any(release.updates is not None for release in earlier.releases)
    compared = rows if earlier.updated or carried_on else None
    published = publish(plan, areas, tr("release {n}", n=len(earlier.releases) + 1), sensitive, coarsened, compared)
    published = replace(as_series(published, plan, requirement.series), of_persons=of_persons, of_some=earlier.of_some)
    if not earlier.releases:
        log.warn(earlier.warning)
        return HeldAgainst(plan, with_rows(published, plan, rows), (earlier.warning,))
    homogeneous = requirement.asks_for_values
    same = related([*earlier.releases, *tables], published, table, earlier.aliases, earlier.tables, earlier.rules)
    log.info(*same.matched.said)
    log.warn(*same.matched.warnings)
    held_against = [same.relate(release) for release in same.earlier]
    findings = examine(
        same.relate(published), held_against, homogeneous=homogeneous, progress=progress, updated=earlier.updated
    )
    _refuse_contradictions(findings)
    if findings.n_to_mend and earlier.action == STOP:
        raise PrivacyError(_stopped(findings, plan.k))
    if findings.n_to_mend:
        done = repair(
            plan,
            areas,
            held_against,
            published.title,
            sensitive,
            homogeneous,
            also,
            progress,
            ties_of(ties),
            relate=same.relate,
            coarsened=published.coarsened,
            requirement=requirement,
            updated=earlier.updated,
            rows=compared,
        )
        plan, findings = done.plan, done.after
        published = replace(done.published, of_persons=of_persons, of_some=earlier.of_some)
        _say_what_it_cost(done, on_earlier_regions(plan, areas, same.earlier, requirement), log)
    apart = of_some_people(same.matched.releases, earlier.updated)
    n_earlier, as_it_was = len(earlier.releases), not earlier.broken
    notes, whole = concluded(same.matched, findings, n_earlier, plan.k, requirement, of_persons, log, apart, as_it_was)
    sure = as_it_was and not same.matched.warnings
    return HeldAgainst(plan, with_rows(published, plan, rows), tuple(notes), findings.families, sure, not whole)


def refuse_linked_again(earlier: Earlier | None) -> None:
    """Refuse linked tables of people of whom linked tables were released before: what was known of a person's rows and
    hid the person among k in each release may be that person's alone in both. Raises PrivacyError."""
    before = [] if earlier is None else [release for release in earlier.releases if release.linked]
    if before:
        raise PrivacyError.saying(
            "REGISTER: “{title}” released linked tables of these people already ({tables}), and what two such releases "
            "tell together of one person cannot be checked: nothing was written. Release all linked tables in one run, "
            "or the persons alone (“Anonymise records”); a release that nobody was given can be taken out of the "
            "register.",
            title=before[-1].title,
            tables=", ".join(before[-1].linked),
        )


def _say_what_it_cost(done: Repaired, other: Plan | None, log: Log) -> None:
    """Say what a repair cost, and what the regions of an earlier release would: `other`. Raises PrivacyError."""
    k = done.plan.k
    if done.after.n_to_mend:
        raise PrivacyError(_stopped(done.after, k, repaired=True))
    log.warn(*_given_away(done.before, k), *_mended(done))
    if other is not None:
        log.info(
            tr(
                "With the regions of an earlier release {records} could be shown, here {n_here}: release by its "
                "crosswalk (“Release records”, with this register).",
                records=counted.records(other.n_released),
                n_here=done.plan.n_released,
            )
        )


def _mended(done: Repaired) -> list[str]:
    """What was done so that it is not, and what still follows for whoever knows why classes are missing."""
    if not done.n_suppressed and not done.n_coarser:
        return [
            tr(
                "Nothing more is suppressed for that: it follows for whoever knows, or takes it, that what is missing "
                "is missing for its size alone, which a repaired release does not say. Keep the reasons for "
                "suppression confidential, or change the release."
            )
        ]
    said = [
        tr(
            "To prevent that, more is suppressed ({suppressed}) and shown in larger regions ({coarser}).",
            suppressed=counted.records(done.n_suppressed),
            coarser=counted.records(done.n_coarser),
        )
    ]
    if done.n_known_by_size:
        said.append(
            plural(
                "Keep the reasons for suppression confidential: from which classes are suppressed for their size "
                "alone, "
                "{n} count would follow.",
                "Keep the reasons for suppression confidential: from which classes are suppressed for their size "
                "alone, "
                "{n} counts would follow.",
                done.n_known_by_size,
            )
        )
    return said


def _given_away(findings: Examined, k: int) -> list[str]:
    """What would have been given away, and what was taken to be as it was not decided."""
    said = []
    if findings.n_counts:
        said.append(
            plural(
                "Together with earlier ones this release would have given away {n} count of fewer than {k} people.",
                "Together with earlier ones this release would have given away {n} counts of fewer than {k} people.",
                findings.n_counts,
                k=k,
            )
        )
    if findings.n_undecided:
        said.append(
            plural(
                "{n} count was too hard to decide, and was taken to be given away.",
                "{n} counts were too many or too hard to decide, and were taken to be given away.",
                findings.n_undecided,
            )
        )
    return said


def _refuse_contradictions(findings: Examined) -> None:
    if findings.n_contradicted:
        raise PrivacyError.counting(
            "This release and those of REGISTER contradict each other in {n} class: no population has both sets of "
            "counts. People were added, changed or moved; and the regions are others, too, or one release shows values "
            "that another does not, such as those of a further period, or all moves were within the largest regions. "
            "So nobody can say what they give away together. Carry the last release on (“Update a release”), use its "
            "crosswalk (“Release records”), or a new register if these are other people.",
            "This release and those of REGISTER contradict each other in {n} classes: no population has both sets of "
            "counts. People were added, changed or moved; and the regions are others, too, or one release shows values "
            "that another does not, such as those of a further period, or all moves were within the largest regions. "
            "So nobody can say what they give away together. Carry the last release on (“Update a release”), use its "
            "crosswalk (“Release records”), or a new register if these are other people.",
            findings.n_contradicted,
        )


def _stopped(findings: Examined, k: int, repaired: bool = False) -> str:
    """Why nothing is released, and what to do; repaired : what follows is left where a repair came to its end."""
    if repaired:
        advice = tr(
            "“repair” came to no end: use the crosswalk and the quasi-identifiers of the earlier release, or ask for "
            "fewer quasi-identifiers or larger regions"
        )
    else:
        advice = tr(
            "carry the last release on if these are its people of now (“Update a release”); use the crosswalk and the "
            "quasi-identifiers of the earlier release if they are the very same people; or set REGISTER_ACTION to "
            "“repair”, which may suppress most records"
        )
    if not findings.n_counts:
        return plural(
            "{n} count of this release and those of REGISTER was too hard to decide, and is taken for one of fewer "
            "than {k} people: {advice}.",
            "{n} counts of this release and those of REGISTER were too many or too hard to decide, and are taken for "
            "ones of fewer than {k} people: {advice}.",
            findings.n_undecided,
            k=k,
            advice=advice,
        )
    return plural(
        "Together with the releases of REGISTER this one would give away {n} count of fewer than {k} people: {advice}.",
        "Together with the releases of REGISTER this one would give away {n} counts of fewer than {k} people: "
        "{advice}.",
        findings.n_counts,
        k=k,
        advice=advice,
    )
