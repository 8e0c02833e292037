"""Updates that show several fields: whoever compares the rows of months learns of no few who came or left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.row_values import (
    column_beside,
    fields_of,
    n_that_can_be_followed,
    names_of,
    row_values_in,
    with_field_names,
    with_field_values,
)
from vbas.core.errors import InputError, PrivacyError
from vbas.core.levels import Levels
from vbas.core.publish.register.listing import releases_in
from vbas.core.publish.register.published_releases import add_release, earlier_releases, read_register
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import REPAIR, Earlier
from vbas.core.releases.examining import examine, examine_all
from vbas.core.releases.listing import CHANGE_BY_VALUES, rows_of
from vbas.core.releases.updating import FOLLOWED, SHOWN, Update
from vbas.core.report.sign import Signing, sign_page

from .nested_cases import random_levels
from .rows_told import assert_no_few_came_or_left, carried, published_of, told

ILL, JOB = np.array(["flu", "cold", None], dtype=object), np.array([1, 2, None, ""], dtype=object)
Person = tuple[int, int, int, int]  # area, class, illness, job


def town_of(people: list[Person], areas: Areas, sensitive: tuple[str, ...], kept: str = "ill job") -> Records:
    """Records of people, who show what they have and do."""
    area = column_from_values([areas.identifiers[a] for a, *_ in people])
    columns = {"ill": Column(np.array([p[2] for p in people], np.int64), ILL)}
    columns["job"] = Column(np.array([p[3] for p in people], np.int64), JOB)
    columns = {name: columns[name] for name in kept.split()}
    classes = Column(np.array([p[1] for p in people], np.int64), np.array(["u", "v"], dtype=object))
    return match_records(RecordTable(area, {"q": classes}, columns, None, sensitive=sensitive), areas)


@st.composite
def towns(draw):
    """Areas, levels, k, fields beside quasi-identifiers, those that are sensitive, what is asked of these, the people
    of several months, and what becomes of rare values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 99, (n, 2)).astype(float), np.ones(n))
    levels = random_levels(areas, rng, draw(st.integers(1, 3)), draw(st.booleans()))
    rare = draw(st.sampled_from([0.1, 0.5]))

    def person() -> Person:
        return int(rng.integers(n)), int(rng.random() < 0.3), *((rng.random((2, 2)) < rare).sum(axis=1).tolist())

    months = [[person() for _ in range(draw(st.integers(4 * k, 90)))]]
    for _ in range(draw(st.integers(1, 3))):
        stay = [one for one in months[-1] if rng.random() < 0.95]
        moved = [(int(rng.integers(n)), *one[1:]) if rng.random() < 0.04 else one for one in stay]
        changed = [(*one[:3], int(rng.integers(4))) if rng.random() < 0.02 else one for one in moved]
        months.append(changed + [person() for _ in range(rng.integers(0, 9))])
    kept = draw(st.sampled_from(["ill job", "ill job", "ill", "job"]))
    sensitive = draw(st.sampled_from([(), tuple(kept.split()[:1]), tuple(kept.split())]))
    asked = draw(st.sampled_from([{}, {"l_diversity": 2}])) if sensitive else {}
    months = [month for month in months if len(month) >= 2 * k]
    return areas, levels, k, kept, sensitive, asked, months, draw(st.sampled_from(FOLLOWED))


BOTH = ("ill", "job")


def accounts_of(areas: Areas, levels: Levels, months: Sequence[list[Person]], followed: str = SHOWN) -> list[Account]:
    """Months of which no field is sensitive, at k = 3."""
    return carried(areas, levels, 3, [town_of(month, areas, ()) for month in months], followed)


@pytest.mark.slow
@settings(max_examples=12)
@given(towns())
def test_no_few_came_or_left_by_their_rows_between_any_two_months(case):
    areas, levels, k, kept, sensitive, asked, months, followed = case
    names = tuple(kept.split())
    accounts = carried(
        areas, levels, k, [town_of(month, areas, sensitive, kept) for month in months], followed, **asked
    )
    several = [names.index(name) for name in sensitive] if asked else []
    assert_no_few_came_or_left([told(account, names) for account in accounts], k, several)
    if len(accounts) > 1:  # and so says the attacker who has what the register keeps
        assert not examine_all([published_of(account) for account in accounts]).n_counts


@pytest.mark.slow
@settings(max_examples=8)
@given(towns())
def test_each_month_shows_rows_of_now_as_diverse_as_asked(case):
    areas, levels, k, kept, sensitive, asked, months, followed = case
    names = tuple(kept.split())
    accounts = carried(
        areas, levels, k, [town_of(month, areas, sensitive, kept) for month in months], followed, **asked
    )
    for month, account in zip(months, accounts):
        for (what, level, region, code), rows in told(account, names).items():
            inside = levels.crosswalks[level].region_of
            there = Counter[tuple[str, ...]](
                tuple(repr({"ill": ILL[i], "job": JOB[j]}[name]) for name in names)
                for a, c, i, j in month
                if c == code and inside[a] == region
            )
            assert not rows - there
            if what == "label":
                assert rows.total() >= k
                for at in [names.index(name) for name in sensitive]:
                    assert len({values[at] for values in rows}) >= asked.get("l_diversity", 1)


def test_a_change_that_only_rows_show_takes_k_along():
    """k = 3: a cold with job 1 and a flu with job 2 become a cold with job 2 and a flu with job 1: by each field by
    itself, nothing changed."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[Person] = [(a, 0, i % 2, i % 2) for a in range(2) for i in range(8)]
    after = [(0, 0, 0, 1), (0, 0, 1, 0), *people[2:]]
    first, now = accounts_of(areas, levels, [people, after])
    before, later = (told(one, BOTH).get(("label", 0, 0, 0), Counter()) for one in (first, now))
    assert before.total() == 8 and later.total() <= 5
    # Had it been shown, whoever has what the register keeps of an update would have noticed.
    alone = [
        published_of(anonymise(areas, town_of(p, areas, ()), levels, Ask(3, earlier=Earlier([]))))
        for p in (people, after)
    ]
    assert examine_all([alone[0], replace(alone[1], updates=(0, "updated"))]).n_counts == 1
    assert not examine_all(alone).n_counts  # of releases that carry on none, rows are not compared
    again = accounts_of(areas, levels, [people, people])[1]
    assert told(again, BOTH) == told(first, BOTH) or again.release.n_records < 16  # now and then somebody is held back


@pytest.mark.parametrize("kept", ["ill", "job", "ill job"])
def test_missing_and_empty_values_stay_as_they_are(kept):
    """Of one field that is only kept, too: the register keeps of a missing value what the update knows."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[Person] = [(a, 0, i % 3, i % 4) for a in range(2) for i in range(36)]
    towns = [town_of(month, areas, (), kept) for month in (people, people, [(0, 0, 2, 3), *people[1:]])]
    accounts = [anonymise(areas, towns[0], levels, Ask(3, earlier=Earlier([])))]
    names = tuple(sorted(kept.split()))
    first = row_values_in(published_of(accounts[0]), names)
    assert first is not None and set(first.categories) == set(column_beside(towns[0].table, np.arange(72)).categories)
    for town in towns[1:]:
        earlier = Earlier([published_of(account) for account in accounts])
        accounts.append(anonymise(areas, town, levels, Ask(3, earlier=earlier, update=Update(len(accounts) - 1))))
    as_before, changed = (told(account, names) for account in accounts[1:])
    if accounts[1].release.n_records == 72:  # now and then somebody is held back
        assert as_before == told(accounts[0], names)
    assert_no_few_came_or_left([told(account, names) for account in accounts], 3)
    assert changed.get(("label", 0, 0, 0), Counter()).total() <= 33


def test_few_who_left_are_seen_beside_many_who_came():
    """k = 3: of a class 8 are as before, 4 came and one left. Nothing but values tells of the one, and they do so
    whether or not either release is said to be an update."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    before: list[Person] = [(a, 0, i % 2, 0) for a in range(2) for i in range(9)]
    after = [*before[1:], *[(0, 0, 1, 0)] * 4]
    for kept, sensitive in (("ill", ()), ("ill", ("ill",)), ("ill job", ("ill",))):
        first, second = (
            published_of(anonymise(areas, town_of(month, areas, sensitive, kept), levels, Ask(3, earlier=Earlier([]))))
            for month in (before, after)
        )
        assert examine_all([first, replace(second, updates=(0, "updated"))]).n_counts == 1
        assert examine(second, [first], updated=[0]).n_counts == 1
        # Nor does what is released beside an update, as it shows when all are held against each other.
        assert examine(second, [replace(first, updates=(0, "updated"))]).n_counts == 1
        # Between releases of which none is an update, what is only kept is not looked at.
        alone = examine_all([first, second])
        assert alone.n_counts == examine(second, [first]).n_counts == (1 if sensitive else 0)
        for few in (changes for *_, changes in alone.changes):
            assert (few.people.tolist(), few.by_values.tolist()) == ([1], [True])
        assert [row.kind for row in rows_of(alone, [first, second])] == [CHANGE_BY_VALUES] * alone.n_counts


def test_what_is_only_kept_is_compared_with_an_update_by_a_release_that_is_none():
    """k = 3: one of 9 left, and 4 with another illness came since an update. As soon as all releases of the register
    are held against each other it shows; the release itself was said to give nothing away."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    before: list[Person] = [(a, 0, i % 2, 0) for a in range(2) for i in range(9)]
    first = published_of(anonymise(areas, town_of(before, areas, (), "ill"), levels, Ask(3, earlier=Earlier([]))))
    after = town_of([*before[1:], *[(0, 0, 1, 0)] * 4], areas, (), "ill")
    alone = anonymise(areas, after, levels, Ask(3, earlier=Earlier([first])))  # of a register without any update
    update = replace(first, updates=(0, "updated"))
    assert examine_all([update, published_of(alone)]).n_counts == 1
    with pytest.raises(PrivacyError, match="would give away 1 count of fewer than 3 people"):
        anonymise(areas, after, levels, Ask(3, earlier=Earlier([first, update])))
    mended = anonymise(areas, after, levels, Ask(3, earlier=Earlier([first, update], REPAIR)))
    assert not examine_all([first, update, published_of(mended)]).n_counts


def test_what_values_tell_hides_no_change_of_a_few():
    """k = 3: a class of 9 has 10 now; 4 with a cold came, and 3 with flu left."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    before: list[Person] = [(a, 0, i % 2, 0) for a in range(2) for i in range(9)]
    after = [*before[6:], *[before[i] for i in (1, 3, 5)], *[(0, 0, 1, 0)] * 4]
    for kept, sensitive in (("", ()), ("ill", ("ill",)), ("ill job", ("ill",))):
        first, second = (
            published_of(anonymise(areas, town_of(month, areas, sensitive, kept), levels, Ask(3, earlier=Earlier([]))))
            for month in (before, after)
        )
        found = examine_all([first, second])
        assert examine(second, [first]).n_counts == 1 == found.n_counts
        # What is listed is the one more, not the four who came: it is said to be a count of fewer than 3.
        assert [(row.low, row.high) for row in rows_of(found, [first, second])] == [(1, 1)]


def test_who_can_be_followed_from_month_to_month_is_counted():
    """k = 3: of each class in all regions together, rows with values that one or two rows show."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    common: list[Person] = [(a, c, i % 2, 0) for a in range(2) for c in range(2) for i in range(8)]
    rare: list[Person] = [(0, 0, 2, 1), (1, 0, 2, 1), (1, 1, 2, 2), (0, 1, 2, 3), (0, 1, 2, 3), (1, 1, 2, 3)]
    accounts = accounts_of(areas, levels, [common + rare, common + rare])
    expected = 0
    for release in (account.release for account in accounts):
        shown = Counter[tuple]()
        columns = [release.fields[name].codes.tolist() for name in ("q", "ill", "job")]
        for *values, count in zip(*columns, release.counts.tolist()):
            shown[tuple(values)] += count
        expected += sum(count for count in shown.values() if count < 3)
    first, now = map(published_of, accounts)
    assert 0 < expected <= 6 and n_that_can_be_followed(now, [first], 3) == expected
    assert accounts[1].changed is not None and accounts[1].changed.n_followed == expected
    assert any("can be followed from month to month" in note for note in accounts[1].notes)
    rows = dict(sign_page(accounts[1], Signing(), "", "", "").terms)
    assert rows["Rows that can be followed"].startswith(f"{expected}: whoever knows that a certain person left")
    # Who left is not shown any more, and was the only one with such values.
    gone = accounts_of(areas, levels, [common + rare[:1], common])[1]
    assert n_that_can_be_followed(published_of(gone), [], 3) == 0
    assert gone.changed is not None and gone.changed.n_followed == 1
    plain = accounts_of(areas, levels, [common, common])[1]
    assert plain.changed is not None and plain.changed.n_followed == 0
    assert "Rows that can be followed" not in dict(sign_page(plain, Signing(), "", "", "").terms)
    assert not any("can be followed" in note for note in plain.notes)


def test_a_register_keeps_what_rows_show_together(tmp_path):
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[Person] = [(a, 0, i % 3, i % 4) for a in range(2) for i in range(12)]
    path = tmp_path / "register.gpkg"
    for kept, sensitive, n_rows in (("ill", ("ill",), 0), ("job", (), 1), ("job ill", ("ill",), 1)):
        town = town_of(people, areas, sensitive, kept)
        add_release(path, anonymise(areas, town, levels, Ask(3, earlier=earlier_releases(path))))
        last = read_register(path)[-1]
        assert (last.rows is not None) == n_rows
        names = tuple(sorted(kept.split()))
        shown = row_values_in(last, names)
        assert shown is not None and names_of(shown) == names and shown.records.sum() == 24
        assert releases_in(path)[-1].sensitive == ",".join(sensitive)
    assert last.rows is not None
    assert dict(zip(last.rows.categories.tolist(), np.bincount(last.rows.value, last.rows.records).tolist())) == {
        f'["{ill}", {job}]': 2 for ill, job in zip(["flu", "cold", ""] * 4, ['"1"', '"2"', '""', "\"''\""] * 3)
    }
    alone = row_values_in(last, ("job",))
    assert alone is not None and fields_of(alone.field) == ("job",)
    assert np.bincount(alone.value, alone.records).tolist() == [6, 6, 6, 6]
    renamed = with_field_values(with_field_names(last.rows, {"ill": "later"}), "later", {"flu": "grippe"})
    assert names_of(renamed) == ("job", "later") and '["1", "grippe"]' in renamed.categories.tolist()


def test_what_rows_showed_has_to_be_known():
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[Person] = [(a, 0, i % 2, i % 2) for a in range(2) for i in range(8)]
    both = town_of(people, areas, ("ill",))
    full = published_of(anonymise(areas, both, levels, Ask(3, earlier=Earlier([]))))
    ill = town_of(people, areas, ("ill",), "ill")
    less = published_of(anonymise(areas, ill, levels, Ask(3, earlier=Earlier([]))))
    for before, now, known in ((full, both, True), (full, ill, True), (less, ill, True), (less, both, False)):
        ask = Ask(3, earlier=Earlier([before]), update=Update(0))
        if known:
            assert anonymise(areas, now, levels, ask).release.n_records
            continue
        with pytest.raises(InputError, match="does not keep what its rows showed in “ill” and “job”"):
            anonymise(areas, now, levels, ask)
    bare = match_records(replace(both.table, kept={}, sensitive=()), areas)
    shown_less = published_of(anonymise(areas, bare, levels, Ask(3, earlier=Earlier([full]), update=Update(0))))
    later = anonymise(areas, both, levels, Ask(3, earlier=Earlier([full, shown_less]), update=Update(1)))
    assert later.release.n_records  # an update is known to show nothing that the register does not keep


def test_a_release_that_showed_nothing_is_carried_on():
    """Of the values of no rows there is nothing to keep."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    town = town_of([(a, 0, i % 2, i % 2) for a in range(2) for i in range(8)], areas, ("ill",))
    nothing = anonymise(areas, town, levels, Ask(9, earlier=Earlier([])))
    kept_in_register = replace(published_of(nothing), sensitive=(), rows=None, k=3)
    ask = Ask(3, earlier=Earlier([kept_in_register]), update=Update(0))
    assert not nothing.release.n_records and anonymise(areas, town, levels, ask).release.n_records


def typed_town(people: Sequence[tuple[str, object, object]], areas: Areas) -> Records:
    """Records of one class who show an illness and a job as they were written; people : area, illness, job."""
    area, ill, job = (column_from_values(list(values)) for values in zip(*people))
    classes = column_from_values(["u"] * len(people))
    return match_records(RecordTable(area, {"q": classes}, {"ill": ill, "job": job}, None), areas)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (("flu", "cold", 1, 2), ("FLU", " Cold", 1, 2)),
        (("flu", "cold", 1.0, 2.0), ("flu", "cold", "1.0", "2.0")),
        (("flu", "cold", 1, 2), ("flu", "cold", "01", "02")),
        (("''", "", None, 'a"b'), ("''", "", None, 'a"b')),
    ],
)
def test_one_change_is_seen_though_all_values_are_written_otherwise(before, now):
    """k = 3: one of 16 in an area has another illness; had all of them, it would be a change of many."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    cases = [(a, i, j) for a in "ab" for i in (0, 1) for j in (2, 3) for _ in range(4)]
    first = anonymise(
        areas, typed_town([(a, before[i], before[j]) for a, i, j in cases], areas), levels, Ask(3, earlier=Earlier([]))
    )
    ask = Ask(3, earlier=Earlier([published_of(first)]), update=Update(0))
    changed = [("a", 1, 2), *cases[1:]]
    later = anonymise(areas, typed_town([(a, now[i], now[j]) for a, i, j in changed], areas), levels, ask)
    assert later.release.counts[later.release.region == 0].sum() <= 13  # not 16 with one who has another illness


def test_values_that_only_their_type_tells_apart_are_one():
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[tuple[str, object, object]] = [("a", "flu", 1), ("b", "flu", 1)]
    first = anonymise(areas, typed_town(people * 8, areas), levels, Ask(3, earlier=Earlier([])))
    ask = Ask(3, earlier=Earlier([published_of(first)]), update=Update(0))
    later = anonymise(areas, typed_town([("a", "flu", "1"), *(people * 8)[1:]], areas), levels, ask)
    assert later.changed is not None and (later.changed.same, later.changed.other) == (2, 0)


def test_a_field_under_another_name_is_not_taken_for_a_new_one():
    """The release that began the register was taken out of it; an update that shows `job` is left."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people: list[Person] = [(a, 0, i % 2, i % 2) for a in range(2) for i in range(8)]
    town = town_of(people, areas, (), "job")
    left = replace(published_of(anonymise(areas, town, levels, Ask(3, earlier=Earlier([])))), updates=(-1, "updated"))
    table = replace(town.table, kept={"work": town.table.kept["job"]})
    ask = Ask(3, earlier=Earlier([left]), update=Update(0))
    with pytest.raises(InputError, match="known to have shown “work”"):
        anonymise(areas, match_records(table, areas), levels, ask)


def test_values_that_may_be_the_same_in_other_words_are_told():
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    levels = Levels((Crosswalk(np.array([0, 1]), 2),))
    people = [(a, ill, job) for a in "ab" for ill in ("flu", "cold") for job in (1, 2) for _ in range(4)]
    first = anonymise(areas, typed_town(people, areas), levels, Ask(3, earlier=Earlier([])))
    ask = Ask(3, earlier=Earlier([published_of(first)]), update=Update(0))
    for code, is_said in (("J10", True), ("FLU", False), ("flu", False)):
        now = [(a, code if ill == "flu" else ill, job) for a, ill, job in people]
        notes = anonymise(areas, typed_town(now, areas), levels, ask).notes
        assert any("“ill”: a value that 3 rows or more" in note for note in notes) == is_said
