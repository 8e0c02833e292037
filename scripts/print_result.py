"""Print the results of a headless run: the measures, then where each output lies and whether it may be published.

    scripts/qgis_process help ALGORITHM --json | python3 print_result.py RESULT.json

RESULT is what `qgis_process run … --json` gives for the same algorithm.
"""

import json
import sys
from pathlib import Path


def main(result: str) -> None:
    """Print the table."""
    results = json.loads(Path(result).read_text(encoding="utf-8"))["results"]
    outputs = json.loads(sys.stdin.buffer.read())["outputs"]
    titles = {name: outputs[name]["description"] for name in outputs if name in results}
    width = max(map(len, titles.values()))
    numbers = [name for name in titles if isinstance(results[name], (int, float))]
    print()
    for name in numbers:
        decimals = 2 if isinstance(results[name], float) else 0
        print(f"  {titles[name]:<{width}}  {results[name]:>18,.{decimals}f}")
    print()
    for name in titles:
        if name not in numbers:
            print(f"  {titles[name]:<{width}}  {results[name]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
