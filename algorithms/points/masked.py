"""How points are masked, and what comes of it: the ring, the release, the audit of every point, the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import shapely
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.dataclass import dataclass
from ...core.language import tr
from ...core.masking.candidates import Hiding, Shortfall
from ...core.masking.donut import REASONS, Masking, check_released, kept_warnings, release_order
from ...core.masking.own_clusters import KeptCluster
from ...core.masking.placing import NO_AREA
from ...core.masking.utility import Utility, utility
from ...core.plain_text import plain_text
from ...core.progress import Progress
from ...core.records.columns import Column, columns_at
from ...core.report.masking import Anonymity, masking_report
from ...core.report.provenance import Provenance
from ...core.tables.points import MASKED, MASKING_AUDIT
from ...core.tables.schema import FOR_RELEASE, INTERNAL
from ..form.form import Form
from ..form.parameters import described, field, report, sink, whole
from ..layers.shapes.points import moved_coordinates
from ..layers.tables import Table, TableColumn, filled
from .inputs import MaskingInputs, distance

NUMBERS = {
    "N_POINTS": tr("Points"),
    "N_MASKED": tr("Points masked and released"),
    "N_NOT_MASKED": tr("Points not masked, not released"),
    "N_HELD_BACK": tr("Points masked but held back: too few candidate addresses"),
    "N_HOMES": tr("Homes, each of which moves as one"),
    "PERCENT_BELOW_K_MIN": tr(
        "Masked points with fewer candidate addresses than K_MIN (than 5 where it is 0), per cent"
    ),
    "MEAN_DISPLACEMENT": tr("Mean displacement, metres"),
    "PERCENT_IN_OWN_AREA": tr("Masked points in their own area, per cent"),
    "PERCENT_BELOW_K_INNER": tr("Masked points whose actual anonymity is below K_INNER, per cent"),
    "NEAREST_NEIGHBOUR_BEFORE": tr("Mean distance to the nearest point before, metres"),
    "NEAREST_NEIGHBOUR_AFTER": tr("Mean distance to the nearest point after, metres"),
}


@dataclass(frozen=True, eq=False)
class MaskingMeasures:
    """What the masking did.

    k_act : (N,) NaN where not masked; hiding, of the homes; shortfall : all None without households
    pattern : None if there are too few points
    """

    k_act: np.ndarray | None
    hiding: Hiding | None
    shortfall: Shortfall | None
    pattern: Utility | None


def ring() -> Iterable[QgsProcessingParameterDefinition]:
    """CATEGORY_FIELD, CATEGORY_POPULATIONS, K_INNER, K_OUTER: whom a point hides among, and how far it moves."""
    yield field(
        "CATEGORY_FIELD",
        tr("Category"),
        "POINTS",
        tr(
            "A field of the points, such as age and sex group, that outsiders may know: a point then hides among the "
            "people of its own category, and moves farther where they are few. Needs a population per category."
        ),
        optional=True,
    )
    headers = [tr("Category"), tr("Field of AREAS")]
    yield described(
        QgsProcessingParameterMatrix(
            "CATEGORY_POPULATIONS", tr("Categories only: population of each"), headers=headers
        ),
        tr(
            "For each category, the field of AREAS with its population; on the command line as a list, "
            "category and field in turn. Without it, the fields of AREAS that have the categories' names."
        ),
        advanced=True,
        optional=True,
    )
    yield whole(
        "K_INNER",
        tr("Least number of people a point moves past (inner radius)"),
        15,
        tr(
            "A point moves past at least this many people, if they were spread evenly: take three times the "
            "anonymity you want, since they are not."
        ),
        1,
    )
    text = tr("It moves past at most this many people. Without it, 10 x K_INNER.")
    yield whole(
        "K_OUTER", tr("Largest number of people a point moves past (outer radius)"), None, text, 2, optional=True
    )


def release_settings() -> Iterable[QgsProcessingParameterDefinition]:
    """KEEP_FIELDS, DISTANCE, SEED."""
    yield field(
        "KEEP_FIELDS",
        tr("Fields to release"),
        "POINTS",
        tr(
            "Columns to release with the masked points, unchanged. Leave out names, numbers, addresses and "
            "coordinates: they undo the masking."
        ),
        several=True,
        optional=True,
    )
    yield distance()
    yield whole(
        "SEED",
        tr("Seed"),
        None,
        tr(
            "Same points and same seed, same result, for checking. Without it the moves are drawn from the "
            "system's own source, which nobody can repeat: do that for a release. Never publish a seed."
        ),
        0,
        optional=True,
        advanced=True,
    )


def mask_outputs() -> Iterable[QgsProcessingParameterDefinition]:
    """MASKED, AUDIT, REPORT."""
    yield sink(MASKED)
    yield sink(MASKING_AUDIT, optional=True)
    yield report(
        tr("A page with the anonymity reached, the points that were not masked and what is left of the pattern.")
    )


def measure(
    case: MaskingInputs,
    masking: Masking,
    hiding: Hiding | None,
    k_min: int,
    rng: np.random.Generator,
    progress: Progress,
) -> MaskingMeasures:
    """Actual anonymity and utility."""
    rows, drawn, points = masking.masked, masking.drawn, case.points
    k_act = None
    if case.households is not None:
        homes = case.homes.points[case.homes.home_of]
        k_act = np.full(len(rows), np.nan)
        k_act[drawn] = case.households.nearer_than(homes[drawn], masking.displacement[drawn], progress)
    pattern = utility(
        points.coordinates[rows], masking.points[rows], points.area_of[rows], case.areas.planar_shapes, rng
    )
    return MaskingMeasures(k_act, hiding, None if hiding is None else hiding.shortfall(k_min), pattern)


def title(measures: MaskingMeasures) -> str:
    """What MASKED is called: not for release where most points fall short."""
    return f"{MASKED.title} ({INTERNAL if falls_short(measures) else FOR_RELEASE})"


def falls_short(measures: MaskingMeasures) -> bool:
    """Whether most points have fewer candidate addresses than they should."""
    return measures.shortfall is not None and measures.shortfall.most


def masked_table(form: Form, case: MaskingInputs, masking: Masking) -> Table:
    """MASKED, checked on the very coordinates that are written. Raises PrivacyError."""
    layer, areas = case.points.layer, case.areas
    written = moved_coordinates(masking.points, areas.planar, layer.crs, form.context)
    back = moved_coordinates(written, layer.crs, areas.planar, form.context)
    homes = case.homes.points[case.homes.home_of]
    check_released(back, homes, masking, case.points.area_of, areas.planar_shapes)
    rows = np.flatnonzero(masking.masked)
    kept = columns_at(case.kept, rows)
    order = release_order(written[rows], kept)
    own = [(layer.fields.field(name), column.at(order)) for name, column in kept.items()]
    return filled(MASKED, {}, own=own, shapes=shapely.points(written[rows][order]), crs=layer.crs)


def masking_audit_table(case: MaskingInputs, masking: Masking, measures: MaskingMeasures) -> Table:
    """AUDIT: a row per point, in the order of POINTS."""
    layer, areas, homes = case.points.layer, case.areas, case.homes
    names = np.array([*areas.names, None], dtype=object)
    nothing = np.full(len(homes), np.nan)
    shapes = np.full(len(layer), None, dtype=object)
    placed = np.isfinite(layer.coordinates).all(axis=1)
    shapes[placed] = shapely.points(layer.coordinates[placed])
    category = None
    if case.category is not None:
        texts = [None if value is None else plain_text(value) for value in case.category.categories]
        category = Column(case.category.codes, np.array(texts, dtype=object))
    hiding = measures.hiding
    columns: dict[str, TableColumn | None] = {
        "point": layer.ids,
        "outcome": Column(masking.reason, np.array(REASONS, dtype=object)),
        "area": Column(np.where(case.points.area_of == NO_AREA, len(areas.names), case.points.area_of), names),
        "people": homes.people[homes.home_of],
        "inner_m": masking.inner,
        "outer_m": masking.outer,
        "home": homes.home_of + 1,
        "members": homes.members[homes.home_of],
        "candidates": (nothing if hiding is None else hiding.alone)[homes.home_of],
        "candidates_left": hiding.left[homes.home_of] if hiding is not None and hiding.again.any() else None,
        "category": category,
    }
    return filled(MASKING_AUDIT, columns, masking, measures, shapes=shapes, crs=layer.crs)


def masking_numbers(
    case: MaskingInputs, masking: Masking, measures: MaskingMeasures, k_inner: int
) -> dict[str, object]:
    """The numeric outputs; those that cannot be known are left out."""
    n_masked, n_drawn = int(masking.masked.sum()), int(masking.drawn.sum())
    result: dict[str, object] = {
        "N_POINTS": len(masking.reason),
        "N_MASKED": n_masked,
        "N_NOT_MASKED": len(masking.reason) - n_drawn,
        "N_HELD_BACK": n_drawn - n_masked,
        "N_HOMES": len(case.homes),
    }
    if measures.shortfall is not None and measures.shortfall.points:
        result["PERCENT_BELOW_K_MIN"] = measures.shortfall.percent
    if n_masked and measures.k_act is not None:
        result["PERCENT_BELOW_K_INNER"] = 100.0 * float(np.mean(measures.k_act[masking.masked] < k_inner))
    if measures.pattern is not None:
        result["MEAN_DISPLACEMENT"] = measures.pattern.mean_displacement
        result["PERCENT_IN_OWN_AREA"] = measures.pattern.percent_in_own_area
        result["NEAREST_NEIGHBOUR_BEFORE"] = measures.pattern.neighbour_before
        result["NEAREST_NEIGHBOUR_AFTER"] = measures.pattern.neighbour_after
    return result


def page(
    case: MaskingInputs,
    masking: Masking,
    measures: MaskingMeasures,
    cluster: KeptCluster | None,
    k_inner: int,
    not_masked: str,
    provenance: Provenance,
    said: Sequence[str] = (),
) -> str:
    """REPORT; cluster : None where none was searched for; said : sentences on earlier releases."""
    candidates = None if measures.hiding is None else measures.hiding.left[case.homes.home_of]
    notes = [note for note in (case.homes.sentence(), measures.hiding.sentence() if measures.hiding else "") if note]
    return masking_report(
        masking,
        Anonymity(measures.k_act, candidates, measures.shortfall, k_inner),
        measures.pattern,
        cluster,
        not_masked,
        [*said, *notes, *kept_warnings(case.kept)],
        provenance,
    )
