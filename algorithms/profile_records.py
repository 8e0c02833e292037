"""Counting the records by area and class."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import inputs
from . import parameters as shared
from .base import VbasAlgorithm
from .layers.outputs import Outputs
from .layers.tables import INTERNAL, Table, number_fields
from .region_outputs import TABLE


class ProfileRecords(VbasAlgorithm):
    """`vbas:profilerecords`."""

    ID = "profilerecords"
    TITLE = "Profile records"
    GROUP = "steps"
    TAGS = "group by,count,classes"
    SUMMARY = "Counts records by area and class of quasi-identifiers."
    HELP = (
        "<p>Counts how many records each area has of each class: each combination of quasi-identifier values that "
        "occurs. The result is what all methods here work on; it is much smaller than the records and goes wherever "
        "records go, with “records” as the records per row.</p>"
        "<p>Use it to look at the classes, or once before many runs over the same table. The same table can be made in "
        "a database with GROUP BY.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.records(),
            shared.sink(
                "PROFILE",
                "Profile",
                INTERNAL,
                "A row for each area and class that occurs: the area, the quasi-identifiers, “records”.",
                TABLE,
            ),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_RECORDS="Records", N_CLASSES="Classes")

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.records.columns import Column

        with Outputs(self, parameters, context, feedback) as outputs:
            profile, areas = inputs.profile_of(self, parameters, context, feedback)
            cells = profile.counts.tocoo()
            fields = self.source(parameters, "RECORDS", context).fields()
            area = self.text(parameters, "RECORD_REGION", context)
            shown = [fields.field(name) for name in (area, *profile.quasi_identifiers)]
            columns = [Column(cells.row, areas)]
            for position, categories in enumerate(profile.categories):
                columns.append(Column(profile.classes[cells.col, position], categories))
            outputs.add("PROFILE", Table([*shown, *number_fields(records="long")], [*columns, np.asarray(cells.data)]))
            results = outputs.deliver()
        return {
            **results,
            "N_RECORDS": profile.n_records,
            "N_CLASSES": int((profile.class_sizes > 0).sum()),
        }
