"""What several releases are held against each other by, on its edges: cases made by hand, and plain recounts."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.counts import REST
from vbas.core.disclosure.published import publish, publish_rows
from vbas.core.errors import InputError
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.records.columns import column_from_values
from vbas.core.releases import repair
from vbas.core.releases.aliases import aliases_of
from vbas.core.releases.asking import perhaps_coarser
from vbas.core.releases.attributes import Attribute, _joined_best
from vbas.core.releases.comparable import refuse_data_dependent_groups
from vbas.core.releases.examining import examine_all
from vbas.core.releases.keeping import Places, families, kept, largest
from vbas.core.releases.listing import CHANGE, rows_of
from vbas.core.releases.matching import NEARLY_ALL, _Matching, matched
from vbas.core.releases.naming import named, names_in
from vbas.core.releases.updates import Comparing
from vbas.core.releases.updating import changed

from ..each import for_each_seed
from .nested_cases import profile_of, random_levels
from .release_cases import profile_over


def only(**values: object) -> Any:
    """Of a plan, or of what is known of it, only what a step looks at."""
    return SimpleNamespace(**values)


def attribute(name, **records):
    """An attribute of which values have so many records."""
    n = np.arange(len(records))
    return Attribute(name, f"release of {name}", tuple(records), 0, False, n, n, np.array(list(records.values())))


def test_what_is_said_of_names_holds_both_ways_and_of_these_alone():
    known = ["gender", "sex", "age", "group"]
    said = aliases_of([("gender", "not sex"), ("age", "group"), ("group", "not sex")], known)
    assert said.are_different("gender", "sex") and said.are_different("sex", "gender")
    assert not said.are_different("age", "group") and not said.are_different("gender", "age")
    assert said.are_same("group", "age") and not said.are_same("gender", "sex")
    assert [said.names_for(name) for name in known] == [[], [], ["group"], ["age"]]


@pytest.mark.parametrize(("more", "said"), [(0, "shows 1 class of fewer than 5 records"), (1, "")])
def test_rows_of_which_one_class_has_too_few_are_no_release(more, said):
    town = make_areas(["1", "2"], np.array([[0.0, 0], [1, 0]]))
    n = 5 + 4 + more
    sex = column_from_values(["F"] * 5 + ["M"] * (4 + more))
    shown = ("old", 5, town, make_levels(town, [own_regions(2)]), np.zeros(n, np.int64), np.zeros(n, np.int64))
    if said:
        with pytest.raises(InputError, match=said):
            publish_rows(*shown, {"sex": sex})
    else:
        assert sorted(publish_rows(*shown, {"sex": sex}).records.tolist()) == [5, 5]


@pytest.mark.parametrize("counts", [None, [4, 1, 2, 0, 3, 6]])
def test_rows_show_values_of_as_many_records_as_they_stand_for(counts):
    town = make_areas(["1", "2"], np.array([[0.0, 0], [1, 0]]))
    sexes, ills = "FFMMFM", ["flu", "cold", "flu", "HIV", "flu", "cold"]
    sex, ill = column_from_values(list(sexes)), column_from_values(ills)
    shown = publish_rows(
        *("old", 2, town, make_levels(town, [own_regions(2)]), np.zeros(6, np.int64), np.zeros(6, np.int64)),
        {"sex": sex},
        None if counts is None else np.array(counts),
        sensitive={"ill": ill},
    )
    expected: Counter[tuple[str, str]] = Counter()
    for value, row, number in zip(sexes, ills, counts or [1] * 6):
        expected[value, row] += number
    (values,) = shown.sensitive
    classes = shown.categories[0][shown.classes[:, 0]][shown.class_of]
    there = zip(classes[values.equivalence_class], values.categories[values.value], values.records.tolist())
    assert {(value, row): number for value, row, number in there} == +expected


@pytest.mark.parametrize(
    ("words", "same"), [("gender_ide", True), ("not gender_ide", False), ("Gender_Identity", True)]
)
def test_a_name_that_a_file_has_cut_is_known(words, same):
    said = aliases_of([("sex", words)], ["sex", "gender_identity"])
    assert said.are_same("gender_identity", "sex") is same and said.are_different("gender_identity", "sex") is not same


def test_values_of_aliases_are_read_to_the_letter():
    said = aliases_of([("gender", "sex:1=M;2=F")], ["gender", "sex"])
    assert said.rows[0].values == (("1", "M"), ("2", "F"))
    with pytest.raises(InputError, match="says nothing of the values"):
        aliases_of([("gender", "sex: 1=M; 2")], ["gender", "sex"])


def test_three_values_of_each_field_are_shown_where_something_is_asked():
    new, old = attribute("a", a1=1, a2=1, a3=1, a4=1, a5=1), attribute("b", b1=1, b2=1, b3=1, b4=1, b5=1)
    said = perhaps_coarser("a", new, "b", old)
    assert all(value in said for value in ("a1", "a2", "a3", "b1", "b2", "b3"))
    assert not any(value in said for value in ("a4", "b4"))


def test_values_that_one_release_alone_shows_are_named_three_of_each():
    def release(title, own):
        values = [(value,) for value in ("both", *(f"{own}{i}" for i in range(5)))]
        town = make_areas(["1", "2"], np.array([[0.0, 0], [1, 0]]))
        counts = profile_over(np.full((2, 6), 9), values, ("kind",))
        return publish(suppress(counts, Crosswalk(np.zeros(2, np.int64), 1), 5), town, title)

    releases = [release("old", "x"), release("new", "y")]
    aliases = aliases_of([], list(dict.fromkeys(name for one in releases for name in names_in(one))))
    (said,) = matched(named(releases, aliases), aliases, {}).warnings
    assert [value for value in ("both", *(f"{own}{i}" for own in "xy" for i in range(5))) if value in said] == [
        *("x0", "x1", "x2"),
        *("y0", "y1", "y2"),
    ]


def test_a_field_that_is_said_to_be_another_and_shares_no_value_wants_words():
    def release(title, name, values):
        town = make_areas(["1", "2"], np.array([[0.0, 0], [1, 0]]))
        counts = profile_over(np.full((2, 2), 9), [(value,) for value in values], (name,))
        return publish(suppress(counts, Crosswalk(np.zeros(2, np.int64), 1), 5), town, title)

    releases = [release("old", "gender", ("1", "2")), release("new", "sex", ("F", "M"))]
    aliases = aliases_of([("gender", "sex")], ["gender", "sex"])
    with pytest.raises(InputError, match="gender"):
        matched(named(releases, aliases), aliases, {})
    same = [release("old", "sex", ("1", "2")), release("new", "sex", ("F", "M"))]
    found = matched(named(same, aliases_of([], ["sex"])), aliases_of([], ["sex"]), {})
    assert found.releases[0].quasi_identifiers != ("sex",)  # a field of its own, as nothing says that it is the same
    assert not any("which the other does not show" in said for said in found.warnings)


@pytest.mark.parametrize(("others", "more", "told"), [(1, 0, True), (2, 0, False), (1, 1, False)])
def test_values_of_another_level_are_known_where_nearly_all_records_and_half_of_the_values_are(others, more, told):
    """Nine of ten records are of values of that level, and a half of its values are shown."""
    shown = attribute("coarse", young=4, old=5, other=others)
    assert shown.share_among(["young", "old"]) == NEARLY_ALL or others == 2
    levels = {"age": [["young", "old", "middle", "none", *["many"] * more]]}
    other = attribute("age", a=1)
    matching = only(_levels=levels)
    assert _Matching._at_another_level(matching, "age", other, "coarse", shown) == told


@pytest.mark.parametrize(("n_shown", "n_known", "told"), [(3, 6, True), (1, 3, False), (3, 7, False), (1, 2, True)])
def test_values_of_another_level_are_half_of_those_that_are_known_however_many_these_are(n_shown, n_known, told):
    shown, other = attribute("coarse", **dict.fromkeys("abcdefg"[:n_shown], 9)), attribute("age", z=1)
    matching = only(_levels={"age": [list("abcdefg"[:n_known])]})
    assert _Matching._at_another_level(matching, "age", other, "coarse", shown) == told


def test_plans_that_show_as_many_at_other_levels_are_not_the_same():
    one = only(n_released=9, level_of=np.array([0, 1, -1]))
    for level_of, same in (([0, 1, -1], True), ([1, 1, -1], False)):
        assert repair._same(one, only(n_released=9, level_of=np.array(level_of))) == same
    assert not repair._same(one, only(n_released=8, level_of=one.level_of))


class PlacesByValue:
    """What the attacker answers of each count: the classes that show it, beside it and around it."""

    def __init__(self, *_):
        pass

    def showing(self, count):
        return np.array(count.showing, np.int64)

    def beside(self, count):
        return np.array(count.beside, np.int64)

    def around(self, count):
        return np.array(count.around, np.int64)


@pytest.mark.parametrize("seed", range(12))
def test_of_each_count_the_smallest_class_that_tells_goes(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(repair, "_EquivalenceClasses", PlacesByValue)
    plan = only(records=rng.permutation(20) + 1, released=rng.random(20) < 0.8)
    released = np.flatnonzero(plan.released)

    def some():
        return rng.choice(len(released), rng.integers(0, 4), replace=False).tolist()

    counts = [
        only(kind=REST if rng.random() < 0.5 else "other", showing=some(), beside=some(), around=some())
        for _ in range(8)
    ]
    overlay = only(releases=[0])
    findings = only(changes=[], counts=counts[:5], undecided=counts[5:], disclosed=only(overlay=overlay))
    for by_size in (True, False):
        expected: set[int] = set()
        for count in counts:
            telling = count.showing or (count.beside if count.kind == REST else []) or ([] if by_size else count.around)
            cells = [int(released[one]) for one in telling]
            if cells and not expected & set(cells):
                expected.add(min(cells, key=lambda cell: plan.records[cell]))
        chosen = repair._disclosing_equivalence_classes(plan, only(), findings, by_size, None)
        assert set(np.flatnonzero(chosen).tolist()) == expected


def two_months(seed):
    """Two nested releases of the same regions, the second with somebody more."""
    rng = np.random.default_rng(seed)
    areas = make_areas([f"a{i}" for i in range(8)], rng.random((8, 2)), np.ones(8))
    levels = random_levels(areas, rng, 3, False)
    before = rng.poisson(3.0, (8, 2))
    after = before.copy()
    after[rng.integers(8), 0] += 1
    return [publish(nest(areas, profile_of(counts), levels, 3), areas, f"{len(levels)}") for counts in (before, after)]


@for_each_seed(6)
def test_what_changes_of_a_class_and_what_of_all_in_a_coarsest_region(seed):
    old, new = two_months(seed)

    def shown(release):
        labels = dict(
            zip(zip(release.level.tolist(), release.region.tolist(), release.class_of.tolist()), release.records)
        )
        totals: dict[tuple[int, int, int], int] = {}
        for (level, region, class_of), records in labels.items():
            (area, *_) = np.flatnonzero(release.levels.crosswalks[level].region_of == region)
            for height in range(max(level, 1), len(release.levels)):
                key = height, int(release.levels.crosswalks[height].region_of[area]), class_of
                totals[key] = totals.get(key, 0) + records
        return labels, totals

    (labels, totals), (now, now_in_all) = shown(old), shown(new)
    expected = {(False, *key, n, now[key]) for key, n in labels.items() if key in now and 0 < abs(now[key] - n) < 3}
    last = len(new.levels) - 1
    other_people = any(n != now_in_all.get(key, n) for key, n in totals.items() if key[0] == last)
    expected |= {
        (True, *key, n, now_in_all[key])
        for key, n in totals.items()
        if key in now_in_all
        and 0 < abs(now_in_all[key] - n) < 3
        # Of a region between, where it is known that people changed, and somebody is shown within.
        and (key[0] == last or (other_people and (labels.get(key), now.get(key)) != (n, now_in_all[key])))
    }
    compared = Comparing().compare(old, new, 3)
    assert compared is not None
    few = compared.few
    columns = (few.total, few.level, few.region, few.class_of, few.before, few.after)
    assert set(zip(*(column.tolist() for column in columns))) == expected
    by = [(total, abs(after - before)) for total, *_, before, after in expected]
    assert few.n_persons == max(sum(n for total, n in by if not total), max((n for total, n in by if total), default=0))


@for_each_seed(6)
def test_what_changed_is_listed_with_the_areas_of_its_region(seed):
    old, new = two_months(seed)
    rows = [row for row in rows_of(examine_all([old, new]), [old, new]) if row.kind == CHANGE]
    compared = Comparing().compare(old, new, 3)
    assert compared is not None
    changes = compared.few
    assert len(rows) == len(changes) > 0
    for row, level, region in zip(rows, changes.level, changes.region):
        region_of = new.levels.crosswalks[level].region_of.tolist()
        assert row.areas.tolist() == [area for area, of in zip(new.areas.tolist(), region_of) if of == region]


def test_the_most_that_a_label_may_show_by_trying_all():
    rng = np.random.default_rng(4)
    for _ in range(300):
        k, limit, below = int(rng.integers(2, 5)), int(rng.integers(0, 14)), 0
        shown = rng.integers(0, 14, int(rng.integers(0, 3)))
        shown[shown < k] = 0
        value = int(largest(np.array([limit]), np.array([below]), shown[None], shown[None], k)[0])
        right = [
            n
            for n in range(limit + 1)
            if (n == 0 or n >= k) and all(n == one or not n or not one or abs(n - one) >= k for one in shown)
        ]
        assert value == max(right)
    assert largest(np.array([3]), np.array([0]), np.zeros((1, 1), int), np.zeros((1, 1), int), 3).tolist() == [3]


def place_of_levels(rng, k, n=6):
    """Places of one class at two levels, some without a region around them, after a release that held what is asked."""
    parent = rng.integers(-1, 2, n)
    shown = np.where(rng.random(n) < 0.6, rng.integers(k, 3 * k, n), 0)
    top = np.where(rng.random(2) < 0.6, rng.integers(k, 3 * k, 2), 0)
    within = np.bincount(parent[parent >= 0], shown[parent >= 0], 2).astype(int) + top
    fine = np.maximum(shown + rng.integers(-k, k, n), 0)
    more = np.maximum(rng.integers(-2, 3 * k, 2), 0)
    coarse = np.bincount(parent[parent >= 0], fine[parent >= 0], 2).astype(int) + more
    return [
        Places(np.arange(n), fine, parent, shown[:, None], shown[:, None]),
        Places(np.arange(2), coarse, np.full(2, -1), top[:, None], within[:, None]),
    ]


@pytest.mark.parametrize("k", [2, 3])
def test_labels_and_all_within_them_change_by_nobody_or_by_k(k):
    """Recounted from what is returned alone: nobody is shown who does not live there, or twice."""
    rng = np.random.default_rng(k)
    for trial in range(120):
        levels = place_of_levels(rng, k)
        done = kept(levels, k, np.random.default_rng(trial))
        for places, shown, within in zip(levels, done.released, done.within):
            for now, before in ((shown, places.released[:, 0]), (within, places.within[:, 0])):
                apart = np.abs(now - before)
                assert ((apart == 0) | (apart >= k) | (now == 0) | (before == 0)).all()
            assert ((shown == 0) | (shown >= k)).all() and (within <= places.people).all()
        parent = levels[0].parent
        for top in range(2):
            assert done.within[1][top] == done.released[1][top] + done.released[0][parent == top].sum()
    assert len(families(levels)) == 2


def places_of(lived, parents, history, more):
    """Places of three levels after some months; so many regions without anybody come first at the upper two."""
    found = []
    for at, of in enumerate(lived):
        first = np.zeros(more if at else 0, int)
        shown, within = (
            np.column_stack([np.concatenate([first, month[kind][at]]) for month in history]) for kind in range(2)
        )
        parent = np.concatenate([first - 1, parents[at] + (more if at < 2 else 0)])
        found.append(Places(np.arange(len(parent)), np.concatenate([first, of]), parent, shown, within))
    return found


@pytest.mark.parametrize("k", [2, 3])
def test_month_after_month_labels_change_by_nobody_or_by_k_whatever_regions_are_called(k):
    """Three levels, people who come and go; in the second town the very same regions are numbered after others."""
    rng = np.random.default_rng(k)
    for town in range(12):
        parents = [rng.integers(0, 3, 6), np.zeros(3, int), np.array([-1])]
        history: list[list[list[np.ndarray]]] = []  # shown and within, by level
        people = rng.integers(0, 4 * k, 6)
        for month in range(5):
            people = np.maximum(people + rng.integers(-k, k + 1, 6), 0)
            lived = [people, np.bincount(parents[0], people, 3).astype(int), np.array([people.sum()])]
            before = history or [[[np.zeros(len(of), int) for of in lived] for _ in range(2)]]
            done, other = (
                kept(places_of(lived, parents, before, more), k, np.random.default_rng(month)) for more in (0, 1)
            )
            for at, (one, same) in enumerate(zip(done.released, other.released)):
                assert one.tolist() == same[1 if at else 0 :].tolist()
            now = [list(done.released), list(done.within)]
            for earlier in history:
                for labels, old in zip(now, earlier):
                    for shown, then in zip(labels, old):
                        apart = np.abs(shown - then)
                        assert ((apart == 0) | (apart >= k) | (shown == 0) | (then == 0)).all(), (town, month)
            for at, of in enumerate(lived):
                assert (now[1][at] <= of).all() and ((now[0][at] == 0) | (now[0][at] >= k)).all()
            history.append(now)


def test_what_changed_is_counted_label_by_label():
    rng = np.random.default_rng(1)
    for _ in range(40):
        n_classes, keys = 2, [np.arange(6), np.arange(4)]
        before = [np.where(rng.random(len(key)) < 0.7, rng.integers(3, 9, len(key)), 0) for key in keys]
        after = [np.where(rng.random(len(key)) < 0.7, rng.integers(3, 9, len(key)), 0) for key in keys]
        places = [
            Places(key, shown, np.full(len(key), -1), shown[:, None], shown[:, None])
            for key, shown in zip(keys, before)
        ]
        level = np.repeat([0, 1], [6, 4])
        key, records = np.concatenate(keys), np.concatenate(after)
        plan = only(
            profile=only(classes=np.zeros((n_classes, 1))),
            released=records > 0,
            level=level,
            region=key // n_classes,
            class_of=key % n_classes,
            records=records,
            levels=[0, 1],
            n_released=int(records.sum()),
        )
        found = changed(plan, plan, places, 99)
        pairs = [(int(then), int(now)) for old, new in zip(before, after) for then, now in zip(old, new)]
        assert (found.same, found.other, found.gone, found.new) == (
            sum(then == now > 0 for then, now in pairs),
            sum(then != now and then > 0 and now > 0 for then, now in pairs),
            sum(then > 0 == now for then, now in pairs),
            sum(now > 0 == then for then, now in pairs),
        )


def moved_plainly(part_of: list[int], fine: np.ndarray, coarse: np.ndarray) -> int:
    """Records in common once no fine value by itself fits better as part of another coarse one, in plain loops."""

    def common(parts: list[int]) -> int:
        sums = np.zeros_like(coarse)
        for value, part in enumerate(parts):
            sums[part] += fine[value]
        return int(np.minimum(sums, coarse).sum())

    while True:
        before = list(part_of)
        for value in range(len(fine)):
            each = [common([*part_of[:value], part, *part_of[value + 1 :]]) for part in range(len(coarse))]
            if max(each) > each[part_of[value]]:
                part_of[value] = each.index(max(each))
        if part_of == before:
            return common(part_of)


@for_each_seed(40)
def test_fine_values_are_parts_of_those_that_they_have_most_in_common_with_and_moved_from_there(seed):
    """And from where they are by shares, whichever fits better in the end."""
    rng = np.random.default_rng(seed)
    fine = rng.integers(0, 9, (int(rng.integers(1, 7)), int(rng.integers(1, 5))))
    coarse = rng.integers(0, 16, (int(rng.integers(1, 4)), fine.shape[1]))
    if len(coarse) == 1:
        assert _joined_best(fine, coarse) == 0
        return
    nearest = [int(np.argmax([np.minimum(row, of).sum() for of in coarse])) for row in fine]
    shares = np.array([optimize.nnls(fine.T, of)[0] for of in coarse])
    expected = max(moved_plainly(start, fine, coarse) for start in (nearest, shares.argmax(axis=0).tolist()))
    assert _joined_best(fine, coarse) == expected


@pytest.mark.parametrize("error", [RuntimeError("Maximum number of iterations reached."), np.linalg.LinAlgError()])
def test_where_shares_come_to_no_end_values_begin_at_what_they_have_most_in_common_with(monkeypatch, error):
    """As scipy 1.12 and 1.13 have it where values are alike."""

    def endless(*_):
        raise error

    monkeypatch.setattr("scipy.optimize.nnls", endless)
    monkeypatch.setattr("vbas.core.releases.attributes.optimize", optimize)
    assert _joined_best(np.array([[3, 0], [0, 4], [2, 0]]), np.array([[5, 0], [0, 4]])) == 9


@pytest.mark.parametrize(
    ("coarsened", "refused"), [({}, False), ({"sex": 1}, False), ({"job": 1}, False), ({"sex": 2, "age": 1}, True)]
)
def test_groups_by_how_many_have_a_value_go_with_no_register(coarsened, refused):
    """“age” is grouped so, and “sex” not; of “job” there is no rule."""
    table: Any = SimpleNamespace(coarsened=coarsened)
    rules: Any = {"age": SimpleNamespace(data_dependent=True), "sex": SimpleNamespace(data_dependent=False)}
    if refused:
        with pytest.raises(InputError, match="HIERARCHY_RULES groups “age”"):
            refuse_data_dependent_groups(table, rules)
    else:
        refuse_data_dependent_groups(table, rules)
