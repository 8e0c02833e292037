"""Some faults of each kind; `scripts/faults` injects many."""

from __future__ import annotations

import re

from ..scripts import started
from ..systems import reads_without_a_trace


@reads_without_a_trace
def test_at_the_final_place_is_the_old_file_or_the_new_whole_one():
    done = started("faults", "--few")
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    injected, survived = map(int, re.findall(r"(\d+) faults injected, (\d+) survived", done.stdout)[0])
    assert injected == survived >= 7
