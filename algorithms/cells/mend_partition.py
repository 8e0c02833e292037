"""An existing partition held against further years, and mended."""

from __future__ import annotations

import numpy as np

from ...core.cells import Cells
from ...core.cells.measures import describe_groups
from ...core.cells.mending import FAULTS, HOLDS, REACH, Mending, faults_of, mend
from ...core.crosswalk import LEFT_OUT, Crosswalk
from ...core.drawing import dissolve
from ...core.errors import InputError, first_values
from ...core.language import as_data, plural, tr
from ...core.levels import Levels
from ...core.report.mending import failing_sentence, mending_report, mending_sentences
from ...core.tables.cells import FAILING, MENDED, MOVES
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.provenance import provenance_of
from ..form.regions import crosswalk_parameters, crosswalk_table
from ..layers.reading.crosswalks import read_crosswalk
from ..layers.shapes.projection import north_of
from ..layers.shapes.surfaces import PopulatedLayer
from ..layers.tables import Table, filled
from .cells import MINIMUMS, NEAR, cells_of, empty_years
from .cells import cells as cell_parameters
from .groups import people_columns, people_fields


class MendPartition(VbasAlgorithm):
    """`vbas:mendpartition`."""

    ID = "mendpartition"
    TAGS = as_data("grid,squares,years,partition,update,further years")
    SUMMARY = tr(
        "Holds a partition against further years: which groups fall below k, and the fewest moves that mend them."
    )
    HELP = tr(
        "<p>People move, and a partition that held in the years it was made for may fail in the next. This counts the "
        "groups of an existing crosswalk by the population of further years, and lists those with too few people or in "
        "several pieces. Then it gives as few cells as it can find another group, so that every group is connected and "
        "has its minimum in every year that you give; of as few moves, those of the fewest people. Groups keep their "
        "numbers. Give the old years too, so that the mended groups hold in them as well.</p>"
        "<p>Whether no mend has fewer moves is said in the log: around each failing group the search is exact, and it "
        "looks farther until nothing farther away can matter, or the groups there are too many for it. Where many "
        "groups fail side by side they are mended one after the other, which need not be the fewest moves "
        "together.</p>"
        "<p>A new geography beside the old one gives something away: counts of the same people by both differ by the "
        "cells that moved. The log counts the pieces that are below a minimum; publish by one of the two, "
        "or run “Check several releases”.</p>"
        "<p>Bjerre-Nielsen &amp; Gandil 2018: Privacy in spatial data with high resolution and time invariance, "
        "section 5, which names the problem.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *cell_parameters(),
            *crosswalk_parameters(),
            shared.yes("MEND", tr("Mend what fails"), True, tr("Otherwise it is only told.")),
            shared.whole(
                "REACH",
                tr("How far to look, in groups"),
                REACH,
                tr(
                    "How many groups away from a failing one a cell may move at first; the search looks farther by "
                    "itself where that may save moves."
                ),
                1,
                advanced=True,
            ),
            empty_years(),
            shared.sink(FAILING, optional=True),
            shared.sink(MOVES, optional=True),
            shared.sink(MENDED, optional=True),
            shared.report(tr("A page with the groups that fail, what mends them and what was not looked at.")),
        )
        self.addNumbers(
            N_FAILING=tr("Groups that fail"),
            N_MOVES=tr("Cells that get another group"),
            N_GIVEN_UP=tr("Groups that are given up"),
            PROVEN=tr("Whether no mend has fewer moves, 1 or 0"),
        )

    def conditions(self) -> Conditions:
        return {**NEAR, **{k: [{fields: GIVEN}] for fields, k in MINIMUMS[1:]}}

    def work(self, form: Form) -> dict[str, object]:
        layer, cells, shapes, minimums = cells_of(form)
        crosswalk = _crosswalk_of(form, cells)
        empty = form.yes("EMPTY_YEARS")
        faults = faults_of(cells, minimums, crosswalk, empty)
        sentences = [failing_sentence(faults)]
        numbers: dict[str, object] = {"N_FAILING": int((faults != HOLDS).sum())}
        mending = None
        if form.yes("MEND"):
            mending = mend(cells, minimums, crosswalk, empty, form.whole("REACH"), form.progress(10, 80))
            sentences += mending_sentences(mending, mending.small_pieces(cells, minimums, empty))
            numbers["N_MOVES"] = int(mending.moved.sum())
            numbers["N_GIVEN_UP"], numbers["PROVEN"] = mending.n_given_up, int(mending.proven)
        form.info(*sentences)
        planar = shapes if layer.are_points else layer.planar_shapes
        described = describe_groups(cells, minimums, crosswalk, planar)
        drawn = dissolve(shapes, crosswalk, form.progress(80, 90))
        failing = np.flatnonzero(faults)
        fields = people_fields(cells.fields, described.population, set(FAILING.names))
        form.outputs.add(
            "FAILING",
            filled(
                FAILING,
                {
                    "vbas_region": crosswalk.numbers[failing],
                    "fault": [FAULTS[fault] for fault in faults[failing].tolist()],
                    "cells": described.cells[failing],
                    "least": described.least[failing, 0],
                },
                own=list(zip(fields, people_columns(described.population[failing]))),
                shapes=drawn[failing],
                crs=layer.crs,
            ),
        )
        if mending is not None:
            form.outputs.add("MOVES", _moves_table(layer, cells, mending, shapes))
            form.outputs.add("MENDED", crosswalk_table(layer, Levels((mending.crosswalk,)), False, MENDED))
        elif form.outputs.wanted("MOVES") or form.outputs.wanted("MENDED"):
            form.warn(tr("MOVES and MENDED are not made, as nothing was to be mended (MEND)."))
        form.outputs.add_text(
            "REPORT",
            lambda: mending_report(
                faults,
                described.least[:, 0],
                crosswalk,
                sentences[1:],
                np.asarray(drawn) if planar is shapes else dissolve(planar, crosswalk),
                north_of(layer.planar, planar, form.context),
                provenance_of(form),
            ),
        )
        return numbers


def _crosswalk_of(form: Form, cells: Cells) -> Crosswalk:
    """CROSSWALK for the cells; those that it does not name are in no group. Raises InputError for cells it names that
    are not there."""
    source, field = form.layers.source("CROSSWALK"), form.text("CROSSWALK_ID")
    named, crosswalk = read_crosswalk(source, field, None, form.feedback)
    position = named.codes_of(cells.identifiers)
    missing = np.setdiff1d(np.flatnonzero(crosswalk.region_of >= 0), position)
    if len(missing):
        raise InputError.counting(
            "CROSSWALK gives a group to {n} cell that is not in CELLS (first: {first}): give all cells of the groups, "
            "with 0 where nobody lives.",
            "CROSSWALK gives a group to {n} cells that are not in CELLS (first: {first}): give all cells of the "
            "groups, with 0 where nobody lives.",
            len(missing),
            first=first_values(named.identifiers[missing]),
        )
    new = int((position < 0).sum())
    if new:
        form.info(
            plural(
                "{n} cell is not in the crosswalk, and in no group.",
                "{n} cells are not in the crosswalk, and in no group.",
                new,
            )
        )
    region_of = np.append(crosswalk.region_of, LEFT_OUT)[position]
    return Crosswalk(region_of, crosswalk.n_regions, crosswalk.numbers)


def _moves_table(layer: PopulatedLayer, cells: Cells, mending: Mending, shapes: np.ndarray) -> Table:
    """MOVES. shapes : (n,) of the cells, in the layer's CRS."""
    moved = np.flatnonzero(mending.moved)
    fields = people_fields(cells.fields, cells.population, {layer.id_field.name().lower(), *MOVES.names})
    identifiers = [layer.identifiers[cell] for cell in moved.tolist()]
    people = list(zip(fields, people_columns(cells.population[moved])))
    columns = {
        name: [number or None for number in numbers[moved].tolist()]
        for name, numbers in (("from_region", mending.before), ("to_region", mending.after))
    }
    return filled(MOVES, columns, own=[(layer.id_field, identifiers), *people], shapes=shapes[moved], crs=layer.crs)
