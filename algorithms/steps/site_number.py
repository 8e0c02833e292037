"""Component 1 as a step."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.configuration import Configuration, Trials, chosen
from ...core.job import configuring
from ...core.job.asking import terms_of
from ...core.job.conditions import of_approaches
from ...core.language import as_data, tr
from ...core.site_number import APPROACHES
from ...core.site_number import SiteNumber as NumberOfSites
from ...core.source import RecordSource
from ..form import approaches
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, with_neighbours
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Condition, Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import OVER_TIME, PROTECTION, k_parameter, periods, protection_parameters
from ..form.records import populated, profile_of, record_parameters, records_of, unmatched


class SiteNumber(VbasAlgorithm):
    """`vbas:sitenumber`."""

    ID = "sitenumber"
    TAGS = as_data("entropy,max combinations,cut-off")
    SUMMARY = tr("Says how many regions the records' quasi-identifiers allow.")
    HELP = tr(
        "<p>The first component: the quasi-identifiers of the records give the population that a region needs, and "
        "that gives the number of sites (Croft et al. 2018, section 2.1).</p><p>Use it to see what the models make of "
        "your quasi-identifiers before you settle on them, or as the first step of a model. Give the areas too if "
        "records of unknown areas are not to count; “suppression budget” needs them, and tries numbers with the "
        "location and aggregation chosen here, which should be those of the steps that follow.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            shared.source(
                "REGIONS",
                tr("Areas"),
                tr(
                    "The areas, if their number is to limit the sites and their identifiers to choose the "
                    "cut-off model; without them the areas that occur in the records."
                ),
                shared.POLYGONS,
                shared.POINTS,
                optional=True,
            ),
            shared.field(
                "REGION_ID",
                tr("Field with the area code, in the areas"),
                "REGIONS",
                tr("The field that names each area."),
                optional=True,
            ),
            unmatched(),
            k_parameter(),
            *(shared.visible(parameter) for parameter in approaches.site_number()),
            shared.visible(approaches.n_sites(optional=True)),
            *budget_parameters(),
        )
        self.addNumbers(
            N_SITES=tr("Sites"),
            N_SITES_ASKED=tr("Sites the cut-off asks for, before the limit of one per area"),
            CUTOFF=tr("People a region needs"),
            ENTROPY=tr("Entropy of the classes"),
            MAX_COMBINATIONS=tr("Possible classes"),
        )

    def conditions(self) -> Conditions:
        single = of_approaches()
        of_regions: Conditions = {name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "UNMATCHED")}
        # The base of the logarithm counts always: the entropy is among the results.
        of_number = {name: where for name, where in single.items() if name != "LOG_BASE"}
        return {**of_number, **of_regions, **budget_conditions(), **GENERALISING}

    def work(self, form: Form) -> dict[str, object]:
        number = tried_number(form) if tries(form) else published_number(form)
        form.info(*number.notes)
        return {
            "N_SITES": number.n_sites,
            "N_SITES_ASKED": number.asked,
            "CUTOFF": number.cutoff,
            "ENTROPY": number.entropy,
            "MAX_COMBINATIONS": number.max_combinations,
        }


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
    known = {**of_approaches(), **PROTECTION, **OVER_TIME}
    return {parameter.name(): [where, *known.get(parameter.name(), ())] for parameter in budget_parameters()}


def tries(form: Form) -> bool:
    """Whether the number is tried with the components that come after, for which the areas are needed."""
    return form.text("SITE_NUMBER") in TRYING and form.given("REGIONS")


def tried_number(form: Form) -> NumberOfSites:
    """The number of sites, tried with the chosen components."""
    configuration = Configuration(
        form.text("SITE_NUMBER"),
        form.text("SITE_LOCATION"),
        form.text("AGGREGATION"),
        configuring.number_options_of(form.job),
        configuring.location_options_of(form.job),
        configuring.aggregation_options_of(form.job),
    )
    layer = with_neighbours(form.job, areas_of(form.job), [configuration.aggregation])
    records = records_of(form.job, layer.areas, form.whole("K"))
    areas = populated(layer, records)
    return Trials(areas, records.profile, configuration, terms=terms_of(form.job, RecordSource(records))).number(
        form.progress()
    )


def published_number(form: Form) -> NumberOfSites:
    """The number of sites that follows from the records alone."""
    if form.layers.optional_source("REGIONS") is not None:
        layer = areas_of(form.job)
        profile, identifiers = records_of(form.job, layer.areas, None).profile, layer.areas.identifiers
    else:
        profile, identifiers, _ = profile_of(form.job)
    approach = chosen(APPROACHES, form.text("SITE_NUMBER"), "SITE_NUMBER")
    return approach(profile, identifiers, configuring.number_options_of(form.job))
