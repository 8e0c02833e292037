"""Approaches describe themselves: what they do, where it is published, and which settings they look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from vbas.core import aggregation, baselines, cells, site_location, site_number
from vbas.core.aggregation.annealing import schedule
from vbas.core.approach import Approach, choosing_sites, using_setting
from vbas.core.areas import make_areas
from vbas.core.configuration import RECOMMENDED, Configuration, Trials
from vbas.core.profile import profile_records

from .strategies import column_from_array

ROOMS: dict[str, tuple[Mapping[str, Approach[Any]], type[Any]]] = {
    "site number": (site_number.APPROACHES, site_number.SiteNumberOptions),
    "site location": (site_location.APPROACHES, site_location.LocationOptions),
    "aggregation": (aggregation.APPROACHES, aggregation.AggregationOptions),
    "baseline": (baselines.BASELINES, baselines.BaselineOptions),
    "cells": (cells.APPROACHES, cells.PartitionOptions),
}
EVERY = [(room, name) for room, (approaches, _) in ROOMS.items() for name in approaches]


def with_docstring(text):
    def function():
        return 5

    function.__doc__ = text
    return Approach(function)


def test_the_sentence_and_the_source_are_the_first_paragraph_of_the_docstring():
    approach = with_docstring("Areas join (in turn)\n    the site (Croft 2015, Eq. 3; and others).\n\n    More (1999).")
    assert approach.sentence == "Areas join (in turn) the site."
    assert approach.source == "Croft 2015, Eq. 3; and others"
    assert with_docstring("Areas join (once).").sentence == "Areas join (once)."
    assert with_docstring("Areas join (once).").source == ""
    assert approach() == 5


def test_python_without_docstrings_still_runs():
    assert (with_docstring(None).sentence, with_docstring(None).source) == ("", "")


@pytest.mark.parametrize(("room", "name"), EVERY)
def test_every_approach_has_a_sentence_that_anybody_understands(room, name):
    sentence = ROOMS[room][0][name].sentence
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert 20 < len(sentence) < 260
    assert not set("`_=/") & set(sentence)


@pytest.fixture(scope="module")
def town():
    """6 x 6 areas of 30 records each, and their profile."""
    rng = np.random.default_rng(3)
    points = np.array([(x, y) for y in range(6) for x in range(6)], float) * 500
    areas = make_areas([f"46{i // 9}{i:02d}" for i in range(36)], points, np.full(36, 30))
    codes = np.repeat(np.arange(36), 30)
    columns = {name: column_from_array(rng.integers(0, n, len(codes))) for name, n in (("sex", 2), ("age", 9))}
    return areas, profile_records(codes, columns, 36)[0]


def watched(options):
    """The same options, which write down what is looked at."""
    seen: set[str] = set()

    kind: Any = type(options)

    class Watched(kind):
        def __getattribute__(self, name):
            if name in names:
                seen.add(name)
            return super().__getattribute__(name)

    names = {field.name for field in fields(options)}
    return Watched(**{name: getattr(options, name) for name in names}), seen


# Settings without which an approach cannot run, or does not look at the others.
TRIED: dict[str, tuple[dict[str, Any], ...]] = {
    "site number": ({}, {"gaps_region": "custom"}),
    "baseline": ({"hierarchy": ["x", "y"] * 18, "cutoff": 90.0},),
}
# Looked at by all, for the numbers that are reported beside the number of sites; and of the records.
REPORTED = {"site number": {"log_base", "k"}, "aggregation": {"period"}}


@pytest.mark.parametrize(("room", "name"), [one for one in EVERY if one[0] != "cells"])
def test_an_approach_looks_at_the_settings_that_it_names(town, room, name):
    areas, profile = town
    approaches, kind = ROOMS[room]
    approach = approaches[name]
    looked: set[str] = set()
    for settings in TRIED.get(room, ({},)):
        options, seen = watched(replace(kind(), **settings))
        if room == "site number":
            tried = [lambda n_sites, progress: n_sites / 9.0] if approach.runs_candidates else []
            approach(profile, areas.identifiers, options, *tried)
        elif room == "site location":
            approach(areas, profile, 4, options)
        elif room == "aggregation":
            approach(areas, profile, 4 if approach.own_sites else areas.points[::9], options)
        else:
            approach(areas, profile, options)
        looked |= seen
    assert looked - REPORTED.get(room, set()) == set(approach.settings) - REPORTED.get(room, set())
    assert set(approach.settings) <= looked


def ages(of_area):
    """The profile of 30 people in each of 36 areas; of_area : (36, 30) their ages."""
    columns = {"age": column_from_array(of_area.reshape(-1))}
    return profile_records(np.repeat(np.arange(36), 30), columns, 36)[0]


def given_by(areas, profile, room, name):
    """What an approach gives, to be compared."""
    approaches, kind = ROOMS[room]
    approach, options = approaches[name], kind(**({"hierarchy": ["x", "y"] * 18} if room == "baseline" else {}))
    if room == "site number":
        configuration = Configuration(name, number_options=replace(options, budget=45.0))
        number = Trials(areas, profile, configuration).number()
        return number.n_sites, round(number.cutoff, 6)
    if room == "site location":
        return approach(areas, profile, 6, options).sites.tolist()
    if room == "aggregation":
        return approach(areas, profile, 6 if approach.own_sites else areas.points[::6], options).sites.tolist()
    return approach(areas, profile, options).crosswalk.region_of.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("room", "name"), [one for one in EVERY if one[0] != "cells"])
def test_only_approaches_that_look_at_classes_depend_on_what_is_suppressed(town, monkeypatch, room, name):
    monkeypatch.setattr(schedule, "WORK_PER_AREA", 20_000)  # that of anonymity exchange, which is slow
    areas = town[0]
    common = np.repeat(np.arange(30)[None, :] % 2, 36, axis=0)
    # In each area 4 of 30 records have a value that fewer than k have, one or another: no region releases them.
    rare = [common.copy(), common.copy()]
    rare[0][:, :4] += 10 + np.arange(36)[:, None]
    rare[1][:, :4] += 10 + np.roll(np.arange(36 * 4) // 2, 7).reshape(36, 4)
    # Values that some regions release and others do not.
    scarce = [np.random.default_rng(seed).integers(0, 25 + 5 * seed, (36, 30)) for seed in range(9)]
    looks = ROOMS[room][0][name].uses_attribute_counts
    one, other = (given_by(areas, ages(values), room, name) for values in rare)
    assert one == other or looks
    found = [one, other, *(given_by(areas, ages(values), room, name) for values in scarce)]
    assert any(one != other for other in found) == looks or name == "max combinations"  # it counts what k records have


def test_who_chooses_sites_and_who_looks_at_a_setting():
    assert choosing_sites(aggregation.APPROACHES) == (
        "alternating location-allocation",
        "transportation-location",
        "population floor",
    )
    assert using_setting(site_location.APPROACHES, "seed") == ("random",)
    assert using_setting(baselines.BASELINES, "cutoff") == ("static cut-off", "adjacent merging")


@pytest.mark.parametrize("name", RECOMMENDED)
def test_the_parts_of_a_recommended_combination_are_there(name):
    combination = RECOMMENDED[name]
    assert combination.site_number in site_number.APPROACHES
    own_sites = aggregation.APPROACHES[combination.aggregation].own_sites
    assert combination.site_location in ([""] if own_sites else site_location.APPROACHES)
