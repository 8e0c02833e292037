"""JOB_FILE: the settings of a run as a job for the command `vbas anonymize`."""

from __future__ import annotations

from qgis.core import QgsProcessingParameterDefinition

from ...core.command.job_file import OUTPUTS, written_job
from ...core.job.settings import CHOICE, FIELDS, NUMBER, ROWS, SETTINGS, TABLE, WHOLE, Setting
from ...core.language import tr
from ...core.tables.schema import INTERNAL
from ...core.version import version
from .command import texts_of, without_password
from .form import Form
from .linked import LINKED_TABLES, linked_values
from .parameters import file_output

JOB_FILE = "JOB_FILE"


def job_file() -> QgsProcessingParameterDefinition:
    """JOB_FILE."""
    return file_output(
        JOB_FILE,
        tr("Job ({internal})", internal=INTERNAL),
        tr("Jobs (*.toml)"),
        tr(
            "The settings of this run as a file, with which the command “vbas anonymize” makes the same release "
            "without QGIS, such as every month. It names the inputs and where they are: internal."
        ),
    )


def add_job(form: Form) -> None:
    """Write JOB_FILE of a run."""
    form.outputs.add_text(JOB_FILE, lambda: job_of(form))


def job_of(form: Form) -> str:
    """The text of the job that does what this run does."""
    caveats: list[str] = []
    inputs = form.given_inputs()
    values = {name: _value(form, setting, caveats) for name, setting in SETTINGS.items() if name in inputs}
    if LINKED_TABLES in inputs:
        values.update(linked_values(form, caveats))
    targets = {name: form.outputs.target(name) for name in OUTPUTS if form.outputs.wanted(name)}
    values.update({name: str(target) for name, target in targets.items() if target is not None})
    caption = tr("A job of VBAS {version}: run it with vbas anonymize.", version=version())
    return written_job(values, (caption, *dict.fromkeys(caveats)))


def _value(form: Form, setting: Setting, caveats: list[str]) -> object:
    name, kind = setting.name, setting.kind
    if kind == WHOLE:
        return form.whole(name)
    if kind == NUMBER:
        return form.number(name)
    if kind == FIELDS:
        return form.field_names(name)
    if kind == ROWS:
        return [cell if isinstance(cell, (int, float)) else str(cell) for cell in form.cells(name)]
    if kind == TABLE:
        (text,) = texts_of(form, name, form.parameters.get(name), caveats)
        return without_password(text, name, caveats)
    return form.text(name) if kind == CHOICE else without_password(form.text(name), name, caveats)
