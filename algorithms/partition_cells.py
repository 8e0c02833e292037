"""Cells of a grid joined into groups that keep their minimums in every year."""

from __future__ import annotations

import time

import numpy as np
from qgis.core import QgsProcessingContext, QgsProcessingFeedback

from . import cell_inputs, cell_outputs
from . import parameters as shared
from .base import VbasAlgorithm
from .effective import Counts
from .layers.feedback import progress_of
from .layers.outputs import Outputs
from .reporting import parameter_rows


class PartitionCells(VbasAlgorithm):
    """`vbas:partitioncells`."""

    ID = "partitioncells"
    TITLE = "Partition cells over time"
    GROUP = "cells"
    TAGS = "grid,squares,population grid,time invariant,years,partition"
    SUMMARY = "Joins cells of a population grid into small groups that keep at least k people in every year."
    HELP = (
        "<p>Takes small squares (or any small areas) with their population in several years, and joins them into "
        "connected groups, small ones, that have at least k people in every year. The groups stay the same "
        "over time, so people can be followed without their square being given away. Several minimums hold at once, "
        "such as 100 persons and 50 households.</p>"
        "<p>Use it once for a country or town; its crosswalk goes into “Release records” and “Evaluate”. Cells whose "
        "surroundings have too few people are left out, and listed with the reason. No group is ever below a minimum: "
        "all are counted anew at the end.</p>"
        "<p>Bjerre-Nielsen &amp; Gandil 2018: Privacy in spatial data with high resolution and time invariance.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *cell_inputs.cells(),
            *cell_inputs.search(),
            shared.seed(),
            *cell_outputs.cell_outputs(),
            shared.report("A page with the measures, who is left out and why, the spread of sizes and a map."),
        ):
            self.addParameter(parameter)
        self.addNumbers(**cell_outputs.NUMBERS)

    def counts(self) -> Counts:
        return cell_inputs.counts()

    def work(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        from ..core.cells import partition_cells
        from ..core.cells.measures import describe_groups
        from ..core.drawing import dissolve
        from ..core.report.partition import official_areas, partition_report

        started = time.perf_counter()
        with Outputs(self, parameters, context, feedback) as outputs:
            layer, cells, shapes, minimums = cell_inputs.cells_of(self, parameters, context, feedback)
            planar = shapes if layer.are_points else layer.planar_shapes
            read = time.perf_counter()
            partition = partition_cells(
                cells,
                minimums,
                self.text(parameters, "APPROACH", context),
                cell_inputs.options_of(self, parameters, context),
                progress_of(feedback, 5, 80),
            )
            crosswalk, measures = partition.crosswalk, partition.measures
            note = (
                f"{measures.n_groups} groups in {partition.n_areas} connected sets of cells; "
                f"{100 * measures.non_pop:.2f} % of the people left out."
            )
            feedback.pushInfo(note)
            partitioned = time.perf_counter()
            groups = describe_groups(cells, minimums, crosswalk, planar)
            drawn = dissolve(shapes, crosswalk, progress_of(feedback, 80, 90))
            outputs.add("CROSSWALK", cell_outputs.crosswalk_table(layer, partition))
            outputs.add("GROUPS", cell_outputs.groups_table(layer, cells, groups, drawn))
            outputs.add("LEFT_OUT", cell_outputs.left_out_table(layer, cells, partition, shapes))
            official = None
            if layer.official is not None:
                name = self.text(parameters, "OFFICIAL_AREA", context)
                official = official_areas(cells, minimums, layer.official, planar, name)
            seconds = {
                "reading, neighbours": read - started,
                "partition": partitioned - read,
                "drawing and writing": time.perf_counter() - partitioned,
            }
            outputs.add_text(
                "REPORT",
                lambda: partition_report(
                    cells,
                    minimums,
                    partition,
                    groups,
                    np.asarray(drawn) if planar is shapes else dissolve(planar, crosswalk),
                    parameter_rows(self, parameters, context),
                    (note,),
                    seconds,
                    official,
                ),
            )
            results = outputs.deliver()
        feedback.setProgress(100)
        return {**results, **cell_outputs.numbers(partition)}
