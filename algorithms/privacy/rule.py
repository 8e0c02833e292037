"""RULE, declared."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition

from ...core.language import tr
from ...core.privacy.rules import NO_RULE, Rule, list_rules
from ..form.parameters import choice
from ..layers.inputs import own_rules


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
    asked = [tr("k {k}", k=rule.k)]
    if rule.least_population:
        asked.append(tr("{people:,.0f} people", people=rule.least_population))
    if rule.nor_derivable:
        asked.append(tr("nor derivable"))
    return tr("“{name}”: {asked}.", name=rule.name, asked=", ".join(asked))
