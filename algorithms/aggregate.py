"""Component 3 as a step."""

from __future__ import annotations

from qgis.core import (
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingFeedback,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
)

from . import configuring, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import GIVEN, Counts
from .layers.feedback import progress_of
from .layers.outputs import Outputs
from .layers.sites import read_sites


class Aggregate(VbasAlgorithm):
    """`vbas:aggregate`."""

    ID = "aggregate"
    TITLE = "Aggregate areas"
    GROUP = "steps"
    TAGS = "voronoi,dissolve,regionalization"
    SUMMARY = "Joins each area to a site and dissolves the areas of each site into a region."
    HELP = (
        "<p>The third component: each area joins a site (Croft et al. 2018, section 2.3); the areas of a site become a "
        "region. The crosswalk says which area is where and goes into “Release records” and “Evaluate regions”.</p>"
        "<p>Sites may come from “Locate sites” or from anywhere: your own points, such as hospitals, will do.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.areas(),
            shared.described(
                QgsProcessingParameterFeatureSource(
                    "SITES", "Sites", [QgsProcessing.SourceType.TypeVectorPoint], optional=True
                ),
                "Points that draw the regions, in any coordinate reference system. The transport heuristics and "
                "“population floor” choose their own sites: they take only the number of these, and “population floor” "
                "none where a floor is given.",
            ),
            shared.visible(configuring.aggregation()),
            shared.described(
                QgsProcessingParameterFeatureSource(
                    "RECORDS", "Records", [QgsProcessing.SourceType.TypeVector], optional=True
                ),
                "Without a population field: the records, whose number in each area is taken for its population "
                "(only “site optimisation” looks at it).",
                advanced=True,
            ),
            *(
                shared.described(
                    QgsProcessingParameterField(name, label, parentLayerParameterName="RECORDS", optional=True),
                    text,
                    advanced=True,
                )
                for name, label, text in (
                    ("RECORD_REGION", "Area of the record", "The field that says which area a person lives in."),
                    ("RECORD_COUNT", "Records per row", "For a table that is already counted."),
                )
            ),
            configuring.capacity_factor(),
            configuring.floor(),
            region_outputs.crosswalk_output(),
            region_outputs.released_regions(),
            *region_outputs.site_outputs(),
        ):
            self.addParameter(parameter)
        self.addNumbers(**region_outputs.CROSSWALK_NUMBERS)

    def counts(self) -> Counts:
        single = configuring.counts()
        of_aggregation = {name: single[name] for name in ("CAPACITY_FACTOR", "FLOOR")}
        return {**of_aggregation, **{name: [{"RECORDS": GIVEN}] for name in ("RECORD_REGION", "RECORD_COUNT")}}

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.aggregation import APPROACHES
        from ..core.configuration import chosen

        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            name = self.text(parameters, "AGGREGATION", context)
            approach = chosen(APPROACHES, name, "AGGREGATION")
            options = configuring.aggregation_options_of(self, parameters, context)
            if "floor" in approach.settings and options.floor and not parameters.get("SITES"):
                sites: object = 1
            else:
                found = read_sites(self.source(parameters, "SITES", context), layer, feedback)
                sites = len(found) if approach.own_sites else found
            layer = inputs.with_neighbours(layer, [name], feedback)
            aggregation = approach(
                inputs.populated_by_records(self, parameters, layer, context, feedback),
                sites,
                options,
                progress_of(feedback, stop=70),
            )
            results = region_outputs.add_aggregation(outputs, layer, aggregation, feedback)
        return results
