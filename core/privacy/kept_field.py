"""What one kept field of a release gives away, and what is said of it: refused, warned of, or nothing.

k counts people who share region and quasi-identifiers. A field that is released with them is not counted: it may say
where in the region a person lives, or be a number that only one person has.
"""

from __future__ import annotations

from .. import counted
from ..dataclass import dataclass
from ..language import tr
from .association import NAMES, WARNED_SHARE, Disclosed

EXPOSED = 0.01  # of the rows, the share that a field may expose; a release suppresses as many to hide the rare
FEWEST_ROWS = 100  # below, a share says nothing
UNIQUE = 0.5  # share of rows with a value of their own from which a field stands for the person; with a rare one: said
RARE = 5  # rows that have a value, below which it is rare: what many have names nobody, and must not hide what does


@dataclass(frozen=True, eq=False)
class KeptField:
    """What one kept field gives away, over the released rows that were looked at.

    values : different values; rows, looked_at : rows with a value, and all; single, rare : rows whose value nobody else
    has, and fewer than RARE have
    bits_before, bits_left : how hard it is to guess the area, by the region alone and with the value, bits per row
    in_one_area : share of rows whose value, in their region, occurs in one area only, and there more than once
    below_k : rows that fewer than k others share region, quasi-identifiers and value with; alone : those that none does
    disclosed : what the values disclose of the area, or their first `prefix` characters where that is not 0
    refines : the quasi-identifier of which its values are finer ones, empty for none; finer, finer_alone : rows that
    have such a value, and those of them that are alone with it in their class
    regains, regained : the quasi-identifier shown coarser of which the values give most back, and what they tell of it
    """

    name: str
    k: int
    values: int
    rows: int
    looked_at: int
    single: int
    rare: int
    bits_before: float
    bits_left: float
    in_one_area: float
    below_k: int
    alone: int
    disclosed: Disclosed
    prefix: int
    refines: str
    finer: int
    finer_alone: int
    regains: str
    regained: Disclosed

    @property
    def unique(self) -> float:
        """Of the rows with a value, the share whose value nobody else has."""
        return self.single / max(self.rows, 1)

    @property
    def refusal(self) -> str:
        """Why the field must not be released: it stands for the area or the person; empty where it does not."""
        if self.disclosed.placed_share >= EXPOSED:
            return self._stands_for_the_area
        if self.regained.placed_share >= WARNED_SHARE:
            return tr(
                "KEEP_FIELDS: “{name}” gives back what coarser values take: in {share:.1f} % of the {rows} rows that "
                "show a coarser “{regains}” its value stands for one original value. Take it out.",
                name=self.name,
                share=100 * self.regained.placed_share,
                rows=self.regained.rows,
                regains=self.regains,
            )
        if self.looked_at < FEWEST_ROWS:
            return ""
        if self.refines and self.finer_alone >= UNIQUE * self.finer:
            return tr(
                "KEEP_FIELDS: “{name}” is a finer value of the quasi-identifier “{refines}”, and "
                "{alone} of the {rows} rows that have one would be alone with it in their class. Take it out, or make "
                "it the quasi-identifier.",
                name=self.name,
                refines=self.refines,
                alone=self.finer_alone,
                rows=self.finer,
            )
        names = self.single >= EXPOSED * self.looked_at and self.single >= NAMES * self.rare
        if names or self.single >= UNIQUE * self.rows > 0:
            return tr(
                "KEEP_FIELDS: “{name}” has a value of its own in {single} of the {rows} rows, as a number or a name "
                "of a person has. Take it out, or round or group it first.",
                name=self.name,
                single=self.single,
                rows=self.looked_at,
            )
        return ""

    @property
    def warning(self) -> str:
        """What the custodian should know of the field before it is released; empty where there is nothing."""
        if self.refusal:
            return ""
        if self.regains:
            return tr(
                "KEEP_FIELDS: “{name}” gives back part of what coarser values take: in {share:.1f} % of the {rows} "
                "rows that show a coarser “{regains}” its value says much of the original one; with it, in groups "
                "of fewer than {k}: {below}. Make it coarser too, or take it out.",
                name=self.name,
                share=100 * max(self.regained.placed_share, self.regained.narrowing_share),
                rows=self.regained.rows,
                regains=self.regains,
                below=counted.rows(self.below_k),
                k=self.k,
            )
        if self.refines and self.below_k:
            return tr(
                "KEEP_FIELDS: “{name}” is a finer value of the quasi-identifier “{refines}”: with it, "
                "in classes of fewer than {k}: {below}; alone: {alone}. Make it the "
                "quasi-identifier, or take it out.",
                name=self.name,
                refines=self.refines,
                below=counted.rows(self.below_k),
                k=self.k,
                alone=self.alone,
            )
        if self.disclosed.placed or self.disclosed.narrowing_share >= WARNED_SHARE:
            return tr(
                "KEEP_FIELDS: “{name}” says where in the region a person lives: of the {rows} rows whose region has "
                "several areas, {tells} have a value that says much more of the area than the region does, "
                "{placed} one that stands for it; in groups of fewer than {k}: {below}. Take it out unless "
                "you know that it does no harm.",
                name=self.name,
                rows=self.disclosed.rows,
                tells=self.disclosed.narrowing,
                placed=self.disclosed.placed,
                below=counted.rows(self.below_k),
                k=self.k,
            )
        if self.unique > WARNED_SHARE and self.rows >= FEWEST_ROWS:
            return tr(
                "KEEP_FIELDS: “{name}” has a value of its own in {unique:.0f} % of its rows: if "
                "others know it of a person, do not release it.",
                name=self.name,
                unique=100 * self.unique,
            )
        if self.rare >= UNIQUE * self.rows and self.rows >= FEWEST_ROWS:
            return tr(
                "KEEP_FIELDS: “{name}” has a value of fewer than {rare} in {share:.0f} % of its rows, as the "
                "number of a household has, or of a person with several rows: if others know it of a person, or must "
                "not see which rows share it, do not release it.",
                name=self.name,
                rare=counted.rows(RARE),
                share=100 * self.rare / self.rows,
            )
        return ""

    @property
    def _stands_for_the_area(self) -> str:
        share, rows = 100 * self.disclosed.placed_share, self.disclosed.rows
        if self.prefix:
            return tr(
                "KEEP_FIELDS: the first {prefix} characters of “{name}” stand for the area in {share:.1f} % of the "
                "{rows} rows whose region has several areas: nearly all rows of the region that share them come from "
                "one area. Take it out.",
                prefix=self.prefix,
                name=self.name,
                share=share,
                rows=rows,
            )
        return tr(
            "KEEP_FIELDS: “{name}” stands for the area in {share:.1f} % of the {rows} rows whose region has several "
            "areas: nearly all rows of the region that share the value come from one area. Take it out.",
            name=self.name,
            share=share,
            rows=rows,
        )
