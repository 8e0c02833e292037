"""What can be derived from a nested release by somebody who knows the method, and what the pages say of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from vbas.benchmarks import attack_places, derivable
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.levels import make_levels, own_regions
from vbas.core.nesting.planning import nest
from vbas.core.privacy.derivable import not_proven
from vbas.core.profile import Profile

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
K = 5


def town(counts):
    """Areas in a row, one class, two areas to a region and all in one; the plan of their nested release."""
    n = len(counts)
    points = np.column_stack([1000.0 * np.arange(n), np.zeros(n)])
    areas = make_areas([f"a{i}" for i in range(n)], points, np.full(n, 100.0))
    profile = Profile(sparse.csr_matrix(np.array(counts)[:, None]), np.zeros((1, 1), int), (np.array(["x"]),), ("q",))
    pairs = Crosswalk(np.arange(n) // 2, n // 2)
    levels = make_levels(areas, [own_regions(n), pairs, Crosswalk(np.zeros(n, int), 1)])
    return areas, nest(areas, profile, levels, K)


@pytest.mark.parametrize(
    ("counts", "bounds"),
    [
        ([3, 2, 9, 9], {0: (1, 4), 1: (1, 4)}),
        ([4, 4, 9, 9], {0: (1, 7), 1: (1, 7)}),  # it may be seven and one: nothing is shown where the one could go
        ([1, 3, 2, 2], {}),  # four in a pair are too few: they are shown in the region of all
    ],
)
def test_what_a_pair_of_areas_holds_follows_from_what_it_shows(counts, bounds):
    areas, plan = town(counts)
    attack = derivable.Attack(areas, plan)
    found = {
        part: (low, high)
        for level, region, class_of in attack.equivalence_classes
        if level == 1
        for part, low, high in attack.bounds(level, region, class_of)
    }
    assert found == bounds
    assert all(low <= counts[part] <= high for part, (low, high) in found.items())


def test_who_would_be_left_alone_could_have_joined_a_larger_region():
    """Eight in two areas; five are shown in the region of all, where one or two would have gone at less cost."""
    areas, plan = town([4, 4, 3, 0, 2, 0])
    attack = derivable.Attack(areas, plan)
    (equivalence_class,) = [
        equivalence_class for equivalence_class in attack.equivalence_classes if equivalence_class[0] == 1
    ]
    assert {(low, high) for _, low, high in attack.bounds(*equivalence_class)} == {(3, 5)}


def test_the_page_quotes_what_is_derived_from_the_city():
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    place = attack_places.city()
    found = derivable.derived(place.areas, derivable.released(place, K))
    assert found.areas > 1_000 and found.wrong < found.areas / 1_000
    assert derivable.HEADER in page and derivable.line("city", K, found) in page


def test_no_page_says_that_nothing_can_be_derived():
    assert "no count of 1 to 10 can be derived" in not_proven(11)
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for words in ("sure of nearly nobody", "show nothing below k"):
            assert words not in text, page
