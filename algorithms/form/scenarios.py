"""Scenario runs: random selections of the quasi-identifiers in parts of the areas, declared, run and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.areas import Areas
from ...core.best_approaches import best_approaches
from ...core.configuration import Configuration
from ...core.errors import InputError, first_values
from ...core.job.reading import period_of, same_in_all_of
from ...core.language import plural, tr
from ...core.progress import Progress
from ...core.records.matching import Records
from ...core.report.objectives import best_approaches_section, scenario_sections
from ...core.report.page import Section
from ...core.scenarios.averages import ScenarioAverages, scenario_averages
from ...core.scenarios.parts import LEAST_ATTRIBUTES, MOST_ATTRIBUTES, parts_by_value, random_selections
from ...core.scenarios.runs import run_scenarios
from ...core.tables.regions import SCENARIO_AVERAGES
from ..layers.tables import Table, filled
from .effective import GIVEN, Conditions
from .form import Form
from .parameters import INTEGER, field, number, sink, whole

MOST_SCENARIOS = 1000  # selections that can be asked for
CONDITIONS: Conditions = {
    name: [{"SCENARIOS": GIVEN}] for name in ("LEAST_ATTRIBUTES", "MOST_ATTRIBUTES", "PART_FIELD")
}


def scenario_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """SCENARIOS, LEAST_ATTRIBUTES, MOST_ATTRIBUTES and PART_FIELD."""
    yield number(
        "SCENARIOS",
        tr("Scenarios: random selections of the quasi-identifiers"),
        0,
        tr(
            "Every configuration is run again for so many random selections of the quasi-identifiers, in every part, "
            "and averages are given with their ranges, as in the papers: they say how much a result hangs on the "
            "quasi-identifiers and on the part of the country. 0 for none. Nested releases and baselines are left out. "
            "Over all parts together, a selection takes about as long as the comparison."
        ),
        0,
        MOST_SCENARIOS,
        INTEGER,
        advanced=True,
    )
    text = tr("Of a random selection of the quasi-identifiers.")
    yield whole("LEAST_ATTRIBUTES", tr("Scenarios: fewest quasi-identifiers"), LEAST_ATTRIBUTES, text, 1, advanced=True)
    yield whole("MOST_ATTRIBUTES", tr("Scenarios: most quasi-identifiers"), MOST_ATTRIBUTES, text, 1, advanced=True)
    yield field(
        "PART_FIELD",
        tr("Scenarios: part of the country"),
        "REGIONS",
        tr(
            "A field that says which part each area lies in, such as its province. Each part is run as if there were "
            "no other; areas without a value, and records whose area is not in the layer, belong to none. Without it "
            "all areas together are the only part."
        ),
        optional=True,
        advanced=True,
    )


def scenario_output() -> QgsProcessingParameterDefinition:
    """SCENARIO_AVERAGES."""
    return sink(SCENARIO_AVERAGES, optional=True, by_default=False)


class Scenarios(NamedTuple):
    """The scenarios that a form asks for. selections : of quasi-identifiers; parts : by name the positions of their
    areas, none where all areas together are the only one."""

    selections: list[tuple[str, ...]]
    parts: dict[str, np.ndarray]

    @property
    def n_scenarios(self) -> int:
        """Each selection in each part."""
        return len(self.selections) * max(len(self.parts), 1)


def asked_scenarios(form: Form, areas: Areas, records: Records) -> Scenarios | None:
    """The scenarios asked for, None for none. Raises InputError where a selection or a part cannot be made."""
    number_of_selections = form.whole("SCENARIOS")
    if not number_of_selections:
        if form.outputs.wanted("SCENARIO_AVERAGES"):
            form.warn(tr("SCENARIO_AVERAGES is not written, since SCENARIOS is 0."))
        return None
    period = period_of(form.job)
    selections = random_selections(
        [name for name in records.profile.quasi_identifiers if name != period],
        number_of_selections,
        max(form.whole("LEAST_ATTRIBUTES") - bool(period), 1),
        max(form.whole("MOST_ATTRIBUTES") - bool(period), 1),
        form.whole("SEED"),
    )
    if period:  # one of each selection: k holds in each period, whatever else is selected
        selections = [(*selected, period) for selected in selections]
    return Scenarios(selections, _parts_of(form, areas, records))


def averages_over(
    form: Form,
    asked: Scenarios,
    areas: Areas,
    records: Records,
    configurations: Mapping[int, Sequence[Configuration]],
    progress: Progress,
) -> tuple[int, list[Section]]:
    """Run the scenarios, add SCENARIO_AVERAGES, and return how many were run and what the report says of them.

    configurations : by k
    """
    runs = run_scenarios(
        areas,
        records.profile,
        asked.parts,
        asked.selections,
        configurations,
        progress,
        records.n_unmatched,
        same_in_all_of(form.job),
    )
    averages, n_run = scenario_averages(runs), len({run.scenario for run in runs})
    form.info(
        plural(
            "{n} of {wanted} scenarios was run.", "{n} of {wanted} scenarios were run.", n_run, wanted=asked.n_scenarios
        )
    )
    form.outputs.add("SCENARIO_AVERAGES", averages_table(averages))
    best = best_approaches_section(best_approaches([run.outcomes for run in runs]), over_scenarios=True)
    return n_run, [*scenario_sections(averages, asked.selections, n_run, asked.n_scenarios), best]


def _parts_of(form: Form, areas: Areas, records: Records) -> dict[str, np.ndarray]:
    """The areas of each part of PART_FIELD that can be run; none where the field is not given.

    Parts of a single area, and those without records or population, are left out with a warning.
    """
    name = form.text("PART_FIELD")
    if not name:
        return {}
    parts = parts_by_value(form.job.values_of_areas(name, areas))
    sizes = records.profile.area_sizes
    usable = {
        part: members
        for part, members in parts.items()
        if len(members) > 1 and sizes[members].any() and areas.population[members].any()
    }
    left = [part for part in parts if part not in usable]
    if left:
        form.warn(
            plural(
                "{n} part of PART_FIELD is left out, with a single area or with nobody in it: {first}.",
                "{n} parts of PART_FIELD are left out, with a single area or with nobody in them: {first}.",
                len(left),
                first=first_values(left),
            )
        )
    n_none = len(areas) - sum(map(len, parts.values()))
    if n_none:
        form.warn(
            plural(
                "{n} area has no value in PART_FIELD and belongs to no part.",
                "{n} areas have no value in PART_FIELD and belong to no part.",
                n_none,
            )
        )
    if not usable:
        raise InputError.saying(
            "PART_FIELD “{name}” makes no part with two areas and somebody in them: choose another.", name=name
        )
    return usable


def averages_table(averages: Sequence[ScenarioAverages]) -> Table:
    """SCENARIO_AVERAGES: a row per configuration, part and k."""
    rows = [_row(average) for average in averages]
    return filled(SCENARIO_AVERAGES, {name: [row.get(name) for row in rows] for name in SCENARIO_AVERAGES.names})


def _row(averages: ScenarioAverages) -> dict[str, object]:
    """The values of a row by their fields; those that it lacks are empty."""
    c = averages.configuration
    row: dict[str, object] = {
        "part": averages.part or None,
        "site_number": c.site_number,
        "site_location": c.site_location or None,
        "aggregation": c.aggregation,
        "capacity_factor": c.aggregation_options.capacity_factor if c.has_capacities else None,
        "k": averages.k,
        "scenarios": averages.n_scenarios,
        "failed": averages.n_failed,
    }
    for name, average in averages.values.items():
        if average is not None:
            row.update({name: average.mean, f"{name}_least": average.least, f"{name}_most": average.most})
    return row
