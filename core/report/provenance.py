"""What a report says of its run: when and with what, of which inputs, and how to do it again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy
import scipy
import shapely

from ..dataclass import dataclass
from ..language import tr
from ..version import version
from .numbers import exactly
from .page import Section, time_taken


def now() -> str:
    """Date and time here."""
    here = datetime.now().astimezone()
    return f"{here:%Y-%m-%d %H:%M} ({here:%Z})"


def versions_of_core() -> list[tuple[str, str]]:
    """What takes part in every run, this program first."""
    geos = tr("{version} (GEOS {geos})", version=shapely.__version__, geos=shapely.geos_version_string)
    return [
        ("VBAS", version()),
        ("Python", platform.python_version()),
        ("numpy", numpy.__version__),
        ("scipy", scipy.__version__),
        ("shapely", geos),
    ]


@dataclass(frozen=True)
class InputUsed:
    """A layer or table that was read. parameter : its label and id; name : of the layer; where : its file, or what
    holds it; rows : None where not known; sha256 : of the whole file, or a sentence why there is none; taken :
    sentences on what of the layer was read, where that is not all of it as it is saved"""

    parameter: str
    name: str
    where: str
    rows: int | None
    sha256: str
    taken: Sequence[str] = ()


@dataclass(frozen=True)
class Commands:
    """What does a run again; empty where there is none.

    again : a command, as bash takes it, and `caveats` what it cannot do; job : the text of a job that does the same by
    the command `of_job`
    """

    again: str = ""
    caveats: Sequence[str] = ()
    job: str = ""
    of_job: str = ""


NO_COMMANDS = Commands()


@dataclass(frozen=True)
class Provenance:
    """One run, as its report tells it.

    parameters : label and value of each that counted; date : when the report was made; versions : name and version;
    inputs : what was read; commands : what does the same again
    """

    parameters: Sequence[tuple[str, object]] = ()
    date: str = ""
    versions: Sequence[tuple[str, str]] = ()
    inputs: Sequence[InputUsed] = ()
    commands: Commands = NO_COMMANDS


def settings(parameters: Sequence[tuple[str, object]]) -> list[tuple[str, str]]:
    """Label and value of each, as text: they are of all kinds."""
    return [(label, exactly(value)) for label, value in parameters]


def how_it_was_done(
    notes: Sequence[str], provenance: Provenance, step: str = "", seconds: Mapping[str, float] | None = None
) -> list[Section]:
    """The sections that every internal report ends with. notes : sentences; seconds : by step, so called."""
    inputs = [(source.parameter, source.name, source.rows, source.where, source.sha256) for source in provenance.inputs]
    commands = provenance.commands
    taken = [sentence for source in provenance.inputs for sentence in source.taken]
    return [
        Section(tr("How it was done"), tuple(notes), (tr("Parameter"), tr("Value")), settings(provenance.parameters)),
        Section(
            tr("What was read"),
            (*taken, tr("The checksum tells whether a file is still the one that was read.")) if inputs else (),
            (tr("Parameter"), tr("Layer"), tr("Rows"), tr("Where"), "SHA-256"),
            inputs,
        ),
        Section(tr("Versions"), (), (tr("Program"), tr("Version")), list(provenance.versions)),
        Section(
            tr("Run it again"),
            (tr("This command does the same in a terminal (bash)."), *commands.caveats) if commands.again else (),
            code=commands.again,
        ),
        Section(
            tr("The job"),
            (tr("With this text, “{command}” makes the release without QGIS.", command=commands.of_job),)
            if commands.job
            else (),
            code=commands.job,
        ),
        *([time_taken(step, seconds)] if seconds else []),
    ]
