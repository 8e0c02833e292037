"""The report of a dot map: what is shown, what it tells, and what was not looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..cells.dots import BY_RATE, Dots, GroupCounts
from ..language import plural, tr
from ..plain_text import value_text
from .page import Report, Section, render
from .pictures import BLUES, region_map
from .provenance import Provenance, how_it_was_done


def hidden_sentence(groups: GroupCounts, least: int) -> str:
    """How many groups are not shown, and how many people are in them."""
    hidden = ~groups.may_be_shown(least)
    if not hidden.any():
        return tr("Every group is shown: each of its categories has nobody or at least {least} people.", least=least)
    return tr(
        "Groups that are not shown, as some category has fewer than {least} people there: {n} of {n_groups}, with "
        "{percent:.1f} % of the people.",
        n=int(hidden.sum()),
        n_groups=len(hidden),
        least=least,
        percent=100 * groups.people[hidden].sum() / max(int(groups.people.sum()), 1),
    )


def warnings(groups: GroupCounts, least: int) -> list[str]:
    """Sentences on what the map tells although every count shown is large enough."""
    may_show = groups.may_be_shown(least)
    sentences = []
    if (~may_show).sum() == 1:
        sentences.append(
            tr(
                "A single group is not shown: where the total of a category is known from elsewhere, its counts follow "
                "by subtraction. Hide a second group, or publish no total."
            )
        )
    alone = may_show & ((groups.counts > 0).sum(axis=1) == 1) & (groups.counts.shape[1] > 1)
    if alone.any():
        sentences.append(
            plural(
                "In {n} group that is shown, all people are of one category: whoever is known to live there is known "
                "to be of it.",
                "In {n} groups that are shown, all people are of one category: whoever is known to live there is known "
                "to be of it.",
                int(alone.sum()),
            )
        )
    return sentences


def dots_report(
    groups: GroupCounts,
    dots: Dots,
    least: int,
    people_per_dot: int,
    allocation: str,
    shapes: np.ndarray,
    north: float | None,
    notes: Sequence[str],
    provenance: Provenance,
) -> str:
    """The page as HTML. shapes : (m,) planar polygons; north : degrees clockwise from the top of the map; notes :
    sentences on what was read; provenance : what the run was."""
    may_show = groups.may_be_shown(least)
    sentences = warnings(groups, least)
    verdict = plural(
        "{n} dot. {hidden}",
        "{n} dots. {hidden}",
        len(dots.group),
        hidden=hidden_sentence(groups, least),
    )
    sections = [
        Section(tr("What the map tells"), (*_what_it_tells(least, people_per_dot, allocation), *sentences)),
        Section(tr("What was not looked at"), _not_looked_at()),
        _categories(groups, dots, may_show),
        _where(groups, may_show, shapes, north),
        *how_it_was_done(notes, provenance),
    ]
    return render(Report(tr("Dot map"), verdict, not sentences, True, sections, provenance.date))


def _what_it_tells(least: int, people_per_dot: int, allocation: str) -> tuple[str, ...]:
    dots = plural(
        "A dot stands for {n} person: whoever counts the dots of a group knows how many people it has.",
        "A dot stands for {n} people: whoever counts the dots of a group knows how many people it has, to within half "
        "a dot.",
        people_per_dot,
    )
    if allocation == BY_RATE and people_per_dot == 1:
        category = tr(
            "The category of each dot is drawn with the shares of its group, so that the dots of a category are near "
            "its count, not equal to it. That is no protection: with the seed, or with another map of the same people, "
            "the count itself may follow."
        )
    elif allocation == BY_RATE:
        category = tr(
            "The category of each dot is drawn with the shares of its group, so that the dots of a category are near "
            "its share of them. That is no protection: with the seed, or with another map of the same people, the "
            "count itself may nearly follow."
        )
    elif people_per_dot == 1:
        category = tr("The dots of a category are its count.")
    else:
        category = tr("The dots of a group are shared out by the counts of its categories, to within a dot.")
    without = tr(
        "A group without dots has nobody, or a category of which some, but fewer than {least}, are there: readers who "
        "know that people live there know the second.",
        least=least,
    )
    if people_per_dot > 1:
        without = tr(
            "A group without dots has too few people for one dot, or a category of which some, but fewer than {least}, "
            "are there: readers who know that enough people live there know the second.",
            least=least,
        )
    return (
        dots,
        category,
        tr(
            "So take the map for a table of counts by group and category. Every count in it is 0 or at least {least}, "
            "recounted after the dots were drawn: a category of a group is shared by nobody, or by {least} people or "
            "more. Nothing else that is known of a person goes into the map: places are drawn from the whole surface "
            "of the group.",
            least=least,
        ),
        without,
    )


def _not_looked_at() -> tuple[str, ...]:
    return (
        tr(
            "Totals by category that are known from elsewhere (of the country, of larger areas): counts of groups that "
            "are not shown may follow from them by subtraction."
        ),
        tr("Other maps or tables of the same people, by other groups, other categories, or for other years."),
        tr("Whether a row is a person: people who stand in several rows are counted as often."),
        tr(
            "Whether groups overlap: where one lies in another, the counts of what is left of it follow by subtraction."
        ),
        tr("Whether the groups themselves hold k people, which “Partition cells over time” sees to."),
    )


def _categories(groups: GroupCounts, dots: Dots, may_show: np.ndarray) -> Section:
    """People in all groups, in those that are shown, and dots, by category."""
    n_dots = np.bincount(dots.category, minlength=len(groups.categories)).tolist()
    everyone, seen = groups.counts.sum(axis=0).tolist(), groups.counts[may_show].sum(axis=0).tolist()
    rows = [(value_text(category), *numbers) for category, *numbers in zip(groups.categories, everyone, seen, n_dots)]
    header = (tr("Category"), tr("People"), tr("People in groups that are shown"), tr("Dots"))
    return Section(tr("Categories"), (), header, rows)


def _where(groups: GroupCounts, may_show: np.ndarray, shapes: np.ndarray, north: float | None) -> Section:
    labels = [
        plural("{name}: {n} person", "{name}: {n} people", n, name=name)
        if seen
        else plural("{name}: not shown, {n} person", "{name}: not shown, {n} people", n, name=name)
        for name, seen, n in zip(groups.names, may_show, groups.people.tolist())
    ]
    text = tr("Dark: groups that are shown. Light: those that are not.")
    return Section(
        tr("Where groups are not shown"),
        pictures=(region_map(shapes, may_show.astype(float), labels, text, BLUES, tr("1: shown"), north),),
    )
