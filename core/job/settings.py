"""The settings of a job: the parameters of the form `vbas:anonymize`, by name, with their kinds, defaults and bounds.

A test holds them against the form. In the library they are keywords, in lower case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .. import parameters
from ..aggregation import APPROACHES as AGGREGATIONS
from ..configuration import CUSTOM, RECOMMENDED
from ..dataclass import dataclass
from ..errors import InputError
from ..nesting.losses import LOSSES, MEAN_DISTANCE
from ..package.writing import CSV, FORMATS
from ..privacy.derivable import CLASS_HAS_K, DISCLOSURES
from ..privacy.rules import NO_RULE
from ..privacy.series import PERIODS, THE_SAME
from ..records.matching import STOP, UNMATCHED
from ..releases.earlier import ACTIONS
from ..releases.earlier import STOP as STOP_BESIDE_EARLIER
from ..site_location import APPROACHES as SITE_LOCATIONS
from ..site_number import APPROACHES as SITE_NUMBERS
from ..site_number.cutoff import GAPS_REGIONS
from ..ties import CHOICES, FIXED
from .values import AREA_POINTS, AREAS, CENTROID, CONFIGURATION, NESTED, ONE_LEVEL, choice_of, nearest, number_of, some

WHOLE, NUMBER, TEXT, CHOICE, FIELD, FIELDS, ROWS, TABLE, FILE = (
    *("whole", "number", "text", "choice", "field", "fields", "rows", "table", "file"),
)
ANY_RULE: tuple[str, ...] = ()  # the rules are those of files: which there are is known when one is followed


@dataclass(frozen=True)
class Setting:
    """A parameter of a job.

    default : None where nothing is given; choices : the words of a choice; least, most : of a number; table : the
    parameter that gives the table of a field; needed : whether a job must give it
    """

    name: str
    kind: str
    default: object = None
    choices: tuple[str, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    table: str = ""
    needed: bool = False

    @property
    def keyword(self) -> str:
        """What it is called in the library."""
        return self.name.lower()


def _choice(name: str, options: Sequence[str] | Mapping[str, object], default: str) -> Setting:
    return Setting(name, CHOICE, default, tuple(options))


def _number(of: parameters.Number) -> Setting:
    return Setting(of.name, WHOLE if of.whole else NUMBER, of.default, least=of.least, most=of.most)


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("REGIONS", TABLE, needed=True),
        Setting("REGION_ID", FIELD, table="REGIONS", needed=True),
        Setting("POPULATION", FIELD, table="REGIONS"),
        _choice("AREA_POINT", AREA_POINTS, CENTROID),
        Setting("RECORDS", TABLE, needed=True),
        Setting("RECORD_REGION", FIELD, table="RECORDS", needed=True),
        Setting("QUASI_IDENTIFIERS", FIELDS, table="RECORDS", needed=True),
        Setting("PERIOD", FIELD, table="RECORDS"),
        Setting("RECORD_COUNT", FIELD, table="RECORDS"),
        Setting("GENERALISE", ROWS),
        Setting("HIERARCHIES", TABLE),
        Setting("HIERARCHY_RULES", ROWS),
        _number(parameters.K),
        _choice("PERIODS", PERIODS, THE_SAME),
        _choice("COMBINATION", [*RECOMMENDED, CUSTOM], "all-rounder"),
        _choice("RELEASE", (ONE_LEVEL, NESTED), ONE_LEVEL),
        Setting("RULE", CHOICE, NO_RULE, ANY_RULE),
        Setting("KEEP_FIELDS", FIELDS, table="RECORDS"),
        Setting("PERSON_ID", FIELD, table="RECORDS"),
        Setting("HOUSEHOLD_ID", FIELD, table="RECORDS"),
        Setting("SENSITIVE", FIELDS, table="RECORDS"),
        _number(parameters.L_DIVERSITY),
        _number(parameters.MAX_SHARE),
        Setting("PUBLISHED_MARGINS", TEXT, ""),
        Setting("PUBLISHED_COUNTS", TABLE),
        Setting("PUBLISHED_AREA", FIELD, table="PUBLISHED_COUNTS"),
        Setting("PUBLISHED_NUMBER", FIELD, table="PUBLISHED_COUNTS"),
        _choice("UNMATCHED", UNMATCHED, STOP),
        _choice("SITE_NUMBER", SITE_NUMBERS, "max combinations"),
        _choice("GAPS_REGION", GAPS_REGIONS, "from the identifiers"),
        Setting("GAPS_COEFFICIENT", NUMBER, 1588.0),
        Setting("GAPS_EXPONENT", NUMBER, 0.42),
        Setting("LOG_BASE", NUMBER, 0.0),
        Setting("CUTOFF", NUMBER, 70_000.0),
        _number(parameters.BUDGET),
        Setting("FAIR", FIELDS, table="RECORDS"),
        Setting("N_SITES", WHOLE, 10),
        _choice("SITE_LOCATION", SITE_LOCATIONS, "balanced density"),
        _choice("START", SITE_LOCATIONS, "balanced density"),
        _choice("AGGREGATION", AGGREGATIONS, "iterative Voronoi"),
        Setting("CAPACITY_FACTOR", NUMBER, 0.0, least=0.0),
        _number(parameters.FLOOR),
        _number(parameters.LEAST_POPULATION),
        _choice("DISCLOSURE", DISCLOSURES, CLASS_HAS_K),
        _number(parameters.CLOSED_BY_CHANCE),
        _number(parameters.LEAST_LEFT_AREAS),
        _number(parameters.LEAST_LEFT_PEOPLE),
        _choice("FINEST", (AREAS, CONFIGURATION), AREAS),
        _number(parameters.COARSEST),
        _number(parameters.RATIO),
        Setting("LEVEL_FIELDS", FIELDS, table="REGIONS"),
        _choice("LOSS", LOSSES, MEAN_DISTANCE),
        Setting("LEVELS_COARSER", ROWS),
        _number(parameters.SEED),
        Setting("REGISTER", FILE),
        _choice("REGISTER_ACTION", ACTIONS, STOP_BESIDE_EARLIER),
        Setting("ALIASES", ROWS),
        Setting("SERIES", TEXT),
        _choice("TIES", CHOICES, FIXED),
        _choice("FOLDER_FORMAT", FORMATS, CSV),
        Setting("LICENCE", TEXT),
        Setting("RECIPIENT", TEXT),
        Setting("PURPOSE", TEXT),
        Setting("PREPARED_BY", TEXT),
    )
}


def is_blank(value: object) -> bool:
    """Whether a value says nothing: None, an empty text, an empty list."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, (list, tuple, dict)) and not len(value))


def refuse_unknown(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise InputError for names that are no setting of a job, with the nearest that are."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return
    near = nearest(unknown, known)
    if near:
        raise InputError.counting(
            "{unknown} is no setting: did you mean {near}?",
            "{unknown} are no settings: did you mean {near}?",
            len(unknown),
            unknown=some(unknown),
            near=some(list(dict.fromkeys(near))),
        )
    raise InputError.counting(
        "{unknown} is no setting, and none is called nearly so: {page} lists them.",
        "{unknown} are no settings, and none are called nearly so: {page} lists them.",
        len(unknown),
        unknown=some(unknown),
        page="docs/library.md",
    )


def by_name(keywords: Mapping[str, object], always: Sequence[str] = ()) -> dict[str, object]:
    """The settings that keywords of the library give, by name, without those that are at their default.

    always : names of those that count at their default too
    """
    return {
        name: value
        for name, setting in SETTINGS.items()
        for value in [keywords.get(setting.keyword)]
        if value is not None
        and not (setting.kind != TABLE and name not in always and _is_equal(value, setting.default))
    }


def _is_equal(value: object, default: object) -> bool:
    """Whether two values are equal; those that nobody can compare as a whole, such as arrays, are not."""
    try:
        return bool(value == default)
    except (TypeError, ValueError):
        return False


def refuse_unknown_keywords(keywords: Sequence[str], *other: str) -> None:
    """Raise InputError for keywords that are no setting, or that are given otherwise; other : names of the latter"""
    refuse_unknown(keywords, [setting.keyword for name, setting in SETTINGS.items() if name not in other])


def understood(inputs: Mapping[str, object]) -> dict[str, object]:
    """The values of settings by name, those that say nothing left out; raises InputError for values that are none.

    inputs : by name; tables are taken as they are
    """
    values = {}
    for name, value in inputs.items():
        setting = SETTINGS[name]
        if setting.kind == TABLE:
            if value is not None:
                values[name] = value
        elif not is_blank(value):
            values[name] = _understood(setting, value)
    return values


def _understood(setting: Setting, value: object) -> object:
    if setting.kind in (WHOLE, NUMBER):
        return number_of(setting.name, value, setting.kind == WHOLE, setting.least, setting.most)
    if setting.kind == CHOICE:
        return choice_of(setting.name, value, setting.choices) if setting.choices else str(value).strip()
    if setting.kind == ROWS:
        return _cells(setting.name, value)
    if setting.kind == FIELDS:
        names = value.split(";") if isinstance(value, str) else getattr(value, "tolist", lambda: value)()
        if not isinstance(names, (list, tuple)):
            raise InputError.saying("{name}: give the names of fields as a list.", name=setting.name)
        return [str(name) for name in names if not is_blank(name)]
    if isinstance(value, (list, tuple, dict)):
        raise InputError.saying("{name} takes one value, and several are given.", name=setting.name)
    return str(value)


def _cells(name: str, value: object) -> list[object]:
    """Rows of two as the list of their cells: given as a mapping, as pairs, or cell by cell."""
    if isinstance(value, Mapping):
        return [cell for pair in value.items() for cell in pair]
    if not isinstance(value, (list, tuple)):
        return [cell.strip() for cell in str(value).split(",")]
    if all(isinstance(row, (list, tuple)) for row in value):
        if any(len(row) != 2 for row in value):
            raise InputError.saying("{name}: each row has two cells.", name=name)
        return [cell for row in value for cell in row]
    return list(value)
