"""The table of shares that test records are drawn from."""

from __future__ import annotations

from qgis.core import QgsProcessingFeedback

from ...core.synthetic.distributions import Distributions, make_distributions
from ..compat import field
from .checked_source import CheckedSource
from .fields import field_index
from .records import read_columns
from .tables import Table

FIELDS = ("province", "attribute", "category", "share")


def read_distributions(source: CheckedSource, feedback: QgsProcessingFeedback) -> Distributions:
    """DISTRIBUTIONS, read and checked. Raises InputError."""
    for name in FIELDS:
        field_index(source.fields(), name, "DISTRIBUTIONS", "DISTRIBUTIONS")
    columns = read_columns(source, FIELDS, feedback)
    return make_distributions(*(column.categories[column.codes].tolist() for column in columns.values()))


def distributions_table(distributions: Distributions) -> Table:
    """DISTRIBUTIONS: all shares above 0, as `read_distributions` reads them; a missing category is NULL."""
    columns = [list(column) for column in zip(*distributions.rows())]
    columns[2] = [None if category is None else str(category) for category in columns[2]]
    return Table([*(field(name, "text") for name in FIELDS[:3]), field(FIELDS[3], "real")], columns)
