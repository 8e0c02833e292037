"""The chain of a register: every change by hand is seen, by the plugin and by verify/chain.py alike."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.errors import InputError, VbasError
from vbas.core.levels import Levels
from vbas.core.publish.register.chain import CHAIN, SINCE_CHAINS, _lost_chain, chain_of
from vbas.core.publish.register.listing import approving, releases_in, taking_out
from vbas.core.publish.register.masked_points import new_masking
from vbas.core.publish.register.published_releases import earlier_releases, entry_of, new_entry, read_register
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


@pytest.mark.parametrize(
    "statement",
    [
        f"DROP TABLE {CHAIN}",
        f"ALTER TABLE {CHAIN} RENAME TO aside",
        f"UPDATE gpkg_contents SET table_name = 'aside' WHERE table_name = '{CHAIN}'",
    ],
)
def test_a_chain_that_was_taken_out_is_missed_now_and_later(register, statement):
    """Its releases get no entries as those of a register from before do: nobody can say that they are as they were."""
    change(register, statement, f"ALTER TABLE {CHAIN} RENAME TO aside" if "UPDATE" in statement else "SELECT 1")
    if "UPDATE" in statement:  # as QGIS renames a table
        change(register, "DELETE FROM gpkg_contents WHERE table_name = 'aside'")
        note_by_hand(register)
    assert list(chain_of(register).problems) == ["all of its entries are missing"] and verify(register) == 2
    assert "all of its entries are missing" in " ".join(account_for(register).notes)
    new_entry(register, *entry_of(account_for(register))).put()
    wanted = [f"release {number} is in the register, but not in its chain" for number in (1, 2)]
    assert chain_of(register).problems == wanted and verify(register) == 1
    with closing(sqlite3.connect(register)) as connection:
        listed = connection.execute("SELECT identifier FROM gpkg_contents WHERE table_name = ?", (CHAIN,)).fetchall()
    assert listed == [(CHAIN,)]


def note_by_hand(register):
    """As though something was said of a release, which no register did before it had a chain."""
    change(
        register,
        "CREATE TABLE vbas_told (fid INTEGER PRIMARY KEY, release MEDIUMINT, what TEXT, text TEXT)",
        "INSERT INTO vbas_told (release, what, text) VALUES (1, 'recipient', 'nobody')",
    )


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {CHAIN} SET entry = 'x' WHERE entry = 3",
        f"UPDATE {CHAIN} SET entry = NULL WHERE entry = 3",
        f"UPDATE {CHAIN} SET entry = 9223372036854775807 WHERE entry = 3",
        f"UPDATE {CHAIN} SET number = 'x' WHERE entry = 2",
        f"UPDATE {CHAIN} SET number = 9223372036854775807 WHERE entry = 2",
        f"UPDATE {CHAIN} SET \"by\" = x'ff00' WHERE entry = 2",
        f"UPDATE {CHAIN} SET hash = NULL WHERE entry = 3",
        f"UPDATE {CHAIN} SET what = NULL",
    ],
)
def test_beside_whatever_stands_in_a_chain_by_hand_releases_are_added_approved_of_and_taken_out(register, statement):
    change(register, statement)
    assert chain_of(register).problems
    entry = new_entry(register, *entry_of(account_for(register)))
    entry.put()
    assert entry.number == 3 and not entry.undo() and len(read_register(register)) == 2
    approving(register, 2, "A. Nguyen").put()
    taking_out(register, 2).put()
    assert chain_of(register).problems and len(read_register(register)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vbas_releases SET title = NULL WHERE release = 2",
        "UPDATE vbas_releases SET title = x'ff' WHERE release = 2",
        "UPDATE vbas_releases SET time = NULL WHERE release = 2",
        "UPDATE vbas_releases SET release = 2.5 WHERE release = 2",
        "UPDATE vbas_releases SET levels = 1e999 WHERE release = 2",
        "UPDATE vbas_releases SET levels = 2000000000 WHERE release = 2",
        "UPDATE vbas_releases SET quasi_identifiers = '[3]' WHERE release = 2",
        f"UPDATE vbas_releases SET quasi_identifiers = '{'[' * 100_000}' WHERE release = 2",
        "UPDATE vbas_crosswalks SET area = NULL WHERE release = 2",
    ],
)
def test_what_a_register_never_holds_is_said_of_the_release_that_has_it(register, statement):
    change(register, statement)
    with pytest.raises(InputError, match=r"^REGISTER: release 2(\.5)? \(“.*”\) in .* is damaged"):
        account_for(register)


def test_a_chain_that_lacks_a_column_or_leads_in_circles_is_said_to_be_unreadable(register):
    change(register, f"ALTER TABLE {CHAIN} DROP COLUMN released")
    assert verify(register) == 2
    register.unlink()
    register.symlink_to(register.name)
    assert verify(register) == 2


def test_a_list_of_digits_that_are_no_number_names_no_release(register):
    note_by_hand(register)
    change(register, "INSERT INTO vbas_told (release, what, text) VALUES (2, 'updates', '²')")
    assert [row.updates for row in releases_in(register)] == ["", ""]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE gpkg_contents", "is damaged (no such table: gpkg_contents): take it from a complete copy"),
        ("DROP TABLE vbas_values", "is damaged: it lacks the table “vbas_values” as the register has it. Restore the"),
        ("ALTER TABLE vbas_releases RENAME TO aside", "is damaged: it lacks the table “vbas_releases” as the"),
    ],
)
def test_a_register_that_lost_a_table_is_not_locked_nor_to_be_begun_anew(register, statement, said):
    change(register, statement)
    with pytest.raises(VbasError) as refused:
        new_entry(register, *entry_of(account_for(register)))
    assert said in str(refused.value) and "close" not in str(refused.value).casefold()


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE TABLE vbas_flows (release INTEGER)", "vbas_flows"),
        ("ALTER TABLE vbas_counts ADD COLUMN at_least INTEGER", "vbas_counts.at_least"),
        ("ALTER TABLE vbas_chain ADD COLUMN of_points INTEGER", "vbas_chain.of_points"),
        ("INSERT INTO vbas_told (release, what, text) VALUES (1, 'closed to', 'a class')", "vbas_told: closed to"),
    ],
)
def test_what_a_newer_version_has_written_is_not_held_against_by_one_that_does_not_know_it(register, statement, name):
    note_by_hand(register)
    account = account_for(register)
    change(register, "CREATE TABLE aside (note TEXT)")  # whatever else somebody keeps in the file is theirs
    assert len(read_register(register)) == 2
    change(register, statement)
    for work in (lambda: read_register(register), lambda: new_entry(register, *entry_of(account))):
        with pytest.raises(InputError, match=f"holds “{name}”, which this version of VBAS does not know"):
            work()


def test_what_to_do_with_a_register_that_cannot_be_written_to_depends_on_why(register):
    for error, wanted in (
        (sqlite3.OperationalError("database is locked"), "Close it in other programs"),
        (sqlite3.OperationalError("database or disk is full"), "Make room there"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "See that you may write"),
        (PermissionError("no"), "See that you may write"),
        (sqlite3.IntegrityError("constraint failed"), "take it from a complete copy"),
    ):
        entry = new_entry(register, *entry_of(account_for(register)))
        entry.connection.close()
        failing: Any = Failing(error)
        with pytest.raises(VbasError, match=wanted):
            replace(entry, connection=failing).put()
    assert len(read_register(register)) == 2


class Failing:
    """A connection that keeps nothing."""

    def __init__(self, error):
        self.error = error

    def execute(self, *_):
        raise self.error

    def close(self):
        """Nothing was open."""


def test_a_folder_in_the_place_of_a_register_is_said_to_be_unreadable(tmp_path):
    with pytest.raises(InputError, match=r"REGISTER: .* cannot be read"):
        earlier_releases(tmp_path)


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


@pytest.mark.parametrize(
    ("tables", "lost"),
    [
        ([], False),
        (["gpkg_contents"], False),
        (["gpkg_contents", "vbas_releases"], False),
        *(([table], True) for table in SINCE_CHAINS),
    ],
)
def test_a_chain_is_lost_where_it_is_listed_or_what_came_with_chains_is_there(tables, lost):
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (table_name TEXT)")
        assert _lost_chain(connection) is lost
        if "gpkg_contents" in tables:
            connection.execute("INSERT INTO gpkg_contents VALUES (?)", (CHAIN,))
            assert _lost_chain(connection) is True
