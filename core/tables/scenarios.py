"""The table of scenario runs."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .schema import INTERNAL, OutputField, OutputTable, integer, real, text


def _with_range(mean: OutputField) -> tuple[OutputField, OutputField, OutputField]:
    """An average, and the least and the most of the scenarios."""
    least = replace(mean, name=f"{mean.name}_least", label=tr("{measure}: least", measure=mean.label), help="")
    most = replace(mean, name=f"{mean.name}_most", label=tr("{measure}: most", measure=mean.label), help="")
    return mean, least, most


_AVERAGED = (
    real("n_sites", tr("Regions, on average")),
    real("suppression_percent", tr("Records suppressed, on average"), unit="%"),
    real("compactness", tr("Compactness, on average"), unit="m"),
    real("discernibility", tr("Discernibility, on average")),
    real("non_uniform_entropy", tr("Non-uniform entropy, on average"), unit=tr("bits")),
    real("mean_distance", tr("Mean distance of the people from the middle, on average"), unit="m"),
    real("seconds", tr("Seconds, on average")),
    real("suppressed_of_first", tr("Suppressed, of what the first configuration suppresses"), unit="%"),
    real("compactness_of_first", tr("Compactness, of that of the first configuration"), unit="%"),
    real("discernibility_of_first", tr("Discernibility, of that of the first configuration"), unit="%"),
    real("entropy_of_first", tr("Non-uniform entropy, of that of the first configuration"), unit="%"),
)
SCENARIO_AVERAGES = OutputTable(
    "SCENARIO_AVERAGES",
    tr("Averages over scenarios"),
    INTERNAL,
    tr(
        "A row per configuration and part, and one per configuration for all parts together: averages over the random "
        "selections, in which every scenario counts the same, with the least and the most of them. What is given of "
        "the first configuration is its share in each scenario, averaged where the first is not 0."
    ),
    (
        text("part", tr("Part"), tr("empty for all together")),
        text("site_number", tr("Number of regions by")),
        text("site_location", tr("Sites by")),
        text("aggregation", tr("Regions by")),
        real("capacity_factor", tr("Capacity factor")),
        integer("k", "k"),
        integer("scenarios", tr("Scenarios that were run")),
        integer("failed", tr("Scenarios in which it failed")),
        *(field for mean in _AVERAGED for field in _with_range(mean)),
    ),
)
