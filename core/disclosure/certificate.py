"""Which counts of a release were tried, family by family: how many follow, how many could not be decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dataclass import dataclass
from ..language import as_data
from ..plan import Plan
from ..progress import Progress, silent
from .inhabitants import Inhabitants
from .method_bounds import method_bounds
from .zone_flows import MOST_PEOPLE
from .zone_tables import (
    Known,
    ProvenSmall,
    ReleasedClasses,
    proven_small,
    records_of,
    released_classes,
    too_many_pairs,
)

ZONES, AREAS = as_data("zones"), as_data("areas")
PARTS, RESTS = as_data("parts of zones"), as_data("rests of zones")
BY_THE_METHOD = as_data("parts of regions, by the method")
CLASSES = as_data("classes")
BESIDE_TABLES, TOGETHER = as_data("beside published counts"), as_data("together with other releases")
CHANGES = as_data("changes since another release")
FAMILIES = (CLASSES, ZONES, AREAS, PARTS, RESTS, BY_THE_METHOD, BESIDE_TABLES, TOGETHER, CHANGES)


@dataclass(frozen=True)
class Family:
    """Counts of one kind. tried : how many; follow : that lie within 1 to k - 1 for sure; undecided : taken as such."""

    kind: str
    tried: int
    follow: int
    undecided: int = 0


@dataclass(frozen=True)
class Certificate:
    """What was tried of a release.

    families : of counts; people : whether the people of areas were taken for known, and contradicted : whether records
    are more than these, so that nothing follows from them
    unknowns, conditions : of the tables of records by zone and area, none where these were not looked at
    n_tables, n_programs : of these found, and counts decided one by one
    of_all_areas : whether of each area the people are taken for known, of none of them fewer than records
    """

    k: int
    families: tuple[Family, ...]
    people: bool
    contradicted: bool
    unknowns: int = 0
    conditions: int = 0
    n_tables: int = 0
    n_programs: int = 0
    of_all_areas: bool = True

    @property
    def follow(self) -> int:
        """Counts that follow."""
        return sum(family.follow for family in self.families)

    @property
    def undecided(self) -> int:
        """Counts that could not be decided."""
        return sum(family.undecided for family in self.families)

    @property
    def tried(self) -> int:
        """Counts that were tried."""
        return sum(family.tried for family in self.families)

    def of(self, kind: str) -> Family:
        """The counts of a kind, none tried where it is not among the families."""
        return next((family for family in self.families if family.kind == kind), Family(kind, 0, 0))


def certify_classes(records: np.ndarray, k: int, further: Sequence[Family] = ()) -> Certificate:
    """The short one, of classes by themselves: of a release of one level, or a table whose regions are not known.

    records : (C,) of each class, or people; further : what else was tried
    """
    classes = Family(CLASSES, len(records), int(((records >= 1) & (records < k)).sum()))
    return Certificate(k, (classes, *further), people=False, contradicted=False)


def certify(
    released: ReleasedClasses,
    people: np.ndarray | None,
    k: int,
    losses: Sequence[np.ndarray] | None = None,
    table: Known | None = None,
    progress: Progress = silent,
) -> Certificate:
    """Try every count of a class that a release lets ask about: of areas, and of what regions have of a zone.

    people : (n,) of each area, None where nobody is to know them, or rows are not people; losses : of each level,
    (n_regions,) what a record loses in each region, where the release is taken to be the one that loses least; table :
    what the release was made from (`records_of`), where that is at hand: nothing else follows, but sooner; progress :
    called with the fraction that is done, raises to cancel
    Of a release whose zones have too many areas these are not looked at, and stand as not decided.
    """
    of_zones = Family(ZONES, len(released.records), int(((released.records >= 1) & (released.records < k)).sum()))
    if n_pairs := too_many_pairs(released):
        return Certificate(k, (of_zones, Family(AREAS, 0, 0, n_pairs)), people is not None, contradicted=False)
    known = np.full(len(released.levels.region_of[0]), float(MOST_PEOPLE)) if people is None else people
    proof = proven_small(released, known, k, table, every=table is None, progress=progress)
    families = [
        of_zones,
        *_families(proof),
    ]
    if losses is not None:
        bounds = method_bounds(released, known, losses, k)
        families.append(Family(BY_THE_METHOD, len(bounds.low), int(bounds.small.sum())))
    return Certificate(
        k,
        tuple(families),
        people is not None,
        proof.contradicted,
        len(proof.zones.zone),
        len(proof.zones.count) + int((proof.zones.room > 0).sum()),
        proof.n_tables,
        proof.n_programs,
    )


def certify_plan(
    plan: Plan,
    people: Inhabitants | None,
    losses: Sequence[np.ndarray] | None = None,
    progress: Progress = silent,
) -> Certificate:
    """The same of a plan, whose classes of a period share the people of an area with these alone.

    people : of each area, None where nobody is to know them; losses, progress : as for `certify`
    """
    if people is None:
        return certify(released_classes(plan)[0], None, plan.k, losses, records_of(plan), progress)
    each = [
        certify(released_classes(plan, classes)[0], number, plan.k, losses, records_of(plan, classes), progress)
        for classes, number in people.each()
    ]
    kinds = dict.fromkeys(family.kind for certificate in each for family in certificate.families)
    return Certificate(
        plan.k,
        tuple(_together([certificate.of(kind) for certificate in each]) for kind in kinds),
        people=True,
        contradicted=any(certificate.contradicted for certificate in each),
        unknowns=sum(certificate.unknowns for certificate in each),
        conditions=sum(certificate.conditions for certificate in each),
        n_tables=sum(certificate.n_tables for certificate in each),
        n_programs=sum(certificate.n_programs for certificate in each),
        of_all_areas=bool(np.isfinite(people.number).all()),
    )


def _together(families: Sequence[Family]) -> Family:
    """What was tried of one kind, of all periods."""
    tried, follow = sum(family.tried for family in families), sum(family.follow for family in families)
    return Family(families[0].kind, tried, follow, sum(family.undecided for family in families))


def _families(proof: ProvenSmall) -> list[Family]:
    """What was tried, listed among the parts or seen to be free at once."""
    of_areas, of = proof.of.level < 0, proof.of
    return [
        Family(kind, tried, int(some[proof.parts].sum()), int(some[proof.open_parts].sum()))
        for kind, some, tried in ((AREAS, of_areas, of.n_areas), (PARTS, ~of_areas, of.n_larger))
    ] + [Family(RESTS, of.n_rests, len(proof.rests), len(proof.open_rests))]
