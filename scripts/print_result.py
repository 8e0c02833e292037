"""Print the results of a headless run, from the JSON that qgis_process gives: the measures, then where outputs lie."""

import json
import sys
from pathlib import Path


def main(file: str) -> None:
    """Print the table."""
    results = json.loads(Path(file).read_text(encoding="utf-8"))["results"]
    numbers = {name: value for name, value in results.items() if isinstance(value, (int, float))}
    outputs = {name: value for name, value in results.items() if name not in numbers}
    width = max(map(len, results))
    print()
    for name, value in sorted(numbers.items()):
        print(f"  {name:<{width}}  {value:>18,.2f}" if isinstance(value, float) else f"  {name:<{width}}  {value:>18,}")
    print()
    for name, value in sorted(outputs.items()):
        print(f"  {name:<{width}}  {value}")


if __name__ == "__main__":
    main(sys.argv[1])
