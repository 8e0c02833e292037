"""Merging neighbours as a baseline."""

from __future__ import annotations

from dataclasses import replace

from ...core.baselines.adjacent_merging import adjacent_merging
from ...core.baselines.merging_until_anonymous import merging_until_anonymous
from ...core.errors import InputError
from ...core.job.saying import crosswalk_sentence
from ...core.language import as_data, tr
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import NOT_GIVEN, Condition, Conditions
from ..form.form import Form
from ..form.generalising import conditions_where
from ..form.guarantees import k_parameter
from ..form.records import counted_records, populated, records_of, unmatched
from ..layers.feedback import READ
from . import settings

CUTOFF, ANONYMOUS = "the population reaches the cut-off", "the records are k-anonymous"


class MergeAdjacent(VbasAlgorithm):
    """`vbas:mergeadjacent`."""

    ID = "mergeadjacent"
    TAGS = as_data("dissolve,neighbours,population threshold,baseline")
    SUMMARY = tr("Merges areas that are too small with a neighbour, smallest first, until none is.")
    HELP = tr(
        "<p>The smallest region that is too small is merged with one of its neighbours, again and again. A region is "
        "too small while its population is below the cut-off (after El Emam and Arbuckle's idea as Croft et al. 2015, "
        "section 2.2 describe it), or, if you choose so, while it has classes of fewer than k records and more records "
        "would be suppressed than the budget allows.</p><p>Neighbours share a stretch of border; areas given as "
        "points share that of their Voronoi cells. Regions that nothing may be merged with stay, and the log says how "
        "many.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            shared.choice(
                "UNTIL",
                tr("Merge until"),
                [CUTOFF, ANONYMOUS],
                CUTOFF,
                tr(
                    "When to stop: “{cutoff}” in every region, or “{anonymous}” apart from the budget (needs records).",
                    cutoff=CUTOFF,
                    anonymous=ANONYMOUS,
                ),
            ),
            *settings.cutoff(),
            *counted_records(settings.RECORDS, quasi_identifiers=True, advanced=False),
            k_parameter(),
            *settings.merging(),
            unmatched(),
            regions.crosswalk_output(),
            regions.released_regions(),
        )
        self.addNumbers(**regions.CROSSWALK_NUMBERS, CUTOFF=tr("People a region needs"))

    def conditions(self) -> Conditions:
        shared_conditions = settings.cutoff_conditions()
        until_cutoff = {
            name: [{"UNTIL": [CUTOFF]}, *shared_conditions.get(name, ())] for name in ("PUBLISHED", "CUTOFF")
        }
        # Classes count for merging until k-anonymous, and for a cut-off that follows from them.
        of_classes: Condition = {"UNTIL": [ANONYMOUS], "PUBLISHED": settings.MODELLED}
        of_k = {"UNTIL": [ANONYMOUS], **shared_conditions["K"][0]}
        more: Conditions = {
            **{name: [of_classes] for name in ("QUASI_IDENTIFIERS", "UNMATCHED")},
            "K": [of_k],
            "BUDGET": [{"UNTIL": [ANONYMOUS]}],
            "RECORDS": [{**of_classes, "POPULATION": NOT_GIVEN}],
        }
        return {**shared_conditions, **until_cutoff, **more, **conditions_where(of_classes)}

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form.job).with_neighbours(form.progress(0, READ))
        options = settings.merging_options_of(form, layer.areas)
        progress = form.progress(stop=70)
        if form.text("UNTIL") == CUTOFF:
            areas, cutoff = settings.people_and_cutoff(form, layer)
            aggregation = adjacent_merging(areas, None, replace(options, cutoff=cutoff), progress)
            return {**regions.add_aggregation(form, layer, aggregation), "CUTOFF": cutoff}
        if form.layers.optional_source("RECORDS") is None:
            raise InputError.saying("RECORDS is not given: merging until k-anonymous needs the records.")
        k = form.whole("K")
        records = records_of(form.job, layer.areas, k)
        areas = populated(layer, records)
        aggregation = merging_until_anonymous(areas, records.profile, replace(options, k=k), progress)
        form.info(crosswalk_sentence(form.job, ["merging until k-anonymous"]))
        return regions.add_aggregation(form, layer, aggregation)
