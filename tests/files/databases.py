"""Deliveries into databases: a register, and what goes with it, a fault at each call of the door and of SQLite itself.

The files are real ones and SQLite is the real one; what differs between file systems is what SQLite and the door are
told of them. A crash is the end of the process: what was written stays written.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache, partial
from itertools import count
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.errors import VbasError
from vbas.core.package.place import FolderPlace
from vbas.core.plan import suppress as released
from vbas.core.profile import Profile
from vbas.core.publish.delivery import Place, deliver
from vbas.core.publish.file_place import FilePlace
from vbas.core.publish.files import FileSystem
from vbas.core.publish.folders import clear_dead
from vbas.core.publish.register import entry, listing, published_releases
from vbas.core.publish.register.listing import taking_out
from vbas.core.publish.register.published_releases import new_entry
from vbas.core.records.sqlite_uri import sqlite_uri

from .deliveries import held, in_order, release
from .memory import ALL, FAULTS, IN_USE, Crash, Faults, Rules
from .sqlite_calls import BUSY, CANTOPEN, IOERR, OK, SqliteCalls
from .sqlite_calls import FULL as NO_ROOM

NO_SUCH_FILE = IOERR | 23 << 8  # SQLITE_IOERR_DELETE_NOENT, which SQLite takes for done
SHARED_MEMORY = ("ext4", "NTFS", "exFAT", "APFS", "as mounted")  # a network has none, and so no write-ahead log
MOUNTED = Rules("as mounted")  # what a folder does by itself
beneath: Path | None = None  # the folder that all is done in; none for that for temporary files
only: tuple[str, ...] = ()  # the calls at which alone faults happen; none for all
CHANGING = ("open", "write", "truncate", "sync", "delete")
# Of the door: what changes files, and what wants room.
DOOR = {
    **dict.fromkeys(("status", "status_behind", "names", "read", "open_left_lock", "lock"), (False, False)),
    **dict.fromkeys(
        ("rename", "replace", "remove", "remove_folder", "remove_tree", "permit", "give", "keep"), (True, False)
    ),
    **dict.fromkeys(("new_file", "staged", "link", "make_folder", "new_folder"), (True, True)),
    "open_to_lock": (False, True),
}


class Folder(Faults, FileSystem):
    """A real folder by the rules of a file system; a fault at the n-th call of the door or of SQLite."""

    def __init__(self, rules: Rules, root: Path, sqlite: SqliteCalls) -> None:
        super().__init__()
        self.rules, self.root, self.out = rules, root, root / "out"
        self.holds_what_is_open, self.ignores_case = rules.shares, not rules.cased
        self.descriptors: set[int] = set()
        self.is_with_gdal = False
        self._sqlite = sqlite
        sqlite.calls = self.of_sqlite
        (root / "temporary").mkdir()

    def of_sqlite(self, name: str, path: str, do: Callable[[], int]) -> int:
        """A call of SQLite, and the code that it gets."""
        if not path.startswith(str(self.root)):
            return do()
        if name == "lock" and self.rules.locks == "unknown":
            return IOERR  # SQLITE_IOERR_LOCK
        if only and name not in only:
            return IOERR if self.dead else do()
        try:
            return int(self._call(name, path, do, name in CHANGING, name in ("open", "write")))
        except FileNotFoundError:
            return {"open": CANTOPEN, "access": OK, "delete": NO_SUCH_FILE}.get(name, IOERR)
        except PermissionError:
            # Nobody else has a hidden one open; GDAL waits long for what others have locked.
            known = not self.is_with_gdal and not Path(path).name.startswith(".vbas-")
            return {"open": CANTOPEN, "lock": BUSY if known else IOERR}.get(name, IOERR)
        except OSError as error:
            return CANTOPEN if name == "open" else NO_ROOM if error.errno == errno.ENOSPC else IOERR

    def _refuse_open(self, path: Path) -> None:
        """On Windows SQLite lets nobody rename or remove what it has open."""
        used = self._sqlite.names() if self.rules.shares else set()
        if any(name == str(path) or name.startswith(f"{path}/") for name in used):
            raise PermissionError(errno.EACCES, IN_USE, str(path))

    def _asked(self, name, *words, **more):
        return getattr(FileSystem, name)(self, *words, **more)

    def __getattribute__(self, name):
        if name not in DOOR:
            return super().__getattribute__(name)
        return partial(self._passed, name)

    def _passed(self, name, *words, **more):
        def do():
            if name in ("rename", "replace", "remove"):
                self._refuse_open(words[0])
            if name == "link" and not self.rules.links:
                raise OSError(errno.EPERM, "Operation not permitted", str(words[0]))
            if name == "rename" and not self.rules.overwrites and words[0] != words[1] and os.path.lexists(words[1]):
                raise FileExistsError(errno.EEXIST, "File exists", str(words[1]))
            if name == "lock" and self.rules.locks == "unknown":
                return False
            done = self._asked(name, *words, **more)
            if name in ("open_to_lock", "open_left_lock"):
                self.descriptors.add(done)
            return done

        try:
            if only and name not in only and not self.dead:
                return do()
            return self._call(name, words[0], do, *DOOR[name])
        except FileNotFoundError:
            if name == "remove" and more.get("missing_ok"):
                return None
            raise
        except OSError:
            if name == "remove_tree" and more.get("as_far_as_it_goes"):
                return None
            raise

    def close(self, descriptor):
        self.descriptors.discard(descriptor)
        super().close(descriptor)

    def restart(self):
        """What the process had open is closed by the system, and nothing of it is written any more."""
        for descriptor in list(self.descriptors):
            self.close(descriptor)
        super().restart()

    def end(self):
        """Whoever made the folder removes it."""

    def contents(self):
        """All files that lie where outputs do, by their names there."""
        files = (path for path in self.out.rglob("*") if path.is_file())
        return {path.relative_to(self.out).as_posix(): path.read_bytes() for path in files}

    def temporary(self):
        return self.root / "temporary"

    def user(self):
        return super().user() if self.rules.rights else None

    def lists_locks(self):
        return False

    def machine(self):
        return "this machine"


@cache
def _classes():
    """Four areas in two regions, records of two classes, as they are published."""
    areas = make_areas(list("abcd"), np.array([[0, 0], [0, 1], [5, 0], [5, 1]], float))
    profile = Profile(
        csr_matrix(np.full((4, 2), 9)), np.array([[0], [1]]), (np.array(["F", "M"], dtype=object),), ("sex",)
    )
    return publish(released(profile, Crosswalk(np.arange(4) // 2, 2), 5), areas)


REGISTER, PAGE, RELEASE = "register.gpkg", "page.html", "folder"
OLD_FILES = {PAGE: b"old", **{f"{RELEASE}/{name}": one for name, one in release(b"old").items()}}
# The releases that the register has before, whether a page and a folder go with it, and the entry.
KINDS: dict[str, tuple[int, bool, Callable[..., entry.Entry]]] = {
    "a new register": (0, False, lambda path, n: new_entry(path, _classes(), n)),
    "a new register, page and folder": (0, True, lambda path, n: new_entry(path, _classes(), n)),
    "one release more": (1, False, lambda path, n: new_entry(path, _classes(), n)),
    "one more, page and folder": (1, True, lambda path, n: new_entry(path, _classes(), n)),
    "a release taken out": (2, False, lambda path, n: taking_out(path, n)),
}


def _prepared(kind: str, out: Path) -> None:
    out.mkdir()
    n_before, with_files, _ = KINDS[kind]
    for n_earlier in range(n_before):
        new_entry(out / REGISTER, _classes(), n_earlier).put()
    if n_before:
        with closing(sqlite3.connect(out / REGISTER)) as connection, connection:
            connection.execute("CREATE TABLE survey (a)")
            connection.executemany("INSERT INTO survey VALUES (?)", [(i,) for i in range(500)])
    for name, content in (OLD_FILES if with_files else {}).items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(content)


def run(files: Folder, kind: str) -> list[str]:
    """A delivery as the library makes it: the register first."""
    n_before, with_files, make = KINDS[kind]
    targets = [files.out / PAGE, files.out / RELEASE] if with_files else []
    with ExitStack() as stack:
        held(files, targets, stack)
        staging = files.root / "staging"
        places: list[Place] = []
        if with_files:
            staging.mkdir()
            (staging / PAGE).mkdir()
            (staging / PAGE / PAGE).write_bytes(b"new")
            (staging / RELEASE).mkdir()
            for name, content in release(b"new").items():
                (staging / RELEASE / name).write_bytes(content)
        with _door(files):
            first = make(files.out / REGISTER, n_before)
        stack.callback(first.discard)
        places.append(first)
        if with_files:
            places.append(FilePlace(PAGE, staging / PAGE / PAGE, files.out / PAGE, files=files))
            places.append(FolderPlace(RELEASE, staging / RELEASE, files.out / RELEASE, files=files))
        return deliver(places)


def _door(files: Folder):
    """Have entries pass this door: what makes them names none."""
    stack = ExitStack()
    for name in ("written_entry", "written_for_good"):
        real = partial(getattr(entry, name), files=files)
        for module in (published_releases, listing):
            if hasattr(module, name):
                stack.enter_context(mock.patch.object(module, name, real))
    return stack


def state(out: Path) -> dict[str, object]:
    """What everybody finds who opens the files, by name: of databases their rows, without times and hashes."""
    found: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        if path.is_file() and not _is_hidden(path, out) and not path.name.endswith(("-journal", "-wal", "-shm")):
            found[str(path.relative_to(out))] = _rows(path) if path.suffix == ".gpkg" else path.read_bytes()
    return found


def _rows(path: Path) -> str:
    try:
        with closing(sqlite3.connect(sqlite_uri(path, "mode=rw"), uri=True)) as connection:
            # How many rows a table ever had says nothing of what is in it.
            dump = "\n".join(line for line in connection.iterdump() if "sqlite_sequence" not in line)
            (whole,) = connection.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.Error as error:
        return f"cannot be read: {error}"
    return whole + re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)|\b[0-9a-f]{64}\b", "?", dump)


def _is_hidden(path: Path, out: Path) -> bool:
    return path.relative_to(out).parts[0].startswith(".vbas-")


def hidden(out: Path) -> list[str]:
    """What a run has left beside its targets, and in the folder for temporary files."""
    beside = [path.name for path in out.iterdir() if path.name.startswith(".vbas-")]
    return sorted(beside + [path.name for path in (out.parent / "temporary").iterdir()])


@cache
def calls_of(shared: bool) -> SqliteCalls:
    return SqliteCalls(lambda name, path, do: do(), shared)


@cache
def _before(kind: str) -> Path:
    """A folder as it is before: copied for each run."""
    folder = Path(tempfile.mkdtemp(prefix="databases-"))
    _prepared(kind, folder / "out")
    return folder / "out"


def copied(folder: Path, to: Path) -> None:
    """The bytes alone: some file systems keep neither modes nor times."""
    for path in [folder, *sorted(folder.rglob("*"))]:
        place = to / path.relative_to(folder)
        place.mkdir() if path.is_dir() else place.write_bytes(path.read_bytes())


@cache
def _old(kind: str) -> dict[str, object]:
    return state(_before(kind))


@contextmanager
def dead_in_silence():
    """What a dead process would still do as its objects end is not done, and nothing is said of that."""
    real = sys.unraisablehook
    sys.unraisablehook = lambda told: None if told.exc_type is Crash else real(told)
    try:
        yield
    finally:
        sys.unraisablehook = real


@cache
def _after(kind: str) -> dict[str, object]:
    """What is there after a delivery without a fault."""
    with tempfile.TemporaryDirectory(prefix="databases-") as root:
        copied(_before(kind), Path(root) / "out")
        with in_order():
            assert run(Folder(ALL[0], Path(root), calls_of(True)), kind) == []
        return state(Path(root) / "out")


def outcome(rules: Rules, kind: str, fault: str, at: int) -> tuple[bool, list[str]]:
    """One delivery with one fault: whether the fault happened, and what is wrong with what was left."""
    old, new = _old(kind), _after(kind)
    calls = calls_of(rules.title in SHARED_MEMORY)
    with tempfile.TemporaryDirectory(prefix="databases-", dir=beneath) as root:
        copied(_before(kind), Path(root) / "out")
        files = Folder(rules, Path(root), calls)
        files.arm(fault, at)
        said, ended, wrong = "", False, []
        with calls.before(), in_order(), mock.patch.object(entry, "SECONDS_TO_WAIT", 0), dead_in_silence():
            try:
                said, ended = " ".join(run(files, kind)), True
            except Crash:
                pass
            except (VbasError, OSError) as error:
                said = str(error)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                wrong += [] if files.dead else [f"no sentence: {said}"]
            gc.collect()  # what the process had open
        happened, where, crashed = bool(files.said), " ".join(files.said), files.dead
        calls.calls = lambda name, path, do: do()
        files.restart()
        left, there = hidden(files.out), state(files.out)
        wrong += _whole(old, new, there, _aside(files.out))
        if rules.locks == "unknown" and not crashed:  # SQLite takes that for a database that another has locked
            wrong += ["without locks the register was changed"] if there != old else []
        elif ended:
            wrong += [] if there == new else ["it ends well, and what is there is not new"]
        elif not crashed:
            differ = [name for name in {*old, *there} if there.get(name) != old.get(name)]
            if "Nothing was changed" in said:
                wrong += [f"{name} was changed" for name in differ]
            else:
                wrong += [
                    f"{name} is not as it was, and not named" for name in differ if name.split("/")[0] not in said
                ]
        wrong += _found_by_the_next(files, kind, left, old, new)
        wrong += [f"said: {said}"] if wrong else []
    return happened, [f"{rules.title}, {kind}, {fault} at {at} ({where}): {one}" for one in wrong]


def _whole(old, new, there, aside=frozenset()):
    """Each is old or new, or aside, and nothing is published that the register does not know."""
    wrong = [
        f"{name} is neither old nor new: {str(there.get(name))[:80]}"
        for name in {*old, *new, *there}
        if there.get(name) not in (old.get(name), new.get(name)) and not (name not in there and old.get(name) in aside)
    ]
    others = [name for name in {*old, *new} if name != REGISTER and old.get(name) != new.get(name)]
    ahead = [name for name in others if there.get(name) == new.get(name)]
    if ahead and there.get(REGISTER) == old.get(REGISTER):
        wrong.append(f"{ahead[0]} is published, and the register does not know of it")
    return wrong


def _aside(out: Path) -> set[object]:
    """What hidden files hold."""
    return {path.read_bytes() for path in out.rglob("*") if path.is_file() and _is_hidden(path, out)}


def _found_by_the_next(files: Folder, kind: str, left: list[str], old, new) -> list[str]:
    """What is left goes with the next run on the same targets, where locks say that nobody is at work."""
    if files.rules.locks == "unknown" or not left:
        return []
    targets = [files.out / PAGE, files.out / RELEASE] if KINDS[kind][1] else []
    with in_order(), ExitStack() as stack:
        held(files, targets, stack)
        clear_dead(files.temporary(), files)
        with suppress(VbasError), _door(files):
            new_entry(files.out / REGISTER, _classes(), 99)
    return [f"{name} is left" for name in hidden(files.out)] + _whole(old, new, state(files.out))


def matrix(every_rule, kinds=tuple(KINDS), faults=FAULTS, step=1, start=1):
    """All faults at all calls (or each step-th); counts by rules, kind and fault, and what is wrong."""
    return counted(outcome, every_rule, kinds, faults, step, start)


def counted(outcome, every_rule, kinds, faults, step, start):
    """`matrix` of any kind of delivery; outcome : of one delivery with one fault."""
    counts: Counter[tuple[str, str, str]] = Counter()
    complaints: list[str] = []
    gc.freeze()  # what there is by now needs no looking at
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
