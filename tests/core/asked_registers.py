"""Registers that are kept at random: releases added, named, approved and taken out, masked points, and faults."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest

from vbas.core.disclosure.published import Published
from vbas.core.errors import VbasError
from vbas.core.publish.register import entry
from vbas.core.publish.register.chain import broken_chain, chain_of
from vbas.core.publish.register.listing import approving, detail_of, naming, releases_in, taking_out
from vbas.core.publish.register.masked_points import maskings_in, new_masking, taking_points_out
from vbas.core.publish.register.particulars import PURPOSE, RECIPIENT, SERIES
from vbas.core.publish.register.published_releases import earlier_releases, new_entry, read_register

from .asked_towns import drawn_releases

IS_LARGE = "vbas.core.publish.register.published_releases.is_large"
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'vbas%' ORDER BY 1"
COLUMNS = "SELECT name FROM pragma_table_info(?) WHERE name <> 'fid' ORDER BY cid"
WORDS = ("", " ", "Ada", "ada", "Bo  b", "series A", "release 1", "é\n", "x" * 30)


@contextmanager
def at_noon():
    """The time is the same whenever it is asked for."""
    noon = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(entry, "datetime", SimpleNamespace(now=lambda zone: noon))
        yield


def large(release: Published) -> bool:
    """As though a release had many rows."""
    return True


def small(release: Published) -> bool:
    """As though it had few."""
    return False


def said_of(path: Path) -> list[object]:
    """What a register says of itself."""
    found: list[object] = []
    for ask in (releases_in, read_register, chain_of, broken_chain, maskings_in, earlier_releases):
        try:
            came: object = ask(path)
        except VbasError as error:
            came = error
        found.append(str(came).replace(str(path.parent), "…") if isinstance(came, (str, VbasError)) else came)
    warning = [getattr(found[-1], name, "") for name in ("warning", "broken", "action")]
    found[-1] = [text.replace(str(path.parent), "…") for text in warning]
    return found


def change(rng: np.random.Generator, path: Path, releases: list[Published]) -> object:
    """Something is added to a register, or taken out; the sentence where it cannot be."""
    word, number, kind = WORDS[int(rng.integers(len(WORDS)))], int(rng.integers(0, 5)), int(rng.integers(8))
    there = len(read_register(path)) if path.exists() else 0
    told = {SERIES: word, RECIPIENT: WORDS[int(rng.integers(len(WORDS)))], PURPOSE: "research"}
    try:
        if kind < 4 or not path.exists():
            release = releases[int(rng.integers(len(releases)))]
            if there and rng.random() < 0.3:
                release = replace(release, updates=(int(rng.integers(there)), "a further period"))
            n_earlier = there + int(rng.random() < 0.1)
            made = new_entry(path, release, n_earlier, word, "abc" if rng.random() < 0.5 else "", told)
        elif kind == 4:
            made = new_masking(path, "a system", rng.integers(0, 9, (int(rng.integers(0, 4)), 2)) / 2)
        elif kind == 5:
            made = naming(path, number, word)
        elif kind == 6:
            made = approving(path, number, word)
        else:
            made = (taking_out if rng.random() < 0.7 else taking_points_out)(path, number, word)
        if rng.random() < 0.15:
            return [made.discard(), "discarded"]
        made.put()
        undone = made.undo() if rng.random() < 0.15 else None
        said = [made.name, made.in_words, made.number, made.chained, made.entries]
        return [*said, undone, made.forget(), made.discard()]
    except VbasError as error:
        return str(error).replace(str(path.parent), "…")


def registers(rng: np.random.Generator) -> object:
    """What a register says after each of several changes, small releases and large ones."""
    releases = drawn_releases(rng, 2, few=True)
    if rng.random() < 0.2:
        releases[0] = replace(releases[0], linked=("visits",))
    found: list[object] = []
    with TemporaryDirectory() as folder, at_noon(), pytest.MonkeyPatch.context() as patched:
        path = Path(folder) / "register.gpkg"
        for _ in range(int(rng.integers(3, 7))):
            patched.setattr(IS_LARGE, large if rng.random() < 0.4 else small)
            found += [change(rng, path, releases), sorted(one.name for one in Path(folder).iterdir())]
        found += said_of(path) if path.exists() else []
        if path.exists():
            everything = read_register(path)
            found.append(detail_of(everything, range(1, len(everything) + 1)))
            some = np.array(["a0", "a3", "nowhere"], dtype=object)
            found.append(detail_of(everything, range(1, len(everything) + 1), some))
    return found


ODD = (None, "", "x", -1, 0, 1, 2, 99, 1.5, "[]", '["F"]', "{}", b"\x00", 2**40)


def damaged_registers(rng: np.random.Generator) -> object:
    """What a register says of which a cell was changed by hand, or a row or table has gone."""
    releases = drawn_releases(rng, 2, few=True)
    is_large = large if rng.random() < 0.4 else small
    with TemporaryDirectory() as folder, at_noon(), pytest.MonkeyPatch.context() as patched:
        path = Path(folder) / "register.gpkg"
        patched.setattr(IS_LARGE, is_large)
        for number, release in enumerate(releases):
            new_entry(path, release, number, "Ada", particulars={SERIES: "a"}).put()
        new_masking(path, "a system", np.array([[1.5, 2.0], [0.0, 1.0]])).put()
        if rng.random() < 0.2:
            taking_out(path, 1).put()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            tables = [name for (name,) in connection.execute(TABLES)]
            table = tables[int(rng.integers(len(tables)))]
            columns = [name for (name,) in connection.execute(COLUMNS, (table,))]
            column = columns[int(rng.integers(len(columns)))]
            rows = [row for (row,) in connection.execute(f'SELECT fid FROM "{table}" ORDER BY 1')]
            kind, row = int(rng.integers(10)), rows[int(rng.integers(len(rows)))] if rows else 0
            if kind < 7:
                odd = ODD[int(rng.integers(len(ODD)))]
                connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE fid = ?', (odd, row))
            elif kind == 7:
                connection.execute(f'DELETE FROM "{table}" WHERE fid = ?', (row,))
            elif kind == 8:
                connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
            else:
                connection.execute(f'DROP TABLE "{table}"')
        found = said_of(path)
        return [table, column, kind, found]
