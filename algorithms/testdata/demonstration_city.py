"""A made-up city to try everything on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qgis.core import QgsCoordinateReferenceSystem

from ...core.language import as_data, tr
from ...core.records.columns import Column
from ...core.synthetic.city import CRS, demonstration_city
from ...core.tables.testdata import CITY_AREAS, CITY_RECORDS
from ..compat import field
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.form import Form
from ..layers.tables import StreamedTable, filled


class DemonstrationCity(VbasAlgorithm):
    """`vbas:demonstrationcity`."""

    ID = "demonstrationcity"
    TAGS = as_data("synthetic,test data,example,demo")
    SUMMARY = tr("Makes up a city of about 1 100 areas and 600 000 people to try the other algorithms on.")
    HELP = tr(
        "<p>Prairie Junction does not exist: streets, river, areas and people are made up from the seed, on open "
        "prairie in Manitoba. It has a dense centre, suburbs, rural edges and a river without people. The records have "
        "six attributes whose shares differ by district, and a diagnosis that depends on age and is not a "
        "quasi-identifier.</p><p>Use it to learn: anonymise RECORDS over AREAS with “area” as the identifier of both, "
        "age_group, sex, … as quasi-identifiers, and keep diagnosis.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            shared.seed(),
            shared.sink(CITY_AREAS, optional=True),
            shared.sink(CITY_RECORDS, optional=True),
        )
        self.addNumbers(N_AREAS=tr("Areas"), N_RECORDS=tr("Records"))

    def work(self, form: Form) -> dict[str, object]:
        seed = form.whole("SEED")
        city = demonstration_city(seed, form.progress(0, 40))
        people = city.people()
        areas = filled(
            CITY_AREAS,
            {"area": city.identifiers, "district": city.districts, "population": city.population},
            shapes=city.polygons,
            crs=QgsCoordinateReferenceSystem(CRS),
        )
        form.outputs.add("AREAS", areas)

        def parts() -> Iterator[Sequence[Column]]:
            for chunk in people.chunks():
                yield [chunk.area, *chunk.quasi_identifiers.values(), *chunk.kept.values()]

        fields = [field(name, "text") for name in ("area", *people.fields)]
        records = StreamedTable(fields, (), n_rows=len(people), parts=parts)
        form.outputs.add("RECORDS", records, progress=form.progress(40, 100))
        return {"N_AREAS": len(city), "N_RECORDS": len(people)}
