"""The run of the main algorithm that a row of a comparison stands for."""

from __future__ import annotations

from qgis.core import QgsProcessingAlgorithm

from ...core.configuration import Configuration
from ...core.outcome import Outcome
from ...core.records.matching import Records
from ..layers.inputs import Inputs
from .form import Form

RELEASE = "released.gpkg"
TAKEN_OVER = (
    "REGIONS",
    "REGION_ID",
    "POPULATION",
    "AREA_POINT",
    "RECORDS",
    "RECORD_REGION",
    "QUASI_IDENTIFIERS",
    "PERIOD",
    "PERIODS",
    "RECORD_COUNT",
    "UNMATCHED",
    "HIERARCHIES",
    "HIERARCHY_RULES",
    "GAPS_REGION",
    "GAPS_COEFFICIENT",
    "GAPS_EXPONENT",
    "LOG_BASE",
    "CUTOFF",
    "N_SITES",
    "FLOOR",
    "BUDGET",
    "FAIR",
    "START",
    "SEED",
)


def inputs_for(
    form: Form, algorithm: QgsProcessingAlgorithm, records: Records, row: Outcome, chosen: Configuration
) -> Inputs:
    """What the main algorithm is given to make the regions of a row again, which its configuration of one level made.

    A row that was searched is made by the number of sites that the search found: the same regions without searching.
    """
    parameters: dict[str, object] = {name: form.parameters[name] for name in TAKEN_OVER if form.given(name)}
    parameters.update(K=row.k, COMBINATION="custom", AGGREGATION=chosen.aggregation, SITE_NUMBER=chosen.site_number)
    if chosen.site_location:
        parameters["SITE_LOCATION"] = chosen.site_location
    if chosen.has_capacities:
        parameters["CAPACITY_FACTOR"] = chosen.aggregation_options.capacity_factor
    if row.budget is not None:
        parameters.update(SITE_NUMBER="given number", N_SITES=chosen.number_options.n_sites)
    levels = {name: column.level for name, column in records.table.coarsened.items()}
    for name, level in row.generalised:
        levels[name] = levels.get(name, 0) + level
    if levels:
        parameters["GENERALISE"] = [cell for name, level in levels.items() for cell in (name, level)]
    parameters["RELEASED_RECORDS"] = RELEASE
    return Inputs(algorithm, parameters, form.context)
