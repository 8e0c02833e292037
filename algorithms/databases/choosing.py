"""Lists to choose from in the forms over records in place: connections, schemas, tables and fields.

Each opens from an arrow in the line of its parameter, where anything may still be typed. A database is asked when its
list is opened and not before, so that a server that cannot be reached keeps no form from opening.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qgis.core import (
    QgsAbstractProviderConnection,
    QgsApplication,
    QgsDataSourceUri,
    QgsProcessingParameterDefinition,
    QgsProviderRegistry,
)

from ...core.engines import open_engine, tables_there
from ...core.engines.addresses import Address, read_address
from ...core.errors import InputError, VbasError
from ...core.job.values import parts_of
from ...core.language import tr
from ..form.widgets import linked_widget

WHERE = ("CONNECTION", "SCHEMA", "TABLE")
CONNECTION, SCHEMA, TABLE, FIELD, FIELDS = "connection", "schema", "table", "field", "fields"


LISTS = {
    "CONNECTION": CONNECTION,
    "SCHEMA": SCHEMA,
    "TABLE": TABLE,
    **dict.fromkeys(("RECORD_REGION", "PERIOD", "RECORD_COUNT", "PERSON_ID", "HOUSEHOLD_ID"), FIELD),
    **dict.fromkeys(("QUASI_IDENTIFIERS", "KEEP_FIELDS", "SENSITIVE", "FAIR"), FIELDS),
}


def with_list(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """The parameter, with a list in its form where it is one of those that have one."""
    if parameter.name() in LISTS:
        parameter.setMetadata({"widget_wrapper": {"class": f"{__name__}.{Chooser.__name__}"}})
    return parameter


class Chooser:
    """QGIS's own line of text with a list. QGIS makes it from the parameter's metadata; it gets its own wrapper."""

    def __new__(cls, parameter: QgsProcessingParameterDefinition, dialog: Any, row: int = 0, col: int = 0) -> Any:
        kind = LISTS[parameter.name()]
        return linked_widget(parameter, dialog, row, col, lambda own, every: _add_list(own, every, kind))


def _add_list(wrapper: Any, wrappers: Mapping[str, Any], kind: str) -> None:
    """Add the arrow to the line of a widget; where the widget is no line of text, nothing."""
    from qgis.PyQt.QtWidgets import QLineEdit, QMenu

    widget = wrapper.wrappedWidget()
    line = widget if isinstance(widget, QLineEdit) else None if widget is None else widget.findChild(QLineEdit)
    if line is None:
        return
    menu, where = QMenu(line), [wrappers[name] for name in WHERE]
    icon = QgsApplication.getThemeIcon("/mActionArrowDown.svg")
    arrow = line.addAction(icon, QLineEdit.ActionPosition.TrailingPosition)
    arrow.setToolTip(tr("Choose from a list"))
    menu.aboutToShow.connect(
        lambda: _fill(
            menu, line, kind, [str(linked_wrapper.parameterValue() or "").strip() for linked_wrapper in where]
        )
    )
    arrow.triggered.connect(lambda: menu.popup(line.mapToGlobal(line.rect().bottomLeft())))


def _fill(menu: Any, line: Any, kind: str, where: Sequence[str]) -> None:
    """Fill a list; where that fails, with the sentence that says why."""
    menu.clear()
    try:
        names, nothing = entries(kind, *where), tr("There is nothing to choose from.")
    except VbasError as error:
        names, nothing = [], str(error)
    if not names:
        menu.addAction(nothing).setEnabled(False)
    chosen = parts_of(line.text())
    for name in names:
        action = menu.addAction(name)
        action.setCheckable(kind == FIELDS)
        action.setChecked(kind == FIELDS and name in chosen)
        action.triggered.connect(_choosing(line, name, kind == FIELDS))
    if kind == CONNECTION:
        menu.addSeparator()
        menu.addAction(tr("A file…")).triggered.connect(lambda: _browse(line, False))
        menu.addAction(tr("A folder of Parquet files…")).triggered.connect(lambda: _browse(line, True))


def entries(kind: str, connection: str, schema: str, table: str) -> list[str]:
    """What a list offers, where the form holds these texts. Raises VbasError."""
    if kind == CONNECTION:
        return sorted(known_connections())
    address = address_of(connection)
    if kind in (SCHEMA, TABLE):
        there = tables_there(address)
        if kind == SCHEMA:
            return sorted({entry.schema for entry in there})
        return sorted(entry.name for entry in there if (entry.schema == schema if schema else entry.usual))
    with open_engine(address, table, schema) as engine:
        return list(engine.fields)


def _choosing(line: Any, name: str, several: bool) -> Callable[..., None]:
    """Puts a name into the line: alone, or added to the others and taken out again."""

    def choose(*_: object) -> None:
        there = parts_of(line.text())
        rest = [field for field in there if field != name]
        line.setText(name if not several else ";".join(rest if name in there else [*there, name]))

    return choose


def _browse(line: Any, folder: bool) -> None:
    """Let the user look for a file or folder."""
    from qgis.PyQt.QtWidgets import QFileDialog

    if folder:
        place = QFileDialog.getExistingDirectory(line, tr("A folder of Parquet files"), line.text())
    else:
        kinds = "Parquet, CSV, DuckDB (*.parquet *.pq *.csv *.csv.gz *.tsv *.duckdb *.ddb)"
        place, _ = QFileDialog.getOpenFileName(line, tr("A file with records"), line.text(), kinds)
    if place:
        line.setText(place)


def known_connections() -> Mapping[str, QgsAbstractProviderConnection]:
    """The PostgreSQL connections of this QGIS by name."""
    metadata = QgsProviderRegistry.instance().providerMetadata("postgres")
    return metadata.connections() if metadata is not None else {}


def check_address(connection: str) -> None:
    """See that what is given is the name of a connection of QGIS, or an address without a secret, before anybody keeps
    or repeats it. Raises InputError."""
    if connection not in known_connections():
        read_address(connection)


def address_of(connection: str) -> Address:
    """A connection of QGIS by its name, with the secrets that QGIS keeps, or an address.

    Raises InputError for an address that holds a secret or is none, and where QGIS does not open its own secrets.
    """
    known = known_connections()
    if connection not in known:
        return read_address(connection)
    uri = QgsDataSourceUri(known[connection].uri())
    opened = uri.connectionInfo(True)
    if uri.authConfigId() and "authcfg" in opened:
        raise InputError.saying(
            "CONNECTION “{name}” has its password in QGIS's authentication, which did not open: enter the master "
            "password in QGIS, or without windows name the file that holds it in QGIS_AUTH_PASSWORD_FILE.",
            name=connection,
        )
    return Address("postgres", connection, opened)
