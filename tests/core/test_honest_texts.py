"""What the texts say of the approaches is marked as the paper's, or is what a benchmark of ours prints."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import vbas
from vbas.core.configuration import RECOMMENDED

from ..exploring import tried

ROOT = Path(vbas.__file__).parent


@pytest.fixture(scope="module")
def benchmark():
    pytest.importorskip("osgeo")
    from vbas.benchmarks import recommended_combinations

    return recommended_combinations


@pytest.mark.parametrize("name", RECOMMENDED)
def test_each_combination_says_what_was_counted_over_at_least_twelve_scenarios(name, benchmark):
    combination = RECOMMENDED[name]
    told = re.fullmatch(r"(.+) in (\d+) of (\d+)", combination.measured)
    assert told
    words, found, of = told.groups()
    assert words == benchmark.CLAIMS[combination.number].words
    assert 0 <= int(found) <= int(of)
    assert int(of) >= 12


def test_the_benchmark_counts_what_its_words_say(benchmark):
    # Two scenarios of seven combinations; in the second every order is turned round.
    found = np.empty((7, 5, 2))
    suppressed, compactness = [1, 2, 3, 7, 9, 8, 5], [9, 8, 7, 6, 1, 2, 3]
    discernibility, entropy, seconds = [5, 4, 3, 2, 1, 1, 1], [5, 4, 3, 2, 1, 1, 1], [5, 2, 3, 1, 6, 7, 4]
    found[:, :, 0] = np.column_stack([suppressed, compactness, discernibility, entropy, seconds])
    found[:, :, 1] = -found[:, :, 0]
    found[6, 0, 1] = -9.5
    assert benchmark.sentences(found) == {
        1: "it suppressed less than the all-rounder in 1 of 2",
        2: "it suppressed the fewest of the seven in 0 of 2",
        3: "it lost less information than the all-rounder in 1 of 2",
        4: "it was the fastest of the seven in 1 of 2",
        5: "it was the most compact of the seven in 1 of 2",
        6: "it suppressed less than the most compact in 1 of 2",
        7: "its suppression was between those of the all-rounder and the most compact in 1 of 2",
    }


def test_the_documentation_quotes_the_toolbox(benchmark):
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    for name, combination in RECOMMENDED.items():
        assert re.search(rf"\| {combination.number} {re.escape(name)} \|.*\| {combination.measured} \|", page), name


@pytest.mark.slow
@pytest.mark.parametrize("part", tried(["East"], ["East", "West"]))
def test_the_ratios_of_the_selections_picked_by_hand_are_those_of_the_page(benchmark, part, monkeypatch):
    from vbas.benchmarks import real_data, site_number_ratios
    from vbas.benchmarks.scenarios import SELECTIONS

    if not real_data.available():
        pytest.skip("the folder of real data is not there")
    monkeypatch.setattr(site_number_ratios, "KS", (5,))
    values = np.array([site_number_ratios.ratios(part, selection, ("balanced density",)) for selection in SELECTIONS])
    averages = site_number_ratios.average_of_all(values)
    cells = " | ".join(f"{mean:.1f} ({least:.1f} to {most:.1f})" for mean, least, most in averages.T)
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert f"| {len(SELECTIONS)} picked | {part} | 5 | {cells} |" in page
    published = " | ".join(str(value) for value in site_number_ratios.PUBLISHED.values())
    assert f"| Croft 2015, 5.1: six | both | unknown | {published} |" in page


def test_averages_of_six_leave_out_what_has_no_ratio(benchmark):
    from vbas.benchmarks.site_number_ratios import averages_of_six

    values = np.full((40, 2, 3), 10.0)
    values[:, :, 1] = np.nan
    values[::2, :, 1] = 20.0
    values[:, 0, 2], values[:, 1, 2] = 0.0, 50.0
    middle, low, high = averages_of_six(values)
    assert middle.tolist() == [10.0, 20.0, 25.0]
    assert low.tolist() == high.tolist() == middle.tolist()


def test_random_selections_are_different_and_begin_alike(benchmark):
    from vbas.benchmarks.scenarios import random_selections

    selections = random_selections(40)
    assert len(set(selections)) == 40
    assert {len(selection) for selection in selections} == {2, 3, 4, 5, 6}
    assert random_selections(12) == selections[:12]
    assert random_selections(12, seed=1) != selections[:12]
