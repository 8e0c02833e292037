"""Whether donut masking would protect the households of an area."""

from __future__ import annotations

import numpy as np

from ...core.language import as_data, tr
from ...core.masking.audit import Masker, audit, numbers_of, smallest_k_inner
from ...core.masking.placing import own_areas
from ...core.report.masking_audit import audit_report
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..form.provenance import provenance_of
from ..layers.shapes.projection import north_of
from . import audited, inputs, tried


class DonutAudit(VbasAlgorithm):
    """`vbas:donutaudit`."""

    ID = "donutaudit"
    TAGS = as_data("geomasking,geomask,points,households,e911")
    SUMMARY = tr("Masks every household for a list of K_INNER and counts how many fall short of the wanted anonymity.")
    HELP = tr(
        "<p>Donut masking assumes that people are spread evenly over an area. They are not, so a point that moves "
        "past K_INNER people by that estimate may really have passed fewer. The audit masks every household you know "
        "of, counts the households nearer than it moved, and says for each K_INNER how many fall short of each K_MIN, "
        "where, and the smallest K_INNER that keeps failures to the rate you accept.</p>"
        "<p>The farther points move, the better they are hidden and the less a map shows: the displacement stands "
        "beside the failures. K_OUTER tries several outer radii; COMPARE_WITH shows what other masks would do; "
        "PLANTED_CLUSTERS shows what is left of clusters.</p>"
        "<p>Run it once for your households and areas, then mask with the K_INNER it gives.</p>"
        "<p>Allshouse et al. 2010: Geomasking sensitive health data and privacy protection.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *inputs.households(optional=False),
            *inputs.areas(
                tr(
                    "Households (or people, if that is what you will mask by) in each area. Without it, the "
                    "households in the area are counted."
                )
            ),
            *tried.grid_parameters(),
            *tried.comparison_parameters(),
            *audited.finer_parameters(),
            inputs.distance(),
            shared.seed(),
            *audited.audit_outputs(),
        )
        self.addNumbers(**audited.NUMBERS)

    def conditions(self) -> Conditions:
        return tried.CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        rules = tried.outer_rules_of(form)
        trials, k_min = tried.trials_of(form, rules), numbers_of(form.text("K_MIN"), "K_MIN")
        wanted = form.number("FAILURE_PERCENT")
        population = form.text("POPULATION")
        areas = inputs.mask_areas_of(form, [(population, "POPULATION")] if population else [])
        households = inputs.households_of(form, areas)
        area_of = own_areas(households.points, areas.planar_shapes)
        masker = Masker(
            households,
            area_of,
            inputs.populations_of(areas, (), households).of_points(area_of),
            areas.planar_shapes,
            form.text("DISTANCE"),
            form.whole("SEED"),
        )
        planted = tried.planted_of(form, masker)
        grid, needed = audit(masker, trials, k_min, planted, form.progress(5, 55))
        smallest = smallest_k_inner(masker, grid, needed, wanted, rules, form.progress(55, 90))
        uneven = audited.unevenness_of(form, areas)
        notes = audited.notes(households, grid)
        form.info(*notes)
        form.outputs.add("AUDIT", audited.grid_table(grid))
        form.outputs.add("SMALLEST", audited.smallest_table(smallest))
        form.outputs.add("AREA_AUDIT", audited.area_table(areas, grid, uneven))
        shapes = np.asarray(areas.planar_shapes)
        form.outputs.add_text(
            "REPORT",
            lambda: audit_report(
                grid,
                smallest,
                wanted,
                planted,
                uneven,
                shapes,
                areas.names.tolist(),
                north_of(areas.planar, shapes, form.context),
                notes,
                provenance_of(form),
            ),
        )
        return audited.audit_numbers(households, grid, smallest, planted)
