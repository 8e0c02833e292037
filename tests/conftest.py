"""What all tests share: where real data lie."""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path, PurePath

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from vbas.core.language import ENGLISH, speak

# Garbage is searched for seldom: what tests leave is little beside what is loaded, which would be searched with it.
gc.set_threshold(10_000, 20, 50)

# Before anything that holds texts is imported.
speak(os.environ.get("VBAS_LANGUAGE", ENGLISH))

from vbas.benchmarks.real_data import DATA  # noqa: E402

# The same examples in every run, so that the verdict on a change does not hang on luck; other ones where asked for. How
# long one takes is the matter of the machine.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("VBAS_EXPLORE"):
    settings.load_profile("repeatable")
    # Among what it draws are constants of all code that is loaded by then: which files ran before in the same process,
    # and every number that is changed anywhere, would make other examples.
    vars(providers)["_get_local_constants"] = providers.Constants


SLOW = tuple(f"{Path(__file__).parent / folder}{os.sep}" for folder in ("headless", "package", "qt6"))


# Files whose tests run in one process, where several share the work: a Spark cluster, the demonstration city.
TOGETHER = {
    **dict.fromkeys(
        [
            "tests/algorithms/test_same_everywhere.py",
            "tests/core/test_engine_conformance.py",
            "tests/core/test_engine_spark.py",
            "tests/core/test_engines_sensitive.py",
            "tests/core/test_engines_spreading.py",
            "tests/headless/test_demo_in_place.py",
        ],
        "Spark",
    ),
    **dict.fromkeys(
        [
            "tests/core/test_analysing_page.py",
            "tests/core/test_demonstration_city.py",
            "tests/core/test_generalising_page.py",
            "tests/core/test_guide.py",
            "tests/core/test_library_values.py",
            "tests/core/test_nested_page.py",
            "tests/core/test_zone_attacker.py",
        ],
        "the demonstration city",
    ),
}


# What takes longest, from the top: a process that began with it last would be waited for by the others.
LONGEST = (
    "Spark",
    "tests/algorithms/test_dialogs.py",
    "the demonstration city",
    "tests/headless/test_model.py",
    "tests/core/test_engines.py",
    "tests/core/test_engine_postgres.py",
    "tests/algorithms/test_register_names.py",
    "tests/algorithms/test_nested_forms.py",
    "tests/headless/test_damaged_files.py",
    "tests/algorithms/test_french.py",
    "tests/package/test_package.py",
    "tests/algorithms/test_load.py",
    "tests/algorithms/test_private_tables.py",
    "tests/headless/test_faults.py",
    "tests/files/test_databases.py",
    "tests/core/test_engines_linked_values.py",
    "tests/algorithms/test_reports_run_nothing.py",
    "tests/algorithms/test_explorer.py",
    "tests/core/test_releases_repair.py",
    "tests/headless/test_delivery_headless.py",
    "tests/algorithms/test_published_counts_forms.py",
    "tests/fuzz/test_fuzz.py",
    "tests/algorithms/test_anonymize_database.py",
    "tests/headless/test_adding_an_approach.py",
    "tests/algorithms/test_update_forms.py",
    "tests/core/test_subtraction_attack.py",
    "tests/headless/test_guides_headless.py",
    "tests/core/test_minimality.py",
    "tests/core/test_donut_ottawa.py",
    "tests/algorithms/test_delivery.py",
    "tests/algorithms/test_library_rows.py",
    "tests/core/test_anonymity_exchange.py",
    "tests/core/test_published_counts.py",
    "tests/core/test_drawn_mutants.py",
    "tests/algorithms/test_full_disk.py",
    "tests/core/test_zones_released.py",
    "tests/core/test_zone_tables.py",
    "tests/headless/test_reports.py",
    "tests/core/test_releases_figures.py",
    "tests/headless/test_interrupting.py",
    "tests/headless/test_register_headless.py",
    "tests/headless/test_trade_off_headless.py",
)


def _together(nodeid):
    """What is run in one process: a file, or several by their name in TOGETHER."""
    file = nodeid.partition("::")[0]
    return TOGETHER.get(file, file)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests in folders where each starts programs of its own are slow; what takes long is begun first."""
    for item in items:
        if str(item.path).startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = {name: number for number, name in enumerate(LONGEST)}
        n_tests = Counter(_together(item.nodeid) for item in items)
        items.sort(key=lambda item: (place.get(_together(item.nodeid), len(place)), -n_tests[_together(item.nodeid)]))


def pytest_collection_finish():
    """What is there before the first test stays to the end: it is not searched for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each file in one process, as “loadfile” has it, some files in the same, and in the order of the tests."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _together(super()._split_scope(nodeid))

    config.option.loadscopereorder = False  # that would be by the number of tests alone
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
