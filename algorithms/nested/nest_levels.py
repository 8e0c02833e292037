"""Levels as a step."""

from __future__ import annotations

from ...core.approach import using_setting
from ...core.job.conditions import of_approaches
from ...core.job.levels import sentence
from ...core.language import as_data, tr
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ..form import approaches, regions
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.generalising import conditions_where
from ..form.guarantees import k_parameter
from ..form.records import counted_records, unmatched
from . import holding as hold
from . import levels as nested


class NestLevels(VbasAlgorithm):
    """`vbas:nestlevels`."""

    ID = "nestlevels"
    TAGS = as_data("hierarchy,nested,regionalization")
    SUMMARY = tr("Makes nested levels of regions, each within the regions of the next, for a nested release.")
    HELP = tr(
        "<p>A crosswalk of several levels: vbas_region_1 is the region of each area at the finest level, vbas_region_2 "
        "that at the next, and so on. Every region lies in one region of the next level.</p>"
        "<p>Three ways: from the areas up, by the same approaches for every level; from fields of the areas, such as "
        "tract, municipality, province; or from crosswalks that you have. The result goes into “Release records” and "
        "“Evaluate regions”.</p>"
        "<p>To choose a geography once, for several years or tables, say which share of its records every region must "
        "show (HELD_PERCENT), give the years by PERIOD or the tables under MORE_RECORDS, and leave a RESERVE for those "
        "to come. The log says how many regions of each level hold.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *(shared.visible(parameter) for parameter in nested.level_parameters() if parameter.name() != "FINEST"),
            shared.visible(nested.least_population()),
            shared.layers(
                "CROSSWALKS",
                tr("Levels from crosswalks, finest first"),
                tr(
                    "Crosswalks of the same areas, each with the areas' identifier and vbas_region. With one "
                    "alone, its regions are the finest level, and the others are made from them."
                ),
            ),
            shared.visible(approaches.site_location()),
            shared.visible(approaches.aggregation(nested.AGGREGATIONS)),
            *counted_records(
                tr(
                    "The records: their number in each area, where no population is given, and their classes, "
                    "where the anonymity-driven clustering places the sites or HELD_PERCENT is given."
                ),
                quasi_identifiers=True,
                period=True,
            ),
            *hold.held_parameters(),
            approaches.start(),
            approaches.capacity_factor(),
            shared.advanced(k_parameter()),
            unmatched(),
            shared.seed(),
            regions.crosswalk_output(),
            regions.released_regions(),
        )
        self.addNumbers(N_LEVELS=tr("Levels"), N_SITES=tr("Regions of the finest level"))

    def conditions(self) -> Conditions:
        single = of_approaches()
        single = {
            **single,
            "SEED": [dict.fromkeys(("SITE_LOCATION", "START"), using_setting(SITE_LOCATIONS, "seed"))],
            "SITE_LOCATION": [
                {"AGGREGATION": [name for name, approach in nested.AGGREGATIONS.items() if not approach.own_sites]}
            ],
        }
        made = ("COARSEST", "RATIO", "SITE_LOCATION", "AGGREGATION", "START", "CAPACITY_FACTOR", "SEED")
        of_records = ("RECORD_REGION", "QUASI_IDENTIFIERS", "PERIOD", "RECORD_COUNT", "UNMATCHED")
        return {
            **{name: [{"LEVEL_FIELDS": NOT_GIVEN}, *single.get(name, ())] for name in made},
            **{name: [{"RECORDS": GIVEN}] for name in of_records},
            **conditions_where({"RECORDS": GIVEN}),
            "CROSSWALKS": [{"LEVEL_FIELDS": NOT_GIVEN}],
            "K": [{"SITE_LOCATION": using_setting(SITE_LOCATIONS, "k"), "HELD_PERCENT": GIVEN}],
            **hold.CONDITIONS,
        }

    def work(self, form: Form) -> dict[str, object]:
        aggregation = form.text("AGGREGATION")
        layer = nested.layer_for_levels(form.job, areas_of(form.job), aggregation)
        areas, profile = nested.areas_and_profile(form.job, layer)
        tables = hold.held_tables(form.job, areas, profile)
        levels = nested.made_levels(form.job, areas, profile, tables)
        form.outputs.add("CROSSWALK", regions.crosswalk_table(layer, levels, True))
        if form.outputs.wanted("RELEASED_REGIONS"):
            drawn = regions.drawn_regions(layer, levels, form.progress(60, 95))
            form.outputs.add("RELEASED_REGIONS", regions.regions_table(drawn, levels, True))
        form.info(sentence(levels))
        hold.say_what_holds(form.job, levels, tables)
        return {"N_LEVELS": len(levels), "N_SITES": levels.crosswalks[0].n_regions}
