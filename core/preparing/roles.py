"""What a column of the records could be in a release, by its name and its values: a proposal, for a person to decide.

Nothing is protected by a proposal: it is what a careful reader would say of the column at first sight. Where there is
doubt it errs to the side of less: rather “identifies indirectly”, which k protects, than “release as it is”, and rather
“leave out” than either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ..dataclass import dataclass
from ..language import as_data, plural, tr
from ..plain_text import is_missing, value_text
from ..records.columns import Column, combine_codes
from ..records.written_alike import first_writings, written_in_several_ways
from .column_values import EMPTY, NUMBER, WHOLE, ColumnValues, kind_of, plain_name
from .pointing import FEW_RECORDS, NEARLY_ALL, why_it_points_at_persons

# Kept with the project as they stand here; people are shown tr(role).
AREA, PERSON, HOUSEHOLD, PERIOD = as_data("area"), as_data("person"), as_data("household"), as_data("period")
QUASI, SENSITIVE = as_data("identifies indirectly"), as_data("sensitive")
KEEP, LEAVE_OUT = as_data("release as it is"), as_data("leave out")
ROLES = (AREA, PERSON, HOUSEHOLD, PERIOD, QUASI, SENSITIVE, KEEP, LEAVE_OUT)
SINGLE = (AREA, PERSON, HOUSEHOLD, PERIOD)  # at most one column each

EXAMPLES = 3
MOST_VALUES = 150  # of what is proposed as known indirectly
MOST_QUASI = 8  # proposed at once; more would leave nobody in a class of k
# A column says where a person is, where in nearly all areas all records have the same value of it, and would not by
# chance: areas with so many records, so many of them, and no value that nearly all records have.
RECORDS_OF_AREA, AREAS_LOOKED_AT, OF_AREAS, OF_RECORDS = 10, 20, 0.97, 0.9

_NAMES = {
    "sensitive": (
        r"diagnos(is|e|tic)|icd(_?10)?|cim(_?10)?|disease|maladie|hiv|vih|income|revenu|salary|salaire|wage|"
        r"medication|medicament|drug|treatment|traitement|test_?result|result|resultat|religion|criminal|offen[cs]e|"
        r"conviction|disability|handicap|cause_?of_?death|mental|smok(er|ing)|fumeur|bmi|imc|poverty|benefit|debt|dette|"
        r"abuse|condition|illness|outcome|vote|party|parti"
    ),
    "quasi": (
        r"age|age_?(group|band|class)|sex|sexe|gender|genre|ethnic(ity)?|race|ancestry|origin(e)?|education|"
        r"schooling|scolarite|diplom(a|e)|degree|marital|civil_?status|etat_?civil|matrimonial|occupation|profession|"
        r"job|emploi|employment|activity|language|langue|mother_?tongue|citizenship|nationality|nationalite|"
        r"birth_?(place|country|year)|(year|place|country)_?of_?birth|(annee|lieu|pays|mois)_?(de_?)?naissance|country|pays|immigra(nt|tion)|household_?size|family_?size|children|enfants|"
        r"tenure|dwelling_?type|visible_?minority|aboriginal|indigenous|autochtone|birth_?month|industry|sector|"
        r"secteur|size|taille|mobility|commut(e|ing)|height|weight|poids"
    ),
}
_PATTERNS = {kind: re.compile(rf"(?:^|_)(?:{words})(?:_|$)") for kind, words in _NAMES.items()}


@dataclass(frozen=True)
class ColumnSummary:
    """What a column looks like.

    kind : one of WHOLE, NUMBER, DATE, TEXT, YES_NO, EMPTY; n_values : different values, missing aside
    missing : records without a value; examples : up to three values, the most frequent first, shortened
    role : proposed, one of ROLES; reason : why, in a sentence; alarming : whether it may point at persons by itself
    """

    name: str
    kind: str
    n_records: int
    n_values: int
    missing: int
    examples: tuple[str, ...]
    role: str
    reason: str
    alarming: bool = False


def proposed_roles(records: Mapping[str, Column], area: str = "", person: str = "") -> dict[str, ColumnSummary]:
    """`column_summary` of every column; of those that may be known indirectly the first few, where there are many.

    area, person : the columns that say in which area a record lies, and whose it is; empty for none
    """
    looks = {name: column_summary(name, column, name == area, name == person) for name, column in records.items()}
    if area in records:
        for name, summary in looks.items():
            if name not in (area, person) and not summary.alarming and _follows(records[name], records[area]):
                reason = tr("It follows from the area, so it says where a person is: the region is released instead.")
                looks[name] = _as(summary, LEAVE_OUT, reason)
    wanted = [name for name, summary in looks.items() if summary.role == QUASI]
    wanted.sort(key=lambda name: not _named("quasi", name))  # those whose name says so first; else their order stays
    for name in wanted[MOST_QUASI:]:
        reason = tr("Many columns are proposed already: choose this one if you need it.")
        looks[name] = _as(looks[name], LEAVE_OUT, reason)
    return looks


def column_summary(name: str, column: Column, area: bool = False, person: bool = False) -> ColumnSummary:
    """What a column of the records looks like, and the role proposed for it.

    area, person : whether it is known to say in which area a record lies, or whose it is
    """
    present = np.array([not is_missing(value) and value != "" for value in column.categories.tolist()], bool)
    held = np.bincount(column.codes, minlength=len(present))
    present_values, held_shown = column.categories[present].tolist(), held[present]
    n_values, missing = int((held_shown > 0).sum()), int(held[~present].sum())
    kind = kind_of(present_values)
    summary = ColumnSummary(
        name, kind, len(column), n_values, missing, _examples(present_values, held_shown), LEAVE_OUT, ""
    )
    role, reason, alarming = _role(name, summary, present_values, held_shown, area, person)
    if role in (QUASI, SENSITIVE) and (several := written_in_several_ways(present_values)):
        differing = tr(
            "Values that differ in writing alone count as different ({first}): write them alike first.",
            first=first_writings(several),
        )
        reason = f"{reason} {differing}"
    return _as(summary, role, reason, alarming)


def _as(summary: ColumnSummary, role: str, reason: str, alarming: bool = False) -> ColumnSummary:
    return ColumnSummary(
        summary.name,
        summary.kind,
        summary.n_records,
        summary.n_values,
        summary.missing,
        summary.examples,
        role,
        reason,
        alarming,
    )


def _role(
    name: str, summary: ColumnSummary, values: list[object], held: np.ndarray, area: bool, person: bool
) -> tuple[str, str, bool]:
    """Role, reason, and whether it is alarming: what is known first, then what must not go out, then what may."""
    if area:
        return AREA, tr("Its values are those of the areas."), False
    if person:
        return PERSON, tr("It says whose row this is: k counts people, and it is never released."), False
    if summary.kind == EMPTY:
        return LEAVE_OUT, tr("It is empty."), False
    known = any(_named(words, name) for words in _NAMES)
    column = ColumnValues.of(name, summary.kind, summary.n_records - summary.missing, values, held, known)
    reason = why_it_points_at_persons(column)
    return (LEAVE_OUT, reason, True) if reason else _of_what_is_known(name, summary, column)


def _of_what_is_known(name: str, summary: ColumnSummary, column: ColumnValues) -> tuple[str, str, bool]:
    """What k or the demands on sensitive values protect, or what needs a decision."""
    if summary.n_values == 1:
        return LEAVE_OUT, tr("It has the same value in every record."), False
    if _named("sensitive", name):
        if summary.kind in (NUMBER, WHOLE) and column.alone > NEARLY_ALL * column.filled >= NEARLY_ALL * FEW_RECORDS:
            reason = plural(
                "{n} of {filled:,} records has an amount of its own, which would say whose it is: release it in steps, "
                "made in a column of their own, or not at all.",
                "{n} of {filled:,} records have an amount of their own, which would say whose it is: release it in "
                "steps, made in a column of their own, or not at all.",
                column.alone,
                filled=column.filled,
            )
            return LEAVE_OUT, reason, False
        return SENSITIVE, tr("Going by its name, nobody should learn it about a person."), False
    if _named("quasi", name) and summary.n_values <= MOST_VALUES:
        return QUASI, tr("Going by its name, others may know it about a person."), False
    if summary.kind == NUMBER or summary.n_values > MOST_VALUES:
        reason = plural(
            "It has {n} value: too many for classes, unless they are shown coarser.",
            "It has {n} values: too many for classes, unless they are shown coarser.",
            summary.n_values,
        )
        return LEAVE_OUT, reason, False
    return QUASI, tr("Few values, which others may know about a person: you decide."), False


def _follows(column: Column, area: Column) -> bool:
    """Whether the areas nearly all have one value of a column each, which their records would not have by chance."""
    places = np.array([not is_missing(value) for value in area.categories.tolist()], bool)
    held = np.bincount(area.codes, minlength=len(places))
    looked_at = places & (held >= RECORDS_OF_AREA)
    if looked_at.sum() < AREAS_LOOKED_AT:
        return False
    rows = looked_at[area.codes]
    _, pairs = combine_codes([area.codes[rows], column.codes[rows]], [len(places), len(column.categories)])
    single = np.bincount(pairs[:, 0], minlength=len(places))[looked_at] == 1
    largest = np.bincount(column.codes[rows], minlength=1).max()
    return bool(single.mean() >= OF_AREAS and largest <= OF_RECORDS * rows.sum())


def _named(kind: str, name: str) -> bool:
    return bool(_PATTERNS[kind].search(plain_name(name)))


def _examples(values: list[object], held: np.ndarray) -> tuple[str, ...]:
    """The most frequent values, each at most a few words long."""
    order = np.argsort(-held, kind="stable")[:EXAMPLES]
    texts = [value_text(values[position]) for position in order.tolist()]
    return tuple(text if len(text) <= 24 else f"{text[:23]}…" for text in texts)
