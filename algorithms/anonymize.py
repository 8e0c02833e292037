"""The main job in one step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from qgis.core import QgsProcessingContext

from ..core.configuration import aggregate
from ..core.evaluation import evaluate
from ..core.plan import suppress
from ..core.release import smallest_class
from ..core.report.anonymisation import anonymisation_report
from .form import approaches, regions
from .form import parameters as shared
from .form.areas import area_parameters, areas_of, with_neighbours
from .form.base import VbasAlgorithm
from .form.effective import Counts
from .form.form import Form
from .form.records import (
    PROTECTION,
    k_parameter,
    populated,
    record_parameters,
    records_of,
    released_fields,
    required_of,
)
from .form.release import release_table, released, released_records
from .layers.given import Given
from .nested import levels as nested_levels
from .nested.release import NUMBERS, anonymize_nested, numbers
from .privacy import earlier


class Anonymize(VbasAlgorithm):
    """`vbas:anonymize`."""

    ID = "anonymize"
    TAGS = "suppression,release,voronoi,aggregation"
    SUMMARY = "Merges areas into small compact regions and releases the records that are k-anonymous there."
    HELP = (
        "<p>Takes small areas and a table of person records, and merges the areas along a Voronoi diagram into small "
        "compact regions. Each record then shows its region in place of its area; records that fewer than k people "
        "share in a region are suppressed. What is written is recounted before it reaches its place.</p>"
        "<p>With “nested levels” each record shows the smallest of several nested regions in which k people hide it: "
        "only what is too rare everywhere is suppressed.</p>"
        "<p>Start with “all-rounder” and look at the report: too much suppression calls for coarser quasi-identifiers "
        "or fewer regions.</p>"
        "<p>Outputs marked “for release” may be published under your rules; those marked “internal” may not: "
        "suppressed counts could be derived from them.</p><p>Croft et al. 2015, 2018.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            k_parameter(),
            nested_levels.release_kind(),
            approaches.combination(),
            *released_fields(),
            *approaches.single_choices(),
            *nested_levels.level_parameters(),
            nested_levels.loss(),
            shared.seed(),
            *earlier.register_parameters(),
            released_records(),
            *regions.region_outputs(),
            shared.report("A page with the verdict, the measures, all parameters and maps of the regions."),
        )
        self.addNumbers(**regions.NUMBERS, **NUMBERS)

    def counts(self) -> Counts:
        return {**approaches.counts_with_combination(), **nested_levels.counts(), **PROTECTION, **earlier.COUNTS}

    def settled(self, parameters: dict[str, object], context: QgsProcessingContext) -> Mapping[str, object]:
        return approaches.settled_by_combination(Given(self, parameters, context))

    def work(self, form: Form) -> dict[str, object]:
        if form.text("RELEASE") == nested_levels.NESTED:
            return anonymize_nested(form)
        k, configuration = form.whole("K"), approaches.configuration_of(form)
        layer = with_neighbours(form, areas_of(form), [configuration.aggregation])
        records = records_of(form, layer.areas, k)
        areas, read = populated(layer, records), form.seconds()
        run = aggregate(areas, records.profile, configuration, form.progress(stop=60))
        form.info(*run.notes)
        requirement = required_of(form, records)
        plan = suppress(records.profile, run.aggregation.crosswalk, k, requirement)
        plan = earlier.held_against_register(form, plan, areas)
        release, protection = released(form, plan, records, requirement)
        measures, audit = evaluate(areas, plan, run.aggregation.sites, records.n_unmatched)
        seconds = {"reading": read, **run.seconds}
        seconds["suppression and measures"] = form.seconds() - sum(seconds.values())
        form.outputs.add("RELEASED_RECORDS", *release_table(form, release, plan.levels, records, k))
        shapes = regions.add_regions(form, layer, run.aggregation, audit)
        seconds["drawing and writing"] = form.seconds() - sum(seconds.values())
        smallest = smallest_class(release, len(records.table.quasi_identifiers))
        planar = layer.to_planar(np.asarray(shapes), layer.crs)
        notes = (*records.warnings, *run.notes)
        form.outputs.add_text(
            "REPORT",
            lambda: anonymisation_report(measures, audit, k, smallest, planar, form.rows(), notes, seconds, protection),
        )
        return {**regions.numbers(measures), **numbers(plan.levels, measures)}
