"""The page that is signed: what goes out, for whom and for which purpose, what was asked, and what the files hold.

It is page 1 of the internal report, and a page of its own where it is printed. Whoever signs it signs for content
hashes: those of the released tables, which whoever has these can work out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import counted
from ..account import Account
from ..dataclass import dataclass
from ..errors import VbasError
from ..evaluation import people_are_records, who_is_lost
from ..language import all_of, in_turn, language, plural, tr
from ..plain_text import in_one_line
from ..privacy.derivable import in_short
from ..privacy.rules import NO_RULE
from ..records.table import HOUSEHOLDS, PERSONS
from .numbers import formatted
from .template import template_of

MOST_CHARACTERS = 400  # of what somebody typed, so that the page stays one
MOST_FIELDS = 12  # that are named; further ones are counted
NONE = "–"  # in the place of a number, where nothing is released
KINDS = {PERSONS: tr("persons"), HOUSEHOLDS: tr("households")}
SIGNING = (tr("Proposed by"), tr("Approved by"))
TO_SIGN = (tr("Name"), tr("Function"), tr("Date"), tr("Signature"))
WIDTHS = (22, 18, 12, 28)  # of these columns, per cent of the sheet


@dataclass(frozen=True)
class FileToSign:
    """A table that is released. table : what it is; files : where it goes, by name; content : its content hash"""

    table: str
    files: str
    content: str


@dataclass(frozen=True)
class Signing:
    """What a release's page says beside its account.

    Attributes
    ----------
    recipient, purpose, prepared_by : str
        For whom, why, and by whom; empty where nobody said.
    files : sequence of FileToSign
        What goes out.
    content : str
        The content hash of the whole release, empty where there is none.
    made_by : str
        Program, version and commit.
    register : str
        The entry of the register, empty for none.
    """

    recipient: str = ""
    purpose: str = ""
    prepared_by: str = ""
    files: Sequence[FileToSign] = ()
    content: str = ""
    made_by: str = ""
    register: str = ""


@dataclass(frozen=True)
class SignPage:
    """The page, as text: facts and terms are rows of two cells, numbers those that stand large, with what they are."""

    title: str
    date: str
    verdict: str
    good: bool
    facts: Sequence[tuple[str, str]]
    terms: Sequence[tuple[str, str]]
    numbers: Sequence[tuple[str, str]]
    loses: str
    files: Sequence[FileToSign]
    content: str


def sign_page(
    account: Account, signing: Signing, title: str, verdict: str, date: str, kept: Sequence[str] = ()
) -> SignPage:
    """The page of a release.

    account : of the release; signing : what is said beside it; title, verdict, date : of the report; kept : the fields
    that are released as they are, where the account has no rows that tell them
    """
    measures = account.measures
    lost = who_is_lost(account.by_value, measures, account.plan.k)
    loses = lost or tr("Nobody is suppressed.")
    facts = [(tr("What"), _what(account, kept)), *_said(signing), (tr("Made by"), signing.made_by)]
    facts = [(label, text) for label, text in facts if text]
    numbers = [
        (f"{formatted(measures.suppression_percent)} %", tr("of the records are suppressed")),
        (formatted(_smallest(account) or NONE), tr("records in the smallest released class")),
        (
            (f"{formatted(round(measures.mean_distance))} m", tr("mean distance of a released record"))
            if round(measures.mean_distance) > 0
            else (
                formatted(measures.n_regions),
                plural("region of the finest level", "regions of the finest level", measures.n_regions),
            )
        ),
    ]
    good = account.rows is not None and account.smallest is not None
    return SignPage(
        title, date, verdict, good, facts, _terms(account, signing), numbers, loses, signing.files, signing.content
    )


def previewed(account: Account, signing: Signing, date: str, kept: Sequence[str] = ()) -> SignPage:
    """What the page of a release would say that is not made yet: its files and their hashes are not known.

    kept : the fields that would be released as they are
    """
    verdict = tr(
        "Nothing is released yet. The run counts everything again, and adds the files with their content hashes."
    )
    return sign_page(account, signing, tr("Preview of the page to sign"), verdict, date, kept)


def said_on(page: SignPage, signing: Signing) -> SignPage:
    """The page with another recipient, purpose and name."""
    said = dict(_said(signing))
    return replace(page, facts=[(label, said.get(label, text)) for label, text in page.facts])


def _said(signing: Signing) -> list[tuple[str, str]]:
    unsaid = tr("not said")
    return [
        (tr("For whom"), _clipped(signing.recipient) or unsaid),
        (tr("For which purpose"), _clipped(signing.purpose) or unsaid),
        (tr("Prepared by"), _clipped(signing.prepared_by) or unsaid),
    ]


def _smallest(account: Account) -> int:
    """Records of the smallest released class: recounted, or of the plan where nothing is made yet."""
    if account.rows is not None:
        return account.smallest or 0
    plan = account.plan
    return int(plan.records[plan.released].min()) if plan.released.any() else 0


def printed(page: SignPage) -> str:
    """The page alone as plain HTML, in what Qt prints of it. Raises VbasError where Jinja2 is missing."""
    try:
        template = template_of("sign.html.j2")
    except ImportError as error:
        raise VbasError.saying(
            "The page to sign needs the Python package jinja2: install it, or leave SIGN_PAGE empty."
        ) from error
    return template.render(
        page=page, texts=texts_of_page(), to_sign=TO_SIGN, signing=SIGNING, widths=WIDTHS, language=language()
    )


def texts_of_page() -> dict[str, str]:
    """What stands on every such page."""
    return {
        "internal": tr("Internal: suppressed counts could be derived from it, so do not publish it."),
        "asked": tr("What was asked, and what was found"),
        "files": tr("What goes out"),
        "table": tr("Table"),
        "where": tr("Files"),
        "hash": tr("Content hash (SHA-256)"),
        "whole": tr("The whole release:"),
        "signed": tr("Signatures"),
    }


def _what(account: Account, kept: Sequence[str]) -> str:
    """What is released: records, where they are shown, and their fields."""
    names = list(account.plan.profile.quasi_identifiers)
    if account.rows is not None:
        names += [*account.rows.release.fields, *(field.name for field in account.kept)]
    else:
        names += [*(shares.field for shares in account.requirement.shares), *kept]
    names = list(dict.fromkeys(names))
    listed = names[:MOST_FIELDS]
    further = len(names) - len(listed)
    if further:
        listed.append(plural("{n} further field", "{n} further fields", further))
    measures = account.measures
    where = plural("{n} region", "{n} regions", measures.n_regions)
    if len(account.levels) > 1:
        where = tr("{regions} at the finest of {n_levels} levels", regions=where, n_levels=len(account.levels))
    return tr(
        "{records} in {regions}, with {fields}",
        records=counted.records(account.plan.n_released),
        regions=where,
        fields=all_of(listed) if listed else tr("no further field"),
    )


def _terms(account: Account, signing: Signing) -> list[tuple[str, str]]:
    """What was asked, each with what was found."""
    ask, requirement, protection = account.ask, account.requirement, account.protection
    kinds = [KINDS[members.kind] for members in requirement.members]
    of_k = tr("at least {k} records in every class", k=ask.k)
    if kinds:
        of_k = tr("at least {k} records, and as many {kinds}, in every class", k=ask.k, kinds=all_of(kinds))
    smallest_found = [tr("no class")]
    if smallest := _smallest(account):
        smallest_found = [tr("smallest class of {smallest} records", smallest=smallest)]
        smallest_found += [
            tr("{smallest} {kinds}", smallest=least, kinds=KINDS[kind]) for kind, least in protection.smallest.items()
        ]
    rows = [("k", tr("{asked}; found: {found}", asked=of_k, found=all_of(smallest_found)))]
    if requirement.shares:
        rows.append((tr("Sensitive fields"), _sensitive(account)))
    if account.changed is not None and account.changed.n_followed:
        rows.append((tr("Rows that can be followed"), _followed(account.changed.n_followed)))
    if account.changed is not None and account.changed.n_rare:
        rows.append((tr("Records of rare values"), _held_back(account.changed.n_rare)))
    if ask.least_population:
        rows.append((tr("Least population"), _least_population(account)))
    rows.append((tr("Published rule"), tr("none: your own numbers") if ask.rule == NO_RULE else ask.rule))
    if account.nested:
        held = tr(ask.disclosure)
        said = (
            tr("{disclosure}. {told}", disclosure=held, told=in_short(ask.k, account.open_beside))
            if account.no_small_count
            else held
        )
        rows.append((tr("Protection"), said))
    if ask.published_margins or ask.published_counts is not None:
        rows.append((tr("Published counts"), tr("held against what others publish")))
    none = tr("none: earlier releases were not looked at") if ask.earlier is None else tr("not in the register yet")
    rows.append((tr("Register of releases"), signing.register or none))
    rows += [(tr("Policy"), f"{policy.path} (SHA-256 {policy.sha256})") for policy in account.policies]
    return rows


def _least_population(account: Account) -> str:
    people = account.ask.least_population
    if people_are_records(account.areas, account.plan):
        return tr("{people:,.0f} records in every region, each counted as a person", people=people)
    return tr("a population of {people:,.0f} in every region", people=people)


def _held_back(n: int) -> str:
    return tr("{n} held back, so that no row can be followed from one release to the next by its values", n=n)


def _followed(n: int) -> str:
    return tr(
        "{n}: whoever knows that a certain person left may read that person's values out of this release and the one "
        "before",
        n=n,
    )


def _sensitive(account: Account) -> str:
    requirement, released = account.requirement, account.plan.released
    names = [shares.field for shares in requirement.shares]
    if not requirement.asks_for_values:
        return tr("{fields}: nothing was asked of their values", fields=all_of(names))
    if not account.protection.diversity or not released.any():  # before a release is made, or where none is
        return tr(
            "at least {l_diversity} different values in every class, at most {max_share:g} % of it with the same",
            l_diversity=requirement.l_diversity,
            max_share=requirement.max_share,
        )
    counted = [
        tr(
            "“{field}”: at least {distinct}, at most {share:g} %",
            field=name,
            distinct=int(of.distinct[released].min()),
            share=float(of.largest_share[released].max()),
        )
        for name, of in account.protection.diversity.items()
    ]
    return tr(
        "at least {l_diversity} different values in every class, at most {max_share:g} % of it with the same; found: "
        "{found}",
        l_diversity=requirement.l_diversity,
        max_share=requirement.max_share,
        found=in_turn(counted),
    )


def _clipped(text: str) -> str:
    """What somebody typed, on one line, shortened where it would take the page."""
    words = in_one_line(text)
    return words if len(words) <= MOST_CHARACTERS else words[: MOST_CHARACTERS - 1] + "…"
