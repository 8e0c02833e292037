"""Where a release by Spark goes: a folder of Parquet files, or a table; staged beside it, then moved."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from pyspark.errors import PySparkException

from ..dataclass import dataclass
from ..errors import InputError, OutcomeUnknown
from ..publish.files import DISK
from ..publish.names import check_file_name, check_name
from .engine import EngineError
from .spark_failures import FAILURES
from .spark_session import Session


class Destination(Protocol):
    """A place of a release, of which nothing need be there yet."""

    def there(self) -> bool:
        """Whether something is there."""

    def check_free(self) -> None:
        """Raise InputError where something is there already, or where nothing can be."""

    def beside(self, name: str) -> Destination:
        """A place of this name next to it, that nobody else looks at."""

    def write(self, rows: Any) -> None:
        """Write rows, in their order."""

    def read(self) -> Any:
        """What was written, read anew."""

    def rename(self, final: Any) -> None:
        """Move what was written to a place that is free. Raises EngineError where it was taken meanwhile."""

    def remove(self) -> None:
        """Remove what was written, if anything was."""


def is_path(name: str) -> bool:
    """Whether a table is named by its folder."""
    return "/" in name


def destination_of(at: Session, destination: str, schema: str) -> Destination:
    """The place that a user names; schema : of a table that is named without one."""
    if is_path(destination):
        check_file_name("DESTINATION", destination.rstrip("/").rpartition("/")[2], destination)
        return FolderHere(at, destination) if at.java is None else FolderThere(at, destination)
    names = tuple(part for part in destination.split(".") if part)
    if not names:
        raise InputError.saying("DESTINATION is empty: give a new folder, as the cluster sees it, or a new table.")
    for name in names:
        check_name("DESTINATION", name, destination)
    return CatalogueTable(at, (*schema.split("."), *names) if schema and len(names) == 1 else names)


def quoted(names: Sequence[str]) -> str:
    """A name of Spark's SQL from its parts."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


@dataclass(frozen=True)
class CatalogueTable:
    """A table of the cluster's catalogue, in the format that the cluster gives its tables."""

    at: Session
    names: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.names)

    def there(self) -> bool:
        """See `Destination`."""
        return bool(self.at.session.catalog.tableExists(quoted(self.names)))

    def check_free(self) -> None:
        """See `Destination`."""
        if self.there():
            raise _taken(self)

    def beside(self, name: str) -> CatalogueTable:
        """See `Destination`."""
        return CatalogueTable(self.at, (*self.names[:-1], name))

    def write(self, rows: Any) -> None:
        """See `Destination`."""
        rows.write.saveAsTable(quoted(self.names))

    def read(self) -> Any:
        """See `Destination`."""
        return self.at.session.table(quoted(self.names))

    def rename(self, final: CatalogueTable) -> None:
        """See `Destination`. Spark refuses a name that is taken."""
        if final.there():
            raise _taken_meanwhile(final)
        self.at.session.sql(f"ALTER TABLE {quoted(self.names)} RENAME TO {quoted(final.names[-2:])}")

    def remove(self) -> None:
        """See `Destination`."""
        self.at.session.sql(f"DROP TABLE IF EXISTS {quoted(self.names)}")


@dataclass(frozen=True)
class Folder:
    """A folder of Parquet files."""

    at: Session
    path: str

    def __str__(self) -> str:
        return self.path

    def write(self, rows: Any) -> None:
        """See `Destination`."""
        rows.write.parquet(self.path)

    def read(self) -> Any:
        """See `Destination`."""
        return self.at.session.read.parquet(self.path)


class FolderThere(Folder):
    """A folder in any file system that the driver knows, moved by the driver."""

    def there(self) -> bool:
        """See `Destination`."""
        return bool(self._files().exists(self._of(self.path)))

    def check_free(self) -> None:
        """See `Destination`."""
        if self.there():
            raise _taken(self)
        parent = self._of(self.path).getParent()
        if not self._files().exists(parent):
            raise _no_folder(parent.toString())

    def beside(self, name: str) -> FolderThere:
        """See `Destination`. Spark does not look into what has a dot in front."""
        parent = self._files().makeQualified(self._of(self.path)).getParent().toString()
        return FolderThere(self.at, f"{parent.rstrip('/')}/.{name}")

    def rename(self, final: FolderThere) -> None:
        """See `Destination`. Hadoop's plain rename would move it into a folder that is there; a context's refuses."""
        if final.there():
            raise _taken_meanwhile(final)
        hadoop = self.at.java.org.apache.hadoop.fs
        none = self.at.session.sparkContext._gateway.new_array(hadoop.Options.Rename, 0)
        context = hadoop.FileContext.getFileContext(self._files().getUri(), self._settings())
        try:
            context.rename(self._of(self.path), self._of(final.path), none)
        except FAILURES:
            if self.there() and final.there():  # stores of objects copy, file by file
                raise _in_part(final) from None
            raise

    def remove(self) -> None:
        """See `Destination`. A folder of this machine is removed also where the driver is gone."""
        here = _here(self.path)
        try:
            self._files().delete(self._of(self.path), True)
            is_left = self.there()
        except FAILURES:
            if here is None:
                raise
            is_left = True
        if is_left:
            _remove_here(here, self.path)

    def _settings(self) -> Any:
        return self.at.session.sparkContext._jsc.hadoopConfiguration()

    def _of(self, path: str) -> Any:
        return self.at.java.org.apache.hadoop.fs.Path(path)

    def _files(self) -> Any:
        return self._of(self.path).getFileSystem(self._settings())


class FolderHere(Folder):
    """A folder that the cluster and this machine both see: over Spark Connect nothing but this machine can move it."""

    def there(self) -> bool:
        """See `Destination`."""
        return os.path.lexists(self._local())

    def check_free(self) -> None:
        """See `Destination`. An empty folder made here, and looked for there, shows whether both see the same."""
        here = self._local()
        if self.there():
            raise _taken(self)
        if not here.parent.is_dir():
            raise _no_folder(here.parent)
        seen = here.with_name(f".vbas_{secrets.token_hex(8)}")
        DISK.make_folder(seen)
        try:
            self.at.session.read.format("binaryFile").load(str(seen)).count()
        except PySparkException:
            raise _not_shared() from None
        finally:
            DISK.remove_folder(seen)

    def beside(self, name: str) -> FolderHere:
        """See `Destination`."""
        return FolderHere(self.at, str(self._local().with_name(f".{name}")))

    def rename(self, final: FolderHere) -> None:
        """See `Destination`."""
        if final.there():
            raise _taken_meanwhile(final)
        DISK.rename(self._local(), final._local())

    def remove(self) -> None:
        """See `Destination`."""
        _remove_here(self._local(), self.path)

    def _local(self) -> Path:
        here = _here(self.path)
        if here is None:
            raise _not_shared()
        return here


def _here(path: str) -> Path | None:
    """The folder of this machine that a path names, None for one of another file system."""
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        return Path(path).absolute()
    return Path(re.sub("^///", "/", rest)) if scheme == "file" and re.match("/(?!/)|///", rest) else None


def _remove_here(folder: Path | None, path: str) -> None:
    """Remove a folder of this machine, None where it is on none. Raises OSError where it stays."""
    if folder is not None:
        DISK.remove_tree(folder, as_far_as_it_goes=True)
    if folder is None or os.path.lexists(folder):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def _taken(place: object) -> InputError:
    return InputError.saying("DESTINATION: “{place}” is there already: choose a new name.", place=place)


def _taken_meanwhile(place: object) -> EngineError:
    return EngineError.saying("DESTINATION: “{place}” was made meanwhile: nothing was written.", place=place)


def _in_part(place: object) -> OutcomeUnknown:
    return OutcomeUnknown.saying(
        "DESTINATION: “{place}” may hold a part of the release, which nobody is to use: remove it, unless somebody "
        "else has made it just now.",
        place=place,
    )


def _no_folder(place: object) -> InputError:
    return InputError.saying(
        "DESTINATION: the cluster sees no folder “{place}”: make it first or choose another place.", place=place
    )


def _not_shared() -> InputError:
    return InputError.saying(
        "DESTINATION: over Spark Connect a folder must be one that the cluster and this machine both see: give such a "
        "one, or the name of a new table."
    )
