"""Elementary functions to the same last bit on every system.

A release is decided by comparing numbers: which region is nearer, which level loses less. Where two are as good as
equal the last bit decides, and there the system's own functions differ from one version or processor to the next. These
are made of +, -, *, / and the square root alone, each of which IEEE 754 fixes to the last bit, and are within three
units of it.
"""

from __future__ import annotations

import math
from typing import Union

import numpy as np

Floats = Union[float, np.ndarray]

# Of Sun Microsystems' fdlibm 5.3 (1993), e_log.c and e_exp.c.
_LN2_HIGH, _LN2_LOW, _ONE_OVER_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.44269504088896338700
_OF_LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_OF_EXP = (
    1.66666666666666019037e-01,
    -2.77777777770155933842e-03,
    6.61375632143793436117e-05,
    -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)
_LARGEST_EXPONENT, _LEAST_EXPONENT = 709.75, -745.0
_SQUARE_ROOT_OF_HALF = 0.7071067811865476


def norms(offsets: np.ndarray) -> np.ndarray:
    """The lengths of offsets (..., 2), (...,)."""
    return norm(offsets[..., 0], offsets[..., 1])


def norm(x: Floats, y: Floats) -> np.ndarray:
    """The lengths of offsets by their coordinates, of any shape.

    It takes half the time of np.hypot, whose care with extreme numbers no map needs.
    """
    return np.asarray(np.sqrt(x * x + y * y))


def log(values: Floats) -> np.ndarray:
    """Natural logarithms of numbers above 0, of the same shape.

    Examples
    --------
    >>> from vbas.core.elementary import log
    >>> float(log(10.0))
    2.302585092994046
    """
    exponent, mantissa = _parts(values)
    return np.asarray(exponent * _LN2_HIGH + (exponent * _LN2_LOW + _log_near_one(mantissa)))


def log2(values: Floats) -> np.ndarray:
    """Logarithms to the base of 2 of numbers above 0, of the same shape; whole for powers of 2."""
    exponent, mantissa = _parts(values)
    return np.asarray(exponent + _log_near_one(mantissa) * _ONE_OVER_LN2)


def exp(values: Floats) -> np.ndarray:
    """e to the power of numbers, of the same shape; infinite above 709.75, 0 below -745.

    Examples
    --------
    >>> from vbas.core.elementary import exp
    >>> float(exp(1.0))
    2.718281828459045
    """
    exponents = np.asarray(values, float)
    x = np.clip(exponents, _LEAST_EXPONENT, _LARGEST_EXPONENT)
    doublings = np.rint(x * _ONE_OVER_LN2)
    high, low = x - doublings * _LN2_HIGH, doublings * _LN2_LOW
    rest = high - low
    squared = rest * rest
    even = rest - _polynomial(_OF_EXP, squared)
    result = 1.0 - ((low - rest * even / (2.0 - even)) - high)
    result = np.ldexp(result, doublings.astype(np.intc))  # a C int: of what Windows has, no other goes in
    return np.asarray(
        np.where(exponents > _LARGEST_EXPONENT, np.inf, np.where(exponents < _LEAST_EXPONENT, 0.0, result))
    )


def power(base: Floats, exponent: Floats) -> np.ndarray:
    """Numbers above 0 to any power."""
    return exp(np.asarray(exponent, float) * log(base))


def power_of(base: float, exponent: float) -> float:
    """One number above 0 to any power: that of `power` to the last bit, in a tenth of the time."""
    mantissa, doublings = math.frexp(base)
    if mantissa < _SQUARE_ROOT_OF_HALF:
        mantissa, doublings = 2.0 * mantissa, doublings - 1
    beyond = mantissa - 1.0
    ratio = beyond / (2.0 + beyond)
    half = 0.5 * beyond * beyond
    near_one = beyond - (half - ratio * (half + _polynomial_of(_OF_LOG, ratio * ratio)))
    power = exponent * (doublings * _LN2_HIGH + (doublings * _LN2_LOW + near_one))
    if not _LEAST_EXPONENT <= power <= _LARGEST_EXPONENT:
        return math.inf if power > _LARGEST_EXPONENT else 0.0 if power < _LEAST_EXPONENT else math.nan
    whole = round(power * _ONE_OVER_LN2)
    high, low = power - whole * _LN2_HIGH, whole * _LN2_LOW
    rest = high - low
    even = rest - _polynomial_of(_OF_EXP, rest * rest)
    return math.ldexp(1.0 - ((low - rest * even / (2.0 - even)) - high), whole)


def axes(xx: np.ndarray, xy: np.ndarray, yy: np.ndarray) -> np.ndarray:
    """The directions in which points spread most, (n, 2) unit vectors: by sums of squares and products of offsets."""
    difference, product = xx - yy, 2.0 * xy
    spread = norm(difference, product)
    safe = np.where(spread > 0, spread, 1.0)
    # The half angle by the larger of its two coordinates, which loses nothing to rounding.
    along = np.sqrt(0.5 * (1.0 + np.abs(difference) / safe))
    beside = 0.5 * np.abs(product) / (safe * along)
    wide = difference >= 0
    sign = np.where(product < 0, -1.0, 1.0)
    directions = np.column_stack([np.where(wide, along, beside), sign * np.where(wide, beside, along)])
    return np.where((spread > 0)[:, None], directions, np.array([1.0, 0.0]))


def _parts(values: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as 2 to a whole exponent times a mantissa from √½ to √2."""
    mantissa, exponent = np.frexp(np.asarray(values, float))
    low = mantissa < _SQUARE_ROOT_OF_HALF
    return np.asarray(exponent - low, float), np.where(low, 2.0 * mantissa, mantissa)


def _log_near_one(mantissa: np.ndarray) -> np.ndarray:
    beyond = mantissa - 1.0
    ratio = beyond / (2.0 + beyond)
    half = 0.5 * beyond * beyond
    rest = _polynomial(_OF_LOG, ratio * ratio)
    return np.asarray(beyond - (half - ratio * (half + rest)))


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """x · (c1 + x · (c2 + …))."""
    result = np.zeros_like(x)
    for coefficient in reversed(coefficients):
        result = (coefficient + result) * x
    return result


def _polynomial_of(coefficients: tuple[float, ...], x: float) -> float:
    """The same of one number."""
    result = 0.0
    for coefficient in reversed(coefficients):
        result = (coefficient + result) * x
    return result
