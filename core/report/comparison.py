"""The report of a comparison: a table, a picture per measure, and the trade-off."""

from __future__ import annotations

from collections.abc import Sequence

from ..comparison import Outcome
from .page import Report, Section, how_it_was_done, render
from .pictures import bars, scatter

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
    outcomes: Sequence[Outcome], k: int, wanted: int, parameters: Sequence[tuple[str, object]], notes: Sequence[str]
) -> str:
    """The page as HTML. wanted : how many configurations were asked for; after a cancel there are fewer."""
    rated = [outcome for outcome in outcomes if outcome.measures is not None]
    failed = [outcome for outcome in outcomes if outcome.measures is None]
    best = [outcome.name for outcome in rated if outcome.pareto]
    verdict = (
        f"{len(rated)} of {wanted} configurations were run at k = {k}; {len(best)} of them are not beaten in every "
        "measure by another."
    )
    sections = [
        Section(
            "The configurations",
            (),
            _HEADER,
            [_configuration_row(i, o) for i, o in enumerate(outcomes, 1) if o.measures is not None],
        ),
        trade_off_section(outcomes),
        Section("Measure by measure", ("Less is better in every picture.",), pictures=_measure_pictures(rated)),
        how_it_was_done(notes, parameters),
    ]
    if failed:
        sections.insert(
            1,
            Section("Failed", (), ("Configuration", "Why"), [(outcome.name, outcome.problem) for outcome in failed]),
        )
    return render(Report("Comparison of configurations", verdict, bool(rated), True, sections))


def trade_off_section(outcomes: Sequence[Outcome]) -> Section:
    """Suppression against compactness; those that no other beats in both are numbered and named."""
    rated = [(i, o, o.measures) for i, o in enumerate(outcomes, 1) if o.measures is not None]
    if not rated:
        return Section("What is traded for what")
    both = [(m.suppression_percent, m.compactness) for _, _, m in rated]
    unbeaten = [not any(x <= own[0] and y <= own[1] and (x, y) != own for x, y in both) for own in both]
    points = [(str(i), outcome.name, *pair, best) for (i, outcome, _), pair, best in zip(rated, both, unbeaten)]
    named = [(i, outcome.name, *pair) for (i, outcome, _), pair, best in zip(rated, both, unbeaten) if best]
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
