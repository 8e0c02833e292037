"""What a report says of nested levels: what each shows, who loses geography, a map per level, what levels tell."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..account import Account
from ..areas import Areas
from ..evaluation import Measures, RegionAudit, distance_of_equivalence_classes
from ..language import as_data, plural, tr
from ..plain_text import value_text
from ..plan import Plan
from ..privacy.derivable import not_proven, what_is_proven
from .cost import by_value_rows
from .map_data import MapData, drawn
from .numbers import formatted
from .page import Section
from .pictures import horizontal_bars, region_map
from .zones import narrowing_section

MOST_DRAWN = 2_500  # regions on one map
POINTS_A_MAP, POINTS_A_REGION = 1_000, 12  # of outlines: there are many maps, and few regions need few points
NEARLY_ALL = 99.0  # per cent of the records: further levels look alike
FARTHEST_CLASSES = 12
MOST_VALUES = 40


LIMITS = tr(
    "Whoever knows where a person lives, and the quasi-identifiers, learns at which level that class is shown there. A "
    "class that is missing at a finer level is rare there, or lacks what else is asked of a class; where no region "
    "around a place shows it, but others do, nobody of it lives there, or all who do are suppressed."
)
LEFT_OF_AREAS = as_data(
    "Where the finest level is the areas, the people behind a larger region live in those of its areas that do not "
    "show the class themselves."
)


def limits_section(account: Account) -> Section:
    """What can be derived from a release, or that it is not proven that nothing can."""
    k = account.plan.k
    proven: tuple[str, ...] = (not_proven(k),)
    if account.no_small_count:
        proven = what_is_proven(k, not account.levels.coarser, account.open_beside)
    limits = LIMITS if account.plan.in_part else f"{LIMITS} {tr(LEFT_OF_AREAS)}"
    return Section(tr("What levels tell"), (limits, *proven))


def narrowing_of(account: Account) -> Section:
    """What is left of the regions of a plan once those within are taken away; without content for one whose classes may
    lack people there, who live there all the same."""
    plan = account.plan
    if plan.in_part:
        return Section("")
    here = plan.released
    shown_as = (plan.level[here], plan.region[here], plan.class_of[here])
    return narrowing_section(plan.levels, account.areas.population, *shown_as, plan.in_zones)


def levels_section(account: Account, single: tuple[str, Measures] | None) -> Section:
    """What each level shows, and one level of regions beside it."""
    audit, measures = account.audit, account.measures
    of_levels = account.plan.values_in_words
    rows: list[tuple[object, ...]] = []
    n_released = max(measures.n_records - measures.n_suppressed, 1)
    for level in np.unique(audit.level).tolist():
        here = audit.level == level
        own = int(audit.released[here].sum())
        people = float(audit.population[here].mean())
        # Where no record is shown there is no distance, and not one of 0.
        metres = float((audit.released[here] * audit.distance[here]).sum() / own) if own else None
        values = of_levels[level : level + 1]
        rows.append((level + 1, int(here.sum()), *values, people, own, 100.0 * own / n_released, metres))
    paragraphs = [
        tr(
            "Each record shows a level that hides it, as fine as what is asked of the release allows. Level 1 is the "
            "finest. The distance is that of the people of a region from its middle: how far off one is who takes the "
            "middle for where a person lives."
        )
    ]
    if single is not None and single[1].n_suppressed == single[1].n_records:
        paragraphs.append(tr("One level of regions ({name}) would release nothing.", name=single[0]))
    elif single is not None and account.plan.n_released:
        name, outcome = single
        paragraphs.append(
            tr(
                "One level of regions ({name}) would have {regions}, suppress {records} "
                "({suppression_percent} %) and have a mean distance of {mean_distance} m; the nested "
                "release suppresses {n_nested} ({percent_nested} %) and has {distance_nested} m.",
                name=name,
                regions=counted.regions(outcome.n_regions),
                records=counted.records(outcome.n_suppressed),
                suppression_percent=formatted(outcome.suppression_percent),
                mean_distance=formatted(round(outcome.mean_distance)),
                n_nested=formatted(measures.n_suppressed),
                percent_nested=formatted(measures.suppression_percent),
                distance_nested=formatted(round(measures.mean_distance)),
            )
        )
    columns = (tr("Values"),) if of_levels else ()
    header = (
        tr("Level"),
        tr("Regions"),
        *columns,
        tr("People per region"),
        tr("Records shown here"),
        tr("% of the release"),
        tr("Mean distance, m"),
    )
    return Section(tr("What each level shows"), paragraphs, header, rows)


def geography_section(account: Account) -> Section:
    """Who loses geography, by value of each quasi-identifier; the classes that lose most."""
    rows = by_value_rows(account.by_value)
    names, released, distance = _classes(account.areas, account.plan.by_value)
    farthest = np.lexsort((-released, -distance))
    farthest = farthest[released[farthest] > 0][:FARTHEST_CLASSES]
    mean = account.measures.mean_distance
    known = sorted((row for row in rows if row[5] is not None), key=lambda row: -float(str(row[5])))[:MOST_VALUES]
    pictures = [
        horizontal_bars(
            [tr("{name}: {value}", name=row[0], value=row[1]) for row in known],
            [float(str(row[5])) for row in known],
            tr(
                "Mean distance in metres, by value; the dashed line is that of all released records ({mean} m).",
                mean=formatted(round(mean)),
            ),
            mean,
        ),
    ]
    texts = [tr("Rare values are shown in larger regions. Compare each with the others before you publish.")]
    if len(farthest):
        texts.append(
            plural(
                "The class with the largest mean distance:",
                "The {n} classes with the largest mean distance:",
                len(farthest),
            )
        )
    header = (tr("Class"), tr("Records released"), tr("Mean distance, m"))
    farthest_rows = [(names[i], int(released[i]), float(distance[i])) for i in farthest.tolist()]
    return Section(tr("Who loses geography"), texts, header, farthest_rows, pictures)


def _classes(areas: Areas, plan: Plan) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The name of each class, its released records, and their mean distance."""
    profile, n_classes = plan.profile, len(plan.profile.classes)
    kept = np.where(plan.released, plan.records, 0)
    released = np.bincount(plan.class_of, kept, n_classes)
    metres = np.bincount(plan.class_of, kept * distance_of_equivalence_classes(areas, plan), n_classes)
    values = [categories[codes] for categories, codes in zip(profile.categories, profile.classes.T)]
    names = [" · ".join(map(value_text, row)) for row in zip(*values)]
    return names, released, metres / np.maximum(released, 1)


def maps_section(audit: RegionAudit, map_data: MapData) -> Section:
    """A map per level: the share of each region's records that are shown in it or finer."""
    pictures: list[str] = []
    shares = 100.0 * (audit.released + audit.finer) / np.maximum(audit.records, 1)
    for level, of_level in enumerate(map_data.levels):
        here = audit.level == level
        there = drawn(of_level)
        whole = 100.0 * (audit.released + audit.finer)[here].sum() / max(audit.records[here].sum(), 1)
        if not 0 < there.sum() <= MOST_DRAWN or (whole > NEARLY_ALL and pictures):
            continue
        labels = [
            tr(
                "Region {region}: {records}, {own} shown here, {finer} within, {up} in larger ones",
                region=region + 1,
                records=counted.records(records),
                own=own,
                finer=finer,
                up=up,
            )
            for region, records, own, finer, up in zip(
                *(column[here].tolist() for column in (audit.region, audit.records, audit.released, audit.finer)),
                audit.coarser[here].tolist(),
            )
        ]
        caption = tr(
            "Level {level}, {regions}: the share of their records that is shown at this level or "
            "a finer one (of all records {whole} %).",
            level=level + 1,
            regions=counted.regions(int(here.sum())),
            whole=formatted(whole),
        )
        pictures.append(
            region_map(
                of_level[there],
                shares[here][there],
                [label for label, is_drawn in zip(labels, there) if is_drawn],
                caption,
                unit=tr("% of the region's records"),
                north=map_data.north,
                like=shares,
                most=POINTS_A_MAP + POINTS_A_REGION * int(there.sum()),
            )
        )
    text = tr(
        "A map per level, from fine to coarse, all in the same colours. Levels of more than {most_drawn} "
        "regions are left out, since they could not be told apart, and those that show more than {nearly_all:g} % of "
        "the records.",
        most_drawn=formatted(MOST_DRAWN),
        nearly_all=NEARLY_ALL,
    )
    return Section(tr("The levels"), (text,), pictures=pictures)
