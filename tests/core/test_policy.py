"""A policy of the house: read whole or refused, and held by the recipe and by the library."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from vbas import anonymize
from vbas.core import policy
from vbas.core.anonymise import Ask, anonymise
from vbas.core.errors import PrivacyError
from vbas.core.levels import Levels
from vbas.core.policy import VARIABLE, policies, policies_for_lists
from vbas.core.synthetic.hamlet import hamlet

from ..systems import of_posix

AREAS = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
PEOPLE = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
ASKED: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex"}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Call it with TOML, and it is the policy in force; with a second text that of the system's folder."""
    monkeypatch.setattr(policy, "system_file", lambda: tmp_path / "system.toml")
    monkeypatch.delenv(VARIABLE, raising=False)

    def one(text, of_system=None):
        file = tmp_path / "vbas_policy.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv(VARIABLE, str(file))
        if of_system is not None:
            (tmp_path / "system.toml").write_text(of_system, encoding="utf-8")
        return file

    return one


def released(k=2, **more):
    areas, records, crosswalk = hamlet()
    return anonymise(areas, records, Levels((crosswalk,)), Ask(k, **more))


def test_all_keys_are_read(house):
    file = house(
        'least_k = 11\nrules = ["CMS cell size", "none"]\ndisclosure = true\nregister = "all.gpkg"\n'
        'release_folder = true\nhidden = ["vbas:donutmask", "dotmap"]'
    )
    (held,) = policies()
    assert (held.least_k, held.rules, held.disclosure) == (11, ("CMS cell size", "none"), "no small count follows")
    assert (held.register, held.register_file, held.release_folder) == (True, file.parent / "all.gpkg", True)
    assert held.hidden == ("donutmask", "dotmap")
    assert held.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert held.sha256 in held.sentence and "11" in held.sentence


@pytest.mark.parametrize(
    "text",
    [
        "least_k =",
        "least_k = 1",
        "least_k = true",
        'least_k = "11"',
        "least_K = 11",
        'rules = "none"',
        "rules = []",
        'rules = ["no such rule"]',
        'disclosure = "all"',
        "register = 1",
        'register = ""',
        'release_folder = "yes"',
        "hidden = [1]",
        "[policy]\nleast_k = 11",
        None,
    ],
)
def test_what_cannot_be_read_refuses_whatever_releases(house, text):
    file = house(text or "")
    if text is None:
        file.unlink()
    with pytest.raises(PrivacyError, match=r"vbas_policy\.toml cannot be read"):
        released()
    with pytest.raises(PrivacyError, match=r"vbas_policy\.toml cannot be read"):
        anonymize(AREAS, PEOPLE, **ASKED)
    assert policies_for_lists() == ()


def test_a_byte_that_is_no_text_refuses(house):
    house("").write_bytes(b"least_k = 3 # \xff")
    with pytest.raises(PrivacyError, match="cannot be read"):
        released()


@pytest.mark.parametrize(
    ("text", "more", "word"),
    [
        ("least_k = 3", {}, "K is 2"),
        ('rules = ["CMS cell size"]', {}, "RULE is “none”"),
        ("register = true", {}, "REGISTER is not given"),
        ("disclosure = true", {"nested": True}, "DISCLOSURE is “a class has k”"),
    ],
)
def test_the_recipe_refuses_what_is_below(house, text, more, word):
    assert released(**more).policies == ()
    house(text)
    with pytest.raises(PrivacyError, match=word):
        released(**more)


def test_an_account_names_the_policies_that_it_holds(house):
    house("least_k = 2\ndisclosure = true")
    account = released()
    assert [held.least_k for held in account.policies] == [2]
    assert account.notes[0] == account.policies[0].sentence


def test_of_two_files_each_is_held(house):
    house("least_k = 2", of_system="least_k = 5")
    with pytest.raises(PrivacyError, match=r"system\.toml asks for at least 5"):
        released(4)
    assert [held.least_k for held in released(5).policies] == [5, 2]


def test_the_library_refuses_before_it_reads(house, tmp_path):
    house('least_k = 5\nregister = "all.gpkg"\nrelease_folder = true')
    nothing: dict[str, list[str]] = {"area": []}
    with pytest.raises(PrivacyError, match="K is 4"):
        anonymize(nothing, nothing, area="area", quasi_identifiers="area", k=4)
    with pytest.raises(PrivacyError, match=r"asks for .*all\.gpkg"):
        anonymize(AREAS, PEOPLE, **ASKED, register=tmp_path / "other.gpkg")
    release = anonymize(AREAS, PEOPLE, **ASKED, register=tmp_path / "." / "all.gpkg")
    with pytest.raises(PrivacyError, match="RELEASE_FOLDER is not given"):
        release.deliver(None, {"REPORT": tmp_path / "page.html"})
    assert not (tmp_path / "page.html").exists()
    release.write(tmp_path / "release")
    assert (tmp_path / "all.gpkg").is_file()


def test_a_rule_is_that_which_is_shipped(house):
    house('rules = ["CMS cell size"]')
    assert anonymize(AREAS, PEOPLE, **ASKED, rule="CMS cell size").account.ask.k == 11
    with pytest.raises(PrivacyError, match="allows “CMS cell size”"):
        anonymize(AREAS, PEOPLE, **ASKED, rule="SACRO safe setting")


def test_the_library_refuses_what_is_hidden(house):
    house('hidden = ["vbas:anonymize"]')
    with pytest.raises(PrivacyError, match="vbas:anonymize is not to be used here"):
        anonymize(AREAS, PEOPLE, **ASKED)


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
@of_posix
def test_the_folder_of_a_system_is_absolute(monkeypatch, system):
    monkeypatch.setattr(policy.sys, "platform", system)
    assert policy.system_file().name == "vbas_policy.toml"
    assert system == "win32" or Path(policy.system_file()).is_absolute()
