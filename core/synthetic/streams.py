"""Streams of random numbers: each thing that is drawn has its own, so that one does not disturb another."""

from __future__ import annotations

import numpy as np

from ..errors import InputError


def stream(seed: int, *names: str) -> np.random.Generator:
    """A stream that depends on the seed and the names alone. Raises InputError for a negative seed."""
    if seed < 0:
        raise InputError(f"SEED is {seed}: give a whole number that is not negative.")
    return np.random.default_rng([seed, *"\n".join(names).encode()])
