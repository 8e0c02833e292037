"""The number of sites as a step: from the records alone, or tried with the components that come after."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.configuration import Configuration, Trials, chosen
from ...core.job import configuring
from ...core.job.asking import terms_of
from ...core.site_number import APPROACHES, SiteNumber
from ..form import approaches
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, with_neighbours
from ..form.effective import Condition, Conditions
from ..form.form import Form
from ..form.guarantees import OVER_TIME, PROTECTION, periods, protection_parameters
from ..form.records import populated, profile_of, records_of

TRYING = tuple(name for name, approach in APPROACHES.items() if approach.runs_candidates)


def budget_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """What a number that is tried needs beside the records: FAIR, POPULATION, AREA_POINT, the components, PERSON_ID and
    what follows."""
    yield approaches.fair()
    yield from (
        shared.advanced(parameter)
        for parameter in area_parameters()
        if parameter.name() in ("POPULATION", "AREA_POINT")
    )
    yield approaches.site_location()
    yield approaches.start()
    yield approaches.aggregation()
    yield approaches.capacity_factor()
    yield approaches.floor()
    yield periods()
    yield from protection_parameters()
    yield shared.seed()


def budget_conditions() -> Conditions:
    """Where these count: for a number that is tried alone."""
    where: Condition = {"SITE_NUMBER": TRYING}
    known = {**approaches.conditions(), **PROTECTION, **OVER_TIME}
    return {parameter.name(): [where, *known.get(parameter.name(), ())] for parameter in budget_parameters()}


def tries(form: Form) -> bool:
    """Whether the number is tried with the components that come after, for which the areas are needed."""
    return form.text("SITE_NUMBER") in TRYING and form.given("REGIONS")


def tried_number(form: Form) -> SiteNumber:
    """The number of sites, tried with the chosen components."""
    configuration = Configuration(
        form.text("SITE_NUMBER"),
        form.text("SITE_LOCATION"),
        form.text("AGGREGATION"),
        configuring.number_options_of(form),
        configuring.location_options_of(form),
        configuring.aggregation_options_of(form),
    )
    layer = with_neighbours(form, areas_of(form), [configuration.aggregation])
    records = records_of(form, layer.areas, form.whole("K"))
    areas = populated(layer, records)
    return Trials(areas, records.profile, configuration, terms=terms_of(form, records)).number(form.progress())


def published_number(form: Form) -> SiteNumber:
    """The number of sites that follows from the records alone."""
    if form.optional_source("REGIONS") is not None:
        layer = areas_of(form)
        profile, identifiers = records_of(form, layer.areas, None).profile, layer.areas.identifiers
    else:
        profile, identifiers, _ = profile_of(form)
    approach = chosen(APPROACHES, form.text("SITE_NUMBER"), "SITE_NUMBER")
    return approach(profile, identifiers, configuring.number_options_of(form))
