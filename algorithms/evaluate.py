"""Component 4 as a step."""

from __future__ import annotations

import time

import numpy as np
from qgis.core import (
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingParameterFeatureSource,
)

from . import inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .layers.crosswalks import read_crosswalk
from .layers.feedback import progress_of
from .layers.outputs import Outputs
from .layers.sites import read_numbered_sites
from .reporting import parameter_rows


class Evaluate(VbasAlgorithm):
    """`vbas:evaluate`."""

    ID = "evaluate"
    TITLE = "Evaluate regions"
    GROUP = "steps"
    TAGS = "measures,suppression,compactness,discernibility,entropy"
    SUMMARY = "Rates a crosswalk: suppression, compactness, information loss, region by region."
    HELP = (
        "<p>What a release by this crosswalk would cost at k: the measures of Croft et al. (2015, section 3.4), in all "
        "and by region, with a report. Nothing is released.</p><p>Any crosswalk will do, whatever made it.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.areas(),
            *shared.records(),
            *shared.crosswalk(),
            shared.described(
                QgsProcessingParameterFeatureSource(
                    "SITES", "Sites", [QgsProcessing.SourceType.TypeVectorPoint], optional=True
                ),
                "Points with the field vbas_region, which compactness is measured from; without them the mean centre "
                "of each region's areas.",
            ),
            shared.k(),
            shared.unmatched(),
            region_outputs.region_audit(),
            shared.report("A page with the measures, all parameters and maps of the regions."),
        ):
            self.addParameter(parameter)
        self.addNumbers(**region_outputs.NUMBERS)

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.evaluation import evaluate
        from ..core.plan import suppress
        from ..core.report.anonymisation import evaluation_report

        started = time.perf_counter()
        k = self.parameterAsInt(parameters, "K", context)
        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            _, crosswalk = read_crosswalk(
                self.source(parameters, "CROSSWALK", context),
                self.text(parameters, "CROSSWALK_ID", context),
                layer.areas,
                feedback,
            )
            records = inputs.records_of(self, parameters, layer.areas, k, context, feedback)
            areas = inputs.populated(layer, records)
            source = self.optional_source(parameters, "SITES", context)
            if source is None:
                sites = crosswalk.mean_centres(areas.points)
            else:
                sites = read_numbered_sites(source, layer, crosswalk, feedback)
            measures, audit = evaluate(areas, suppress(records.profile, crosswalk, k), sites, records.n_unmatched)
            shapes = region_outputs.region_shapes(layer, crosswalk, progress_of(feedback, 30, 90))
            outputs.add("REGION_AUDIT", region_outputs.audit_table(layer, crosswalk, shapes, audit))
            outputs.add_text(
                "REPORT",
                lambda: evaluation_report(
                    measures,
                    audit,
                    k,
                    layer.to_planar(np.asarray(shapes), layer.crs),
                    parameter_rows(self, parameters, context),
                    records.warnings,
                ),
            )
            results = outputs.deliver()
        return {**results, **region_outputs.numbers(measures, time.perf_counter() - started)}
