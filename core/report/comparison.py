"""The report of a comparison: a table, a picture per measure, and the trade-off."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import as_data, plural, tr
from ..outcome import Outcome
from .page import Report, Section, render
from .pictures import Point, bars, scatter
from .provenance import Provenance, how_it_was_done

MOST_SEARCHED = 60  # rows of the search on the page
SEARCHED_HEADER = (
    "#",
    "k",
    tr("Budget, %"),
    tr("Coarser, with level"),
    tr("Given up, %"),
    tr("Regions"),
    tr("Suppressed, %"),
    tr("Mean distance, m"),
    tr("Group that loses most"),
    tr("of it suppressed, %"),
)
# What the diamonds of a picture are.
OF_ALL = as_data("not beaten in both by any other")
OF_ITS_K = as_data("not beaten in both by any other of the same k")
RECOMMENDED = as_data("the recommended row")
# Measure and label of each picture.
PICTURED = (
    ("suppression_percent", tr("Suppressed, % of records")),
    ("compactness", tr("Compactness, m")),
    ("discernibility", tr("Discernibility")),
    ("non_uniform_entropy", tr("Non-uniform entropy, bits")),
    ("mean_distance", tr("Mean distance, m")),
    ("seconds", tr("Seconds")),
)


def comparison_report(
    outcomes: Sequence[Outcome],
    ks: Sequence[int],
    wanted: int,
    provenance: Provenance,
    notes: Sequence[str],
    choice: Sequence[Section] = (),
) -> str:
    """The page as HTML.

    wanted : how many configurations were asked for; after a cancel there are fewer; choice : what is said of the row to
    choose
    """
    rated = [outcome for outcome in outcomes if outcome.measures is not None]
    failed = [outcome for outcome in outcomes if outcome.measures is None and outcome.budget is None]
    n_none = sum(outcome.measures is None and outcome.budget is not None for outcome in outcomes)
    n_best = sum(outcome.pareto for outcome in rated)
    verdict = plural(
        "{n} of {wanted} configurations was run at k = {k}; {n_best} of them are not beaten "
        "in suppression, mean distance and what the attributes keep by others of their k and kind (one level, or "
        "nested).",
        "{n} of {wanted} configurations were run at k = {k}; {n_best} of them are not "
        "beaten in suppression, mean distance and what the attributes keep by others of their k and kind (one level, "
        "or nested).",
        len(rated) + n_none,
        wanted=wanted,
        k=", ".join(map(str, ks)),
        n_best=n_best,
    )
    numbered = list(enumerate(outcomes, 1))
    chosen = sorted(numbered, key=lambda pair: not pair[1].recommended)
    series = [f"k = {outcome.k}" for outcome in outcomes] if len(ks) > 1 else []
    by_name = [candidate for candidate in rated if candidate.budget is None]
    sections = [
        *choice,
        searched_section(numbered),
        Section(
            tr("The configurations"),
            (tr("The first row is the recommended one."),) if chosen and chosen[0][1].recommended else (),
            *_configurations(
                [
                    pair
                    for pair in chosen
                    if pair[1].measures is not None and (pair[1].budget is None or pair[1].pareto)
                ],
                len(ks) > 1,
            ),
        ),
        Section(
            tr("Failed"), (), (tr("Configuration"), tr("Why")), [(outcome.name, outcome.problem) for outcome in failed]
        ),
        trade_off_section(outcomes, series),
        Section(
            tr("Measure by measure"),
            (tr("Less is better in every picture."),),
            pictures=_measure_pictures(by_name, len(ks) > 1),
        ),
        *how_it_was_done(notes, provenance),
    ]
    return render(Report(tr("Comparison of configurations"), verdict, bool(rated), True, sections, provenance.date))


def searched_section(numbered: Sequence[tuple[int, Outcome]]) -> Section:
    """What coarser attributes buy: the rows of the search on the Pareto front, those that give up least first."""
    searched = [(i, o, o.measures) for i, o in numbered if o.budget is not None and o.measures is not None]
    best = sorted((row for row in searched if row[1].pareto), key=lambda row: row[1].given_up)
    rows = [
        (
            i,
            outcome.k,
            outcome.budget,
            ", ".join(tr("{name}: {value}", name=name, value=level) for name, level in outcome.generalised)
            or tr("none"),
            100.0 * outcome.given_up,
            m.n_regions,
            m.suppression_percent,
            m.mean_distance,
            outcome.worst.in_words if outcome.worst else None,
            outcome.worst.percent if outcome.worst else None,
        )
        for i, outcome, m in best[:MOST_SEARCHED]
    ]
    points = [
        Point(
            str(i),
            outcome.name,
            100.0 * outcome.given_up,
            m.mean_distance,
            bool(outcome.recommended),
            tr("k = {k}, at most {budget:g} %", k=outcome.k, budget=outcome.budget),
        )
        for i, outcome, m in searched
    ]
    if not points:
        return Section(tr("What coarser attributes buy"))
    n_left = len(best) - len(rows)
    texts = [
        tr(
            "The most regions that were found within each budget, by the levels of the attributes. What is given up is "
            "the share of the entropies of all attributes together; distances are those of the people of a record's "
            "region from its middle."
        ),
        *(
            [
                plural(
                    "{n} further row of the Pareto front is in the table COMPARISON.",
                    "{n} further rows of the Pareto front are in the table COMPARISON.",
                    n_left,
                )
            ]
            if n_left
            else []
        ),
    ]
    picture = scatter(
        points,
        tr("What is given up against distance"),
        tr("given up of the attributes, %"),
        tr("mean distance, m"),
        RECOMMENDED,
    )
    return Section(tr("What coarser attributes buy"), texts, SEARCHED_HEADER, rows, (picture,))


def trade_off_section(outcomes: Sequence[Outcome], series: Sequence[str] = ()) -> Section:
    """Suppression against compactness; those that no other of their series beats in both are numbered and named.

    series : the k of each, as a picture names it; none where all have the same
    """
    diamonds = OF_ITS_K if series else OF_ALL
    series = series or [""] * len(outcomes)
    rated = [
        (i, o, o.measures, group) for i, (o, group) in enumerate(zip(outcomes, series), 1) if o.measures is not None
    ]
    if not rated:
        return Section(tr("What is traded for what"))
    both = [(m.suppression_percent, m.compactness, group) for _, _, m, group in rated]
    pareto_front = [
        not any(x <= own[0] and y <= own[1] and group == own[2] and (x, y, group) != own for x, y, group in both)
        for own in both
    ]
    points = [
        Point(str(i), outcome.name, pair[0], pair[1], best, group)
        for (i, outcome, _, group), pair, best in zip(rated, both, pareto_front)
    ]
    named = [(i, outcome.name, *pair[:2]) for (i, outcome, _, _), pair, best in zip(rated, both, pareto_front) if best]
    return Section(
        tr("What is traded for what"),
        (tr("Nearer to the lower left is better. The numbered diamonds are {diamonds}:", diamonds=tr(diamonds)),),
        ("#", tr("Configuration"), tr("Suppressed, %"), tr("Compactness, m")),
        named,
        (
            scatter(
                points,
                tr("Suppression against compactness"),
                tr("records suppressed, %"),
                tr("compactness, m"),
                diamonds,
            ),
        ),
    )


_HEADER = (
    "#",
    tr("Configuration"),
    tr("No."),
    tr("Regions"),
    tr("Suppressed, %"),
    tr("Compactness, m"),
    tr("Discernibility"),
    tr("Entropy, bits"),
    tr("Mean distance, m"),
    tr("Group that loses most"),
    tr("of it suppressed, %"),
    tr("Seconds"),
    tr("Pareto-optimal"),
)


def _configurations(
    numbered: Sequence[tuple[int, Outcome]], several: bool
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Header and rows of the table; several : whether rows differ in k, which has a column then."""
    rows = [_configuration_row(i, outcome) for i, outcome in numbered]
    if not several:
        return _HEADER, rows
    with_k = [(*row[:2], outcome.k, *row[2:]) for row, (_, outcome) in zip(rows, numbered)]
    return (*_HEADER[:2], "k", *_HEADER[2:]), with_k


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
        outcome.worst.in_words if outcome.worst else None,
        outcome.worst.percent if outcome.worst else None,
        round(outcome.seconds, 2),
        tr("yes") if outcome.pareto else "",
    )


def _measure_pictures(rated: Sequence[Outcome], several: bool) -> tuple[str, ...]:
    """A picture per measure, grouped by site number as in Croft 2018, Figures 1 and 3, and the baselines; several :
    whether they differ in k, and are grouped by that too."""
    pictures = []
    for measure, label in PICTURED:
        groups: dict[str, tuple[list[str], list[float]]] = {}
        for outcome in rated:
            group = f"{outcome.family}, k = {outcome.k}" if several else outcome.family
            names, heights = groups.setdefault(group, ([], []))
            names.append(outcome.title)
            source = outcome if measure == "seconds" else outcome.measures
            heights.append(round(float(getattr(source, measure)), 2))
        pictures.append(bars(groups, label, label))
    return tuple(pictures)
