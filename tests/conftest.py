"""What all tests share: where real data lie."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

import pytest
from hypothesis import HealthCheck, settings

from vbas.core.language import ENGLISH, speak

# Before anything that holds texts is imported.
speak(os.environ.get("VBAS_LANGUAGE", ENGLISH))

from vbas.benchmarks.real_data import DATA  # noqa: E402

# The same examples in every run, so that the verdict on a change does not hang on luck; other ones where asked for. How
# long one takes is the matter of the machine.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("VBAS_EXPLORE"):
    settings.load_profile("repeatable")


SLOW = tuple(f"{Path(__file__).parent / folder}{os.sep}" for folder in ("headless", "package", "qt6"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests in folders where each starts programs of its own are slow."""
    for item in items:
        if str(item.path).startswith(SLOW):
            item.add_marker(pytest.mark.slow)


# Files whose tests run in one process, where several share the work: a Spark cluster, the demonstration city.
TOGETHER = {
    **dict.fromkeys(
        [
            "tests/algorithms/test_same_everywhere.py",
            "tests/core/test_engine_conformance.py",
            "tests/core/test_engine_spark.py",
            "tests/core/test_engines_sensitive.py",
        ],
        "Spark",
    ),
    **dict.fromkeys(
        [
            "tests/core/test_demonstration_city.py",
            "tests/core/test_generalising_page.py",
            "tests/core/test_guide.py",
            "tests/core/test_library_values.py",
            "tests/core/test_nested_page.py",
        ],
        "the demonstration city",
    ),
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each file in one process, as “loadfile” has it, and some files in the same."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return TOGETHER.get(file, file)

    return Together(config, log)


@pytest.fixture(scope="session")
def real_data():
    """The folder of open statistics beside the project; tests that need it skip where it is absent."""
    if not (DATA / "winnipeg_da2016.gpkg").is_file():
        pytest.skip(f"real data are not there ({DATA}); see tests/README.md")
    return DATA


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, started once: its first database."""
    from . import postgres_server

    with postgres_server.running() as database:
        yield database


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
    real = {kind: vars(kind)["as_uri"] for kind in (PurePath, Path) if "as_uri" in vars(kind)}  # of both since 3.13

    def move():
        for kind, as_uri in real.items():
            monkeypatch.setattr(kind, "as_uri", lambda path, it=as_uri: it(path).replace("file:///", "file://", 1))

    return move
