"""Values of one field that read alike and are of several types, as a frame of pandas has that read a long CSV file in
parts: whoever reads the release sees one value."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbas import anonymize, anonymize_linked, update_release
from vbas.core.errors import InputError
from vbas.core.records.columns import column_from_values
from vbas.core.records.read_alike import columns_read_alike

AREAS: dict[str, Any] = {"area": list("abcd"), "x": [0.0, 900.0, 0.0, 900.0], "y": [0.0, 0.0, 900.0, 900.0]}


@given(st.lists(st.sampled_from([None, "", 7, 7.0, "7", "7.0", 8.5, "8.5", "08", 8, True, "True", "x"]), min_size=1))
def test_what_reads_alike_is_one_value_and_nothing_else(values):
    column = columns_read_alike({"x": column_from_values(values)})["x"]
    texts = ["" if value is None else repr(str(value)) for value in column.categories]
    assert len(set(texts)) == len(texts)  # no two of them read alike
    for value, now in zip(values, column.categories[column.codes].tolist()):
        assert (now is None) == (value is None) and (str(now) == str(value) or {str(now), str(value)} == {"7", "7.0"})


def month(people: list[tuple[str, int]]) -> dict[str, Any]:
    """The people of a month, of whom every other one's age is a number, and text else."""
    ages = [age if at % 2 else str(age) for at, (_, age) in enumerate(people)]
    return {"area": [area for area, _ in people], "age": ages}


def read(folder: Path) -> Counter[tuple[str, str]]:
    with (folder / "records.csv").open(encoding="utf-8", newline="") as file:
        return Counter((row["vbas_region"], row["age"]) for row in csv.DictReader(file))


@pytest.mark.parametrize("update", [True, False])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_change_of_a_few_is_read_from_months_of_mixed_types(tmp_path, update):
    """Numbers and texts were classes of their own, each of which changed by k and more: their sums changed by one."""
    rng = np.random.default_rng(3)
    people = [(str(area), int(age)) for area, age in zip(rng.choice(list("abcd"), 300), rng.integers(1, 4, 300) * 10)]
    given: dict[str, Any] = {"area": "area", "quasi_identifiers": "age", "register": tmp_path / "register.gpkg"}
    regions: dict[str, Any] = {"site_number": "given number", "n_sites": 2, "combination": "custom", "k": 5}
    months = []
    for number in range(3):
        records = month(people)
        if number and update:
            release = update_release(AREAS, records, **given)
        else:
            release = anonymize(AREAS, records, **given, **regions, register_action="repair")
        release.write(tmp_path / str(number))
        months.append(read(tmp_path / str(number)))
        people = [*(person for person in people if rng.random() > 0.02), ("a", 10), ("b", 20), ("d", 20)]
    assert len(months[0]) > 3 and min(min(shown.values(), default=5) for shown in months) >= 5
    for at, later in enumerate(months):
        for before in months[:at]:
            assert not [key for key in later.keys() & before.keys() if 0 < abs(later[key] - before[key]) < 5]


def test_l_diversity_counts_what_reads_alike_once():
    records = {"area": list("ab") * 6, "sex": ["F"] * 12, "code": [7, 7, "7", "7"] * 3}
    places = {"area": ["a", "b"], "x": [0, 900], "y": [0, 0]}
    given: dict[str, Any] = {"area": "area", "quasi_identifiers": "sex", "k": 5, "n_sites": 1}
    with pytest.raises(InputError, match="L_DIVERSITY is 2, and “code” has only 1 value in all records"):
        anonymize(places, records, sensitive="code", l_diversity=2, **given)
    people = {"area": list("ab") * 6, "sex": ["F"] * 12, "id": list(range(12))}
    visits = {"id": list(range(12)), "code": records["code"]}
    linked = anonymize_linked(
        places, people, {"visits": visits}, key="id", linked_sensitive={"visits": "code"}, l_diversity=2, **given
    )
    assert len(linked.records["sex"]) == 12 and len(linked.tables["visits"]["code"]) == 0
