"""What reports of a nested release say of its zones: how far a region can be narrowed down, decoys, and their price."""

from __future__ import annotations

import numpy as np

from ..anonymise import Account
from ..arrays import to_list
from ..evaluation import mean_distance_shown
from ..language import plural, tr
from ..levels import Levels
from ..nesting.decoys import hold_decoys
from ..nesting.narrowing import Narrowed, can_be_narrowed, narrow
from ..nesting.planning import nest
from ..privacy.derivable import NO_SMALL_COUNT
from .numbers import shown
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
    if not (conditions and account.nested) or account.coarser is not None:
        return Section(heading)
    plan = account.plan
    plain = nest(account.areas, plan.profile, plan.levels, ask.k, ask.loss, account.requirement, at_once=ask.at_once)
    ours, theirs = account.measures.mean_distance, mean_distance_shown(account.areas, plain)
    price = tr(
        "Asked is {conditions}. The mean distance is {metres:,.1f} m; without it would be {without:,.1f} m, so that it "
        "costs {more:,.1f} m ({percent:.1f} %).",
        conditions=", ".join(conditions),
        metres=ours,
        without=theirs,
        more=ours - theirs,
        percent=100.0 * (ours - theirs) / max(theirs, 1e-9),
    )
    suppressed = tr(
        "Of the records of known areas {ours} are suppressed, and {records} would be without it.",
        records=shown(plan.profile.n_records - plain.n_released),
        ours=shown(plan.profile.n_records - plan.n_released),
    )
    paragraphs = [f"{price} {suppressed}"]
    if ask.published_margins or ask.published_counts is not None or ask.earlier is not None:
        paragraphs.append(
            tr("The plan without it is held against nothing that is published: what that costs is in the difference.")
        )
    return Section(heading, [*paragraphs, *_decoys(account)])


def _conditions(account: Account) -> list[str]:
    """What was asked of the zones, as it was typed."""
    ask = account.ask
    asked = {
        "DISCLOSURE": ask.disclosure if ask.disclosure == NO_SMALL_COUNT else "",
        "LEAST_LEFT_AREAS": ask.least_left_areas,
        "LEAST_LEFT_PEOPLE": ask.least_left_people,
    }
    return [f"{name} = {shown(value)}" for name, value in asked.items() if value]


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
