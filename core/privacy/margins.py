"""Tables that others publish: totals from which a suppressed class could be told by taking the shown ones away.

Where the records are a full count, a table of age by sex has the number of every age and sex. If all but one of the
classes of women over 80 in a region are shown, the one that is not follows by subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import to_list
from ..errors import InputError
from ..plan import SUPPRESSED, Plan, area_of_cells
from ..progress import Progress, silent
from ..records.columns import combine_codes
from ..scientific import optimize, sparse
from ..ties import Ties, ranks
from .margin_programs import NODES, SOLVED, Cut, cut_off, fewest_to_add

MOST_ROUNDS = 50
MOST_WITNESSES, FEW_OPEN = 12, 3  # solutions that are looked for first, and open unknowns that are too few for that
WHOLE = 1e-4  # so near to whole numbers a solution is one of them, if these add up


def parse_margins(text: str, quasi_identifiers: Sequence[str]) -> list[tuple[str, ...]]:
    """Margins written `age;sex, ethnicity` as sets of quasi-identifiers, none for an empty text.

    Raises InputError for names there are not, and for a text without names.
    """
    margins = []
    for part in text.split(","):
        names = tuple(name.strip() for name in part.split(";") if name.strip())
        unknown = [name for name in names if name not in quasi_identifiers]
        if unknown:
            raise InputError.saying(
                "PUBLISHED_MARGINS names “{unknown}”, which is not a quasi-identifier: write sets of them, such as "
                "age;sex, ethnicity.",
                unknown=unknown[0],
            )
        if names:
            margins.append(names)
    if text.strip() and not margins:
        raise InputError.saying(
            "PUBLISHED_MARGINS is “{text}”, which names no quasi-identifier: write sets of them, such as age;sex, "
            "ethnicity, or leave it empty.",
            text=text,
        )
    return margins


def hold_against_margins(
    plan: Plan, margins: Sequence[Sequence[str]], progress: Progress = silent, ties: Ties = None
) -> tuple[Plan, int]:
    """The plan, with further classes suppressed until the totals by these margins tell nobody a count from 1 to k - 1.

    In every region and margin the suppressed records add up to 0, or to at least k over at least two classes, unless
    all are suppressed; and what only programs find to lie within 1 to k - 1 in all whole numbers is mended too.
    The fewest records that do it are suppressed, region by region, see `fewest_to_add`; where that takes too long, the
    smallest class that is shown, again and again. A margin with fewer than k records in all cannot be mended: it is
    published.

    Parameters
    ----------
    plan : Plan
        Of one level or several.
    margins : sequence of sequences of str
        Sets of quasi-identifiers whose totals by region are published, the regions those of the coarsest level.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    ties : Ties, optional
        Decides among choices of the same cost, the first where None.

    Returns
    -------
    Plan
        The plan that holds.
    int
        The records that were suppressed for it.

    Examples
    --------
    Whoever knows how many men there are could take those of 65 and more away, and be left with the young one:

    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.crosswalk import crosswalk_from_table
    >>> from vbas.core.plan import suppress
    >>> from vbas.core.privacy.margins import hold_against_margins
    >>> from vbas.core.records.columns import column_from_values
    >>> from vbas.core.records.matching import match_records
    >>> from vbas.core.records.table import RecordTable
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    >>> ages, sexes = column_from_values(["0-64"] * 5 + ["65+"] * 5), column_from_values(list("FFFFMFFMMM"))
    >>> table = RecordTable(column_from_values(list("ab" * 5)), {"age": ages, "sex": sexes}, kept={})
    >>> records = match_records(table, areas)
    >>> plan = suppress(records.profile, crosswalk_from_table(areas, ["a", "b"], [1, 1]), k=2)
    >>> plan.records.tolist(), plan.released.tolist()
    ([4, 1, 2, 3], [True, False, True, True])
    >>> held, n_records = hold_against_margins(plan, [["sex"]])
    >>> held.released.tolist(), n_records
    ([True, False, True, False], 3)
    """
    return hold_against_totals(plan, [plan.profile.combinations(margin)[0] for margin in margins], progress, ties)


def hold_against_totals(
    plan: Plan, groupings: Sequence[np.ndarray], progress: Progress = silent, ties: Ties = None
) -> tuple[Plan, int]:
    """The same by totals of one's own: for each margin (C,) int64, the total in which each class counts."""
    if not groupings:
        return plan, 0
    crosswalk, profile, k = plan.levels.crosswalks[-1], plan.profile, plan.k
    area = area_of_cells(profile)
    inside = np.flatnonzero(crosswalk.region_of[area] >= 0)
    n_classes = max(len(profile.classes), 1)
    keys, place_of = np.unique(
        crosswalk.region_of[area[inside]] * n_classes + profile.counts.indices[inside], return_inverse=True
    )
    place_of = place_of.reshape(-1)
    records = np.bincount(place_of, profile.counts.data[inside], len(keys)).astype(np.int64)
    lost = np.bincount(place_of, plan.equivalence_class_of[inside] == SUPPRESSED, len(keys)) > 0
    before = lost.copy()
    region, class_of = np.divmod(keys, n_classes)
    groups = [_totals(region, class_of, grouping) for grouping in groupings]
    concerned = np.unique(region[lost])
    starts, ends = np.searchsorted(region, concerned), np.searchsorted(region, concerned, side="right")
    for done, (start, end) in enumerate(zip(to_list(starts), to_list(ends))):
        at = start + ranks(end - start, ties)
        totals = [np.unique(group[at], return_inverse=True)[1].reshape(-1) for group in groups]
        lost[at] = _mended(totals, records[at], lost[at], k)
        progress((done + 1) / len(concerned))
    added = lost & ~before
    if not added.any():
        return plan, 0
    cells = inside[added[place_of]]
    equivalence_class = plan.equivalence_class_of[cells]
    hidden = np.zeros(len(plan.records), bool)
    hidden[equivalence_class[equivalence_class >= 0]] = True
    level_of = plan.level_of
    if level_of is not None:
        level_of = level_of.copy()
        level_of[cells] = SUPPRESSED
    return replace(plan, released=plan.released & ~hidden, level_of=level_of), int(records[added].sum())


def _mended(groups: Sequence[np.ndarray], records: np.ndarray, lost: np.ndarray, k: int) -> np.ndarray:
    """Which places of one region are suppressed, (p,) bool, so that the totals tell of none of them.

    groups : for each margin, the total that each place counts in; records : (p,); lost : (p,) suppressed anyway
    """
    disclosed_anyway = _disclosed(groups, records, np.ones(len(records), bool), k, np.flatnonzero(lost), proven=True)
    cuts: list[Cut] = []
    for _ in range(MOST_ROUNDS):
        mended = fewest_to_add(groups, records, lost, k, cuts)
        if mended is None or len(_smallest_to_add(groups, records, mended, k)):
            break
        new = [
            cut_off(groups, lost, mended, cell)
            for cell in _disclosed(groups, records, mended, k, None, disclosed_anyway)
        ]
        if not new:
            return mended
        cuts += new
    mended = lost.copy()
    while True:
        more = _smallest_to_add(groups, records, mended, k)
        if not len(more):
            disclosed = _disclosed(groups, records, mended, k, None, disclosed_anyway)
            parts = [_first_released(group[[cell]], group, records, mended) for cell in disclosed for group in groups]
            more = np.unique(np.concatenate([np.empty(0, np.int64), *parts]))
        if not len(more):
            return mended
        mended[more] = True


def _totals(region: np.ndarray, class_of: np.ndarray, grouping: np.ndarray) -> np.ndarray:
    """The number of the total that each region and class counts in, (p,) int64."""
    group = grouping[class_of]
    return combine_codes([region, group], [int(region.max(initial=0)) + 1, int(group.max(initial=0)) + 1])[0]


def _smallest_to_add(groups: Sequence[np.ndarray], records: np.ndarray, lost: np.ndarray, k: int) -> np.ndarray:
    """The smallest shown place of every total whose suppressed records are too few, or of one class only."""
    places = []
    for group in groups:
        n_groups = int(group.max(initial=-1)) + 1
        suppressed = np.bincount(group, records * lost, n_groups)
        short = (suppressed > 0) & ((suppressed < k) | (np.bincount(group, lost, n_groups) < 2))
        places.append(_first_released(np.flatnonzero(short), group, records, lost))
    return np.unique(np.concatenate(places))


def _first_released(wanted: np.ndarray, group: np.ndarray, records: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """The smallest place that is released in each of these groups; none where all are suppressed."""
    released = np.flatnonzero(~lost & np.isin(group, wanted))
    order = released[np.lexsort((released, records[released], group[released]))]
    return order[np.diff(group[order], prepend=-1) != 0]


def _disclosed(
    groups: Sequence[np.ndarray],
    records: np.ndarray,
    lost: np.ndarray,
    k: int,
    asked: np.ndarray | None = None,
    disclosed_anyway: Sequence[int] = (),
    proven: bool = False,
) -> list[int]:
    """The suppressed places that lie within 1 to k - 1 in all whole numbers that fit the totals and the places shown.

    asked : the places looked at, all suppressed ones where None, but not those of disclosed_anyway; proven : leave out
    those of which it takes too long to prove it, which are taken to be told otherwise
    """
    unknown = np.flatnonzero(lost)
    if not len(unknown):
        return []
    rows = sparse.vstack([_indicators(group[unknown]) for group in groups]).tocsr()
    wanted = np.setdiff1d(unknown if asked is None else asked, np.array(disclosed_anyway, np.int64))
    columns = disclosed_columns(rows, rows @ records[unknown], k, np.searchsorted(unknown, wanted), proven)
    return to_list(unknown[columns])


def _indicators(group: np.ndarray) -> sparse.csr_matrix:
    """(totals, places) matrix of 0 and 1: the places of each total that has any."""
    used, row = np.unique(group, return_inverse=True)
    ones, at = np.ones(len(group)), np.arange(len(group), dtype=np.int64)
    return sparse.csr_matrix((ones, (row.reshape(-1), at)), shape=(len(used), len(group)))


def disclosed_columns(
    rows: np.ndarray | sparse.csr_matrix,
    sums: np.ndarray,
    k: int,
    asked: np.ndarray | None = None,
    proven: bool = False,
) -> list[int]:
    """The unknowns that lie within 1 to k - 1 in every solution of whole numbers.

    rows : (s, u) of 0 and 1, the unknowns of each sum; sums : (s,) what they add up to; asked : the unknowns looked at,
    all where None; proven : leave out those of which it takes too long to prove it
    Solutions that are found on the way show many others free at once: a few that make all open unknowns small do most.
    """
    by_sum, sums = sparse.csr_matrix(rows), np.asarray(sums)
    n = by_sum.shape[1]
    # No unknown is larger than any total it counts in: only those below k can be disclosed.
    entries = by_sum.tocoo()
    highest = np.full(n, np.inf)
    np.minimum.at(highest, entries.col, sums.astype(float)[entries.row])
    open_ = np.zeros(n, bool)
    open_[np.arange(n, dtype=np.int64) if asked is None else asked] = True

    def look(wish: np.ndarray) -> bool:
        """What is free in the solution with the least of a wish is no longer open; whether none has less."""
        solution, is_least = _whole_solution(by_sum, sums, wish)
        if solution is not None:
            open_[(solution < 1) | (solution >= k)] = False
        return is_least

    for _ in range(MOST_WITNESSES):
        before = int(open_.sum())
        if before < FEW_OPEN:
            break
        look(open_.astype(float))
        if int(open_.sum()) == before:
            break
    for column in np.flatnonzero(open_):
        wish, sure = np.zeros(n), True
        wish[column] = 1.0
        if open_[column] and highest[column] >= k:
            sure = look(-wish)
        if open_[column]:
            sure = look(wish) and sure
        if proven and not sure:
            open_[column] = False
    return to_list(np.flatnonzero(open_))


def _whole_solution(by_sum: sparse.csr_matrix, sums: np.ndarray, wish: np.ndarray) -> tuple[np.ndarray | None, bool]:
    """Whole numbers, none negative, that add up to the sums, with the least of a wish; None where none are found; and
    whether none have less.

    The corners of most such problems are whole. One that is not says nothing of people: where it has half a person, all
    whole numbers may have one. Nothing is taken for a solution that does not add up.
    """
    n = len(wish)
    for whole in (False, True):
        if whole:
            solution = optimize.milp(
                wish,
                integrality=np.ones(n),
                bounds=optimize.Bounds(0.0, np.inf),
                constraints=optimize.LinearConstraint(by_sum, sums, sums),
                options={"node_limit": NODES, "mip_rel_gap": 0.0, "presolve": False},
            )
        else:
            solution = optimize.linprog(wish, A_eq=by_sum, b_eq=sums, method="highs")
        if solution.x is None:
            continue
        numbers = np.rint(solution.x)
        near = np.abs(solution.x - numbers).max(initial=0.0) < WHOLE
        if near and (numbers >= 0).all() and np.array_equal(by_sum @ numbers, sums):
            return numbers, solution.status == SOLVED
    return None, False
