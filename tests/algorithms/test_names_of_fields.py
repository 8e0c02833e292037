"""Fields and tables of the user's may be called as the columns and tables of the program's own are."""

from __future__ import annotations

from collections import Counter

import pytest
from qgis.core import QgsProcessingException

from vbas.algorithms.form.refusals import PACKAGE, fault_of_the_program

from .conftest import Feedback, make_layer
from .test_destinations import save

# A quasi-identifier, another one, a kept field.
NAMES = [
    ("vbas_class", "vbas_n", "vbas_rows"),
    ("cell", "label", "n"),
    ("key", "size", "count"),
    ("fid", "geom", "rowid"),
    ("row_id", "shape", "fid"),
    ("vbas_row_id", "row_id", "fid"),
    ("ogc_fid", "a", "b"),
    ("records", "level", "region"),
    ("class", "group", "order"),
    ("self", "name", "table"),
    ("two words", "it's", "50%"),
    ("{}", "a|b", "a.b"),
]


def renamed(records, names):
    columns: dict[str, list] = {field.name(): [] for field in records.fields()}
    for feature in records.getFeatures():
        for name, value in zip(columns, feature.attributes()):
            columns[name].append(value or None)
    other = dict(zip(("sex", "age", "diagnosis"), names))
    return make_layer({other.get(name, name): values for name, values in columns.items()})


def rows(run, names):
    return Counter(tuple(row[name] or None for name in ("vbas_region", *names)) for row in run.rows("RELEASED_RECORDS"))


EXPECTED: dict[str, Counter] = {}  # worked out once: what the run gives whose fields have other names


@pytest.fixture
def expected(anonymize):
    """The rows by sex and age, and those by diagnosis, too, in which the fields are called as they are."""
    if not EXPECTED:
        EXPECTED["plain"] = rows(anonymize(), ("sex", "age"))
        EXPECTED["kept"] = rows(anonymize(KEEP_FIELDS=["diagnosis"]), ("sex", "age", "diagnosis"))
    return EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["memory", "gpkg", "csv"])
@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_fields_may_be_called_as_our_own(anonymize, expected, grid, tmp_path, names, ending):
    records, output = renamed(grid[1], names), "memory:"
    if ending != "memory":
        output = str(tmp_path / f"out.{ending}")
    if ending == "csv" or (ending == "gpkg" and "fid" not in names):  # which GeoPackages number their rows by
        save(records, tmp_path / f"records.{ending}", {"gpkg": "GPKG", "csv": "CSV"}[ending])
        records = str(tmp_path / f"records.{ending}")
    done = anonymize(RECORDS=records, QUASI_IDENTIFIERS=[*names[:2]], KEEP_FIELDS=[names[2]], RELEASED_RECORDS=output)
    found = rows(done, names)
    if ending == "csv":
        found = Counter({(int(r), s, a and int(a), d): n for (r, s, a, d), n in found.items()})
    assert found == expected["kept"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vbas_numbers", "main", "temp", "vbas_query", "size", "n", "a", "x"])
def test_a_geopackage_may_be_called_as_our_own(anonymize, expected, tmp_path, name):
    done = anonymize(RELEASED_RECORDS=str(tmp_path / f"{name}.gpkg"))
    assert rows(done, ("sex", "age")) == expected["plain"]


@pytest.mark.parametrize("parameter", ["QUASI_IDENTIFIERS", "KEEP_FIELDS"])
def test_a_field_named_by_a_blank_is_not_dropped_in_silence(anonymize, grid, parameter):
    records = renamed(grid[1], ("sex", "age", " "))
    chosen = {"QUASI_IDENTIFIERS": ["sex", " "], "KEEP_FIELDS": [" "]}[parameter]
    with pytest.raises(QgsProcessingException, match=f"{parameter} names a field whose name is blank: give that field"):
        anonymize(RECORDS=records, **{parameter: chosen})


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_a_run_that_shows_nothing_warns_of_it(anonymize, tmp_path, monkeypatch, release):
    """The results are as they are: empty, and the numbers say so."""
    warned = []
    monkeypatch.setattr(Feedback, "pushWarning", lambda _, text: warned.append(text))
    report = tmp_path / "report.html"
    done = anonymize(K=1000, RELEASE=release, REPORT=str(report))
    assert done.results["N_SUPPRESSED"] == done.results["N_RECORDS"] == 40 * 36
    assert len(done.rows("RELEASED_RECORDS")) == 0
    said = "No record could be released: all were suppressed. Choose fewer quasi-identifiers"
    assert sum(said in one for one in warned) == 1
    assert said in report.read_text(encoding="utf-8")


def test_where_a_fault_happened_is_said_of_relative_files_too(monkeypatch):
    """A compiled library names its files from anywhere; the program may be started in its own folder."""
    monkeypatch.chdir(PACKAGE)
    feedback = Feedback()
    try:
        exec(compile("1 / 0", "shapely/_geos.pyx", "exec"), {})
    except ZeroDivisionError as error:
        sentence = fault_of_the_program(error, False, feedback)
    assert "A fault of VBAS itself" in sentence and "Traceback" not in sentence
    assert any("_geos.pyx:1" in line for line in feedback.said)
