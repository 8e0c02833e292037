"""What is asked of a release, and what of it does not go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from .areas import Areas
from .dataclass import dataclass
from .errors import InputError, PrivacyError
from .generalising.hierarchies import Hierarchy
from .levels import Levels
from .nesting.decoys import LEAST_CLOSED, Conditions, Secrets
from .nesting.losses import MEAN_DISTANCE
from .nesting.planning import CELLS_AT_ONCE
from .parameters import CLOSED_BY_CHANCE, DEFAULT_K, LEAST_LEFT_AREAS, LEAST_LEFT_PEOPLE, check_choice
from .privacy.count_rows import CountRows
from .privacy.derivable import CLASS_HAS_K, DISCLOSURES, NO_SMALL_COUNT
from .privacy.rules import NO_RULE
from .privacy.series import EACH_BY_ITSELF, PERIODS, THE_SAME
from .releases.earlier import Earlier
from .releases.updating import Update
from .ties import FIXED


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of a release.

    Parameters
    ----------
    k : int
        The smallest class, of records, and of persons and households where records have them.
    l_diversity : int
        The different values of each sensitive field that a class must have.
    max_share : float
        The largest share of one value of a sensitive field in a class, per cent.
    least_population : float
        People that every region must have.
    published_margins : str
        Sets of quasi-identifiers whose totals by region others publish, ``age;sex, ethnicity``: those of the regions of
        every level.
    published_counts : CountRows, optional
        Counts by area, or by another unit, that others publish.
    earlier : Earlier, optional
        What was published of the same people before; None where that is not looked at.
    nested : bool, optional
        Whether rows say their level; None for yes where there are several.
    loss, ties : str
        What a nested release loses least of, and which of equal choices it takes (LOSSES, CHOICES).
    disclosure : str
        What a nested release must hold against (DISCLOSURES): somebody who reads it, or somebody who also knows how it
        was made.
    closed_by_chance : float
        Per cent of the places that are closed to a class whatever lives there, so that less can be guessed.
    least_left_areas, least_left_people : int, float
        Areas with people, and people, that must be left of a region once the areas are taken away that show a class
        themselves.
    hierarchies : mapping of str to Hierarchy
        By quasi-identifier, of its values, for levels that show coarser ones.
    at_once : int
        Cells that are worked out at a time, by which memory is bounded.
    rule : str
        The published rule that is followed, whose numbers are above; “none” for one's own.
    period : str
        The quasi-identifier that is the period of a record, such as its year; empty for none.
    periods : str
        How the classes of several periods go together (PERIODS).
    update : Update, optional
        The earlier release that is carried on, whose equivalence classes stay as they were wherever that may be.

    Examples
    --------
    >>> from vbas.core.ask import Ask
    >>> ask = Ask(k=11, published_margins="sex")
    >>> ask.k, ask.l_diversity, ask.earlier is None
    (11, 1, True)
    """

    k: int = DEFAULT_K
    l_diversity: int = 1
    max_share: float = 100.0
    least_population: float = 0.0
    published_margins: str = ""
    published_counts: CountRows | None = None
    earlier: Earlier | None = None
    nested: bool | None = None
    loss: str = MEAN_DISTANCE
    ties: str = FIXED
    disclosure: str = CLASS_HAS_K
    closed_by_chance: float = CLOSED_BY_CHANCE.default
    least_left_areas: int = 0
    least_left_people: float = 0.0
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    at_once: int = CELLS_AT_ONCE
    rule: str = NO_RULE
    period: str = ""
    periods: str = THE_SAME
    update: Update | None = None

    @property
    def the_same_in_all(self) -> bool:
        """Whether classes are to be the same in all periods."""
        return bool(self.period) and self.periods == THE_SAME

    @property
    def stands_beside(self) -> bool:
        """Whether a release is held against what is published already."""
        return self.stands_beside_counts or self.earlier is not None

    @property
    def stands_beside_counts(self) -> bool:
        """Whether a release is held against counts that others publish."""
        return bool(self.published_margins) or self.published_counts is not None

    def is_nested(self, levels: Levels) -> bool:
        """Whether rows say their level."""
        return len(levels) > 1 if self.nested is None else self.nested

    def conditions(self, people: np.ndarray) -> Conditions | None:
        """What must hold of the zones of a nested release, None for nothing; people : (n,) of each area.

        Raises InputError for an unknown choice and numbers outside their range.
        """
        check_choice("DISCLOSURE", self.disclosure, DISCLOSURES)
        CLOSED_BY_CHANCE.check(self.closed_by_chance)
        LEAST_LEFT_AREAS.check(self.least_left_areas)
        LEAST_LEFT_PEOPLE.check(self.least_left_people)
        secrets = None
        if self.disclosure == NO_SMALL_COUNT:
            secrets = Secrets(np.random.default_rng(), closed=max(self.closed_by_chance, LEAST_CLOSED) / 100)
        elif not (self.least_left_areas or self.least_left_people):
            return None
        return Conditions(people, secrets, self.least_left_areas, self.least_left_people, self.period)


def refuse_with_coarser(parameters: Sequence[str]) -> None:
    """Refuse what does not know yet that one release may show a value finer and coarser. Raises InputError.

    parameters : names of parameters that are given beside LEVELS_COARSER
    """
    for name in parameters:
        raise InputError.saying(
            "{parameter} and {name} do not go together: what a release with finer and coarser values of a field gives "
            "away together with others cannot be checked yet. Leave one of them empty, or show the values coarser in "
            "all records (GENERALISE).",
            parameter="LEVELS_COARSER",
            name=name,
        )


def refuse_left_with_coarser(least_left_areas: int, least_left_people: float) -> None:
    """Refuse least areas and people of what is left of a region, where values become coarser. Raises InputError."""
    for name, least in (("LEAST_LEFT_AREAS", least_left_areas), ("LEAST_LEFT_PEOPLE", least_left_people)):
        if least:
            raise InputError.saying(
                "{parameter} and {name} do not go together: an area may show a class itself at one value and not at "
                "another, so that it is neither left of a region nor taken away. Leave one of them out.",
                parameter="LEVELS_COARSER",
                name=name,
            )


def refuse_together(levels: Levels, ask: Ask) -> None:
    """Refuse what does not go together, but for updates. Raises InputError."""
    if levels.coarser:
        refuse_left_with_coarser(ask.least_left_areas, ask.least_left_people)
        refuse_with_coarser(["REGISTER"] if ask.earlier is not None else [])
    refuse_with_periods(ask, ask.is_nested(levels), bool(levels.coarser))


def check_period(ask: Ask, names: Sequence[str]) -> None:
    """Raises InputError for a period that is none of the fields that are released."""
    if ask.period and ask.period not in names:
        raise InputError.saying(
            "PERIOD is “{period}”, which is not among what is released ({names}): choose one of these.",
            period=ask.period,
            names=", ".join(names),
        )


def refuse_with_periods(ask: Ask, nested: bool, coarser: bool) -> None:
    """Refuse what does not know yet of classes that are the same in all periods. Raises InputError.

    nested, coarser : whether rows say their level, and the last levels show coarser values
    """
    check_choice("PERIODS", ask.periods, PERIODS)
    if not ask.the_same_in_all:
        return
    if coarser:
        raise InputError.saying(
            "LEVELS_COARSER and PERIODS “{periods}” do not go together: a class would be shown coarser in one period "
            "and not in another. Leave LEVELS_COARSER empty, or choose “{other}”.",
            periods=THE_SAME,
            other=EACH_BY_ITSELF,
        )
    if nested and ask.disclosure == NO_SMALL_COUNT:
        raise InputError.saying(
            "DISCLOSURE “{disclosure}” and PERIODS “{periods}” do not go together: what somebody who knows the method "
            "learns from all periods at once cannot be checked yet. Choose another DISCLOSURE, or “{other}”.",
            disclosure=NO_SMALL_COUNT,
            periods=THE_SAME,
            other=EACH_BY_ITSELF,
        )


def refuse_with_update(levels: Levels, ask: Ask) -> None:
    """Refuse what an update does not know yet. Raises InputError."""
    if ask.the_same_in_all:
        raise InputError.saying(
            "An update does not go with PERIODS “{periods}”: who leaves in one period would take a whole series along. "
            "Choose “{other}”.",
            periods=THE_SAME,
            other=EACH_BY_ITSELF,
        )
    if levels.coarser:
        refuse_with_coarser(["ENTRY"])
    if ask.disclosure == NO_SMALL_COUNT and ask.is_nested(levels):
        raise InputError.saying(
            "An update does not go with DISCLOSURE “{disclosure}”: its regions lack the people who wait, so that what "
            "somebody who knows the method learns of it cannot be checked yet. Choose another DISCLOSURE.",
            disclosure=NO_SMALL_COUNT,
        )
    left = {"LEAST_LEFT_AREAS": ask.least_left_areas, "LEAST_LEFT_PEOPLE": ask.least_left_people}
    for name in [name for name, least in left.items() if least and ask.is_nested(levels)]:
        raise InputError.saying(
            "An update does not go with {name}: who waits to be shown may live in an area that shows the class itself, "
            "so that what is left of a region without these areas says nothing of an update. Leave it out.",
            name=name,
        )


def refuse_small_regions(areas: Areas, levels: Levels, ask: Ask) -> None:
    """Refuse regions with fewer people than are asked for: they are made already, and here none is joined."""
    if not ask.least_population:
        return
    people = np.concatenate([crosswalk.totals(areas.population) for crosswalk in levels.crosswalks])
    small = int((people < ask.least_population).sum())
    if small:
        raise PrivacyError.counting(
            "Regions of at least {least:,.0f} people are asked for; {n} of CROSSWALK has fewer, {smallest:,.0f}: make "
            "the regions with this least population.",
            "Regions of at least {least:,.0f} people are asked for; {n} of CROSSWALK have fewer, the smallest "
            "{smallest:,.0f}: make the regions with this least population.",
            small,
            least=ask.least_population,
            smallest=float(people.min()),
        )
