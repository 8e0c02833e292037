"""What must not follow from how a release was made: seeds, the order of ties, classes behind a crosswalk, weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from qgis.core import QgsApplication

from .conftest import make_layer
from .test_protection_forms import clinic, parameters, read  # noqa: F401

CLUSTERING = {"COMBINATION": "custom", "SITE_LOCATION": "anonymity-driven clustering"}
DEPENDS = "depends on the classes of suppressed records"
SEED = 918_273_645


@pytest.mark.slow
def test_the_seed_is_in_nothing_that_may_be_published(run, clinic, tmp_path):  # noqa: F811
    register = tmp_path / "register.gpkg"
    outputs = {
        "RELEASED_RECORDS": str(tmp_path / "released.gpkg"),
        "RELEASED_REGIONS": str(tmp_path / "regions.gpkg"),
        "CROSSWALK": str(tmp_path / "crosswalk.gpkg"),
        "REGISTER": str(register),
    }
    given = parameters(clinic, tmp_path, SITE_LOCATION="random", SEED=SEED, **outputs)
    run("anonymize", **given)
    for name in ("released.gpkg", "regions.gpkg", "crosswalk.gpkg", "register.gpkg"):
        data = (tmp_path / name).read_bytes()
        assert len(data) > 1000 and str(SEED).encode() not in data and SEED.to_bytes(4, "big") not in data, name
    report = (tmp_path / "report.html").read_text(encoding="utf-8")  # internal: it names all that counts
    assert re.search("918.?273.?645", report)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_log_and_report_say_whether_the_crosswalk_depends_on_suppressed_classes(
    run,
    clinic,  # noqa: F811
    tmp_path,
    release,
):
    shown = (tmp_path / "report.html").read_text
    plain = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release))
    assert any("The method that drew the regions does not look at" in line for line in plain.log)
    assert "The method that drew the regions does not look at" in shown(encoding="utf-8")
    asked = {"RELEASE": release, **CLUSTERING}
    done = run("anonymize", **parameters(clinic, tmp_path, **asked))
    assert any(f"{DEPENDS} (“anonymity-driven clustering”)" in line for line in done.log)
    assert DEPENDS in shown(encoding="utf-8")
    assert not any("“all-rounder” makes one that does not" in line for line in done.log)
    for more in ({"RULE": "PCORnet"}, {"REGISTER": str(tmp_path / "register.gpkg")}):
        done = run("anonymize", **parameters(clinic, tmp_path, **asked, **more))
        assert sum("“all-rounder” makes one that does not" in line for line in done.log) == 1
        plain = run("anonymize", **parameters(clinic, tmp_path, RELEASE=release, RULE="PCORnet"))
        assert not any("“all-rounder” makes" in line for line in plain.log)


def test_merging_until_k_anonymous_says_so_too(run, clinic):  # noqa: F811
    areas, records, _ = clinic
    given = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": records, "RECORD_REGION": "home"}
    choice = {"UNTIL": "the records are k-anonymous", "QUASI_IDENTIFIERS": ["sex", "age"], "CROSSWALK": "memory:"}
    assert any(DEPENDS in line for line in run("mergeadjacent", **given, **choice).log)


def test_no_form_looks_at_suppressed_classes_unless_it_is_told_to(provider):
    from vbas.core import aggregation, site_location, site_number
    from vbas.core.approach import Approach, depending_on_attribute_counts
    from vbas.core.configuration import RECOMMENDED, Configuration

    assert Configuration().using_attribute_counts == ()
    assert Configuration(site_location="anonymity-driven clustering").using_attribute_counts
    rooms: dict[str, Mapping[str, Approach[Any]]] = {
        "SITE_NUMBER": site_number.APPROACHES,
        "SITE_LOCATION": site_location.APPROACHES,
        "AGGREGATION": aggregation.APPROACHES,
    }
    seen = 0
    for algorithm in QgsApplication.processingRegistry().providerById("vbas").algorithms():
        for name, approaches in rooms.items():
            definition = algorithm.parameterDefinition(name)
            if definition is not None and not definition.allowMultiple():
                assert definition.defaultValue() not in depending_on_attribute_counts(approaches), algorithm.id()
                seen += 1
        definition = algorithm.parameterDefinition("COMBINATION")
        if definition is not None:
            chosen = RECOMMENDED[definition.defaultValue()]
            parts = (chosen.site_number, chosen.site_location, chosen.aggregation)
            assert Configuration(*parts).using_attribute_counts == (), algorithm.id()
    assert seen >= 5


def town_of_ties():
    """Two areas of five of each class and one of three, many times: one of the two has to go up with the three."""
    x, squares, homes, rows = 630_000, [], [], []
    for row in range(12):
        for column in range(3):
            west, south = x + 500 * column, 5_520_000 + 3000 * row
            squares.append(
                f"Polygon(({west} {south}, {west + 500} {south}, {west + 500} {south + 500}, {west} {south + 500}, "
                f"{west} {south}))"
            )
            homes.append(f"4690{row:02d}{column}")
            rows += [(homes[-1], value, row) for value in "abcdef" for _ in range(3 if column == 1 else 5)]
    areas = make_layer({"da": homes, "block": [home[:-1] for home in homes]}, squares)
    return areas, make_layer(dict(zip(("home", "value", "row"), map(list, zip(*rows)))))


@pytest.mark.slow
def test_ties_are_broken_in_secret_where_asked(run, provider, tmp_path):
    areas, records = town_of_ties()

    def shown(ties):
        given = {"REGIONS": areas, "REGION_ID": "da", "RECORDS": records, "RECORD_REGION": "home", "K": 5}
        nested = {"RELEASE": "nested levels", "LEVEL_FIELDS": ["da", "block"], "QUASI_IDENTIFIERS": ["value"]}
        run("anonymize", **given, **nested, TIES=ties, RELEASED_RECORDS=str(tmp_path / "out.csv"))
        rows = [(row["vbas_level"], row["vbas_region"], row["value"]) for row in read(tmp_path / "out.csv")]
        assert min(np.unique(rows, axis=0, return_counts=True)[1]) >= 5
        return rows

    fixed, secret = [shown("fixed") for _ in range(2)], [shown("secret") for _ in range(2)]
    assert fixed[0] == fixed[1]
    assert secret[0] != secret[1]  # by chance the same once in 2 ** 72 runs
    assert len(secret[0]) == len(fixed[0])


@pytest.mark.slow
@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_a_survey_weight_is_warned_of_and_fractions_are_refused(run, clinic, tmp_path, release):  # noqa: F811
    rows = clinic[2]
    rng = np.random.default_rng(0)
    some = [rows[i] for i in rng.choice(len(rows), 300, replace=False)]
    home, sex, age = (list(column) for column in list(zip(*some))[:3])
    weights = rng.integers(30, 400, len(some)).tolist()
    layer = make_layer({"home": home, "sex": sex, "age": age, "weight": weights})
    given = parameters(clinic, tmp_path, RELEASE=release, RECORDS=layer, RECORD_COUNT="weight")
    done = run("anonymize", **given)
    warnings = [line for line in done.log if "looks like a survey weight" in line]
    assert len(warnings) == 1 and "more than the population there, 1440" in warnings[0]
    assert "looks like a survey weight" in (tmp_path / "report.html").read_text(encoding="utf-8")
    fractions = make_layer({"home": home, "sex": sex, "age": age, "weight": [weight + 0.5 for weight in weights]})
    with pytest.raises(Exception, match="not a whole number"):
        run("anonymize", **{**given, "RECORDS": fractions})
    without = run("anonymize", **{name: value for name, value in given.items() if name != "RECORD_COUNT"})
    assert not any("survey weight" in line for line in without.log)
