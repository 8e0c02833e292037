"""A release of one level as a job: what the main algorithm does as published."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..core.configuration import aggregate, joined_to_least_population
from ..core.evaluation import evaluate
from ..core.plan import suppress
from ..core.release import smallest_class
from ..core.report.anonymisation import anonymisation_report
from .form import approaches, regions
from .form.areas import areas_of, with_neighbours
from .form.form import Form
from .form.records import populated, records_of, required_of
from .form.release import held_against_margins, release_table, released
from .nested.release import numbers
from .privacy.earlier import held_against_register
from .privacy.rule import rule_sentences


def anonymize_one_level(form: Form) -> dict[str, object]:
    """`vbas:anonymize` with one level of regions."""
    k, configuration = form.whole("K"), approaches.configuration_of(form)
    layer = with_neighbours(form, areas_of(form), [configuration.aggregation])
    records = records_of(form, layer.areas, k)
    areas, read = populated(layer, records), form.seconds()
    run = aggregate(areas, records.profile, configuration, form.progress(stop=60))
    run = joined_to_least_population(run, areas, form.number("LEAST_POPULATION"))
    form.info(*run.notes, *rule_sentences(form))
    requirement = required_of(form, records)
    plan = suppress(records.profile, run.aggregation.crosswalk, k, requirement)
    plan = held_against_register(form, held_against_margins(form, plan), areas)
    release, protection = released(form, plan, records, requirement)
    measures, audit = evaluate(areas, plan, run.aggregation.sites, records.n_unmatched)
    seconds = {"reading": read, **run.seconds}
    seconds["suppression and measures"] = form.seconds() - sum(seconds.values())
    form.outputs.add("RELEASED_RECORDS", *release_table(form, release, plan.levels, records, k))
    shapes = regions.add_regions(form, layer, run.aggregation, audit)
    seconds["drawing and writing"] = form.seconds() - sum(seconds.values())
    page = partial(
        anonymisation_report,
        measures,
        audit,
        k,
        smallest_class(release, len(records.table.quasi_identifiers)),
        layer.to_planar(np.asarray(shapes), layer.crs),
        form.rows(),
        (*records.warnings, *run.notes, *rule_sentences(form)),
        seconds,
        protection,
    )
    form.outputs.add_text("REPORT", page)
    return {**regions.numbers(measures), **numbers(plan.levels, measures)}
