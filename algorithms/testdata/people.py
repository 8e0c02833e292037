"""What the people of test records are drawn from, microdata or shares: declared, read and written."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsProcessingFeedback, QgsProcessingParameterDefinition, QgsProcessingParameterFeatureSink

from ...core.areas import identifier_text
from ...core.dataclass import dataclass
from ...core.errors import InputError
from ...core.language import tr
from ...core.synthetic.canada import canadian_distributions
from ...core.synthetic.distributions import Distributions, make_distributions
from ...core.synthetic.microdata import MicrodataRows, estimate_distributions, microdata_rows, missing_codes
from ...core.tables.schema import INTERNAL, TEST_DATA
from ...core.tables.testdata import DISTRIBUTIONS, GENERATED
from ..form.form import Form
from ..form.parameters import TABLE, choice, described, field, number, source, text, whole
from ..layers.reading.checked_source import CheckedSource, field_index
from ..layers.reading.records import read_columns
from ..layers.tables import Table, filled

INDEPENDENT, WHOLE_ROWS = "independent attributes", "whole rows"


def people_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """PROVINCE, PROVINCE_CHARACTERS, DISTRIBUTIONS, DRAW, the microdata, VARIATION, REACH, LEAST, MOST."""
    yield field(
        "PROVINCE",
        tr("Province"),
        "REGIONS",
        tr(
            "The field that says which shares an area draws from. Without it the leading characters of the "
            "identifier are used: Statistics Canada's identifiers begin with the province."
        ),
        optional=True,
    )
    text = tr("For areas without a field of the province.")
    yield whole("PROVINCE_CHARACTERS", tr("Leading characters that give the province"), 2, text, 1, advanced=True)
    yield source(
        "DISTRIBUTIONS",
        tr("Distributions"),
        tr(
            "A table with the fields province, attribute, category and share, as “Estimate distributions” makes it. "
            "Without it and without microdata, made-up shares for the provinces of Canada."
        ),
        optional=True,
    )
    yield choice(
        "DRAW",
        tr("How people are drawn"),
        [INDEPENDENT, WHOLE_ROWS],
        INDEPENDENT,
        tr(
            "“{independent}”: every attribute by itself from the shares; “{whole_rows}”: a row of the "
            "microdata with all its attributes. What a row says about a person is then in the result, which "
            "is internal: do not publish it.",
            independent=INDEPENDENT,
            whole_rows=WHOLE_ROWS,
        ),
        advanced=True,
    )
    yield from microdata("MICRODATA_PROVINCE", optional=True)
    yield number(
        "VARIATION",
        tr("Variation over the map"),
        0.0,
        tr(
            "How much shares differ from neighbourhood to neighbourhood: 0 not at all, 0.5 as in a city, 1 much. Each "
            "province as a whole keeps its shares."
        ),
        0.0,
        advanced=True,
    )
    text = tr("How far the shares stay alike.")
    yield number("REACH", tr("Size of a neighbourhood, metres"), 5000.0, text, 0.0, advanced=True)
    text = tr("Without a population field: the number of people in an area is drawn between these, both included.")
    for name, label, default in (("LEAST", tr("Fewest people"), 400), ("MOST", tr("Most people"), 700)):
        yield whole(name, label, default, text, 0, advanced=True)


def records_output() -> QgsProcessingParameterDefinition:
    """RECORDS: what kind of output it is depends on the shares; the layer says which it became."""
    label = tr(
        "{records} ({test_data}), of given shares or microdata ({internal})",
        records=GENERATED.title,
        test_data=TEST_DATA,
        internal=INTERNAL,
    )
    return described(
        QgsProcessingParameterFeatureSink("RECORDS", label, TABLE, createByDefault=True),
        GENERATED.explained,
    )


def source_of(form: Form) -> Distributions | MicrodataRows:
    """What people are drawn from: shares, or rows of microdata. Raises InputError where the choices do not fit."""
    has_microdata = form.layers.optional_source("MICRODATA") is not None
    distributions = form.layers.optional_source("DISTRIBUTIONS")
    whole_rows = form.text("DRAW") == WHOLE_ROWS
    if distributions is not None and has_microdata:
        raise InputError.saying("DISTRIBUTIONS and MICRODATA are both given: choose one of them.")
    if whole_rows and not has_microdata:
        raise InputError.saying(
            "DRAW is “{whole_rows}”, but MICRODATA is not given: give the rows to draw from.", whole_rows=WHOLE_ROWS
        )
    if has_microdata:
        columns = microdata_of(form, "MICRODATA_PROVINCE")
        read = microdata_rows if whole_rows else estimate_distributions
        return read(columns.provinces, columns.attributes, columns.weights, columns.missing)
    return canadian_distributions() if distributions is None else read_distributions(distributions, form.feedback)


@dataclass(frozen=True)
class MicrodataColumns:
    """Columns of microdata, as `estimate_distributions` and `microdata_rows` take them."""

    provinces: list[object]
    attributes: dict[str, list[object]]
    weights: list[object] | None
    missing: dict[str, list[str]]


def microdata(province: str, optional: bool) -> Iterable[QgsProcessingParameterDefinition]:
    """MICRODATA, its province under the given name, ATTRIBUTES, WEIGHT and MISSING."""
    flags = {"optional": optional, "advanced": optional}
    yield source("MICRODATA", tr("Microdata"), tr("A table of persons, such as a public-use microdata file."), **flags)
    help_text = tr("The field that says which province a row is from.")
    yield field(province, tr("Province of the person"), "MICRODATA", help_text, **flags)
    yield field("ATTRIBUTES", tr("Attributes"), "MICRODATA", tr("The fields to take over."), several=True, **flags)
    help_text = tr("How many people a row stands for; without it every row counts once.")
    yield field("WEIGHT", tr("Weight"), "MICRODATA", help_text, optional=True, advanced=optional)
    yield text(
        "MISSING",
        tr("Codes for not stated"),
        None,
        tr(
            "Codes to leave out, separated by commas, for all attributes; for one attribute after its name "
            "and a colon, parts separated by semicolons: “6, 9; age: 96, 99” leaves out 6 and 9 everywhere "
            "but in age, where 6 and 9 are age groups. Empty values are left out in any case."
        ),
        optional=True,
        advanced=optional,
    )


def microdata_of(form: Form, province: str) -> MicrodataColumns:
    """MICRODATA, read; province : the parameter that names the province's field. Raises InputError."""
    source = form.layers.source("MICRODATA")
    attributes = form.field_names("ATTRIBUTES")
    weight = form.text("WEIGHT")
    place = form.text(province)
    for parameter, names in ((province, [place]), ("ATTRIBUTES", attributes), ("WEIGHT", [weight] if weight else [])):
        for name in names:
            field_index(source.fields(), name, parameter, "MICRODATA")
    missing = missing_codes(form.text("MISSING"), attributes)
    wanted = list(dict.fromkeys([place, *attributes, *([weight] if weight else [])]))
    columns = read_columns(source, wanted, form.feedback)
    # Categories are words: what reads 2, 2.0 or “2” is one, and test records hold texts.
    texts = {
        name: np.array([identifier_text(value) for value in column.categories.tolist()], object)
        for name, column in columns.items()
    }
    values = {name: texts[name][column.codes].tolist() for name, column in columns.items()}
    return MicrodataColumns(
        values[place], {name: values[name] for name in attributes}, values[weight] if weight else None, missing
    )


def read_distributions(table: CheckedSource, feedback: QgsProcessingFeedback) -> Distributions:
    """DISTRIBUTIONS, read and checked. Raises InputError."""
    for name in DISTRIBUTIONS.names:
        field_index(table.fields(), name, "DISTRIBUTIONS", "DISTRIBUTIONS")
    columns = read_columns(table, DISTRIBUTIONS.names, feedback)
    return make_distributions(*(column.categories[column.codes].tolist() for column in columns.values()))


def distributions_table(distributions: Distributions) -> Table:
    """DISTRIBUTIONS: all shares above 0, as `read_distributions` reads them; a missing category is NULL."""
    columns = dict(zip(DISTRIBUTIONS.names, map(list, zip(*distributions.rows()))))
    columns["category"] = [None if category is None else str(category) for category in columns["category"]]
    return filled(DISTRIBUTIONS, columns)
