"""Component 4 as a step."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.anonymise import rate
from ...core.job.asking import rated
from ...core.job.generalising import coarser_of
from ...core.job.making import READ, Made
from ...core.language import as_data, tr
from ...core.report.internal import Remarks
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.effective import Conditions
from ..form.form import FormJob
from ..form.guarantees import OVER_TIME, PROTECTION, k_parameter, periods, protection_parameters
from ..form.records import populated, record_parameters, records_of, unmatched
from ..handed_over import Handed, Releasing
from ..layers.inputs import Inputs
from ..nested.disclosure import CONDITIONS as HELD_AGAINST
from ..nested.disclosure import disclosure_parameters, say_of_one_level, settled_by_crosswalk
from ..nested.levels import NUMBERS, loss


class Evaluate(Releasing):
    """`vbas:evaluate`."""

    ID = "evaluate"
    TAGS = as_data("measures,suppression,compactness,discernibility,entropy")
    SUMMARY = tr("Rates a crosswalk: suppression, compactness, information loss, region by region.")
    HELP = tr(
        "<p>What a release by this crosswalk would cost at k: the measures of Croft et al. (2015, section 3.4), "
        "overall and by region, with a report. Nothing is released.</p><p>Any crosswalk will do, whatever made it; one "
        "of nested levels is rated as a nested release.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *record_parameters(),
            *regions.crosswalk_parameters(),
            regions.measured_from(),
            k_parameter(),
            periods(),
            *protection_parameters(),
            unmatched(),
            loss(),
            *disclosure_parameters(),
            *regions.measures_outputs(),
        )
        self.addNumbers(**regions.NUMBERS, **NUMBERS)

    def conditions(self) -> Conditions:
        return {**PROTECTION, **OVER_TIME, **HELD_AGAINST}

    def settled(self, inputs: Inputs) -> Mapping[str, object]:
        return settled_by_crosswalk(inputs)

    def made(self, job: FormJob) -> Handed:
        nested = regions.has_levels_in_crosswalk(job)
        if not nested:
            say_of_one_level(job)
        layer = areas_of(job)
        _, levels = regions.levels_of_crosswalk(job, layer.areas)
        records = records_of(job, layer.areas, job.whole("K"))
        areas, sites = populated(layer, records), regions.sites_of(job, layer, levels, nested)
        account = rate(areas, records, levels, rated(job, nested), sites, job.progress(READ, 60))
        hierarchies = {} if nested else coarser_of(job, records.table)
        return Handed(Made(account, Remarks(records.notes), hierarchies), layer)
