"""The release, written where the records are: by one join of the plan, staged, counted again, and put in its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import counted
from ..arrays import to_list
from ..dataclass import dataclass
from ..errors import PrivacyError
from ..language import tr
from ..plan import SUPPRESSED, Plan, area_of_cells, stretches
from ..privacy.kept_field import KeptField
from ..privacy.kept_fields import ROWS_LOOKED_AT, refuse_kept_fields
from ..privacy.requirement import Requirement
from ..progress import Progress, silent
from ..records.columns import (
    Column,
    ColumnBuilder,
    column_from_values,
    combine_codes,
    combine_columns,
    smallest_integers,
)
from ..records.fields import RecordFields
from ..records.matching import Records
from ..records.table import PERSONS
from ..release import Release, fewer_identical, values_in_common
from . import steps
from .coarsening import class_numbers
from .engine import Engine, EngineError, Expression
from .examining import NOT_LOOKED_AT, examined_in_place, whole_numbers
from .in_place import InPlace, Matched
from .profiling import FEW_VALUES, code_of_values, size_of
from .showing import Showing, showing


@dataclass(frozen=True)
class LevelCount:
    """What a level of a release holds: records, classes, and the smallest class."""

    records: int
    classes: int
    least: int


@dataclass(frozen=True, eq=False)
class StagedInPlace:
    """A release that was written and counted, and that nobody sees yet.

    levels : what each level holds, by its number from 1; kept : what the kept fields tell; written, fields : what reads
    the rows, and what they show
    """

    engine: Engine
    levels: dict[int, LevelCount]
    rows: int
    kept: tuple[KeptField, ...]
    written: Expression
    fields: RecordFields

    def different_rows(self, plan: Plan, nested: bool) -> Release:
        """What was written, each different row once with its count, all fields included; read from the engine.

        plan, nested : as the rows were staged by
        """
        fields = self.fields
        names = [*(["vbas_level"] if nested else []), "vbas_region", *fields.quasi_identifiers, *fields.kept]
        builders, counts = [ColumnBuilder() for _ in names], []
        for batch in self.engine.fetch(steps.different(self.written, names, bool(fields.count))):
            *columns, records = batch.columns
            for builder, column in zip(builders, columns):
                builder.add_values(column.to_pylist())
            counts.append(np.array(records.to_pylist(), np.int64))
        columns_read = [builder.column() for builder in builders]
        row_of, rows = np.empty(0, np.int64), np.empty((0, len(names)), np.int64)
        if counts and sum(map(len, counts)):
            row_of, rows = combine_columns(columns_read)
        weights = np.concatenate([*counts, np.empty(0, np.int64)])
        shown_columns = {name: Column(codes, of.categories) for name, codes, of in zip(names, rows.T, columns_read)}
        level = _whole(shown_columns.pop("vbas_level")) - 1 if nested else np.zeros(len(rows), np.int64)
        region = plan.levels.regions(level, _whole(shown_columns.pop("vbas_region")))
        records_of = np.bincount(row_of, weights, len(rows)).astype(np.int64)
        return Release(level, region, shown_columns, records_of, counted=bool(fields.count))

    def publish(self) -> str:
        """Put it in its place, and return that. Raises EngineError where the table has changed, or that is taken."""
        self.engine.unchanged()
        return self.engine.publish()


def stage_in_place(
    matched: Matched,
    plan: Plan,
    destination: str,
    nested: bool = False,
    progress: Progress = silent,
    requirement: Requirement | None = None,
    split: Records | None = None,
) -> StagedInPlace:
    """Write the records that a plan shows, to be published at a destination of the engine, which must be free.

    plan : of the profile of `matched`, or made from one; nested : whether rows say their level; requirement : what is
    asked of the values of sensitive fields; split : of an update, its records as `updating.counted_records` gives them,
    split by where they are shown, of whose profile the plan is. What was written is counted once more, in the engine
    and from its rows alone, and must hold what the plan foretold; what is not published is gone with the engine.
    Raises InputError for a kept field that gives away the area or the person, PrivacyError where the second count
    differs, EngineError where the engine fails or the table has changed.
    """
    in_place, fields = matched.in_place, matched.in_place.fields
    engine = in_place.engine
    examined = _examined_classes(plan) if fields.kept else None
    shows = showing(in_place, plan)
    if split is None:
        tables = tables_of_plan(matched, plan, examined)
        placed, all_placed = (
            steps.placed(rows, *tables, bool(fields.count)) for rows in (in_place.rows, in_place.with_others)
        )
    else:
        placed = all_placed = _placed_in_part(matched, plan, split, examined)
    if engine.packs:
        placed = _packed(in_place, placed)
    kept = examined_in_place(matched, plan, placed) if fields.kept else []
    refuse_kept_fields(kept)
    with_others = shows.of(all_placed)
    check_members(matched, plan, with_others)
    if requirement is not None and requirement.asks_for_values:
        check_values(matched, requirement, with_others)
    progress(0.2)
    decoded = dict(zip(fields.quasi_identifiers, shows.dictionaries.values())) if engine.decodes else {}
    kept_names = {f"k{i}": name for i, name in enumerate(fields.kept)}
    decoded |= {kept_names[key]: values for key, values in in_place.kept_values.items()}
    rows = steps.released_rows(shows.of(placed), fields, nested, engine.decodes, in_place.kept_values)
    written = engine.stage(rows, destination, decoded, _occurring(in_place, shows, placed))
    progress(0.7)
    levels, rows = counted_once_more(engine, plan, shows, fields, nested, written)
    if requirement is not None and requirement.rows_identical > 1:
        _check_identical(engine, requirement.rows_identical, fields, nested, written)
    engine.unchanged()
    progress(1.0)
    return StagedInPlace(engine, levels, rows, tuple(kept), written, fields)


def _placed_in_part(matched: Matched, plan: Plan, split: Records, examined: np.ndarray | None) -> Expression:
    """The rows that an update shows: of those of an area that show the same so many with each region."""
    in_place = matched.in_place
    values = [code_of_values(matched, name) for name in in_place.fields.kept]
    upload, there = in_place.engine.upload, np.flatnonzero(matched.area_of >= 0)
    places = {"p_a": there.astype(np.int32), "p_place": matched.area_of[there].astype(np.int32)}
    parts = _parts(matched, plan, split, values, examined)
    placed = steps.placed_in_part(
        in_place.with_others,
        upload("vbas_places", places),
        upload("vbas_plan", parts),
        values,
        bool(in_place.fields.count),
    )
    return in_place.engine.again("vbas_in_part", placed)


def _parts(
    matched: Matched, plan: Plan, split: Records, values: Sequence[str], examined: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Where the records of each place and class that show the same are shown, by their numbers among them."""
    table, in_place = split.table, matched.in_place
    if table.counts is None:
        raise LookupError("counts")  # which counted records have
    quasi, kept = ([column.codes for column in columns.values()] for columns in (table.quasi_identifiers, table.kept))
    columns = [table.area.codes, *quasi, *kept]
    identical, _ = combine_codes(columns, [int(codes.max(initial=0)) + 1 for codes in columns])
    order = np.argsort(identical, kind="stable")
    counts = table.counts[order]
    before = np.cumsum(counts) - counts
    starts = np.flatnonzero(np.diff(identical[order], prepend=-1))
    first = np.empty(len(order), np.int64)
    first[order] = before - np.repeat(before[starts], np.diff(starts, append=len(order)))
    equivalence_class = np.append(plan.equivalence_class_of, SUPPRESSED)[split.cell_of]
    there = np.flatnonzero(equivalence_class != SUPPRESSED)
    of_class = equivalence_class[there]
    keys = class_numbers(np.column_stack(quasi), in_place.codes, list(in_place.sizes.values()))
    parts = {
        "l_place": table.area.codes[there].astype(np.int32),
        "l_key": keys[there],
        "l_first": first[there],
        "l_end": first[there] + table.counts[there],
        "l_level": (plan.level[of_class] + 1).astype(np.int16),
        "l_region": _numbers(plan)[of_class],
    }
    parts |= {f"v_{code}": codes[there].astype(np.int32) for code, codes in zip(values, kept)}
    if examined is not None:
        parts["l_look"] = np.where(examined, np.arange(len(examined), dtype=np.int64), NOT_LOOKED_AT)[of_class]
    return parts


def _check_identical(engine: Engine, k: int, fields: RecordFields, nested: bool, written: Expression) -> None:
    """Count once more how many rows look like each, from what was written. Raises PrivacyError."""
    names = [*(["vbas_level"] if nested else []), "vbas_region", *fields.quasi_identifiers, *fields.kept]
    counted_alike = engine.fetch(steps.fewest_identical(written, names, bool(fields.count)))
    (fewest,) = (row["fewest"] for batch in counted_alike for row in batch.to_pylist())
    if fewest is not None and fewest < k:
        raise fewer_identical(k)


def _packed(in_place: InPlace, placed: Expression) -> Expression:
    """Placed rows, kept in the engine as whole numbers for whoever looks at them and for what is written."""
    engine, fields = in_place.engine, in_place.fields
    kept = [f"k{i}" for i in range(len(fields.kept))]
    plain = [key for key in kept if key not in in_place.kept_values] + (["n"] if fields.count else [])
    plain += ["c_a", "l_look"] if kept else []
    named = dict(zip(fields.quasi_identifiers, in_place.quasi))
    plain += [f"o_{named[name]}" for name in in_place.coarsened]
    sizes = {**in_place.sizes, **{key: size_of(engine, values) for key, values in in_place.kept_values.items()}}
    return engine.keep("vbas_placed", steps.packed(placed, sizes, in_place.kept_values, plain))


def _occurring(in_place: InPlace, shows: Showing, packed: Expression) -> dict[str, np.ndarray]:
    """The codes that packed rows have of each field of text with few values, by its name where it is written.

    Where levels show other values than the rows were counted by, those of quasi-identifiers are not looked for.
    """
    if not in_place.engine.packs:
        return {}
    few = [key for key in in_place.quasi if in_place.sizes[key] <= FEW_VALUES and not shows.maps]
    tables = {key: shows.dictionaries[key] for key in few}
    names = dict(zip(in_place.quasi, in_place.fields.quasi_identifiers))
    names |= {f"k{i}": name for i, name in enumerate(in_place.fields.kept)}
    codes = {}
    for key, values in {**tables, **in_place.kept_values}.items():
        if values[f"v_{key}"].type().is_string():
            there = packed.select(there=packed[f"c_{key}"].cast("int64")).distinct()
            codes[names[key]] = whole_numbers(list(in_place.engine.fetch(there)), "there")
    return codes


def counted_once_more(
    engine: Engine, plan: Plan, shows: Showing, fields: RecordFields, nested: bool, written: Expression
) -> tuple[dict[int, LevelCount], int]:
    """What each level of the written rows holds, from their values alone, and how many rows there are.

    Raises PrivacyError where that is not what the plan foretold.
    """
    expected = engine.upload("vbas_expected", _expected(plan, shows))
    classes = steps.classes_written(written, fields.quasi_identifiers, nested, bool(fields.count))
    count = steps.second_count(classes, shows.dictionaries, shows.sizes, expected)
    levels, rows, n_differing = _second_count(engine, count)
    _check_agreement(levels, foretold(plan), plan.k)
    _check_equivalence_classes(n_differing)
    return levels, rows


def tables_of_plan(matched: Matched, plan: Plan, examined: np.ndarray | None) -> tuple[Expression, Expression]:
    """The places of the areas and the equivalence classes that are shown, in the engine, for `steps.placed`.

    examined : (L,) the equivalence classes whose rows are looked at; None where nothing is kept
    """
    upload = matched.in_place.engine.upload
    return (
        upload("vbas_places", _places(matched, plan)),
        upload("vbas_plan", _equivalence_classes(matched, plan, examined)),
    )


def _whole(column: Column) -> np.ndarray:
    return np.array([int(value) for value in to_list(column.categories)], np.int64)[column.codes]


def released_by(plan: Plan) -> Release:
    """The equivalence classes that a plan releases as the rows of a release that counts its records."""
    equivalence_class = np.flatnonzero(plan.released)
    class_of = plan.class_of[equivalence_class]
    columns = {}
    for name, code, categories in zip(plan.profile.quasi_identifiers, plan.profile.classes.T, plan.profile.categories):
        if plan.levels.coarser:  # then each level has categories of its own; what reads alike is one value here
            value = column_from_values(categories)
            code, categories = value.codes[code], value.categories
        columns[name] = Column(smallest_integers(code, len(categories))[class_of], categories)
    return Release(
        plan.level[equivalence_class],
        plan.region[equivalence_class],
        columns,
        plan.records[equivalence_class],
        counted=True,
    )


def _second_count(engine: Engine, count: Expression) -> tuple[dict[int, LevelCount], int, int]:
    """What each level of the written rows holds, how many rows there are, and the equivalence classes that differ."""
    levels, rows, differing = {}, 0, 0
    for row in (row for batch in engine.fetch(count) for row in batch.to_pylist()):
        if row["level"]:
            levels[int(row["level"])] = LevelCount(int(row["records"]), int(row["classes"]), int(row["least"]))
        rows += int(row["rows"])
        differing += int(row["differing"])
    return levels, rows, differing


def _check_equivalence_classes(differing: int) -> None:
    """Refuse a release in which any equivalence class shows other records than the plan foretold."""
    if differing:
        raise PrivacyError.counting(
            "The release shows {n} class with other records than the plan foretold: nothing was written. Start again "
            "when nobody writes to the table.",
            "The release shows {n} classes with other records than the plan foretold: nothing was written. Start again "
            "when nobody writes to the table.",
            differing,
        )


def foretold(plan: Plan) -> dict[int, LevelCount]:
    """What each level of a release by a plan must hold; levels that show nothing are left out."""
    counts = {}
    for level in to_list(np.unique(plan.level[plan.released])):
        sizes = plan.records[plan.released & (plan.level == level)]
        counts[level + 1] = LevelCount(int(sizes.sum()), len(sizes), int(sizes.min()))
    return counts


def _check_agreement(written: dict[int, LevelCount], expected: dict[int, LevelCount], k: int) -> None:
    if any(count.least < k for count in written.values()):
        raise PrivacyError.saying("The release would hold a class of fewer than {k} records: nothing was written.", k=k)
    if written != expected:
        records, wanted = (sum(count.records for count in levels.values()) for levels in (written, expected))
        raise PrivacyError.saying(
            "The release holds {records}, the plan foretold {wanted}, or their classes differ: the table was changed "
            "while it was being worked on, so nothing was written. Start again when nobody writes to it.",
            records=counted.records(records),
            wanted=wanted,
        )


def _places(matched: Matched, plan: Plan) -> dict[str, np.ndarray]:
    """The place of each code of the area: its position in a nested plan, else its region; none where it has none."""
    position = matched.area_of
    place = position if plan.level_of is not None else np.append(plan.crosswalk.region_of, -1)[position]
    there = np.flatnonzero(place >= 0)
    return {"p_a": there.astype(np.int32), "p_place": place[there].astype(np.int32)}


def _equivalence_classes(matched: Matched, plan: Plan, examined: np.ndarray | None) -> dict[str, np.ndarray]:
    """The equivalence class of each place and class that is shown: of cells in a nested plan, else of regions.

    examined : (L,) the equivalence classes whose rows are examined; None where nothing is kept. A nested plan has a
    row for nearly every cell: they travel as narrow as they can be, 14 bytes each, and are made some millions at once.
    """
    keys = _narrow(matched.in_place.class_keys)
    of_equivalence_classes = {"l_level": (plan.level + 1).astype(np.int16), "l_region": _narrow(_numbers(plan))}
    if examined is not None:
        of_equivalence_classes["l_look"] = _narrow(
            np.where(examined, np.arange(len(examined), dtype=np.int64), NOT_LOOKED_AT)
        )
    if plan.level_of is None:
        equivalence_class = np.flatnonzero(plan.released)
        released = {name: values[equivalence_class] for name, values in of_equivalence_classes.items()}
        return {
            "l_place": plan.region[equivalence_class].astype(np.int32),
            "l_key": keys[plan.class_of[equivalence_class]],
            **released,
        }
    profile, equivalence_class_of = plan.profile_of_records, plan.counted.equivalence_class_of
    kinds = {"l_place": np.dtype(np.int32), "l_key": keys.dtype}
    kinds.update({name: values.dtype for name, values in of_equivalence_classes.items()})
    n_released, stop = int(np.count_nonzero(equivalence_class_of != SUPPRESSED)), 0
    columns = {name: np.empty(n_released, kind) for name, kind in kinds.items()}
    for cells in stretches(len(equivalence_class_of)):
        there = np.flatnonzero(equivalence_class_of[cells] != SUPPRESSED)
        equivalence_class = equivalence_class_of[cells][there]
        here, stop = slice(stop, stop + len(there)), stop + len(there)
        columns["l_place"][here] = area_of_cells(profile, cells)[there]
        columns["l_key"][here] = keys[profile.counts.indices[cells][there]]
        for name, values in of_equivalence_classes.items():
            columns[name][here] = values[equivalence_class]
    return columns


def _narrow(values: np.ndarray) -> np.ndarray:
    """Whole numbers in 32 bits where these hold them all."""
    fits = not len(values) or (values.min() >= -(2**31) and values.max() < 2**31)
    return values.astype(np.int32) if fits else values


def _expected(plan: Plan, shows: Showing) -> dict[str, np.ndarray]:
    """The records that each equivalence class in use must show."""
    equivalence_class = np.flatnonzero(plan.released)
    return {
        "e_level": plan.level[equivalence_class] + 1,
        "e_region": _numbers(plan)[equivalence_class],
        "e_key": shows.class_keys[plan.class_of[equivalence_class]],
        "e_records": plan.records[equivalence_class],
    }


def _numbers(plan: Plan) -> np.ndarray:
    """The public number of each equivalence class's region, (L,) int64."""
    return plan.levels.numbers(plan.level, plan.region).astype(np.int64)


def _examined_classes(plan: Plan) -> np.ndarray:
    """The equivalence classes whose rows are looked at for their kept fields: all, or enough of them."""
    share = ROWS_LOOKED_AT / max(plan.n_released, 1)
    return plan.released & (np.random.default_rng(0).random(len(plan.records)) < share)


def check_members(matched: Matched, plan: Plan, placed: Expression) -> None:
    """Count the people behind what is released once more, in the engine."""
    for position, kind in enumerate(matched.in_place.fields.members):
        counted = matched.in_place.engine.fetch(steps.fewest_members(placed, f"c_m{position}"))
        (fewest,) = (row["fewest"] for batch in counted for row in batch.to_pylist())
        if fewest is not None and fewest < plan.k:
            raise PrivacyError.saying(
                "The release would hold a class of fewer than {k} {kind}: nothing was written.", k=plan.k, kind=tr(kind)
            )
        if fewest is None and plan.n_released:
            raise EngineError.saying(
                "{title} found no {kind}: nothing was written.", title=matched.in_place.engine.title, kind=tr(kind)
            )


def check_values(matched: Matched, requirement: Requirement, placed: Expression) -> None:
    """Count the sensitive values of the people behind what is released once more, in the engine."""
    fields = matched.in_place.fields
    people = [f"c_m{position}" for position in range(len(fields.members))]
    if PERSONS not in fields.members:
        people.append(steps.ROWS)
    values = [code_of_values(matched, name) for name in fields.sensitive]
    asked = requirement.l_diversity, requirement.max_share
    counted = matched.in_place.engine.fetch(steps.falling_short(placed, people, values, *asked, bool(fields.count)))
    (wrong,) = (row["wrong"] for batch in counted for row in batch.to_pylist())
    if wrong:
        raise values_in_common(int(wrong))
