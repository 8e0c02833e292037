"""A job as a file: TOML whose keys are the names of the form's parameters."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..job.settings import FILE, SETTINGS, TABLE, is_blank, refuse_unknown
from ..job.updating import Updating
from ..job.values import choice_of
from ..language import tr
from ..library.frames import Frame
from ..plain_text import visible
from ..releases.updating import FOLLOWED, HELD_BACK
from .files import path_of_source, table_of_source
from .linked_job import LINKED, TABLES, sources_of

FOLDER, REPORT, RELEASE_REPORT = "RELEASE_FOLDER", "REPORT", "RELEASE_REPORT"
OF_UPDATES = "FOLLOWED"
OUTPUTS = (FOLDER, REPORT, RELEASE_REPORT)
# What the form writes as layers: of these the folder has what is for release.
LAYERS = (
    *("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT", "SITE_POINTS", "VORONOI", "SIGN_PAGE"),
    "RELEASED_TABLES",
)


def read_job(file: Path, changes: Sequence[str] = ()) -> dict[str, object]:
    """The keys of a job with their values. Raises InputError for a file that is no job, and for keys that are none.

    changes : NAME=VALUE, each in place of what the file says; a value is read as TOML where it is some, else as text
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = file.read_bytes().decode("utf-8-sig")
        values: dict[str, object] = tomllib.loads(text)
    except OSError as error:
        raise InputError.saying("{file} cannot be read: {reason}.", file=file, reason=error.strerror) from error
    except UnicodeDecodeError as error:
        raise InputError.saying("{file} is in another encoding than UTF-8: save it in UTF-8.", file=file) from error
    except tomllib.TOMLDecodeError as error:
        said = tr("{file} is no TOML: {error}.", file=file, error=str(error).rstrip("."))
        raise InputError(f"{said} {_of_backslashes()}" if "\\" in text else said) from error
    for name, value in values.items():
        if name in (*OUTPUTS, TABLES) or (name in SETTINGS and SETTINGS[name].kind in (TABLE, FILE)):
            _refuse_escapes(name, value)
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise InputError.saying("“{change}” is no NAME=VALUE.", change=change)
        try:
            values[name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[name] = text
    refuse_unknown(list(values), [*SETTINGS, *LINKED, *OUTPUTS, *LAYERS, OF_UPDATES])
    return values


def _refuse_escapes(name: str, value: object) -> None:
    """Raise InputError for a path in which a backslash has become another character."""
    if isinstance(value, (list, Mapping)):
        for part in value.values() if isinstance(value, Mapping) else value:
            _refuse_escapes(name, part)
    elif isinstance(value, str) and set(value) & set("\b\t\n\f\r"):
        raise InputError(tr("{name}: “{value}” is no path.", name=name, value=visible(value)) + " " + _of_backslashes())


def _of_backslashes() -> str:
    return tr("Write a path of Windows between single quotation marks, 'C:\\folder\\file', or with / instead.")


def tables_of(values: Mapping[str, object], beside: Path) -> dict[str, Frame]:
    """The tables of a job, by the setting that names each. Raises InputError.

    beside : the folder that paths start from
    """
    sources = {name: value for name, value in values.items() if name in SETTINGS and SETTINGS[name].kind == TABLE}
    return {
        name: table_of_source(str(source), beside, name) for name, source in sources.items() if not is_blank(source)
    }


def with_followed(updating: Updating | None, values: Mapping[str, object]) -> Updating | None:
    """What is updated, with FOLLOWED of the job where the command says nothing of it. Raises InputError."""
    if updating is None:
        if not is_blank(values.get(OF_UPDATES)):
            raise InputError.saying("{name} is for updates alone: take it out of the job.", name=OF_UPDATES)
        return None
    followed = updating.followed or values.get(OF_UPDATES)
    return replace(updating, followed=HELD_BACK if is_blank(followed) else choice_of(OF_UPDATES, followed, FOLLOWED))


def settings_of(values: Mapping[str, object], beside: Path) -> dict[str, object]:
    """The settings of a job that are no tables; paths of files start from a folder."""
    settings = {name: value for name, value in values.items() if name in SETTINGS and SETTINGS[name].kind != TABLE}
    return {
        name: str(_path_of(name, value, beside)) if SETTINGS[name].kind == FILE and not is_blank(value) else value
        for name, value in settings.items()
    }


def outputs_of(values: Mapping[str, object], beside: Path) -> dict[str, Path]:
    """Where the outputs of a job go, by name."""
    return {name: _path_of(name, values[name], beside) for name in OUTPUTS if not is_blank(values.get(name))}


def files_read(values: Mapping[str, object], beside: Path) -> dict[str, Path]:
    """The files that a job reads, its register included, by the setting that names each. Raises InputError.

    beside : the folder that paths start from
    """
    given = {name: value for name, value in values.items() if name in SETTINGS and not is_blank(value)}
    sources = {name: str(value) for name, value in given.items() if SETTINGS[name].kind in (TABLE, FILE)}
    if not is_blank(values.get(TABLES)):
        sources.update({f"{TABLES}: {name}": source for name, source in sources_of(values[TABLES]).items()})
    return {name: path_of_source(source, beside) for name, source in sources.items()}


def _path_of(name: str, value: object, beside: Path) -> Path:
    if not isinstance(value, str) or "\0" in value:
        raise InputError.saying("{name}: give a path, in quotation marks.", name=name)
    return beside / Path(value).expanduser()


def written_job(values: Mapping[str, object], comments: Sequence[str] = ()) -> str:
    """The text of a job's file. values : by key, text, numbers, lists of these, and texts by name; comments : its first
    lines"""
    lines = [f"# {line}" for comment in comments for line in comment.splitlines()]
    return "\n".join([*lines, *(f"{name} = {_toml(value)}" for name, value in values.items())]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(str(name))} = {_toml(entry)}" for name, entry in value.items()) + " }"
    # A basic string of TOML takes the escapes of JSON, but for a slash, which JSON does not write.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
