"""A table of counts as something that is published, beside releases."""

from __future__ import annotations

import numpy as np

from ..areas import Areas
from ..crosswalk import LEFT_OUT, Crosswalk
from ..levels import Levels
from .count_tables import MANY, CountTable
from .published import Published


def published_table(table: CountTable, areas: Areas, k: int) -> Published:
    """What a table of these areas publishes, for a release at k: all its counts, those of nobody too."""
    columns = list(zip(*table.values)) if table.names else []
    categories, codes = [], []
    for column in columns:
        used, at = np.unique(np.array(column, dtype=str), return_inverse=True)
        categories.append(used.astype(object))
        codes.append(at.reshape(-1))
    classes = np.column_stack(codes) if codes else np.zeros((table.n_groups, 0), np.int64)
    zone, class_of = np.nonzero(table.high < MANY)
    return Published(
        table.title,
        k,
        areas.identifiers,
        Levels((Crosswalk(np.where(table.zone_of >= 0, table.zone_of, LEFT_OUT), table.n_zones),)),
        table.names,
        tuple(categories),
        classes,
        np.zeros(len(zone), np.int64),
        zone,
        class_of,
        table.high[zone, class_of],
        bounded=False,
        coarsened=table.levels,
        counts_from=table.low[zone, class_of],
    )
