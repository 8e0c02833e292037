"""Suppression and release as a step."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.anonymise import anonymise
from ...core.errors import InputError
from ...core.job.asking import ask_of
from ...core.job.generalising import asks_for_coarser, coarser_of, with_levels_asked
from ...core.job.making import Made
from ...core.language import as_data, tr
from ...core.report.internal import Remarks
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.effective import GIVEN, Conditions
from ..form.form import Form, FormJob
from ..form.generalising import CONDITIONS as GENERALISING
from ..form.guarantees import OVER_TIME, PROTECTION, k_parameter, periods
from ..form.public_report import public_report_parameter
from ..form.published import CONDITIONS as PUBLISHED
from ..form.records import populated, record_parameters, records_of, released_fields
from ..form.release import CONDITIONS as IN_A_FOLDER
from ..form.release import release_folder, release_folder_settings, released_records, ties
from ..form.signing import sign_page_parameter, signing_conditions, signing_parameters
from ..handed_over import Handed, Releasing
from ..layers.inputs import Inputs
from ..nested.disclosure import CONDITIONS as HELD_AGAINST
from ..nested.disclosure import disclosure_parameters, say_of_one_level, settled_by_crosswalk
from ..nested.levels import levels_coarser, levels_to_show, loss, with_levels_coarser
from ..privacy.earlier import CONDITIONS as REGISTERED
from ..privacy.earlier import register_parameters


class ReleaseRecords(Releasing):
    """`vbas:releaserecords`."""

    ID = "releaserecords"
    TAGS = as_data("suppression,k-anonymity")
    SUMMARY = tr("Puts the region in the area's place and suppresses every class below k.")
    HELP = tr(
        "<p>The records with their region in place of their area, without those that fewer than k share in a region "
        "(Croft et al. 2015, section 3.3). What is written is recounted before it reaches its place.</p>"
        "<p>Any crosswalk will do: from the steps here, from a baseline, or made by hand with the fields of the areas' "
        "identifier and vbas_region. With the levels of “Nest levels” each record shows the finest region that hides "
        "it. Give the areas too, so that distances can be measured, and what it cost be said by region "
        "(REGION_AUDIT, REPORT).</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            *regions.crosswalk_parameters(),
            k_parameter(),
            periods(),
            *released_fields(),
            *(shared.advanced(shared.optional(parameter)) for parameter in area_parameters()),
            shared.advanced(regions.measured_from()),
            loss(),
            *disclosure_parameters(),
            levels_coarser(),
            *register_parameters(),
            ties(),
            *release_folder_settings(),
            *signing_parameters(),
            released_records(),
            sign_page_parameter(),
            public_report_parameter(),
            release_folder(),
            *regions.measures_outputs(by_default=False),
        )
        self.addNumbers(**regions.RECORD_NUMBERS)

    def conditions(self) -> Conditions:
        return with_levels_coarser(
            {
                **PROTECTION,
                **OVER_TIME,
                **GENERALISING,
                **REGISTERED,
                **HELD_AGAINST,
                **PUBLISHED,
                **IN_A_FOLDER,
                **signing_conditions(),
                "SITES": [{"REGIONS": GIVEN}],
            }
        )

    def settled(self, inputs: Inputs) -> Mapping[str, object]:
        return settled_by_crosswalk(inputs)

    def work(self, form: Form) -> Handed:
        of_regions = [name for name in ("REGION_AUDIT", "REPORT") if form.outputs.wanted(name)]
        if of_regions and not form.given("REGIONS"):
            raise InputError.saying(
                "{outputs}: what a region costs is said of its areas. Give REGIONS.", outputs=", ".join(of_regions)
            )
        return super().work(form)

    def made(self, job: FormJob) -> Handed:
        coarser = asks_for_coarser(job)
        nested = coarser or regions.has_levels_in_crosswalk(job)
        layer = areas_of(job) if job.given("REGIONS") else None
        if not nested:
            say_of_one_level(job)
        areas, levels = levels_to_show(job, None if layer is None else layer.areas)
        records = records_of(job, areas, job.whole("K"))
        # Without areas people are counted from the records, as of areas without POPULATION.
        areas = areas.with_population(records.profile.area_sizes) if layer is None else populated(layer, records)
        hierarchies = coarser_of(job, records.table) if coarser else {}
        account = anonymise(
            areas,
            records,
            with_levels_asked(job, levels, records.table, hierarchies),
            ask_of(job, records.table, nested, hierarchies),
            regions.sites_of(job, layer, levels, nested),
            population=None if layer is None else areas.population,
            progress=job.progress(40, 65),
            log=job,
        )
        return Handed(Made(account, Remarks(records.notes), hierarchies), layer)
