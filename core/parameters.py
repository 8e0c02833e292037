"""Numbers and choices that are asked for by parameters, each with its default and its bounds, declared once.

Functions that take a value hold it against its declaration; library, command and forms read the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from .dataclass import dataclass
from .errors import InputError
from .language import tr


@dataclass(frozen=True)
class Number:
    """A number that a parameter asks for.

    least, most : its bounds; above : whether it must be more than the least; whole : whether it counts something
    asked : what to give in place of another number, in words
    """

    name: str
    default: float
    least: float
    most: float
    asked: str
    above: bool = False
    whole: bool = False

    def check(self, value: float) -> None:
        """Raise InputError for a number that is none of those asked for."""
        inside = self.least <= value <= self.most and math.isfinite(value)
        if not inside or (self.above and value == self.least) or (self.whole and value != int(value)):
            raise InputError.saying(
                "{parameter} is {number:.15g}: {asked}.", parameter=self.name, number=value, asked=self.asked
            )


def check_choice(parameter: str, name: str, choices: Collection[str]) -> None:
    """Raise InputError for a word that is not among the choices, which lists them."""
    if name not in choices:
        raise InputError.saying(
            "{parameter} “{name}” is unknown: choose one of {choices}.",
            parameter=parameter,
            name=name,
            choices=", ".join(choices),
        )


DEFAULT_K, SMALLEST_K = 5, 2  # with k = 1 every record could be released as it is
K = Number(
    "K",
    DEFAULT_K,
    SMALLEST_K,
    math.inf,
    tr("choose a whole number of at least {smallest_k}; with K = 1 nobody would be hidden", smallest_k=SMALLEST_K),
    whole=True,
)
L_DIVERSITY = Number("L_DIVERSITY", 1, 1, math.inf, tr("ask for at least 1 value, which asks for nothing"), whole=True)
MAX_SHARE = Number(
    "MAX_SHARE", 100.0, 0.0, 100.0, tr("give per cent above 0, up to 100, which asks for nothing"), above=True
)
BUDGET = Number("BUDGET", 1.0, 0.0, 100.0, tr("give per cent of the records, from 0 to 100"))
CUTOFF = Number(
    "CUTOFF", 70_000.0, 0.0, math.inf, tr("give the population a region needs, a number above 0"), above=True
)
FLOOR = Number("FLOOR", 0.0, 0.0, math.inf, tr("give the population every region needs, or 0 for an even share"))
LEAST_POPULATION = Number("LEAST_POPULATION", 0.0, 0.0, math.inf, tr("give a number of people, or 0 for any"))
# Per cent of the places of a nested release that are closed to a class whatever lives there; a little always is.
CLOSED_BY_CHANCE = Number("CLOSED_BY_CHANCE", 0.2, 0.0, 50.0, tr("give per cent from 0 to {most:g}", most=50.0))
LEAST_LEFT_AREAS = Number("LEAST_LEFT_AREAS", 0, 0, math.inf, tr("give a number of areas, or 0 for any"), whole=True)
LEAST_LEFT_PEOPLE = Number("LEAST_LEFT_PEOPLE", 0.0, 0.0, math.inf, tr("give a number of people, or 0 for any"))
COARSEST = Number("COARSEST", 1, 1, math.inf, tr("the last level needs at least one region"), whole=True)
RATIO = Number("RATIO", 2.0, 1.2, math.inf, tr("give at least {least}, so that levels grow coarser", least=1.2))
RESERVE = Number("RESERVE", 1.0, 1.0, math.inf, tr("give 1 for none, or more, such as 1.5"))
HELD_PERCENT = Number("HELD_PERCENT", 0.0, 0.0, 100.0, tr("give a share from 0 to 100 per cent"))
BETA = Number("BETA", 0.5, 0.0, 1.0, tr("give a number from 0 to 1"))
MAXIMUM = Number("MAXIMUM", 0.0, 0.0, math.inf, tr("give a population above the cut-off, or 0 for no limit"))
SEED = Number("SEED", 0, 0, math.inf, tr("give a whole number that is not negative"), whole=True)
