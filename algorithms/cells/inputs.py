"""CELLS, their populations and minimums, and the settings of the search: declared and read."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import shapely
from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
)

from ...core.approach import looking_at
from ...core.cells import APPROACHES, Cells, Minimum, PartitionOptions
from ...core.cells.cells import CELL_POINTS, CENTRE, EDGE, NEIGHBOURS, cells_of_points, cells_of_polygons
from ...core.errors import InputError
from ..form.approaches import sentences
from ..form.effective import GIVEN, Counts
from ..form.form import Form
from ..form.parameters import ANY_FIELD, INTEGER, NUMERIC_FIELD, REAL, choice, described
from ..layers.cells import CellLayer, read_cells

MINIMUMS = (("POPULATIONS", "K"), ("POPULATIONS_2", "K_2"), ("POPULATIONS_3", "K_3"))
SETTINGS = PartitionOptions()


def cells() -> Iterable[QgsProcessingParameterDefinition]:
    """CELLS, CELL_ID, the minimums, CELL_SIZE, CELL_POINT, NEIGHBOURS, OFFICIAL_AREA."""
    yield described(
        QgsProcessingParameterFeatureSource(
            "CELLS",
            "Cells",
            [QgsProcessing.SourceType.TypeVectorPolygon, QgsProcessing.SourceType.TypeVectorPoint],
        ),
        "Squares of a population grid, as polygons or as one point per square, or any small areas as polygons.",
    )
    yield described(
        QgsProcessingParameterField("CELL_ID", "Identifier of the cell", parentLayerParameterName="CELLS"),
        "The field that names each cell, once.",
    )
    yield from _minimum(
        0,
        "Population fields, one per year",
        "The people of a cell, a field for each year. Every group has at least k in every one of them. The measures "
        "count people by these fields.",
    )
    yield from _minimum(1, "Second population, such as households", "Fields with a minimum of their own.")
    yield from _minimum(2, "Third population", "Fields with a minimum of their own.")
    yield described(
        QgsProcessingParameterNumber(
            "CELL_SIZE", "Side of a cell, metres (for points)", type=REAL, defaultValue=0.0, minValue=0.0
        ),
        "For cells given as points: the side of the squares. Polygons have their own size.",
    )
    yield choice(
        "CELL_POINT",
        "A point stands for the cell's",
        CELL_POINTS,
        CENTRE,
        "For cells given as points: where in its square a point lies.",
        advanced=True,
    )
    yield choice(
        "NEIGHBOURS",
        "Neighbours share an",
        NEIGHBOURS,
        EDGE,
        "“edge”: cells are neighbours if they share a stretch of border; “edge or corner”: touching in a point is "
        "enough, which reaches more cells in thinly settled land. Groups are connected in that sense.",
    )
    yield described(
        QgsProcessingParameterField(
            "OFFICIAL_AREA",
            "Areas in use, to compare with",
            parentLayerParameterName="CELLS",
            type=ANY_FIELD,
            optional=True,
        ),
        "A field that tells which official area (parish, municipality) a cell lies in: the report shows how much finer "
        "the groups are.",
        advanced=True,
    )


def _minimum(position: int, label: str, text: str) -> Iterable[QgsProcessingParameterDefinition]:
    fields, k = MINIMUMS[position]
    further = position > 0
    yield described(
        QgsProcessingParameterField(
            fields,
            label,
            parentLayerParameterName="CELLS",
            type=NUMERIC_FIELD,
            allowMultiple=True,
            optional=further,
        ),
        text,
        advanced=further,
    )
    yield described(
        QgsProcessingParameterNumber(
            k, f"Least of {fields}" if further else "k: least people", type=INTEGER, defaultValue=100, minValue=2
        ),
        f"The least that every group has in every field of {fields}. Statistics Denmark asks for 100 persons in every "
        "year.",
        advanced=further,
    )


def search() -> Iterable[QgsProcessingParameterDefinition]:
    """APPROACH and its settings, without SEED."""
    yield choice(
        "APPROACH",
        "Approach",
        APPROACHES,
        "compact growth",
        sentences(APPROACHES),
    )
    yield described(
        QgsProcessingParameterNumber("RESTARTS", "Restarts", type=INTEGER, defaultValue=5, minValue=1),
        "Runs from different starts, of which the best is kept, for each connected set of cells: more are never "
        "worse, and take longer.",
    )
    yield described(
        QgsProcessingParameterNumber(
            "BETA", "β: weight of the people left out", type=REAL, defaultValue=SETTINGS.beta, minValue=0, maxValue=1
        ),
        "Loss = -β · share left out - (1 - β) · mean diagonal in cells. Near 1 nearly everybody is taken in; a smaller "
        "β leaves out who lives in groups too wide to be worth it.",
        advanced=True,
    )
    yield from _fine_tuning()


def _fine_tuning() -> Iterable[QgsProcessingParameterDefinition]:
    """What few will change: the advanced settings of both approaches."""
    for name, label, value, least, text in (
        (
            "ATTEMPTS",
            "Attempts (random growth)",
            SETTINGS.attempts,
            1,
            "Growths that may end without enough people before an area is given up: R of the published algorithm.",
        ),
        (
            "REGROUPINGS",
            "Regroupings per group (compact growth)",
            SETTINGS.regroupings,
            0,
            "How often a group is merged with neighbours and split anew, as long as the loss does not get worse.",
        ),
        (
            "CHUNK_CELLS",
            "Most cells of a chunk",
            SETTINGS.chunk_cells,
            0,
            "Connected sets of more cells are first cut into communities by the Louvain method, which needs the Python "
            "package networkx. 0: never. The best restart is then chosen chunk by chunk.",
        ),
    ):
        yield described(
            QgsProcessingParameterNumber(name, label, type=INTEGER, defaultValue=value, minValue=least),
            text,
            advanced=True,
        )
    for name, label, value, text in (
        (
            "NEWLY_BUILT",
            "Newly built cells first (random growth)",
            SETTINGS.newly_built_first,
            "Cells that turn from empty to inhabited are first grouped among themselves. It matters where groups may "
            "be empty in a year.",
        ),
        (
            "EMPTY_YEARS",
            "Groups may be empty in a year",
            SETTINGS.empty_years,
            "A group then has, in every year, nobody at all or at least k: newly built quarters can be groups of their "
            "own.",
        ),
    ):
        yield described(QgsProcessingParameterBoolean(name, label, defaultValue=value), text, advanced=True)


def counts() -> Counts:
    """Where the settings count: a minimum with its populations, the fine tuning with its approach."""
    minimums: Counts = {k: [{fields: GIVEN}] for fields, k in MINIMUMS[1:]}
    return {
        **minimums,
        "ATTEMPTS": [{"APPROACH": looking_at(APPROACHES, "attempts")}],
        "NEWLY_BUILT": [{"APPROACH": looking_at(APPROACHES, "newly_built_first")}],
        "REGROUPINGS": [{"APPROACH": looking_at(APPROACHES, "regroupings")}],
    }


def options_of(form: Form) -> PartitionOptions:
    """The settings of the search, read."""
    return PartitionOptions(
        attempts=form.whole("ATTEMPTS"),
        restarts=form.whole("RESTARTS"),
        beta=form.number("BETA"),
        seed=form.whole("SEED"),
        newly_built_first=form.yes("NEWLY_BUILT"),
        regroupings=form.whole("REGROUPINGS"),
        chunk_cells=form.whole("CHUNK_CELLS"),
        empty_years=form.yes("EMPTY_YEARS"),
    )


def cells_of(form: Form) -> tuple[CellLayer, Cells, np.ndarray, list[Minimum]]:
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
        raise InputError("POPULATIONS names no field: choose the population fields of CELLS, one per year.")
    layer = read_cells(
        form.source("CELLS"),
        form.text("CELL_ID"),
        list(named.items()),
        form.text("OFFICIAL_AREA"),
        form.context,
        form.feedback,
    )
    neighbours = form.text("NEIGHBOURS")
    if layer.are_points:
        size = form.number("CELL_SIZE")
        stands_for = form.text("CELL_POINT")
        points = _coordinates(layer)
        found, shapes = cells_of_points(
            layer.identifiers, points, size, stands_for, layer.people, list(named), neighbours
        )
    else:
        shapes = layer.shapes
        found = cells_of_polygons(
            layer.identifiers,
            shapes,
            layer.planar_shapes,
            layer.people,
            list(named),
            neighbours,
            form.progress(0, 5),
        )
    form.info(
        f"{len(found)} cells of {found.cell_size:g} m, {len(found.adjacency.others) // 2} borders between neighbours."
    )
    return layer, found, shapes, minimums


def _coordinates(layer: CellLayer) -> np.ndarray:
    """The point of each cell, (n, 2)."""
    return shapely.get_coordinates(shapely.centroid(layer.shapes))
