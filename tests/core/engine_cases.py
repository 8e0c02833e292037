"""Records that are hard to keep apart, as every engine must: and where they lie, as files, databases and arrays."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from ..engines_there import needed

HARD = [None, "", "NULL", "null", "007", "7", "07", "7 ", " ", "é", "e\u0301", "É", 'a"b', "a'b", "a,b", "a;b", "a\nb"]
HARD += ["\\N", "%s", "x" * 2**20]
AREAS = [f"0{i}" for i in range(6)]
QUASI = ("sex", "odd", "age")
# Names of three quasi-identifiers and a kept field that the engines' own columns have too, or that are hard to write.
NAMES = [
    ("vbas_class", "vbas_n", "vbas_rows", "vbas_records"),
    ("vbas_n", "vbas_class", "vbas_records", "VBAS_CLASS_"),
    ("self", "key", "n", "label"),
    ("cell", "a", "q0", "k0"),
    ("c_a", "c_q0", "l_level", "l_region"),
    ("level", "region", "rows", "records"),
    ("value", "field", "listed", "count"),
    ("two words", 'quo"te', "it's", "50%"),
    ("select", "{}", "a.b", "\\"),
]
K = 3


def people(n=1500, seed=0):
    """Columns of records: area text, sex, hard texts, an age in whole numbers, a diagnosis; None is missing."""
    rng = np.random.default_rng(seed)
    odd = rng.choice(len(HARD), n, p=[0.25, 0.25, *[0.5 / (len(HARD) - 2)] * (len(HARD) - 2)])
    odd[odd == len(HARD) - 1] = 0
    odd[:3] = len(HARD) - 1  # the megabyte, for three people of one class, and one more who is alone
    odd[3] = len(HARD) - 1
    area = rng.integers(0, len(AREAS), n)
    area[:3], area[3] = 0, 5
    sex = rng.choice(["F", "M"], n)
    sex[:3] = "F"
    age = [None if integer == 0 else int(integer) for integer in rng.integers(0, 3, n)]
    age[:4] = [1] * 4
    return {
        "area": [AREAS[i] for i in area],
        "sex": sex.tolist(),
        "odd": [HARD[i] for i in odd],
        "age": age,
        "diagnosis": [[None, "", "flu", "NULL"][i] for i in rng.integers(0, 4, n)],
    }


def with_codes(columns, share=0.3, filler="", seed=1):
    """The columns and a further one, “code”: the area in a share of the rows, a filler in the others."""
    there = np.random.default_rng(seed).random(len(columns["area"])) < share
    return {
        **columns,
        "code": [f"A{value}" if mine else filler for value, mine in zip(columns["area"], there.tolist())],
    }


def renamed(columns, names):
    """The same columns, the quasi-identifiers and the diagnosis under other names."""
    other = dict(zip((*QUASI, "diagnosis"), names))
    return {other.get(name, name): values for name, values in columns.items()}


def areas():
    return make_areas(AREAS, np.column_stack([np.arange(6), np.zeros(6)]))


def one_level():
    return make_levels(areas(), [Crosswalk(np.array([0, 0, 0, 1, 1, 1]), 2, np.array([7, 9]))])


def two_levels():
    fine = Crosswalk(np.arange(6), 6)
    return make_levels(areas(), [fine, Crosswalk(np.array([0, 0, 0, 1, 1, 1]), 2)])


def in_memory(columns, kept=("diagnosis",), quasi=QUASI, count=None):
    """The same records as arrays."""
    counts = None if count is None else np.array(columns[count], np.int64)
    encoded = {name: column_from_values(values) for name, values in columns.items()}
    table = RecordTable(
        encoded["area"], {name: encoded[name] for name in quasi}, {name: encoded[name] for name in kept}, counts
    )
    return match_records(table, areas(), k=K)


def rows_of(release, levels, nested):
    """The multiset of released rows of arrays."""
    numbers = [levels.crosswalks[level].numbers[region] for level, region in zip(release.level, release.region)]
    columns = [[int(number) for number in numbers]]
    if nested:
        columns.insert(0, [int(level) + 1 for level in release.level])
    columns += [column.categories[column.codes].tolist() for column in release.fields.values()]
    if release.counted:
        return Counter(zip(*columns, release.counts.tolist()))
    return Counter(dict(zip(zip(*columns), release.counts.tolist())))


def same_profile(one, other):
    """Whether two profiles are equal, to the order of their classes."""
    assert one.quasi_identifiers == other.quasi_identifiers
    assert [c.tolist() for c in one.categories] == [c.tolist() for c in other.categories]
    assert one.classes.tolist() == other.classes.tolist()
    assert (one.counts != other.counts).nnz == 0
    return True


def write_parquet(columns, path):
    pa, pq = needed("pyarrow"), needed("pyarrow.parquet")
    pq.write_table(pa.table(columns), path)
    return path


def write_csv(columns, path):
    """As RFC 4180 has it; a missing value is empty, an empty text is quoted."""

    def cell(value):
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    lines = [",".join(columns), *(",".join(map(cell, row)) for row in zip(*columns.values()))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def write_duckdb(columns, path, collation=""):
    duckdb = needed("duckdb")
    with duckdb.connect(str(path)) as connection:
        kinds = {name: "BIGINT" if name in ("age", "records") else f"VARCHAR {collation}" for name in columns}
        connection.execute(f"CREATE TABLE people ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        given = write_parquet(columns, path.with_suffix(".rows"))
        connection.execute(f"INSERT INTO people SELECT * FROM read_parquet('{given}')")
        given.unlink()
    return path


def release_in_place(*args, **options):
    """`stage_in_place`, published at once: its place, and what was staged."""
    from vbas.core.engines.releasing import stage_in_place  # which is there where an engine is

    staged = stage_in_place(*args, **options)
    return SimpleNamespace(place=staged.publish(), levels=staged.levels, rows=staged.rows, kept=staged.kept)
