"""A PostgreSQL server of the tests' own: on a free port of this machine, in a throw-away folder, and not as root.

One is started for all tests of a process (the fixture `postgres`); each file has a database of its own in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from .engines_there import absent
from .line import free_port
from .patience import PATIENCE
from .systems import ON_WINDOWS

NUMBERS = count(1)


@dataclass(frozen=True)
class Database:
    """A database of a running server, whose superuser “vbas” needs no password."""

    port: int
    programs: Path
    name: str = "postgres"

    @property
    def address(self) -> str:
        """As a connection of ours is written."""
        return f"postgresql://vbas@127.0.0.1:{self.port}/{self.name}"

    @property
    def uri(self) -> str:
        """As QGIS writes it."""
        return f"dbname='{self.name}' host=127.0.0.1 port={self.port} user='vbas'"

    @contextmanager
    def another(self) -> Iterator[Database]:
        """A new database of the same server, dropped in the end."""
        name = f"tests_{next(NUMBERS)}"
        reached = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "vbas")
        subprocess.run([str(self.programs / "createdb"), *reached, name], check=True, timeout=PATIENCE)
        yield Database(self.port, self.programs, name)
        subprocess.run([str(self.programs / "dropdb"), *reached, "--force", name], check=True, timeout=PATIENCE)


def _limit(largest_file: int) -> None:
    import resource  # which Windows does not have

    resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))


@contextmanager
def running(largest_file: int | None = None) -> Iterator[Database]:
    """The first database of a server that is started; skipped where none is installed.

    largest_file : bytes that it can write into one file, any number where None; its log needs 16 MB
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if ON_WINDOWS or not found:
        absent("PostgreSQL")
    programs, folder = found[-1].parent, Path(tempfile.mkdtemp(prefix="vbas-postgres-"))
    who: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    if who:
        shutil.chown(folder, "nobody", "nogroup")
    port = free_port()

    def call(program, *arguments):
        done = subprocess.run(
            [str(programs / program), *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=folder, **who
        )
        assert done.returncode == 0, done.stderr

    data = str(folder / "data")
    call("initdb", "-D", data, "-U", "vbas", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k '{folder}' -c fsync=off"
    started = ["-D", data, "-w", "-t", str(PATIENCE), "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(
        [str(programs / "pg_ctl"), *started],
        check=True,
        timeout=PATIENCE,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        preexec_fn=None if largest_file is None else partial(_limit, largest_file),
        **who,
    )
    try:
        yield Database(port, programs)
    finally:
        call("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
