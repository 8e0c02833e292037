"""What is shown of records in an engine, and the release that shows it."""

from __future__ import annotations

from ...core.engines.profiling import InPlace, Matched, match_in_place, requirement_in_place
from ...core.engines.releasing import release_in_place, shown_by
from ...core.evaluation import Measures, evaluate
from ...core.language import tr
from ...core.nesting.measures import evaluate_levels
from ...core.nesting.planning import nest
from ...core.nesting.recount import check_where_shown
from ...core.plan import Plan, suppress
from ...core.ties import ties_of
from ..form import regions
from ..form.areas import areas_of
from ..form.form import Form
from ..form.records import populated
from ..form.release import held_against_margins
from ..nested.release import loss_without_areas


def planned(form: Form, found: InPlace) -> tuple[Matched, Plan, Measures]:
    """The records matched with the areas of CROSSWALK, what is shown of them, and what that costs."""
    k, unmatched = form.whole("K"), form.text("UNMATCHED")
    layer = areas_of(form) if form.given("REGIONS") else None
    areas, levels = regions.levels_of_crosswalk(form, None if layer is None else layer.areas)
    matched = match_in_place(found, areas, unmatched, k)
    if matched.n_unmatched:
        form.warn(tr("{n_unmatched} records have no known area and are suppressed.", n_unmatched=matched.n_unmatched))
    requirement = requirement_in_place(matched, k, form.whole("L_DIVERSITY"), form.number("MAX_SHARE"))
    if not regions.has_levels_in_crosswalk(form):
        plan = held_against_margins(form, suppress(matched.profile, levels.crosswalks[0], k, requirement))
        sites = plan.crosswalk.mean_centres(areas.points)
        return matched, plan, evaluate(areas, plan, sites, matched.n_unmatched)[0]
    if layer is not None:
        areas = populated(layer, matched)
    loss = form.text("LOSS") if layer is not None else loss_without_areas(form)
    plan = nest(areas, matched.profile, levels, k, loss, requirement, form.progress(40, 60), ties_of(form.text("TIES")))
    plan = held_against_margins(form, plan)
    check_where_shown(shown_by(plan), matched, levels, whole=not requirement.asks_for_values)
    return matched, plan, evaluate_levels(areas, plan, matched.n_unmatched)[0]


def released(form: Form, matched: Matched, plan: Plan) -> str:
    """Where the release was written."""
    nested = regions.has_levels_in_crosswalk(form)
    done = release_in_place(matched, plan, form.text("DESTINATION").strip(), nested, progress=form.progress(60, 100))
    form.warn(*(one.warning for one in done.kept if one.warning))
    engine = matched.found.engine.title
    for level, held in sorted(done.levels.items()):
        of_level = tr(", level {level}", level=level) if nested else ""
        form.info(
            tr(
                "{engine} counted once more{of_level}: {records} records in {classes} classes, the smallest of "
                "{least}.",
                engine=engine,
                of_level=of_level,
                records=held.records,
                classes=held.classes,
                least=held.least,
            )
        )
    return done.place
