"""Parameters that the baselines share, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
)

from ...core.approach import looking_at
from ...core.baselines import BASELINES, ISLAND_CHOICES, NEIGHBOUR_CHOICES, BaselineOptions
from ...core.errors import InputError
from ...core.site_number.population_cutoff import PUBLISHED_CUTOFFS
from ..form import parameters as shared
from ..form.areas import values_of
from ..form.effective import GIVEN, NOT_GIVEN, Counts
from ..form.form import Form
from ..form.records import populated_by_records
from ..layers.areas import AreaLayer

OWN_NUMBER = "own number"


def published_cutoffs() -> dict[str, int]:
    """The published cut-offs by names that QGIS takes: it would read a comma as the end of a choice."""
    return {name.rpartition(", ")[2]: number for name, number in PUBLISHED_CUTOFFS.items()}


def cutoff() -> Iterable[QgsProcessingParameterDefinition]:
    """PUBLISHED and CUTOFF."""
    published = published_cutoffs()
    told = "; ".join(f"“{name}” {number}" for name, number in published.items())
    yield shared.choice(
        "PUBLISHED",
        "Cut-off",
        [OWN_NUMBER, *published],
        OWN_NUMBER,
        f"A published cut-off by name ({told}), or “{OWN_NUMBER}” for the one below.",
    )
    yield shared.described(
        QgsProcessingParameterNumber(
            "CUTOFF", "People a region needs", type=shared.REAL, defaultValue=70_000.0, minValue=0.0
        ),
        f"For “{OWN_NUMBER}”: the population below which a region is too small; the static cut-off keeps areas "
        "that exceed it.",
    )


def counts() -> Counts:
    """Where the cut-off and the records count."""
    return {
        "CUTOFF": [{"PUBLISHED": [OWN_NUMBER]}],
        "RECORDS": [{"POPULATION": NOT_GIVEN}],
        "RECORD_REGION": [{"RECORDS": GIVEN}],
        "RECORD_COUNT": [{"RECORDS": GIVEN}],
    }


def counted_records(quasi_identifiers: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, RECORD_REGION and RECORD_COUNT, all optional; with QUASI_IDENTIFIERS where classes are looked at."""
    yield shared.described(
        QgsProcessingParameterFeatureSource("RECORDS", "Records", [QgsProcessing.SourceType.TypeVector], optional=True),
        "The person records, or a table of their counts. Without a population field their number in each area is its "
        "population.",
        advanced=not quasi_identifiers,
    )
    fields = [("RECORD_REGION", "Area of the record", "The field that says which area a person lives in.", False)]
    if quasi_identifiers:
        fields.append(("QUASI_IDENTIFIERS", "Quasi-identifiers", "What an outsider could know of a person.", True))
    fields.append(("RECORD_COUNT", "Records per row", "For a table that is already counted.", False))
    for name, label, text, several in fields:
        yield shared.described(
            QgsProcessingParameterField(
                name, label, parentLayerParameterName="RECORDS", allowMultiple=several, optional=True
            ),
            text,
            advanced=not quasi_identifiers or name == "RECORD_COUNT",
        )


def merging(advanced: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """BUDGET, NEIGHBOUR, ISLANDS, BOUNDARY and MAXIMUM."""
    yield shared.described(
        QgsProcessingParameterNumber(
            "BUDGET", "Budget of suppression, %", type=shared.REAL, defaultValue=1.0, minValue=0.0, maxValue=100.0
        ),
        "For merging until k-anonymous: it ends as soon as no more records than this are in classes below k.",
        advanced,
    )
    yield shared.choice(
        "NEIGHBOUR",
        "Merge with",
        NEIGHBOUR_CHOICES,
        NEIGHBOUR_CHOICES[0],
        "The neighbour with the longest shared border, with the nearest middle, or with the fewest people.",
        advanced,
    )
    yield shared.choice(
        "ISLANDS",
        "Islands",
        ISLAND_CHOICES,
        ISLAND_CHOICES[0],
        "What becomes of a region that is too small and has no neighbour: it joins the region with the nearest middle, "
        "or is left alone (it keeps its number, and its small classes are suppressed).",
        advanced=True,
    )
    yield shared.described(
        QgsProcessingParameterField(
            "BOUNDARY", "Boundary not to be crossed", parentLayerParameterName="REGIONS", optional=True
        ),
        "A field, such as the province: areas with different values are never merged.",
        advanced=True,
    )
    yield shared.described(
        QgsProcessingParameterNumber(
            "MAXIMUM", "Most people in a merged region", type=shared.REAL, defaultValue=0.0, minValue=0.0
        ),
        "A merge that would exceed this is not made; 0 sets no limit.",
        advanced=True,
    )


def merging_options_of(form: Form):
    """The settings of merging, read."""
    return BaselineOptions(
        neighbour=form.text("NEIGHBOUR"),
        islands=form.text("ISLANDS"),
        boundary=_labels(form, "BOUNDARY"),
        most=form.number("MAXIMUM"),
        budget=form.number("BUDGET"),
    )


def compared() -> Iterable[QgsProcessingParameterDefinition]:
    """What the baselines need beside the cut-off where they stand among configurations."""
    yield shared.described(
        QgsProcessingParameterNumber(
            "CHARACTERS", "Cropping: characters to keep", type=shared.INTEGER, defaultValue=4, minValue=1
        ),
        "How many characters of the areas' identifiers lead.",
        advanced=True,
    )
    yield shared.described(
        QgsProcessingParameterField(
            "HIERARCHY", "Hierarchy: larger unit", parentLayerParameterName="REGIONS", optional=True
        ),
        "The field that names the larger unit each area lies in.",
        advanced=True,
    )
    yield from merging(advanced=True)


def compared_counts() -> Counts:
    """For which baselines their settings count where they stand among configurations; CUTOFF counts for two."""
    return {
        **{
            setting.upper(): [{"BASELINES": looking_at(BASELINES, setting)}]
            for setting in ("characters", "hierarchy", "budget", "neighbour", "islands", "boundary")
        },
        "MAXIMUM": [{"BASELINES": looking_at(BASELINES, "most")}],
    }


def compared_options_of(form: Form):
    """The settings of all baselines, read."""
    return replace(
        merging_options_of(form),
        cutoff=form.number("CUTOFF"),
        characters=form.whole("CHARACTERS"),
        hierarchy=_labels(form, "HIERARCHY"),
    )


def _labels(form: Form, name: str) -> list[object] | None:
    """The values of a field of REGIONS, None where none is named."""
    field = form.text(name)
    return values_of(form, "REGIONS", field) if field else None


def cutoff_of(form: Form) -> float:
    """The cut-off chosen by name, or the user's own number."""
    own = form.number("CUTOFF")
    return float(published_cutoffs().get(form.text("PUBLISHED"), own))


def populated(form: Form, layer: AreaLayer):
    """The regions with the population a cut-off is held against. Raises InputError where nobody tells it."""
    if not layer.has_population and form.optional_source("RECORDS") is None:
        raise InputError("A cut-off needs to know how many people there are: give POPULATION or RECORDS.")
    return populated_by_records(form, layer)
