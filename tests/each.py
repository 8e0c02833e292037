"""One check of many things, as one test that names all for which it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def holds_for_each(check: Callable[..., object], cases: Iterable[tuple[object, ...]]) -> None:
    """Call the check with each case, and raise AssertionError with what fails of all those for which it does."""
    n_cases, failed = 0, []
    for case in cases:
        n_cases += 1
        try:
            check(*case)
        except (AssertionError, pytest.fail.Exception) as error:
            failed.append(f"{', '.join(map(str, case))}: {error}")
    assert n_cases, "there is nothing to check"
    assert not failed, "\n".join([f"{len(failed)} of {n_cases}:", *failed])


def for_each_seed(n: int, *more: int) -> Callable[[Callable[[int], object]], Callable[[], None]]:
    """A test of drawn cases, by the seeds below n and more, as one test: what each costs is mostly pytest's."""

    def of(check: Callable[[int], object]) -> Callable[[], None]:
        def test() -> None:
            holds_for_each(check, [(seed,) for seed in (*range(n), *more)])

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return of
