"""What all tests share: where real data lie."""

from __future__ import annotations

import pytest

from vbas.benchmarks.real_data import DATA


@pytest.fixture(scope="session")
def real_data():
    """The folder of open statistics beside the project; tests that need it skip where it is absent."""
    if not (DATA / "winnipeg_da2016.gpkg").is_file():
        pytest.skip(f"real data are not there ({DATA}); see tests/README.md")
    return DATA
