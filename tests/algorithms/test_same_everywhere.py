"""One table gives one profile and one release wherever it is: layer, GeoPackage, CSV, Parquet and all engines."""

from __future__ import annotations

from collections import Counter

import pytest
from qgis.core import QgsProcessingException, QgsProviderRegistry, QgsVectorFileWriter, QgsVectorLayer

from ..core import engine_cases as cases
from ..engines_there import needed
from .conftest import make_layer

for package in ("ibis", "duckdb", "pyarrow"):
    needed(package)

LAYERS = ("layer", "GeoPackage")
IN_PLACE = ("CSV", "Parquet", "DuckDB", "PostgreSQL", "Spark")


@pytest.fixture(scope="module")
def server(request):
    needed("adbc_driver_postgresql")
    with request.getfixturevalue("postgres").another() as database:
        yield database.address


@pytest.fixture(scope="module")
def columns():
    return cases.people(800)


@pytest.fixture
def place(request, columns, tmp_path):
    """place(kind) -> the parameters that name the table there."""

    def one(kind):
        if kind in LAYERS:
            layer = make_layer(columns)
            if kind == "GeoPackage":
                options = QgsVectorFileWriter.SaveVectorOptions()
                options.driverName = "GPKG"
                context = layer.transformContext() if hasattr(layer, "transformContext") else None
                QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(tmp_path / "people.gpkg"), context, options)
                layer = QgsVectorLayer(str(tmp_path / "people.gpkg"), "people", "ogr")
                assert layer.featureCount() == 800
            return {"RECORDS": layer}
        if kind == "CSV":
            return {"CONNECTION": str(cases.write_csv(columns, tmp_path / "people.csv"))}
        if kind == "Parquet":
            return {"CONNECTION": str(cases.write_parquet(columns, tmp_path / "people.parquet"))}
        if kind == "DuckDB":
            return {"CONNECTION": str(cases.write_duckdb(columns, tmp_path / "people.duckdb")), "TABLE": "people"}
        if kind == "Spark":
            (folder := tmp_path / "people").mkdir()
            cases.write_parquet(columns, folder / "people.parquet")
            return {"CONNECTION": request.getfixturevalue("spark").driver, "TABLE": str(folder)}
        return {"CONNECTION": _in_postgres(request.getfixturevalue("server"), columns), "TABLE": "people"}

    return one


def _in_postgres(server, columns):
    arrow, dbapi = needed("pyarrow"), needed("adbc_driver_postgresql.dbapi")
    kinds = {name: arrow.int64() if name == "age" else arrow.string() for name in columns}
    table = arrow.table({name: arrow.array(values, kinds[name]) for name, values in columns.items()})
    with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS released")
        cursor.adbc_ingest("people", table, mode="replace")
    return server


def shown(rows, texts):
    """Rows as a multiset; as text where the place knows no numbers."""
    return Counter(tuple(str(v) if texts and isinstance(v, int) else v for v in row) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*LAYERS, *IN_PLACE])
def test_profile_and_release_are_the_same_everywhere(run, place, columns, tmp_path, kind):
    given, quasi = place(kind), list(cases.QUASI)
    records = cases.in_memory(columns)
    plan = cases.one_level()
    from vbas.core.plan import suppress
    from vbas.core.release import apply

    expected = cases.rows_of(apply(suppress(records.profile, plan.crosswalks[0], cases.K), records), plan, False)
    cells = Counter(zip(columns["area"], *(columns[name] for name in quasi)))
    crosswalk = make_layer({"area": cases.AREAS, "vbas_region": [7, 7, 7, 9, 9, 9]})
    shared = {"RECORD_REGION": "area", **given}
    if kind in LAYERS:
        fields: dict[str, object] = {"QUASI_IDENTIFIERS": quasi}
        profile = run("profilerecords", PROFILE="memory:", **shared, **fields)
        kept: dict[str, object] = {"KEEP_FIELDS": ["diagnosis"], "RELEASED_RECORDS": "memory:"}
        done = run("releaserecords", CROSSWALK=crosswalk, K=cases.K, **shared, **fields, **kept)
        rows = [tuple(row.values()) for row in done.rows("RELEASED_RECORDS")]
    else:
        fields = {"QUASI_IDENTIFIERS": ";".join(quasi)}
        profile = run("profiledatabase", PROFILE="memory:", **shared, **fields)
        file = "released" if kind == "Spark" else "released.parquet"
        place_of = "released" if kind == "PostgreSQL" else str(tmp_path / file)
        kept = {"KEEP_FIELDS": "diagnosis", "DESTINATION": place_of}
        run("releasedatabase", CROSSWALK=crosswalk, K=cases.K, **shared, **fields, **kept)
        rows = _released(given["CONNECTION"] if kind == "PostgreSQL" else "", place_of)
    texts = kind == "CSV"
    counted = {tuple(row.values())[:-1]: row["records"] for row in profile.rows("PROFILE")}
    assert counted == {
        tuple(str(v) if texts and isinstance(v, int) else v for v in cell): n for cell, n in cells.items()
    }
    assert shown(rows, texts) == shown(expected.elements(), texts)
    assert 400 < len(rows) < 800


@pytest.mark.slow
@pytest.mark.parametrize("kind", IN_PLACE)
def test_last_levels_of_coarser_values_are_the_same_everywhere(run, place, columns, tmp_path, kind):
    """Nested levels, and above them ages and then hard texts that say nothing, by all engines as by a layer."""
    crosswalk = {
        "area": cases.AREAS,
        "vbas_region_1": list(range(6)),
        "vbas_region_2": [7, 7, 7, 9, 9, 9],
    }
    shared = {
        "RECORD_REGION": "area",
        "CROSSWALK": make_layer(crosswalk),
        "K": 12,
        "HIERARCHY_RULES": ["age", "*", "odd", "leading characters 1 *"],
        "LEVELS_COARSER": ["age", "1", "odd", "2"],
    }
    quasi = list(cases.QUASI)
    plain = run(
        "releaserecords",
        **place("layer"),
        **shared,
        QUASI_IDENTIFIERS=quasi,
        KEEP_FIELDS=["diagnosis"],
        RELEASED_RECORDS="memory:",
    )
    expected = Counter(tuple(row.values()) for row in plain.rows("RELEASED_RECORDS"))
    assert {row[0] for row in expected} > {1, 2}
    given, texts = place(kind), kind == "CSV"
    file = "released" if kind == "Spark" else "released.parquet"
    place_of = "released" if kind == "PostgreSQL" else str(tmp_path / file)
    done = run(
        "releasedatabase",
        **given,
        **shared,
        QUASI_IDENTIFIERS=";".join(quasi),
        KEEP_FIELDS="diagnosis",
        DESTINATION=place_of,
    )
    rows = _released(given["CONNECTION"] if kind == "PostgreSQL" else "", place_of)
    assert shown(rows, texts) == shown(expected.elements(), texts)
    assert done.results["N_SUPPRESSED"] == plain.results["N_SUPPRESSED"] == len(columns["area"]) - len(rows)


def _released(server, place):
    if not server:
        return [tuple(row.values()) for row in needed("pyarrow.parquet").read_table(place).to_pylist()]
    with (
        needed("adbc_driver_postgresql.dbapi").connect(server) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT * FROM released")
        return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("kind", ["Parquet", "PostgreSQL", pytest.param("Spark", marks=pytest.mark.slow)])
def test_a_destination_that_is_taken_is_said_before_anything_is_counted(run, place, tmp_path, monkeypatch, kind):
    given = place(kind)
    import vbas.algorithms.databases.releasing as job

    monkeypatch.setattr(job, "counted_in_place", lambda *_: pytest.fail("it was counted"))
    (tmp_path / "taken.parquet").mkdir()
    taken = "people" if kind == "PostgreSQL" else str(tmp_path / "taken.parquet")
    with pytest.raises(QgsProcessingException, match=r"DESTINATION: .*“[^”]*(people|taken.parquet)” is there already"):
        run(
            "releasedatabase",
            **given,
            RECORD_REGION="area",
            QUASI_IDENTIFIERS="sex",
            CROSSWALK=make_layer({"area": cases.AREAS, "vbas_region": [7] * 6}),
            DESTINATION=taken,
        )


def test_a_connection_of_qgis_is_found_by_its_name(run, place, server):
    """Its password goes to the server and nowhere else."""
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    if metadata is None:
        pytest.skip("this QGIS has no provider for PostgreSQL")
    port, _, name = server.rpartition(":")[2].partition("/")
    place("PostgreSQL")
    uri = f"dbname='{name}' host=127.0.0.1 port={port} user='vbas' password='hunter2'"
    metadata.saveConnection(metadata.createConnection(uri, {"savePassword": True, "saveUsername": True}), "claims")
    try:
        given = {"CONNECTION": "claims", "RECORD_REGION": "area", "QUASI_IDENTIFIERS": "sex", "PROFILE": "memory:"}
        done = run("profiledatabase", TABLE="people", **given)
        with pytest.raises(QgsProcessingException, match="there is no “nobody”") as error:
            run("profiledatabase", TABLE="nobody", **given)
    finally:
        metadata.deleteConnection("claims")
    assert done.results["N_RECORDS"] == 800
    assert "hunter2" not in "".join([*done.log, str(error.value), str(error.value.__cause__)])
