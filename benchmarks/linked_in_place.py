"""Persons with their stays, tests and drugs in files that DuckDB works on: what their release takes, without reading.

    PYTHONPATH=build/package .venv/bin/python benchmarks/linked_in_place.py [--persons 30000]

The made-up people of benchmarks/linked_tables.py, nested, K = 50, LINKED_K = 5, in Parquet files. CPU seconds of this
process, in which DuckDB works, and its memory before and at most; then the shares of rows that are shown.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from vbas.benchmarks.linked_tables import LINKED_K, ROWS, SEED, VALUES, owners, people
from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import Areas
from vbas.core.engines import open_engine
from vbas.core.engines.linked import LinkedEngineSource, LinkedFields
from vbas.core.engines.profiling import count_in_place, match_in_place
from vbas.core.levels import Levels
from vbas.core.linked.tables import ROWS_KNOWN
from vbas.core.records.fields import RecordFields

K = 50


def written(folder: Path, n: int) -> tuple[Areas, Levels, tuple[LinkedFields, ...], int]:
    """The areas, their levels, the linked tables and how many rows these have; the files are in the folder."""
    rng = np.random.default_rng(SEED)
    areas, crosswalks, home, fields = people(n, rng)
    own = {"id": np.arange(n), "area": [areas.identifiers[at] for at in home]}
    codes = {name: column.codes for name, column in fields.items()}
    parquet.write_table(pa.table({**own, **codes}), folder / "persons.parquet")
    tables, n_rows = [], 0
    for name, mean in ROWS.items():
        whose = owners(n, mean, rng)
        value, order = rng.geometric(0.2, len(whose)).clip(1, VALUES[name]) - 1, rng.permutation(len(whose))
        parquet.write_table(pa.table({"id": whose[order], "value": value[order]}), folder / f"{name}.parquet")
        tables.append(LinkedFields(name, str(folder / f"{name}.parquet"), "id", ("value",)))
        n_rows += len(whose)
    return areas, Levels(tuple(crosswalks)), tuple(tables), n_rows


def megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print what it takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=30_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        areas, levels, tables, n_rows = written(folder, given.persons)
        print(f"{given.persons} persons, {n_rows} linked rows, {megabytes():.0f} MB before")
        for known in ROWS_KNOWN:
            started = time.process_time()
            with open_engine(str(folder / "persons.parquet")) as engine:
                fields = RecordFields("area", ("sex", "age"), key="id")
                matched = match_in_place(count_in_place(engine, fields), areas)
                out = str(folder / f"{known.replace(' ', '_')}.parquet")
                source = LinkedEngineSource(matched, out, tables=tables, least=LINKED_K, rows_known=known, areas=areas)
                account = anonymise(areas, source, levels, Ask(k=K))
                assert account.rows is not None and account.rows.staged is not None
                account.rows.staged.publish()
            seconds = time.process_time() - started
            percents = ", ".join(f"{100 * len(rows) / rows.n_given:.1f}" for rows in account.rows.linked)
            print(f"{known}: {seconds:.1f} s, at most {megabytes():.0f} MB; shown {percents} %")


if __name__ == "__main__":
    main()
