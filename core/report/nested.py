"""The report of a nested release: verdict, what each level shows, who loses geography, a map per level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import counted
from ..anonymise import Account
from ..areas import Areas
from ..convergence import Convergence
from ..evaluation import Measures, distance_of_equivalence_classes, evaluate_by_value
from ..language import plural, tr
from ..nesting.measures import LevelAudit
from ..plain_text import value_text
from ..plan import Plan
from ..privacy.derivable import not_proven, what_is_proven
from ..release import NOTHING_RELEASED_NESTED
from .certificate import certificate_section
from .coarser import coarser_section
from .cost import (
    by_value_rows,
    classes_section,
    convergence_section,
    losers_section,
    measures_section,
    person_section,
)
from .linked import linked_section
from .map_data import MapData, drawn
from .numbers import formatted
from .page import Report, Section, render
from .periods import periods_section
from .pictures import horizontal_bars, region_map
from .protection import protection_section
from .provenance import Provenance, how_it_was_done
from .sign import SignPage
from .zones import chance_section, narrowing_section, price_section

MOST_DRAWN = 2_500  # regions on one map
POINTS_A_MAP, POINTS_A_REGION = 1_000, 12  # of outlines: there are many maps, and few regions need few points
NEARLY_ALL = 99.0  # per cent of the records: further levels look alike
FARTHEST_CLASSES = 12
MOST_VALUES = 40


def nested_report(
    account: Account,
    audit: LevelAudit,
    map_data: MapData,
    provenance: Provenance,
    notes: Sequence[str],
    seconds: Mapping[str, float],
    single: tuple[str, Measures] | None = None,
    convergence: Sequence[Convergence] = (),
    sign: SignPage | None = None,
) -> str:
    """The page as HTML.

    audit : that of the account; map_data : what is drawn; provenance : what the run was; notes : sentences and
    warnings; seconds : by step; single : what one level of regions gives, with its name; convergence : of the methods;
    sign : the page that is signed
    """
    measures, plan = account.measures, account.plan
    sections = [
        _levels_section(account, audit, single),
        *([coarser_section(account.coarser, account.requirement)] if account.coarser else []),
        person_section(measures, plan, len(account.areas)),
        _geography_section(account),
        periods_section(account),
        losers_section(evaluate_by_value(account.areas, account.by_value), measures, plan.k),
        _maps_section(audit, map_data),
        classes_section(plan),
        measures_section(measures),
        linked_section(account),
        *([protection_section(account)] if account.rows else []),
        *([price_section(account), _narrowing_section(account)] if account.coarser is None else []),
        _limits_section(account),
        *([certificate_section(account), chance_section(account)] if account.rows else []),
        convergence_section(convergence),
        *how_it_was_done(notes, provenance, tr("Step"), seconds),
    ]
    title = tr("Nested release") if account.rows else tr("Evaluation of a nested release")
    verdict = verdict_of(account)
    return render(Report(title, verdict, plan.n_released > 0, True, sections, provenance.date, sign is None, sign))


def verdict_of(account: Account) -> str:
    """Whether a nested release holds, or what one would be, and what is suppressed."""
    measures, k = account.measures, account.plan.k
    share = plural(
        "{n} of {n_records} records ({suppression_percent} %)",
        "{n} of {n_records} records ({suppression_percent} %)",
        measures.n_suppressed,
        n_records=formatted(measures.n_records),
        suppression_percent=formatted(measures.suppression_percent),
    )
    distance = f"{formatted(round(measures.mean_distance))} m"
    if not account.plan.n_released:
        return NOTHING_RELEASED_NESTED
    if account.rows is None:
        return tr(
            "At k = {k} a nested release by these levels would suppress {share}, at a mean distance of {distance}.",
            k=k,
            share=share,
            distance=distance,
        )
    return plural(
        "The release is {k}-anonymous: every one of its {n_released} records shares its "
        "level, region and quasi-identifiers with at least {n} other (smallest class: "
        "{smallest_class}). Suppressed: {share}. Mean distance: {distance}.",
        "The release is {k}-anonymous: every one of its {n_released} records shares its "
        "level, region and quasi-identifiers with at least {n} others (smallest class: "
        "{smallest_class}). Suppressed: {share}. Mean distance: {distance}.",
        k - 1,
        k=k,
        n_released=formatted(account.plan.n_released),
        smallest_class=account.smallest,
        share=share,
        distance=distance,
    )


LIMITS = (
    tr(
        "Whoever knows where a person lives, and the quasi-identifiers, learns at which level that class is "
        "shown there. A class that is missing at a finer level is rare there; where no region around a place "
        "shows it, but others do, nobody of it lives there. Where the finest level is the areas, the people "
        "behind a larger region live in those of its areas that do not show the class themselves."
    ),
)


def _limits_section(account: Account) -> Section:
    """What can be derived from a release, or that it is not proven that nothing can."""
    k = account.plan.k
    proven = what_is_proven(k, account.coarser is None) if account.no_small_count else (not_proven(k),)
    return Section(tr("What levels tell"), (*LIMITS, *proven))


def _narrowing_section(account: Account) -> Section:
    plan = account.plan
    here = plan.released
    shown_as = (plan.level[here], plan.region[here], plan.class_of[here])
    return narrowing_section(plan.levels, account.areas.population, *shown_as, plan.in_zones)


def _levels_section(account: Account, audit: LevelAudit, single: tuple[str, Measures] | None) -> Section:
    """What each level shows, and one level of regions beside it."""
    measures, of_levels = account.measures, () if account.coarser is None else account.coarser.in_words
    rows: list[tuple[object, ...]] = []
    n_released = max(measures.n_records - measures.n_suppressed, 1)
    for level in np.unique(audit.level).tolist():
        here = audit.level == level
        own = int(audit.released[here].sum())
        people = float(audit.population[here].mean())
        metres = float((audit.released[here] * audit.distance[here]).sum() / own) if own else 0.0
        values = of_levels[level : level + 1]
        rows.append((level + 1, int(here.sum()), *values, people, own, 100.0 * own / n_released, metres))
    paragraphs = [
        tr(
            "Each class of records is shown at the finest level that hides it. Level 1 is the finest. The "
            "distance is that of the people of a region from its middle: how far off one is who takes the "
            "middle for where a person lives."
        )
    ]
    if single is not None:
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


def _geography_section(account: Account) -> Section:
    """Who loses geography, by value of each quasi-identifier; the classes that lose most."""
    rows = by_value_rows(evaluate_by_value(account.areas, account.by_value))
    names, released, distance = _classes(account.areas, account.by_value)
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
    texts = (
        tr("Rare values are shown in larger regions. Compare each with the others before you publish."),
        plural(
            "The class with the largest mean distance:",
            "The {n} classes with the largest mean distance:",
            len(farthest),
        ),
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


def _maps_section(audit: LevelAudit, map_data: MapData) -> Section:
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
