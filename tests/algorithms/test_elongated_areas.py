"""Elongated areas: measured in the region audit, and warned of where they distort, over real layers."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from .conftest import make_layer

FIELDS = ("area_hull", "elongation", "least_area_hull", "most_elongation", "distorting")
CRS = "EPSG:26914"


def town(shape):
    """Twelve areas in a row, each an odd one long: width, length and people by `shape`, and 20 records in each."""
    west, wkts = 630_000.0, []
    for width, length in shape:
        east, north = west + width, 5_520_000.0 + length
        wkts.append(f"Polygon(({west} 5520000, {east} 5520000, {east} {north}, {west} {north}, {west} 5520000))")
        west = east
    names = [f"46{i:02d}" for i in range(len(shape))]
    areas = make_layer({"da": names, "people": [20] * len(shape)}, wkts, CRS)
    return areas, make_layer({"home": np.repeat(names, 20).tolist(), "sex": ["F", "M"] * (10 * len(shape))})


def rated(run, areas, records, of, **more):
    names = [feature["da"] for feature in areas.getFeatures()]
    return run(
        "evaluate",
        REGIONS=areas,
        REGION_ID="da",
        RECORDS=records,
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex"],
        CROSSWALK=make_layer({"da": names, "vbas_region": of}),
        REGION_AUDIT="memory:",
        **more,
    )


def warned(done):
    return [line for line in done.log if "Such areas distort" in line]


def test_the_audit_is_a_plain_recount(run):
    shape = [(100, 100), (50, 900), (300, 200), (40, 40)] * 3
    of = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4]
    areas, records = town(shape)
    done = rated(run, areas, records, of)
    drawn = {f["vbas_region"]: f.geometry() for f in done.layer("REGION_AUDIT").getFeatures()}
    for row in done.rows("REGION_AUDIT"):
        region = drawn[row["vbas_region"]]
        corners = [(point.x(), point.y()) for point in region.vertices()]
        longest = max(math.dist(start, end) for start, end in combinations(corners, 2))
        assert row["elongation"] == pytest.approx(longest / math.sqrt(4 * region.area() / math.pi))
        assert row["area_hull"] == pytest.approx(region.area() / region.convexHull().area())
        own = [size for size, region_of in zip(shape, of) if region_of == row["vbas_region"]]
        elongations = [math.hypot(*size) / math.sqrt(4 * size[0] * size[1] / math.pi) for size in own]
        circle = math.sqrt(4 * sum(width * length for width, length in own) / math.pi)
        long = [s for s, elongation in zip(own, elongations) if elongation > 2 and math.hypot(*s) > circle]
        assert row["least_area_hull"] == pytest.approx(1)
        assert row["most_elongation"] == pytest.approx(max(elongations))
        assert row["distorting"] == len(long)
    assert [row["distorting"] for row in done.rows("REGION_AUDIT")] == [1, 1, 0, 1]
    (warning,) = warned(done)
    assert warning.startswith("3 areas of 12 are more than 2 times as long") and "25 % of the people" in warning


def test_round_areas_are_not_warned_of_and_points_have_no_outline(run):
    areas, records = town([(100, 100)] * 12)
    assert not warned(rated(run, areas, records, [1, 2, 3, 4] * 3))
    names = [f"46{i:02d}" for i in range(12)]
    points = make_layer(
        {"da": names}, [f"Point({630_000 + 100 * i} {5_520_000 + 7 * (i % 2)})" for i in range(12)], CRS
    )
    done = rated(run, points, records, [1, 2, 3, 4] * 3)
    assert not warned(done)
    assert all(row["elongation"] > 1 for row in done.rows("REGION_AUDIT"))
    assert not set(FIELDS[2:]) & set(done.rows("REGION_AUDIT")[0])


def test_every_level_of_a_nested_release_has_them(run, anonymize):
    for row in anonymize(RELEASE="nested levels", SITE_POINTS=None, VORONOI=None).rows("REGION_AUDIT"):
        assert row["most_elongation"] == pytest.approx(math.sqrt(math.pi / 2)) and row["distorting"] == 0
        assert row["area_hull"] <= 1 <= row["elongation"]


def test_degrees_are_measured_in_the_plane(run):
    # Four times as long as wide in degrees, which is not elongated; at 60 degrees north it is eight times.
    wkts = [f"Polygon(({x} 60, {x + 0.01} 60, {x + 0.01} 60.04, {x} 60.04, {x} 60))" for x in (0.0, 0.01)]
    areas = make_layer({"da": ["a", "b"], "people": [9, 9]}, wkts, "EPSG:4326")
    done = run("staticcutoff", REGIONS=areas, REGION_ID="da", POPULATION="people", CUTOFF=1, CROSSWALK="memory:")
    assert len(warned(done)) == 1 and "100 % of the people live there" in warned(done)[0]


def test_the_warning_stands_where_regions_are_made(run):
    areas, _ = town([(40, 900)] * 12)
    sites = make_layer({"i": list(range(6))}, [f"Point({630_020 + 80 * i} 5520450)" for i in range(6)], CRS)
    done = run("aggregate", REGIONS=areas, REGION_ID="da", SITES=sites, CROSSWALK="memory:")
    assert len(warned(done)) == 1 and "of the people live there" not in warned(done)[0]
