"""What a form asks of a release, as core takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..core.anonymise import Ask
from ..core.generalising.hierarchies import Hierarchy
from ..core.language import tr
from ..core.nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ..core.nesting.planning import CELLS_AT_ONCE
from ..core.records.table import RecordTable
from ..core.ties import FIXED
from .form.form import Form
from .form.published import published_counts_of
from .nested.disclosure import DISCLOSURE, held_against
from .privacy.earlier import earlier_of
from .privacy.rule import rule_of


def ask_of(
    form: Form,
    table: RecordTable,
    nested: bool,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    at_once: int = CELLS_AT_ONCE,
) -> Ask:
    """What the form asks of a release.

    table : the records, whose fields are looked at; nested : whether rows say their level; hierarchies : of their
    values, for levels that show coarser ones; at_once : cells that are worked out at a time
    """
    rule = rule_of(form)
    people = form.number("LEAST_POPULATION") if form.has("LEAST_POPULATION") else 0.0
    return replace(
        rated(form, nested),
        least_population=max(people, rule.least_population if rule else 0.0),
        published_margins=form.text("PUBLISHED_MARGINS") if form.has("PUBLISHED_MARGINS") else "",
        published_counts=published_counts_of(form, table),
        earlier=earlier_of(form, table),
        ties=form.text("TIES") if form.has("TIES") else FIXED,
        hierarchies=hierarchies or {},
        at_once=at_once,
    )


def rated(form: Form, nested: bool) -> Ask:
    """What the form asks of every class and of where it is shown, for what only rates a release."""
    ask = Ask(
        k=form.whole("K"),
        l_diversity=form.whole("L_DIVERSITY"),
        max_share=form.number("MAX_SHARE"),
        nested=nested,
        loss=_loss(form) if nested else MEAN_DISTANCE,
    )
    return replace(ask, **held_against(form)) if nested and form.has(DISCLOSURE) else ask


def _loss(form: Form) -> str:
    """LOSS, or where there are no areas one that needs no distances."""
    if not form.given("REGIONS") and form.text("LOSS") == MEAN_DISTANCE:
        form.warn(
            tr(
                "Without REGIONS there are no distances: LOSS is “{non_uniform_entropy}” in this run.",
                non_uniform_entropy=NON_UNIFORM_ENTROPY,
            )
        )
        return NON_UNIFORM_ENTROPY
    return form.text("LOSS")
