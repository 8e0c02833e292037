"""Transport: facilities of limited capacity and the destinations they serve, solved to proven optimality.

`allocate` is the exact solver, usable alone; `facilities` places the first facilities and moves them.
"""

from __future__ import annotations

from .allocation import Allocation, allocate, lower_bound

__all__ = ["Allocation", "allocate", "lower_bound"]
