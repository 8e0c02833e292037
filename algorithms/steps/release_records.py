"""Suppression and release as a step."""

from __future__ import annotations

from ...core.evaluation import evaluate
from ...core.language import as_data, tr
from ...core.plan import suppress
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters
from ..form.base import VbasAlgorithm
from ..form.conclusion import conclude
from ..form.editions import add_release_edition, people_in, release_edition
from ..form.effective import Counts
from ..form.form import Form
from ..form.generalising import COUNTS as GENERALISING
from ..form.guarantees import PROTECTION, k_parameter, required_of
from ..form.records import record_parameters, records_of, released_fields
from ..form.release import release_table, released, released_records, ties
from ..nested.coarser import asks_for_coarser, levels_coarser, with_levels_coarser
from ..nested.levels import loss
from ..nested.release import release_nested
from ..privacy.earlier import COUNTS as REGISTERED
from ..privacy.earlier import protected, register_parameters

NUMBERS = ("N_RECORDS", "N_SUPPRESSED", "SUPPRESSION_PERCENT", "DISCERNIBILITY", "NON_UNIFORM_ENTROPY")


class ReleaseRecords(VbasAlgorithm):
    """`vbas:releaserecords`."""

    ID = "releaserecords"
    TAGS = as_data("suppression,k-anonymity")
    SUMMARY = tr("Puts the region in the area's place and suppresses every class below k.")
    HELP = tr(
        "<p>The records with their region in place of their area, without those that fewer than k share in a region "
        "(Croft et al. 2015, section 3.3). What is written is recounted before it reaches its place.</p>"
        "<p>Any crosswalk will do: from the steps here, from a baseline, or made by hand with the fields of the areas' "
        "identifier and vbas_region. With the levels of “Nest levels” each record shows the finest region that hides "
        "it; give the areas too, so that distances can be measured.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *record_parameters(),
            *regions.crosswalk_parameters(),
            k_parameter(),
            *released_fields(),
            *(shared.advanced(shared.optional(one)) for one in area_parameters()),
            loss(),
            levels_coarser(),
            *register_parameters(),
            ties(),
            released_records(),
            release_edition(),
        )
        self.addNumbers(**{name: regions.NUMBERS[name] for name in NUMBERS})

    def counts(self) -> Counts:
        return with_levels_coarser({**PROTECTION, **GENERALISING, **REGISTERED})

    def work(self, form: Form) -> dict[str, object]:
        if regions.has_levels_in_crosswalk(form) or asks_for_coarser(form):
            found = release_nested(form)
            return {name: found[name] for name in NUMBERS}
        if form.given("REGIONS"):
            form.warn(
                tr("CROSSWALK has one level, so that there is nothing to choose: REGIONS and LOSS are not looked at.")
            )
        k = form.whole("K")
        areas, crosswalk = regions.crosswalk_of(form)
        records = records_of(form, areas, k)
        requirement = required_of(form, records)
        plan = suppress(records.profile, crosswalk, k, requirement)
        plan = protected(form, plan, areas, records, requirement).plan
        rows, _ = released(form, plan, records, requirement)
        # Without the areas' shapes there are no distances: compactness is left to “Evaluate regions”.
        measures, _ = evaluate(areas, plan, crosswalk.mean_centres(areas.points), records.n_unmatched)
        table = release_table(form, rows, plan.levels, records, k)
        form.outputs.add("RELEASED_RECORDS", *table, progress=form.progress(40, 100))
        conclude(form, measures, rows)
        add_release_edition(form, rows, *people_in(records), plan.levels)
        found = regions.numbers(measures)
        return {name: found[name] for name in NUMBERS}
