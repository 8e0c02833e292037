"""The parameters that choose and tune the approaches, shared by the main algorithm and the single steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.aggregation import Aggregation
from ...core.approach import Approach
from ...core.configuration import CUSTOM, RECOMMENDED
from ...core.errors import InputError
from ...core.language import tr
from ...core.parameters import BUDGET, FLOOR
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ...core.site_location import LocationOptions
from ...core.site_number import APPROACHES as SITE_NUMBERS
from ...core.site_number.cutoff import GAPS_REGIONS
from ...core.site_number.population_cutoff import PUBLISHED_CUTOFFS
from ...core.suppression import FAIR_FACTOR
from .parameters import bounded, choice, field, number, whole
from .parameters import text as line

WHOSE_COUNT = tr(
    "“max combinations” counts only the values that at least k records have; the paper counts every value, as “max "
    "combinations (2018)” does."
)


# benchmarks/clustering_starts.py East
WHEN_CLUSTERING_HELPS = tr(
    "In our benchmarks (the East of Canada, k = 5, basic Voronoi) clustering helped where there are few classes: with "
    "24 to 72 of them it suppressed 67 to 106 % of what balanced density alone does, 93 % in the median for the 2015 "
    "form and 99 % for the other. With 900 classes it saved nothing, and the later form made regions 25 to 65 % less "
    "compact. From random sites it suppressed more than balanced density alone in 11 of 12 cases: the start matters "
    "more than the clustering."
)


def sentences(approaches: Mapping[str, Approach[object]]) -> str:
    """What each approach does, for the help of a choice among them."""
    return " ".join(
        tr("“{name}”: {sentence}", name=name, sentence=approach.sentence) for name, approach in approaches.items()
    )


def combination() -> QgsProcessingParameterDefinition:
    """COMBINATION."""
    parts = " ".join(
        tr(
            "“{name}”: {site_number}, {value}{aggregation}; in the paper "
            "{reason}; in our benchmarks {measured} scenarios.",
            name=name,
            site_number=c.site_number,
            value=f"{c.site_location}, " if c.site_location else "",
            aggregation=c.aggregation,
            reason=c.reason,
            measured=c.measured,
        )
        for name, c in RECOMMENDED.items()
    )
    return choice(
        "COMBINATION",
        tr("Method"),
        [*RECOMMENDED, CUSTOM],
        "all-rounder",
        tr(
            "The combinations of approaches that Croft et al. (2018, Table 4) recommend, by what each "
            "favours. {whose_count} {parts} “custom”: the approaches chosen below, among the advanced parameters, "
            "which count for “custom” only.",
            parts=parts,
            whose_count=WHOSE_COUNT,
        ),
    )


def site_number() -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBER and what its approaches need."""
    published = ", ".join(f"{name} {number}" for name, number in PUBLISHED_CUTOFFS.items())
    yield choice(
        "SITE_NUMBER",
        tr("Number of regions (“max combinations (2018)” counts as the paper does)"),
        SITE_NUMBERS,
        "max combinations",
        tr(
            "How many regions to aim for. {sentences} The published model is by El Emam et al. (2009), as "
            "described by Croft et al. (2018, 2.1). K plays no part in the papers' number of regions: with a "
            "larger K more records are suppressed, unless you choose fewer regions, or “suppression budget”. "
            "There is at most one region per area.",
            sentences=sentences(SITE_NUMBERS),
        ),
        advanced=True,
    )
    yield choice(
        "GAPS_REGION",
        tr("Max combinations and entropy: cut-off model"),
        GAPS_REGIONS,
        "from the identifiers",
        tr(
            "For max combinations and entropy: the part of Canada that the cut-off model was estimated for. "
            "“from the identifiers” reads the province of Canadian dissemination areas and blocks (8 or 11 "
            "digits, DGUID). For any other areas it takes the middle one of the three models, and the log "
            "says so: choose the part most like your areas, or “custom”."
        ),
        advanced=True,
    )
    model = tr("People per region = coefficient · X ^ exponent.")
    for name, label, default, text in (
        ("GAPS_COEFFICIENT", tr("Custom cut-off model only: coefficient"), 1588.0, model),
        ("GAPS_EXPONENT", tr("Custom cut-off model only: exponent"), 0.42, model),
        (
            "LOG_BASE",
            tr("Entropy only: base of its logarithm"),
            0.0,
            tr("0 is the natural logarithm, which fits the papers."),
        ),
        (
            "CUTOFF",
            tr("Cut-offs only: people per region"),
            70_000.0,
            tr("For population cut-off. Published: {published}.", published=published),
        ),
    ):
        yield number(name, label, default, text, advanced=True)
    yield bounded(
        BUDGET,
        tr("Suppression budget, %"),
        tr(
            "For suppression budget: the records that may be suppressed, per cent of all. As many regions as "
            "keep within it are made; where not even a single region does, nothing is. “anonymity exchange” "
            "then makes the most compact regions within it that it finds. What is done to the regions "
            "afterwards (a least population, published totals, earlier releases) may suppress more, and the "
            "log says so."
        ),
        advanced=True,
    )


def cutoff_models() -> Iterable[QgsProcessingParameterDefinition]:
    """GAPS_REGION, GAPS_COEFFICIENT, GAPS_EXPONENT, LOG_BASE: for a cut-off that is not made into a number of sites."""
    names = ("GAPS_REGION", "GAPS_COEFFICIENT", "GAPS_EXPONENT", "LOG_BASE")
    return (parameter for parameter in site_number() if parameter.name() in names)


def n_sites(optional: bool) -> QgsProcessingParameterDefinition:
    """N_SITES: among the advanced ones where only `given number` needs it."""
    label, text = tr("Number of sites"), tr("From 1 to the number of areas.")
    if optional:
        label, text = tr("Given number only: regions to aim for"), text
    return whole("N_SITES", label, 10, text, advanced=optional)


def site_location() -> QgsProcessingParameterDefinition:
    """SITE_LOCATION."""
    text = tr("The points that draw the regions. {sentences}", sentences=sentences(SITE_LOCATIONS))
    return choice("SITE_LOCATION", tr("Where the sites go"), SITE_LOCATIONS, "balanced density", text, advanced=True)


def start() -> QgsProcessingParameterDefinition:
    """START."""
    text = tr(
        "For both kinds of anonymity-driven clustering: the location whose sites are moved; another one than itself. "
        "Random sites, drawn by the seed, tell how much the start matters. {when}",
        when=WHEN_CLUSTERING_HELPS,
    )
    label = tr("Anonymity-driven clustering only: start")
    return choice("START", label, SITE_LOCATIONS, LocationOptions().start, text, advanced=True)


def aggregation(which: Mapping[str, Approach[Aggregation]] = AGGREGATIONS) -> QgsProcessingParameterDefinition:
    """AGGREGATION; which : the approaches to choose from."""
    label, text = tr("Which area joins which region"), sentences(which)
    return choice("AGGREGATION", label, which, "iterative Voronoi", text, advanced=True)


def capacity_factor(advanced: bool = True) -> QgsProcessingParameterDefinition:
    """CAPACITY_FACTOR."""
    text = tr(
        "For the transport heuristics: how far a region may exceed an even share of areas; 1 is an even share, 0 sets "
        "no limit."
    )
    return number("CAPACITY_FACTOR", tr("Transport only: capacity factor"), 0.0, text, 0.0, advanced=advanced)


def floor() -> QgsProcessingParameterDefinition:
    """FLOOR."""
    text = tr(
        "For the aggregation “population floor”: the people every region needs. 0 takes the whole population divided "
        "by the number of regions."
    )
    return bounded(FLOOR, tr("Population floor only: people every region needs"), text, advanced=True)


def fair(in_place: bool = False) -> QgsProcessingParameterDefinition:
    """FAIR; in_place : of records that are no layer, whose fields are named in a line."""
    text = tr(
        "For suppression budget: quasi-identifiers of which no group may be lost much more than others, such as "
        "ethnicity. Of no value of at least k records is more than {fair_factor:g} times the budget suppressed.",
        fair_factor=FAIR_FACTOR,
    )
    label = tr("Fields whose groups are kept intact")
    if in_place:
        return line("FAIR", label, None, text, optional=True, advanced=True)
    return field("FAIR", label, "RECORDS", text, several=True, optional=True, advanced=True)


def single_choices(in_place: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """SITE_NUMBER, SITE_LOCATION and AGGREGATION with what their approaches need; in_place : as for `fair`"""
    yield from site_number()
    yield fair(in_place)
    yield n_sites(optional=True)
    yield site_location()
    yield start()
    yield aggregation()
    yield capacity_factor()
    yield floor()


def numbers_in(text: str, parameter: str) -> list[float]:
    """The numbers of a list written `1,1.2,2`. Raises InputError."""
    try:
        numbers = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError.saying(
            "{parameter} is “{text}”: write numbers separated by commas, such as 1,1.2,2.",
            parameter=parameter,
            text=text,
        )
    return numbers
