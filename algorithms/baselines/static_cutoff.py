"""The static cut-off as a baseline."""

from __future__ import annotations

from ...core.baselines import BaselineOptions
from ...core.baselines.static_cutoff import static_cutoff
from ...core.language import as_data, tr
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.guarantees import k_parameter
from ..form.records import counted_records, unmatched
from . import settings


class StaticCutoff(VbasAlgorithm):
    """`vbas:staticcutoff`."""

    ID = "staticcutoff"
    TAGS = as_data("population threshold,census,baseline")
    SUMMARY = tr("Leaves out every area that does not exceed a fixed population: what VBAS is measured against.")
    HELP = tr(
        "<p>Areas whose population exceeds the cut-off stay as they are; all others are at risk, and all their "
        "records are suppressed (Croft et al. 2015, section 2.2). Census bureaus worked with 100 000 or 120 000 "
        "people, Statistics Canada's health survey with 70 000; the published models give one that fits the "
        "quasi-identifiers of your records.</p><p>Nothing is merged: over small areas nearly "
        "everything is left out. The crosswalk goes into “Release records” and “Evaluate regions” like any other.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *settings.cutoff(),
            *counted_records(settings.RECORDS, quasi_identifiers=True),
            shared.advanced(k_parameter()),
            unmatched(),
            regions.crosswalk_output(),
            regions.released_regions(),
        )
        self.addNumbers(**regions.PARTIAL_NUMBERS, CUTOFF=tr("People a region needs"))

    def conditions(self) -> Conditions:
        return settings.cutoff_conditions()

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form.job)
        areas, cutoff = settings.people_and_cutoff(form, layer)
        aggregation = static_cutoff(areas, None, BaselineOptions(cutoff=cutoff))
        if not aggregation.crosswalk.n_regions:
            form.warn(tr("No area exceeds the cut-off: a release by this crosswalk would be empty."))
        return {**regions.add_aggregation(form, layer, aggregation), "CUTOFF": cutoff}
