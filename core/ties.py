"""Which of several choices that cost the same is taken: always the first, or one drawn in secret.

A release that suppresses or coarsens no more than it must has often several ways to do so. Who knows the method and the
order in which ties are broken can rule some of them out.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from .parameters import check_choice

FIXED, DRAWN = "fixed", "secret"
CHOICES = (FIXED, DRAWN)
Ties = Optional[np.random.Generator]


def ties_of(choice: str) -> Ties:
    """Where secret orders are drawn from: the system's source of randomness, kept nowhere; None for FIXED.

    Raises InputError for another choice.
    """
    check_choice("TIES", choice, CHOICES)
    return np.random.default_rng() if choice == DRAWN else None


def ranks(number: int, ties: Ties) -> np.ndarray:
    """The order in which so many equal choices are taken, (number,) int64: as they come, or by chance."""
    return ties.permutation(number).astype(np.int64) if ties is not None else np.arange(number, dtype=np.int64)
