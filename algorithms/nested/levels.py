"""The levels of a nested release, and those that show quasi-identifiers coarser: declared, read, and released."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.aggregation import APPROACHES, AggregationOptions
from ...core.areas import Areas
from ...core.errors import InputError
from ...core.job.generalising import asks_for_coarser
from ...core.job.levels import level_options_of, levels_of
from ...core.job.making import aggregations_of
from ...core.job.values import AREAS, CONFIGURATION, NESTED, ONE_LEVEL
from ...core.language import tr
from ...core.levels import Levels, make_levels, own_regions, with_least_population, without_last_repeats
from ...core.nesting.holding import Counted, joined_until_held
from ...core.nesting.losses import LOSSES
from ...core.nesting.making import build_levels
from ...core.parameters import COARSEST, LEAST_POPULATION, RATIO
from ...core.profile import Profile
from ...core.scientific import sparse
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ..form.approaches import sentences
from ..form.areas import with_neighbours
from ..form.effective import GIVEN, Conditions
from ..form.form import FormJob
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.parameters import bounded, choice, described, field
from ..form.records import populated, populated_by_records, records_of
from ..form.regions import levels_of_crosswalk
from ..layers.reading.crosswalks import read_crosswalk
from ..layers.shapes.areas import AreaLayer
from .holding import holding_of

# An exchange is free in the number of regions, which levels are not.
AGGREGATIONS = {name: approach for name, approach in APPROACHES.items() if not approach.starts_from}
# The numbers that nested releases have beside those of one level.
NUMBERS = {
    "N_LEVELS": tr("Levels"),
    "MEAN_DISTANCE": tr("Mean distance of the people of a record's region from its middle, metres"),
}


def release_kind() -> QgsProcessingParameterDefinition:
    """RELEASE."""
    return choice(
        "RELEASE",
        tr("Region sizes (one size, several sizes)"),
        (ONE_LEVEL, NESTED),
        ONE_LEVEL,
        tr(
            "“{one_level}”: as published, every record shows one region of one set of regions; what is too "
            "rare there is suppressed. “{nested}”: regions within larger regions, and each record shows the "
            "smallest one in which k people hide it, so that nearly nothing is suppressed and common records "
            "keep fine geography. Choose it where your researchers can work with regions of several sizes "
            "(vbas_level, 1 is the finest).",
            one_level=ONE_LEVEL,
            nested=NESTED,
        ),
    )


def level_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """FINEST, COARSEST, RATIO, LEVEL_FIELDS."""
    yield choice(
        "FINEST",
        tr("Finest level"),
        (AREAS, CONFIGURATION),
        AREAS,
        tr(
            "Nested levels: “{areas}” starts from the areas themselves, “{configuration}” from the regions of "
            "the chosen combination, where the areas must not be shown.",
            areas=AREAS,
            configuration=CONFIGURATION,
        ),
        advanced=True,
    )
    yield bounded(
        COARSEST,
        tr("Regions of the coarsest level"),
        tr("Nested levels: what is rare everywhere is shown there."),
        advanced=True,
    )
    yield bounded(
        RATIO,
        tr("Regions merged per level (2 = halve each time)"),
        tr(
            "Nested levels: from {smallest_ratio:g}; with 2 each level has half as many regions as the one "
            "before. More levels show records more finely.",
            smallest_ratio=RATIO.least,
        ),
        advanced=True,
    )
    yield field(
        "LEVEL_FIELDS",
        tr("Levels from fields of the areas, finest first"),
        "REGIONS",
        tr(
            "Nested levels: an official hierarchy, such as tract, municipality, province, in place of levels "
            "made by the chosen combination. Each unit must lie in one unit of the next field. To begin with "
            "the areas themselves, name their identifier first."
        ),
        several=True,
        optional=True,
        advanced=True,
    )


def least_population() -> QgsProcessingParameterDefinition:
    """LEAST_POPULATION, which counts with one level too."""
    return bounded(
        LEAST_POPULATION,
        tr("Least population of a region (some rules ask for one)"),
        tr(
            "Some rules ask for it, such as 20 000. Regions that have fewer are joined until each has as many "
            "people; with nested levels those of the finest level, and units of LEVEL_FIELDS with the nearest "
            "one in the same unit of the next field. 0 asks for none."
        ),
        advanced=True,
    )


def loss() -> QgsProcessingParameterDefinition:
    """LOSS."""
    text = tr(
        "Nested levels: what is kept small, once as little as possible is suppressed. {sentences}",
        sentences=sentences(LOSSES),
    )
    return choice("LOSS", tr("Measure of loss"), LOSSES, "mean distance", text, advanced=True)


def layer_for_levels(job: FormJob, layer: AreaLayer, aggregation: str) -> AreaLayer:
    """The areas, with their neighbours where a least population or the aggregation needs them."""
    return with_neighbours(job, layer, aggregations_of(job, aggregation))


def areas_and_profile(job: FormJob, layer: AreaLayer) -> tuple[Areas, Profile]:
    """The areas with their population; the classes of the records where they are given, else one class for all."""
    if job.given("RECORDS") and job.given("QUASI_IDENTIFIERS"):
        records = records_of(job, layer.areas, None)
        return populated(layer, records), records.profile
    location = job.text("SITE_LOCATION")
    if "k" in SITE_LOCATIONS[location].settings and not job.given("LEVEL_FIELDS"):
        raise InputError.saying(
            "SITE_LOCATION “{location}” looks at classes: give RECORDS and QUASI_IDENTIFIERS.", location=location
        )
    areas = populated_by_records(job, layer)
    people = sparse.csr_matrix(np.ceil(areas.population).astype(np.int64)[:, None])
    return areas, Profile(people, np.zeros((1, 0), np.int64), (), ())


def made_levels(job: FormJob, areas: Areas, profile: Profile, tables: Sequence[Counted] = ()) -> Levels:
    """The levels of `vbas:nestlevels`: from crosswalks, from fields, or from the areas up; tables : that regions made
    here are to hold for."""
    sources = [] if job.given("LEVEL_FIELDS") else job.layers.sources("CROSSWALKS")
    crosswalks = [read_crosswalk(source, "", areas, job.layers.feedback)[1] for source in sources]
    if len(crosswalks) > 1:
        titles = [tr("crosswalk {i}", i=i + 1) for i in range(len(crosswalks))]
        levels = make_levels(areas, crosswalks, titles=titles)
        return with_least_population(areas, levels, job.number("LEAST_POPULATION"))
    finest = crosswalks[0] if crosswalks else None
    location, aggregation = job.text("SITE_LOCATION"), job.text("AGGREGATION")
    options = level_options_of(job, location, aggregation, AggregationOptions(job.number("CAPACITY_FACTOR")))

    def made() -> Levels:
        held = finest
        if tables:
            own = own_regions(len(areas)) if finest is None else finest
            held = joined_until_held(areas, tables, own, holding_of(job), job.progress(10, 20))
        return build_levels(areas, profile, held, options, job.progress(20, 60))

    return levels_of(job, areas, made)


LEVELS_COARSER = "LEVELS_COARSER"


def levels_coarser() -> QgsProcessingParameterDefinition:
    """LEVELS_COARSER."""
    return described(
        QgsProcessingParameterMatrix(
            LEVELS_COARSER,
            tr("Levels that show coarser values, in this order"),
            headers=[tr("Quasi-identifier"), tr("Level")],
        ),
        tr(
            "Nested levels: what is too rare in the largest regions is suppressed; with this table it is "
            "shown with coarser values instead. Each row adds one more level above the largest regions, and "
            "keeps what the rows before it made coarser: age, 1 and then sex, 1 adds a level of wider ages, "
            "and one of wider ages without sex. A record is shown coarser only where it would be suppressed "
            "else, or keeps others company. The coarser values are those of the two parameters “Coarser "
            "values”; a field of which some rows show coarser values is text. On the command line as a list, "
            "field and level in turn. Over a crosswalk the levels are added to those that it has; where these "
            "repeat the largest regions, as in the crosswalk of such a release, they are the same. “Evaluate "
            "regions” and the models do not take it. Not together with earlier releases (REGISTER)."
        ),
        advanced=True,
        optional=True,
    )


def with_levels_coarser(conditions: Conditions) -> Conditions:
    """Where parameters count in a form that adds such levels to a crosswalk: what coarser values are, for them too."""
    related = {name: [{**condition, LEVELS_COARSER: GIVEN} for condition in conditions[name]] for name in GENERALISING}
    return {**conditions, **related}


def levels_to_show(job: FormJob, areas: Areas | None = None) -> tuple[Areas, Levels]:
    """The levels of CROSSWALK, as `levels_of_crosswalk`; where LEVELS_COARSER adds its own, those of regions alone."""
    areas, levels = levels_of_crosswalk(job, areas)
    return areas, without_last_repeats(levels) if asks_for_coarser(job) else levels
