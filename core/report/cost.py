"""What a release costs: measures per person and in all, class sizes, who loses, and how the methods came to rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import to_list
from ..attribute_costs import AttributeCost, cost_sentence
from ..convergence import Convergence
from ..evaluation import ByValue, Measures, placed, records_by_level, who_is_lost
from ..language import as_data, plural, tr
from ..plain_text import value_text
from ..plan import Plan
from ..privacy.risk import Risk, risk_of
from .numbers import formatted
from .page import Section
from .pictures import histogram, horizontal_bars, lines

IN_ALL = (
    (tr("Regions"), "n_regions", tr("Aggregated regions: the more, the finer the geography of the release.")),
    (tr("Records"), "n_records", tr("Records in the table.")),
    (
        tr("Suppressed"),
        "n_suppressed",
        tr(
            "Records left out: fewer than k share their region and quasi-identifiers, their area is not known, or "
            "something else that was asked does not hold for their class."
        ),
    ),
    (tr("Suppressed, %"), "suppression_percent", tr("The same as a share of all records. Less is better.")),
    (
        tr("Compactness, m"),
        "compactness",
        tr("Sum of the distances from each area to the site of its region. Less is more compact."),
    ),
    (
        tr("Discernibility"),
        "discernibility",
        tr(
            "Sum of the squared sizes of the released classes. Less means that records differ more: less "
            "information lost."
        ),
    ),
    (
        tr("Non-uniform entropy, bits"),
        "non_uniform_entropy",
        tr("How hard it is to guess a record's area from its region. Less means finer geography."),
    ),
)
HEADER = (tr("Measure"), tr("Value"), tr("Meaning"))
# Said wherever people may have several rows: k people are then no k rows.
ROWS_PICKED = as_data("By picking a row, whoever has more rows than the others is met more often than that.")
HOUSEHOLDS_COUNTED = as_data("Households are counted, or people where a class has fewer of these.")
MOST_BARS = 40
USUAL = 99  # per cent of the classes that the picture of their sizes shows


def person_section(measures: Measures, plan: Plan, n_areas: int, households: bool = False) -> Section:
    """What the release means for one person: place, company and risk; without content where nothing is released.

    households : whether these are counted, so that a class has as many as it has of them where they are fewer than its
    people
    """
    heading = tr("What it means for a person")
    if not plan.n_released:
        return Section(heading)
    records, people = plan.records[plan.released], plan.sizes[plan.released]
    risk = risk_of(records, people)
    among = 2.0 ** (measures.non_uniform_entropy / max(_rated(plan), 1))
    same = float((records.astype(float) * people).sum()) / max(plan.n_released, 1)
    rows: list[tuple[object, ...]] = [
        (tr("Mean distance, m"), measures.mean_distance, placed(measures.mean_distance)),
        _area_row(measures, plan, n_areas),
        (
            tr("Areas to guess among"),
            among,
            tr(
                "Guessing a person's area from the region alone is as hard as picking 1 of {among:.3g}, on average.",
                among=among,
            ),
        ),
        (
            tr("Households that look the same") if households else tr("People who look the same"),
            same,
            tr("Among how many households with the same region and quasi-identifiers a released record is, on average.")
            if households
            else tr(
                "Among how many people with the same region and quasi-identifiers a released record is, on average."
            ),
        ),
        *risk_rows(risk, int(people.min()), bool((records != people).any()), households),
    ]
    return Section(heading, (tr(HOUSEHOLDS_COUNTED),) if households else (), HEADER, rows)


def _area_row(measures: Measures, plan: Plan, n_areas: int) -> tuple[object, ...]:
    """How far areas are from the middle of what their records show; of nested levels those that have such records."""
    says = tr("From an area to the site of its region, on average over the areas.")
    if plan.level_of is not None:
        n_areas = int(records_by_level(plan)[:-1].any(axis=0).sum())
        says = tr("From an area to the middles of the regions that its records show, on average over areas with some.")
    return tr("Mean distance of an area, m"), measures.compactness / max(n_areas, 1), says


def risk_rows(risk: Risk, smallest: int, several: bool = False, households: bool = False) -> list[tuple[object, ...]]:
    """The risk of being recognised, for somebody known to be among the records; several : whether people have several
    records, so that one record may be another one's more likely than one in so many people; households : whether these
    are counted"""
    label, fewest = (
        (
            tr("Smallest class, households"),
            tr("The fewest households that share a region and all quasi-identifiers."),
        )
        if households
        else (tr("Smallest class, people"), tr("The fewest people who share a region and all quasi-identifiers."))
    )
    return [
        (label, smallest, fewest),
        (
            tr("Largest risk, %"),
            100.0 * risk.largest,
            _chance(smallest, several, households),
        ),
        (tr("Mean risk, %"), 100.0 * risk.mean, tr("The same, on average over all records of the release.")),
    ]


def _chance(smallest: int, several: bool, households: bool) -> str:
    """What the largest risk means; smallest : people or households of the smallest class, 0 where there is none."""
    if not smallest:
        return ""
    if households:
        return tr(
            "The chance of picking a household among those that share the region and all quasi-identifiers: 1 in {n} "
            "at worst. By picking a row, one that has more rows than the others is met more often than that.",
            n=smallest,
        )
    if several:
        return tr(
            "The chance of picking a person among those who share the region and all quasi-identifiers: 1 in {n} at "
            "worst. {rows}",
            n=smallest,
            rows=tr(ROWS_PICKED),
        )
    return tr(
        "The chance that someone who knows a person's quasi-identifiers picks that person's record: 1 in {n} at worst.",
        n=smallest,
    )


def _rated(plan: Plan) -> int:
    """Over how many records the entropy sums: those of any region of one level, the released ones of nested."""
    if plan.level_of is not None:
        return plan.n_released
    return int(plan.profile.area_sizes[plan.crosswalk.region_of >= 0].sum())


def measures_section(measures: Measures) -> Section:
    """The measures as they are published, and what they mean (Croft 2015, section 3.4)."""
    rows = [(label, getattr(measures, name), meaning) for label, name, meaning in IN_ALL]
    return Section(
        tr("What it cost"), (tr("Sums over all areas or records, to compare with other releases."),), HEADER, rows
    )


def classes_section(plan: Plan, households: bool = False) -> Section:
    """How large the classes are, and what is released of them. Internal: the small ones are counted.

    households : as in `person_section`
    """
    k = plan.k
    starts = sorted({1, 2, 3, 5, 10, 20, 50} & set(range(1, k)) | {k, 2 * k, 5 * k, 20 * k})
    sizes = plan.sizes
    band = np.searchsorted(starts, sizes, side="right") - 1
    rows: list[tuple[object, ...]] = []
    for i, start in enumerate(starts):
        end = starts[i + 1] - 1 if i + 1 < len(starts) else None
        here = band == i
        if here.any():
            kept = here & plan.released
            name = (
                tr("{start} and more", start=formatted(start))
                if end is None
                else tr("{start} to {end}", start=formatted(start), end=formatted(end))
            )
            rows.append(
                (
                    formatted(start) if end == start else name,
                    int(here.sum()),
                    int(kept.sum()),
                    int(plan.records[here].sum()),
                    int(plan.records[kept].sum()),
                )
            )
    who, axis = tr("People in the class"), tr("people in the class")
    text = tr("A class is what shares a region and all quasi-identifiers.")
    if households:
        who, axis = tr("Households in the class"), tr("households in the class")
        text += " " + tr(HOUSEHOLDS_COUNTED)
    header = (who, tr("Classes"), tr("Classes released"), tr("Records"), tr("Records released"))
    if len(plan.levels) > 1:
        text += " " + tr("Records that are suppressed at every level are in no class here.")
    released = sizes[plan.released]
    pictures = []
    if len(released):
        most = np.percentile(released, USUAL)
        usual = released[released <= most]
        caption = with_left_out(tr("Sizes of the released classes"), len(released) - len(usual))
        pictures.append(histogram(usual, caption, axis, tr("classes"), mark=float(k)))
    return Section(tr("Class sizes"), (text,), header, rows, pictures)


def with_left_out(title: str, n: int) -> str:
    """The title of a picture of classes without the n largest, which would press all others together."""
    return (
        plural("{title}; the largest is left out", "{title}; the {n} largest are left out", n, title=title)
        if n
        else title
    )


def by_value_rows(by_value: ByValue) -> list[tuple[object, ...]]:
    """A row per value of each quasi-identifier."""
    return [
        (name, value_text(value), int(records), int(suppressed), float(share), metres)
        for name, value, records, suppressed, share, metres in zip(
            by_value.quasi_identifiers,
            by_value.values,
            by_value.records,
            by_value.suppressed,
            100.0 * by_value.suppressed / np.maximum(by_value.records, 1),
            [None if np.isnan(metres) else float(metres) for metres in by_value.mean_distance],
        )
    ]


BY_VALUE = (
    tr("Quasi-identifier"),
    tr("Value"),
    tr("Records"),
    tr("Suppressed"),
    tr("Suppressed, %"),
    tr("Mean distance, m"),
)


def losers_section(by_value: ByValue, measures: Measures, k: int) -> Section:
    """Who is suppressed, by value of each quasi-identifier, and the group that loses most."""
    rows = by_value_rows(by_value)
    share = 100.0 * by_value.suppressed / np.maximum(by_value.records, 1)
    most = np.sort(np.argsort(-share, kind="stable")[:MOST_BARS])
    left_out = len(rows) - len(most)
    text = tr(
        "Suppressed records, per cent by value; the dashed line is that of all records ({suppression_percent} %).",
        suppression_percent=formatted(by_value.percent),
    )
    if left_out:
        text += " " + tr("Drawn are the {most_bars} values that lose most.", most_bars=MOST_BARS)
    heads: dict[int, str] = {}
    for position, row in enumerate(to_list(most)):
        name = by_value.quasi_identifiers[row]
        if name not in heads.values():
            heads[position] = name
    names = [value_text(by_value.values[row]) for row in to_list(most)]
    picture = horizontal_bars(names, to_list(share[most]), text, by_value.percent, heads)
    advice = tr("Rare values lose most. Group them (widowed with divorced, say) or accept the loss knowingly.")
    lost = who_is_lost(by_value, measures, k)
    paragraphs = [lost, advice] if lost else [advice]
    n_unplaced = measures.n_records - by_value.n_records
    if n_unplaced:
        paragraphs.append(
            plural(
                "{n} record of no known area is suppressed, too, and not counted here.",
                "{n} records of no known area are suppressed, too, and not counted here.",
                n_unplaced,
            )
        )
    return Section(tr("Who is suppressed"), paragraphs, BY_VALUE, rows, (picture,))


def convergence_section(convergences: Sequence[Convergence]) -> Section:
    """How the methods came to rest, a picture each."""
    pictures = [
        lines({curve.name: (curve.steps, curve.values)}, curve.name, curve.step, curve.measure, from_zero=False)
        for curve in convergences
    ]
    return Section(tr("Did the computation converge? (appendix)"), (), pictures=pictures)


def costs_section(percent: float, costs: Sequence[AttributeCost], suppressed: float | None = None) -> Section:
    """Suppression with the same regions, without each attribute and with it coarser; percent : with all as they are;
    suppressed : as `cost_sentence` takes it."""
    ordered = sorted(costs, key=lambda cost: cost.without)
    rows: list[tuple[object, ...]] = [(cost.quasi_identifier, cost.without) for cost in ordered]
    header: tuple[str, ...] = (tr("Quasi-identifier"), tr("Suppressed without it, %"))
    texts = [
        cost_sentence(percent, costs, suppressed),
        tr("Figures for the same regions; with fewer attributes you could also have smaller regions."),
    ]
    if any(cost.coarser is not None for cost in costs):
        given_up = [None if cost.given_up is None else 100.0 * cost.given_up for cost in ordered]
        rows = [(*row, cost.coarser, share) for row, cost, share in zip(rows, ordered, given_up)]
        header += (tr("Suppressed with it one level coarser, %"), tr("of its entropy given up by that, %"))
        texts.append(tr("Empty where no coarser values are given."))
    return Section(tr("Which attribute costs what"), texts, header, rows)
