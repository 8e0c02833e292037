"""A release spread over the areas: where its records may live."""

from __future__ import annotations

import numpy as np
from qgis.core import QgsField

from ...core.analysis.released import ReleasedRows
from ...core.analysis.spreading import Spread, rows_of_equal_weights
from ...core.arrays import objects
from ...core.language import as_data, tr
from ...core.records.columns import Column, column_from_values, column_numbers
from ...core.tables.analysis import AREA_COUNTS, EXPOSURES, SPREAD
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.records import shown_fields
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.shapes.areas import AreaLayer
from ..layers.tables import Table, TableColumn, filled
from .released import MARGIN_CONDITIONS, release_of, release_parameters, spread_of, spread_parameters


class SpreadRelease(VbasAlgorithm):
    """`vbas:spreadrelease`."""

    ID = "spreadrelease"
    TAGS = as_data("nested,estimate,weights,raking,exposure,small area")
    SUMMARY = tr("Estimates where the records of a release live: each weighs in the areas of its region by people.")
    HELP = tr(
        "<p>A release shows records in regions, a nested one in regions of several sizes. For a map or a model every "
        "record counts in the areas of its region, in proportion to the people who live there; what is shown in a "
        "single area counts there whole. No record is left out, and none counts more than once.</p><p>Rates by area, "
        "and the mean of an exposure for each record, come nearer to the truth so than by bringing all records to one "
        "level.</p><p><b>What it is not.</b> A count: all that is not known of a region's inside is estimated, and the "
        "number of records that stand behind it says how well. Rare groups stand in larger regions, and are pulled "
        "towards where all people live; with a table of the group by area (MARGINS) they hardly are. A test that takes "
        "spread records for independent finds clusters where there are none: smoothness comes from the spreading.</p>"
        "<p>It takes nothing but what was published, so anybody may use it, and it tells nothing new.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *release_parameters(),
            shared.field(
                "KEEP_FIELDS",
                tr("Additional fields to keep"),
                "RECORDS",
                tr("Released fields that tell rows of SPREAD and EXPOSURES apart beside the quasi-identifiers."),
                several=True,
                optional=True,
            ),
            shared.field(
                "GROUPS",
                tr("Count by"),
                "RECORDS",
                tr(
                    "Released fields that make groups: AREA_COUNTS has a row for each area and group. Empty: all in "
                    "one."
                ),
                several=True,
                optional=True,
            ),
            shared.field(
                "EXPOSURE_FIELDS",
                tr("Exposures"),
                "REGIONS",
                tr("Numbers of the areas, such as a level of pollution: EXPOSURES has their mean for each class."),
                numeric=True,
                several=True,
                optional=True,
            ),
            *spread_parameters(),
            shared.sink(AREA_COUNTS, optional=True),
            shared.sink(SPREAD, optional=True, by_default=False),
            shared.sink(EXPOSURES, optional=True, by_default=False),
        )
        self.addNumbers(
            N_RECORDS=tr("Records"),
            AT_AREA_PERCENT=tr("Records whose area is known, per cent"),
        )

    def conditions(self) -> Conditions:
        return MARGIN_CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        quasi, kept, groups = (form.field_names(name) for name in ("QUASI_IDENTIFIERS", "KEEP_FIELDS", "GROUPS"))
        margins = form.field_names("MARGIN_FIELDS") if form.given("MARGINS") else []
        release = release_of(form, [*kept, *groups, *margins])
        layer, rows = release.layer, release.rows
        weights = spread_of(form, rows)
        names = list(dict.fromkeys([*quasi, *kept]))
        form.outputs.add("AREA_COUNTS", _area_counts(form, layer, rows, weights, groups))
        if form.outputs.wanted("SPREAD"):
            form.outputs.add("SPREAD", _spread_table(form, layer, rows, weights, names))
        if form.outputs.wanted("EXPOSURES"):
            form.outputs.add("EXPOSURES", _exposures(form, layer, rows, weights, names))
        known = weights.in_one_area[weights.profile_of]
        total = float(rows.records.sum())
        return {
            "N_RECORDS": int(total),
            "AT_AREA_PERCENT": 100 * float(rows.records[known].sum()) / total if total else 0.0,
        }


def _area_counts(form: Form, layer: AreaLayer, rows: ReleasedRows, weights: Spread, names: list[str]) -> Table:
    """AREA_COUNTS, area by area, group by group."""
    group_of, groups = rows.groups(names)
    counts = weights.counts(group_of, len(groups))
    n, n_groups = len(rows.areas), len(groups)
    shapes, surface = layer.surfaces, layer.surfaces_square_metres
    of_area, of_group = (
        np.repeat(np.arange(n, dtype=np.int64), n_groups),
        np.tile(np.arange(n_groups, dtype=np.int64), n),
    )
    columns: dict[str, TableColumn] = {
        "estimate": counts.estimate.T.ravel(),
        "share": 100 * counts.share.T.ravel(),
        "rows": counts.rows.T.ravel(),
        "effective": counts.effective.T.ravel(),
        "at_area": 100 * counts.at_area.T.ravel(),
        "area_km2": surface[of_area] / 1e6,
    }
    own: list[tuple[QgsField, TableColumn]] = [(layer.id_field, _taken(layer.identifiers, of_area))]
    for position, (field, name) in enumerate(zip(shown_fields(form.layers.source("RECORDS"), names, ()), names)):
        own.append((field, Column(groups[of_group, position], rows.fields[name].categories)))
    return filled(AREA_COUNTS, columns, own=own, shapes=shapes[of_area], crs=layer.crs)


def _taken(identifiers: list[object], positions: np.ndarray) -> Column:
    """Identifiers of areas, those at these positions."""
    values = objects(identifiers)
    return Column(positions, values)


def _shown(form: Form, rows: ReleasedRows, names: list[str], at: np.ndarray) -> tuple[dict[str, TableColumn], list]:
    """Where the rows at these positions are shown, and the fields that they show."""
    fields = shown_fields(form.layers.source("RECORDS"), names, ())
    own = [
        (field, Column(rows.fields[name].codes[at], rows.fields[name].categories)) for field, name in zip(fields, names)
    ]
    return {LEVEL: rows.level[at] + 1, NUMBER: rows.numbers(at)}, own


def _spread_table(form: Form, layer: AreaLayer, rows: ReleasedRows, weights: Spread, names: list[str]) -> Table:
    """SPREAD: class by class, its areas in the order of the layer."""
    first_row, records = rows_of_equal_weights(rows, weights, names)
    matrix = weights.profiles[weights.profile_of[first_row]].tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    of_class = np.repeat(np.arange(len(first_row), dtype=np.int64), np.diff(matrix.indptr))
    columns, own = _shown(form, rows, names, first_row[of_class])
    columns["records"] = records[of_class]
    columns["weight"] = matrix.data
    columns["estimate"] = matrix.data * records[of_class]
    area = (layer.id_field, _taken(layer.identifiers, matrix.indices.astype(np.int64)))
    return filled(SPREAD, columns, own=[area, *own])


def _exposures(form: Form, layer: AreaLayer, rows: ReleasedRows, weights: Spread, names: list[str]) -> Table:
    """EXPOSURES, class by class."""
    first_row, records = rows_of_equal_weights(rows, weights, names)
    columns, own = _shown(form, rows, names, first_row)
    columns["records"] = records
    for name in form.field_names("EXPOSURE_FIELDS"):
        values = column_from_values(form.job.values_of_areas(name, layer.areas))
        mean, deviation = weights.exposure(column_numbers(values, name, "EXPOSURE_FIELDS"))
        columns[f"mean_{name}"], columns[f"sd_{name}"] = mean[first_row], deviation[first_row]
    return filled(EXPOSURES, columns, own=own)
