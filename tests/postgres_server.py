"""A PostgreSQL server of the tests' own: on a free port of this machine, in a throw-away folder, and not as root."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .engines_there import absent


@contextmanager
def running(largest_file: int = resource.RLIM_INFINITY) -> Iterator[int]:
    """The port of a running server with a superuser “vbas” who needs no password; skipped where none is installed.

    largest_file : bytes that it can write into one file; its log needs 16 MB
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        absent("PostgreSQL")
    programs, folder = found[-1].parent, Path(tempfile.mkdtemp(prefix="vbas-postgres-"))
    who: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    if who:
        shutil.chown(folder, "nobody", "nogroup")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(program, *arguments):
        done = subprocess.run(
            [str(programs / program), *arguments], capture_output=True, text=True, timeout=120, cwd=folder, **who
        )
        assert done.returncode == 0, done.stderr

    data = str(folder / "data")
    call("initdb", "-D", data, "-U", "vbas", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k '{folder}' -c fsync=off"
    subprocess.run(
        [str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start"],
        check=True,
        timeout=120,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file)),
        **who,
    )
    try:
        yield port
    finally:
        call("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
