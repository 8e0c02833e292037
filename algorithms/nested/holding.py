"""Regions that hold in several periods and tables, with a reserve: declared, read, and said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.areas import Areas
from ...core.errors import InputError
from ...core.job.generalising import generalising_of
from ...core.job.reading import fields_of_records, period_of
from ...core.language import tr
from ...core.levels import Levels
from ...core.nesting.holding import Counted, Holding, counted_by, held_percent
from ...core.parameters import RESERVE, SMALLEST_K
from ...core.privacy.series import THE_SAME
from ...core.profile import Profile
from ...core.records.matching import match_records
from ..form.effective import GIVEN, Conditions
from ..form.form import FormJob
from ..form.parameters import bounded, layers, number
from ..layers.reading.records import read_records

CONDITIONS: Conditions = {name: [{"HELD_PERCENT": GIVEN}] for name in ("MORE_RECORDS", "RESERVE")}


def held_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """MORE_RECORDS, HELD_PERCENT and RESERVE."""
    yield layers(
        "MORE_RECORDS",
        tr("Further tables that the regions must hold for"),
        tr(
            "Tables of other years, or other tables of the same people, with the fields of RECORDS under the same "
            "names: the regions hold where each of them does."
        ),
        advanced=True,
    )
    yield number(
        "HELD_PERCENT",
        tr("Share of the records that every region must show (%)"),
        None,
        tr(
            "A region holds where so many of its records are of classes of K and more, in every period and table, each "
            "by itself: with PERIODS “{the_same}” a release of all periods shows fewer. Regions of the finest level "
            "that do not hold are joined with the nearest until all do. Such as 80; empty asks for none. A nested "
            "release shows the others in larger regions.",
            the_same=THE_SAME,
        ),
        0.0,
        100.0,
        optional=True,
        advanced=True,
    )
    yield bounded(
        RESERVE,
        tr("Reserve: how many times K a class needs now"),
        tr(
            "With 1.5 and K = 5 only classes of 8 and more count as shown, so that more of the regions hold next year "
            "too, when people have moved and aged. The guide says how often they did."
        ),
        advanced=True,
    )


def holding_of(job: FormJob) -> Holding:
    """K, RESERVE and HELD_PERCENT."""
    percent = job.number("HELD_PERCENT") if job.given("HELD_PERCENT") else 0.0
    return Holding(job.whole("K"), job.number("RESERVE"), percent)


def held_tables(job: FormJob, areas: Areas, profile: Profile) -> list[Counted]:
    """The tables that regions are to hold for, counted by area and class; none where nothing is asked of them.

    profile : that of RECORDS. Raises InputError where there are no classes.
    """
    holding = holding_of(job)
    if not holding.percent:
        return []
    holding.check()
    if not (job.given("RECORDS") and job.given("QUASI_IDENTIFIERS")):
        raise InputError.saying("HELD_PERCENT looks at classes: give RECORDS and QUASI_IDENTIFIERS.")
    period, fields = period_of(job), fields_of_records(job)
    asked = generalising_of(job, fields.quasi_identifiers)
    tables = [counted_by(profile, period)]
    for source in job.layers.sources("MORE_RECORDS"):
        table = asked.shown(read_records(source, fields, job.layers.feedback))
        records = match_records(table, areas, job.text("UNMATCHED"), SMALLEST_K, job.text("RECORD_REGION"))
        job.warn(*records.warnings)
        tables.append(counted_by(records.profile, period))
    return tables


def say_what_holds(job: FormJob, levels: Levels, tables: Sequence[Counted]) -> None:
    """Say how many regions of each level hold; nothing where nothing is asked of them."""
    if not tables:
        return
    holding = holding_of(job)
    held = [held_percent(tables, crosswalk, holding.least) >= holding.percent - 1e-9 for crosswalk in levels.crosswalks]
    said = tr(
        "Regions that show {percent:g} % of their records in classes of {least} and more in every period and table, by "
        "level, from the finest: {held}.",
        percent=holding.percent,
        least=holding.least,
        held=", ".join(tr("{n} of {n_regions}", n=int(of_level.sum()), n_regions=len(of_level)) for of_level in held),
    )
    if period_of(job):
        apart = tr(
            "Each period is counted by itself: in a release of all periods with PERIODS “{the_same}” regions show "
            "fewer.",
            the_same=THE_SAME,
        )
        said = f"{said} {apart}"
    (job.info if all(np.all(of_level) for of_level in held) else job.warn)(said)
