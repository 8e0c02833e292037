"""The reports of one level of regions: of a release, and of its evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import counted
from ..anonymise import Account
from ..arrays import to_list
from ..convergence import Convergence
from ..evaluation import RegionAudit, evaluate_by_value
from ..language import plural, tr
from ..release import NOTHING_RELEASED
from .certificate import certificate_section
from .cost import classes_section, convergence_section, losers_section, measures_section, person_section
from .linked import linked_section
from .map_data import MapData, before_and_after, lost_map
from .numbers import formatted
from .page import Report, Section, render
from .periods import periods_section
from .pictures import histogram
from .protection import protection_section
from .provenance import Provenance, how_it_was_done
from .sign import SignPage

WORST_REGIONS = 10


def regions_section(account: Account, audit: RegionAudit, map_data: MapData) -> Section:
    """The regions by what they lose: a map, those that lose most, and how many records regions have."""
    numbers = account.plan.crosswalk.numbers
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
            str(numbers[region]),
            int(audit.areas[region]),
            int(audit.records[region]),
            int(audit.suppressed[region]),
            float(share[region]),
            int(audit.anonymity[region]),
        )
        for region in to_list(worst)
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
        lost_map(map_data, labels, share),
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


def _what_it_cost(account: Account, audit: RegionAudit, map_data: MapData, costs: Section) -> list[Section]:
    plan, measures = account.plan, account.measures
    profile, crosswalk = plan.profile, plan.crosswalk
    return [
        person_section(measures, plan, int(audit.areas.sum())),
        before_and_after(map_data, account.areas.identifiers, profile.area_sizes, crosswalk.numbers, audit.released),
        periods_section(account),
        losers_section(evaluate_by_value(account.areas, plan), measures, plan.k),
        costs,
        classes_section(plan),
        regions_section(account, audit, map_data),
        measures_section(measures),
    ]


def evaluation_report(
    account: Account,
    audit: RegionAudit,
    map_data: MapData,
    provenance: Provenance,
    notes: Sequence[str],
    costs: Section,
) -> str:
    """The page of an evaluation, which releases nothing; arguments as for `anonymisation_report`."""
    measures = account.measures
    verdict = plural(
        "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} %).",
        "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} %).",
        measures.n_suppressed,
        k=account.plan.k,
        n_records=formatted(measures.n_records),
        suppression_percent=formatted(measures.suppression_percent),
    )
    sections = [*_what_it_cost(account, audit, map_data, costs), *how_it_was_done(notes, provenance)]
    good = measures.n_suppressed < measures.n_records
    return render(Report(tr("Evaluation report"), verdict, good, True, sections, provenance.date, True))


def anonymisation_report(
    account: Account,
    audit: RegionAudit,
    map_data: MapData,
    provenance: Provenance,
    notes: Sequence[str],
    seconds: Mapping[str, float],
    costs: Section,
    convergence: Sequence[Convergence] = (),
    sign: SignPage | None = None,
) -> str:
    """The page as HTML.

    audit : that of the account; map_data : what is drawn; provenance : what the run was; notes : sentences of the
    components and warnings; seconds : by component; costs : from `costs_section`; convergence : of the components;
    sign : the page that is signed
    """
    sections = [
        *_what_it_cost(account, audit, map_data, costs),
        linked_section(account),
        protection_section(account),
        certificate_section(account),
        convergence_section(convergence),
        *how_it_was_done(notes, provenance, tr("Component"), seconds),
    ]
    good = account.measures.n_suppressed < account.measures.n_records
    title, verdict = tr("Anonymisation report"), verdict_of(account)
    return render(Report(title, verdict, good, True, sections, provenance.date, sign is None, sign))


def verdict_of(account: Account) -> str:
    """Whether a release of one level holds, and what is suppressed."""
    measures, k = account.measures, account.plan.k
    released = measures.n_records - measures.n_suppressed
    if released:
        return plural(
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} other (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} others (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            k - 1,
            k=k,
            released=formatted(released),
            smallest_class=account.smallest,
            n_suppressed=formatted(measures.n_suppressed),
            n_records=formatted(measures.n_records),
            suppression_percent=formatted(measures.suppression_percent),
        )
    return NOTHING_RELEASED
