"""A release carried on: the records of now under the regions of an earlier one."""

from __future__ import annotations

from collections.abc import Iterable

from qgis.core import QgsProcessingParameterDefinition

from ...core.job.making import Made
from ...core.job.updating import Updating, carried_release
from ...core.language import as_data, tr
from ...core.parameters import SMALLEST_K
from ...core.report.internal import Remarks
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.effective import Conditions
from ..form.form import FormJob
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import PROTECTION, protection_settings
from ..form.public_report import public_report_parameter
from ..form.published import CONDITIONS as PUBLISHED
from ..form.published import published_parameters
from ..form.records import populated, record_parameters, records_of, unmatched
from ..form.release import CONDITIONS as IN_A_FOLDER
from ..form.release import release_folder, release_folder_settings, released_records
from ..form.signing import sign_page_parameter, signing_conditions, signing_parameters
from ..form.updating import entry, followed, update
from ..handed_over import Handed, Releasing
from ..nested.levels import loss
from ..privacy.relating import aliases_parameter
from ..privacy.releases import register_parameter


class UpdateRelease(Releasing):
    """`vbas:updaterelease`."""

    ID = "updaterelease"
    TAGS = as_data("update,monthly,series,register,k-anonymity")
    SUMMARY = tr(
        "Releases the records of now under the regions of an earlier release, so that no change of a few shows."
    )
    HELP = tr(
        "<p>For a file that is released again and again: next month's, or the corrected one. The regions stay, and so "
        "does each class of a region, with as many records as it had, wherever that many live there still. Newcomers "
        "wait, or are shown in a larger region, until k have come; where somebody leaves, the class loses k or more at "
        "once, and those who did not leave are shown in a larger region. So between any two releases of the register "
        "each class of a region changes by nobody or by at least k, and so do all of a class in a region and those "
        "within. Who is held back is drawn in secret; with nested levels or a sensitive field, now and then somebody "
        "is held back who could be shown. From these releases it follows of no class of a region that 1 to k - 1 "
        "people came or left, not even for somebody who knows the method; that some did may well be likely.</p>"
        "<p>Give the crosswalk that the earlier release was made with, and the register that it is in, to which this "
        "release is added. The log says what stayed, what moved, and what that costs.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            *regions.crosswalk_parameters(),
            _register(),
            entry(),
            update(),
            shared.whole(
                "K",
                tr("k: smallest class allowed"),
                None,
                tr("Empty: that of the release to be updated. Changes between releases are of nobody or of k, too."),
                SMALLEST_K,
                optional=True,
            ),
            *_protection(),
            *published_parameters(),
            unmatched(),
            *(shared.advanced(shared.optional(parameter)) for parameter in area_parameters()),
            loss(),
            aliases_parameter(advanced=True),
            *release_folder_settings(),
            *signing_parameters(),
            released_records(),
            sign_page_parameter(),
            public_report_parameter(),
            release_folder(),
        )
        self.addNumbers(**regions.RECORD_NUMBERS)
        self.addNumbers(
            N_SAME=tr("Classes of regions that stay as they were"),
            N_CHANGED=tr("Classes of regions with other numbers or values"),
            N_GONE=tr("Classes of regions that are shown no more"),
            N_NEW=tr("Classes of regions that are new"),
            MOVED_PERCENT=tr(
                "Records suppressed or moved up because of earlier releases and published totals, per cent"
            ),
        )

    def conditions(self) -> Conditions:
        return {**PROTECTION, **GENERALISING, **PUBLISHED, **IN_A_FOLDER, **signing_conditions(False)}

    def made(self, job: FormJob) -> Handed:
        layer = areas_of(job) if job.given("REGIONS") else None
        areas, levels = regions.levels_of_crosswalk(job, None if layer is None else layer.areas)
        records = records_of(job, areas, job.whole("K") if job.given("K") else SMALLEST_K)
        areas = areas.with_population(records.profile.area_sizes) if layer is None else populated(layer, records)
        updating = Updating(job.text("ENTRY"), job.text("UPDATE"), job.text("FOLLOWED"))
        population = None if layer is None else areas.population
        account = carried_release(job, areas, records, updating, levels, population)
        return Handed(Made(account, Remarks(records.notes)), layer)


def _protection() -> Iterable[QgsProcessingParameterDefinition]:
    """KEEP_FIELDS, PERSON_ID, SENSITIVE, L_DIVERSITY, MAX_SHARE, as far as an update knows them."""
    yield shared.field(
        "KEEP_FIELDS",
        tr("Additional fields to release"),
        "RECORDS",
        tr(
            "Columns that the earlier releases of the register showed, too. Between any two releases those of a class "
            "of a region who came or left by what their rows show, in all of these fields and the sensitive ones "
            "together, are nobody or at least k. So a class stays only where somebody with the same values takes the "
            "place of each who left. Keep few fields, of few values, that seldom change: whose values are rare is not "
            "shown, unless FOLLOWED says so."
        ),
        several=True,
        optional=True,
        advanced=True,
    )
    yield shared.field(
        "PERSON_ID",
        tr("Person identifier, to see that each has one row"),
        "RECORDS",
        tr(
            "An update takes one row for each person, and stops where somebody has several: how many persons a change "
            "of rows is, the register does not know. It is never released."
        ),
        optional=True,
        advanced=True,
    )
    yield shared.field(
        "SENSITIVE",
        tr("Sensitive field that is released (diagnosis, say)"),
        "RECORDS",
        tr(
            "Fields that the earlier releases showed, too. As with KEEP_FIELDS, those of a class of a region who came "
            "or left by their rows are nobody or at least k between any two releases. Where all who left have the "
            "same value, somebody who knows that a certain person left may read that person's value out "
            "of two releases. Ask in the two settings below "
            "for what you asked of the earlier releases: the register does not keep that."
        ),
        several=True,
        optional=True,
        advanced=True,
    )
    yield from protection_settings()
    yield followed()


def _register() -> QgsProcessingParameterDefinition:
    """REGISTER, which an update cannot do without."""
    parameter = register_parameter(
        tr(
            "The GeoPackage that keeps what earlier releases published, the one to be updated among them. This "
            "release is held against all of them, and is added to it."
        )
    )
    parameter.setFlags(parameter.flags() & ~shared.OPTIONAL)
    return parameter
