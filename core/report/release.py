"""The report that may be published beside a release.

It is made of what is published anyway and nothing else: the released rows, the regions, the areas as their layer
shows them, and the settings that were chosen. So nothing in it depends on a record that was suppressed: not how many
records there were, not what is missing of a region, a value or a class, nor a distance weighted by people who are
counted from the records.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..account import Account
from ..areas import Areas
from ..arrays import to_list
from ..dataclass import dataclass
from ..evaluation import distances_where_shown, placed
from ..language import plural, tr
from ..levels import Levels
from ..plain_text import value_text
from ..privacy.derivable import not_proven, what_is_proven
from ..privacy.risk import risk_of
from ..records.columns import combine_codes
from ..records.table import HOUSEHOLDS
from ..release import Release, class_sizes
from ..version import version
from .cost import HEADER, ROWS_PICKED, USUAL, risk_rows, with_left_out
from .map_data import MapData, released_map
from .numbers import formatted
from .page import Report, Section, render
from .periods import how_periods_go_together
from .pictures import histogram
from .provenance import now, settings
from .zones import narrowing_section

NOT_SAID = (
    tr(
        "Records that too few others share may have been left out before publication. Whether any were, and "
        "how many, is not said here."
    ),
    tr("k-anonymity hides who is who. It does not hide what all members of a class have in common."),
)
COARSER_VALUES = tr(
    "The last levels show the coarsest regions again, and some quasi-identifiers coarser: a field then holds finer and "
    "coarser values, and the level of a record says which. Bring them to one level before you count by them."
)
MOST_VALUES = 200


@dataclass(frozen=True, eq=False)
class PublicReport:
    """What is published.

    n_quasi_identifiers : so many fields of the release, the first ones, make a class with level and region
    areas : with the population of their layer, ones where it has none, never the records; None where there are no
    distances
    map_data : None where nothing is drawn; counts_people : whether a person can have several records, so that a class
    has fewer people than records; parameters : label and value of those that may be said
    values : what each level shows of the quasi-identifiers, where levels differ in that
    no_small_count : whether the release was made so that no count below k follows; open_beside : as for `Account`
    in_zones : whether each region shows all records of a class that no region within shows; in_part : as for `Plan`
    over_time : what holds of several periods, a sentence; empty where there are none
    hashes : title and content hash of each table that is released, of all together under an empty title; none where
    the tables are not at hand
    counts_households : whether households are counted, too
    """

    release: Release
    n_quasi_identifiers: int
    levels: Levels
    k: int
    areas: Areas | None = None
    map_data: MapData | None = None
    counts_people: bool = False
    parameters: Sequence[tuple[str, object]] = ()
    version: str = ""
    date: str = ""
    values: Sequence[str] = ()
    no_small_count: bool = False
    in_zones: bool = False
    over_time: str = ""
    hashes: Sequence[tuple[str, str]] = ()
    open_beside: bool = False
    in_part: bool = False
    counts_households: bool = False


def page_of(
    account: Account,
    areas: Areas | None,
    map_data: MapData | None,
    parameters: Sequence[tuple[str, object]],
    hashes: Sequence[tuple[str, str]],
) -> str:
    """The page of a release; areas, map_data, parameters, hashes : as for `PublicReport`"""
    ask = account.ask
    return release_report(
        PublicReport(
            account.release,
            len(account.plan.profile.quasi_identifiers),
            account.levels,
            ask.k,
            areas,
            map_data,
            bool(account.requirement.members),
            parameters,
            version(),
            now(),
            account.plan.values_in_words,
            account.no_small_count,
            account.plan.in_zones,
            how_periods_go_together(ask.period, ask.periods) if ask.period else "",
            hashes,
            account.open_beside,
            account.plan.in_part,
            account.requirement.has(HOUSEHOLDS),
        )
    )


def release_report(published: PublicReport) -> str:
    """The page as HTML."""
    release, k = published.release, published.k
    nested = len(published.levels) > 1
    if release.n_records:
        where = tr("level, region") if nested else tr("region")
        verdict = plural(
            "The release is {k}-anonymous: every one of its {n_records} records shares its "
            "{where} and quasi-identifiers with at least {n} other.",
            "The release is {k}-anonymous: every one of its {n_records} records shares its "
            "{where} and quasi-identifiers with at least {n} others.",
            k - 1,
            k=k,
            n_records=formatted(release.n_records),
            where=where,
        )
    else:
        verdict = tr("No record is released.")
    made = [*published.parameters, (tr("Made with VBAS"), published.version)]
    proven: tuple[str, ...] = (not_proven(k),)
    if published.no_small_count:
        proven = what_is_proven(k, not published.values, published.open_beside)
    sections = [
        _measures(published),
        Section(tr("The periods"), (published.over_time,)) if published.over_time else Section(""),
        _levels(published) if nested else Section(""),
        Section(tr("What levels tell"), proven) if nested else Section(""),
        _narrowing(published) if nested else Section(""),
        _map(published),
        _classes(published),
        _values(published),
        _hashes(published),
        Section(tr("What is not said here"), NOT_SAID),
        Section(tr("How it was made"), (), (tr("Setting"), tr("Value")), settings(made)),
    ]
    title = tr("Nested release") if nested else tr("Release of records")
    return render(Report(title, verdict, release.n_records > 0, False, sections, published.date))


def _hashes(published: PublicReport) -> Section:
    """By which whoever has a table finds out whether it is the one that this page tells of."""
    if not published.hashes:
        return Section("")
    rows = [(title or tr("The whole release"), value) for title, value in published.hashes]
    says = tr(
        "The content hash of a table is that of its rows, in whatever format they come. Whoever has the tables can "
        "work it out again: {page} says how.",
        page="verify/README.md",
    )
    return Section(tr("Content hashes"), (says,), (tr("Table"), tr("Content hash (SHA-256)")), rows)


def _class_sizes(published: PublicReport) -> np.ndarray:
    """Records of each released class, (C,)."""
    return class_sizes(published.release, published.n_quasi_identifiers)


def _distances(published: PublicReport) -> np.ndarray | None:
    """How far the people of the region that each row shows live from its middle, (R,) metres; None where not known."""
    if published.areas is None:
        return None
    return distances_where_shown(published.areas, published.levels, published.release.level, published.release.region)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    return float(values @ weights / max(weights.sum(), 1))


def _counts_people_of_areas(published: PublicReport) -> bool:
    """Whether the areas have a population of their own. Without one it is known from the records alone, suppressed ones
    among them, and is not for this page: areas count alike then, and distances are others than in the internal report.
    """
    return published.areas is not None and bool((published.areas.population != 1.0).any())


def _distance_title(published: PublicReport) -> str:
    return tr("Mean distance, m") if _counts_people_of_areas(published) else tr("Mean distance of the areas, m")


def _distance_meaning(published: PublicReport, mean: float) -> str:
    if _counts_people_of_areas(published):
        return placed(mean)
    return tr(
        "From the middle of the region that a record shows to the areas in it, which count alike, on average over the "
        "records. The internal report weighs the areas by their records, which would tell of suppressed ones here."
    )


def _measures(published: PublicReport) -> Section:
    sizes = _class_sizes(published)
    metres = _distances(published)
    rows: list[tuple[object, ...]] = [
        ("k", published.k, tr("The fewest records that may share a region and all quasi-identifiers.")),
        (tr("Records released"), published.release.n_records, ""),
        (tr("Regions"), published.levels.crosswalks[0].n_regions, tr("The more, the finer the geography.")),
        (tr("Classes"), len(sizes), tr("Combinations of region and quasi-identifiers that occur in the release.")),
    ]
    if metres is not None and published.release.n_records:
        mean = _mean(metres, published.release.counts)
        rows.append((_distance_title(published), mean, _distance_meaning(published, mean)))
    if published.counts_people:
        says = (
            tr("1 / k: k counts households, not their records. {rows}", rows=tr(ROWS_PICKED))
            if published.counts_households
            else tr("1 / k: k counts people, not their records. {rows}", rows=tr(ROWS_PICKED))
        )
        rows.append((tr("Largest risk, at most, %"), 100.0 / published.k, says))
    elif len(sizes):
        rows += risk_rows(risk_of(sizes, sizes), int(sizes.min()))
    return Section(tr("In short"), (), HEADER, rows)


def _levels(published: PublicReport) -> Section:
    release, counts = published.release, published.release.counts
    rows: list[tuple[object, ...]] = []
    for level, crosswalk in enumerate(published.levels.crosswalks):
        own = int(counts[release.level == level].sum())
        shows = published.values[level : level + 1]
        rows.append((level + 1, crosswalk.n_regions, *shows, own, 100.0 * own / max(release.n_records, 1)))
    text = tr(
        "Each record shows a level that hides it, as fine as what is asked of the release allows. Level 1 is the "
        "finest."
    )
    if published.values:
        text += f" {COARSER_VALUES}"
    columns = (tr("Values"),) if published.values else ()
    header = (tr("Level"), tr("Regions"), *columns, tr("Records shown here"), tr("% of the release"))
    return Section(tr("The levels"), (text,), header, rows)


def _narrowing(published: PublicReport) -> Section:
    """How far regions can be narrowed down, by the released rows and the areas. What it costs that no small count
    follows is not for this page: another plan would have to be made from the records."""
    # An area that shows a class may have further people of it: those whom an update shows in larger regions.
    if published.values or published.in_part or not published.release.n_records:
        return Section("")
    release, areas = published.release, published.areas
    columns = list(release.fields.values())[: published.n_quasi_identifiers]
    # There may be no quasi-identifier at all.
    everywhere = np.zeros(len(release.region), np.int64)
    class_of, _ = combine_codes(
        [everywhere, *(column.codes for column in columns)], [1, *(len(column.categories) for column in columns)]
    )
    sizes = [len(published.levels), *np.add(1, [release.region.max(), class_of.max()]).tolist()]
    level, region, of_class = combine_codes([release.level, release.region, class_of], sizes)[1].T
    people = np.ones(len(published.levels.crosswalks[0].region_of)) if areas is None else areas.population
    known = _counts_people_of_areas(published)
    return narrowing_section(published.levels, people, level, region, of_class, published.in_zones, known)


def _map(published: PublicReport) -> Section:
    """The finest regions by the released records that they show."""
    if published.map_data is None:
        return Section("")
    release, crosswalk = published.release, published.levels.crosswalks[0]
    here = release.level == 0
    released = np.bincount(release.region[here], release.counts[here], crosswalk.n_regions).astype(np.int64)
    return Section(tr("The regions"), (), pictures=(released_map(published.map_data, crosswalk.numbers, released),))


def _classes(published: PublicReport) -> Section:
    sizes = _class_sizes(published)
    if not len(sizes):
        return Section("")
    usual = sizes[sizes <= np.percentile(sizes, USUAL)]
    caption = with_left_out(tr("Sizes of the classes"), len(sizes) - len(usual))
    picture = histogram(usual, caption, tr("records in the class"), tr("classes"), mark=float(published.k))
    return Section(tr("Class sizes"), (), pictures=(picture,))


def _values(published: PublicReport) -> Section:
    """The released records by value of each quasi-identifier: only values that are released."""
    counts, metres = published.release.counts, _distances(published)
    rows: list[tuple[object, ...]] = []
    for name, column in list(published.release.fields.items())[: published.n_quasi_identifiers]:
        released = np.bincount(column.codes, counts, len(column.categories)).astype(np.int64)
        used = np.flatnonzero(released)
        far = None if metres is None else np.bincount(column.codes, counts * metres, len(column.categories))
        for code in to_list(used):
            value = value_text(column.categories[code])
            rows.append(
                (name, value, int(released[code]), *(() if far is None else (float(far[code] / released[code]),)))
            )
    header = (
        tr("Quasi-identifier"),
        tr("Value"),
        tr("Records released"),
        *(() if metres is None else (_distance_title(published),)),
    )
    text = (
        tr("The first {most_values} values.", most_values=MOST_VALUES)
        if len(rows) > MOST_VALUES
        else tr("Values in larger regions are less finely placed.")
    )
    return Section(tr("The released records by value"), (text,), header, rows[:MOST_VALUES])
