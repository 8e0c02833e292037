"""Which attributes of releases are the same: told by their contents, never by their names alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.values import Values
from vbas.core.errors import InputError
from vbas.core.levels import Levels, own_regions
from vbas.core.plain_text import without_writing
from vbas.core.plan import suppress
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import PERSONS, RecordTable
from vbas.core.releases.aliases import aliases_of
from vbas.core.releases.attributes import Attribute, attributes_of, likeness, parts_of, recoded
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.examining import examine
from vbas.core.releases.matching import matched
from vbas.core.releases.naming import named, names_in, with_names, with_values
from vbas.core.releases.updates import same_regions
from vbas.core.releases.writing import one_is_cut, same_but_for_case, written_otherwise

from ..each import for_each_seed
from .release_cases import profile_over

AGES = ["0-14", "15-24", "25-64", "65+"]


def release(regions=2, seed=1, title="release", names=("sex", "age"), sexes=("F", "M"), k=5, areas=None):
    """Twelve areas in a row, cut into as many regions, with people of two sexes and four ages."""
    rng = np.random.default_rng(seed)
    values = [(sex, age) for sex in sexes for age in AGES]
    profile = profile_over(rng.integers(0, 9, (12, len(values))), values, names)
    names_of = areas or [f"{i:02d}" for i in range(12)]
    town = make_areas(names_of, np.column_stack([np.arange(12.0), np.zeros(12)]))
    cuts = np.minimum(np.arange(12) * regions // 12, regions - 1)
    return publish(suppress(profile, Crosswalk(cuts.astype(np.int64), regions), k), town, title)


def match(releases, rows=(), levels=None):
    aliases = aliases_of(rows, list(dict.fromkeys(name for one in releases for name in names_in(one))))
    return matched(named(releases, aliases), aliases, levels or {})


@pytest.mark.parametrize(
    ("text", "key"),
    [("M", "m"), (" M ", "m"), ("01", "1"), ("1.0", "1"), ("007", "7"), ("-05", "-5"), ("1.5", "1.5"), ("0", "0")]
    + [
        (f"2020-01-0{i}{hour}", f"2020-01-0{i} 00:00:00")
        for i, hour in enumerate(("T00:00:00", " 00:00", " 00:00:00.0"), 1)
    ]
    + [(f"2020-01-01{hour}", "2020-01-01 10:00:00.1+00:00") for hour in ("T10:00:00.100Z", " 10:00:00.1+00")]
    + [("2020-01-01", "2020-01-01"), ("2020-01-01T10:00:00+02:00", "2020-01-01t10:00:00+02:00")],
)
def test_what_is_only_writing_is_taken_away(text, key):
    assert without_writing(text) == key


def test_a_release_that_shows_nothing_has_no_values_in_other_words():
    """The women are k records and not k persons, the men, whom the earlier release shows, too few for this one's k."""
    areas = make_areas(["a", "b"], [(0.0, 0.0), (1.0, 0.0)])
    sex, home = column_from_values(list("FFMFM" * 4)), column_from_values(list("aabb" * 5))
    levels = Levels((Crosswalk(np.array([0, 0]), 1),))
    first = anonymise(areas, match_records(RecordTable(home, {"sex": sex}, {}), areas), levels, Ask(5))
    earlier = publish(first.plan, areas)
    of_one = RecordTable(home, {"sex": sex}, {}, members={PERSONS: column_from_values([1] * 20)})
    ask = Ask(10, earlier=Earlier([earlier]))
    account = anonymise(areas, match_records(of_one, areas), levels, ask)
    assert account.release.n_records == 0
    assert not [note for note in account.notes if "which the other does not show" in note]


def test_names_that_differ_in_case_or_are_cut():
    assert same_but_for_case("SEX", " sex") and not same_but_for_case("sex", "sexe")
    assert one_is_cut("marital_status", "MARITAL_ST") and not one_is_cut("marital_status", "marital")
    assert one_is_cut("état_matrimonial", "état_matr")  # ten bytes
    assert not one_is_cut("marital_st", "marital_st")


def test_text_that_could_be_two_others_is_left_alone():
    assert written_otherwise(["01", "2"], ["1", "2"]) == {"01": "1"}
    assert written_otherwise(["01", "001"], ["1"]) == {}
    assert written_otherwise(["01"], ["1", "1.0"]) == {}
    assert written_otherwise([""], ["x"]) == {}


def test_releases_with_the_same_names_stay_as_they_are():
    releases = [release(2, title="r1"), release(3, title="r2")]
    found = match(releases)
    assert not found.said and not found.warnings and not found.assumed
    for before, after in zip(releases, found.releases):
        assert before.quasi_identifiers == after.quasi_identifiers
        assert [values.tolist() for values in before.categories] == [values.tolist() for values in after.categories]


def test_the_newest_release_is_never_rewritten():
    """What it publishes is compared again and again while it is repaired."""
    old = with_values(release(2, title="r1", names=("SEX", "age")), "SEX", {"F": "f"})
    new = release(3, title="r2")
    found = match([old, new])
    assert found.releases[-1].quasi_identifiers == ("sex", "age")
    assert found.releases[0].quasi_identifiers == ("sex", "age")
    assert "F" in found.releases[0].categories[0].tolist()
    assert found.releases[-1].classes is new.classes


def test_what_is_given_away_does_not_depend_on_names_and_words():
    old, new = release(2, title="r1"), release(3, title="r2")
    true = examine(new, [old]).n_counts
    assert true
    renamed = with_values(with_names(old, {"sex": "gender"}), "gender", {"F": "1", "M": "2"})
    found = match([renamed, new], [("gender", "sex: 1=F; 2=M")])
    assert examine(found.releases[-1], found.releases[:-1]).n_counts == true
    moved = replace(old, areas=np.array([area.lstrip("0") or "0" for area in old.areas], dtype=object))
    found = match([moved, new])
    assert examine(found.releases[-1], found.releases[:-1]).n_counts == true
    assert "11 areas" in found.said[0] or "10 areas" in found.said[0]


def test_codes_that_were_exchanged_between_two_names():
    """gender: 1 is a man; sex: 2 is a man."""
    old = with_values(with_names(release(2, title="r1"), {"sex": "gender"}), "gender", {"M": "1", "F": "2"})
    new = with_values(release(3, title="r2"), "sex", {"M": "2", "F": "1"})
    true = examine(release(3), [release(2)]).n_counts
    found = match([old, new], [("gender", "sex: 1=2; 2=1")])
    assert examine(found.releases[-1], found.releases[:-1]).n_counts == true
    with pytest.raises(InputError, match="stand on both sides"):
        match([with_names(old, {"gender": "sex"}), new], [("sex", "sex: 1=2; 2=1")])


def test_older_releases_in_the_same_other_words_stay_together():
    first = with_values(release(2, seed=2, title="r1"), "sex", {"F": "1", "M": "2"})
    second = with_values(release(4, seed=3, title="r2"), "sex", {"F": "1", "M": "2"})
    found = match([first, second, release(3, title="r3")])
    assert found.releases[0].quasi_identifiers == found.releases[1].quasi_identifiers == ("sex (r2)", "age")
    assert found.releases[2].quasi_identifiers == ("sex", "age")
    assert len(found.warnings) == 2


def of_sexes(title, **number_of):
    """A release of one region that shows so many people of each sex, called by the letter after an x."""
    values = [(name.lstrip("x"),) for name in number_of]
    profile = profile_over(np.array([[0] * len(values), list(number_of.values())]), values, ("sex",))
    areas = make_areas(["a", "b"], [(0.0, 0.0), (1.0, 0.0)])
    return publish(suppress(profile, Crosswalk(np.zeros(2, np.int64), 1), 5), areas, title)


@pytest.mark.parametrize(
    ("first", "second", "as_one"),
    [
        ({"x1": 90, "x3": 10}, {"x1": 50}, True),  # nine of ten records of either have a value of the other
        ({"x1": 50}, {"x1": 90, "x3": 10}, True),
        ({"x1": 89, "x3": 11}, {"x1": 50}, False),
        ({"x1": 50}, {"x1": 89, "x3": 11}, False),
    ],
)
def test_older_releases_stay_together_only_where_each_has_most_words_of_the_other(first, second, as_one):
    found = match([of_sexes("r1", **first), of_sexes("r2", **second), of_sexes("r3", F=50, M=57)])
    assert (found.releases[0].quasi_identifiers == found.releases[1].quasi_identifiers) == as_one


@pytest.mark.parametrize("words", ["1=F; 2=M", "F=1; M=2"])
@pytest.mark.parametrize("coded", [0, 1])
def test_words_of_one_name_go_to_those_of_the_newest_release_from_either_side(words, coded):
    """A field keeps its name, and codes are written for words, or words for codes, from some release on."""
    old, new = release(2, title="r1"), release(3, title="r2")
    true = examine(new, [old]).n_counts
    both = [old, new]
    both[coded] = with_values(both[coded], "sex", {"F": "1", "M": "2"})
    found = match(both, [("sex", f"sex: {words}")])
    assert examine(found.releases[-1], found.releases[:-1]).n_counts == true
    assert [values.tolist() for values in found.releases[0].categories] == [
        values.tolist() for values in both[1].categories
    ]
    assert not found.warnings


def test_what_is_written_otherwise_is_said_with_the_first_three():
    old = with_values(release(2, title="r1"), "age", {age: f" {age}" for age in AGES})
    (said,) = match([old, release(3, title="r2")]).said
    assert all(f"{age} for" in said for age in ("0-14", "15-24", "25-64")) and "65+" not in said and "…" in said


@for_each_seed(30)
def test_a_field_divides_where_a_class_has_several_of_its_values_and_k_records_of_each(seed):
    rng, k = np.random.default_rng(seed), 3
    held = {(0, 0): k, (1, 1): k}
    held |= {(int(rng.integers(3)), int(rng.integers(3))): k + int(rng.integers(-1, 2)) for _ in range(seed % 3)}
    equivalence_class, value = np.array(list(held)).T
    shown = Attribute("q", "", ("a", "b", "c"), 0, False, equivalence_class, value, np.array(list(held.values())))
    n_values = Counter(row for row, _ in held)
    assert shown.divides(k) is (max(n_values.values()) > 1 and min(held.values()) >= k)


def test_a_release_that_shows_both_proves_that_fields_are_different():
    """yes and no of two fields are not the same field: one release shows people who differ."""
    both = release(2, title="r1", names=("smokes", "age"), sexes=("yes", "no"))
    values = [(a, b) for a in ("yes", "no") for b in ("yes", "no")]
    profile = profile_over(np.full((12, 4), 9), values, ("smokes", "drinks"))
    town = make_areas([f"{i:02d}" for i in range(12)], np.zeros((12, 2)) + np.arange(12)[:, None])
    apart = publish(suppress(profile, Crosswalk(np.zeros(12, np.int64), 1), 5), town, "r0")
    new = release(3, title="r2", names=("drinks", "age"), sexes=("yes", "no"))
    assert not match([apart, both, new]).warnings
    with pytest.raises(InputError, match=r"“drinks” of r2 and “smokes” of r1"):
        match([both, new])


@pytest.mark.parametrize("other", [0, 5, 11])
def test_regions_with_one_other_area_are_not_the_same(other):
    """Wherever it stands, and also where the old release has it in the place of another."""
    names = [f"{of:02d}" for of in range(12)]
    renamed = ["new" if of == other else name for of, name in enumerate(names)]
    old, new, later = release(areas=names), release(areas=renamed), release(areas=names)
    assert same_regions(old, new) is None and same_regions(new, old) is None
    assert same_regions(old, later) is not None


@pytest.mark.parametrize(("values", "said"), [("ABCD", "“A”, “B”, “C”, “D”"), ("ABCDEF", "“A”, “B”, “C”, “D”, …")])
def test_of_the_same_content_four_values_are_named(values, said):
    releases = [release(of, of, f"r{of}", (name, "age"), tuple(values)) for of, name in ((2, "sex"), (3, "gender"))]
    with pytest.raises(InputError) as raised:
        match(releases)
    assert f"(“gender” of r3 and “sex” of r2 have other names and the same content ({said}): " in f"({raised.value}"


def test_the_same_words_for_quite_other_people_are_warned_of_and_not_asked():
    """Smokers in the west, drinkers in the east."""
    town = make_areas([f"{i:02d}" for i in range(12)], np.column_stack([np.arange(12.0), np.zeros(12)]))
    west = np.arange(12) < 6
    halves = Crosswalk((~west).astype(np.int64), 2)
    found = []
    for name, yes in (("smokes", west), ("drinks", ~west)):
        counts = np.column_stack([np.where(yes, 30, 2), np.where(yes, 2, 30)])
        found.append(publish(suppress(profile_over(counts, [("yes",), ("no",)], (name,)), halves, 5), town, name))
    smokes, drinks = (attributes_of(one)[name] for one, name in zip(found, ("smokes", "drinks")))
    west_and_east = likeness(smokes, drinks, parts_of(found[0], found[1]))
    assert west_and_east is not None and west_and_east < 0.2
    (warning,) = match(found).warnings
    assert "“drinks” of drinks" in warning and "may be the same field" in warning


@pytest.mark.parametrize(("rows", "warned"), [([], True), ([("sex", "sex")], False)])
def test_other_values_are_warned_of_unless_all_was_said_to_be_written_alike(rows, warned):
    """Women in both, men in one and others in the other."""
    found = match([release(title="r1"), release(3, title="r2", sexes=("F", "X"))], rows)
    assert any("which the other does not show" in one for one in found.warnings) == warned


def of_one_record(*names):
    """Releases of these quasi-identifiers, the oldest first."""
    town = make_areas(list("ab"), np.zeros((2, 2)))
    profiles = [profile_over(np.full((2, 1), 9), [("x",) * len(own)], own) for own in names]
    return [publish(suppress(profile, own_regions(2), 5), town, f"r{i}") for i, profile in enumerate(profiles, start=1)]


@pytest.mark.parametrize(
    ("older", "newer", "rows", "said"),
    [
        (("gender",), ("sex", "age"), [("gender", "sex"), ("gender", "age")], "“gender” of r1 is “sex”, but so is"),
        (("sexe", "gender"), ("sex",), [("sexe", "sex"), ("gender", "sex")], "“sexe” of r1 is “sex”, but so is"),
        (("gender",), ("sex",), [("gender", "sex"), ("sex", "not gender")], "“gender” of r1 is “sex”, but so is"),
        (("sexe", "sex"), ("sex",), [("sexe", "sex")], "“sexe” and “sex” are the same, but r1 has both"),
    ],
)
def test_a_field_that_cannot_be_what_it_was_said_to_be_is_refused(older, newer, rows, said):
    """Taken for a field of its own, what it tells of the other would not be looked at."""
    with pytest.raises(InputError, match=f"ALIASES says that {said}"):
        match(of_one_record(older, newer), rows)


def test_before_a_field_is_what_it_is_called_it_is_what_it_was_said_to_be():
    with pytest.raises(InputError, match="“gender” of r1 is “sex”, but so is another field"):
        match(of_one_record(("gender", "sexe"), ("gender",), ("sex",)), [("gender", "sex"), ("sexe", "sex")])


@pytest.mark.parametrize(
    ("oldest", "row", "called"),
    [("gender", ("gender", "sexe"), "sex"), ("SEX", ("sexe", "sexe"), "sex"), ("SEX", ("SEX", "not sexe"), "SEX")],
)
def test_a_field_is_what_it_was_in_some_newer_release_unless_it_is_not_what_it_was_in_another(oldest, row, called):
    releases = of_one_record((oldest,), ("sexe",), ("sex",))
    aliases = aliases_of([("sexe", "sex"), row], [oldest, "sexe", "sex"])
    assert [names_in(one) for one in named(releases, aliases).releases] == [[called], ["sex"], ["sex"]]


def test_two_names_that_were_said_to_be_one_field_may_differ_in_values():
    found = match(
        [release(title="r1", names=("sexe", "age")), release(3, title="r2", sexes=("F", "X"))], [("sex", "sexe")]
    )
    assert any("which the other does not show" in one for one in found.warnings)


def coarser(one, title):
    """A release of two groups of ages, under another name."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, (12, 8))
    values = [(sex, group) for sex in ("F", "M") for group in ("young", "old")]
    joined = np.column_stack([counts[:, 2 * i] + counts[:, 2 * i + 1] for i in range(4)])
    town = make_areas([f"{i:02d}" for i in range(12)], np.column_stack([np.arange(12.0), np.zeros(12)]))
    cuts = Crosswalk(np.minimum(np.arange(12) * one // 12, one - 1).astype(np.int64), one)
    return publish(suppress(profile_over(joined, values, ("sex", "group")), cuts, 5), town, title)


@pytest.mark.parametrize("regions", [(2, 3), (3, 2), (4, 4), (1, 6)])
def test_a_coarser_field_under_another_name_is_warned_of(regions):
    """Groups made elsewhere: totals tell, among people of one sex."""
    old, new = release(regions[0], title="r1"), coarser(regions[1], "r2")
    (warning,) = match([old, new]).warnings
    assert "“group” of r2" in warning and "“age” of r1" in warning and "one of them in wider groups" in warning
    (back,) = match([coarser(regions[1], "r1"), release(regions[0], title="r2")]).warnings
    assert "“age” of r2" in back and "“group” of r1" in back
    (of_newest,) = match([coarser(regions[1], "r0"), old, coarser(regions[1], "r2")]).warnings  # said once
    assert "“group” of r2" in of_newest and "“age” of r1" in of_newest


@pytest.mark.parametrize("n_values", [2, 3, 4])
def test_a_field_of_its_own_is_seldom_warned_of(n_values):
    """What has nothing to do with age is taken for another field, and said to be."""
    warned = 0
    for seed in range(20):
        result = match(of_age_and_income(np.random.default_rng(seed), n_values))
        assert result.warnings or result.assumed == [("income", "age")]
        warned += bool(result.warnings)
    assert warned <= 4  # a town of twelve areas leaves little to tell by


def of_age_and_income(rng, n_values):
    """A release of sex and age, and one of sex and income of the same people."""
    ages = rng.integers(0, 12, (12, 8)) * rng.integers(1, 4, 8)
    town = make_areas([f"{i:02d}" for i in range(12)], np.column_stack([np.arange(12.0), np.zeros(12)]))
    shares = rng.dirichlet(np.ones(n_values) * 2, 8)
    incomes = np.array([[rng.multinomial(n, shares[i]) for n in ages[:, i]] for i in range(8)])  # class, area, income
    by_sex = incomes.reshape(2, 4, 12, n_values).sum(axis=1).transpose(1, 0, 2).reshape(12, -1)
    found = []
    for counts, name, values in ((ages, "age", AGES), (by_sex, "income", [f"i{i}" for i in range(n_values)])):
        regions = int(rng.integers(2, 7))
        cuts = Crosswalk(np.minimum(np.arange(12) * regions // 12, regions - 1).astype(np.int64), regions)
        profile = profile_over(counts, [(sex, value) for sex in ("F", "M") for value in values], ("sex", name))
        found.append(publish(suppress(profile, cuts, 5), town, name))
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_a_renamed_field_never_passes_in_silence(seed, first, second, recode):
    """Whatever the regions: it is asked for, or warned of, never taken for another field."""
    old, new = release(first, seed, "r1"), release(second, seed, "r2")
    if not len(old.records) or not len(new.records):
        return
    renamed = with_names(new, {"sex": "gender"})
    if recode:
        renamed = with_values(renamed, "gender", {"F": "1", "M": "2"})
    try:
        found = match([old, renamed])
    except InputError as error:
        assert "“gender” of r2 and “sex” of r1" in str(error)
    else:
        assert (
            any("gender" in warning and "sex" in warning for warning in found.warnings)
            or len(attributes_of(old)["sex"].values) < 2
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5))
def test_likeness_of_the_same_people_is_high(seed, first, second):
    old, new = release(first, seed, "r1"), release(second, seed, "r2")
    parts = parts_of(new, old)
    assert parts.n >= 1  # all areas are in both
    for name in ("sex", "age"):
        one, other = attributes_of(new)[name], attributes_of(old)[name]
        alike, again = likeness(one, other, parts), recoded(one, other, parts)
        assert alike is not None and alike >= 0.9
        assert again is not None and again.likeness >= 0.9


def test_parts_are_regions_of_the_same_areas_only():
    old, new = release(3, title="r1"), release(6, title="r2")
    assert parts_of(new, old).n == 3
    fewer = replace(new, areas=np.array([*new.areas[:-1], "elsewhere"], dtype=object))
    assert parts_of(fewer, old).n == 2
    (crosswalk,) = new.levels.crosswalks
    for some in (slice(1, None), slice(None, -1)):  # an area of the first region, or of the last, is in none there
        levels = replace(new.levels, crosswalks=(Crosswalk(crosswalk.region_of[some], crosswalk.n_regions),))
        without = replace(new, areas=new.areas[some], levels=levels)
        assert parts_of(without, old).n == parts_of(old, without).n == 2


def test_values_are_written_otherwise_for_the_field_that_is_meant_alone():
    """Else a diagnosis with the same codes as a sex would be matched as something that it is not."""
    at = np.zeros(1, np.int64)
    fields = [Values(name, np.array(["1", "2"], object), at, at, at + 5) for name in ("sex", "ill")]
    renamed = with_values(replace(release(), sensitive=tuple(fields)), "ill", {"1": "flu"})
    assert [values.categories.tolist() for values in renamed.sensitive] == [["1", "2"], ["flu", "2"]]


def test_releases_of_partly_other_areas_are_warned_of():
    """Eleven areas of twelve are in both; of releases of the same areas nothing is said."""
    names = [f"{i:02d}" for i in range(13)]
    old, new = release(2, title="r2", areas=names[:12]), release(3, title="r3", areas=names[1:])
    (warning,) = match([old, new]).warnings
    assert "r2" in warning and "r3" in warning and "00" in warning and "12" in warning
    assert match([release(2, title="r2", areas=names[:12]), release(3, title="r3", areas=names[:12])]).warnings == []
    older = replace(old, title="r1")
    assert len(match([older, old, new]).warnings) == 2  # of each older one


def test_a_name_that_was_cut_or_written_large_is_said_to_be_taken_for_another():
    """Whoever reads that can object: two fields might be taken for one without a word."""
    both = [release(names=("SEX", "age")), release(names=("sex", "age"), seed=2)]
    (said,) = match(both).said
    assert "“SEX”" in said and "“sex”" in said


@pytest.mark.parametrize(
    ("kinds", "quasi", "sensitive"),
    [
        (["quasi", "sensitive", ""], 0, 1),
        (["sensitive", "", "quasi"], 2, 0),
        (["", "quasi", "sensitive"], 1, 2),
        (["sensitive", "quasi", "quasi"], 2, 0),
    ],
)
def test_a_field_that_is_sensitive_in_one_release_and_divides_the_classes_of_another_is_warned_of(
    kinds, quasi, sensitive
):
    """Once, with the newest release in which it is of the other kind, whatever releases lie between the two."""
    releases = []
    for i, kind in enumerate(kinds):
        one = release(2 + i, title=f"r{i}", names=("sex" if kind == "quasi" else "job", "age"))
        at = np.zeros(2, np.int64)
        values = Values("sex", np.array(["F", "M"], object), at, np.arange(2), at + 5)
        releases.append(replace(one, sensitive=(values,)) if kind == "sensitive" else one)
    (warning,) = match(releases, [("job", "not sex")]).warnings
    assert f"quasi-identifier of r{quasi} and a sensitive field of r{sensitive}" in warning
