"""The parameters that describe a file of microdata, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterString,
)

from ...core.areas import identifier_text
from ...core.synthetic.microdata import missing_codes
from ..form import parameters as shared
from ..form.form import Form
from ..layers.fields import field_index
from ..layers.records import read_columns


@dataclass(frozen=True)
class MicrodataColumns:
    """Columns of microdata as core takes them: `estimate_distributions(*columns.arguments)`, `microdata_rows` alike."""

    provinces: list[object]
    attributes: dict[str, list[object]]
    weights: list[object] | None
    missing: dict[str, list[str]]

    @property
    def arguments(self) -> tuple[object, ...]:
        """All four in the order core asks for them."""
        return self.provinces, self.attributes, self.weights, self.missing


def microdata(province: str, optional: bool) -> Iterable[QgsProcessingParameterDefinition]:
    """MICRODATA, its province under the given name, ATTRIBUTES, WEIGHT and MISSING."""
    yield shared.described(
        QgsProcessingParameterFeatureSource(
            "MICRODATA", "Microdata", [QgsProcessing.SourceType.TypeVector], optional=optional
        ),
        "A table of persons, such as a public-use microdata file.",
        advanced=optional,
    )
    fields = (
        (province, "Province of the person", "The field that says which province a row is from.", False, optional),
        ("ATTRIBUTES", "Attributes", "The fields to take over.", True, optional),
        ("WEIGHT", "Weight", "How many people a row stands for; without it every row counts once.", False, True),
    )
    for name, label, text, several, may_be_empty in fields:
        yield shared.described(
            QgsProcessingParameterField(
                name,
                label,
                parentLayerParameterName="MICRODATA",
                allowMultiple=several,
                optional=may_be_empty,
            ),
            text,
            advanced=optional,
        )
    yield shared.described(
        QgsProcessingParameterString("MISSING", "Codes for not stated", optional=True),
        "Codes to leave out, separated by commas, for all attributes; for one attribute after its name and a colon, "
        "parts separated by semicolons: “6, 9; age: 96, 99” leaves out 6 and 9 everywhere but in age, where 6 and 9 "
        "are age groups. Empty values are left out in any case.",
        advanced=optional,
    )


def columns_of(form: Form, province: str) -> MicrodataColumns:
    """MICRODATA, read; province : the parameter that names the province's field. Raises InputError."""
    source = form.source("MICRODATA")
    attributes = form.field_names("ATTRIBUTES")
    weight = form.text("WEIGHT")
    place = form.text(province)
    for parameter, names in ((province, [place]), ("ATTRIBUTES", attributes), ("WEIGHT", [weight] if weight else [])):
        for name in names:
            field_index(source.fields(), name, parameter, "MICRODATA")
    missing = missing_codes(form.text("MISSING"), attributes)
    wanted = list(dict.fromkeys([place, *attributes, *([weight] if weight else [])]))
    found = read_columns(source, wanted, form.feedback)
    # Categories are words: what reads 2, 2.0 or “2” is one, and test records hold texts.
    texts = {
        name: np.array([identifier_text(value) for value in column.categories.tolist()], object)
        for name, column in found.items()
    }
    values = {name: texts[name][column.codes].tolist() for name, column in found.items()}
    return MicrodataColumns(
        values[place], {name: values[name] for name in attributes}, values[weight] if weight else None, missing
    )
