"""The file behind a layer: which it is, whether it stays as it is, and its rows counted without the layer's reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qgis.core import QgsDataSourceUri, QgsFields, QgsProviderRegistry, QgsVectorLayer

from ....core.errors import InputError
from ....core.language import tr
from ....core.records import sqlite_file
from ....core.records.plain_files import CsvRows, check_shp, count_dbf, scan_csv
from ...compat import kind_of

_SIDE_FILES = (".shp", ".shx", ".dbf", ".cpg", ".csvt")


@dataclass(frozen=True)
class LayerFile:
    """The file behind a layer. plain : whether the layer shows all of one table, just as the file has it."""

    path: Path
    table: str
    plain: bool

    @property
    def is_csv(self) -> bool:
        return self.path.suffix.lower() in (".csv", ".tsv", ".tab", ".psv")


@dataclass(frozen=True)
class Held:
    """n_rows : rows of the table, counted without its reader, None where nothing else can; longest : bytes of the
    longest row of a CSV file, else 0."""

    n_rows: int | None
    longest: int = 0


def layer_file(layer: QgsVectorLayer) -> LayerFile | None:
    """The file behind a layer, None where there is none on this machine's disk."""
    provider = layer.providerType()
    parts = QgsProviderRegistry.instance().decodeUri(provider, layer.source())
    path = parts.get("path")
    if provider not in ("ogr", "delimitedtext", "spatialite") or not isinstance(path, str) or parts.get("vsiPrefix"):
        return None
    file = Path(path)
    if not file.is_file():
        return None
    table = parts.get("layerName")
    table = table if isinstance(table, str) else ""
    shown = {path, f"{path}|layername={table}"}
    # A filter stands in the source as well; to overlook one would release who was filtered out.
    plain = provider == "ogr" and layer.source() in shown and not layer.subsetString()
    return LayerFile(file, table, plain)


@contextmanager
def held(layer: QgsVectorLayer, names: Sequence[str], parameter: str) -> Iterator[Held]:
    """The rows of the table behind a layer, counted without the reader of the layer, while its files stay as they are.

    names : fields that are read, whose values are checked where the format does not hold them to the field's type;
    parameter : for messages. Raises InputError, also afterwards
    where the files were changed meanwhile.
    """
    file = layer_file(layer)
    if file is None:
        yield Held(count_again(layer))
        return
    before = state_of(file.path)
    if sqlite_file.is_sqlite(file.path):
        with sqlite_file.reading(file.path, parameter) as connection:
            table = first_table(layer, file)
            count = None
            if sqlite_file.has_table(connection, table):
                there = sqlite_file.columns_of(connection, table)
                kinds = {name: kind for name in names if (kind := _stored_kind(layer, name, there))}
                count = sqlite_file.check_table(connection, file.path, table, parameter)
                sqlite_file.check_values(connection, file.path, table, kinds, parameter)
            yield Held(count if file.plain else count_again(layer))
    else:
        content = _look_at_file(file, layer, names, parameter)
        yield content if file.plain and content.n_rows is not None else Held(count_again(layer))
    refuse_changed(file.path, before, parameter)


def state_of(path: Path) -> list[tuple[int, int, int] | None]:
    """Which file this is, how large and when written; its side files too."""
    states: list[tuple[int, int, int] | None] = []
    for file in (path, *(path.with_suffix(end) for end in _SIDE_FILES)):
        try:
            status = file.stat()
        except OSError:
            states.append(None)
        else:
            states.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return states


def refuse_changed(path: Path, before: list[tuple[int, int, int] | None], parameter: str) -> None:
    """Raise InputError unless the file is as `state_of` found it."""
    if state_of(path) != before:
        raise InputError(
            tr(
                "{parameter}: {name} was changed by another program while it was read: run again when that has ended.",
                parameter=parameter,
                name=path.name,
            )
        )


def _stored_kind(layer: QgsVectorLayer, name: str, declared: Mapping[str, str]) -> str | None:
    """What the values of a field must be in the file; None for fields that do not come from it."""
    fields = layer.fields()
    index = fields.lookupField(name)
    if index < 0 or fields.fieldOrigin(index) != QgsFields.FieldOrigin.OriginProvider:
        return None
    if name not in declared:
        return None
    return sqlite_file.SHORT if declared[name] in ("SMALLINT", "TINYINT") else kind_of(fields[index])


def first_table(layer: QgsVectorLayer, file: LayerFile) -> str:
    """The table that the layer shows; the first where its source names none."""
    if file.table:
        return file.table
    parts = [text.split("!!::!!") for text in layer.dataProvider().subLayers()]
    return next((sublayer[1] for sublayer in parts if len(sublayer) > 1), "")


def _look_at_file(file: LayerFile, layer: QgsVectorLayer, names: Sequence[str], parameter: str) -> Held:
    suffix = file.path.suffix.lower()
    if suffix in (".shp", ".dbf"):
        dbf = file.path.with_suffix(".dbf") if suffix == ".shp" else file.path
        if file.path.with_suffix(".shp").is_file():
            check_shp(file.path.with_suffix(".shp"), parameter)
        if dbf.is_file():
            return Held(count_dbf(dbf, names, parameter))
    if file.is_csv:
        scan = scan_csv(file.path, parameter)
        return Held(csv_rows(scan, file.path, layer.fields().names()), scan.longest)
    return Held(None)


def csv_rows(scan: CsvRows, path: Path, names: Sequence[str]) -> int:
    """Rows without the header, which GDAL takes for one unless it holds a number; then it names the fields itself."""
    with path.open("rb") as file:
        first = file.readline(1000)
    headless = bool(names) and names[0] == "field_1" and b"field_1" not in first
    return scan.n_rows if headless else max(scan.n_rows - 1, 0)


def count_again(layer: QgsVectorLayer) -> int | None:
    """Rows as a layer of its own counts them now: the given one may remember an older number."""
    provider = layer.providerType()
    if provider == "memory":
        return int(layer.dataProvider().featureCount())
    if provider == "virtual" or QgsDataSourceUri(layer.source()).useEstimatedMetadata():
        return None
    fresh = QgsVectorLayer(layer.source(), layer.name(), provider)
    count = int(fresh.featureCount()) if fresh.isValid() else -1
    return count if count >= 0 else None
