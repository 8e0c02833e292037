"""Clusters before and after masking: the scan against a plain recount, the measures, planted clusters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely

from vbas.core.errors import InputError
from vbas.core.masking.audit import Masker, Trial, audit, compared, donuts
from vbas.core.masking.candidates import candidates, places_held_back
from vbas.core.masking.clusters import CircularScan, agreement, plant_clusters
from vbas.core.masking.donut import donut_mask
from vbas.core.masking.own_clusters import kept_cluster
from vbas.core.masking.placing import own_areas
from vbas.core.masking.populations import Households

from ..exploring import tried
from .donut_towns import ragged_town


def plain_scan(points, weights, centres, shares, cases):
    """The largest ratio of all circles, and who lies in its circle: circle by circle, point by point."""
    best: tuple[float, frozenset[int]] = (0.0, frozenset())
    whole = sum(weights)
    for centre in centres:
        apart = [math.dist(centre, point) for point in points]
        order = sorted(range(len(points)), key=lambda i: apart[i])
        for share in shares:
            total, radius = 0.0, 0.0
            for i in order:
                total, radius = total + weights[i], apart[i]
                if total >= share * whole - 1e-9:
                    break
            inside = frozenset(i for i in range(len(points)) if apart[i] <= radius)
            expected = len(cases) * sum(weights[i] for i in inside) / whole
            c, n = sum(math.dist(centre, case) <= radius for case in cases), len(cases)
            if c > expected:
                ratio = c * math.log(c / expected)
                if c < n:
                    ratio += (n - c) * math.log((n - c) / (n - expected))
                best = max(best, (ratio, inside), key=lambda pair: pair[0])
    return best


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scan_is_that_of_the_plain_recount(weighted):
    # On a grid, so that many lie exactly at the distance of a circle's edge.
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = rng.integers(0, 9, (40, 2)).astype(float)
        weights = rng.integers(1, 5, 40).astype(float) if weighted else np.ones(40)
        shares = np.array([0.1, 0.25, 0.5])
        scan = CircularScan(Households(points, weights), rng, centres=12, shares=shares)
        cases = np.vstack([points[rng.integers(0, 40, 15)], rng.integers(0, 3, (5, 2))])
        ratio, inside = scan.most_likely(cases)
        expected, members = plain_scan(
            points.tolist(), weights.tolist(), scan.centres.tolist(), shares.tolist(), cases.tolist()
        )
        assert ratio == pytest.approx(expected)
        assert frozenset(np.flatnonzero(inside).tolist()) == members


def test_without_cases_or_excess_nothing_is_found():
    points = np.random.default_rng(0).uniform(0, 100, (30, 2))
    scan = CircularScan(Households(points), np.random.default_rng(0))
    ratio, inside = scan.most_likely(np.empty((0, 2)))
    assert ratio == 0 and not inside.any()


def test_sensitivity_and_specificity_by_hand():
    true = np.array([True, True, True, False, False])
    detected = np.array([True, False, True, True, False])
    weights = np.array([1.0, 2, 3, 4, 12])
    sensitivity, specificity = agreement(true, detected, weights)
    assert sensitivity == pytest.approx(100 * 4 / 6)
    assert specificity == pytest.approx(100 * 12 / 16)
    assert math.isnan(agreement(np.zeros(5, bool), detected, weights)[0])
    assert math.isnan(agreement(np.ones(5, bool), detected, weights)[1])


def town(n=1500):
    cells, points = ragged_town(n)
    area_of = own_areas(points, cells)
    people = np.where(area_of >= 0, np.bincount(area_of[area_of >= 0], minlength=len(cells))[area_of], 0.0)
    return Masker(Households(points), area_of, people, cells, "uniform in distance", 0)


def planted_in(one, clusters=8, risk=8.0, percent=8.0, seed=0, **detection):
    rng = np.random.default_rng(seed)
    return plant_clusters(one.households, one.area_of >= 0, clusters, 150, risk, percent, rng, **detection)


@pytest.mark.slow
def test_planted_clusters_hold_their_share_and_more_cases():
    one = town()
    planted = planted_in(one, clusters=30)
    assert len(planted.rows) == (one.area_of >= 0).sum()
    share = planted.truth.mean(axis=1)
    assert (np.abs(share - 0.08) < 0.01).all()
    inside = np.mean([planted.truth[t, own].mean() for t, own in enumerate(planted.cases)])
    # 8 % of the people at eight times the risk.
    assert inside == pytest.approx(0.08 * 8 / (0.08 * 8 + 0.92), abs=0.03)
    assert planted.null.shape == (99, 150)


@pytest.mark.slow
def test_what_is_found_before_and_after_is_a_recount_of_the_detections():
    one = town()
    planted = planted_in(one)
    (masking, points) = (one.run(Trial(5, 50)), one.households.points)
    for places, told in ((points, planted.before), (masking.points, planted.detection(masking.points))):
        own = places[planted.rows]
        seen = np.isfinite(own).all(axis=1)
        chance = sorted(planted.detect(own[[i for i in draw if seen[i]]])[0] for draw in planted.null.tolist())
        measures = []
        for t, draw in enumerate(planted.cases.tolist()):
            ratio, inside = planted.detect(own[[i for i in draw if seen[i]]])
            # Significant: at most four of the 99 draws reach it.
            if ratio <= chance[-5]:
                inside = np.zeros(len(own), bool)
            measures.append((100.0 * (ratio > chance[-5]), *agreement(planted.truth[t], inside, planted.weights)))
        expected = np.mean(measures, axis=0)
        assert (told.clusters_found, told.sensitivity, told.specificity) == pytest.approx(tuple(expected))
    assert planted.before.sensitivity > 60 and planted.before.specificity > 90


@pytest.mark.slow
def test_a_wider_mask_leaves_less_of_a_cluster():
    one = town()
    planted = planted_in(one, risk=6.0, percent=3.0)
    trials = [Trial(2, 4), *compared(["centre of the area"], donuts([2]))]
    grid, _ = audit(one, trials, [5], planted)
    near, centre = grid.detections
    assert near.sensitivity > 0.8 * planted.before.sensitivity
    assert centre.sensitivity < near.sensitivity
    assert audit(one, trials[:1], [5])[0].detections == ()


@pytest.mark.slow
def test_no_cluster_is_found_where_none_is_planted():
    one = town(600)
    planted = planted_in(one, clusters=60, risk=1.0)
    # The level is 5 %; three standard errors of 60 draws above it.
    assert planted.before.clusters_found < 5 + 3 * 100 * math.sqrt(0.05 * 0.95 / 60)
    assert planted.detection(one.run(Trial(10, 100)).points).clusters_found < 14


def test_any_detection_may_take_the_place_of_the_scan():
    one = town(300)

    def everything(households):
        return lambda cases: (float(len(cases) > 0), np.ones(len(households), bool))

    planted = planted_in(one, detect=everything)
    # What is found every time is found by chance.
    assert planted.before.clusters_found == 0 and planted.before.specificity == 100


def test_too_few_households_are_refused():
    households = Households(np.zeros((5, 2)))
    with pytest.raises(InputError, match="fewer than three"):
        plant_clusters(households, np.arange(5) < 2, 1, 5, 2.0, 5.0, np.random.default_rng(0))


@pytest.mark.slow
def test_the_cluster_of_points_before_and_after_by_counting():
    one = town(400)
    households, inside = one.households, one.area_of >= 0
    rng = np.random.default_rng(5)
    centre = households.points[np.flatnonzero(inside)[0]]
    near = np.argsort(np.hypot(*(households.points - centre).T) + 1e9 * ~inside)[:30]
    cases = np.concatenate([near, rng.choice(np.flatnonzero(inside), 60)])
    released = one.run(Trial(3, 30)).points[cases]
    released[:4] = np.nan

    def mask(drawn, source):
        where = drawn.reshape(-1)
        seen.append(where)
        return donut_mask(
            households.points[where], one.area_of[where], one.people[where], one.shapes, 3, 30, one.distance, source
        )

    seen: list[np.ndarray] = []
    found = kept_cluster(households, households.points[cases], released, mask, inside, np.random.default_rng(9))
    # The same draws once more, recounted draw by draw.
    source = np.random.default_rng(9)
    scan = CircularScan(households, source)
    null = source.choice(len(households), (99, 90), p=inside / inside.sum())
    assert inside[null].all() and np.array_equal(seen[0], null.reshape(-1))
    moved = mask(null, source).points.reshape(99, 90, 2)
    chances, members = [], []
    for places, draws in ((households.points[cases], households.points[null]), (released, moved)):
        ratio, within = scan.most_likely(places[~np.isnan(places[:, 0])])
        reached = [scan.most_likely(draw[~np.isnan(draw[:, 0])])[0] >= ratio for draw in draws]
        chances.append((1 + sum(reached)) / 100)
        members.append(within)
    assert (found.chance_before, found.chance_after) == tuple(chances)
    assert found.before and found.after
    assert (found.sensitivity, found.specificity) == agreement(members[0], members[1], households.weights)
    assert (found.searched, found.searched_after) == (90, np.isfinite(released[:, 0]).sum())
    assert found.sensitivity > 50


def test_what_is_not_significant_is_not_kept():
    one = town(50)
    everybody = np.ones(50, bool)
    alike = kept_cluster(
        one.households,
        one.households.points[:10],
        one.households.points[:10],
        lambda drawn, source: replace(one.run(Trial(3, 30)), points=one.households.points[drawn.reshape(-1)]),
        everybody,
        np.random.default_rng(0),
        detect=lambda cases: (1.0, everybody),
    )
    # Whatever is drawn reaches it: found by chance.
    assert (alike.chance_before, alike.before, alike.after) == (1.0, False, False)
    assert math.isnan(alike.sensitivity) and math.isnan(alike.specificity)


@pytest.mark.slow
def test_points_that_are_held_back_make_no_cluster_elsewhere():
    """Small areas, in which most are held back, beside large ones; cases are drawn without any cluster."""
    rng = np.random.default_rng(0)
    corners = [(150 * i, 150 * j, 150, 8) for i in range(12) for j in range(12)]
    corners += [(1800 + 400 * i, 400 * j, 400, 60) for i in range(4) for j in range(4)]
    cells = np.array([shapely.box(x, y, x + side, y + side) for x, y, side, _ in corners], dtype=object)
    points = np.vstack([rng.uniform((x, y), (x + side, y + side), (n, 2)) for x, y, side, n in corners])
    households, area = Households(points), own_areas(points, cells)
    people = np.bincount(area, minlength=len(cells))[area].astype(float)

    def masked(k_min):
        def mask(cases, source):
            rows = cases.reshape(-1)
            ring = points[rows], area[rows], people[rows], cells, 5, 50, "uniform in distance", source
            return places_held_back(donut_mask(*ring), households, area, area[rows], k_min)

        return mask

    after: dict[int, list[float]] = {0: [], 5: []}
    for _ in range(tried(2, 3)):
        cases = rng.integers(0, len(points), 400)
        released = masked(5)(cases, rng)
        counts = candidates(households, area, released.points, area[cases], released.inner, released.outer)
        shown = np.isfinite(released.points[:, 0])
        assert counts[shown].min() >= 5 and 0.5 < shown.mean() < 0.95
        for k_min, chances in after.items():
            everybody = np.ones(len(points), bool)
            kept = kept_cluster(households, points[cases], released.points, masked(k_min), everybody, rng)
            chances.append(kept.chance_after)
    assert max(after[0]) <= 0.05  # what is missing was taken for a cluster
    assert min(after[5]) > 0.05
