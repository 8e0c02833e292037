"""The attacks on one place: what each finds without the cure, and with it.

Every function returns rows of the table that `attacks.py` prints, and is run by tests too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Callable, NamedTuple

import numpy as np

from vbas.benchmarks.attack_places import K, Place, sensitive_column, some_column
from vbas.benchmarks.earlier_releases import fewer
from vbas.benchmarks.minimality import Guesses, NestedRelease, insider, outsider, zones_by_chance
from vbas.core.disclosure.published import publish
from vbas.core.levels import Levels
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import levels_by_chance, nest
from vbas.core.plan import SUPPRESSED, Plan, area_of_cells, suppress
from vbas.core.privacy.kept_field import KeptField
from vbas.core.privacy.kept_fields import examine_kept_fields
from vbas.core.privacy.margins import disclosed_columns, hold_against_margins
from vbas.core.privacy.requirement import Requirement, measure
from vbas.core.privacy.weights import classes_on_few_rows, counted_rows, warning_of_weights
from vbas.core.records.matching import Records, requirement_of
from vbas.core.records.table import PERSONS
from vbas.core.releases.repair import repair
from vbas.core.ties import DRAWN, ties_of

N_PATIENTS, N_RESPONDENTS, N_TRIALS = 10_000, 1_000, 40
RERUNS = 3  # of a method that draws at random, for every origin
RERUNS_IN_ZONES = 30  # of draws that decide more than the order of equal choices
LARGEST_SHARE = 60.0  # of one sensitive value, per cent of the persons of a class
MARGIN = ("age_group", "sex")


class Row(NamedTuple):
    """A row of the table; before, after : figures to compare, and how they read. looked_at : of what they are."""

    attack: str
    looked_at: str
    before: int
    after: int
    shown_before: str
    shown_after: str


def _row(attack: str, looked_at: str, before: int, after: int, of: int, of_after: int | None = None) -> Row:
    of_after = of if of_after is None else of_after
    return Row(attack, looked_at, before, after, f"{before} of {of}", f"{after} of {of_after}")


def visits(place: Place, seed: int = 0) -> Row:
    """Patients with several visits; the cure is PERSON_ID."""
    rng = np.random.default_rng(seed)
    patients = rng.choice(len(place.area), N_PATIENTS, replace=False)
    rows = np.repeat(patients, 1 + rng.negative_binomial(0.8, 0.3, N_PATIENTS))
    records = place.records(rows, 3, members={PERSONS: some_column(rows)})
    crosswalk, requirement = place.regions(records.profile, 20), requirement_of(records, K)
    numbers = []
    for asked in (None, requirement):
        plan = suppress(records.profile, crosswalk, K, asked)
        people = requirement.people(plan.equivalence_class_of, plan.records)[plan.released]
        numbers += [int((people < K).sum()), len(people)]
    attack = f"{N_PATIENTS} patients, {len(rows)} visits"
    return _row(attack, "classes of < 5 persons", numbers[0], numbers[2], numbers[1], numbers[3])


def weights(place: Place, seed: int = 0) -> Row:
    """Survey weights given as counts; the cure is the warning, and k of respondents."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(place.area), N_RESPONDENTS, replace=False)
    even = len(place.area) / N_RESPONDENTS
    counts = np.maximum(np.round(even * rng.lognormal(0.0, 0.4, len(rows))), 1).astype(np.int64)
    weighted, plain = place.records(rows, 3, counts=counts), place.records(rows, 3)
    crosswalk = place.regions(plain.profile, 20)
    plans = [suppress(records.profile, crosswalk, K) for records in (weighted, plain)]
    (few, released), (left, of) = (
        classes_on_few_rows(plan, counted_rows(records)) for plan, records in zip(plans, (weighted, plain))
    )
    warned = bool(warning_of_weights(plans[0], counted_rows(weighted)))
    row = _row("survey weight as RECORD_COUNT", "classes on < 5 respondents", few, left, released, of)
    return row._replace(shown_after=f"{'warned of' if warned else 'silent'}; {row.shown_after}")


def kept_fields(place: Place, seed: int = 0, n_rows: int = 60_000) -> Iterator[tuple[Row, KeptField]]:
    """Further fields that give away the area or the person; the cure is a refusal or a warning."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(place.area), min(n_rows, len(place.area)), replace=False)
    area, n = place.area[rows], len(rows)
    age = 15 * place.quasi["age_group"].codes[rows] + rng.integers(0, 15, n)
    some = rng.random(n) < 0.45
    order = np.argsort(np.argsort(place.areas.points @ np.array([1.0, 1e-3])))
    fields = {
        "area identifier in 45 % of the rows": some_column(area + 10_000, some),
        "area code with 0.01 % errors": some_column(np.where(rng.random(n) < 1e-4, rng.integers(0, 9, n), area)),
        "next larger unit": some_column(order[area] // 4),
        "personal numbers in 45 % of the rows": some_column(rng.permutation(n) + 10**6, some),
        "dates of birth": some_column(40_000 - age * 365 - rng.integers(0, 365, n)),
        "exact age beside age groups": some_column(age),
    }
    for name, column in fields.items():
        records = place.records(rows, 3, kept={name: column})
        examined_fields = examine_kept_fields(
            suppress(records.profile, place.regions(records.profile, 20), K), records
        )[0]
        said = "refused" if examined_fields.refusal else "warned of" if examined_fields.warning else "silent"
        before = f"{examined_fields.below_k} rows in groups < 5, {100 * examined_fields.in_one_area:.0f} % pinned"
        yield (
            Row(name, "rows by class and field", examined_fields.below_k, int(said == "silent"), before, said),
            examined_fields,
        )


def one_diagnosis(place: Place, seed: int = 0, n_rows: int = 60_000) -> Row:
    """Classes whose members share a diagnosis; the cure is L_DIVERSITY 2."""
    rows = np.random.default_rng(seed).choice(len(place.area), min(n_rows, len(place.area)), replace=False)
    records = place.records(rows, 4, kept={"diagnosis": sensitive_column(place, rows)}, sensitive=("diagnosis",))
    crosswalk = place.regions(records.profile, 20)
    numbers = []
    for least in (1, 2):
        requirement = requirement_of(records, K, least)
        plan = suppress(records.profile, crosswalk, K, requirement)
        distinct = (
            measure(requirement, plan.equivalence_class_of, len(plan.records))
            .diversity["diagnosis"]
            .distinct[plan.released]
        )
        numbers += [int((distinct == 1).sum()), len(distinct)]
    return _row("diagnoses", "classes with one diagnosis", numbers[0], numbers[2], numbers[1], numbers[3])


def told_by_visits(place: Place, seed: int = 0) -> Row:
    """Patients with several visits, nearly all of whom have a diagnosis that the further visits of some hide among
    rows; the cure is to count persons."""
    rng = np.random.default_rng(seed)
    patients = rng.choice(len(place.area), N_PATIENTS, replace=False)
    rows = np.repeat(patients, 1 + rng.negative_binomial(0.8, 0.3, N_PATIENTS))
    ill = sensitive_column(place, rows)
    further = np.diff(rows, prepend=-1) == 0
    codes = np.where(further, rng.integers(0, len(ill.categories), len(rows)), ill.codes)
    kept = {"diagnosis": replace(ill, codes=codes)}
    records = place.records(rows, 3, members={PERSONS: some_column(rows)}, kept=kept, sensitive=("diagnosis",))
    requirement = requirement_of(records, K, 2, LARGEST_SHARE)
    by_row = replace(requirement, shares=tuple(replace(shares, held=()) for shares in requirement.shares))
    crosswalk, numbers = place.regions(records.profile, 20), []
    for asked in (by_row, requirement):
        plan = suppress(records.profile, crosswalk, K, asked)
        share = (
            measure(requirement, plan.equivalence_class_of, len(plan.records))
            .diversity["diagnosis"]
            .largest_share[plan.released]
        )
        numbers += [int((share > LARGEST_SHARE + 1e-9).sum()), len(share)]
    looked_at = f"classes of which > {LARGEST_SHARE:g} % of the persons share a diagnosis"
    return _row("diagnoses of the same patients", looked_at, numbers[0], numbers[2], numbers[1], numbers[3])


def releases(place: Place, records: Records) -> Iterator[Row]:
    """Two releases of the same people; the cure is the register with “repair”."""
    profile = records.profile
    same = place.regions(profile, 40)
    pairs = {
        "40 and 41 regions": (suppress(profile, same, K), suppress(profile, place.regions(profile, 41), K)),
        "8 and 10 regions": [suppress(profile, place.regions(profile, n), K) for n in (8, 10)],
        "3 and 4 quasi-identifiers": (suppress(fewer(profile, 3), same, K), suppress(profile, same, K)),
    }
    for name, (old, new) in pairs.items():
        done = repair(new, place.areas, [publish(old, place.areas)])
        exact = sum(count.low == count.high for count in done.before.counts)
        single = sum(count.high == 1 for count in done.before.counts)
        before = f"{done.before.n_counts}, {exact} exactly, {single} single persons"
        cost = f"{done.after.n_counts}; {done.n_suppressed} more suppressed"
        yield Row(name, "counts of < 5 given away", done.before.n_counts, done.after.n_counts, before, cost)


def update(place: Place, records: Records, seed: int = 0) -> Row:
    """A table published again with one patient more; the cure is the register with “repair”."""
    rng, profile = np.random.default_rng(seed), records.profile
    crosswalk = place.regions(profile, 40)
    old = publish(suppress(profile, crosswalk, K), place.areas)
    seen = left = 0
    for cell in rng.choice(profile.counts.nnz, N_TRIALS, p=profile.counts.data / profile.n_records).tolist():
        counts = profile.counts.copy()
        counts.data[cell] += 1
        plan = suppress(replace(profile, counts=counts), crosswalk, K)
        done = repair(plan, place.areas, [old])
        seen += done.before.n_counts > 0
        left += done.after.n_counts > 0
    return _row("monthly update, one patient more", "trials that show the patient", seen, left, N_TRIALS)


def margins(place: Place, records: Records, n_sites: int = 20) -> Row:
    """Totals by age and sex that others publish; the cure is PUBLISHED_MARGINS."""
    plan = suppress(records.profile, place.regions(records.profile, n_sites), K)
    held, cost = hold_against_margins(plan, [MARGIN])
    (before, single, of), (after, _, of_after) = (known_from_margin(of_plan) for of_plan in (plan, held))
    row = _row("published age x sex", "suppressed classes known", before, after, of, of_after)
    more = f"; {cost} more suppressed ({100 * cost / plan.n_released:.2f} %)"
    return row._replace(shown_before=f"{row.shown_before}, {single} single persons", shown_after=row.shown_after + more)


def known_from_margin(plan: Plan) -> tuple[int, int, int]:
    """Suppressed classes of a region that totals by MARGIN tell to lie within 1 to k - 1, those of one, and all."""
    profile, crosswalk = plan.profile, plan.crosswalk
    lost = plan.equivalence_class_of == SUPPRESSED
    region = crosswalk.region_of[area_of_cells(profile)][lost]
    class_of = profile.counts.indices[lost]
    places, of = np.unique(np.column_stack([region, class_of]), axis=0, return_inverse=True)
    records = np.bincount(of.reshape(-1), profile.counts.data[lost], len(places))
    positions = [profile.quasi_identifiers.index(name) for name in MARGIN]
    totals_of = np.column_stack([places[:, :1], profile.classes[places[:, 1]][:, positions]])
    totals = np.unique(totals_of, axis=0, return_inverse=True)[1]
    known = single = 0
    for total in range(int(totals.max(initial=-1)) + 1):
        mine = np.flatnonzero(totals.reshape(-1) == total)
        disclosed = disclosed_columns(np.ones((1, len(mine))), np.array([records[mine].sum()]), plan.k)
        known += len(disclosed)
        single += int((records[mine[disclosed]] == 1).sum())
    return known, single, len(places)


def nested_attacks(
    place: Place, records: Records, n_equivalence_classes: int = 150, n_targets: int = 600
) -> dict[str, Guesses]:
    """Who knows the method, outside and inside, without and with TIES “secret”, and with DISCLOSURE."""
    levels = build_levels(place.areas, records.profile)
    guesses_of = {}
    for name in ("fixed", DRAWN):
        ties = ties_of(name)
        release = NestedRelease(place.areas, nest(place.areas, records.profile, levels, K, ties=ties))
        method = partial(levels_by_chance, ties=ties)
        guesses_of[f"outsider, {name} ties"] = outsider(release, method, n_equivalence_classes)
        guesses_of[f"insider, {name} ties"] = insider(release, method, n_targets, reruns=1 if ties is None else RERUNS)
    release = NestedRelease(place.areas, _nested(place, records, levels, True))
    method = partial(zones_by_chance, people=release.people, source=np.random.default_rng(0))
    guesses_of["outsider, DISCLOSURE"] = outsider(release, method, n_equivalence_classes)
    guesses_of["insider, DISCLOSURE"] = insider(release, method, n_targets // 2, reruns=RERUNS_IN_ZONES)
    return guesses_of


class NestedRow(NamedTuple):
    """A row of the table of nested releases: what is found without the cure, with it, and with it under DISCLOSURE.

    before, after, in_zones : figures to compare; shown : how they read
    """

    attack: str
    looked_at: str
    before: int
    after: int
    in_zones: int
    shown: tuple[str, str, str]


def _nested(
    place: Place, records: Records, levels: Levels, in_zones: bool, asked: Requirement | None = None, seed: int = 1
) -> Plan:
    """A nested release by the defaults; seed : of what is drawn, where no small count may follow."""
    conditions = Conditions(place.areas.population, Secrets(np.random.default_rng(seed))) if in_zones else None
    return nest(place.areas, records.profile, levels, K, requirement=asked, conditions=conditions)


def nested_of_rows(place: Place, seed: int = 0) -> Iterator[NestedRow]:
    """What is asked of the people of a class, held against nested releases: persons, respondents, diagnoses."""
    rng = np.random.default_rng(seed)
    patients = rng.choice(len(place.area), N_PATIENTS, replace=False)
    rows = np.repeat(patients, 1 + rng.negative_binomial(0.8, 0.3, N_PATIENTS))
    ill = sensitive_column(place, rows)
    further = np.diff(rows, prepend=-1) == 0
    kept = {
        "diagnosis": replace(ill, codes=np.where(further, rng.integers(0, len(ill.categories), len(rows)), ill.codes))
    }
    members = {PERSONS: some_column(rows)}
    records = place.records(rows, 3, members=members)
    asked = requirement_of(records, K)

    def few(plan: Plan) -> np.ndarray:
        return asked.people(plan.equivalence_class_of, plan.records)[plan.released] < K

    yield _nested_row(place, records, "visits (PERSON_ID)", "classes of < 5 persons", (None, asked), few)
    records = place.records(rows, 3, members=members, kept=kept, sensitive=("diagnosis",))
    persons = requirement_of(records, K, 2, LARGEST_SHARE)
    by_row = replace(persons, shares=tuple(replace(shares, held=()) for shares in persons.shares))

    def nearly_all(plan: Plan) -> np.ndarray:
        of = measure(persons, plan.equivalence_class_of, len(plan.records)).diversity["diagnosis"]
        return of.largest_share[plan.released] > LARGEST_SHARE + 1e-9

    looked_at = f"classes of which > {LARGEST_SHARE:g} % of the persons share a diagnosis"
    yield _nested_row(place, records, "their diagnoses (MAX_SHARE 60)", looked_at, (by_row, persons), nearly_all)
    some = rng.choice(len(place.area), min(60_000, len(place.area)), replace=False)
    records = place.records(some, 4, kept={"diagnosis": sensitive_column(place, some)}, sensitive=("diagnosis",))
    two = requirement_of(records, K, 2)

    def of_one_value(plan: Plan) -> np.ndarray:
        of = measure(two, plan.equivalence_class_of, len(plan.records)).diversity["diagnosis"]
        return of.distinct[plan.released] == 1

    cures = (requirement_of(records, K, 1), two)
    yield _nested_row(place, records, "diagnoses (L_DIVERSITY 2)", "classes with one diagnosis", cures, of_one_value)


def _nested_row(
    place: Place,
    records: Records,
    attack: str,
    looked_at: str,
    cures: tuple[Requirement | None, Requirement],
    counts_of: Callable[[Plan], np.ndarray],
) -> NestedRow:
    levels = build_levels(place.areas, records.profile)
    plans = [_nested(place, records, levels, in_zones, cures[in_zones or cured]) for in_zones, cured in TRIED]
    numbers = [counts_of(plan) for plan in plans]
    before, after, zones = (int(of.sum()) for of in numbers)
    cells = tuple(f"{int(of.sum())} of {len(of)}" for of in numbers)
    return NestedRow(attack, looked_at, before, after, zones, (cells[0], cells[1], cells[2]))


TRIED = ((False, False), (False, True), (True, True))  # whether in zones, whether with the cure


def nested_releases(place: Place, records: Records) -> Iterator[NestedRow]:
    """A nested release of the people of an earlier one; the cure is the register with “repair”."""
    profile = records.profile
    levels = build_levels(place.areas, profile)
    coarse = suppress(profile, place.regions(profile, 40), K)
    earlier = {
        "40 regions, then nested": lambda in_zones: coarse,
        "nested, and once more": lambda in_zones: _nested(place, records, levels, in_zones, seed=2),
    }
    for name, old_of in earlier.items():
        done = [
            repair(_nested(place, records, levels, in_zones), place.areas, [publish(old_of(in_zones), place.areas)])
            for in_zones in (False, True)
        ]
        before, in_zones = (of.before for of in done)
        cells = (
            f"{before.n_counts}",
            f"{done[0].after.n_to_mend}; {done[0].n_suppressed} suppressed, {done[0].n_coarser} coarser",
            f"{in_zones.n_counts} → {done[1].after.n_to_mend}; {done[1].n_suppressed} suppressed, "
            f"{done[1].n_coarser} coarser",
        )
        numbers = (before.n_counts, done[0].after.n_to_mend, done[1].after.n_to_mend)
        yield NestedRow(f"{name} (REGISTER)", "counts of < 5 given away, or not decided", *numbers, cells)


def nested_update(place: Place, records: Records, n_trials: int = 2, seed: int = 0) -> NestedRow:
    """A nested table published again with one patient more; the cure is the register with “repair”."""
    rng, profile = np.random.default_rng(seed), records.profile
    levels = build_levels(place.areas, profile)
    seen, left = [0, 0], [0, 0]
    cells = rng.choice(profile.counts.nnz, n_trials, p=profile.counts.data / profile.n_records).tolist()
    for in_zones in (False, True):
        old = publish(_nested(place, records, levels, in_zones), place.areas)
        for trial, cell in enumerate(cells):
            counts = profile.counts.copy()
            counts.data[cell] += 1
            more = replace(records, profile=replace(profile, counts=counts))
            done = repair(_nested(place, more, levels, in_zones, seed=2 + trial), place.areas, [old])
            seen[in_zones] += done.before.n_counts > 0
            left[in_zones] += done.after.n_to_mend > 0
    shown = (f"{seen[0]} of {n_trials}", f"{left[0]} of {n_trials}", f"{seen[1]} → {left[1]} of {n_trials}")
    return NestedRow(
        "monthly update, one patient more (REGISTER)", "trials that show the patient", seen[0], left[0], left[1], shown
    )
