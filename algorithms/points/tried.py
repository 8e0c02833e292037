"""What a donut audit tries: radii, other masks to compare with, and clusters that are planted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from qgis.core import QgsProcessingParameterDefinition

from ...core.language import tr
from ...core.masking.audit import Masker, OuterRule, Trial, compared, donuts, numbers_of
from ...core.masking.clusters import PlantedClusters, plant_clusters
from ...core.masking.comparison import COMPARED
from ...core.masking.placing import NO_AREA
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import INTEGER, advanced, choices, number, text

K_INNER_OF_PAPER = "5,10,15,20,25,30,35,40,45,50,60,75"
K_MIN_OF_PAPER = "5,10,15,20,25"
CONDITIONS: Conditions = {
    "FINER_POPULATION": [{"FINER_AREAS": GIVEN}],
    "OUTER_FACTOR": [{"K_OUTER": NOT_GIVEN}],
    **{name: [{"PLANTED_CLUSTERS": GIVEN}] for name in ("CLUSTER_CASES", "CLUSTER_RISK", "CLUSTER_PERCENT")},
}


def grid_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """K_INNER, K_MIN, OUTER_FACTOR, K_OUTER, FAILURE_PERCENT."""
    label = tr("Inner radii to try: least numbers of people moved past")
    yield text("K_INNER", label, K_INNER_OF_PAPER, tr("In people, if they were spread evenly; separated by commas."))
    label = tr("Anonymity wanted: least numbers of households nearer by")
    yield text("K_MIN", label, K_MIN_OF_PAPER, tr("What a household must hide among; numbers separated by commas."))
    help_text = tr("A narrower ring moves points less far and falls short more often.")
    yield number(
        "OUTER_FACTOR", tr("Outer radius as a multiple of the inner one"), 10.0, help_text, 1.01, advanced=True
    )
    yield text(
        "K_OUTER",
        tr("Outer radii to try: largest numbers of people moved past"),
        None,
        tr(
            "In people, separated by commas: each K_INNER is tried with each of them that is larger. Without it, the "
            "outer radius is OUTER_FACTOR times the inner one."
        ),
        optional=True,
        advanced=True,
    )
    yield number(
        "FAILURE_PERCENT",
        tr("Households that may fall short, per cent"),
        1.0,
        tr("The audit looks for the smallest K_INNER with which no more masked households than this fall short."),
        0,
        100,
    )


def comparison_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """COMPARE_WITH, PLANTED_CLUSTERS, CLUSTER_CASES, CLUSTER_RISK, CLUSTER_PERCENT."""
    yield advanced(
        choices(
            "COMPARE_WITH",
            tr("Other masks to compare with"),
            COMPARED,
            [],
            tr(
                "To see what the donut is worth, not to be released with. “random perturbation” has no inner radius: "
                "it moves points less far and may leave one at home. “centre of the area” moves all points of an area "
                "to its centroid: each hides among all of the area, and all that lies within it is lost."
            ),
        )
    )
    yield number(
        "PLANTED_CLUSTERS",
        tr("Clusters to plant (0 = none)"),
        0,
        tr(
            "As many times a circle of households is given a higher risk, cases are drawn and masked in each way, and "
            "the most likely cluster is searched for, before and after: how much of the planted one is found "
            "(sensitivity), how much of the rest is not (specificity). Averages of a hundred are right to about four "
            "points."
        ),
        0,
        1000,
        INTEGER,
        advanced=True,
    )
    yield number(
        "CLUSTER_CASES",
        tr("Cases drawn for each planted cluster"),
        200,
        tr("Inside and outside the cluster together; as many as your own data have."),
        1,
        10_000,
        INTEGER,
        advanced=True,
    )
    yield number(
        "CLUSTER_RISK",
        tr("Relative risk in a planted cluster"),
        3.0,
        tr("How many times as likely a household in the cluster is to be a case."),
        1.01,
        100_000,
        advanced=True,
    )
    yield number(
        "CLUSTER_PERCENT",
        tr("Households in a planted cluster, per cent of all"),
        5.0,
        tr("Masking blurs small clusters first."),
        0.01,
        50,
        advanced=True,
    )


def outer_rules_of(form: Form) -> list[OuterRule]:
    """What K_OUTER is: each of the numbers listed, else OUTER_FACTOR times K_INNER."""
    if not form.given("K_OUTER"):
        return [OuterRule(form.number("OUTER_FACTOR"))]
    return [OuterRule(number=k) for k in numbers_of(form.text("K_OUTER"), "K_OUTER")]


def trials_of(form: Form, rules: Sequence[OuterRule]) -> list[Trial]:
    """The donuts to try, and what they are compared with."""
    trials = donuts(numbers_of(form.text("K_INNER"), "K_INNER"), rules)
    return [*trials, *compared(form.words("COMPARE_WITH"), trials)]


def planted_of(form: Form, masker: Masker) -> PlantedClusters | None:
    """The clusters planted among the households that can be masked; None where none are asked for."""
    clusters = form.whole("PLANTED_CLUSTERS")
    if not clusters:
        return None
    return plant_clusters(
        masker.households,
        (masker.area_of != NO_AREA) & (masker.people > 0),
        clusters,
        form.whole("CLUSTER_CASES"),
        form.number("CLUSTER_RISK"),
        form.number("CLUSTER_PERCENT"),
        np.random.default_rng(form.whole("SEED")),
        progress=form.progress(2, 5),
    )
