"""What points at persons is proposed to be left out, with a reason that fits: of people drawn in several shapes."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.preparing.column_values import ColumnValues
from vbas.core.preparing.pointing import why_it_points_at_persons
from vbas.core.preparing.roles import LEAVE_OUT, QUASI, SENSITIVE, column_summary
from vbas.core.records.columns import column_from_values

FIRST = (
    *("Marie", "Jean", "Emma", "Noah", "Liam", "Aïcha", "Björn", "Chantal", "Étienne", "Sarah", "Wei", "Priya", "Luc"),
    *("Anne-Marie", "Yusuf", "John"),
)
LAST = (
    *("Tremblay", "Roy", "O'Brien", "Smith", "Nguyen", "Gagnon", "Singh", "Lévesque", "Kowalski", "Müller", "Li"),
    *("Okafor", "Martin", "Côté", "Brown"),
)
WORDS = ("came", "with", "her", "mother", "on", "Monday", "said", "that", "the", "pain", "is", "worse", "lives", "near")
NAMES, NUMBERS = (
    "Going by its name, it holds names of people.",
    "Telephone numbers and other long numbers can identify people.",
)
PLACE = "It says where a person is: the region is released instead."
BY_BOTH, INITIALS = "Its name and values suggest that it identifies single people.", "Initials can identify people."
MAIL, REMARKS = "E-mail addresses identify people.", "Remarks in free text can name people."
BORN = "Exact dates can identify people: use years or age groups instead."
FREQUENT = "Many of its values are common names of people."


def remark(rng):
    return " ".join(rng.choice(WORDS, rng.integers(9, 16)))


# By shape: names of the column, a value of a person, and the reasons that fit.
SHAPES = {
    "first names": (
        ["first_name", "FirstName", "prénom", "Prenom", "given name", "FNAME", "mother_first_name"],
        lambda rng: str(rng.choice(FIRST)),
        {NAMES, FREQUENT},
    ),
    "surnames": (
        ["surname", "LastName", "nom", "nom_de_famille", "Nom de naissance", "patient_name", "NAME"],
        lambda rng: str(rng.choice(LAST)).upper(),
        {NAMES, FREQUENT},
    ),
    "whole names": (
        ["name", "full_name", "nom_complet", "nom_patient"],
        lambda rng: f"{rng.choice(LAST)}, {rng.choice(FIRST)}",
        {NAMES, FREQUENT},
    ),
    "initials": (
        ["initials", "Initiales", "patient_initials"],
        lambda rng: f"{rng.choice(FIRST)[0]}.{rng.choice(LAST)[0]}.",
        {INITIALS},
    ),
    "e-mail": (
        ["email", "courriel", "q7", "contact"],
        lambda rng: f"{rng.choice(FIRST)}.{rng.integers(99)}@example.org".lower(),
        {MAIL},
    ),
    "telephone": (
        ["phone", "Téléphone", "tel_maison", "q8"],
        lambda rng: f"204-{rng.integers(200, 999)}-{rng.integers(10_000):04d}",
        {NUMBERS, BY_BOTH},
    ),
    "postcode": (
        ["postcode", "code_postal", "CP", "Postal Code", "q9"],
        lambda rng: f"R{rng.integers(10)}B {rng.integers(10)}C{rng.integers(10)}",
        {PLACE},
    ),
    "health number": (
        ["PHIN", "health_number", "no_assurance_maladie", "carte_sante"],
        lambda rng: int(rng.integers(100_000_000, 999_999_999)),
        {NUMBERS, BY_BOTH},
    ),
    "health card of Quebec": (
        ["RAMQ", "health_card", "q10"],
        lambda rng: f"{rng.choice(LAST)[0]}REM {rng.integers(1_000, 10_000)} {rng.integers(1_000, 10_000)}",
        {NUMBERS, BY_BOTH},
    ),
    "date of birth": (
        ["dob", "date_of_birth", "DateNaissance", "date de naissance", "birthdate"],
        lambda rng: (date(1930, 1, 1) + (date(2010, 1, 1) - date(1930, 1, 1)) * rng.random()).isoformat(),
        {BORN},
    ),
    "day of birth as a number": (
        ["dob", "birth_date"],
        lambda rng: int(f"{rng.integers(1930, 2010)}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}"),
        {BORN},
    ),
    "free text": (["notes", "remarques", "comments", "q11"], remark, {REMARKS}),
    "street": (
        ["address", "adresse", "street"],
        lambda rng: f"{rng.integers(1, 900)} {rng.choice(LAST)} Street",
        {PLACE},
    ),
}
NAMELESS = {"q7", "q8", "q9", "q10", "q11", "contact"}  # where the values alone tell


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_drawn_people_are_proposed_to_be_left_out_in_red_with_a_reason_that_fits(data):
    shape = data.draw(st.sampled_from(sorted(SHAPES)))
    names, value, reasons = SHAPES[shape]
    name = data.draw(st.sampled_from(names))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_persons = data.draw(st.sampled_from([5, 12, 60, 400]))
    if name in NAMELESS and shape == "free text":
        n_persons = 400
    persons = [value(rng) for _ in range(n_persons)]
    rows = [persons[i] for i in rng.integers(0, n_persons, n_persons * data.draw(st.sampled_from([1, 8, 40])))]
    missing = data.draw(st.sampled_from([0, 7]))
    rows = [None if missing and i % missing == 0 else row for i, row in enumerate(rows)]
    summary = column_summary(name, column_from_values(rows))
    assert (summary.role, summary.alarming) == (LEAVE_OUT, True), summary
    if not (summary.n_values > 20 and summary.reason.endswith("an identifier.")):
        assert summary.reason in reasons, summary


# What is no such thing: names of the column, values, and the roles that fit.
HARMLESS = [
    ("hospital_name", ["St. Boniface", "Grace", "Concordia", "Victoria", "Seven Oaks"], QUASI),
    ("nom_hopital", ["Saint-Boniface", "Grâce", "Concordia", "Victoria"], QUASI),
    ("ward_name", [f"Ward {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"], QUASI),
    ("name_changed", ["yes", "no"], QUASI),
    ("has_phone", ["yes", "no", "unknown"], QUASI),
    ("phone", ["yes", "no"], QUASI),
    ("phone_type", ["mobile", "land line"], QUASI),
    ("card_type", ["gold", "silver", "none"], QUASI),
    ("birth_year", list(range(1930, 2010)), QUASI),
    ("annee_naissance", list(range(1930, 2010)), QUASI),
    ("pays_de_naissance", ["Canada", "France", "Sénégal"], QUASI),
    ("period", ["2019-2020", "2020-2021", "2021-2022"], QUASI),
    ("band", ["10 000-19 999", "20 000-29 999", "100 000-149 999"], QUASI),
    ("income_group", ["10000-19999", "20000-29999", "100000-149999"], SENSITIVE),
    ("town", ["Brandon", "Thompson", "Steinbach", "Morden", "Winkler", "Selkirk"], QUASI),
    ("month", ["January", "March", "April", "May", "June", "August"], QUASI),
    (
        "school",
        ["Secondary (high) school diploma or equivalency certificate, or less", "University certificate"],
        QUASI,
    ),
    ("occupation", [f"Occupations in trades, transport and equipment, group {i}" for i in range(30)], QUASI),
    ("province", ["N.B.", "N.S.", "P.E.I."], QUASI),
    ("block", ["A", "B", "C"], QUASI),
    ("patient_age", list(range(90)), QUASI),
    ("weight", list(range(40, 120)), QUASI),
    ("diagnosis_code", [f"{letter}{i:02d}" for letter in "ABCD" for i in range(60)], SENSITIVE),
    ("maladie", ["asthme", "grippe", "diabète"], SENSITIVE),
    ("income", list(range(20_000, 90_000, 500)), SENSITIVE),
    ("income", list(range(20_137, 90_137, 70)), LEAVE_OUT),  # of most people an amount of their own: a run refuses it
]


@pytest.mark.parametrize(
    ("name", "values", "role"), HARMLESS, ids=[f"{name}-{row}" for row, (name, *_) in enumerate(HARMLESS)]
)
def test_what_only_looks_or_sounds_like_it_is_no_alarm(name, values, role):
    rng = np.random.default_rng(3)
    rows = [values[i] for i in rng.permutation(np.arange(1_200) % len(values))]
    summary = column_summary(name, column_from_values(rows))
    assert (summary.role, summary.alarming) == (role, False), summary


def test_a_name_that_is_no_name_of_a_person_is_judged_by_its_values():
    held = np.ones(3, int)
    for name in ("area_name", "drug name", "nom_du_quartier"):
        assert why_it_points_at_persons(ColumnValues.of(name, "text", 300, ["a", "b", "c"], held, False)) == ""
    assert why_it_points_at_persons(ColumnValues.of("name", "whole numbers", 300, [1, 2, 3], held, False)) == ""


@pytest.mark.parametrize("values", [[f"k{i * 7919 % 1000:03d}" for i in range(40)], list(range(300, 340))])
def test_a_value_of_its_own_in_most_records_is_an_identifier_whatever_its_name(values):
    shared = [values[0]] * 15
    summary = column_summary("q3", column_from_values([*values, *shared]))
    assert (summary.role, summary.alarming) == (LEAVE_OUT, True) and summary.reason.startswith("39 of 55 records")
    summary = column_summary("q3", column_from_values([*values[:14], *shared, *values[:14]]))
    assert (summary.role, summary.alarming) == (QUASI, False)
