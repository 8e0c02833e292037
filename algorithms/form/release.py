"""RELEASED_RECORDS: declared and filled, for every algorithm that releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.anonymise import Account
from ...core.language import tr
from ...core.publish.read_back import SecondCount
from ...core.records.columns import Column
from ...core.release import Release
from ...core.tables.regions import RELEASED_RECORDS
from ...core.tables.schema import OutputTable
from ...core.ties import CHOICES, DRAWN, FIXED
from ..layers.reading.checked_source import CheckedSource
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.tables import Table, filled
from .form import Form
from .parameters import choice, sink
from .records import shown_fields


def released_records() -> QgsProcessingParameterDefinition:
    """RELEASED_RECORDS."""
    return sink(RELEASED_RECORDS)


def ties() -> QgsProcessingParameterDefinition:
    """TIES."""
    return choice(
        "TIES",
        tr("Ties"),
        CHOICES,
        FIXED,
        tr(
            "Nested levels, published totals and a repair often have several ways that cost the same. "
            "“{fixed}”: always the first, so that the same run gives the same release. “{secret}”: by chance "
            "from the computer's own source, kept nowhere, so that nobody who runs the method again can count "
            "on its order; every run then gives another release, so publish one only. It costs nothing, and "
            "hides little: docs/privacy.md says how much somebody who knows the method can still guess.",
            fixed=FIXED,
            secret=DRAWN,
        ),
        advanced=True,
    )


def release_table(form: Form, account: Account, release: Release) -> tuple[Table, SecondCount]:
    """RELEASED_RECORDS of records in arrays, and what it is recounted by: level, region and quasi-identifiers make a
    class."""
    numbers = release.numbers(account.levels.crosswalks)
    front = {LEVEL: release.level + 1} if account.nested else {}
    places = {**front, NUMBER: numbers}
    coarsened = {*account.source.values().coarsened, *account.levels.coarser}
    counts, n_quasi = release.counts if release.counted else None, len(account.plan.profile.quasi_identifiers)
    source, k = form.source("RECORDS"), account.ask.k
    table, count = rows_table(source, places, release.fields, counts, k, n_quasi, coarsened)
    return (table if release.counted else replace(table, copies=release.counts)), count


def rows_table(
    source: CheckedSource,
    places: Mapping[str, np.ndarray],
    released: Mapping[str, Column],
    counts: np.ndarray | None,
    k: int,
    n_quasi_identifiers: int,
    coarsened: Collection[str] = (),
    table: OutputTable = RELEASED_RECORDS,
) -> tuple[Table, SecondCount]:
    """Rows with where they are shown in front, then fields of the source, the quasi-identifiers first.

    coarsened : names of those that show coarser values, which are text
    """
    own = list(zip(shown_fields(source, released, coarsened), released.values()))
    columns = {**places, "records": None if counts is None else np.asarray(counts)}
    rows = filled(table, columns, own=own, nested=LEVEL in places)
    count_field = None if counts is None else len(rows.fields) - 1
    return rows, SecondCount(k, len(places) + n_quasi_identifiers, count_field)
