"""What may be said of a release beside its rows: settings, and no number that a suppressed record had a part in."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping
from datetime import datetime, timezone

from ..configuration import CUSTOM
from ..language import all_of, tr
from ..package.descriptor import Said
from ..version import commit, version
from .job import Job
from .settings import FIELDS, SETTINGS

# Settings that may be said. All others are kept back: the seed and earlier releases; what the number of regions was
# reckoned from (with the cut-off it gives away how many records there were, and so how many are missing); and the names
# of tables that are not published.
MAY_BE_SAID = (
    *("REGIONS", "REGION_ID", "POPULATION", "AREA_POINT", "QUASI_IDENTIFIERS", "PERIOD", "KEEP_FIELDS", "K"),
    *("PERIODS", "RELEASE"),
    *(
        "SITE_LOCATION",
        "START",
        "AGGREGATION",
        "CAPACITY_FACTOR",
        "FINEST",
        "COARSEST",
        "RATIO",
        "LEVEL_FIELDS",
        "LOSS",
        "LEVELS_COARSER",
        "DISCLOSURE",
        "CLOSED_BY_CHANCE",
        "LEAST_LEFT_AREAS",
        "LEAST_LEFT_PEOPLE",
    ),
    *("PERSON_ID", "HOUSEHOLD_ID", "SENSITIVE", "L_DIVERSITY", "MAX_SHARE", "PUBLISHED_MARGINS"),
)
# Where people are counted from the records, a region with fewer released records than these ask for has lost the rest.
SAID_WITH_POPULATION = ("FLOOR", "LEAST_POPULATION", "RULE")
# What an input is called, or where it is, is not said outside.
INPUTS = ("REGIONS",)


def said_of(job: Job) -> tuple[str, ...]:
    """The settings that may be said of this run."""
    return (*MAY_BE_SAID, *SAID_WITH_POPULATION) if job.given("POPULATION") else MAY_BE_SAID


def what_is_said(job: Job, algorithm: str, values: Mapping[str, object], licence: str, register: str) -> Said:
    """What a release's folder says of the run that made it.

    values : of the settings that may be said, by name; register : the name of the release there, empty for none
    """
    settings = {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in values.items()}
    typed = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    of_fields = [name for name in typed if name in SETTINGS and SETTINGS[name].kind == FIELDS]
    typed |= {name: ";".join(job.several(name)) for name in of_fields}  # people read commas
    if job.has("COMBINATION") and {"SITE_LOCATION", "AGGREGATION"} & typed.keys():
        typed["COMBINATION"] = CUSTOM  # by which they count
    words = [shlex.quote(f"{name}={value}") for name, value in typed.items()]
    return Said(
        version=version(),
        commit=commit(),
        time=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        algorithm=algorithm,
        settings=settings,
        command=" ".join(["qgis_process", "run", algorithm, "--", *words]),
        licence=licence.strip(),
        rule=str(values.get("RULE", "")),
        register=register,
    )


INDEPENDENT = tr("The method that drew the regions does not look at the classes of the suppressed records.")
COUNTS_VALUES = tr(
    "The method that drew the regions does not look at the classes of the suppressed records, but how many regions "
    "there are depends on how many values k records and more have, suppressed ones among them."
)


def crosswalk_sentence(job: Job, looking: Collection[str], counts_values: bool = False) -> str:
    """One sentence; a warning in the log, too, where a register or a rule asks for a crosswalk that does not depend.

    looking : the approaches in use that look at the classes of suppressed records; counts_values : whether the number
    of regions depends on how many values k records have
    """
    if not looking:
        return COUNTS_VALUES if counts_values else INDEPENDENT
    names = all_of(tr("“{name}”", name=name) for name in looking)
    sentence = tr(
        "The crosswalk depends on the classes of suppressed records ({names}): who knows the method and nearly all "
        "records can tell some of them from it.",
        names=names,
    )
    why = tr("REGISTER is given") if job.given("REGISTER") else ""
    why = tr("a RULE is followed") if job.follows_rule else why
    if why:
        job.warn(
            tr(
                "{names} makes the crosswalk depend on the classes of suppressed records, and {why}: the combination "
                "“all-rounder” makes one that does not.",
                names=names,
                why=why,
            )
        )
    return sentence
