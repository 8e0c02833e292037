"""What a report says of the counts that were tried: how many, which follow, who is taken to know what."""

from __future__ import annotations

from dataclasses import replace

from .. import counted
from ..account import Account
from ..disclosure.certificate import (
    AREAS,
    BESIDE_TABLES,
    BY_THE_METHOD,
    CHANGES,
    CLASSES,
    PARTS,
    RESTS,
    TOGETHER,
    ZONES,
    Certificate,
    certify_classes,
    certify_plan,
)
from ..disclosure.inhabitants import inhabitants_of
from ..language import plural, tr
from ..nesting.losses import LOSSES
from ..progress import Progress, silent
from ..records.table import PERSONS
from .numbers import formatted
from .page import Section

MEANING = {
    CLASSES: tr("Who share all that is shown of them."),
    ZONES: tr(
        "The records that a region shows of a class. They live in its zone: the areas of the region for which no "
        "smaller one shows the class."
    ),
    AREAS: tr("Of these, the records of one area."),
    PARTS: tr("Of these, the records of a smaller region."),
    RESTS: tr("These without the records of an area, or of a smaller region."),
    BY_THE_METHOD: tr(
        "Those of an area or a smaller region, for somebody who takes it that every class is shown as finely as k "
        "allows and at the least loss."
    ),
    BESIDE_TABLES: tr(
        "Counts of 1 to k - 1 that there are, for somebody who has the published tables. Those that follow, follow "
        "from the tables alone."
    ),
    TOGETHER: tr(
        "People of a place and of some values, and what is left of them once each release's own counts are taken away."
    ),
    CHANGES: tr("By how many people a count changed between two releases of the same regions."),
}
HEADER = (tr("Counts"), tr("What they are"), tr("Tried"), tr("Follow"), tr("Not decided"))


def certificate_of(account: Account, progress: Progress = silent) -> Certificate | None:
    """What was tried of a release: of one level, and where levels show coarser values, the short one.

    Where a nested release was not made so that no small count follows, it is taken to be the one that loses least.
    """
    plan = account.plan
    if account.levels.coarser or not account.nested:
        of_classes = plan.records if plan.people is None else plan.people
        return certify_classes(of_classes[plan.released], plan.k, account.tried)
    losses = None
    if not account.no_small_count:
        losses = [LOSSES[account.ask.loss](account.areas, plan.profile, of) for of in plan.levels.crosswalks]
    people = None
    if not account.requirement.has(PERSONS):
        people = inhabitants_of(plan.profile, account.areas.population, account.ask.period)
    certificate = certify_plan(plan, people, losses, progress)
    return replace(certificate, families=(*certificate.families, *account.tried))


def certificate_section(account: Account, progress: Progress = silent) -> Section:
    """The section; without content where nothing was tried. progress : of looking, raises to cancel"""
    heading, certificate = tr("Small counts that were looked for"), certificate_of(account, progress)
    if certificate is None or not certificate.tried:
        return Section(heading)
    return section_of(certificate, account.no_small_count, heading, account.nested)


def checked_section(certificate: Certificate, nested: bool) -> Section:
    """The section on a table or releases that may have been made elsewhere: nobody can say here how they were made.

    nested : whether a release of several levels is among them of which it is not known that it was made so that no
    small count follows
    """
    return section_of(certificate, False, tr("Small counts that were looked for"), nested)


def section_of(certificate: Certificate, no_small_count: bool, heading: str, nested: bool = True) -> Section:
    """The verdict, who is taken to know what, what was not looked at, and the table by family.

    nested : whether there are several levels
    """
    rows = [
        (tr(family.kind), MEANING[family.kind], family.tried, family.follow, family.undecided)
        for family in certificate.families
    ]
    if certificate.unknowns or certificate.of(ZONES).tried:
        sizes = [_sizes(certificate)] if certificate.unknowns else []
        paragraphs = [_known(certificate, no_small_count), NOT_TRIED, *sizes]
    else:
        paragraphs = [
            *([not_by_the_method(certificate.k)] if nested and not no_small_count else []),
            NOT_TRIED_IN_SHORT,
        ]
    return Section(heading, (verdict(certificate), *paragraphs), HEADER, rows)


def not_by_the_method(k: int) -> str:
    """What is said by the method of a nested release that may be of anybody's making."""
    return tr(
        "What the method itself reveals was not checked. Unless a nested release was made so that no small count "
        "follows (DISCLOSURE), somebody who knows how its levels are chosen can prove of many classes that {few} "
        "of their people live in a part of a region.",
        few=counted.few(k),
    )


def verdict(certificate: Certificate) -> str:
    """What was found, in a sentence or two."""
    tried, few = formatted(certificate.tried), counted.few(certificate.k)
    if not certificate.follow:
        proven = plural(
            "{count} count was checked: it was not found to be {few} for certain.",
            "{count} counts were checked: none of them was found to be {few} for certain.",
            certificate.tried,
            count=tried,
            few=few,
        )
    else:
        proven = plural(
            "Of {tried} counts that were looked at, {count} must be {few}.",
            "Of {tried} counts that were looked at, {count} must be {few}.",
            certificate.follow,
            tried=tried,
            count=formatted(certificate.follow),
            few=few,
        )
    if not certificate.undecided:
        return proven
    undecided = plural(
        "{count} further count could not be decided: take it for one that does.",
        "{count} further counts could not be decided: take them for ones that do.",
        certificate.undecided,
        count=formatted(certificate.undecided),
    )
    return f"{proven} {undecided}"


NOT_TRIED = tr(
    "Not looked at here: areas put together as no level has them; several classes together; what somebody knows of "
    "single persons; and, where the table has no row of them, what others publish besides the number of people, and "
    "other releases of the same people."
)

NOT_TRIED_IN_SHORT = tr(
    "Not looked at here: what lies inside a region, which follows from how many people live in its areas and from what "
    "is known of single persons; what several rows or periods of a table tell of one person; what others publish and "
    "other releases, where the table does not have them."
)


def _known(certificate: Certificate, no_small_count: bool) -> str:
    """Who is taken to know what."""
    if not certificate.people:
        who = tr(
            "Taken for known: the release and its crosswalk. Rows are not people here, so that people say nothing."
        )
    elif certificate.contradicted:
        who = tr(
            "Taken for known: the release and its crosswalk. The number of people of each area says nothing: some "
            "areas have fewer people than records."
        )
    elif not certificate.of_all_areas:
        who = tr(
            "Taken for known: the release, its crosswalk, and how many people live in each area, of whom all classes "
            "together are no more; not of areas with fewer people than records."
        )
    else:
        who = tr(
            "Taken for known: the release, its crosswalk, and how many people live in each area, of whom all classes "
            "together are no more."
        )
    if no_small_count:
        method = tr(
            "Knowing the method, its program and all parameters adds nothing to that, as long as what was drawn stays "
            "secret: see “Zones and decoys” in docs/methods.md."
        )
    else:
        method = tr(
            "In the last row somebody also knows the method and takes each bound for sure; where the release is not "
            "quite the best one, some of them are wrong."
        )
    return f"{who} {method}"


def _sizes(certificate: Certificate) -> str:
    return tr(
        "For the expert: tables of records by zone and area; unknowns: {unknowns}; sums: {conditions}; tables found as "
        "maximum flows, which free most counts: {tables}; further flows, which decide the others: {programs}.",
        unknowns=formatted(certificate.unknowns),
        conditions=formatted(certificate.conditions),
        tables=formatted(certificate.n_tables),
        programs=formatted(certificate.n_programs),
    )
