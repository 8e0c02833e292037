"""Kinds of delivery, each fault at each of their calls, and what is wrong with what they leave."""

from __future__ import annotations

import json
import secrets
import sqlite3
import tempfile
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from itertools import count
from pathlib import Path

from vbas.core.errors import VbasError
from vbas.core.package.place import FolderPlace, refuse_other_folders, tidy_up_folder
from vbas.core.publish.delivery import Place, deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.folders import clear_dead, one_run_on, temporary_folder
from vbas.core.publish.leftovers import tidy_up
from vbas.core.publish.replacing import check_what_is_there
from vbas.core.publish.side_files import stale_beside

from .memory import AFTER, BEFORE, FAULTS, TAKEN, Crash, Memory

FOREIGN = {"foreign.txt": b"of others", "a.csv.bak": b"of others", ".vbas-0123456789abcdef": b"of others"}


@cache
def geopackage(*tables: str) -> bytes:
    """A database with these tables."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder) / "made")) as connection:
            for table in tables:
                connection.execute(f"CREATE TABLE {table} (a)")
            connection.commit()
        return (Path(folder) / "made").read_bytes()


def release(word: bytes) -> dict[str, bytes]:
    """The files of a release's folder."""
    files = [{"name": "rows", "path": "records.csv"}, {"name": "more", "path": "more.csv"}]
    said = {"vbas": {"layout": 1, "k": 5, "levels": [{"regions": 1}]}, "resources": files}
    return {"datapackage.json": json.dumps(said).encode(), "records.csv": word, "more.csv": word * 2}


MAP_OLD = {"map.shp": b"old shp", "map.dbf": b"old dbf", "map.shx": b"old shx", "map.qix": b"old qix"}
MAP_NEW = {"map.shp": b"new shp", "map.dbf": b"new dbf", "map.shx": b"new shx", "map.prj": b"new prj"}
# What is there, and what each output brings: a dict of its files, by its target.
KINDS = {
    "a new file": ({}, {"a.csv": {"a.csv": b"new"}}),
    "over a file": ({"a.csv": b"old"}, {"a.csv": {"a.csv": b"new"}}),
    "over a map": (MAP_OLD, {"map.shp": MAP_NEW}),
    "several": (
        {"a.csv": b"old", **MAP_OLD},
        {"a.csv": {"a.csv": b"new"}, "b.csv": {"b.csv": b"new"}, "map.shp": MAP_NEW},
    ),
    "over a GeoPackage": ({"g.gpkg": geopackage("g")}, {"g.gpkg": {"g.gpkg": geopackage("g", "more")}}),
    "over other layers": ({"g.gpkg": geopackage("g", "survey")}, {"g.gpkg": {"g.gpkg": geopackage("g")}}),
    "a new folder": ({}, {"f": release(b"new")}),
    "over a folder": ({f"f/{name}": one for name, one in release(b"old").items()}, {"f": release(b"new")}),
    "folder and page": (
        {"p.html": b"old", **{f"f/{name}": one for name, one in release(b"old").items()}},
        {"p.html": {"p.html": b"new"}, "f": release(b"new")},
    ),
}
REFUSED = ("over other layers",)


def prepared(rules, kind, make=Memory):
    """A file system with what is there before a delivery."""
    files = make(rules)
    for name, content in {**KINDS[kind][0], **FOREIGN}.items():
        if "/" in name and not files.is_there(files.out / Path(name).parent):
            files.make_folder(files.out / Path(name).parent)
        files.write(files.out / name, content)
    return files


def visible(files) -> dict[str, bytes]:
    """What everybody sees, by name; foreign files included."""
    return {name: one for name, one in files.contents().items() if not _is_hidden(name)}


def hidden(files) -> dict[str, bytes]:
    """What a run has left beside its targets."""
    return {name: one for name, one in files.contents().items() if _is_hidden(name)}


def _is_hidden(name: str) -> bool:
    return name.startswith(".vbas-") and name not in FOREIGN


def held(files, targets, stack) -> None:
    """What every run does first."""
    for target in targets:
        sure = stack.enter_context(one_run_on(target, target.name, files))
        clear_dead(target.parent, files)
        if sure:
            tidy_up(target, files)
            tidy_up_folder(target, files)


def run(files, kind: str) -> list[str]:
    """A delivery, as forms and the library make it; its warnings."""
    outputs = {files.out / name: content for name, content in KINDS[kind][1].items()}
    with ExitStack() as stack:
        held(files, outputs, stack)
        for target, content in outputs.items():
            if target.suffix:
                written = dict.fromkeys([target.name, *content, *stale_beside(target)])
                check_what_is_there(target.name, target, [target.with_name(name) for name in written], files)
            else:
                refuse_other_folders(target.name, target, files)
        staging = stack.enter_context(temporary_folder(files))
        places: list[Place] = []
        for target, content in outputs.items():
            files.make_folder(staging / target.name)
            for name, one in content.items():
                files.write(staging / target.name / name, one)
            if target.suffix:
                stale = stale_beside(target)
                places.append(FilePlace(target.name, staging / target.name / target.name, target, stale, files=files))
            else:
                places.append(FolderPlace(target.name, staging / target.name, target, files=files))
        return deliver(places)


@contextmanager
def in_order():
    """Names that nobody can predict, in order."""
    numbers, real = count(), secrets.token_hex
    secrets.token_hex = lambda nbytes=None: f"{next(numbers):0{2 * (nbytes or 16)}x}"
    try:
        yield
    finally:
        secrets.token_hex = real


def outcome(rules, kind, fault, at, make=Memory):
    """One delivery with one fault: whether the fault happened, and what is wrong with what was left."""
    files = prepared(rules, kind, make)
    old = visible(files)
    new = {**old, **_of_new(kind)}
    for name in KINDS[kind][0]:
        if name not in _of_new(kind):
            del new[name]
    if kind in REFUSED:
        new = old
    files.arm(fault, at)
    said, crashed, wrong = "", False, []
    try:
        with in_order():
            said, ended = " ".join(run(files, kind)), True
    except Crash:
        crashed, ended = True, False
    except (VbasError, OSError) as error:
        said, ended = str(error), False
    except Exception as error:
        said, ended = f"{type(error).__name__}: {error}", False
        wrong.append(f"no sentence: {said}")
    happened, where = bool(files.said), " ".join(files.said)
    files.restart()
    wrong += _whole(files, old, new)
    if crashed:
        wrong += _after_a_crash(files, kind, old, new)
    elif ended:
        wrong += [] if visible(files) == new else ["it ends well, and what is there is not new"]
        wrong += _named(files, said) if fault != TAKEN else _found_by_the_next(files, kind)
    else:
        wrong += _after_an_error(files, old, said) if fault != TAKEN else _found_by_the_next(files, kind)
    files.end()
    return happened, [f"{rules.title}, {kind}, {fault} at {at} ({where}): {one}" for one in wrong]


def _of_new(kind):
    return {
        (name if Path(target).suffix else f"{target}/{name}"): one
        for target, content in KINDS[kind][1].items()
        for name, one in content.items()
    }


def _whole(files, old, new):
    """Every file is old or new, nothing of others is touched, and what was there is somewhere."""
    there, aside = visible(files), list(hidden(files).values())
    wrong = [f"{name} of others is lost" for name, one in FOREIGN.items() if files.contents().get(name) != one]
    for name in {*old, *new, *there}:
        now = there.get(name)
        if now is None and name in old and name in new and old[name] not in aside:
            wrong.append(f"{name} is neither there nor aside")
        elif now is not None and now not in (old.get(name), new.get(name)):
            wrong.append(f"{name} is neither old nor new")
    return wrong


def _after_a_crash(files, kind, old, new):
    """The next run finds what was left: each output is old or new as a whole, and nothing is beside it."""
    outputs = KINDS[kind][1]
    with in_order(), ExitStack() as stack:
        held(files, [files.out / name for name in outputs], stack)
        clear_dead(files.temporary(), files)
    there, wrong = visible(files), []
    if files.rules.locks != "kept":  # nothing is tidied up where nobody can be sure
        return _whole(files, old, new)
    for target in outputs:
        stem = f"{target}/" if not Path(target).suffix else f"{Path(target).stem}."
        mine = [name for name in {*old, *new} if name.startswith(stem) and name not in FOREIGN]
        before = [name for name in mine if name in old]
        as_old = all(there.get(name) == old[name] for name in before)
        as_new = all(there.get(name) == new.get(name) for name in mine)
        if not (as_old or as_new):
            wrong.append(f"{target} is old in part and new in part")
    wrong += [f"{name} is left" for name in hidden(files)]
    wrong += ["something is left in the temporary folder"] if files.names(files.temporary()) else []
    return wrong


def _after_an_error(files, old, said):
    """The sentence names what is not as it was, and what is left."""
    there = visible(files)
    differ = [name for name in {*old, *there} if there.get(name) != old.get(name)]
    if "Nothing was changed" in said:
        return [f"{name} was changed" for name in differ] + _named(files, "")
    unnamed = [name for name in differ if str(files.out / name.split("/")[0]) not in said]
    return [f"{name} is not as it was, and not named" for name in unnamed] + _named(files, said)


def _found_by_the_next(files, kind):
    """What was away when it was to be removed, and came back, goes with the next run, and nothing else."""
    before = visible(files)
    with in_order(), ExitStack() as stack:
        held(files, [files.out / name for name in KINDS[kind][1]], stack)
    if files.rules.locks != "kept":
        return []
    wrong = [] if visible(files) == before else ["the next run changes what is there"]
    return wrong + [f"{name} is left" for name in hidden(files)]


def _named(files, said):
    """Empty locks may stay: the next run takes them."""
    return [
        f"{name} is left and not named"
        for name, one in hidden(files).items()
        if not (name.endswith(".lock") and not one)
        and "/.lock" not in name
        and str(files.out / name.split("/")[0]) not in said
    ]


def matrix(every_rule, kinds=tuple(KINDS), faults=FAULTS, step=1, start=1):
    """All faults at all calls (or each step-th); counts by rules, kind and fault, and what is wrong."""
    counts: Counter[tuple[str, str, str]] = Counter()
    complaints: list[str] = []
    for rules in every_rule:
        for kind in kinds:
            for fault in faults:
                for at in count(start, step):
                    happened, wrong = outcome(rules, kind, fault, at)
                    complaints += wrong
                    if not happened:
                        break
                    counts[rules.title, kind, fault] += 1
    return counts, complaints


__all__ = ["AFTER", "BEFORE", "KINDS", "matrix", "outcome", "run"]
