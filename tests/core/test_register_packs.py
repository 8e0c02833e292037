"""Large releases in a register are packed: they are read as they were, and seen where they are changed."""

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

from vbas.core.areas import make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.values import Values
from vbas.core.errors import InputError
from vbas.core.levels import Levels
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.margins import hold_against_margins
from vbas.core.publish.register import packs
from vbas.core.publish.register.chain import chain_of
from vbas.core.publish.register.listing import releases_in, taking_out
from vbas.core.publish.register.packs import COUNTS, Pack, packs_of, read_pack
from vbas.core.publish.register.published_releases import new_entry, read_register
from vbas.core.releases.examining import examine

from .nested_cases import profile_of
from .release_cases import profile_over

VERIFY = Path(__file__).resolve().parents[2] / "verify" / "chain.py"


def release_of(seed: int, sensitive: bool = False, nested: bool = True):
    """Sixteen areas, of which one is left out, in four regions, and those in one."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"ä{i}" for i in range(16)], rng.random((16, 2)), np.ones(16))
    fine, coarse = number_compactly(np.arange(16) // 4)[0], number_compactly(np.arange(16) // 8)[0]
    left_out = replace(fine, region_of=np.append(fine.region_of[:-1], -1), given_numbers=np.array([7, 3, 9, 4]))
    levels = Levels((fine, coarse) if nested else (left_out,))
    release = publish(nest(areas, profile_of(rng.poisson(3.0, (16, 5))), levels, 5), areas)
    if sensitive:
        at = np.arange(len(release.records))
        release = replace(
            release, sensitive=(Values("ill", np.array(["", "flu"], object), at, at % 2, release.records),)
        )
    return release


def told(release):
    """What a release says, in whichever order."""
    shown = [of.numbers for of in release.levels.crosswalks]
    classes = release.values_of_classes()
    counts = [
        (int(level), int(shown[level][region]), classes[of], int(n))
        for level, region, of, n in zip(release.level, release.region, release.class_of, release.records)
    ]
    values = [
        (one.field, counts[at], one.categories[value], int(n))
        for one in release.sensitive
        for at, value, n in zip(one.equivalence_class, one.value, one.records)
    ]
    regions = [
        (
            area,
            *(int(of.numbers[of.region_of[i]]) if of.region_of[i] >= 0 else None for of in release.levels.crosswalks),
        )
        for i, area in enumerate(release.areas.tolist())
    ]
    flags = release.k, release.bounded, release.whole, release.of_persons, release.in_zones, dict(release.coarsened)
    return sorted(counts), sorted(values), sorted(regions), release.quasi_identifiers, flags


def register_of(path, releases, monkeypatch, rows_that_stay):
    monkeypatch.setattr(packs, "ROWS_THAT_STAY", rows_that_stay)
    for n, release in enumerate(releases):
        new_entry(path, release, n, "M. Roy").put()
    return path


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_packed_or_not_a_release_is_read_as_it_was_and_tells_the_same(tmp_path_factory, seed, sensitive, nested):
    releases = [release_of(seed, sensitive, nested), release_of(seed + 1, sensitive, nested)]
    folder = tmp_path_factory.mktemp("registers")
    with pytest.MonkeyPatch.context() as monkeypatch:
        registers = [register_of(folder / f"{n}.gpkg", releases, monkeypatch, n) for n in (0, 10**9)]
    packed, rows = (read_register(register) for register in registers)
    for before, one, other in zip(releases, packed, rows):
        assert told(one) == told(other) == told(before)
    assert packed[0].levels is packed[1].levels
    expected, found = (examine(release_of(seed + 2, sensitive, nested), earlier) for earlier in (rows, packed))
    assert (found.n_counts, found.n_undecided, found.n_compared) == (
        expected.n_counts,
        expected.n_undecided,
        expected.n_compared,
    )
    first, second = ([replace(row, time="") for row in releases_in(register)] for register in registers)
    assert first == second


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-(2**40), 2**40)), st.lists(st.text()))
def test_a_pack_holds_what_was_packed(numbers, texts):
    made = read_pack(Pack({"t": texts}, {"n": np.array(numbers, np.int64)}).compressed())
    assert made.columns["n"].tolist() == numbers and list(made.texts["t"]) == texts


def test_the_same_regions_are_there_once_and_stay_until_the_last_release_of_them_goes(tmp_path, monkeypatch):
    register = register_of(tmp_path / "register.gpkg", [release_of(0), release_of(1)], monkeypatch, 0)
    assert n_packs(register) == 4  # regions, classes, and the counts of both
    taking_out(register, 1).put()
    assert n_packs(register) == 3 and told(read_register(register)[0]) == told(release_of(1))
    assert not chain_of(register).problems and verified(register) == 0
    taking_out(register, 2).put()
    assert n_packs(register) == 0
    entry = new_entry(register, release_of(2), 0)
    entry.put()
    assert entry.undo() == [] and n_packs(register) == 0 and read_register(register) == []
    assert not chain_of(register).problems and verified(register) == 0


def n_packs(register):
    with closing(sqlite3.connect(register)) as connection:
        return connection.execute("SELECT count(*) FROM vbas_packs").fetchone()[0]


def verified(register):
    return subprocess.run([sys.executable, str(VERIFY), str(register)], capture_output=True).returncode


@pytest.mark.slow
def test_a_pack_that_is_changed_is_seen(tmp_path, monkeypatch):
    register = register_of(tmp_path / "register.gpkg", [release_of(0)], monkeypatch, 0)
    before = register.read_bytes()
    lacking, other = b"", Pack().compressed()
    counts = packs_of(release_of(0))[COUNTS]
    one_more = Pack(columns={**counts.columns, "records": counts.columns["records"] + 1}).compressed()
    for statement, values in (
        ("UPDATE vbas_packs SET content = ? WHERE fid = 3", (one_more,)),
        ("UPDATE vbas_packs SET content = ? WHERE fid = 1", (other,)),
        ("UPDATE vbas_packs SET content = ? WHERE fid = 3", (lacking,)),
        ("UPDATE vbas_packs SET content = 'text' WHERE fid = ?", (2,)),
        ("DELETE FROM vbas_packs WHERE fid = ?", (3,)),
        ("UPDATE vbas_packed SET hash = (SELECT hash FROM vbas_packs WHERE fid = ?) WHERE fid = 2", (1,)),
        ("DELETE FROM vbas_packed WHERE fid = ?", (3,)),
        ("DELETE FROM vbas_packed WHERE fid > ?", (0,)),
    ):
        register.write_bytes(before)
        with closing(sqlite3.connect(register)) as connection:
            connection.execute(statement, values)
            connection.commit()
        assert chain_of(register).problems and verified(register) == 1, statement
        with pytest.raises(InputError, match="is damaged"):
            read_register(register)


def test_counts_below_k_are_refused_in_packs_too(tmp_path, monkeypatch):
    release = release_of(0)
    register = register_of(tmp_path / "register.gpkg", [replace(release, k=100)], monkeypatch, 0)
    with pytest.raises(InputError, match="below its k of 100"):
        read_register(register)


@pytest.mark.parametrize("rows_that_stay", [0, 10**9])
def test_a_class_that_was_held_back_is_in_no_register(tmp_path, monkeypatch, rows_that_stay):
    """Six with job b are not shown, so that nobody is left with the one of c: no other place shows a b."""
    areas = make_areas(["a", "b"], [(0, 0), (900, 0)])
    values = [("f", "a"), ("f", "b"), ("f", "c"), ("m", "a")]
    profile = profile_over(np.array([[9, 6, 1, 9], [9, 0, 0, 9]]), values, ("sex", "job"))
    plan, _ = hold_against_margins(suppress(profile, number_compactly(np.arange(2))[0], 5), [["sex"]])
    release = publish(plan, areas)
    assert ("f", "b") in release.values_of_classes()
    register = register_of(tmp_path / "register.gpkg", [release], monkeypatch, rows_that_stay)
    (read,) = read_register(register)
    assert read.values_of_classes() == [("f", "a"), ("m", "a")]
    assert [of.tolist() for of in read.categories] == [["f", "m"], ["a"]]
    assert told(read) == told(release)
