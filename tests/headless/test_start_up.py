"""What is not loaded before it is used: each start of QGIS would wait for it, and each headless run."""

from __future__ import annotations

from vbas.benchmarks.start_up import write_layers

from .test_beside_qgis import python

SLOW = {"scipy.optimize", "scipy.stats", "pandas", "pyarrow", "networkx", "jinja2", "ibis", "duckdb", "pyspark"}


def test_the_toolbox_is_there_without_what_is_slow_to_load():
    loaded = python("import sys, vbas.algorithms.catalogue; print(*sys.modules)").stdout.split()
    assert "vbas.algorithms.anonymize" in loaded
    assert not {*SLOW, "scipy.sparse", "scipy.spatial"} & set(loaded)


def test_a_program_that_imports_the_library_loads_nothing_slow():
    loaded = python("import sys, vbas; vbas.anonymize; print(*sys.modules)").stdout.split()
    assert "vbas.core.anonymise" in loaded
    assert not {*SLOW, "scipy.sparse", "scipy.spatial", "qgis"} & set(loaded)


def test_a_run_to_a_csv_loads_nothing_slow_either(tmp_path):
    areas, records = write_layers(tmp_path)
    given: dict[str, object] = {
        "REGIONS": str(areas),
        "REGION_ID": "id",
        "RECORDS": str(records),
        "RECORD_REGION": "area",
    }
    given |= {"QUASI_IDENTIFIERS": ["sex", "age"], "GAPS_REGION": "Western Canada"}
    given |= {"RELEASED_RECORDS": str(tmp_path / "release.csv")}
    code = (
        "import sys\n"
        "from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingFeedback\n"
        "qgis = QgsApplication([], False); qgis.initQgis()\n"
        "from vbas.vbas_plugin.provider import VbasProvider\n"
        "provider = VbasProvider(); QgsApplication.processingRegistry().addProvider(provider)\n"
        "algorithm = QgsApplication.processingRegistry().createAlgorithmById('vbas:anonymize')\n"
        f"algorithm.run({given!r}, QgsProcessingContext(), QgsProcessingFeedback(), {{}}, False)\n"
        "print(*sys.modules); sys.stdout.flush(); import os; os._exit(0)\n"
    )
    loaded = python(code).stdout.split()
    assert (tmp_path / "release.csv").stat().st_size > 0 and "scipy.sparse" in loaded
    assert not SLOW & set(loaded)
