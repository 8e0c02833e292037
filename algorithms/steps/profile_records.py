"""Counting the records by area and class."""

from __future__ import annotations

import numpy as np

from ...core.language import as_data, tr
from ...core.records.columns import Column
from ...core.tables.regions import PROFILE
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.generalising import CONDITIONS
from ..form.records import profile_of, record_parameters, shown_fields
from ..layers.tables import filled


class ProfileRecords(VbasAlgorithm):
    """`vbas:profilerecords`."""

    ID = "profilerecords"
    TAGS = as_data("group by,count,classes")
    SUMMARY = tr("Counts records by area and class of quasi-identifiers.")
    HELP = tr(
        "<p>Counts how many records each area has of each class: each combination of quasi-identifier values that "
        "occurs. The result is what all methods here work on; it is much smaller than the records and can be used "
        "wherever records are asked for, with “records” as the record count field.</p>"
        "<p>Use it to look at the classes, or once before many runs over the same table. The same table can be made in "
        "a database with GROUP BY.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            shared.sink(PROFILE),
        )
        self.addNumbers(N_RECORDS=tr("Records"), N_CLASSES=tr("Classes"))

    def conditions(self) -> Conditions:
        return CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        profile, areas, table = profile_of(form.job)
        cells = profile.counts.tocoo()
        names = (form.text("RECORD_REGION"), *profile.quasi_identifiers)
        fields = shown_fields(form.layers.source("RECORDS"), names, table.coarsened)
        columns = [Column(cells.row, areas)]
        for position, categories in enumerate(profile.categories):
            columns.append(Column(profile.classes[cells.col, position], categories))
        form.outputs.add(
            "PROFILE", filled(PROFILE, {"records": np.asarray(cells.data)}, own=list(zip(fields, columns)))
        )
        return {
            "N_RECORDS": profile.n_records,
            "N_CLASSES": int((profile.class_sizes > 0).sum()),
        }
