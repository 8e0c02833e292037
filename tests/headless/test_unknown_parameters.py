"""On the command line a name that is not understood stops the run: nothing is released with a default in its place."""

from __future__ import annotations

import json

import pytest

from .jobs import inputs, query

UNKNOWN = [
    (["k=20"], "“k” is not a parameter of “{}”: did you mean “K”?"),
    (["K=20", "--K=20"], "“--K” is not a parameter of “{}”: did you mean “K”?"),
    (["COMBINATON=fastest"], "“COMBINATON” is not a parameter of “{}”: did you mean “COMBINATION”?"),
    (["REPROT=report.html"], "“REPROT” is not a parameter of “{}”: did you mean “{report}”?"),
    (["K=5", "K=20"], "(K) has several values (“5”, “20”), but takes one: give it once."),
    (["ELLIPSOID=EPSG:7030"], "“ELLIPSOID” is an option of qgis_process, not a parameter of “{}”: write it before"),
    (["K=5.5"], "(K) is “5.5”: give a whole number of at least 2."),
    (["K="], "(K) is empty: give a value."),
]
TITLES = {
    "anonymize": "Anonymise records",
    "anonymizestepbystep": "Anonymise records, step by step (model)",
    "nestedstepbystep": "Anonymise records with nested levels, step by step (model)",
}
MODELS = ("anonymizestepbystep", "nestedstepbystep")
RELEASED = {"anonymize": "RELEASED_RECORDS", **dict.fromkeys(MODELS, "releaserecords:RELEASED_RECORDS")}
REPORTS = {"anonymize": "REPORT", **dict.fromkeys(MODELS, "releaserecords:REPORT")}


CASES = [("anonymize", *case) for case in UNKNOWN] + [
    (model, *case) for model in MODELS for case in UNKNOWN if case[0][0] in ("k=20", "K=5", "REPROT=report.html")
]


@pytest.mark.parametrize(
    ("algorithm", "given", "words"), CASES, ids=[f"{name} {given[-1]}" for name, given, _ in CASES]
)
def test_what_is_not_understood_stops_the_run(qgis_process, qgis_loaded, town, tmp_path, algorithm, given, words):
    place = f"{RELEASED[algorithm]}={tmp_path / 'released.gpkg'}"
    # QGIS gives on what it does not know, and several values of one name: seen once each, and of its own options.
    started = algorithm == "anonymize" and (given[0] == "k=20" or len(given) > 1 or given[0].startswith("ELLIPSOID"))
    done = (qgis_process if started else qgis_loaded)("run", f"vbas:{algorithm}", "--", *inputs(town), place, *given)
    assert done.returncode != 0
    assert words.format(TITLES[algorithm], report=REPORTS[algorithm]) in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_qgis_reads_itself_lets_the_run_go_on(qgis_process, town, tmp_path):
    """Its options stand before the “--”; QGIS itself adds nothing to the parameters."""
    done = qgis_process(
        "run",
        "vbas:profilerecords",
        "--ELLIPSOID=EPSG:7030",
        "--distance_units=meters",
        "--area_units=m2",
        "--json",
        "--",
        f"RECORDS={town / 'records.gpkg'}",
        "RECORD_REGION=area",
        "QUASI_IDENTIFIERS=sex",
        "QUASI_IDENTIFIERS=age_group",
        f"PROFILE={tmp_path / 'profile.gpkg'}",
    )
    assert done.returncode == 0, done.stderr
    assert done.results["N_CLASSES"] > 2
    # A list of fields may be given one by one.
    names = [row[1] for row in query(tmp_path / "profile.gpkg", "pragma table_info(profile)")]
    assert names == ["fid", "area", "sex", "age_group", "records"]


def test_the_model_warns_of_what_counts_for_nothing(qgis_loaded, town, tmp_path):
    done = qgis_loaded(
        "run",
        "vbas:anonymizestepbystep",
        "--",
        *inputs(town),
        "COMBINATION=fastest",
        "SITE_NUMBER=given number",
        "N_SITES=70",
        f"aggregate:CROSSWALK={tmp_path / 'crosswalk.csv'}",
        f"releaserecords:RELEASED_RECORDS={tmp_path / 'released.gpkg'}",
    )
    assert done.returncode == 0, done.stderr
    log = done.stdout + done.stderr
    assert "SITE_NUMBER = given number has no effect here: it counts only where COMBINATION is “custom”" in log
    assert "N_SITES = 70 has no effect here: it counts only where SITE_NUMBER is “given number”" in log
    ((regions,),) = query(tmp_path / "released.gpkg", "select count(distinct vbas_region) from released")
    assert regions != 70


@pytest.mark.parametrize("told", ["entropy;given number", "1,3"])
def test_several_choices_by_words_and_numbers(qgis_loaded, town, tmp_path, told):
    done = qgis_loaded(
        "run",
        "vbas:compare",
        "--json",
        "--",
        *inputs(town),
        f"SITE_NUMBERS={told}",
        "N_SITES=10",
        "AGGREGATIONS=basic Voronoi",
        f"COMPARISON={tmp_path / 'comparison.csv'}",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]["N_CONFIGURATIONS"] == 2
    table = (tmp_path / "comparison.csv").read_text(encoding="utf-8")
    assert "entropy" in table and "given number" in table
