"""No password or token leaves in a text, however it is written; and what else the text says stays."""

from __future__ import annotations

from itertools import product

from vbas.core.secrecy import holds_secret, secrets_in, values_of, without_secrets

from ..each import holds_for_each
from ..secrets_written import PLAIN, WRITTEN

SENTENCES = (
    "RECORDS: there is no layer or table “{}” that QGIS can open: choose another one.",
    "RECORDS : il n’y a pas de couche « {} » que QGIS puisse ouvrir.",
    "{}",
    'could not open "{}"',
)


def parts_of(secret):
    """A secret, and what would tell a part of it."""
    return {secret, *(part for part in ("ter2", "hun") if part in secret)}


def test_the_address_in_a_sentence_loses_its_secret_and_nothing_else():
    def loses(written, sentence):
        address, secret, stays = WRITTEN[written]
        told = without_secrets(sentence.format(address), address)
        assert not any(part in told for part in parts_of(secret)), told
        assert stays in told
        assert without_secrets(told) == told

    holds_for_each(loses, product(WRITTEN, SENTENCES))


def test_also_where_nobody_knows_the_address():
    """In quotes of a sentence, or by itself where it has no blank."""

    def loses(written, sentence):
        address, secret, stays = WRITTEN[written]
        if sentence == "{}" and " " in secret.replace("\\ ", ""):
            sentence = "“{}”"
        told = without_secrets(sentence.format(address))
        assert not any(part in told for part in parts_of(secret)), told
        assert stays in told

    holds_for_each(loses, product(WRITTEN, SENTENCES[:3]))


def test_what_is_told_of_the_secret_alone():
    """A library repeats what it did not understand, plain or as it was written."""

    def loses(written):
        address, secret, _ = WRITTEN[written]
        assert holds_secret(address)
        bare = secret.replace("\\'", "'").replace("\\ ", " ").replace("''", "'")
        for way in (secret, bare):
            told = without_secrets(f'invalid value "{way}" of the 3 options', address)
            assert "ter2" not in told and "of the 3 options" in told, told

    holds_for_each(loses, product(WRITTEN))


def test_what_is_no_secret_stays():
    def stays(text):
        assert without_secrets(text, text) == text
        assert not holds_secret(text)
        sentence = SENTENCES[0].format(text)
        assert without_secrets(sentence, text) == sentence

    holds_for_each(stays, product(PLAIN))


def test_a_word_of_the_address_that_is_the_password_too_is_not_taken_from_the_sentence():
    address = "host=h dbname=claims user=claims password=claims"
    assert secrets_in(address) == ["claims"] and values_of([address]) == []
    told = without_secrets(f"“{address}”: there is no table claims", address)
    assert told == "“host=h dbname=claims user=claims password=…”: there is no table claims"


def test_short_passwords_are_masked_in_addresses_alone():
    address = "postgresql://nurse:a/b@host/records"
    assert without_secrets(f"a table in {address}", address) == "a table in postgresql://nurse:…@host/records"


def test_headers_and_json():
    assert without_secrets('sent {"password": "hunter2", "user": "nurse"}') == 'sent {"password": …, "user": "nurse"}'
    assert without_secrets("Authorization: Bearer hunter2") == "Authorization: …"
