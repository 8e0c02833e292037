"""What is proposed before a release, on twenty projects as people have them, and by brute force on small tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.areas import identifier_text
from vbas.core.crosswalk import Crosswalk
from vbas.core.errors import InputError
from vbas.core.generalising.rules import hierarchy_rule
from vbas.core.preparing.checking import check_data, counted_over, several_rows
from vbas.core.preparing.coarser import coarser_offers, what_each_suppresses
from vbas.core.preparing.joining import best_join, joining, keys_of
from vbas.core.preparing.roles import (
    AREA,
    KEEP,
    LEAVE_OUT,
    MOST_QUASI,
    PERSON,
    QUASI,
    ROLES,
    SENSITIVE,
    column_summary,
    proposed_roles,
)
from vbas.core.preparing.usual_names import USUAL_FIELDS, usual_field
from vbas.core.profile import profile_records
from vbas.core.records.columns import column_from_values
from vbas.core.suppression import Terms

N, N_AREAS = 600, 30


class Project:
    """A layer of areas and a table of records, and what a careful reader would choose."""

    def __init__(self, title, areas, records, join, roles, person=""):
        self.title, self.join, self.roles, self.person = title, join, roles, person
        self.areas = {name: column_from_values(values) for name, values in areas.items()}
        self.records = {name: column_from_values(values) for name, values in records.items()}


def projects():
    """Twenty of them, of several countries and trades."""
    rng = np.random.default_rng(11)
    row = np.arange(N)
    home = rng.integers(0, N_AREAS, N)
    person = row // 3  # three rows each
    of_person = home[person * 3]

    def one_of(*values):
        return [values[i] for i in rng.integers(0, len(values), N)]

    def of(codes, where=home):
        return [codes[i] for i in where]

    def numbers(low, high):
        return rng.integers(low, high, N).tolist()

    das = [f"4611{i:04d}" for i in range(N_AREAS)]
    as_numbers = [46110000 + i for i in range(N_AREAS)]
    sex, age = one_of("F", "M"), one_of("0-14", "15-24", "25-44", "45-64", "65+")
    mails = [f"p{i}@example.org" for i in row]
    born = [f"19{20 + i % 80}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in row]
    provinces = ["46"] * N_AREAS
    known = {"sex": QUASI, "age": QUASI}
    base = {"sex": sex, "age": age}

    def steady(*values):  # the same in all rows of a person
        drawn = rng.integers(0, len(values), N)
        return [values[i] for i in drawn[person * 3]]

    names = [f"Quarter {i}" for i in range(N_AREAS)]
    yield Project("census", {"DAUID": das, "PRUID": provinces}, {"DAUID": of(das), **base}, ("DAUID", "DAUID"), known)
    yield Project(
        "numbers for text",
        {"DAUID": das, "pop": numbers(200, 800)[:N_AREAS]},
        {"id": row.tolist(), "da": of(as_numbers), **base},
        ("DAUID", "da"),
        {**known, "id": LEAVE_OUT},
    )
    yield Project(
        "another name",
        {"fid": list(range(N_AREAS)), "gebiet": names},
        {"fid": row.tolist(), "wohnort": of(names), **base},
        ("gebiet", "wohnort"),
        known,
    )
    yield Project(
        "clinic",
        {"GEOUID": das},
        {"patient_id": [f"P{i}" for i in row], "GEOUID": of(das), **base, "diagnosis": one_of("A01", "B02", "C03")},
        ("GEOUID", "GEOUID"),
        {**known, "patient_id": LEAVE_OUT, "diagnosis": SENSITIVE},
    )
    yield Project(
        "visits",
        {"code": das},
        {
            "visit_no": row.tolist(),
            "patient": [f"P{i}" for i in person],
            "home": of(das, of_person),
            "sex": steady("F", "M"),
            "age_group": steady("0-14", "15-64", "65+"),
            "ward": one_of("a", "b", "c"),
        },
        ("code", "home"),
        {"visit_no": LEAVE_OUT, "patient": PERSON, "sex": QUASI, "age_group": QUASI},
        "patient",
    )
    yield Project(
        "names and mails",
        {"area_id": das},
        {"LastName": [f"Smith{i}" for i in row], "e-mail": mails, "area_id": of(das), **base},
        ("area_id", "area_id"),
        {**known, "LastName": LEAVE_OUT, "e-mail": LEAVE_OUT},
    )
    yield Project(
        "telephone",
        {"area_id": das},
        {"reach": [f"204-555-{i:04d}" for i in row], "area_id": of(das), **base},
        ("area_id", "area_id"),
        {**known, "reach": LEAVE_OUT},
    )
    yield Project(
        "births",
        {"DGUID": das},
        {"DOB": born, "DGUID": of(das), **base, "dateOfBirth": born},
        ("DGUID", "DGUID"),
        {**known, "DOB": LEAVE_OUT, "dateOfBirth": LEAVE_OUT},
    )
    yield Project(
        "French",
        {"ADIDU": das},
        {
            "nom": [f"Tremblay {i}" for i in row],
            "aire": of(das),
            "sexe": sex,
            "groupe_âge": age,
            "état_civil": one_of("marié", "veuf", "célibataire"),
            "revenu": rng.normal(50_000, 9_000, N).round(2).tolist(),
            "code_postal": [f"R{i % 9}B {i % 10}C{i % 7}" for i in row],
        },
        ("ADIDU", "aire"),
        {"nom": LEAVE_OUT, "sexe": QUASI, "état_civil": QUASI, "revenu": SENSITIVE, "code_postal": LEAVE_OUT},
    )
    yield Project(
        "postal code",
        {"da": das},
        {"da": of(das), **base, "where_from": [f"R{i % 9}B {i % 10}C{i % 7}" for i in row]},
        ("da", "da"),
        {**known, "where_from": LEAVE_OUT},
    )
    yield Project(
        "coordinates",
        {"da": das},
        {"da": of(das), **base, "lat": rng.normal(49, 1, N).tolist(), "lon": rng.normal(-97, 1, N).tolist()},
        ("da", "da"),
        {**known, "lat": LEAVE_OUT, "lon": LEAVE_OUT},
    )
    yield Project(
        "remarks",
        {"da": das},
        {"da": of(das), **base, "notes": [f"seen on Monday, came with a neighbour, said that {i % 40}" for i in row]},
        ("da", "da"),
        {**known, "notes": LEAVE_OUT},
    )
    yield Project(
        "students",
        {"school_area": das},
        {"student_no": row.tolist(), "school_area": of(das), "gender": sex, "grade": numbers(1, 13)},
        ("school_area", "school_area"),
        {"student_no": LEAVE_OUT, "gender": QUASI, "grade": QUASI},
    )
    yield Project(
        "missing areas",
        {"da": das},
        {"da": [None if i % 9 == 0 else value for i, value in enumerate(of(das))], **base},
        ("da", "da"),
        known,
    )
    yield Project(
        "two candidates",
        {"DAUID": das, "CSDUID": [f"46{i // 5}" for i in range(N_AREAS)]},
        {"CSDUID": [f"46{i // 5}" for i in home], "DAUID": of(das), **base},
        ("DAUID", "DAUID"),
        known,
    )
    yield Project(
        "small numbers everywhere",
        {"nr": [str(i) for i in range(N_AREAS)], "kind": ["a"] * N_AREAS},
        {"children": numbers(0, 6), "quarter": home.tolist(), "sex": sex},
        ("nr", "quarter"),
        {"children": QUASI, "sex": QUASI},
    )
    yield Project(
        "survey",
        {"area": das},
        {
            "respondent_id": [f"{i:08x}-ab" for i in row],
            "area": of(das),
            "occupation": one_of("nurse", "driver", "clerk"),
            "vote": one_of("red", "blue", "green"),
            "language": one_of("en", "fr"),
        },
        ("area", "area"),
        {"respondent_id": LEAVE_OUT, "occupation": QUASI, "vote": SENSITIVE, "language": QUASI},
    )
    yield Project(
        "taxes",
        {"area": das},
        {"SIN": [f"{i:09d}" for i in row], "area": of(das), **base, "total_income": rng.normal(5e4, 1e4, N).tolist()},
        ("area", "area"),
        {**known, "SIN": LEAVE_OUT, "total_income": LEAVE_OUT},
    )
    yield Project(
        "one value",
        {"area": das},
        {"area": of(das), **base, "year": [2026] * N, "nothing": [None] * N},
        ("area", "area"),
        {**known, "nothing": LEAVE_OUT},
    )
    yield Project(
        "many columns",
        {"area": das},
        {"area": of(das), **base, **{f"q{i}": numbers(0, 4) for i in range(30)}},
        ("area", "area"),
        {**known, "q29": LEAVE_OUT},
    )


PROJECTS = list(projects())


def test_in_twenty_projects_the_right_join_and_roles_are_proposed():
    right = asked = 0
    for project in PROJECTS:
        join = best_join(keys_of(project.areas), project.records)
        assert join is not None, project.title
        asked += 1 + len(project.roles)
        right += (join.region_id, join.record_region) == project.join
        persons = several_rows(project.records, project.join[1])
        assert (persons.name if persons else "") == project.person, project.title
        looks = proposed_roles(project.records, project.join[1], project.person)
        assert looks[project.join[1]].role == AREA
        wrong = {name: looks[name].role for name, role in project.roles.items() if looks[name].role != role}
        right += len(project.roles) - len(wrong)
    assert len(PROJECTS) == 20
    assert right >= 0.95 * asked, f"{right} of {asked}"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.title)
def test_what_points_at_persons_is_never_proposed_to_go_out(project):
    looks = proposed_roles(project.records, project.join[1], project.person)
    assert not [name for name, look in looks.items() if look.role == KEEP]
    assert all(look.role in ROLES and look.reason for look in looks.values())
    assert sum(look.role == QUASI for look in looks.values()) <= MOST_QUASI
    for name, role in project.roles.items():
        if role == LEAVE_OUT:
            assert looks[name].role == LEAVE_OUT, name


VALUES = st.one_of(st.none(), st.integers(-3, 40), st.sampled_from(["", "a", "b", "7", "x@y.org", "F"]), st.booleans())


@settings(max_examples=25, deadline=None)
@given(values=st.lists(VALUES, max_size=30), name=st.sampled_from(["age", "name", "q", "income", "id", "lat"]))
def test_any_column_looks_like_something(values, name):
    look = column_summary(name, column_from_values(values))
    there = [value for value in values if value is not None and value != ""]
    assert (look.n_records, look.missing) == (len(values), len(values) - len(there))
    assert look.n_values == len({(type(value), value) for value in there})
    assert look.role in ROLES and look.role != KEEP and look.reason and len(look.examples) <= 3
    if len(values) >= 20 and len(there) == look.n_values == len(values) and look.kind != "numbers":
        assert look.role == LEAVE_OUT


CODES = st.one_of(st.none(), st.integers(0, 5), st.sampled_from(["0", "1", "2.0", "x", "y"]))


@settings(max_examples=25, deadline=None)
@given(
    areas=st.lists(CODES, min_size=1, max_size=6),
    records=st.lists(CODES, min_size=1, max_size=20),
    others=st.lists(CODES, min_size=20, max_size=20),
)
def test_joins_are_those_that_brute_force_counts(areas, records, others):
    tables = (
        {"code": column_from_values(areas)},
        {
            "home": column_from_values(records),
            "other": column_from_values(others[: len(records)]),
        },
    )
    texts = [identifier_text(code) for code in areas]
    found = {join.record_region: join for join in joining(*tables)}
    for name, values in (("home", records), ("other", others[: len(records)])):
        hits = [identifier_text(value) for value in values if identifier_text(value) in texts]
        if None in texts or len(set(texts)) < len(texts) or not hits:
            assert name not in found
        else:
            assert found[name].share == pytest.approx(len(hits) / len(values))
            assert found[name].distinct == len(set(hits))


@settings(max_examples=25, deadline=None)
@given(areas=st.lists(CODES, min_size=1, max_size=6), records=st.lists(CODES, min_size=1, max_size=20))
def test_what_does_not_join_is_counted(areas, records):
    checked = check_data({"a": column_from_values(areas)}, {"r": column_from_values(records)}, "a", "r")
    there, asked = ([identifier_text(code) for code in codes] for codes in (areas, records))
    assert checked.without_area == asked.count(None)
    assert checked.unknown_area == sum(code is not None and code not in there for code in asked)
    assert set(checked.twice) == {code for code in there if code is not None and there.count(code) > 1}
    assert checked.empty_areas == sum(code not in asked for code in there)
    assert checked.joined == any(code is not None and code in there for code in asked)
    problems = checked.problems()
    assert bool(problems) == bool(
        checked.twice or not checked.joined or checked.without_area or checked.unknown_area
    ), problems
    assert all(sentence.endswith(".") for sentence in [*problems, *checked.sentences()])


def test_an_empty_table_is_said_to_be_empty():
    tables = {"a": column_from_values(["x"])}, {"r": column_from_values([])}
    (problem,) = check_data(*tables, "a", "r").problems()
    assert problem.startswith("The table of records is empty")


def test_codes_that_lost_their_zeros_are_named_as_such():
    """They are the right fields, and no other choice of fields would help."""
    areas = {"code": column_from_values([f"{code:04d}" for code in range(7, 20)])}
    numbers = {"code": column_from_values([7, 8, 8, 19, 9999])}
    (problem,) = check_data(areas, numbers, "code", "code").problems()
    assert problem.startswith("“19”, “7”, “8”: there are such areas but for leading zeros") and "as text" in problem
    some = {"code": column_from_values(["0007", "0008", "9", "elsewhere"])}
    *_, problem = check_data(areas, some, "code", "code").problems()
    assert problem.startswith("“9”: there are such areas but for leading zeros")


def test_fields_that_join_nothing_give_way_to_those_that_join_best_unless_they_were_chosen():
    areas = {"code": column_from_values(["A1", "A2", "A3"]), "n": column_from_values([1, 2, 3])}
    records = {"place": column_from_values(["A1", "A2", "A2", "A9"]), "code": column_from_values(["x", "y", "z", "z"])}
    mended = check_data(areas, records, "code", "code", mend=True)
    assert (mended.region_id, mended.record_region, mended.unknown_area) == ("code", "place", 1)
    kept = check_data(areas, records, "code", "code")
    assert (kept.region_id, kept.record_region, kept.unknown_area) == ("code", "code", 4)
    assert check_data(areas, records, "code", "place", mend=True) != mended  # of arrays, each of its own
    assert check_data(areas, {"code": records["code"]}, "code", "code", mend=True).record_region == "code"


@settings(max_examples=25, deadline=None)
@given(
    areas=st.lists(CODES, min_size=1, max_size=6), records=st.lists(CODES, min_size=1, max_size=20), n=st.integers(1, 9)
)
def test_what_is_counted_over_all_is_what_looking_at_all_counts(areas, records, n):
    whole = {"r": column_from_values(records)}
    first = check_data({"a": column_from_values(areas)}, {"r": column_from_values(records[:n])}, "a", "r")
    told = replace(first, whole=False)
    assert told.sentences()[0].startswith("The first") and not [p for p in told.problems() if "record" in p]
    counted, at_once = (
        counted_over(told, column_from_values(areas), whole["r"]),
        check_data({"a": column_from_values(areas)}, whole, "a", "r"),
    )
    assert counted.problems() == at_once.problems()
    assert counted.share == at_once.share and counted.n_sample == min(n, len(records))


@pytest.mark.parametrize(
    ("sentence", "role"), [("follows", LEAVE_OUT), ("nearly follows", LEAVE_OUT), ("chance", QUASI), ("rare", QUASI)]
)
def test_what_follows_from_the_area_is_left_out(sentence, role):
    """A health zone beside the area, in records some of which have no area; and what only chance makes alike."""
    rng = np.random.default_rng(2)
    area = rng.integers(0, 200, 6_000)
    values = {
        "follows": area % 7,
        "nearly follows": np.where(area == 3, rng.integers(0, 7, len(area)), area % 7),
        "chance": rng.integers(0, 7, len(area)),
        "rare": np.where(rng.random(len(area)) < 0.0005, 1, 0),
    }[sentence]
    codes = [None if row % 50 == 0 else f"a{code}" for row, code in enumerate(area.tolist())]
    records = {"area": column_from_values(codes), "zone_of_care": column_from_values(values.tolist())}
    summary = proposed_roles(records, "area")["zone_of_care"]
    assert summary.role == role
    assert summary.reason.startswith("It follows from the area") == (role == LEAVE_OUT)
    few = {
        name: column_from_values([column.categories[code] for code in column.codes[:300]])
        for name, column in records.items()
    }
    assert proposed_roles(few, "area")["zone_of_care"].role in (QUASI, LEAVE_OUT)
    assert "follows" not in proposed_roles(few, "area")["zone_of_care"].reason  # of so few records nothing tells


def test_dates_that_begin_with_their_day_are_offered_no_first_characters():
    days = [f"{day:02d}/{month:02d}/20{year}" for year in (22, 23) for month in range(1, 13) for day in (1, 9, 20)]
    assert coarser_offers("visited", column_from_values(days)) == []
    begin_with_year = ["-".join(reversed(day.split("/"))) for day in days]
    assert [offer.n_values for offer in coarser_offers("visited", column_from_values(begin_with_year))] == [2]


def test_a_person_is_not_a_household_nor_a_category():
    rng = np.random.default_rng(5)
    household = np.arange(300) // 2
    person = np.arange(300).repeat(3)
    of = {
        "hh": household[person],
        "pid": person,
        "home": (household % 20)[person],
        "sex": rng.integers(0, 2, 300)[person],
        "age": rng.integers(0, 5, 300)[person],
        "ward": rng.integers(0, 4, 900),
    }
    records = {name: column_from_values(values.tolist()) for name, values in of.items()}
    persons = several_rows(records, "home")
    assert persons is not None and persons.name == "pid" and persons.same == ("hh", "sex", "age")[-len(persons.same) :]
    del records["pid"]
    assert several_rows(records, "home") is None  # two members of a household differ
    assert several_rows({"home": records["home"]}, "home") is None
    assert several_rows({}, "home") is None


@settings(max_examples=15, deadline=None)
@given(
    values=st.lists(st.integers(-20, 120), min_size=1, max_size=30) | st.lists(st.text("AB1", max_size=4), min_size=1)
)
def test_what_is_offered_coarser_is_what_the_rule_shows(values):
    column = column_from_values(values)
    offers = coarser_offers("q", column)
    kept = [offer.n_values for offer in offers]
    assert kept == sorted(kept, reverse=True) and all(1 < n < len(column.categories) for n in kept)
    for offer in offers:
        rule = hierarchy_rule("q", offer.rule)
        hierarchy = rule.hierarchy(column.categories, np.ones(len(column.categories), int))
        shown = [value for value in hierarchy.categories[offer.level].tolist() if value is not None]
        assert offer.n_values == len(shown)
        assert set(offer.first) <= set(map(str, hierarchy.categories[offer.level]))


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_what_each_offer_suppresses_is_what_coarser_records_do(data):
    n, n_areas, k = 120, 6, data.draw(st.integers(2, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    ages, sexes, homes = rng.integers(0, 60, n).tolist(), rng.integers(0, 2, n).tolist(), rng.integers(0, n_areas, n)
    crosswalk = Crosswalk(rng.integers(0, 2, n_areas), 2)

    def suppressed(of_age):
        columns = {"sex": column_from_values(sexes), "age": column_from_values(of_age)}
        profile, _ = profile_records(homes, columns, n_areas)
        classes = Counter(zip(crosswalk.region_of[homes].tolist(), sexes, of_age))
        return profile, 100 * sum(held for held in classes.values() if held < k) / n

    profile, as_they_are = suppressed(ages)
    column = column_from_values(ages)
    offers = coarser_offers("age", column)
    said = what_each_suppresses(profile, crosswalk, Terms(k), "age", offers)
    expected = [as_they_are]
    for offer in offers:
        hierarchy = hierarchy_rule("age", offer.rule).hierarchy(column.categories, np.ones(len(column.categories), int))
        shown = hierarchy.categories[offer.level][hierarchy.codes[offer.level]]
        expected.append(suppressed(shown[column.codes].tolist())[1])
    assert offers and said == pytest.approx(expected)


def test_a_column_that_no_rule_fits_is_offered_nothing():
    assert coarser_offers("q", column_from_values(["m", "f"])) == []
    with pytest.raises(InputError):
        hierarchy_rule("q", "bands")


@pytest.mark.parametrize(
    ("fields", "population"),
    [
        (["GEOID20", "TOTPOP20", "VAP20"], "TOTPOP20"),
        (["DAUID", "pop_2016", "pop_2021"], "pop_2021"),
        (["code", "pop2016", "Population"], "Population"),
        (["id", "x10", "fid"], ""),
    ],
)
def test_a_year_behind_a_usual_name_is_passed_over(fields, population):
    assert usual_field(fields, USUAL_FIELDS["POPULATION"]) == population
    assert usual_field(["GEOID20", "x"], USUAL_FIELDS["REGION_ID"]) == "GEOID20"
