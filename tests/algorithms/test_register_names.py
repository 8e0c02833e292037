"""A register knows attributes by what they hold: other names, other words, other codes do not get past it unseen."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from qgis.core import QgsField, QgsProcessingException, QgsVectorLayer
from qgis.PyQt.QtCore import QVariant

from ..systems import reads_without_a_trace
from .conftest import make_layer

AWAY = r"would give away \d+ counts of fewer than 5 people"
NOTHING = "people was found to follow."


def records_of(grid, names=None, values=None, areas=None):
    """The records of the grid with other names of fields, other values by field, and other codes of areas."""
    names, values = names or {}, {**(values or {}), **({"home": areas} if areas else {})}
    source = grid[1]
    columns = {}
    rows = [feature.attributes() for feature in source.getFeatures()]
    for i, name in enumerate(source.fields().names()):
        column = [row[i] or None for row in rows]
        changed = values.get(name, lambda value: value)
        columns[names.get(name, name)] = [None if value is None else changed(value) for value in column]
    return make_layer(columns)


def areas_of(grid, codes):
    """The areas of the grid under other codes."""
    features = list(grid[0].getFeatures())
    wkts = [feature.geometry().asWkt() for feature in features]
    columns = {
        "da": [codes(feature["da"]) for feature in features],
        "people": [feature["people"] for feature in features],
    }
    return make_layer(columns, wkts)


@pytest.fixture(scope="module")
def first_register():
    """The register with the plain first release, made by the first test that asks for it."""
    return bytearray()


@pytest.fixture
def twice(anonymize, grid, tmp_path, first_register):
    """twice(names, values, areas, quasi, **more): a second release of other regions, under these names."""
    file = tmp_path / "register.gpkg"
    register = str(file)

    def one(names=None, values=None, areas=None, quasi=("sex", "age"), first=None, **more):
        if not file.exists() and first_register and not first:
            file.write_bytes(first_register)
        elif not file.exists():
            anonymize(**{"N_SITES": 9, "REGISTER": register, **(first or {})})
            if not first:
                first_register.extend(file.read_bytes())
        given = {"RECORDS": records_of(grid, names, values, areas), "QUASI_IDENTIFIERS": list(quasi)}
        given["RECORD_REGION"] = (names or {}).get("home", "home")
        if areas:
            given["REGIONS"] = areas_of(grid, areas)
        return anonymize(**{"N_SITES": 10, "REGISTER": register, **given, **more})

    return one


def releases_in(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM vbas_releases").fetchone()[0]


def test_the_same_under_its_old_name_is_refused(twice):
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice()


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None}])
def test_a_field_under_another_name_is_asked_for(twice, tmp_path, more):
    given = ({"sex": "gender"}, None, None, ("gender", "age"))
    with pytest.raises(
        QgsProcessingException, match="“gender” of this release and “sex” of release 1 have other names"
    ):
        twice(*given, **more)
    assert releases_in(tmp_path / "register.gpkg") == 1
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, **more, ALIASES=["gender", "sex"])
    done = twice(*given, **more, ALIASES="gender,sex", REGISTER_ACTION="repair")
    assert any("would have given away" in line for line in done.log)
    assert any(NOTHING in line for line in done.log)


@pytest.mark.slow
def test_fields_that_are_really_different_are_said_to_be(twice):
    """With 8 regions: by ages alone 10 tell the class that the first release suppressed."""
    given = ({"sex": "gender"}, None, None, ("gender", "age"))
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, ALIASES=["gender", "sex"], N_SITES=8)
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, ALIASES=["gender", "not sex"])
    done = twice(*given, ALIASES=["gender", "not sex"], N_SITES=8)
    assert any(NOTHING in line for line in done.log)


def test_several_fields_under_other_names_are_asked_for_at_once(twice):
    given = ({"sex": "gender", "age": "years"}, None, None, ("gender", "years"))
    with pytest.raises(QgsProcessingException) as caught:
        twice(*given)
    assert "gender, sex" in str(caught.value) and "years, age" in str(caught.value)
    with pytest.raises(QgsProcessingException, match="“years” of this release and “age”"):
        twice(*given, ALIASES=["gender", "sex"])
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, ALIASES=["gender", "sex", "years", "age"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [{"sex": "SEX", "age": "AGE"}, {"sex": "Sex "}, {"sex": "sexofperson", "age": "AGE"}, {"age": "Age"}]
)
def test_names_in_capitals_or_cut_are_recognised(anonymize, grid, twice, names):
    first = {"sex": "sexofperso"} if "sexofperson" in names.values() else {}
    quasi = [names.get(name, name) for name in ("sex", "age")]
    before = {
        "RECORDS": records_of(grid, first),
        "QUASI_IDENTIFIERS": [first.get(name, name) for name in ("sex", "age")],
    }
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(names, None, None, quasi, first=before)
    done = twice(names, None, None, quasi, first=before, REGISTER_ACTION="repair")
    assert any("is taken for" in line and "cut to ten characters" in line for line in done.log)


@pytest.mark.slow
@pytest.mark.parametrize("words", [{"F": "f", "M": "m"}, {"F": " F", "M": "M  "}])
def test_values_in_other_writing_are_recognised(twice, words):
    given = (None, {"sex": words.get, "age": lambda value: f"0{value}"})
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given)
    done = twice(*given, REGISTER_ACTION="repair")
    assert any("“sex”: release 1 writes values otherwise" in line for line in done.log)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sex", "gender"])
def test_values_in_other_words_are_never_said_to_give_nothing_away(twice, tmp_path, name):
    given = ({"sex": name}, {"sex": {"F": "1", "M": "2"}.get}, None, (name, "age"))
    page = tmp_path / "page.html"
    with pytest.raises(QgsProcessingException, match=AWAY):  # by ages alone
        twice(*given)
    done = twice(*given, REPORT=str(page), REGISTER_ACTION="repair")
    assert any(f"“{name}” of this release (“1”, “2”) and “sex” of release 1" in line for line in done.log)
    assert not any(NOTHING in line for line in done.log)
    (held,) = [line for line in done.log if "Held against" in line]
    assert "nobody can say" in held
    assert "may be the same field in other words" in page.read_text() and "nobody can say" in page.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sex", "gender"])
def test_values_in_other_words_are_compared_once_somebody_says_them(twice, name):
    given = ({"sex": name}, {"sex": {"F": "1", "M": "2"}.get}, None, (name, "age"))
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, ALIASES=[name, "sex: 1=F; 2=M"])
    with pytest.raises(QgsProcessingException, match="say which values are the same"):
        twice(*given, ALIASES=[name, "sex"])


@pytest.mark.slow
def test_what_earlier_releases_give_away_by_themselves_is_not_called_nothing(twice):
    """The second got past, for want of words; the third is the second once more."""
    given = (None, {"sex": {"F": "1", "M": "2"}.get})
    twice(*given, REGISTER_ACTION="repair")
    done = twice(*given, ALIASES=["sex", "sex: 1=F; 2=M"], REGISTER_ACTION="repair")
    assert any("The earlier releases give away" in line and "which adds none" in line for line in done.log)
    assert any("no further count of fewer than" in line for line in done.log)
    assert not any(NOTHING in line for line in done.log)


def test_the_same_release_in_other_words_is_asked_for(twice):
    """The same regions: every total agrees to the record, which is no chance."""
    given = ({"sex": "gender"}, {"sex": {"F": "1", "M": "2"}.get}, None, ("gender", "age"))
    with pytest.raises(QgsProcessingException, match=r"have the same totals in other words.*gender, “sex: 1=F; 2=M”"):
        twice(*given, N_SITES=9)


def test_ages_in_groups_made_elsewhere_are_warned_of(twice):
    done = twice(None, {"age": lambda value: "old" if value > 2 else "young"})
    assert not any(NOTHING in line for line in done.log)
    assert any("“age” of this release" in line for line in done.log)


@pytest.mark.slow
def test_some_values_in_other_words_are_warned_of(twice):
    done = twice(None, {"age": lambda value: "old" if value > 4 else str(value)}, N_SITES=8)
    assert not any(NOTHING in line for line in done.log)
    assert any("“age”: release 1 shows “5” and this release “old”" in line for line in done.log)


def test_a_coarser_field_under_another_name_is_asked_for(anonymize, twice):
    rule = {"HIERARCHY_RULES": ["years", "bands 2"], "GENERALISE": ["years", "1"]}
    given = ({"age": "years"}, None, None, ("sex", "years"))
    with pytest.raises(QgsProcessingException, match="“years” of this release and “age” of release 1"):
        twice(*given, **rule)
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(*given, **rule, ALIASES=["years", "age"])


def test_a_finer_field_after_a_coarser_one_of_another_name_is_asked_for(twice):
    first = {"HIERARCHY_RULES": ["age", "bands 2"], "GENERALISE": ["age", "1"]}
    given = ({"age": "years"}, None, None, ("sex", "years"))
    done = twice(*given, first=first, N_SITES=8)
    assert any("“years” of this release" in line and "may be the same field" in line for line in done.log)
    with pytest.raises(QgsProcessingException, match="“years” of this release and “age” of release 1"):
        twice(*given, HIERARCHY_RULES=["years", "bands 2"])


@pytest.mark.slow
def test_fewer_values_under_another_name_are_asked_for_or_warned_of(grid, twice):
    """Records of one half of the ages only: a subset of the classes."""
    young = grid[1].clone()
    young.setSubsetString("")
    columns: dict[str, list] = {"home": [], "gender": [], "years": []}
    for feature in grid[1].getFeatures():
        if feature["age"] <= 3:
            for name, field in (("home", "home"), ("gender", "sex"), ("years", "age")):
                columns[name].append(feature[field])
    given = {"RECORDS": make_layer(columns), "QUASI_IDENTIFIERS": ["gender", "years"]}
    with pytest.raises(QgsProcessingException, match="“gender” of this release and “sex” of release 1"):
        twice(**given)
    done = twice(**given, ALIASES=["gender", "sex"], REGISTER_ACTION="repair")
    assert any("“years” of this release" in line and "may be the same field" in line for line in done.log)
    assert not any(NOTHING in line for line in done.log)


def test_other_fields_are_taken_for_different_ones_and_the_result_says_so(anonymize, tmp_path):
    register = str(tmp_path / "register.gpkg")
    anonymize(N_SITES=9, REGISTER=register, QUASI_IDENTIFIERS=["sex"])
    done = anonymize(N_SITES=9, REGISTER=register, QUASI_IDENTIFIERS=["age"])
    (held,) = [line for line in done.log if "Held against" in line]
    assert "was found to follow if fields that are taken for different ones are different" in held
    assert "age / sex" in held
    said = anonymize(N_SITES=9, REGISTER=register, QUASI_IDENTIFIERS=["age"], ALIASES=["age", "not sex"])
    assert any(NOTHING in line for line in said.log)


@pytest.mark.slow
def test_a_sensitive_field_under_another_name_is_asked_for(twice):
    first = {"SENSITIVE": ["diagnosis"], "L_DIVERSITY": 2}
    given = {"names": {"diagnosis": "dx"}, "SENSITIVE": ["dx"], "L_DIVERSITY": 2, "REGISTER_ACTION": "repair"}
    with pytest.raises(QgsProcessingException, match="“dx” of this release and “diagnosis” of release 1"):
        twice(first=first, **given)
    assert any(NOTHING in line for line in twice(first=first, ALIASES=["dx", "diagnosis"], **given).log)


def test_a_field_that_is_sensitive_in_one_release_only_is_warned_of(twice):
    first = {"SENSITIVE": ["diagnosis"]}
    done = twice(None, None, None, ("sex", "diagnosis"), first=first, REGISTER_ACTION="repair")
    assert any("is a quasi-identifier of this release and a sensitive field of release 1" in line for line in done.log)
    assert not any(NOTHING in line for line in done.log)
    with pytest.raises(QgsProcessingException, match="“dx” of this release and “diagnosis” of release"):
        twice({"diagnosis": "dx"}, None, None, ("sex", "dx"), first=first)


@pytest.mark.slow
@pytest.mark.parametrize("codes", [lambda code: f"0{code}", lambda code: f" {code}"])
def test_areas_in_other_writing_are_recognised(twice, codes):
    with pytest.raises(QgsProcessingException, match=AWAY):
        twice(areas=codes)
    done = twice(areas=codes, REGISTER_ACTION="repair")
    assert any("36 areas of release 1 are written otherwise" in line for line in done.log)


@pytest.mark.slow
def test_other_codes_of_the_same_areas(twice):
    """None in common is refused; some in common is said."""
    with pytest.raises(QgsProcessingException, match=r"have no area in common .*whose identifiers are written alike"):
        twice(areas=lambda code: f"x{code}")
    given = {"areas": lambda code: f"x{code}" if code > "460500" else code}
    done = twice(**given, REGISTER_ACTION="repair")
    assert any("Of the 36 areas of release 1 5 are not among those of this release" in line for line in done.log)
    assert not any(NOTHING in line for line in done.log)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (["gender", "sexe"], "ALIASES names “sexe”, which no release has"),
        (["gender"], "ALIASES has 1 cell"),
        (["gender", "sex: 1"], "says nothing of the values"),
        (["gender", "sex: 1=F; 2=F"], "names the value “F” of “gender” and “sex” twice"),
        (["gender", "age"], "ALIASES says that “gender” and “age” are the same, but this release has both"),
    ],
)
def test_what_is_wrong_with_an_alias_is_said(twice, rows, problem):
    with pytest.raises(QgsProcessingException, match=problem):
        twice({"sex": "gender"}, None, None, ("gender", "age"), ALIASES=rows)


# ---- releases as layers


@pytest.fixture
def published(anonymize, grid, tmp_path):
    """published(n, names, values) -> the released records and the crosswalk of a release, in files."""

    def one(n, names=None, values=None):
        files = {name: str(tmp_path / f"{name}{n}.gpkg") for name in ("RELEASED_RECORDS", "CROSSWALK")}
        quasi = [(names or {}).get(name, name) for name in ("sex", "age")]
        anonymize(N_SITES=n, RECORDS=records_of(grid, names, values), QUASI_IDENTIFIERS=quasi, **files)
        return files["RELEASED_RECORDS"], files["CROSSWALK"]

    return one


def check(run, releases, quasi="sex;age", **more):
    given = {"RELEASES": [one for one, _ in releases], "CROSSWALKS": [one for _, one in releases]}
    return run("checkreleases", **given, QUASI_IDENTIFIERS=quasi, PINNED="memory:", **more)


@pytest.mark.slow
@pytest.mark.parametrize("quasi", ["sex;age", "sex;gender;age"])
@reads_without_a_trace
def test_layers_with_other_names_are_asked_for(run, published, quasi):
    plain = check(run, [published(9), published(10)])
    releases = [published(9), published(10, {"sex": "gender"})]
    with pytest.raises(QgsProcessingException, match="“gender” of release 2 and “sex” of release 1 have other names"):
        check(run, releases, quasi)
    done = check(run, releases, quasi, ALIASES=["gender", "sex"])
    assert done.results["N_PINNED"] == plain.results["N_PINNED"] > 10
    different = check(run, releases, "sex;gender;age", ALIASES=["gender", "not sex"])
    assert 10 < different.results["N_PINNED"] < plain.results["N_PINNED"]
    assert different.results["N_NOT_COMPARED"] == different.results["N_CONTRADICTED"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("quasi", ["sex;age", "age"])
@reads_without_a_trace
def test_a_field_by_which_classes_may_have_been_made_is_asked_for(run, published, quasi):
    """Without it the counts of a release are not of all people: they contradict others, or tell too little."""
    releases = [published(9), published(10, {"sex": "gender"})]
    with pytest.raises(QgsProcessingException, match=r"release 2 shows “gender”, .* name it in QUASI_IDENTIFIERS"):
        check(run, releases, quasi, ALIASES=["gender", "not sex"])
    with pytest.raises(QgsProcessingException, match=r"release 1 shows “sex”.*release 2 shows “sex”"):
        check(run, [published(9), published(10)], "age")


@pytest.mark.slow
def test_a_field_beside_the_classes_is_not_asked_for(run, anonymize, tmp_path):
    """Diagnoses divide classes into groups below k, so that none was made by them; what is sensitive is said so."""
    releases = []
    for n in (9, 10):
        files = {name: str(tmp_path / f"{name}{n}.gpkg") for name in ("RELEASED_RECORDS", "CROSSWALK")}
        anonymize(N_SITES=n, KEEP_FIELDS=["diagnosis"], **files)
        releases.append((files["RELEASED_RECORDS"], files["CROSSWALK"]))
    assert check(run, releases).results["N_PINNED"] > 10
    said = check(run, releases, SENSITIVE="diagnosis")
    assert said.results["N_NOT_COMPARED"] == 0


@pytest.mark.slow
def test_contradictions_are_not_said_to_be_other_people(run, published):
    """What is called sensitive and is not: the run says that nobody can say."""
    releases = [published(9), published(10, {"sex": "gender"})]
    done = check(run, releases, ALIASES=["gender", "not sex"], SENSITIVE="gender")
    assert done.results["N_CONTRADICTED"]
    assert any("contradict each other" in line and "nobody can say" in line for line in done.log)
    assert not any("No count of" in line or "different people." in line for line in done.log)


@pytest.mark.slow
def test_a_layer_that_lacks_a_field_is_taken_without_it(run, published, tmp_path):
    """Fields that cannot be what is lacking are not looked at: lists, bytes, numbers with decimals."""
    first, (records, crosswalk) = published(9), published(10)
    rows = list(QgsVectorLayer(records, "r", "ogr").getFeatures())
    layer = make_layer({"vbas_region": [row["vbas_region"] for row in rows], "age": [row["age"] for row in rows]})
    kinds = {"list": QVariant.Type.StringList, "bytes": QVariant.Type.ByteArray, "weight": QVariant.Type.Double}
    layer.dataProvider().addAttributes([QgsField(name, kind) for name, kind in kinds.items()])
    layer.updateFields()
    done = check(run, [first, (layer, crosswalk)])
    assert any("release 2 has no “sex”: it is held against the others without it" in line for line in done.log)
    assert done.results["N_NOT_COMPARED"] == 0


@pytest.mark.slow
@reads_without_a_trace
def test_layers_with_cut_names_are_recognised(run, published):
    plain = check(run, [published(9), published(10)])
    releases = [published(9, {"sex": "sexofperson"}), published(10, {"sex": "SEXOFPERSO"})]
    done = check(run, releases, "sexofperson;age")
    assert done.results["N_PINNED"] == plain.results["N_PINNED"]
    assert any("“SEXOFPERSO” of release 2 is taken for “sexofperson”" in line for line in done.log)


@pytest.mark.slow
@reads_without_a_trace
def test_layers_in_other_words_are_warned_of_in_log_and_report(run, published, tmp_path):
    page = tmp_path / "page.html"
    recoded = published(10, None, {"sex": {"F": "1", "M": "2"}.get})
    done = check(run, [published(9), recoded], REPORT=str(page))
    assert done.results["N_NOT_COMPARED"] == 1
    assert any("Not everything could be compared" in line for line in done.log)
    text = page.read_text()
    assert "Not everything could be compared" in text and "may be the same field in other words" in text
    said = check(run, [published(9), recoded], ALIASES=["sex", "sex: 1=F; 2=M"])
    assert said.results["N_NOT_COMPARED"] == 0 and said.results["N_PINNED"] > 10


@pytest.mark.slow
def test_a_register_is_checked_under_aliases_too(run, twice, tmp_path):
    register = str(tmp_path / "register.gpkg")
    given = ({"sex": "gender"}, None, None, ("gender", "age"))
    twice(*given, ALIASES=["gender", "not sex"], REGISTER_ACTION="repair")
    with pytest.raises(QgsProcessingException, match="“gender” of release 2 and “sex” of release 1"):
        run("checkreleases", REGISTER=register, PINNED="memory:")
    done = run("checkreleases", REGISTER=register, PINNED="memory:", ALIASES=["gender", "sex"])
    assert done.results["N_PINNED"] > 10
