"""What DuckDB's failures say: a sentence without values of records, which its own messages may hold."""

from __future__ import annotations

import re

from ..language import tr

SAID_AS_IT_IS = ("IO Error", "Out of Memory Error", "Catalog Error")
OF_VALUES = ("Conversion Error", "Invalid Input Error")
KEPT_BACK = ("out of memory", "no space left", "no files found", "does not exist", "permission denied", "cannot open")


def without_values(error: Exception) -> str:
    """What DuckDB says, where that holds no values; else the kind of error."""
    first = str(error).strip().split("\n")[0]
    inner = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', first)
    first = f"IO Error: {inner[1]}".replace('\\"', '"') if inner else first
    kind = first.partition(":")[0] if ":" in first[:40] else type(error).__name__
    said = any(word in first.lower() for word in KEPT_BACK)
    if kind in SAID_AS_IT_IS or (said and kind not in OF_VALUES):
        return tr("DuckDB: {first}: nothing was written.", first=first.rstrip(". "))
    return tr(
        "CONNECTION: DuckDB cannot work with the table ({kind}): nothing was written. Look for values that are not of "
        "their field's kind, and in a CSV file for line breaks in the names of fields.",
        kind=kind.removesuffix(" Error"),
    )
