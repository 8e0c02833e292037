"""The model of chained steps does what the main algorithm does, headless."""

from __future__ import annotations

import os
import subprocess
import sys
from xml.etree.ElementTree import canonicalize

import pytest

from .conftest import ROOT
from .test_headless import inputs, query


@pytest.mark.parametrize(
    "choices",
    [
        ["COMBINATION=all-rounder"],
        ["COMBINATION=compact by transport"],
        [
            "COMBINATION=custom",
            "SITE_NUMBER=given number",
            "N_SITES=90",
            "SITE_LOCATION=random",
            "AGGREGATION=site optimisation",
            "SEED=5",
        ],
    ],
)
def test_model_equals_the_main_algorithm(qgis_process, city, tmp_path, choices):
    common = [*inputs(city), "K=6", "KEEP_FIELDS=diagnosis", *choices]
    main = qgis_process(
        "run",
        "vbas:anonymize",
        "--",
        *common,
        f"RELEASED_RECORDS={tmp_path / 'main.gpkg'}",
        f"CROSSWALK={tmp_path / 'main.csv'}",
    )
    assert main.returncode == 0, main.stderr
    model = qgis_process(
        "run",
        "vbas:anonymizestepbystep",
        "--",
        *common,
        f"releaserecords:RELEASED_RECORDS={tmp_path / 'model.gpkg'}",
        f"aggregate:CROSSWALK={tmp_path / 'model.csv'}",
    )
    assert model.returncode == 0, model.stderr
    assert (tmp_path / "main.csv").read_text() == (tmp_path / "model.csv").read_text()
    rows = [query(tmp_path / f"{name}.gpkg", f"select * from {name}") for name in ("main", "model")]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 400_000


def test_model_file_is_what_the_script_makes(tmp_path):
    """A model that was not made again after a change of parameters would miss them."""
    code = (
        "import sys; sys.path.insert(0, 'scripts'); import pathlib, make_model\n"
        f"make_model.FILE = pathlib.Path({str(tmp_path / 'again.model3')!r})\n"
        "import os; make_model.main(); sys.stdout.flush(); os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120, env=dict(os.environ))
    files = (tmp_path / "again.model3", ROOT / "models" / "vbas_step_by_step.model3")
    # QGIS writes the attributes of an element in any order.
    again, kept = (canonicalize(from_file=str(file)) for file in files)
    assert again == kept
