"""What decides a release is the same to the last bit wherever it runs: it asks none of the system's own functions."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vbas
from vbas.core.elementary import axes, exp, log, log2, norm, norms, power, power_of

CORE = Path(vbas.__file__).parent / "core"
# Their last bit is the system's: libm's, or that of vector instructions that numpy has of its own.
OF_LIBM = re.findall(
    r"\w+",
    "hypot log log2 log10 log1p exp exp2 expm1 power float_power pow cbrt logaddexp sin cos tan arcsin arccos arctan "
    "arctan2 asin acos atan atan2 sinh cosh tanh",
)
OF_BLAS = ["einsum", "dot", "vdot", "inner", "matmul", "tensordot"]
CALLED = re.compile(
    rf"\b(?:np|math)\.(?:{'|'.join([*OF_LIBM, *OF_BLAS])})\b|^from math import .*\b(?:{'|'.join(OF_LIBM)})\b", re.M
)
# Where they may stand, and why no row of a folder follows from that.
ELSEWHERE = {
    "report": "pictures and texts",
    "analysis": "estimates, which are made of a release",
    "masking": "points are moved by chance that nobody else has",
    "synthetic": "test data",
    "disclosure/guessing.py": "what an attacker would guess, for the internal report",
    "disclosure/possible_tables.py": "the same",
    "privacy/association.py": "how much a field tells of the area, for a warning",
    "plane.py": "which plane is proposed, to four decimals of a degree",
    "aggregation/cuts.py": "sixteen directions, rounded to twelve decimals",
    "voronoi.py": "eight directions, rounded to twelve decimals",
    "nesting/making.py": "how far the work is",
}
UNITS = 3  # in the last place
numbers = st.floats(1e-300, 1e300)


def units_apart(found: np.ndarray, expected: float) -> float:
    return abs(float(found) - expected) / max(np.spacing(abs(expected)), np.spacing(1.0) * 1e-3)


@settings(max_examples=200)
@given(numbers)
def test_logarithms_are_those_of_mathematics(x):
    assert units_apart(log(x), math.log(x)) <= UNITS
    assert units_apart(log2(x), math.log2(x)) <= UNITS


@settings(max_examples=200)
@given(numbers, st.floats(-3, 3) | st.floats())
def test_the_power_of_one_number_is_that_of_an_array_to_the_last_bit(base, exponent):
    with np.errstate(invalid="ignore", over="ignore"):
        expected = float(power(base, exponent))
    assert power_of(base, exponent) == expected or (math.isnan(expected) and math.isnan(power_of(base, exponent)))


@settings(max_examples=200)
@given(st.floats(-700, 700))
def test_the_exponential_function_is_that_of_mathematics(x):
    assert units_apart(exp(x), math.exp(x)) <= UNITS


@settings(max_examples=100)
@given(st.floats(1e-6, 1e6), st.floats(-20, 20))
def test_powers_are_those_of_mathematics(base, exponent):
    assert math.isclose(float(power(base, exponent)), base**exponent, rel_tol=1e-13)


def test_what_is_exact_stays_exact():
    whole = np.arange(-1000, 1000)
    assert np.array_equal(log2(np.ldexp(1.0, whole)), whole)
    assert float(exp(0.0)) == 1.0 and float(log(1.0)) == 0.0 and float(norm(3.0, 4.0)) == 5.0
    assert exp(np.array([1e9, -1e9])).tolist() == [np.inf, 0.0]
    assert log(np.ones((2, 3))).shape == norms(np.ones((2, 3, 2))).shape == (2, 3)


@settings(max_examples=100)
@given(*[st.floats(-1e6, 1e6)] * 4)
def test_points_spread_most_along_the_first_eigenvector(a, b, c, d):
    offsets = np.array([[a, b], [c, d]])
    x, y = offsets.T
    sums = (x * x).sum(), (x * y).sum(), (y * y).sum()
    ((across, up),) = axes(*(np.array([one]) for one in sums))
    assert math.isclose(across**2 + up**2, 1.0, rel_tol=1e-12)
    most = np.linalg.eigvalsh([[sums[0], sums[1]], [sums[1], sums[2]]])[1]
    assert math.isclose(((offsets @ (across, up)) ** 2).sum(), most, rel_tol=1e-9, abs_tol=1e-12)


def test_only_what_decides_no_row_asks_the_system():
    askers = {}
    for file in CORE.rglob("*.py"):
        name = file.relative_to(CORE).as_posix()
        found = [] if name == "elementary.py" else CALLED.findall(file.read_text(encoding="utf-8"))
        if found and not any(name == place or name.startswith(place + "/") for place in ELSEWHERE):
            askers[name] = found
    assert not askers
    assert all((CORE / place).exists() for place in ELSEWHERE)


# A grid of squares, where many regions are exactly as near and as good as each other.
SIDE = 9
JOBS: dict[str, dict[str, Any]] = {
    "one level": {},
    "by transport": {"combination": "compact by transport"},
    "anonymity exchange": {"combination": "custom", "aggregation": "anonymity exchange"},
    "a budget": {"combination": "custom", "site_number": "suppression budget", "aggregation": "site optimisation"},
    "nested": {"release": "nested levels"},
    "nested by entropy": {"release": "nested levels", "loss": "non-uniform entropy"},
}


def content_hash_of(**asked) -> str:
    rng = np.random.default_rng(1)
    across, up = np.divmod(np.arange(SIDE * SIDE), SIDE)
    names = np.array([f"a{i:03}" for i in range(SIDE * SIDE)])
    areas = {"area": names, "x": 100.0 * across, "y": 100.0 * up, "people": np.full(SIDE * SIDE, 40)}
    records = {
        "area": rng.choice(names, 1500),
        "sex": rng.choice(["F", "M"], 1500),
        "age": rng.choice(list("abc"), 1500),
    }
    release = vbas.anonymize(
        areas, records, area="area", quasi_identifiers=["sex", "age"], population="people", k=5, **asked
    )
    return release.content_hash


@pytest.mark.slow
@pytest.mark.parametrize("asked", JOBS.values(), ids=JOBS)
def test_another_systems_last_bits_give_the_same_content_hash(asked, monkeypatch):
    expected = content_hash_of(**asked)

    either = np.random.default_rng(2)

    def other(function):
        def called(*given, **options):
            found = np.asarray(function(*given, **options))
            return np.where(either.random(found.shape) < 0.5, found, np.nextafter(found, np.inf))

        return called

    for module in (np, math):
        for name in OF_LIBM:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, other(getattr(module, name)))
    assert content_hash_of(**asked) == expected
