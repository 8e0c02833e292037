"""A release and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from .areas import Areas
from .ask import Ask
from .dataclass import dataclass
from .disclosure.certificate import Family
from .disclosure.published import Published
from .evaluation import ByValue, Measures, RegionAudit, evaluate_by_value
from .levels import Levels
from .plan import Plan
from .policy import Policy
from .privacy.derivable import NO_SMALL_COUNT
from .privacy.kept_field import KeptField
from .privacy.requirement import Protection, Requirement
from .profile import Profile
from .records.coarsened import Coarsened
from .release import Release, smallest_class
from .releases.updating import Changed
from .source import ReleasedRows


@dataclass(frozen=True, eq=False)
class Account:
    """A release and what is known of it, or what one would be: then `rows` is None. The records themselves are let go:
    there may be tens of millions of them, and what is released is written next.

    Attributes
    ----------
    ask : Ask
        What was asked.
    areas : Areas
        With their people.
    coarsened : mapping of str to Coarsened
        By name, the quasi-identifiers that are shown coarser than they were read.
    n_unmatched : int
        Records of no known area.
    plan : Plan
        By region and what is shown.
    requirement : Requirement
        What was asked of the classes.
    measures : Measures
        What the release costs.
    audit : RegionAudit
        The same by region, or by level. Internal.
    rows : ReleasedRows, optional
        What is released, recounted.
    protection : Protection
        What the classes have of what was asked.
    weights : str
        A warning of counts that look like survey weights; empty for none.
    notes : tuple of str
        Sentences on what others publish and on earlier releases.
    published : Published, optional
        What the register of releases is to keep of this one.
    seconds : mapping of str to float
        By step.
    tried : tuple of Family
        Counts that were tried beside what others publish and beside earlier releases.
    policies : tuple of Policy
        Those of the house that it holds.
    changed : Changed, optional
        Of an update, what it changes beside the release that it carries on.
    open_beside : bool
        Whether what it tells together with counts and releases that are published already could not be looked at in
        full, or not be decided.
    everybody : Profile, optional
        Of an update, the areas and classes of all people of now: `plan` knows those alone who are shown.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import anonymise
    >>> from vbas.core.ask import Ask
    >>> from vbas.core.levels import Levels
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2))
    >>> account.release.n_records, account.smallest, account.nested
    (7, 2, False)
    >>> account.audit.suppressed.tolist()
    [0, 1]
    """

    ask: Ask
    areas: Areas
    coarsened: Mapping[str, Coarsened]
    n_unmatched: int
    plan: Plan
    requirement: Requirement
    measures: Measures
    audit: RegionAudit
    rows: ReleasedRows | None = None
    protection: Protection = field(default_factory=lambda: Protection({}))
    weights: str = ""
    notes: tuple[str, ...] = ()
    published: Published | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    tried: tuple[Family, ...] = ()
    policies: tuple[Policy, ...] = ()
    changed: Changed | None = None
    open_beside: bool = False
    everybody: Profile | None = None

    @property
    def levels(self) -> Levels:
        """The levels that are shown, the finest first."""
        return self.plan.levels

    @property
    def nested(self) -> bool:
        """Whether rows say their level."""
        return self.ask.is_nested(self.levels)

    @property
    def release(self) -> Release:
        """What is released. Raises LookupError for an account of what a release would be."""
        if self.rows is None:
            raise LookupError("rows")
        return self.rows.release

    @property
    def kept(self) -> Sequence[KeptField]:
        """What the kept fields of the rows tell."""
        return () if self.rows is None else self.rows.kept

    @property
    def by_value(self) -> ByValue:
        """What each value of each quasi-identifier loses. Internal."""
        return evaluate_by_value(self.areas, self.plan.by_value, self.everybody)

    @property
    def no_small_count(self) -> bool:
        """Whether the release was made so that no count below k follows, also for somebody who knows the method."""
        return self.ask.disclosure == NO_SMALL_COUNT and self.plan.counted.in_zones

    @property
    def smallest(self) -> int | None:
        """Records of the smallest released class, recounted; None where nothing is released."""
        names = self.plan.profile.quasi_identifiers
        return None if self.rows is None else smallest_class(self.rows.release, len(names))
