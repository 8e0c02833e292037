"""`anonymize_linked`: frames in, a release of persons and tables out, recounted from its files by two programs."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from vbas import anonymize_linked
from vbas.core.command.main import DONE, INPUT, main
from vbas.core.errors import InputError
from vbas.core.library.frames import ArrayFrame
from vbas.core.library.linked import AnonymizedLinked
from vbas.core.package.checking import check_folder
from vbas.core.records.columns import Column

VERIFY = run_path(str(Path(__file__).parents[2] / "verify" / "verify.py"))
N = 600
rng = np.random.default_rng(5)
AREAS = {
    "area": [f"a{i}" for i in range(12)],
    "x": [900 * (i % 4) for i in range(12)],
    "y": [900 * (i // 4) for i in range(12)],
}
PEOPLE = {
    "id": [f"p{i}" for i in range(N)],
    "area": [f"a{i}" for i in rng.integers(0, 12, N)],
    "sex": np.array(["F", "M"])[rng.integers(0, 2, N)].tolist(),
    "income": rng.integers(0, 5, N).tolist(),
}
STAYS = {
    "id": [f"p{i}" for i in rng.integers(0, N, 300)],
    "month": rng.integers(1, 4, 300).tolist(),
    "days": rng.integers(1, 9, 300).tolist(),
}
DRUGS = {
    "person": [f"p{i}" for i in rng.integers(0, N, 300)],
    "atc": np.array(list("NCA"))[rng.integers(0, 3, 300)].tolist(),
}


def as_text(frame: dict[str, Any]) -> dict[str, list[str]]:
    """What is read of its CSV file."""
    return {name: [str(value) for value in values] for name, values in frame.items()}


def released(*, as_read: Callable[[dict[str, Any]], dict[str, Any]] = dict, **given: Any) -> AnonymizedLinked:
    settings: dict[str, Any] = {
        "key": "id",
        "linked_keys": {"drugs": "person"},
        "known": {"stays": "month"},
        "keep": {"stays": "days", "drugs": "atc"},
        "area": "area",
        "quasi_identifiers": "sex",
        "keep_fields": "income",
        "k": 20,
        "linked_k": 4,
        "combination": "custom",
        "site_number": "given number",
        "n_sites": 3,
        "aggregation": "basic Voronoi",
    }
    tables = {"stays": as_read(STAYS), "drugs": as_read(DRUGS)}
    return anonymize_linked(AREAS, as_read(PEOPLE), tables, **{**settings, **given})


class Restless(ArrayFrame):
    """A table whose rows stand in another order each time they are read, as those of a database do."""

    def columns(self, names):
        order = np.random.default_rng().permutation(N)
        return {name: Column(column.codes[order], column.categories) for name, column in super().columns(names).items()}


def test_rows_are_those_of_their_persons_whatever_order_persons_are_read_in() -> None:
    homes = dict(zip(PEOPLE["id"], PEOPLE["sex"]))
    marked = {**STAYS, "days": [homes[person] for person in STAYS["id"]]}
    settings: dict[str, Any] = {"known": {}, "keep": {"stays": "days"}, "quasi_identifiers": "sex", "k": 4, "key": "id"}
    regions: dict[str, Any] = {"combination": "custom", "site_number": "given number", "n_sites": 2, "area": "area"}
    release = anonymize_linked(AREAS, Restless(PEOPLE, "RECORDS"), {"stays": marked}, **settings, **regions)
    sexes = dict(zip(release.records["vbas_person"], release.records["sex"]))
    rows = release.tables["stays"]
    assert len(rows["days"]) > 100
    assert [sexes[person] for person in rows["vbas_person"]] == list(rows["days"])


def statuses(folder: Path) -> tuple[dict[str, bool | None], dict[str, str]]:
    own = {claim.name: claim.holds for claim in check_folder(folder).claims}
    package = VERIFY["read_description"](folder)
    return own, {name: status for name, status, _ in VERIFY["verified"](folder, package)}


@pytest.mark.parametrize(
    "settings", [{}, {"release": "nested levels", "folder_format": "GeoPackage"}, {"rows_known": "one row"}]
)
def test_its_folder_holds_what_it_claims_by_both_programs(tmp_path: Path, settings: dict[str, Any]) -> None:
    release = released(**settings)
    release.write(tmp_path / "release", report=tmp_path / "report.html")
    own, others = statuses(tmp_path / "release")
    assert all(own.values())
    assert set(others.values()) == {"holds"}
    assert set(own) == set(others)
    assert own["linked rows"] and own["k of all tables"]
    assert 0 < len(release.tables["stays"]["month"]) <= 300
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The linked tables" in page and "stays" in page


@pytest.mark.parametrize("known", ["all rows", "one row"])
def test_whoever_changes_a_linked_row_is_found_by_both(tmp_path: Path, known: str) -> None:
    released(rows_known=known).write(tmp_path / "release")
    file = tmp_path / "release" / "stays.csv"
    with file.open(encoding="utf-8", newline="") as read:
        rows = list(csv.reader(read))
    rows[1][rows[0].index("month")] = "17"
    rows[2][rows[0].index("vbas_region")] = "9"
    with file.open("w", encoding="utf-8", newline="") as write:
        csv.writer(write, lineterminator="\n").writerows(rows)
    own, others = statuses(tmp_path / "release")
    for name in ("file stays.csv", "content stays", "linked rows", "k of all tables"):
        assert own[name] is False
        assert others[name] == "does not hold"


def test_without_a_key_the_same_rows_say_less(tmp_path: Path) -> None:
    with_key, without = released(), released(new_key=False)
    for name in ("stays", "drugs"):
        fields = [field for field in with_key.tables[name] if field != "vbas_person"]
        assert "vbas_person" not in without.tables[name]
        one, other = (Counter(zip(*(of.tables[name][field] for field in fields))) for of in (with_key, without))
        assert one == other
    assert "vbas_person" not in without.records
    without.write(tmp_path / "release")
    own, others = statuses(tmp_path / "release")
    assert own["k of all tables"] is None
    assert others["k of all tables"] == "not looked at"


def test_the_old_key_is_nowhere() -> None:
    release = released()
    for frame in (release.records, *release.tables.values()):
        assert "id" not in frame and "person" not in frame
        assert not set(PEOPLE["id"]) & {value for column in frame.values() for value in column.tolist()}
    persons = dict(zip(release.records["vbas_person"], release.records["vbas_region"]))
    for frame in release.tables.values():
        assert all(persons[key] == region for key, region in zip(frame["vbas_person"], frame["vbas_region"]))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"key": "ids"}, "KEY: there is no field “ids”"),
        ({"known": {"stay": "month"}}, "LINKED_KNOWN names the table “stay”"),
        ({"known": {"stays": "weeks"}}, "LINKED_KNOWN: there is no field “weeks” in stays"),
        ({"known": {"stays": "id"}}, "is the key"),
        ({"sensitive": {"stays": "month"}}, "LINKED_SENSITIVE: “month” of table “stays” is in LINKED_KNOWN too"),
        ({"keep": {"stays": "month"}}, "both as known and as kept"),
        ({"linked_k": 21}, "LINKED_K is 21"),
        ({"linked_k": "some"}, "LINKED_K is “some”"),
        ({"known": "stays.month"}, "LINKED_KNOWN: give names of fields by table, such as {"),
        ({"linked_keys": {"stays": 5}}, "LINKED_KEYS: give names of fields by table"),
        ({"person_id": "id"}, "PERSON_ID and linked tables do not go together"),
        ({"keep_fields": "id"}, "“id” of RECORDS links the tables"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        released(**given)


def test_persons_and_their_tables_have_sensitive_fields_of_their_own() -> None:
    """`sensitive` named fields by table alone, and none of the persons could be asked for."""
    asked: dict[str, Any] = {"keep_fields": None, "l_diversity": 3, "keep": None}
    release = released(sensitive="income", linked_sensitive={"stays": "days"}, **asked)
    assert {shares.field for shares in release.account.requirement.shares} == {"income"}
    assert "income" in release.records and "days" in release.tables["stays"]
    classes: dict[tuple[int, str], set[int]] = {}
    for region, sex, income in zip(*(release.records[name] for name in ("vbas_region", "sex", "income"))):
        classes.setdefault((region, sex), set()).add(income)
    assert classes and all(len(incomes) >= 3 for incomes in classes.values())
    by_table = released(sensitive={"stays": "days"}, **asked)
    assert "income" not in by_table.records and "days" in by_table.tables["stays"]


def as_csv(frame: dict[str, Any], file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as write:
        csv.writer(write).writerows([list(frame), *zip(*frame.values())])


JOB = """REGIONS = "areas.csv"
REGION_ID = "area"
RECORDS = "people.csv"
RECORD_REGION = "area"
QUASI_IDENTIFIERS = ["sex"]
K = 20
COMBINATION = "custom"
SITE_NUMBER = "given number"
N_SITES = 3
AGGREGATION = "basic Voronoi"
KEEP_FIELDS = ["income"]
KEY = "id"
LINKED_TABLES = { stays = "stays.csv", drugs = "drugs 2026.csv" }
LINKED_KEYS = "drugs.person"
LINKED_KNOWN = ["stays.month"]
LINKED_KEEP = ["stays.days", "drugs.atc"]
LINKED_K = 4
NEW_KEY = false
"""


def test_the_command_makes_it_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = {"areas": AREAS, "people": PEOPLE, "stays": STAYS, "drugs 2026": DRUGS}
    for name, frame in named.items():
        as_csv(frame, tmp_path / f"{name}.csv")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    assert main(["anonymize", str(tmp_path / "job.toml"), "--folder", str(tmp_path / "release"), "--quiet"]) == DONE
    assert capsys.readouterr().out.strip() == released(as_read=as_text, new_key=False).content_hash
    described = json.loads((tmp_path / "release" / "datapackage.json").read_text(encoding="utf-8"))
    assert "vbas:anonymizelinked" in json.dumps(described)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("KEY=''", "KEY is needed"),
        ("LINKED_TABLES=''", "of which the job names none"),
        ("NEW_KEY='no'", "NEW_KEY is “no”: write true or false"),
        ("LINKED_TABLES=['stays.csv', 'stays.csv']", "two tables have the same name"),
        ("LINKED_TABLES=['absent.csv']", "there is no file"),
        ("ROWS_KNOWN='some'", "ROWS_KNOWN is “some”"),
        ("LINKED_KNOWS='stays.month'", "did you mean “LINKED_KNOWN”"),
    ],
)
def test_a_job_that_cannot_be_done_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, says: str
) -> None:
    for name, frame in {"areas": AREAS, "people": PEOPLE, "stays": STAYS, "drugs 2026": DRUGS}.items():
        as_csv(frame, tmp_path / f"{name}.csv")
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    changed = ["--set", change, "--folder", str(tmp_path / "release"), "--quiet"]
    assert main(["anonymize", str(tmp_path / "job.toml"), *changed]) == INPUT
    said = capsys.readouterr().err
    assert says in said and "Traceback" not in said
    assert not (tmp_path / "release").exists()


def test_a_linked_row_of_nobody_is_told_in_words(tmp_path):
    folder = tmp_path / "release"
    released().write(folder)
    header, first, *rows = (folder / "stays.csv").read_text(encoding="utf-8").splitlines()
    assert header.startswith("vbas_person,")
    (folder / "stays.csv").write_text("\n".join([header, "," + first.partition(",")[2], *rows, ""]), encoding="utf-8")
    own, theirs = statuses(folder)
    assert own["linked rows"] is False and theirs["linked rows"] == "does not hold"
    says = next(claim.says for claim in check_folder(folder).claims if claim.name == "linked rows")
    assert says == "The linked tables are not as described: a row does not say whose it is, or where."
