"""Small plans and releases drawn at random, of which what is made, mended, likened and compared is asked by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vbas.core.areas import Areas, make_areas
from vbas.core.disclosure.inhabitants import inhabitants_of
from vbas.core.disclosure.published import publish
from vbas.core.disclosure.row_values import (
    fields_in_new_words,
    known_fields,
    known_row_fields,
    n_that_can_be_followed,
    row_values_in,
)
from vbas.core.disclosure.values import KeptValues
from vbas.core.levels import Levels
from vbas.core.nesting.company import in_company
from vbas.core.nesting.decoys import Conditions, Secrets, hold_decoys
from vbas.core.nesting.narrowing import narrow
from vbas.core.nesting.planning import nest
from vbas.core.nesting.promoting import promote, whole_classes
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.diversity import diversity_of, shares_of, tallies_of
from vbas.core.privacy.kept_fields import examine_values
from vbas.core.privacy.requirement import Requirement, measure, members_of
from vbas.core.profile import Profile
from vbas.core.records.table import PERSONS
from vbas.core.releases.aliases import aliases_of
from vbas.core.releases.attributes import are_apart, attributes_of, likeness, parts_of, recoded
from vbas.core.releases.matching import matched
from vbas.core.releases.naming import named, names_in, with_names, with_values
from vbas.core.releases.repair import repair
from vbas.core.releases.updates import Comparing, same_regions

from .as_before import outcome
from .asked_steps import tiny_releases
from .asked_tables import drawn_column
from .nested_cases import profile_of, random_levels
from .test_comparing_recounted import drawn as two_months
from .test_comparing_recounted import release as month


def drawn_profile(rng: np.random.Generator, k: int, most: int = 8) -> tuple[Areas, Profile]:
    """Areas, and people of a few classes, many of them about k."""
    n, n_classes = int(rng.integers(2, most)), int(rng.integers(1, 4))
    counts = rng.integers(0, 2 * k + 1, (n, n_classes)) * (rng.random((n, n_classes)) < 0.75)
    counts[0, 0] += k
    areas = make_areas([f"a{i}" for i in range(n)], rng.integers(0, 90, (n, 2)).astype(float), np.ones(n))
    return areas, profile_of(counts)


def drawn_requirement(rng: np.random.Generator, profile: Profile, k: int) -> Requirement:
    """What is asked beside k records: of persons, of their values, or nothing."""
    cell = np.repeat(np.arange(profile.counts.nnz), profile.counts.data)
    person = rng.integers(0, max(int(len(cell) * 0.9), 1), len(cell))
    value = rng.choice(4, len(cell), p=[0.6, 0.2, 0.1, 0.1])
    members = {PERSONS: person} if rng.random() < 0.4 else {}
    shares = shares_of("ill", cell, value, None if members else np.ones_like(cell), members)
    asked = {"l_diversity": int(rng.integers(1, 4))} if rng.random() < 0.5 else {"max_share": 60.0}
    of_members = tuple(members_of(kind, cell, codes) for kind, codes in members.items())
    return Requirement(k, of_members, (shares,) if rng.random() < 0.7 else (), **asked)


def drawn_plan(rng: np.random.Generator, areas: Areas, profile: Profile, levels: Levels, k: int) -> Plan:
    """A plan of any kind: of one level, nested, or in zones with decoys or without."""
    people = np.asarray(profile.counts.sum(axis=1)).ravel()
    chances = rng.choice([0.0, 0.1], 2).tolist()
    secrets = Secrets(np.random.default_rng(7), 0.2, *chances) if rng.random() < 0.5 else None
    conditions = Conditions(people, secrets) if rng.random() < 0.6 else None
    return nest(areas, profile, levels, k, conditions=conditions)


def plans_mended(rng: np.random.Generator) -> object:
    """What holds a decoy, who keeps whom company, what is joined until it holds, and what regions leave of others."""
    k = int(rng.integers(2, 5))
    areas, profile = drawn_profile(rng, k)
    levels = random_levels(areas, rng, int(rng.integers(1, 4)), left_out=rng.random() < 0.3)
    plan, requirement = drawn_plan(rng, areas, profile, levels, k), drawn_requirement(rng, profile, k)
    people = np.asarray(profile.counts.sum(axis=1)).ravel() + rng.integers(0, 2, len(areas)) * (rng.random() < 0.3)
    level_of = rng.integers(-1, len(levels), profile.counts.nnz).astype(np.int8)
    level_of[levels.crosswalks[0].region_of[np.repeat(np.arange(len(areas)), np.diff(profile.counts.indptr))] < 0] = -1

    def holds(cells: np.ndarray, of: np.ndarray, number: int) -> np.ndarray:
        return (np.bincount(of, profile.counts.data[cells], number) >= k) & requirement.holds(cells, of, number)

    found: list[object] = [hold_decoys(plan, requirement), promote(profile, levels, level_of, holds)]
    found += [whole_classes(profile, levels, level_of), whole_classes(profile, levels, level_of, requirement)]
    if plan.in_zones:
        for asked in (None, requirement):
            found.append(outcome(lambda asked=asked: in_company(plan, inhabitants_of(profile, people), asked)))  # type: ignore[misc]
    if len(levels) > 1:
        found.append(narrow(levels, people, plan.level, plan.region, plan.class_of, plan.in_zones))
    return found


def of_people(rng: np.random.Generator) -> object:
    """Whether what is asked of people and of their values holds, of some cells and of all."""
    k = int(rng.integers(2, 5))
    _, profile = drawn_profile(rng, k)
    requirement, n = drawn_requirement(rng, profile, k), int(rng.integers(1, 5))
    of = rng.integers(-1, n, profile.counts.nnz)
    cells = np.flatnonzero(of >= 0)
    records = np.bincount(of[cells], profile.counts.data[cells], n)
    found: list[object] = [requirement.holds(cells, of[cells], n), requirement.people(of, records)]
    found += [requirement.members_of_cells(profile.counts.data), requirement.has_several(int(records.sum()))]
    for shares in requirement.shares:
        tallies = tallies_of(of, shares, n)
        found += [diversity_of(of, shares, n), [requirement.values_hold(tally) for tally in tallies], tallies]
    return [*found, measure(requirement, of, n)]


def few_rows(rng: np.random.Generator) -> object:
    """What a field of a few rows gives away of the area or the person."""
    n, n_areas, k = int(rng.integers(4, 60)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    area, own = rng.integers(0, n_areas, n), rng.integers(0, 3, n)
    region, quasi = area // int(rng.integers(1, 4)), {"age": own}
    classes = np.unique(region * 10 + own, return_inverse=True)[1].reshape(-1)
    coarsened = {"age": (own // 2, own)} if rng.random() < 0.4 else {}
    columns = {name: drawn_column(rng, n, area, own) for name in "ab"}
    found = examine_values(classes, region, area, columns, quasi, k, coarsened)
    return [[field, field.unique, field.refusal, field.warning] for field in found]


def likened(rng: np.random.Generator) -> object:
    """Which fields of two releases of the same people are alike, and in what words."""
    releases = tiny_releases(rng)[:2]
    at, rows = int(rng.integers(2)), list[tuple[str, str]]()
    one, name = releases[at], releases[at].quasi_identifiers[0]
    if rng.random() < 0.6:
        words = one.categories[0].tolist()
        one = with_values(one, name, {word: f"{number}" for number, word in enumerate(words)})
    if rng.random() < 0.6:
        one = with_names(one, {name: "other"})
        if rng.random() < 0.4:
            rows.append(("other", name if rng.random() < 0.5 else f"not {name}"))
    releases[at] = one
    aliases = aliases_of(rows, list(dict.fromkeys(of for release in releases for of in names_in(release))))
    found = matched(named(releases, aliases), aliases, {})
    first, second = found.releases
    parts, shown = parts_of(first, second), [attributes_of(release) for release in found.releases]
    pairs = [
        [likeness(own, other, parts), recoded(own, other, parts), own.share_among(other.values)]
        for own in shown[0].values()
        for other in shown[1].values()
    ]
    return [
        found,
        found.assumption,
        parts,
        pairs,
        [are_apart((a, b), shown[0], first) for a in shown[0] for b in shown[0]],
    ]


def repaired(rng: np.random.Generator) -> object:
    """A plan of few people mended beside a release of other regions of them."""
    k = int(rng.integers(2, 4))
    areas, profile = drawn_profile(rng, k, 6)
    first, second = (random_levels(areas, rng, int(rng.integers(1, 3)), left_out=False) for _ in range(2))
    cell = np.repeat(np.arange(profile.counts.nnz), profile.counts.data)
    ills = np.array(["no", "flu", "cold"], dtype=object)
    value = rng.choice(3, len(cell), p=[0.6, 0.3, 0.1])
    sensitive = [KeptValues(shares_of("ill", cell, value, np.ones_like(cell)), ills)] if rng.random() < 0.5 else []

    def plan_of(levels: Levels) -> Plan:
        return nest(areas, profile, levels, k) if len(levels) > 1 else suppress(profile, levels.crosswalks[0], k)

    earlier = [publish(plan_of(first), areas, "earlier", sensitive)]
    ties = np.random.default_rng(5) if rng.random() < 0.3 else None
    homogeneous, fewest, progress = bool(rng.random() < 0.4), bool(rng.random() < 0.7), list[float]()
    done = repair(
        plan_of(second),
        areas,
        earlier,
        sensitive=sensitive,
        homogeneous=homogeneous,
        progress=progress.append,
        ties=ties,
        fewest=fewest,
    )
    assert not done.after.n_to_mend
    return [done, progress]


def of_two_months(rng: np.random.Generator) -> object:
    """What two months of the same regions tell beside each other of rows that are as good as names."""
    before, after, nested = two_months(rng)
    if not before or not after:
        return None
    order = ["sex", "age"]
    old = month(rng, before, nested, order, rng.random() < 0.7, rng.random() < 0.7)
    new = month(rng, after, nested, order[:: int(rng.choice([-1, 1]))], True, rng.random() < 0.8)
    other = replace(old, updates=(0, "further")) if rng.random() < 0.5 else old
    k = int(rng.integers(2, 6))
    found: list[object] = [n_that_can_be_followed(new, [old, other], k), fields_in_new_words(new, [old], k)]
    for one in (old, new, other):
        found += [known_fields(one), known_row_fields(one)]
        found += [row_values_in(one, names) for names in (["ill"], ["job"], ["ill", "job"], ["none"])]
    return [*found, same_regions(old, new), Comparing([old]).compare(old, new, k), Comparing().compare(new, old, k)]
