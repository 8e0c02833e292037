"""The chain of a register: every change by hand is seen, by the plugin and by verify/chain.py alike."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.errors import InputError
from vbas.core.levels import Levels
from vbas.core.publish.register.chain import CHAIN, chain_of
from vbas.core.publish.register.listing import approving, releases_in, taking_out
from vbas.core.publish.register.masked_points import new_masking
from vbas.core.publish.register.published_releases import (
    earlier_releases,
    entry_of,
    new_entry,
    read_register,
)
from vbas.core.synthetic.hamlet import hamlet

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "chain.py"


def account_for(register):
    areas, records, crosswalk = hamlet()
    return anonymise(areas, records, Levels((crosswalk,)), Ask(k=2, earlier=earlier_releases(register)))


@pytest.fixture
def register(tmp_path):
    """Two releases, the first approved of."""
    path = tmp_path / "register.gpkg"
    for by in ("M. Roy", "J. Tremblay"):
        new_entry(path, *entry_of(account_for(path)), by, "c" * 64).put()
    approving(path, 1, "A. Nguyen").put()
    return path


def change(register, *statements):
    with closing(sqlite3.connect(register)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def verify(register, *more):
    done = subprocess.run([sys.executable, str(VERIFY), str(register), *more], capture_output=True, text=True)
    assert not done.stderr
    return done.returncode


def test_every_entry_has_the_hash_of_the_one_before(register):
    chain = chain_of(register)
    assert [(link.what, link.number, link.by) for link in chain.links] == [
        ("added", 1, "M. Roy"),
        ("added", 2, "J. Tremblay"),
        ("approved", 1, "A. Nguyen"),
    ]
    assert [link.previous for link in chain.links] == ["", *(link.hash for link in chain.links[:-1])]
    assert not chain.problems and verify(register, "--entry", chain.links[1].hash) == 0
    assert verify(register, "--entry", "0" * 64) == 1
    assert [(row.proposed_by, row.approved_by) for row in releases_in(register)] == [
        ("M. Roy", "A. Nguyen"),
        ("J. Tremblay", ""),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vbas_counts SET records = records + 1 WHERE release = 1",
        "UPDATE vbas_crosswalks SET vbas_region = 1 WHERE release = 2",
        "UPDATE vbas_releases SET k = 3 WHERE release = 1",
        "UPDATE vbas_releases SET release = 'x' WHERE release = 1",
        "DELETE FROM vbas_counts WHERE release = 2",
        "DELETE FROM vbas_releases WHERE release = 2",
        "INSERT INTO vbas_releases (release, title, time, k) VALUES (7, '', '', 2)",
        f"UPDATE {CHAIN} SET \"by\" = 'Nobody' WHERE entry = 1",
        f"UPDATE {CHAIN} SET number = 2 WHERE entry = 3",
        f"UPDATE {CHAIN} SET number = 'x' WHERE entry = 3",
        f"UPDATE {CHAIN} SET time = '' WHERE entry = 2",
        f"DELETE FROM {CHAIN} WHERE entry = 1",
        f"DELETE FROM {CHAIN} WHERE entry = 2",
        f'INSERT INTO {CHAIN} SELECT 99, 4, time, what, number, content, released, "by", hash, hash FROM {CHAIN} '
        "WHERE entry = 3",
    ],
)
def test_a_change_by_hand_is_seen(register, statement):
    change(register, statement)
    assert chain_of(register).problems
    assert verify(register) == 1


def test_a_broken_chain_is_said_by_the_next_release(register):
    change(register, "UPDATE vbas_crosswalks SET area = 'elsewhere' WHERE release = 1 AND vbas_region IS NULL")
    assert "chain" not in " ".join(account_for(register).notes)
    change(register, f"UPDATE {CHAIN} SET \"by\" = 'Nobody' WHERE entry = 1")
    assert any("the chain of" in note and "is broken" in note for note in account_for(register).notes)


def test_a_title_may_be_given(register):
    change(register, "UPDATE vbas_releases SET title = 'Asthma 2026' WHERE release = 1")
    assert not chain_of(register).problems and verify(register) == 0


def test_what_is_taken_out_stays_in_the_chain_and_its_number_is_not_given_again(register):
    taking_out(register, 2, "M. Roy").put()
    chain = chain_of(register)
    assert (chain.links[-1].what, chain.links[-1].number, chain.links[-1].by) == ("withdrawn", 2, "M. Roy")
    assert not chain.problems and verify(register) == 0
    entry = new_entry(register, *entry_of(account_for(register)))
    assert entry.number == 3
    entry.put()
    assert len(read_register(register)) == 2 and not chain_of(register).problems


def test_a_release_that_was_not_written_leaves_the_chain_as_it_was(register):
    before = chain_of(register).links
    entry = new_entry(register, *entry_of(account_for(register)))
    entry.put()
    assert len(chain_of(register).links) == len(before) + 1 and not entry.undo()
    assert chain_of(register).links == before and not chain_of(register).problems


def test_a_register_from_before_is_taken_as_it_is(register):
    change(register, f"DROP TABLE {CHAIN}", f"DELETE FROM gpkg_contents WHERE table_name = '{CHAIN}'")
    assert chain_of(register).links == () and verify(register) == 2
    new_masking(register, "", np.array([[1.5, 2.0], [0.1, -3.0]])).put()
    assert [(link.what, link.number) for link in chain_of(register).links] == [
        ("found", 1),
        ("found", 2),
        ("points added", 1),
    ]
    assert not chain_of(register).problems and verify(register) == 0
    change(register, "UPDATE vbas_points SET x = 1.25")
    assert chain_of(register).problems and verify(register) == 1


def test_masked_points_that_somebody_took_out_by_hand_are_missed(register):
    new_masking(register, "", np.zeros((2, 2))).put()
    change(register, "DELETE FROM vbas_maskings")
    assert chain_of(register).problems == ["masked points 1 are missing, and were not withdrawn"]


def test_nobody_approves_of_what_he_proposed(register):
    with pytest.raises(InputError, match=r"Release 2 was proposed by j\. tremblay"):
        approving(register, 2, " j.  tremblay ")
    with pytest.raises(InputError, match="WHO is not given"):
        approving(register, 2, " ")
    with pytest.raises(InputError, match="APPROVE is 9"):
        approving(register, 9, "A. Nguyen")


def test_a_folder_is_held_against_the_register(register, tmp_path):
    from vbas import anonymize

    other, folder = tmp_path / "other.gpkg", tmp_path / "release"
    areas = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    with pytest.warns(UserWarning, match="is a new register"):
        release = anonymize(
            areas, people, area="area", quasi_identifiers="sex", k=5, register=other, prepared_by="M. Roy"
        )
    content = release.write(folder)
    (link,) = chain_of(other).links
    assert (link.what, link.by, link.released) == ("added", "M. Roy", content)
    command = [sys.executable, str(VERIFY.with_name("verify.py")), str(folder), "--register"]
    for file, code in ((other, 0), (register, 1)):
        done = subprocess.run([*command, str(file)], capture_output=True, text=True)
        assert done.returncode == code and "release in the register: release 1 is" in done.stdout
