"""Many checks in one test: whichever does not hold is named, and nothing passes that was not looked at."""

import pytest

from ..each import holds_for_each


def even(number):
    assert number % 2 == 0, f"{number} is odd"


def test_all_that_fail_are_named():
    holds_for_each(even, [(2,), (4,)])
    with pytest.raises(AssertionError, match=r"^2 of 4:\n3: 3 is odd.*\n(.*\n)*5: 5 is odd"):
        holds_for_each(even, [(2,), (3,), (4,), (5,)])


def test_a_refusal_that_does_not_come_is_one_of_them():
    def refused(number):
        with pytest.raises(ValueError):
            int(number)

    with pytest.raises(AssertionError, match=r"^2 of 3:\n1: "):
        holds_for_each(refused, [("1",), ("one",), ("2",)])


def test_of_nothing_nothing_is_said():
    with pytest.raises(AssertionError, match="there is nothing to check"):
        holds_for_each(even, [])
