"""Cells of a grid joined into groups that keep their minimums in every year."""

from __future__ import annotations

import numpy as np

from ...core.cells import partition_cells
from ...core.cells.cells import Cells
from ...core.cells.measures import GroupDescriptions, Minimum, describe_groups
from ...core.cells.partition import Partition, leave_out_branching
from ...core.cells.units import FallBack, Units, fall_back, make_units, within_units
from ...core.drawing import dissolve
from ...core.language import as_data, plural, tr
from ...core.levels import Levels
from ...core.report.partition import UnitsUsed, official_areas, partition_report
from ...core.tables.cells import CELL_CROSSWALK
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.provenance import provenance_of
from ..form.regions import crosswalk_table
from ..layers.shapes.projection import north_of
from ..layers.shapes.surfaces import PopulatedLayer
from . import groups
from .cells import cells as cell_parameters
from .cells import cells_of, column_of, official_area, search, search_conditions, search_options_of, units


class PartitionCells(VbasAlgorithm):
    """`vbas:partitioncells`."""

    ID = "partitioncells"
    TAGS = as_data("grid,squares,population grid,time invariant,years,partition")
    SUMMARY = tr("Joins cells of a population grid into small groups that keep at least k people in every year.")
    HELP = tr(
        "<p>Takes small squares (or any small areas) with their population in several years, and joins them into "
        "small connected groups that have at least k people in every year. The groups stay the same "
        "over time, so that records of all years can show the group in place of the square; a square with enough "
        "people of its own may be a group. Several minimums hold at once, such as 100 persons and 50 households.</p>"
        "<p>Not looked at is who is followed from year to year: few people, or one alone, may have moved between the "
        "same groups in the same years.</p>"
        "<p>Use it once for a country or town; its crosswalk goes into “Release records” and “Evaluate regions”. Cells "
        "whose surroundings have too few people are left out, and listed with the reason. No group is ever below a "
        "minimum: all are recounted at the end.</p>"
        "<p>Bjerre-Nielsen &amp; Gandil 2018: Privacy in spatial data with high resolution and time invariance.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *cell_parameters(),
            official_area(),
            *units(),
            *search(),
            shared.seed(),
            *groups.group_outputs(),
            shared.report(tr("A page with the measures, who is left out and why, the spread of sizes and a map.")),
        )
        self.addNumbers(**groups.NUMBERS)

    def conditions(self) -> Conditions:
        return search_conditions()

    def work(self, form: Form) -> dict[str, object]:
        layer, cells, shapes, minimums = cells_of(form)
        planar = shapes if layer.are_points else layer.planar_shapes
        read = form.seconds()
        options = search_options_of(form)
        within, fallen = None, None
        values = column_of(form, layer, "WITHIN")
        if values is not None:
            within = make_units(cells, values, form.text("WITHIN"))
            cells = within_units(cells, within)
        partition = partition_cells(cells, minimums, form.text("APPROACH"), options, form.progress(5, 80))
        least = form.number("LEAST_HULL_SHARE")
        if least:
            hull_share = describe_groups(cells, minimums, partition.crosswalk, planar).area_hull
            partition = leave_out_branching(cells, minimums, partition, hull_share, least, options.beta)
        if within is not None and form.yes("FALL_BACK"):
            fallen = fall_back(cells, minimums, partition, within, options.beta, options.empty_years)
            partition = fallen.partition
            form.info(fallen.sentence())
        crosswalk, measures = partition.crosswalk, partition.measures
        note = plural(
            "{n} group in {sets}; {non_pop:.2f} % of the people left out.",
            "{n} groups in {sets}; {non_pop:.2f} % of the people left out.",
            measures.n_groups,
            sets=plural("{n} connected set of cells", "{n} connected sets of cells", partition.n_areas),
            non_pop=100 * measures.non_pop,
        )
        form.info(note)
        partitioned = form.seconds()
        described = describe_groups(cells, minimums, crosswalk, planar)
        drawn = dissolve(shapes, crosswalk, form.progress(80, 90))
        _add_tables(form, layer, cells, minimums, partition, described, drawn, shapes, fallen, within)
        official = None
        areas = column_of(form, layer, "OFFICIAL_AREA")
        if areas is not None:
            official = official_areas(cells, minimums, areas, planar, form.text("OFFICIAL_AREA"))
        seconds = {
            tr("reading, neighbours"): read,
            tr("partition"): partitioned - read,
            tr("drawing and writing"): form.seconds() - partitioned,
        }
        form.outputs.add_text(
            "REPORT",
            lambda: partition_report(
                cells,
                minimums,
                partition,
                described,
                np.asarray(drawn) if planar is shapes else dissolve(planar, crosswalk),
                north_of(layer.planar, planar, form.context),
                provenance_of(form),
                (note,),
                seconds,
                official,
                None if within is None else UnitsUsed(within, fallen),
            ),
        )
        numbers = groups.partition_numbers(partition)
        return numbers if fallen is None else {**numbers, "N_FALL_BACK": fallen.n_cells}


def _add_tables(
    form: Form,
    layer: PopulatedLayer,
    cells: Cells,
    minimums: list[Minimum],
    partition: Partition,
    described: GroupDescriptions,
    drawn: np.ndarray,
    shapes: np.ndarray,
    fallen: FallBack | None,
    within: Units | None,
) -> None:
    """CROSSWALK, GROUPS, LEFT_OUT. drawn : (n_groups,) and shapes : (n,) in the layer's CRS."""
    levels, rest_of = None, None
    if fallen is not None and within is not None:
        levels = fallen.levels
        rest_of = [None] * partition.crosswalk.n_regions + [within.names[unit] for unit in fallen.rest_of.tolist()]
        drawn = dissolve(shapes, levels.crosswalks[0])
        planar = shapes if layer.are_points else layer.planar_shapes
        described = describe_groups(cells, minimums, levels.crosswalks[0], planar)
    of_cells = levels or Levels((partition.crosswalk,))
    form.outputs.add("CROSSWALK", crosswalk_table(layer, of_cells, levels is not None, CELL_CROSSWALK))
    form.outputs.add("GROUPS", groups.groups_table(layer, cells, described, drawn, rest_of))
    form.outputs.add("LEFT_OUT", groups.left_out_table(layer, cells, partition, shapes, levels))
