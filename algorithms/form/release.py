"""RELEASED_RECORDS: declared and filled, for every algorithm that releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.language import plural, tr
from ...core.levels import Levels
from ...core.plan import Plan
from ...core.privacy.kept_field import KeptField
from ...core.privacy.kept_fields import examine_kept_fields
from ...core.privacy.margins import hold_against_margins, parse_margins
from ...core.privacy.requirement import Found, Requirement, measure
from ...core.privacy.weights import warning_of_weights
from ...core.publish.read_back import SecondCount
from ...core.records.columns import Column
from ...core.records.matching import Records
from ...core.release import Release, apply
from ...core.report.page import Section
from ...core.report.protection import protection_section
from ...core.tables.regions import RELEASED_RECORDS
from ...core.tables.schema import OutputTable
from ...core.ties import CHOICES, DRAWN, FIXED, ties_of
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


def held_against_margins(form: Form, plan: Plan) -> Plan:
    """The plan, from which nothing below k follows with the totals that others publish."""
    if not form.has("PUBLISHED_MARGINS") or not form.given("PUBLISHED_MARGINS"):
        return plan
    margins = parse_margins(form.text("PUBLISHED_MARGINS"), plan.profile.quasi_identifiers)
    held, cost = hold_against_margins(plan, margins, ties=ties_of(form.text("TIES")))
    form.info(
        plural(
            "{n} further record is suppressed, so that no count below k follows from published totals.",
            "{n} further records are suppressed, so that no count below k follows from published totals.",
            cost,
        )
    )
    return held


def released(
    form: Form, plan: Plan, records: Records, requirement: Requirement, population: np.ndarray | None = None
) -> tuple[Release, Section]:
    """The rows that the plan shows, and what the report says of who and what k does not count.

    population : people of each area, None where it is not known
    """
    kept = examine_kept_fields(plan, records)
    release = apply(plan, records, kept, requirement)
    return release, protected_by(form, plan, plan, records, requirement, kept, population)


def protected_by(
    form: Form,
    plan: Plan,
    shown: Plan,
    records: Records,
    requirement: Requirement,
    kept: Sequence[KeptField],
    population: np.ndarray | None,
) -> Section:
    """What log and report say of who and what k does not count.

    shown : the plan by region and class, whose labels are those of `plan`
    """
    return told_of(form, plan, shown, requirement, kept, warning_of_weights(plan, records, population))


def told_of(
    form: Form, plan: Plan, shown: Plan, requirement: Requirement, kept: Sequence[KeptField], weights: str = ""
) -> Section:
    """The same of records that are not at hand; weights : what is said of counts that look like survey weights."""
    form.warn(*(one.warning for one in kept if one.warning), *([weights] if weights else []))
    asked = requirement.members or requirement.shares
    found = measure(requirement, plan.label_of, len(plan.records)) if asked else Found({})
    for kind, smallest in found.smallest.items():
        form.info(
            tr("k counts {kind}: the smallest released class holds {smallest} of them.", kind=kind, smallest=smallest)
        )
    for name, diversity in found.diversity.items():
        alike = int((diversity.distinct[plan.shown] == 1).sum())
        form.info(
            plural(
                "{n} of {n_shown} released classes has one value of “{name}” in common.",
                "{n} of {n_shown} released classes have one value of “{name}” in common.",
                alike,
                n_shown=int(plan.shown.sum()),
                name=name,
            )
        )
    return protection_section(requirement, found, kept, shown, weights)


def release_table(
    form: Form,
    release: Release,
    levels: Levels,
    records: Records,
    k: int,
    with_level: bool = False,
    as_text: Collection[str] = (),
) -> tuple[Table, SecondCount]:
    """The table, and what it is recounted by: level, region and quasi-identifiers make a class.

    as_text : names of quasi-identifiers that some levels show coarser, and that are text in all rows
    """
    numbers = np.zeros_like(release.region)
    for level, crosswalk in enumerate(levels.crosswalks):
        here = release.level == level
        numbers[here] = crosswalk.numbers[release.region[here]]
    front = {LEVEL: release.level + 1} if with_level else {}
    n_quasi = len(records.table.quasi_identifiers)
    places = {**front, NUMBER: numbers}
    coarsened = {*records.table.coarsened, *as_text}
    counts = release.counts if release.counted else None
    table, count = rows_table(form.source("RECORDS"), places, release.fields, counts, k, n_quasi, coarsened)
    return (table if release.counted else replace(table, copies=release.counts)), count


def rows_table(
    source: CheckedSource,
    places: Mapping[str, np.ndarray],
    shown: Mapping[str, Column],
    counts: np.ndarray | None,
    k: int,
    n_quasi_identifiers: int,
    coarsened: Collection[str] = (),
    table: OutputTable = RELEASED_RECORDS,
) -> tuple[Table, SecondCount]:
    """Rows with where they are shown in front, then fields of the source, the quasi-identifiers first.

    coarsened : names of those that show coarser values, which are text
    """
    own = list(zip(shown_fields(source, shown, coarsened), shown.values()))
    columns = {**places, "records": None if counts is None else np.asarray(counts)}
    rows = filled(table, columns, own=own, nested=LEVEL in places)
    count_field = None if counts is None else len(rows.fields) - 1
    return rows, SecondCount(k, len(places) + n_quasi_identifiers, count_field)
