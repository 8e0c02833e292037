"""RULE: declared, and put into effect."""

from __future__ import annotations

import os
from pathlib import Path

from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingParameterDefinition

from ...core.errors import InputError
from ...core.language import tr
from ...core.privacy.derivable import NO_SMALL_COUNT, not_proven
from ...core.privacy.rules import NO_RULE, Rule, list_rules
from ..form.base import VbasAlgorithm
from ..form.parameters import choice
from ..form.understanding import with_labels
from ..layers.inputs import Inputs
from ..nested.disclosure import DISCLOSURE
from ..nested.levels import NESTED


def own_rules() -> list[Path]:
    """The user's own file, `vbas_rules.csv` in QGIS's settings folder, where it is there."""
    own = Path(QgsApplication.qgisSettingsDirPath()) / "vbas_rules.csv"
    return [own] if os.path.lexists(own) else []


class FollowsRules(VbasAlgorithm):
    """A form with a RULE: its numbers are raised, and without a whole file of rules it does not start."""

    def with_rule_minimums(self, inputs: Inputs) -> Inputs:
        return with_rule(inputs)

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # A rule of a file that cannot be read is not in the list: this says why, before QGIS says that it is not.
        if parameters.get("RULE") not in (None, "", NO_RULE):
            problem = list_rules(*own_rules()).problem
            if problem:
                return False, with_labels(self, refusal(problem))
        return super().checkParameterValues(parameters, context)


def refusal(problem: str) -> str:
    """Why no rule is followed while the user's own file cannot be read whole."""
    return tr(
        "{problem} The file is in QGIS's settings folder; as long as it cannot be read whole, nobody knows what a RULE "
        "asks for.",
        problem=problem,
    )


def rule_parameter() -> QgsProcessingParameterDefinition:
    """RULE. The list has what can be read of the rules; a run stops where that is not all."""
    listing = list_rules(*own_rules())
    listed = " ".join(map(_in_short, listing.rules.values()))
    return choice(
        "RULE",
        tr("Published rule to follow"),
        [NO_RULE, *listing.names],
        NO_RULE,
        tr(
            "Raises k, the least population and the sensitive values to what a published rule asks for, and "
            "names its source in the log and the report; “{no_rule}” leaves your own numbers. With nested levels "
            "a rule that forbids counts that can be derived (“nor derivable”) sets DISCLOSURE; one of k alone does "
            "not. Whether a "
            "release complies is for you to judge. {listed} Further rules: a file vbas_rules.csv in QGIS's "
            "settings folder, with the columns of core/privacy/rules.csv; a run with a RULE stops if a line of it "
            "cannot be read.",
            no_rule=NO_RULE,
            listed=listed,
        ),
        advanced=True,
    )


def _in_short(rule: Rule) -> str:
    """A rule in the list of the help."""
    asked = {"name": rule.name, "k": rule.k, "least_population": rule.least_population}
    if rule.nor_derivable:
        return tr("“{name}”: k {k}, {least_population:g} people, nor derivable.", **asked)
    return tr("“{name}”: k {k}, {least_population:g} people.", **asked)


def rule_of(inputs: Inputs) -> Rule | None:
    """The rule that is followed, None for one's own numbers or a form without rules.

    Raises InputError where the user's own file of rules cannot be read whole, or no longer has the rule.
    """
    name = inputs.text("RULE") if inputs.has("RULE") else NO_RULE
    if name == NO_RULE:
        return None
    listing = list_rules(*own_rules())
    if listing.problem:
        raise InputError(refusal(listing.problem))
    if name not in listing.rules:
        raise InputError(tr("RULE: there is no rule “{name}”: choose one of the list.", name=name))
    return listing.rules[name]


def with_rule(inputs: Inputs) -> Inputs:
    """The run with its numbers raised to what the rule asks for."""
    rule = rule_of(inputs)
    if rule is None:
        return inputs
    raised: dict[str, object] = {
        "K": max(inputs.whole("K"), rule.k),
        "LEAST_POPULATION": max(_number(inputs, "LEAST_POPULATION"), rule.least_population),
        "L_DIVERSITY": max(inputs.whole("L_DIVERSITY"), rule.l_diversity),
    }
    if rule.nor_derivable and (not inputs.has("RELEASE") or inputs.text("RELEASE") == NESTED):
        raised[DISCLOSURE] = NO_SMALL_COUNT
    return inputs.with_parameters(**{name: value for name, value in raised.items() if inputs.has(name)})


def _number(inputs: Inputs, name: str) -> float:
    return inputs.number(name) if inputs.has(name) else 0.0


def rule_sentences(inputs: Inputs, nested: bool) -> tuple[str, ...]:
    """The rule with its source, for the log and the report; nothing for one's own numbers.

    nested : whether the release has several levels, of which small counts may be derived
    """
    rule = rule_of(inputs)
    if rule is None:
        return ()
    if not nested:
        return (rule.sentence,)
    said = (rule.sentence, *_what_is_left(rule))
    if not inputs.has(DISCLOSURE) or inputs.text(DISCLOSURE) != NO_SMALL_COUNT:
        return (*said, not_proven(inputs.whole("K")))
    set_by_rule = tr(
        "Following the rule, DISCLOSURE is “{no_small_count}” in this run, whatever was chosen.",
        no_small_count=NO_SMALL_COUNT,
    )
    return (*said, set_by_rule) if rule.nor_derivable else said


def _what_is_left(rule: Rule) -> tuple[str, ...]:
    """That a least population of every region is one of what is left of a larger region, too: one of the finest level
    at least. LEAST_LEFT_PEOPLE would ask for no more, and cost distance."""
    if not rule.least_population:
        return ()
    return (
        tr(
            "Every region of the finest level has at least {people:,.0f} people. So has what is left of a larger "
            "region without some of those inside it, such as those that show a class themselves.",
            people=rule.least_population,
        ),
    )
