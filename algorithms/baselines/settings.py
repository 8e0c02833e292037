"""The settings of the baselines: declared and read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.approach import using_setting
from ...core.areas import Areas
from ...core.baselines import BASELINES, ISLAND_CHOICES, NEIGHBOUR_CHOICES, BaselineOptions
from ...core.errors import InputError
from ...core.job import configuring
from ...core.job.conditions import of_approaches
from ...core.job.saying import crosswalk_sentence
from ...core.language import in_turn, one_of, tr
from ...core.parameters import MAXIMUM
from ...core.site_number import APPROACHES as SITE_NUMBERS
from ...core.site_number.population_cutoff import PUBLISHED_CUTOFFS
from ..form import approaches
from ..form.effective import NOT_GIVEN, Condition, Conditions
from ..form.form import Form
from ..form.generalising import conditions_where
from ..form.parameters import bounded, choice, field, number, source, whole
from ..form.records import COUNTED_RECORDS, populated, populated_by_records, records_of
from ..layers.reading.crosswalks import read_units
from ..layers.shapes.areas import AreaLayer

OWN_NUMBER = "own number"
# Approaches of the number of regions whose cut-off follows from the records.
MODELLED = using_setting(SITE_NUMBERS, "gaps_region")
RECORDS = tr(
    "The person records, or a table of their counts. Without a population field their number in each area is its "
    "population."
)


def published_cutoffs() -> dict[str, int]:
    """The published cut-offs by names that QGIS takes: it would read a comma as the end of a choice."""
    return {name.rpartition(", ")[2]: number for name, number in PUBLISHED_CUTOFFS.items()}


def cutoff() -> Iterable[QgsProcessingParameterDefinition]:
    """PUBLISHED, CUTOFF, and the models of a cut-off that follows from the records."""
    published = published_cutoffs()
    listed = in_turn(tr("“{name}” {people:,}", name=name, people=people) for name, people in published.items())
    yield choice(
        "PUBLISHED",
        tr("Cut-off"),
        [OWN_NUMBER, *published, *MODELLED],
        OWN_NUMBER,
        tr(
            "A published cut-off by name ({listed}), “{own_number}” for the one below, or by a published model (Croft "
            "et al. 2018, Table 1) from the quasi-identifiers of the records: {modelled}. {whose_count}",
            listed=listed,
            own_number=OWN_NUMBER,
            modelled=one_of(tr("“{name}”", name=name) for name in MODELLED),
            whose_count=approaches.WHOSE_COUNT,
        ),
    )
    yield number(
        "CUTOFF",
        tr("People a region needs"),
        70_000.0,
        tr(
            "For “{own_number}”: the population below which a region is too small; the static cut-off keeps areas "
            "that exceed it.",
            own_number=OWN_NUMBER,
        ),
        0.0,
    )
    yield from approaches.cutoff_models()


def cutoff_conditions() -> Conditions:
    """Where the cut-off, its models and the records count."""
    models = of_approaches("PUBLISHED")
    modelled: Condition = {"PUBLISHED": MODELLED}
    return {
        **{name: models[name] for name in ("GAPS_REGION", "GAPS_COEFFICIENT", "GAPS_EXPONENT", "LOG_BASE")},
        "CUTOFF": [{"PUBLISHED": [OWN_NUMBER]}],
        "RECORDS": [{"POPULATION": NOT_GIVEN, **modelled}],
        **COUNTED_RECORDS,
        **{name: [modelled] for name in ("QUASI_IDENTIFIERS", "UNMATCHED")},
        "K": [{"PUBLISHED": [name for name in using_setting(SITE_NUMBERS, "k") if name in MODELLED]}],
        **conditions_where(modelled),
    }


def people_and_cutoff(form: Form, layer: AreaLayer) -> tuple[Areas, float]:
    """The areas with their population, and the cut-off it is held against: typed, by name, or by a model.

    Raises InputError where nothing gives the population, and for a model without records.
    """
    name = form.text("PUBLISHED")
    if name not in MODELLED:
        return areas_with_people(form, layer), float(published_cutoffs().get(name, form.number("CUTOFF")))
    if form.layers.optional_source("RECORDS") is None:
        raise InputError.saying(
            "RECORDS is not given: the cut-off by “{name}” follows from the records' quasi-identifiers.", name=name
        )
    records = records_of(form.job, layer.areas, form.whole("K"))
    approach = SITE_NUMBERS[name]
    number = approach(records.profile, layer.areas.identifiers, configuring.model_options_of(form.job))
    form.info(number.notes[0], tr("It asks for {cutoff:,.0f} people per region.", cutoff=number.cutoff))
    if approach.uses_attribute_counts:
        form.info(crosswalk_sentence(form.job, [name]))
    return populated(layer, records), number.cutoff


def merging(advanced: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """BUDGET, NEIGHBOUR, ISLANDS, BOUNDARY and MAXIMUM."""
    yield number(
        "BUDGET",
        tr("Budget of suppression, %"),
        1.0,
        tr("For merging until k-anonymous: it ends as soon as no more records than this are in classes below k."),
        0.0,
        100.0,
        advanced=advanced,
    )
    yield choice(
        "NEIGHBOUR",
        tr("Merge with"),
        NEIGHBOUR_CHOICES,
        NEIGHBOUR_CHOICES[0],
        tr("The neighbour with the longest shared border, with the nearest middle, or with the fewest people."),
        advanced,
    )
    yield choice(
        "ISLANDS",
        tr("Islands"),
        ISLAND_CHOICES,
        ISLAND_CHOICES[0],
        tr(
            "What becomes of a region that is too small and has no neighbour: it joins the region with the "
            "nearest middle, or is left alone (it keeps its number, and its small classes are suppressed)."
        ),
        advanced=True,
    )
    yield field(
        "BOUNDARY",
        tr("Boundary not to be crossed"),
        "REGIONS",
        tr("A field, such as the province: areas with different values are never merged."),
        optional=True,
        advanced=True,
    )
    text = tr("A merge that would exceed this is not made; 0 sets no limit.")
    yield bounded(MAXIMUM, tr("Most people in a merged region"), text, advanced=True)


def merging_options_of(form: Form, areas: Areas) -> BaselineOptions:
    """The settings of merging, read."""
    return BaselineOptions(
        neighbour=form.text("NEIGHBOUR"),
        islands=form.text("ISLANDS"),
        boundary=_labels(form, areas, "BOUNDARY"),
        most=form.number("MAXIMUM"),
        budget=form.number("BUDGET"),
    )


def cropping_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """CHARACTERS, LEAVE_OUT, HIERARCHY, HIERARCHY_TABLE, HIERARCHY_ID, HIERARCHY_LEVEL."""
    text = tr("How many leading characters are kept. Not used where LEAVE_OUT or a hierarchy is given.")
    yield whole("CHARACTERS", tr("Characters to keep"), 4, text, 1)
    yield _leave_out(tr("Last characters to leave out"))
    text = tr("A field of the areas that names the larger unit each lies in.")
    yield field("HIERARCHY", tr("Larger unit"), "REGIONS", text, optional=True)
    yield source(
        "HIERARCHY_TABLE",
        tr("Table of the hierarchy"),
        tr(
            "A table with a row per area: its identifier and the units it lies in. Used in place of a field "
            "of the areas."
        ),
        optional=True,
        advanced=True,
    )
    for name, label, text in (
        ("HIERARCHY_ID", tr("Field with the area code, in the table"), tr("With the same identifiers as the areas.")),
        ("HIERARCHY_LEVEL", tr("Level of the hierarchy"), tr("The field that names the unit to go up to.")),
    ):
        yield field(name, label, "HIERARCHY_TABLE", text, optional=True, advanced=True)


def _leave_out(label: str, advanced: bool = False) -> QgsProcessingParameterDefinition:
    """LEAVE_OUT."""
    text = tr(
        "In place of the characters to keep: how many of the last ones go, for codes of different lengths, such as "
        "postal codes with and without a suffix. An identifier that would have none left keeps its first one. Empty: "
        "the characters to keep count."
    )
    return whole("LEAVE_OUT", label, None, text, 1, optional=True, advanced=advanced)


def cropping_options_of(form: Form) -> BaselineOptions:
    """How identifiers are cropped, read."""
    leave_out = form.whole("LEAVE_OUT") if form.given("LEAVE_OUT") else 0
    return BaselineOptions(characters=form.whole("CHARACTERS"), leave_out=leave_out)


def units_of(form: Form, layer: AreaLayer) -> list[object] | None:
    """The larger unit of each area, of the field or of the table; None where neither is given."""
    table = form.layers.optional_source("HIERARCHY_TABLE")
    if table is None:
        return _labels(form, layer.areas, "HIERARCHY")
    identifier, level = form.text("HIERARCHY_ID"), form.text("HIERARCHY_LEVEL")
    return read_units(table, identifier, level, layer.areas, form.feedback)


def compared() -> Iterable[QgsProcessingParameterDefinition]:
    """What the baselines need beside the cut-off where they stand among configurations."""
    text = tr("How many leading characters of the areas' identifiers are kept.")
    yield whole("CHARACTERS", tr("Cropping: characters to keep"), 4, text, 1, advanced=True)
    yield _leave_out(tr("Cropping: last characters to leave out"), advanced=True)
    text = tr("The field that names the larger unit each area lies in.")
    yield field("HIERARCHY", tr("Hierarchy: larger unit"), "REGIONS", text, optional=True, advanced=True)
    yield from merging(advanced=True)


def compared_conditions() -> Conditions:
    """For which baselines their settings count where they stand among configurations; CUTOFF counts for two."""
    settings = ("characters", "leave_out", "hierarchy", "budget", "neighbour", "islands", "boundary")
    names = {**{name: name.upper() for name in settings}, "most": "MAXIMUM"}
    where: dict[str, list[Condition]] = {
        name: [{"BASELINES": using_setting(BASELINES, setting)}] for setting, name in names.items()
    }
    return {**where, "CHARACTERS": [*where["CHARACTERS"], {"LEAVE_OUT": NOT_GIVEN}]}


def compared_options_of(form: Form, areas: Areas) -> BaselineOptions:
    """The settings of all baselines, read."""
    cropped = cropping_options_of(form)
    return replace(
        merging_options_of(form, areas),
        cutoff=form.number("CUTOFF"),
        characters=cropped.characters,
        leave_out=cropped.leave_out,
        hierarchy=_labels(form, areas, "HIERARCHY"),
    )


def _labels(form: Form, areas: Areas, name: str) -> list[object] | None:
    """The value of a field of REGIONS in each area, None where none is named."""
    field = form.text(name)
    return form.job.values_of_areas(field, areas) if field else None


def areas_with_people(form: Form, layer: AreaLayer) -> Areas:
    """The areas with the population a cut-off is held against. Raises InputError where nothing gives it."""
    if not layer.has_population and form.layers.optional_source("RECORDS") is None:
        raise InputError.saying("A cut-off needs to know how many people there are: give POPULATION or RECORDS.")
    return populated_by_records(form.job, layer)
