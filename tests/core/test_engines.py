"""Records in DuckDB: the profile and the release are those of the arrays, and no failure leaves anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from vbas.core.engines import open_engine, profiling, releasing
from vbas.core.engines.duckdb_files import KEPT_BACK, without_values
from vbas.core.engines.engine import EngineError
from vbas.core.engines.profiling import count_in_place, match_in_place, requirement_in_place
from vbas.core.errors import Cancelled, InputError, PrivacyError, VbasError
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.records.columns import column_from_values
from vbas.core.records.fields import Filter, RecordFields
from vbas.core.records.matching import match_records, requirement_of
from vbas.core.records.table import PERSONS, RecordTable
from vbas.core.release import apply

from ..engines_there import needed
from ..exploring import tried
from ..systems import KILLED, of_posix
from . import engine_cases as cases
from .engine_cases import (
    QUASI,
    K,
    areas,
    in_memory,
    one_level,
    people,
    release_in_place,
    rows_of,
    same_profile,
    two_levels,
)

pq = needed("pyarrow.parquet")
for package in ("ibis", "duckdb"):
    needed(package)

TEXTS = st.sampled_from([None, "", "a", "A", "NULL", "é"])
FIELDS = RecordFields("area", QUASI, ("diagnosis",))


@pytest.fixture
def parquet(tmp_path):
    return cases.write_parquet(people(), tmp_path / "people.parquet")


def released(place):
    """The rows of a written Parquet file, in their order."""
    return [tuple(row.values()) for row in pq.read_table(place).to_pylist()]


def plan_of(profile, nested):
    levels = two_levels() if nested else one_level()
    return nest(areas(), profile, levels, K) if nested else suppress(profile, levels.crosswalks[0], K)


def run(source, destination, fields=FIELDS, nested=False, table="", **options):
    with open_engine(str(source), table) as engine:
        matched = match_in_place(count_in_place(engine, fields), areas(), k=K)
        return matched, release_in_place(matched, plan_of(matched.profile, nested), str(destination), nested, **options)


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", ["parquet", "folder", "duckdb", "collated"])
def test_profile_and_release_are_those_of_the_arrays(kind, nested, tmp_path):
    columns, table = people(), ""
    if kind == "parquet":
        source = cases.write_parquet(columns, tmp_path / "people.parquet")
    elif kind == "folder":
        (source := tmp_path / "parts").mkdir()
        half = len(columns["area"]) // 2
        cases.write_parquet({name: values[:half] for name, values in columns.items()}, source / "1.parquet")
        cases.write_parquet({name: values[half:] for name, values in columns.items()}, source / "2.parquet")
    else:
        collation = "COLLATE NOCASE" if kind == "collated" else ""  # takes é and É for one
        source, table = cases.write_duckdb(columns, tmp_path / "people.duckdb", collation), "people"
    matched, done = run(source, tmp_path / "out.parquet", nested=nested, table=table)
    records = in_memory(columns)
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, nested)
    release = apply(plan, records)
    assert Counter(released(done.place)) == rows_of(release, plan.levels, nested)
    assert sum(level.records for level in done.levels.values()) == len(release) > 1000
    assert len(done.levels) == (2 if nested else 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "nested"),
    [
        pytest.param(names, nested, id=f"{nested}-{names[0]}")
        for number, names in enumerate(cases.NAMES)
        for nested in tried((number % 2 == 0,), (False, True))  # by turns in every run
    ],
)
def test_fields_may_be_called_as_the_engine_calls_its_own(names, nested, tmp_path):
    columns, (*quasi, kept) = cases.renamed(people(), names), names
    source = cases.write_parquet(columns, tmp_path / "people.parquet")
    fields = RecordFields("area", tuple(quasi), (kept,))
    matched, done = run(source, tmp_path / "out.parquet", fields, nested)
    assert pq.read_schema(done.place).names == [*(["vbas_level"] if nested else []), "vbas_region", *names]
    records = in_memory(columns, (kept,), quasi)
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, nested)
    assert Counter(released(done.place)) == rows_of(apply(plan, records), plan.levels, nested)
    if "records" not in names:  # of counts, too, which the release calls so
        counted = {**columns, "number": [1 + i % 2 for i in range(len(columns["area"]))]}
        source = cases.write_parquet(counted, tmp_path / "counted.parquet")
        matched, done = run(source, tmp_path / "added.parquet", replace(fields, count="number"), nested)
        records = in_memory(counted, (kept,), quasi, "number")
        plan = plan_of(records.profile, nested)
        rows: Counter[tuple] = Counter()
        for *row, n in released(done.place):
            rows[tuple(row)] += n
        assert rows == Counter({row[:-1]: row[-1] for row in rows_of(apply(plan, records), plan.levels, nested)})


@pytest.mark.slow
@pytest.mark.parametrize("table", ["vbas_source", "vbas_plan", "vbas_q0", "vbas_written"])
def test_a_table_may_be_called_as_the_engine_calls_its_own(table, tmp_path):
    duckdb = needed("duckdb")
    source = cases.write_duckdb(people(), tmp_path / "people.duckdb")
    with duckdb.connect(str(source)) as connection:
        connection.sql(f"ALTER TABLE people RENAME TO {table}")
    _, done = run(source, tmp_path / "out.parquet", table=table)
    _, other = run(cases.write_parquet(people(), tmp_path / "people.parquet"), tmp_path / "other.parquet")
    assert released(done.place) == released(other.place)


@pytest.mark.slow
def test_a_csv_file_holds_text(tmp_path):
    columns = {name: [None if v is None else str(v) for v in values] for name, values in people().items()}
    source = cases.write_csv(columns, tmp_path / "people.csv")
    matched, done = run(source, tmp_path / "out.csv")
    records = in_memory(columns)
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, False)
    with open_engine(done.place) as engine:
        assert list(engine.fields) == ["vbas_region", *QUASI, "diagnosis"]
    duckdb = needed("duckdb")
    rows = duckdb.read_csv(done.place, all_varchar=True, header=True, allow_quoted_nulls=False, max_line_size=2**23)
    assert Counter((int(row[0]), *row[1:]) for row in rows.fetchall()) == rows_of(
        apply(plan, records), plan.levels, False
    )


@pytest.mark.slow
def test_rows_are_in_an_order_that_tells_nothing(tmp_path):
    """Whatever order the rows come in, they leave in one that what they show decides."""
    columns = people()
    shuffled = np.random.default_rng(5).permutation(len(columns["area"])).tolist()
    other = {name: [values[i] for i in shuffled] for name, values in columns.items()}
    orders = []
    for i, one in enumerate((columns, other)):
        source = cases.write_parquet(one, tmp_path / f"{i}.parquet")
        orders.append(released(run(source, tmp_path / f"out{i}.parquet", nested=True)[1].place))
    assert orders[0] == orders[1]
    places = [row[:2] for row in orders[0]]
    assert places == sorted(places)


@pytest.mark.slow
@pytest.mark.parametrize("codes", [4096, 0])
def test_a_value_that_no_released_row_has_is_nowhere_in_the_file(codes, tmp_path, monkeypatch):
    """A Parquet file may list values that no row has: whoever opens it would read those of suppressed records."""
    monkeypatch.setattr(profiling, "FEW_VALUES", codes)
    monkeypatch.setattr(releasing, "FEW_VALUES", codes)
    rows = [("00", sex, "odd", 1, diagnosis) for sex in "FM" for diagnosis in ("flu", None) for _ in range(K)]
    rare = [("00", "M", "unheard of", 1, "as rare")]  # suppressed, with what nobody else has
    names = ("area", *QUASI, "diagnosis")
    source = cases.write_parquet(dict(zip(names, map(list, zip(*rows, *rare)))), tmp_path / "rare.parquet")
    _, done = run(source, tmp_path / "out.parquet")
    texts = ("sex", "odd", "diagnosis")
    listed = pq.read_table(done.place, read_dictionary=list(texts))
    assert [sorted(listed[name].chunk(0).dictionary.to_pylist()) for name in texts] == [["F", "M"], ["odd"], ["flu"]]
    group = pq.ParquetFile(done.place).metadata.row_group(0)
    told = str([group.column(position).statistics for position in range(group.num_columns)])
    assert "rare" not in told and "unheard" not in told
    assert Counter(row[1:] for row in released(done.place)) == Counter(row[1:] for row in rows)


@pytest.mark.slow
def test_more_rows_than_a_batch_keep_their_order(tmp_path):
    n = 400_000
    rng = np.random.default_rng(3)
    area, sex = np.array(cases.AREAS)[rng.integers(0, 6, n)], rng.choice(["F", "M"], n)
    columns = {"area": area, "sex": sex, "age": rng.integers(0, 90, n)}
    source = cases.write_parquet(columns, tmp_path / "many.parquet")
    _, done = run(source, tmp_path / "out.parquet", RecordFields("area", ("sex", "age")))
    table = pq.read_table(done.place)
    found = list(zip(*(table[name].to_pylist() for name in ("vbas_region", "sex", "age"))))
    assert len(found) == n
    assert found == sorted(found)


@pytest.mark.slow
@settings(max_examples=tried(3, 10), deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 5), st.integers(0, 3)), min_size=4, max_size=60))
def test_counts_are_added_up(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("counted")
    columns = {
        "area": [cases.AREAS[row[2]] for row in rows],
        "sex": [row[0] for row in rows],
        "odd": [row[1] for row in rows],
        "records": [row[3] for row in rows],
    }
    source = cases.write_parquet(columns, folder / "counted.parquet")
    fields = RecordFields("area", ("sex", "odd"), count="records")
    try:
        records = in_memory(columns, kept=(), quasi=("sex", "odd"), count="records")
    except InputError:
        with pytest.raises(InputError):
            run(source, folder / "out.parquet", fields)
        return
    matched, done = run(source, folder / "out.parquet", fields)
    assert matched.profile.counts.sum() == records.profile.counts.sum()
    plan = plan_of(records.profile, False)
    assert Counter(released(done.place)) == rows_of(apply(plan, records), plan.levels, False)


@pytest.mark.slow
def test_persons_and_sensitive_values_are_counted(parquet, tmp_path):
    columns = {**people(), "person": [i // 3 for i in range(1500)]}
    source = cases.write_parquet(columns, tmp_path / "visits.parquet")
    fields = RecordFields("area", ("sex", "age"), ("diagnosis",), members={PERSONS: "person"}, sensitive=("diagnosis",))
    encoded = {name: column_from_values(values) for name, values in columns.items()}
    table = RecordTable(
        encoded["area"],
        {name: encoded[name] for name in ("sex", "age")},
        {"diagnosis": encoded["diagnosis"]},
        members={PERSONS: encoded["person"]},
        sensitive=("diagnosis",),
    )
    records = match_records(table, areas(), k=60)
    crosswalk = one_level().crosswalks[0]
    for k, l_diversity in ((60, 1), (60, 4), (120, 1)):
        plan = suppress(records.profile, crosswalk, k, requirement_of(records, k, l_diversity))
        with open_engine(str(source)) as engine:
            matched = match_in_place(count_in_place(engine, fields), areas())
            asked = requirement_in_place(matched, k, l_diversity)
            ours = suppress(matched.profile, crosswalk, k, asked)
            assert ours.released.tolist() == plan.released.tolist()
            assert ours.people is not None and plan.people is not None
            assert ours.people.tolist() == plan.people.tolist()
            done = release_in_place(matched, ours, str(tmp_path / f"{k}-{l_diversity}.parquet"))
        assert Counter(released(done.place)) == rows_of(apply(plan, records), plan.levels, False)
    rows_alone = suppress(records.profile, crosswalk, 120)
    assert rows_alone.released.sum() > plan.released.sum()
    with open_engine(str(source)) as engine, pytest.raises(PrivacyError, match="fewer than 120 persons"):
        matched = match_in_place(count_in_place(engine, fields), areas())
        release_in_place(matched, rows_alone, str(tmp_path / "never.parquet"))
    assert not (tmp_path / "never.parquet").exists()


@pytest.mark.slow
def test_a_plan_that_shows_a_class_below_k_is_refused_by_the_second_count(parquet, tmp_path):
    """What is written is what the plan foretold: only k itself speaks against it."""
    with open_engine(str(parquet)) as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas(), k=K)
        plan = plan_of(matched.profile, False)
        low = np.flatnonzero(plan.records < K)
        assert len(low)
        everything = replace(plan, released=np.ones(len(plan.released), bool))
        with pytest.raises(PrivacyError, match=f"a class of fewer than {K} records"):
            release_in_place(matched, everything, str(tmp_path / "never.parquet"))
    assert not (tmp_path / "never.parquet").exists()


@pytest.mark.slow
def test_a_filter_compares_as_its_field_does(parquet):
    ages = people()["age"]
    for operator, value, wanted in (
        (">=", "2", sum(age is not None and age >= 2 for age in ages)),
        ("!=", "1", sum(age is not None and age != 1 for age in ages)),
        ("is missing", "", sum(age is None for age in ages)),
    ):
        with open_engine(str(parquet)) as engine:
            fields = RecordFields("area", ("sex",), filters=(Filter("age", operator, value),))
            assert count_in_place(engine, fields).records.sum() == wanted
    hostile = "F' OR '1'='1"
    with open_engine(str(parquet)) as engine, pytest.raises(InputError, match="no row, or none that FILTER"):
        count_in_place(engine, RecordFields("area", ("age",), filters=(Filter("sex", "=", hostile),)))
    for wrong in ("old", "9" * 30):
        with open_engine(str(parquet)) as engine, pytest.raises(InputError, match=rf"“age”.*with “{wrong}”"):
            count_in_place(engine, RecordFields("area", ("sex",), filters=(Filter("age", "<", wrong),)))


def test_a_count_that_is_a_text_is_said(parquet):
    with open_engine(str(parquet)) as engine, pytest.raises(InputError, match="RECORD_COUNT: the field “diagnosis”"):
        count_in_place(engine, RecordFields("area", ("sex",), count="diagnosis"))


def test_numbers_that_are_equal_are_one_value(tmp_path):
    columns = {"area": cases.AREAS * 4, "x": [-0.0, 0.0, float("nan"), None, 1.5, 1.5] * 4}
    source = cases.write_parquet(columns, tmp_path / "x.parquet")
    with open_engine(str(source)) as engine:
        in_place = count_in_place(engine, RecordFields("area", ("x",)))
        assert [repr(value) for value in in_place.categories[0]] == ["0.0", "1.5", "None"]


def test_what_is_not_there_or_cannot_be_released_is_refused(parquet):
    for fields, told in (
        (RecordFields("home", QUASI), "no field “home”"),
        (RecordFields("area", ("sex", "area")), "identifier of the area"),
        (RecordFields("area", ()), "QUASI_IDENTIFIERS is empty"),
        (RecordFields("area", ("sex",), ("Sex",)), "no field “Sex”"),
    ):
        with open_engine(str(parquet)) as engine, pytest.raises(InputError, match=told):
            count_in_place(engine, fields)


@pytest.mark.slow
def test_a_copy_of_the_area_is_refused_as_quasi_identifier_and_as_kept_field(tmp_path):
    columns = people()
    source = cases.write_parquet({**columns, "copy": columns["area"]}, tmp_path / "copied.parquet")
    with pytest.raises(InputError, match="“copy” holds the identifier"):
        run(source, tmp_path / "out.parquet", RecordFields("area", ("sex", "copy")))
    with pytest.raises(InputError, match="“copy” stands for the area"):
        run(source, tmp_path / "out.parquet", RecordFields("area", ("sex",), ("copy",)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copied.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("filler", ["", "unknown", None])
def test_the_area_in_some_rows_is_refused_as_of_the_arrays(filler, nested, tmp_path):
    columns = cases.with_codes(people(), filler=filler)
    source = cases.write_parquet(columns, tmp_path / "people.parquet")
    fields = RecordFields("area", QUASI if nested else ("sex", "age"), ("code",))
    with pytest.raises(InputError, match="“code” stands for the area") as refused:
        run(source, tmp_path / "out.parquet", fields, nested)
    records = in_memory(columns, ("code",), fields.quasi_identifiers)
    with pytest.raises(InputError) as in_arrays:
        apply(plan_of(records.profile, nested), records)
    assert str(refused.value) == str(in_arrays.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("when", ["counted", "counted, unseen", "staged"])
def test_a_table_that_changes_in_between_is_refused(parquet, tmp_path, monkeypatch, when):
    changed = people()
    changed["sex"][10:14] = ["F"] * 4
    changed["age"][10:14] = [2] * 4

    def change(*_):
        cases.write_parquet(changed, parquet)

    with open_engine(str(parquet)) as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas())
        plan = plan_of(matched.profile, False)
        if when != "staged":
            change()
            if when == "counted, unseen":  # a file system without times
                monkeypatch.setattr(type(engine), "unchanged", lambda self: None)
        else:
            monkeypatch.setattr(releasing, "_check_agreement", change)
        with pytest.raises(VbasError, match=r"changed|other records|DuckDB"):
            release_in_place(matched, plan, str(tmp_path / "out.parquet"))
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_files_that_vanish_in_between_are_said(parquet, tmp_path):
    with open_engine(str(parquet)) as engine:
        matched = match_in_place(count_in_place(engine, FIELDS), areas())
        parquet.unlink()
        with pytest.raises(EngineError, match=r"^[^\n]*nothing was written[^\n]*\.$"):
            release_in_place(matched, plan_of(matched.profile, False), str(tmp_path / "out.parquet"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@of_posix
def test_rights_that_are_missing_are_said(parquet):
    """No user may make a file there, not even root."""
    with pytest.raises(InputError, match=r"nothing can be written into the folder “/proc/self” \("):
        run(parquet, "/proc/self/out.parquet")
    with open_engine(str(parquet)) as engine, pytest.raises(InputError, match="nothing can be written"):
        engine.check_free("/proc/self/out.parquet")  # before anything is counted


@pytest.mark.slow
def test_a_destination_is_never_replaced(parquet, tmp_path, monkeypatch):
    (tmp_path / "out.parquet").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        run(parquet, tmp_path / "out.parquet")
    late = tmp_path / "late.parquet"
    monkeypatch.setattr(releasing, "_check_agreement", lambda *_: late.write_text("theirs"))
    with pytest.raises(EngineError, match="was made meanwhile"):
        run(parquet, late)
    assert (tmp_path / "out.parquet").read_text() + late.read_text() == "minetheirs"
    assert len(list(tmp_path.iterdir())) == 3
    for place, told in (("out.txt", "does not end in"), ("none/out.parquet", "there is no folder")):
        with pytest.raises(InputError, match=told):
            run(parquet, tmp_path / place)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 300 + ".parquet", "has 308 bytes, and no more than 255 are kept"),
        ("/".join(["x" * 200] * 30) + "/out.parquet", "nothing can be written into the folder"),
        ("a|b.parquet", "would not be read back"),
        ("a\nb.csv", "would not be read back"),
        ("a:b.csv", "would not be read back"),
        ("a\0b.csv", "would not be read back"),
        ("out.parquet.", "would not be read back"),
        ("nul.csv", "keeps it for a device"),
    ],
)
@of_posix
def test_a_destination_that_cannot_be_is_refused_before_any_work(parquet, tmp_path, name, words):
    with open_engine(str(parquet)) as engine, pytest.raises(InputError, match=rf"^DESTINATION.*{words}") as error:
        engine.check_free(str(tmp_path / name))
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("fails", ["link", "rename", "second name"])
def test_a_release_that_has_its_name_is_never_said_not_to_be_written(parquet, tmp_path, monkeypatch, fails):
    """File systems of a network do what they are asked, and may then not be able to say so."""
    link, rename, unlink, out = os.link, os.rename, Path.unlink, tmp_path / "out.parquet"

    def lost(call):
        def called(*given):
            call(*given)
            raise OSError(5, "Input/output error")

        return called

    def without_links(*_):
        raise OSError(1, "Operation not permitted")

    def stays(path, **given):
        if path.name.startswith("staged") and out.exists():
            raise OSError(5, "Input/output error")
        unlink(path, **given)

    monkeypatch.setattr(os, "link", {"link": lost(link), "rename": without_links}.get(fails, link))
    monkeypatch.setattr(os, "rename", lost(rename))
    monkeypatch.setattr(Path, "rename", lost(Path.rename))
    if fails == "second name":
        monkeypatch.setattr(Path, "unlink", stays)
    run(parquet, out)
    assert released(out)


@pytest.mark.slow
def test_a_staged_file_that_cannot_be_removed_is_named(parquet, tmp_path, monkeypatch):
    def stays(path, **given):
        if path.name.startswith("staged"):
            raise OSError(5, "Input/output error")
        unlink(path, **given)

    def differs(*_):
        raise PrivacyError("The second count differs.")

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", stays)
    monkeypatch.setattr(releasing, "_check_agreement", differs)
    with pytest.raises(
        EngineError, match=r"^The second count differs\. .* was not made, but .*: remove it\.$"
    ) as error:
        run(parquet, tmp_path / "out.parquet")
    (staged,) = tmp_path.glob(".vbas-*/staged*")
    assert f"“{staged}”" in str(error.value)


@pytest.mark.slow
def test_cancelling_leaves_nothing(parquet, tmp_path):
    class Stop(Cancelled):
        pass

    for steps in range(1, 9):
        calls = 0

        def progress(fraction, steps=steps):
            nonlocal calls
            calls += 1
            if calls > 6 * steps:
                raise Stop("stopped")

        try:
            with open_engine(str(parquet), progress=progress) as engine:
                matched = match_in_place(count_in_place(engine, FIELDS), areas())
                release_in_place(matched, plan_of(matched.profile, False), str(tmp_path / f"{steps}.parquet"))
        except Stop:
            assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]
        else:
            (tmp_path / f"{steps}.parquet").unlink()


@pytest.mark.slow
def test_large_keys_are_numbered_like_small_ones(monkeypatch, parquet):
    with open_engine(str(parquet)) as engine:
        small = match_in_place(count_in_place(engine, FIELDS), areas())
    monkeypatch.setattr(profiling, "LOOKED_UP", 100)
    with open_engine(str(parquet)) as engine:
        assert same_profile(match_in_place(count_in_place(engine, FIELDS), areas()).profile, small.profile)


def test_more_classes_than_64_bits_are_refused(tmp_path):
    n = 5000
    columns = {"area": [cases.AREAS[i % 6] for i in range(n)], **{f"q{j}": list(range(n)) for j in range(6)}}
    source = cases.write_parquet(columns, tmp_path / "wide.parquet")
    with open_engine(str(source)) as engine, pytest.raises(InputError, match="64 bits"):
        count_in_place(engine, RecordFields("area", tuple(f"q{j}" for j in range(6))))


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_cleared_by_the_next(parquet, tmp_path, monkeypatch):
    """Both hold records: the folder that DuckDB works in, and the staged release."""
    code = f"""
import os, sys
from pathlib import Path
from vbas.core.engines import open_engine, releasing
from vbas.tests.core.test_engines import FIELDS, areas, count_in_place, match_in_place, plan_of, release_in_place
def killed(*given):
    (engine._folder / "spilled").write_text("records")
    os.kill(os.getpid(), 9)
with open_engine({str(parquet)!r}) as engine:
    matched = match_in_place(count_in_place(engine, FIELDS), areas())
    releasing._check_agreement = killed
    release_in_place(matched, plan_of(matched.profile, False), {str(tmp_path / "out.parquet")!r})
"""
    (temporary := tmp_path.parent / f"{tmp_path.name} temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, env=environment, check=False)
    assert done.returncode == KILLED, done.stderr
    assert list(temporary.glob("vbas-*/spilled"))
    assert list(tmp_path.glob(".vbas-*/staged.parquet"))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    run(parquet, tmp_path / "out.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "people.parquet"]
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@of_posix
def test_a_full_disk_leaves_nothing(parquet, tmp_path):
    """No file of this process may grow beyond a few bytes, which is what a full disk looks like."""
    code = f"""
import resource, signal
from vbas.core.engines import open_engine
from vbas.tests.core.test_engines import FIELDS, areas, count_in_place, match_in_place, plan_of, release_in_place
with open_engine({str(parquet)!r}) as engine:
    matched = match_in_place(count_in_place(engine, FIELDS), areas())
    plan = plan_of(matched.profile, False)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    try:
        release_in_place(matched, plan, {str(tmp_path / "out.parquet")!r})
    except Exception as error:
        print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.startswith("EngineError DuckDB"), done.stdout + done.stderr
    assert "nothing was written" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_classes_are_in_the_order_of_every_profile_whatever_the_engine_sorts_by(tmp_path):
    """An engine sorts decimals by size, a profile by their text."""
    n = 600
    rng = np.random.default_rng(2)
    sizes = [Decimal("9.5"), Decimal("10.5"), Decimal("-3.0"), Decimal("100.0")]
    columns = {
        "area": [cases.AREAS[i] for i in rng.integers(0, 6, n)],
        "size": [sizes[i] for i in rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])],
        "sex": rng.choice(["F", "M"], n).tolist(),
    }
    source = cases.write_parquet(columns, tmp_path / "sizes.parquet")
    matched, done = run(source, tmp_path / "out.parquet", RecordFields("area", ("size", "sex")))
    records = in_memory(columns, kept=(), quasi=("size", "sex"))
    assert same_profile(matched.profile, records.profile)
    plan = plan_of(records.profile, False)
    assert Counter(released(done.place)) == rows_of(apply(plan, records), plan.levels, False)


@pytest.mark.parametrize(("share", "refused"), [(1.0, True), (0.6, True), (0.3, False)])
def test_a_quasi_identifier_that_repeats_the_area_is_refused(share, refused, tmp_path, monkeypatch):
    monkeypatch.setattr("vbas.core.plan.CELLS_AT_ONCE", 7)  # what is gone through in stretches
    columns = people()
    own = np.random.default_rng(1).random(len(columns["area"])) < share
    columns["home"] = [area if same else "elsewhere" for area, same in zip(columns["area"], own)]
    source = cases.write_parquet(columns, tmp_path / "people.parquet")
    with open_engine(str(source)) as engine:
        in_place = count_in_place(engine, RecordFields("area", ("sex", "home")))
        if refused:
            with pytest.raises(InputError, match="“home” holds the identifier of the record's area"):
                match_in_place(in_place, areas(), k=K)
        else:
            assert match_in_place(in_place, areas(), k=K).n_unmatched == 0


def test_what_fails_while_rows_come_is_said_without_values(tmp_path):
    """Rows that come as Arrow raise another error than DuckDB's own."""
    duckdb, ibis, path = needed("duckdb"), needed("ibis"), tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        sex = "CASE WHEN range = 4999999 THEN error('Jane Doe') ELSE 'F' END"
        connection.execute(f"CREATE VIEW people AS SELECT {sex} AS sex FROM range(5000000)")
    with open_engine(str(path), "people") as engine, pytest.raises(EngineError) as error:
        list(engine.fetch(ibis.table({"sex": "string"}, name="people")))
    assert "Jane" not in str(error.value) and error.value.__cause__ is None


@pytest.mark.parametrize("word", KEPT_BACK)
def test_a_value_that_looks_like_a_problem_is_not_said(word):
    """DuckDB's own words hold the value that it could not convert."""
    duckdb = needed("duckdb")
    secret = f"{word} hunter2"
    with pytest.raises(duckdb.ConversionException, match="hunter2") as error:
        duckdb.sql(f"SELECT CAST('{secret}' AS INTEGER)").fetchall()
    assert "hunter2" not in without_values(error.value) and "Conversion" in without_values(error.value)
    with pytest.raises(duckdb.IOException) as error:
        duckdb.sql("SELECT * FROM read_csv('/nowhere/none.csv')").fetchall()
    assert "/nowhere/none.csv" in without_values(error.value)
