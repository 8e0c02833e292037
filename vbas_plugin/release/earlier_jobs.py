"""An earlier job, or the folder of a release, held beside what is decided now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...core.command.job_file import read_job
from ...core.errors import InputError
from ...core.job.settings import FILE, SETTINGS, TABLE
from ...core.job.signing import SAID
from ...core.language import tr

SHOWN = 12


def differing(now: Mapping[str, object], file: Path, labels: Mapping[str, str]) -> str:
    """In what a job, or the description of a released folder, differs from a job: one line for each setting.

    labels : of the settings, as the form has them. Where inputs and outputs are is left aside, and what a file does not
    say. Raises InputError for a file that is none.
    """
    then = _settings_of(file)
    names = [name for name, setting in SETTINGS.items() if setting.kind not in (TABLE, FILE) and name not in SAID]
    lines = [
        tr(
            "{parameter}: {value} now, {earlier} then",
            parameter=labels.get(name, name),
            value=_text(now.get(name)),
            earlier=_text(then[name]),
        )
        for name in names
        if name in then and _text(now.get(name, SETTINGS[name].default)) != _text(then[name])
    ]
    if not lines:
        return tr("“{file}” has the same settings.", file=file.name)
    return "\n".join([tr("“{file}” has other settings:", file=file.name), *lines[:SHOWN]])


def _settings_of(file: Path) -> Mapping[str, object]:
    if file.suffix.lower() != ".json":
        try:
            return read_job(file)
        except ImportError as error:  # Python 3.9 and 3.10 read no TOML by themselves
            raise InputError.saying("{file} cannot be read: Python has no package tomli.", file=file) from error
    try:
        described = json.loads(file.read_text("utf-8"))
        settings = described["vbas"]["made_by"]["settings"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError.saying("{file} describes no release of VBAS.", file=file) from error
    return {name: value for name, value in settings.items() if not str(value).startswith("[")}  # lists are told as text


def _text(value: object) -> str:
    """A value as both sides write it."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "–" if value is None else str(value)
