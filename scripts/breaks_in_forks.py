"""A plugin of pytest: breaks tried in one process, each in a fork of it, so that tests are imported and collected once.

Wants in BREAKS_ASKED a file of JSON, {"tests": {key of a break: [ids of tests, or files]}, "seconds": of the
processor for each}, and appends to the file BREAKS_TOLD a line of JSON for each: key, outcome, and by what it was
noticed. A break is put into the functions that are loaded already, by their code; one outside of any function, or in
the default of a parameter, is not, and its outcome is “not here”.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol
from drawn_mutants import KILLED, NOT_HERE, NOT_RUN, ROOT, SURVIVED, UNREACHED, Break, all_breaks

Place = tuple[str, str, int]


def _name(code: CodeType) -> str:
    """A function's name with those around it; before Python 3.11 its own, which its first line tells from others."""
    return getattr(code, "co_qualname", code.co_name)


def _functions() -> dict[Place, list[FunctionType]]:
    """The loaded functions of this tree by file, name and first line."""
    gc.unfreeze()
    functions: dict[Place, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and "/core/" in thing.__code__.co_filename:
            code = thing.__code__
            functions.setdefault((os.path.realpath(code.co_filename), _name(code), code.co_firstlineno), []).append(
                thing
            )
    return functions


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _put_in(mutant: Break, functions: dict[Place, list[FunctionType]]) -> bool:
    """Put a break into the functions that hold it; whether any was changed."""
    path = ROOT / mutant.file
    source = path.read_bytes()
    whole, broken = compile(source, str(path), "exec"), compile(mutant.applied(source), str(path), "exec")
    known = {(_name(code), code.co_firstlineno): code for code in _codes(whole)}
    changed = False
    for code in _codes(broken):
        before = known.get((_name(code), code.co_firstlineno))
        if before is None or before == code:
            continue
        for function in functions.get((os.path.realpath(path), _name(code), code.co_firstlineno), ()):
            if function.__code__.co_freevars == code.co_freevars:
                function.__code__ = code
                changed = True
    return changed


def _first_failing(items: list[pytest.Item], seconds: float, mutant: Break | None, functions: dict) -> str | None:
    """In a fork: which test fails first, "" for none; None where the break was not put in."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        said = "the process is gone"
        try:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            if mutant is not None and not _put_in(mutant, functions):
                said = "not here"
            else:
                said = ""
                for item, following in zip(items, [*items[1:], None]):
                    reports = runtestprotocol(item, nextitem=following, log=False)
                    if any(report.failed for report in reports):
                        said = item.nodeid
                        break
        finally:
            os.write(write, f"={said}".encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        message = pipe.read().decode()
    os.waitpid(child, 0)
    if message == "=not here":
        return None
    return message[1:] if message else "it never ends, or the process is gone"


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the breaks in place of running the tests."""
    asked = json.loads(Path(os.environ["BREAKS_ASKED"]).read_text(encoding="utf-8"))
    breaks = {mutant.key: mutant for mutant in all_breaks()}
    items = {item.nodeid: item for item in session.items}
    functions, passing = _functions(), {}

    def within(file: str) -> list[pytest.Item]:
        return [item for item in session.items if item.nodeid.startswith((f"{file}::", f"{file}["))]

    with Path(os.environ["BREAKS_TOLD"]).open("a", encoding="utf-8") as results:
        for key, names in asked["tests"].items():
            some = [item for name in names for item in ([items[name]] if name in items else within(name))]
            outcome, by = NOT_RUN, ""
            while some:
                failing = _first_failing(some, asked["seconds"], breaks[key], functions)
                if failing is None:
                    outcome = NOT_HERE
                elif not failing:
                    outcome = SURVIVED
                elif failing not in items:
                    outcome, by = KILLED, failing
                else:
                    if failing not in passing:
                        passing[failing] = not _first_failing([items[failing]], asked["seconds"], None, functions)
                    if not passing[failing]:
                        some = [item for item in some if item.nodeid != failing]
                        continue
                    outcome, by = KILLED, failing
                break
            if not names:
                outcome = UNREACHED
            row = {"key": key, "line": str(breaks[key].line), "outcome": outcome, "by": by, "tests": str(len(some))}
            results.write(json.dumps(row, ensure_ascii=False) + "\n")
            results.flush()
            print(f"{outcome:9} {key}{f'   by {by}' if by else ''}", file=sys.stderr, flush=True)
    return True
