"""vbas:donutmask and vbas:donutaudit in the toolbox."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsProcessingException, QgsProject
from scipy.spatial.distance import cdist

from vbas.algorithms.points import donut_mask

from .conftest import make_layer

WEST, SOUTH, SIDE = 630_000.0, 5_520_000.0, 1000.0
REASONS = ["no position", "in no area", "category missing", "area without people", "ring does not meet the area"]


def square(col, row):
    x, y = WEST + col * SIDE, SOUTH + row * SIDE
    return f"Polygon(({x} {y}, {x + SIDE} {y}, {x + SIDE} {y + SIDE}, {x} {y + SIDE}, {x} {y}))"


@pytest.fixture
def areas():
    """Three by three areas: 100 people each, but nobody in the last and only 6 in the last but one; two categories."""
    names = [f"A{i}" for i in range(9)]
    people = [100] * 7 + [6, None]
    columns = {"name": names, "people": people, "F": [60] * 7 + [3, 0], "M": [40] * 7 + [3, 0]}
    return make_layer(columns, [square(i % 3, i // 3) for i in range(9)])


def people_in(n, seed=0, crs="EPSG:26914"):
    """n points in the first seven areas, with a diagnosis, a sex and a number."""
    rng = np.random.default_rng(seed)
    xy = np.column_stack([rng.uniform(WEST, WEST + 3 * SIDE, n), rng.uniform(SOUTH, SOUTH + 2 * SIDE, n)])
    columns = {
        "id": list(range(n)),
        "sex": rng.choice(["F", "M"], n).tolist(),
        "diagnosis": rng.choice(["flu", "cold"], n).tolist(),
        "x": xy[:, 0].round().tolist(),
    }
    if crs != "EPSG:26914":
        xy = transformed(xy, "EPSG:26914", crs)
    return make_layer(columns, [f"Point({x} {y})" for x, y in xy.tolist()], crs)


def transformed(xy, source, target):
    source, target = QgsCoordinateReferenceSystem(source), QgsCoordinateReferenceSystem(target)
    transform = QgsCoordinateTransform(source, target, QgsProject.instance().transformContext())
    return np.array([(p.x(), p.y()) for p in (transform.transform(x, y) for x, y in xy.tolist())])


@pytest.fixture
def mask(run, areas):
    def one(points, **changes):
        parameters = {
            "POINTS": points,
            "AREAS": areas,
            "AREA_ID": "name",
            "POPULATION": "people",
            "K_INNER": 10,
            "SEED": 1,
            "MASKED": "memory:",
            "AUDIT": "memory:",
            **changes,
        }
        return run("donutmask", **{name: value for name, value in parameters.items() if value is not None})

    return one


def xy(layer):
    places = [feature.geometry() for feature in layer.getFeatures()]
    return np.array([[np.nan, np.nan] if g.isNull() else [g.asPoint().x(), g.asPoint().y()] for g in places])


@pytest.mark.parametrize("crs", ["EPSG:26914", "EPSG:4326", "EPSG:2960"])
def test_points_are_released_in_their_ring_and_their_crs_with_the_named_fields_only(mask, crs):
    points = people_in(300, crs=crs)
    done = mask(points, KEEP_FIELDS=["diagnosis"])
    masked = done.layer("MASKED")
    assert masked.crs().authid() == crs
    assert masked.fields().names() == ["diagnosis"]
    assert masked.featureCount() == done.results["N_MASKED"] == 300
    # Who moved where is known by the audit alone; the set of places is the set of released ones.
    audit = done.rows("AUDIT")
    inner, outer = np.sqrt(1e6 / np.pi * 10 / 100), np.sqrt(1e6 / np.pi)
    moved = np.array([row["displacement"] for row in audit])
    assert (moved > inner).all()
    assert (moved < outer).all()
    assert [row["inner_m"] for row in audit] == pytest.approx([inner] * 300, rel=1e-3)
    places = transformed(xy(masked), crs, "EPSG:26914")
    true = transformed(xy(points), crs, "EPSG:26914")
    assert cdist(true, places).min(axis=1).mean() < moved.mean()
    in_area = lambda p: np.floor((p - (WEST, SOUTH)) / SIDE) @ (1, 3)  # noqa: E731
    # Each point stays in its own area, and its fields go with it.
    before, after = (
        sorted(zip(in_area(p).tolist(), [f["diagnosis"] for f in layer.getFeatures()]))
        for p, layer in ((true, points), (places, masked))
    )
    assert before == after
    assert done.results["PERCENT_IN_OWN_AREA"] == 100


def test_rows_are_in_an_order_that_follows_from_what_they_show(mask):
    done = mask(people_in(200), KEEP_FIELDS=["sex", "diagnosis"])
    places = xy(done.layer("MASKED"))
    assert np.array_equal(np.lexsort([places[:, 1], places[:, 0]]), np.arange(200))
    audit = xy(done.layer("AUDIT"))
    assert not np.array_equal(np.argsort(audit[:, 0]), np.arange(200))


def test_a_release_without_fields_shows_nothing_but_places(mask, tmp_path):
    done = mask(people_in(20), MASKED=str(tmp_path / "m.gpkg"))
    masked = done.layer("MASKED")
    assert [name for name in masked.fields().names() if name != "fid"] == []
    assert masked.featureCount() == 20
    assert np.isfinite(xy(masked)).all()
    assert "for release" in masked.name() + masked.metadata().title() + masked.metadata().abstract()


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_places_alone_do_not_go_into_a_table(mask, tmp_path, ending):
    """Nothing would be left of them."""
    file = tmp_path / f"masked{ending}"
    with pytest.raises(QgsProcessingException, match=rf"MASKED is nothing but shapes, which a {ending} file"):
        mask(people_in(20), MASKED=str(file))
    assert not file.exists()


def test_what_cannot_be_masked_is_listed_one_by_one_counted_in_a_sentence_and_not_released(mask):
    centre = (WEST + 0.5 * SIDE, SOUTH + 0.5 * SIDE)
    spots = [centre, None, (0.0, 0.0), centre, *((centre[0] + SIDE * c, centre[1] + 2 * SIDE) for c in (2, 1))]
    wkts = [f"Point({p[0]} {p[1]})" if p else None for p in spots]
    points = make_layer({"id": list(range(6)), "sex": ["F", "F", "F", None, "F", "F"]}, wkts, kind="Point")
    done = mask(points, CATEGORY_FIELD="sex", POPULATION=None, KEEP_FIELDS=["sex"])
    audit = done.rows("AUDIT")
    assert [row["outcome"] for row in audit] == ["masked", *REASONS]
    assert [row["area"] for row in audit] == ["A0", None, None, "A0", "A8", "A7"]
    assert [row["point"] for row in audit] == [feature.id() for feature in points.getFeatures()]
    assert audit[5]["inner_m"] > SIDE
    assert all(row["displacement"] is None and row["k_est"] is None for row in audit[1:])
    assert done.layer("MASKED").featureCount() == 1
    assert (done.results["N_POINTS"], done.results["N_MASKED"], done.results["N_NOT_MASKED"]) == (6, 1, 5)
    said = [line for line in done.log if "could not be masked" in line]
    assert len(said) == 1
    assert said[0].startswith("5 of 6 points could not be masked and are not released")
    assert all(f"{reason} (1)" in said[0] for reason in REASONS)


def test_nothing_but_the_points_that_cannot_be_masked(mask, tmp_path):
    points = make_layer({"id": [1, 2]}, ["Point(0 0)", "Point(1 1)"])
    done = mask(points, MASKED=str(tmp_path / "m.gpkg"), REPORT=str(tmp_path / "r.html"))
    assert done.layer("MASKED").featureCount() == 0
    assert "No point is masked and released." in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_category_hides_among_its_own(mask):
    points = people_in(100)
    for how in ({}, {"CATEGORY_POPULATIONS": ["F", "M", "M", "F"]}, {"CATEGORY_POPULATIONS": "F,M,M,F"}):
        rows = mask(points, CATEGORY_FIELD="sex", POPULATION=None, **how).rows("AUDIT")
        for row in rows:
            own = {"F": 60, "M": 40}[row["category"]]
            people = 100 - own if how else own
            assert row["people"] == people
            assert row["inner_m"] == pytest.approx(np.sqrt(1e6 / np.pi * 10 / people), rel=1e-3)


def test_actual_anonymity_is_counted_among_households(mask):
    points = people_in(80)
    households = people_in(900, seed=3, crs="EPSG:4326")
    done = mask(points, HOUSEHOLDS=households)
    apart = cdist(xy(points), transformed(xy(households), "EPSG:4326", "EPSG:26914"))
    rows = done.rows("AUDIT")
    assert [r["k_act"] for r in rows] == [(d < r["displacement"]).sum() for d, r in zip(apart, rows)]
    assert done.results["PERCENT_BELOW_K_INNER"] == pytest.approx(100 * np.mean([r["k_act"] < 10 for r in rows]))
    assert "k_act" not in mask(points).rows("AUDIT")[0]
    # Without a population the households in the area are counted.
    counted = mask(points, HOUSEHOLDS=households, POPULATION=None).rows("AUDIT")
    corner = [r for r in counted if r["area"] == "A0"]
    inside = (np.floor((transformed(xy(households), "EPSG:4326", "EPSG:26914") - (WEST, SOUTH)) / SIDE) == 0).all(
        axis=1
    )
    assert {r["people"] for r in corner} == {inside.sum()}


def test_homes_far_from_every_address_are_warned_of(mask):
    """Of a register that lacks what was newly built; counted by hand."""
    points, households = people_in(80), people_in(900, seed=3)
    some = np.flatnonzero(xy(households)[:, 0] < WEST + SIDE)
    old = make_layer({"id": some.tolist()}, [f"Point({x} {y})" for x, y in xy(households)[some].tolist()])
    done = mask(points, HOUSEHOLDS=old, K_MIN=0)
    inner = np.array([row["inner_m"] or np.nan for row in done.rows("AUDIT")], float)
    alone = int((cdist(xy(points), xy(households)[some]).min(axis=1) > inner).sum())
    assert alone > 1
    assert any(f"HOUSEHOLDS has no address around {alone} homes" in line for line in done.log)
    assert not any("no address around" in line for line in mask(points, HOUSEHOLDS=households, K_MIN=0).log)


@pytest.mark.slow
def test_a_cluster_of_the_points_is_searched_for_before_and_after(mask, tmp_path):
    households = people_in(900, seed=3)
    around = np.argsort(np.hypot(*(xy(households) - (WEST + SIDE, SOUTH + SIDE)).T))[:60]
    spread = np.random.default_rng(0).choice(900, 60, replace=False)
    page = tmp_path / "r.html"
    asked = {"HOUSEHOLDS": households, "K_MIN": 0, "FIND_CLUSTERS": True, "REPORT": str(page)}

    def points(rows):
        return make_layer({"id": rows.tolist()}, [f"Point({x} {y})" for x, y in xy(households)[rows].tolist()])

    near = mask(points(np.concatenate([around, spread])), K_INNER=1, K_OUTER=2, **asked)
    assert near.results["CLUSTER_SENSITIVITY"] > 80
    assert near.results["CLUSTER_SPECIFICITY"] > 90
    assert "There is a significant cluster before masking and one after" in page.read_text(encoding="utf-8")
    # Masked or not, points spread as the households are no cluster.
    none = mask(points(spread), **asked)
    assert "CLUSTER_SENSITIVITY" not in none.results
    assert "There is no significant cluster before masking" in page.read_text(encoding="utf-8")
    # The search changes nothing that is released.
    without = mask(points(spread), **{**asked, "FIND_CLUSTERS": False})
    assert sorted(xy(without.layer("MASKED")).tolist()) == sorted(xy(none.layer("MASKED")).tolist())
    assert "Whether a cluster is still found" not in page.read_text(encoding="utf-8")
    # With categories, those drawn without a cluster are masked as the points are.
    layer = people_in(80)
    mask(layer, CATEGORY_FIELD="sex", POPULATION=None, **asked)
    assert "Whether a cluster is still found" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_draws_without_a_cluster_are_held_back_as_the_points_are(mask, monkeypatch):
    held_back, asked = donut_mask.places_held_back, []

    def noted(*given):
        asked.append((len(given[0].points), given[-1]))
        return held_back(*given)

    monkeypatch.setattr(donut_mask, "places_held_back", noted)
    mask(people_in(60), HOUSEHOLDS=people_in(300, seed=3), K_MIN=7, FIND_CLUSTERS=True)
    assert asked == [(99 * 60, 7)]


def test_a_seed_repeats_and_no_seed_does_not(mask):
    points = people_in(30)
    runs = [mask(points, SEED=seed) for seed in (5, 5, 6, None, None)]
    places = [xy(done.layer("MASKED")).tolist() for done in runs]
    assert places[0] == places[1]
    assert places[0] != places[2]
    assert places[3] != places[4]


def test_the_distance_law_and_k_outer_are_the_users(mask):
    points = people_in(400)
    far = {}
    for law in ("uniform in distance", "uniform in area"):
        rows = mask(points, DISTANCE=law, K_INNER=1, K_OUTER=40).rows("AUDIT")
        far[law] = np.mean([r["displacement"] / r["outer_m"] for r in rows])
        assert rows[0]["outer_m"] == pytest.approx(rows[0]["inner_m"] * np.sqrt(40))
    assert far["uniform in area"] > far["uniform in distance"] + 0.05


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"POPULATION": None}, "POPULATION is empty"),
        ({"POPULATION": "nowhere"}, "nowhere"),
        ({"K_INNER": 10, "K_OUTER": 10}, "K_OUTER is 10, K_INNER 10"),
        ({"KEEP_FIELDS": ["x"]}, "“x” repeats a coordinate"),
        ({"CATEGORY_FIELD": "diagnosis"}, "“cold”, “flu”"),
        ({"CATEGORY_FIELD": "sex", "CATEGORY_POPULATIONS": ["F", "F"]}, "without a population field (“M”)"),
        ({"CATEGORY_FIELD": "sex", "CATEGORY_POPULATIONS": ["F", "F", "M"]}, "without a field"),
        ({"CATEGORY_POPULATIONS": ["F", "F"]}, "needs CATEGORY_FIELD"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(mask, changes, words, tmp_path):
    file = tmp_path / "m.gpkg"
    with pytest.raises(QgsProcessingException) as error:
        mask(people_in(30), **{"MASKED": str(file), **changes})
    assert words in str(error.value)
    assert not list(tmp_path.iterdir())


def test_several_points_in_one_feature_are_refused(mask):
    points = make_layer({"id": [1]}, [f"MultiPoint(({WEST} {SOUTH}), ({WEST} {SOUTH}))"])
    with pytest.raises(QgsProcessingException, match="1 feature of POINTS holds several points"):
        mask(points)


def test_a_field_with_a_value_per_row_is_warned_of(mask):
    assert any("“id”" in line for line in mask(people_in(30), KEEP_FIELDS=["id"]).log)


def test_cancelling_leaves_nothing(run, areas, tmp_path):
    with pytest.raises(QgsProcessingException, match="Cancelled"):
        run(
            "donutmask",
            stop_at=20,
            POINTS=people_in(200),
            AREAS=areas,
            POPULATION="people",
            MASKED=str(tmp_path / "m.gpkg"),
            AUDIT=str(tmp_path / "a.gpkg"),
        )
    assert not list(tmp_path.iterdir())


@pytest.fixture
def audit(run, areas, tmp_path):
    def one(**changes):
        parameters = {
            "HOUSEHOLDS": people_in(600, crs="EPSG:4326"),
            "AREAS": areas,
            "AREA_ID": "name",
            "K_INNER": "5,15",
            "K_MIN": "5,10",
            "AUDIT": "memory:",
            "SMALLEST": "memory:",
            "AREA_AUDIT": "memory:",
            "REPORT": str(tmp_path / "report.html"),
            **changes,
        }
        return run("donutaudit", **{name: value for name, value in parameters.items() if value is not None})

    return one


@pytest.mark.slow
def test_the_audit_gives_grid_areas_smallest_and_page(audit, tmp_path):
    done = audit()
    grid = done.rows("AUDIT")
    assert [(r["k_inner"], r["k_outer"], r["k_min"]) for r in grid] == [
        (a, 10 * a, b) for a in (5, 15) for b in (5, 10)
    ]
    assert grid[1]["percent_below"] > grid[0]["percent_below"] > grid[2]["percent_below"]
    smallest = done.rows("SMALLEST")
    assert [r["k_min"] for r in smallest] == [5, 10]
    assert all(r["percent_below"] <= 1 and r["k_inner"] > r["k_min"] for r in smallest)
    assert done.results["SMALLEST_K_INNER"] == smallest[0]["k_inner"]
    rows = done.rows("AREA_AUDIT")
    assert [r["name"] for r in rows] == [f"A{i}" for i in range(9)]
    assert sum(r["households"] for r in rows) == done.results["N_HOUSEHOLDS"] == 600
    masked = [(r["percent_below"], r["households"] - r["not_masked"]) for r in rows if r["percent_below"] is not None]
    shares, weights = zip(*masked)
    assert np.average(shares, weights=weights) == (pytest.approx(grid[0]["percent_below"]))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    by_candidates = [row["percent_below_candidates"] for row in grid if row["k_min"] == 5]
    least, most = min(by_candidates), max(by_candidates)
    assert f"guesses among, {least:.2f} to {most:.2f} % fall short of 5 with the rings tried." in page
    # Two by share, and one of fifths for each K_INNER.
    assert page.count('<figure><svg role="img" class="map"') == 4
    assert page.count('<figure><svg role="img" class="chart"') == 2
    assert "Where areas fail" in page
    assert "What is left of clusters" not in page
    assert "Masked by" not in page
    assert "How evenly people are spread" not in page
    assert done.rows("AUDIT") == audit().rows("AUDIT")
    assert done.rows("AUDIT") != audit(SEED=1).rows("AUDIT")


@pytest.mark.slow
def test_the_audit_tells_what_each_outer_radius_costs(audit, tmp_path):
    done = audit(K_OUTER="12, 150")
    grid = done.rows("AUDIT")
    assert [(r["k_inner"], r["k_outer"], r["k_min"]) for r in grid] == [
        (a, b, k) for a, b in ((5, 12), (5, 150), (15, 150)) for k in (5, 10)
    ]
    assert {r["method"] for r in grid} == {"donut"}
    assert all(0 < r["median_displacement"] < 1000 for r in grid)
    # A wider ring moves farther, and fails less.
    assert grid[0]["mean_displacement"] < grid[2]["mean_displacement"] < grid[4]["mean_displacement"]
    assert grid[0]["percent_below"] > grid[2]["percent_below"] > grid[4]["percent_below"]
    assert [(r["k_min"], r["k_outer"]) for r in done.rows("SMALLEST")] == [
        (5, 12),
        (5, 150),
        (10, 12),
        (10, 150),
    ]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What privacy costs in resolution" in page
    assert "OUTER_FACTOR" not in page
    assert any("OUTER_FACTOR" in line for line in audit(K_OUTER="150", OUTER_FACTOR=4).log)
    assert [r["k_outer"] for r in audit(OUTER_FACTOR=4).rows("AUDIT")] == [20, 20, 60, 60]


def test_the_fifth_of_each_area_for_each_k_inner(audit, tmp_path):
    rows = audit(K_OUTER="12,150").rows("AREA_AUDIT")
    assert {"percent_below", "below_15", "quintile_5", "quintile_15"} <= set(rows[0])
    for share, fifth in (("percent_below", "quintile_5"), ("below_15", "quintile_15")):
        known = np.array([r[share] for r in rows if r[share] is not None])
        ends = np.quantile(known, [0.2, 0.4, 0.6, 0.8])
        assert [r[fifth] for r in rows] == [
            None if r[share] is None else 1 + sum(r[share] > end for end in ends) for r in rows
        ]
    assert "Where areas fail, K_INNER by K_INNER" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_other_masks_stand_beside_the_donut(audit, tmp_path):
    alone = audit().rows("AUDIT")
    done = audit(COMPARE_WITH=["random perturbation", "centre of the area"])
    rows = done.rows("AUDIT")
    # The donuts are those of an audit without others.
    assert rows[:4] == alone
    assert [(r["method"], r["k_inner"], r["k_outer"], r["k_min"]) for r in rows[4:]] == [
        *(("random perturbation", 0, k_outer, k) for k_outer in (50, 150) for k in (5, 10)),
        *(("centre of the area", None, None, k) for k in (5, 10)),
    ]
    assert all(moved["percent_below"] > donut["percent_below"] for donut, moved in zip(rows[:4], rows[4:8]))
    assert all(moved["mean_displacement"] < donut["mean_displacement"] for donut, moved in zip(rows[:4], rows[4:8]))
    # An area's centre hides a point among all of the area.
    assert [r["percent_below_candidates"] for r in rows[8:]] == [0, 0]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Masked by" in page
    assert "the candidates below say it" in page
    assert [r["name"] for r in done.rows("AREA_AUDIT")] == [r["name"] for r in audit().rows("AREA_AUDIT")]


@pytest.mark.slow
def test_planted_clusters_are_searched_for_before_and_after(audit, tmp_path):
    asked = {"K_INNER": "5", "PLANTED_CLUSTERS": 5, "CLUSTER_CASES": 120, "CLUSTER_RISK": 9, "CLUSTER_PERCENT": 10}
    done = audit(**asked, COMPARE_WITH=["random perturbation"])
    rows = done.rows("AUDIT")
    assert all(0 <= r[name] <= 100 for r in rows for name in ("clusters_found", "sensitivity", "specificity"))
    assert done.results["SENSITIVITY_BEFORE"] > 50
    assert done.results["SPECIFICITY_BEFORE"] > 80
    assert max(r["sensitivity"] for r in rows) <= 100
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What is left of clusters" in page
    assert rows == audit(**asked, COMPARE_WITH=["random perturbation"]).rows("AUDIT")
    without = audit(K_INNER="5")
    assert "sensitivity" not in without.rows("AUDIT")[0]
    assert "SENSITIVITY_BEFORE" not in without.results


def test_finer_areas_give_the_heterogeneity(audit, tmp_path):
    halves, people = [], []
    for i in range(9):
        x, y = WEST + i % 3 * SIDE, SOUTH + i // 3 * SIDE
        for half in (0, SIDE / 2):
            a, b = x + half, x + half + SIDE / 2
            halves.append(f"Polygon(({a} {y}, {b} {y}, {b} {y + SIDE}, {a} {y + SIDE}, {a} {y}))")
            people.append(10 + (i * 10 if half else 0))
    done = audit(FINER_AREAS=make_layer({"n": people}, halves), FINER_POPULATION="n")
    rows = done.rows("AREA_AUDIT")
    assert [r["sub_areas"] for r in rows] == [2] * 9
    # Densities 20 and 20 + 20 i per km²: the variance is the square of half their difference.
    assert [r["density_variance"] for r in rows] == pytest.approx(
        [(10.0 * i) ** 2 for i in range(9)], rel=1e-2, abs=1e-6
    )
    assert [r["density_variation"] for r in rows] == pytest.approx([i / (2 + i) for i in range(9)], rel=1e-2, abs=1e-6)
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count('class="map"') == 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"K_MIN": "five"}, "K_MIN is “five”"),
        ({"K_INNER": "0,5"}, "K_INNER is “0,5”"),
        ({"HOUSEHOLD_COUNT": "diagnosis"}, "“diagnosis” holds what is no number"),
        ({"K_OUTER": "ten"}, "K_OUTER is “ten”"),
        ({"K_OUTER": "10,15"}, "K_OUTER has no number above K_INNER = 15"),
    ],
)
def test_the_audit_says_what_is_wrong(audit, changes, words):
    with pytest.raises(QgsProcessingException) as error:
        audit(**changes)
    assert words in str(error.value)


def test_both_have_an_icon_help_and_help_for_every_parameter(provider):
    for name in ("donutmask", "donutaudit"):
        algorithm = provider.algorithm(name)
        assert algorithm.groupId() == "points"
        assert not algorithm.icon().isNull()
        assert algorithm.icon().pixmap(24, 24).toImage().pixelColor(9, 3).alpha() > 0
        assert all(p.help() for p in algorithm.parameterDefinitions())
        assert (Path(__file__).parents[2] / "icons" / f"{name}.svg").is_file()


@pytest.mark.parametrize("name", ["K_INNER", "K_MIN", "K_OUTER"])
@pytest.mark.parametrize("text", ["nan", "5,nan", "inf", "ten"])
def test_a_text_that_is_no_list_of_numbers_is_refused_by_name_and_never_told_as_a_number(audit, name, text):
    with pytest.raises(QgsProcessingException, match=f"^{name} is “{text}”: write one or more numbers") as refused:
        audit(**{name: text})
    (log,) = (line for line in refused.value.said if line.startswith("Settings used: "))
    assert f" = “{text}” · " in log and f"= {text}" not in log


@pytest.mark.slow
@pytest.mark.parametrize("n_areas", [1, 2])
def test_the_page_tells_of_one_area_as_of_one(audit, tmp_path, n_areas):
    audit(AREAS=make_layer({"name": ["A0", "A1"][:n_areas]}, [square(0, 0), square(1, 0)][:n_areas]))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"of {n_areas} area{'s' * (n_areas > 1)} with households." in page
