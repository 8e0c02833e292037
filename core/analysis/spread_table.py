"""A table of weights that was written before: rows of classes and areas, as `vbas:spreadrelease` gives them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..areas import Areas, identifier_text
from ..errors import InputError, first_values
from ..levels import Levels, own_regions
from ..plain_text import is_missing
from ..records.columns import Column, combine_columns
from ..scientific import sparse
from .released import LEVEL, REGION, ReleasedRows
from .spreading import Spread


def read_spread(
    areas: Areas, area: Column, fields: Mapping[str, Column], estimate: np.ndarray
) -> tuple[ReleasedRows, Spread]:
    """The classes of a table of weights, each with where it may live.

    Parameters
    ----------
    areas : Areas
        n areas.
    area : Column
        Of T rows, the identifier of the area.
    fields : mapping
        Columns of T rows: where a row is shown, and all that tells classes apart. Rows that share them are a class.
    estimate : ndarray of shape (T,)
        Records of the class that are estimated to live in the area; a class has the sum of its rows.

    Returns
    -------
    ReleasedRows, Spread
        A row per class, with the fields but for where it is shown: that is in the weights.

    Raises
    ------
    InputError
        For areas that there are not, and estimates that are missing or negative.

    Examples
    --------
    >>> import numpy as np
    >>> from vbas.core.analysis.spread_table import read_spread
    >>> from vbas.core.areas import make_areas
    >>> from vbas.core.records.columns import column_from_values
    >>> areas = make_areas(["a", "b"], [(0, 0), (900, 0)], [30, 10])
    >>> fields = {"vbas_region": column_from_values([7, 7, 2]), "sex": column_from_values(["F", "F", "M"])}
    >>> rows, weights = read_spread(areas, column_from_values(["a", "b", "b"]), fields, np.array([4.5, 1.5, 3.0]))
    >>> rows.counts.tolist(), weights.row_weights().toarray().tolist()
    ([3, 6], [[0.0, 1.0], [0.75, 0.25]])
    """
    texts = ["" if is_missing(value) else str(identifier_text(value)) for value in area.categories.tolist()]
    at = areas.codes_of(np.array(texts, dtype=object))[area.codes] if len(texts) else np.zeros(0, np.int64)
    if (at < 0).any():
        absent = np.array(texts, dtype=object)[np.unique(area.codes[at < 0])]
        raise InputError.saying(
            "RECORDS are spread over areas that REGIONS does not have (first: {first}): give the areas that they were "
            "spread over.",
            first=first_values(absent),
        )
    if not (np.isfinite(estimate) & (estimate >= 0)).all():
        raise InputError.saying(
            "Field “estimate” of RECORDS is missing or below 0 in some row: spread the release again."
        )
    columns = list(fields.values())
    if columns:
        class_of, classes = combine_columns(columns)
    else:
        class_of, classes = np.zeros(len(at), np.int64), np.zeros((min(len(at), 1), 0), np.int64)
    shares = sparse.csr_matrix((estimate, (class_of, at)), (len(classes), len(areas)))
    total = np.asarray(shares.sum(axis=1)).ravel()
    used = np.flatnonzero(total > 0)
    profiles = (sparse.diags(1 / total[used]) @ shares[used]).tocsr()
    counts = np.round(total[used]).astype(np.int64)
    shown_fields = {
        name: Column(classes[used, position], column.categories)
        for position, (name, column) in enumerate(fields.items())
        if name not in (LEVEL, REGION)
    }
    nowhere = np.zeros(len(used), np.int64)
    rows = ReleasedRows(areas, Levels((own_regions(len(areas)),)), nowhere, nowhere, shown_fields, counts)
    return rows, Spread(profiles, np.arange(len(used), dtype=np.int64), counts.astype(float), nowhere)
