"""What reports of a nested release say of its zones: how far a region can be narrowed down, decoys, and how often a
guess is right."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..account import Account
from ..arrays import to_list
from ..disclosure.guessing import MOST_AREAS, MOST_RECORDS, Guesses, guesses
from ..evaluation import mean_distance_released
from ..language import plural, share_format, tr, written
from ..levels import Levels
from ..nesting.decoys import hold_decoys
from ..nesting.narrowing import Narrowed, can_be_narrowed, narrow
from ..nesting.planning import nest
from ..privacy.derivable import NO_SMALL_COUNT
from .numbers import formatted
from .page import Section


def narrowing_section(
    levels: Levels,
    people: np.ndarray,
    level: np.ndarray,
    region: np.ndarray,
    class_of: np.ndarray,
    in_zones: bool,
    people_known: bool = True,
) -> Section:
    """How far the regions that show a class can be narrowed down; without content where none above level 1 can.

    Arguments as for `narrow`. people_known : whether `people` are known from elsewhere than the records
    """
    heading = tr("Where the people of a larger region live")
    above = level > 0
    if not above.any() or not can_be_narrowed(levels, in_zones):
        return Section(heading)
    left = narrow(levels, people, level, region, class_of, in_zones)
    rows: list[tuple[object, ...]] = [
        _row(at, left, level == at, people_known) for at in to_list(np.unique(level[above]))
    ]
    rows.append(_row(None, left, above, people_known))
    header = (
        tr("Level"),
        tr("Classes shown here"),
        tr("That can be narrowed down, %"),
        tr("To % of their areas"),
        tr("Least areas left"),
        *((tr("Least people left"),) if people_known else ()),
    )
    return Section(heading, (_in_short(in_zones),), header, rows)


def _in_short(in_zones: bool) -> str:
    if in_zones:
        return tr(
            "Of a region that shows a class, leave out the smaller regions inside it that show the class themselves: "
            "in the areas that are left live all its people of that class whom it shows, k or more. Areas and people "
            "are counted whatever their class; areas without people are not."
        )
    return tr(
        "Of a region that shows a class, leave out the areas that show the class themselves, on level 1: in the areas "
        "that are left live all its people of that class whom it shows, k or more. Areas and people are counted "
        "whatever their class; areas without people are not."
    )


def _row(level: int | None, left: Narrowed, here: np.ndarray, people_known: bool) -> tuple[object, ...]:
    """A row of the table; level : None for all."""
    narrowed = here & (left.left_areas < left.areas)
    share = 100.0 * float((left.left_areas / np.maximum(left.areas, 1))[narrowed].mean()) if narrowed.any() else None
    return (
        tr("all") if level is None else str(level + 1),
        int(here.sum()),
        100.0 * float(narrowed.sum()) / max(int(here.sum()), 1),
        share,
        int(left.left_areas[here].min()),
        *((round(float(left.left_people[here].min())),) if people_known else ()),
    )


def price_section(account: Account) -> Section:
    """What the conditions on zones cost, and how many zones hold decoys; without content where none was asked for, or
    levels show coarser values. Internal: the price is taken from a plan that is not released, and decoys from records.
    """
    heading, ask = tr("What must hold of the zones, and its price"), account.ask
    conditions = _conditions(account)
    if not (conditions and account.nested) or account.levels.coarser:
        return Section(heading)
    plan = account.plan
    plain = nest(account.areas, plan.profile, plan.levels, ask.k, ask.loss, account.requirement, at_once=ask.at_once)
    ours, theirs = account.measures.mean_distance, mean_distance_released(account.areas, plain)
    price = tr(
        "Asked is {conditions}. The mean distance is {metres:,.1f} m; without it would be {without:,.1f} m, so that it "
        "costs {more}.",
        conditions=", ".join(conditions),
        metres=ours,
        without=theirs,
        more=_costs(ours - theirs, theirs),
    )
    suppressed = tr(
        "Suppressed of the records of known areas: {ours}; without it: {records}.",
        records=formatted(plan.profile.n_records - plain.n_released),
        ours=formatted(plan.profile.n_records - plan.n_released),
    )
    paragraphs = [f"{price} {suppressed}"]
    if ask.published_margins or ask.published_counts is not None or ask.earlier is not None:
        paragraphs.append(
            tr("The plan without it is held against nothing that is published: what that costs is in the difference.")
        )
    return Section(heading, [*paragraphs, *_decoys(account)])


def _costs(more: float, without: float) -> str:
    """Metres, and per cent of the distance without the conditions, where that is not of nothing."""
    if round(without, 1) <= 0:
        return tr("{more:,.1f} m", more=more)
    return tr("{more:,.1f} m ({percent:.1f} %)", more=more, percent=100.0 * more / without)


def _conditions(account: Account) -> list[str]:
    """What was asked of the zones, as it was typed."""
    ask = account.ask
    asked = {
        "DISCLOSURE": ask.disclosure if ask.disclosure == NO_SMALL_COUNT else "",
        "LEAST_LEFT_AREAS": ask.least_left_areas,
        "LEAST_LEFT_PEOPLE": ask.least_left_people,
    }
    return [f"{name} = {formatted(value)}" for name, value in asked.items() if value]


def _decoys(account: Account) -> list[str]:
    """How many zones hold a decoy."""
    plan = account.plan
    above = plan.released & (plan.level > 0)
    if not account.no_small_count or not above.any():
        return []
    held = hold_decoys(plan, account.requirement)
    return [
        plural(
            "{percent:.1f} % of the {n} place where a class is shown above level 1 holds a decoy: k or more of its "
            "records are from one part, which could have shown them itself. In the others each area may hold none, or "
            "chance asked for no decoy. Which ones do is nobody's to know: keep this page.",
            "{percent:.1f} % of the {n} places where a class is shown above level 1 hold a decoy: k or more of their "
            "records are from one part, which could have shown them itself. In the others each area may hold none, or "
            "chance asked for no decoy. Which ones do is nobody's to know: keep this page.",
            int(above.sum()),
            percent=100.0 * float(held[above].mean()),
        )
    ]


def chance_section(account: Account) -> Section:
    """The section; without content where no class stands in a region of several areas, or levels show coarser values,
    under which no class is the same everywhere."""
    findings = None if account.levels.coarser else guesses(account.areas, account.plan)
    heading = tr("What can be guessed")
    return Section(heading) if findings is None else section_of(findings, heading)


def section_of(findings: Guesses, heading: str) -> Section:
    """The sentence for whoever decides, how it was measured, and the table by share of the guesses and class size."""
    surest = findings.surest[0]
    paragraphs = (
        tr(
            "What cannot be proven can be guessed. Of the guesses “this area holds {few} of this class” the "
            "{percent:g} % that somebody is surest of who knows the method are right in {right} of 100 cases; by how "
            "many people live in each area alone, as many guesses are right in {by_people} of 100. Guessed at random, "
            "{so_many} of 100 would be: so many areas of these regions do hold {few}.",
            few=counted.few(findings.k),
            percent=surest.percent,
            right=_of_100(surest.right),
            by_people=_of_100(surest.by_people),
            so_many=_of_100(findings.so_many),
        ),
        tr(
            "The guesser knows the release, the crosswalk, the people of each area, the method and all its parameters, "
            "but not what was drawn, and weighs every table of counts that is possible (Bayes). Measured on {areas} "
            "in {n_zones} of {places} where a class stands in a region of several areas (at most "
            "{most_areas}, {most_records}). Where the two shares are alike, the method tells a guesser "
            "hardly more than the counts and the population do.",
            areas=counted.areas(findings.n_areas),
            n_zones=formatted(findings.n_zones),
            places=plural("{n} place", "{n} places", findings.of_zones),
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
    groups += [(_size(least, most_records), guesses) for least, most_records, guesses in findings.by_class_size]
    rows = [
        (name, guess.percent, guess.n, 100 * guess.right, 100 * guess.by_people)
        for name, guesses in groups
        for guess in guesses
    ]
    return Section(heading, paragraphs, header, rows)


def _of_100(share: float) -> str:
    percent = 100.0 * share  # of some, or of less than all, it is neither 0 nor 100
    return written(format(percent, share_format(percent, ".0f")))


def _size(least: int, most: int | None) -> str:
    if most is None:
        return tr("{records} and more", records=counted.records(least))
    return plural("{least} to {n} record", "{least} to {n} records", most, least=formatted(least))
