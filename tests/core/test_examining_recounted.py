"""Which earlier releases a new one is held against together, and whose findings count, for every possible answer."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import pytest

from vbas.core.releases import examining
from vbas.core.releases.examining import Examined, Examiner

PAIRS = [(0, 1), (0, 2), (1, 2)]
NOTHING, DIFFER, ALIKE = None, True, False  # what two releases are to each other: of other regions, or of the same


def compared(differs, few=(), homogeneous=()):
    """What two releases of the same regions are to each other."""
    few, homogeneous = ListOf(few), ListOf(homogeneous)
    return SimpleNamespace(differs=differs, few=few, homogeneous=homogeneous)


class ListOf(list[int]):
    """Changes, and of how many counts."""

    n_compared = 7


class Comparing:
    """What was answered to whom."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def compare(self, old, new, k, rows=False):
        self.asked.append((k, rows))
        return self.answers[old.name, new.name]


def releases(updates=(None, None, None)) -> list[Any]:
    return [SimpleNamespace(name=at, k=[4, 3, 5][at], updates=of) for at, of in enumerate(updates)]


def examiner(monkeypatch, answers, updated=(), earlier=None, **asked) -> Any:
    monkeypatch.setattr(examining, "Comparing", lambda earlier: Comparing(answers))
    return Examiner(releases() if earlier is None else earlier, updated=updated, **asked)


@pytest.mark.parametrize("updates", [(None, None, None), (None, 1, None), (None, None, 1)])
def test_outdated_is_what_a_later_release_of_the_same_regions_updates_or_counts_otherwise(monkeypatch, updates):
    every = [set(some) for n in range(4) for some in combinations(range(3), n)]
    for answers, updated in product(product((NOTHING, DIFFER, ALIKE), repeat=3), every):
        told = {pair: None if of is NOTHING else compared(of) for pair, of in zip(PAIRS, answers)}
        work = examiner(monkeypatch, told, updated, releases(updates))
        outdated = {
            i
            for (i, j), of in zip(PAIRS, answers)
            if i not in updated and of is not NOTHING and (of or updates[j] is not None)
        }
        assert work._outdated == outdated and work.looks_twice == bool(outdated)
        assert all(asked == (3, False) for asked in work._comparing.asked)


@pytest.mark.parametrize("homogeneous", [False, True])
@pytest.mark.parametrize("k", [None, 9])
def test_what_is_of_the_same_people_is_looked_at_together_and_again_without_what_is_outdated(
    monkeypatch, homogeneous, k
):
    new: Any = SimpleNamespace(name="new", k=6)
    kinds = (NOTHING, compared(True, (1, 2), (3,)), compared(False, (), (4, 5)), compared(False))
    found: list[Any] = [Examined(None, [], [], n_undecided=of) for of in (0, 1)]
    found.append(SimpleNamespace(n_to_mend=0, n_contradicted=1))
    for answers, outdated, updated, first, second in product(
        product(kinds, repeat=2), ({*()}, {0}, {0, 1}), ({*()}, {1}), found, found
    ):
        work = examiner(monkeypatch, {}, {0, 1}, releases((None, 0, None))[:2], k=k, homogeneous=homogeneous)
        work._updated, work._outdated = updated, outdated
        comparing = work._comparing = Comparing({(i, "new"): of for i, of in enumerate(answers)})
        looks: list[tuple[Any, ...]] = []

        def together(same, *others, looks=looks, first=first, second=second):
            looks.append((same, *others))
            return second if len(looks) > 1 else first

        monkeypatch.setattr(work, "_together", together)
        findings = work.examine(new, "joint", False, "progress")
        assert comparing.asked == [(k or 6, bool(updated)), (k or 6, True)]
        own = [(i, of) for i, of in enumerate(answers) if of is not NOTHING]
        changes = [(i, of.few) for i, of in own if of.few]
        changes += [(i, of.homogeneous) for i, of in own if of.homogeneous and homogeneous]
        n_homogeneous, n_compared = sum(len(of.homogeneous) for _, of in own), 7 * len(own)
        same = tuple(i for i, of in enumerate(answers) if i not in updated and (of is NOTHING or not of.differs))
        current = tuple(i for i in same if i not in outdated)
        if not same:
            assert not looks and findings.disclosed is None and findings.counts == []
            assert sorted(findings.changes) == sorted(changes)
            assert (findings.n_homogeneous, findings.n_compared) == (n_homogeneous, n_compared)
            continue
        told = first.n_to_mend or first.n_contradicted
        twice = bool(current) and current != same and not told
        assert [of[0] for of in looks] == ([same, current] if twice else [same])
        for _, *others in looks:
            assert others[:2] == [new, k or 6] and others[3:] == [n_homogeneous, n_compared, "joint", False, "progress"]
            assert sorted(others[2]) == sorted(changes)
        assert findings is (second if twice and (second.n_to_mend or second.n_contradicted) else first)
