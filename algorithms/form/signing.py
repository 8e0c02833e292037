"""The page that is signed: declared, what it says of a run, and printed by Qt as one sheet of A4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from qgis.core import QgsProcessingParameterDefinition
from qgis.PyQt.QtCore import QBuffer, QIODevice, QMarginsF, QSizeF
from qgis.PyQt.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument

from ...core.account import Account
from ...core.job.signing import PREPARED_BY, PURPOSE, RECIPIENT, page_to_publish, signing_of
from ...core.language import tr
from ...core.package.folder import PAGE
from ...core.package.table import DataTable
from ...core.report.internal import page_to_sign
from ...core.report.provenance import now
from ...core.report.sign import Signing, printed
from ...core.tables.schema import INTERNAL
from ..layers.inputs import remembered
from .effective import GIVEN, Condition, Conditions
from .form import Form
from .parameters import file_output, text

SIGN_PAGE, REPORT, REGISTER, RELEASE_FOLDER = "SIGN_PAGE", "REPORT", "REGISTER", "RELEASE_FOLDER"
RELEASED_TABLES = "RELEASED_TABLES"  # one file with the records and the tables that belong to them
OUTPUT_OF = {
    "records": ("RELEASED_RECORDS", RELEASED_TABLES),
    "crosswalk": ("CROSSWALK",),
    "regions": ("RELEASED_REGIONS",),
}
RESOLUTION, MARGIN = 300, 15.0  # dots an inch, millimetres
LARGEST_FONT, SMALLEST_FONT, STEP = 9.5, 5.0, 0.5  # points


def signing_conditions(report: bool = True) -> Conditions:
    """Where what the page says counts; report : whether the form has an internal report"""
    pages: Condition = {
        SIGN_PAGE: GIVEN,
        **({REPORT: GIVEN} if report else {}),
        REGISTER: GIVEN,
    }
    return {name: [pages] for name in (RECIPIENT, PURPOSE, PREPARED_BY)}


def signing_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """RECIPIENT, PURPOSE, PREPARED_BY: what was said last in this project is proposed."""
    parameters = {
        RECIPIENT: (
            tr("To sign: for whom the release is"),
            tr("Who receives it, for the page that is signed and for the register. The project remembers it."),
        ),
        PURPOSE: (
            tr("To sign: for which purpose"),
            tr("What it will be used for, for the page that is signed and for the register. The project remembers it."),
        ),
        PREPARED_BY: (
            tr("To sign: prepared by"),
            tr(
                "Who made the release, for the page that is signed; the register keeps it as the one who proposed the "
                "release. The project remembers it."
            ),
        ),
    }
    for name, (label, said) in parameters.items():
        yield text(name, label, remembered(name), said, advanced=True, optional=True)


def sign_page_parameter() -> QgsProcessingParameterDefinition:
    """SIGN_PAGE."""
    return file_output(
        SIGN_PAGE,
        tr("Page to sign ({internal})", internal=INTERNAL),
        tr("PDF files (*.pdf)"),
        tr(
            "One sheet to print and to sign: what goes out, for whom and why, what was asked and found, the content "
            "hashes of the released tables, and place for two signatures. It is page 1 of the report, too. Internal."
        ),
    )


def signing(
    form: Form,
    tables: Iterable[DataTable],
    register: str,
    in_place: str = "",
    pages: Mapping[str, Callable[[], str]] = MappingProxyType({}),
) -> Signing:
    """What the page says of a run.

    tables : that are released; register : the entry; in_place : where rows go that an engine writes; pages : those to
    publish, by RELEASE_REPORT and RELEASE_FOLDER, which holds one
    """
    to_publish = []
    for name, page in pages.items():
        if form.outputs.wanted(name):
            target = form.outputs.target(name)
            place = name if target is None else target.name
            in_folder = name == RELEASE_FOLDER
            content = page() if in_folder else form.outputs.without_addresses(page())
            to_publish.append(page_to_publish(f"{place}/{PAGE}" if in_folder else place, content.encode("utf-8")))
    return signing_of(form.job, tables, lambda name: _files_of(form, name, in_place), register, to_publish)


def _files_of(form: Form, table: str, in_place: str) -> str:
    """Where a table goes: the files that hold it."""
    files = [Path(in_place).name] if in_place and table == "records" else []
    for name in OUTPUT_OF.get(table, (RELEASED_TABLES,)):
        if form.outputs.wanted(name):
            target = form.outputs.target(name)
            files.append(name if target is None else target.name)
    folder = form.outputs.target(RELEASE_FOLDER) if form.outputs.wanted(RELEASE_FOLDER) else None
    if folder is not None:
        files.append(f"{folder.name}/")
    return ", ".join(files)


def add_sign_page(form: Form, account: Account, said: Signing) -> None:
    """Write SIGN_PAGE of a release."""
    form.outputs.add_bytes(SIGN_PAGE, lambda: pdf_of(printed(page_to_sign(account, said, now()))))


def pdf_of(html: str) -> bytes:
    """One sheet of A4, in the largest font with which everything is on it."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(RESOLUTION)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(MARGIN, MARGIN, MARGIN, MARGIN), QPageLayout.Unit.Millimeter)
    writer.setTitle("VBAS")
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    document.setDocumentMargin(0)
    points = LARGEST_FONT
    while True:
        font = document.defaultFont()
        font.setFamily("DejaVu Sans")
        font.setPointSizeF(points)
        document.setDefaultFont(font)
        document.setHtml(html)
        document.setPageSize(QSizeF(writer.width(), writer.height()))
        if document.pageCount() == 1 or points <= SMALLEST_FONT:
            break
        points -= STEP
    document.print(writer) if hasattr(document, "print") else document.print_(writer)
    del writer  # which ends the file
    return bytes(buffer.data())
