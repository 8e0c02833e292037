"""Zones of several periods, whose people are there again in each: against every table of records that fits them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk, number_compactly
from vbas.core.disclosure.certificate import ZONES
from vbas.core.disclosure.count_tables import MANY, own_totals
from vbas.core.disclosure.inhabitants import inhabitants_of
from vbas.core.disclosure.overlay import NONE
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.plan import SUPPRESSED
from vbas.core.privacy.beside import people_beside
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.privacy.series import EACH_BY_ITSELF
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.report.certificate import certificate_of, section_of

from ..exploring import tried
from .release_cases import profile_over

K = 2
SEXES, YEARS = "fm", ("2024", "2025")


def records_of(areas, people: np.ndarray) -> Records:
    """Records of so many people by area, sex and year."""
    rows = [at for at in np.ndindex(people.shape) for _ in range(int(people[at]))]
    columns = [
        [of[at[axis]] for at in rows] for axis, of in enumerate((areas.identifiers.tolist(), list(SEXES), YEARS))
    ]
    area, sex, year = (column_from_values(values) for values in columns)
    return match_records(RecordTable(area, {"sex": sex, "year": year}, kept={}), areas, k=K)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, Account] | None:
    """The records by area, sex and year of a small town, who lives in each area, and a release in zones.

    All people are in the records of each year, or nearly so; or they are the records, as no population is known.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    people = rng.poisson(rng.choice([0.8, 1.6]), (n, 2, 2)) * (rng.random((n, 2, 2)) < 0.8)
    if people.sum() < K:
        return None
    population, known = people.sum(axis=(1, 2)), people.sum(axis=1)
    if rng.random() < 0.5:
        population = known.max(axis=1) + rng.integers(0, 2, n) * int(rng.random() < 0.3)
        if rng.random() < 0.3:
            population[rng.integers(n)] = 1
        known = np.where(known > population[:, None], 9, population[:, None])  # of fewer people nothing is known
        if (people.sum(axis=(1, 2)) <= population).all():
            known = np.full((n, 2), 10**6)  # then all years together are no more, which is another question
    areas = make_areas(
        [f"a{at}" for at in range(n)], rng.random((n, 2)) * 900, population.astype(float), in_metres=True
    )
    halves = number_compactly(rng.integers(0, 2, n))[0]
    whole = Crosswalk(np.zeros(n, np.int64), 1)
    levels: Levels = make_levels(areas, [own_regions(n), *([halves] if halves.n_regions > 1 else []), whole])
    ask = Ask(k=K, period="year", periods=EACH_BY_ITSELF, disclosure=NO_SMALL_COUNT)
    return people, known, anonymise(areas, records_of(areas, people), levels, ask)


def tables_of_a_year(account: Account, known: np.ndarray, year: str) -> tuple[np.ndarray, list[str]]:
    """All records by area and sex of a year, (tables, n, S), that are released so; and the sexes there are.

    known : (n,) people of each area, of whom all sexes together are no more
    """
    profile, release, n = account.plan.profile, account.release, len(known)
    sexes = [profile.categories[0][sex] for sex, of in profile.classes.tolist() if profile.categories[1][of] == year]
    shown: dict[tuple[str, int, int], int] = {}
    columns = [of.categories[of.codes] for of in release.fields.values()]
    for sex, own, level, region, count in zip(*columns, release.level, release.region, release.counts):
        if own == year:
            shown[sex, int(level), int(region)] = shown.get((sex, int(level), int(region)), 0) + int(count)
    cells = account.plan.equivalence_class_of == SUPPRESSED
    lost = np.bincount(profile.counts.indices[cells], profile.counts.data[cells])
    most_lost = K - 1 if lost.max(initial=0) < K else 9  # of which somebody may know that k were suppressed somewhere
    of_sex = []
    for sex in sexes:
        zone_of = [
            next(
                ((sex, at, of[area]) for at, of in enumerate(account.levels.region_of) if (sex, at, of[area]) in shown),
                None,
            )
            for area in range(n)
        ]
        fits = []
        for numbers in product(*(range(int(most) + 1) for most in np.minimum(known, 9))):
            sums = {zone: sum(number for number, of in zip(numbers, zone_of) if of == zone) for zone in set(zone_of)}
            if all(total <= most_lost if zone is None else total == shown[zone] for zone, total in sums.items()):
                fits.append(numbers)
        of_sex.append(fits)
    together = [numbers for numbers in product(*of_sex) if (np.sum(numbers, axis=0) <= known).all()]
    return np.array(together).reshape(len(together), len(sexes), n).transpose(0, 2, 1), sexes


def test_no_small_count_of_a_period_follows_from_its_people():
    n_looked_at = n_people_are_fewer = 0
    for seed in range(tried(60, 1_500)):
        case = drawn(seed)
        if case is None:
            continue
        people, known, account = case
        n_people_are_fewer += bool((people.sum(axis=(1, 2)) > account.areas.population).any())
        for at, year in enumerate(YEARS):
            tables, sexes = tables_of_a_year(account, known[:, at], year)
            if not len(sexes):
                continue
            true = people[:, [SEXES.index(sex) for sex in sexes], at]
            assert (tables == true).all(axis=(1, 2)).any(), seed
            for region_of in [np.arange(len(true)), *account.levels.region_of]:
                for region in set(region_of.tolist()):
                    counts = tables[:, region_of == region].sum(axis=1)
                    small = (counts.min(axis=0) >= 1) & (counts.max(axis=0) < K)
                    assert not small.any(), (seed, year, region)
            n_looked_at += 1
        certificate = certificate_of(account)
        assert certificate is not None and not certificate.contradicted and not certificate.follow
        of_all = bool((people.sum(axis=1) <= account.areas.population[:, None]).all())
        assert certificate.of_all_areas == of_all, seed
        if certificate.of(ZONES).tried:
            said = section_of(certificate, True, "x").paragraphs[1]
            assert ("not of areas with fewer people than records" in said) != of_all
    assert n_looked_at > 80 and n_people_are_fewer > 15


def test_people_live_in_an_area_again_in_each_period():
    values = [("f", "2024"), ("f", "2025"), ("m", "2024")]
    profile = profile_over(np.array([[3, 4, 1], [5, 0, 0]]), values, ("sex", "year"))
    everybody = inhabitants_of(profile, np.array([9.0, 7.0]))
    assert everybody.number.tolist() == [[9.0], [7.0]] and everybody.period_of.tolist() == [0, 0, 0]
    # Other people in each year, as far as anybody knows: all years together are no more.
    assert inhabitants_of(profile, np.array([9.0, 7.0]), "year").number.tolist() == [[9.0], [7.0]]
    again = inhabitants_of(profile, np.array([4.0, 7.0]), "year")
    assert again.number.tolist() == [[4.0, 4.0], [7.0, 7.0]] and again.period_of.tolist() == [0, 1, 0]
    # More records than people in one area: nothing is known of it.
    less = inhabitants_of(profile, np.array([3.0, 7.0]), "year")
    assert less.number.tolist() == [[np.inf, np.inf], [7.0, 7.0]]
    assert people_beside([replace(own_totals(profile, own_regions(2), []), zone_of=np.zeros(2, int))], profile, less)
    # The records are the people: those of a year are its people.
    assert inhabitants_of(profile, np.array([8.0, 5.0]), "year").number.tolist() == [[4.0, 4.0], [5.0, 0.0]]


def test_people_of_each_period_are_known_beside_tables():
    """Of a year that a table counts by area, people say nothing more; of the other they do."""
    values = [("f", "2024"), ("f", "2025"), ("m", "2024")]
    profile = profile_over(np.array([[3, 4, 1], [5, 0, 0]]), values, ("sex", "year"))
    people = inhabitants_of(profile, np.array([4.0, 7.0]), "year")
    by_year = own_totals(profile, own_regions(2), ["year"])
    assert people_beside([by_year], profile, people) is None
    table = people_beside([replace(by_year, group_of=np.array([0, NONE, 0]))], profile, people)
    assert table is not None and table.group_of.tolist() == [0, 1, 0]
    assert table.high.tolist() == [[MANY, 4], [MANY, 7]]
