"""People as dots at random places of their group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.areas import checked_identifiers, identifier_text
from ...core.cells.dots import (
    ALLOCATIONS,
    BY_RATE,
    Dots,
    GroupCounts,
    check_dots,
    counts_of_rates,
    counts_of_rows,
    draw_dots,
)
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.records.columns import Column
from ...core.records.table import counts_of
from ...core.report.dots import dots_report, hidden_sentence, warnings
from ...core.tables.cells import DOT_AUDIT, DOTS
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import POLYGONS, choice, field, report, seed, sink, source, whole
from ..form.provenance import provenance_of
from ..form.records import record_count
from ..layers.reading.records import read_columns
from ..layers.shapes.points import moved_coordinates
from ..layers.shapes.projection import north_of
from ..layers.shapes.surfaces import AREA, PopulatedLayer, read_populated
from ..layers.tables import Table, filled

LEAST = 10


class DotMap(VbasAlgorithm):
    """`vbas:dotmap`."""

    ID = "dotmap"
    TAGS = as_data("dots,dot density,synthetic population,groups,map")
    SUMMARY = tr("Draws a dot for each person at a random place of their group, where no small count would be shown.")
    HELP = tr(
        "<p>Draws as many dots as a group has people, at random places of it, and gives each a category with the "
        "group's rate, such as employed or not. Groups in which some category has 1 to LEAST - 1 people get no "
        "dots. The pattern of a whole country becomes visible; where in its group a dot lies says nothing.</p>"
        "<p>Give the groups of “Partition cells over time” (or any released regions), and the people either as PEOPLE "
        "and RATE, fields of the groups, or as RECORDS that name the group and the category of each.</p>"
        "<p><b>What it tells.</b> Readers can count the dots: take the map for a table of counts by group and "
        "category, to within a dot. Each of these counts is 0 or at least LEAST, recounted in the end. Drawing "
        "categories with the rate blurs them, but protects nobody; nor do larger dots. In a group of one category "
        "all are known to be of it, and a group that is not shown has a small category: the log says how many there "
        "are. Not looked at are totals known from elsewhere, from which a hidden group may follow by subtraction, "
        "other maps of the same people, and people who stand in several rows.</p>"
        "<p>Bjerre-Nielsen &amp; Gandil 2018: Privacy in spatial data with high resolution and time invariance, "
        "section 5 (there at least 10).</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *_groups(),
            *_records(),
            *_drawing(),
            seed(),
            sink(DOTS),
            sink(DOT_AUDIT, optional=True),
            report(tr("A page with what the map tells, what was not looked at, and which groups are not shown.")),
        )
        self.addNumbers(
            N_DOTS=tr("Dots"),
            N_SHOWN=tr("Groups that are shown"),
            N_HIDDEN=tr("Groups that are not shown: some category has fewer than LEAST people"),
        )

    def conditions(self) -> Conditions:
        of_records = {name: [{"RECORDS": GIVEN}] for name in ("RECORD_REGION", "CATEGORY", "RECORD_COUNT")}
        return {**{name: [{"RECORDS": NOT_GIVEN}] for name in ("PEOPLE", "RATE")}, **of_records}

    def work(self, form: Form) -> dict[str, object]:
        layer, groups = _groups_of(form)
        least, people_per_dot, allocation = form.whole("LEAST"), form.whole("PEOPLE_PER_DOT"), form.text("ALLOCATION")
        shapes = np.asarray(layer.planar_shapes)
        hidden = hidden_sentence(groups, least)
        form.info(hidden)
        form.warn(*warnings(groups, least))
        dots = draw_dots(shapes, groups, least, people_per_dot, allocation, form.whole("SEED"), form.progress(20, 70))
        written = moved_coordinates(dots.points, layer.planar, layer.crs, form.context)
        check_dots(dots, moved_coordinates(written, layer.crs, layer.planar, form.context), shapes, groups, least)
        form.outputs.add("POINTS", _dots_table(layer, groups, dots, written))
        form.outputs.add("AUDIT", _audit_table(layer, groups, dots, least))
        form.outputs.add_text(
            "REPORT",
            lambda: dots_report(
                groups,
                dots,
                least,
                people_per_dot,
                allocation,
                shapes,
                north_of(layer.planar, shapes, form.context),
                (),
                provenance_of(form),
            ),
        )
        may_show = groups.may_be_shown(least)
        return {"N_DOTS": len(dots.group), "N_SHOWN": int(may_show.sum()), "N_HIDDEN": int((~may_show).sum())}


def _groups() -> Iterable[QgsProcessingParameterDefinition]:
    """GROUPS, GROUP_ID, PEOPLE, RATE."""
    text = tr("The groups as polygons, such as “Partition cells over time” or a release makes them.")
    yield source("GROUPS", tr("Groups"), text, POLYGONS)
    text = tr("The field that identifies each group, such as vbas_region; no value may occur twice.")
    yield field("GROUP_ID", tr("Identifier of the group"), "GROUPS", text)
    text = tr("Without RECORDS: how many people a group has.")
    yield field("PEOPLE", tr("People of the group"), "GROUPS", text, numeric=True, optional=True)
    yield field(
        "RATE",
        tr("Share of the people who have something"),
        "GROUPS",
        tr(
            "Without RECORDS: the share of the group's people, from 0 to 1, that is shown as one category; the others "
            "are the second. Give it unrounded: people times rate, to the nearest whole number, is what is held "
            "against LEAST."
        ),
        numeric=True,
        optional=True,
    )


def _records() -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, RECORD_REGION, CATEGORY, RECORD_COUNT."""
    text = tr("In place of PEOPLE and RATE: a row for each person, or, with a count, for several.")
    yield source("RECORDS", tr("Records"), text, optional=True)
    text = tr("The field that says which group a person is in, with the same identifiers as the groups.")
    yield field("RECORD_REGION", tr("Field with the group, in the records"), "RECORDS", text, optional=True)
    text = tr(
        "The field that says what a dot shows of a person, such as employed or not. A missing value is a category."
    )
    yield field("CATEGORY", tr("Category"), "RECORDS", text, optional=True)
    yield record_count(numeric=False)


def _drawing() -> Iterable[QgsProcessingParameterDefinition]:
    """LEAST, PEOPLE_PER_DOT, ALLOCATION."""
    yield whole(
        "LEAST",
        tr("Fewest people of a category"),
        LEAST,
        tr(
            "A group is shown only if each category has nobody there, or at least this many people. The paper takes 10."
        ),
        2,
    )
    text = tr(
        "A group has its people over this number as dots, rounded. A dot for each of many people covers the map: of a "
        "city of 200 000, 50 people a dot read well. It protects nobody."
    )
    yield whole("PEOPLE_PER_DOT", tr("People per dot"), 1, text, 1)
    yield choice(
        "ALLOCATION",
        tr("Categories of dots are"),
        ALLOCATIONS,
        BY_RATE,
        tr(
            "“drawn by the group's rate”: each dot by chance, as in the paper; “as counted”: as many dots of each "
            "category as people, or in that proportion."
        ),
        advanced=True,
    )


def _groups_of(form: Form) -> tuple[PopulatedLayer, GroupCounts]:
    """GROUPS, and the people of each by category."""
    fields = [] if form.given("RECORDS") else [(form.text(name), name) for name in ("PEOPLE", "RATE")]
    if not all(name for name, _ in fields):
        raise InputError.saying("Who is in the groups? Give PEOPLE and RATE, fields of GROUPS, or RECORDS.")
    id_field = (form.text("GROUP_ID"), "GROUP_ID")
    layer = read_populated(
        form.layers.source("GROUPS"), "GROUPS", AREA, id_field, fields, form.context, form.feedback, points=False
    )
    names = checked_identifiers(layer.identifiers, "GROUP_ID", counted.regions)
    if fields:
        return layer, counts_of_rates(names, layer.people[:, 0], layer.people[:, 1], [name for name, _ in fields])
    return layer, _counted_records(form, names)


def _counted_records(form: Form, names: np.ndarray) -> GroupCounts:
    """RECORDS by group and category; those of no group are told, and left out."""
    region, category, count = (form.text(name) for name in ("RECORD_REGION", "CATEGORY", "RECORD_COUNT"))
    if not region or not category:
        raise InputError.saying("RECORDS are given: say in RECORD_REGION and CATEGORY which fields hold these.")
    columns = read_columns(
        form.layers.source("RECORDS"),
        list(dict.fromkeys(name for name in (region, category, count) if name)),
        form.feedback,
    )
    position = {name: i for i, name in enumerate(names.tolist())}
    known = [position.get(identifier_text(value), -1) for value in columns[region].categories.tolist()]
    group = np.array([*known, -1], np.int64)[columns[region].codes]
    weights = counts_of(columns, count)
    column = columns[category]
    lost = group < 0
    n_lost = int(lost.sum()) if weights is None else int(weights[lost].sum())
    if n_lost:
        form.warn(
            plural(
                "{n} record is in none of the groups, and has no dot.",
                "{n} records are in none of the groups, and have no dots.",
                n_lost,
            )
        )
    return counts_of_rows(names, group, column.codes.astype(np.int64), column.categories.tolist(), weights)


def _dots_table(layer: PopulatedLayer, groups: GroupCounts, dots: Dots, points: np.ndarray) -> Table:
    """POINTS, by group and category. points : (N, 2) in the layer's CRS."""
    identifiers = np.array(layer.identifiers, dtype=object)
    texts = np.array(
        [None if category is None else identifier_text(category) for category in groups.categories], dtype=object
    )
    return filled(
        DOTS,
        {"category": Column(dots.category, texts)},
        own=[(layer.id_field, Column(dots.group, identifiers))],
        shapes=shapely.points(points),
        crs=layer.crs,
    )


def _audit_table(layer: PopulatedLayer, groups: GroupCounts, dots: Dots, least: int) -> Table:
    """AUDIT."""
    columns = {
        "group_people": groups.people,
        "shown": groups.may_be_shown(least).astype(np.int64),
        "dots": np.bincount(dots.group, minlength=len(groups.names)),
    }
    own = [(layer.id_field, layer.identifiers)]
    return filled(DOT_AUDIT, columns, groups, own=own, shapes=layer.shapes, crs=layer.crs)
