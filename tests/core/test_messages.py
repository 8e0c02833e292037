"""Values in messages: quoted, the first few, and each no longer than a line."""

from __future__ import annotations

import pytest

from vbas.core.errors import first_values


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["a", 1], "“a”, “1”"),
        (["a", None, ""], "“a”, (missing), (no value)"),
        (["a"] * 6, "“a”, “a”, “a”, “a”, “a”, …"),
        (["x" * 100], f"“{'x' * 100}”"),
        (["x" * 101, "a"], f"“{'x' * 100}…”, “a”"),
        ([], ""),
    ],
)
def test_first_values(values, told):
    assert first_values(values) == told
