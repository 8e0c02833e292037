"""Weights that agree with a table of people by area, such as a census has of age or of language (raking).

The table counts those whom the release leaves out, too: in every area the rows of a group are at most its people, and
whoever is left over is spread along with them. So a table of the same people is met exactly. Where more rows must live
in a region than the table has people there, the two contradict each other.

Deming & Stephan 1940: On a least squares adjustment of a sampled frequency table when the expected marginal totals are
known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from .. import counted
from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values, refuse_where
from ..language import as_data, plural, tr
from ..nesting.flattening import flatten
from ..records.columns import Column, combine_codes
from ..scientific import sparse, sparse_linalg
from .released import ReleasedRows
from .spreading import Spread

STOP, AS_WEIGHTS = as_data("stop"), as_data("take it as weights")
MARGINS_DIFFER = (STOP, AS_WEIGHTS)
TOLERANCE = 1e-6  # people: how nearly each number of the table is met
NEAR_ENOUGH = TOLERANCE / 10
MOST_STEPS, SLOW = 6_000, 100  # of proportional fitting, and of them between two steps of Newton's method
SOLVED_IN, HALVED = 2_000, 30
TOO_MANY, NOBODY_LEFT, NOT_MET = range(3)  # how a table contradicts a release


@dataclass(frozen=True, eq=False)
class Margin:
    """People by group and area, as others publish them.

    group_of : (R,) int64, the group of each released row, -1 for one that the table does not have
    people : (G, n) float, not negative; names : G, what the groups are called in messages
    """

    group_of: np.ndarray
    people: np.ndarray
    names: tuple[str, ...]


@dataclass(frozen=True)
class Contradiction:
    """More rows of a group must live in a region than the table has people of it there.

    level : 1 is the finest, 0 an area by itself; place : the number of the region, or the identifier of the area
    kind : TOO_MANY rows live there, with those within; NOBODY_LEFT where the region shows rows for which the table has
    nobody beside other rows; NOT_MET where no weights meet the table, least of all in this area
    """

    group: str
    level: int
    place: str
    rows: float
    people: float
    kind: int = TOO_MANY

    @property
    def sentence(self) -> str:
        """What contradicts what."""
        texts = {
            "group": self.group,
            "place": self.place,
            "level": self.level,
            "people": plural("{n:.15g} person", "{n:.15g} people", self.people),
        }
        if self.kind == NOBODY_LEFT:
            return plural(
                "{group}: region {place} of level {level} shows {n:.15g} record for which the table has nobody left: "
                "its people in the areas where it can live are other records.",
                "{group}: region {place} of level {level} shows {n:.15g} records for which the table has nobody left: "
                "its people in the areas where they can live are other records.",
                self.rows,
                **texts,
            )
        if self.kind == NOT_MET:
            return tr(
                "{group}: no weights meet the table in all areas; in area {place} the nearest that were found are "
                "off by {off:.2g}.",
                group=self.group,
                place=self.place,
                off=abs(self.rows - self.people),
            )
        if self.level:
            return plural(
                "{group}: region {place} of level {level} shows {n:.15g} record with those within, the table has "
                "{people} there.",
                "{group}: region {place} of level {level} shows {n:.15g} records with those within, the table has "
                "{people} there.",
                self.rows,
                **texts,
            )
        return plural(
            "{group}: area {place} has {n:.15g} record, the table has {people} there.",
            "{group}: area {place} has {n:.15g} records, the table has {people} there.",
            self.rows,
            **texts,
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """The weights, and what was found of the table.

    spread : the weights; contradictions : of the groups whose weights follow the table without meeting it
    left_over : people of the table beyond the released records, over all groups that are met
    unknown : records of groups that the table does not have, which are spread by people
    """

    spread: Spread
    contradictions: tuple[Contradiction, ...]
    left_over: float
    unknown: float


def fit(rows: ReleasedRows, spread: Spread, margin: Margin, if_different: str = STOP) -> Fitted:
    """Weights that meet a table of people by group and area, by iterative proportional fitting.

    Of each group the weights times records, and people left over within the same regions, add up to the table's people
    in each area, to 1e-6 people; the weights of a row still add up to 1, and are 0 where they were.

    Parameters
    ----------
    rows : ReleasedRows
        R rows, in n areas.
    spread : Spread
        Their weights; only where they are 0 matters for groups of the table.
    margin : Margin
        The table.
    if_different : str
        Of MARGINS_DIFFER, for a group that contradicts the release: STOP refuses, AS_WEIGHTS spreads its rows by the
        people of the table in place of all people, and meets nothing.

    Returns
    -------
    Fitted
        The weights.

    Raises
    ------
    InputError
        With STOP, naming the first contradiction.

    Examples
    --------
    Of 6 rows of a region, 4 people over 85 live in one area and 2 in the other, though as many people live in both:

    >>> import numpy as np
    >>> from vbas.core.analysis.fitting import Margin, fit
    >>> from vbas.core.analysis.released import released_rows
    >>> from vbas.core.analysis.spreading import spread
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.levels import Levels
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)], [50, 50])
    >>> levels = Levels((crosswalk_from_table(areas, ["a", "b"], [1, 1]),))
    >>> shown = {"vbas_region": [1] * 6, "age": ["85+"] * 6}
    >>> rows = released_rows(areas, levels, {name: column_from_values(one) for name, one in shown.items()})
    >>> margin = Margin(np.zeros(6, int), np.array([[4.0, 2.0]]), ("85+",))
    >>> fit(rows, spread(rows), margin).spread.counts().estimate.round(6).tolist()
    [[4.0, 2.0]]
    """
    names, people = margin.names, margin.people
    profile_of, combinations = combine_codes(
        [spread.profile_of, margin.group_of + 1], [spread.profiles.shape[0], len(names) + 1]
    )
    group = combinations[:, 1] - 1
    records = np.bincount(profile_of, spread.records, len(combinations))
    one_row = np.empty(len(combinations), np.int64)
    one_row[profile_of] = np.arange(len(profile_of), dtype=np.int64)
    level, region = rows.level[one_row], rows.region[one_row]
    weights = spread.profiles[combinations[:, 0]]
    parts, order, contradictions, left_over = [], [], [], 0.0
    for group_number in range(-1, len(names)):
        here = np.flatnonzero((group == group_number) & (records > 0))
        none = np.flatnonzero((group == group_number) & (records == 0))
        order += [here, none]
        if group_number < 0 or not len(here):
            parts += [weights[here], weights[none]]
            continue
        fitted = _Group(
            rows, weights[here], records[here], level[here], region[here], people[group_number], names[group_number]
        ).fit()
        if isinstance(fitted, Contradiction):
            if if_different == STOP:
                raise InputError(_refusal(fitted))
            contradictions.append(fitted)
            fitted = _as_weights(weights[here], people[group_number])
        else:
            left_over += float(people[group_number].sum() - records[here].sum())
        parts += [fitted, weights[none]]
    back = np.argsort(np.concatenate(order), kind="stable")
    profiles = sparse.vstack(parts, format="csr")[back]
    unknown = float(records[group < 0].sum())
    return Fitted(replace(spread, profiles=profiles, profile_of=profile_of), tuple(contradictions), left_over, unknown)


def _refusal(contradiction: Contradiction) -> str:
    return tr(
        "MARGINS contradicts the release. {sentence} Correct the table, or choose “{as_weights}” where it tells of "
        "other people, such as those of another year.",
        sentence=contradiction.sentence,
        as_weights=AS_WEIGHTS,
    )


def _as_weights(weights: sparse.csr_matrix, people: np.ndarray) -> sparse.csr_matrix:
    """Weights by the people of the table; those there were where it has nobody. weights : (P, n)"""
    changed = weights.copy()
    changed.data = people[weights.indices].astype(float)
    total = np.asarray(changed.sum(axis=1)).ravel()
    each = np.repeat(total, np.diff(weights.indptr))
    changed.data = np.where(each > 0, changed.data / np.where(each > 0, each, 1.0), weights.data)
    return changed


@dataclass(frozen=True, eq=False)
class _Group:
    """One group: P profiles with records, where they are shown, and the table's people of each area."""

    rows: ReleasedRows
    weights: sparse.csr_matrix
    records: np.ndarray
    level: np.ndarray
    region: np.ndarray
    people: np.ndarray
    name: str

    def fit(self) -> sparse.csr_matrix | Contradiction:
        possible = self._possible()
        if isinstance(possible, Contradiction):
            return possible
        seeds = possible.copy()
        seeds.data = self.people[possible.indices]
        records, rows = self.records, [seeds]
        left, where = self._left_over(possible)
        extra = sparse.csr_matrix(
            (np.where(where >= 0, self.people, 0.0)[where >= 0], (where[where >= 0], np.flatnonzero(where >= 0))),
            shape=(len(left), len(self.people)),
        )
        if len(left):
            rows.append(extra)
            records = np.concatenate([records, left])
        matrix = sparse.vstack(rows, format="csr")
        asked = np.asarray(seeds.sum(axis=0)).ravel() > 0
        matrix = self._without_forced(matrix, records)
        of_rows, of_columns, gap = raked(matrix, records, np.where(asked, self.people, 0.0))
        if gap > TOLERANCE:
            return self._worst(matrix, of_rows, of_columns, asked)
        n = len(self.records)
        fitted = sparse.diags(of_rows[:n] / self.records) @ matrix[:n] @ sparse.diags(of_columns)
        return sparse.csr_matrix(sparse.diags(1 / np.asarray(fitted.sum(axis=1)).ravel()) @ fitted)

    def _possible(self) -> sparse.csr_matrix | Contradiction:
        """Where each profile may live, (P, n), without areas that are full of rows shown more finely.

        A region is full where its rows, with those within, are as many as the table's people: no row of a larger
        region lives there. Proportional fitting alone would only get there in the limit.
        """
        possible, levels = self.weights.copy(), self.rows.levels
        possible.data[:] = self.people[possible.indices] > 0
        possible.eliminate_zeros()
        alone = np.diff(possible.indptr) == 1
        n_levels = len(levels)
        for level in range(-1, n_levels):
            if level < 0:  # areas by themselves
                within = np.bincount(
                    possible.indices[possible.indptr[:-1][alone]], self.records[alone], len(self.people)
                )
                have, names = self.people, self.rows.areas.identifiers
            else:
                crosswalk = levels.crosswalks[level]
                above = self._region_at(level)
                within = np.bincount(above[above >= 0], self.records[above >= 0], crosswalk.n_regions)
                have, names = crosswalk.totals(self.people), crosswalk.numbers
            slack = _rounding(have)
            beyond = np.flatnonzero(within > have + slack)
            if len(beyond):
                at = beyond[0]
                return Contradiction(self.name, level + 1, str(names[at]), float(within[at]), float(have[at]))
            filled = (within >= have - slack) & (within > 0)
            full = filled if level < 0 else filled[crosswalk.region_of] & (crosswalk.region_of >= 0)
            if not full.any():
                continue
            free = np.flatnonzero((self.level > level) & ~(alone if level < 0 else np.zeros_like(alone)))
            keep = np.ones(len(possible.data), bool)
            of_row = np.repeat(np.arange(len(self.level), dtype=np.int64), np.diff(possible.indptr))
            keep[np.isin(of_row, free) & full[possible.indices]] = False
            possible.data[~keep] = 0
            possible.eliminate_zeros()
        lost = np.flatnonzero(np.diff(possible.indptr) == 0)
        if len(lost):
            at = lost[0]
            crosswalk = levels.crosswalks[self.level[at]]
            number = str(crosswalk.numbers[self.region[at]])
            people = float(self.people[self.weights[at].indices].sum())
            return Contradiction(
                self.name, int(self.level[at]) + 1, number, float(self.records[at]), people, NOBODY_LEFT
            )
        return possible

    def _without_forced(self, matrix: sparse.csr_matrix, records: np.ndarray) -> sparse.csr_matrix:
        """The matrix without what is 0 in every solution, which proportional fitting would reach in the limit only.

        Where areas were left out, regions are no longer full as a whole. Given any one solution, a weight can be
        positive in another if its row and its column lie on a cycle of weights that can be raised and others that
        can be lowered. Only a table of whole numbers is looked at.
        """
        people = np.asarray(matrix.getnnz(axis=0) > 0) * self.people
        whole = all(np.array_equal(values, np.round(values)) for values in (people, records))
        if not whole or records.sum() != people.sum() or people.sum() >= 2**31:
            return matrix
        n_rows, n = matrix.shape
        edges = matrix.tocoo()
        sizes = np.minimum(records[edges.row], people[edges.col])
        source, sink = n_rows + n, n_rows + n + 1
        start = np.concatenate([edges.row, np.full(n_rows, source, np.int64), n_rows + np.arange(n, dtype=np.int64)])
        stop = np.concatenate([n_rows + edges.col, np.arange(n_rows, dtype=np.int64), np.full(n, sink, np.int64)])
        sizes = np.concatenate([sizes, records, people]).astype(np.int32)
        shape = (sink + 1, sink + 1)
        maximum = sparse.csgraph.maximum_flow(sparse.csr_matrix((sizes, (start, stop)), shape=shape), source, sink)
        flow = getattr(maximum, "flow", None)
        if maximum.flow_value < records.sum() or flow is None:
            return matrix
        raised = sparse.csr_matrix((np.ones(len(edges.row)), (edges.row, n_rows + edges.col)), shape=shape)
        lowered = (flow[:n_rows, n_rows : n_rows + n] > 0).tocoo()
        back = sparse.csr_matrix((np.ones(len(lowered.row)), (n_rows + lowered.col, lowered.row)), shape=shape)
        _, part_of = sparse.csgraph.connected_components(raised + back, directed=True, connection="strong")
        kept = part_of[edges.row] == part_of[n_rows + edges.col]
        return sparse.csr_matrix((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=matrix.shape)

    def _region_at(self, level: int) -> np.ndarray:
        """The region of this level that each profile's own lies in, (P,); -1 for one shown at a coarser level."""
        return flatten(self.rows.levels, self.level, self.region, level)

    def _left_over(self, possible: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
        """The table's people beyond the records, of each part of the map whose rows have areas in common; and the part
        of each area, (n,), -1 where no such people are."""
        n_profiles = possible.shape[0]
        joined = sparse.bmat([[None, possible], [possible.T, None]], format="csr")
        n_parts, part_of = sparse.csgraph.connected_components(joined, directed=False)
        people = np.bincount(part_of[n_profiles:], self.people, n_parts)
        left = people - np.bincount(part_of[:n_profiles], self.records, n_parts)
        with_rows = np.bincount(part_of[:n_profiles], minlength=n_parts) > 0
        kept = np.flatnonzero(with_rows & (left > _rounding(people)))
        number = np.full(n_parts, -1, np.int64)
        number[kept] = np.arange(len(kept), dtype=np.int64)
        return left[kept], number[part_of[n_profiles:]]

    def _worst(
        self, matrix: sparse.csr_matrix, of_rows: np.ndarray, of_columns: np.ndarray, asked: np.ndarray
    ) -> Contradiction:
        reached = (matrix.T @ of_rows) * of_columns
        at = int(np.abs(np.where(asked, reached - self.people, 0.0)).argmax())
        return Contradiction(
            self.name, 0, str(self.rows.areas.identifiers[at]), float(reached[at]), float(self.people[at]), NOT_MET
        )


def _rounding(people: np.ndarray) -> np.ndarray:
    """How far sums of so many people may be off by rounding alone."""
    return np.asarray(np.maximum(1e-8, 1e-14 * people))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def raked(matrix: sparse.csr_matrix, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Factors of rows and columns with which a matrix has these sums, by iterative proportional fitting.

    Where that is slow, as it is where areas are nearly full, the same factors are found by Newton's method: they are
    where a convex function of the logarithms of the columns' factors is least.

    matrix : (P, n) sparse, not negative; rows : (P,) and columns : (n,), the sums
    Returns both factors, with which the sums of the rows hold, and by how much a column's is off at most.
    """
    turned = matrix.T.tocsr()
    of_columns = before = np.ones(matrix.shape[1])
    for step in range(MOST_STEPS):
        of_rows, sums = _rows_met(matrix, turned, rows, of_columns)
        gap = float(np.abs(sums * of_columns - columns).max(initial=0.0))
        if not np.isfinite(gap):  # there are no such factors, and they grew beyond all numbers
            of_columns = before
            break
        if gap <= NEAR_ENOUGH:
            break
        before = of_columns
        if step >= SLOW and step % SLOW == 0:
            stepped = _newton_step(matrix, rows, columns, of_columns, of_rows, sums * of_columns)
            if stepped is not None:
                of_columns = stepped
                continue
        of_columns = np.divide(columns, sums, out=np.zeros_like(sums), where=sums > 0)
    of_rows, sums = _rows_met(matrix, turned, rows, of_columns)
    gap = float(np.abs(sums * of_columns - columns).max(initial=0.0))
    return of_rows, of_columns, gap if np.isfinite(gap) else np.inf


def _rows_met(
    matrix: sparse.csr_matrix, turned: sparse.csr_matrix, rows: np.ndarray, of_columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The factors of the rows with which their sums hold, and the sums of the columns before their own factors."""
    sums = matrix @ of_columns
    of_rows = np.divide(rows, sums, out=np.zeros_like(sums), where=sums > 0)
    return of_rows, turned @ of_rows


def _newton_step(
    matrix: sparse.csr_matrix,
    rows: np.ndarray,
    columns: np.ndarray,
    of_columns: np.ndarray,
    of_rows: np.ndarray,
    reached: np.ndarray,
) -> np.ndarray | None:
    """Better factors of the columns, (n,); None where none is found. reached : (n,), the sums of the columns now."""
    there = (of_columns > 0) & (columns > 0)
    fitted = sparse.csr_matrix(sparse.diags(of_rows) @ matrix @ sparse.diags(of_columns))[:, there]
    each = np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0)
    diagonal = reached[there] * (1 + 1e-12)
    turned = fitted.T.tocsr()
    curvature = sparse_linalg.LinearOperator(
        (len(diagonal),) * 2, lambda v: diagonal * v - turned @ (each * (fitted @ v))
    )
    first = sparse_linalg.LinearOperator(curvature.shape, lambda v: v / diagonal)
    direction, _ = sparse_linalg.cg(
        curvature, (columns - reached)[there], M=first, atol=NEAR_ENOUGH / 10, maxiter=SOLVED_IN
    )
    if not np.isfinite(direction).all():
        return None

    def height(factors: np.ndarray) -> float:
        sums = matrix @ factors
        inside = rows > 0
        return float(rows[inside] @ np.log(sums[inside]) - columns[there] @ np.log(factors[there]))

    now, length = height(of_columns), 1.0
    for _ in range(HALVED):
        stepped = of_columns.copy()
        stepped[there] *= np.exp(length * direction)
        if np.isfinite(stepped).all() and height(stepped) <= now:
            return stepped
        length /= 2
    return None


def margin_of(
    rows: ReleasedRows, areas: Column, fields: Mapping[str, Column], people: np.ndarray
) -> tuple[Margin, float]:
    """A table of people by area and some fields of the release, as a margin of its rows.

    Parameters
    ----------
    rows : ReleasedRows
        R rows, in n areas.
    areas : Column
        M identifiers of areas; those that the release does not have are passed over.
    fields : mapping of str to Column
        M values each of some fields of the release, by its name there; compared as text. Rows that name the same area
        and values are added up.
    people : ndarray of shape (M,)
        How many people.

    Returns
    -------
    Margin
        Its groups are the combinations of values that the table has.
    float
        People of areas that the release does not have.

    Raises
    ------
    InputError
        Where a number is missing or negative, a field is not in the release, or an area where people live is not in the
        table.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.analysis.fitting import margin_of
    >>> from vbas.core.analysis.released import released_rows
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.levels import Levels, own_regions
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    >>> shown = {"vbas_region": column_from_values([1, 2]), "sex": column_from_values(["F", "M"])}
    >>> rows = released_rows(areas, Levels((own_regions(2),)), shown)
    >>> sexes = {"sex": column_from_values(["F", "M", "F"])}
    >>> margin, outside = margin_of(rows, column_from_values(["a", "a", "b"]), sexes, np.array([3, 2, 5]))
    >>> margin.people.tolist(), margin.group_of.tolist()
    ([[3.0, 5.0], [2.0, 0.0]], [0, 1])
    """
    people = np.asarray(people, float)
    refuse_where(
        {tr("missing or not a number"): ~np.isfinite(people), tr("negative"): people < 0},
        "MARGIN_COUNT",
        counted.rows,
        lambda wrong: first_values(f"{value:g}" for value in np.unique(people[wrong])[:6]),
        tr("each row of MARGINS must say how many people it counts."),
    )
    texts = np.array([identifier_text(value) for value in areas.categories.tolist()], dtype=object)
    code = rows.areas.codes_of(texts)[areas.codes] if len(texts) else np.empty(0, np.int64)
    inside = code >= 0
    lost = (np.bincount(code[inside], minlength=len(rows.areas)) == 0) & (rows.areas.population > 0)
    if lost.any():
        raise InputError.counting(
            "MARGINS has no row for {n} area where people live ({first}): give a table of all areas, with 0 where "
            "nobody of a group lives.",
            "MARGINS has no row for {n} areas where people live ({first}): give a table of all areas, with 0 where "
            "nobody of a group lives.",
            int(lost.sum()),
            first=first_values(rows.areas.identifiers[lost]),
        )
    own_codes, of_table = [], []
    for name, column in fields.items():
        own, there = rows.column(name), column
        known: dict[str | None, int] = {}
        number = [known.setdefault(identifier_text(value), len(known)) for value in there.categories.tolist()]
        own_number = [known.get(identifier_text(value), -1) for value in own.categories.tolist()]
        of_table.append(np.array(number, np.int64)[there.codes])
        own_codes.append(np.array(own_number, np.int64)[own.codes] if len(own_number) else np.empty(0, np.int64))
    both = [np.concatenate(pair) + 1 for pair in zip(of_table, own_codes)]
    group, combinations = combine_codes(both, [int(codes.max(initial=0)) + 1 for codes in both])
    in_table = np.unique(group[: len(people)])
    number_of = np.full(len(combinations), -1, np.int64)
    number_of[in_table] = np.arange(len(in_table), dtype=np.int64)
    group_of = number_of[group]
    table = np.zeros((len(in_table), len(rows.areas)))
    np.add.at(table, (group_of[: len(people)][inside], code[inside]), people[inside])
    first = np.unique(group[: len(people)], return_index=True)[1]
    names = tuple(first_values((column.categories[column.codes[at]] for column in fields.values()), 12) for at in first)
    return Margin(group_of[len(people) :], table, names), float(people[~inside].sum())
