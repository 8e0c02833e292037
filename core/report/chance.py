"""What a report of a nested release says of guesses: how often “this area holds 1 to k - 1” is right."""

from __future__ import annotations

from .. import counted
from ..anonymise import Account
from ..disclosure.guessing import MOST_AREAS, MOST_RECORDS, Guesses, guesses
from ..language import plural, tr
from .numbers import shown
from .page import Section


def chance_section(account: Account) -> Section:
    """The section; without content where no class stands in a region of several areas, or levels show coarser values,
    under which no class is the same everywhere."""
    findings = None if account.coarser is not None else guesses(account.areas, account.plan)
    heading = tr("What can be guessed")
    return Section(heading) if findings is None else section_of(findings, heading)


def section_of(findings: Guesses, heading: str) -> Section:
    """The sentence for whoever decides, how it was measured, and the table by share of the guesses and class size."""
    most = findings.k - 1
    surest = findings.surest[0]
    paragraphs = (
        tr(
            "What cannot be proven can be guessed. Of the guesses “this area holds 1 to {most} of this class” the "
            "{percent:g} % that somebody is surest of who knows the method are right in {right} of 100 cases; by how "
            "many people live in each area alone, as many guesses are right in {by_people} of 100. Guessed at random, "
            "{so_many} of 100 would be: so many areas of these regions do hold 1 to {most}.",
            most=most,
            percent=surest.percent,
            right=_of_100(surest.right),
            by_people=_of_100(surest.by_people),
            so_many=_of_100(findings.so_many),
        ),
        tr(
            "The guesser knows the release, the crosswalk, the people of each area, the method and all its parameters, "
            "but not what was drawn, and weighs every table of counts that is possible (Bayes). Measured on {areas} "
            "in {n_zones} of {of_zones} places where a class stands in a region of several areas (at most "
            "{most_areas}, {most_records}). Where the two shares are alike, the method tells a guesser "
            "hardly more than the counts and the population do.",
            areas=counted.areas(findings.n_areas),
            n_zones=shown(findings.n_zones),
            of_zones=shown(findings.of_zones),
            most_areas=counted.areas(MOST_AREAS),
            most_records=counted.records(MOST_RECORDS),
        ),
    )
    header = (
        tr("Classes"),
        tr("Surest guesses, %"),
        tr("Guesses"),
        tr("Right, by the method, %"),
        tr("Right, by people alone, %"),
    )
    groups = [(tr("all"), findings.surest)]
    groups += [(_size(least, most_records), found) for least, most_records, found in findings.by_class_size]
    rows = [(name, one.percent, one.n, 100 * one.right, 100 * one.by_people) for name, found in groups for one in found]
    return Section(heading, paragraphs, header, rows)


def _of_100(share: float) -> str:
    return shown(round(100 * share))


def _size(least: int, most: int | None) -> str:
    if most is None:
        return tr("{records} and more", records=counted.records(least))
    return plural("{least} to {n} record", "{least} to {n} records", most, least=shown(least))
