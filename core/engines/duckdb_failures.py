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
    if told := _of_a_file(str(error)):
        return told
    kind = first.partition(":")[0] if ":" in first[:40] else type(error).__name__
    said = any(word in first.lower() for word in KEPT_BACK)
    if kind in SAID_AS_IT_IS or (said and kind not in OF_VALUES):
        return tr("DuckDB: {first}: nothing was written.", first=first.rstrip(". "))
    return tr(
        "CONNECTION: DuckDB cannot work with the table ({kind}): nothing was written. Look for values that are not of "
        "their field's kind, and in a CSV file for line breaks in the names of fields.",
        kind=kind.removesuffix(" Error"),
    )


def _of_a_file(text: str) -> str | None:
    """What is wrong with a file that cannot be read, without its lines; None where the message is of something else."""
    lower = text.lower()
    line = re.search(r"csv\serror\son\sline:\s(\d+)", lower)
    if "not utf-8" in lower or "invalid unicode" in lower:
        return tr("CONNECTION: a CSV file is not in the encoding UTF-8: nothing was written. Save it in that.")
    if line:
        return tr(
            "CONNECTION: line {line} of a CSV file cannot be read: nothing was written. Look there for more or fewer "
            "values than the first line has names, and for a quote that does not end.",
            line=line[1],
        )
    if "when sniffing" in lower:
        return tr(
            "CONNECTION: DuckDB cannot tell the fields of a CSV file: nothing was written. Its first line must be the "
            "names of the fields, none with a line break in it, and every line must have as many values, separated "
            "alike."
        )
    if "magic bytes" in lower or "too small" in lower:
        return tr(
            "CONNECTION: a file that ends in .parquet is none, or was not written to its end: nothing was written. "
            "Write it anew."
        )
    return None
