"""What internal reports say: their figures add up, the recommended row comes first, and methods tell how they ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vbas.core import aggregation, site_location
from vbas.core.anonymise import Ask, anonymise
from vbas.core.comparison import Outcome
from vbas.core.convergence import MOST, convergence
from vbas.core.crosswalk import Crosswalk
from vbas.core.evaluation import Measures, evaluate, evaluate_by_value
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.plan import area_of_cells, suppress
from vbas.core.profile import profile_records
from vbas.core.records.matching import match_records
from vbas.core.records.table import HOUSEHOLDS
from vbas.core.report.comparison import searched_section, trade_off_section
from vbas.core.report.cost import classes_section, convergence_section, losers_section, person_section
from vbas.core.report.internal import Remarks, internal_report
from vbas.core.report.map_data import MapData
from vbas.core.report.nested import levels_section
from vbas.core.report.page import Section
from vbas.core.report.provenance import Commands, InputUsed, Provenance, how_it_was_done
from vbas.core.report.sign import Signing, sign_page
from vbas.core.site_location import LocationOptions
from vbas.core.synthetic.hamlet import hamlet

from .strategies import column_from_array
from .test_public_report import REGIONS, K, N, areas_with, rare_rows_of, records_of, shown_rows_of


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(5)
    areas = areas_with(np.ones(N))
    records = records_of(areas, [*shown_rows_of(rng), *rare_rows_of(rng)])
    plan = suppress(records.profile, REGIONS, K)
    measures, audit = evaluate(areas, plan, REGIONS.mean_centres(areas.points))
    return areas, plan, measures, audit


def facts(section: Section) -> dict[Any, Any]:
    """What the first column of a section names, by it."""
    return {row[0]: row[1] for row in section.rows}


def test_what_it_means_for_a_person_is_the_sums_over_people(case):
    _, plan, measures, _ = case
    rows = facts(person_section(measures, plan, N))
    sizes = plan.records[plan.released]
    assert measures.n_suppressed > 0
    assert rows["Smallest class, people"] == sizes.min() >= K
    assert rows["Largest risk, %"] == pytest.approx(100 / sizes.min())
    # Over every released record, one by one.
    assert rows["Mean risk, %"] == pytest.approx(100 * np.mean(np.repeat(1 / sizes, sizes)))
    assert rows["People who look the same"] == pytest.approx(np.mean(np.repeat(sizes, sizes)))
    assert rows["Mean distance of an area, m"] == pytest.approx(measures.compactness / N)
    assert 1 <= rows["Areas to guess among"] <= 4  # of the four areas of each region


def test_a_person_of_a_single_area_is_not_hidden_by_the_region():
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(0, "f", "old", 1)] * 8)
    plan = suppress(records.profile, REGIONS, K)
    measures, _ = evaluate(areas, plan, REGIONS.mean_centres(areas.points))
    assert facts(person_section(measures, plan, N))["Areas to guess among"] == 1


def test_class_sizes_add_up(case):
    _, plan, measures, _ = case
    rows: Sequence[Sequence[Any]] = classes_section(plan).rows
    assert sum(row[1] for row in rows) == len(plan.records)
    assert sum(row[2] for row in rows) == plan.released.sum()
    assert sum(row[3] for row in rows) == measures.n_records
    assert sum(row[4] for row in rows) == measures.n_records - measures.n_suppressed
    assert all(row[4] == 0 for row in rows if int(row[0].split()[0]) < K)
    assert any(int(row[0].split()[0]) < K for row in rows)


def test_who_is_suppressed_adds_up_for_every_quasi_identifier(case):
    areas, plan, measures, _ = case
    section = losers_section(evaluate_by_value(areas, plan), measures, K)
    for name in ("sex", "age"):
        rows: list[Sequence[Any]] = [row for row in section.rows if row[0] == name]
        assert sum(row[3] for row in rows) == measures.n_suppressed
        assert sum(row[2] for row in rows) == measures.n_records
    assert ("age", "rare 0") in {row[:2] for row in section.rows}


def outcome(title, suppression, compactness, pareto=False):
    return Outcome("family", title, Measures(3, 100, 5, suppression, compactness, 1.0, 1.0, 1.0), 0.1, pareto=pareto)


def test_each_series_has_its_own_best_ones():
    outcomes = [outcome("a", 1.0, 1.0), outcome("b", 5.0, 5.0)]
    section = trade_off_section(outcomes, ["k = 5", "k = 10"])
    (page,) = section.pictures
    assert "2: family · b" in page and "k = 10</li>" in page
    # The second one is beaten by the first in both: what is said of it must not say more than that it is best of its k.
    for text in (page, *section.paragraphs):
        assert "not beaten in both by any other of the same k" in text
    section = trade_off_section(outcomes)
    (page,) = section.pictures
    assert "2: family · b" not in page
    assert "of the same k" not in page + section.paragraphs[0]


def test_the_diamond_of_what_coarser_attributes_buy_is_the_recommended_row_whatever_beats_it():
    rows = [outcome("a", 1.0, 1.0), outcome("b", 2.0, 2.0)]
    near, far = (replace(row, budget=5.0, generalised=()) for row in rows)
    assert near.measures is not None and far.measures is not None
    far = replace(far, measures=replace(far.measures, mean_distance=9.0), recommended="because")
    (page,) = searched_section(list(enumerate([near, far], 1))).pictures
    assert "the recommended row</li>" in page and "Diamonds, the recommended row: 2: family · b" in page
    assert "not beaten" not in page
    (page,) = searched_section([(1, near)]).pictures
    assert "recommended" not in page and "Diamonds" not in page


def test_settings_are_told_to_the_last_digit_and_without_inputs_nothing_is_said_of_them():
    provenance = Provenance([("β", 0.12345), ("K", 20000), ("name", "x")])
    sections = {one.heading: one for one in how_it_was_done((), provenance)}
    assert sections["How it was done"].rows == [("β", "0.12345"), ("K", "20000"), ("name", "x")]
    assert not sections["What was read"].paragraphs and not sections["Run it again"].code
    told = how_it_was_done(
        (), Provenance(inputs=[InputUsed("Records", "x", "/x.csv", 3, "abc")], commands=Commands("qgis_process"))
    )
    assert told[1].rows == [("Records", "x", 3, "/x.csv", "abc")] and told[3].code == "qgis_process"


# ---- how methods came to rest


def town(seed=1, n=300):
    rng = np.random.default_rng(seed)
    areas = areas_with(np.ones(N))
    points = rng.uniform(0, 10_000, (n, 2))
    areas = type(areas)(
        np.array([str(i) for i in range(n)], dtype=object), points, rng.integers(1, 99, n).astype(float)
    )
    codes = np.repeat(np.arange(n), 30)
    values = rng.choice(4, len(codes), p=[0.6, 0.39, 0.008, 0.002]).astype(str).astype(object)
    return areas, profile_records(codes, {"q": column_from_array(values)}, n)[0]


@pytest.mark.parametrize("name", ["alternating location-allocation", "transportation-location", "site optimisation"])
def test_a_method_that_lowers_something_says_how_it_fell(name):
    areas, profile = town()
    approach = aggregation.APPROACHES[name]
    start = 20 if "transport" in name or "location" in name else areas.points[:20]
    options = aggregation.AggregationOptions(capacity_factor=1.2)
    (series,) = approach(areas, profile, start, options).convergence
    assert len(series.steps) == len(series.values) >= 2
    # Removing sites with few people is the one step of site optimisation that may cost something: its first.
    assert (np.diff(series.values)[1 if name == "site optimisation" else 0 :] <= 1e-6).all()
    assert name != "transportation-location" or series.values[-1] == 0


def test_iterative_voronoi_ends_when_nothing_changes():
    areas, profile = town()
    found = aggregation.APPROACHES["iterative Voronoi"](areas, profile, areas.points[:20])
    (series,) = found.convergence
    assert series.values[-1] == 0 and min(series.values[:-1]) > 0
    assert f"settled after {len(series.values)} rounds" in found.notes[0]


def test_clustering_raises_the_levels_with_every_move():
    areas, profile = town()
    found = site_location.APPROACHES["anonymity-driven clustering"](areas, profile, 20, LocationOptions(10))
    (series,) = found.convergence
    assert re.search(rf"made {len(series.values) - 1} of", " ".join(found.notes))
    assert (np.diff(series.values) >= 0).all() and series.values[-1] > series.values[0]


def test_a_long_series_is_thinned_and_one_value_is_none():
    assert convergence("n", "s", "m", [1.0]) == ()
    (series,) = convergence("n", "s", "m", list(range(5000)))
    assert len(series.values) == MOST
    assert (series.steps[0], series.steps[-1], series.values[-1]) == (0, 4999, 4999.0)
    assert len(convergence_section([series, series]).pictures) == 2


def test_classes_of_persons_are_rated_by_persons():
    areas = areas_with(np.ones(N))
    plan = suppress(records_of(areas, [(0, "f", "old", 1)] * 8).profile, REGIONS, K)
    measures, _ = evaluate(areas, plan, REGIONS.mean_centres(areas.points))
    of_four = replace(plan, people=np.array([4]))
    for one, percent, people in ((plan, 12.5, 8), (of_four, 25.0, 4)):
        rows = facts(person_section(measures, one, N))
        assert rows["Largest risk, %"] == percent and rows["People who look the same"] == people
    # Of eight rows of four people, five may be one's: then 5 of 8 rows that are picked are that person's.
    said = {row[0]: str(row[2]) for row in person_section(measures, of_four, N).rows}["Largest risk, %"]
    assert "picking a person" in said and "more rows than the others is met more often" in said
    assert "picks that person's record" in str(person_section(measures, plan, N).rows)


def test_households_that_are_counted_are_not_called_people():
    """Eight people of four households: four is the size of their class, and not a number of people."""
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(0, "f", "old", 1)] * 8)
    homes = column_from_array(np.repeat(np.arange(4), 2))
    of_homes = match_records(replace(records.table, members={HOUSEHOLDS: homes}), areas, k=K)
    nowhere = MapData(np.empty(N, object), [np.empty(REGIONS.n_regions, object)])
    of_people, of_households = (
        internal_report(anonymise(areas, each, Levels((REGIONS,)), Ask(K)), nowhere, Provenance(), Remarks())
        for each in (records, of_homes)
    )
    for said in ("People who look the same", "Smallest class, people", "People in the class", "people in the class"):
        assert said in of_people and said not in of_households
    for said in (
        "Households that look the same",
        "The fewest households that share a region",
        "picking a household",
        "Households in the class",
        "households in the class",
        "Households are counted, or people where a class has fewer of these.",
    ):
        assert said in of_households and said not in of_people


def test_records_of_no_known_area_make_no_area_easier_to_guess():
    """Nor do those of areas that are left out: neither has a region that could be guessed from."""
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(i % N, "f", "old", 1) for i in range(8 * N)])
    left_out = Crosswalk(np.where(REGIONS.region_of == 0, 0, -1), 1)
    for n_unmatched in (0, 500):
        plan = suppress(records.profile, left_out, K)
        measures, _ = evaluate(areas, plan, left_out.mean_centres(areas.points), n_unmatched)
        assert facts(person_section(measures, plan, 4))["Areas to guess among"] == pytest.approx(4)


def test_the_mean_distance_of_an_area_is_over_areas_with_released_records():
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(i, "f", "old", 1) for i in range(4)] * 2)
    levels = make_levels(areas, [own_regions(N), REGIONS])
    plan = nest(areas, records.profile, levels, K)
    measures, _ = evaluate(areas, plan)
    shown = np.unique(area_of_cells(plan.profile)[plan.levels_of_cells >= 0])
    assert 0 < len(shown) < N and measures.compactness > 0
    rows = facts(person_section(measures, plan, N))
    assert rows["Mean distance of an area, m"] == pytest.approx(measures.compactness / len(shown))


def test_a_level_that_shows_no_record_has_no_distance():
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(i % N, "f", "old", 1) for i in range(8 * N)])
    levels = make_levels(areas, [own_regions(N), REGIONS])
    account = anonymise(areas, records, levels, Ask(k=2, nested=True))
    assert account.audit.released[account.audit.level == 1].sum() == 0
    rows = {row[0]: row for row in levels_section(account, None).rows}
    assert rows[1][-1] == 0 and rows[2][-1] is None


def test_a_group_is_held_against_records_that_have_an_area_as_it_has():
    areas = areas_with(np.ones(N))
    records = records_of(areas, [(i % N, "f", "old", 1) for i in range(8 * N)] + [(0, "m", "old", 1)])
    plan = suppress(records.profile, REGIONS, K)
    measures, _ = evaluate(areas, plan, REGIONS.mean_centres(areas.points), n_unmatched=8 * N)
    by_value = evaluate_by_value(areas, plan)
    assert by_value.n_records == 8 * N + 1 and by_value.percent == pytest.approx(100 / (8 * N + 1))
    assert measures.suppression_percent > 49
    section = losers_section(by_value, measures, K)
    assert "of all records of a known area" in section.paragraphs[0] and "50" not in section.paragraphs[0]
    assert section.paragraphs[-1].startswith(f"{8 * N} records of no known area are suppressed, too")


def test_a_page_to_sign_tells_of_levels_where_there_are_several():
    """Of a nested release of one level it said “the finest of 1 levels”."""
    areas, records, crosswalk = hamlet()
    whole = Crosswalk(np.zeros(len(areas), np.int64), 1)
    told = {}
    for levels in (Levels((crosswalk,)), Levels((crosswalk, whole))):
        account = anonymise(areas, records, levels, Ask(k=2, nested=True))
        told[len(levels)] = dict(sign_page(account, Signing(), "", "", "").facts)["What"]
    assert told[1] == "7 records in 2 regions, with sex"
    assert told[2] == "8 records in 2 regions at the finest of 2 levels, with sex"
