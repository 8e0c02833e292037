"""Prints the matrix of simulated file systems, kinds of delivery and faults: at how many calls, and what was wrong.

Started by `bash scripts/file_matrix`; a number n takes each n-th call only. Ends with 1 if anything was wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build" / "package"))

from vbas.tests.files.deliveries import KINDS, matrix  # noqa: E402
from vbas.tests.files.memory import ALL, FAULTS  # noqa: E402


def main(words: list[str]) -> int:
    """Go through all, and print them; words : the step."""
    step = next((int(word) for word in words if word.isdecimal()), 1)
    total = 0
    broken: list[str] = []
    print(f"{'':22}" + "".join(f"{fault:>14}" for fault in FAULTS))
    for rules in ALL:
        print(rules.title)
        for kind in KINDS:
            counts, wrong = matrix((rules,), (kind,), step=step)
            print(f"  {kind:20}" + "".join(f"{counts[rules.title, kind, fault]:>14}" for fault in FAULTS), flush=True)
            total, broken = total + sum(counts.values()), broken + wrong
    print(f"{total} faults injected, {len(broken)} complaints.")
    print("\n".join(broken[:100]))
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
