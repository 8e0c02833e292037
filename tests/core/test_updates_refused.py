"""Updates by the library: what cannot be carried on is refused in a sentence that says why, and nothing is written."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vbas import anonymize, update_release
from vbas.core.errors import InputError

AREAS: dict[str, list[Any]] = {"area": list("abcd"), "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
SPLIT: dict[str, list[Any]] = {"area": ["a1", "a2", "b", "c", "d"], "x": [0, 50, 900, 0, 900], "y": [0, 0, 0, 900, 900]}


def people(codes: list[str]) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    return {"area": rng.choice(codes, 400).tolist(), "sex": rng.choice(["F", "M"], 400).tolist()}


@pytest.fixture
def register(tmp_path: Path) -> Path:
    """A register with one nested release."""
    path = tmp_path / "register.gpkg"
    with pytest.warns(UserWarning, match="is a new register"):
        first = anonymize(
            AREAS, people(list("abcd")), area="area", quasi_identifiers="sex", register=path, release="nested levels"
        )
    first.write(tmp_path / "first")
    return path


@pytest.mark.parametrize("entry", ["", "1"])
@pytest.mark.parametrize(
    ("areas", "codes", "words"),
    [
        (SPLIT, ["a1", "a2", "b", "c", "d"], "other areas than these .“a1”, “a2”., as of another year"),
        ({**AREAS, "area": ["A1", "A2", "A3", "A4"]}, ["A1", "A2", "A3", "A4"], "other areas than these .“A1”"),
        ({name: values[:3] for name, values in AREAS.items()}, list("abc"), "other areas than these .“d”."),
        (SPLIT, list("abcd"), "have an area in “area” that is not in REGIONS .first: “a”"),
    ],
)
def test_areas_of_another_year(register, areas, codes, words, entry):
    with pytest.raises(InputError, match=words):
        update_release(areas, people(codes), area="area", quasi_identifiers="sex", register=register, entry=entry)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"levels_coarser": [("sex", 1)], "hierarchy_rules": [("sex", "*")]}, "LEVELS_COARSER and REGISTER"),
        ({"disclosure": "no small count follows"}, "does not go with DISCLOSURE"),
        ({"rule": "CMS cell size"}, "does not go with DISCLOSURE"),
        ({"least_left_areas": 2}, "does not go with LEAST_LEFT_AREAS"),
        ({"least_left_people": 50.0}, "does not go with LEAST_LEFT_PEOPLE"),
        ({"least_population": 500.0}, "Regions of at least 500 people are asked for"),
    ],
)
def test_what_an_update_does_not_know_is_not_passed_over(register, more, words):
    with pytest.raises(Exception, match=words):
        update_release(AREAS, people(list("abcd")), area="area", quasi_identifiers="sex", register=register, **more)


@pytest.mark.parametrize(("before", "now"), [("", None), (None, "")])
def test_empty_texts_and_missing_values_that_take_turns_are_refused(tmp_path, before, now):
    """As the same CSV file has them by a layer and in a database; who reads the releases tells them not apart."""
    path = tmp_path / "register.gpkg"
    given: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex"}

    def with_some(value: object) -> dict[str, list[Any]]:
        months = people(list("abcd"))
        return {**months, "sex": [value if at % 5 == 0 else sex for at, sex in enumerate(months["sex"])]}

    with pytest.warns(UserWarning, match="is a new register"):
        anonymize(AREAS, with_some(before), register=path, **given).write(tmp_path / "first")
    update_release(AREAS, with_some(before), register=path, **given)
    with pytest.raises(
        InputError, match="“sex” is missing where release 1 shows an empty text, or the other way round"
    ):
        update_release(AREAS, with_some(now), register=path, **given)


@pytest.mark.parametrize(("before", "now"), [("", None), (None, "")])
@pytest.mark.parametrize("shown_in", ["keep_fields", "sensitive"])
def test_so_are_those_of_fields_beside_quasi_identifiers(tmp_path, shown_in, before, now):
    """A class that shows sixteen without a diagnosis, and fifteen the next month, tells of one."""
    path = tmp_path / "register.gpkg"
    given: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", shown_in: "diagnosis"}

    def with_some(value: object) -> dict[str, list[Any]]:
        months = people(list("abcd"))
        return {**months, "diagnosis": [value if at % 5 == 0 else "flu" for at in range(len(months["sex"]))]}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        anonymize(AREAS, with_some(before), register=path, **given).write(tmp_path / "first")
        update_release(AREAS, with_some(before), register=path, **given)
        with pytest.raises(
            InputError, match="“diagnosis” is missing where release 1 shows an empty text, or the other way round"
        ):
            update_release(AREAS, with_some(now), register=path, **given)


def test_more_people_than_can_be_drawn_are_refused_before_memory_is_taken(register):
    counted = {"area": list("abcd"), "sex": list("FMFM"), "people": [400_000_000] * 4}
    with pytest.raises(InputError, match="this work draws each of them"):
        update_release(
            AREAS, counted, area="area", quasi_identifiers="sex", register=register, entry="1", record_count="people"
        )
