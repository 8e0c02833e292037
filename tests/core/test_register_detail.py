"""What a register says of its releases beside their counts: names, series, recipients, and in which detail."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.errors import InputError
from vbas.core.publish.register.chain import chain_of
from vbas.core.publish.register.listing import detail_of, naming, releases_in, taking_out
from vbas.core.publish.register.masked_points import maskings_in, new_masking, taking_points_out
from vbas.core.publish.register.published_releases import new_entry

from .test_register_packs import release_of

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "chain.py"
TOLD = {"series": "health", "recipient": " Institute  of Health ", "purpose": "asthma\nby area"}


def verified(register):
    return subprocess.run([sys.executable, str(VERIFY), str(register)], capture_output=True).returncode


def change(register, statement):
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.execute(statement)


@pytest.fixture
def register(tmp_path):
    """A release of which nothing is said, and one of which all is."""
    path = tmp_path / "register.gpkg"
    for n, told in enumerate(({}, TOLD)):
        new_entry(path, release_of(n), n, "M. Roy", "", told).put()
    return path


@pytest.mark.slow
def test_what_is_said_of_a_release_is_listed_and_in_the_chain(register):
    rows = releases_in(register)
    assert [(row.series, row.recipient, row.purpose) for row in rows] == [
        ("", "", ""),
        ("health", "Institute of Health", "asthma by area"),
    ]
    assert not chain_of(register).problems and verified(register) == 0
    held = register.read_bytes()
    for statement in (
        "UPDATE vbas_told SET text = 'Nobody' WHERE what = 'recipient'",
        "DELETE FROM vbas_told",
        "INSERT INTO vbas_told (release, what, text) VALUES (1, 'series', 'health')",
        "UPDATE vbas_told SET release = 1",
    ):
        register.write_bytes(held)
        change(register, statement)
        assert chain_of(register).problems and verified(register) == 1
    register.write_bytes(held)
    taking_out(register, 2).put()
    assert b"Institute" not in register.read_bytes() and verified(register) == 0


def test_a_release_that_was_not_written_leaves_nothing_said(register):
    entry = new_entry(register, release_of(2), 2, "", "", {"series": "secret"})
    entry.put()
    assert entry.undo() == [] and b"secret" not in register.read_bytes() and not chain_of(register).problems


def test_a_release_is_given_a_name_of_its_own(register):
    entry = naming(register, 2, " Health   2026 ")
    entry.put()
    assert [row.title for row in releases_in(register)] == ["release 1", "Health 2026"]
    assert not chain_of(register).problems and verified(register) == 0
    with pytest.raises(InputError, match="is what release 2 of the register is called"):
        naming(register, 1, "health 2026")
    with pytest.raises(InputError, match="NAME is not given"):
        naming(register, 1, " ")
    with pytest.raises(InputError, match="RENAME is 3"):
        naming(register, 3, "x")
    assert entry.undo() == [] and releases_in(register)[1].title == "release 2"


def test_masked_points_are_taken_out_and_their_number_is_not_given_again(register):
    for n in range(2):
        new_masking(register, "EPSG:26914", np.array([[n + 0.125, 1.0]])).put()
    with pytest.raises(InputError, match="has the masked points 1, 2"):
        taking_points_out(register, 3)
    taking_points_out(register, 2, "A. Nguyen").put()
    assert [shown.number for shown in maskings_in(register)] == [1]
    last = chain_of(register).links[-1]
    assert (last.what, last.number, last.by) == ("points withdrawn", 2, "A. Nguyen")
    assert not chain_of(register).problems and verified(register) == 0
    new_masking(register, "EPSG:26914", np.array([[5.0, 1.0]])).put()
    assert [shown.number for shown in maskings_in(register)] == [1, 3]
    change(register, "DELETE FROM vbas_maskings WHERE masking = 1")
    assert chain_of(register).problems and verified(register) == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.lists(st.booleans(), min_size=1, max_size=3), st.booleans())
def test_the_detail_of_an_area_is_that_of_its_smallest_region_that_is_shown(seed, nested, asked):
    releases = [release_of(seed + i, nested=one) for i, one in enumerate(nested)]
    some = np.random.default_rng(seed).random(len(releases[0].records)) < 0.2  # few counts are left
    columns = {name: getattr(releases[0], name)[some] for name in ("level", "region", "class_of", "records")}
    releases[0] = replace(releases[0], **columns)
    wanted = np.array(["ä3", "elsewhere", "ä15"], dtype=object) if asked else None
    found = detail_of(releases, [n + 5 for n in range(len(releases))], wanted)
    for i, area in enumerate(found.identifiers):
        times, finest, smallest, last = 0, [], [], 0
        for number, one in enumerate(releases, 5):
            at = one.areas.tolist().index(area) if area in one.areas else None
            regions = [] if at is None else [int(of.region_of[at]) for of in one.levels.crosswalks]
            shown = [
                level for level, region in enumerate(regions) if (region, level) in set(zip(one.region, one.level))
            ]
            times, last = times + bool(shown), number if shown else last
            finest += [level + 1 for level in shown]
            smallest += [int((one.levels.crosswalks[level].region_of == regions[level]).sum()) for level in shown]
        expected = times, min(finest, default=0), min(smallest, default=0), last
        assert (found.releases[i], found.level[i], found.areas[i], found.last[i]) == expected
    assert len(found.identifiers) == (3 if asked else 16)
