"""Two releases of the same regions held against each other: recounted row by row, in plain loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import Published
from vbas.core.disclosure.row_values import written_names
from vbas.core.disclosure.values import Values
from vbas.core.levels import make_levels
from vbas.core.releases.updates import Comparing

from ..each import for_each_seed

AREAS, INHABITED, K = 7, 6, 4
ILLS, JOBS = np.array(["cold", "flu", "HIV"], dtype=object), ["clerk", "smith"]
ROWS = np.array([f'["{ill}", "{job}"]' for ill in ILLS for job in JOBS], dtype=object)
SEX, AGE = ["F", "M"], ["old", "young"]


def regions_of(rng, coarse):
    """Regions of the areas, of which the last is in none, by any numbers."""
    of = np.array([0, 0, 1, 1, 2, 2]) // (2 if coarse else 1)
    numbers = rng.permutation(int(of.max()) + 1)
    return np.append(numbers[of], -1)


def places():
    return make_areas([f"a{i}" for i in range(AREAS)], np.arange(2.0 * AREAS).reshape(-1, 2) ** 1.5, np.ones(AREAS))


def levels_of(rng, nested):
    crosswalks = []
    for coarse in (False, True)[: 1 + nested]:
        of = regions_of(rng, coarse)
        crosswalks.append(Crosswalk(of, int(of.max()) + 1))
    return make_levels(places(), crosswalks)


def release(rng, shown, nested, order, with_values, with_rows):
    """What is shown, by level, areas of the region and class: how many of each illness and job.

    order : of the quasi-identifiers
    """
    areas, levels = places(), levels_of(rng, nested)
    keys = [list(shown)[at] for at in rng.permutation(len(shown))]
    classes = np.array(list(np.ndindex(2, 2)))[rng.permutation(4)]
    class_of = [next(i for i, own in enumerate(classes.tolist()) if tuple(own) == key[2]) for key in keys]
    region = [int(levels.region_of[level][min(inside)]) for level, inside, _ in keys]
    numbers = np.array([shown[key] for key in keys]).reshape(len(keys), len(ILLS), len(JOBS))
    columns = {"sex": np.array(SEX, dtype=object), "age": np.array(AGE, dtype=object)}
    of, ill = np.nonzero(numbers.sum(axis=2))
    at, row = np.nonzero(numbers.reshape(len(keys), -1))
    rows = Values(written_names(["ill", "job"]), ROWS, at, row, numbers.reshape(len(keys), -1)[at, row])
    return Published(
        "one",
        K,
        areas.identifiers,
        levels,
        tuple(order),
        tuple(columns[name] for name in order),
        classes if order[0] == "sex" else classes[:, ::-1],
        np.array([key[0] for key in keys]),
        np.array(region),
        np.array(class_of),
        numbers.sum(axis=(1, 2)),
        sensitive=(Values("ill", ILLS, of, ill, numbers.sum(axis=2)[of, ill]),) if with_values else (),
        rows=rows if with_rows else None,
    )


def drawn(rng):
    """What two months show, most of it the same."""
    nested = bool(rng.random() < 0.6)
    before: dict[Any, np.ndarray] = {}
    after: dict[Any, np.ndarray] = {}
    for level in range(1 + nested):
        size = 2 if level == 0 else 4
        for first in range(0, INHABITED, size):
            inside = tuple(range(first, min(first + size, INHABITED)))
            for class_of in np.ndindex(2, 2):
                numbers = rng.integers(0, 5, (len(ILLS), len(JOBS)))
                moved = numbers + rng.integers(-2, 3, numbers.shape) * (
                    rng.random(numbers.shape) < rng.choice([0, 0.2, 0.5])
                )
                if rng.random() < 0.3:  # as many of another value
                    moved[0, 0], moved[1, 1] = moved[0, 0] - 1, moved[1, 1] + 1
                if rng.random() < 0.15:  # many more, or fewer, of one value
                    moved[2] += rng.integers(3, 6) * rng.choice([-1, 1])
                for into, of, part in ((before, numbers, 0.85), (after, np.maximum(moved, 0), 0.85)):
                    if of.sum() and rng.random() < part:
                        into[level, inside, class_of] = of
    return before, after, nested


def with_totals(shown, nested):
    """What is shown, and under several levels all of a class in a coarsest region."""
    places = {(False, *key): numbers for key, numbers in shown.items()}
    for (_, inside, class_of), numbers in shown.items() if nested else ():
        around = tuple(range(4)) if inside[0] < 4 else (4, 5)
        key = True, 1, around, class_of
        places[key] = places.get(key, 0) + numbers
    return places


def compared_plainly(before, after, fields):
    """Of each place that both show: how many people came or left, where few did these; what changed, what is told."""
    for key in before.keys() & after.keys():
        then, now = before[key], after[key]
        people, differences, alone = abs(int(now.sum() - then.sum())), [], []
        few, by_values = 0 < people < K, []
        for said, by in (("ill", (now - then).sum(axis=1)), ("ill + job", (now - then).reshape(-1))):
            if said not in fields:
                continue
            came, left = int(by[by > 0].sum()), int(-by[by < 0].sum())
            people = max(people, came, left)
            if said == "ill + job" or "ill + job" not in fields:
                by_values = [n for n in (came, left) if 0 < n < K]
            texts = ILLS if said == "ill" else ROWS
            differences += sorted((said, texts[at], int(by[at])) for at in np.flatnonzero(by))
            if said == "ill":
                alone = [int(by[at]) for at in np.flatnonzero(by)]
        if few and people >= K:
            people = abs(int(now.sum() - then.sum()))  # the few, whatever came and left beside them
        few |= 0 < people < K
        if by_values and not few:
            few, people = True, max(by_values)
        homogeneous = len(alone) == 1 and abs(alone[0]) == people and not few
        yield key, int(then.sum()), int(now.sum()), people, tuple(differences), few, homogeneous


@for_each_seed(40)
def test_what_two_releases_tell_beside_each_other(seed):
    rng = np.random.default_rng(seed)
    shown, shown_now, nested = drawn(rng)
    if rng.random() < 0.1:
        shown_now = {key: of.copy() for key, of in shown.items()}
    with_values, with_rows = rng.random(2) < 0.8
    old = release(rng, shown, nested, ["sex", "age"], with_values, with_rows)
    new = release(rng, shown_now, nested, ["age", "sex"][:: int(rng.choice([-1, 1]))], True, True)
    before, after = with_totals(shown, nested), with_totals(shown_now, nested)
    comparing = Comparing([old] if seed % 2 else [])
    for rows in (True, False):
        fields = ["ill"] * bool(with_values) + ["ill + job"] * bool(with_rows and rows)
        plain = list(compared_plainly(before, after, fields))
        compared = comparing.compare(old, new, K, rows)
        assert compared is not None
        assert compared.differs == any(
            (then != now or differences) and (key[0] or not nested) for key, then, now, _, differences, _, _ in plain
        )
        for changes, which in ((compared.few, 5), (compared.homogeneous, 6)):
            told = []
            for key, then, now, people, differences, *_ in (one for one in plain if one[which]):
                total, level, inside, class_of = key
                at = int(old.levels.region_of[level][inside[0]])
                place = not total, level, at, (AGE[class_of[1]], SEX[class_of[0]])
                number = int(new.levels.region_of[level][inside[0]])
                told.append((place, (level, number, then, now, total, people, differences)))
            columns = (changes.level, changes.region, changes.before, changes.after, changes.total, changes.people)
            found = list(zip(*(column.tolist() for column in columns), changes.values))
            assert found == [row for _, row in sorted(told)]
            classes = [
                dict(zip(new.quasi_identifiers, new.values_of_classes()[of])) for of in changes.class_of.tolist()
            ]
            assert [(of["age"], of["sex"]) for of in classes] == [place[3] for place, _ in sorted(told)]
            assert changes.n_compared == len(plain) and len(changes) == len(told)
            of_totals = max((row[5] for _, row in told if row[4]), default=0)
            assert changes.n_persons == max(sum(row[5] for _, row in told if not row[4]), of_totals)
    fields = ["ill"] * bool(with_values) + ["ill + job"] * bool(with_rows)
    as_many = [
        key
        for key, then, now, _, differences, _, _ in compared_plainly(before, after, fields)
        if then == now and differences and not key[0]
    ]
    assert comparing.n_with_other_rows(old, new) == len(as_many)


def test_other_regions_levels_or_quasi_identifiers_are_not_compared():
    rng = np.random.default_rng(0)
    shown, shown_now, _ = drawn(rng)
    shown, shown_now = ({key: of for key, of in some.items() if key[0] == 0} for some in (shown, shown_now))
    old, new = (release(rng, some, False, ["sex", "age"], True, True) for some in (shown, shown_now))
    assert Comparing().compare(old, new, K) is not None
    other = make_levels(places(), [Crosswalk(np.array([0, 1, 1, 1, 2, 2, -1]), 3)])
    others = [
        replace(new, levels=other),
        replace(new, quasi_identifiers=("sex", "years")),
        replace(new, areas=np.array([f"b{i}" for i in range(AREAS)], dtype=object)),
    ]
    for one in others:
        assert Comparing().compare(old, one, K) is None and Comparing().n_with_other_rows(old, one) == 0
    counts = replace(new, counts_from=np.zeros(len(new.records), np.int64))
    assert Comparing().compare(old, counts, K) is None and Comparing().compare(counts, new, K) is None


def test_people_who_are_shown_elsewhere_in_a_coarsest_region_are_the_same_people():
    rng = np.random.default_rng(0)
    few, many, one = np.full((3, 2), 2), np.full((3, 2), 9), np.eye(3, 2, dtype=int)
    fine, coarse = (0, (0, 1), (0, 0)), (1, (0, 1, 2, 3), (0, 0))

    def differ(finer, coarser, nested=True):
        shown = [{fine: few, coarse: many}, {fine: finer, coarse: coarser}]
        some = [{key: of for key, of in month.items() if nested or key[0] == 0} for month in shown]
        old, new = (release(rng, month, nested, ["sex", "age"], True, True) for month in some)
        compared = Comparing().compare(old, new, K)
        assert compared is not None
        return compared.differs

    assert not differ(few + one, many - one)
    assert differ(few + one, many) and differ(few, many - one)
    assert differ(few + one - one[::-1], many)  # as many, of whom some have other values
    assert differ(few + one, many, nested=False) and not differ(few, many - one, nested=False)
