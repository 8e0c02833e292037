"""Sentences of log and pages, held against what was counted: of drawn towns and of single hard cases."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from vbas import anonymize
from vbas.core.counted import few
from vbas.core.errors import InputError
from vbas.core.evaluation import placed
from vbas.core.job.conclusion import conclude
from vbas.core.language import rounded_up, speak, tr
from vbas.core.log import QUIET
from vbas.core.report.cost import with_left_out
from vbas.core.report.numbers import formatted, formatted_rows
from vbas.core.report.zones import _of_100

AREAS = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900], "people": [300, 300, 300, 300]}


def people(n=40, **columns):
    return pd.DataFrame({"area": list("abcd") * n, "sex": ["F", "M", "M", "F"] * n, **columns})


def release(records, **asked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given: dict[str, Any] = {"area": "area", "quasi_identifiers": ["sex"], "population": "people", "k": 5}
        return anonymize(AREAS, records, **{**given, **asked})


def page(of):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", of.report())).replace("\u00a0", " ")


@pytest.mark.parametrize("share", [1e-5, 0.04, 0.4, 50.0, 99.6, 99.96, 99.9999])
def test_a_share_of_some_is_not_written_as_none_and_less_than_all_not_as_all(share):
    for text in ("{share:.3g} %", "{share:.1f} %", "{share:.0f}\u00a0%", "{share:,.2f} % of it"):
        shown = float(tr(text, share=share).replace("\u00a0", " ").split(" ")[0])
        assert 0 < shown < 100, text
    assert 0 < float(formatted(share)) < 100
    assert 0 < float(formatted_rows([[share], [0.5]])[0][0]) < 100


def test_none_and_all_are_written_as_such_and_what_is_no_share_as_before():
    assert tr("{a:.1f} % and {b:.1f} %, {c:.1f} m", a=0.0, b=100.0, c=99.96) == "0.0 % and 100.0 %, 100.0 m"
    assert tr("{a:.3g} %", a=100.0 * (1 - 1e-15)) == "100 %"
    assert formatted_rows([[100.0], [33.3]]) == [["100.00"], ["33.30"]]


def test_what_is_enough_is_never_rounded_down():
    for value in (5.004, 2.8301, 33.3333333333, 0.00123456, 100.0, 28.000000000000004, 7.0):
        assert value - 1e-9 <= rounded_up(value) <= value * 1.01
    assert rounded_up(28.000000000000004) == 28.0
    assert rounded_up(5.004) == 5.01


def test_the_budget_that_a_refusal_names_is_enough():
    # 7 of 243 records have a value of their own: 2.8807 % are suppressed whatever the regions.
    records = people(59, kind="usual")
    records = pd.concat([records, pd.DataFrame({"area": list("abcdabc"), "sex": "F", "kind": list("tuvwxyz")})])
    asked: dict[str, Any] = {
        "quasi_identifiers": ["sex", "kind"],
        "combination": "custom",
        "site_number": "suppression budget",
    }
    with pytest.raises(InputError, match="takes at least") as refused:
        release(records, budget=0.5, **asked)
    enough = float(str(refused.value).split("at least ")[1].split(" %")[0])
    assert release(records, budget=enough, **asked).measures.suppression_percent <= enough


def test_where_nobody_can_be_named_as_losing_most_the_page_does_not_say_that_nobody_is_suppressed():
    stray = people()
    stray.loc[[0, 7, 9], "area"] = "nowhere"
    of = release(stray, unmatched="suppress")
    assert of.measures.n_suppressed == 3
    assert "Nobody is suppressed." not in page(of) and "All suppressed records have an area" in page(of)
    rare = people(kind="usual")
    rare.loc[[0, 1, 2], "kind"] = "rare"
    rare.loc[[0, 1, 2], "sex"] = "X"
    of = release(rare, quasi_identifiers=["sex", "kind"])
    assert of.measures.n_suppressed == 3
    assert "No group of 5 records and more loses any" in page(of) and ": 0 % of its" not in page(of)
    few_of_each = pd.DataFrame({"area": list("abcd") * 2, "sex": list("stuvwxyz")})
    few_of_each = pd.concat([few_of_each] * 3)
    of = release(few_of_each, k=4)
    assert of.measures.n_suppressed == 24 and "No value of a quasi-identifier has 4 records." in page(of)
    assert "Nobody is suppressed." in page(release(people()))


def test_records_of_no_known_area_are_not_counted_as_being_in_areas():
    stray = people()
    stray.loc[[0, 7, 9], "area"] = "nowhere"
    stray.loc[0, "sex"] = "X"
    assert "157 records in 4 of 4 areas, 2 classes of quasi-identifiers." in release(stray, unmatched="suppress").said


def test_a_region_of_one_area_places_nobody_to_within_nothing():
    of = release(people(), release="nested levels")
    assert of.measures.mean_distance == 0
    assert "live 0 m from" not in page(of) and "0 m mean distance" not in page(of)
    assert placed(0.0) == placed(0.49) != placed(0.6)
    for metres in (0.0, 3.4, 870.6):  # an area has some hundred metres, however near a record is to its point
        assert "places" not in placed(metres) and placed(metres).endswith("nothing of where in it they live.")
    assert " shows live 871 m from its middle: " in placed(870.6)


def ill_by_sex():
    """People of whom all of a sex have one value, so that no class has two."""
    return pd.DataFrame({"area": list("abcd") * 6, "sex": ["F"] * 12 + ["M"] * 12, "ill": ["yes"] * 12 + ["no"] * 12})


def test_of_nothing_no_class_has_the_largest_distance():
    of = release(ill_by_sex(), release="nested levels", sensitive=["ill"], l_diversity=2)
    assert of.smallest is None and "0 classes" not in page(of)


def test_how_many_of_the_largest_classes_are_left_out_of_a_picture_is_counted():
    kinds = ["a"] * 100 + ["b"] * 40 + ["c"] * 20
    text = page(
        release(
            people(kind=kinds), quasi_identifiers=["kind"], combination="custom", site_number="given number", n_sites=1
        )
    )
    assert "Sizes of the released classes; the largest is left out." in text and "1 % of them" not in text
    assert with_left_out("Sizes", 0) == "Sizes"
    assert with_left_out("Sizes", 3) == "Sizes; the 3 largest are left out"


def test_a_count_below_2_is_1():
    assert few(2) == "1" and few(5) == "1 to 4"
    assert "1 to 1" not in page(release(people(), k=2, release="nested levels"))


def test_distances_of_regions_are_written_as_the_language_writes_numbers():
    ill = np.random.default_rng(3).choice(["yes", "no", "unknown"], 160)
    asked: dict[str, Any] = {"sensitive": ["ill"], "combination": "custom", "site_number": "given number", "n_sites": 2}
    try:
        speak("fr")
        said = re.search(r"t-proximité\) est .*? au plus\) : ([^.]*)\.", page(release(people(ill=ill), **asked)))
    finally:
        speak("en")
    assert said and re.fullmatch(r"région \d+ : 0,\d{3}( ; région \d+ : 0,\d{3})*", said[1])


def test_a_number_of_regions_that_counts_values_of_suppressed_records_is_said_to():
    """Five people of a value, all suppressed, or four of it and one of another: both releases are alike
    but for the number of regions."""
    side = np.arange(12)
    areas = {"area": side.astype(str), "x": 1000.0 * (side % 4), "y": 1000.0 * (side // 4), "people": [100] * 12}
    records = pd.DataFrame({"area": np.repeat(side.astype(str), 100), "sex": ["F", "M"] * 600, "status": "a"})
    records.loc[records.index % 3 == 0, "status"] = "b"
    apart = [0, 302, 603, 905, 1199]
    records.loc[apart, "status"] = "w"
    other = records.copy()
    other.loc[0, "status"] = "x"
    model: dict[str, Any] = {"site_number": "max combinations", "gaps_region": "custom", "gaps_coefficient": 100.0}
    both = [
        anonymize(
            areas,
            table,
            area="area",
            population="people",
            quasi_identifiers=["sex", "status"],
            combination="custom",
            **model,
        )
        for table in (records, other)
    ]
    assert [of.measures.n_suppressed for of in both] == [5, 5]
    assert not any(of.records["status"].isin(["w", "x"]).any() for of in both)
    assert both[0].measures.n_regions != both[1].measures.n_regions
    for of in both:
        assert any("depends on how many values k records and more have" in sentence for sentence in of.said)
    given = release(people(), combination="custom", site_number="given number", n_sites=2)
    assert any(sentence.endswith("does not look at the classes of the suppressed records.") for sentence in given.said)


def test_of_a_release_of_nothing_no_class_no_risk_and_no_distance_is_said():
    of = release(ill_by_sex(), release="nested levels", sensitive=["ill"], l_diversity=2)
    text = page(of)
    assert of.smallest is None and "found: no class" in text and "– records in the smallest released class" in text
    for said in ("smallest class of 0", "at least 0", "Largest risk", "picking 1 of", "mean distance of 0 m"):
        assert said not in text, said
    assert "would release nothing" in text


def town_beside_units():
    """A town in which everybody has a record, and a table of men and women of every ten areas."""
    rng = np.random.default_rng(0)
    names = [f"a{i}" for i in range(40)]
    areas = pd.DataFrame({"area": names, "x": rng.random(40) * 9e3, "y": rng.random(40) * 9e3, "people": 60})
    areas["unit"] = [f"u{i // 10}" for i in range(40)]
    home = np.repeat(names, 60)
    records = pd.DataFrame({"area": home, "sex": rng.choice(["F", "M"], len(home)), "age": rng.choice(6, len(home))})
    units = records.merge(areas[["area", "unit"]])
    return areas, records, units.groupby(["unit", "sex"]).size().rename("n").reset_index()


@pytest.mark.parametrize("too_many", [False, True])
def test_that_no_small_count_follows_is_not_said_of_what_was_not_looked_at(monkeypatch, too_many):
    from vbas.core.privacy import beside

    monkeypatch.setattr(beside, "MOST_TOGETHER", 10 if too_many else 10_000)
    areas, records, table = town_beside_units()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of = anonymize(
            areas,
            records,
            area="area",
            population="people",
            quasi_identifiers=["sex", "age"],
            release="nested levels",
            disclosure="no small count follows",
            published_counts=table,
            published_area="unit",
            published_number="n",
        )
    assert any("was not looked at: there are too many areas and classes" in said for said in of.said) == too_many
    end = " ".join(conclude(QUIET, of.account))
    assert "No count of 1 to 4 follows from this release" in end
    public = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", of.report(for_release=True)))
    for said in (end, page(of), public):
        assert ("could not be looked at in full" in said) == too_many


def test_the_page_of_a_folder_says_where_the_tables_are(tmp_path):
    of = release(people())
    of.write(tmp_path / "may", report=tmp_path / "internal.html")
    text = (tmp_path / "internal.html").read_text(encoding="utf-8")
    signed = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td><code>", text)
    tables = ["Released records", "Crosswalk", "Released regions"]
    assert [row for row in signed if row[0] in tables] == [(table, "may/") for table in tables]


@pytest.mark.parametrize(("share", "said"), [(0.0, "0"), (0.004, "0.4"), (0.27, "27"), (0.996, "99.6"), (1.0, "100")])
def test_of_100_guesses_some_are_not_none_and_less_than_all_not_all(share, said):
    assert _of_100(share) == said


def test_a_population_that_is_as_large_as_the_records_is_not_said_to_be_missing():
    counted = dict(AREAS, people=[40] * 4)
    asked: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", "least_population": 100}
    for population in ("people", None):
        text = page(anonymize(counted, people(), population=population, **asked))
        assert "100 records in every region, each counted as a person" in text
        assert "no population was given" not in text
