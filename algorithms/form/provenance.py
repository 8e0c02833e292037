"""What a report says of its run: date, versions, inputs with their checksums, and the command that does it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from osgeo import gdal
from qgis.core import Qgis, QgsVectorLayer

from ...core.language import tr
from ...core.package.descriptor import file_hash
from ...core.records import sqlite_file
from ...core.report.provenance import Commands, InputUsed, Provenance, now, versions_of_core
from ...core.secrecy import without_secrets
from ..layers.reading.checked_source import CheckedSource
from ..layers.reading.layer_file import layer_file
from .command import command_of
from .form import Form
from .job_file import JOB_FILE, job_of
from .understanding import LAYERS, with_labels

BESIDE = (".dbf", ".shx", ".cpg", ".csvt")  # files that hold a part of the same table


def provenance_of(form: Form) -> Provenance:
    """One run, for its internal report: all that counted."""
    command, caveats = command_of(form, form.given_inputs())
    parameters = [(label, _discreet(value)) for label, value in form.rows() if value != ""]
    job = of_job = ""
    if form.has(JOB_FILE) and form.outputs.wanted(JOB_FILE):
        target = form.outputs.target(JOB_FILE)
        job, of_job = job_of(form), " ".join(("vbas", "anonymize", JOB_FILE if target is None else target.name))
    commands = Commands(command, caveats, job, of_job)
    return Provenance(parameters, now(), versions(), list(_inputs(form)), commands)


def versions() -> list[tuple[str, str]]:
    """What took part in a run."""
    ours, *of_core = versions_of_core()
    return [ours, ("QGIS", Qgis.QGIS_VERSION), *of_core, ("GDAL", gdal.__version__)]


def _inputs(form: Form) -> Iterator[InputUsed]:
    """Every layer that was read."""
    checksums: dict[Path, str] = {}
    for name in form.given_inputs():
        definition = form.definition(name)
        kind = definition.type()
        sources: list[CheckedSource] = []
        if kind in LAYERS:
            sources = [form.layers.source(name)]
        elif kind == "multilayer":
            sources = form.layers.sources(name)
        for source in sources:
            yield _input(form, f"{definition.description()} ({name})", source, checksums, form.layers.n_read.get(name))


def _input(form: Form, label: str, source: CheckedSource, checksums: dict[Path, str], n_read: int | None) -> InputUsed:
    """A layer that was read; n_read : its rows, where that is known: to count them, some formats are read once more."""
    taken = tuple(with_labels(form.algorithm, sentence) for sentence in source.taken)
    count = int(source.featureCount()) if n_read is None else n_read
    rows = count if count >= 0 else None  # a database may not know how many rows it has
    layer = source.layer
    file = None if layer is None else layer_file(layer)
    if layer is None or file is None:
        called = without_secrets(source.sourceName())
        return InputUsed(label, called, _kept_in(layer), rows, tr("none: no file"), taken)
    if file.path not in checksums:
        checksums[file.path] = "; ".join(
            tr("{name}: {value}", name=path.name, value=file_hash(path, form.outputs.check_cancelled))
            for path in _files(file.path)
        )
    if form.layers.has_changed(file.path):  # the checksum and the number of rows are of what nobody has read
        rows = None
        checksums[file.path] = tr("none: another program changed the file after it was read")
    return InputUsed(label, layer.name(), str(file.path.resolve()), rows, checksums[file.path], taken)


def _discreet(value: object) -> object:
    return without_secrets(value, value) if isinstance(value, str) else value


def _kept_in(layer: QgsVectorLayer | None) -> str:
    """What holds a layer that has no file on this machine."""
    if layer is None:
        return tr("not known to QGIS as a layer")
    if layer.providerType() == "memory":
        return tr("this computer's memory")
    # What QGIS calls its public source may show the end of a password with blanks.
    return f"{layer.providerType()}: {without_secrets(layer.source(), layer.source())}"


def _files(path: Path) -> list[Path]:
    """The file, and those beside it that hold a part of the same table: of a Shapefile, and what SQLite has not yet
    moved into its file."""
    beside = [path.with_suffix(end) for end in BESIDE] if path.suffix.lower() in (".shp", ".dbf", ".csv") else []
    log = sqlite_file.beside(path, "-wal")
    pending = [log] if log.is_file() and log.stat().st_size else []
    return [path, *(file for file in beside if file.is_file() and file != path), *pending]
