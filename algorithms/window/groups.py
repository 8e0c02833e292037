"""Which fields of a form are seen at once, and in which group the others fold.

A group is known by the names of its parameters, which are the same in all forms. An advanced parameter that is named
here nowhere, or that would be alone in its group, stays under QGIS's own heading. No form shows more than MOST_FIELDS.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ...core.dataclass import dataclass
from ...core.language import tr

MOST_FIELDS = 12
SETTINGS = "settings"
OUTPUTS = "outputs"


@dataclass(frozen=True)
class Fold:
    """A group that folds: its title, the parameters in it, and whether it stands among settings or outputs."""

    title: str
    names: tuple[str, ...]
    place: str = SETTINGS


FOLDS = (
    Fold(tr("Areas and records"), ("AREA_POINT", "RECORD_COUNT", "UNMATCHED", "FILTER")),
    Fold(tr("Several periods"), ("PERIOD", "PERIODS")),
    Fold(tr("Coarser values"), ("GENERALISE", "HIERARCHIES", "HIERARCHY_RULES")),
    Fold(tr("Rule and additional fields"), ("RULE", "KEEP_FIELDS")),
    Fold(
        tr("Persons and sensitive data"),
        ("PERSON_ID", "HOUSEHOLD_ID", "SENSITIVE", "L_DIVERSITY", "MAX_SHARE"),
    ),
    Fold(
        tr("Published elsewhere"),
        ("PUBLISHED_MARGINS", "PUBLISHED_COUNTS", "PUBLISHED_AREA", "PUBLISHED_NUMBER"),
    ),
    Fold(
        tr("Linked tables"),
        (
            *("LINKED_TABLES", "KEY", "LINKED_KNOWN", "ROWS_KNOWN", "LINKED_KEEP", "LINKED_SENSITIVE", "COUNT_KNOWN"),
            *("NEW_KEY", "LINKED_K", "LINKED_KEYS"),
        ),
    ),
    Fold(tr("Earlier releases"), ("REGISTER", "REGISTER_ACTION", "ALIASES", "SERIES", "UPDATE", "ENTRY", "FOLLOWED")),
    Fold(
        tr("Nested levels"),
        (
            "DISCLOSURE",
            "CLOSED_BY_CHANCE",
            "LEAST_LEFT_AREAS",
            "LEAST_LEFT_PEOPLE",
            "FINEST",
            "COARSEST",
            "RATIO",
            "LEVEL_FIELDS",
            "LOSS",
            "LEVELS_COARSER",
        ),
    ),
    Fold(
        tr("Method in detail"),
        (
            "LEAST_POPULATION",
            "SITE_NUMBER",
            "GAPS_REGION",
            "GAPS_COEFFICIENT",
            "GAPS_EXPONENT",
            "LOG_BASE",
            "CUTOFF",
            "BUDGET",
            "FAIR",
            "N_SITES",
            "SITE_LOCATION",
            "START",
            "AGGREGATION",
            "CAPACITY_FACTOR",
            "FLOOR",
        ),
    ),
    Fold(tr("Table of people by area"), ("MARGINS", "MARGIN_AREA", "MARGIN_FIELDS", "MARGIN_COUNT", "MARGINS_DIFFER")),
    Fold(tr("Scenarios"), ("SCENARIOS", "LEAST_ATTRIBUTES", "MOST_ATTRIBUTES", "PART_FIELD")),
    Fold(
        tr("Planted clusters"),
        ("PLANTED_CLUSTERS", "CLUSTER_CASES", "CLUSTER_RISK", "CLUSTER_PERCENT", "FIND_CLUSTERS"),
    ),
    Fold(tr("Chance"), ("SEED", "TIES")),
    Fold(tr("Release as a folder"), ("RELEASE_FOLDER", "FOLDER_FORMAT", "LICENCE"), OUTPUTS),
    Fold(tr("Page to sign"), ("RECIPIENT", "PURPOSE", "PREPARED_BY", "SIGN_PAGE"), OUTPUTS),
)
FURTHER_OUTPUTS, FURTHER_SETTINGS = tr("Further outputs"), tr("Further settings")
# Which outputs fold, the first first, where a form would show too many fields.
LESS_ASKED_FOR = (
    *("JOB_FILE", "SITE_POINTS", "VORONOI", "REGION_AUDIT", "RELEASE_REPORT", "PROFILE", "CROSSWALK"),
    *("SCENARIO_AVERAGES", "AUDIT", "DETAIL", "PINNED"),
)
# Which settings fold, the first first, where a form would show too many fields still: those that have a proposal.
LESS_OFTEN_SET = (
    *("LOG_BASE", "GAPS_EXPONENT", "GAPS_COEFFICIENT", "CROSSWALK_ID", "EXPOSURE_FIELDS", "NEIGHBOURS", "CELL_SIZE"),
    *("ROWS_KNOWN", "LINKED_KEEP", "BASELINES", "BUDGETS", "ADJUST", "SMOOTHING", "MODEL", "HOUSEHOLDS", "K_MIN"),
    *("WHO", "APPROVE", "REMOVE_POINTS", "NEVER_PUBLISHED", "NEIGHBOUR", "PUBLISHED", "SCHEMA", "KEEP_FIELDS"),
    *("SITE_NUMBERS", "NESTED", "RELEASE", "COMBINATION", "POPULATION"),
)


@dataclass(frozen=True)
class Parameter:
    """What of a parameter decides where it is seen."""

    name: str
    advanced: bool
    destination: bool


def folded(parameters: Sequence[Parameter]) -> list[Fold]:
    """The groups that fold, with the parameters that a form has of each; those that are in none are seen at once.

    An output folds with what is set of it; where more than MOST_FIELDS would be seen, further outputs and then settings
    fold that are less asked for.
    """
    foldable = {p.name: p for p in parameters if p.advanced or p.destination}
    groups = [Fold(fold.title, _of(fold.names, foldable), fold.place) for fold in FOLDS]
    # One field alone is no group: it would be hidden behind another line of the same height.
    groups = [group for group in groups if len(group.names) > 1]
    further = _too_many(parameters, LESS_ASKED_FOR, True, {name for group in groups for name in group.names}, 1)
    if further:
        groups.append(Fold(FURTHER_OUTPUTS, further, OUTPUTS))
    settings = _too_many(parameters, LESS_OFTEN_SET, False, {name for group in groups for name in group.names}, 2)
    if settings:
        groups.insert(0, Fold(FURTHER_SETTINGS, settings))
    return groups


def _of(names: Iterable[str], foldable: Mapping[str, Parameter]) -> tuple[str, ...]:
    return tuple(name for name in names if name in foldable)


def _too_many(
    parameters: Iterable[Parameter], less: Sequence[str], outputs: bool, grouped: Collection[str], least: int
) -> tuple[str, ...]:
    """What to fold so that at most MOST_FIELDS fields are seen, in the order of the form; least : if any, so many.

    less : the names that may fold, the first first; outputs : whether of outputs, or of settings
    """
    seen = [p.name for p in parameters if not p.advanced and p.name not in grouped]
    of_kind = {p.name for p in parameters if p.destination == outputs}
    # Outputs of a model have the name of their step before their own.
    by_name = {name.rpartition(":")[2]: name for name in reversed(seen) if name in of_kind}
    candidates = [by_name[name] for name in less if name in by_name]
    too_many = len(seen) - MOST_FIELDS
    folding = candidates[: max(too_many, least)] if too_many > 0 else []
    return tuple(name for name in seen if name in folding)
