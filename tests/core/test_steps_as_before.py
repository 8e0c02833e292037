"""What single steps are asked of the smallest cases comes to what it came to before: `as_before` says why."""

from __future__ import annotations

import pytest

from . import asked_small_plans, asked_steps
from .as_before import come_to_the_same, drawn, in_parts

STEPS = {"zones_made": (180, 60), "optimum_of_cells": (200, 100), "helped": (24, 12), "disclosed_at_once": (12, 4)}
STEPS |= {"odd_problems": (60, 30), "attacked": (200, 100), "shown_next": (20, 10), "fewest_of_proofs": (40, 40)}
OF_PLANS = {"plans_mended": (60, 20), "of_people": (120, 60), "few_rows": (120, 60), "likened": (60, 30)}
OF_PLANS |= {"repaired": (6, 3), "of_two_months": (60, 30)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n", "some"), in_parts(STEPS))
def test_what_steps_are_asked_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_steps, name), n), some)


@pytest.mark.parametrize(("name", "n", "some"), in_parts(OF_PLANS))
def test_what_is_asked_of_small_plans_comes_to_the_same(name, n, some):
    come_to_the_same(name, drawn(getattr(asked_small_plans, name), n), some)
