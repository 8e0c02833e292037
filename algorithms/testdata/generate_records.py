"""Records of people who do not exist, for any areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.language import as_data, tr
from ...core.records.columns import Column
from ...core.synthetic.generator import SpatialTilt, generate_records, province_from_identifiers
from ...core.tables.schema import INTERNAL, TEST_DATA
from ...core.tables.testdata import GENERATED
from ..compat import field
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..layers.tables import StreamedTable
from . import people


class GenerateRecords(VbasAlgorithm):
    """`vbas:generaterecords`."""

    ID = "generaterecords"
    TAGS = as_data("synthetic,test data,microdata")
    SUMMARY = tr("Makes test records for any layer of areas from shares of categories by province.")
    HELP = tr(
        "<p>Draws as many people as each area has, each attribute independently from the shares of the area's "
        "province, as the published comparison of these methods did (Croft et al. 2015, section 4.1). Where the shares "
        "are made up, nobody in such a result exists.</p><p>The shares come from a table, from microdata, or are made "
        "up. From microdata whole rows can be drawn too, by their weights: then age, income and tenure fit together as "
        "they do among real people, because every row of the result is a real person's. It is internal, as the "
        "microdata are.</p><p>So are records drawn attribute by attribute from microdata, or from a table of shares: a "
        "value that one person alone has may stand in them, the shares follow from many of them, and of a province "
        "with a single row each is that person's. Only you know whether the shares may be published.</p><p>Independent "
        "shares can vary from neighbourhood to neighbourhood. Use it to try settings, to teach, or to test before real "
        "records may be used.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *people.people_parameters(),
            shared.seed(),
            people.records_output(),
        )
        self.addNumbers(N_RECORDS=tr("Records"))

    def conditions(self) -> Conditions:
        of_microdata = ("MICRODATA_PROVINCE", "ATTRIBUTES", "WEIGHT", "MISSING")
        return {
            "PROVINCE_CHARACTERS": [{"PROVINCE": NOT_GIVEN}],
            "LEAST": [{"POPULATION": NOT_GIVEN}],
            "MOST": [{"POPULATION": NOT_GIVEN}],
            "REACH": [{"VARIATION": GIVEN}],
            **{name: [{"MICRODATA": GIVEN}] for name in of_microdata},
        }

    def work(self, form: Form) -> dict[str, object]:
        layer = areas_of(form.job)
        identifiers = layer.areas.identifiers
        province = form.text("PROVINCE")
        if province:
            provinces: Sequence[object] | np.ndarray = form.job.values_of_areas(province, layer.areas)
        else:
            provinces = province_from_identifiers(identifiers, form.whole("PROVINCE_CHARACTERS"))
        source = people.source_of(form)
        form.info(*source.notes)
        variation = form.number("VARIATION")
        limits = form.whole("LEAST"), form.whole("MOST")
        drawn = generate_records(
            identifiers,
            provinces,
            source,
            layer.areas.population if layer.has_population else limits,
            form.whole("SEED"),
            tilt=SpatialTilt(layer.areas.points, variation, form.number("REACH")) if variation else None,
        )

        def parts() -> Iterator[Sequence[Column]]:
            for chunk in drawn.chunks():
                yield [chunk.area, *chunk.quasi_identifiers.values()]

        fields = [field(name, "text") for name in (layer.id_field.name(), *drawn.fields)]
        made_up = not any(form.given(name) for name in ("DISTRIBUTIONS", "MICRODATA"))
        kind = TEST_DATA if made_up else INTERNAL
        table = StreamedTable(fields, (), n_rows=len(drawn), parts=parts)
        form.outputs.add("RECORDS", table, title=f"{GENERATED.title} ({kind})", progress=form.progress())
        return {"N_RECORDS": len(drawn)}
