"""A PostgreSQL layer: read through GDAL, read by features, and copied into a GeoPackage by GDAL.

    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python benchmarks/postgres_layer.py [rows, 1000000]

The server is the tests' own, on a free port of this machine; the people are made up by its SQL. Six of twelve fields
are read, those of a run with five quasi-identifiers. CPU seconds are those of this process; the server's are not in.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from osgeo import gdal
from qgis.core import QgsApplication, QgsProcessingContext, QgsProviderRegistry, QgsVectorLayer

from vbas.tests import postgres_server

READ = ("area", "sex", "age_group", "marital_status", "education", "language")
MADE = """
CREATE TABLE people AS SELECT i AS id, (46000000 + hashint4(i) % 9000)::text AS area,
  (ARRAY['female', 'male'])[1 + abs(hashint4(i * 3)) % 2] AS sex,
  (ARRAY['0 to 14', '15 to 24', '25 to 44', '45 to 64', '65 to 79', '80 and more'])[1 + abs(hashint4(i * 5)) % 6]
    AS age_group,
  (ARRAY['never married', 'married', 'common law', 'widowed', NULL])[1 + abs(hashint4(i * 7)) % 5] AS marital_status,
  (ARRAY['none', 'secondary school', 'college', 'university'])[1 + abs(hashint4(i * 11)) % 4] AS education,
  (ARRAY['English', 'French', 'other'])[1 + abs(hashint4(i * 13)) % 3] AS language,
  'low'::text AS income, 'employed'::text AS labour_force, 'rented'::text AS tenure,
  'sales and service'::text AS occupation, 'not an immigrant'::text AS immigrant_status
FROM generate_series(1, {rows}) AS i
"""


def measured(title: str, work: Callable[[], object]) -> float:
    """Print a line of the table; CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"| {title} | {wall:.1f} | {cpu:.1f} |", flush=True)
    return cpu


def main(rows: int) -> None:
    application = QgsApplication([], False)
    application.initQgis()
    from vbas.algorithms.layers.inputs import Inputs
    from vbas.algorithms.layers.reading.checked_source import checked_source
    from vbas.algorithms.layers.reading.postgres import read_postgres
    from vbas.algorithms.layers.reading.records import _read_features
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    with postgres_server.running() as database, tempfile.TemporaryDirectory() as folder:
        server = database.uri
        connection = QgsProviderRegistry.instance().providerMetadata("postgres").createConnection(server, {})
        connection.executeSql(MADE.format(rows=rows))
        connection.executeSql("ALTER TABLE people ADD PRIMARY KEY (id)")
        layer = QgsVectorLayer(f'{server} key=\'id\' table="public"."people"', "people", "postgres")
        context = QgsProcessingContext()
        context.temporaryLayerStore().addMapLayer(layer)
        inputs = Inputs(provider.algorithm("profilerecords").create(), {"RECORDS": layer.id()}, context)
        source, fields = checked_source(inputs, "RECORDS"), [layer.fields().lookupField(name) for name in READ]
        assert source is not None
        print(f"{rows} rows\n\n| run | seconds | CPU seconds |\n|---|---|---|")
        ours = measured("read through GDAL", lambda: read_postgres(layer, READ, "RECORDS", lambda _: None))
        before = measured("read by features", lambda: _read_features(source, fields, lambda _: None))
        copy = str(Path(folder) / "copy.gpkg")
        theirs = measured(
            "GDAL copies the table", lambda: gdal.VectorTranslate(copy, f"PG:{server}", layers=["people"])
        )
        print(
            f"\nThrough GDAL it takes {ours / before:.2f} times the CPU of features, {ours / theirs:.2f} of the copy."
        )
    sys.stdout.flush()
    os._exit(0)  # QGIS's own shutdown may crash once Python is being torn down


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
