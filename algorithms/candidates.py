"""Releases to choose from: what each would cost and whom it would lose, by the recipe of the main algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from qgis.core import QgsProcessingException, QgsProcessingFeedback, QgsProcessingMultiStepFeedback

from ..core.account import Account
from ..core.configuration import RECOMMENDED
from ..core.dataclass import dataclass
from ..core.errors import Cancelled, VbasError
from ..core.evaluation import ByArea, Measures, evaluate_by_area, people_are_records, people_shown, who_is_lost
from ..core.job.rules import of_records
from ..core.job.signing import made_by
from ..core.job.values import AREAS, NESTED
from ..core.language import plural, tr
from ..core.policy import policies, policies_for_lists
from ..core.privacy.derivable import NO_SMALL_COUNT
from ..core.privacy.kept_fields import examine_kept_fields, refuse_kept_fields
from ..core.privacy.rules import NO_RULE, list_rules
from ..core.release import nothing_released
from ..core.report.provenance import now
from ..core.report.sign import Signing, SignPage, previewed
from .explorer_data import Choices, ExplorerData, Reading
from .layers.inputs import own_rules

LITTLE = 1.0  # per cent that may be suppressed, of the candidate that looks for the most regions within


@dataclass(frozen=True)
class Wanted:
    """A release that could be made: what it is called, and the parameters that make it."""

    title: str
    parameters: dict[str, object]


@dataclass(frozen=True)
class Candidate:
    """A release that could be made, with what it costs.

    measures : None where it cannot be made, and `problem` says why; sentences : what else there is to say
    by_area : where it loses records, and the mean distance of those of each area; page : what would be signed
    """

    title: str
    parameters: dict[str, object]
    measures: Measures | None = None
    sentences: list[str] = field(default_factory=list)
    problem: str = ""
    by_area: ByArea | None = None
    page: SignPage | None = None


def wanted_candidates(choices: Choices, n_sites: int, rule: str = NO_RULE) -> list[Wanted]:
    """The releases that are held beside each other: the regions that were looked at, the most regions that suppress
    little, and nested levels, of which the areas themselves are the finest.

    choices, n_sites : of the look; rule : what each of them follows
    """
    followed = {} if rule == NO_RULE else {"RULE": rule}
    single = replace(choices, nested=False).parameters(n_sites)
    within = {name: value for name, value in single.items() if name != "N_SITES"}
    combination = choices.combination if choices.combination in RECOMMENDED else "all-rounder"
    looked_at = (
        tr("Nested levels from the regions you looked at") if choices.nested else tr("The regions you looked at")
    )
    wanted = [
        Wanted(looked_at, {**choices.parameters(n_sites), **(_disclosure() if choices.nested else {})}),
        Wanted(
            tr("One level, at most {percent:g} % suppressed", percent=LITTLE),
            {**within, "SITE_NUMBER": "suppression budget", "BUDGET": LITTLE},
        ),
        Wanted(
            tr("Nested levels from the areas on"),
            {"K": choices.k, "COMBINATION": combination, "RELEASE": NESTED, "FINEST": AREAS, **_disclosure()},
        ),
    ]
    return [replace(candidate, parameters={**candidate.parameters, **followed}) for candidate in wanted]


def _disclosure() -> dict[str, object]:
    """What a policy of the house asks of nested levels; nothing where none does."""
    asked = [policy.disclosure for policy in policies_for_lists() if policy.disclosure]
    return {"DISCLOSURE": NO_SMALL_COUNT if NO_SMALL_COUNT in asked else asked[0]} if asked else {}


def candidates_of(
    wanted: Sequence[tuple[Wanted, Reading]],
    explorer_data: ExplorerData,
    feedback: QgsProcessingFeedback,
) -> list[Candidate]:
    """What each would give; one that cannot be made says why. Raises Cancelled once the feedback is cancelled."""
    candidates, steps = [], QgsProcessingMultiStepFeedback(len(wanted), feedback)
    for done, (candidate, reading) in enumerate(wanted):
        steps.setCurrentStep(done)
        try:
            account = reading.account(explorer_data, steps)
            kept = examine_kept_fields(account.plan, explorer_data.records)
            refuse_kept_fields(kept)  # as the run would, before anybody decides for it
        except Cancelled:
            raise
        except (VbasError, QgsProcessingException) as error:
            candidates.append(Candidate(candidate.title, candidate.parameters, problem=reading.problem(error)))
            continue
        if not account.plan.n_released:
            why = nothing_released(account.requirement, len(account.levels) > 1)
            problem = reading.in_words_of_the_form(why)
            candidates.append(Candidate(candidate.title, candidate.parameters, problem=problem))
            continue
        by_area = evaluate_by_area(account.areas, account.plan.by_value)
        page = previewed(account, Signing(made_by=made_by()), now(), [field.name for field in kept])
        candidates.append(
            Candidate(
                candidate.title,
                candidate.parameters,
                account.measures,
                [
                    *map(reading.in_words_of_the_form, _sentences(account)),
                    *(reading.in_words_of_the_form(field.warning) for field in kept if field.warning),
                ],
                by_area=by_area,
                page=page,
            )
        )
    return candidates


def rules_to_follow() -> dict[str, str]:
    """The rules that a release may follow, with what each asks for; that of none first."""
    listing = list_rules(*own_rules())
    return {NO_RULE: "", **{name: rule.sentence for name, rule in listing.rules.items()}}


def _sentences(account: Account) -> list[str]:
    """What is said of a candidate beside its numbers in the table."""
    measures = account.measures
    sentences = [
        plural(
            "{n} of {records:,} records is suppressed.",
            "{n} of {records:,} records are suppressed.",
            measures.n_suppressed,
            records=measures.n_records,
        )
    ]
    if len(account.levels) > 1:
        sentences.append(plural("{n} level.", "{n} levels.", len(account.levels)))
    lost = who_is_lost(account.by_value, measures, account.ask.k)
    sentences += [lost] if lost else []
    if account.ask.least_population and people_are_records(account.areas, account.plan):
        sentences.append(of_records(account.ask.least_population))
    return [*sentences, *_lost_for_research(account), *(policy.sentence for policy in policies())]


def _lost_for_research(account: Account) -> list[str]:
    """What whoever works with the release does without."""
    half, most = people_shown(account.areas, account.plan.by_value, (0.5, 0.9))
    people = float(account.areas.population.mean())
    if people_are_records(account.areas, account.plan):
        lost = tr(
            "What a researcher loses: in place of areas of about {people:,.0f} records, half of the records show a "
            "region of at most {half:,.0f}, nine of ten one of at most {most:,.0f}.",
            people=people,
            half=half,
            most=most,
        )
    else:
        lost = tr(
            "What a researcher loses: in place of areas of about {people:,.0f} people, half of the records show a "
            "region of at most {half:,.0f} people, nine of ten one of at most {most:,.0f}.",
            people=people,
            half=half,
            most=most,
        )
    return [lost, *(column.sentence for column in account.coarsened.values())]
