"""Under which choices a setting counts, for the forms, the library and the command.

    {"N_SITES": [{"SITE_NUMBER": ["given number"]}], "RECORD_COUNT": [{"RECORDS": GIVEN}]}

Every mapping of the list must hold, and one holds where any of its entries does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Union

from ..aggregation import APPROACHES as AGGREGATIONS
from ..approach import choosing_sites, using_setting
from ..configuration import CUSTOM
from ..language import one_of, tr
from ..privacy.derivable import NO_SMALL_COUNT
from ..releases.earlier import REPAIR
from ..site_location import APPROACHES as SITE_LOCATIONS
from ..site_number import APPROACHES as SITE_NUMBERS
from ..site_number.cutoff import CUSTOM as GAPS_CUSTOM
from .values import NESTED, ONE_LEVEL

GIVEN, NOT_GIVEN = True, False
Condition = Mapping[str, Union[Collection[str], bool]]
Conditions = Mapping[str, Sequence[Condition]]
_NESTED: Condition = {"RELEASE": [NESTED]}


class Counting:
    """Which settings count in one run.

    given : whether a setting is; words : what a choice is; settled : those that are chosen in place of what was typed
    """

    def __init__(
        self,
        conditions: Conditions,
        given: Callable[[str], bool],
        words: Callable[[str], Collection[str]],
        settled: Collection[str],
    ) -> None:
        self._conditions, self._given, self._words, self._settled = conditions, given, words, settled

    def missing(self, name: str) -> Condition | None:
        """The first condition of a setting that does not hold, None where all do."""
        for condition in self._conditions.get(name, ()):
            if not any(self._holds(choice, wanted) for choice, wanted in condition.items()):
                return condition
        return None

    def _holds(self, name: str, wanted: Collection[str] | bool) -> bool:
        if isinstance(wanted, bool):
            return self._given(name) == wanted
        if name not in self._settled and self.missing(name) is not None:
            return False  # a choice without effect makes nothing else count
        return not set(self._words(name)).isdisjoint(wanted)


def idle_sentence(name: str, shown: str, missing: Condition) -> str:
    """That a setting has no effect, and where it would have; shown : its value; missing : what does not hold."""
    where = one_of(_in_words(choice, wanted) for choice, wanted in missing.items())
    return tr("{name} = {shown} has no effect here: it counts only where {where}.", name=name, shown=shown, where=where)


def _in_words(name: str, wanted: Collection[str] | bool) -> str:
    if isinstance(wanted, bool):
        return tr("{name} is given", name=name) if wanted else tr("{name} is not given", name=name)
    return tr("{name} is {words}", name=name, words=one_of(tr("“{word}”", word=word) for word in wanted))


def of_approaches(number: str = "SITE_NUMBER", location: str = "SITE_LOCATION", how: str = "AGGREGATION") -> Conditions:
    """For which approaches their settings count; number, location, how : the parameters that choose them."""
    of_number = ("gaps_region", "log_base", "cutoff", "n_sites", "budget", "fair")
    return {
        **{setting.upper(): [{number: using_setting(SITE_NUMBERS, setting)}] for setting in of_number},
        "GAPS_COEFFICIENT": [{"GAPS_REGION": [GAPS_CUSTOM]}],
        "GAPS_EXPONENT": [{"GAPS_REGION": [GAPS_CUSTOM]}],
        location: [{how: [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]}],
        "START": [{location: using_setting(SITE_LOCATIONS, "start")}],
        "SEED": [
            {
                location: using_setting(SITE_LOCATIONS, "seed"),
                "START": using_setting(SITE_LOCATIONS, "seed"),
                how: using_setting(AGGREGATIONS, "seed"),
            }
        ],
        "CAPACITY_FACTOR": [{how: using_setting(AGGREGATIONS, "capacity_factor")}],
        "FLOOR": [{how: using_setting(AGGREGATIONS, "floor")}],
    }


def with_combination() -> Conditions:
    """The same where COMBINATION may choose the approaches: single choices count for `custom` only."""
    single = of_approaches()
    chosen = ("SITE_NUMBER", "SITE_LOCATION", "AGGREGATION", "CAPACITY_FACTOR", "FLOOR")
    return {**single, **{name: [{"COMBINATION": [CUSTOM]}, *single.get(name, ())] for name in chosen}}


def of_settings() -> Conditions:
    """Where the settings of a release count, as its form has them, but for those of its outputs."""
    coarser: Condition = {
        **dict.fromkeys(("GENERALISE", "REGISTER", "PUBLISHED_COUNTS", "LEVELS_COARSER"), GIVEN),
        "RELEASE": [ONE_LEVEL],
    }
    beside: Condition = {
        **_NESTED,
        **dict.fromkeys(("PUBLISHED_MARGINS", "PUBLISHED_COUNTS"), GIVEN),
        "REGISTER_ACTION": [REPAIR],
    }
    of_levels = ("LEVEL_FIELDS", "LOSS", "LEVELS_COARSER", "DISCLOSURE", "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE")
    return {
        **with_combination(),
        **{name: [_NESTED] for name in of_levels},
        **{name: [_NESTED, {"LEVEL_FIELDS": NOT_GIVEN}] for name in ("FINEST", "COARSEST", "RATIO")},
        "CLOSED_BY_CHANCE": [_NESTED, {"DISCLOSURE": [NO_SMALL_COUNT]}],
        **{name: [{"SENSITIVE": GIVEN}] for name in ("L_DIVERSITY", "MAX_SHARE")},
        "PERIODS": [{"PERIOD": GIVEN}],
        **{name: [coarser] for name in ("HIERARCHIES", "HIERARCHY_RULES")},
        **{name: [{"REGISTER": GIVEN}] for name in ("REGISTER_ACTION", "ALIASES", "SERIES")},
        **{name: [{"PUBLISHED_COUNTS": GIVEN}] for name in ("PUBLISHED_AREA", "PUBLISHED_NUMBER")},
        "TIES": [beside],
    }


def conditions_of(*names: str) -> Conditions:
    """Where some settings of a release count."""
    every = of_settings()
    return {name: every[name] for name in names}
