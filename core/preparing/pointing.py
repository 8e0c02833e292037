"""Columns that point at single persons by themselves, and are best left out: told by their names and by their values.

Some values have a shape of their own, such as e-mail addresses; others, such as surnames, look like any text, and where
there are few of them the name of the column alone tells. A reason is given only where name and values bear it out.
"""

from __future__ import annotations

import re

from ..language import plural, tr
from .column_values import DATE, NUMBER, TEXT, WHOLE, ColumnValues, plain_letters
from .person_names import are_names

LONG_TEXT = 40  # characters on average
FEW_RECORDS = 20
NEARLY_ALL = 0.5  # of the records with a value of their own
MOST_VALUES = 150  # of categories
MOST_DAYS = 366  # of a year, whose days say no more than when something was

_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}")
_TELEPHONE = re.compile(
    r"(\+?1[ .\-]?)?(\(\d{3}\) ?|\d{3}[ .\-])\d{3}[ .\-]?\d{4}|0\d([ .\-]?\d\d){4}|\+\d[\d ().\-]{8,}"
    r"|\d{3}[ \-]\d{3}[ \-]\d{3}"
    r"|[A-Za-z]{4}[ \-]?\d{4}[ \-]?\d{4}"  # a health card of Quebec
)
_LONG_NUMBER = re.compile(r"\d([ \-]?\d){8,}")
_BAND = re.compile(r"(\d[\d ]*)[ \-–/]+(\d[\d ]*)")
_WITH_DIGITS = re.compile(r".*\d.*")
_DIGITS = re.compile(r"\D*\d(?:.*\d){3,}.*")
_LONG_DIGITS = re.compile(r"\D*\d(?:\D?\d){5,}.*")
_POSTAL = re.compile(r"[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d")
_OF_POSTCODES = re.compile(r".*\d.*\d.*|[A-Za-z]\d[A-Za-z]")
_INITIALS = re.compile(r"([^\W\d_]\.[ \-]?){2,4}")
_DAY = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")


def _words(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words in a plain name."""
    return re.compile(rf"(?:^|_)(?:{pattern})(?:_|$)")


# What says something about a name, a telephone or a card, and is none: `has_phone`, `card_type`.
_ABOUT = re.compile(
    r"^(?:has|is|with|nb|n|count|number_of|no_of|num_of|nombre|a|est|avec)_|"
    r"_(?:type|kind|known|flag|status|statut|count|length|changed?|valid|verified|connue?|origin|language|class|group|"
    r"provider|consent|year|annee)$"
)
_A_NAME = _words(
    r"surnames?|last_?names?|first_?names?|fore_?names?|given_?names?|middle_?names?|family_?names?|full_?names?|"
    r"maiden_?names?|nick_?names?|[fl]names?|pre_?noms?|patronymes?|surnom|nom_?prenom"
)
_NAMES = {"name", "names", "nom", "noms"}
_PERSON = (
    r"person(?:al)?|patient|client|citizen|resident|member|subject|participant|respondent|individual|beneficiary|"
    r"personne|individu|beneficiaire|assure|pers|pid|pat"
)
_OF_PERSONS = re.compile(
    rf"\d+|{_PERSON}|first|last|given|middle|family|full|maiden|birth|married|legal|preferred|usual|famille|naissance|"
    r"jeune|fille|marital|usage|complet|prenom|de|du|la|le|l|d|of|the|and|et|mother|father|parent|child|spouse|partner|"
    r"husband|wife|doctor|physician|nurse|contact|guardian|mere|pere|enfant|conjoint|medecin|employee|employe"
)
_INITIALLED = _words(r"initials?|initiales?")
_DIRECT = _words(
    r"phone|tel|telephone|mobile|cellulaire|fax|ssn|sin|nas|nir|nhs|nino|ohip|ramq|phin|mrn|hcn|passport|passeport|"
    r"licen[cs]e|permis|iban|account|compte|card|carte|plate|immatriculation|ip|url|photo|signature|e?mail|courriel|"
    r"health_?(?:card|number|no|id)|assurance_?maladie|securite_?sociale|social_?(?:security|insurance)"
)
_STREET = _words(r"address|adresse|street|rue|avenue|house_?n(?:umber|o|r)|apartment|appartement|civic_?(?:number|no)")
_POSTCODE = _words(r"postal(?:_?code)?|post_?code|zip(?:_?code)?|code_?postal|cp")
_COORDINATE = _words(r"lat(?:itude)?|lon(?:g|gitude)?|lng|x|y|easting|northing|coord(?:inate)?s?|geom(?:etry)?|wkt")
_SMALL_PLACE = _words(r"block|building|batiment|parcel|parcelle|dwelling|logement")
_BIRTH = _words(r"dob|ddn|birth_?(?:date|day)|date_?of_?birth|date_?(?:de_?)?naissance|naissance|born|nee?(?:_?le)?")
_REMARKS = _words(r"remarks?|notes?|comments?|memo|free_?text|texte_?libre|remarques?|commentaires?|observations?")
_NUMBERED = r"(?:id|no|nr|num|number|numero|key|cle|ident|identifier|identifiant|uuid|guid)"
_PERSON_ID = re.compile(rf"(?:^|_)(?:{_PERSON})(?:_?{_NUMBERED}|_?code)?$")
_IDENTIFIER = re.compile(rf"(?:^|_){_NUMBERED}$|^{_NUMBERED}(?:_|$)|(?:^|_)(?:record|row|case|file|dossier)(?:_|$)")
# Codes of areas are long numbers, too.
_AREA_CODE = re.compile(
    r"(?:^|_)(?:\w*(?<!u)uid|geo_?id\d*|geo_?code|area|aire|region|zone|tract|commune|municipal\w*)(?:_|$)"
)


def why_it_points_at_persons(column: ColumnValues) -> str:
    """The reason, in a sentence; empty for a column that does not, or of which nothing tells."""
    return _of_values(column) or _of_name(column) or _of_places_and_days(column) or _of_own_values(column)


def _of_values(column: ColumnValues) -> str:
    """What the shape of the values tells."""
    if column.mostly(_MAIL):
        return tr("E-mail addresses identify people.")
    if column.kind in (TEXT, WHOLE) and not column.known and not _AREA_CODE.search(column.name):
        long = not column.few and column.mostly(_LONG_NUMBER) and not _are_bands(column) and not _are_days(column)
        if long or (column.kind == TEXT and column.mostly(_TELEPHONE) and not _are_bands(column)):
            return tr("Telephone numbers and other long numbers can identify people.")
    if column.kind == TEXT and not column.few and column.mostly(_INITIALS):
        return tr("Initials can identify people.")
    if column.kind == TEXT and are_names([plain_letters(text) for text in column.texts]):
        return tr("Many of its values are common names of people.")
    return ""


def _of_name(column: ColumnValues) -> str:
    """What the name of the column tells, where its values may be what it says."""
    if _ABOUT.search(column.name):
        return ""
    if column.kind == TEXT and (_A_NAME.search(column.name) or _names_persons(column.words)):
        return tr("Going by its name, it holds names of people.")
    if column.kind == TEXT and _INITIALLED.search(column.name):
        return tr("Initials can identify people.")
    if column.kind not in (TEXT, WHOLE):
        return ""
    telling = column.mostly(_LONG_DIGITS) if column.few else column.kind == TEXT or column.mostly(_DIGITS)
    if _DIRECT.search(column.name) and telling:
        return tr("Its name and values suggest that it identifies single people.")
    if column.kind == TEXT and _REMARKS.search(column.name) and (not column.few or _is_long(column)):
        return tr("Remarks in free text can name people.")
    return ""


def _of_places_and_days(column: ColumnValues) -> str:
    """Places beside that of the release, and days of birth."""
    named = {
        _STREET: not column.few
        if column.kind == WHOLE
        else column.kind == TEXT and (column.n_values > 2 or _with_digits(column)),
        _POSTCODE: column.mostly(_OF_POSTCODES),
        _COORDINATE: column.kind in (NUMBER, WHOLE) and not column.few,
        _SMALL_PLACE: not column.few,
    }
    place = not _ABOUT.search(column.name) and any(fits and words.search(column.name) for words, fits in named.items())
    if place or column.mostly(_POSTAL):
        return tr("It says where a person is: the region is released instead.")
    if (_BIRTH.search(column.name) and _are_days(column)) or (column.kind == DATE and column.n_values > MOST_DAYS):
        return tr("Exact dates can identify people: use years or age groups instead.")
    return ""


def _of_own_values(column: ColumnValues) -> str:
    """What hardly two records share."""
    varied = not column.few and (column.n_values > MOST_VALUES or column.n_values * 5 > column.filled)
    if column.kind == TEXT and _is_long(column) and varied:
        return tr("Remarks in free text can name people.")
    of_person = _PERSON_ID.search(column.name) is not None and not column.few
    if of_person and column.kind == TEXT and not _with_digits(column):
        return tr("Its name and values suggest that it identifies single people.")
    if of_person or (_IDENTIFIER.search(column.name) and not column.known and column.n_values > MOST_VALUES):
        return tr("It looks like the number of a person or a record.")
    an_amount = column.kind == NUMBER or (column.kind == WHOLE and column.known)
    if column.filled >= FEW_RECORDS and column.alone > NEARLY_ALL * column.filled and not an_amount:
        return plural(
            "{n} of {filled:,} records has a value of its own: an identifier.",
            "{n} of {filled:,} records have a value of their own: an identifier.",
            column.alone,
            filled=column.filled,
        )
    return ""


def _names_persons(words: tuple[str, ...]) -> bool:
    """Whether the words of a column's name speak of the names of persons, and not of those of something else."""
    return bool(_NAMES & {*words}) and all(word in _NAMES or _OF_PERSONS.fullmatch(word) for word in words)


def _with_digits(column: ColumnValues) -> bool:
    return column.mostly(_WITH_DIGITS)


def _is_long(column: ColumnValues) -> bool:
    return sum(map(len, column.texts)) > LONG_TEXT * len(column.texts)


def _are_days(column: ColumnValues) -> bool:
    return column.kind == DATE or (column.kind in (WHOLE, TEXT) and column.mostly(_DAY))


def _are_bands(column: ColumnValues) -> bool:
    """Whether values are from one number to a larger one, such as years or incomes."""
    bands = [match for text in column.texts if (match := _BAND.fullmatch(text)) and _is_band(match[1], match[2])]
    return len(bands) > 0.8 * len(column.texts)


def _is_band(low: str, high: str) -> bool:
    return int(low.replace(" ", "")) < int(high.replace(" ", "")) and abs(len(low) - len(high)) <= 1
