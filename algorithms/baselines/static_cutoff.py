"""The static cut-off as a baseline."""

from __future__ import annotations

from ...core.baselines import BaselineOptions
from ...core.baselines.static_cutoff import static_cutoff
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import Counts
from ..form.form import Form
from . import inputs


class StaticCutoff(VbasAlgorithm):
    """`vbas:staticcutoff`."""

    ID = "staticcutoff"
    TAGS = "population threshold,census,baseline"
    SUMMARY = "Leaves out every area that does not exceed a fixed population: what VBAS is measured against."
    HELP = (
        "<p>Areas whose population exceeds the cut-off stay as they are; all others are at risk, and all their "
        "records are suppressed (Croft et al. 2015, section 2.2). Census bureaus worked with 100 000 or 120 000 "
        "people, Statistics Canada's health survey with 70 000.</p><p>Nothing is merged: over small areas nearly "
        "everything is left out. The crosswalk goes into “Release records” and “Evaluate regions” like any other.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *area_parameters(),
            *inputs.cutoff(),
            *inputs.counted_records(),
            regions.crosswalk_output(),
            regions.released_regions(),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_SITES="Regions", N_LEFT_OUT="Areas left out", COMPACTNESS=regions.NUMBERS["COMPACTNESS"])

    def counts(self) -> Counts:
        return inputs.counts()

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form)
        areas = inputs.populated(form, layer)
        options = BaselineOptions(cutoff=inputs.cutoff_of(form))
        aggregation = static_cutoff(areas, None, options)
        if not aggregation.crosswalk.n_regions:
            form.warn("No area exceeds the cut-off: a release by this crosswalk would be empty.")
        numbers = regions.add_aggregation(form, layer, aggregation)
        return {**numbers, "N_LEFT_OUT": int((aggregation.crosswalk.region_of < 0).sum())}
