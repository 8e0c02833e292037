"""Data classes whose methods come with the first object of theirs."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from threading import Barrier

import pytest

from vbas.core.dataclass import dataclass, make_whole

from ..scripts import ROOT


def towns(dataclass):
    @dataclass(frozen=True)
    class Area:
        code: str
        people: list = dataclasses.field(default_factory=list)
        rank: int = dataclasses.field(default=3, compare=False)

        def __post_init__(self):
            if not self.code:
                raise ValueError("no code")

        @cached_property
        def n(self):
            return len(self.people)

    @dataclass(frozen=True)
    class Town(Area):
        mayor: str = "none"

        def __post_init__(self):
            super().__post_init__()

    return Area, Town


def of_class(cls, town):
    """What is seen of a class and of objects of it."""
    same = dataclasses.replace(town, rank=4)
    other = dataclasses.replace(town, code="other")
    return [
        repr(town),
        town == same,
        town == other,
        town.n,
        cls.rank,
        hasattr(cls, "people"),
        [(field.name, field.default, field.compare) for field in dataclasses.fields(cls)],
        str(inspect.signature(cls)),
        cls.__hash__ is None,
        dataclasses.asdict(town),
        copy.copy(town) == town,
        sorted(name for name in vars(cls) if name != "__doc__"),
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_they_are_those_of_the_standard_library(number):
    expected, of_ours = towns(dataclasses.dataclass)[number], towns(dataclass)[number]
    assert of_class(of_ours, of_ours("A", ["p", "q"])) == of_class(expected, expected("A", ["p", "q"]))
    for cls in (of_ours, towns(dataclass)[number]):  # whole, or made so by an object that is refused
        with pytest.raises(ValueError, match="no code"):
            cls("")
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'code'"):
            cls()
        with pytest.raises(dataclasses.FrozenInstanceError):
            cls("A").code = "B"


def test_the_first_object_may_be_of_a_class_that_derives():
    area, town = towns(dataclass)
    assert [field.name for field in dataclasses.fields(town("A"))] == ["code", "people", "rank", "mayor"]
    assert repr(area("A")).endswith("Area(code='A', people=[], rank=3)")

    Capital = type("Capital", (towns(dataclass)[1],), {})
    assert Capital("A", mayor="m").mayor == "m" and Capital("B") == Capital("B")


def test_whole_is_what_somebody_looks_at():
    area, _ = towns(dataclass)
    make_whole(area)
    make_whole(area)
    assert list(inspect.signature(area).parameters) == ["code", "people", "rank"]
    make_whole(int)  # any class


def test_several_threads_make_their_first_objects_at_once():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(100):
                _, town = towns(dataclass)
                ready = Barrier(4)

                def make(name, town=town, ready=ready):
                    ready.wait()
                    return town(name, mayor="m")

                assert len(set(map(repr, pool.map(make, "AAAA")))) == 1
    finally:
        sys.setswitchinterval(before)


def test_the_product_has_no_other_data_classes():
    files = [file for room in ("core", "algorithms", "vbas_plugin") for file in (ROOT / room).rglob("*.py")]
    imports = re.compile(r"^ *(from dataclasses import .*\bdataclass\b|import dataclasses)", re.M)
    assert [file.name for file in files if imports.search(file.read_text(encoding="utf-8"))] == ["dataclass.py"]


LOADED = """
from qgis.testing import start_app
start_app()
from vbas.vbas_plugin.provider import VbasProvider
provider = VbasProvider()
provider.load()
import sys
classes = {
    thing
    for name, module in sys.modules.items() if name.startswith("vbas.")
    for thing in vars(module).values() if isinstance(thing, type) and thing.__module__ == name
}
print(*(sum(name in vars(cls) for cls in classes) for name in ("_data_class_options", "__dataclass_fields__")))
"""


@pytest.mark.slow
def test_few_are_made_when_the_toolbox_is_loaded():
    pytest.importorskip("qgis.core")
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    deferred, whole = map(int, done.stdout.split()[-2:])
    assert deferred > 250 and whole < 60
