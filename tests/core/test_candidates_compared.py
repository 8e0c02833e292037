"""What is shown of releases that could be made: where they lose records, how large their regions are, what the page to
sign would say. Against sums cell by cell, and against the page of the release itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise, rate
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.evaluation import evaluate_by_area, mean_distances, people_shown
from vbas.core.levels import Levels
from vbas.core.nesting.making import build_levels
from vbas.core.records.matching import match_records
from vbas.core.report.cost import person_section
from vbas.core.report.sign import Signing, previewed, said_on, sign_page
from vbas.core.synthetic.hamlet import hamlet

from .strategies import regions, tables


@given(st.data(), st.integers(2, 5), st.booleans())
@settings(max_examples=25, deadline=None)
def test_by_area_and_by_people_as_counted_cell_by_cell(data, k, nested):
    areas = data.draw(regions(most=12))
    try:
        records = match_records(data.draw(tables(areas)), areas, "suppress", k)
    except InputError:
        reject()
    levels = build_levels(areas, records.profile)
    levels = levels if nested else Levels(levels.crosswalks[-1:])
    plan = rate(areas, records, levels, Ask(k, nested=nested)).plan
    counts, of_cells = records.profile.counts.tocoo(), plan.equivalence_class_of
    distances = [mean_distances(areas, crosswalk) for crosswalk in levels.crosswalks]
    released, metres, people = np.zeros(len(areas)), np.zeros(len(areas)), []
    for area, n, of_class in zip(counts.row.tolist(), counts.data.tolist(), of_cells.tolist()):
        if of_class >= 0 and plan.released[of_class]:
            level, region = int(plan.level[of_class]), int(plan.region[of_class])
            released[area] += n
            metres[area] += n * distances[level][region]
            people += [float(areas.population[levels.crosswalks[level].region_of == region].sum())] * int(n)
    found = evaluate_by_area(areas, plan)
    assert found.records.tolist() == records.profile.area_sizes.tolist()
    assert (found.records - found.suppressed).tolist() == released.tolist()
    mean = [far / n if n else np.nan for far, n in zip(metres, released)]
    assert found.mean_distance.tolist() == pytest.approx(mean, nan_ok=True)
    for share, most in zip((0.5, 0.9, 1.0), people_shown(areas, plan, (0.5, 0.9, 1.0))):
        within = sorted(people)
        assert most == pytest.approx(
            next(n for i, n in enumerate(within, 1) if i >= share * len(within) - 1e-9) if people else 0.0
        )


def test_the_preview_says_what_the_page_says_but_for_the_files():
    areas, records, crosswalk = hamlet()
    for ask in (Ask(2), Ask(2, nested=True)):
        made = anonymise(areas, records, Levels((crosswalk,)), ask)
        signing = Signing("The university", made_by="VBAS")
        page, preview = (
            sign_page(made, signing, "", "", ""),
            previewed(rate(areas, records, Levels((crosswalk,)), ask), Signing(made_by="VBAS"), ""),
        )
        said = said_on(preview, signing)
        assert (said.facts, said.terms, said.numbers, said.loses) == (page.facts, page.terms, page.numbers, page.loses)
        assert page.good and not said.good and "Nothing is released yet" in said.verdict
        assert ("For whom", "not said") in preview.facts and ("For whom", "The university") in said.facts


def test_the_preview_names_what_else_is_released_and_a_region_alone_is_one():
    areas, records, crosswalk = hamlet()
    preview = previewed(rate(areas, records, Levels((crosswalk,)), Ask(2)), Signing(), "", ["sex", "income", "income"])
    (what,) = [text for label, text in preview.facts if label == "What"]
    assert what.endswith("sex and income") and what.count("sex") == 1
    one_region = Crosswalk(np.zeros(len(areas), np.int64), 1)
    page = previewed(rate(areas, records, Levels((one_region,)), Ask(99)), Signing(), "")
    assert ("1", "region of the finest level") in page.numbers


def test_reports_of_nothing_place_nobody():
    areas, records, crosswalk = hamlet()
    account = anonymise(areas, records, Levels((crosswalk,)), Ask(99))
    assert account.plan.n_released == 0
    section = person_section(account.measures, account.plan, len(areas))
    assert not any("from its middle" in str(cell) for row in section.rows for cell in row)


def test_the_page_does_not_call_records_people():
    areas, records, crosswalk = hamlet()
    counted = areas.with_population(records.profile.area_sizes)
    for of, said in ((areas, "a population of 2 in every region"), (counted, "2 records in every region, each")):
        account = rate(of, records, Levels((crosswalk,)), Ask(2, least_population=2.0))
        (least,) = [text for label, text in previewed(account, Signing(), "").terms if label == "Least population"]
        assert least.startswith(said)
