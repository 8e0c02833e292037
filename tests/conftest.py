"""What all tests share: where real data lie."""

from __future__ import annotations

import os
from pathlib import PurePath

import pytest
from hypothesis import settings

from vbas.core.language import ENGLISH, speak

# Before anything that holds texts is imported.
speak(os.environ.get("VBAS_LANGUAGE", ENGLISH))

from vbas.benchmarks.real_data import DATA  # noqa: E402

# The same examples in every run, so that the verdict on a change does not hang on luck; other ones where asked for. How
# long one takes is the matter of the machine.
settings.register_profile("repeatable", derandomize=True, deadline=None)
if not os.environ.get("VBAS_EXPLORE"):
    settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def real_data():
    """The folder of open statistics beside the project; tests that need it skip where it is absent."""
    if not (DATA / "winnipeg_da2016.gpkg").is_file():
        pytest.skip(f"real data are not there ({DATA}); see tests/README.md")
    return DATA


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A Spark cluster, started once: it takes long."""
    from . import spark_cluster

    with spark_cluster.running(tmp_path_factory.mktemp("spark")) as cluster:
        yield cluster


@pytest.fixture
def on_a_network_drive(monkeypatch):
    """Call it, and all files have the addresses that Windows gives those of network drives, here /tmp/… as \\\\tmp\\….

    SQLite refuses them as it does on Windows, and finds the files under what it wants instead: //tmp/… is /tmp/….
    """
    real = PurePath.as_uri

    def move():
        monkeypatch.setattr(PurePath, "as_uri", lambda path: real(path).replace("file:///", "file://", 1))

    return move
