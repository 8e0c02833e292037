"""What single methods are asked comes to what it came to before: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_methods
from .as_before import come_to_the_same, drawn, in_parts

pytestmark = pytest.mark.slow  # many cases, each quick

CASES = {"optimum": (90, 30), "series": (40, 10), "totals": (50, 10), "counts_held": (24, 4), "blocks": (24, 6)}
CASES |= {"programs": (40, 20), "small_limits": (90, 6)}


@pytest.mark.parametrize(("name", "n", "some"), in_parts(CASES))
def test_what_is_asked_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_methods, name), n), some)
