"""Merging neighbours as a baseline."""

from __future__ import annotations

from dataclasses import replace

from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import baseline_inputs, inputs, region_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import NOT_GIVEN, Counts
from .layers.feedback import READ, progress_of
from .layers.outputs import Outputs

CUTOFF, ANONYMOUS = "the population reaches the cut-off", "the records are k-anonymous"


class MergeAdjacent(VbasAlgorithm):
    """`vbas:mergeadjacent`."""

    ID = "mergeadjacent"
    TITLE = "Merge adjacent areas"
    GROUP = "baselines"
    TAGS = "dissolve,neighbours,population threshold,baseline"
    SUMMARY = "Merges areas that are too small with a neighbour, smallest first, until none is."
    HELP = (
        "<p>The smallest region that is too small is merged with one of its neighbours, again and again. A region is "
        "too small while its population is below the cut-off (after El Emam and Arbuckle's idea as Croft et al. 2015, "
        "section 2.2 tell it), or, if you choose so, while it has classes of fewer than k records and more records "
        "would be suppressed than the budget allows.</p><p>Neighbours share a stretch of border; areas given as "
        "points that of their Voronoi cells. Regions that nothing may be merged with stay, and the log says how "
        "many.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *shared.areas(),
            shared.choice(
                "UNTIL",
                "Merge until",
                [CUTOFF, ANONYMOUS],
                CUTOFF,
                f"When merging ends: “{CUTOFF}” in every region, or “{ANONYMOUS}” but for the budget (needs records).",
            ),
            *baseline_inputs.cutoff(),
            *baseline_inputs.counted_records(quasi_identifiers=True),
            shared.k(),
            *baseline_inputs.merging(),
            shared.unmatched(),
            region_outputs.crosswalk_output(),
            region_outputs.released_regions(),
        ):
            self.addParameter(parameter)
        self.addNumbers(**region_outputs.CROSSWALK_NUMBERS)

    def counts(self) -> Counts:
        shared_counts = baseline_inputs.counts()
        until_cutoff = {name: [{"UNTIL": [CUTOFF]}, *shared_counts.get(name, ())] for name in ("PUBLISHED", "CUTOFF")}
        until_anonymous: Counts = {
            name: [{"UNTIL": [ANONYMOUS]}] for name in ("K", "BUDGET", "QUASI_IDENTIFIERS", "UNMATCHED")
        }
        records: Counts = {"RECORDS": [{"UNTIL": [ANONYMOUS], "POPULATION": NOT_GIVEN}]}
        return {**shared_counts, **until_cutoff, **until_anonymous, **records}

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.baselines.adjacent_merging import adjacent_merging
        from ..core.baselines.merging_until_anonymous import merging_until_anonymous
        from ..core.errors import InputError

        options = baseline_inputs.merging_options_of(self, parameters, context)
        with Outputs(self, parameters, context, feedback) as outputs:
            layer = inputs.areas_of(self, parameters, context, feedback)
            layer = layer.with_neighbours(progress_of(feedback, 0, READ))
            progress = progress_of(feedback, stop=70)
            if self.text(parameters, "UNTIL", context) == CUTOFF:
                areas = baseline_inputs.populated(self, parameters, layer, context, feedback)
                cutoff = baseline_inputs.cutoff_of(self, parameters, context)
                aggregation = adjacent_merging(areas, None, replace(options, cutoff=cutoff), progress)
            else:
                if self.parameterAsSource(parameters, "RECORDS", context) is None:
                    raise InputError("RECORDS is not given: merging until k-anonymous needs the records.")
                k = self.parameterAsInt(parameters, "K", context)
                records = inputs.records_of(self, parameters, layer.areas, k, context, feedback)
                areas = inputs.populated(layer, records)
                aggregation = merging_until_anonymous(areas, records.profile, replace(options, k=k), progress)
            results = region_outputs.add_aggregation(outputs, layer, aggregation, feedback)
        return results
