"""RULE: what it asks for, put into effect and said."""

from __future__ import annotations

from ..errors import InputError
from ..language import tr
from ..policy import Policy, policies, policies_for_lists
from ..privacy.derivable import NO_SMALL_COUNT, not_proven
from ..privacy.rules import NO_RULE, Rule, list_rules
from .job import Job
from .levels import DISCLOSURE
from .values import NESTED


def refusal(problem: str) -> str:
    """Why no rule is followed while the user's own file cannot be read whole."""
    return tr(
        "{problem} The file is in QGIS's settings folder; as long as it cannot be read whole, nobody knows what a RULE "
        "asks for.",
        problem=problem,
    )


def rule_of(asked: Job) -> Rule | None:
    """The rule that is followed, None for one's own numbers or a form without rules.

    Raises InputError where the user's own file of rules cannot be read whole, or no longer has the rule.
    """
    if not asked.follows_rule:
        return None
    name = asked.text("RULE")
    # A policy names rules as they are shipped: a file of one's own would change what they ask for.
    named = any(policy.rules for policy in policies_for_lists())
    listing = list_rules(*([] if named else asked.rule_files))
    if listing.problem:
        raise InputError(refusal(listing.problem))
    if name not in listing.rules:
        raise InputError(tr("RULE: there is no rule “{name}”: choose one of the list.", name=name))
    return listing.rules[name]


def raised_by_rule(asked: Job) -> dict[str, object]:
    """The parameters that are to be raised to what the rule asks for, with their values. Raises InputError."""
    rule = rule_of(asked)
    if rule is None:
        return {}
    raised: dict[str, object] = {
        "K": max(asked.whole("K"), rule.k),
        "LEAST_POPULATION": max(_number(asked, "LEAST_POPULATION"), rule.least_population),
        "L_DIVERSITY": max(asked.whole("L_DIVERSITY"), rule.l_diversity),
    }
    if rule.nor_derivable and (not asked.has("RELEASE") or asked.text("RELEASE") == NESTED):
        raised[DISCLOSURE] = NO_SMALL_COUNT
    return {name: value for name, value in raised.items() if asked.has(name)}


def _number(asked: Job, name: str) -> float:
    return asked.number(name) if asked.has(name) else 0.0


def rule_sentences(asked: Job, nested: bool) -> tuple[str, ...]:
    """The rule with its source, for the log and the report; nothing for one's own numbers.

    nested : whether the release has several levels, of which small counts may be derived
    """
    rule = rule_of(asked)
    if rule is None:
        return ()
    if not nested:
        return (rule.sentence,)
    said = (rule.sentence, *_what_is_left(rule))
    if not asked.has(DISCLOSURE) or asked.text(DISCLOSURE) != NO_SMALL_COUNT:
        return (*said, not_proven(asked.whole("K")))
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


# Parameters with the least count that is shown, and what must be given for each to count.
LEAST = {
    "K": "",
    "K_INNER": "",
    "LEAST": "",
    "K_2": "POPULATIONS_2",
    "K_3": "POPULATIONS_3",
}
REGISTER, RULE = "REGISTER", "RULE"


def hold_to_policies(asked: Job, folder: bool | None = None) -> tuple[Policy, ...]:
    """The policies that a job which releases something holds. Raises PrivacyError where it does not hold one.

    asked : its parameters, raised to what its rule asks for; folder : whether it is written as a folder that describes
    itself, None where that is not known yet, or cannot be
    """
    held = policies()
    for policy in held:
        _hold_what_is_asked(asked, policy)
        if folder is not None and not asked.has(RULE):
            policy.refuse_rule(NO_RULE)
        if asked.has(REGISTER):
            policy.refuse_register(asked.text(REGISTER))
        if folder is not None:
            policy.refuse_without_folder(folder)
    return held


def hold_before_a_place(asked: Job) -> None:
    """Raise PrivacyError for a job that a policy does not have, of which it is not said yet where its release goes."""
    for policy in policies():
        _hold_what_is_asked(asked, policy)


def _hold_what_is_asked(asked: Job, policy: Policy) -> None:
    """Least counts, the rule, and what a nested release holds against."""
    for name, of in LEAST.items():
        if asked.has(name) and (not of or asked.text(of)):
            policy.refuse_k(name, asked.number(name))
    if asked.has(RULE):
        policy.refuse_rule(asked.text(RULE))
    if asked.has(DISCLOSURE) and asked.has("RELEASE"):  # elsewhere the crosswalk says whether levels are nested
        policy.refuse_disclosure(asked.text("RELEASE") == NESTED, asked.text(DISCLOSURE))
