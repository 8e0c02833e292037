"""Write the table of settings in docs/library.md from core/job/settings.py.

PYTHONPATH=build/package .venv/bin/python scripts/settings_table.py
"""

from __future__ import annotations

import math
from pathlib import Path

from vbas.core.job.settings import CHOICE, FIELD, FIELDS, SETTINGS, TABLE, Setting

PAGE = Path(__file__).resolve().parent.parent / "docs" / "library.md"
BEGIN, END = "<!-- settings -->\n", "<!-- /settings -->"


def table() -> str:
    """A row for each setting: its keyword, what it takes, and what it is where it is not given."""
    rows = [
        f"| `{setting.keyword}` | {_takes(setting)} | {_default(setting)} |"
        for setting in SETTINGS.values()
        if setting.kind != TABLE
    ]
    frames = [
        f"| `{setting.keyword}` | a frame | |"
        for setting in SETTINGS.values()
        if setting.kind == TABLE and not setting.needed
    ]
    return "\n".join(["", "| keyword | takes | by default |", "|---|---|---|", *rows, *frames, "", ""])


def page(text: str) -> str:
    """The page with the table as it is now."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


def _takes(setting: Setting) -> str:
    if setting.kind == CHOICE:
        return ", ".join(f"“{word}”" for word in setting.choices) or "the name of a rule"
    if setting.kind in (FIELD, FIELDS):
        of = "areas" if setting.table == "REGIONS" else setting.table.lower()
        return f"a field of {of}" if setting.kind == FIELD else f"fields of {of}"
    least = f", at least {setting.least:g}" if math.isfinite(setting.least) else ""
    most = f", at most {setting.most:g}" if math.isfinite(setting.most) else ""
    return f"{NAMES[setting.kind]}{least}{most}"


def _default(setting: Setting) -> str:
    if setting.needed:
        return "needed"
    if setting.default in (None, ""):
        return ""
    return f"“{setting.default}”" if isinstance(setting.default, str) else f"{setting.default:g}"


NAMES = {"whole": "a whole number", "number": "a number", "text": "text", "rows": "rows of two", "file": "a file"}


def main() -> None:
    """Write the table."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
