"""The report of donut masking: what became of the points, what they hide among, what is left of their pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import counted
from ..arrays import to_list
from ..dataclass import dataclass
from ..language import tr
from ..masking.candidates import Shortfall
from ..masking.clusters import CENTRES, NULL_DRAWS
from ..masking.donut import Masking
from ..masking.own_clusters import KeptCluster
from ..masking.utility import Utility
from .page import Report, Section, render
from .pictures import histogram, lines
from .provenance import Provenance, how_it_was_done


@dataclass(frozen=True, eq=False)
class Anonymity:
    """What the N points hide among.

    k_act : (N,) actual anonymity; candidates : (N,) addresses they could have come from; both NaN where not masked;
    shortfall : how many fall short of K_MIN; these three None where no households were given
    k_inner : of the ring
    """

    k_act: np.ndarray | None
    candidates: np.ndarray | None
    shortfall: Shortfall | None
    k_inner: float


def masking_report(
    masking: Masking,
    hidden: Anonymity,
    pattern: Utility | None,
    cluster: KeptCluster | None,
    not_masked: str,
    notes: Sequence[str],
    provenance: Provenance,
) -> str:
    """The page as HTML.

    pattern : None for too few points; cluster : None where none was searched for; not_masked : a sentence on the points
    not masked, or empty; notes : sentences; provenance : what the run was.
    """
    n_masked = int(masking.masked.sum())
    counts = [(tr(reason), n) for reason, n in masking.counts().items()]
    sections = [
        Section(tr("What became of the points"), (), (tr("Outcome"), tr("Points")), counts),
        *([_anonymity(masking, hidden)] if masking.drawn.any() else []),
        *([_pattern(pattern)] if pattern is not None else []),
        *([_cluster(cluster)] if cluster is not None else []),
        *how_it_was_done(notes, provenance),
        Section(
            tr("What masking does not do"),
            (
                tr(
                    "A masked point is hidden among its neighbours only. Fields released with it, a second "
                    "release of the same points, or the seed of the draws may undo that: release once, keep "
                    "the seed, look at the fields."
                ),
                tr("Points of one home lie at the same masked place: it shows that they live together."),
            ),
        ),
    ]
    good = n_masked == len(masking.reason) and not (hidden.shortfall is not None and hidden.shortfall.points_below)
    return render(
        Report(
            tr("Donut masking report"),
            _verdict(masking, hidden, not_masked),
            good,
            True,
            sections,
            provenance.date,
            True,
        )
    )


def _verdict(masking: Masking, hidden: Anonymity, not_masked: str) -> str:
    """What became of the points, in a few sentences; nothing of a release where most fall short."""
    short = hidden.shortfall
    n_masked, n_points = int(masking.masked.sum()), counted.points(len(masking.reason))
    most = short is not None and short.most
    if not n_masked:
        what = tr("No point is masked and released.")
    elif short is not None and short.held and short.points_below:
        what = (
            tr("Masked and not held back: {n} of {points}.", n=n_masked, points=n_points)
            if most
            else tr("Masked, not held back and released: {n} of {points}.", n=n_masked, points=n_points)
        )
    elif most:
        what = tr("Masked: {n} of {points}.", n=n_masked, points=n_points)
    else:
        what = tr("Masked and released: {n} of {points}.", n=n_masked, points=n_points)
    if short is None:
        protection = tr("HOUSEHOLDS is not given, so nobody knows from how many addresses each could have come.")
    else:
        protection = short.sentence() if short.points else ""
    return " ".join(filter(None, (what, not_masked, protection)))


def _anonymity(masking: Masking, hidden: Anonymity) -> Section:
    """Estimated and actual anonymity of the masked points, those held back included."""
    drawn, k_inner, short = masking.drawn, hidden.k_inner, hidden.shortfall
    measures = {tr("Estimated (k_est), people spread evenly"): (masking.k_est[drawn], k_inner)}
    texts = [
        tr("Without households only the estimate is known; it holds where people are spread evenly over their area.")
    ]
    if hidden.k_act is not None and hidden.candidates is not None and short is not None:
        measures[tr("Actual (k_act), households nearer than the displacement")] = (hidden.k_act[drawn], k_inner)
        measures[tr("Candidate addresses")] = (hidden.candidates[drawn], float(short.k_min))
        texts = [
            tr(
                "{percent:.2f} % of the masked points have fewer households nearer than they moved than K_INNER asks "
                "for ({k_inner:g}), since households are not spread evenly.",
                percent=100.0 * np.mean(hidden.k_act[drawn] < k_inner),
                k_inner=k_inner,
            ),
            tr(
                "Candidate addresses are those of the same area from which the point could have come: it lies in their "
                "ring. An outsider who has the addresses guesses among them, so they count, not k_act. They are not "
                "all as likely: with “uniform in distance” the nearer ones are likelier, and with either law those "
                "whose ring has little room in the area."
            ),
            short.sentence(),
        ]
    shares = (0, 1, 5, 25, 50)
    rows = [
        (label, *np.percentile(values, shares).tolist(), float(values.mean()))
        for label, (values, _) in measures.items()
    ]
    pictures = [
        histogram(np.minimum(values, np.percentile(values, 99)), label, tr("anonymity"), tr("points"), mark=mark)
        for label, (values, mark) in measures.items()
    ]
    header = (tr("Anonymity"), tr("Smallest"), "1 %", "5 %", "25 %", tr("Median"), tr("Mean"))
    return Section(tr("Anonymity"), texts, header, rows, pictures)


def _cluster(cluster: KeptCluster) -> Section:
    """The most likely cluster before, and what is left of it after."""
    if not cluster.before:
        result = tr("There is no significant cluster before masking, so there is none to keep.")
    elif not cluster.after:
        result = tr("There is a significant cluster before masking, and none after: masking has lost it.")
    else:
        result = tr(
            "There is a significant cluster before masking and one after. The one after holds {sensitivity:.0f} % of "
            "the households of the one before (sensitivity), and leaves out {specificity:.0f} % of the others "
            "(specificity).",
            sensitivity=cluster.sensitivity,
            specificity=cluster.specificity,
        )
    how = tr(
        "The points are taken for cases and the households for the population. The search is a circular scan with the "
        "Poisson model (Kulldorff 1997) that takes the most likely circle only, among circles around households "
        "({centres} at most) that hold 1, 2, … 50 % of all. The chance is that of draws without a cluster ({draws}, "
        "masked and held back in the same way, but for earlier places), from 0.01 upwards; up to 0.05 is called "
        "significant. Other clusters, smaller ones and other shapes are not looked at.",
        centres=CENTRES,
        draws=NULL_DRAWS,
    )
    rows = [
        (tr("before"), cluster.searched, cluster.chance_before),
        (tr("after"), cluster.searched_after, cluster.chance_after),
    ]
    header = (tr("Masking"), tr("Points searched"), tr("Chance of as likely a cluster where there is none"))
    return Section(tr("Whether a cluster is still found"), (result, how), header, rows)


def _pattern(pattern: Utility) -> Section:
    """The pattern before and after."""
    rows = [
        (tr("Mean distance to the nearest point, m"), pattern.neighbour_before, pattern.neighbour_after),
        (tr("The same over that of random points"), pattern.index_before, pattern.index_after),
    ]
    texts = (
        tr(
            "Points moved by {mean_displacement:.0f} m on average (median {median_displacement:.0f} m); "
            "{percent_in_own_area:g} % of the masked points lie in their own area.",
            mean_displacement=pattern.mean_displacement,
            median_displacement=pattern.median_displacement,
            percent_in_own_area=pattern.percent_in_own_area,
        ),
        tr(
            "Ripley's K counts the points within a distance of a point: drawn here as L, which is 0 where "
            "points lie at random and above it where they cluster. Where the two lines part, masking has "
            "blurred the pattern; where they meet, clusters of that size can still be found."
        ),
    )
    reach = to_list(pattern.distances)
    curves = {
        name: (reach, to_list(np.sqrt(k / np.pi) - pattern.distances))
        for name, k in ((tr("before"), pattern.k_before), (tr("after"), pattern.k_after))
    }
    picture = lines(
        curves, tr("Clustering before and after: L(t) − t"), tr("distance t, metres"), tr("L(t) − t, metres")
    )
    return Section(
        tr("What is left of the pattern"), texts, (tr("Measure"), tr("Before"), tr("After")), rows, (picture,)
    )
