"""Persons instead of rows, sensitive values, kept fields, and the check of any table, in QGIS."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from qgis.core import QgsApplication, QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback

from .conftest import make_layer

SIDE, PER_AREA, VISITS = 6, 40, 3


@pytest.fixture(scope="module")
def clinic(provider):
    """36 square areas, and visits of 40 patients in each, some with many visits."""
    rng = np.random.default_rng(7)
    squares, homes, rows = [], [], []
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = 630_000 + 500 * column, 5_520_000 + 500 * row
            squares.append(f"Polygon(({x} {y}, {x + 500} {y}, {x + 500} {y + 500}, {x} {y + 500}, {x} {y}))")
            homes.append(f"4690{row}{column}")
    for home in homes:
        for patient in range(PER_AREA):
            person = f"patient {home}-{patient}"
            sex, age = "FM"[patient % 2], int(rng.integers(0, 7))
            ill = "flu" if age == 6 else ("flu", "cold", "cough")[int(rng.integers(3))]
            for visit in range(int(rng.integers(1, 2 * VISITS))):
                rows.append((home, sex, age, ill, person, f"house {home}-{patient // 3}", home, age * 12 + visit % 12))
    names = ("home", "sex", "age", "diagnosis", "person", "house", "copy", "months")
    areas = make_layer({"da": homes, "people": [PER_AREA] * len(homes)}, squares)
    return areas, make_layer(dict(zip(names, map(list, zip(*rows))))), rows


def parameters(clinic, tmp_path, **more):
    areas, records, _ = clinic
    return {
        "REGIONS": areas,
        "REGION_ID": "da",
        "POPULATION": "people",
        "RECORDS": records,
        "RECORD_REGION": "home",
        "QUASI_IDENTIFIERS": ["sex", "age"],
        "K": 5,
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 12,
        "RELEASED_RECORDS": str(tmp_path / "released.csv"),
        "CROSSWALK": str(tmp_path / "crosswalk.csv"),
        "REPORT": str(tmp_path / "report.html"),
        **more,
    }


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def behind_classes(clinic, tmp_path, nested):
    """Persons, households and diagnoses behind every class that was written, found again from the crosswalk."""
    released, crosswalk = read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv")
    released_classes = {(row.get("vbas_level", "1"), row["vbas_region"], row["sex"], row["age"]) for row in released}
    sizes = Counter((row.get("vbas_level", "1"), row["vbas_region"], row["sex"], row["age"]) for row in released)
    behind: defaultdict[tuple, tuple[set, set, Counter]] = defaultdict(lambda: (set(), set(), Counter()))
    fields = [name for name in crosswalk[0] if name.startswith("vbas_region")]
    of_area = {row["da"]: [row[name] for name in fields] for row in crosswalk}
    for home, sex, age, ill, person, house, *_ in clinic[2]:
        for level, region in enumerate(of_area[home], 1):
            key = (str(level), region, sex, str(age))
            if key in released_classes:
                behind[key][0].add(person)
                behind[key][1].add(house)
                behind[key][2][ill] += 1
                if nested:
                    break  # a class is shown once: at the finest level that has it for this area
    return sizes, behind


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("who", ["PERSON_ID", "HOUSEHOLD_ID"])
def test_k_counts_persons_or_households_and_neither_is_released(run, clinic, tmp_path, nested, who):
    field = {"PERSON_ID": "person", "HOUSEHOLD_ID": "house"}[who]
    release = "nested levels" if nested else "one level"
    results = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, **{who: field}))
    sizes, behind = behind_classes(clinic, tmp_path, nested)
    position = ["PERSON_ID", "HOUSEHOLD_ID"].index(who)
    assert sizes
    if not nested:
        assert all(len(behind[key][position]) >= 5 for key in sizes)
        without = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release))
        sizes, behind = behind_classes(clinic, tmp_path, nested)
        assert any(len(behind[key][position]) < 5 for key in sizes)
        assert results.results["N_SUPPRESSED"] > without.results["N_SUPPRESSED"]
    text = (tmp_path / "released.csv").read_text(encoding="utf-8")
    assert "patient " not in text
    assert "house " not in text


@pytest.mark.slow
def test_sensitive_values_are_asked_for_and_reported(run, clinic, tmp_path):
    plain = run("anonymize", **parameters(clinic, tmp_path, SENSITIVE=["diagnosis"]))
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    sizes, behind = behind_classes(clinic, tmp_path, False)
    homogeneous = sum(len(behind[key][2]) == 1 for key in sizes)
    assert homogeneous
    assert f"in {homogeneous} of {len(sizes)} released classes all people have one value in common" in report
    assert "could be those of all people of a class are 1," in report
    asked = run("anonymize", **parameters(clinic, tmp_path, SENSITIVE=["diagnosis"], L_DIVERSITY=2, MAX_SHARE=80))
    sizes, behind = behind_classes(clinic, tmp_path, False)
    assert all(len(behind[key][2]) >= 2 for key in sizes)
    assert all(max(behind[key][2].values()) <= 0.8 * sum(behind[key][2].values()) for key in sizes)
    assert asked.results["N_SUPPRESSED"] > plain.results["N_SUPPRESSED"]
    nested = run(
        "anonymize",
        **parameters(clinic, tmp_path, SENSITIVE=["diagnosis"], L_DIVERSITY=2, RELEASE="nested levels"),
    )
    assert nested.results["N_RECORDS"] - nested.results["N_SUPPRESSED"] == len(read(tmp_path / "released.csv"))


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"KEEP_FIELDS": ["copy"]}, "“copy”"),
        ({"KEEP_FIELDS": ["person"], "PERSON_ID": "person"}, "“person” is PERSON_ID"),
        ({"QUASI_IDENTIFIERS": ["sex", "house"], "HOUSEHOLD_ID": "house"}, "“house” is HOUSEHOLD_ID"),
        ({"PERSON_ID": "none such"}, "none such"),
        ({"PERSON_ID": "person", "RECORD_COUNT": "months"}, "cannot go together"),
    ],
)
def test_what_would_give_a_person_or_an_area_away_is_refused(run, clinic, tmp_path, more, words, release):
    with pytest.raises(QgsProcessingException, match=words):
        run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, **more))
    assert not list(tmp_path.iterdir())


def test_finer_values_of_a_quasi_identifier_are_warned_of(run, clinic, tmp_path):
    said = run("anonymize", **parameters(clinic, tmp_path, KEEP_FIELDS=["months"])).log
    assert any("“months” is a finer value of the quasi-identifier “age”" in one for one in said)


def test_any_table_is_checked_and_the_run_ends_with_an_error_after_its_outputs_are_written(run, clinic, tmp_path):
    given = {
        "RECORDS": clinic[1],
        "QUASI_IDENTIFIERS": ["home", "sex", "age"],
        "PERSON_ID": "person",
        "SENSITIVE": ["diagnosis"],
        "REGIONS": clinic[0],
        "REGION_ID": "da",
        "CHECK": str(tmp_path / "check.csv"),
        "REPORT": str(tmp_path / "report.html"),
    }
    with pytest.raises(QgsProcessingException, match="fall short"):
        run("checkrelease", **given)
    people = defaultdict(set)
    rows: Counter[tuple] = Counter()
    for home, sex, age, _, person, *_ in clinic[2]:
        people[home, sex, str(age)].add(person)
        rows[home, sex, str(age)] += 1
    short = {key: len(found) for key, found in people.items() if len(found) < 5}
    written = read(tmp_path / "check.csv")
    assert {(r["home"], r["sex"], r["age"]): int(r["vbas_people"]) for r in written} == short
    assert all(int(r["vbas_records"]) == rows[r["home"], r["sex"], r["age"]] for r in written)
    numbers = run("checkrelease", **{**given, "STOP": False})
    assert numbers.results["K_FOUND"] == min(map(len, people.values()))
    assert numbers.results["N_BELOW"] == sum(rows[key] for key in short)
    assert numbers.results["L_FOUND"] == 1
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "holds identifiers of REGIONS in" in report


def test_our_own_release_passes_the_check(run, clinic, tmp_path):
    run("anonymize", **parameters(clinic, tmp_path, RELEASE="nested levels", SENSITIVE=["diagnosis"]))
    numbers = run(
        "checkrelease",
        **{
            "RECORDS": str(tmp_path / "released.csv"),
            "QUASI_IDENTIFIERS": ["vbas_level", "vbas_region", "sex", "age"],
            "SENSITIVE": ["diagnosis"],
        },
    )
    assert numbers.results["K_FOUND"] >= 5
    assert numbers.results["N_BELOW"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_a_rule_raises_k_and_the_least_population_and_names_its_source(run, clinic, tmp_path, release):
    done = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, RULE="Statistics Canada: income"))
    audit = run(
        "anonymize",
        **parameters(clinic, tmp_path, RELEASE=release, RULE="Statistics Canada: income", REGION_AUDIT="memory:"),
    ).rows("REGION_AUDIT")
    assert min(row["population"] for row in audit) >= 250
    assert any("Census 2011" in line for line in done.log)
    assert "Census 2011" in (tmp_path / "report.html").read_text(encoding="utf-8")
    run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, RULE="PCORnet", K=5))
    sizes, _ = behind_classes(clinic, tmp_path, False)
    assert min(sizes.values()) >= 11
    run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, RULE="PCORnet", K=20))
    sizes, _ = behind_classes(clinic, tmp_path, False)
    assert min(sizes.values()) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_totals_that_others_publish_tell_no_class_that_is_suppressed(run, clinic, tmp_path, release):
    plain = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, K=30))
    held = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, K=30, PUBLISHED_MARGINS="age; sex"))
    said = [line for line in held.log if "no further count below k" in line]
    assert said and not any(line.startswith("0 ") for line in said)
    assert held.results["N_SUPPRESSED"] >= plain.results["N_SUPPRESSED"]
    with pytest.raises(QgsProcessingException, match="names “home”"):
        run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, PUBLISHED_MARGINS="home"))


@pytest.mark.parametrize("release", ["one level", "nested levels"])
@pytest.mark.parametrize("share", [0.45, 0.2])
def test_an_area_code_in_some_rows_of_a_csv_file_is_refused(run, clinic, tmp_path, release, share):
    """The others are empty texts, as every CSV has them: an average over all rows passed in silence."""
    _, _, rows = clinic
    there = np.random.default_rng(1).random(len(rows)) < share
    lines = [f"{r[0]},{r[1]},{r[2]},{'z' + r[0] if mine else ''}" for r, mine in zip(rows, there.tolist())]
    (tmp_path / "rows.csv").write_text("\n".join(["home,sex,age,zone", *lines]), encoding="utf-8")
    given = parameters(
        clinic, tmp_path, RELEASE=release, RECORDS=str(tmp_path / "rows.csv"), KEEP_FIELDS=["zone"], K=12
    )
    with pytest.raises(QgsProcessingException, match="“zone” stands for the area"):
        run("anonymize", **given)
    assert not (tmp_path / "released.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_a_rule_that_forbids_what_can_be_derived_asks_for_a_release_from_which_nothing_can(
    run, clinic, tmp_path, release
):
    """“No cell of 1 to 10 is shown, nor derivable” was said of releases of which thousands can be derived."""
    pages = {"REPORT": str(tmp_path / "report.html"), "RELEASE_REPORT": str(tmp_path / "for_release.html")}
    done = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, RULE="CMS cell size", **pages))
    said = ["\n".join(done.log), *(Path(page).read_text(encoding="utf-8") for page in pages.values())]
    nested = release == "nested levels"
    assert not any("It is not proven" in one for one in said)
    assert all(("can be proven are the counts of its zones, each 11 or more" in one) == nested for one in said[:1])
    assert all(("What can be proven from this release, also by somebody who" in one) == nested for one in said[1:])
    assert ("Following the rule, DISCLOSURE is “no small count follows”" in said[0]) == nested
    assert not any("No cell of 1 to 10 is shown" in one for one in said)
    assert "It forbids to show a cell of 1 to 10" in said[0] and "It forbids to show a cell of 1 to 10" in said[1]


@pytest.mark.slow
def test_of_a_rule_that_asks_for_k_alone_nothing_more_is_said_to_be_proven(run, clinic, tmp_path):
    pages = {"REPORT": str(tmp_path / "report.html"), "RELEASE_REPORT": str(tmp_path / "for_release.html")}
    done = run("anonymize", **parameters(clinic, tmp_path, RELEASE="nested levels", RULE="PCORnet", **pages))
    for said in ("\n".join(done.log), *(Path(page).read_text(encoding="utf-8") for page in pages.values())):
        assert "It is not proven that no count of 1 to 10 can be derived." in said
        assert "counts of its zones" not in said


@pytest.mark.slow
def test_what_is_left_of_a_larger_region_has_the_least_population_of_a_rule_too(run, clinic, tmp_path):
    rule = "Statistics Canada: areas built from blocks or postal codes"
    given = parameters(clinic, tmp_path, RELEASE="nested levels", RULE=rule, K=60)
    done = run("anonymize", **given)
    assert any("at least 100 people. So has what is left of a larger region" in line for line in done.log)
    released, crosswalk = read(tmp_path / "released.csv"), read(tmp_path / "crosswalk.csv")
    shown = {(int(row["vbas_level"]), row["vbas_region"], row["sex"], row["age"]) for row in released}
    of_level = [[row[f"vbas_region_{level + 1}"] for row in crosswalk] for level in range(len(crosswalk[0]) - 1)]
    above = [place for place in shown if place[0] > 1]
    assert above
    for level, region, *values in above:
        within = [i for i, of_area in enumerate(of_level[level - 1]) if of_area == region]
        left = [
            i for i in within if not any((finer, of_level[finer - 1][i], *values) in shown for finer in range(1, level))
        ]
        assert PER_AREA * len(left) >= 100


HEADER = "name,k,least_population,l_diversity,says,source,year,read"


@pytest.fixture
def own_rules():
    """own_rules(lines) writes the user's own file of rules, which is taken away again."""
    place = Path(QgsApplication.qgisSettingsDirPath()) / "vbas_rules.csv"
    place.parent.mkdir(parents=True, exist_ok=True)
    yield lambda *lines: place.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
    place.unlink()


@pytest.mark.slow
def test_a_typo_in_any_line_of_ones_own_rules_stops_a_run_that_follows_one(run, clinic, tmp_path, own_rules):
    """PCORnet was followed as it is shipped, with k 11, though another line of the file raises it to 30."""
    own_rules("PCORnet,30,0,1,Ours.,Minutes,2026,text", "Ours,5,0,1,Ours.,Minutes,2026,text")
    done = run("anonymize", **parameters(clinic, tmp_path, RULE="PCORnet", K=5))
    assert any("k of at least 30" in line for line in done.log)
    (tmp_path / "released.csv").unlink()
    own_rules("PCORnet,30,0,1,Ours.,Minutes,2026,text", "Ours,five,0,1,Ours.,Minutes,2026,text")
    for rule in ("PCORnet", "Ours", "OMOP tools"):
        with pytest.raises(QgsProcessingException, match=r"vbas_rules\.csv, line 3, column k: “five” is no number"):
            run("anonymize", **parameters(clinic, tmp_path, RULE=rule, K=5))
        assert not (tmp_path / "released.csv").exists()
    form = QgsApplication.processingRegistry().createAlgorithmById("vbas:anonymize")
    definition = form.parameterDefinition("RULE")
    assert {"none", "PCORnet", "Ours", "OMOP tools"} <= set(definition.options())
    taken, problem = form.checkParameterValues(
        parameters(clinic, tmp_path, RULE="gone with the file"), QgsProcessingContext()
    )
    assert not taken and "vbas_rules.csv, line 3, column k" in problem
    # A script need not ask whether its parameters are right.
    with pytest.raises(QgsProcessingException, match=r"vbas_rules\.csv, line 3"):
        given = parameters(clinic, tmp_path, RULE="PCORnet", K=5)
        form.run(given, QgsProcessingContext(), QgsProcessingFeedback(), {}, False)
    run("anonymize", **parameters(clinic, tmp_path, K=5))  # without a rule the file is of no concern
    assert (tmp_path / "released.csv").exists()
