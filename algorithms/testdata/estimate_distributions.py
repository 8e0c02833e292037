"""Shares of categories by province, from microdata."""

from __future__ import annotations

from ...core.language import as_data, tr
from ...core.synthetic.microdata import estimate_distributions
from ...core.tables.testdata import DISTRIBUTIONS
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.form import Form
from . import people


class EstimateDistributions(VbasAlgorithm):
    """`vbas:estimatedistributions`."""

    ID = "estimatedistributions"
    TAGS = as_data("synthetic,test data,microdata,shares,weights")
    SUMMARY = tr("Finds the share of each category by province in a microdata file, for generating test records.")
    HELP = tr(
        "<p>For each province and attribute the share of each category, every row counted by its weight (Croft et al. "
        "2015, section 4.1, who took a public-use microdata file of the 2011 survey of Canada). Codes for “not stated” "
        "are left out.</p><p>The table goes into “Generate records” as its distributions. It holds real shares, from "
        "which real counts follow, down to single persons: it is internal, as the microdata are.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *people.microdata("PROVINCE", optional=False),
            shared.sink(DISTRIBUTIONS),
        )
        self.addNumbers(N_PROVINCES=tr("Provinces"), N_ATTRIBUTES=tr("Attributes"))

    def work(self, form: Form) -> dict[str, object]:
        columns = people.microdata_of(form, "PROVINCE")
        distributions = estimate_distributions(columns.provinces, columns.attributes, columns.weights, columns.missing)
        form.info(*distributions.notes)
        form.outputs.add("DISTRIBUTIONS", people.distributions_table(distributions))
        return {
            "N_PROVINCES": len(distributions.provinces),
            "N_ATTRIBUTES": len(distributions.attributes),
        }
