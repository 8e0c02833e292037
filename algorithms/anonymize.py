"""The main job in one step."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import configuring, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import Counts
from .layers.feedback import progress_of
from .layers.outputs import Outputs
from .release_output import release_table, released_records
from .reporting import parameter_rows


class Anonymize(VbasAlgorithm):
    """`vbas:anonymize`."""

    ID = "anonymize"
    TITLE = "Anonymise records"
    GROUP = "anonymise"
    TAGS = "suppression,release,voronoi,aggregation"
    SUMMARY = (
        "Merges areas into small compact regions, suppresses records that are not k-anonymous there, releases others."
    )
    HELP = (
        "<p>Takes small areas and a table of person records, and merges the areas along a Voronoi diagram into small "
        "compact regions. Each record then shows its region in place of its area; records that fewer than k people "
        "share in a region are suppressed. What is written is counted a second time before it reaches its place.</p>"
        "<p>Use it to release records for research with fine geography. Start with “all-rounder”; look at the report: "
        "too much suppression asks for coarser quasi-identifiers or fewer regions.</p>"
        "<p>Outputs marked “for release” may be published under your rules; those marked “internal” may not: "
        "suppressed counts could be derived from them.</p>"
        "<p>Croft et al. 2015, 2018: Voronoi-Based Aggregation System.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.areas(),
            *shared.records(),
            shared.k(),
            configuring.combination(),
            shared.keep_fields(),
            shared.unmatched(),
            *configuring.site_number(),
            configuring.n_sites(optional=True),
            configuring.site_location(),
            configuring.aggregation(),
            configuring.capacity_factor(),
            configuring.floor(),
            shared.seed(),
            released_records(),
            region_outputs.released_regions(),
            region_outputs.crosswalk_output(),
            region_outputs.region_audit(),
            *region_outputs.site_outputs(),
            shared.report("A page with the verdict, the measures, all parameters and maps of the regions."),
        ):
            self.addParameter(parameter)
        self.addNumbers(**region_outputs.NUMBERS)

    def counts(self) -> Counts:
        return configuring.counts_with_combination()

    def settled(self, parameters: dict[str, object], context: QgsProcessingContext) -> Mapping[str, object]:
        return configuring.settled_by_combination(self, parameters, context)

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.configuration import aggregate
        from ..core.evaluation import evaluate
        from ..core.plan import suppress
        from ..core.release import apply, smallest_class
        from ..core.report.anonymisation import anonymisation_report

        started = time.perf_counter()
        k = self.parameterAsInt(parameters, "K", context)
        configuration = configuring.configuration_of(self, parameters, k, context)
        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            layer = inputs.with_neighbours(layer, [configuration.aggregation], feedback)
            records = inputs.records_of(self, parameters, layer.areas, k, context, feedback)
            areas = inputs.populated(layer, records)
            read = time.perf_counter()
            run = aggregate(areas, records.profile, configuration, progress_of(feedback, stop=60))
            crosswalk = run.aggregation.crosswalk
            for note in run.notes:
                feedback.pushInfo(note)
            suppressing = time.perf_counter()
            plan = suppress(records.profile, crosswalk, k)
            released = apply(plan, records)
            measures, audit = evaluate(areas, plan, run.aggregation.sites, records.n_unmatched)
            evaluated = time.perf_counter()
            shapes = region_outputs.region_shapes(layer, crosswalk, progress_of(feedback, 60, 80))
            outputs.add("RELEASED_RECORDS", *release_table(released, crosswalk, records, self, parameters, context, k))
            outputs.add("RELEASED_REGIONS", region_outputs.regions_table(layer, crosswalk, shapes, audit.released))
            outputs.add("CROSSWALK", region_outputs.crosswalk_table(layer, crosswalk))
            outputs.add("REGION_AUDIT", region_outputs.audit_table(layer, crosswalk, shapes, audit))
            outputs.add("SITE_POINTS", region_outputs.sites_table(layer, run.aggregation.sites))
            outputs.add("VORONOI", region_outputs.voronoi_table(layer, run.aggregation))
            seconds = {
                "reading": read - started,
                **run.seconds,
                "suppression and measures": evaluated - suppressing,
                "drawing and writing": time.perf_counter() - evaluated,
            }
            outputs.add_text(
                "REPORT",
                lambda: anonymisation_report(
                    measures,
                    audit,
                    k,
                    smallest_class(released, len(records.table.quasi_identifiers)),
                    layer.to_planar(np.asarray(shapes), layer.crs),
                    parameter_rows(self, parameters, context),
                    (*records.warnings, *run.notes),
                    seconds,
                ),
            )
            results = outputs.deliver()
        feedback.setProgress(100)
        return {**results, **region_outputs.numbers(measures, time.perf_counter() - started)}
