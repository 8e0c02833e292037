"""What cannot be read as it is, refused in one sentence: what a reader reports, other encodings, fields of no single
values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from osgeo import gdal
from qgis.core import QgsFields

from ....core.errors import InputError, first_values
from ....core.job.values import REPLACEMENT
from ....core.language import tr
from ....core.records.table_file import altered_values, unread_as_it_is
from ...compat import kind_of
from ..gdal_errors import told_to_handlers


@contextmanager
def errors_of_readers(parameter: str) -> Iterator[None]:
    """Raise InputError for what GDAL reports while the block runs: QGIS would end the rows there, without a word."""
    errors: list[str] = []

    def note(kind: int, _: int, text: str) -> None:
        if kind >= gdal.CE_Failure or (kind == gdal.CE_Warning and altered_values([text])):
            errors.append(text)

    with told_to_handlers():
        gdal.PushErrorHandler(note)
        try:
            yield
        finally:
            gdal.PopErrorHandler()
    if errors:
        raise unread_as_it_is(parameter, errors[0])


def refuse_undecoded(parameter: str, field: str, values: Sequence[object]) -> None:
    """Raise InputError for text whose bytes were not in the layer's encoding: different values would become one."""
    wrong = [value for value in values if isinstance(value, str) and REPLACEMENT in value]
    if wrong:
        raise undecoded(parameter, field, wrong)


def undecoded(parameter: str, field: str, wrong: Sequence[object]) -> InputError:
    """The sentence about text in another encoding than the layer's."""
    shown = first_values(str(value)[:40] for value in wrong)
    return InputError.saying(
        "{parameter}: field “{field}” holds text that is not in the encoding of the layer (first: {shown}): save it as "
        "UTF-8, or choose its encoding, such as ISO-8859-1 or windows-1252, in the layer's properties under Source.",
        parameter=parameter,
        field=field,
        shown=shown,
    )


def refuse_undecoded_name(parameter: str, name: str) -> None:
    """Raise InputError for a field's name whose bytes were not in the layer's encoding: it would be released so."""
    if REPLACEMENT in name:
        raise InputError.saying(
            "{parameter}: the name of the field “{name}” is not in the encoding of the layer: save it as UTF-8, or "
            "choose its encoding, such as ISO-8859-1 or windows-1252, in the layer's properties under Source.",
            parameter=parameter,
            name=name,
        )


def refuse_unreadable(parameter: str, fields: QgsFields, names: Sequence[str]) -> None:
    """Raise InputError for fields of lists, maps or bytes, whose values are no categories."""
    for name in names:
        field = fields.field(name)
        if not field.isNumeric() and kind_of(field) is None:
            kind = field.typeName() or tr("lists, maps, bytes or shapes")
            raise InputError.saying(
                "{parameter}: field “{name}” holds {kind}, not single values: put them into fields of text or numbers.",
                parameter=parameter,
                name=name,
                kind=kind,
            )
