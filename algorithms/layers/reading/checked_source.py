"""A source of features that gives all its rows as they are, or one sentence.

Readers below QGIS stop at a damaged page, read past a lock or turn text in a numeric field into 0, and say so only in a
log. Here the rows are counted again without them, their errors are checked after each batch, and the files behind a
layer must be the same afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from osgeo import gdal
from qgis.core import (
    QgsDataSourceUri,
    QgsFeature,
    QgsFeatureRequest,
    QgsFields,
    QgsProcessingFeatureSource,
    QgsProcessingFeatureSourceDefinition,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ....core.errors import InputError, first_values
from ....core.language import tr
from ....core.records import sqlite_file
from ....core.records.plain_files import CsvRows, check_shp, count_dbf, scan_csv
from ...compat import kind_of
from ..gdal_errors import told_to_handlers
from ..given import Given

SKIP_CHECK = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
_AT_ONCE = 200
_SIDE_FILES = (".shp", ".shx", ".dbf", ".cpg", ".csvt")
_ALTERED = ("invalid value", "invalid content", "truncat", "overflow", "out of range", "recode", "not a valid")
REPLACEMENT = "\ufffd"


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


class CheckedSource:
    """What an algorithm reads a parameter's features from; stands wherever a QgsProcessingFeatureSource is read."""

    def __init__(
        self, name: str, source: QgsProcessingFeatureSource, value: object, layer: QgsVectorLayer | None
    ) -> None:
        """name : the parameter; value : what it was given; layer : the layer behind it, None where QGIS has none."""
        self.name = name
        self.layer = layer
        self._source = source
        self._value = value if isinstance(value, QgsProcessingFeatureSourceDefinition) else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    @property
    def is_restricted(self) -> bool:
        """Whether the parameter takes a selection, an expression or a number of features, and not the whole layer."""
        value = self._value
        return value is not None and (
            value.selectedFeaturesOnly or value.featureLimit >= 0 or bool(getattr(value, "filterExpression", ""))
        )

    @property
    def plain_layer(self) -> QgsVectorLayer | None:
        """The layer, unless the parameter restricts it."""
        return None if self.is_restricted else self.layer

    def getFeatures(
        self, request: QgsFeatureRequest | None = None, flags: QgsProcessingFeatureSource.Flag = SKIP_CHECK
    ) -> Iterator[QgsFeature]:
        """The features one by one. Raises InputError where not all can be read as they are."""
        request = QgsFeatureRequest() if request is None else request
        indexes = self._wanted(request)
        for chunk in self.chunks(request, flags, _AT_ONCE):
            for feature in chunk:
                for index in indexes:
                    value = feature[index]
                    if isinstance(value, str):
                        refuse_undecoded(self.name, self._source.fields()[index].name(), (value,))
                yield feature

    def chunks(
        self, request: QgsFeatureRequest, flags: QgsProcessingFeatureSource.Flag = SKIP_CHECK, size: int = 10_000
    ) -> Iterator[list[QgsFeature]]:
        """The features, so many at once. Raises InputError where not all can be read."""
        fields = self._source.fields()
        names = [fields[i].name() for i in self._wanted(request)]
        refuse_unreadable(self.name, fields, names)
        # The reader opens the files before they are held: closing a file gives up the locks on it.
        features = self._source.getFeatures(_with_all_of_one_name(request, fields), flags)
        done = 0
        with ExitStack() as stack:
            n_rows = None
            if self.layer is not None:
                n_rows = self._expected(stack.enter_context(held(self.layer, names, self.name)).n_rows)
                for join in self.layer.vectorJoins():
                    if join.joinLayer() is not None:
                        stack.enter_context(held(join.joinLayer(), join.joinLayer().fields().names(), self.name))
            # Of a layer that is being edited QGIS always says so; there the rows are counted.
            if n_rows is None and not features.isValid():
                raise InputError(
                    tr("{name} cannot be read: check that the layer still shows its features.", name=self.name)
                )
            while True:
                with errors_of_readers(self.name):
                    chunk = list(islice(features, size))
                if not chunk:
                    break
                done += len(chunk)
                if n_rows is None or done <= n_rows:
                    yield chunk
            if n_rows is not None and done != n_rows:
                raise InputError(
                    tr(
                        "{name}: {done} rows were read where {n_rows} are: the data are damaged, or another program "
                        "is changing them. Load the layer again and run again.",
                        name=self.name,
                        done=done,
                        n_rows=n_rows,
                    )
                )

    def _wanted(self, request: QgsFeatureRequest) -> list[int]:
        if request.flags() & QgsFeatureRequest.Flag.SubsetOfAttributes:
            return list(request.subsetOfAttributes())
        return list(range(len(self._source.fields())))

    def _expected(self, n_rows: int | None) -> int | None:
        """How many rows the source must give, from how many the table behind the layer has; None where not known."""
        layer, value = self.layer, self._value
        if layer is None or (value is not None and getattr(value, "filterExpression", "")):
            return None
        buffer = layer.editBuffer()
        if n_rows is not None and buffer is not None:
            n_rows += len(buffer.addedFeatures()) - len(buffer.deletedFeatureIds())
        if value is not None and value.selectedFeaturesOnly:
            # A filter set after the selection may hide what is selected.
            n_rows = None if layer.subsetString() else layer.selectedFeatureCount()
        if value is not None and value.featureLimit >= 0 and n_rows is not None:
            n_rows = min(n_rows, value.featureLimit)
        return n_rows


def _with_all_of_one_name(request: QgsFeatureRequest, fields: QgsFields) -> QgsFeatureRequest:
    """The request; for all fields where two have names that differ in case only.

    GDAL would leave out both where one is not asked for, and QGIS show no values.
    """
    if len({name.lower() for name in fields.names()}) == len(fields):
        return request
    whole = QgsFeatureRequest(request)
    return whole.setFlags(whole.flags() & ~QgsFeatureRequest.Flag.SubsetOfAttributes)


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
        found = _look_at_file(file, layer, names, parameter)
        yield found if file.plain and found.n_rows is not None else Held(count_again(layer))
    refuse_changed(file.path, before, parameter)


def state_of(path: Path) -> list[tuple[int, int, int] | None]:
    """Which file this is, how large and when written; its side files too."""
    states: list[tuple[int, int, int] | None] = []
    for one in (path, *(path.with_suffix(end) for end in _SIDE_FILES)):
        try:
            found = one.stat()
        except OSError:
            states.append(None)
        else:
            states.append((found.st_ino, found.st_size, found.st_mtime_ns))
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


@contextmanager
def errors_of_readers(parameter: str) -> Iterator[None]:
    """Raise InputError for what GDAL reports while the block runs: QGIS would end the rows there, without a word."""
    found: list[str] = []

    def note(kind: int, _: int, text: str) -> None:
        altered = any(word in text.lower() for word in _ALTERED)
        if kind >= gdal.CE_Failure or (kind == gdal.CE_Warning and altered):
            found.append(text)

    with told_to_handlers():
        gdal.PushErrorHandler(note)
        try:
            yield
        finally:
            gdal.PopErrorHandler()
    if found:
        raise InputError(
            tr(
                "{parameter} cannot be read as it is ({found}): correct it, or use an undamaged copy.",
                parameter=parameter,
                found=found[0].strip().rstrip("."),
            )
        )


def refuse_undecoded(parameter: str, field: str, values: Sequence[object]) -> None:
    """Raise InputError for text whose bytes were not in the layer's encoding: different values would become one."""
    wrong = [value for value in values if isinstance(value, str) and REPLACEMENT in value]
    if wrong:
        raise undecoded(parameter, field, wrong)


def undecoded(parameter: str, field: str, wrong: Sequence[object]) -> InputError:
    """The sentence about text in another encoding than the layer's."""
    shown = first_values(str(value)[:40] for value in wrong)
    return InputError(
        tr(
            "{parameter}: field “{field}” holds text that is not in the encoding of the layer (first: "
            "{shown}): save it as UTF-8, or choose its encoding, such as ISO-8859-1 or windows-1252, in the "
            "layer's properties under Source.",
            parameter=parameter,
            field=field,
            shown=shown,
        )
    )


def refuse_unreadable(parameter: str, fields: QgsFields, names: Sequence[str]) -> None:
    """Raise InputError for fields of lists, maps or bytes, whose values are no categories."""
    for name in names:
        one = fields.field(name)
        if not one.isNumeric() and kind_of(one) is None:
            kind = one.typeName() or tr("lists, maps or bytes")
            raise InputError(
                tr(
                    "{parameter}: field “{name}” holds {kind}, not single values: put them into fields of "
                    "text or numbers.",
                    parameter=parameter,
                    name=name,
                    kind=kind,
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
    return next((found[1] for found in parts if len(found) > 1), "")


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


def checked_source(given: Given, name: str) -> CheckedSource | None:
    """The source of a parameter, None where no layer is given."""
    algorithm, context = given.algorithm, given.context
    source = algorithm.parameterAsSource(given.parameters, name, context)
    if source is None:
        return None
    value = given.parameters.get(name)
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        # QGIS finds the layer behind a definition only by what the definition was made from.
        given = given.with_parameters(**{name: value.source.valueAsString(context.expressionContext())[0]})
    return CheckedSource(name, source, value, algorithm.parameterAsVectorLayer(given.parameters, name, context))
