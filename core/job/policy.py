"""A job held to the policies in force before anything of it is done, whichever door it came through."""

from __future__ import annotations

from ..policy import Policy, policies
from ..privacy.rules import NO_RULE
from .inputs import Parameters
from .words import NESTED

# Parameters with the least count that is shown, and what must be given for each to count.
LEAST = {
    "K": "",
    "K_INNER": "",
    "LEAST": "",
    "K_2": "POPULATIONS_2",
    "K_3": "POPULATIONS_3",
}
DISCLOSURE, REGISTER, RULE = "DISCLOSURE", "REGISTER", "RULE"


def hold_to_policies(asked: Parameters, folder: bool | None = None) -> tuple[Policy, ...]:
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


def hold_before_a_place(asked: Parameters) -> None:
    """Raise PrivacyError for a job that a policy does not have, of which it is not said yet where its release goes."""
    for policy in policies():
        _hold_what_is_asked(asked, policy)


def _hold_what_is_asked(asked: Parameters, policy: Policy) -> None:
    """Least counts, the rule, and what a nested release holds against."""
    for name, of in LEAST.items():
        if asked.has(name) and (not of or asked.text(of)):
            policy.refuse_k(name, asked.number(name))
    if asked.has(RULE):
        policy.refuse_rule(asked.text(RULE))
    if asked.has(DISCLOSURE) and asked.has("RELEASE"):  # elsewhere the crosswalk says whether levels are nested
        policy.refuse_disclosure(asked.text("RELEASE") == NESTED, asked.text(DISCLOSURE))
