"""Tables drawn at random that are looked at, and what somebody wrote who asks for something: sound, or with a fault."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from vbas.core.errors import VbasError
from vbas.core.generalising import HierarchyTable, hierarchy_rule
from vbas.core.neighbours import point_neighbours
from vbas.core.nesting.holding import Holding, counted_by, held_percent, joined_until_held
from vbas.core.nesting.making import LevelOptions, build_levels, from_the_areas_up
from vbas.core.plan import suppress
from vbas.core.privacy.checking import check_release
from vbas.core.privacy.count_rows import CountRows, Source, count_tables
from vbas.core.privacy.kept_fields import examine_values
from vbas.core.privacy.margins import parse_margins
from vbas.core.privacy.requirement import Requirement
from vbas.core.privacy.rules import COLUMNS, SHIPPED, list_rules
from vbas.core.privacy.weights import classes_on_few_rows, counted_rows, warning_of_weights
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable

from .asked_towns import drawn_areas, drawn_levels, drawn_names, drawn_table, town

ONE_OR_OTHER = np.array(["a", "b", None], dtype=object)


def drawn_column(rng: np.random.Generator, n: int, area: np.ndarray, own: np.ndarray) -> Column:
    """A field that tells nothing, or more or less of the area, of a quasi-identifier, or of the person."""
    kind = int(rng.integers(9))
    noise = rng.random(n) < rng.choice([0.0, 0.02, 0.3, 0.7])
    values: list[object]
    if kind == 0:
        values = rng.integers(0, 4, n).tolist()
    elif kind == 1:
        values = [f"K{a}" if not out else None for a, out in zip(area.tolist(), noise.tolist())]
    elif kind == 2:
        values = [
            f"{a:02d}{rng.integers(0, 50):02d}" if not out else "" for a, out in zip(area.tolist(), noise.tolist())
        ]
    elif kind == 3:
        values = [f"name {i}" if not out else "unknown" for i, out in enumerate(noise.tolist())]
    elif kind == 4:
        values = [
            f"{of}-{rng.integers(0, 3)}" if not out else "filler" for of, out in zip(own.tolist(), noise.tolist())
        ]
    elif kind == 5:
        values = rng.integers(0, max(n // 2, 1), n).tolist()
    elif kind == 6:
        values = [10 * a + int(rng.integers(0, 2)) if not out else 0 for a, out in zip(area.tolist(), noise.tolist())]
    elif kind == 7:
        values = [rng.choice(ONE_OR_OTHER, p=[0.5, 0.45, 0.05]) for _ in range(n)]
    else:
        values = rng.geometric(0.3, n).tolist()
    return column_from_values(values)


def kept_fields(rng: np.random.Generator) -> object:
    """What fields of released rows give away."""
    n, n_areas = int(rng.integers(40, 400)), int(rng.integers(2, 12))
    area, own = rng.integers(0, n_areas, n), rng.integers(0, 5, n)
    region, quasi = area // int(rng.integers(1, 4)), {"age": own, "sex": rng.integers(0, 2, n)}
    classes = np.unique(region * 10 + own, return_inverse=True)[1].reshape(-1)
    coarsened = {"age": (own // 2, own)} if rng.random() < 0.4 else {}
    columns = {name: drawn_column(rng, n, area, own) for name in "abcd"}
    found = examine_values(classes, region, area, columns, quasi, int(rng.integers(2, 6)), coarsened)
    return [[field, field.unique, field.refusal, field.warning] for field in found]


def checked_tables(rng: np.random.Generator) -> object:
    """How well the classes of some table hide people."""
    areas = drawn_areas(rng)
    table = drawn_table(rng, areas, drawn_names(rng))
    n = len(table)
    others = {name: drawn_column(rng, n, table.area.codes, rng.integers(0, 3, n)) for name in "ab"}
    if rng.random() < 0.3:
        others["where"] = table.area
    region = Column(table.area.codes // 3, np.array([f"r{i}" for i in range(len(areas))], dtype=object))
    l_diversity, max_share = int(rng.integers(1, 4)), float(rng.choice([100.0, 70.0]))
    found = check_release(
        {"region": region, **table.quasi_identifiers} if rng.random() < 0.9 else {},
        others,
        int(rng.integers(1, 6)) if rng.random() < 0.1 else int(rng.integers(2, 6)),
        table.members,
        {name: table.kept[name] for name in table.sensitive},
        areas=areas if rng.random() < 0.7 else None,
        counts=table.counts,
        l_diversity=l_diversity,
        max_share=max_share,
    )
    return [found, [[field.refusal, field.warning] for field in found.kept]]


def without_missing(table: RecordTable) -> RecordTable:
    """The rows of which all quasi-identifiers are known."""
    columns = table.quasi_identifiers
    known = [np.array([value is not None for value in column.categories])[column.codes] for column in columns.values()]
    rows = np.flatnonzero(np.all(known, axis=0))

    def of(column: Column) -> Column:
        used, codes = np.unique(column.codes[rows], return_inverse=True)
        return Column(codes.reshape(-1), column.categories[used])

    counts = None if table.counts is None else table.counts[rows] + 1
    return RecordTable(of(table.area), {name: of(column) for name, column in columns.items()}, {}, counts)


def published_counts(rng: np.random.Generator) -> object:
    """Tables of counts as they are read: of areas or units, finer and coarser, with rows that are wrong."""
    areas, records, _ = town(rng, 1)
    table = without_missing(records.table)
    profile = match_records(table, areas).profile
    names = [name for name in profile.quasi_identifiers if rng.random() < 0.7]
    true: dict[tuple[object, ...], int] = {}
    number = np.ones(len(table), np.int64) if table.counts is None else table.counts
    codes = [table.quasi_identifiers[name].codes.tolist() for name in names]
    unit_of = None
    if rng.random() < 0.4:
        unit_of = {area: f"u{i // 2}" if rng.random() < 0.95 else None for i, area in enumerate(areas.identifiers)}
    for area, count, *of in zip(table.area.categories[table.area.codes].tolist(), number.tolist(), *codes):
        unit = area if unit_of is None else unit_of[area]
        values = [table.quasi_identifiers[name].categories[code] for name, code in zip(names, of)]
        if unit is not None:
            true[(unit, *values)] = true.get((unit, *values), 0) + count
    rows: list[list[Any]] = [[*key, count] for key, count in true.items()]
    if rng.random() < 0.5 and rows:
        at = rows[int(rng.integers(len(rows)))]
        fault = int(rng.integers(8))
        if fault < 4:
            at[-1] = [-1, at[-1] + 1, "x", None][fault]
        elif fault == 4:
            at[-1] = max(at[-1] - 1, 0)
        elif fault == 5:
            rows.append(list(at))
        elif fault == 6:
            at[0] = "nowhere"
        elif names:
            at[1] = (None, "other")[int(rng.integers(2))]
    sources: dict[str, Source] = {}
    if "age" in names and rng.random() < 0.5:
        coarse = {"1": "1-2", "2": "1-2", "3": "3"}
        sources["age"] = HierarchyTable(
            "age", {"1": ("1-2", "*"), "2": ("1-2", "*"), "3": ("3", "*"), None: (None, "*")}
        )
        if rng.random() < 0.6:
            age = 1 + names.index("age")
            joined: dict[tuple[object, ...], object] = {}
            for row in rows:
                key = (*row[:age], coarse.get(row[age], row[age]), *row[age + 1 : -1])
                known = joined.get(key, 0)
                joined[key] = known + row[-1] if isinstance(known, int) and isinstance(row[-1], int) else row[-1]
            rows = [[*key, count] for key, count in joined.items()]
    elif "age" in names and rng.random() < 0.3:
        sources["age"] = hierarchy_rule("age", "bands 2 4")
    units = [row[0] for row in rows]
    shown = {name: [row[1 + i] for row in rows] for i, name in enumerate(names)}
    return count_tables(CountRows(units, shown, [row[-1] for row in rows], unit_of, sources), areas, profile)


def rules(rng: np.random.Generator) -> object:
    """Files of rules, of which one cell, line or column is not as it must be."""
    lines = [list(row) for row in csv.reader(StringIO(SHIPPED.read_text(encoding="utf-8")))][:5]
    odd = (
        "",
        " ",
        "0",
        "1",
        "-1",
        "2.5",
        "x",
        "1e9",
        "none",
        "a, b",
        "yes",
        "no",
        "YES",
        "text",
        lines[1][0],
        "nan",
        "99999",
    )
    row = int(rng.integers(1, len(lines)))
    fault = int(rng.integers(12))
    if fault < 8:
        lines[row][int(rng.integers(len(lines[0])))] = odd[int(rng.integers(len(odd)))]
    elif fault == 8:
        del lines[0][int(rng.integers(len(lines[0])))]
    elif fault == 9:
        lines[row] = lines[row][: int(rng.integers(len(lines[row])))]
    elif fault == 10:
        lines.insert(row, [])
    written = StringIO()
    csv.writer(written).writerows(lines)
    text = written.getvalue()
    if fault == 11:
        text = text.replace("\r\n", '\r\n"', int(rng.integers(1, 4)))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "own.csv"
        content = text.encode("utf-8-sig" if rng.random() < 0.5 else "utf-8")
        file.write_bytes(content.replace(b"e", b"\xe9", 1) if rng.random() < 0.05 else content)
        listing = list_rules(file) if rng.random() < 0.97 else list_rules(Path(folder) / "none.csv")
        return [listing, [rule.sentence for rule in listing.rules.values()], COLUMNS]


def said_or(ask: object, *given: object, **named: object) -> object:
    """What something gives, or the sentence that it ends in."""
    try:
        return ask(*given, **named)  # type: ignore[operator]
    except VbasError as error:
        return error


def edges(rng: np.random.Generator) -> object:
    """Numbers at the ends of what may be asked for, and beyond."""
    del rng
    found: list[object] = []
    names = ("age", "sex")
    for text in ("", " ", ",", ";", "age", "age;sex", "age, sex", " age ; sex ,,", "age;size", "town", "Age", ";,;"):
        found.append(said_or(parse_margins, text, names))
    for k in (-1, 0, 1, 2, 3):
        found.append(said_or(Requirement, k))
        found.append(said_or(Holding(k, 1.0, 0.0).check))
    for l_diversity in (-1, 0, 1, 2):
        found.append(said_or(Requirement, 2, l_diversity=l_diversity))
    for share in (-1.0, 0.0, 1e-9, 50.0, 100.0, 100.5, float("nan")):
        found += [said_or(Requirement, 2, max_share=share), said_or(Holding(2, 1.0, share).check)]
    found += [Holding(k, reserve).least for k in range(2, 31) for reserve in (1.0, 1.1, 1.2, 1.4, 1.5, 1.9, 2.3)]
    for reserve in (0.0, 0.99, 1.0, 1.5, float("inf"), float("nan")):
        found += [
            said_or(Holding(2, reserve, 50.0).check),
            Holding(3, min(reserve, 9.0), 0.0).least if reserve == reserve else 0,
        ]
    return found


LEAST = [0.4, 0.02, 0.02, 0.26, 0.26, 0.04]  # how often each least population is asked for


def made_levels(rng: np.random.Generator) -> object:
    """Levels that are made from the areas up, and regions that are joined until each shows enough."""
    areas, records, levels = town(rng, 3)
    if rng.random() < 0.6:
        areas = replace(areas, neighbours=point_neighbours(areas.points))
    progress: list[float] = []
    finest = levels.crosswalks[int(rng.integers(len(levels)))] if rng.random() < 0.4 else None
    people = (levels.crosswalks[0] if finest is None else finest).totals(areas.population)
    options = LevelOptions(
        int(rng.integers(0, 4)),
        float(rng.choice([1.0, 1.2, 1.5, 2.0, 3.0, float("nan")], p=[0.02, 0.2, 0.2, 0.3, 0.26, 0.02])),
        float(rng.choice([0.0, -1.0, 1e6, people.min(), people.min() + 1, people.sum()], p=LEAST)),
    )
    period = "year" if "year" in records.profile.quasi_identifiers and rng.random() < 0.6 else ""
    tables = [counted_by(records.profile, period)]
    holding = Holding(
        int(rng.integers(2, 5)), float(rng.choice([1.0, 1.5])), float(rng.choice([0.0, 40.0, 80.0, 100.0]))
    )
    crosswalk = levels.crosswalks[0]
    asked = [
        said_or(build_levels, areas, records.profile, finest, options, progress.append),
        said_or(joined_until_held, areas, tables, crosswalk, holding, progress.append),
        held_percent(tables, crosswalk, holding.least),
        said_or(from_the_areas_up, areas, records.profile, None),
    ]
    return [*asked, progress]


def weights(rng: np.random.Generator) -> object:
    """Counts that look like survey weights, or do not."""
    areas = drawn_areas(rng)
    table = drawn_table(rng, areas, drawn_names(rng))
    if not table.members:
        counts = np.maximum(rng.normal(rng.choice([1.0, 3.0, 40.0]), 2.0, len(table)).round(), 0).astype(np.int64)
        counts[0] += 1
        table = replace(table, counts=counts)
    records = match_records(table, areas)
    plan = suppress(records.profile, drawn_levels(rng, areas, 2).crosswalks[-1], int(rng.integers(2, 6)))
    rows = counted_rows(records)
    people = records.profile.area_sizes / rng.choice([1.0, 1.04, 1.06, 2.0]) if rng.random() < 0.7 else None
    return [warning_of_weights(plan, rows, people), rows.median, rows.n_rows, classes_on_few_rows(plan, rows)]
