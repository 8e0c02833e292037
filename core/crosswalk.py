"""The crosswalk: which region each area belongs to. Every method ends in one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .areas import Areas, identifier_text
from .dataclass import dataclass
from .errors import InputError, first_values
from .scientific import sparse
from .voronoi import mean_centres

LEFT_OUT = -1


@dataclass(frozen=True, eq=False)
class Crosswalk:
    """The region of each area.

    region_of : (n,) int64 array, 0..n_regions - 1, or LEFT_OUT (-1) for an area that a method leaves out:
        all its records are suppressed.
    n_regions : number of aggregated regions; each has at least one member.
    given_numbers : (n_regions,) int64, the numbers that a table gives its regions; None where they are 1..n_regions.
    """

    region_of: np.ndarray
    n_regions: int
    given_numbers: np.ndarray | None = None

    @property
    def numbers(self) -> np.ndarray:
        """The public number `vbas_region` of each aggregated region, (n_regions,) int64."""
        return np.arange(1, self.n_regions + 1, dtype=np.int64) if self.given_numbers is None else self.given_numbers

    def membership(self) -> sparse.csr_matrix:
        """(n_regions, n) matrix of 0 and 1: row a marks the members of aggregated region a."""
        members = np.flatnonzero(self.region_of >= 0)
        return sparse.csr_matrix(
            (np.ones(len(members), np.int64), (self.region_of[members], members)),
            shape=(self.n_regions, len(self.region_of)),
        )

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Sum of `values` (n,) over the members of each aggregated region, (n_regions,) float."""
        inside = self.region_of >= 0
        return np.bincount(self.region_of[inside], weights=values[inside], minlength=self.n_regions)

    def mean_centres(self, points: np.ndarray) -> np.ndarray:
        """Unweighted mean of the members' points (n, 2), one row per aggregated region, (n_regions, 2)."""
        inside = self.region_of >= 0
        return mean_centres(points[inside], self.region_of[inside], self.n_regions)


def number_compactly(region_of: np.ndarray) -> tuple[Crosswalk, np.ndarray]:
    """A crosswalk from any labels (negative = left out), renumbered without gaps in ascending order of label.

    Returns the crosswalk and the labels in use, (n_regions,): of values stored by label, region a has
    `values[labels[a]]`.
    """
    labels = np.unique(region_of[region_of >= 0])
    compact = np.where(region_of >= 0, np.searchsorted(labels, region_of), LEFT_OUT)
    return Crosswalk(compact.astype(np.int64), len(labels)), labels


def crosswalk_from_table(areas: Areas, identifiers: Sequence[object], numbers: Sequence[object]) -> Crosswalk:
    """Read a crosswalk table: identifiers of areas and their `vbas_region` (None where the area is left out).

    Any whole numbers will do, as numbers or text: the crosswalk keeps them. Raises InputError for areas that are
    missing, unknown or assigned twice, for anything that is not a whole number, and where no area has a region.
    """
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    codes = areas.codes_of(texts)
    unknown = codes < 0
    if unknown.any():
        raise InputError.counting(
            "CROSSWALK names {n} area that is not in REGIONS ({first}): use the crosswalk that was made for these "
            "areas.",
            "CROSSWALK names {n} areas that are not in REGIONS ({first}): use the crosswalk that was made for these "
            "areas.",
            int(unknown.sum()),
            first=first_values(texts[unknown]),
        )
    times = np.bincount(codes, minlength=len(areas))
    if (times > 1).any():
        raise InputError.counting(
            "CROSSWALK assigns {n} area more than once ({first}): each area belongs to exactly one region.",
            "CROSSWALK assigns {n} areas more than once ({first}): each area belongs to exactly one region.",
            int((times > 1).sum()),
            first=first_values(areas.identifiers[times > 1]),
        )
    if (times == 0).any():
        raise InputError.counting(
            "CROSSWALK lacks {n} area of REGIONS ({first}): add it, with an empty vbas_region to leave it out.",
            "CROSSWALK lacks {n} areas of REGIONS ({first}): add them, with an empty vbas_region to leave them out.",
            int((times == 0).sum()),
            first=first_values(areas.identifiers[times == 0]),
        )
    labels = np.array([_region_text(value) for value in numbers], dtype=object)
    inside = np.array([label is not None for label in labels])
    if not inside.any():
        raise InputError.saying("CROSSWALK gives no area a vbas_region: there is nothing to release.")
    wrong = [label for label in labels[inside] if not _is_number(label)]
    if wrong:
        raise InputError.counting(
            "vbas_region in CROSSWALK is not a whole number in {n} row (first: {first}): number the regions, within 64 "
            "bits.",
            "vbas_region in CROSSWALK is not a whole number in {n} rows (first: {first}): number the regions, within "
            "64 bits.",
            len(wrong),
            first=first_values(wrong),
        )
    numbers_given, position = np.unique(labels[inside].astype(np.int64), return_inverse=True)
    region_of = np.full(len(areas), LEFT_OUT, np.int64)
    region_of[codes[inside]] = position.reshape(-1)
    return Crosswalk(region_of, len(numbers_given), numbers_given)


def _is_number(label: str) -> bool:
    """Whether a text is a whole number that 64 bits hold."""
    return re.fullmatch(r"-?[0-9]{1,19}", label) is not None and -(2**63) <= int(label) < 2**63


def _region_text(number: object) -> str | None:
    # A floating-point number this large may stand for several whole numbers: as text it counts as none.
    if isinstance(number, float) and abs(number) >= 2**53:
        return str(number)
    return identifier_text(number)
