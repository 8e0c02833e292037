"""A nested release brought to one level."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...core.analysis.released import positions, whole_numbers
from ...core.errors import InputError, PrivacyError
from ...core.language import as_data, tr
from ...core.levels import Levels
from ...core.nesting.flattening import flatten
from ...core.records.columns import Column, combine_codes
from ...core.records.table import counts_of
from ...core.tables.regions import FLATTENED
from ..form import parameters as shared
from ..form import regions
from ..form.base import VbasAlgorithm
from ..form.form import Form
from ..form.guarantees import k_parameter
from ..form.records import record_count
from ..form.release import rows_table
from ..layers.reading.checked_source import field_index
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.reading.records import read_columns


def rows_of(form: Form) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, dict[str, Column]]:
    """Level (0-based), number of the region, and count of each row; its other fields, the quasi-identifiers first."""
    source = form.layers.source("RECORDS")
    for name in (LEVEL, NUMBER):
        field_index(source.fields(), name, "RECORDS", "RECORDS")
    quasi, count = form.field_names("QUASI_IDENTIFIERS"), form.text("RECORD_COUNT")
    placing = [name for name in quasi if name.lower() in (LEVEL, NUMBER)]
    if placing:
        raise InputError.saying("Field “{name}” says where a record is shown: choose others.", name=placing[0])
    own = (LEVEL, NUMBER, "fid", "ogc_fid", count.lower())
    others = [name for name in source.fields().names() if name.lower() not in own and name not in quasi]
    columns = read_columns(source, [LEVEL, NUMBER, *quasi, *others, *([count] if count else [])], form.feedback)
    level, number = (whole_numbers(columns[name], name) for name in (LEVEL, NUMBER))
    counts = counts_of(columns, count)
    return level - 1, number, counts, {name: columns[name] for name in (*quasi, *others)}


class FlattenRelease(VbasAlgorithm):
    """`vbas:flattenrelease`."""

    ID = "flattenrelease"
    TAGS = as_data("nested,level,aggregate")
    SUMMARY = tr("Brings a nested release to one level: every record shows its region of that level.")
    HELP = tr(
        "<p>A nested release shows records in regions of several sizes. For a table of regions of one size, to be "
        "published, choose a level: each record that is shown at this level or a finer one gets its region of this "
        "level, by the crosswalk that came with the release.</p><p>Records that are shown only in larger regions are "
        "left out, and counted in the log: the finer the level, the more of the rare ones are missing. At the coarsest "
        "level all records are there. For maps and models take “Spread a release over the areas”, which leaves nobody "
        "out and keeps what is shown finely.</p><p>Where the last levels of a release show coarser values, rows keep "
        "the values they show: for a table by finer values alone choose a level below these.</p>"
        "<p>It takes nothing but what was published, so anybody may use it.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            shared.source(
                "RECORDS",
                tr("Nested release"),
                tr("The released records, with {level} and {number}.", level=LEVEL, number=NUMBER),
            ),
            shared.field(
                "QUASI_IDENTIFIERS",
                tr("Quasi-identifiers"),
                "RECORDS",
                tr("Those of the release: they are recounted with the region."),
                several=True,
            ),
            record_count(numeric=True),
            *regions.crosswalk_parameters(),
            shared.whole("LEVEL", tr("Level"), 1, tr("The level to bring records to; 1 is the finest."), 1),
            k_parameter(),
            shared.sink(FLATTENED),
        )
        self.addNumbers(
            N_RECORDS=tr("Records brought to the level"), N_LEFT_OUT=tr("Records shown only in larger regions")
        )

    def work(self, form: Form) -> dict[str, object]:
        source, target = form.layers.source("RECORDS"), form.whole("LEVEL") - 1
        _, levels = regions.levels_of_crosswalk(form.job)
        if target >= len(levels):
            raise InputError.saying(
                "LEVEL is {target}, but the levels of CROSSWALK are 1 to {n_levels}: choose one of these.",
                target=target + 1,
                n_levels=len(levels),
            )
        if _repeats(levels, target):
            form.warn(
                tr(
                    "Up to level {target}, levels repeat the regions of the one before: if the release shows "
                    "coarser values there (vbas_values of its regions), rows of finer levels keep theirs, and "
                    "a field holds both. Bring them to one level by the hierarchy that came with the release "
                    "before you count by them.",
                    target=target + 1,
                )
            )
        level, number, counts, fields = rows_of(form)
        region = flatten(levels, level, positions(levels, level, number), target)
        there = region >= 0
        crosswalk, quasi = levels.crosswalks[target], form.field_names("QUASI_IDENTIFIERS")
        shown = {name: Column(fields[name].codes[there], fields[name].categories) for name in quasi}
        _refuse_small_classes(form, region[there], shown, None if counts is None else counts[there])
        codes, distinct = combine_codes(
            [region[there], *(column.codes[there] for column in fields.values())],
            [crosswalk.n_regions, *(len(column.categories) for column in fields.values())],
        )
        n_records, left_out = (
            int(here.sum() if counts is None else counts[here].sum(dtype=np.int64)) for here in (there, ~there)
        )
        # Rows in the order of what they show; those with counts that show the same are added up.
        order = np.argsort(codes, kind="stable")
        if counts is not None:
            order = np.unique(codes, return_index=True)[1]
            counts = np.bincount(codes, counts[there], len(distinct)).astype(np.int64)
        rows = {name: Column(column.codes[there][order], column.categories) for name, column in fields.items()}
        numbers = {NUMBER: crosswalk.numbers[region[there][order]]}
        table = rows_table(source, numbers, rows, counts, form.whole("K"), len(quasi), table=FLATTENED)
        form.outputs.add("FLATTENED", *table)
        form.info(
            tr(
                "Records shown at level {target} or finer: {n} of {n_records}; only in larger regions: {left_out}.",
                n=n_records,
                n_records=n_records + left_out,
                target=target + 1,
                left_out=left_out,
            )
        )
        return {"N_RECORDS": n_records, "N_LEFT_OUT": left_out}


def _refuse_small_classes(
    form: Form, region: np.ndarray, quasi: Mapping[str, Column], counts: np.ndarray | None
) -> None:
    """Raises PrivacyError where a class would have fewer than K records, as none has that joins those of a release."""
    sizes = [int(region.max(initial=0)) + 1, *(len(column.categories) for column in quasi.values())]
    codes, distinct = combine_codes([region, *(column.codes for column in quasi.values())], sizes)
    smallest = int(np.bincount(codes, counts, len(distinct)).min(initial=form.whole("K")))
    if smallest < form.whole("K"):
        raise PrivacyError.counting(
            "A class would have {n} record, fewer than K = {k}: give K, QUASI_IDENTIFIERS and RECORD_COUNT as they are "
            "of the release. Nothing is released.",
            "A class would have {n} records, fewer than K = {k}: give K, QUASI_IDENTIFIERS and RECORD_COUNT as they "
            "are of the release. Nothing is released.",
            smallest,
            k=form.whole("K"),
        )


def _repeats(levels: Levels, target: int) -> bool:
    """Whether a level up to the target has the very regions of the one before."""
    numbers = [crosswalk.n_regions for crosswalk in levels.crosswalks[: target + 1]]
    return len(set(numbers)) < len(numbers)
