"""A release of one level as a job: what the main algorithm does as published."""

from __future__ import annotations

from ..core.configuration import aggregate, joined_to_least_population
from ..core.evaluation import evaluate
from ..core.language import tr
from ..core.plan import suppress
from ..core.release import smallest_class
from ..core.report.anonymisation import Account, anonymisation_report
from ..core.suppression import Terms
from .form import approaches, regions
from .form.areas import areas_of, with_neighbours
from .form.conclusion import conclude
from .form.editions import add_release_edition, ground_of, people_in
from .form.form import Form
from .form.generalising import coarser_of
from .form.guarantees import required_of
from .form.lost import lost
from .form.records import populated, records_of
from .form.release import release_table, released
from .form.running import running_of
from .nested.release import numbers
from .privacy.dependence import crosswalk_sentence
from .privacy.earlier import protected
from .privacy.rule import rule_sentences


def anonymize_one_level(form: Form) -> dict[str, object]:
    """`vbas:anonymize` with one level of regions."""
    k, configuration = form.whole("K"), approaches.configuration_of(form)
    layer = with_neighbours(form, areas_of(form), [configuration.aggregation])
    records = records_of(form, layer.areas, k)
    areas, read = populated(layer, records), form.seconds()
    requirement = required_of(form, records)
    terms = Terms(k, requirement, records.n_unmatched)
    run = aggregate(areas, records.profile, configuration, form.progress(stop=40), terms=terms)
    run = joined_to_least_population(run, areas, form.number("LEAST_POPULATION"))
    notes = (
        *run.notes,
        *rule_sentences(form, nested=False),
        crosswalk_sentence(form, configuration.looking_at_classes),
    )
    form.info(*notes)
    plan = suppress(records.profile, run.aggregation.crosswalk, k, requirement)
    held = protected(form, plan, areas, records, requirement)
    plan, notes = held.plan, (*held.notes, *notes)
    release, protection = released(form, plan, records, requirement, areas.population)
    measures, audit = evaluate(areas, plan, run.aggregation.sites, records.n_unmatched)
    form.warn(*approaches.over_budget(configuration, measures.suppression_percent))
    seconds = {tr("reading"): read, **{tr(step): seconds for step, seconds in run.seconds.items()}}
    seconds[tr("suppression and measures")] = form.seconds() - sum(seconds.values())
    table = release_table(form, release, plan.levels, records, k)
    form.outputs.add("RELEASED_RECORDS", *table, progress=form.progress(40, 70))
    shapes = regions.add_regions(form, layer, run.aggregation, audit)
    seconds[tr("drawing and writing")] = form.seconds() - sum(seconds.values())
    costs, step = lost(form, areas, plan, measures, coarser_of(form, records.table), terms)
    form.outputs.add_text(
        "REPORT",
        lambda: anonymisation_report(
            Account(areas, plan, measures, audit, ground_of(layer, [shapes])),
            smallest_class(release, len(records.table.quasi_identifiers)),
            running_of(form),
            (*records.notes, *notes),
            seconds,
            protection,
            costs,
            run.convergence,
        ),
    )
    conclude(form, measures, release, step)
    add_release_edition(form, release, *people_in(records), plan.levels, layer, [shapes])
    return {**regions.numbers(measures), **numbers(plan.levels, measures)}
