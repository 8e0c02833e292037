"""What a release's tables are counted again for: its classes, and the regions that records, areas and regions name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..arrays import to_list
from ..errors import in_quotes
from ..language import plural, tr
from ..records.columns import combine_columns
from .claims import Claim, unseen
from .dataset import CROSSWALK, RECORDS, REGIONS
from .table import AREA, COUNT, LEVEL, QUASI, REGION, SENSITIVE, DataTable

TABLES = (RECORDS, CROSSWALK, REGIONS)
OF_CLASSES = (LEVEL, REGION, QUASI)  # what makes a class
TOLERANCE = 1e-12  # of a share, relative
LEFT_OUT = -(2**62)  # in the place of a region's number


class Classes:
    """The classes of the released records: level, region and quasi-identifiers."""

    def __init__(self, table: DataTable) -> None:
        self.weights = _weights(table)
        own = [of for field, of in zip(table.fields, table.columns) if field.role in OF_CLASSES]
        self.class_of = np.empty(0, np.int64)
        if len(table.copies):
            self.class_of, _ = combine_columns(own)
        self.sizes = np.bincount(self.class_of, self.weights).astype(np.int64)


def claims_of_classes(classes: Classes, table: DataTable, ours: Mapping[str, Any], k: int) -> Iterator[Claim]:
    """k, and what is asked of sensitive values, where it is.

    ours : what the description says of the release; k : asked
    """
    sizes = classes.sizes
    below = int((sizes < k).sum())
    if not len(sizes):
        says = tr("No record is released.")
    elif not below:
        says = tr(
            "Every class of {fields} has at least {k} records; the smallest has {n}.",
            fields=", ".join(in_quotes(field.name) for field in table.fields if field.role in OF_CLASSES),
            k=k,
            n=int(sizes.min()),
        )
    else:
        says = plural(
            "{n} class has fewer than {k} records; the smallest has {least}.",
            "{n} classes have fewer than {k} records; the smallest has {least}.",
            below,
            k=k,
            least=int(sizes.min()),
        )
    yield Claim("k", not below, says)
    members = [kind for kind in ours.get("counts", []) if kind != RECORDS]
    for kind in members:
        yield Claim(f"k of {kind}", None, tr("Who the records belong to is not published: not looked at."))
    distinct, share = int(ours.get("l_diversity", 1)), float(ours.get("max_share", 100))
    if distinct <= 1 and share >= 100:
        return
    for field in table.of_role(SENSITIVE):
        if members:
            yield Claim(f"l {field.name}", None, tr("Who the records belong to is not published: not looked at."))
            continue
        column = table.column(field.name)
        n_values = max(len(column.categories), 1)
        pairs, pair_of = np.unique(classes.class_of * n_values + column.codes, return_inverse=True)
        held = np.bincount(pair_of.reshape(-1), classes.weights, len(pairs))
        of_class = pairs[held > 0] // n_values
        values = np.bincount(of_class, minlength=len(sizes))
        largest = np.zeros(len(sizes))
        np.maximum.at(largest, pairs // n_values, held)
        shares = 100.0 * largest / np.maximum(sizes, 1)
        least, most = (int(values.min()), float(shares.max())) if len(sizes) else (distinct, 0.0)
        yield Claim(
            f"l {field.name}",
            least >= distinct and most <= share * (1 + TOLERANCE),
            tr(
                "“{field}”: every class has at least {least} values, and at most {most:g} % of one has the same.",
                field=field.name,
                least=least,
                most=most,
            ),
        )


def claims_of_places(tables: Mapping[str, DataTable], ours: Mapping[str, Any]) -> Iterator[Claim]:
    """That the regions of records are there, that levels nest, and that regions have the records counted for them."""
    if not set(TABLES) <= set(tables):
        yield from map(unseen, ("areas", "regions", "levels", "counts"))
        return
    described = [level["regions"] for level in ours["levels"]]
    try:
        places = Places(tables, len(described))
    except (ValueError, IndexError) as error:
        yield Claim("levels", False, tr("The levels of the tables are not those described: {error}.", error=str(error)))
        yield from map(unseen, ("areas", "regions", "counts"))
        return
    twice = places.named_otherwise()
    yield Claim(
        "areas",
        not twice,
        plural(
            "{n} area is named more than once, or has no name.",
            "{n} areas are named more than once, or have no name.",
            twice,
        )
        if twice
        else tr("Every area is named once."),
    )
    unknown = places.rows_nowhere()
    yield Claim(
        "regions",
        not unknown,
        plural("{n} row is of a region that there is not.", "{n} rows are of regions that there are not.", unknown)
        if unknown
        else tr("The region of every record is in the tables of regions and of areas."),
    )
    wrong, n_regions = places.not_nested(), places.n_regions()
    says = tr("Every region lies in one region of the next level, and holds the areas that are counted for it.")
    if wrong:
        says = plural(
            "{n} region lies in no one region above it.", "{n} regions lie in no one region above them.", wrong
        )
    elif n_regions != described:
        says = tr(
            "Regions by level: {there}, in place of {described} as described.",
            there=", ".join(map(str, n_regions)),
            described=", ".join(map(str, described)),
        )
    yield Claim("levels", not wrong and n_regions == described, says)
    differing = places.counted_otherwise()
    yield Claim(
        "counts",
        not differing,
        plural(
            "{n} region has other records than are counted for it.",
            "{n} regions have other records than are counted for them.",
            differing,
        )
        if differing
        else tr("Every region has as many records as are counted for it."),
    )


class Places:
    """Regions by level and number, as the three tables name them. Raises ValueError for tables without the fields."""

    def __init__(self, tables: Mapping[str, DataTable], n_levels: int) -> None:
        records, crosswalk, regions = (tables[name] for name in TABLES)
        nested = bool(records.of_role(LEVEL))
        names = [f"vbas_region_{level + 1}" for level in range(n_levels)] if nested else ["vbas_region"]
        areas = [column for field, column in zip(crosswalk.fields, crosswalk.columns) if field.role == AREA]
        others = [field.name for field in crosswalk.fields if field.role != AREA]
        if others != names or len(names) != n_levels or len(areas) != 1:
            raise ValueError(", ".join(crosswalk.names))
        self.area, self.copies = areas[0], crosswalk.copies
        self.of_areas = [np.repeat(_numbers(crosswalk, name), crosswalk.copies) for name in names]
        self.nested, self.n_levels = nested, n_levels
        self.regions, self.records = regions, records
        self.level = _numbers(regions, "vbas_level") if nested else np.ones(len(regions.copies), np.int64)
        self.number = _numbers(regions, "vbas_region")
        self.place = {place: i for i, place in enumerate(zip(to_list(self.level), to_list(self.number)))}
        if len(self.place) < len(regions):
            raise ValueError(tr("a region is named twice"))
        level = _numbers(records, "vbas_level") if nested else np.ones(len(records.copies), np.int64)
        rows = np.column_stack([level, _numbers(records, "vbas_region")])
        rows_there, row_of = np.unique(rows, axis=0, return_inverse=True)
        of_shown = np.array([self.place.get((level, number), -1) for level, number in to_list(rows_there)], np.int64)
        self.row_place = of_shown[row_of.reshape(-1)]
        self.weights = _weights(records)

    def named_otherwise(self) -> int:
        """Areas that the crosswalk names more than once, or without a name."""
        rows = np.bincount(self.area.codes, self.copies, len(self.area.categories))
        unnamed = np.array([value is None for value in to_list(self.area.categories)], bool)
        return int(((rows > 1) | (unnamed & (rows > 0))).sum())

    def n_regions(self) -> list[int]:
        """How many regions hold an area, by level."""
        return [int((np.unique(of) != LEFT_OUT).sum()) for of in self.of_areas]

    def rows_nowhere(self) -> int:
        """Rows whose region is not in the table of regions, or holds no area."""
        held = {
            (i + 1, number)
            for i, of in enumerate(self.of_areas)
            for number in np.unique(of).tolist()
            if number != LEFT_OUT
        }
        empty = np.array([place not in held for place in self.place], bool)
        lost = (self.row_place < 0) | np.append(empty, True)[self.row_place]
        return int(self.records.copies[lost].sum())

    def not_nested(self) -> int:
        """Regions that lie in another region than their parent, or hold another number of areas."""
        wrong: set[tuple[int, int]] = {place for place in self.place if not 1 <= place[0] <= self.n_levels}
        areas = dict(zip(self.place, _numbers(self.regions, "areas").tolist()))
        parents = dict(zip(self.place, self._parents().tolist()))
        for level in range(1, self.n_levels + 1):
            of, above = self.of_areas[level - 1], self.of_areas[level] if level < self.n_levels else None
            numbers, first, region_of, held = np.unique(of, return_index=True, return_inverse=True, return_counts=True)
            split = np.zeros(len(numbers), bool)
            if above is not None:
                np.logical_or.at(split, region_of.reshape(-1), above[first][region_of.reshape(-1)] != above)
            for i, number in enumerate(numbers.tolist()):
                if number == LEFT_OUT:
                    continue
                parent = LEFT_OUT if above is None else above[first[i]]
                known = areas.get((level, number))
                if known != held[i] or split[i] or (self.nested and parents.get((level, number)) != parent):
                    wrong.add((level, number))
            there = set(numbers.tolist()) - {LEFT_OUT}
            wrong |= {place for place in self.place if place[0] == level and place[1] not in there}
        return len(wrong)

    def counted_otherwise(self) -> int:
        """Regions for which other records are counted than the rows show, here or in regions within."""
        here = self.row_place >= 0
        released = np.zeros(len(self.level), np.int64)
        np.add.at(released, self.row_place[here], self.weights[here])
        differ = released != _numbers(self.regions, "released")
        if self.nested:
            within, parents = released.copy(), self._parents()
            for place in np.argsort(self.level, kind="stable").tolist():
                above = self.place.get((int(self.level[place]) + 1, int(parents[place])))
                if above is not None:
                    within[above] += within[place]
            differ |= within != _numbers(self.regions, "within")
        return int(differ.sum())

    def _parents(self) -> np.ndarray:
        if not self.nested:
            return np.full(len(self.level), LEFT_OUT, np.int64)
        return _numbers(self.regions, "vbas_parent")


def _weights(table: DataTable) -> np.ndarray:
    """The records that each different row stands for, (R,)."""
    count = table.of_role(COUNT)
    # A count that is missing or below 0, which no release has, is nobody.
    return table.copies * (np.maximum(_numbers(table, count[0].name), 0) if count else 1)


def _numbers(table: DataTable, name: str) -> np.ndarray:
    """A column of whole numbers, (R,) int64, LEFT_OUT where there is none. Raises ValueError for another column."""
    column = table.column(name)
    values = [LEFT_OUT if value is None else value for value in to_list(column.categories)]
    if any(isinstance(value, str) for value in values):
        raise ValueError(name)
    return np.array(values or [0], np.int64)[column.codes]
