"""Chance that can be repeated: everything in a case follows from a seed and the case's number."""

from __future__ import annotations

import random

# How often a choice that could be odd is: most cases have one odd thing in them or none, so that what is behind the
# first check is reached too.
ODDNESS = (0.0, 0.0, 0.004, 0.015, 0.015, 0.04, 0.15)


class Dice(random.Random):
    """The draws of one case."""

    def __new__(cls, *_):
        return super().__new__(cls)  # until Python 3.10 it took no more than one of what follows

    def __init__(self, seed, number):
        super().__init__(f"{seed}:{number}")
        self.oddness = self.choice(ODDNESS)

    def odd(self, times=1.0):
        """Whether something is odd here; times : how much likelier than elsewhere."""
        return self.random() < self.oddness * times

    def chance(self, share):
        return self.random() < share

    def pick(self, *options):
        return self.choice(options)

    def some(self, values, least=0, most=None):
        """A few of the values, in an order of their own."""
        values = list(values)
        most = len(values) if most is None else min(most, len(values))
        return self.sample(values, self.randint(min(least, most), most))
