"""What a check says of people, where it is known whose the rows are and where it is not."""

import pandas as pd
import pytest

from vbas import anonymize

from .conftest import make_layer

AREAS = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}


@pytest.fixture(scope="module")
def of_persons(tmp_path_factory):
    """Visits of twelve persons, one in three of whom is ill and came ten times; what is asked is asked of persons."""
    who = [f"{area}{n}" for area in "abcd" for n in range(3)]
    visits = pd.DataFrame({"who": [person for person in who for _ in range(10 if person.endswith("0") else 2)]})
    visits["area"], visits["sex"] = visits["who"].str[0], "F"
    visits["ill"] = ["yes" if person.endswith("0") else "no" for person in visits["who"]]
    folder = tmp_path_factory.mktemp("persons") / "release"
    release = anonymize(
        AREAS,
        visits,
        area="area",
        quasi_identifiers="sex",
        k=12,
        person_id="who",
        sensitive="ill",
        l_diversity=2,
        max_share=67,
    )
    assert release.smallest == 56
    release.write(folder)
    return folder


def test_rows_of_whom_nobody_knows_are_not_called_people(run, of_persons, tmp_path):
    page = tmp_path / "check.html"
    done = run("checkrelease", RELEASE_FOLDER=str(of_persons), K=20, REPORT=str(page), STOP=False)
    assert "Every class has at least 20 records; the smallest has 56." in done.log
    assert not any("at least 20 people" in line for line in done.log)
    assert "at least 20 people" not in page.read_text(encoding="utf-8")
    assert "Each record is taken for a person of its own" in page.read_text(encoding="utf-8")


def test_values_that_were_asked_of_persons_are_not_held_against_rows(run, of_persons):
    """By rows, 40 of 56 are ill, more than the 67 per cent that were allowed; by persons, 4 of 12."""
    done = run("checkrelease", RELEASE_FOLDER=str(of_persons), K=12)  # which stops where a class falls short
    assert done.results["N_BELOW"] == 0
    assert any(line.startswith("l ill: Who the records belong to") for line in done.log)
    with pytest.raises(Exception, match="falls short"):
        run("checkrelease", RELEASE_FOLDER=str(of_persons), K=12, MAX_SHARE=67)


def test_people_are_said_where_they_are_counted(run, tmp_path):
    rows = [(sex, f"{sex}{n // 2}") for sex in "FM" for n in range(20)]
    layer = make_layer({"sex": [sex for sex, _ in rows], "who": [who for _, who in rows]})
    page = tmp_path / "check.html"
    given = {"RECORDS": layer, "QUASI_IDENTIFIERS": ["sex"], "PERSON_ID": "who", "REPORT": str(page), "STOP": False}
    done = run("checkrelease", **given, K=10)
    assert "Every class has at least 10 people; the smallest has 10." in done.log
    assert "Each record is taken for" not in page.read_text(encoding="utf-8")
    assert any("the smallest has 10 people" in line for line in run("checkrelease", **given, K=11).log)
