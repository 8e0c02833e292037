"""CELLS, their populations and minimums, and the search for groups of them: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition

from ...core import counted
from ...core.approach import using_setting
from ...core.cells import APPROACHES, Cells, Minimum, PartitionOptions
from ...core.cells.cells import (
    CELL_POINTS,
    CENTRE,
    EDGE,
    NEIGHBOURS,
    WITHIN_A_DISTANCE,
    cells_of_points,
    cells_of_polygons,
)
from ...core.errors import InputError
from ...core.language import plural, tr
from ...core.parameters import SMALLEST_K
from ..form.approaches import sentences
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import POINTS, POLYGONS, choice, field, number, source, whole, yes
from ..layers.shapes.surfaces import CELL, PopulatedLayer, read_populated

# Fields that say where a cell lies.
FIELDS = ("OFFICIAL_AREA", "WITHIN")
MINIMUMS = (("POPULATIONS", "K"), ("POPULATIONS_2", "K_2"), ("POPULATIONS_3", "K_3"))


def cells() -> Iterable[QgsProcessingParameterDefinition]:
    """CELLS, CELL_ID, the minimums, CELL_SIZE, CELL_POINT, NEIGHBOURS."""
    yield source(
        "CELLS",
        tr("Cells"),
        tr("Squares of a population grid, as polygons or as one point per square, or any small areas as polygons."),
        POLYGONS,
        POINTS,
    )
    text = tr("The field that identifies each cell; no value may occur twice.")
    yield field("CELL_ID", tr("Identifier of the cell"), "CELLS", text)
    yield from _minimum(
        0,
        tr("Population fields, one per year"),
        tr(
            "The people of a cell, a field for each year. Every group has at least k in every one of them. "
            "The measures count people by these fields."
        ),
    )
    yield from _minimum(1, tr("Second population, such as households"), tr("Fields with a minimum of their own."))
    yield from _minimum(2, tr("Third population"), tr("Fields with a minimum of their own."))
    text = tr("For cells given as points: the side of the squares. Polygons have their own size.")
    yield number("CELL_SIZE", tr("Side of a cell, metres (for points)"), 0.0, text, 0.0)
    text = tr("For cells given as points: where in its square a point lies.")
    yield choice("CELL_POINT", tr("A point stands for the cell's"), CELL_POINTS, CENTRE, text, advanced=True)
    yield choice(
        "NEIGHBOURS",
        tr("Neighbours share an"),
        NEIGHBOURS,
        EDGE,
        tr(
            "“edge”: cells are neighbours if they share a stretch of border; “edge or corner”: touching in a point is "
            "enough, which reaches more cells in thinly settled land; “within a distance”: cells are at most "
            "NEIGHBOUR_DISTANCE apart, so that groups reach across a river or empty land. Groups are connected in that "
            "sense."
        ),
    )
    yield number(
        "NEIGHBOUR_DISTANCE",
        tr("Neighbours are at most so far apart, metres"),
        100.0,
        tr("Between the nearest places of two cells; cells that touch always are neighbours."),
        0.0,
        advanced=True,
    )


def official_area() -> QgsProcessingParameterDefinition:
    """OFFICIAL_AREA."""
    return field(
        "OFFICIAL_AREA",
        tr("Areas in use, to compare with"),
        "CELLS",
        tr(
            "A field that says which official area (parish, municipality) a cell lies in: the report shows "
            "how much finer the groups are."
        ),
        optional=True,
        advanced=True,
    )


def units() -> Iterable[QgsProcessingParameterDefinition]:
    """WITHIN, FALL_BACK: units that no group crosses."""
    yield field(
        "WITHIN",
        tr("Groups stay within"),
        "CELLS",
        tr(
            "A field that says which unit (municipality, parish) a cell lies in: no group crosses a border between "
            "units, and of RESTARTS the best is kept for each connected part of a unit, as in the paper. Cells near a "
            "border may then be left out that could have joined across it."
        ),
        optional=True,
        advanced=True,
    )
    yield yes(
        "FALL_BACK",
        tr("Cells in no group fall back to their unit"),
        False,
        tr(
            "Makes a crosswalk of two nested levels: groups, and of each unit the rest of its cells, below; units "
            "above. “Release records” takes it. Each rest reaches the minimums, too: where it would fall short, "
            "the group with the fewest people of that unit is given up to complete it. Cells of a unit with too few "
            "people stay left out."
        ),
        advanced=True,
    )


def _minimum(position: int, label: str, text: str) -> Iterable[QgsProcessingParameterDefinition]:
    fields, k = MINIMUMS[position]
    further = position > 0
    flags = {"optional": further, "advanced": further}
    yield field(fields, label, "CELLS", text, numeric=True, several=True, **flags)
    yield whole(
        k,
        tr("Minimum of {fields}", fields=fields) if further else tr("k: fewest people"),
        100,
        tr(
            "Every group has at least this many in every field of {fields}. Statistics Denmark asks for 100 persons in "
            "every year.",
            fields=fields,
        ),
        SMALLEST_K,
        advanced=further,
    )


def cells_of(form: Form) -> tuple[PopulatedLayer, Cells, np.ndarray, list[Minimum]]:
    """CELLS read: the layer, the cells, their polygons in the layer's CRS, (n,), and the minimums."""
    named: dict[str, str] = {}
    minimums = []
    for fields, k in MINIMUMS:
        names = form.field_names(fields)
        for name in names:
            named.setdefault(name, fields)
        if names:
            columns = tuple(list(named).index(name) for name in names)
            minimums.append(Minimum(columns, form.whole(k), fields))
    if not minimums or minimums[0].label != "POPULATIONS":
        raise InputError.saying("POPULATIONS names no field: choose the population fields of CELLS, one per year.")
    further = [(name, parameter) for parameter in FIELDS if form.has(parameter) and (name := form.text(parameter))]
    layer = read_populated(
        form.layers.source("CELLS"),
        "CELLS",
        CELL,
        (form.text("CELL_ID"), "CELL_ID"),
        list(named.items()),
        form.context,
        form.feedback,
        further,
    )
    if layer.are_points and layer.planar != layer.crs:
        raise InputError.saying(
            "CELLS are points in a CRS that is not in metres on the ground: reproject them to the CRS of their grid."
        )
    shapes, years, neighbours = layer.shapes, list(named), form.text("NEIGHBOURS")
    distance = form.number("NEIGHBOUR_DISTANCE")
    if layer.are_points:
        points = shapely.get_coordinates(shapely.centroid(shapes))
        size, stands_for = form.number("CELL_SIZE"), form.text("CELL_POINT")
        own_cells, shapes = cells_of_points(
            layer.identifiers, points, size, stands_for, layer.people, years, neighbours, distance
        )
    else:
        planar, progress = layer.planar_shapes, form.progress(0, 5)
        own_cells = cells_of_polygons(
            layer.identifiers, shapes, planar, layer.people, years, neighbours, progress, distance
        )
    form.info(
        plural(
            "{cells} of {cell_size:g} m, {n} border between neighbours.",
            "{cells} of {cell_size:g} m, {n} borders between neighbours.",
            len(own_cells.adjacency.others) // 2,
            cells=counted.cells(len(own_cells)),
            cell_size=own_cells.cell_size,
        )
    )
    return layer, own_cells, shapes, minimums


SETTINGS = PartitionOptions()


def search() -> Iterable[QgsProcessingParameterDefinition]:
    """APPROACH and its settings, without SEED."""
    yield choice("APPROACH", tr("Approach"), APPROACHES, "compact growth", sentences(APPROACHES))
    yield whole(
        "RESTARTS",
        tr("Restarts"),
        5,
        tr(
            "Runs from different starts, of which the best is kept, for each connected set of cells: more are never "
            "worse, and take longer."
        ),
        1,
    )
    yield number(
        "BETA",
        tr("β: weight of the people left out"),
        SETTINGS.beta,
        tr(
            "Loss = -β · share left out - (1 - β) · mean diagonal in cells. Near 1 nearly everybody is taken "
            "in; a smaller β leaves out people who live in groups too wide to be worth it."
        ),
        0,
        1,
        advanced=True,
    )
    yield number(
        "LEAST_HULL_SHARE",
        tr("Least share of its hull that a group fills"),
        0.0,
        tr(
            "Groups that branch out fill little of their convex hull: those below this share are left out in the end. "
            "The paper suggests 0.4 where precision matters. 0: none is."
        ),
        0.0,
        1.0,
        advanced=True,
    )
    yield from _fine_tuning()
    yield from empty_in_a_year()


def _fine_tuning() -> Iterable[QgsProcessingParameterDefinition]:
    """ATTEMPTS, REGROUPINGS, CHUNK_KM2, CHUNK_CELLS: how much work an approach takes upon itself."""
    yield whole(
        "ATTEMPTS",
        tr("Attempts (random growth)"),
        SETTINGS.attempts,
        tr("Growths that may end without enough people before an area is given up: R of the published algorithm."),
        1,
        advanced=True,
    )
    yield whole(
        "REGROUPINGS",
        tr("Regroupings per group (compact growth)"),
        SETTINGS.regroupings,
        tr("How often a group is merged with neighbours and split again, as long as the loss does not get worse."),
        0,
        advanced=True,
    )
    yield number(
        "CHUNK_KM2",
        tr("Largest chunk, km²"),
        SETTINGS.chunk_km2,
        tr("Connected sets with a larger surface are cut by the same method; the paper takes 25 km². 0: never."),
        0.0,
        advanced=True,
    )
    yield whole(
        "CHUNK_CELLS",
        tr("Most cells in a chunk"),
        SETTINGS.chunk_cells,
        tr(
            "Connected sets of more cells are first cut into communities by the Louvain method, which needs the Python "
            "package networkx. 0: never. The best restart is then chosen chunk by chunk."
        ),
        0,
        advanced=True,
    )


def empty_in_a_year() -> Iterable[QgsProcessingParameterDefinition]:
    """NEWLY_BUILT, EMPTY_YEARS: what becomes of cells and groups in which nobody lives in some year."""
    yield yes(
        "NEWLY_BUILT",
        tr("Newly built cells first (random growth)"),
        SETTINGS.newly_built_first,
        tr(
            "Cells that turn from empty to inhabited are first grouped among themselves. It matters where "
            "groups may be empty in a year."
        ),
        advanced=True,
    )
    yield empty_years()


def empty_years() -> QgsProcessingParameterDefinition:
    """EMPTY_YEARS."""
    return yes(
        "EMPTY_YEARS",
        tr("Groups may be empty in a year"),
        SETTINGS.empty_years,
        tr(
            "A group then has, in every year, nobody at all or at least k: newly built quarters can be groups of their "
            "own."
        ),
        advanced=True,
    )


def column_of(form: Form, layer: PopulatedLayer, parameter: str) -> list[object] | None:
    """The values of a field of CELLS that says where a cell lies; None where it is not given."""
    fields = [name for name in FIELDS if form.text(name)]
    return layer.further[fields.index(parameter)] if parameter in fields else None


# Where the distance between neighbours counts.
NEAR: Conditions = {"NEIGHBOUR_DISTANCE": [{"NEIGHBOURS": [WITHIN_A_DISTANCE]}]}


def search_conditions() -> Conditions:
    """Where the settings count: a minimum with its populations, the fine tuning with its approach."""
    tuned = {"ATTEMPTS": "attempts", "NEWLY_BUILT": "newly_built_first", "REGROUPINGS": "regroupings"}
    return {
        "FALL_BACK": [{"WITHIN": GIVEN}],
        **NEAR,
        **{k: [{fields: GIVEN}] for fields, k in MINIMUMS[1:]},
        **{name: [{"APPROACH": using_setting(APPROACHES, setting)}] for name, setting in tuned.items()},
    }


def search_options_of(form: Form) -> PartitionOptions:
    """The settings of the search, read."""
    return PartitionOptions(
        attempts=form.whole("ATTEMPTS"),
        restarts=form.whole("RESTARTS"),
        beta=form.number("BETA"),
        seed=form.whole("SEED"),
        newly_built_first=form.yes("NEWLY_BUILT"),
        regroupings=form.whole("REGROUPINGS"),
        chunk_cells=form.whole("CHUNK_CELLS"),
        chunk_km2=form.number("CHUNK_KM2"),
        empty_years=form.yes("EMPTY_YEARS"),
    )
