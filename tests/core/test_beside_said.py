"""What is said of a release that was held against tables which others publish: nothing of nobody."""

from __future__ import annotations

from typing import Any

import pytest

from vbas.core.privacy.beside import sentences_on
from vbas.core.privacy.published_counts import HeldAgainstCounts

NO_PLAN: Any = None


@pytest.mark.parametrize(
    ("coarser", "suppressed", "left", "said"),
    [
        (0, 0, 0, ["no further count below k was found to follow"]),
        (0, 0, 2, []),
        (
            3,
            0,
            0,
            ["Shown in larger regions, so that no further count below k follows from published totals: 3 records"],
        ),
        (0, 1, 0, ["1 further record is suppressed"]),
        (
            3,
            12,
            1,
            [
                "Shown in larger regions, so that no further count below k follows from published totals: 3 records",
                "12 further records are suppressed",
            ],
        ),
    ],
)
def test_of_no_record_nothing_is_said(coarser, suppressed, left, said):
    held = HeldAgainstCounts(NO_PLAN, n_left=left, n_coarser=coarser, n_suppressed=suppressed)
    sentences, warned = sentences_on(held, 5, exact=True)
    assert len(sentences) == len(said) and all(part in text for part, text in zip(said, sentences))
    assert len(warned) == bool(left)
    assert not any(text.startswith("0 ") for text in sentences)
