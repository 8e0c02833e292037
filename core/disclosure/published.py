"""What a release published: its levels, its quasi-identifiers, the counts of its equivalence classes; nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import plural, tr
from ..levels import Levels
from ..nesting.flattening import flatten
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..records.columns import Column, combine_codes, combine_columns
from .values import KeptValues, Values, as_text, values_of_cells, values_of_rows

AS_THEY_ARE: Mapping[str, int] = {}


@dataclass(frozen=True, eq=False)
class Published:
    """One release as anybody can know it.

    title : what it is called in messages, “this release” where empty; k : its smallest class
    areas : (n,) object array of str, the identifiers; levels : of these areas, the finest first
    quasi_identifiers : Q names; categories : Q object arrays of text, only values that are shown
    classes : (C, Q) int64 codes of the classes that are shown somewhere, or held back
    level, region, class_of, records : (L,) int64, of each equivalence class that is released
    bounded : whether a class that a region (under several levels: of the coarsest) does not show has fewer than k
    records there; not so where more is asked of classes than k records
    whole : whether under several levels a class of which a coarsest region shows something is shown there with all
    its records
    held_back : (H, 2) int64 regions of the coarsest level and classes that are not shown although they have k records.
    Known to nobody outside and never stored: for a check of what those would learn who know the rest
    sensitive : the sensitive fields that are released, with their values in each equivalence class
    coarsened : the level at which quasi-identifiers are shown, by name; those at level 0, as they are, are not named
    of_persons : whether a person may have several of its records: its k counts persons, what it shows are records
    counts_from : of a table of counts that is no release, (L,) int64, the least people that each count may stand for,
    the most being its records; counts of nobody are among them. None for a release
    in_zones : whether a region of any level that shows a class shows all its records there that no region within shows
    updates : of an update the position, among the earlier releases, of the one that it carries on, and what it is
    beside it (KINDS of releases.updating), -1 where that was taken out of the register; None for no update
    period : of a release whose classes are the same in all periods the quasi-identifier that says which; empty for
    others: see `in_series`
    linked : the names of the linked tables that were released with the persons, none where there were none
    of_some : whether it is known to be of some of the people only, as rows were left out
    rows : what rows show together in all fields beside quasi-identifiers (`row_values`); None where that is not known,
    or is what `sensitive` tells
    """

    title: str
    k: int
    areas: np.ndarray
    levels: Levels
    quasi_identifiers: tuple[str, ...]
    categories: tuple[np.ndarray, ...]
    classes: np.ndarray
    level: np.ndarray
    region: np.ndarray
    class_of: np.ndarray
    records: np.ndarray
    bounded: bool = True
    whole: bool = True
    held_back: np.ndarray | None = None
    sensitive: tuple[Values, ...] = ()
    coarsened: Mapping[str, int] = field(default_factory=dict)
    of_persons: bool = False
    counts_from: np.ndarray | None = None
    in_zones: bool = False
    linked: tuple[str, ...] = ()
    period: str = ""
    updates: tuple[int, str] | None = None
    rows: Values | None = None
    of_some: bool = False

    @property
    def nested(self) -> bool:
        """Whether there are several levels."""
        return len(self.levels) > 1

    @property
    def coarsest_region(self) -> np.ndarray:
        """The region of the coarsest level around each equivalence class, (L,) int64."""
        return self.region_at(len(self.levels) - 1)

    def region_at(self, height: int) -> np.ndarray:
        """The region of a level around each equivalence class, (L,) int64; -1 for those of coarser levels."""
        return flatten(self.levels, self.level, self.region, height)

    def values_of_classes(self) -> list[tuple[str, ...]]:
        """The values of each class that is shown, as text; of a count of all people there are none."""
        columns = [categories[codes].tolist() for categories, codes in zip(self.categories, self.classes.T)]
        return list(zip(*columns)) if columns else [()] * len(self.classes)


def publish(
    plan: Plan,
    areas: Areas,
    title: str = "",
    sensitive: Sequence[KeptValues] = (),
    coarsened: Mapping[str, int] = AS_THEY_ARE,
    rows: KeptValues | None = None,
) -> Published:
    """What the release of a plan publishes; areas : those of its profile; sensitive : fields that are released;
    coarsened, rows : as in Published.

    What is suppressed enters only as `bounded`, `whole` and `held_back`.
    """
    profile, released = plan.profile, plan.released
    held_back, bounded, whole = _held_back(plan)
    if plan.in_part:
        held_back, bounded, whole = np.empty((0, 2), np.int64), False, False
    used = np.union1d(plan.class_of[released], held_back[:, 1])
    held_back[:, 1] = np.searchsorted(used, held_back[:, 1])
    categories, codes = _categories_in_use(profile.categories, profile.classes[used])
    position = _positions_released(plan)
    return Published(
        title or tr("this release"),
        plan.k,
        areas.identifiers,
        plan.levels,
        profile.quasi_identifiers,
        categories,
        codes,
        plan.level[released],
        plan.region[released],
        np.searchsorted(used, plan.class_of[released]),
        plan.records[released],
        bounded,
        whole,
        held_back,
        tuple(values_of_cells(sensitive_field, position) for sensitive_field in sensitive),
        coarsened,
        in_zones=plan.in_zones,
        rows=None if rows is None else values_of_cells(rows, position),
    )


def with_rows(release: Published, plan: Plan, rows: KeptValues | None) -> Published:
    """What a plan publishes, with what its rows show together beside quasi-identifiers."""
    return release if rows is None else replace(release, rows=values_of_cells(rows, _positions_released(plan)))


def _positions_released(plan: Plan) -> np.ndarray:
    """Of each cell the position of its equivalence class among those that are released, SUPPRESSED for none."""
    released = plan.released
    position = np.append(
        np.where(released, np.cumsum(released, dtype=np.int64) - 1, SUPPRESSED), SUPPRESSED
    )  # the last for SUPPRESSED
    of_cells: np.ndarray = position[plan.equivalence_class_of]
    return of_cells


def publish_rows(
    title: str,
    k: int,
    areas: Areas,
    levels: Levels,
    level: np.ndarray,
    region: np.ndarray,
    fields: Mapping[str, Column],
    counts: np.ndarray | None = None,
    bounded: bool = True,
    sensitive: Mapping[str, Column] | None = None,
) -> Published:
    """What rows of a release publish, counted.

    level, region : (R,) positions of what each row shows; fields : its quasi-identifiers; counts : (R,) records that
    each row stands for, ones where None; sensitive : the sensitive fields that it shows.
    Raises InputError where a class has fewer than k records.
    """
    class_of, classes = combine_columns(fields.values())
    equivalence_class_of, equivalence_classes = combine_codes(
        [level, region, class_of],
        [len(levels), max(crosswalk.n_regions for crosswalk in levels.crosswalks), max(len(classes), 1)],
    )
    records = np.bincount(equivalence_class_of, counts, len(equivalence_classes)).astype(np.int64)
    if (records < k).any():
        raise InputError(
            plural(
                "Release “{title}” shows {n} class of fewer than {k} records: it is not k-anonymous "
                "by itself. Give the k that it was made with, and its own crosswalk and "
                "quasi-identifiers.",
                "Release “{title}” shows {n} classes of fewer than {k} records: it is not "
                "k-anonymous by itself. Give the k that it was made with, and its own crosswalk and "
                "quasi-identifiers.",
                int((records < k).sum()),
                title=title,
                k=k,
            )
        )
    categories, codes = _categories_in_use([column.categories for column in fields.values()], classes)
    at_level, at_region, of_class = equivalence_classes.T
    values = tuple(
        values_of_rows(name, column.categories, equivalence_class_of, column.codes, counts)
        for name, column in (sensitive or {}).items()
    )
    return Published(
        title,
        k,
        areas.identifiers,
        levels,
        tuple(fields),
        categories,
        codes,
        at_level,
        at_region,
        of_class,
        records,
        bounded,
        sensitive=values,
    )


def _categories_in_use(
    categories: Sequence[np.ndarray], classes: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The values in use as text, and the classes by them; classes : (C, Q) codes of the values given."""
    texts, codes = [], np.empty_like(classes)
    for position, values in enumerate(categories):
        used, at = np.unique(classes[:, position], return_inverse=True)
        texts.append(np.array(as_text([values[code] for code in used.tolist()]), dtype=object))
        codes[:, position] = at.reshape(-1)
    return tuple(texts), codes


def _held_back(plan: Plan) -> tuple[np.ndarray, bool, bool]:
    """(Region of the coarsest level, class) of what has k records and is not shown; whether there is none; and
    whether every class of a coarsest region is shown there with all its records or with none."""
    profile, coarsest = plan.profile, plan.levels.crosswalks[-1]
    area, class_of, records = area_of_cells(profile), profile.counts.indices.astype(np.int64), profile.counts.data
    region = coarsest.region_of[area]
    inside = np.flatnonzero(region >= 0)
    hidden = plan.equivalence_class_of[inside] == SUPPRESSED
    n_classes = len(profile.classes)
    keys, position = np.unique(region[inside] * n_classes + class_of[inside], return_inverse=True)
    position = position.reshape(-1)
    lost = np.bincount(position, np.where(hidden, records[inside], 0), len(keys))
    kept = np.bincount(position, np.where(hidden, 0, records[inside]), len(keys))
    partly, unbounded = (lost > 0) & (kept > 0), lost >= plan.k
    pairs = np.column_stack(np.divmod(keys[unbounded | partly], n_classes))
    return pairs, not unbounded.any(), not partly.any()


def check_areas(releases: Sequence[Published]) -> None:
    """Refuse releases that have no area in common. Raises InputError."""
    first = set(releases[0].areas.tolist())
    for other in releases[1:]:
        if first.isdisjoint(other.areas.tolist()):
            raise InputError(
                tr(
                    "Releases “{title}” and “{other}” have no area in common (first: "
                    "{first}; {others}): give crosswalks of the same areas, whose identifiers are written alike. "
                    "Other places have a register of their own.",
                    title=releases[0].title,
                    other=other.title,
                    first=first_values(sorted(first)),
                    others=first_values(other.areas),
                )
            )
