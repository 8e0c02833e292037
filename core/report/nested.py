"""The report of a nested release: verdict, what each level shows, who loses geography, a map per level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import shapely

from ..evaluation import ByValue, Measures, value_text, worst_group
from ..nesting.measures import LevelAudit
from .anonymisation import measures_section
from .page import Report, Section, how_it_was_done, render, time_taken
from .pictures import horizontal_bars, region_map

MOST_DRAWN = 2_500  # regions on one map; of finer levels nothing could be told apart
FARTHEST_CLASSES = 12


def nested_report(
    measures: Measures,
    audit: LevelAudit,
    k: int,
    smallest_class: int | None,
    by_value: ByValue,
    classes: tuple[Sequence[str], np.ndarray, np.ndarray],
    single: tuple[str, Measures] | None,
    shapes: Sequence[np.ndarray],
    parameters: Sequence[tuple[str, object]],
    notes: Sequence[str],
    seconds: Mapping[str, float],
    protection: Section | None,
) -> str:
    """The page as HTML.

    smallest_class : of the release, recounted; by_value : from `evaluate_by_value`; classes : the name of each class,
    its released records, and their mean distance; single : what one level of regions gives, with its name; shapes : of
    each level, (n_regions,) planar polygons; parameters : label and value of each; notes : sentences and warnings;
    seconds : by step; protection : from `protection_section`, None for an evaluation, which releases nothing
    """
    shown = measures.n_records - measures.n_suppressed
    share = f"{measures.n_suppressed} of {measures.n_records} records ({measures.suppression_percent:.3g} %)"
    if not shown:
        verdict = "No record could be released: all were suppressed. Choose fewer quasi-identifiers."
    elif protection:
        verdict = (
            f"The release is {k}-anonymous: every one of its {shown} records shares its level, region and "
            f"quasi-identifiers with at least {k - 1} others (smallest class: {smallest_class}). {share} were "
            f"suppressed. Its mean distance is {measures.mean_distance:.0f} m."
        )
    else:
        verdict = (
            f"At k = {k} a nested release by these levels would suppress {share}, at a mean distance of "
            f"{measures.mean_distance:.0f} m."
        )
    sections = [
        _levels_section(measures, audit, single),
        _losers_section(by_value, classes, measures, k),
        _maps_section(audit, shapes),
        measures_section(measures),
        how_it_was_done(notes, parameters),
        time_taken("Step", seconds),
        *([protection] if protection else []),
        Section("What levels tell", LIMITS),
    ]
    return render(
        Report("Nested release" if protection else "Evaluation of a nested release", verdict, shown > 0, True, sections)
    )


LIMITS = (
    "Whoever knows where a person lives, and the quasi-identifiers, learns at which level that class is shown there. A "
    "class that is missing at a finer level is rare there; where no region around a place shows it, but others do, "
    "nobody of it lives there. Where the finest level is the areas, the people behind a larger region live in those of "
    "its areas that do not show the class themselves. Where a rule forbids that small counts can be derived, ask for a "
    "least population per region.",
)


def _levels_section(measures: Measures, audit: LevelAudit, single: tuple[str, Measures] | None) -> Section:
    """What each level shows, and one level of regions beside it."""
    rows: list[tuple[object, ...]] = []
    n_released = max(measures.n_records - measures.n_suppressed, 1)
    for level in np.unique(audit.level).tolist():
        here = audit.level == level
        shown = int(audit.shown[here].sum())
        people = float(audit.population[here].mean())
        metres = float((audit.shown[here] * audit.distance[here]).sum() / shown) if shown else 0.0
        rows.append((level + 1, int(here.sum()), people, shown, 100.0 * shown / n_released, metres))
    paragraphs = [
        "Each class of records is shown at the finest level that hides it. Level 1 is the finest. The distance is that "
        "of the people of a region from its middle: how far off one is who takes the middle for where a person lives."
    ]
    if single is not None:
        name, one = single
        paragraphs.append(
            f"One level of regions ({name}) would have {one.n_regions} regions, suppress {one.n_suppressed} records "
            f"({one.suppression_percent:.3g} %) and have a mean distance of {one.mean_distance:.0f} m; the nested "
            f"release suppresses {measures.n_suppressed} ({measures.suppression_percent:.3g} %) and has "
            f"{measures.mean_distance:.0f} m."
        )
    header = ("Level", "Regions", "People per region", "Records shown here", "% of the release", "Mean distance, m")
    return Section("What each level shows", paragraphs, header, rows)


def _losers_section(
    by_value: ByValue, classes: tuple[Sequence[str], np.ndarray, np.ndarray], measures: Measures, k: int
) -> Section:
    """Who loses geography and who is suppressed, by value of each quasi-identifier; the classes that lose most."""
    rows = [
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
    names, released, distance = classes
    farthest = np.lexsort((-released, -distance))
    farthest = farthest[released[farthest] > 0][:FARTHEST_CLASSES]
    pictures = [
        horizontal_bars(
            [f"{row[0]}: {row[1]}" for row in rows],
            [row[5] or 0.0 for row in rows],
            f"Mean distance in metres, by value; the line is that of all released records "
            f"({measures.mean_distance:.0f} m).",
            measures.mean_distance,
        ),
        horizontal_bars(
            [names[i] for i in farthest.tolist()],
            distance[farthest].tolist(),
            "The classes with the largest mean distance, in metres.",
            measures.mean_distance,
        ),
    ]
    header = ("Quasi-identifier", "Value", "Records", "Suppressed", "Suppressed, %", "Mean distance, m")
    worst = worst_group(by_value, k)
    paragraphs = ["Rare values are shown in larger regions. Compare each with the others before you publish."]
    if worst is not None and measures.n_suppressed:
        paragraphs.append(worst.sentence(measures.suppression_percent))
    return Section("Who loses geography", paragraphs, header, rows, pictures)


def _maps_section(audit: LevelAudit, shapes: Sequence[np.ndarray]) -> Section:
    """A map per level: the share of each region's records that are shown in it or finer."""
    pictures = []
    for level, of_level in enumerate(shapes):
        here = audit.level == level
        drawn = ~(shapely.is_empty(of_level) | shapely.is_missing(of_level))
        if not 0 < drawn.sum() <= MOST_DRAWN:
            continue
        share = 100.0 * (audit.shown + audit.finer)[here] / np.maximum(audit.records[here], 1)
        labels = [
            f"Level {level + 1}, region {region + 1}: {records} records, {shown} shown here, {finer} within, {up} in a "
            "larger region"
            for region, records, shown, finer, up in zip(
                *(column[here].tolist() for column in (audit.region, audit.records, audit.shown, audit.finer)),
                audit.coarser[here].tolist(),
            )
        ]
        whole = 100.0 * (audit.shown + audit.finer)[here].sum() / max(audit.records[here].sum(), 1)
        caption = (
            f"Level {level + 1}, {int(here.sum())} regions. Darker: a larger share of the records is shown at this "
            f"level or a finer one (of all records {whole:.1f} %)."
        )
        texts = [label for label, there in zip(labels, drawn) if there]
        pictures.append(region_map(of_level[drawn], share[drawn], texts, caption))
    text = (
        f"A map per level, from fine to coarse. Levels of more than {MOST_DRAWN} regions are left out: on a page they "
        "could not be told apart."
    )
    return Section("The levels", (text,), pictures=pictures)
