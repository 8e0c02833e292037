"""Suppression and release where the records are."""

from __future__ import annotations

from qgis.core import QgsProcessingOutputString

from ...core.language import as_data, tr
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters
from ..form.effective import Counts
from ..form.form import Form
from ..form.records import PROTECTION, k_parameter, protection_settings, published_margins, unmatched
from ..form.release import ties
from ..nested.levels import loss
from .connection import InPlaceAlgorithm, connection_parameters, field_parameters, fields_of, opened

NUMBERS = ("N_RECORDS", "N_SUPPRESSED", "SUPPRESSION_PERCENT", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY")


class ReleaseDatabase(InPlaceAlgorithm):
    """`vbas:releasedatabase`."""

    ID = "releasedatabase"
    TAGS = as_data("suppression,k-anonymity,duckdb,parquet,postgresql,sql")
    SUMMARY = tr("Releases records by a crosswalk in DuckDB or PostgreSQL, without loading them.")
    HELP = tr(
        "<p>The same as “Release records” for a table that is too large to be loaded, or must not leave its database. "
        "The engine counts the profile, here it is decided what is shown, and the engine writes the rows: sorted, "
        "under a name of their own, counted once more from what was written, class by class. Only if every class shows "
        "what was foretold does the release get its name; any failure leaves nothing.</p>"
        "<p>The crosswalk comes from “Anonymise records” or the steps, over the profile that “Profile records in a "
        "database” gives; of one level, or of nested ones (give the areas too, so that distances can be measured).</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *connection_parameters(),
            *field_parameters(True),
            *protection_settings(),
            published_margins(),
            unmatched(),
            *regions.crosswalk_parameters(),
            k_parameter(),
            *(shared.advanced(shared.optional(one)) for one in area_parameters()),
            loss(),
            ties(),
            shared.text(
                "DESTINATION",
                tr("Where the release goes"),
                None,
                tr(
                    "A new .parquet or .csv file for records in files; a new table of the same database, name or "
                    "schema.name, for records in PostgreSQL. It must not be there yet. It holds the region, the "
                    "quasi-identifiers and the further fields you named, and nothing else. For release."
                ),
            ),
        )
        self.addOutput(QgsProcessingOutputString("RELEASED_RECORDS", tr("Where the released records are")))
        self.addNumbers(**{name: regions.NUMBERS[name] for name in NUMBERS})

    def counts(self) -> Counts:
        return PROTECTION

    def work(self, form: Form) -> dict[str, object]:
        with opened(form) as engine:
            from ...core.engines.profiling import count_in_place  # what these need is there once an engine is open
            from .planned import planned, released

            found = count_in_place(engine, fields_of(form), form.progress(0, 40))
            matched, plan, measures = planned(form, found)
            place = released(form, matched, plan)
        numbers = regions.numbers(measures)
        return {"RELEASED_RECORDS": place, **{name: numbers[name] for name in NUMBERS}}
