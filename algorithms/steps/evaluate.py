"""Component 4 as a step."""

from __future__ import annotations

from ...core.evaluation import evaluate
from ...core.language import as_data, tr
from ...core.plan import suppress
from ...core.report.anonymisation import Account, evaluation_report
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.conclusion import conclude
from ..form.editions import ground_of
from ..form.effective import Counts
from ..form.form import Form
from ..form.generalising import COUNTS as GENERALISING
from ..form.generalising import coarser_of
from ..form.guarantees import PROTECTION, k_parameter, protection_parameters, terms_of
from ..form.lost import counts_with_costs, lost
from ..form.records import populated, record_parameters, records_of, unmatched
from ..form.running import running_of
from ..layers.reading.crosswalks import read_numbered_sites
from ..nested.levels import loss
from ..nested.release import NUMBERS, evaluate_nested, numbers


class Evaluate(VbasAlgorithm):
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
            regions.sites_parameter(
                tr(
                    "Points with the field vbas_region, which compactness is measured from; without them the "
                    "mean centre of each region's areas."
                )
            ),
            k_parameter(),
            *protection_parameters(),
            unmatched(),
            loss(),
            regions.region_audit(),
            shared.report(tr("A page with the measures, all parameters and maps of the regions.")),
        )
        self.addNumbers(**regions.NUMBERS, **NUMBERS)

    def counts(self) -> Counts:
        return counts_with_costs({**PROTECTION, **GENERALISING})

    def work(self, form: Form) -> dict[str, object]:
        if regions.has_levels_in_crosswalk(form):
            return evaluate_nested(form)
        k = form.whole("K")
        layer = areas_of(form)
        _, crosswalk = regions.crosswalk_of(form, layer.areas)
        records = records_of(form, layer.areas, k)
        areas = populated(layer, records)
        source = form.optional_source("SITES")
        if source is None:
            sites = crosswalk.mean_centres(areas.points)
        else:
            sites = read_numbered_sites(source, layer, crosswalk, form.feedback)
        terms = terms_of(form, records)
        plan = suppress(records.profile, crosswalk, k, terms.requirement)
        measures, audit = evaluate(areas, plan, sites, records.n_unmatched)
        shapes = regions.region_shapes(layer, crosswalk, form.progress(30, 90))
        form.outputs.add("REGION_AUDIT", regions.audit_table(layer, crosswalk, shapes, audit))
        costs, step = lost(form, areas, plan, measures, coarser_of(form, records.table), terms)
        form.outputs.add_text(
            "REPORT",
            lambda: evaluation_report(
                Account(areas, plan, measures, audit, ground_of(layer, [shapes])),
                running_of(form),
                records.notes,
                costs,
            ),
        )
        conclude(form, measures, None, step)
        return {**regions.numbers(measures), **numbers(plan.levels, measures)}
