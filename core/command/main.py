"""`vbas`: a job of anonymising, a look at a release, and what an analyst makes of it, without QGIS.

Nothing of core is imported before the language is chosen.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..language import speak, tr

if TYPE_CHECKING:
    from ..job.updating import Updating

# What a command ends with.
DONE, DOES_NOT_HOLD, INPUT, REFUSED, NOT_WRITTEN, CANCELLED = 0, 1, 2, 3, 4, 130
TERMINATED = 143
VERIFY = Path(__file__).resolve().parents[2] / "verify" / "verify.py"
A_STEP = 0.1  # of the work, which is told as a line where nobody looks on


class _Terminated(BaseException):
    """The system asks the program to end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. arguments : of the command line, those of the program where None"""
    speak(os.environ.get("VBAS_LANGUAGE") or os.environ.get("LC_ALL") or os.environ.get("LANG") or "")
    from ..errors import Cancelled, InputError, PrivacyError, VbasError

    if isinstance(sys.stdout, TextIOWrapper):  # names that the code page of a Windows system lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments_given = _parser().parse_args(arguments)
    before = {} if arguments is None else {number: signal.getsignal(number) for number in _signals()}
    _answer_signals(_terminate, _signals()[1:])
    try:
        code: int = arguments_given.run(arguments_given)
    except InputError as error:
        return _failed(error, INPUT)
    except PrivacyError as error:
        return _failed(error, REFUSED)
    except (KeyboardInterrupt, Cancelled):
        _end_undisturbed()
        return _failed(tr("Cancelled: nothing was written."), CANCELLED)
    except _Terminated:
        _end_undisturbed()
        return _failed(tr("Ended: nothing was written."), TERMINATED)
    except (VbasError, OSError) as error:
        return _failed(error, NOT_WRITTEN)
    finally:
        for number, answer in before.items():  # of a program that goes on
            _answer_signals(answer, [number])
    return code


def _signals() -> tuple[int, ...]:
    """Those of Ctrl-C, of the system, and of a console that is closed."""
    return (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGBREAK", signal.SIGTERM))


def _answer_signals(answer: Any, numbers: Sequence[int]) -> None:
    with suppress(ValueError):  # not in the main thread, which has the signals
        for number in numbers:
            signal.signal(number, answer)


def _end_undisturbed() -> None:
    """Pass over whatever else would break off: all is in its place, or nothing will be. Who presses Ctrl-C twice would
    have a fault for an answer, and who does so at the end would be told that nothing was written."""
    _answer_signals(signal.SIG_IGN, _signals())


def _terminate(signal_number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _failed(sentence: object, code: int) -> int:
    sys.stderr.write(f"\n{sentence}\n" if sys.stderr.isatty() else f"{sentence}\n")
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("vbas", description=tr("Release person records k-anonymously, without QGIS."))
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    anonymize = commands.add_parser("anonymize", help=tr("make the release of a job"))
    _add_job(anonymize)
    anonymize.set_defaults(run=_anonymize)

    update = commands.add_parser("update", help=tr("carry on a release of the job's register, with the records of now"))
    _add_job(update)
    update.add_argument("--entry", default="", help=tr("its number or name in the register; the last one if left out"))
    update.add_argument(
        "--replaces",
        action="store_true",
        help=tr("the records take the place of the earlier ones; else they are of a further period"),
    )
    update.add_argument(
        "--followed",
        help=tr("what becomes of rows of rare values, in place of FOLLOWED of the job: “held back” or “shown”"),
    )
    update.set_defaults(run=_update)

    check = commands.add_parser("check", help=tr("look at every claim of a release's folder"))
    check.add_argument("folder", type=Path, metavar="FOLDER")
    check.add_argument("--k", type=int, help=tr("what is asked, where that is more than the release claims"))
    check.set_defaults(run=_check)

    verify = commands.add_parser("verify", help=tr("the same by a second program, which shares nothing with the first"))
    verify.add_argument("folder", type=Path, metavar="FOLDER")
    verify.add_argument("--k", type=int, help=tr("what is asked, where that is more than the release claims"))
    verify.set_defaults(run=_verify)

    spread = commands.add_parser("spread", help=tr("estimated counts by area and group, for analysis"))
    spread.add_argument("folder", type=Path, metavar="FOLDER")
    spread.add_argument("areas", metavar="AREAS", help=tr("a file with the areas and their people"))
    spread.add_argument("output", type=Path, metavar="OUTPUT.csv")
    spread.add_argument("--population", default="population", help=tr("the field of the areas with their people"))
    spread.add_argument("--by", default="", metavar="FIELD,FIELD", help=tr("fields of the release that make groups"))
    spread.set_defaults(run=_spread)
    return parser


def _add_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB.toml", help=tr("keys are the parameters of the form"))
    parser.add_argument("--folder", type=Path, help=tr("where the release goes, in place of RELEASE_FOLDER"))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=tr("in place of the job"))
    parser.add_argument("--quiet", action="store_true", help=tr("say warnings only"))


def _anonymize(options: argparse.Namespace) -> int:
    return _made(options, "anonymize")


def _update(options: argparse.Namespace) -> int:
    from ..job.updating import Updating
    from ..releases.updating import FURTHER, UPDATED

    words = [*(["--entry", options.entry] if options.entry else []), *(["--replaces"] if options.replaces else [])]
    words += [f"--followed={options.followed}"] if options.followed else []
    updating = Updating(options.entry, UPDATED if options.replaces else FURTHER, options.followed or "")
    return _made(options, "update", words, updating)


def _made(
    options: argparse.Namespace, command: str, words: Sequence[str] = (), updating: Updating | None = None
) -> int:
    """Make and deliver the release of a job; command, words : what is typed before and behind it, for the report."""
    from ..errors import InputError
    from ..job.conclusion import conclude
    from ..library.anonymizing import made_of
    from ..package.delivering import check_places
    from ..report.provenance import Commands
    from .job_file import (
        FOLDER,
        LAYERS,
        files_read,
        outputs_of,
        read_job,
        settings_of,
        tables_of,
        with_followed,
        written_job,
    )
    from .linked_job import linking_of

    values, beside = read_job(options.job, options.set), options.job.resolve().parent
    outputs = outputs_of(values, beside)
    if options.folder is not None:
        outputs[FOLDER] = Path.cwd() / options.folder
    if not outputs:
        raise InputError.saying("The job says nothing of where the release goes: give {name} or --folder.", name=FOLDER)
    log, progress = _Log(options.quiet), _Bar(options.quiet)
    layers = [name for name in LAYERS if values.get(name)]
    if layers:
        log.warn(
            tr(
                "{names}: only the toolbox writes these; RELEASE_FOLDER has what is for release.",
                names=", ".join(layers),
            )
        )
    tables, settings = tables_of(values, beside), settings_of(values, beside)
    updating = with_followed(updating, values)
    missing = [name for name in ("REGIONS", "RECORDS") if name not in tables]
    if missing:
        raise InputError.saying("{name} is needed, and is not given.", name=missing[0])
    areas, records = tables.pop("REGIONS"), tables.pop("RECORDS")
    linking = linking_of(values, beside)
    if linking is not None and updating is not None:
        raise InputError.saying(
            "LINKED_TABLES: an update carries on a release of persons alone, so take this out of the job."
        )
    pages = {name: path for name, path in outputs.items() if name != FOLDER}
    reads = {"JOB": options.job, **files_read(values, beside)}
    check_places((FOLDER, outputs[FOLDER]) if FOLDER in outputs else None, pages, reads)
    changes = [word for change in options.set for word in ("--set", change)]
    folder = [] if options.folder is None else ["--folder", str(options.folder)]
    # The job is said with its changes: what stands in the file alone would make another release.
    job_text = written_job(
        values if options.folder is None else {**values, FOLDER: _seen_from(beside, outputs[FOLDER])}
    )
    of_job = shlex.join(["vbas", command, options.job.name, *words])
    again = shlex.join(["vbas", command, str(options.job), *words, *folder, *changes])
    commands = Commands(again, job=job_text, of_job=of_job)
    release = made_of(
        areas,
        records,
        {**settings, **tables},
        None,
        progress,
        log,
        commands,
        FOLDER in outputs,
        updating=updating,
        linking=linking,
    )
    release.deliver(outputs.get(FOLDER), pages, last=[_end_undisturbed])
    progress.end()
    for sentence in conclude(log, release.account):
        log.info(sentence)
    sys.stdout.write(release.content_hash + "\n")
    return DONE


def _seen_from(folder: Path, path: Path) -> str:
    """A path as one that starts from a folder; as it is where that is on another disk."""
    try:
        return os.path.relpath(path, folder)
    except ValueError:
        return str(path)


def _check(options: argparse.Namespace) -> int:
    from ..package.checking import check_folder

    checked = check_folder(options.folder, options.k)
    words = {True: tr("holds"), False: tr("does not hold"), None: tr("not looked at")}
    width = max(map(len, words.values()))
    for claim in checked.claims:
        sys.stdout.write(f"{words[claim.holds]:<{width}}  {claim.called}: {claim.says}\n")
    return DOES_NOT_HOLD if checked.broken else INPUT if checked.unseen else DONE


def _verify(options: argparse.Namespace) -> int:
    before = sys.argv
    sys.argv = [str(VERIFY), str(options.folder), *(["--k", str(options.k)] if options.k else [])]
    try:
        runpy.run_path(str(VERIFY), run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return DONE


def _spread(options: argparse.Namespace) -> int:
    from importlib.util import find_spec

    from ..errors import InputError

    if not find_spec("pandas"):
        raise InputError.saying(
            "“{command}” needs pandas, which is not installed: install the extra “analysis”.", command="spread"
        )
    from ..analysis.reader import read_release
    from ..package.delivering import check_places, deliver_release
    from .counts import areas_frame, counts_text, what_does_not_hold
    from .files import path_of_source

    areas = path_of_source(options.areas, Path.cwd())
    check_places(None, {"OUTPUT": options.output}, {"FOLDER": options.folder, "AREAS": areas})
    names, log = [name.strip() for name in options.by.split(",") if name.strip()], _Log(True)
    try:
        log.warn(*what_does_not_hold(options.folder))
        release = read_release(options.folder, areas=areas_frame(options.areas), population=options.population)
        text = counts_text(release, names)
    except OSError as error:  # such as a file that another program has open on Windows
        return _failed(error, INPUT)
    log.warn(*deliver_release(None, lambda _: None, {"OUTPUT": (options.output, lambda: text)}))
    return DONE


class _Log:
    """Says on the error stream what the toolbox says in its log."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def info(self, *sentences: str) -> None:
        """What was done."""
        if not self._quiet:
            for sentence in sentences:
                sys.stderr.write(f"{sentence}\n")

    def warn(self, *sentences: str) -> None:
        """What a person has to look at."""
        for sentence in sentences:
            sys.stderr.write(tr("Warning: {sentence}", sentence=sentence) + "\n")


class _Bar:
    """Tells on the error stream how far the work is: on one line for who looks on, else a line now and then."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._reported, self._on_line = quiet, -1.0, sys.stderr.isatty()

    def __call__(self, fraction: float) -> None:
        if self._quiet or fraction < self._reported + (0.01 if self._on_line else A_STEP):
            return
        self._reported = fraction
        sys.stderr.write(f"\r{fraction:4.0%} " if self._on_line else f"{fraction:.0%}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """The work is done."""
        if self._on_line and self._reported >= 0:
            sys.stderr.write("\n")
