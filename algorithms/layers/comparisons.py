"""The table of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.comparison import Outcome
from .tables import Table, number_fields

FIELDS = {
    "site_number": "text",
    "site_location": "text",
    "aggregation": "text",
    "capacity_factor": "real",
    "n_sites": "integer",
    "suppressed": "long",
    "suppression_percent": "real",
    "compactness": "real",
    "discernibility": "real",
    "non_uniform_entropy": "real",
    "seconds": "real",
    "combination": "integer",
    "pareto": "integer",
    "problem": "text",
}


def comparison_table(outcomes: Sequence[Outcome]) -> Table:
    """A row per configuration or baseline; measures are empty where one failed."""
    rows = [_row(outcome) for outcome in outcomes]
    return Table(number_fields(**FIELDS), [list(column) for column in zip(*rows)] or [[] for _ in FIELDS])


def _row(outcome: Outcome) -> tuple[object, ...]:
    c, m = outcome.configuration, outcome.measures
    names = ("n_regions", "n_suppressed", "suppression_percent", "compactness", "discernibility", "non_uniform_entropy")
    return (
        outcome.family,
        (c.site_location or None) if c else None,
        c.aggregation if c else outcome.title,
        c.aggregation_options.capacity_factor if c and c.has_capacities else None,
        *(None if m is None else getattr(m, name) for name in names),
        outcome.seconds,
        outcome.combination,
        None if m is None else int(outcome.pareto),
        outcome.problem or None,
    )
