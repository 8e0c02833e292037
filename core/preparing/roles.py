"""What a column of the records could be in a release, by its name and its values: a proposal, for a person to decide.

Nothing is protected by a proposal: it is what a careful reader would say of the column at first sight. Where there is
doubt it errs to the side of less: rather “identifies indirectly”, which k protects, than “release as it is”, and rather
“leave out” than either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from ..language import as_data, plural, tr
from ..plain_text import is_missing, value_text
from ..records.columns import Column

# Kept with the project as they stand here; people are shown tr(role).
AREA, PERSON, HOUSEHOLD, PERIOD = as_data("area"), as_data("person"), as_data("household"), as_data("period")
QUASI, SENSITIVE = as_data("identifies indirectly"), as_data("sensitive")
KEEP, LEAVE_OUT = as_data("release as it is"), as_data("leave out")
ROLES = (AREA, PERSON, HOUSEHOLD, PERIOD, QUASI, SENSITIVE, KEEP, LEAVE_OUT)
SINGLE = (AREA, PERSON, HOUSEHOLD, PERIOD)  # at most one column each

WHOLE, NUMBER, DATE = as_data("whole numbers"), as_data("numbers"), as_data("dates")
TEXT, YES_NO, EMPTY = as_data("text"), as_data("yes or no"), as_data("empty")

EXAMPLES = 3
LONG_TEXT = 40  # characters on average: remarks, and no values
MOST_VALUES = 150  # of what is proposed as known indirectly
MOST_QUASI = 8  # proposed at once; more would leave nobody in a class of k
NEARLY_ALL = 0.5  # of the records with a value of their own
OF_A_SAMPLE = 2_000  # categories that patterns are looked for in

_NAMES = {
    "person": (
        r"person(al)?|patient|client|citizen|resident|member|subject|participant|respondent|individual|beneficiary|"
        r"personne|individu|beneficiaire|assure|pers|pid|pat"
    ),
    "household": r"household|hh|menage|foyer|family|famille|dwelling|logement",
    "period": r"year|annee|quarter|trimestre|wave|vague|period(e)?|survey_?year|fiscal_?year|exercice",
    "direct": (
        r"name|nom|prenom|surname|firstname|lastname|forename|given_?name|full_?name|maiden|e?mail|courriel|phone|tel|"
        r"telephone|mobile|fax|address|adresse|street|rue|house_?n(umber|o|r)|ssn|sin|nas|nir|nhs|ohip|phin|mrn|"
        r"passport|passeport|licen[cs]e|permis|iban|account|compte|card|carte|plate|immatriculation|ip|url|photo|"
        r"signature|health_?(card|number)"
    ),
    "place": (
        r"lat(itude)?|lon(g|gitude)?|lng|x|y|easting|northing|coord(inate)?s?|geom(etry)?|wkt|postal_?code|postcode|zip|"
        r"zip_?code|code_?postal|cp|block|building|batiment|parcel"
    ),
    "birth": r"dob|birth_?(date|day)|date_?of_?birth|date_?de_?naissance|naissance|born",
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
        r"birth_?(place|country|year)|country|pays|immigra(nt|tion)|household_?size|family_?size|children|enfants|"
        r"tenure|dwelling_?type|visible_?minority|aboriginal|indigenous|autochtone|birth_?month|industry|sector|"
        r"secteur|size|taille|mobility|commut(e|ing)|height|weight|poids"
    ),
}
_NUMBERED = r"(id|no|nr|num|number|numero|key|cle|code|ident|identifier|uuid|guid)"
_PATTERNS = {kind: re.compile(rf"(?:^|_)(?:{words})(?:_|$)") for kind, words in _NAMES.items()}
_PERSON_ID = re.compile(rf"(?:^|_)(?:{_NAMES['person']})(?:_?{_NUMBERED})?$|^(?:{_NAMES['person']})_")
_IDENTIFIER = re.compile(rf"(?:^|_){_NUMBERED}$|^{_NUMBERED}(?:_|$)|(?:^|_)(record|row|case|file|dossier)(?:_|$)")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")
_PHONE = re.compile(r"\+?[\d(][\d ().\-/]{7,}\d")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_POSTAL = re.compile(r"[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d")


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
    wanted = [name for name, summary in looks.items() if summary.role == QUASI]
    wanted.sort(key=lambda name: not _named("quasi", name))  # those whose name says so first; else their order stays
    for name in wanted[MOST_QUASI:]:
        reason = tr("Many columns may be known already: choose it where it is needed.")
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
    kind = _kind(present_values)
    summary = ColumnSummary(
        name, kind, len(column), n_values, missing, _examples(present_values, held_shown), LEAVE_OUT, ""
    )
    role, reason, alarming = _role(name, summary, present_values, held_shown, area, person)
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
        return PERSON, tr("Says whose row it is: k counts persons, and it is never released."), False
    if summary.kind == EMPTY:
        return LEAVE_OUT, tr("It is empty."), False
    return _of_identifiers(name, summary, values, held) or _of_what_is_known(name, summary)


def _of_identifiers(
    name: str, look: ColumnSummary, values: list[object], held: np.ndarray
) -> tuple[str, str, bool] | None:
    """What identifies persons or places by itself; None for what does not."""
    texts = [str(value) for value in values[:OF_A_SAMPLE]]
    filled = max(look.n_records - look.missing, 1)
    alone, many = int((held == 1).sum()), look.n_records >= 20
    if _mostly(_MAIL, texts):
        return LEAVE_OUT, tr("E-mail addresses name persons."), True
    if _named("direct", name) and not _few(look):
        return LEAVE_OUT, tr("By its name and values it points at single persons."), True
    if look.kind == TEXT and _mostly(_PHONE, texts) and not _mostly(_DATE, texts):
        return LEAVE_OUT, tr("Telephone numbers, or other long numbers, point at persons."), True
    if (_named("place", name) and not _few(look)) or _mostly(_POSTAL, texts):
        return LEAVE_OUT, tr("It is a place finer than the region that is released."), True
    if (_named("birth", name) and not _few(look)) or (look.kind == DATE and look.n_values > 366):
        return LEAVE_OUT, tr("Exact dates point at persons: show years or age groups instead."), True
    if many and alone > NEARLY_ALL * filled and look.kind != NUMBER:
        return LEAVE_OUT, _own_values(alone, filled), True
    if look.kind == TEXT and np.mean([len(text) for text in texts]) > LONG_TEXT:
        return LEAVE_OUT, tr("Remarks in free text can name persons."), True
    numbered = _PERSON_ID.search(_plain(name)) or (_IDENTIFIER.search(_plain(name)) and look.n_values > MOST_VALUES)
    if numbered and not _few(look):
        return LEAVE_OUT, tr("It looks like the number of a person or of a record."), True
    return None


def _of_what_is_known(name: str, look: ColumnSummary) -> tuple[str, str, bool]:
    """What k or the demands on sensitive values protect, or what needs a decision."""
    if look.n_values == 1:
        return LEAVE_OUT, tr("It has the same value in every record."), False
    if _named("sensitive", name):
        return SENSITIVE, tr("By its name it is what nobody should learn of a person."), False
    if _named("quasi", name) and look.n_values <= MOST_VALUES:
        return QUASI, tr("By its name others may know it of a person."), False
    if look.kind == NUMBER or look.n_values > MOST_VALUES:
        reason = plural(
            "It has {n} value: too many for classes, unless they are shown coarser.",
            "It has {n} values: too many for classes, unless they are shown coarser.",
            look.n_values,
        )
        return LEAVE_OUT, reason, False
    return QUASI, tr("Few values, which others may know of a person: decide."), False


def _own_values(alone: int, filled: int) -> str:
    return plural(
        "{n} of {filled:,} records has a value of its own: an identifier.",
        "{n} of {filled:,} records have a value of their own: an identifier.",
        alone,
        filled=filled,
    )


def _few(look: ColumnSummary) -> bool:
    """Whether a column has so few values that it can name nobody."""
    return look.n_values <= 12 and look.n_values * 5 <= look.n_records


def _plain(name: str) -> str:
    """A name in lower case, its words parted by underscores: `DateOfBirth`, `date of birth`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    text = parted.lower().translate(str.maketrans("éèêëàâäîïôöûüùç", "eeeeaaaiioouuuc"))
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")


def _named(kind: str, name: str) -> bool:
    return bool(_PATTERNS[kind].search(_plain(name)))


def _mostly(pattern: re.Pattern[str], texts: list[str]) -> bool:
    n_matching = sum(pattern.fullmatch(text.strip()) is not None for text in texts)
    return bool(texts) and n_matching > 0.8 * len(texts)


def _kind(values: list[object]) -> str:
    if not values:
        return EMPTY
    first = values[:OF_A_SAMPLE]
    if all(isinstance(value, (bool, np.bool_)) for value in first):
        return YES_NO
    if all(isinstance(value, (date, datetime)) or _is_date(value) for value in first):
        return DATE
    numbers = [_number(value) for value in first]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return TEXT
    return WHOLE if all(number.is_integer() for number in known) else NUMBER


def _is_date(value: object) -> bool:
    return isinstance(value, str) and _DATE.fullmatch(value.strip()) is not None


def _number(value: object) -> float | None:
    try:
        number = float(value) if not isinstance(value, str) or "_" not in value else np.nan  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if np.isfinite(number) else None


def _examples(values: list[object], held: np.ndarray) -> tuple[str, ...]:
    """The most frequent values, each at most a few words long."""
    order = np.argsort(-held, kind="stable")[:EXAMPLES]
    texts = [value_text(values[position]) for position in order.tolist()]
    return tuple(text if len(text) <= 24 else f"{text[:23]}…" for text in texts)
