"""A release for analysts: frames of pandas or geopandas in and out, no QGIS.

What comes out is estimated, from what is published alone: where records may live, not where they do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Union

import numpy as np
from numpy.typing import ArrayLike

from ..areas import identifier_text, make_areas, said_of_lost_zeros, without_zeros_of
from ..crosswalk import crosswalk_from_table
from ..dataclass import dataclass
from ..errors import InputError, first_values
from ..language import plural, tr
from ..levels import make_levels
from ..package.table import AREA, COUNT
from ..records.columns import column_from_values, column_numbers
from .fitting import STOP, Fitted, Margin, fit, margin_of
from .released import LEVEL, REGION, ReleasedRows, released_rows
from .spreading import NONE, Spread, rows_of_equal_weights, spread
from .tables_of import (
    DESCRIPTION,
    TableInput,
    described_table,
    found_in,
    frame_of,
    numbers_where_written_so,
    rows_of,
    table_of,
    with_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

Names = Union[str, Sequence[str]]
COUNTED = ("estimate", "share", "rows", "effective", "at_area")  # columns of what is counted by area


@dataclass(frozen=True, eq=False)
class AnalysableRelease:
    """A release that can be analysed, as `read_release` gives it.

    Attributes
    ----------
    records : DataFrame
        The released rows, as they were given.
    areas : DataFrame
        The areas, by their identifier as text.
    rows : ReleasedRows
        The same as arrays.
    leave_out, quasi_identifiers, margin
        How its weights are found.

    Examples
    --------
    >>> import pandas as pd
    >>> from vbas.core.analysis import read_release
    >>> records = pd.DataFrame({"vbas_region": [7, 7, 7], "ill": [True, False, False]})
    >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region": [7, 7]})
    >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10]})
    >>> release = read_release(records, crosswalk, areas)
    >>> len(release.records), release.areas["population"].to_dict()
    (3, {'a': 30, 'b': 10})
    """

    records: pd.DataFrame
    areas: pd.DataFrame
    rows: ReleasedRows
    leave_out: str = NONE
    quasi_identifiers: tuple[str, ...] = ()
    margin: Margin | None = field(default=None, repr=False)
    if_different: str = STOP

    @cached_property
    def fitted(self) -> Fitted:
        """The weights, and what was found of the margin."""
        weights = spread(self.rows, self.leave_out, self.quasi_identifiers)
        if self.margin is None:
            return Fitted(weights, (), 0.0, 0.0)
        return fit(self.rows, weights, self.margin, self.if_different)

    @property
    def weights(self) -> Spread:
        """The weight of each row in each area; `weights.row_weights()` is a sparse matrix, rows by areas."""
        return self.fitted.spread

    def leaving_out(self, leave_out: str, quasi_identifiers: Names) -> AnalysableRelease:
        """The same with areas left out where records of a class cannot live, by how the release was made.

        Parameters
        ----------
        leave_out : str
            Of `spreading.LEAVE_OUT`: “where level 1 shows the class”, “in zones” or “none”.
        quasi_identifiers : str or sequence of str
            The fields that make a class.

        Returns
        -------
        AnalysableRelease
            With other weights.

        Examples
        --------
        Whoever is shown in the larger region does not live in “a”, where a region shows the class by itself:

        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [1, 1], "sex": ["F", "F"]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10]})
        >>> release = read_release(records, crosswalk, areas).leaving_out("where level 1 shows the class", "sex")
        >>> release.spread().values.tolist()
        [['a', 1.0], ['b', 1.0]]
        """
        return replace(self, leave_out=leave_out, quasi_identifiers=tuple(_listed(quasi_identifiers)))

    def with_margins(
        self, table: TableInput, area: str, fields: Names, people: str, if_different: str = STOP
    ) -> AnalysableRelease:
        """The same with weights that meet a table of people by area and some fields of the release.

        Parameters
        ----------
        table : path or DataFrame
            A row for each area and group.
        area, people : str
            Its fields with the area and with the people.
        fields : str or sequence of str
            Its fields that make a group, called as in the release.
        if_different : str
            Of `fitting.MARGINS_DIFFER`: what becomes of a group that contradicts the release.

        Returns
        -------
        AnalysableRelease
            With other weights.

        Raises
        ------
        InputError
            For a table that cannot be used; what contradicts the release is refused once weights are asked for.

        Examples
        --------
        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_region": [1, 1, 1, 1], "sex": ["F", "F", "F", "F"]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10]})
        >>> census = pd.DataFrame({"area": ["a", "b"], "sex": ["F", "F"], "people": [1, 3]})
        >>> release = read_release(records, crosswalk, areas).with_margins(census, "area", "sex", "people")
        >>> release.counts()["estimate"].tolist()
        [1.0, 3.0]
        """
        shown = [name for name in _listed(fields) if name in self.rows.fields]
        texts = [name for name in shown if any(isinstance(value, str) for value in self.rows.fields[name].categories)]
        frame = table_of(table, tr("MARGINS"), codes=[area, *texts])
        _check_fields(frame, [area, *_listed(fields), people], tr("MARGINS"))
        columns = {name: column_from_values(frame[name]) for name in _listed(fields)}
        number = column_numbers(column_from_values(frame[people]), people, "MARGIN_COUNT")
        margin, _ = margin_of(self.rows, column_from_values(frame[area]), columns, number)
        return replace(self, margin=margin, if_different=if_different)

    def spread(self, by: Names | None = None) -> pd.DataFrame:
        """The weights: a row for each released row, or each class of them, and each area where it may live.

        Parameters
        ----------
        by : str or sequence of str, optional
            Fields of the release: rows that share them, level and region become one, as large releases want it.

        Returns
        -------
        DataFrame
            Without `by` the area and `weight`, by the labels of `records`: `release.records.join(release.spread())`.
            With it vbas_level, vbas_region, the fields, `records`, the area, `weight` and `estimate`.

        Examples
        --------
        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [2, 1], "ill": [False, True]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10], "traffic": [5.0, 9.0]})
        >>> release = read_release(records, crosswalk, areas)
        >>> release.spread("ill")[["area", "ill", "records", "weight"]].values.tolist()
        [['b', False, 1, 1.0], ['a', True, 1, 0.75], ['b', True, 1, 0.25]]
        """
        import pandas as pd

        name = self.areas.index.name
        if by is None:
            weights = self.weights.row_weights()
            label = self.records.index.repeat(np.diff(weights.indptr))
            there = self.areas.index[weights.indices]
            return pd.DataFrame({name: there, "weight": weights.data}, index=label)
        self._check_apart(_listed(by), (LEVEL, REGION, "records", "weight", "estimate"))
        first_row, records = rows_of_equal_weights(self.rows, self.weights, _listed(by))
        levels, numbers = self.rows.level[first_row] + 1, self.rows.numbers(first_row)
        weights = self.weights.profiles[self.weights.profile_of[first_row]].tocsr()
        weights.eliminate_zeros()
        class_of = np.repeat(np.arange(len(first_row), dtype=np.int64), np.diff(weights.indptr))
        columns = {LEVEL: levels[class_of], REGION: numbers[class_of]}
        shown = {own: self.rows.fields[own] for own in _listed(by)}
        columns.update({own: of.categories[of.codes[first_row[class_of]]] for own, of in shown.items()})
        estimate = weights.data * records[class_of]
        columns.update({"records": records[class_of], name: self.areas.index[weights.indices]})
        return pd.DataFrame({**columns, "weight": weights.data, "estimate": estimate})

    def counts(self, by: Names = ()) -> pd.DataFrame:
        """Estimated records by area and group, with what is behind them.

        Parameters
        ----------
        by : str or sequence of str
            Fields of the release that make groups.

        Returns
        -------
        DataFrame
            By area: the fields, `estimate`, `share` of the area's records, `rows` that may live there, `effective`
            number of records, and `at_area`, the share of the estimate from records whose area is known. Areas with
            shapes keep them.

        Examples
        --------
        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [2, 1], "ill": [False, True]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10], "traffic": [5.0, 9.0]})
        >>> release = read_release(records, crosswalk, areas)
        >>> release.counts("ill")[["ill", "estimate", "share"]].values.tolist()
        [[False, 0.0, 0.0], [True, 0.75, 1.0], [False, 1.0, 0.8], [True, 0.25, 0.2]]
        """
        import pandas as pd

        names = _listed(by)
        self._check_apart(names, COUNTED)
        group_of, groups = self.rows.groups(names)
        counts = self.weights.counts(group_of, len(groups))
        n_areas, n_groups = len(self.areas), len(groups)
        at, of_group = (
            np.repeat(np.arange(n_areas, dtype=np.int64), n_groups),
            np.tile(np.arange(n_groups, dtype=np.int64), n_areas),
        )
        columns = {
            name: self.rows.fields[name].categories[groups[of_group, position]] for position, name in enumerate(names)
        }
        for name in COUNTED:
            columns[name] = getattr(counts, name).T.ravel()
        return self._on_map(pd.DataFrame(columns, index=self.areas.index[at]))

    def rates(self, cases: str | ArrayLike, adjusted_for: Names = (), per: float = 1.0) -> pd.DataFrame:
        """The estimated rate of something by area: weights of those that have it over weights of all rows.

        Parameters
        ----------
        cases : str or array_like of shape (R,)
            A field of the release, or a value for each row: true or a number for those that have it.
        adjusted_for : str or sequence of str
            Fields of the release: `expected` cases are those at the rates of their values in the whole release, and
            `ratio` is cases over expected (indirect standardisation).
        per : float
            What `rate` is given per: 1000 for cases per 1000 records.

        Returns
        -------
        DataFrame
            By area: `cases`, `records`, `rate`, `expected`, `ratio`, `effective` number of records behind the rate, and
            `at_area`, the share of records whose area is known. Areas with shapes keep them.

        Examples
        --------
        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [2, 1], "ill": [False, True]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10], "traffic": [5.0, 9.0]})
        >>> release = read_release(records, crosswalk, areas)
        >>> release.rates("ill", per=100)[["cases", "records", "rate"]].values.tolist()
        [[0.75, 0.75, 100.0], [0.25, 1.25, 20.0]]
        """
        import pandas as pd

        names = _listed(adjusted_for)
        has = np.asarray(self.records[cases] if isinstance(cases, str) else cases, float)
        if has.shape != (len(self.rows),) or not np.isfinite(has).all():
            raise InputError.saying(
                "Cases need a number or true or false for each of the {n} released rows.", n=len(self.rows)
            )
        group_of, groups = self.rows.groups(names)
        records = self.weights.records
        of_group = np.bincount(group_of, records, len(groups))
        rate_of = np.bincount(group_of, records * has, len(groups)) / np.where(of_group > 0, of_group, 1.0)
        of_area, expected = self.weights.total(records * has), self.weights.total(records * rate_of[group_of])
        every = self.weights.counts()
        people = every.estimate[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            rate, ratio = per * of_area / people, of_area / expected
        columns = {"cases": of_area, "records": people, "rate": rate, "expected": expected, "ratio": ratio}
        columns |= {"effective": every.effective[0], "at_area": every.at_area[0]}
        return self._on_map(pd.DataFrame(columns, index=self.areas.index))

    def exposure(self, of: Names | pd.Series) -> pd.DataFrame:
        """The mean of quantities of the areas over where each row may live, and their standard deviation there.

        Parameters
        ----------
        of : str, sequence of str or Series
            Fields of the areas, or a series by area.

        Returns
        -------
        DataFrame
            By the labels of `records`, mean_ and sd_ of each name: in a model a row takes its mean, and the deviation,
            0 where the area is known, says how little is known of its own.

        Examples
        --------
        >>> import pandas as pd
        >>> from vbas.core.analysis import read_release
        >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [2, 1], "ill": [False, True]})
        >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
        >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10], "traffic": [5.0, 9.0]})
        >>> release = read_release(records, crosswalk, areas)
        >>> release.exposure("traffic").round(3).values.tolist()
        [[9.0, 0.0], [6.0, 1.732]]
        """
        import pandas as pd

        quantities = [of] if isinstance(of, pd.Series) else [self.areas[name] for name in _listed(of)]
        columns = {}
        for position, values in enumerate(quantities):
            name = values.name if values.name is not None else f"exposure_{position + 1}"
            texts = values.set_axis([identifier_text(identifier) for identifier in values.index])
            numbers = texts.reindex(self.areas.index).to_numpy(float)
            columns[f"mean_{name}"], columns[f"sd_{name}"] = self.weights.exposure(numbers)
        return pd.DataFrame(columns, index=self.records.index)

    def _check_apart(self, names: Sequence[str], ours: Sequence[str]) -> None:
        """Raises InputError for a field that is called as one of ours, whose place it would take."""
        taken = [name for name in names if name in (self.areas.index.name, *ours)]
        if taken:
            raise InputError.saying(
                "Field “{name}” has the name of a column that the result has anyhow: rename it in the released rows "
                "first, and give these.",
                name=taken[0],
            )

    def _on_map(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table with the shapes of the areas, where they have any."""
        geometry = getattr(self.areas, "_geometry_column_name", None)
        return table if geometry is None else self.areas[[geometry]].join(table)


def read_release(
    records: TableInput,
    crosswalk: TableInput | None = None,
    areas: TableInput | None = None,
    area: str | None = None,
    population: str = "population",
    count: str | None = None,
) -> AnalysableRelease:
    """Read a release: of one level or nested, with coarser last levels, or an old one with levels of its own.

    Parameters
    ----------
    records : path or DataFrame
        The released rows; or the folder of a release; or one that has them as released_records, with crosswalk and
        areas beside them (CSV, GeoPackage, Parquet, or GeoJSON for the areas).
    crosswalk : path or DataFrame
        The crosswalk that came with the release.
    areas : path, DataFrame or GeoDataFrame
        The areas with their people; more areas than the crosswalk names do no harm.
    area : str, optional
        The field with the identifier of the area, in the areas and in the crosswalk; needed only where the crosswalk
        has further fields.
    population : str
        The field of the areas with their people, of any census.
    count : str, optional
        The field of the records that says how many each row stands for; of a folder that RELEASE_FOLDER wrote it is
        known.

    Returns
    -------
    AnalysableRelease
        The release.

    Raises
    ------
    InputError
        For files and fields that are not there, and where areas, crosswalk and records do not go together.

    Examples
    --------
    >>> import pandas as pd
    >>> from vbas.core.analysis.reader import read_release
    >>> records = pd.DataFrame({"vbas_level": [1, 2], "vbas_region": [2, 1], "ill": [False, True]})
    >>> crosswalk = pd.DataFrame({"area": ["a", "b"], "vbas_region_1": [1, 2], "vbas_region_2": [1, 1]})
    >>> areas = pd.DataFrame({"area": ["a", "b"], "population": [30, 10], "traffic": [5.0, 9.0]})
    >>> release = read_release(records, crosswalk, areas)
    >>> release.records.join(release.spread())[["ill", "area", "weight"]].values.tolist()
    [[False, 'b', 1.0], [True, 'a', 0.75], [True, 'b', 0.25]]
    >>> release.exposure("traffic")["mean_traffic"].tolist()
    [9.0, 6.0]
    >>> release.rates("ill")[["cases", "records"]].values.tolist()
    [[0.75, 0.75], [0.25, 1.25]]
    """
    if isinstance(records, (str, Path)) and Path(records).is_dir():
        folder = Path(records)
        described = (folder / DESCRIPTION).is_file()
        records = found_in(folder, "records" if described else "released_records")
        crosswalk = found_in(folder, "crosswalk") if crosswalk is None else crosswalk
        areas = found_in(folder, "areas") if areas is None else areas
    if crosswalk is None or areas is None:
        raise InputError.saying("Give the records, the crosswalk and the areas, or a folder that has them.")
    own, joining = described_table(records, "records"), described_table(crosswalk, "crosswalk")
    fields = {} if own is None else rows_of(own)
    released = table_of(records, tr("Released records"), "records") if own is None else with_numbers(frame_of(fields))
    between = table_of(crosswalk, tr("Crosswalk"), "crosswalk", None) if joining is None else frame_of(rows_of(joining))
    levels_of = _level_fields(between)
    if area is None and joining is not None:
        area = next((field.name for field in joining.of_role(AREA)), None)
    if area is None:
        others = [name for name in between.columns if name not in levels_of and name not in ("fid", "geometry")]
        if len(others) != 1:
            raise InputError.saying(
                "The crosswalk has the fields {names}: say in “area” which holds the areas.",
                names=", ".join(map(str, between.columns)),
            )
        area = str(others[0])
    surfaces = table_of(areas, tr("Areas"), codes=[area])
    _check_fields(between, [area], tr("Crosswalk"))
    _check_fields(surfaces, [area, population], tr("Areas"))
    surfaces = surfaces.assign(**{area: [identifier_text(value) for value in surfaces[area]]})
    named = [identifier_text(value) for value in between[area]]
    _check_areas(named, set(surfaces[area]))
    surfaces = surfaces[surfaces[area].isin(named)]
    people = column_numbers(column_from_values(surfaces[population]), population, "POPULATION")
    nowhere = np.zeros((len(surfaces), 2))
    places = make_areas(surfaces[area].tolist(), nowhere, people, area, tr("Areas"), in_metres=True)
    crosswalks = [crosswalk_from_table(places, named, _numbers(between[name])) for name in levels_of]
    levels = make_levels(places, crosswalks, titles=levels_of, keep_all=True)
    if own is None:
        fields = {
            str(name): column_from_values(released[name])
            for name in released.columns
            if name not in ("fid", "geometry")
        }
    elif count is None:  # of a folder it is known whether rows come with counts
        count = next((field.name for field in own.of_role(COUNT)), None)
    rows = released_rows(places, levels, fields, None if count is None else _counts(released, count))
    return AnalysableRelease(released, surfaces.set_index(area), rows)


def _level_fields(crosswalk: pd.DataFrame) -> list[str]:
    """The fields of the levels, the finest first. Raises InputError where one is missing."""
    numbered = [name for name in map(str, crosswalk.columns) if re.fullmatch(rf"{REGION}_[0-9]+", name)]
    if not numbered:
        _check_fields(crosswalk, [REGION], tr("Crosswalk"))
        return [REGION]
    wanted = [f"{REGION}_{level + 1}" for level in range(len(numbered))]
    _check_fields(crosswalk, wanted, tr("Crosswalk"))
    return wanted


def _check_areas(named: Sequence[str | None], there: set[str | None]) -> None:
    """Raises InputError where areas of the crosswalk are not there."""
    absent = [code for code in named if code is not None and code not in there]
    if absent:
        bare = {without_zeros_of(code) for code in there if code is not None}
        lost = [code for code in absent if without_zeros_of(code) in bare]
        sentence = plural(
            "Areas: {n} area of the crosswalk is not among them ({first}): give those that the release was made for.",
            "Areas: {n} areas of the crosswalk are not among them ({first}): give those that the release was made for.",
            len(absent),
            first=first_values(absent),
        )
        raise InputError(" ".join([sentence, said_of_lost_zeros(lost)] if lost else [sentence]))


def _numbers(values: pd.Series) -> list[object]:
    numbers = numbers_where_written_so(values) if all(isinstance(value, str) for value in values.dropna()) else values
    return [None if value is None or value != value else value for value in numbers.tolist()]


def _counts(records: pd.DataFrame, name: str) -> np.ndarray:
    _check_fields(records, [name], tr("Released records"))
    numbers = column_numbers(column_from_values(records[name]), name, "RECORD_COUNT")
    if not np.isfinite(numbers).all() or (numbers < 0).any() or (numbers != np.round(numbers)).any():
        raise InputError.saying(
            "“{name}” is not a whole number in all released rows: each must say how many it stands for.", name=name
        )
    return numbers.astype(np.int64)


def _check_fields(table: pd.DataFrame, names: Sequence[str], what: str) -> None:
    lost = [name for name in names if name not in table.columns]
    if lost:
        raise InputError.saying(
            "{what}: there is no field “{name}” among {names}.",
            what=what,
            name=lost[0],
            names=", ".join(map(str, table.columns)),
        )


def _listed(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
