"""Whether donut masking would protect the households of an area."""

from __future__ import annotations

import numpy as np
from qgis.core import (
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)

from ...core.masking.audit import Masker, audit, numbers_of, smallest_k_inner
from ...core.masking.placing import own_areas
from ...core.masking.populations import heterogeneity
from ...core.report.donut import audit_report
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Counts
from ..form.form import Form
from ..layers.mask_areas import read_mask_areas
from . import audit_outputs, inputs

K_INNER_OF_PAPER = "5,10,15,20,25,30,35,40,45,50,60,75"
K_MIN_OF_PAPER = "5,10,15,20,25"


class DonutAudit(VbasAlgorithm):
    """`vbas:donutaudit`."""

    ID = "donutaudit"
    TAGS = "geomasking,geomask,points,households,e911"
    SUMMARY = "Masks every household for a list of K_INNER and counts how many fall short of the wanted anonymity."
    HELP = (
        "<p>Donut masking supposes that people are spread evenly over an area. They are not, so a point that moves "
        "past K_INNER people by that estimate may really have passed fewer. The audit masks every household you know "
        "of, counts the households nearer than it moved, and tells for each K_INNER how many fall short of each K_MIN, "
        "where, and the smallest K_INNER that keeps failures to the rate you accept.</p>"
        "<p>Run it once for your households and areas, then mask with the K_INNER it gives.</p>"
        "<p>Allshouse et al. 2010: Geomasking sensitive health data and privacy protection.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            *inputs.households(optional=False),
            *inputs.areas(
                "Households (or people, if that is what you will mask by) in each area. Without it, the households in "
                "the area are counted."
            ),
            *_grid_parameters(),
            *_finer_parameters(),
            inputs.distance(),
            shared.seed(),
            *audit_outputs.audit_outputs(),
        ):
            self.addParameter(parameter)
        self.addNumbers(**audit_outputs.NUMBERS)

    def counts(self) -> Counts:
        return {"FINER_POPULATION": [{"FINER_AREAS": GIVEN}]}

    def work(self, form: Form) -> dict[str, object]:
        k_inner, k_min = (numbers_of(form.text(name), name) for name in ("K_INNER", "K_MIN"))
        wanted = form.number("FAILURE_PERCENT")
        population = form.text("POPULATION")
        fields = [(population, "POPULATION")] if population else []
        areas = inputs.areas_of(form, fields)
        households = inputs.households_of(form, areas)
        area_of = own_areas(households.points, areas.planar_shapes)
        masker = Masker(
            households,
            area_of,
            inputs.populations_of(areas, (), households).of_points(area_of),
            areas.planar_shapes,
            form.number("OUTER_FACTOR"),
            form.text("DISTANCE"),
            form.whole("SEED"),
        )
        grid, needed = audit(masker, k_inner, k_min, form.progress(5, 55))
        smallest = smallest_k_inner(masker, grid, needed, wanted, form.progress(55, 90))
        uneven = None
        if form.given("FINER_AREAS"):
            finer_field = form.text("FINER_POPULATION")
            finer = read_mask_areas(
                form.source("FINER_AREAS"),
                "",
                [(finer_field, "FINER_POPULATION")],
                "FINER_AREAS",
                areas.planar,
                form.context,
                form.feedback,
            )
            uneven = heterogeneity(areas.planar_shapes, finer.planar_shapes, finer.people[:, 0])
        notes = audit_outputs.notes(households, grid)
        for note in notes:
            form.info(note)
        form.outputs.add("AUDIT", audit_outputs.grid_table(grid))
        form.outputs.add("SMALLEST", audit_outputs.smallest_table(smallest))
        form.outputs.add("AREA_AUDIT", audit_outputs.area_table(areas, grid, uneven))
        rows = form.rows()
        form.outputs.add_text(
            "REPORT",
            lambda: audit_report(
                grid, smallest, wanted, uneven, np.asarray(areas.planar_shapes), areas.names, notes, rows
            ),
        )
        return audit_outputs.numbers(households, grid, smallest)


def _grid_parameters():
    """K_INNER, K_MIN, OUTER_FACTOR, FAILURE_PERCENT."""
    yield shared.described(
        QgsProcessingParameterString("K_INNER", "K_INNER, a list", defaultValue=K_INNER_OF_PAPER),
        "The inner radii to try, in people: numbers with commas between.",
    )
    yield shared.described(
        QgsProcessingParameterString("K_MIN", "K_MIN, a list", defaultValue=K_MIN_OF_PAPER),
        "The anonymity that is wanted: numbers with commas between.",
    )
    yield shared.described(
        QgsProcessingParameterNumber(
            "OUTER_FACTOR", "K_OUTER as a multiple of K_INNER", type=shared.REAL, defaultValue=10.0, minValue=1.01
        ),
        "A narrower ring moves points less far and falls short more often.",
        advanced=True,
    )
    yield shared.described(
        QgsProcessingParameterNumber(
            "FAILURE_PERCENT",
            "Failures accepted, per cent",
            type=shared.REAL,
            defaultValue=1.0,
            minValue=0,
            maxValue=100,
        ),
        "The smallest K_INNER is looked for with which no more masked households than this fall short.",
    )


def _finer_parameters():
    """FINER_AREAS, FINER_POPULATION."""
    yield shared.described(
        QgsProcessingParameterFeatureSource("FINER_AREAS", "Finer areas", inputs.POLYGON_LAYER, optional=True),
        "Sub-areas with population, such as blocks: how much their density varies within an area tells where masking "
        "is likely to fall short, even where no households are known.",
        advanced=True,
    )
    yield shared.described(
        QgsProcessingParameterField(
            "FINER_POPULATION",
            "Population of the finer areas",
            parentLayerParameterName="FINER_AREAS",
            type=shared.NUMERIC_FIELD,
            optional=True,
        ),
        "People in each sub-area.",
        advanced=True,
    )
