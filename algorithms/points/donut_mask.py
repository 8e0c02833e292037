"""Moving points so that nobody can be found at home."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.language import as_data, tr
from ...core.masking.candidates import hold_back, places_held_back
from ...core.masking.donut import Masking, donut_mask, generator, kept_warnings, unmasked_sentence
from ...core.masking.own_clusters import KeptCluster, kept_cluster
from ...core.masking.placing import NO_AREA, own_areas
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import yes
from ..form.provenance import provenance_of
from . import before, hidden, inputs, masked
from .inputs import MaskingInputs


class DonutMask(VbasAlgorithm):
    """`vbas:donutmask`."""

    ID = "donutmask"
    TAGS = as_data("geomasking,geomask,perturbation,jitter,points")
    SUMMARY = tr("Moves each point within a ring around its true place, inside its own area, so that it is hidden.")
    HELP = tr(
        "<p>Moves each point in a random direction, at least as far as K_INNER and at most as far as K_OUTER people "
        "would lie if they were spread evenly over its area, and keeps it in that area, so that whatever is known of "
        "the area stays true of the point.</p>"
        "<p>Use it where points must be released as points; regions (“Anonymise records”) protect better. People are "
        "not spread evenly: take three times the anonymity you want as K_INNER, give HOUSEHOLDS to see what was really "
        "reached, and run “Donut audit” on your own households first.</p>"
        "<p>With HOUSEHOLDS, the addresses from which each masked point could have come are counted, and points with "
        "fewer than K_MIN are held back. Points of one home share one move, so that many members do not give it away; "
        "the result shows that they live together. Never mask the same people twice: each result tells something else "
        "of the same home. If it cannot be helped, give the earlier one as EARLIER.</p>"
        "<p>Points that cannot be masked are never released: the audit lists each with its reason.</p>"
        "<p>Allshouse et al. 2010: Geomasking sensitive health data and privacy protection.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *inputs.points(),
            *inputs.areas(
                tr(
                    "People (or households) in each area, among whom a point hides. Without it, the "
                    "households in the area."
                )
            ),
            *masked.ring(),
            *inputs.households(optional=True),
            *hidden.least_candidates(),
            *cluster_search(),
            before.register(),
            *masked.release_settings(),
            *masked.mask_outputs(),
        )
        self.addNumbers(**masked.NUMBERS, **NUMBERS)

    def conditions(self) -> Conditions:
        return {
            "POPULATION": [{"CATEGORY_FIELD": NOT_GIVEN}],
            "HOUSEHOLD_COUNT": [{"HOUSEHOLDS": GIVEN}],
            **hidden.CONDITIONS,
            **CONDITIONS,
        }

    def work(self, form: Form) -> dict[str, object]:
        k_inner = form.whole("K_INNER")
        k_outer = form.whole("K_OUTER") if form.given("K_OUTER") else 10 * k_inner
        k_min = form.whole("K_MIN")
        case = inputs.case_of(form)
        said = before.warned_of_earlier(form, case)
        homes = case.homes
        rng = generator(form.whole("SEED") if form.given("SEED") else None, case.points.coordinates)
        moved = donut_mask(
            homes.points,
            homes.area_of,
            homes.people,
            case.areas.planar_shapes,
            k_inner,
            k_outer,
            form.text("DISTANCE"),
            rng,
            form.progress(10, 60),
        )
        hiding = hidden.hiding_of(form, case, moved)
        masking = homes.of_points(moved if hiding is None else hold_back(moved, hiding, k_min))
        not_masked = unmasked_sentence(masking.counts())
        if not_masked:
            form.warn(not_masked)
        hidden.say_hidden(form, case, hiding, k_min)
        measures = masked.measure(case, masking, hiding, k_min, rng, form.progress(75, 80))
        cluster = kept_cluster_of(form, case, masking, k_inner, k_outer, k_min, rng)
        form.warn(*kept_warnings(case.kept))
        released = masked.masked_table(form, case, masking)
        before.keep(form, released, not masked.falls_short(measures))
        form.outputs.add("MASKED", released, title=masked.title(measures))
        form.outputs.add("AUDIT", masked.masking_audit_table(case, masking, measures))
        form.outputs.add_text(
            "REPORT",
            lambda: masked.page(case, masking, measures, cluster, k_inner, not_masked, provenance_of(form), said),
        )
        return masked.masking_numbers(case, masking, measures, k_inner) | numbers_of(cluster)


NUMBERS = {
    "CLUSTER_SENSITIVITY": tr("Of the cluster before masking, what is found after, per cent of its households"),
    "CLUSTER_SPECIFICITY": tr("Of the households outside it, those outside the cluster after, per cent"),
}
CONDITIONS: Conditions = {"FIND_CLUSTERS": [{"HOUSEHOLDS": GIVEN}]}


def cluster_search() -> Iterable[QgsProcessingParameterDefinition]:
    """FIND_CLUSTERS."""
    yield yes(
        "FIND_CLUSTERS",
        tr("Look for a cluster before and after masking"),
        False,
        tr(
            "The points are taken for cases and HOUSEHOLDS for the population: the report says whether the most likely "
            "cluster is significant, and how much of it the masked points still show. Internal: it tells where the "
            "points are."
        ),
        advanced=True,
    )


def kept_cluster_of(
    form: Form,
    case: MaskingInputs,
    masking: Masking,
    k_inner: float,
    k_outer: float,
    k_min: int,
    rng: np.random.Generator,
) -> KeptCluster | None:
    """The cluster before and after; None where it was not asked for, or nothing can be searched."""
    if not form.yes("FIND_CLUSTERS") or case.households is None:
        return None
    households, shapes = case.households, case.areas.planar_shapes
    area_of = own_areas(households.points, shapes)
    rows = np.flatnonzero(np.isfinite(case.points.coordinates).all(axis=1) & (case.points.area_of != NO_AREA))
    drawn = area_of != NO_AREA
    if not len(rows) or not drawn.any():
        return None

    def masked(households_drawn: np.ndarray, source: np.random.Generator) -> Masking:
        """Cases at these households, with the categories of points drawn at random, held back as the points are: what
        is missing in small areas would look like a cluster elsewhere."""
        where = households_drawn.reshape(-1)
        categories = None if case.category_of is None else source.choice(case.category_of[rows], len(where))
        moved = donut_mask(
            households.points[where],
            area_of[where],
            case.populations.of_points(area_of[where], categories),
            shapes,
            k_inner,
            k_outer,
            form.text("DISTANCE"),
            source,
        )
        return places_held_back(moved, households, area_of, area_of[where], k_min)

    return kept_cluster(
        households, case.points.coordinates[rows], masking.points[rows], masked, drawn, rng, form.progress(80, 88)
    )


def numbers_of(cluster: KeptCluster | None) -> dict[str, object]:
    """The numeric outputs; none where there was no cluster to keep."""
    if cluster is None or not cluster.before:
        return {}
    return {"CLUSTER_SENSITIVITY": cluster.sensitivity, "CLUSTER_SPECIFICITY": cluster.specificity}
