"""Updates of releases that were made with another k: the largest of them is asked for, the least of them is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vbas import anonymize, update_release
from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.published import Published
from vbas.core.levels import Levels
from vbas.core.log import QUIET
from vbas.core.publish.register.listing import Listed, changed_listing, naming
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.updating import Update

AREAS = make_areas(["a", "b"], [(0, 0), (900, 0)], [1, 1])
LEVELS = Levels((Crosswalk(np.array([0, 1]), 2),))


def town(women: int, men: int) -> Records:
    area = ["a"] * women + ["b"] * men
    columns = {"sex": column_from_values(["F"] * women + ["M"] * men)}
    return match_records(RecordTable(column_from_values(area), columns, {}), AREAS)


def published(account: Account) -> Published:
    assert account.published is not None
    return account.published


@pytest.fixture
def first() -> Published:
    """Three women and twenty men, at k = 2."""
    return published(anonymise(AREAS, town(3, 20), LEVELS, Ask(2, earlier=Earlier([]))))


def test_what_is_said_of_changes_holds_for_classes_that_a_larger_k_hides(first):
    """All three women are still there, and shown no more: their class changes by three, and not by five and more."""
    account = anonymise(AREAS, town(3, 20), LEVELS, Ask(5, earlier=Earlier([first]), update=Update(0)))
    assert published(account).records.tolist() == [20]
    (said,) = [note for note in account.notes if "each class of a region changes by nobody" in note]
    assert "by nobody or by at least 2 records" in said


def test_an_update_has_the_largest_k_of_all_releases_of_its_geography(first):
    second = anonymise(AREAS, town(3, 20), LEVELS, Ask(5, earlier=Earlier([first]), update=Update(0)))
    earlier = Earlier([first, replace(published(second), title="release 2")])
    account = anonymise(AREAS, town(3, 24), LEVELS, Ask(2, earlier=earlier, update=Update(0)))
    assert account.ask.k == published(account).k == account.plan.k == 5
    assert published(account).records.tolist() == [20]
    assert any(note.startswith("K is 2, and release 2 was made with 5:") for note in account.notes)
    alone = anonymise(AREAS, town(3, 24), LEVELS, Ask(2, earlier=Earlier([first]), update=Update(0)))
    assert alone.ask.k == 2 and not any(note.startswith("K is 2") for note in alone.notes)


def test_a_number_names_the_release_of_that_number_whatever_others_are_called(tmp_path: Path) -> None:
    """The first release is called “2”: ENTRY 2 is the second one, and “first” none that has a number."""
    areas = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    people = {"area": ["a", "b"] * 20, "sex": ["F", "M"] * 20}
    register = tmp_path / "register.gpkg"
    for k in (2, 3):
        first = anonymize(
            areas, people, area="area", quasi_identifiers="sex", k=k, n_sites=1, register=register, log=QUIET
        )
        first.write(tmp_path / str(k))

    def carried_on(entry: str) -> int:
        done = update_release(
            areas, people, area="area", quasi_identifiers="sex", k=5, register=register, entry=entry, log=QUIET
        )
        assert done.account.ask.update is not None
        return done.account.ask.update.entry

    naming(register, 1, "2").put()
    assert [carried_on(entry) for entry in ("1", "2")] == [0, 1]
    naming(register, 1, "first").put()
    assert carried_on("first") == 0


def test_the_list_says_at_once_what_became_of_a_release_that_another_carries_on() -> None:
    first = Listed(1, "release 1", "2026-03-01T10:00:00", 5, "sex", 1, 2, 20, "")
    second = replace(first, release=2, time="2026-04-02T10:00:00", updates="1: release 1 (2026-03-01)")
    rows = [first, second, replace(first, release=12, time="2026-05-03T10:00:00")]
    called = changed_listing(rows, 1, "March")
    assert [(row.title, row.updates) for row in called[:2]] == [("March", ""), ("release 1", "1: March (2026-03-01)")]
    taken = changed_listing(rows, 1)
    assert [(row.release, row.updates) for row in taken] == [(2, "1 (taken out)"), (12, "")]
