"""The report of the donut audit: how often masking falls short, ring by ring and area by area."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..language import in_turn, plural, tr
from ..masking.audit import Audit, SmallestKInner, Trial, quintiles
from ..masking.clusters import CENTRES, NULL_DRAWS, PlantedClusters
from ..masking.comparison import AREA_CENTRE, DONUT, RANDOM_PERTURBATION
from ..masking.donut import MASKED, REASONS
from ..masking.populations import Heterogeneity, rank_correlation
from .page import Report, Section, render
from .pictures import GREENS, REDS, lines, region_map
from .pictures.maps import MOST_SHAPES
from .provenance import Provenance, how_it_was_done

TRIPLE = 3.0  # the paper's advice
FIFTHS = np.arange(1.0, 6.0, dtype=float)


def audit_report(
    grid: Audit,
    smallest: Sequence[SmallestKInner],
    wanted_percent: float,
    planted: PlantedClusters | None,
    uneven: Heterogeneity | None,
    shapes: np.ndarray,
    names: Sequence[str],
    north: float | None,
    notes: Sequence[str],
    provenance: Provenance,
) -> str:
    """The page as HTML.

    smallest : one per K_MIN of the grid and rule of K_OUTER; planted : None where no clusters were planted; uneven :
    None where no finer layer was given; shapes : (m,) planar polygons; names : m identifiers; north : degrees clockwise
    from the top of the maps; notes : sentences; provenance : what the run was.
    """
    triple = all(row.k_inner is not None and row.k_inner <= TRIPLE * row.k_min for row in smallest)
    sentence = tr(
        "At most {wanted_percent:g} % of the masked households fall short of K_MIN with {smallest}.",
        wanted_percent=wanted_percent,
        smallest=in_turn(map(_sentence, smallest)),
    )
    enough = tr("Tripling K_MIN is enough here.") if triple else tr("Tripling K_MIN is not enough here.")
    candidates, most = _candidates_fall_short(grid)
    verdict = f"{sentence} {enough} {candidates}"
    sections = [
        _grid_section(grid, wanted_percent),
        _candidates_section(grid),
        _resolution_section(grid),
        _smallest_section(smallest),
        *([_clusters_section(grid, planted)] if planted is not None else []),
        _where_section(grid, shapes, names, north),
        _quintiles_section(grid, shapes, names, north),
        *([_uneven_section(grid, uneven, shapes, names, north)] if uneven is not None else []),
        _not_masked_section(grid),
        *how_it_was_done(notes, provenance),
    ]
    good = triple and not most > wanted_percent
    return render(Report(tr("Donut audit report"), verdict, good, True, sections, provenance.date))


def _candidates_fall_short(grid: Audit) -> tuple[str, float]:
    """How many fall short of the smallest K_MIN by candidates, and the most, per cent; NaN where none is masked."""
    j = int(grid.k_min.argmin())
    shares = grid.percent_below_candidates[grid.of_method(DONUT), j]
    shares = shares[np.isfinite(shares)]
    if not len(shares):
        return "", float("nan")
    sentence = tr(
        "That is by k_act, the households nearer to the true place. By the households that a masked place could have "
        "come from, which is what an outsider guesses among, {least:.2f} to {most:.2f} % fall short of {k_min:g} with "
        "the rings tried.",
        k_min=grid.k_min[j],
        least=shares.min(),
        most=shares.max(),
    )
    return sentence, float(shares.max())


def _sentence(smallest: SmallestKInner) -> str:
    if smallest.k_inner is None:
        if smallest.k_outer is None:
            return tr("no K_INNER that leaves points to mask (K_MIN = {k_min:g})", k_min=smallest.k_min)
        return tr(
            "no K_INNER below K_OUTER = {k_outer:g} (K_MIN = {k_min:g})", k_outer=smallest.k_outer, k_min=smallest.k_min
        )
    return tr(
        "K_INNER = {k_inner} and K_OUTER = {k_outer:g} for K_MIN = {k_min:g}",
        k_inner=smallest.k_inner,
        k_outer=smallest.k_outer,
        k_min=smallest.k_min,
    )


def _method(trial: Trial) -> str:
    """How points were masked, for a table."""
    return {
        DONUT: tr("donut"),
        RANDOM_PERTURBATION: tr("random perturbation"),
        AREA_CENTRE: tr("centre of the area"),
    }[trial.method]


def _with_method(
    grid: Audit, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> tuple[list[str], list[Sequence[object]]]:
    """A table with a row per trial, which begins with how points were masked where there is more than the donut."""
    if all(trial.method == DONUT for trial in grid.trials):
        return list(header), list(rows)
    named: list[Sequence[object]] = [(_method(trial), *row) for trial, row in zip(grid.trials, rows)]
    return [tr("Masked by"), *header], named


def _grid_section(grid: Audit, wanted_percent: float) -> Section:
    """The table of the paper, and a chart of it."""
    header = ["K_INNER", "K_OUTER", *(tr("% k_act < {k:g}", k=k) for k in grid.k_min), tr("% not masked")]
    rows = [
        (_known(inner), _known(outer), *map(_known, shares), _known(lost))
        for inner, outer, shares, lost in zip(grid.k_inner, grid.k_outer, grid.percent_below, grid.percent_not_masked)
    ]
    narrowest = grid.narrowest()
    curves = {
        tr("K_MIN = {k:g}", k=k): (to_list(grid.k_inner[narrowest]), to_list(grid.percent_below[narrowest, j]))
        for j, k in enumerate(grid.k_min)
    }
    texts = [
        tr(
            "Share of the masked households with fewer than K_MIN households nearer than they moved (Allshouse et al. "
            "2010, Table 1). Were households spread evenly, none would fall short where K_INNER is K_MIN. The dashed "
            "line is the wanted rate."
        )
    ]
    if len(narrowest) < len(grid.of_method(DONUT)):
        texts.append(tr("The chart shows of each K_INNER the smallest K_OUTER."))
    if grid.of_method(AREA_CENTRE):
        texts.append(
            tr(
                "At the centre of the area a point hides among all of the area, however near it lived: there k_act "
                "says little, the candidates below say it."
            )
        )
    chart = lines(curves, tr("Households that fall short"), "K_INNER", tr("per cent"), level=wanted_percent)
    return Section(tr("Households that fall short"), texts, *_with_method(grid, header, rows), (chart,))


def _candidates_section(grid: Audit) -> Section:
    """The same table, by candidate households."""
    header = ["K_INNER", "K_OUTER", *(tr("% candidates < {k:g}", k=k) for k in grid.k_min)]
    rows = [
        (_known(inner), _known(outer), *map(_known, shares))
        for inner, outer, shares in zip(grid.k_inner, grid.k_outer, grid.percent_below_candidates)
    ]
    text = tr(
        "Share of the masked households whose masked place could have come from fewer than K_MIN households: those of "
        "the same area in whose ring it lies. The paper does not count this, but it is what an outsider who has the "
        "addresses must guess among; Donut masking holds such points back."
    )
    texts = [text]
    if grid.of_method(RANDOM_PERTURBATION):
        texts.append(
            tr(
                "Without an inner radius more households are possible, but the point may be where it was: with "
                "“uniform in distance” the nearest is the likeliest."
            )
        )
    return Section(tr("Households that too few others could have been"), texts, *_with_method(grid, header, rows))


def _resolution_section(grid: Audit) -> Section:
    """How far points move, beside how many fall short: privacy against spatial resolution."""
    j = int(grid.k_min.argmin())
    header = [
        "K_INNER",
        "K_OUTER",
        tr("Mean displacement, m"),
        tr("Median displacement, m"),
        tr("% k_act < {k:g}", k=grid.k_min[j]),
    ]
    rows = [
        tuple(map(_known, row))
        for row in zip(
            grid.k_inner, grid.k_outer, grid.mean_displacement, grid.median_displacement, grid.percent_below[:, j]
        )
    ]
    text = tr(
        "A larger ring passes more households and shows less: the paper found little gained in privacy beyond three "
        "times K_MIN, at a nearly linear loss of spatial resolution (Allshouse et al. 2010, section 3). Of two masks "
        "that move points equally far, the lower one in the chart passes more households."
    )
    chart = lines(
        _tradeoffs(grid, j),
        tr("Households that fall short of K_MIN = {k_min:g}, by how far points move", k_min=grid.k_min[j]),
        tr("mean displacement, metres"),
        tr("per cent"),
    )
    return Section(tr("What privacy costs in resolution"), (text,), *_with_method(grid, header, rows), (chart,))


def _tradeoffs(grid: Audit, j: int) -> dict[str, tuple[list[float], list[float]]]:
    """Displacement and share below K_MIN number j: a line for donuts, one for each K_OUTER if there are several for a
    K_INNER, one for the perturbation and a point for the centre."""
    donut = grid.of_method(DONUT)
    if len(grid.narrowest()) == len(donut):
        series = {tr("donut"): donut}
    else:
        series = {
            tr("donut, K_OUTER = {k_outer:g}", k_outer=k): [i for i in donut if grid.k_outer[i] == k]
            for k in sorted({grid.trials[i].k_outer for i in donut})
        }
    for method in (RANDOM_PERTURBATION, AREA_CENTRE):
        if rows := grid.of_method(method):
            series[_method(grid.trials[rows[0]])] = rows
    curves = {}
    for name, rows in series.items():
        order = sorted(rows, key=lambda i: grid.mean_displacement[i])
        curves[name] = (to_list(grid.mean_displacement[order]), to_list(grid.percent_below[order, j]))
    return curves


def _smallest_section(smallest: Sequence[SmallestKInner]) -> Section:
    rows = [
        (
            row.k_min,
            row.k_inner,
            row.k_outer,
            None if row.k_inner is None else row.k_inner / row.k_min,
            _known(row.percent_below),
            _known(row.percent_not_masked),
            _known(row.mean_displacement),
        )
        for row in smallest
    ]
    text = tr(
        "The paper found that tripling keeps the failures below 1 % in its county. A larger K_INNER leaves more points "
        "without a place in their own area; such points cannot be released."
    )
    header = (
        "K_MIN",
        tr("Smallest K_INNER"),
        "K_OUTER",
        tr("times K_MIN"),
        tr("% below"),
        tr("% not masked"),
        tr("Mean displacement, m"),
    )
    return Section(tr("The smallest K_INNER that meets the wanted rate"), (text,), header, rows)


def _clusters_section(grid: Audit, planted: PlantedClusters) -> Section:
    """What is found of planted clusters before and after masking."""
    n_clusters, n_cases = planted.cases.shape
    measures = [planted.before, *grid.detections]
    names = [tr("not masked: the true places"), *(_method(trial) for trial in grid.trials)]
    radii = [(None, None), *((_known(trial.k_inner), _known(trial.k_outer)) for trial in grid.trials)]
    rows = [
        (name, *ring, *map(_known, (detection.clusters_found, detection.sensitivity, detection.specificity)))
        for name, ring, detection in zip(names, radii, measures)
    ]
    texts = (
        tr(
            "Circles of households that were given a higher risk, one at a time: {clusters}; households in each: "
            "{percent:.1f} %; cases drawn for each: {cases}. The cases were masked in each way, and a cluster searched "
            "for. Sensitivity: of the households in the circle, the share that lies in the cluster that is found. "
            "Specificity: of those outside it, the share that lies outside what is found. Averages; a cluster that is "
            "not significant counts as not found.",
            clusters=n_clusters,
            percent=100.0 * float(np.average(planted.truth.mean(axis=0), weights=planted.weights)),
            cases=n_cases,
        ),
        tr(
            "The search is a circular scan with the Poisson model (Kulldorff 1997) that takes the most likely circle "
            "only, among circles around households ({centres} at most) that hold 1, 2, … 50 % of all, at the 5 % level "
            "of draws without a cluster ({draws}, masked in the same way). Allshouse et al. 2010 cite Hampton et al. "
            "2009 for a negligible loss: the rows say whether that holds here, for clusters of this size and this "
            "search.",
            centres=CENTRES,
            draws=NULL_DRAWS,
        ),
    )
    header = (
        tr("Masked by"),
        "K_INNER",
        "K_OUTER",
        tr("% of clusters found"),
        tr("Sensitivity, %"),
        tr("Specificity, %"),
    )
    return Section(tr("What is left of clusters"), texts, header, rows)


def _where_section(grid: Audit, shapes: np.ndarray, names: Sequence[str], north: float | None) -> Section:
    """Maps for the smallest K_MIN, with K_INNER about as large and about three times as large."""
    j = int(grid.k_min.argmin())
    k_min, donut = grid.k_min[j], grid.narrowest()
    chosen = dict.fromkeys(donut[int(np.abs(grid.k_inner[donut] - times * k_min).argmin())] for times in (1.0, TRIPLE))
    maps, texts = [], []
    for i in chosen:
        share = grid.percent_below_by_area[i, j]
        failing = int(np.nansum(share > 0))
        texts.append(
            plural(
                "With K_INNER = {k_inner:g}, masked households fall short of K_MIN = {k_min:g} in {failing} of {n} "
                "area with households.",
                "With K_INNER = {k_inner:g}, masked households fall short of K_MIN = {k_min:g} in {failing} of {n} "
                "areas with households.",
                int((grid.households > 0).sum()),
                k_inner=grid.k_inner[i],
                k_min=k_min,
                failing=failing,
            )
        )
        labels = [
            plural(
                "{name}: {percent:.1f} % of {n} masked household",
                "{name}: {percent:.1f} % of {n} masked households",
                int(n),
                name=name,
                percent=percent,
            )
            if n
            else tr("{name}: no household masked", name=name)
            for name, percent, n in zip(names, share, grid.masked[i])
        ]
        caption = tr(
            "K_INNER = {k_inner:g}, K_MIN = {k_min:g}. Darker: a larger share of the area's masked households "
            "falls short.",
            k_inner=grid.k_inner[i],
            k_min=k_min,
        )
        maps.append(region_map(shapes, np.nan_to_num(share), labels, caption, REDS, tr("% of the households"), north))
    return Section(tr("Where areas fail"), tuple(texts), pictures=maps)


def _quintiles_section(grid: Audit, shapes: np.ndarray, names: Sequence[str], north: float | None) -> Section:
    """A small map for each K_INNER: the fifths of the areas by the share that falls short, as in the paper."""
    j, narrowest = int(grid.k_min.argmin()), grid.narrowest()
    shares = grid.percent_below_by_area[narrowest, j]
    fifths = np.array([quintiles(share) for share in shares])
    worst = fifths == len(FIFTHS)
    rows, maps = [], []
    for n, i in enumerate(narrowest):
        known = np.isfinite(fifths[n])
        share = shares[n, known]
        rows.append(
            (
                float(grid.k_inner[i]),
                float(grid.k_outer[i]),
                int((share == 0).sum()),
                _known(share[fifths[n, known] == 1].max(initial=0.0)),
                _known(share[worst[n, known]].min()) if worst[n].any() else None,
                int(worst[n].sum()),
                int((worst[n] & worst[n - 1]).sum()) if n else None,
            )
        )
        labels = [
            tr("{name}: {percent:.1f} %", name=name, percent=percent)
            for name, percent in zip(np.asarray(names, dtype=object)[known].tolist(), to_list(share))
        ]
        caption = tr("K_INNER = {k_inner:g}, K_OUTER = {k_outer:g}", k_inner=grid.k_inner[i], k_outer=grid.k_outer[i])
        maps.append(
            region_map(
                shapes[known],
                fifths[n, known],
                labels,
                caption,
                REDS,
                tr("Fifth of the areas"),
                north,
                FIFTHS,
                most_shapes=MOST_SHAPES // len(narrowest),
            )
        )
    text = tr(
        "The areas in fifths of the share of their masked households that fall short of K_MIN = {k_min:g}, from 1 "
        "to 5, the worst, for each K_INNER on its own (Allshouse et al. 2010, section 3). Equal shares lie in the "
        "lower fifth, so areas without any are all in the first; areas where none was masked are not drawn.",
        k_min=grid.k_min[j],
    )
    header = (
        "K_INNER",
        "K_OUTER",
        tr("Areas where none falls short"),
        tr("First fifth up to, %"),
        tr("Worst fifth from, %"),
        tr("Areas in it"),
        tr("In it with the previous K_INNER too"),
    )
    return Section(tr("Where areas fail, K_INNER by K_INNER"), (text,), header, rows, maps)


def _uneven_section(
    grid: Audit, uneven: Heterogeneity, shapes: np.ndarray, names: Sequence[str], north: float | None
) -> Section:
    """Whether the variance of density in sub-areas predicts failures."""
    j = int(grid.k_min.argmin())
    i = min(grid.narrowest(), key=lambda trial: grid.k_inner[trial])
    share = grid.percent_below_by_area[i, j]
    known = np.isfinite(uneven.variation) & np.isfinite(share)
    rows = []
    for quarter in np.array_split(np.flatnonzero(known)[np.argsort(uneven.variation[known], kind="stable")], 4):
        if len(quarter):
            spread = uneven.variation[quarter]
            below = 100.0 * grid.below[i, j, quarter].sum() / grid.masked[i, quarter].sum()
            quartile = tr("{low:.2f} to {high:.2f}", low=spread.min(), high=spread.max())
            rows.append((quartile, len(quarter), float(below)))
    text = tr(
        "The standard deviation of density among the sub-areas of an area, over its mean: 0 where people are spread "
        "evenly (the paper suggests the variance, section 4; the audit of areas gives both). Rank correlation with "
        "the share that falls short (K_INNER = {k_inner:g}, K_MIN = {k_min:g}): "
        "{rank_correlation:.2f}.",
        k_inner=grid.k_inner[i],
        k_min=grid.k_min[j],
        rank_correlation=rank_correlation(uneven.variation[known], share[known]),
    )
    labels = [
        plural(
            "{name}: {value:.2f}, {n} sub-area",
            "{name}: {value:.2f}, {n} sub-areas",
            n,
            name=name,
            value=value,
        )
        for name, value, n in zip(names, uneven.variation, uneven.n_parts)
    ]
    picture = region_map(
        shapes,
        np.nan_to_num(uneven.variation),
        labels,
        tr("Darker: people are spread less evenly within the area."),
        GREENS,
        tr("Deviation of density / its mean"),
        north,
    )
    header = (tr("Variation, a quarter of the areas each"), tr("Areas"), tr("% of households that fall short"))
    return Section(tr("How evenly people are spread"), (text,), header, rows, (picture,))


def _not_masked_section(grid: Audit) -> Section:
    """The reasons why households could not be masked."""
    occurring = [r for r in range(len(REASONS)) if r != MASKED and grid.reasons[:, r].any()]
    if not occurring:
        return Section(tr("Households that could not be masked"), (tr("All could be masked."),))
    header = ["K_INNER", "K_OUTER", *(tr(REASONS[r]) for r in occurring)]
    rows = [
        (_known(inner), _known(outer), *map(float, counts[occurring]))
        for inner, outer, counts in zip(grid.k_inner, grid.k_outer, grid.reasons)
    ]
    return Section(
        tr("Households that could not be masked"),
        (tr("They are left out of the shares above; as points of a release they would not be released."),),
        *_with_method(grid, header, rows),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
