"""The list of counts that were tried says no more than what was looked at, and as much as was found."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.crosswalk import crosswalk_from_table, number_compactly
from vbas.core.disclosure import certificate
from vbas.core.disclosure.certificate import (
    AREAS,
    BESIDE_TABLES,
    BY_THE_METHOD,
    CHANGES,
    CLASSES,
    PARTS,
    RESTS,
    TOGETHER,
    ZONES,
    certify,
)
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.zone_tables import _pairs_of, records_of, released_classes, too_many_pairs
from vbas.core.levels import Levels, make_levels, own_regions
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.planning import nest, nest_by_losses
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.releases.earlier import Earlier
from vbas.core.releases.examining import examine_all
from vbas.core.report.certificate import certificate_of, certificate_section, section_of, verdict
from vbas.core.report.releases import certificate_of_all, nested_by_nobody_knows
from vbas.core.synthetic.hamlet import hamlet

from . import zone_attacker
from .nested_cases import nested_cases, profile_of
from .test_zone_attacker import territories, written
from .test_zone_tables import two_halves


@pytest.mark.slow
@given(territories())
@settings(max_examples=60)
def test_every_named_part_of_every_zone_is_tried(drawn):
    areas, counts, levels, k, _ = drawn
    roomy = areas.with_population(np.full(len(areas), 1e6))
    plan = nest(roomy, profile_of(counts), levels, k, conditions=Conditions(roomy.population, None))
    found = certify(released_classes(plan)[0], roomy.population, k)
    release = written(plan, roomy)
    named = [(zone, part) for zone in zone_attacker.zones_of(release) for part in zone_attacker.parts_of(release, zone)]
    single = sum(len(part) == 1 for _, part in named)
    assert found.of(ZONES).tried == plan.released.sum()
    assert (found.of(AREAS).tried, found.of(PARTS).tried) == (single, len(named) - single)
    assert found.of(RESTS).tried == sum(len(zone.areas) - len(part) > 1 for zone, part in named)
    assert found.follow == found.undecided == 0 and found.of(BY_THE_METHOD).tried == 0
    assert certify(released_classes(plan)[0], roomy.population, k, table=records_of(plan)).families == found.families


def test_what_follows_is_counted_and_said():
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    found = certify(released_classes(plan)[0], areas.population, 5)
    assert found.follow > 0 and "must be 1 to 4" in verdict(found)
    assert certify(released_classes(plan)[0], areas.population, 5, table=records_of(plan)).families == found.families
    # Nobody knows how many people live there: then nothing follows.
    unknown = certify(released_classes(plan)[0], None, 5)
    assert unknown.follow == 0 and "none of them was found" in verdict(unknown)
    # More records than people: they say nothing.
    few = certify(released_classes(plan)[0], areas.population / 2, 5)
    assert few.contradicted and few.follow == 0
    assert "fewer people than records" in section_of(few, True, "x").paragraphs[1]


def test_what_is_too_much_to_look_at_is_not_decided(monkeypatch):
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    shown, _ = released_classes(plan)
    n_pairs = certify(shown, areas.population, 5).unknowns
    assert too_many_pairs(shown) == too_many_pairs(shown, 10**6) == 0 < n_pairs <= too_many_pairs(shown, n_pairs - 1)
    monkeypatch.setattr(certificate, "too_many_pairs", lambda shown: 1234)
    found = certify(shown, areas.population, 5)
    assert (found.follow, found.undecided, found.unknowns) == (0, 1234, 0)
    assert "1234 further counts could not be decided: take them for ones that do." in verdict(found)
    text = section_of(found, False, "x").paragraphs
    assert not any("unknowns" in paragraph for paragraph in text)


def test_what_is_said_to_the_expert_reads_well_of_any_number():
    areas, records, crosswalk = hamlet()
    levels = make_levels(areas, [own_regions(4), crosswalk, crosswalk_from_table(areas, list("abcd"), [1, 1, 1, 1])])
    found = certificate_of(anonymise(areas, records, levels, Ask(k=2)))
    assert found is not None
    for n in (1, 2):
        counted = replace(found, unknowns=n, conditions=n, n_tables=n, n_programs=n)
        (said,) = [text for text in section_of(counted, False, "x").paragraphs if text.startswith("For the expert")]
        assert re.findall(r"\d+", said) == [str(n)] * 4 and not re.search(r"\d \w", said)


@given(nested_cases(), st.sampled_from([2, 3]), st.booleans())
@settings(max_examples=60)
def test_how_much_there_is_to_look_at_is_counted_without_looking(case, k, in_zones):
    areas, profile, levels = case
    conditions = Conditions(areas.population, Secrets(np.random.default_rng(0))) if in_zones else None
    shown, _ = released_classes(nest(areas, profile, levels, k, conditions=conditions))
    n_pairs = sum(len(area) for _, area in _pairs_of(shown))
    assert too_many_pairs(shown, -1) == n_pairs
    assert too_many_pairs(shown, n_pairs) == 0


def test_a_report_says_who_is_taken_to_know_what():
    areas, records, crosswalk = hamlet()
    whole = crosswalk_from_table(areas, list("abcd"), [1, 1, 1, 1])
    levels = make_levels(areas, [own_regions(4), crosswalk, whole])
    plain = certificate_section(anonymise(areas, records, levels, Ask(k=2)))
    assert [row[0] for row in plain.rows][-1] == BY_THE_METHOD and "knows the method" in plain.paragraphs[1]
    held = certificate_section(anonymise(areas, records, levels, Ask(k=2, disclosure=NO_SMALL_COUNT)))
    assert BY_THE_METHOD not in [row[0] for row in held.rows] and "stays secret" in held.paragraphs[1]
    assert all(row[3] == row[4] == 0 for row in held.rows)


def test_one_level_gets_a_short_one_with_what_others_publish_and_earlier_releases():
    areas, records, crosswalk = hamlet()
    levels = Levels((crosswalk,))
    first = anonymise(areas, records, levels, Ask(k=2))
    alone = certificate_of(first)
    assert alone is not None
    assert [(family.kind, family.tried, family.follow) for family in alone.families] == [(CLASSES, 3, 0)]
    ask = Ask(k=2, published_margins="sex", earlier=Earlier([publish(first.plan, areas, "first")]))
    beside = certificate_of(anonymise(areas, records, levels, ask))
    assert beside is not None
    assert [family.kind for family in beside.families] == [CLASSES, BESIDE_TABLES, TOGETHER, CHANGES]
    assert beside.of(TOGETHER).tried > 0 and beside.of(CHANGES).tried == 3
    assert beside.follow == beside.of(BESIDE_TABLES).follow and not beside.undecided
    section = certificate_section(first)
    assert "What the method itself" not in " ".join(section.paragraphs) and "inside a region" in section.paragraphs[-1]


def test_of_releases_made_anywhere_the_counts_together_are_said_and_that_the_method_was_not_looked_at():
    areas, records, crosswalk = hamlet()
    whole = crosswalk_from_table(areas, list("abcd"), [1, 1, 1, 1])
    levels = make_levels(areas, [own_regions(4), crosswalk, whole])
    asks = (Ask(k=2), Ask(k=2, disclosure=NO_SMALL_COUNT))
    plain, held = (publish(anonymise(areas, records, levels, ask).plan, areas) for ask in asks)
    wide = publish(anonymise(areas, records, Levels((crosswalk,)), Ask(k=2)).plan, areas)
    findings = examine_all([wide, plain])
    certificate = certificate_of_all(findings, [wide, plain], 2)
    assert certificate.of(CLASSES).tried == len(wide.records) + len(plain.records)
    together = certificate.of(TOGETHER)
    assert together.tried > 0 and together.follow == findings.n_counts and together.undecided == findings.n_undecided
    assert nested_by_nobody_knows([wide, plain]) and not nested_by_nobody_knows([wide, held])


def test_where_all_people_are_in_the_records_no_area_adds_a_condition_of_its_own():
    """The certificate says how many conditions were looked at: an area without room for others is none."""
    areas, counts, levels = two_halves()
    plan = nest(areas, profile_of(counts), levels, 5, conditions=Conditions(areas.population, None))
    shown, _ = released_classes(plan)
    assert (areas.population == counts.sum(axis=1)).all()
    # The five of a class that the whole shows live in two areas, three and two; the others are full.
    assert certify(shown, areas.population, 5).conditions == 1 + 2
    assert certify(shown, areas.population + np.eye(4)[3], 5).conditions == 1 + 3


def test_a_zone_of_people_who_are_all_of_its_class_tells_how_many_live_in_each_of_its_areas():
    """Two and two people, all of one class: whoever sees four of it knows that two are in each area."""
    areas = make_areas(list("ab"), np.arange(4.0).reshape(2, 2), [2.0, 2.0])
    levels = make_levels(areas, [own_regions(2), number_compactly(np.zeros(2, np.int64))[0]])
    profile = profile_of(np.array([[2], [2]]))
    losses = [np.zeros(2), np.ones(1)]
    for people, released in ((areas.population, 0), (areas.population + 9.0, 4)):
        conditions = Conditions(people, Secrets(np.random.default_rng(0)))
        assert nest_by_losses(profile, levels, losses, 3, conditions=conditions).n_released == released
