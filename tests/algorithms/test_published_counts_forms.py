"""Counts that others publish, through the forms: attacked with what the files say, by programs of their own."""

from __future__ import annotations

from collections import Counter

import pytest
from qgis.core import QgsProcessingException

from ..core.table_attack import told_by_table
from .conftest import make_layer
from .nested_town import make_town

K = 4


@pytest.fixture(scope="module")
def town():
    return make_town(3)


def counts_by(town, *names, zone=None):
    """A table of counts by area and fields of the records, as a census has it: da, the fields, people."""
    where = {name: i for i, name in enumerate(("home", "sex", "age"))}
    unit = dict(zip(town.identifiers, town.identifiers if zone is None else getattr(town, zone)))
    counted = Counter((unit[row[0]], *(row[where[name]] for name in names)) for row in town.records)
    known = {key: n for key, n in counted.items() if None not in key}
    columns = dict(zip(("da" if zone is None else zone, *names), map(list, zip(*known))))
    return make_layer({**columns, "people": list(known.values())})


@pytest.fixture
def release(run, town):
    """release(**parameters): vbas:anonymize of the town."""

    def one(**changes):
        parameters = {
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            "RECORDS": town.record_layer(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "K": K,
            "RELEASE": "nested levels",
            "RELEASED_RECORDS": "memory:",
            "CROSSWALK": "memory:",
            **changes,
        }
        return run("anonymize", **{name: value for name, value in parameters.items() if value is not None})

    return one


def told(done, town, finer=None):
    """What a table of ages by area tells beside what was written; finer : classes of coarser values, and theirs."""
    crosswalk = done.rows("CROSSWALK")
    fields = sorted(name for name in crosswalk[0] if name.startswith("vbas_region_")) or ["vbas_region"]
    fields.sort(key=lambda name: int(name.rsplit("_", 1)[-1]) if name[-1].isdigit() else 0)
    regions = [{row["da"]: row[field] for row in crosswalk} for field in fields]
    released = Counter(
        (row.get("vbas_level", 1) - 1, row["vbas_region"], (row["sex"], row["age"]))
        for row in done.rows("RELEASED_RECORDS")
    )
    live = town.live()
    group_of = {one: one[1] for _, one in live}
    table: Counter = Counter()
    for (area, one), n in live.items():
        table[area, group_of[one]] += n
    return told_by_table(released, regions, table, group_of, live, K, finer)


@pytest.mark.slow
def test_beside_a_table_of_counts_a_nested_release_tells_no_small_count(release, town):
    without = release()
    assert told(without, town)  # or there would be nothing to see
    done = release(PUBLISHED_COUNTS=counts_by(town, "age"), PUBLISHED_AREA="da", PUBLISHED_NUMBER="people")
    assert not told(done, town)
    assert any(line.startswith("Shown in larger regions, so that") for line in done.log)


@pytest.mark.slow
def test_own_totals_say_the_same_of_all_levels(release, town):
    done = release(PUBLISHED_MARGINS="age")
    assert not told(done, town)


@pytest.mark.slow
def test_beside_a_table_of_counts_one_level_tells_no_small_count(release, town):
    done = release(
        RELEASE="one level", PUBLISHED_COUNTS=counts_by(town, "age"), PUBLISHED_AREA="da", PUBLISHED_NUMBER="people"
    )
    assert not told(done, town)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"PUBLISHED_AREA": "people"}, "PUBLISHED_AREA and PUBLISHED_NUMBER are both “people”"),
        ({"PUBLISHED_NUMBER": None}, "PUBLISHED_NUMBER: no field was chosen"),
        ({"PUBLISHED_AREA": "age", "PUBLISHED_NUMBER": "people"}, "PUBLISHED_COUNTS counts no area there is"),
    ],
)
def test_what_does_not_fit_ends_in_a_sentence(release, town, changes, words):
    with pytest.raises(QgsProcessingException, match=words):
        release(
            **{"PUBLISHED_COUNTS": counts_by(town, "age"), "PUBLISHED_AREA": "da", "PUBLISHED_NUMBER": "people"}
            | changes
        )


@pytest.mark.slow
def test_beside_last_levels_of_coarser_values_it_tells_no_small_count(release, town):
    sexes, ages = (sorted({one[i] for _, one in town.live()}, key=str) for i in (0, 1))
    rows = [("sex", sex, "*") for sex in sexes] + [("age", age, "*") for age in ages]
    table = dict(zip(("attribute", "value", "level_1"), map(list, zip(*[(n, v and str(v), c) for n, v, c in rows]))))
    given = {"HIERARCHIES": make_layer(table), "LEVELS_COARSER": ["sex", 1]}
    finer = {("*", age): list({one for _, one in town.live() if one[1] == age}) for age in ages}
    for published in (
        {"PUBLISHED_MARGINS": "age"},
        {"PUBLISHED_COUNTS": counts_by(town, "age"), "PUBLISHED_AREA": "da", "PUBLISHED_NUMBER": "people"},
    ):
        done = release(**given, **published)
        assert max(row["vbas_level"] for row in done.rows("RELEASED_RECORDS")) == done.results["N_LEVELS"]
        assert not told(done, town, finer)


def test_counts_of_a_field_of_the_areas_are_of_all_areas_that_have_its_value(release, town):
    done = release(
        PUBLISHED_COUNTS=counts_by(town, "sex", zone="district"), PUBLISHED_AREA="district", PUBLISHED_NUMBER="people"
    )
    assert any("published totals" in line for line in done.log)


@pytest.mark.slow
def test_values_in_other_bands_are_brought_together(release, town):
    ages = sorted({one[1] for _, one in town.live() if one[1] is not None})
    coarser = {age: "young" if age < 3 else "old" for age in ages}
    table = {"attribute": ["age"] * len(ages), "value": list(map(str, ages)), "level_1": list(coarser.values())}
    finer = counts_by(town, "age")
    unit = Counter((row[0], coarser[row[2]]) for row in town.records if row[2] is not None)
    wider = make_layer({"da": [key[0] for key in unit], "age": [key[1] for key in unit], "people": list(unit.values())})
    same = {"HIERARCHIES": make_layer(table), "PUBLISHED_AREA": "da", "PUBLISHED_NUMBER": "people"}
    fine = release(PUBLISHED_COUNTS=wider, **same)  # wider than the records
    assert any("published totals" in line for line in fine.log)
    coarse = {counts: release(GENERALISE=["age", 1], PUBLISHED_COUNTS=counts, **same) for counts in (finer, wider)}
    rows = [Counter(tuple(row.items()) for row in done.rows("RELEASED_RECORDS")) for done in coarse.values()]
    assert rows[0] == rows[1]
    with pytest.raises(QgsProcessingException, match="has values of “age” that do not fit"):
        release(PUBLISHED_COUNTS=wider, PUBLISHED_AREA="da", PUBLISHED_NUMBER="people")


@pytest.mark.slow
def test_beside_earlier_releases_too_it_tells_no_small_count(release, town, tmp_path):
    register = {"REGISTER": str(tmp_path / "register.gpkg"), "REGISTER_ACTION": "repair"}
    release(RELEASE="one level", **register)
    done = release(**register, PUBLISHED_COUNTS=counts_by(town, "age"), PUBLISHED_AREA="da", PUBLISHED_NUMBER="people")
    assert not told(done, town)
    assert any("Held against 1 earlier release" in line for line in done.log)
