"""Clusters of cases in a release, by circles."""

from __future__ import annotations

import numpy as np
import shapely

from ...core import counted
from ...core.analysis.outcome import Outcome, p_text
from ...core.analysis.scan import BERNOULLI, HIGH, LOOKED_FOR, LOW, MODELS, MOST_IN_A_CIRCLE, POISSON, Cluster, scan
from ...core.crosswalk import Crosswalk
from ...core.drawing import dissolve
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.tables.analysis import CIRCLES, CLUSTERS
from ...core.tables.schema import OutputTable
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import Conditions
from ..form.form import Form
from ..layers.shapes.areas import AreaLayer
from ..layers.tables import Table, filled
from .outcomes import OUTCOME_CONDITIONS, POPULATION, draw_parameters, outcome_parameters, read_outcome
from .released import spread_parameters


class ClusterScan(VbasAlgorithm):
    """`vbas:clusterscan`."""

    ID = "clusterscan"
    TAGS = as_data("spatial scan,Kulldorff,SaTScan,hot spot,cluster detection,nested")
    SUMMARY = tr("Finds circles in which a release has more cases than chance gives anywhere, at a level that holds.")
    HELP = tr(
        "<p>Looks at every circle around an area and gives those in which the risk differs most from outside. The "
        "p-value says how often chance alone makes any circle of the map as unlikely: it is drawn through the "
        "release, by giving the outcome to records at random, spreading them and scanning again. So a map without "
        "clusters stays empty in 95 of 100 cases, however coarsely its records are shown.</p><p>Poisson for rare "
        "outcomes, with ADJUST for age, say; Bernoulli where many are cases.</p><p><b>What it cannot do.</b> Study a "
        "quasi-identifier: where its cases are shown depends on how many there are. Nor a release of cases alone, nor "
        "one in which people have several rows, such as hospital stays: each is taken for a person, and it finds "
        "clusters where there are none. A circle is a circle: a cluster along a river is found in part. Clusters after "
        "the first have p-values on the safe side.</p><p>Kulldorff 1997: A spatial scan statistic.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *outcome_parameters(),
            shared.choice(
                "MODEL",
                tr("Model"),
                MODELS,
                POISSON,
                tr("“Poisson”: cases are rare; “Bernoulli”: cases and others, of which either may be many."),
            ),
            shared.choice("LOOK_FOR", tr("Look for"), LOOKED_FOR, HIGH, tr("Clusters of which kind."), advanced=True),
            shared.number(
                "LARGEST",
                tr("Largest circle, % of expected cases"),
                50.0,
                tr(
                    "A circle of several areas holds no more than this, an area by itself no more than half. No circle "
                    "has more than {areas}, whatever is chosen.",
                    areas=counted.areas(MOST_IN_A_CIRCLE),
                ),
                0.1,
                50.0,
                advanced=True,
            ),
            *draw_parameters(),
            *spread_parameters(),
            shared.sink(CLUSTERS),
            shared.sink(CIRCLES, optional=True),
        )
        self.addNumbers(
            N_RECORDS=tr("Records at risk"),
            N_CASES=tr("Cases"),
            N_CLUSTERS=tr("Clusters"),
            P_VALUE=tr("p-value of the likeliest circle"),
            LLR=tr("Log likelihood ratio of the likeliest circle"),
            RELATIVE_RISK=tr("Relative risk in the likeliest circle"),
        )

    def conditions(self) -> Conditions:
        return OUTCOME_CONDITIONS

    def work(self, form: Form) -> dict[str, object]:
        model = form.text("MODEL")
        if model == BERNOULLI and form.text("DENOMINATOR") == POPULATION:
            raise InputError.saying(
                "“{model}” counts cases and others among the records: choose “{poisson}”, or another DENOMINATOR.",
                model=BERNOULLI,
                poisson=POISSON,
            )
        if model == BERNOULLI and form.field_names("ADJUST"):
            raise InputError.saying("“{model}” has no ADJUST: choose “{poisson}”.", model=BERNOULLI, poisson=POISSON)
        release, outcome = read_outcome(form, tested=True)
        layer = release.layer
        result = scan(
            layer.areas.points,
            outcome,
            model,
            form.text("LOOK_FOR"),
            form.number("LARGEST") / 100,
            form.whole("DRAWS"),
            form.whole("SEED"),
            form.progress(30, 90),
        )
        clusters = [cluster for cluster in result.clusters if cluster.p_value <= form.number("SIGNIFICANCE")]
        likeliest = result.most_likely
        form.info(_said(form, layer, clusters, likeliest))
        form.outputs.add("CLUSTERS", _table(CLUSTERS, layer, clusters, _joined(layer, clusters)))
        if form.outputs.wanted("CIRCLES"):
            form.outputs.add("CIRCLES", _table(CIRCLES, layer, clusters, _circles(layer, clusters)))
        return {**_numbers(outcome, likeliest), "N_CLUSTERS": len(clusters)}


def _said(form: Form, layer: AreaLayer, clusters: list[Cluster], likeliest: Cluster | None) -> str:
    if likeliest is None:
        # LEAST_CASES of core: circles of fewer are not looked at.
        return {
            HIGH: tr("No circle of two effective cases or more has more than expected."),
            LOW: tr("No circle in which two effective cases or more are expected has fewer."),
        }.get(form.text("LOOK_FOR"), tr("Every circle of two effective cases or more has as many as expected."))
    area = str(layer.areas.identifiers[likeliest.centre])
    if not clusters:
        return tr(
            "No cluster at the level of {significance:g}: where there is none, chance gives one as likely as the "
            "circle around area {area} in {percent:.1f} of 100 maps (p = {p}).",
            significance=form.number("SIGNIFICANCE"),
            area=area,
            percent=100 * likeliest.p_value,
            p=p_text(likeliest.p_value),
        )
    risk = likeliest.relative_risk
    return plural(
        "{n} cluster; the likeliest is around area {area}, with {cases:.1f} estimated cases in place of {expected:.1f} "
        "({risk}, p = {p}).",
        "{n} clusters; the likeliest is around area {area}, with {cases:.1f} estimated cases in place of "
        "{expected:.1f} ({risk}, p = {p}).",
        len(clusters),
        area=area,
        cases=likeliest.cases,
        expected=likeliest.expected,
        risk=tr("no cases outside") if np.isnan(risk) else tr("relative risk {risk:.2f}", risk=risk),
        p=p_text(likeliest.p_value),
    )


def _numbers(outcome: Outcome, likeliest: Cluster | None) -> dict[str, object]:
    of_likeliest = {} if likeliest is None else {"LLR": likeliest.llr}
    if likeliest is not None and np.isfinite(likeliest.relative_risk):  # there is none without cases outside
        of_likeliest["RELATIVE_RISK"] = likeliest.relative_risk
    return {
        "N_RECORDS": outcome.n_at_risk,
        "N_CASES": outcome.n_cases,
        "P_VALUE": 1.0 if likeliest is None else likeliest.p_value,
        **of_likeliest,
    }


def _joined(layer: AreaLayer, clusters: list[Cluster]) -> np.ndarray:
    """The areas of each cluster as one shape, in the layer's CRS."""
    shapes = layer.surfaces
    region_of = np.full(len(shapes), -1, np.int64)
    for number, cluster in enumerate(clusters):
        region_of[cluster.areas] = number
    return dissolve(shapes, Crosswalk(region_of, len(clusters))) if clusters else np.empty(0, dtype=object)


def _circles(layer: AreaLayer, clusters: list[Cluster]) -> np.ndarray:
    """The circle of each cluster, in the layer's CRS."""
    surface = layer.surfaces_square_metres
    radii = [cluster.radius or float(np.sqrt(surface[cluster.centre] / np.pi)) for cluster in clusters]
    middles = shapely.points(layer.areas.points[[cluster.centre for cluster in clusters]].reshape(-1, 2))
    circles = np.asarray(shapely.buffer(middles, np.array(radii), quad_segs=32), dtype=object)
    return layer.to_layer(circles) if clusters else circles


def _table(table: OutputTable, layer: AreaLayer, clusters: list[Cluster], shapes: np.ndarray) -> Table:
    columns = {
        "cluster": np.arange(1, len(clusters) + 1, dtype=np.int64),
        "areas": np.array([len(cluster.areas) for cluster in clusters], np.int64),
        "ratio": np.array([cluster.cases / cluster.expected for cluster in clusters]),
    }
    for name in ("radius", "cases", "expected", "effective", "relative_risk", "llr", "p_value"):
        columns[name] = np.array([getattr(cluster, name) for cluster in clusters], float)
    own = [(layer.id_field, [layer.identifiers[cluster.centre] for cluster in clusters])]
    return filled(table, columns, own=own, shapes=shapes, crs=layer.crs)
