"""Shares of categories by province, from microdata."""

from __future__ import annotations

from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import microdata_inputs
from . import parameters as shared
from .base import VbasAlgorithm
from .layers.distributions import distributions_table
from .layers.outputs import Outputs
from .layers.tables import INTERNAL
from .region_outputs import TABLE


class EstimateDistributions(VbasAlgorithm):
    """`vbas:estimatedistributions`."""

    ID = "estimatedistributions"
    TITLE = "Estimate distributions"
    GROUP = "testdata"
    TAGS = "synthetic,test data,microdata,shares,weights"
    SUMMARY = "Finds the share of each category by province in a microdata file, to generate test records from."
    HELP = (
        "<p>For each province and attribute the share of each category, every row counted by its weight (Croft et al. "
        "2015, section 4.1, who took a public-use microdata file of the 2011 survey of Canada). Codes for “not stated” "
        "are left out.</p><p>The table goes into “Generate records” as its distributions. It holds real shares, from "
        "which real counts follow, down to single persons: it is internal, as the microdata are.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *microdata_inputs.microdata("PROVINCE", optional=False),
            shared.sink(
                "DISTRIBUTIONS",
                "Distributions",
                INTERNAL,
                "A row per province, attribute and category with its share, as it is in the microdata: nothing is "
                "suppressed.",
                TABLE,
            ),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_PROVINCES="Provinces", N_ATTRIBUTES="Attributes")

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.synthetic.microdata import estimate_distributions

        with Outputs(self, parameters, context, feedback) as outputs:
            columns = microdata_inputs.columns_of(self, parameters, "PROVINCE", context, feedback)
            distributions = estimate_distributions(*columns.arguments)
            for note in distributions.notes:
                feedback.pushInfo(note)
            outputs.add("DISTRIBUTIONS", distributions_table(distributions))
            results = outputs.deliver()
        return {
            **results,
            "N_PROVINCES": len(distributions.provinces),
            "N_ATTRIBUTES": len(distributions.attributes),
        }
