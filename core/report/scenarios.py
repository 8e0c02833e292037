"""What a report says of scenario runs."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import plural, tr
from ..scenarios.averages import Average, ScenarioAverages
from .numbers import shown
from .page import Section

# Measure and column; the least and the most stand behind the average.
_SHOWN = (
    ("n_sites", tr("Regions")),
    ("suppression_percent", tr("Suppressed, %")),
    ("mean_distance", tr("Mean distance, m")),
    ("suppressed_of_first", tr("Suppressed, % of the first")),
    ("compactness_of_first", tr("Compactness, % of the first")),
    ("discernibility_of_first", tr("Discernibility, % of the first")),
    ("entropy_of_first", tr("Entropy, % of the first")),
)


def scenario_sections(
    averages: Sequence[ScenarioAverages], selections: Sequence[tuple[str, ...]], n_run: int, wanted: int
) -> list[Section]:
    """The averages, and the selections that were drawn; nothing where no scenario was run.

    n_run, wanted : scenarios that were run, and that were asked for
    """
    if not averages:
        return []
    header = (
        tr("Part"),
        tr("Configuration"),
        "k",
        tr("Scenarios"),
        tr("Failed"),
        *(label for _, label in _SHOWN),
    )
    rows = [
        (
            row.part or tr("all"),
            f"{row.configuration.site_number} · {row.configuration.title}",
            row.k,
            row.n_scenarios,
            row.n_failed,
            *(_with_range(row.values[name]) for name, _ in _SHOWN),
        )
        for row in averages
    ]
    text = plural(
        "{n} scenario of {wanted} was run: each random selection of the quasi-identifiers in each part. An average "
        "counts every scenario the same; in brackets the least and the most. Shares of the first configuration are "
        "those within each scenario.",
        "{n} scenarios of {wanted} were run: each random selection of the quasi-identifiers in each part. An average "
        "counts every scenario the same; in brackets the least and the most. Shares of the first configuration are "
        "those within each scenario.",
        n_run,
        wanted=wanted,
    )
    drawn = [(number, ", ".join(selection)) for number, selection in enumerate(selections, 1)]
    return [
        Section(tr("Averages over scenarios"), (text,), header, rows),
        Section(tr("The random selections"), (), ("#", tr("Quasi-identifiers")), drawn),
    ]


def _with_range(average: Average | None) -> str | None:
    if average is None:
        return None
    mean, least, most = (shown(value, False) for value in (average.mean, average.least, average.most))
    return tr("{mean} ({least} to {most})", mean=mean, least=least, most=most)
