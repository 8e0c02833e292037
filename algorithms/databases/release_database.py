"""Suppression and release where the records are."""

from __future__ import annotations

from collections.abc import Mapping

from qgis.core import QgsProcessingOutputString, QgsProcessingParameterDefinition

from ...core.errors import InputError
from ...core.language import as_data, tr
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters
from ..form.effective import GIVEN, Conditions
from ..form.form import Form, FormJob
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.generalising import generalising_parameters
from ..form.guarantees import OVER_TIME, PROTECTION, k_parameter, periods, protection_settings
from ..form.parameters import report, source, text
from ..form.public_report import public_report_parameter
from ..form.published import CONDITIONS as PUBLISHED
from ..form.published import published_parameters
from ..form.records import unmatched
from ..form.release import CONDITIONS as IN_A_FOLDER
from ..form.release import release_folder, release_folder_settings, ties
from ..form.signing import sign_page_parameter, signing_conditions, signing_parameters
from ..form.updating import IN_PLACE, entry, followed, update_or_not
from ..handed_over import Handed, Releasing
from ..layers.inputs import Inputs
from ..nested.disclosure import CONDITIONS as HELD_AGAINST
from ..nested.disclosure import disclosure_parameters, settled_by_crosswalk
from ..nested.levels import levels_coarser, loss, with_levels_coarser
from ..privacy.earlier import CONDITIONS as REGISTERED
from ..privacy.earlier import register_parameters
from ..privacy.rule import rule_parameter
from .connection import CONDITIONS, InPlaceAlgorithm, connection_parameters, field_parameters, opened
from .linked import CONDITIONS as LINKED
from .linked import linked_parameters_in_place


def earlier_profile() -> QgsProcessingParameterDefinition:
    """PROFILE, as an input."""
    return source(
        "PROFILE",
        tr("Profile that the regions were made from"),
        tr(
            "What “Profile records in a database” gave of this table, with the same fields and filter. Where the table "
            "holds other counts by now, nothing is released: the regions, and what you decided on, were for others. "
            "Save it as a GeoPackage: a CSV file does not tell an empty text from a missing value."
        ),
        optional=True,
    )


def destination(more: str = "", **flags: bool) -> QgsProcessingParameterDefinition:
    """DESTINATION; more : what else its help says; flags : those of `described`"""
    about = tr(
        "A new .parquet or .csv file for records in files; a new table of the same database, name or "
        "schema.name, for records in PostgreSQL; such a table, or a new folder of Parquet files as the "
        "cluster sees it, in Spark. It must not be there yet. It holds the region, the "
        "quasi-identifiers and the further fields you named, and nothing else. For release."
    )
    return text("DESTINATION", tr("Where the release goes"), None, " ".join(filter(None, (about, more))), **flags)


def where_the_rows_are() -> QgsProcessingOutputString:
    """RELEASED_RECORDS, as an output."""
    return QgsProcessingOutputString("RELEASED_RECORDS", tr("Where the released records are"))


def report_in_place() -> QgsProcessingParameterDefinition:
    """REPORT, which is made if asked for: it needs areas."""
    page = report(
        tr("A page with the measures, all parameters, the protection and maps of the regions; it needs REGIONS.")
    )
    page.setCreateByDefault(False)
    return page


OF_AREAS: Conditions = {name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "POPULATION", "AREA_POINT")}


class ReleaseDatabase(Releasing, InPlaceAlgorithm):
    """`vbas:releasedatabase`."""

    ID = "releasedatabase"
    TAGS = as_data("suppression,k-anonymity,duckdb,parquet,postgresql,spark,sql")
    SUMMARY = tr("Releases records by a crosswalk in DuckDB, PostgreSQL or Spark, without loading them.")
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
            *generalising_parameters(),
            *protection_settings(),
            *published_parameters(),
            unmatched(),
            *regions.crosswalk_parameters(),
            earlier_profile(),
            k_parameter(),
            periods(),
            rule_parameter(),
            *(shared.advanced(shared.optional(parameter)) for parameter in area_parameters()),
            loss(),
            *disclosure_parameters(),
            levels_coarser(),
            *linked_parameters_in_place(),
            *register_parameters(),
            update_or_not(),
            entry(advanced=True),
            followed(),
            ties(),
            *release_folder_settings(),
            *signing_parameters(),
            destination(),
            report_in_place(),
            sign_page_parameter(),
            public_report_parameter(),
            release_folder(),
        )
        self.addOutput(where_the_rows_are())
        self.addNumbers(**regions.RECORD_NUMBERS)

    def conditions(self) -> Conditions:
        own = {
            **CONDITIONS,
            **PROTECTION,
            **OVER_TIME,
            **GENERALISING,
            **REGISTERED,
            **IN_PLACE,
            **OF_AREAS,
            **HELD_AGAINST,
            **PUBLISHED,
            **LINKED,
            **IN_A_FOLDER,
            **signing_conditions(),
        }
        return with_levels_coarser(own)

    def settled(self, inputs: Inputs) -> Mapping[str, object]:
        return settled_by_crosswalk(inputs)

    def work(self, form: Form) -> Handed:
        if form.outputs.wanted("REPORT") and not form.given("REGIONS"):
            raise InputError.saying(
                "REPORT draws the regions and measures distances: give REGIONS and REGION_ID too, or leave it empty."
            )
        job = FormJob(form, form.layers, form)
        engine = form.outputs.hold(opened(job))
        from .releasing import release  # what this needs is there once an engine is open

        return release(job, engine)
