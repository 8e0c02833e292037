"""A process that solves tasks: it reads the problem and tasks from its input and writes what it found to its output.

Started by `workers`. It imports core alone, never QGIS.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from .cells import Cells, Minimum
from .options import PartitionOptions
from .solving import Problem, Solved, Solver, Task

TELL_SECONDS = 0.2
ARRAYS = ("boxes", "population", "starts", "neighbours", "area_of")


def packed_problem(problem: Problem) -> bytes:
    """A problem as bytes, its length first. Identifiers stay where they are: the work does not need them."""
    cells = problem.cells
    plain = {
        "approach": problem.approach,
        "options": asdict(problem.options),
        "minimums": [asdict(minimum) for minimum in problem.minimums],
        "fields": list(cells.fields),
        "cell_size": cells.cell_size,
    }
    arrays = {"area_of": problem.area_of, **{name: getattr(cells, name) for name in ARRAYS[:-1]}}
    arrays["plain"] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return len(buffer.getbuffer()).to_bytes(8, "little") + buffer.getvalue()


def read_problem(stream: BinaryIO) -> Problem:
    """The problem that `packed_problem` wrote."""
    length = int.from_bytes(_exactly(stream, 8), "little")
    with np.load(BytesIO(_exactly(stream, length)), allow_pickle=False) as arrays:
        plain = json.loads(arrays["plain"].tobytes())
        boxes, population, starts, neighbours, area_of = (arrays[name] for name in ARRAYS)
    cells = Cells(
        np.arange(len(boxes)).astype(object),
        boxes,
        population,
        tuple(plain["fields"]),
        starts,
        neighbours,
        plain["cell_size"],
    )
    minimums = tuple(Minimum(tuple(one["columns"]), one["k"], one["label"]) for one in plain["minimums"])
    return Problem(cells, minimums, area_of, plain["approach"], PartitionOptions(**plain["options"]))


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError("the problem ended early")
    return data


def serve(reader: BinaryIO, writer: BinaryIO) -> None:
    """Answer tasks, one JSON line each, until the input ends."""

    def say(**answer: Any) -> None:
        writer.write(json.dumps(answer).encode() + b"\n")
        writer.flush()

    say(ready=True)
    solver = Solver(read_problem(reader))
    for line in iter(reader.readline, b""):
        told = time.monotonic()

        def tell(fraction: float) -> None:
            nonlocal told
            if time.monotonic() - told > TELL_SECONDS:
                told = time.monotonic()
                say(done=fraction)

        solved = solver.solve(Task(**json.loads(line)), tell)
        say(labels=solved.labels, losses=solved.losses)


def main() -> None:
    """Serve the process that started this one; end quietly when it is gone."""
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except (BrokenPipeError, EOFError):
        return


def solved_from(answer: dict[str, Any]) -> Solved:
    """What an answer holds."""
    return Solved(answer["labels"], answer["losses"])
