"""`anonymize_linked`: frames in, a release of persons and tables out, recounted from its files by two programs."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from vbas import anonymize_linked
from vbas.core.errors import InputError
from vbas.core.library.linked import AnonymizedLinked
from vbas.core.package.checking import check_folder

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


def released(**given: Any) -> AnonymizedLinked:
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
    return anonymize_linked(AREAS, PEOPLE, {"stays": STAYS, "drugs": DRUGS}, **{**settings, **given})


def statuses(folder: Path) -> tuple[dict[str, bool | None], dict[str, str]]:
    own = {claim.name: claim.holds for claim in check_folder(folder).claims}
    package = VERIFY["read_description"](folder)
    return own, {name: status for name, status, _ in VERIFY["verified"](folder, package)}


@pytest.mark.parametrize(
    "settings", [{}, {"release": "nested levels", "folder_format": "GeoPackage"}, {"rows_known": "one row"}]
)
def test_its_folder_holds_what_it_claims_by_both_programs(tmp_path: Path, settings: dict[str, str]) -> None:
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
        ({"person_id": "id"}, "PERSON_ID and linked tables do not go together"),
        ({"keep_fields": "id"}, "“id” of RECORDS links the tables"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        released(**given)
