"""A register without QGIS: made by SQLite alone, and whole or not there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.errors import InputError, VbasError
from vbas.core.levels import Levels
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.publish.folders import one_run_on
from vbas.core.publish.geopackage.making import make_geopackage
from vbas.core.publish.leftovers import tidy_up
from vbas.core.publish.register import entry
from vbas.core.publish.register.listing import releases_in, taking_out
from vbas.core.publish.register.masked_points import maskings_in, new_masking
from vbas.core.publish.register.published_releases import add_release, earlier_releases, new_entry, read_register
from vbas.core.synthetic.hamlet import hamlet

from ..systems import of_posix


@pytest.fixture
def release():
    """Four areas in two regions, records of two classes."""
    areas = make_areas(list("abcd"), np.array([[0, 0], [0, 1], [5, 0], [5, 1]], float))
    counts = csr_matrix(np.full((4, 2), 9))
    profile = Profile(counts, np.array([[0], [1]]), (np.array(["F", "M"], dtype=object),), ("sex",))
    return publish(suppress(profile, Crosswalk(np.arange(4) // 2, 2), 5), areas)


def test_a_release_is_in_the_register_once_it_is_put(release, tmp_path):
    register = tmp_path / "register.gpkg"
    added = new_entry(register, release, 0)
    assert read_register(register) == []
    added.put()
    (found,) = read_register(register)
    assert found.records.tolist() == release.records.tolist() and found.areas.tolist() == release.areas.tolist()
    assert added.undo() == [] and list(tmp_path.iterdir()) == []


def test_a_release_of_persons_is_known_as_that_in_older_registers_too(release, tmp_path, monkeypatch):
    register, of_persons = tmp_path / "register.gpkg", replace(release, of_persons=True)
    older = {name: kind for name, kind in entry.TABLES["vbas_releases"].items() if name != "of_persons"}
    with monkeypatch.context() as before:
        before.setitem(entry.TABLES, "vbas_releases", older)
        make_geopackage(register, entry.TABLES)
    new_entry(register, release, 0).put()
    new_entry(register, of_persons, 1).put()
    assert [one.of_persons for one in read_register(register)] == [False, True]
    new_entry(tmp_path / "new.gpkg", of_persons, 0).put()
    assert [one.of_persons for one in read_register(tmp_path / "new.gpkg")] == [True]


def test_a_register_from_before_is_read_as_it_is(release, tmp_path, monkeypatch):
    register = tmp_path / "register.gpkg"
    older = {name: kind for name, kind in entry.TABLES["vbas_releases"].items() if name != "of_persons"}
    with monkeypatch.context() as before:
        before.setitem(entry.TABLES, "vbas_releases", older)
        make_geopackage(register, entry.TABLES)
    assert read_register(register) == []


def test_a_release_is_taken_out(release, tmp_path):
    register = tmp_path / "register.gpkg"
    for n_earlier in range(2):
        new_entry(register, release, n_earlier).put()
    taking_out(register, 1).put()
    assert [one.release for one in releases_in(register)] == [2]


@pytest.mark.parametrize("change", ["added", "taken back", "taken out"])
def test_readers_of_a_register_are_told_whenever_it_changed(release, tmp_path, change):
    register, long_ago = tmp_path / "register.gpkg", "2001-01-01T00:00:00.000Z"
    for n_earlier in range(2):
        last = new_entry(register, release, n_earlier)
        last.put()
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.execute("UPDATE gpkg_contents SET last_change = ?", (long_ago,))
    if change == "taken back":
        assert last.undo() == []
    else:
        (taking_out(register, 1) if change == "taken out" else new_entry(register, release, 2)).put()
    with closing(sqlite3.connect(register)) as connection:
        assert all(when > long_ago for (when,) in connection.execute("SELECT last_change FROM gpkg_contents"))


def test_masked_points_are_read_as_they_were_added(tmp_path):
    register, points = tmp_path / "register.gpkg", np.array([[1.5, 2], [3, 4]])
    new_masking(register, "a system", points).put()
    (found,) = maskings_in(register)
    assert (found.number, found.crs, found.points.tolist()) == (1, "a system", points.tolist())


def test_masked_points_that_are_no_places_are_refused_in_a_sentence(tmp_path):
    register = tmp_path / "register.gpkg"
    new_masking(register, "a system", np.array([[1.5, 2], [3, 4]])).put()
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.execute("UPDATE vbas_points SET x = 'here' WHERE y = 4")
    with pytest.raises(InputError, match=r"masked points 1 in .* are damaged .* restore the file from a copy"):
        maskings_in(register)


def test_of_a_register_that_cannot_be_made_nothing_stays(release, tmp_path, monkeypatch):
    monkeypatch.setitem(entry.TABLES, "vbas_releases", {"release": "SHORT", "twice": "TEXT", "Twice": "TEXT"})
    with pytest.raises(sqlite3.Error):
        make_geopackage(tmp_path / "register.gpkg", entry.TABLES)
    with pytest.raises(
        VbasError, match=r"SQLite cannot write into .* \(duplicate column name: Twice\): choose another folder"
    ):
        new_entry(tmp_path / "register.gpkg", release, 0)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_of_a_new_register_goes_with_the_next_and_a_living_one_is_let_be(release, tmp_path):
    """It has the classes of a release that was never published."""
    register = tmp_path / "register.gpkg"
    first = new_entry(register, release, 0)
    with pytest.raises(VbasError, match=r"another run is writing to .*register\.gpkg"):
        new_entry(register, release, 0)
    assert first.staged.is_file()
    first.connection.close()
    first.held.close()  # as its process ends
    (left,) = tmp_path.iterdir()
    new_entry(register, release, 0).put()
    assert list(tmp_path.iterdir()) == [register]
    os.link(register, left)  # killed when it had its name, and still the other
    new_entry(register, release, 1).discard()
    assert list(tmp_path.iterdir()) == [register] and len(read_register(register)) == 1


def test_a_register_that_is_being_made_is_in_nobody_s_way(release, tmp_path):
    made = new_entry(tmp_path / "city.gpkg", release, 0)
    with one_run_on(tmp_path / "city.csv", "CROSSWALK"):
        tidy_up(tmp_path / "city.csv")
        made.put()
    assert len(read_register(tmp_path / "city.gpkg")) == 1


@of_posix
def test_a_link_that_leads_nowhere_is_no_register(release, tmp_path):
    (tmp_path / "register.gpkg").symlink_to(tmp_path / "away.gpkg")
    with pytest.raises(InputError, match="cannot be made: name a"):
        new_entry(tmp_path / "register.gpkg", release, 0)


def test_a_new_register_whose_entry_is_refused_leaves_nothing(tmp_path):
    """Else classes of a release that was never published would lie hidden beside it."""

    def refused(connection):
        connection.execute("CREATE TABLE classes (records)")
        raise InputError("refused")

    with pytest.raises(InputError, match="refused"):
        entry.written_entry(tmp_path / "register.gpkg", refused)
    assert list(tmp_path.iterdir()) == []


def test_a_release_held_against_others_than_are_in_the_register_is_refused(tmp_path):
    """As many as there were, but one of them was taken out meanwhile, and another added."""
    areas, records, crosswalk = hamlet()
    register, levels = tmp_path / "register.gpkg", Levels((crosswalk,))

    def account() -> Account:
        return anonymise(areas, records, levels, Ask(k=2, earlier=earlier_releases(register)))

    for _ in range(2):
        add_release(register, account())
    mine = account()
    taking_out(register, 1).put()
    with pytest.raises(InputError, match="has other releases than when this run looked into it"):
        add_release(register, mine)
    add_release(register, account())
    assert [row.release for row in releases_in(register)] == [2, 3]
    with pytest.raises(InputError, match="has other releases than when this run looked into it"):
        add_release(register, mine)
    add_release(register, account())
    with pytest.raises(InputError, match="another run has added a release"):
        add_release(register, mine)
    assert [row.release for row in releases_in(register)] == [2, 3, 4]


@pytest.mark.parametrize("filtered", [(True, True), (True, False), (False, True), (False, False)])
def test_a_register_knows_of_which_release_a_filter_left_rows_out(tmp_path, filtered):
    areas, records, crosswalk = hamlet()
    register, levels, notes = tmp_path / "register.gpkg", Levels((crosswalk,)), ""
    for of_some in filtered:
        earlier = replace(earlier_releases(register), of_some=of_some)
        account = anonymise(areas, records, levels, Ask(k=2, earlier=earlier))
        add_release(register, account)
        notes = " ".join(account.notes)
    assert [release.of_some for release in read_register(register)] == list(filtered)
    assert ("Rows were left out of" in notes) == any(filtered) != ("was found to follow" in notes)
    assert ("release 1" in notes, "this release" in notes) == filtered or not any(filtered)


def test_beside_a_register_that_was_changed_by_hand_nothing_is_said_to_be_sure(tmp_path):
    areas, records, crosswalk = hamlet()
    register, levels = tmp_path / "register.gpkg", Levels((crosswalk,))

    def notes() -> str:
        return " ".join(anonymise(areas, records, levels, Ask(k=2, earlier=earlier_releases(register))).notes)

    add_release(register, anonymise(areas, records, levels, Ask(k=2, earlier=earlier_releases(register))))
    assert "was found to follow" in notes()
    with closing(sqlite3.connect(register)) as connection:
        connection.execute("UPDATE vbas_releases SET time = 'another'")
        connection.commit()
    assert "was found to follow" not in notes() and "nobody can say" in notes()


def test_of_a_register_that_is_not_there_yet_no_release_is_known(tmp_path):
    """None, and not that it is unknown which there are: one that comes in meanwhile is seen."""
    assert earlier_releases(tmp_path / "register.gpkg").entries == []
