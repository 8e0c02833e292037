"""The reports of one level of regions: of a release, and of its evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import counted
from ..areas import Areas
from ..arrays import to_list
from ..convergence import Convergence
from ..evaluation import Measures, RegionAudit, evaluate_by_value
from ..language import plural, tr
from ..plan import Plan
from ..release import NOTHING_RELEASED
from .cost import classes_section, convergence_section, losers_section, measures_section, person_section
from .ground import Ground, before_and_after, lost_map
from .numbers import shown
from .page import Report, Section, render
from .pictures import histogram
from .running import Running, how_it_was_done

WORST_REGIONS = 10


@dataclass(frozen=True, eq=False)
class Account:
    """What a plan of one level gives. areas : those of its profile, with their people; ground : what is drawn."""

    areas: Areas
    plan: Plan
    measures: Measures
    audit: RegionAudit
    ground: Ground


def regions_section(account: Account) -> Section:
    """The regions by what they lose: a map, those that lose most, and how many records regions have."""
    audit, numbers = account.audit, account.plan.crosswalk.numbers
    share = 100.0 * audit.suppressed / np.maximum(audit.records, 1)
    labels = [
        tr(
            "Region {number}: {areas}, {released}, {percent:.1f} % suppressed",
            number=number,
            areas=counted.areas(areas),
            released=plural("{n} record released", "{n} records released", released),
            percent=percent,
        )
        for number, areas, released, percent in zip(to_list(numbers), audit.areas, audit.released, share)
    ]
    worst = np.lexsort((numbers, -audit.suppressed))[:WORST_REGIONS]
    rows = [
        (
            str(numbers[one]),
            int(audit.areas[one]),
            int(audit.records[one]),
            int(audit.suppressed[one]),
            float(share[one]),
            int(audit.anonymity[one]),
        )
        for one in to_list(worst)
    ]
    header = (
        tr("Region"),
        tr("Areas"),
        tr("Records"),
        tr("Suppressed"),
        tr("Suppressed, %"),
        tr("Smallest class before"),
    )
    pictures = (
        lost_map(account.ground, labels, share),
        histogram(audit.records, tr("Records in a region, before suppression"), tr("records"), tr("regions")),
    )
    return Section(
        tr("The regions"),
        (
            plural(
                "The region that loses most records.",
                "The {n} regions that lose most records.",
                len(rows),
            ),
        ),
        header,
        rows,
        pictures,
    )


def _what_it_cost(account: Account, costs: Section) -> list[Section]:
    plan, measures = account.plan, account.measures
    profile, crosswalk = plan.profile, plan.crosswalk
    return [
        person_section(measures, plan, int(account.audit.areas.sum())),
        before_and_after(
            account.ground, account.areas.identifiers, profile.area_sizes, crosswalk.numbers, account.audit.released
        ),
        losers_section(evaluate_by_value(account.areas, plan), measures, plan.k),
        costs,
        classes_section(plan),
        regions_section(account),
        measures_section(measures),
    ]


def evaluation_report(account: Account, running: Running, notes: Sequence[str], costs: Section) -> str:
    """The page of an evaluation, which releases nothing; arguments as for `anonymisation_report`."""
    measures = account.measures
    verdict = plural(
        "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} %).",
        "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} %).",
        measures.n_suppressed,
        k=account.plan.k,
        n_records=shown(measures.n_records),
        suppression_percent=shown(measures.suppression_percent),
    )
    sections = [*_what_it_cost(account, costs), *how_it_was_done(notes, running)]
    good = measures.n_suppressed < measures.n_records
    return render(Report(tr("Evaluation report"), verdict, good, True, sections, running.date, True))


def anonymisation_report(
    account: Account,
    smallest_class: int | None,
    running: Running,
    notes: Sequence[str],
    seconds: Mapping[str, float],
    protection: Section,
    costs: Section,
    convergence: Sequence[Convergence] = (),
) -> str:
    """The page as HTML.

    smallest_class : of the release, recounted; running : what the run was; notes : sentences of the components and
    warnings; seconds : by component; protection : from `protection_section`; costs : from `costs_section`;
    convergence : of the components.
    """
    measures, k = account.measures, account.plan.k
    released = measures.n_records - measures.n_suppressed
    if released:
        verdict = plural(
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} other (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} others (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            k - 1,
            k=k,
            released=shown(released),
            smallest_class=smallest_class,
            n_suppressed=shown(measures.n_suppressed),
            n_records=shown(measures.n_records),
            suppression_percent=shown(measures.suppression_percent),
        )
    else:
        verdict = NOTHING_RELEASED
    sections = [
        *_what_it_cost(account, costs),
        protection,
        convergence_section(convergence),
        *how_it_was_done(notes, running, tr("Component"), seconds),
    ]
    return render(Report(tr("Anonymisation report"), verdict, bool(released), True, sections, running.date, True))
