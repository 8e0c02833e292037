"""A release that was repaired beside earlier ones: against every table of people that fits all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from vbas.core.disclosure.published import publish
from vbas.core.releases.relating import Relating
from vbas.core.releases.repair import repair

from ..exploring import tried
from .every_world import Q, Reader, TooMany, Town, groups_of, pinned, places_of, tables_of


def test_nothing_follows_after_a_repair_that_did_not_follow_before():
    mended = left_alone = 0
    for seed in range(tried(30, 400)):
        town = Town(np.random.default_rng(seed), most=12)
        k = int(town.rng.integers(2, 5))
        (first, of_first), (plan, coarsened) = town.plan(k), town.plan(k)
        earlier = [publish(first, town.areas, "the first", coarsened=of_first)]
        if town.rng.random() < 0.3:
            earlier.append(town.table(k))
        relate = Relating([*earlier, publish(plan, town.areas, coarsened=coarsened)], {"q": Q})
        earlier = [replace(relate(release), held_back=None) for release in earlier]
        done = repair(plan, town.areas, earlier, relate=relate, coarsened=coarsened)
        assert (done.plan.records[done.plan.released] >= k).all() and not done.after.n_to_mend
        assert done.n_suppressed == plan.n_released - done.plan.n_released
        if not done.before.n_to_mend:
            assert done.plan is plan
        published = replace(relate(done.published), held_back=None)
        classes = town.classes([*earlier, published]) if len(published.records) and len(earlier[0].records) else None
        if classes is None:
            continue
        readers = [Reader(release) for release in (*earlier, published)]
        try:
            before, after = tables_of(readers[:-1], classes, town.n), tables_of(readers, classes, town.n)
        except TooMany:
            continue
        assert (after == town.by_class).all(axis=(1, 2)).any()
        asked = list(product(places_of(readers), groups_of(readers, classes)))
        told, anyway = (pinned(tables, asked, k, readers, classes) for tables in (after, before))
        assert told.keys() <= anyway.keys(), (seed, told)
        mended, left_alone = mended + bool(done.before.n_to_mend), left_alone + (not done.before.n_to_mend)
    assert mended > 3 and left_alone > 3
