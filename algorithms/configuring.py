"""The parameters that choose and tune the approaches, shared by the main algorithm and the single steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qgis.core import (
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterNumber,
)

from ..core.approach import Approach
from .base import VbasAlgorithm
from .effective import Counts
from .parameters import INTEGER, REAL, choice, described


def sentences(approaches: Mapping[str, Approach[object]]) -> str:
    """What each approach does, for the help of a choice among them."""
    return " ".join(f"“{name}”: {approach.sentence}" for name, approach in approaches.items())


def combination() -> QgsProcessingParameterDefinition:
    """COMBINATION."""
    from ..core.configuration import CUSTOM, RECOMMENDED

    parts = " ".join(
        f"“{name}”: {c.site_number}, {f'{c.site_location}, ' if c.site_location else ''}{c.aggregation}; in the paper "
        f"{c.reason}; in our benchmarks {c.measured} scenarios."
        for name, c in RECOMMENDED.items()
    )
    return choice(
        "COMBINATION",
        "What to favour",
        [*RECOMMENDED, CUSTOM],
        "all-rounder",
        "The combinations of approaches that Croft et al. (2018, Table 4) recommend, by what each favours. "
        f"{parts} “custom”: the approaches chosen below among the advanced parameters, which count for “custom” only.",
    )


def site_number() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBER and what its approaches need."""
    from ..core.site_number import APPROACHES
    from ..core.site_number.gaps import GAPS_REGIONS
    from ..core.site_number.population_cutoff import PUBLISHED_CUTOFFS

    published = ", ".join(f"{name} {number}" for name, number in PUBLISHED_CUTOFFS.items())
    yield choice(
        "SITE_NUMBER",
        "Number of regions",
        APPROACHES,
        "max combinations",
        f"How many regions to aim at. {sentences(APPROACHES)} The published model is by El Emam et al. (2009), as "
        "described by Croft et al. (2018, 2.1). K has no "
        "part in the papers' number of regions: with a larger K more records are suppressed, unless you choose fewer "
        "regions. There is at most one region per area.",
        advanced=True,
    )
    yield choice(
        "GAPS_REGION",
        "Cut-off model",
        GAPS_REGIONS,
        "from the identifiers",
        "For max combinations and entropy: which part of Canada the cut-off model was estimated for. "
        "“from the identifiers” reads Statistics Canada's province code, the first two digits of the areas. Elsewhere "
        "choose the part most like your areas, or “custom”.",
        advanced=True,
    )
    numbers = (
        ("GAPS_COEFFICIENT", "Custom model: coefficient", 1588.0, "People per region = coefficient · X ^ exponent."),
        ("GAPS_EXPONENT", "Custom model: exponent", 0.42, "People per region = coefficient · X ^ exponent."),
        ("LOG_BASE", "Base of the entropy's logarithm", 0.0, "0 is the natural logarithm, which fits the papers."),
        ("CUTOFF", "People per region", 70_000.0, f"For population cut-off. Published: {published}."),
    )
    for name, label, default, text in numbers:
        yield described(QgsProcessingParameterNumber(name, label, type=REAL, defaultValue=default), text, advanced=True)


def n_sites(optional: bool) -> QgsProcessingParameterDefinition:
    """N_SITES: among the advanced ones where only `given number` needs it."""
    return described(
        QgsProcessingParameterNumber(
            "N_SITES", "Given number of regions" if optional else "Number of sites", type=INTEGER, defaultValue=10
        ),
        "From 1 to the number of areas." + (" For “given number”." if optional else ""),
        advanced=optional,
    )


def site_location() -> QgsProcessingParameterDefinition:
    """SITE_LOCATION."""
    from ..core.site_location import APPROACHES

    return choice(
        "SITE_LOCATION",
        "Where the sites go",
        APPROACHES,
        "balanced density",
        f"The points that draw the regions. {sentences(APPROACHES)}",
        advanced=True,
    )


def aggregation() -> QgsProcessingParameterDefinition:
    """AGGREGATION."""
    from ..core.aggregation import APPROACHES

    return choice(
        "AGGREGATION",
        "Which area joins which region",
        APPROACHES,
        "iterative Voronoi",
        sentences(APPROACHES),
        advanced=True,
    )


def capacity_factor(advanced: bool = True) -> QgsProcessingParameterDefinition:
    """CAPACITY_FACTOR."""
    return described(
        QgsProcessingParameterNumber("CAPACITY_FACTOR", "Capacity factor", type=REAL, defaultValue=0.0, minValue=0.0),
        "For the transport heuristics: how far a region may exceed an even share of areas; 1 is an even share, 0 sets "
        "no limit.",
        advanced=advanced,
    )


def floor() -> QgsProcessingParameterDefinition:
    """FLOOR."""
    return described(
        QgsProcessingParameterNumber("FLOOR", "Population floor", type=REAL, defaultValue=0.0, minValue=0.0),
        "For the aggregation “population floor”: the people every region needs. 0 takes the whole population divided "
        "by the number of regions.",
        advanced=True,
    )


def counts(number: str = "SITE_NUMBER", location: str = "SITE_LOCATION", how: str = "AGGREGATION") -> Counts:
    """For which approaches the settings above count; number, location, how : the parameters that choose them."""
    from ..core.aggregation import APPROACHES as AGGREGATIONS
    from ..core.approach import choosing_sites, looking_at
    from ..core.site_location import APPROACHES as SITE_LOCATIONS
    from ..core.site_number import APPROACHES as SITE_NUMBERS
    from ..core.site_number.gaps import CUSTOM

    of_number = ("gaps_region", "log_base", "cutoff", "n_sites")
    return {
        **{setting.upper(): [{number: looking_at(SITE_NUMBERS, setting)}] for setting in of_number},
        "GAPS_COEFFICIENT": [{"GAPS_REGION": [CUSTOM]}],
        "GAPS_EXPONENT": [{"GAPS_REGION": [CUSTOM]}],
        location: [{how: [name for name in AGGREGATIONS if name not in choosing_sites(AGGREGATIONS)]}],
        "SEED": [{location: looking_at(SITE_LOCATIONS, "seed")}],
        "CAPACITY_FACTOR": [{how: looking_at(AGGREGATIONS, "capacity_factor")}],
        "FLOOR": [{how: looking_at(AGGREGATIONS, "floor")}],
    }


def counts_with_combination() -> Counts:
    """The same where COMBINATION may choose the approaches: single choices count for `custom` only."""
    from ..core.configuration import CUSTOM

    single = counts()
    chosen = ("SITE_NUMBER", "SITE_LOCATION", "AGGREGATION", "CAPACITY_FACTOR", "FLOOR")
    return {**single, **{name: [{"COMBINATION": [CUSTOM]}, *single.get(name, ())] for name in chosen}}


def settled_by_combination(
    algorithm: QgsProcessingAlgorithm, parameters: dict[str, object], context: QgsProcessingContext
) -> Mapping[str, object]:
    """The parts of the combination in the place of the single choices; nothing for `custom`."""
    from ..core.aggregation import APPROACHES, AggregationOptions
    from ..core.configuration import RECOMMENDED

    combination = RECOMMENDED.get(algorithm.parameterAsEnumString(parameters, "COMBINATION", context))
    if combination is None:
        return {}
    parts: dict[str, object] = {
        "SITE_NUMBER": combination.site_number,
        "SITE_LOCATION": combination.site_location,
        "AGGREGATION": combination.aggregation,
    }
    if "capacity_factor" in APPROACHES[combination.aggregation].settings:
        parts["CAPACITY_FACTOR"] = AggregationOptions().capacity_factor
    return parts


def aggregation_options_of(algorithm: VbasAlgorithm, parameters: dict[str, object], context: QgsProcessingContext):
    """The settings of the aggregation, read."""
    from ..core.aggregation import AggregationOptions

    return AggregationOptions(
        capacity_factor=algorithm.parameterAsDouble(parameters, "CAPACITY_FACTOR", context),
        floor=algorithm.parameterAsDouble(parameters, "FLOOR", context),
    )


def number_options_of(algorithm: VbasAlgorithm, parameters: dict[str, object], context: QgsProcessingContext):
    """The settings of the site number, read."""
    from ..core.site_number import SiteNumberOptions

    return SiteNumberOptions(
        gaps_region=algorithm.text(parameters, "GAPS_REGION", context),
        gaps_coefficient=algorithm.parameterAsDouble(parameters, "GAPS_COEFFICIENT", context),
        gaps_exponent=algorithm.parameterAsDouble(parameters, "GAPS_EXPONENT", context),
        log_base=algorithm.parameterAsDouble(parameters, "LOG_BASE", context),
        cutoff=algorithm.parameterAsDouble(parameters, "CUTOFF", context),
        n_sites=algorithm.parameterAsInt(parameters, "N_SITES", context),
        k=algorithm.parameterAsInt(parameters, "K", context),
    )


def configuration_of(algorithm: VbasAlgorithm, parameters: dict[str, object], k: int, context: QgsProcessingContext):
    """The whole configuration: of the combination, or of the single choices for `custom`."""
    from ..core.aggregation import AggregationOptions
    from ..core.configuration import CUSTOM, RECOMMENDED, Configuration
    from ..core.site_location import LocationOptions

    name = algorithm.text(parameters, "COMBINATION", context)
    number_options = number_options_of(algorithm, parameters, context)
    location_options = LocationOptions(k=k, seed=algorithm.parameterAsInt(parameters, "SEED", context))
    if name != CUSTOM:
        chosen = RECOMMENDED[name]
        return Configuration(
            chosen.site_number,
            chosen.site_location,
            chosen.aggregation,
            number_options,
            location_options,
            AggregationOptions(),
        )
    return Configuration(
        algorithm.text(parameters, "SITE_NUMBER", context),
        algorithm.text(parameters, "SITE_LOCATION", context),
        algorithm.text(parameters, "AGGREGATION", context),
        number_options,
        location_options,
        aggregation_options_of(algorithm, parameters, context),
    )


def numbers_in(text: str, parameter: str) -> list[float]:
    """The numbers of a list written `1,1.2,2`. Raises InputError."""
    from ..core.errors import InputError

    try:
        numbers = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers:
        raise InputError(f"{parameter} is “{text}”: write numbers separated by commas, such as 1,1.2,2.")
    return numbers
