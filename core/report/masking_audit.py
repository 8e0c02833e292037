"""The report of the donut audit: how often masking falls short, ring by ring and area by area."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..language import in_turn, plural, tr
from ..masking.audit import Audit, SmallestKInner
from ..masking.donut import MASKED, REASONS
from ..masking.populations import Heterogeneity, rank_correlation
from .page import Report, Section, render
from .pictures import GREENS, REDS, lines, region_map
from .provenance import Provenance, how_it_was_done

TRIPLE = 3.0  # the paper's advice


def audit_report(
    grid: Audit,
    smallest: Sequence[SmallestKInner],
    wanted_percent: float,
    uneven: Heterogeneity | None,
    shapes: np.ndarray,
    names: Sequence[str],
    north: float | None,
    notes: Sequence[str],
    provenance: Provenance,
) -> str:
    """The page as HTML.

    smallest : one per K_MIN of the grid; uneven : None where no finer layer was given; shapes : (m,) planar polygons;
    names : m identifiers; north : degrees clockwise from the top of the maps; notes : sentences; provenance : what the
    run was.
    """
    triple = all(inner.k_inner is not None and inner.k_inner <= TRIPLE * inner.k_min for inner in smallest)
    sentence = tr(
        "At most {wanted_percent:g} % of the masked households fall short of K_MIN with {smallest}.",
        wanted_percent=wanted_percent,
        smallest=in_turn(_sentence(inner) for inner in smallest),
    )
    enough = tr("Tripling K_MIN is enough here.") if triple else tr("Tripling K_MIN is not enough here.")
    verdict = f"{sentence} {enough}"
    sections = [
        _grid_section(grid, wanted_percent),
        _candidates_section(grid),
        _smallest_section(smallest),
        _where_section(grid, shapes, names, north),
        *([_uneven_section(grid, uneven, shapes, names, north)] if uneven is not None else []),
        _not_masked_section(grid),
        *how_it_was_done(notes, provenance),
    ]
    return render(Report(tr("Donut audit report"), verdict, triple, True, sections, provenance.date))


def _sentence(inner: SmallestKInner) -> str:
    if inner.k_inner is None:
        return tr("no K_INNER that leaves points to mask (K_MIN = {k_min:g})", k_min=inner.k_min)
    return tr("K_INNER = {k_inner} for K_MIN = {k_min:g}", k_inner=inner.k_inner, k_min=inner.k_min)


def _grid_section(grid: Audit, wanted_percent: float) -> Section:
    """The table of the paper, and a chart of it."""
    header = ["K_INNER", "K_OUTER", *(tr("% k_act < {k:g}", k=k) for k in grid.k_min), tr("% not masked")]
    rows = [
        (float(inner), float(outer), *map(_known, shares), _known(lost))
        for inner, outer, shares, lost in zip(grid.k_inner, grid.k_outer, grid.percent_below, grid.percent_not_masked)
    ]
    curves = {
        tr("K_MIN = {k:g}", k=k): (to_list(grid.k_inner), to_list(grid.percent_below[:, j]))
        for j, k in enumerate(grid.k_min)
    }
    text = tr(
        "Share of the masked households with fewer than K_MIN households nearer than they moved (Allshouse et al. "
        "2010, Table 1). Were households spread evenly, none would fall short where K_INNER is K_MIN. The dashed line "
        "is the wanted rate."
    )
    chart = lines(curves, tr("Households that fall short"), "K_INNER", tr("per cent"), level=wanted_percent)
    return Section(tr("Households that fall short"), (text,), header, rows, (chart,))


def _candidates_section(grid: Audit) -> Section:
    """The same table, by candidate households."""
    header = ["K_INNER", *(tr("% candidates < {k:g}", k=k) for k in grid.k_min)]
    rows = [(float(k), *map(_known, shares)) for k, shares in zip(grid.k_inner, grid.percent_below_candidates)]
    text = tr(
        "Share of the masked households whose masked place could have come from fewer than K_MIN households: those of "
        "the same area in whose ring it lies. The paper does not count this, but it is what an outsider who has the "
        "addresses must guess among; Donut masking holds such points back."
    )
    return Section(tr("Households that too few others could have been"), (text,), header, rows)


def _smallest_section(smallest: Sequence[SmallestKInner]) -> Section:
    rows = [
        (
            inner.k_min,
            inner.k_inner,
            None if inner.k_inner is None else inner.k_inner / inner.k_min,
            _known(inner.percent_below),
            _known(inner.percent_not_masked),
        )
        for inner in smallest
    ]
    text = tr(
        "The paper found that tripling keeps the failures below 1 % in its county. A larger K_INNER leaves more points "
        "without a place in their own area; such points cannot be released."
    )
    header = ("K_MIN", tr("Smallest K_INNER"), tr("times K_MIN"), tr("% below"), tr("% not masked"))
    return Section(tr("The smallest K_INNER that meets the wanted rate"), (text,), header, rows)


def _where_section(grid: Audit, shapes: np.ndarray, names: Sequence[str], north: float | None) -> Section:
    """Maps for the smallest K_MIN, with K_INNER about as large and about three times as large."""
    j = int(grid.k_min.argmin())
    k_min = grid.k_min[j]
    chosen = dict.fromkeys(int(np.abs(grid.k_inner - times * k_min).argmin()) for times in (1.0, TRIPLE))
    maps, texts = [], []
    for i in chosen:
        share = grid.percent_below_by_area[i, j]
        failing = int(np.nansum(share > 0))
        texts.append(
            tr(
                "With K_INNER = {k_inner:g}, masked households fall short of K_MIN = {k_min:g} in {failing} of "
                "{n_areas} areas with households.",
                k_inner=grid.k_inner[i],
                k_min=k_min,
                failing=failing,
                n_areas=int((grid.households > 0).sum()),
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


def _uneven_section(
    grid: Audit, uneven: Heterogeneity, shapes: np.ndarray, names: Sequence[str], north: float | None
) -> Section:
    """Whether the variance of density in sub-areas predicts failures."""
    i, j = int(grid.k_inner.argmin()), int(grid.k_min.argmin())
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
    rows = [(float(k), *map(float, counts[occurring])) for k, counts in zip(grid.k_inner, grid.reasons)]
    return Section(
        tr("Households that could not be masked"),
        (tr("They are left out of the shares above; as points of a release they would not be released."),),
        ("K_INNER", *(tr(REASONS[r]) for r in occurring)),
        rows,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
