"""A Spark cluster of the tests' own: a driver here, which Spark Connect reaches too."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .engines_there import absent, needed
from .exploring import tried
from .line import free_port

# Two tasks at a time: in the driver, and where VBAS_EXPLORE asks for all in a process of their own, which starts and
# loads its classes as long as all queries take.
MASTER = tried("local[2]", "local-cluster[1,2,1024]")
# What starts soon rather than what runs fast: the tables are small, and each query is run once.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
AS_WRITTEN = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


class Cluster(NamedTuple):
    """Its addresses, and the session that the tests look into it with."""

    driver: str
    connect: str
    session: object


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """A running cluster whose tables lie in a folder; skipped where there is no PySpark or no Java."""
    needed("pyspark")
    needed("grpc")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        absent("Java")
    from pyspark.sql import SparkSession

    port = free_port()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
        **AS_WRITTEN,
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.local.dir": str(folder / "own"),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
    }
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_HOSTNAME="localhost")
    builder = SparkSession.builder.master(MASTER)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield Cluster(MASTER, f"sc://localhost:{port}", session)
    finally:
        session.stop()
