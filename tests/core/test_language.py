"""Texts are looked up in a catalogue, numbers written as the language writes them."""

from __future__ import annotations

import gettext
import io
import string
import subprocess
import sys
from typing import Any

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from vbas import anonymize
from vbas.core import language
from vbas.core.analysis.outcome import p_text
from vbas.core.best_approaches import BestApproach, component_sentences
from vbas.core.language import CATALOGUES, languages, plural, speak, tr, written
from vbas.core.package.claims import Claim
from vbas.core.report.numbers import formatted


@pytest.fixture
def french():
    """French for one test, and what was spoken before after it."""
    before = language.language()
    assert speak("fr_CA") == "fr"
    yield
    speak(before)


def test_english_needs_no_catalogue():
    before = language.language()
    try:
        assert speak("de_AT") == "en"
        assert tr("{n:,} of {share:.1f} %", n=12345, share=0.5) == "12\u00a0345 of 0.5 %"
        assert plural("{n} region", "{n} regions", 1) == "1 region"
        assert plural("{n} region", "{n} regions", 0) == "0 regions"
    finally:
        speak(before)


def test_texts_and_numbers_are_french(french):
    assert tr("Regions") == "Régions"
    assert plural("{n} region", "{n} regions", 0) == "0 région"
    assert plural("{n} region", "{n} regions", 2) == "2 régions"
    assert written("12,345.6") == "12\u00a0345,6"
    assert tr("not a text of ours {share:.1f}", share=0.5) == "not a text of ours 0,5"
    assert tr("not a text of ours {name}", name="1.5") == "not a text of ours 1.5"  # what is text stays as it is


def test_no_line_of_french_begins_with_a_sign(french):
    """Whatever space the translator typed."""
    assert tr("{a} : « {b} » ; {c} % !", a=1, b="x", c=2) == "1\u00a0: «\u00a0x\u00a0»\u00a0; 2\u00a0%\u00a0!"
    assert tr("12 %d {b}", b="a : b") == "12 %d a : b"  # what is no sign, and what was put in, stay
    assert p_text(0.68) == "0,680"


@pytest.mark.parametrize(
    ("python", "people"),
    [
        ("12345", "12\u00a0345"),
        ("12,345.25", "12\u00a0345.25"),
        ("1,234", "1234"),
        ("-20000", "-20\u00a0000"),
        ("1.4e+03", "1400"),
        ("2.3e+05", "230\u00a0000"),
        ("1e-05", "0.00001"),
        ("2.82753e+62", "2.82753 × 10⁶²"),
        ("1.0e-12", "1.0 × 10⁻¹²"),
        ("× 1.5", "× 1.5"),
        ("inf", "inf"),
        ("0.00012345", "0.00012345"),
    ],
)
def test_numbers_are_written_for_people(python, people):
    """However Python formatted it, a number has one look: in sentences, in reports, in the dock."""
    assert written(python) == people


def test_every_number_of_a_sentence_has_one_look(french):
    assert tr("{a} {b:,} {c:g} {d:,.1f} {e:.2g}", a=20000, b=20000, c=2e6, d=12345.6, e=1400.0) == (
        "20\u00a0000 20\u00a0000 2\u00a0000\u00a0000 12\u00a0345,6 1400"
    )
    assert formatted(20000) == formatted(20000.0) == "20\u00a0000"
    assert plural("{n} household", "{n} households", 12.0) == "12 households"
    assert tr("line {line:d}", line=20000) == "line 20000"  # it counts nothing


@pytest.mark.parametrize("code", languages()[1:])
def test_translations_have_the_places_of_the_english(code):
    with (CATALOGUES / f"{code}.po").open("rb") as stream:
        catalogue = read_po(stream, locale=code)
    for message in catalogue:
        if not message.id:
            continue
        english = [message.id] if isinstance(message.id, str) else message.id
        translated = [message.string] if isinstance(message.string, str) else list(message.string or ())
        for text in filter(None, translated):
            assert _places(text) <= _places(english[-1]), text
            if len(translated) == 1:
                assert _places(text) == _places(english[0]), text


@pytest.mark.parametrize("code", languages()[1:])
def test_the_compiled_catalogue_is_that_of_the_translators(code):
    with (CATALOGUES / f"{code}.po").open("rb") as stream:
        catalogue = read_po(stream, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    with (CATALOGUES / f"{code}.mo").open("rb") as stream:
        assert _texts(stream) == _texts(compiled)


def test_language_needs_nothing_but_python():
    program = "import sys; from vbas.core.language import speak, tr; speak('fr'); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "qgis", "scipy", "shapely"} & set(eval(done.stdout))


def _texts(stream) -> dict:
    """What a compiled catalogue holds, without what it says of itself."""
    translations: Any = gettext.GNUTranslations(stream)
    return {text: found for text, found in translations._catalog.items() if text}


def _places(text: str) -> set[tuple[str, str, str]]:
    return {(name, spec, conversion or "") for _, name, spec, conversion in _parsed(text)}


def _parsed(text: str):
    try:
        return [one for one in string.Formatter().parse(text) if one[1] is not None]
    except ValueError:  # a text that is not filled may hold braces
        return []


def test_who_is_counted_is_said_in_the_language(french):
    areas = {"area": ["a", "b"], "x": [0.0, 10.0], "y": [0.0, 0.0], "people": [4, 4]}
    records = {"area": ["a"] * 4 + ["b"] * 4, "sex": ["f"] * 8, "person": list(range(8)), "home": list(range(8))}
    release = anonymize(
        areas,
        records,
        area="area",
        quasi_identifiers=["sex"],
        k=4,
        population="people",
        person_id="person",
        household_id="home",
        combination="custom",
        site_number="given number",
        n_sites=1,
    )
    said = " ".join(release.said)
    assert "k compte les personnes" in said
    assert "k compte les ménages" in said


def test_what_is_told_in_turn_is_told_apart_as_in_the_language(french):
    best = [BestApproach("aggregation", measure, ("basic Voronoi",), 2, 2) for measure in ("compactness", "seconds")]
    assert component_sentences(best)[0].count("\u00a0; ") == 1


def test_names_of_claims_are_french_but_for_what_they_are_of(french):
    names = (
        "file counts.csv",
        "fields records",
        "k of persons",
        "k of all tables",
        "other files",
        "counts",
        "k",
        "l x",
    )
    assert [Claim(name, True, "").called for name in names] == [
        "fichier counts.csv",
        "champs records",
        "k de personnes",
        tr("k of all tables"),
        "autres fichiers",
        "effectifs",
        "k",
        "l x",
    ]
    assert tr("k of all tables") != "k of all tables"
