"""RULE: what it asks for, put into effect and said."""

from __future__ import annotations

import math

from .. import counted
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


def rule_of(job: Job) -> Rule | None:
    """The rule that is followed, None for one's own numbers or a form without rules.

    Raises InputError where the user's own file of rules cannot be read whole, or no longer has the rule.
    """
    if not job.follows_rule:
        return None
    name = job.text("RULE")
    # A policy names rules as they are shipped: a file of one's own would change what they ask for.
    named = any(policy.rules for policy in policies_for_lists())
    listing = list_rules(*([] if named else job.rule_files))
    if listing.problem:
        raise InputError(refusal(listing.problem))
    if name not in listing.rules:
        raise InputError.saying("RULE: there is no rule “{name}”: choose one of the list.", name=name)
    return listing.rules[name]


def with_rule_minimums(job: Job) -> dict[str, object]:
    """The parameters that are to be raised to what the rule asks for, with their values. Raises InputError."""
    rule = rule_of(job)
    if rule is None:
        return {}
    values: dict[str, object] = {
        "K": max(job.whole("K"), rule.k),
        "LEAST_POPULATION": max(_number(job, "LEAST_POPULATION"), rule.least_population),
        "L_DIVERSITY": max(job.whole("L_DIVERSITY"), rule.l_diversity),
    }
    if rule.nor_derivable and (not job.has("RELEASE") or job.text("RELEASE") == NESTED):
        values[DISCLOSURE] = NO_SMALL_COUNT
    return {name: value for name, value in values.items() if job.has(name)}


def _number(job: Job, name: str) -> float:
    return job.number(name) if job.has(name) else 0.0


def rule_sentences(job: Job, nested: bool) -> tuple[str, ...]:
    """The rule with its source, and of whom a least population is, for the log and the report.

    nested : whether the release has several levels, of which small counts may be derived
    """
    rule = rule_of(job)
    people = max(_number(job, "LEAST_POPULATION"), rule.least_population if rule else 0.0)
    by_records = _counted_by_records(job, people)
    if rule is None:
        return by_records
    if not nested:
        return (rule.sentence, *by_records)
    said = (rule.sentence, *(by_records or _what_is_left(rule, people)))
    if not job.has(DISCLOSURE) or job.text(DISCLOSURE) != NO_SMALL_COUNT:
        return (*said, not_proven(job.whole("K")))
    set_by_rule = tr(
        "Following the rule, DISCLOSURE is “{no_small_count}” in this run, whatever was chosen.",
        no_small_count=NO_SMALL_COUNT,
    )
    return (*said, set_by_rule) if rule.nor_derivable else said


def of_records(people: float) -> str:
    """That a least population is one of records, where no population was given.

    Parameters
    ----------
    people : float
        The least that is asked for.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> from vbas.core.job.rules import of_records
    >>> of_records(300)[:38]
    'Every region has at least 300 records,'
    """
    return tr(
        "Every region has at least {records}, each counted as a person as POPULATION is empty: where people have "
        "several, a region may have fewer people than that.",
        records=counted.records(math.ceil(people)),
    )


def _counted_by_records(job: Job, people: float) -> tuple[str, ...]:
    """The same of a job; nothing where a population was given. people : 0 for any"""
    return (of_records(people),) if people and not job.given("POPULATION") else ()


def _what_is_left(rule: Rule, people: float) -> tuple[str, ...]:
    """That a least population of every region is one of what is left of a larger region, too: one of the finest level
    at least. LEAST_LEFT_PEOPLE would ask for no more, and cost distance."""
    if not rule.least_population:
        return ()
    return (
        tr(
            "Every region of the finest level has at least {people:,.0f} people. So has what is left of a larger "
            "region without some of those inside it, such as those that show a class themselves.",
            people=people,
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


def hold_to_policies(job: Job, folder: bool | None = None) -> tuple[Policy, ...]:
    """The policies that a job which releases something holds. Raises PrivacyError where it does not hold one.

    job : its parameters, raised to what its rule asks for; folder : whether it is written as a folder that describes
    itself, None where that is not known yet, or cannot be
    """
    held = policies()
    for policy in held:
        _hold_what_is_asked(job, policy)
        if folder is not None and not job.has(RULE):
            policy.refuse_rule(NO_RULE)
        if job.has(REGISTER):
            policy.refuse_register(job.text(REGISTER))
        if folder is not None:
            policy.refuse_without_folder(folder)
    return held


def hold_before_a_place(job: Job) -> None:
    """Raise PrivacyError for a job that a policy does not have, of which it is not said yet where its release goes."""
    for policy in policies():
        _hold_what_is_asked(job, policy)


def _hold_what_is_asked(job: Job, policy: Policy) -> None:
    """Least counts, the rule, and what a nested release holds against."""
    for name, of in LEAST.items():
        if job.has(name) and (not of or job.text(of)):
            policy.refuse_k(name, job.number(name))
    if job.has(RULE):
        policy.refuse_rule(job.text(RULE))
    if job.has(DISCLOSURE) and job.has("RELEASE"):  # elsewhere the crosswalk says whether levels are nested
        policy.refuse_disclosure(job.text("RELEASE") == NESTED, job.text(DISCLOSURE))
