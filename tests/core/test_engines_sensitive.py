"""Sensitive values of persons with several rows, in place: what every engine counts is what the arrays count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vbas.core.engines import open_engine
from vbas.core.engines.profiling import count_in_place, match_in_place, requirement_in_place
from vbas.core.errors import PrivacyError
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.requirement import measure
from vbas.core.records.columns import column_from_values
from vbas.core.records.fields import RecordFields
from vbas.core.records.matching import match_records, requirement_of
from vbas.core.records.table import HOUSEHOLDS, PERSONS, RecordTable

from ..engines_there import needed
from ..exploring import EXPLORES
from . import engine_cases as cases
from .engine_cases import release_in_place
from .test_sensitive_persons import holders_of, short

for package in ("ibis", "pyarrow"):
    needed(package)

K = 5
MEMBERS = {PERSONS: "person", HOUSEHOLDS: "house"}
ASKED = [(1, 100.0), (2, 100.0), (3, 100.0), (1, 60.0), (2, 70.0), (1, 40.0)]


def visits(seed=3):
    """Visits of persons who live in houses, some in two areas; in some classes nearly everybody has the flu."""
    rng = np.random.default_rng(seed)
    person = np.concatenate([np.arange(160), rng.integers(0, 160, 340)])
    home, sex, age = (rng.integers(0, n, 160)[person] for n in (6, 2, 4))
    area = np.where(rng.random(500) < 0.1, rng.integers(0, 6, 500), home)
    ill = rng.choice(5, 500, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    ill[:160][home[:160] < 2] = 0
    return {
        "area": [cases.AREAS[i] for i in area],
        "sex": ["FM"[i] for i in sex],
        "age": age.tolist(),
        "person": [f"p{i}" for i in person],
        "house": [f"h{i // 3}" for i in person],
        "ill": [("flu", "", "cold", None, "hiv")[i] for i in ill],
    }


@pytest.fixture(scope="module")
def server(request):
    needed("adbc_driver_postgresql")
    with request.getfixturevalue("postgres").another() as database:
        yield database.address


def of_engines(cases):
    """(engine, case) for all cases; Spark, whose queries take seconds, has those that ask most (and least)."""
    few = [case for case in cases if len(case[0]) > 1 or (EXPLORES and not case[0])]
    return [(engine, *case) for engine in ("DuckDB", "PostgreSQL") for case in cases] + [
        ("Spark", *case) for case in few
    ]


@pytest.fixture
def place(request, tmp_path):
    """Address and table of the visits, and where a release of them goes."""
    if request.param == "PostgreSQL":
        address = request.getfixturevalue("server")
        arrow, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
        with dbapi.connect(address, autocommit=True) as there, there.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS released")
            cursor.adbc_ingest("visits", arrow.table(visits()), mode="replace")
        return address, "visits", "released"
    path = cases.write_parquet(visits(), tmp_path / "visits.parquet")
    if request.param == "DuckDB":
        needed("duckdb")
        return str(path), "", str(tmp_path / "released.parquet")
    needed("pyspark")
    return request.getfixturevalue("spark").driver, str(path), str(tmp_path / "released")


def fields_of(kinds):
    members = {kind: MEMBERS[kind] for kind in kinds}
    return RecordFields("area", ("sex", "age"), ("ill",), members=members, sensitive=("ill",))


def in_memory(kinds):
    encoded = {name: column_from_values(values) for name, values in visits().items()}
    members = {kind: encoded[MEMBERS[kind]] for kind in kinds}
    table = RecordTable(
        encoded["area"],
        {name: encoded[name] for name in ("sex", "age")},
        {"ill": encoded["ill"]},
        None,
        members,
        ("ill",),
    )
    return match_records(table, cases.areas(), k=K)


def plan_of(profile, requirement, nested):
    if nested:
        return nest(cases.areas(), profile, cases.two_levels(), K, requirement=requirement)
    return suppress(profile, cases.one_level().crosswalks[0], K, requirement)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "kinds"),
    [
        (engine, *case)
        for engine, *case in of_engines([((PERSONS,),), ((PERSONS, HOUSEHOLDS),), ((HOUSEHOLDS,),), ((),)])
        if engine != "Spark" or EXPLORES  # which the second count asks for the same
    ],
    indirect=["place"],
)
def test_sensitive_values_are_counted_by_person_as_of_the_arrays(place, kinds):
    address, table, destination = place
    records, fallen = in_memory(kinds), 0
    with open_engine(address, table) as engine:
        matched = match_in_place(count_in_place(engine, fields_of(kinds)), cases.areas(), k=K)
        counted = requirement_in_place(matched, K)
        for asked in ASKED:
            here = replace(counted, l_diversity=asked[0], max_share=asked[1])
            there = requirement_of(records, K, *asked)
            for nested in (False, True):
                ours, theirs = plan_of(matched.profile, here, nested), plan_of(records.profile, there, nested)
                assert ours.released.tolist() == theirs.released.tolist()
                assert ours.records.tolist() == theirs.records.tolist()
                pairs = (here, ours), (there, theirs)
                found = [measure(one, plan.equivalence_class_of, len(plan.records)) for one, plan in pairs]
                for name in ("distinct", "largest_share", "distance"):
                    one, other = (getattr(each.diversity["ill"], name) for each in found)
                    np.testing.assert_allclose(one, other)
                equivalence_classes = holders_of(theirs.equivalence_class_of[records.cell_of].tolist(), records)
                assert not any(short(of_kinds, *asked) for of_kinds in equivalence_classes.values())
                fallen += theirs.n_released < plan_of(records.profile, requirement_of(records, K), nested).n_released
        assert fallen >= 2
        requirement = replace(counted, l_diversity=2, max_share=70.0)
        plan = plan_of(matched.profile, requirement, False)
        assert release_in_place(matched, plan, destination, requirement=requirement).rows == plan.n_released > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "kinds", "nested", "asked"),
    of_engines(
        [
            ((PERSONS,), False, (2, 100.0)),
            ((PERSONS, HOUSEHOLDS), True, (3, 70.0)),
            ((HOUSEHOLDS,), False, (1, 50.0)),
            ((), True, (5, 40.0)),
        ]
    ),
    indirect=["place"],
)
def test_the_second_count_finds_every_equivalence_class_that_falls_short(place, kinds, nested, asked):
    """Of a plan that counts people alone, as many equivalence classes as the oracle finds."""
    address, table, destination = place
    records = in_memory(kinds)
    plain = plan_of(records.profile, requirement_of(records, K), nested)
    equivalence_classes = holders_of(plain.equivalence_class_of[records.cell_of].tolist(), records).values()
    wrong = sum(short(of_kinds, *asked) for of_kinds in equivalence_classes)
    with open_engine(address, table) as engine:
        matched = match_in_place(count_in_place(engine, fields_of(kinds)), cases.areas(), k=K)
        requirement = requirement_in_place(matched, K, *asked)
        plan = plan_of(matched.profile, replace(requirement, l_diversity=1, max_share=100.0), nested)
        if not wrong:
            assert release_in_place(matched, plan, destination, nested, requirement=requirement).rows
            return
        with pytest.raises(PrivacyError, match=rf"hold {wrong} class(es)? whose people have more in common"):
            release_in_place(matched, plan, destination, nested, requirement=requirement)
