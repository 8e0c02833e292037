"""What is studied of a release, cases among those at risk: declared and read, for maps and tests."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.analysis.outcome import Outcome, cases_of, outcome_of
from ...core.errors import InputError
from ...core.job.values import parts_of
from ...core.language import as_data, tr
from ..form import parameters as shared
from ..form.effective import Conditions
from ..form.form import Form
from .released import (
    MARGIN_CONDITIONS,
    AnalysedRelease,
    is_spread,
    read_spread_of,
    release_of,
    release_parameters,
    spread_of,
)

RECORDS, POPULATION = as_data("released records"), as_data("population of the areas")
DENOMINATORS = (RECORDS, POPULATION)
OUTCOME_CONDITIONS: Conditions = {**MARGIN_CONDITIONS, "ADJUST": [{"DENOMINATOR": [RECORDS]}]}


def outcome_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """What `release_parameters` declares, and CASE_FIELD, CASE_VALUES, DENOMINATOR, ADJUST."""
    yield from release_parameters(or_spread=True)
    yield shared.field(
        "CASE_FIELD",
        tr("Field that says who is a case"),
        "RECORDS",
        tr("A released field, such as a diagnosis. A row without a value is left out."),
    )
    yield shared.text(
        "CASE_VALUES",
        tr("Values of a case"),
        "",
        tr("What cases have in this field, separated by semicolons. Empty: the field is 1 or true for a case, else 0."),
        optional=True,
    )
    yield shared.choice(
        "DENOMINATOR",
        tr("People at risk"),
        DENOMINATORS,
        RECORDS,
        tr(
            "“{records}”: all of them, cases and others, spread as the cases are. “{population}”: those of POPULATION, "
            "where the release has only part of the people and the part is the same everywhere. The release must have "
            "rows that are no cases all the same.",
            records=RECORDS,
            population=POPULATION,
        ),
    )
    yield shared.field(
        "ADJUST",
        tr("Adjust for"),
        "RECORDS",
        tr(
            "Released fields by which rates differ anyhow, such as age: the cases of each group are expected by its "
            "own."
        ),
        several=True,
        optional=True,
    )


def draw_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """DRAWS, SIGNIFICANCE, SEED."""
    text = tr("How often the outcome is drawn by chance: 999 give p-values to a thousandth.")
    yield shared.whole("DRAWS", tr("Draws"), 999, text, 19, advanced=True)
    text = tr("What has a p-value of at most this is shown.")
    yield shared.number("SIGNIFICANCE", tr("Level of the test"), 0.05, text, 0.001, 0.5, advanced=True)
    yield shared.seed()


def read_outcome(form: Form, tested: bool) -> tuple[AnalysedRelease, Outcome]:
    """The release, and its outcome; tested : whether a p-value is wanted, which not every outcome can have."""
    name, strata = form.text("CASE_FIELD"), tuple(form.field_names("ADJUST"))
    outside = form.text("DENOMINATOR") == POPULATION
    if outside:
        strata = ()
    if name in form.field_names("QUASI_IDENTIFIERS"):
        sentence = tr(
            "CASE_FIELD “{name}” is a quasi-identifier, so where a case is shown depends on how many there are.",
            name=name,
        )
        if tested:
            raise InputError.saying(
                "{sentence} A test would find clusters where there are none: study a field that is not.",
                sentence=sentence,
            )
        form.warn(tr("{sentence} Few cases are pulled towards where all people live.", sentence=sentence))
    if name in strata:
        raise InputError.saying("CASE_FIELD “{name}” is in ADJUST too: take it out there.", name=name)
    margins = form.field_names("MARGIN_FIELDS") if form.given("MARGINS") else []
    if tested and name in margins:
        raise InputError.saying(
            "CASE_FIELD “{name}” is in MARGIN_FIELDS too, so that cases would have other weights than the rest: a test "
            "would find clusters where there are none. Take it out there.",
            name=name,
        )
    if is_spread(form):
        release, weights = read_spread_of(form)
    else:
        release = release_of(form, list(dict.fromkeys([name, *strata, *margins])))
        weights = spread_of(form, release.rows)
    is_case = cases_of(release.rows.column(name), values_in(form.text("CASE_VALUES")))
    lost = is_case < 0
    if lost.any():
        form.warn(
            tr(
                "{records} without a value in {name}: left out.",
                records=counted.records(round(float(release.rows.records[lost].sum()))),
                name=name,
            )
        )
    population = release.rows.areas.population if outside else None
    outcome = outcome_of(release.rows, weights, is_case, strata, population)
    if outcome.n_cases == outcome.n_at_risk and (tested or not outside):
        raise InputError(
            tr(
                "All released records are cases by CASE_FIELD: where a case is shown then depends on how many there "
                "are around, and no test would hold its level. Give RECORDS that has others, too."
            )
            if tested
            else tr(
                "All released records are cases by CASE_FIELD: choose “{population}” as DENOMINATOR.",
                population=POPULATION,
            )
        )
    form.check_cancelled()
    return release, outcome


def values_in(written: str) -> tuple[str, ...]:
    """Values separated by semicolons."""
    return tuple(dict.fromkeys(parts_of(written)))
