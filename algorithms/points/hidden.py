"""Among how many addresses masked points hide: what is asked for, earlier places, and what the log says."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.arrays import runs
from ...core.errors import InputError
from ...core.language import plural, tr
from ...core.masking.candidates import K_MIN, Hiding, hiding
from ...core.masking.donut import Masking
from ...core.masking.placing import own_areas
from ...core.masking.populations import Households
from ...core.records.columns import codes_of_labels
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import POINTS, field, source, whole
from ..layers.shapes.points import moved_coordinates, read_points
from .inputs import MaskingInputs

CONDITIONS: Conditions = {
    "K_MIN": [{"HOUSEHOLDS": GIVEN}],
    "EARLIER_ID": [{"EARLIER": GIVEN}],
}
UNCOUNTED = tr(
    "HOUSEHOLDS is not given: from how many addresses each masked point could have come was not counted, and nothing "
    "is held back."
)
ONCE = tr(
    "Never mask the same people twice: both results together tell more of each home than either. If they were masked "
    "before, give that layer as EARLIER."
)


def least_candidates() -> Iterable[QgsProcessingParameterDefinition]:
    """K_MIN, EARLIER, EARLIER_ID."""
    yield whole(
        "K_MIN",
        tr("Fewest addresses a point may have come from"),
        K_MIN,
        tr(
            "A masked point that could have come from fewer addresses (HOUSEHOLDS of its area in whose ring "
            "it lies) is held back, not released. The addresses are not all as likely, and count whoever lives there. "
            "0 holds nothing back. Without HOUSEHOLDS it cannot be counted and has no effect."
        ),
        0,
    )
    yield source(
        "EARLIER",
        tr("Masked before: the earlier masked points"),
        tr(
            "Masked points of the same people that others may have already, of the same areas, K_INNER and "
            "K_OUTER: only addresses that fit both places of a home are counted then. Needs HOUSEHOLDS. It is "
            "best not to mask the same people twice."
        ),
        POINTS,
        optional=True,
        advanced=True,
    )
    yield field(
        "EARLIER_ID",
        tr("Masked before: identifier of a person, in both layers"),
        "EARLIER",
        tr(
            "The field of EARLIER that says whose place it is; POINTS must have a field of the same name. It "
            "is released only if it is among the fields to release."
        ),
        optional=True,
        advanced=True,
    )


def hiding_of(form: Form, case: MaskingInputs, masking: Masking) -> Hiding | None:
    """The candidate addresses of each masked home; None without HOUSEHOLDS. Raises InputError."""
    if form.given("EARLIER") and case.households is None:
        raise InputError.saying(
            "EARLIER needs HOUSEHOLDS: without addresses nobody can count what two masked places leave."
        )
    if case.households is None:
        return None
    _warn_of_missing_addresses(form, case.households, case.homes.points, masking)
    area = own_areas(case.households.points, case.areas.planar_shapes)
    earlier, by_category = _earlier(form, case), case.category is not None
    return hiding(masking, case.homes, case.households, area, earlier, form.progress(60, 75), by_category)


def _warn_of_missing_addresses(form: Form, households: Households, homes: np.ndarray, masking: Masking) -> None:
    """A register of addresses may lack new homes (Allshouse 2010, 2.1)."""
    alone = int(households.far_from(homes, masking.inner).sum())
    if alone:
        form.warn(
            plural(
                "HOUSEHOLDS has no address around {n} home, within the inner radius of its ring: new homes may be "
                "missing there, and what is counted around it is of the addresses that HOUSEHOLDS has.",
                "HOUSEHOLDS has no address around {n} homes, within the inner radius of their rings: new homes may be "
                "missing there, and what is counted around them is of the addresses that HOUSEHOLDS has.",
                alone,
            )
        )


def _earlier(form: Form, case: MaskingInputs) -> tuple[np.ndarray, np.ndarray] | None:
    """Earlier places in planar metres, (p, 2), and the home of each, (p,); None where EARLIER is not given."""
    if not form.given("EARLIER"):
        return None
    name = form.text("EARLIER_ID")
    if not name:
        raise InputError.saying("EARLIER_ID is empty: choose the field of EARLIER that says whose place it is.")
    layer = read_points(form.layers.source("EARLIER"), [(name, "EARLIER_ID")], "EARLIER", form.feedback)
    now, before = case.points.layer.columns[name], layer.columns[name]
    labels = [column.categories[column.codes] for column in (now, before)]
    codes = codes_of_labels(np.concatenate(labels).tolist())
    now_codes, before_codes = codes[: len(now)], codes[len(now) :]
    # Every person of that identifier now, beside every earlier place of it.
    order = np.argsort(now_codes, kind="stable")
    start, stop = (np.searchsorted(now_codes[order], before_codes, side) for side in ("left", "right"))
    n_found = np.where(before_codes >= 0, stop - start, 0)
    place = np.repeat(np.arange(len(before), dtype=np.int64), n_found)
    if not len(place):
        raise InputError.saying("EARLIER and POINTS have no value of “{name}” in common: check EARLIER_ID.", name=name)
    coordinates = moved_coordinates(layer.coordinates, layer.crs, case.areas.planar, form.context)
    return coordinates[place], case.homes.home_of[order[runs(start, n_found)]]


def say_hidden(form: Form, case: MaskingInputs, candidates: Hiding | None, k_min: int) -> None:
    """The lines of the log on homes, candidates and earlier places."""
    form.info(*filter(None, [case.homes.sentence()]))
    if candidates is None:
        form.info(UNCOUNTED)
    else:
        short = candidates.shortfall(k_min)
        form.warn(*filter(None, [candidates.sentence()]))
        if short.points:
            (form.warn if short.points_below else form.info)(short.sentence())
    if not form.given("EARLIER"):
        form.info(ONCE)
