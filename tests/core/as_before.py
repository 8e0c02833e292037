"""What drawn cases come to, held against what they came to before: whoever changes any of it sees what, and says so.

Properties say what must hold of a release; they leave open which of several it is, in which order and in which words
it is told. What was released cannot be taken back, and what follows it is compared with it: the same is asked for once
more is the same. A file of as_before/ has a line for each case: its digest, and in short what came of it. Where a
change is meant, VBAS_PIN=1 writes the lines anew; the difference belongs into the same commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from inspect import getmro
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from vbas.core.errors import VbasError
from vbas.core.nesting.views import CoarserPlan

PINS = bool(os.environ.get("VBAS_PIN"))
MOST_TOLD = 3
KEPT = Path(__file__).parent / "as_before"
# What a thing was made from, how long it took, chance, and what would be said twice: no part of what it says.
LEFT_OUT = {"ask", "areas", "source", "profile", "seconds", "requirement", "policies", "rng"}
LEFT_OUT |= {"by_value", "levels", "region_of", "constraints", "variable_bounds", "release", "coarsest_region"}
LEFT_OUT |= {"in_places", "places_shown", "level_before", "counted", "profile_of_records", "hierarchies_of_levels"}
LEFT_OUT |= {"values_of_levels", "values_in_words", "classes_at_levels", "levels_of_cells"}


def text_of(value: object) -> str:
    """All that a value holds, in a text that does not depend on types of numbers or on the machine."""
    return "".join(_parts(value))


def _parts(value: object) -> Iterator[str]:
    if value is None or isinstance(value, (bool, np.bool_, str, bytes, int, np.integer)):
        yield repr(value.item() if isinstance(value, np.generic) else value)
    elif isinstance(value, (float, np.floating)):
        yield f"{float(value) + 0.0:.6g}"
    elif isinstance(value, np.ndarray):
        yield from _parts(value.tolist())
    elif sparse.issparse(value):
        yield from _parts(sparse.csr_matrix(value).toarray())
    elif isinstance(value, Enum):
        yield value.name
    elif is_dataclass(value):
        # Without its name and those of its fields: what things are called changes nothing of what they say.
        named = [one.name for one in fields(value)]
        named += [
            name
            for kind in reversed(getmro(type(value)))
            for name, one in vars(kind).items()
            if isinstance(one, (property, cached_property))
        ]
        told = {name: getattr(value, name, None) for name in named if name not in LEFT_OUT}
        yield from _parts(list(_with_coarser_levels(value, told)))
    elif isinstance(value, Mapping):
        yield "{"
        for key, one in value.items():
            yield f"{key!r}: "
            yield from _parts(one)
            yield ", "
        yield "}"
    elif isinstance(value, (set, frozenset)):
        yield from _parts(sorted(map(text_of, value)))
    elif isinstance(value, BaseException):
        yield f"{type(value).__name__}: {value}"
    elif callable(value):
        yield "…"
    elif isinstance(value, Iterable):
        yield "["
        for one in value:
            yield from _parts(one)
            yield ", "
        yield "]"
    else:
        raise TypeError(f"what does {value!r} say?")


def _with_coarser_levels(value: object, told: Mapping[str, object]) -> Iterator[object]:
    """What a thing says; what its plan says of coarser levels is told where the thing itself did, before this name."""
    before = {"Account": "tried", "HeldAgainstCounts": "n_followed"}.get(type(value).__name__)
    for name, one in told.items():
        if name == before:
            plan = getattr(value, "plan", None)
            yield _coarser_levels(plan) if isinstance(plan, CoarserPlan) else None
        yield one


def _coarser_levels(plan: CoarserPlan) -> list[object]:
    said = plan.levels.coarser, plan.values_of_levels, plan.values_in_words
    return [plan.in_places, plan.places_shown, plan.level_before, plan.by_value, *said]


def outcome(case: Callable[[], object]) -> object:
    """What a case gives, or the sentence that it ends in."""
    try:
        return case()
    except VbasError as error:
        return error


def come_to_the_same(
    name: str, cases: Mapping[str, Callable[[], object]], some: slice = slice(None), least: float = 0.5
) -> None:
    """Hold what some of the cases come to against the file of that name; the first few that came to others are told.

    least : the share of all cases that give something: a list of nothing but refusals would try little
    """
    file = KEPT / f"{name}.txt"
    asked = dict(list(cases.items())[some])
    assert asked
    if PINS:
        _write(file, list(cases), {label: _line(label, case) for label, case in asked.items()})
        return
    kept = {line.partition(" | ")[0]: line for line in file.read_text(encoding="utf-8").splitlines()}
    assert list(kept) == list(cases)
    assert sum(line.count(" | ") == 1 for line in kept.values()) >= least * len(kept), "hardly any case gives something"
    others: list[str] = []
    for label, case in asked.items():
        came = _line(label, case)
        others += [f"{came}\n  before: {kept[label]}"] * (came != kept[label])
        assert len(others) < MOST_TOLD, "\n".join(others)
    assert not others, "\n".join(others)  # where that is meant: VBAS_PIN=1


def _write(file: Path, labels: list[str], new: Mapping[str, str]) -> None:
    """Write the lines of some cases anew, and leave those of others."""
    file.parent.mkdir(exist_ok=True)
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    known = {line.partition(" | ")[0]: line for line in lines} | dict(new)
    file.write_text("".join(f"{known[label]}\n" for label in labels if label in known), encoding="utf-8")


def in_parts(cases: Mapping[str, tuple[int, int]]) -> list[object]:
    """Each name with how many cases it has and which of them are one test; cases : how many, and how many a test has.

    Whoever tries a change runs what finds it, and not all of what is drawn beside it.
    """
    return [
        pytest.param(name, n, slice(first, first + size), id=f"{name}-{first}")
        for name, (n, size) in cases.items()
        for first in range(0, n, size)
    ]


def _line(label: str, case: Callable[[], object]) -> str:
    """The digest of what a case comes to, and the sentence if it is one."""
    came = outcome(case)
    digest = hashlib.sha256(text_of(came).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return " | ".join([label, digest, *([" ".join(str(came).split())] if isinstance(came, VbasError) else [])])


def drawn(case: Callable[[np.random.Generator], object], n: int, first: int = 0) -> dict[str, Callable[[], object]]:
    """That many cases of a function that draws them."""
    return {f"{number}": partial(_of_number, case, number) for number in range(first, first + n)}


def _of_number(case: Callable[[np.random.Generator], Any], number: int) -> Any:
    return case(np.random.default_rng(number))


class Heard:
    """A log that is kept."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.fractions: list[float] = []  # of the bar

    def info(self, *sentences: str) -> None:
        """Keep what was done."""
        self.said += sentences

    def warn(self, *sentences: str) -> None:
        """Keep what has to be looked at."""
        self.said += [f"! {sentence}" for sentence in sentences]
