"""Random numbers one at a time, drawn from a numpy Generator in blocks: single draws are slow."""

from __future__ import annotations

import numpy as np

from ..arrays import to_list

BLOCK = 4096


class Draws:
    """Numbers from one Generator, in a fixed order: the same seed gives the same draws."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._left: list[float] = []

    def uniform(self) -> float:
        """A number in [0, 1)."""
        if not self._left:
            self._left = to_list(self._generator.random(BLOCK))
        return self._left.pop()

    def below(self, n: int) -> int:
        """A whole number in 0..n-1."""
        return int(self.uniform() * n)

    def shuffled(self, values: list[int]) -> list[int]:
        """The values in a random order."""
        return [values[i] for i in to_list(self._generator.permutation(len(values)))]
