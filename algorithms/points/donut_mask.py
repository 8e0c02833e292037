"""Moving points so that nobody can be found at home."""

from __future__ import annotations

from qgis.core import (
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterMatrix,
    QgsProcessingParameterNumber,
)

from ...core.masking.donut import donut_mask, generator, unmasked_sentence
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Counts
from ..form.form import Form
from . import inputs, outputs


class DonutMask(VbasAlgorithm):
    """`vbas:donutmask`."""

    ID = "donutmask"
    TAGS = "geomasking,geomask,perturbation,jitter,points"
    SUMMARY = "Moves each point within a ring around its true place, inside its own area, so that it is hidden."
    HELP = (
        "<p>Moves each point in a random direction, at least as far as K_INNER and at most as far as K_OUTER people "
        "would lie if they were spread evenly over its area, and keeps it in that area, so that whatever is known of "
        "the area stays true of the point.</p>"
        "<p>Use it where points must be released as points; regions (“Anonymise records”) protect better. People are "
        "not spread evenly: take three times the anonymity you want as K_INNER, give HOUSEHOLDS to see what was really "
        "reached, and run “Donut audit” on your own households first.</p>"
        "<p>Points that cannot be masked are never released: the audit lists each with its reason.</p>"
        "<p>Allshouse et al. 2010: Geomasking sensitive health data and privacy protection.</p>"
    )

    def declare(self) -> None:
        for parameter in (
            shared.described(
                QgsProcessingParameterFeatureSource("POINTS", "Points", inputs.POINT_LAYER),
                "The true places, one person or case each, in any coordinate reference system.",
            ),
            *inputs.areas(
                "People (or households) in each area, among whom a point hides. Without it, the households in the area."
            ),
            *_categories(),
            shared.described(
                QgsProcessingParameterNumber("K_INNER", "K_INNER", type=shared.INTEGER, defaultValue=15, minValue=1),
                "People nearer than the point moves at least, if they were spread evenly: three times the anonymity "
                "that is wanted, since they are not.",
            ),
            shared.described(
                QgsProcessingParameterNumber("K_OUTER", "K_OUTER", type=shared.INTEGER, optional=True, minValue=2),
                "People nearer than it moves at most. Without it, 10 x K_INNER.",
            ),
            *inputs.households(optional=True),
            shared.described(
                QgsProcessingParameterField(
                    "KEEP_FIELDS",
                    "Fields to release",
                    parentLayerParameterName="POINTS",
                    allowMultiple=True,
                    optional=True,
                ),
                "Columns to release with the masked points, unchanged. Leave out names, numbers, addresses and "
                "coordinates: they undo the masking.",
            ),
            inputs.distance(),
            shared.described(
                QgsProcessingParameterNumber("SEED", "Seed", type=shared.INTEGER, optional=True, minValue=0),
                "Same points and same seed, same result, for checking. Without it the moves are drawn from the "
                "system's own source, which nobody can repeat: do that for a release. Never publish a seed.",
                advanced=True,
            ),
            *outputs.mask_outputs(),
        ):
            self.addParameter(parameter)
        self.addNumbers(**outputs.NUMBERS)

    def counts(self) -> Counts:
        return {"POPULATION": [{"CATEGORY_FIELD": NOT_GIVEN}], "HOUSEHOLD_COUNT": [{"HOUSEHOLDS": GIVEN}]}

    def work(self, form: Form) -> dict[str, object]:
        k_inner = form.whole("K_INNER")
        k_outer = 10 * k_inner
        if form.given("K_OUTER"):
            k_outer = form.whole("K_OUTER")
        seed = form.whole("SEED") if form.given("SEED") else None
        case = inputs.case_of(form)
        points = case.points
        rng = generator(seed, points.coordinates)
        masking = donut_mask(
            points.coordinates,
            points.area_of,
            case.people,
            case.areas.planar_shapes,
            k_inner,
            k_outer,
            form.text("DISTANCE"),
            rng,
            form.progress(10, 60),
        )
        not_masked = unmasked_sentence(masking.counts())
        if not_masked:
            form.warn(not_masked)
        found = outputs.measure(case, masking, rng, form.progress(60, 80))
        for warning in outputs.warnings(case):
            form.warn(warning)
        form.outputs.add("MASKED", outputs.masked_table(form, case, masking))
        form.outputs.add("AUDIT", outputs.audit_table(case, masking, found))
        form.outputs.add_text(
            "REPORT",
            lambda: outputs.page(case, masking, found, k_inner, not_masked, form.rows()),
        )
        return outputs.numbers(masking, found, k_inner)


def _categories():
    """CATEGORY_FIELD, CATEGORY_POPULATIONS."""
    yield shared.described(
        QgsProcessingParameterField("CATEGORY_FIELD", "Category", parentLayerParameterName="POINTS", optional=True),
        "A field of the points, such as age and sex group, that outsiders may know: a point then hides among the "
        "people of its own category, and moves farther where they are few. Needs a population per category.",
    )
    yield shared.described(
        QgsProcessingParameterMatrix(
            "CATEGORY_POPULATIONS",
            "Population of each category",
            headers=["Category", "Field of AREAS"],
            optional=True,
        ),
        "For each category, the field of AREAS with its population; on the command line as a list, category and field "
        "in turn. Without it, the fields of AREAS that have the categories' names.",
        advanced=True,
    )
