"""The two editions of the report on a release in place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.engines.releasing import StagedInPlace, shown_by
from ...core.errors import InputError
from ...core.language import tr
from ...core.nesting.measures import LevelAudit
from ...core.nesting.views import as_they_were
from ...core.plan import Plan
from ...core.report.anonymisation import Account, anonymisation_report
from ...core.report.nested import NestedAccount, nested_report
from ...core.report.page import Section
from ...core.suppression import Terms
from ..form.editions import add_release_edition, ground_of
from ..form.form import Form
from ..form.lost import lost
from ..form.regions import level_shapes
from ..form.release import told_of
from ..form.running import running_of
from ..layers.shapes.areas import AreaLayer
from .planned import Planned

PAGES = ("REPORT", "RELEASE_REPORT")


def refuse_report_without_areas(form: Form) -> None:
    """Refuse REPORT where there are no areas to draw and to measure. Raises InputError."""
    if form.outputs.wanted("REPORT") and not form.given("REGIONS"):
        raise InputError(
            tr("REPORT draws the regions and measures distances: give REGIONS and REGION_ID too, or leave it empty.")
        )


def add_reports(form: Form, done: Planned, staged: StagedInPlace, seconds: Mapping[str, float]) -> str:
    """Write REPORT and RELEASE_REPORT of a release that is staged; what to do next, empty for nothing in particular."""
    plan, layer, step = done.plan, done.layer, ""
    # Persons and values are those of the cells that were counted, not of the values that are shown.
    counted = plan if done.coarser is None else done.coarser.levels.plan
    protection = told_of(form, counted, plan, done.requirement, staged.kept)
    shapes = [] if layer is None else _shapes(form, layer, done)
    if layer is not None and form.outputs.wanted("REPORT"):
        smallest = min((held.least for held in staged.levels.values()), default=None)
        ground = ground_of(layer, shapes)
        if isinstance(done.audit, LevelAudit):
            account = NestedAccount(done.areas, plan, done.measures, done.audit, None, ground, *_of_coarser(done))
            page = nested_report(account, smallest, running_of(form), done.notes, seconds, protection)
        else:
            terms = Terms(plan.k, done.requirement, done.matched.n_unmatched)
            costs, step = lost(form, done.areas, plan, done.measures, done.counted.still_coarser(form), terms)
            one = Account(done.areas, plan, done.measures, done.audit, ground)
            page = anonymisation_report(one, smallest, running_of(form), done.notes, seconds, protection, costs)
        form.outputs.add_text("REPORT", lambda: page)
    fields = done.matched.found.fields
    who = len(fields.quasi_identifiers), bool(fields.members)
    in_words = () if done.coarser is None else done.coarser.in_words
    add_release_edition(form, shown_by(plan), *who, plan.levels, layer, shapes, in_words)
    return step


def _of_coarser(done: Planned) -> tuple[Plan | None, tuple[str, ...], Section | None]:
    """What the page of a nested release is given of last levels that show coarser values."""
    if done.coarser is None:
        return None, (), None
    levels = done.coarser.levels
    return as_they_were(levels.plan, levels.places), done.coarser.in_words, done.coarser.section


def _shapes(form: Form, layer: AreaLayer, done: Planned) -> list[np.ndarray]:
    """Of each level the shapes of its regions, where a page draws them."""
    if not any(map(form.outputs.wanted, PAGES)):
        return []
    return level_shapes(layer, done.plan.levels, form.progress(85, 95))
