"""The internal report of a release, or of what one would be: the page of one level, or that of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..anonymise import Account
from ..attribute_costs import AttributeCost
from ..convergence import Convergence
from ..evaluation import Measures
from ..language import tr
from ..nesting.measures import LevelAudit
from .anonymisation import anonymisation_report, evaluation_report
from .anonymisation import verdict_of as verdict_of_one_level
from .cost import costs_section
from .map_data import MapData
from .nested import nested_report
from .nested import verdict_of as verdict_of_nested
from .page import Section
from .provenance import Provenance
from .sign import Signing, SignPage, sign_page


@dataclass(frozen=True, eq=False)
class Remarks:
    """What a page says beside the account: sentences, seconds by step, the share that is suppressed and what each
    attribute costs, how the methods came to rest, and what one level of regions would give, with its name."""

    notes: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    costs: tuple[float, Sequence[AttributeCost]] | None = None
    convergence: Sequence[Convergence] = ()
    single: tuple[str, Measures] | None = None


def page_to_sign(account: Account, signing: Signing, date: str) -> SignPage:
    """The page of a release that is signed: the first of its report. date : when that was made"""
    nested = isinstance(account.audit, LevelAudit)
    title = tr("Nested release") if nested else tr("Release of records")
    return sign_page(account, signing, title, (verdict_of_nested if nested else verdict_of_one_level)(account), date)


def internal_report(
    account: Account,
    map_data: MapData,
    provenance: Provenance,
    remarks: Remarks,
    signing: Signing | None = None,
) -> str:
    """The page as HTML. map_data : what is drawn; provenance : what the run was; signing : what the first page says"""
    audit = account.audit
    released = signing is not None and account.rows is not None
    sign = page_to_sign(account, signing, provenance.date) if signing is not None and released else None
    if isinstance(audit, LevelAudit):
        return nested_report(
            account,
            audit,
            map_data,
            provenance,
            remarks.notes,
            remarks.seconds,
            remarks.single,
            remarks.convergence,
            sign,
        )
    costs = Section("") if remarks.costs is None else costs_section(*remarks.costs)
    if account.rows is None:
        return evaluation_report(account, audit, map_data, provenance, remarks.notes, costs)
    return anonymisation_report(
        account, audit, map_data, provenance, remarks.notes, remarks.seconds, costs, remarks.convergence, sign
    )
