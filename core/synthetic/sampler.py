"""Drawing from shares: one random number per record and one sorted search, from a stream for each thing drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..records.columns import Column, smallest_integers

# Shares are held in steps of 2**-32: a draw is one random number of 32 bits, exact and quick to search for.
BITS = 32


def stream(seed: int, *names: str) -> np.random.Generator:
    """A stream of random numbers for what these names stand for, so that drawing one thing does not disturb another.

    It depends on the seed and the names alone. Raises InputError for a negative seed.
    """
    if seed < 0:
        raise InputError(f"SEED is {seed}: give a whole number that is not negative.")
    return np.random.default_rng([seed, *"\n".join(names).encode()])


@dataclass(frozen=True, eq=False)
class Sampler:
    """Entries with shares, grouped by row (a province, or an area): a draw picks an entry of its row.

    upper : (E,) int64, ascending: entry e of row r owns the numbers from upper[e - 1] to upper[e] - 1, and row r
        owns those from r * 2**32 to (r + 1) * 2**32 - 1
    fields : what an entry gives a record: a column of E codes for each field
    """

    upper: np.ndarray
    fields: Mapping[str, Column]

    def draw(self, rows: np.ndarray, rng: np.random.Generator) -> dict[str, Column]:
        """A value of each field for each record; rows : (N,) int64, the row each record draws from."""
        number = (rows << BITS) + rng.integers(0, 2**BITS, len(rows), dtype=np.uint32)
        entry = np.searchsorted(self.upper, number, side="right")
        return {name: Column(column.codes[entry], column.categories) for name, column in self.fields.items()}


def sampler_of_shares(attribute: str, categories: np.ndarray, shares: np.ndarray) -> Sampler:
    """Draws a category of one attribute; categories : (m,); shares : (rows, m), each row adding up to 1."""
    n_rows, n_categories = shares.shape
    codes = smallest_integers(np.tile(np.arange(n_categories), n_rows), n_categories)
    rows = np.repeat(np.arange(n_rows), n_categories)
    return Sampler(_upper_ends(rows, shares.ravel(), n_rows), {attribute: Column(codes, categories)})


def sampler_of_entries(rows: np.ndarray, weights: np.ndarray, fields: Mapping[str, Column]) -> Sampler:
    """Draws whole entries, in proportion to their weights; the values of several fields stay together as in the entry.

    rows : (E,) int64, 0..R - 1, the row each entry belongs to, every one with a weight above 0; weights : (E,)
    """
    order = np.argsort(rows, kind="stable")
    sorted_fields = {name: Column(column.codes[order], column.categories) for name, column in fields.items()}
    return Sampler(_upper_ends(rows[order], weights[order], int(rows.max()) + 1), sorted_fields)


def _upper_ends(rows: np.ndarray, weights: np.ndarray, n_rows: int) -> np.ndarray:
    """Where each entry's numbers end, (E,) int64; rows : (E,) ascending."""
    running = np.cumsum(weights)
    last = np.searchsorted(rows, np.arange(n_rows), side="right") - 1
    before = np.concatenate([[0.0], running[last[:-1]]])
    total = running[last] - before
    # The last entry of a row ends at exactly 1, so that every number has an owner.
    share = (running - before[rows]) / total[rows]
    return np.floor(share * 2**BITS + 0.5).astype(np.int64) + (rows << BITS)
