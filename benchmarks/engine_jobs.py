"""The jobs of engines.py and spark.py, each for a process of its own: what an engine does by itself, and what we do.

Each gives the rows that it made, or also the CPU seconds of its parts by name.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

if TYPE_CHECKING:
    from vbas.core.areas import Areas

Outcome = Union[int, "tuple[int, dict[str, float]]"]
AREAS, REGIONS, K, MEMORY = 18_077, 60, 5, 2_000
QUASI = ("sex", "age_group", "marital_status", "education", "language")
MAKE = """
COPY (SELECT lpad(cast(cast(floor({areas} * pow(random(), 1.3)) AS int) AS varchar), 8, '0') AS area,
CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
'age ' || cast(floor(18 * random()) AS int) AS age_group,
CASE WHEN random() < 0.02 THEN NULL ELSE 'status ' || cast(floor(5 * pow(random(), 2)) AS int) END AS marital_status,
CASE WHEN random() < 0.03 THEN NULL ELSE 'degree ' || cast(floor(6 * pow(random(), 1.5)) AS int) END AS education,
'language ' || cast(floor(12 * pow(random(), 4)) AS int) AS language,
'diagnosis ' || cast(floor(200 * pow(random(), 3)) AS int) AS diagnosis
FROM range({records})) TO '{path}' (FORMAT parquet)
"""
PLAIN = f"SELECT area, {', '.join(QUASI)}, count(*) AS n FROM {{table}} GROUP BY ALL"
COUNTED = (
    f"SELECT count(*) FROM (SELECT area, {', '.join(QUASI)}, count(*) FROM people GROUP BY 1, 2, 3, 4, 5, 6) cells"
)
# The join that releases: regions by a table of areas, classes of k by a window, rows sorted by what they show.
COPY = f"""
COPY (SELECT region, {", ".join(QUASI)}, diagnosis FROM (
SELECT region, {", ".join(QUASI)}, diagnosis, count(*) OVER (PARTITION BY region, {", ".join(QUASI)}) AS n
FROM '{{path}}' JOIN (
SELECT area, cast(row_number() OVER (ORDER BY area) * {REGIONS} // (1 + {{areas}}) AS int) AS region
FROM (SELECT DISTINCT area FROM '{{path}}')) USING (area)) WHERE n >= {K}
ORDER BY ALL) TO '{{out}}' (FORMAT parquet)
"""


# The same by someone who makes enumerations of the text first.
COPY_ENUM = COPY.replace("FROM '{path}' JOIN", "FROM (SELECT area, {cast} FROM '{path}') JOIN")


class Clock:
    """The CPU seconds of this process, by part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Add what is done meanwhile to a part."""
        started = time.process_time()
        yield
        self.parts[part] = self.parts.get(part, 0.0) + time.process_time() - started


def connection(folder: Path) -> Any:
    import duckdb

    config = {"memory_limit": f"{MEMORY}MB", "temp_directory": str(folder / "own"), "preserve_insertion_order": "false"}
    return duckdb.connect(config=config)


def make(folder: Path, records: int, areas: int) -> None:
    with connection(folder) as duck:
        duck.execute("SELECT setseed(0.5)")
        duck.execute(MAKE.format(areas=areas, records=records, path=folder / "people.parquet"))


def plain(folder: Path) -> int:
    with connection(folder) as duck:
        relation = duck.sql(PLAIN.format(table=f"'{folder / 'people.parquet'}'"))
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        return sum(batch.num_rows for batch in reader(1_000_000))


def copy(folder: Path) -> int:
    with connection(folder) as duck:
        ((areas,),) = duck.sql(f"SELECT count(DISTINCT area) FROM '{folder / 'people.parquet'}'").fetchall()
        duck.execute(COPY.format(path=folder / "people.parquet", out=folder / "copied.parquet", areas=areas))
        ((rows,),) = duck.sql(f"SELECT count(*) FROM '{folder / 'copied.parquet'}'").fetchall()
        return rows


def copy_enum(folder: Path) -> int:
    people, out = folder / "people.parquet", folder / "copied as enumerations.parquet"
    texts = (*QUASI, "diagnosis")
    with connection(folder) as duck:
        ((areas,),) = duck.sql(f"SELECT count(DISTINCT area) FROM '{people}'").fetchall()
        for name in texts:
            values = f"SELECT DISTINCT {name} FROM '{people}' WHERE {name} IS NOT NULL ORDER BY 1"
            duck.execute(f"CREATE TYPE as_{name} AS ENUM ({values})")
        cast = ", ".join(f"cast({name} AS as_{name}) AS {name}" for name in texts)
        duck.execute(COPY_ENUM.format(path=people, out=out, areas=areas, cast=cast))
        ((rows,),) = duck.sql(f"SELECT count(*) FROM '{out}'").fetchall()
        return rows


def plain_polars(folder: Path) -> int:
    import polars  # type: ignore[import-not-found, unused-ignore]

    by = ("area", *QUASI)
    rows = polars.scan_parquet(folder / "people.parquet").select(polars.col(*by).cast(polars.Categorical))
    return rows.group_by(*by).len().collect(engine="streaming").height


def copy_polars(folder: Path) -> int:
    import polars

    out, by = folder / "copied by polars.parquet", ("region", *QUASI)
    rows = polars.scan_parquet(folder / "people.parquet")
    areas = rows.select(polars.col("area").unique().sort()).collect().with_row_index("position", offset=1)
    region = polars.col("position").cast(polars.Int64) * REGIONS // (1 + areas.height)
    rows = rows.with_columns(polars.col(*QUASI, "diagnosis").cast(polars.Categorical))
    rows = rows.join(areas.select("area", region=region).lazy(), on="area").select(*by, "diagnosis")
    large = rows.group_by(*by).len().filter(polars.col("len") >= K).drop("len")
    released = rows.join(large, on=by, nulls_equal=True, how="semi").sort(*by, "diagnosis")
    released.sink_parquet(out, engine="streaming")
    return polars.scan_parquet(out).select(polars.len()).collect().item()


def ours(folder: Path, address: str, table: str, destination: str) -> Outcome:
    """Profile, and release by one level where there is a destination."""
    from vbas.core.crosswalk import Crosswalk
    from vbas.core.engines import open_engine
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.releasing import stage_in_place
    from vbas.core.plan import suppress
    from vbas.core.records.fields import RecordFields

    clock = Clock()
    with open_engine(address, table, memory=MEMORY) as engine:
        with clock.of("count"):
            in_place = count_in_place(engine, RecordFields("area", QUASI, ("diagnosis",)), released=bool(destination))
        if not destination:
            return len(in_place.records), clock.parts
        with clock.of("plan"):
            areas = squares(in_place.areas)
            n = len(areas)
            matched = match_in_place(in_place, areas)
            plan = suppress(matched.profile, Crosswalk((np.arange(n) + 1) * REGIONS // (1 + n), REGIONS), K)
        with clock.of("release"):
            released = stage_in_place(matched, plan, destination)
            released.publish()
        return sum(level.records for level in released.levels.values()), clock.parts


def nested(folder: Path, destination: str) -> Outcome:
    """Profile, nested levels on a plane of squares, their plan and its measures; released where there is a destination.

    Of a release, what the upload of the plan takes stands by itself.
    """
    from vbas.core.engines import open_engine
    from vbas.core.engines.profiling import count_in_place, match_in_place
    from vbas.core.engines.releasing import stage_in_place
    from vbas.core.evaluation import evaluate
    from vbas.core.nesting.making import LevelOptions, build_levels
    from vbas.core.nesting.planning import nest
    from vbas.core.records.fields import RecordFields

    clock, kept = Clock(), ("diagnosis",) if destination else ()
    with open_engine(str(folder / "people.parquet"), memory=MEMORY) as engine:
        with clock.of("count"):
            in_place = count_in_place(engine, RecordFields("area", QUASI, kept), released=bool(destination))
            areas = squares(in_place.areas)
            matched = match_in_place(in_place, areas)
        profile = matched.profile
        areas = areas.with_population(profile.area_sizes)
        with clock.of("levels"):
            levels = build_levels(areas, profile, None, LevelOptions())
        with clock.of("nest"):
            plan = nest(areas, profile, levels, K)
        with clock.of("measures"):
            evaluate(areas, plan)
        if destination:
            upload = engine.upload

            def timed(name: str, columns: dict[str, np.ndarray]) -> object:
                with clock.of("upload"):
                    return upload(name, columns)

            setattr(engine, "upload", timed)  # noqa: B010
            with clock.of("release"):
                stage_in_place(matched, plan, destination, nested=True).publish()
    return profile.counts.nnz, clock.parts


def squares(identifiers: np.ndarray) -> Areas:
    """Areas on a plane of squares."""
    from vbas.core.areas import make_areas

    known = sorted(value for value in identifiers if value is not None)
    position, side = np.arange(len(known)), int(np.ceil(np.sqrt(len(known))))
    return make_areas(known, 1000.0 * np.column_stack([position % side, position // side]))


def write_profile(folder: Path) -> Outcome:
    """The profile as a GeoPackage, by vbas:profiledatabase itself."""
    from qgis.core import QgsProcessingContext, QgsProcessingFeedback

    from vbas.benchmarks.nested_speed import qgis

    algorithm = qgis()[1].algorithm("profiledatabase").create()
    given = {"CONNECTION": str(folder / "people.parquet"), "RECORD_REGION": "area", "MEMORY": MEMORY}
    given |= {"QUASI_IDENTIFIERS": ";".join(QUASI), "PROFILE": str(folder / "profile.gpkg")}
    _, done = algorithm.run(given, QgsProcessingContext(), QgsProcessingFeedback(False), {}, False)
    if not done:
        raise RuntimeError("The profile was not written.")
    return (folder / "profile.gpkg").stat().st_size


def read_profile(folder: Path) -> Outcome:
    """What a run over that file does before it begins: every row read and checked, matched with its area, counted."""
    from qgis.core import QgsProcessingContext, QgsProcessingFeedback, QgsVectorLayer

    from vbas.algorithms.layers.inputs import Inputs
    from vbas.algorithms.layers.reading.checked_source import checked_source
    from vbas.algorithms.layers.reading.records import read_records
    from vbas.benchmarks.nested_speed import qgis
    from vbas.core.records.fields import RecordFields
    from vbas.core.records.matching import match_records

    layer = QgsVectorLayer(f"{folder / 'profile.gpkg'}|layername=profile", "profile", "ogr")
    algorithm = qgis()[1].algorithm("anonymize").create()
    clock = Clock()
    with clock.of("read"):
        source = checked_source(Inputs(algorithm, {"RECORDS": layer}, QgsProcessingContext()), "RECORDS")
        assert source is not None
        table = read_records(source, RecordFields("area", QUASI, count="records"), QgsProcessingFeedback(False))
    with clock.of("match"):
        records = match_records(table, squares(table.area.categories), k=K)
    return records.profile.counts.nnz, clock.parts


def in_postgres(folder: Path, server: str, what: str) -> int:
    from adbc_driver_postgresql import dbapi
    from pyarrow import parquet

    with dbapi.connect(server, autocommit=True) as there, there.cursor() as cursor:
        if what == "load":
            file = parquet.ParquetFile(folder / "people.parquet")
            batches = file.iter_batches(200_000)
            cursor.adbc_ingest("people", next(batches), mode="create")
            for batch in batches:
                cursor.adbc_ingest("people", batch, mode="append")
            cursor.execute("ANALYZE people")
            return file.metadata.num_rows
        cursor.execute(COUNTED)
        return cursor.fetchone()[0]
