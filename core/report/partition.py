"""The report of a partition of cells: verdict, measures, who is left out, the map, the paper's Figures 4 to 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import counted
from ..arrays import to_list
from ..cells.cells import Cells
from ..cells.measures import GroupDescriptions, Minimum, hull_areas, weights_of
from ..cells.partition import REASONS, TAKEN, Partition
from ..cells.units import FallBack, Units, measure_units
from ..crosswalk import number_compactly
from ..dataclass import dataclass
from ..errors import InputError
from ..language import all_of, plural, tr, written
from ..records.columns import codes_of_labels
from .page import Report, Section, render
from .pictures import BLUES, cloud, in_hull, region_map, sizes, spread
from .provenance import Provenance, how_it_was_done

# Figure 6 of the paper shows groups of these ratios.
SHOWN_RATIOS = (0.1, 0.2, 0.4, 0.8)
MUCH_LEFT_OUT = 0.02
MOST_UNITS = 50


@dataclass(frozen=True, eq=False)
class OfficialAreas:
    """Official areas to compare with. sqrt_hull : √(hull area) of each, metres; people : of each; name : the field"""

    sqrt_hull: np.ndarray
    people: np.ndarray
    name: str


@dataclass(frozen=True, eq=False)
class UnitsUsed:
    """The units that groups stay within, and the fall-back to them, None where cells do not fall back."""

    units: Units
    fallen: FallBack | None


def partition_report(
    cells: Cells,
    minimums: Sequence[Minimum],
    partition: Partition,
    groups: GroupDescriptions,
    shapes: np.ndarray,
    north: float | None,
    provenance: Provenance,
    notes: Sequence[str],
    seconds: Mapping[str, float],
    official: OfficialAreas | None = None,
    units: UnitsUsed | None = None,
) -> str:
    """The page as HTML. shapes : (n_groups,) planar polygons; north : degrees clockwise
    from the top of the map; provenance : what the run was; seconds : by step."""
    measures = partition.measures
    short = all_of(tr("{k:g} in {fields}", k=minimum.k, fields=_field_names(cells, minimum)) for minimum in minimums)
    verdict = plural(
        "{n} group, connected and with at least {short}, in every year, recounted from the "
        "cells. {non_pop:.2f} % of the people are left out.",
        "{n} groups, each connected and with at least {short}, in every year, recounted from "
        "the cells. {non_pop:.2f} % of the people are left out.",
        measures.n_groups,
        short=short,
        non_pop=100 * measures.non_pop,
    )
    sections = [
        _measures_section(partition),
        _left_out_section(cells, minimums, partition),
        *([] if units is None else [_units_section(cells, minimums, partition, units)]),
        Section(
            tr("The groups"),
            (),
            pictures=(
                region_map(
                    shapes,
                    groups.least[:, 0],
                    _group_labels(groups),
                    tr("Darker: more people in the year with the fewest."),
                    BLUES,
                    tr("People"),
                    north,
                ),
            ),
        ),
        _table_section(groups),
        _sizes_section(groups),
        _precision_section(groups, official),
        _ratios_section(groups, shapes),
        *how_it_was_done(notes, provenance, tr("Step"), seconds),
    ]
    return render(Report(tr("Partition of cells"), verdict, True, True, sections, provenance.date, True))


def _field_names(cells: Cells, minimum: Minimum) -> str:
    names = [cells.fields[column] for column in minimum.columns]
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _measures_section(partition: Partition) -> Section:
    measures = partition.measures
    rows = [
        (tr("Groups"), measures.n_groups, tr("The more, the finer the geography.")),
        ("non_pop", written(f"{measures.non_pop:.5f}"), tr("Share of the people who are in no group.")),
        ("weighted_dist", written(f"{measures.weighted_dist:.4f}"), tr("Mean diagonal of a person's group, in cells.")),
        (
            tr("Loss"),
            written(f"{measures.loss:.5f}"),
            tr("-β · non_pop - (1 - β) · weighted_dist. Nearer to 0 is better."),
        ),
    ]
    return Section(tr("How good it is"), (), (tr("Measure"), tr("Value"), tr("Meaning")), rows)


def _left_out_section(cells: Cells, minimums: Sequence[Minimum], partition: Partition) -> Section:
    """Cells and people by the reason why they are left out; a sentence where they are many."""
    weights = weights_of(cells, minimums)
    share = np.bincount(partition.reason, weights=weights, minlength=len(REASONS)) / weights.sum()
    count = np.bincount(partition.reason, minlength=len(REASONS))
    rows = [
        (tr(REASONS[reason]), int(count[reason]), tr("{percent:.2f} %", percent=100 * share[reason]))
        for reason in range(len(REASONS))
        if reason != TAKEN and count[reason]
    ]
    if not rows:
        return Section(tr("Who is left out"), (tr("Nobody: every cell is in a group."),))
    sentences = []
    if partition.measures.non_pop > MUCH_LEFT_OUT:
        reason = int(np.argmax(share[1:])) + 1
        advice = {
            1: tr("Larger cells, a lower K, or neighbours by corner would take them in."),
            2: tr(
                "More restarts help a little; “compact growth” leaves out nobody who can be taken, but "
                "where EMPTY_YEARS lets groups be empty in a year."
            ),
            3: tr("A larger BETA keeps them, in wide groups."),
            4: tr("Larger units, or a lower K, would keep their group."),
            6: tr("A smaller LEAST_HULL_SHARE keeps them."),
            5: tr("Larger units, or a lower K, would take them in."),
        }[reason]
        sentences.append(
            tr(
                "More than {much_left_out:.0f} % of the people are left out, most of them because {reasons}. {advice}",
                much_left_out=100 * MUCH_LEFT_OUT,
                reasons=tr(REASONS[reason]),
                advice=advice,
            )
        )
    sentences.append(tr("People are counted as person-years of the first minimum's fields."))
    return Section(tr("Who is left out"), sentences, (tr("Because"), tr("Cells"), tr("People")), rows)


def _units_section(cells: Cells, minimums: Sequence[Minimum], partition: Partition, within: UnitsUsed) -> Section:
    """The units with most people left out of groups."""
    units, measured = within.units, measure_units(cells, minimums, partition.crosswalk, within.units)
    order = np.argsort(-np.nan_to_num(measured.left_out), kind="stable")[:MOST_UNITS]
    columns = zip(*(to_list(values[order]) for values in vars(measured).values()))
    rows = [
        (
            units.names[unit],
            n_cells,
            n_groups,
            None if np.isnan(left) else tr("{percent:.2f} %", percent=100 * left),
            None if np.isnan(length) else length,
        )
        for unit, (n_cells, n_groups, left, length) in zip(to_list(order), columns)
    ]
    sentences = [tr("No group crosses a border of “{field}”.", field=units.field)]
    if len(units) > MOST_UNITS:
        sentences.append(tr("Shown are the {most} with the largest share left out.", most=MOST_UNITS))
    if within.fallen is not None:
        sentences += [
            within.fallen.sentence(),
            tr(
                "Level 1 of the crosswalk has the groups and the rest of each unit, which reaches the minimums in "
                "every year and need not be connected; level 2 has the units. Both were recounted. Who is “left out” "
                "below, and not in a unit with too few people, has a region on both levels."
            ),
        ]
    header = (units.field, tr("Cells"), tr("Groups"), tr("People left out"), tr("Mean diagonal, in cells"))
    return Section(tr("By unit"), sentences, header, rows)


def _group_labels(groups: GroupDescriptions) -> list[str]:
    columns = [to_list(column) for column in (groups.cells, groups.least[:, 0], groups.sqrt_hull)]
    return [
        tr(
            "Group {i}: {cells}, {least:g} people in the year with the fewest, √hull {hull:.0f} m",
            i=i + 1,
            cells=counted.cells(cells),
            least=least,
            hull=hull,
        )
        for i, (cells, least, hull) in enumerate(zip(*columns))
    ]


def _table_section(groups: GroupDescriptions) -> Section:
    """Table 2 of the paper: what the groups are like."""
    rows = []
    for name, values in (
        (tr("Cells"), groups.cells.astype(float)),
        (tr("People in the year with the fewest"), groups.least[:, 0]),
        (tr("People per km²"), groups.density),
        (tr("Area / hull area"), groups.area_hull),
        (tr("√(hull area), m"), groups.sqrt_hull),
    ):
        quarters = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
        rows.append((name, float(values.mean()), float(values.std()), *quarters))
    return Section(
        tr("The groups in numbers"),
        (),
        ("", tr("Mean"), tr("Deviation"), tr("Smallest"), "25 %", "50 %", "75 %", tr("Largest")),
        rows,
    )


def _sizes_section(groups: GroupDescriptions) -> Section:
    return Section(
        tr("Size and people (Figure 4 of Bjerre-Nielsen & Gandil 2018)"),
        (),
        pictures=(
            sizes(groups.cells, tr("Cells in a group"), tr("cells"), tr("share of groups, %")),
            cloud(
                groups.least[:, 0],
                groups.cells,
                tr("People and size"),
                tr("people in the year with the fewest"),
                tr("cells"),
            ),
        ),
    )


def _precision_section(groups: GroupDescriptions, official: OfficialAreas | None) -> Section:
    people = groups.people
    series: dict[str, tuple[np.ndarray, np.ndarray]] = {tr("groups"): (groups.sqrt_hull, people)}
    sentences = [
        tr("Spatial precision is the square root of the area of the convex hull of the places where somebody may live.")
    ]
    mean = float(np.average(groups.sqrt_hull, weights=people))
    middle = median_person(groups.sqrt_hull, people)
    if official is None:
        sentences.append(tr("On average a person's group has {mean:.0f} m.", mean=mean))
        sentences.append(tr("Half of the people are in groups of at most {median:.0f} m.", median=middle))
    else:
        series[official.name] = (official.sqrt_hull, official.people)
        other = float(np.average(official.sqrt_hull, weights=official.people))
        sentences.append(
            tr(
                "On average a person's group has {mean:.0f} m, their area by “{name}” {other:.0f} m: "
                "{times:.1f} times as much.",
                mean=mean,
                name=official.name,
                other=other,
                times=other / mean,
            )
        )
        half = median_person(official.sqrt_hull, official.people)
        sentences.append(
            tr(
                "Half of the people are in groups of at most {median:.0f} m, and in areas by “{name}” of at most "
                "{other:.0f} m: {times:.1f} times as much (the paper's medians: 300 m, 3500 m).",
                median=middle,
                name=official.name,
                other=half,
                times=half / middle,
            )
        )
    picture = spread(series, tr("Spatial precision"), tr("√(hull area), m"), tr("share of people, %"))
    return Section(tr("Spatial precision (Figure 5)"), sentences, pictures=(picture,))


def median_person(values: np.ndarray, people: np.ndarray) -> float:
    """The smallest value that at least half of the people do not exceed. values, people : (m,), by group."""
    order = np.argsort(values, kind="stable")
    taken = np.cumsum(people[order])
    return float(values[order][np.searchsorted(taken, taken[-1] / 2)])


def _ratios_section(groups: GroupDescriptions, shapes: np.ndarray) -> Section:
    """A group for each of the paper's ratios of area to hull area, drawn in its hull."""
    drawings: dict[int, str] = {}
    for ratio in SHOWN_RATIOS:
        # Of several groups with one ratio, the largest shows most.
        distance = np.abs(groups.area_hull - ratio)
        near = np.flatnonzero(distance <= max(0.02, float(distance.min())))
        group = int(near[np.argmax(groups.cells[near])])
        drawings[group] = in_hull(shapes[group], tr("area / hull = {area_hull:.2f}", area_hull=groups.area_hull[group]))
    row = f'<div class="row">{"".join(drawings.values())}</div>'
    text = (
        tr(
            "Groups that branch out have little area in their hull. Where precision matters, leave out groups "
            "with a low ratio: the paper suggests 0.4 as the limit."
        ),
        tr(
            "Groups below 0.4: {n} of {n_cells}, with {percent:.1f} % of the people.",
            n=int((groups.area_hull < 0.4).sum()),
            n_cells=len(groups.cells),
            percent=100 * groups.people[groups.area_hull < 0.4].sum() / groups.people.sum(),
        ),
    )
    return Section(tr("Area and hull (Figure 6)"), text, pictures=(row,))


def official_areas(
    cells: Cells, minimums: Sequence[Minimum], names: Sequence[object], shapes: np.ndarray, field: str
) -> OfficialAreas:
    """The official areas that have cells. names : n, the area of each cell, None for none; shapes : (n,) planar."""
    crosswalk, _ = number_compactly(codes_of_labels(names))
    if not crosswalk.n_regions:
        raise InputError.saying(
            "OFFICIAL_AREA: field “{field}” is empty in every cell: choose another or none.", field=field
        )
    return OfficialAreas(np.sqrt(hull_areas(shapes, crosswalk)), crosswalk.totals(weights_of(cells, minimums)), field)
