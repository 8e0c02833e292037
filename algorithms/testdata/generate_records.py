"""Records of people who do not exist, for any areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFeatureSink,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
)

from ...core.errors import InputError
from ...core.records.columns import Column
from ...core.synthetic.canada import canadian_distributions
from ...core.synthetic.generator import SpatialTilt, generate_records, province_from_identifiers
from ...core.synthetic.microdata import estimate_distributions, microdata_rows
from ..compat import field
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of, values_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Counts
from ..form.form import Form
from ..form.regions import TABLE
from ..layers.distributions import read_distributions
from ..layers.tables import INTERNAL, TEST_DATA, StreamedTable
from . import microdata

INDEPENDENT, WHOLE_ROWS = "independent attributes", "whole rows"
RECORDS = "Generated records"


class GenerateRecords(VbasAlgorithm):
    """`vbas:generaterecords`."""

    ID = "generaterecords"
    TAGS = "synthetic,test data,microdata"
    SUMMARY = "Makes test records for any layer of areas from shares of categories by province."
    HELP = (
        "<p>Draws as many people as each area has, each attribute independently from the shares of the area's "
        "province, as the published comparison of these methods did (Croft et al. 2015, section 4.1). Nobody in such "
        "a result exists.</p><p>The shares come from a table, from microdata, or are made up. From microdata whole "
        "rows can be drawn too, by their weights: then age, income and tenure fit together as they do among real "
        "people, because every row of the result is that of a real person: it is internal, as the microdata are. "
        "Independent shares can vary from neighbourhood to neighbourhood.</p><p>Use it to try settings, to teach, or "
        "to test before real records may be used.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *area_parameters(),
            shared.described(
                QgsProcessingParameterField("PROVINCE", "Province", parentLayerParameterName="REGIONS", optional=True),
                "The field that says which shares an area draws from. Without it the leading characters of the "
                "identifier are used: Statistics Canada's identifiers begin with the province.",
            ),
            shared.described(
                QgsProcessingParameterNumber(
                    "PROVINCE_CHARACTERS",
                    "Leading characters that tell the province",
                    type=shared.INTEGER,
                    defaultValue=2,
                    minValue=1,
                ),
                "For areas without a field of the province.",
                advanced=True,
            ),
            shared.described(
                QgsProcessingParameterFeatureSource(
                    "DISTRIBUTIONS",
                    "Distributions",
                    [QgsProcessing.SourceType.TypeVector],
                    optional=True,
                ),
                "A table with the fields province, attribute, category and share, as “Estimate distributions” gives "
                "it. Without it and without microdata, made-up shares for the provinces of Canada.",
            ),
            *_likeness(),
            *(
                shared.described(
                    QgsProcessingParameterNumber(name, label, type=shared.INTEGER, defaultValue=default, minValue=0),
                    "Without a population field: people in an area are drawn between these, both included.",
                    advanced=True,
                )
                for name, label, default in (("LEAST", "Least people", 400), ("MOST", "Most people", 700))
            ),
            shared.seed(),
            _records(),
        ):
            self.addParameter(parameter)
        self.addNumbers(N_RECORDS="Records")

    def counts(self) -> Counts:
        of_microdata = ("MICRODATA_PROVINCE", "ATTRIBUTES", "WEIGHT", "MISSING")
        return {
            "PROVINCE_CHARACTERS": [{"PROVINCE": NOT_GIVEN}],
            "LEAST": [{"POPULATION": NOT_GIVEN}],
            "MOST": [{"POPULATION": NOT_GIVEN}],
            "REACH": [{"VARIATION": GIVEN}],
            **{name: [{"MICRODATA": GIVEN}] for name in of_microdata},
        }

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form)
        identifiers = layer.areas.identifiers
        province = form.text("PROVINCE")
        if province:
            provinces: Sequence[object] = values_of(form, "REGIONS", province)
        else:
            characters = form.whole("PROVINCE_CHARACTERS")
            provinces = province_from_identifiers(identifiers, characters)
        source = _source(form)
        for note in source.notes:
            form.info(note)
        variation = form.number("VARIATION")
        reach = form.number("REACH")
        limits = tuple(form.whole(name) for name in ("LEAST", "MOST"))
        people = generate_records(
            identifiers,
            provinces,
            source,
            layer.areas.population if layer.has_population else limits,
            form.whole("SEED"),
            tilt=SpatialTilt(layer.areas.points, variation, reach) if variation else None,
        )

        def parts() -> Iterator[Sequence[Column]]:
            for chunk in people.chunks(progress=form.progress(0)):
                yield [chunk.area, *chunk.quasi_identifiers.values()]

        fields = [field(name, "text") for name in (layer.id_field.name(), *people.fields)]
        kind = INTERNAL if form.text("DRAW") == WHOLE_ROWS else TEST_DATA
        table = StreamedTable(fields, (), n_rows=len(people), parts=parts)
        form.outputs.add("RECORDS", table, title=f"{RECORDS} ({kind})")
        return {"N_RECORDS": len(people)}


def _source(form: Form):
    """What people are drawn from: shares, or rows of microdata. Raises InputError where the choices do not fit."""
    table = form.optional_source("DISTRIBUTIONS")
    has_microdata = form.optional_source("MICRODATA") is not None
    whole_rows = form.text("DRAW") == WHOLE_ROWS
    if table is not None and has_microdata:
        raise InputError("DISTRIBUTIONS and MICRODATA are both given: choose one of them.")
    if whole_rows and not has_microdata:
        raise InputError(f"DRAW is “{WHOLE_ROWS}”, but MICRODATA is not given: give the rows to draw from.")
    if has_microdata:
        columns = microdata.columns_of(form, "MICRODATA_PROVINCE")
        return (microdata_rows if whole_rows else estimate_distributions)(*columns.arguments)
    return canadian_distributions() if table is None else read_distributions(table, form.feedback)


def _records() -> QgsProcessingParameterDefinition:
    """RECORDS: what kind of output it is depends on DRAW; the layer says which it became."""
    return shared.described(
        QgsProcessingParameterFeatureSink(
            "RECORDS", f"{RECORDS} ({TEST_DATA}), of {WHOLE_ROWS} ({INTERNAL})", TABLE, createByDefault=True
        ),
        "A row per person: the area's identifier under its own name, and the attributes. Nobody in it exists, unless "
        f"DRAW is “{WHOLE_ROWS}”: then each row is a real person's, only the area is made up. Internal: do not publish "
        "it.",
    )


def _likeness() -> Iterator[QgsProcessingParameterDefinition]:
    """DRAW and the microdata it may draw from, VARIATION and REACH: what makes the people more like real ones."""
    yield shared.choice(
        "DRAW",
        "How people are drawn",
        [INDEPENDENT, WHOLE_ROWS],
        INDEPENDENT,
        f"“{INDEPENDENT}”: every attribute by itself from the shares; “{WHOLE_ROWS}”: a row of the microdata with all "
        "its attributes. What a row tells of a person is then in the result, which is internal: do not publish it.",
        advanced=True,
    )
    yield from microdata.microdata("MICRODATA_PROVINCE", optional=True)
    for name, label, default, text in (
        (
            "VARIATION",
            "Variation over the map",
            0.0,
            "How much shares differ from neighbourhood to neighbourhood: 0 not at all, 0.5 as in a city, 1 much. Each "
            "province as a whole keeps its shares.",
        ),
        ("REACH", "Size of a neighbourhood, metres", 5000.0, "How far the shares stay alike."),
    ):
        yield shared.described(
            QgsProcessingParameterNumber(name, label, type=shared.REAL, defaultValue=default, minValue=0.0),
            text,
            advanced=True,
        )
