"""Prints the matrix of simulated file systems, kinds of delivery and faults: at how many calls, and what was wrong.

Files first, on file systems in memory; then registers, where each call of SQLite is one, too; then each twentieth call
of tables that go into a GeoPackage with other layers. Started by `bash scripts/file_matrix`; a number n takes each n-th
call only, `--mounted FOLDER` files, folders and registers in that folder alone, by what its file system does by itself.
Ends with 1 if anything was wrong.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build" / "package"))

from vbas.tests.files import databases, deliveries, real_files  # noqa: E402
from vbas.tests.files.memory import ALL, FAULTS, Rules  # noqa: E402
from vbas.tests.files.sqlite_calls import serves  # noqa: E402


def main(words: list[str]) -> int:
    """Go through all, and print them; words : the step, and “--mounted” with a folder for what lies there alone."""
    step = next((int(word) for word in words if word.isdecimal()), 1)
    with tempfile.TemporaryDirectory() as folder:
        kinds = (deliveries, databases) if serves(Path(folder)) else (deliveries,)
    if len(kinds) == 1:
        print("Registers are left out: Python has an SQLite of its own here.")
    if "--mounted" not in words:
        return int(any([printed(ALL, kinds, step), _tables(20 * step)]))
    databases.beneath = Path(words[words.index("--mounted") + 1])
    return printed((databases.MOUNTED,), (real_files, *kinds[1:]), step)


def _tables(step: int) -> int:
    """Tables among other layers, where QGIS is there: each of them has some hundreds of calls, so fewer are taken."""
    try:
        from qgis.core import QgsApplication
    except ImportError:
        print("Tables of GeoPackages are left out: there is no QGIS here.")
        return 0
    application = QgsApplication([], False)
    application.initQgis()
    from osgeo import gdal

    from vbas.tests.files import tables

    gdal.PushErrorHandler("CPLQuietErrorHandler")
    return printed(ALL, (tables,), step)


def printed(every_rule: Sequence[Rules], kinds: Sequence[ModuleType], step: int) -> int:
    """Go through file systems, print how many faults there were, and then what was wrong; 1 if anything was."""
    total = 0
    broken: list[str] = []
    print(f"{'':34}" + "".join(f"{fault:>14}" for fault in FAULTS))
    for rules in every_rule:
        print(rules.title)
        for made in kinds:
            for kind in made.KINDS:
                counts, wrong = made.matrix((rules,), (kind,), step=step)
                row = "".join(f"{counts[rules.title, kind, fault]:>14}" for fault in FAULTS)
                print(f"  {kind:32}{row}", flush=True)
                total, broken = total + sum(counts.values()), broken + wrong
    print(f"{total} faults injected, {len(broken)} complaints.")
    print("\n".join(broken[:100]))
    return int(bool(broken))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
