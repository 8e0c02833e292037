"""What a newcomer looks for is where the name says, and each thing stands in one place."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from vbas.core import aggregation, baselines, site_location, site_number
from vbas.core.aggregation import AggregationOptions
from vbas.core.baselines import BaselineOptions
from vbas.core.cells import APPROACHES as CELL_APPROACHES
from vbas.core.parameters import DEFAULT_K
from vbas.core.site_location import LocationOptions
from vbas.core.site_number import SiteNumberOptions

CORE = Path(__file__).resolve().parents[2] / "core"
ROOMS = (site_number.APPROACHES, site_location.APPROACHES, aggregation.APPROACHES, baselines.BASELINES, CELL_APPROACHES)
APPROACHES = {name: approach for room in ROOMS for name, approach in room.items()}


@pytest.mark.parametrize("name", APPROACHES)
def test_an_approach_is_found_by_opening_the_file_of_its_name(name):
    function = APPROACHES[name].function
    (file,) = CORE.rglob(f"{function.__name__}.py")
    assert Path(inspect.getfile(function)).resolve() == file.resolve()


@pytest.mark.parametrize("options", [SiteNumberOptions, LocationOptions, AggregationOptions, BaselineOptions])
def test_the_default_k_stands_in_one_place(options):
    (k,) = [field.default for field in fields(options) if field.name == "k"]
    assert k == DEFAULT_K
    (defined,) = ast.parse(inspect.getsource(options)).body
    assert isinstance(defined, ast.ClassDef)
    lines = [line for line in defined.body if isinstance(line, ast.AnnAssign)]
    (value,) = [line.value for line in lines if getattr(line.target, "id", "") == "k"]
    assert isinstance(value, ast.Name), "a number of its own"
