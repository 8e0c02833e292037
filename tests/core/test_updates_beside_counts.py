"""Updates beside counts that others publish: attacked by whole-number programs over all people of now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import Levels
from vbas.core.plan import SUPPRESSED
from vbas.core.privacy.count_rows import CountRows
from vbas.core.privacy.released_cells import ReleasedCells
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import REPAIR, Earlier
from vbas.core.releases.updating import Update

from ..exploring import tried
from .rows_told import carried, published_of

Person = tuple[int, str, str]
K = 3
AREAS = make_areas(list("abcd"), np.array([(0, 0), (900, 0), (0, 900), (900, 900)], float), np.ones(4))
TWO_REGIONS = Crosswalk(np.array([0, 0, 1, 1]), 2)
EVERYWHERE = Crosswalk(np.zeros(4, np.int64), 1)
GEOGRAPHIES = {
    "one level": Levels((TWO_REGIONS,)),
    "two levels": Levels((TWO_REGIONS, EVERYWHERE)),
    "areas and regions": Levels((Crosswalk(np.arange(4), 4), TWO_REGIONS)),
}


def town_of(people: Sequence[Person], areas: Areas = AREAS) -> Records:
    area, sex, age = zip(*people)
    columns = {"sex": column_from_values(sex), "age": column_from_values(age)}
    return match_records(RecordTable(column_from_values([areas.identifiers[at] for at in area]), columns, {}), areas)


def months_of(rng: np.random.Generator, levels: Levels) -> Iterator[list[Person]]:
    """Two months in which some leave and others come, all of whom are rare in some area."""

    def some(n: int) -> list[Person]:
        drawn = rng.integers(0, 4, n).tolist(), rng.choice(["F", "M"], n, p=[0.7, 0.3]).tolist()
        return list(zip(*drawn, rng.choice(["young", "old", "oldest"], n, p=[0.5, 0.3, 0.2]).tolist()))

    people = some(int(rng.integers(25, 60)))
    yield people
    yield [one for one in people if rng.random() < 0.85] + some(int(rng.integers(0, 8)))


class Attacker:
    """Knows totals of everybody, and that a region holds at least those whom a release shows there and within."""

    def __init__(self, people: Sequence[Person], levels: Levels, account: Account | None) -> None:
        self.classes = sorted({one[1:] for one in people})
        self._rows: list[tuple[list[int], float, float]] = []
        self._shape = len(self.classes)
        if account is None:
            return
        release, parts = account.release, [account.release.fields[name] for name in ("sex", "age")]
        values = list(zip(*(column.categories[column.codes].tolist() for column in parts)))
        assert release.level is not None
        shown: Counter[tuple[int, int, tuple[str, str]]] = Counter()
        rows = zip(release.level.tolist(), release.region.tolist(), values, release.counts.tolist())
        for level, region, one, n in rows:
            for height in range(level, len(levels)):
                shown[height, region, one] += n
                region = levels.parents(height)[region]
        for (height, region, one), n in shown.items():
            self.knows(np.flatnonzero(levels.region_of[height] == region).tolist(), [one], n, np.inf)

    def knows(self, areas: Sequence[int], classes: Sequence[tuple[str, str]], low: float, high: float) -> None:
        columns = [area * self._shape + self.classes.index(one) for area in areas for one in classes]
        self._rows.append((columns, low, high))

    def small(self, areas: Sequence[int], one: tuple[str, str]) -> bool:
        """Whether so many, 1 to K - 1, live there for certain."""
        n = 4 * self._shape
        wish = np.zeros(n)
        wish[[area * self._shape + self.classes.index(one) for area in areas]] = 1.0
        sums = sparse.lil_matrix((len(self._rows), n))
        for row, (columns, _, _) in enumerate(self._rows):
            sums[row, columns] = 1.0
        known = LinearConstraint(sums.tocsr(), [low for _, low, _ in self._rows], [high for *_, high in self._rows])
        least, most = (
            milp(sign * wish, constraints=known, integrality=np.ones(n), bounds=Bounds(0, np.inf)) for sign in (1, -1)
        )
        assert least.x is not None, "what is shown contradicts itself"
        return most.x is not None and wish @ least.x > 0.5 and wish @ most.x < K - 0.5


def zones_of(levels: Levels) -> list[list[int]]:
    return [np.flatnonzero(levels.region_of[0] == region).tolist() for region in range(levels.crosswalks[0].n_regions)]


def told(people: Sequence[Person], levels: Levels, account: Account, zones: Sequence[list[int]]) -> list[Hashable]:
    """Counts of 1 to K - 1 people that follow from a release and the totals by sex and by age of some zones, and not
    from the totals alone."""
    with_release, alone = Attacker(people, levels, account), Attacker(people, levels, None)
    live = Counter(people)
    for one in (with_release, alone):
        for zone in zones:
            for position in (0, 1):
                for value in {other[position] for other in one.classes}:
                    some = [other for other in one.classes if other[position] == value]
                    n = sum(live[(area, *other)] for area in zone for other in some)
                    one.knows(zone, some, n, n)
    places = {(area,) for area in range(4)} | {tuple(zone) for zone in zones}
    places |= {tuple(np.flatnonzero(of == region).tolist()) for of in levels.region_of for region in set(of.tolist())}
    return [
        (place, one)
        for place in sorted(places)
        for one in with_release.classes
        if 1 <= sum(live[(area, *one)] for area in place) < K
        and with_release.small(place, one)
        and not alone.small(place, one)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", GEOGRAPHIES)
def test_no_small_count_follows_from_an_update_and_totals_that_others_publish(name):
    levels, followed, shown = GEOGRAPHIES[name], 0, 0
    for seed in range(tried(7, 12)):
        months = list(months_of(np.random.default_rng(seed), levels))
        records = [town_of(month) for month in months]
        own = zones_of(levels)
        plain = carried(AREAS, levels, K, records)[-1]
        followed += len(told(months[-1], levels, plain, own))
        held = carried(AREAS, levels, K, records, published_margins="sex, age")[-1]
        assert not told(months[-1], levels, held, own)
        shown += held.release.n_records
    assert followed and shown, "or nothing was looked at"


def counts_by_area(people: Sequence[Person]) -> CountRows:
    """By sex and by age of each area, one table below the other."""
    by_sex = Counter((area, sex, None) for area, sex, _ in people)
    by_age = Counter((area, None, age) for area, _, age in people)
    area, sex, age = zip(*by_sex, *by_age)
    numbers = [*by_sex.values(), *by_age.values()]
    return CountRows([AREAS.identifiers[at] for at in area], {"sex": sex, "age": age}, numbers)


@pytest.mark.slow
@pytest.mark.parametrize("name", GEOGRAPHIES)
def test_no_small_count_follows_from_an_update_and_counts_by_area(name):
    levels = GEOGRAPHIES[name]
    for seed in range(tried(7, 12)):
        first, now = months_of(np.random.default_rng(seed), levels)
        published = published_of(anonymise(AREAS, town_of(first), levels, Ask(K, earlier=Earlier([]))))
        ask = Ask(K, earlier=Earlier([published]), update=Update(0), published_counts=counts_by_area(now))
        held = anonymise(AREAS, town_of(now), levels, ask)
        assert not told(now, levels, held, [[area] for area in range(4) if area in {at for at, *_ in now}])


def test_totals_are_of_those_too_whom_an_update_does_not_show():
    """Three women of 65 are left of six, and are shown no more: totals by sex and by age would say that there are."""
    six = [(0, "F", "old")] * 6
    others = [(0, "F", "young")] * 8 + [(1, "M", "old")] * 9 + [(1, "M", "young")] * 7
    levels = Levels((Crosswalk(np.zeros(4, np.int64), 1),))
    months = [town_of(six + others), town_of(six[:3] + others)]
    published = published_of(anonymise(AREAS, months[0], levels, Ask(5, earlier=Earlier([]))))
    ask = Ask(5, earlier=Earlier([published]), update=Update(0))
    alone = anonymise(AREAS, months[1], levels, ask)
    assert alone.release.n_records == 24
    account = anonymise(AREAS, months[1], levels, replace(ask, published_margins="sex, age"))
    assert account.release.n_records < 24
    assert any("further records are suppressed" in note and "0 further" not in note for note in account.notes)
    assert any("than in a release that knew no earlier one" in note for note in alone.notes)
    # Of the eleven who are not shown eight are for the totals: no earlier release is the reason.
    assert any("than in a release that knew neither" in note for note in account.notes)
    assert not any("a new geography" in note for note in account.notes)
    unseen = "counts that others publish of several months, or for somebody who knows the method, is not looked at"
    assert any(unseen in note for note in account.notes)
    assert not any(unseen in note for note in alone.notes)
    assert not any("even for somebody who knows the method" in note for note in account.notes)


def test_a_class_that_nobody_has_any_more_is_gone():
    people = [(0, "F", "young")] * 6 + [(0, "M", "young")] * 7
    levels = Levels((EVERYWHERE,))
    accounts = carried(AREAS, levels, K, [town_of(people + [(1, "X", "old")] * 5), town_of(people)])
    changed = accounts[1].changed
    assert changed is not None
    assert (changed.same, changed.other, changed.gone, changed.new) == (2, 0, 1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_an_update_is_mended_beside_a_release_of_other_regions(nested):
    """Two Z in each of two areas, whom regions of one area do not show: four in both would tell that they are two and
    two, so that no update may show them, either."""
    people = [(at, "F", age) for at in (0, 1) for age in ["old"] * 4 + ["young"] * 5 + ["z"] * 2]
    both = Crosswalk(np.array([0, 0, 1, 1]), 2)
    levels = Levels((Crosswalk(np.arange(4), 4), both) if nested else (both,))
    records = town_of(people)
    first = published_of(anonymise(AREAS, records, Levels((Crosswalk(np.arange(4), 4),)), Ask(K, earlier=Earlier([]))))
    second = published_of(anonymise(AREAS, records, levels, Ask(K, earlier=Earlier([first], REPAIR))))
    for _ in range(5):  # now and then some of four are held back
        account = anonymise(AREAS, records, levels, Ask(K, earlier=Earlier([first, second]), update=Update(1)))
        assert account.release.n_records == 18


def test_what_published_totals_give_away_is_not_said_of_earlier_releases():
    """A release of one level gives nothing away by itself: the man of area a is in the totals by sex and age."""
    people = [(at, "F", age) for at in range(4) for age in ["old"] * 4 + ["young"] * 5] + [(0, "M", "old")]
    records, levels = town_of(people), Levels((EVERYWHERE,))
    first = published_of(anonymise(AREAS, records, Levels((TWO_REGIONS,)), Ask(K, earlier=Earlier([]))))
    ask = Ask(K, earlier=Earlier([first], REPAIR), published_margins="sex;age")
    said = [note for note in anonymise(AREAS, records, levels, ask).notes if "without this one" in note]
    assert len(said) == 1 and said[0].startswith("The earlier releases and the counts that others publish give away")


def test_of_what_an_update_does_not_show_nobody_knows_that_it_is_few():
    """Two in each area wait: of a plan that shows all it may, that they are fewer than k would be known."""
    records = town_of([(at, "F", "old") for at in range(4) for _ in range(2)])
    none = np.full(4, SUPPRESSED, np.int8)
    cells = ReleasedCells(records.profile, GEOGRAPHIES["one level"], [None], 5, none, False)
    assert cells.bounded
    assert not replace(cells, in_part=True).bounded
