"""The internal report of a release, or of what one would be: of one level, or of nested ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from ..account import Account
from ..attribute_costs import AttributeCost
from ..convergence import Convergence
from ..dataclass import dataclass
from ..evaluation import Measures
from ..language import plural, tr
from ..progress import Progress, silent
from ..records.table import HOUSEHOLDS
from ..release import nothing_released
from .certificate import certificate_section
from .coarser import coarser_section
from .cost import classes_section, convergence_section, costs_section, losers_section, measures_section, person_section
from .linked import linked_section
from .map_data import MapData, before_and_after
from .nested import geography_section, levels_section, limits_section, maps_section, narrowing_of
from .numbers import formatted
from .page import Report, Section, render
from .periods import periods_section
from .protection import protection_section
from .provenance import Provenance, how_it_was_done
from .regions import regions_section
from .sign import Signing, SignPage, sign_page
from .zones import chance_section, price_section


@dataclass(frozen=True, eq=False)
class Remarks:
    """What a page says beside the account: sentences, seconds by step, the share that is suppressed and what each
    attribute costs, how the methods came to rest, and what one level of regions would give, with its name."""

    notes: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    costs: tuple[float, Sequence[AttributeCost], float] | None = None
    convergence: Sequence[Convergence] = ()
    single: tuple[str, Measures] | None = None

    def with_those_of(self, account: Account) -> Remarks:
        """With what the account says, and its seconds."""
        seconds = {**self.seconds, **{tr(name): seconds for name, seconds in account.seconds.items()}}
        return replace(self, seconds=seconds, notes=(*account.notes, *self.notes))


def verdict_of(account: Account) -> str:
    """Whether a release holds, or what one would be, and what is suppressed."""
    measures, k, nested = account.measures, account.plan.k, account.nested
    n_released = account.plan.n_released
    counts: dict[str, object] = {
        "k": k,
        "n_records": formatted(measures.n_records),
        "suppression_percent": formatted(measures.suppression_percent),
    }
    if account.rows is None and not nested:
        return plural(
            "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} "
            "%).",
            "At k = {k} a release by this crosswalk would suppress {n} of {n_records} records ({suppression_percent} "
            "%).",
            measures.n_suppressed,
            **counts,
        )
    if not n_released:
        return nothing_released(account.requirement, nested)
    if not nested:
        return plural(
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} other (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            "The release is {k}-anonymous: every one of its {released} records shares its region "
            "and quasi-identifiers with at least {n} others (smallest class: {smallest_class}). "
            "Suppressed: {n_suppressed} of {n_records} records ({suppression_percent} %).",
            k - 1,
            released=formatted(n_released),
            smallest_class=account.smallest,
            n_suppressed=formatted(measures.n_suppressed),
            **counts,
        )
    share = plural(
        "{n} of {n_records} records ({suppression_percent} %)",
        "{n} of {n_records} records ({suppression_percent} %)",
        measures.n_suppressed,
        n_records=formatted(measures.n_records),
        suppression_percent=formatted(measures.suppression_percent),
    )
    distance = f"{formatted(round(measures.mean_distance))} m"
    if account.rows is None:
        return tr(
            "At k = {k} a nested release by these levels would suppress {share}, at a mean distance of {distance}.",
            k=k,
            share=share,
            distance=distance,
        )
    return plural(
        "The release is {k}-anonymous: every one of its {n_released} records shares its "
        "level, region and quasi-identifiers with at least {n} other (smallest class: "
        "{smallest_class}). Suppressed: {share}. Mean distance: {distance}.",
        "The release is {k}-anonymous: every one of its {n_released} records shares its "
        "level, region and quasi-identifiers with at least {n} others (smallest class: "
        "{smallest_class}). Suppressed: {share}. Mean distance: {distance}.",
        k - 1,
        k=k,
        n_released=formatted(account.plan.n_released),
        smallest_class=account.smallest,
        share=share,
        distance=distance,
    )


def page_to_sign(account: Account, signing: Signing, date: str) -> SignPage:
    """The page of a release that is signed: the first of its report. date : when that was made"""
    title = tr("Nested release") if account.nested else tr("Release of records")
    return sign_page(account, signing, title, verdict_of(account), date)


def internal_report(
    account: Account,
    map_data: MapData,
    provenance: Provenance,
    remarks: Remarks,
    signing: Signing | None = None,
    progress: Progress = silent,
) -> str:
    """The page as HTML. map_data : what is drawn; provenance : what the run was; signing : what the first page says;
    progress : of looking for small counts, which of many areas takes minutes: raises to cancel"""
    released, households = account.rows is not None, account.requirement.has(HOUSEHOLDS)
    n_areas = int((account.plan.crosswalk.region_of >= 0).sum())
    sign = page_to_sign(account, signing, provenance.date) if signing is not None and released else None
    sections = [
        *(_levels(account, remarks) if account.nested else ()),
        person_section(account.measures, account.plan, n_areas, households),
        geography_section(account) if account.nested else _before_and_after(account, map_data),
        periods_section(account),
        losers_section(account.by_value, account.measures, account.plan.k),
        *([] if remarks.costs is None else [costs_section(*remarks.costs)]),
        *([maps_section(account.audit, map_data)] if account.nested else []),
        classes_section(account.plan, households),
        *([] if account.nested else [regions_section(account, map_data)]),
        measures_section(account.measures),
        linked_section(account),
        *([protection_section(account)] if released else []),
        *(_what_levels_tell(account) if account.nested else []),
        *([certificate_section(account, progress)] if released else []),
        *([chance_section(account)] if released and account.nested else []),
        convergence_section(remarks.convergence),
        *how_it_was_done(remarks.notes, provenance, tr("Step"), remarks.seconds),
    ]
    good, verdict = account.plan.n_released > 0, verdict_of(account)
    return render(Report(_title(account), verdict, good, True, sections, provenance.date, sign is None, sign))


def _title(account: Account) -> str:
    if account.nested:
        return tr("Evaluation of a nested release") if account.rows is None else tr("Nested release")
    return tr("Evaluation report") if account.rows is None else tr("Anonymisation report")


def _levels(account: Account, remarks: Remarks) -> list[Section]:
    return [levels_section(account, remarks.single), coarser_section(account)]


def _before_and_after(account: Account, map_data: MapData) -> Section:
    sizes, numbers = account.plan.profile.area_sizes, account.plan.crosswalk.numbers
    return before_and_after(map_data, account.areas.identifiers, sizes, numbers, account.audit.released)


def _what_levels_tell(account: Account) -> list[Section]:
    """What levels tell, and what it costs that they tell less; the latter is not known of coarser values."""
    known = [] if account.levels.coarser else [price_section(account), narrowing_of(account)]
    return [*known, limits_section(account)]
