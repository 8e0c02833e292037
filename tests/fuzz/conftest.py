"""The toolbox in a real QGIS, as in the tests of its forms."""

from __future__ import annotations

from ..algorithms.conftest import provider  # noqa: F401
