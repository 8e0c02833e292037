"""The levels: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.areas import Areas
from ...core.configuration import Configuration
from ...core.crosswalk import Crosswalk
from ...core.levels import Levels, levels_from_fields
from ...core.nesting.losses import LOSSES
from ...core.nesting.making import SMALLEST_RATIO, LevelOptions, build_levels
from ...core.profile import Profile
from ...core.progress import Progress
from ..form.approaches import sentences
from ..form.areas import values_of
from ..form.effective import NOT_GIVEN, Condition, Counts
from ..form.form import Form
from ..form.parameters import choice, field, number, whole

ONE_LEVEL, NESTED = "one level", "nested levels"
AREAS, CONFIGURATION = "areas", "configuration"


def release_kind() -> QgsProcessingParameterDefinition:
    """RELEASE."""
    return choice(
        "RELEASE",
        "Release",
        (ONE_LEVEL, NESTED),
        ONE_LEVEL,
        f"“{ONE_LEVEL}”: as published, every record shows one region of one set of regions; what is too rare "
        f"there is suppressed. “{NESTED}”: regions within larger regions, and each record shows the smallest one in "
        "which k people hide it, so that nearly nothing is suppressed and common records keep fine geography. Choose "
        "it where your researchers can work with regions of several sizes (vbas_level, 1 is the finest).",
    )


def level_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """FINEST, COARSEST, RATIO, LEVEL_FIELDS, LEAST_POPULATION."""
    yield choice(
        "FINEST",
        "Finest level",
        (AREAS, CONFIGURATION),
        AREAS,
        f"Nested levels: “{AREAS}” starts from the areas themselves, “{CONFIGURATION}” from the regions of the chosen "
        "combination, where the areas must not be shown.",
        advanced=True,
    )
    yield whole(
        "COARSEST",
        "Regions of the coarsest level",
        1,
        "Nested levels: what is rare everywhere is shown there.",
        1,
        advanced=True,
    )
    yield number(
        "RATIO",
        "Regions of a level per region of the next",
        2.0,
        f"Nested levels: from {SMALLEST_RATIO:g}; with 2 each level has half as many regions as the one before. More "
        "levels show records more finely.",
        SMALLEST_RATIO,
        advanced=True,
    )
    yield field(
        "LEVEL_FIELDS",
        "Levels from fields of the areas, finest first",
        "REGIONS",
        "Nested levels: an official hierarchy, such as tract, municipality, province, in place of levels made by the "
        "chosen combination. Each unit must lie in one unit of the next field. To begin with the areas themselves, "
        "name their identifier first.",
        several=True,
        optional=True,
        advanced=True,
    )
    yield least_population()


def least_population() -> QgsProcessingParameterDefinition:
    """LEAST_POPULATION."""
    return number(
        "LEAST_POPULATION",
        "Least population of a region",
        0.0,
        "Nested levels: some rules ask for it, such as 20 000. Regions of the finest level are joined until each has "
        "as many people; units of LEVEL_FIELDS that have fewer show nothing. 0 asks for none.",
        0.0,
        advanced=True,
    )


def loss() -> QgsProcessingParameterDefinition:
    """LOSS."""
    text = f"Nested levels: what is kept small, once as little as possible is suppressed. {sentences(LOSSES)}"
    return choice("LOSS", "What a larger region loses", LOSSES, "mean distance", text, advanced=True)


def counts() -> Counts:
    """Where these parameters have an effect, with RELEASE."""
    nested: Condition = {"RELEASE": [NESTED]}
    always = ((name, [nested]) for name in ("LEVEL_FIELDS", "LEAST_POPULATION", "LOSS"))
    made = ((name, [nested, {"LEVEL_FIELDS": NOT_GIVEN}]) for name in ("FINEST", "COARSEST", "RATIO"))
    return dict((*always, *made))


def levels_of(
    form: Form,
    areas: Areas,
    profile: Profile,
    configuration: Configuration,
    finest: Crosswalk | None,
    progress: Progress,
) -> Levels:
    """The levels: from fields, or made from the areas up; finest : the crosswalk of the configuration if that is it."""
    fields = form.field_names("LEVEL_FIELDS")
    if fields:
        values = [values_of(form, "REGIONS", name) for name in fields]
        return levels_from_fields(areas, fields, values)
    options = LevelOptions(
        form.whole("COARSEST"),
        form.number("RATIO"),
        form.number("LEAST_POPULATION"),
        configuration.site_location or LevelOptions.site_location,
        configuration.aggregation,
        configuration.location_options,
        configuration.aggregation_options,
    )
    return build_levels(areas, profile, finest, options, progress)
