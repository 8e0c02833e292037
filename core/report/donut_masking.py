"""The report of a donut masking: anonymity, points that were not masked, and what is left of the pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..masking.donut import Masking
from ..masking.utility import Utility
from .page import Report, Section, render
from .pictures import histogram, lines


def masking_report(
    masking: Masking,
    k_act: np.ndarray | None,
    pattern: Utility | None,
    k_inner: float,
    not_masked: str,
    warnings: Sequence[str],
    parameters: Sequence[tuple[str, object]],
) -> str:
    """The page as HTML.

    k_act : (N,) actual anonymity, NaN where not masked, None where no households were given; pattern : None for too
    few points; not_masked : a sentence on the points not masked, or empty; parameters : label and value.
    """
    n_masked = int(masking.masked.sum())
    verdict = f"{n_masked} of {len(masking.reason)} points were masked and are released. {not_masked}".strip()
    counts = [(reason, n) for reason, n in masking.counts().items()]
    sections = [
        Section("What became of the points", (), ("Outcome", "Points"), counts),
        *([_anonymity(masking, k_act, k_inner)] if n_masked else []),
        *([_pattern(pattern)] if pattern is not None else []),
        Section("How it was done", tuple(warnings), ("Parameter", "Value"), list(parameters)),
        Section(
            "What masking does not do",
            (
                "A masked point is hidden among its neighbours only. Fields released with it, a second release of the "
                "same points, or the seed of the draws may undo that: release once, keep the seed, look at the fields.",
            ),
        ),
    ]
    return render(Report("Donut masking report", verdict, n_masked == len(masking.reason), True, sections))


def _anonymity(masking: Masking, k_act: np.ndarray | None, k_inner: float) -> Section:
    """Estimated and actual anonymity of the masked points."""
    measures = {"Estimated (k_est), people spread evenly": masking.k_est[masking.masked]}
    text = "Without households only the estimate is known; it holds where people are spread evenly over their area."
    if k_act is not None:
        measures["Actual (k_act), households nearer than the displacement"] = k_act[masking.masked]
        text = (
            f"{100.0 * np.mean(k_act[masking.masked] < k_inner):.2f} % of the masked points have fewer than "
            f"K_INNER = {k_inner:g} households nearer than they moved, since households are not spread evenly. The "
            "audit lists them: leave them out or raise K_INNER if that is too few."
        )
    shares = (0, 1, 5, 25, 50)
    rows = [
        (label, *np.percentile(values, shares).tolist(), float(values.mean())) for label, values in measures.items()
    ]
    pictures = [
        histogram(np.minimum(values, np.percentile(values, 99)), label, "anonymity", "points", mark=k_inner)
        for label, values in measures.items()
    ]
    header = ("Anonymity", "Smallest", "1 %", "5 %", "25 %", "Median", "Mean")
    return Section("Anonymity", (text,), header, rows, pictures)


def _pattern(pattern: Utility) -> Section:
    """The pattern before and after."""
    rows = [
        ("Mean distance to the nearest point, m", pattern.neighbour_before, pattern.neighbour_after),
        ("The same over that of random points", pattern.index_before, pattern.index_after),
    ]
    texts = (
        f"Points moved by {pattern.mean_displacement:.0f} m on average (median {pattern.median_displacement:.0f} m); "
        f"{pattern.percent_in_own_area:g} % of the masked points lie in their own area.",
        "Ripley's K counts the points within a distance of a point: drawn here as L, which is 0 where points lie at "
        "random and above it where they cluster. Where the two lines part, masking has blurred the pattern; where they "
        "meet, clusters of that size can still be found.",
    )
    reach = to_list(pattern.distances)
    curves = {
        name: (reach, to_list(np.sqrt(k / np.pi) - pattern.distances))
        for name, k in (("before", pattern.k_before), ("after", pattern.k_after))
    }
    picture = lines(curves, "Clustering before and after: L(t) − t", "distance t, metres", "L(t) − t, metres")
    return Section("What is left of the pattern", texts, ("Measure", "Before", "After"), rows, (picture,))
