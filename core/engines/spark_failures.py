"""What Spark's failures say: a sentence without values of records, which its own messages may hold."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from ..errors import InputError, VbasError
from ..language import tr
from .engine import EngineError

try:
    from grpc import RpcError
except ImportError:  # only Spark Connect needs it
    RpcError = PySparkException

FAILURES = (PySparkException, Py4JError, RpcError, OSError)
GONE = ("unavailable", "connection refused", "failed to connect", "retries_exceeded")
UNKNOWN_FIELD = ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "FIELD_NOT_FOUND")


def sentence(error: BaseException, place: str) -> VbasError:
    """What went wrong, as an error to be raised.

    place : the address, which holds no secret
    """
    if _driver_has_ended(error, place):
        return EngineError.saying("Spark: {problem}: nothing was written.", problem=tr("the driver was ended"))
    text = _everything(error)
    if "java_gateway_exited" in text or "getsubject is not supported" in text or "unsupportedclassversion" in text:
        return EngineError.saying(
            "Spark cannot start here: it needs Java 17 or 21; install it, or set JAVA_HOME to where it is."
        )
    if any(word in text for word in (*GONE, "all masters are")):
        return unreached(place)
    if "unauthenticated" in text:
        return EngineError.saying(
            "CONNECTION: Spark at “{place}” asks for a token: put it into the environment as "
            "SPARK_CONNECT_AUTHENTICATE_TOKEN.",
            place=place,
        )
    asked = _asked_for(text)
    if asked:
        return InputError(asked)
    return EngineError.saying("Spark: {problem}: nothing was written.", problem=in_words(error))


def lost(error: BaseException, place: str) -> str:
    """In words that Spark has gone, with which what it was doing may go on; empty where it is still there."""
    if _driver_has_ended(error, place):
        return tr("the driver was ended")
    if any(word in _everything(error) for word in GONE):
        return tr("the connection to “{place}” was lost", place=place)
    return ""


def _driver_has_ended(error: BaseException, place: str) -> bool:
    """Whether the process that was started here has ended: Python loses its line to it, or finds nobody to answer."""
    if isinstance(error, Py4JJavaError):
        return False
    return isinstance(error, Py4JError) or (place.startswith("local") and isinstance(error, ConnectionError))


def in_words(error: BaseException) -> str:
    """What went wrong, in words without values of records."""
    text = _everything(error)
    return _known(text) or _kind(error, text)


def unreached(place: str) -> EngineError:
    """That nobody answers at an address."""
    return EngineError.saying("CONNECTION: Spark cannot be reached at “{place}”.", place=place)


def _asked_for(text: str) -> str:
    """What is wrong with TABLE or SCHEMA, empty where it is something else."""
    if "path_not_found" in text:
        return tr("TABLE: the cluster sees no such folder: correct the path.")
    if "unable_to_infer_schema" in text:
        return tr("TABLE: the folder holds no Parquet files: name one that does.")
    if "table_or_view_not_found" in text or "schema_not_found" in text:
        return tr("TABLE: there is no such table in the cluster's catalogue: correct TABLE or SCHEMA.")
    return ""


def _known(text: str) -> str:
    """The problem in words, where its kind is one that custodians meet; else empty."""
    problems = (
        (("no space left on device",), tr("the disk is full")),
        (("permission denied", "accesscontrolexception", "not authorized", "mkdirs failed"), tr("permission denied")),
        (("maxresultsize",), tr("the profile is larger than the cluster's spark.driver.maxResultSize lets through")),
        (("outofmemoryerror", "java heap space"), tr("out of memory")),
        (("column_data_type_mismatch", "cannot_merge"), tr("a field has one type in one file, another in another")),
        (
            ("file_not_exist", "filenotfoundexception", "failed_read_file"),
            tr("files are gone, damaged or were changed"),
        ),
        (("sparkcontext was shut down",), tr("the driver was ended")),
        (("operation_canceled", "spark_job_cancelled", "interrupted"), tr("the work was cancelled")),
    )
    return next((problem for words, problem in problems if any(word in text for word in words)), "")


def _kind(error: BaseException, text: str) -> str:
    """Spark's own name of the problem, which is a name and no value."""
    name = condition(error)
    if not name:
        match = re.search(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]", str(error))
        name = match[1] if match else type(error).__name__
    return tr("it cannot work with the table ({condition})", condition=name)


def condition(error: BaseException) -> str:
    """Spark's name of a problem, empty for what has none."""
    getter: Any = getattr(error, "getCondition", lambda: None)
    return str(getter() or "")


def _everything(error: BaseException) -> str:
    """All that is said of an error, in small letters; never shown."""
    return f"{type(error).__name__} {condition(error)} {error}".lower()
