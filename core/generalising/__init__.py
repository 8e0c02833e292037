"""Coarser quasi-identifiers: hierarchies from a table or by rule, and profiles and records at their levels."""

from __future__ import annotations

from .collapsing import generalise_profile, generalise_records, generalise_table
from .hierarchies import (
    SUPPRESSED_VALUE,
    Hierarchy,
    entropy,
    entropy_given_up,
    make_hierarchy,
    records_by_category,
    records_by_value,
)
from .rules import HierarchyRule, hierarchy_rule
from .table import HierarchyTable, hierarchy_tables

__all__ = [
    "SUPPRESSED_VALUE",
    "Hierarchy",
    "HierarchyRule",
    "HierarchyTable",
    "entropy",
    "entropy_given_up",
    "generalise_profile",
    "generalise_records",
    "generalise_table",
    "hierarchy_rule",
    "hierarchy_tables",
    "make_hierarchy",
    "records_by_category",
    "records_by_value",
]
