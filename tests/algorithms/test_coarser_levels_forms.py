"""Nested releases whose last levels show coarser values: recounted from the files, in plain Python and SQL."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from qgis.core import QgsProcessingException

from vbas.core import anonymise, source

from ..core.nested_cases import row_by_row
from .conftest import make_layer
from .nested_town import make_town, rows_in

OUTPUTS = ("RELEASED_RECORDS", "RELEASED_REGIONS", "CROSSWALK", "REGION_AUDIT")
AGES = {1: "young", 2: "young", 3: "old", 4: "old", 98: "very old", 99: "very old", None: None}
TABLE = {
    "attribute": ["age"] * 7 + ["sex"] * 3,
    "value": [None if age is None else str(age) for age in AGES] + ["F", "M", None],
    "level_1": [*AGES.values(), *["*"] * 3],
    "level_2": ["*"] * 10,
}
# Levels after the coarsest regions: (age, sex) of a record as they are shown there.
STEPS = {
    ("age", 1): lambda sex, age: (sex, AGES[age]),
    ("age", 1, "sex", 1): lambda sex, age: ("*", AGES[age]),
    ("age", 1, "sex", 1, "age", 2): lambda sex, age: ("*", "*"),
}
LEVELS = ["age", "1", "sex", "1", "age", "2"]


@pytest.fixture(scope="module")
def town():
    """The town, with a few more people of rare kinds."""
    town = make_town(3)
    rng = np.random.default_rng(1)
    rare = [(town.identifiers[i], sex, age, "flu") for i, sex, age in zip(rng.integers(0, 36, 9), "FMF" * 3, [98] * 9)]
    odd = [(town.identifiers[0], None, 98, "flu"), (town.identifiers[1], None, 99, "cold")]
    return replace(town, records=town.records + [(*row, f"more-{i}") for i, row in enumerate([*rare, *odd])])


@pytest.fixture
def nested(run, town):
    """Run vbas:anonymize on the town with all three further levels, and what the test changes."""

    def one(**changes):
        parameters = {
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            "RECORDS": town.record_layer(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "RELEASE": "nested levels",
            "HIERARCHIES": make_layer(TABLE),
            "LEVELS_COARSER": LEVELS,
            **dict.fromkeys(OUTPUTS, "memory:"),
            **changes,
        }
        return run("anonymize", **{name: value for name, value in parameters.items() if value is not None})

    return one


def shown_by_hand(level, n_regional, sex, age):
    """What a record shows at a level, from the table written out above; None stays missing."""
    if level <= n_regional:
        return sex, None if age is None else str(age)
    return list(STEPS.values())[level - n_regional - 1](sex, age)


def recount(rows, crosswalk, records, k):
    """Check a release against the records; level -> records shown there, and how many are suppressed.

    Every (level, region, values) has k rows; nowhere are more shown than live; what is missing is what has fewer than k
    in its largest region at its coarsest values, and all of that.
    """
    n_levels = sum(name.startswith("vbas_region_") for name in crosswalk[0])
    n_regional = n_levels - len(STEPS)
    region_of = {row["da"]: [row[f"vbas_region_{level}"] for level in range(1, n_levels + 1)] for row in crosswalk}
    assert all(len(set(regions[n_regional - 1 :])) == 1 for regions in region_of.values())
    equivalence_classes: Counter[tuple] = Counter()
    for row in rows:
        equivalence_classes[row["vbas_level"], row["vbas_region"], row["sex"], row["age"]] += row.get("records", 1)
    assert min(equivalence_classes.values()) >= k
    live: list[Counter] = [Counter() for _ in range(n_levels + 1)]
    at_least: defaultdict[int, Counter] = defaultdict(Counter)
    above: dict[tuple, tuple] = {}
    for home, sex, age, *_ in records:
        ways = []
        for level in range(1, n_levels + 1):
            ways.append((level, region_of[home][level - 1], *shown_by_hand(level, n_regional, sex, age)))
            live[level][ways[-1]] += 1
        for fine, coarse in zip(ways, ways[1:]):
            assert above.setdefault(fine, coarse) == coarse
    for equivalence_class, n in equivalence_classes.items():
        assert equivalence_class in live[equivalence_class[0]], "nobody is that"
        place = equivalence_class
        at_least[place[0]][place] += n
        while place in above:
            place = above[place]
            at_least[place[0]][place] += n
    for level in range(1, n_levels + 1):
        assert all(n <= live[level][place] for place, n in at_least[level].items()), "more are shown than live there"
    assert at_least[n_levels] == {place: n for place, n in live[n_levels].items() if n >= k}
    shown_at: Counter[int] = Counter()
    for equivalence_class, n in equivalence_classes.items():
        shown_at[equivalence_class[0]] += n
    return shown_at, len(records) - sum(equivalence_classes.values()), n_regional


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5, 12])
@pytest.mark.parametrize("suffix", [".gpkg", ".csv"])
def test_files_hold_a_release_that_anybody_may_recount(nested, town, tmp_path, suffix, k):
    path = tmp_path / f"released{suffix}"
    done = nested(RELEASED_RECORDS=str(path), KEEP_FIELDS=["diagnosis"], K=k)
    rows = rows_in(path)
    if suffix == ".csv":  # numbers were text
        rows = [{**row, "age": row["age"] if row["age"] is None else str(row["age"])} for row in rows]
    else:
        statement = 'SELECT min(n) FROM (SELECT count(*) n FROM "released" GROUP BY vbas_level, vbas_region, sex, age)'
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(statement).fetchone()[0] >= k
    assert list(rows[0]) == ["vbas_level", "vbas_region", "sex", "age", "diagnosis"]
    assert all(row["age"] is None or isinstance(row["age"], str) for row in rows)
    shown_at, suppressed, n_regional = recount(rows, done.rows("CROSSWALK"), town.records, k)
    assert done.results["N_SUPPRESSED"] == suppressed
    assert done.results["N_LEVELS"] == n_regional + 3
    assert any(shown_at[level] for level in range(n_regional + 1, n_regional + 4)), "nothing is shown coarser here"
    without = nested(K=k, LEVELS_COARSER=None)
    assert without.results["N_LEVELS"] == n_regional
    more = without.results["N_SUPPRESSED"] - suppressed
    assert more > 0
    coarser = sum(n for level, n in shown_at.items() if level > n_regional)
    told = next(line for line in done.log if "are shown with coarser values" in line)
    assert told.startswith(f"{coarser} of ") and f"Without these levels {more} more would be suppressed." in told
    assert f"level {n_regional + 1} (age at level 1) {shown_at[n_regional + 1]}," in told


def test_measures_and_regions_are_those_of_the_rows(nested, town, tmp_path):
    report, public_report = tmp_path / "report.html", tmp_path / "public_report.html"
    done = nested(K=5, REPORT=str(report), RELEASE_REPORT=str(public_report))
    rows, crosswalk = done.rows("RELEASED_RECORDS"), done.rows("CROSSWALK")
    shown_at, suppressed, n_regional = recount(rows, crosswalk, town.records, 5)
    sizes = Counter((row["vbas_level"], row["vbas_region"], row["sex"], row["age"]) for row in rows)
    assert done.results["DISCERNIBILITY"] == sum(n**2 for n in sizes.values())
    expected = ["as on level 1"] * n_regional
    expected += ["age at level 1", "sex at level 1, age at level 1", "sex at level 1, age at level 2"]
    for name in ("RELEASED_REGIONS", "REGION_AUDIT"):
        found = done.rows(name)
        own: Counter[int] = Counter()
        for row in found:
            own[row["vbas_level"]] += row["released" if name == "RELEASED_REGIONS" else "shown"]
        assert {level: n for level, n in own.items() if n} == shown_at
        if name == "RELEASED_REGIONS":
            assert {row["vbas_level"]: row["vbas_values"] for row in found} == dict(enumerate(expected, 1))
            assert found[-1]["within"] == len(rows)
            continue
        for row in found:
            here = [
                n
                for equivalence_class, n in sizes.items()
                if equivalence_class[:2] == (row["vbas_level"], row["vbas_region"])
            ]
            assert (row["classes"], row["smallest"]) == (len(here), min(here, default=0))
        assert sum(row["suppressed"] for row in found if row["vbas_level"] == n_regional) == suppressed
    page, public = (path.read_text(encoding="utf-8") for path in (report, public_report))
    assert "Who is shown coarser" in page and "Who is shown coarser" not in public
    assert "sex at level 1, age at level 2" in page and "sex at level 1, age at level 2" in public
    assert f"smallest class: {min(sizes.values())})" in page
    # Who is shown coarser, value by value: of the old of 98 years all that do not show it.
    there = sum(1 for row in rows if row["age"] == "98")
    records = sum(1 for row in town.records if row[2] == 98)
    assert numbers_of(page, "Who is shown coarser", 98)[:2] == [records, there]
    # Who loses what is said of the values as they were, though hardly anybody shows this one.
    assert numbers_of(page, "Who is suppressed", 98)[0] == records > there


def numbers_of(page, title, value):
    """The whole numbers of the row of a value in a section of the report, after the value itself."""
    at = page[page.rindex(f">{title}<") :]
    row = at[at.index(f">{value}<") :]
    cells = [cell.split("<")[0] for cell in row[: row.index("</tr>")].split(">")]
    return [int(cell) for cell in cells if cell.isdigit()][1:]


@pytest.mark.slow
@pytest.mark.parametrize("k", [12, 16, 20, 30, 40])
def test_who_is_lost_is_said_of_the_values_as_they_were(nested, town, k):
    done = nested(K=k, LEVELS_COARSER=["age", 1])
    last = Counter((sex, AGES[age]) for _, sex, age, *_ in town.records)
    every: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for _, sex, age, *_ in town.records:
        for value in (f"sex {sex or '(missing)'}", f"age {age or '(missing)'}"):
            every[value] += 1
            lost[value] += last[sex, AGES[age]] < k
    assert done.results["N_SUPPRESSED"] == sum(n for n in last.values() if n < k) > 0
    share = {value: 100 * lost[value] / n for value, n in every.items() if n >= k}
    worst = max(share, key=share.__getitem__)
    told = next(line for line in done.log if line.startswith("The group that loses most is "))
    lost_share = "all its " if share[worst] == 100 else f"{share[worst]:.3g} % of its "
    assert told.startswith(f"The group that loses most is “{worst}”: {lost_share}{every[worst]} record")


@pytest.mark.slow
def test_choices_that_cost_the_same_are_taken_as_asked(nested, town, monkeypatch):
    asked, right = [], anonymise.nest_coarser

    def noted(*given):
        asked.append(given[6])
        return right(*given)

    monkeypatch.setattr(anonymise, "nest_coarser", noted)
    for ties in ("fixed", "secret"):
        done = nested(TIES=ties, K=12)
        recount(done.rows("RELEASED_RECORDS"), done.rows("CROSSWALK"), town.records, 12)
    assert asked[0] is None and asked[1] is not None


def test_without_the_parameter_it_is_the_release_as_it_was(nested):
    plain, blank = nested(LEVELS_COARSER=None), nested(LEVELS_COARSER=[""])
    assert plain.rows("RELEASED_RECORDS") == blank.rows("RELEASED_RECORDS")
    assert "vbas_values" not in plain.rows("RELEASED_REGIONS")[0]
    assert isinstance(next(row["age"] for row in plain.rows("RELEASED_RECORDS") if row["age"]), int)


def test_counted_records_give_the_same_release(nested, town):
    whole, counted = nested(), nested(RECORDS=town.counted_layer(), RECORD_COUNT="n")
    rows = Counter(tuple(row.values()) for row in whole.rows("RELEASED_RECORDS"))
    assert rows == {tuple(row.values())[:-1]: row["records"] for row in counted.rows("RELEASED_RECORDS")}
    recount(counted.rows("RELEASED_RECORDS"), counted.rows("CROSSWALK"), town.records, 5)


def test_persons_are_counted_in_what_is_shown(nested, town):
    """With two rows a person, every class has five persons."""
    rows = [(*row[:4], f"person {i // 2}") for i, row in enumerate(sorted(town.records, key=str))]
    done = nested(RECORDS=replace(town, records=rows).record_layer(), PERSON_ID="name", KEEP_FIELDS=["name"][:0])
    shown_at = Counter(row["vbas_level"] for row in done.rows("RELEASED_RECORDS"))
    equivalence_classes = Counter(tuple(row.values()) for row in done.rows("RELEASED_RECORDS"))
    assert min(equivalence_classes.values()) >= 5 and len(shown_at) > 3
    assert any(line.startswith("k counts persons") for line in done.log)


def test_what_all_records_show_coarser_becomes_coarser_still(nested):
    done = nested(GENERALISE=["age", 1], LEVELS_COARSER=["age", "2"], K=20)
    rows = done.rows("RELEASED_RECORDS")
    assert {row["age"] for row in rows} == {"young", "old", "very old", None, "*"} - {"very old", None} | {
        row["age"] for row in rows if row["age"] in ("very old", None)
    }
    assert {row["age"] for row in rows if row["vbas_level"] == done.results["N_LEVELS"]} == {"*"}
    assert done.rows("RELEASED_REGIONS")[-1]["vbas_values"] == "age at level 2"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"LEVELS_COARSER": ["age", 1, "age", 1]}, "shows “age” at level 1 after level 1; its levels are 0 .* to 2"),
        ({"LEVELS_COARSER": ["age", 3]}, "shows “age” at level 3 after level 0; its levels are 0 .* to 2"),
        ({"LEVELS_COARSER": ["age", 1], "GENERALISE": ["age", 1]}, "shows “age” at level 1 after level 1"),
        ({"LEVELS_COARSER": ["diagnosis", 1]}, "LEVELS_COARSER names “diagnosis”, which is not among QUASI"),
        ({"LEVELS_COARSER": ["age", "wide"]}, "LEVELS_COARSER asks for level “wide” of “age”"),
        ({"LEVELS_COARSER": ["age"]}, "LEVELS_COARSER has an odd number of cells"),
        ({"HIERARCHIES": None}, "nothing says what its coarser values are"),
    ],
)
def test_what_does_not_fit_ends_in_a_sentence(nested, changes, words):
    with pytest.raises(QgsProcessingException, match=words):
        nested(**changes)


def test_with_a_register_it_is_refused_before_anything_is_read(nested, tmp_path):
    register = tmp_path / "register.gpkg"
    with pytest.raises(QgsProcessingException, match="LEVELS_COARSER and REGISTER do not go together"):
        nested(REGISTER=str(register), RECORD_REGION="no such field")
    assert not register.exists()


@pytest.fixture
def stepped(run, town):
    """stepped(crosswalk, **parameters): vbas:releaserecords over the town, with what the test changes."""

    def one(crosswalk, **changes):
        parameters = {
            "RECORDS": town.record_layer(),
            "RECORD_REGION": "home",
            "QUASI_IDENTIFIERS": ["sex", "age"],
            "KEEP_FIELDS": ["diagnosis"],
            "REGIONS": town.area_layer(),
            "REGION_ID": "da",
            "POPULATION": "people",
            "HIERARCHIES": make_layer(TABLE),
            "LEVELS_COARSER": LEVELS,
            "CROSSWALK": crosswalk,
            "RELEASED_RECORDS": "memory:",
            **changes,
        }
        return run("releaserecords", **{name: value for name, value in parameters.items() if value is not None})

    return one


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"GENERALISE": ["age", 1], "LEVELS_COARSER": ["age", 2, "sex", 1], "K": 12}])
def test_by_its_crosswalk_it_is_the_same_release(nested, stepped, tmp_path, more):
    """The crosswalk repeats the largest regions for each such level; so does one without these levels not."""
    whole = nested(KEEP_FIELDS=["diagnosis"], **more)
    page = tmp_path / "page.html"
    alone = nested(**{**more, "LEVELS_COARSER": None})
    for crosswalk in (whole.layer("CROSSWALK"), alone.layer("CROSSWALK")):
        again = stepped(crosswalk, RELEASE_REPORT=str(page), **more)
        assert again.rows("RELEASED_RECORDS") == whole.rows("RELEASED_RECORDS")
        assert again.results["DISCERNIBILITY"] == whole.results["DISCERNIBILITY"]
        assert "at level 2" in page.read_text(encoding="utf-8")
        page.unlink()
    told = next(line for line in whole.log if "are shown with coarser values" in line)
    assert told in again.log


def test_over_one_level_of_regions_the_levels_show_coarser_values(stepped, town):
    crosswalk = [{"da": identifier, "vbas_region_1": i // 12} for i, identifier in enumerate(town.identifiers)]
    layer = make_layer({"da": [row["da"] for row in crosswalk], "vbas_region": [i // 12 for i in range(36)]})
    done = stepped(layer, REGIONS=None, REGION_ID=None, POPULATION=None, KEEP_FIELDS=None, K=12)
    repeated = [
        {"da": row["da"], **{f"vbas_region_{i}": row["vbas_region_1"] for i in range(1, 5)}} for row in crosswalk
    ]
    shown_at, suppressed, n_regional = recount(done.rows("RELEASED_RECORDS"), repeated, town.records, 12)
    assert n_regional == 1 and set(shown_at) > {1} and done.results["N_SUPPRESSED"] == suppressed


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"REGISTER": "earlier.gpkg"}, "LEVELS_COARSER and REGISTER do not go together"),
        ({"HIERARCHIES": None}, "nothing says what its coarser values are"),
    ],
)
def test_what_does_not_fit_by_a_crosswalk_ends_in_a_sentence(stepped, town, changes, words):
    layer = make_layer({"da": town.identifiers, "vbas_region": [i // 12 for i in range(36)]})
    with pytest.raises(QgsProcessingException, match=words):
        stepped(layer, **changes)


def test_under_one_level_it_has_no_effect_and_says_so(nested):
    done = nested(RELEASE="one level")
    assert any(line.startswith("LEVELS_COARSER = ") and "has no effect" in line for line in done.log)


@pytest.mark.parametrize(("kept", "refused"), [("years", True), ("coin", False)])
def test_a_kept_copy_of_what_is_shown_coarser_is_refused(nested, town, kept, refused):
    ages = sorted({row[2] for row in town.records if row[2] is not None})
    rows = [(*row[:3], kept, row[4]) for row in town.records for _ in range(1)]
    years = [None if row[2] is None else f"y{ages.index(row[2])}" for row in rows]
    coins = ["ab"[i * 7 % 11 % 2] for i in range(len(rows))]
    layer = make_layer(
        {
            "home": [row[0] for row in rows],
            "sex": [row[1] for row in rows],
            "age": [row[2] for row in rows],
            "years": years,
            "coin": coins,
        }
    )
    given = {"RECORDS": layer, "KEEP_FIELDS": [kept], "LEVELS_COARSER": ["age", 2], "K": 60}
    if refused:
        with pytest.raises(
            QgsProcessingException, match=r"“years” gives back what coarser values take: in .* a coarser “age”"
        ):
            nested(**given)
    else:
        assert nested(**given).results["N_SUPPRESSED"] >= 0


def test_a_coarser_value_that_names_the_area_is_refused(nested, town):
    """A quasi-identifier whose coarser value is the area: one with a finer place in it."""
    rows = [(row[0], row[1], f"{row[0]}/{i % 2}") for i, row in enumerate(town.records)]
    layer = make_layer(dict(zip(("home", "sex", "block"), map(list, zip(*rows)))))
    blocks = sorted({row[2] for row in rows})
    table = {
        "attribute": ["block"] * len(blocks),
        "value": blocks,
        "level_1": [block.split("/")[0] for block in blocks],
    }
    with pytest.raises(QgsProcessingException, match="“block” holds the identifier of the record's area"):
        nested(
            RECORDS=layer,
            QUASI_IDENTIFIERS=["sex", "block"],
            HIERARCHIES=make_layer(table),
            LEVELS_COARSER=["block", 1],
            K=2,
        )


def test_a_file_that_shows_too_few_never_reaches_its_place(nested, tmp_path, monkeypatch):
    """The recount of the written file stands on its own feet: with the others off, it stops a wrong release."""
    path = tmp_path / "released.gpkg"
    right = source.apply

    def wrong(*arguments):
        release = row_by_row(right(*arguments))
        level = release.level.copy()
        level[0] = level.max()
        return replace(release, level=level)

    monkeypatch.setattr(source, "apply", wrong)
    with pytest.raises(QgsProcessingException, match="nothing was written"):
        nested(RELEASED_RECORDS=str(path))
    monkeypatch.setattr(source, "check_where_released", lambda *_, **__: None)
    with pytest.raises(QgsProcessingException):
        nested(RELEASED_RECORDS=str(path))
    assert not Path(path).exists()


def test_it_is_flattened_to_a_level_of_regions_and_warned_of_beyond(nested, run, tmp_path):
    done = nested()
    n_levels = done.results["N_LEVELS"]
    given = {
        "RECORDS": done.layer("RELEASED_RECORDS"),
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "CROSSWALK": done.layer("CROSSWALK"),
        "FLATTENED": "memory:",
    }
    rows = done.rows("RELEASED_RECORDS")
    for level in (1, n_levels - 3, n_levels):
        flat = run("flattenrelease", **given, LEVEL=level)
        there = [row for row in rows if row["vbas_level"] <= level]
        assert Counter((row["sex"], row["age"]) for row in flat.rows("FLATTENED")) == Counter(
            (row["sex"], row["age"]) for row in there
        )
        warned = any("coarser values" in line for line in flat.log)
        assert warned == (level > n_levels - 3)
