"""Large releases in a register: packed by columns, and what several releases have in common is there once.

A pack is compressed by zlib. Then its first line is JSON: `texts`, lists of text by name, and `columns`, of each column
its name, how many bytes a number has, how many numbers there are, and whether each is told by how much it is more than
the one before. The columns follow in this order, whole numbers with a sign, the lowest byte first. A pack is named by
the SHA-256 of its bytes, so that nobody changes it unseen, and the same regions or classes are found to be the same.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from ...crosswalk import LEFT_OUT, Crosswalk
from ...dataclass import dataclass
from ...disclosure.published import Published
from ...disclosure.row_values import all_values, apart, is_of_rows
from ...disclosure.values import Values
from ...errors import InputError
from ...levels import Levels
from ..geopackage.making import SHORT, TEXT, add_table

PACKS, PACKED = "vbas_packs", "vbas_packed"
COLUMNS = {PACKS: {"hash": TEXT, "content": "BLOB"}, PACKED: {"release": SHORT, "part": TEXT, "hash": TEXT}}
REGIONS, CLASSES, COUNTS, VALUES = "regions", "classes", "counts", "values"  # the parts of a release
ROWS_THAT_STAY = 2_000  # a release of no more rows stays as rows, which any program shows
ADD_PACK = (
    "INSERT INTO vbas_packs (hash, content) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM vbas_packs WHERE hash = ?)"
)
ADD_PACKED = "INSERT INTO vbas_packed (release, part, hash) VALUES (?, ?, ?)"
OF_RELEASE = (
    "SELECT part, hash, content FROM vbas_packed LEFT JOIN vbas_packs USING (hash) WHERE release = ? ORDER BY part"
)
TAKE_OUT = (
    "DELETE FROM vbas_packed WHERE release = ?",
    "DELETE FROM vbas_packs WHERE hash NOT IN (SELECT hash FROM vbas_packed) AND ? > 0",
)
ALL_PACKS = "SELECT hash, content FROM vbas_packs"


@dataclass(frozen=True, eq=False)
class Pack:
    """Texts and columns of whole numbers, by name."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)

    def compressed(self) -> bytes:
        """The bytes of the pack."""
        columns, parts = [], []
        for name, column in self.columns.items():
            values, by_steps = column.astype(np.int64), False
            steps = np.diff(values, prepend=0)
            if len(steps) and np.abs(steps).sum() < np.abs(values).sum():
                values, by_steps = steps, True
            most = int(np.abs(values).max(initial=0))
            width = next(width for width in (1, 2, 4, 8) if most < 1 << (8 * width - 1))
            columns.append([name, width, len(values), by_steps])
            parts.append(values.astype(f"<i{width}").tobytes())
        first = json.dumps({"texts": {name: list(texts) for name, texts in self.texts.items()}, "columns": columns})
        return zlib.compress(b"".join([first.encode(), b"\n", *parts]))


def read_pack(content: bytes) -> Pack:
    """The pack of these bytes. Raises ValueError, KeyError, TypeError or zlib.error where they are none."""
    first, _, rest = zlib.decompress(content).partition(b"\n")
    header = json.loads(first)
    columns, at = {}, 0
    for name, width, n, by_steps in header["columns"]:
        values = np.frombuffer(rest, f"<i{width}", n, at).astype(np.int64)
        columns[str(name)] = np.cumsum(values) if by_steps else values
        at += width * n
    return Pack({str(name): [str(text) for text in texts] for name, texts in header["texts"].items()}, columns)


def is_large(release: Published) -> bool:
    """Whether a release is packed, as it has many rows."""
    rows = len(release.areas) * len(release.levels) + len(release.records)
    return rows + sum(len(values.records) for values in all_values(release)) > ROWS_THAT_STAY


def add_packed(connection: sqlite3.Connection, number: int, release: Published) -> None:
    """Add the regions, counts and values of a release to an open register; number : its number there"""
    for table, columns in COLUMNS.items():
        if not _is_there(connection, table):
            add_table(connection, table, columns)
    for part, pack in packs_of(release).items():
        content = pack.compressed()
        name = hashlib.sha256(content).hexdigest()
        connection.execute(ADD_PACK, (name, content, name))
        connection.execute(ADD_PACKED, (number, part, name))


def packs_of(release: Published) -> dict[str, Pack]:
    """The parts of a release, by what they are: no class that it does not show, though it was held back alone."""
    regions = Pack({"areas": release.areas.tolist()}, dict(_regions(release.levels)))
    used, class_of = np.unique(release.class_of, return_inverse=True)
    in_use = [np.unique(codes, return_inverse=True) for codes in release.classes[used].T]
    classes = Pack(
        {f"values {i}": release.categories[i - 1][codes].tolist() for i, (codes, _) in enumerate(in_use, 1)},
        {f"codes {i}": codes.reshape(-1) for i, (_, codes) in enumerate(in_use, 1)},
    )
    order = np.lexsort((release.class_of, release.region, release.level))
    counts = {
        name: column[order]
        for name, column in (
            *(("level", release.level), ("region", release.region)),
            *(("class", class_of.reshape(-1)), ("records", release.records)),
        )
    }
    parts = {REGIONS: regions, CLASSES: classes, COUNTS: Pack(columns=counts)}
    if all_values(release):
        position = np.argsort(order)
        texts: dict[str, Sequence[str]] = {"fields": [values.field for values in all_values(release)]}
        columns: dict[str, np.ndarray] = {}
        for i, values in enumerate(all_values(release), 1):
            texts[f"values {i}"] = values.categories.tolist()
            of_count = position[values.equivalence_class]
            by_count = np.lexsort((values.value, of_count))
            columns[f"count {i}"] = of_count[by_count]
            columns[f"value {i}"], columns[f"records {i}"] = values.value[by_count], values.records[by_count]
        parts[VALUES] = Pack(texts, columns)
    return parts


def _regions(levels: Levels) -> Iterator[tuple[str, np.ndarray]]:
    for level, crosswalk in enumerate(levels.crosswalks, 1):
        yield f"region {level}", crosswalk.region_of
        yield f"numbers {level}", crosswalk.numbers


@dataclass(eq=False)
class Unpacked:
    """The packs of a register while it is read: those that several releases have are read once."""

    regions: dict[str, tuple[np.ndarray, Levels]] = field(default_factory=dict)
    classes: dict[str, tuple[tuple[np.ndarray, ...], np.ndarray]] = field(default_factory=dict)

    def release(self, connection: sqlite3.Connection, number: int, release: Published) -> Published | None:
        """A release that has no rows yet with those of its packs; None where it has no packs.

        Raises InputError, ValueError, KeyError, TypeError, IndexError or zlib.error for packs that were changed.
        """
        packs = packs_in(connection, number)
        if not packs:
            return None
        parts = {part: (name, content) for part, name, content in packs}
        areas, levels = self._regions(*parts[REGIONS])
        categories, classes = self._classes(*parts[CLASSES], len(release.quasi_identifiers))
        columns = read_pack(parts[COUNTS][1]).columns
        level, region, class_of, records = (columns[name] for name in ("level", "region", "class", "records"))
        most = np.array([crosswalk.n_regions for crosswalk in levels.crosswalks], np.int64)
        _within(level, len(levels))
        _within(region, most[level])
        _within(class_of, len(classes))
        if not len(level) == len(region) == len(class_of) == len(records):
            raise ValueError  # columns of different lengths
        values = _values(read_pack(parts[VALUES][1]), records) if VALUES in parts else ()
        sensitive, rows = apart(values)
        return replace(
            release,
            areas=areas,
            levels=levels,
            categories=categories,
            classes=classes,
            level=level,
            region=region,
            class_of=class_of,
            records=records,
            sensitive=sensitive,
            rows=rows,
        )

    def _regions(self, name: str, content: bytes) -> tuple[np.ndarray, Levels]:
        if name not in self.regions:
            pack = read_pack(content)
            crosswalks = []
            for level in range(1, len(pack.columns) // 2 + 1):
                region_of, numbers = pack.columns[f"region {level}"], pack.columns[f"numbers {level}"]
                _within(region_of - LEFT_OUT, len(numbers) - LEFT_OUT)
                if len(region_of) != len(pack.texts["areas"]):
                    raise ValueError
                crosswalks.append(Crosswalk(region_of, len(numbers), numbers))
            self.regions[name] = np.array(pack.texts["areas"], dtype=object), Levels(tuple(crosswalks))
        return self.regions[name]

    def _classes(self, name: str, content: bytes, n_names: int) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        if name not in self.classes:
            pack = read_pack(content)
            values = tuple(np.array(pack.texts[f"values {i}"], dtype=object) for i in range(1, n_names + 1))
            codes = [pack.columns[f"codes {i}"] for i in range(1, n_names + 1)]
            for of, column in zip(values, codes):
                _within(column, len(of))
            self.classes[name] = values, np.column_stack(codes) if codes else np.zeros((1, 0), np.int64)
        return self.classes[name]


def packs_in(connection: sqlite3.Connection, number: int) -> list[tuple[str, str, bytes]]:
    """Part, name and bytes of each pack of a release. Raises InputError for one that was changed, or is missing."""
    if not _is_there(connection, PACKED):
        return []
    packs = connection.execute(OF_RELEASE, (number,)).fetchall()
    for part, name, content in packs:
        if not isinstance(content, bytes) or hashlib.sha256(content).hexdigest() != name:
            raise InputError.saying("its part “{part}” was changed", part=part)
    return packs


def size_of(connection: sqlite3.Connection, number: int) -> tuple[int, int, str] | None:
    """How many counts a packed release has, their records, and its sensitive fields; None for one that is not packed.

    Raises what `Unpacked.release` does.
    """
    parts = {part: content for part, _, content in packs_in(connection, number)}
    if not parts:
        return None
    records = read_pack(parts[COUNTS]).columns["records"]
    fields = read_pack(parts[VALUES]).texts["fields"] if VALUES in parts else []
    return len(records), int(records.sum()), ",".join(name for name in fields if not is_of_rows(name))


def changed_packs(connection: sqlite3.Connection) -> set[str]:
    """The names of packs that do not have what they are named by."""
    if not _is_there(connection, PACKS):
        return set()
    return {
        name
        for name, content in connection.execute(ALL_PACKS)
        if not isinstance(content, bytes) or hashlib.sha256(content).hexdigest() != name
    }


def taking_packs_out(connection: sqlite3.Connection) -> Sequence[str]:
    """The statements that take a release's packs out of an open register, but for those that others have."""
    return TAKE_OUT if _is_there(connection, PACKED) else ()


def _values(pack: Pack, records: np.ndarray) -> tuple[Values, ...]:
    fields = []
    for i, name in enumerate(pack.texts["fields"], 1):
        of_count, value, number = (pack.columns[f"{column} {i}"] for column in ("count", "value", "records"))
        _within(of_count, len(records))
        categories = np.array(pack.texts[f"values {i}"], dtype=object)
        _within(value, len(categories))
        if (np.bincount(of_count, number, len(records)) != records).any():
            raise InputError.saying("the values of “{name}” do not add up to its counts", name=name)
        fields.append(Values(name, categories, of_count, value, number))
    return tuple(fields)


def _within(positions: np.ndarray, n: np.ndarray | int) -> None:
    if len(positions) and ((positions < 0) | (positions >= n)).any():
        raise ValueError


def _is_there(connection: sqlite3.Connection, table: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())
