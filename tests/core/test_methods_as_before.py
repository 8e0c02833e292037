"""What single methods are asked comes to what it came to before: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_methods
from .as_before import come_to_the_same, drawn

pytestmark = pytest.mark.slow  # many cases, each quick

CASES = {"optimum": 90, "series": 40, "totals": 50, "counts_held": 24, "blocks": 24, "programs": 40, "small_limits": 90}


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_comes_to_the_same(name):
    come_to_the_same(name, drawn(getattr(asked_methods, name), CASES[name]))
