"""Sessions of Spark: a driver in a process of its own here, or a cluster's Spark Connect."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from pyspark.logger import PySparkLogger

from ..dataclass import dataclass
from ..errors import InputError
from .addresses import Address
from .spark_failures import FAILURES, unreached

# Of every session that is worked in, whatever the cluster's own settings: what the steps count on.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # What rows are joined with are dictionaries and plans, which are larger than Spark expects.
    "spark.sql.autoBroadcastJoinThreshold": "67108864",
    # Else a folder “area=007” would be the number 7.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A file that is gone, or cannot be read, must not be records that are silently missing.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}
# Of a driver that is started here. Its pages would show settings and queries to whoever can reach the machine; cells
# come in pieces, which its memory need not hold together.
OF_DRIVER = {
    "spark.app.name": "VBAS",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.maxResultSize": "0",
}
CONNECT_PORT, PATIENCE = 15002, 10  # where Spark Connect listens; seconds to wait for an answer
RETRIES = 5  # of Spark Connect, 17 seconds in all; by itself it goes on for ten minutes
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
# PySpark writes what Spark says to the standard error as it raises it, values of records included.
TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@dataclass(frozen=True)
class Session:
    """A session with temporary views of its own.

    session : of PySpark, classic or Connect; java : the virtual machine of a classic one, None over Connect
    started : whether the driver was started for this session, and ends with it
    loggers : which of PySpark's own logs were on
    """

    session: Any
    java: Any
    started: bool
    loggers: tuple[str, ...]

    def mark(self, tag: str) -> None:
        """Tag this thread's Spark jobs so that they can be cancelled."""
        if self.java is None:
            self.session.addTag(tag)
        else:  # a session's own tags can be interrupted by the thread alone that waits for them
            self.session.sparkContext.addJobTag(tag)

    def interrupt(self, tag: str) -> None:
        """End what is done under a tag."""
        if self.java is None:
            self.session.interruptTag(tag)
        else:
            self.session.sparkContext.cancelJobsWithTag(tag)

    def give_up(self) -> None:
        """Stop retrying: the connection is lost."""
        if self.java is None:
            _retry(self.session, 0)

    def close(self) -> None:
        """End what was started; a session that was there before stays."""
        if self.java is None:
            self.session.stop()
        elif self.started:
            _end_driver(self.session)
        _silence(self.loggers, False)


def opened_session(address: Address, memory: int) -> Session:
    """A session of its own in the cluster of an address.

    memory : MB of a driver that is started here. A driver that this Python has already is used, and left running.
    Raises InputError where this Python has a driver of another cluster, EngineError where nobody answers.
    """
    _reach(address)
    loggers = tuple(name for name in TALKATIVE if not PySparkLogger.getLogger(name).disabled)
    _silence(loggers, True)
    try:
        there = _over_connect(address) if address.kind == "connect" else _classic(address.place, memory)
    except BaseException:
        _silence(loggers, False)
        raise
    at = Session(there[0], there[1], there[2], loggers)
    for name, value in SETTINGS.items():
        at.session.conf.set(name, value)
    return at


def _over_connect(address: Address) -> tuple[Any, None, bool]:
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address.connection).create()
    _retry(session, RETRIES)
    # What PySpark 4.0 reattaches with is shared by all sessions, and one that ends takes it from the next.
    session.client.disable_reattachable_execute()
    return session, None, False


def _retry(session: Any, times: int) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies([DefaultPolicy(max_retries=times)])


def _classic(master: str, memory: int) -> tuple[Any, Any, bool]:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    there = SparkContext._active_spark_context is not None
    builder = SparkSession.builder
    if not there:
        for name, value in {**OF_DRIVER, "spark.master": master, "spark.driver.memory": f"{memory}m"}.items():
            builder = builder.config(name, value)
    with _surroundings(LOOPBACK if master.startswith("local") else {}):
        session = builder.getOrCreate()
    context = session.sparkContext
    if context.master != master:
        raise InputError.saying(
            "CONNECTION: this Python works with Spark at “{other}” already, and can work with one at a time: end that "
            "session first.",
            other=context.master,
        )
    return session.newSession(), context._jvm, not there


def _silence(names: tuple[str, ...], silent: bool) -> None:
    for name in names:
        PySparkLogger.getLogger(name).disabled = silent


def _reach(address: Address) -> None:
    """Raise EngineError where nobody listens at an address: Spark itself would go on trying for minutes."""
    if address.kind == "spark" and not address.place.startswith("spark://"):
        return
    hosts = [urlsplit(f"//{server}") for server in urlsplit(address.place.partition(";")[0]).netloc.split(",")]
    for host in hosts:
        with (
            suppress(OSError, ValueError),
            socket.create_connection((host.hostname or "", host.port or CONNECT_PORT), PATIENCE),
        ):
            return
    raise unreached(address.place)


@contextmanager
def _surroundings(variables: dict[str, str]) -> Iterator[None]:
    """These variables for what is started meanwhile, where they are not set already."""
    added = [name for name in variables if name not in os.environ]
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _end_driver(session: Any) -> None:
    """Stop Spark and its Java, which would go on until QGIS is closed."""
    from pyspark import SparkContext

    with suppress(*FAILURES):
        session.stop()
    gateway = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    if gateway is not None:
        with suppress(*FAILURES):
            gateway.shutdown()
        gateway.proc.stdin.close()  # which is what ends it
        until = time.monotonic() + PATIENCE
        while gateway.proc.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        if gateway.proc.poll() is None:
            gateway.proc.kill()
            gateway.proc.wait()
