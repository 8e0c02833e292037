"""Print the results of headless runs: the measures side by side, then where each output lies and who may see it.

    scripts/qgis_process help ALGORITHM --json | python3 print_result.py "TITLE=RESULT.json" …

Each RESULT is what `qgis_process run … --json` gives for that algorithm.
"""

import json
import sys
from pathlib import Path


def main(*runs: str) -> None:
    """Print the table."""
    titles = [run.split("=", 1)[0] for run in runs]
    results = [json.loads(Path(run.split("=", 1)[1]).read_text(encoding="utf-8"))["results"] for run in runs]
    outputs = json.loads(sys.stdin.buffer.read())["outputs"]
    described = {name: outputs[name]["description"] for name in outputs if any(name in result for result in results)}
    width = max(map(len, described.values()))
    numbers = [name for name in described if isinstance(results[0].get(name), (int, float))]
    print(f"\n  {'':<{width}}" + "".join(f"  {title:>18}" for title in titles))
    for name in numbers:
        print(f"  {described[name]:<{width}}" + "".join(f"  {_number(result[name]):>18}" for result in results))
    for title, result in zip(titles, results):
        print(f"\n{title[:1].upper()}{title[1:]}:")
        for name in described:
            if name in result and name not in numbers:
                print(f"  {described[name]:<{width}}  {result[name]}")


def _number(value: float) -> str:
    """With as many decimals as tell a small share from none."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if abs(value) < 1 else f"{value:,.2f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
