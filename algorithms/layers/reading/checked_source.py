"""A source of features that gives all its rows as they are, or one sentence.

Readers below QGIS stop at a damaged page, read past a lock or turn text in a numeric field into 0, and say so only in a
log. Here the rows are counted again without them, their errors are checked after each batch, and the files behind a
layer must be the same afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

from qgis.core import (
    QgsFeature,
    QgsFeatureRequest,
    QgsFields,
    QgsProcessingFeatureSource,
    QgsProcessingFeatureSourceDefinition,
    QgsProviderRegistry,
    QgsVectorLayer,
)

from ....core.errors import InputError, first_values
from ....core.job.values import no_field
from ....core.language import plural, tr
from ..inputs import Inputs
from .layer_file import held, not_read, rows_in_database
from .unreadable import errors_of_readers, refuse_undecoded, refuse_undecoded_name, refuse_unreadable

SKIP_CHECK = QgsProcessingFeatureSource.Flag.FlagSkipGeometryValidityChecks
_AT_ONCE = 200
_NUMBERED = re.compile(r"(.*)_[0-9]+", re.DOTALL)


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
    def is_in_part(self) -> bool:
        """Whether rows are left out: by what the parameter takes, or by a filter of the layer."""
        return self.is_restricted or (self.layer is not None and bool(self.layer.subsetString()))

    @property
    def unsaved_or_filtered(self) -> list[str]:
        """Sentences on what the layer leaves out or adds that nobody chose in the form."""
        return unsaved_or_filtered(self.name, self.layer)

    @property
    def taken(self) -> list[str]:
        """Sentences on all that makes the rows that are read others than those of the layer as it is saved."""
        return [*self.unsaved_or_filtered, *chosen(self.name, self.layer, self._value)]

    @property
    def plain_layer(self) -> QgsVectorLayer | None:
        """The layer, unless the parameter restricts it."""
        return None if self.is_restricted else self.layer

    def getFeatures(
        self, request: QgsFeatureRequest | None = None, flags: QgsProcessingFeatureSource.Flag = SKIP_CHECK
    ) -> Iterator[QgsFeature]:
        """The features one by one. Raises InputError where not all can be read as they are."""
        request = QgsFeatureRequest() if request is None else request
        fields = self._source.fields()
        names = {index: fields[index].name() for index in self._wanted(request)}
        for chunk in self.chunks(request, flags, _AT_ONCE):
            for index, name in names.items():
                refuse_undecoded(self.name, name, [feature[index] for feature in chunk])
            yield from chunk

    def chunks(
        self, request: QgsFeatureRequest, flags: QgsProcessingFeatureSource.Flag = SKIP_CHECK, size: int = 10_000
    ) -> Iterator[list[QgsFeature]]:
        """The features, so many at once. Raises InputError where not all can be read."""
        fields = self._source.fields()
        names = [fields[i].name() for i in self._wanted(request)]
        refuse_unreadable(self.name, fields, names)
        # The reader opens the files before they are held: closing a file gives up the locks on it.
        features = self._source.getFeatures(with_all_of_one_name(request, fields), flags)
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
                raise not_read(self.name)
            while True:
                with errors_of_readers(self.name):
                    chunk = list(islice(features, size))
                if not chunk:
                    break
                done += len(chunk)
                if n_rows is None or done <= n_rows:
                    yield chunk
            if not done and self.layer is not None and self.layer.providerType() == "postgres":
                n_there = rows_in_database(self.layer, self.name)
                n_rows = n_rows if self.is_restricted else n_there
            if n_rows is not None and done != n_rows:
                raise InputError.counting(
                    "{name}: {n} row was read where {n_rows} are: the data are damaged, or another program is changing "
                    "them. Load the layer again and run again.",
                    "{name}: {n} rows were read where {n_rows} are: the data are damaged, or another program is "
                    "changing them. Load the layer again and run again.",
                    done,
                    name=self.name,
                    n_rows=n_rows,
                )

    def _wanted(self, request: QgsFeatureRequest) -> list[int]:
        if request.flags() & QgsFeatureRequest.Flag.SubsetOfAttributes:
            return list(request.subsetOfAttributes())
        return list(range(len(self._source.fields())))

    def _expected(self, n_rows: int | None) -> int | None:
        """How many rows the source must give, from how many the table behind the layer has; None where not known."""
        layer, value = self.layer, self._value
        if layer is None or (value is not None and bool(getattr(value, "filterExpression", ""))):
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


def with_all_of_one_name(request: QgsFeatureRequest, fields: QgsFields) -> QgsFeatureRequest:
    """The request; for all fields where two have names that differ in case only, or one name in the file.

    GDAL would leave out both where one is not asked for, and QGIS show no values. Of two fields of one name, as a CSV
    file may have them, QGIS shows the second with a number behind it.
    """
    names = {name.lower() for name in fields.names()}
    numbered = (_NUMBERED.fullmatch(name) for name in names)
    if len(names) == len(fields) and not any(match is not None and match[1] in names for match in numbered):
        return request
    whole = QgsFeatureRequest(request)
    return whole.setFlags(whole.flags() & ~QgsFeatureRequest.Flag.SubsetOfAttributes)


def checked_source(inputs: Inputs, name: str) -> CheckedSource | None:
    """The source of a parameter, None where no layer is given."""
    algorithm, context = inputs.algorithm, inputs.context
    source = inputs.source(name)
    if source is None:
        return None
    value = inputs.parameters.get(name)
    if isinstance(value, QgsProcessingFeatureSourceDefinition):
        # QGIS finds the layer behind a definition only by what the definition was made from.
        inputs = inputs.with_parameters(**{name: value.source.valueAsString(context.expressionContext())[0]})
    layer = algorithm.parameterAsVectorLayer(inputs.parameters, name, context)
    refuse_unheaded_sheet(name, layer)
    return CheckedSource(name, source, value, layer)


SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
_NAMED_BY_GDAL = re.compile(r"Field\d+")


def refuse_unheaded_sheet(parameter: str, layer: QgsVectorLayer | None) -> None:
    """Raise InputError for a sheet whose fields GDAL named: its headings would be read as one more person."""
    if layer is None or layer.providerType() != "ogr":
        return
    path = str(QgsProviderRegistry.instance().decodeUri("ogr", layer.source()).get("path", ""))
    names = layer.fields().names()
    if path.lower().endswith(SHEETS) and names and all(map(_NAMED_BY_GDAL.fullmatch, names)):
        raise InputError.saying(
            "{parameter}: the first row of this sheet was not taken for headings, so that its fields are called "
            "{field}, … and the headings are read as a record. Save the sheet as CSV and load that.",
            parameter=parameter,
            field=names[0],
        )


def unsaved_or_filtered(parameter: str, layer: QgsVectorLayer | None) -> list[str]:
    """A sentence for a filter on the layer, and one for edits in it that were not saved: nobody chose these here."""
    if layer is None:
        return []
    said = []
    if layer.subsetString():
        said.append(
            tr(
                "{parameter} is filtered: {filter}. What the filter leaves out is not there for this run.",
                parameter=parameter,
                filter=layer.subsetString(),
            )
        )
    if layer.isModified():
        said.append(
            tr(
                "{parameter} has edits that were not saved: it is read with them, as QGIS shows it.",
                parameter=parameter,
            )
        )
    return said


def chosen(
    parameter: str, layer: QgsVectorLayer | None, value: QgsProcessingFeatureSourceDefinition | None
) -> list[str]:
    """A sentence for each way in which the form takes a part of the layer: selection, number, expression."""
    if value is None:
        return []
    said = []
    if value.selectedFeaturesOnly:
        said.append(
            plural(
                "Of {parameter} only the selected feature is read.",
                "Of {parameter} only the {n} selected features are read.",
                0 if layer is None else layer.selectedFeatureCount(),
                parameter=parameter,
            )
        )
    if value.featureLimit >= 0:
        said.append(
            plural(
                "Of {parameter} at most {n} feature is read.",
                "Of {parameter} at most {n} features are read.",
                value.featureLimit,
                parameter=parameter,
            )
        )
    expression = getattr(value, "filterExpression", "")  # since QGIS 3.32
    if expression:
        said.append(
            tr(
                "Of {parameter} only the features for which this holds are read: {expression}.",
                parameter=parameter,
                expression=expression,
            )
        )
    return said


def field_index(fields: QgsFields, name: str, parameter: str, layer: str) -> int:
    """Position of a field. Raises InputError that lists the fields there are."""
    index = fields.lookupField(name) if name else -1
    if index < 0:
        raise InputError(no_field(name, parameter, layer, first_values(fields.names(), 12)))
    refuse_undecoded_name(layer, fields[index].name())
    return index
