"""A policy of the house, in forms, headless and in place: refused before the work, quoted by the report."""

from __future__ import annotations

import hashlib

import pytest
from qgis.core import QgsProcessingContext, QgsProcessingException

from vbas.algorithms.catalogue import ALGORITHMS
from vbas.algorithms.compat import hidden_flags
from vbas.core.policy import VARIABLE
from vbas.vbas_plugin.models import models

from .conftest import Feedback


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Call it with TOML, and it is the policy in force."""

    def one(text):
        file = tmp_path / "vbas_policy.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv(VARIABLE, str(file))
        return file

    return one


@pytest.mark.parametrize(
    ("text", "given", "sentence"),
    [
        ("least_k = 11", {"K": 10}, "asks for at least 11"),
        ('rules = ["CMS cell size"]', {}, "RULE is “none”"),
        ("disclosure = true", {"RELEASE": "nested levels", "SITE_POINTS": None, "VORONOI": None}, "DISCLOSURE is"),
        ("register = true", {}, "REGISTER is not given"),
        ("release_folder = true", {}, "RELEASE_FOLDER is not given"),
        ('hidden = ["anonymize"]', {}, "vbas:anonymize is not to be used here"),
        ("least_k = eleven", {}, "cannot be read"),
    ],
)
def test_a_run_below_the_policy_is_refused_by_the_form(anonymize, house, text, given, sentence):
    house(text)
    with pytest.raises(QgsProcessingException, match=sentence) as refused:
        anonymize(**given)
    assert not hasattr(refused.value, "said")  # before the run began


def test_a_rule_raises_k_to_that_of_the_policy(anonymize, house):
    house('least_k = 11\nrules = ["CMS cell size"]\ndisclosure = true')
    done = anonymize(RULE="CMS cell size", K=5)
    assert any("The policy" in line and "was held" in line for line in done.log)


def test_the_report_quotes_the_policy_with_its_hash(anonymize, house, tmp_path):
    file, page = house("least_k = 5"), tmp_path / "page.html"
    anonymize(REPORT=str(page))
    assert hashlib.sha256(file.read_bytes()).hexdigest() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["anonymizedatabase", "releaserecords", "releasedatabase", "donutmask", "partitioncells", "dotmap"]
)
def test_every_form_that_releases_is_refused_even_where_nobody_asked_it(house, provider, name):
    house("least_k =")
    with pytest.raises(QgsProcessingException, match="cannot be read"):
        provider.algorithm(name).create().processAlgorithm({}, QgsProcessingContext(), Feedback())


def test_what_is_hidden_is_in_no_list_and_refused(run, house, grid):
    house('hidden = ["vbas:profilerecords", "anonymizestepbystep"]')
    hidden = {one.ID for one in ALGORITHMS if one().flags() & hidden_flags() == hidden_flags()}
    assert hidden == {"profilerecords"}
    assert "anonymizestepbystep" not in {model.name() for model in models()}
    with pytest.raises(QgsProcessingException, match="vbas:profilerecords is not to be used here"):
        run("profilerecords", RECORDS=grid[1], RECORD_REGION="home", QUASI_IDENTIFIERS=["sex"], PROFILE="memory:")
