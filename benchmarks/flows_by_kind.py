"""What follows beside a published total: found first among the classes that it counts as one, or among all at once.

A drawn town of squares, 60 people in each, by age, sex, ethnicity and year, each year by itself; nested levels, whose
last shows no age, so that all classes of one sex, ethnicity and year hang together; a total of age by sex. The peer
is the same program, which is asked for all classes at once. Both must give the same rows.

    PYTHONPATH=build/package .venv/bin/python benchmarks/flows_by_kind.py [SIDE ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from vbas import anonymize
from vbas.core.disclosure import block_flows

SIDES = (8, 12)
QUASI = ("age", "sex", "ethnicity")


def town(side: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Areas by points, and people who live there."""
    rng = np.random.default_rng(0)
    n = side * side
    x, y = np.divmod(np.arange(n), side)
    people = 60 * n
    return (
        {"area": np.arange(n).astype(str), "x": 600_000.0 + 100 * x, "y": 5_000_000.0 + 100 * y},
        {
            "area": rng.integers(0, n, people).astype(str),
            "age": np.minimum(rng.exponential(8, people), 19).astype(int).astype(str),
            "sex": rng.choice(["F", "M"], people),
            "ethnicity": np.minimum(rng.exponential(2, people), 9).astype(int).astype(str),
            "year": rng.choice(["2021", "2022", "2023"], people),
        },
    )


@contextmanager
def all_classes_at_once() -> Iterator[None]:
    """Without the classes that a total counts as one."""
    before = block_flows._counted_as_one
    block_flows._counted_as_one = lambda block, kind: None
    try:
        yield
    finally:
        block_flows._counted_as_one = before


def timed(side: int) -> tuple[Any, float]:
    """The released rows, and the seconds of the processor."""
    areas, people = town(side)
    start = time.process_time()
    released = anonymize(
        areas,
        people,
        quasi_identifiers=QUASI,
        area="area",
        period="year",
        periods="each period by itself",
        release="nested levels",
        hierarchy_rules={"age": "other below 1000000"},
        levels_coarser={"age": 1},
        published_margins="age;sex",
    )
    return released.records, time.process_time() - start


def main(sides: Sequence[int]) -> None:
    """Print a row for each town."""
    print("| areas | people | first as one, CPU s | all at once, CPU s | ratio |")
    print("|---" * 5 + "|")
    for side in sides:
        rows, seconds = timed(side)
        with all_classes_at_once():
            others, slow = timed(side)
        assert all(np.array_equal(rows[name], others[name]) for name in rows)
        print(f"| {side * side} | {60 * side * side} | {seconds:.1f} | {slow:.1f} | {seconds / slow:.2f} |", flush=True)


if __name__ == "__main__":
    main([int(side) for side in sys.argv[1:]] or SIDES)
