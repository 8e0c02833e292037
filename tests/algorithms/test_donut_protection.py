"""vbas:donutmask: homes move as one, points with too few candidate addresses are held back, earlier places count."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from qgis.core import QgsProcessingException
from scipy.spatial.distance import cdist

from vbas.core.errors import VbasError
from vbas.core.publish import file_place

from ..systems import reads_without_a_trace
from .conftest import make_layer
from .test_donut_forms import SIDE, SOUTH, WEST, areas, mask, people_in, xy  # noqa: F401 - fixtures

CENTRE = (WEST + 0.5 * SIDE, SOUTH + 0.5 * SIDE)


def at(places, **columns):
    n = len(places)
    return make_layer(
        {"id": [f"p{i}" for i in range(n)], **columns}, [f"Point({x} {y})" for x, y in places], "EPSG:26914"
    )


def family(n=10, **columns):
    """n people at one place."""
    return at([CENTRE] * n, **columns)


@pytest.mark.parametrize("seed", [1, None])
def test_a_family_goes_to_one_place_and_the_log_counts_people_and_homes(mask, seed):  # noqa: F811
    done = mask(family(), SEED=seed)
    assert len(np.unique(xy(done.layer("MASKED")), axis=0)) == 1
    assert done.layer("MASKED").featureCount() == done.results["N_MASKED"] == 10
    assert done.results["N_HOMES"] == 1
    assert [(row["home"], row["members"]) for row in done.rows("AUDIT")] == [(1, 10)] * 10
    assert any("10 points in 1 home, up to 10 in one" in line for line in done.log)


def test_people_at_places_of_their_own_move_on_their_own(mask):  # noqa: F811
    done = mask(people_in(40))
    assert done.results["N_HOMES"] == 40
    assert [row["members"] for row in done.rows("AUDIT")] == [1] * 40
    assert not any("homes" in line for line in done.log)


def test_a_family_of_two_categories_moves_as_far_as_the_rarer_must(mask):  # noqa: F811
    rows = mask(family(2, sex=["F", "M"]), CATEGORY_FIELD="sex", POPULATION=None).rows("AUDIT")
    assert [row["people"] for row in rows] == [40, 40]
    assert rows[0]["displacement"] == rows[1]["displacement"] > np.sqrt(1e6 / np.pi * 10 / 40) * 0.999


def test_a_household_with_places_that_differ_moves_as_one(mask):  # noqa: F811
    places = [CENTRE, CENTRE, (CENTRE[0] + 30, CENTRE[1])]
    points = at(places, hh=[7, 7, 7], sex=["F", "M", "F"])
    done = mask(points, HOUSEHOLD_ID="hh", KEEP_FIELDS=["sex"])
    assert len(np.unique(xy(done.layer("MASKED")), axis=0)) == 1
    assert done.layer("MASKED").fields().names() == ["sex"]
    assert len(np.unique(xy(mask(points).layer("MASKED")), axis=0)) == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"HOUSEHOLD_ID": "town"}, "HOUSEHOLD_ID “town”: 1 household has members more than 100 m apart"),
        ({"HOUSEHOLD_ID": "nowhere"}, "nowhere"),
        ({"HOUSEHOLD_ID": "id", "KEEP_FIELDS": ["id"]}, "“id” is HOUSEHOLD_ID, which is not released"),
    ],
)
def test_households_that_cannot_be_are_refused(mask, changes, words):  # noqa: F811
    points = at([CENTRE, (CENTRE[0] + 200, CENTRE[1])], town=["here", "here"])
    with pytest.raises(QgsProcessingException) as error:
        mask(points, **changes)
    assert words in str(error.value)


def test_candidates_are_counted_in_the_audit_and_points_with_too_few_are_held_back(mask, tmp_path):  # noqa: F811
    points, households = people_in(150), people_in(200, seed=3)
    done = mask(points, HOUSEHOLDS=households, K_MIN=0)
    rows, there = done.rows("AUDIT"), xy(households)
    assert done.results["N_HELD_BACK"] == 0
    # The second run draws the same places, and holds some of them back.
    held = mask(points, HOUSEHOLDS=households, K_MIN=12, REPORT=str(tmp_path / "r.html"))
    few = [row["candidates"] < 12 for row in rows]
    assert 0 < sum(few) < 75
    outcomes = ["held back: fewer than K_MIN candidate addresses" if one else "masked" for one in few]
    assert [row["outcome"] for row in held.rows("AUDIT")] == outcomes
    assert [row["candidates"] for row in held.rows("AUDIT")] == [row["candidates"] for row in rows]
    assert held.results["N_HELD_BACK"] == sum(few)
    assert held.results["N_MASKED"] == held.layer("MASKED").featureCount() == 150 - sum(few)
    assert held.results["N_NOT_MASKED"] == 0
    assert held.results["PERCENT_BELOW_K_MIN"] == pytest.approx(100 * np.mean(few))
    said = f"{100 * np.mean(few):.2f} % of the masked points ({sum(few)} of 150, in {sum(few)} of 150 homes)"
    assert sum(said in line for line in held.log) == 1
    assert said in (tmp_path / "r.html").read_text(encoding="utf-8")
    # Recounted from the released layer: every place has its addresses, those of its own square within its ring.
    inner, outer = rows[0]["inner_m"], rows[0]["outer_m"]
    square = lambda p: np.floor((p - (WEST, SOUTH)) / SIDE)  # noqa: E731
    places = xy(held.layer("MASKED"))
    apart = cdist(places, there)
    fits = (apart >= inner) & (apart <= outer) & (square(places)[:, None] == square(there)).all(axis=2)
    counted = np.sort(fits.sum(axis=1))
    assert counted[0] >= 12
    # The plane that is measured in differs from the layer's by a few parts in ten thousand.
    expected = np.sort([row["candidates"] for row, one in zip(rows, few) if not one])
    assert np.abs(counted - expected).mean() < 0.1


def test_a_released_layer_of_whom_most_fall_short_is_not_called_for_release(mask, tmp_path):  # noqa: F811
    points = people_in(30)
    for k_min in (0, 40):
        done = mask(
            points,
            HOUSEHOLDS=people_in(20, seed=3),
            K_MIN=k_min,
            MASKED=str(tmp_path / f"m{k_min}.gpkg"),
            REPORT=str(tmp_path / "r.html"),
        )
        layer = done.layer("MASKED")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert layer.metadata().title() == "Masked points (internal)"
        assert "Most fall short, so what is left is not to be published" in page
        assert ("No point is masked and released." in page) == (k_min == 40)
        assert not any("are released" in text or "for release" in text for text in (page, *done.log))
        assert any("Most fall short" in line for line in done.log)
    done = mask(points, HOUSEHOLDS=people_in(900, seed=3), MASKED=str(tmp_path / "good.gpkg"))
    assert done.layer("MASKED").metadata().title() == "Masked points (for release)"
    assert any("at least 5 addresses" in line for line in done.log)


def test_without_households_nothing_is_counted_and_the_log_says_so(mask, tmp_path):  # noqa: F811
    done = mask(people_in(30), REPORT=str(tmp_path / "r.html"))
    assert [row["candidates"] for row in done.rows("AUDIT")] == [None] * 30
    assert "PERCENT_BELOW_K_MIN" not in done.results
    assert any(line.startswith("HOUSEHOLDS is not given") for line in done.log)
    assert "nobody knows from how many addresses" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert any("K_MIN = 9 has no effect here" in line for line in mask(people_in(30), K_MIN=9).log)


def test_never_twice_is_said_unless_the_earlier_places_are_given(mask):  # noqa: F811
    once = "Never mask the same people twice"
    assert any(once in line for line in mask(people_in(30)).log)
    first = mask(people_in(30), KEEP_FIELDS=["id"], SEED=8)  # holds its layers
    earlier = first.layer("MASKED")
    done = mask(people_in(30), EARLIER=earlier, EARLIER_ID="id", HOUSEHOLDS=people_in(900, seed=3))
    assert not any(once in line for line in done.log)


def test_earlier_places_of_the_same_people_leave_fewer_addresses(mask):  # noqa: F811
    points, households = people_in(150), people_in(300, seed=3)
    first = mask(points, KEEP_FIELDS=["id"], SEED=8)  # holds its layers
    earlier = first.layer("MASKED")
    alone = mask(points, HOUSEHOLDS=households)
    done = mask(points, HOUSEHOLDS=households, EARLIER=earlier, EARLIER_ID="id")
    before = {feature["id"]: feature.geometry().asPoint() for feature in earlier.getFeatures()}
    assert done.results["N_HELD_BACK"] > alone.results["N_HELD_BACK"]
    there = xy(households)
    square = lambda p: np.floor((p - (WEST, SOUTH)) / SIDE)  # noqa: E731
    places = []
    for row, feature in zip(done.rows("AUDIT"), points.getFeatures()):
        assert row["candidates_left"] <= row["candidates"]
        assert (row["outcome"] == "masked") == (row["candidates_left"] >= 5)
        places.append(np.array([before[feature["id"]].x(), before[feature["id"]].y()]))
        apart = np.hypot(*(places[-1] - there).T)
        fits = (apart >= row["inner_m"]) & (apart <= row["outer_m"]) & (square(places[-1]) == square(there)).all(axis=1)
        assert row["candidates_left"] <= fits.sum() + 1
    assert sum("150 homes were masked before" in line for line in done.log) == 1
    # Those of other people take nothing away.
    others = make_layer({"id": [0]}, [f"Point({before[0].x()} {before[0].y()})"])
    rows = mask(points, HOUSEHOLDS=households, EARLIER=others, EARLIER_ID="id").rows("AUDIT")
    assert rows[1]["candidates_left"] == rows[1]["candidates"]
    assert [row["candidates"] for row in rows] == [row["candidates"] for row in alone.rows("AUDIT")]


def test_what_was_masked_with_another_ring_is_held_back(mask):  # noqa: F811
    points, households = people_in(20), people_in(900, seed=3)
    first = mask(points, KEEP_FIELDS=["id"], K_INNER=1, K_OUTER=9)  # holds its layers
    earlier = first.layer("MASKED")
    done = mask(points, HOUSEHOLDS=households, EARLIER=earlier, EARLIER_ID="id")
    assert {row["outcome"] for row in done.rows("AUDIT")} == {"held back: an earlier place is not in the ring"}
    assert any("The earlier places of 20 of them are not in the ring of now" in line for line in done.log)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"HOUSEHOLDS": None}, "EARLIER needs HOUSEHOLDS"),
        ({"EARLIER_ID": None}, "EARLIER_ID is empty"),
        ({"EARLIER_ID": "who"}, "“who”"),
        ({"EARLIER_ID": "sex"}, "no value of “sex” in common"),
    ],
)
def test_earlier_places_that_cannot_be_used_are_refused(mask, changes, words):  # noqa: F811
    earlier = make_layer({"id": [1], "sex": ["X"], "who": [1]}, [f"Point({CENTRE[0]} {CENTRE[1]})"])
    given = {"HOUSEHOLDS": people_in(50), "EARLIER": earlier, "EARLIER_ID": "id", **changes}
    with pytest.raises(QgsProcessingException) as error:
        mask(people_in(30), **given)
    assert words in str(error.value)


def test_the_audit_of_donuts_counts_candidates_too(run, areas):  # noqa: F811
    done = run(
        "donutaudit",
        HOUSEHOLDS=people_in(200),
        AREAS=areas,
        K_INNER="5,15",
        K_MIN="5,20",
        AUDIT="memory:",
    )
    rows = done.rows("AUDIT")
    assert [row["percent_below_candidates"] is not None for row in rows] == [True] * 4
    assert rows[1]["percent_below_candidates"] > rows[0]["percent_below_candidates"]


def test_help_says_what_protects_and_what_does_not(provider):
    algorithm = provider.algorithm("donutmask")
    told = algorithm.shortHelpString()
    for words in ("fewer than K_MIN are held back", "share one move", "Never mask the same people twice"):
        assert words in told
    assert "Without HOUSEHOLDS it cannot be counted" in algorithm.parameterDefinition("K_MIN").help()
    assert algorithm.parameterDefinition("K_MIN").defaultValue() == 5


MAY_BE = "These may be the points that"


@reads_without_a_trace
def test_points_that_were_released_before_are_warned_of(mask, tmp_path):  # noqa: F811
    """By the register, and by the file that is replaced; other points are not."""
    register, file = tmp_path / "register.gpkg", tmp_path / "masked.gpkg"
    first = mask(people_in(40), REGISTER=str(register), MASKED=str(file), SEED=None)
    assert not any(MAY_BE in line for line in first.log)
    with closing(sqlite3.connect(register)) as connection:
        shown = connection.execute("SELECT x, y FROM vbas_points").fetchall()
        assert [one for (one,) in connection.execute("SELECT count(*) FROM vbas_releases")] == [0]
    assert np.array_equal(np.array(sorted(shown)), np.array(sorted(map(tuple, xy(first.layer("MASKED"))))))
    again = mask(people_in(40), REGISTER=str(register), SEED=None)
    (said,) = (line for line in again.log if MAY_BE in line)
    assert "release 1 of masked points in the register" in said and "100 %" in said
    replaced = mask(people_in(40), MASKED=str(file), SEED=None)
    (said,) = (line for line in replaced.log if MAY_BE in line)
    assert f"the file {file}" in said
    third = mask(people_in(40), REGISTER=str(register), SEED=None)
    assert sum(MAY_BE in line for line in third.log) == 2


def test_a_register_from_which_somebody_took_points_by_hand_is_said_to_lack_them(mask, tmp_path):  # noqa: F811
    register = tmp_path / "register.gpkg"
    mask(people_in(40), REGISTER=str(register), SEED=None)
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.executescript("DELETE FROM vbas_maskings; DELETE FROM vbas_points")
    again = mask(people_in(40), REGISTER=str(register), SEED=None)
    assert any("masked points 1 are missing, and were not withdrawn" in line for line in again.log)


def test_a_run_that_fails_adds_no_points(mask, tmp_path):  # noqa: F811
    register = tmp_path / "register.gpkg"
    with pytest.raises(QgsProcessingException):
        mask(people_in(40), REGISTER=str(register), MASKED=str(tmp_path / "none" / "x.gpkg"))
    with pytest.raises(QgsProcessingException):
        mask(people_in(40), REGISTER=str(register), KEEP_FIELDS=["nowhere"])
    assert not register.exists()
    (tmp_path / "other.gpkg").write_bytes(b"something else")
    with pytest.raises(QgsProcessingException, match="REGISTER"):
        mask(people_in(40), REGISTER=str(tmp_path / "other.gpkg"))


def test_points_that_were_not_written_are_taken_out_of_the_register_again(mask, tmp_path, monkeypatch):  # noqa: F811
    register = tmp_path / "register.gpkg"
    mask(people_in(40), REGISTER=str(register), SEED=None)

    def refuse(self):
        raise VbasError("it is the end")

    monkeypatch.setattr(file_place.FilePlace, "check", refuse)
    with pytest.raises(QgsProcessingException, match=r"it is the end\. Nothing was changed"):
        mask(people_in(40), REGISTER=str(register), MASKED=str(tmp_path / "masked.gpkg"))
    with closing(sqlite3.connect(register)) as connection:
        for table in ("vbas_maskings", "vbas_points"):
            assert connection.execute(f"SELECT DISTINCT masking FROM {table}").fetchall() == [(1,)]
