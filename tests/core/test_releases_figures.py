"""Two releases of one town, each k-anonymous, as custodians really make them: what they give away, and the cure."""

from __future__ import annotations

import numpy as np
import pytest

from vbas.core.aggregation import APPROACHES as AGGREGATIONS
from vbas.core.aggregation import AggregationOptions
from vbas.core.areas import make_areas
from vbas.core.crosswalk import Crosswalk
from vbas.core.disclosure.counts import CELL, REST
from vbas.core.disclosure.disclosed import find_disclosed
from vbas.core.disclosure.published import publish
from vbas.core.plan import suppress
from vbas.core.progress import silent
from vbas.core.releases.examining import examine, examine_all
from vbas.core.releases.repair import on_earlier_regions, repair
from vbas.core.report.provenance import Provenance
from vbas.core.report.releases import releases_report, verdict
from vbas.core.site_location import APPROACHES as LOCATIONS
from vbas.core.site_location import LocationOptions

from ..exploring import tried
from .release_cases import coarser, profile_over, true_table

pytestmark = pytest.mark.slow

NAMES = ("age", "sex", "health", "tenure")
K = 5


@pytest.fixture(scope="module")
def town():
    """300 areas with some 30 000 people in 120 classes, some of them rare."""
    rng = np.random.default_rng(3)
    areas = make_areas([f"a{i}" for i in range(300)], rng.uniform(0, 10_000, (300, 2)), rng.integers(60, 140, 300))
    values = [(str(a), s, h, t) for a in range(10) for s in "FM" for h in "abc" for t in "or"]
    shares = rng.dirichlet(np.full(len(values), 0.7))
    counts = np.array([rng.multinomial(int(n), shares) for n in areas.population])
    return areas, profile_over(counts, values, NAMES)


def regions(areas, profile, n):
    sites = LOCATIONS["balanced density"](areas, profile, n, LocationOptions(), silent).sites
    return AGGREGATIONS["iterative Voronoi"](areas, None, sites, AggregationOptions(), silent).crosswalk


@pytest.mark.parametrize(("first", "second"), tried([(8, 10)], [(40, 41), (8, 10)]))
def test_other_regions(town, first, second):
    areas, profile = town
    old = suppress(profile, regions(areas, profile, first), K)
    plan = suppress(profile, regions(areas, profile, second), K)
    releases = [publish(old, areas), publish(plan, areas)]
    disclosed = find_disclosed(releases)
    assert disclosed.n_undecided == 0
    table = true_table(disclosed.overlay, profile, areas)
    exact = [count for count in disclosed.counts if count.kind == CELL and count.low == count.high]
    assert len(exact) > 50 and sum(count.low == 1 for count in exact) > 10  # single persons among them
    assert all(table[count.cells[0], count.joint[0]] == count.low for count in exact)

    done = repair(plan, areas, releases[:1])
    assert done.before.n_counts > 50 and done.n_suppressed > 0
    assert examine_all([releases[0], done.published]).n_counts == 0
    same = on_earlier_regions(plan, areas, releases[:1])
    assert same is not None
    assert examine(publish(same, areas), releases[:1]).n_counts == 0
    assert same.n_released == old.n_released


def test_one_more_quasi_identifier(town):
    areas, profile = town
    crosswalk = regions(areas, profile, tried(16, 40))
    three = publish(suppress(coarser(profile, NAMES[:3]), crosswalk, K), areas, "three")
    plan = suppress(profile, crosswalk, K)
    findings = examine(publish(plan, areas, "four"), [three])
    assert len([count for count in findings.counts if count.kind == REST]) > 20
    done = repair(plan, areas, [three])
    assert examine_all([three, done.published]).n_counts == 0
    # The other order tells as much.
    assert examine(three, [publish(plan, areas, "four")]).n_counts > 20


def test_a_monthly_update(town):
    areas, profile = town
    crosswalk = regions(areas, profile, 40)
    old = publish(suppress(profile, crosswalk, K), areas, "January")
    rng = np.random.default_rng(0)
    seen = held = 0
    for trial in range(20):
        counts = profile.counts.toarray()
        one = rng.choice(counts.size, p=counts.ravel() / counts.sum())
        counts.ravel()[one] += 1
        plan = suppress(profile_over(counts, values_of(profile), NAMES), crosswalk, K)
        findings = examine(publish(plan, areas, "February"), [old])
        seen += sum(len(changes) for _, changes in findings.changes) == 1 and findings.n_counts == 1
        if trial < 5:
            done = repair(plan, areas, [old])
            held += done.after.n_counts == 0 and done.n_suppressed < 200
    assert seen > 15 and held == 5


def test_new_regions_after_an_update_fit_nobody(town):
    areas, profile = town
    counts = profile.counts.toarray()
    counts[7, 3] += 1
    old = publish(suppress(profile, regions(areas, profile, 8), 2), areas, "January")
    later = profile_over(counts, values_of(profile), NAMES)
    new = publish(suppress(later, regions(areas, profile, 10), 2), areas, "February")
    findings = examine(new, [old])
    if (old.records.sum(), new.records.sum()) == (profile.n_records, profile.n_records + 1):
        assert findings.n_contradicted == 1
    # One class changed at most: the others are looked at all the same.
    assert findings.n_contradicted <= 1


def test_what_contradicts_itself_is_told_as_that_and_never_as_nothing():
    """Ten people in two areas, of which another release shows six and five: nobody can say what these give away."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    both, each = Crosswalk(np.array([0, 0]), 1), Crosswalk(np.array([0, 1]), 2)
    people = [profile_over(np.array(one), [("x",)], ("p",)) for one in ([[5], [5]], [[6], [5]])]
    published = [publish(suppress(profile, regions, 5), areas) for profile, regions in zip(people, (both, each))]
    findings = examine_all(published)
    assert findings.disclosed is not None and findings.n_counts == 0 and len(findings.disclosed.contradicted) == 1
    said = verdict(findings, 5, 5)
    assert "In 1 class the releases contradict each other" in said and "nobody can say" in said
    assert "different people." not in said and not said.startswith("No count")


def test_what_is_said_to_be_in_every_class_is_the_k_of_the_releases():
    """Counts of fewer than 9 of releases that were made with 5: no more than 5 are in every class."""
    areas = make_areas(["a", "b"], np.array([[0.0, 0.0], [1.0, 0.0]]))
    both, each = Crosswalk(np.array([0, 0]), 1), Crosswalk(np.array([0, 1]), 2)
    people = profile_over(np.array([[5], [6]]), [("x",)], ("p",))
    published = [publish(suppress(people, regions, 5), areas) for regions in (both, each)]
    said = releases_report(examine_all(published, 9), [], published, 9, Provenance())
    assert "counts of fewer than 9 people" in said and "although each release has 5 and more in every class." in said


def values_of(profile):
    columns = [categories[codes] for categories, codes in zip(profile.categories, profile.classes.T)]
    return list(zip(*columns))
