"""The report of a comparison: a table, a picture per measure, and the trade-off."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison import Outcome
from .page import Report, Section, render
from .pictures import Point, bars, scatter
from .running import Running, how_it_was_done

# Measure and label of each picture.
PICTURED = (
    ("suppression_percent", "Suppressed, % of records"),
    ("compactness", "Compactness, m"),
    ("discernibility", "Discernibility"),
    ("non_uniform_entropy", "Non-uniform entropy, bits"),
    ("mean_distance", "Mean distance, m"),
    ("seconds", "Seconds"),
)


def comparison_report(
    outcomes: Sequence[Outcome],
    k: int,
    wanted: int,
    running: Running,
    notes: Sequence[str],
    recommended: int | None = None,
    series: Sequence[str] = (),
) -> str:
    """The page as HTML.

    wanted : how many configurations were asked for; after a cancel there are fewer; recommended : the position of the
    outcome to put first, None for none; series : the series that each outcome is drawn in, such as its k; one for all
    where empty
    """
    rated = [outcome for outcome in outcomes if outcome.measures is not None]
    failed = [outcome for outcome in outcomes if outcome.measures is None]
    best = [outcome.name for outcome in rated if outcome.pareto]
    verdict = (
        f"{len(rated)} of {wanted} configurations were run at k = {k}; {len(best)} of them are not beaten in every "
        "measure by another."
    )
    order = sorted(range(len(outcomes)), key=lambda i: i != recommended)
    sections = [
        Section(
            "The configurations",
            () if recommended is None else ("The first row is the recommended one.",),
            _HEADER,
            [_configuration_row(i + 1, outcomes[i]) for i in order if outcomes[i].measures is not None],
        ),
        Section("Failed", (), ("Configuration", "Why"), [(outcome.name, outcome.problem) for outcome in failed]),
        trade_off_section(outcomes, series),
        Section("Measure by measure", ("Less is better in every picture.",), pictures=_measure_pictures(rated)),
        *how_it_was_done(notes, running),
    ]
    return render(Report("Comparison of configurations", verdict, bool(rated), True, sections, running.date))


def trade_off_section(outcomes: Sequence[Outcome], series: Sequence[str] = ()) -> Section:
    """Suppression against compactness; those that no other of their series beats in both are numbered and named."""
    series = series or [""] * len(outcomes)
    rated = [(i, o, o.measures, one) for i, (o, one) in enumerate(zip(outcomes, series), 1) if o.measures is not None]
    if not rated:
        return Section("What is traded for what")
    both = [(m.suppression_percent, m.compactness, one) for _, _, m, one in rated]
    unbeaten = [
        not any(x <= own[0] and y <= own[1] and one == own[2] and (x, y, one) != own for x, y, one in both)
        for own in both
    ]
    points = [
        Point(str(i), outcome.name, pair[0], pair[1], best, one)
        for (i, outcome, _, one), pair, best in zip(rated, both, unbeaten)
    ]
    named = [(i, outcome.name, *pair[:2]) for (i, outcome, _, _), pair, best in zip(rated, both, unbeaten) if best]
    return Section(
        "What is traded for what",
        ("Nearer to the lower left is better. The numbered diamonds are not beaten in both by any other:",),
        ("#", "Configuration", "Suppressed, %", "Compactness, m"),
        named,
        (scatter(points, "Suppression against compactness", "records suppressed, %", "compactness, m"),),
    )


_HEADER = (
    "#",
    "Configuration",
    "No.",
    "Regions",
    "Suppressed, %",
    "Compactness, m",
    "Discernibility",
    "Entropy, bits",
    "Mean distance, m",
    "Group that loses most",
    "of it suppressed, %",
    "Seconds",
    "Unbeaten",
)


def _configuration_row(number: int, outcome: Outcome) -> tuple[object, ...]:
    m = outcome.measures
    if m is None:
        return (number, outcome.name, outcome.problem)
    return (
        number,
        outcome.name,
        outcome.combination,
        m.n_regions,
        m.suppression_percent,
        m.compactness,
        m.discernibility,
        m.non_uniform_entropy,
        m.mean_distance,
        outcome.worst.name if outcome.worst else None,
        outcome.worst.percent if outcome.worst else None,
        outcome.seconds,
        "yes" if outcome.pareto else "",
    )


def _measure_pictures(rated: Sequence[Outcome]) -> tuple[str, ...]:
    """A picture per measure, grouped by site number as in Croft 2018, Figures 1 and 3, and the baselines."""
    pictures = []
    for measure, label in PICTURED:
        groups: dict[str, tuple[list[str], list[float]]] = {}
        for outcome in rated:
            names, heights = groups.setdefault(outcome.family, ([], []))
            names.append(outcome.title)
            source = outcome if measure == "seconds" else outcome.measures
            heights.append(float(getattr(source, measure)))
        pictures.append(bars(groups, label, label))
    return tuple(pictures)
