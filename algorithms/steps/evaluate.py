"""Component 4 as a step."""

from __future__ import annotations

import numpy as np
from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterFeatureSource,
)

from ..core.evaluation import evaluate
from ..core.plan import suppress
from ..core.report.anonymisation import evaluation_report
from . import inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .form import Form
from .layers.crosswalks import read_crosswalk
from .layers.sites import read_numbered_sites


class Evaluate(VbasAlgorithm):
    """`vbas:evaluate`."""

    ID = "evaluate"
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

    def work(self, form: Form) -> dict[str, object]:
        k = form.whole("K")
        layer = inputs.areas_of(form)
        _, crosswalk = read_crosswalk(
            form.source("CROSSWALK"),
            form.text("CROSSWALK_ID"),
            layer.areas,
            form.feedback,
        )
        records = inputs.records_of(form, layer.areas, k)
        areas = inputs.populated(layer, records)
        source = form.optional_source("SITES")
        if source is None:
            sites = crosswalk.mean_centres(areas.points)
        else:
            sites = read_numbered_sites(source, layer, crosswalk, form.feedback)
        measures, audit = evaluate(areas, suppress(records.profile, crosswalk, k), sites, records.n_unmatched)
        shapes = region_outputs.region_shapes(layer, crosswalk, form.progress(30, 90))
        form.outputs.add("REGION_AUDIT", region_outputs.audit_table(layer, crosswalk, shapes, audit))
        form.outputs.add_text(
            "REPORT",
            lambda: evaluation_report(
                measures,
                audit,
                k,
                layer.to_planar(np.asarray(shapes), layer.crs),
                form.rows(),
                records.warnings,
            ),
        )
        return region_outputs.numbers(measures)
