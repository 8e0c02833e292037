"""RULE: declared, and put into effect."""

from __future__ import annotations

from pathlib import Path

from qgis.core import QgsApplication, QgsProcessingParameterDefinition

from ...core.errors import InputError
from ...core.language import tr
from ...core.privacy.rules import NO_RULE, Rule, read_rules
from ..form.parameters import choice
from ..layers.given import Given


def rules() -> dict[str, Rule]:
    """The shipped rules and those of the user's own file, `vbas_rules.csv` in QGIS's settings folder."""
    own = Path(QgsApplication.qgisSettingsDirPath()) / "vbas_rules.csv"
    try:
        return read_rules(own) if own.is_file() else read_rules()
    except (InputError, OSError, UnicodeDecodeError):
        return read_rules()  # a damaged file of one's own must not take the form away


def rule_parameter() -> QgsProcessingParameterDefinition:
    """RULE."""
    listed = " ".join(
        tr(
            "“{name}”: k {k}, {least_population:g} people.",
            name=rule.name,
            k=rule.k,
            least_population=rule.least_population,
        )
        for rule in rules().values()
    )
    return choice(
        "RULE",
        tr("Published rule to follow"),
        [NO_RULE, *rules()],
        NO_RULE,
        tr(
            "Raises k, the least population and the sensitive values to what a published rule asks for, and "
            "names its source in the log and the report; “{no_rule}” leaves your own numbers. Whether a "
            "release complies is for you to judge. {listed} Further rules: a file vbas_rules.csv in QGIS's "
            "settings folder, with the columns of core/privacy/rules.csv.",
            no_rule=NO_RULE,
            listed=listed,
        ),
        advanced=True,
    )


def rule_of(given: Given) -> Rule | None:
    """The rule that is followed, None for one's own numbers or a form without rules."""
    return rules().get(given.text("RULE")) if given.has("RULE") else None


def with_rule(given: Given) -> Given:
    """The run with its numbers raised to what the rule asks for."""
    rule = rule_of(given)
    if rule is None:
        return given
    raised = {
        "K": max(given.whole("K"), rule.k),
        "LEAST_POPULATION": max(_number(given, "LEAST_POPULATION"), rule.least_population),
        "L_DIVERSITY": max(given.whole("L_DIVERSITY"), rule.l_diversity),
    }
    return given.with_parameters(**{name: value for name, value in raised.items() if given.has(name)})


def _number(given: Given, name: str) -> float:
    return given.number(name) if given.has(name) else 0.0


def rule_sentences(given: Given) -> tuple[str, ...]:
    """The rule with its source, for the log and the report; nothing for one's own numbers."""
    rule = rule_of(given)
    return () if rule is None else (rule.sentence,)
