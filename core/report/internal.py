"""The internal report of a release, or of what one would be: the page of one level, or that of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..anonymise import Account
from ..attribute_costs import AttributeCost
from ..convergence import Convergence
from ..evaluation import Measures
from ..nesting.measures import LevelAudit
from .anonymisation import anonymisation_report, evaluation_report
from .attributes import costs_section
from .map_data import MapData
from .nested import nested_report
from .page import Section
from .provenance import Provenance


@dataclass(frozen=True, eq=False)
class Remarks:
    """What a page says beside the account: sentences, seconds by step, the share that is suppressed and what each
    attribute costs, how the methods came to rest, and what one level of regions would give, with its name."""

    notes: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    costs: tuple[float, Sequence[AttributeCost]] | None = None
    convergence: Sequence[Convergence] = ()
    single: tuple[str, Measures] | None = None


def internal_report(account: Account, map_data: MapData, provenance: Provenance, remarks: Remarks) -> str:
    """The page as HTML. map_data : what is drawn; provenance : what the run was."""
    audit = account.audit
    if isinstance(audit, LevelAudit):
        return nested_report(
            account, audit, map_data, provenance, remarks.notes, remarks.seconds, remarks.single, remarks.convergence
        )
    costs = Section("") if remarks.costs is None else costs_section(*remarks.costs)
    if account.rows is None:
        return evaluation_report(account, audit, map_data, provenance, remarks.notes, costs)
    return anonymisation_report(
        account, audit, map_data, provenance, remarks.notes, remarks.seconds, costs, remarks.convergence
    )
