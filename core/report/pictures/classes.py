"""Classes of values for a map: few, rounded, each of about as many shapes."""

from __future__ import annotations

import numpy as np

from ...arrays import to_list
from ...language import tr
from ..numbers import formatted

CLASSES = 5


def classes_of(values: np.ndarray, like: np.ndarray | None = None) -> tuple[np.ndarray, list[str]]:
    """The class of each value, (m,) from 0, and the label of each class.

    values : (m,), finite; like : values whose classes are taken, such as those of another map.

    Few different values are classes of their own; else quantiles, rounded to what can be read, divide them, so that a
    few extremes do not hide the rest.
    """
    of = values if like is None or not len(like) else like
    different = np.unique(of)
    if len(different) <= CLASSES and np.isin(values, different).all():
        return np.searchsorted(different, values), [formatted(value) for value in to_list(different)]
    inner = np.unique(
        [_rounded(limit) for limit in to_list(np.quantile(of, np.arange(1, CLASSES, dtype=np.int64) / CLASSES))]
    )
    inner = inner[(inner > different[0]) & (inner <= different[-1])]
    if not len(inner):  # nearly all have the lowest value: those above it are a class
        inner = different[-1:] if len(different) < 2 else different[1:2]
    ends = [formatted(value) for value in to_list(inner)]
    labels = [
        tr("below {ends}", ends=ends[0]),
        *(tr("{start} to {end}", start=low, end=high) for low, high in zip(ends, ends[1:])),
        tr("{ends} and more", ends=ends[-1]),
    ]
    return np.digitize(values, inner), labels


def _rounded(value: float) -> float:
    """To two digits."""
    return float(f"{value:.2g}")
