"""Under which choices it is told which attribute costs what."""

from __future__ import annotations

from collections.abc import Mapping

from .effective import Condition, Conditions


def conditions_with_costs(conditions: Conditions, where: Condition | None = None) -> Conditions:
    """The rules of what coarser values are also count for what these would save, always or under a condition."""
    names = ("HIERARCHIES", "HIERARCHY_RULES")
    if where is None:
        return {name: effects for name, effects in conditions.items() if name not in names}
    widened: Mapping[str, list[Condition]] = {
        name: [{**condition, **where} for condition in conditions.get(name, ())] for name in names
    }
    return {**conditions, **widened}
