"""The figures of README and docs/nested.md: one level and nested levels of the demonstration city, side by side.

    PYTHONPATH=build/package .venv/bin/python benchmarks/nested_example.py

Age group, sex, marital status and education, k = 5, the defaults of `vbas:anonymize`. What a researcher finds is worked
out from the released rows, the crosswalk and the population of the areas alone, and compared with all records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from vbas.benchmarks import demonstration
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.evaluation import Measures, evaluate, evaluate_by_value, mean_distance_shown
from vbas.core.levels import Levels
from vbas.core.nesting.decoys import Conditions, Secrets, hold_decoys
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.measures import LevelAudit, evaluate_levels
from vbas.core.nesting.narrowing import narrow
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.requirement import Requirement
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import Release, apply
from vbas.core.synthetic.city import SENSITIVE, City

K = 5
QUASI_IDENTIFIERS = ("age_group", "sex", "marital_status", "education")
# What the researcher asks for: a value of a quasi-identifier, and one of a field that is carried along.
QUESTIONS = (("marital_status", "widowed"), (SENSITIVE, "diabetes"))
SHOWN_LEVELS = (1, 3, 5, 6, 7, 11)
LOSERS = ("never married", "married", "common law", "separated or divorced", "widowed")


@dataclass(frozen=True, eq=False)
class Example:
    """The city, its records, and both releases."""

    city: City
    areas: Areas
    records: Records
    single: Plan
    single_measures: Measures
    plan: Plan
    measures: Measures
    audit: LevelAudit

    @property
    def levels(self) -> Levels:
        return self.plan.levels


def make_example() -> Example:
    """Both releases; a few seconds."""
    city = demonstration.city()
    areas, people = city.areas(), demonstration.people()
    quasi = {name: people.quasi_identifiers[name] for name in QUASI_IDENTIFIERS}
    records = match_records(RecordTable(people.area, quasi, people.kept), areas, k=K)
    run = aggregate(areas, records.profile, Configuration())
    one_level = suppress(records.profile, run.aggregation.crosswalk, K)
    single_measures, _ = evaluate(areas, one_level, run.aggregation.sites)
    plan = nest(areas, records.profile, build_levels(areas, records.profile), K)
    return Example(city, areas, records, one_level, single_measures, plan, *evaluate_levels(areas, plan))


def whole(number: float) -> str:
    """A number with spaces between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def result_table(example: Example) -> list[str]:
    """Both releases, measure by measure."""
    single, nested = example.single_measures, example.measures
    finest = whole(example.plan.crosswalk.n_regions)

    def suppressed(measures: Measures) -> str:
        return f"{whole(measures.n_suppressed)} ({measures.suppression_percent:.2g} %)"

    return [
        f"| {whole(single.n_records)} records, k = {K} | one level | nested levels |",
        "|---|---|---|",
        f"| records suppressed | {suppressed(single)} | {suppressed(nested)} |",
        f"| mean distance | {whole(single.mean_distance)} m | {whole(nested.mean_distance)} m |",
        f"| regions | {single.n_regions} | {finest} on the finest of {len(example.levels)} levels |",
    ]


def levels_table(example: Example) -> list[str]:
    """What each level shows."""
    audit, lines = example.audit, ["| level | regions | people in each | records shown here |", "|---|---|---|---|"]
    released = audit.shown.sum()
    for level in range(len(example.levels)):
        here = audit.level == level
        share = 100 * audit.shown[here].sum() / released
        cells = (level + 1, whole(here.sum()), whole(audit.population[here].mean()), f"{share:.2f} %")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def losers_table(example: Example) -> list[str]:
    """Who is shown in larger regions: by marital status, under both releases."""
    lines = ["| | records | one level: suppressed, distance | nested: suppressed, distance |", "|---|---|---|---|"]
    nested, single = (evaluate_by_value(example.areas, plan) for plan in (example.plan, example.single))
    for value in LOSERS:
        at = nested.values.index(value)
        cells = [f"{whole(each.suppressed[at])}, {whole(each.mean_distance[at])} m" for each in (single, nested)]
        lines.append(f"| {value} | {whole(nested.records[at])} | {' | '.join(cells)} |")
    return lines


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as a researcher has them: level and region of each, 0-based; of each question, whether it has the value."""

    level: np.ndarray
    region: np.ndarray
    asked: list[np.ndarray]


def rows_of_release(example: Example, release: Release) -> Rows:
    """The released rows, and whether each has the value of each question."""
    fields, rows = release.fields, release.rows
    asked = [(fields[name].categories == value)[fields[name].codes[rows]] for name, value in QUESTIONS]
    return Rows(release.level[rows], release.region[rows], asked)


def shares_of_level(
    example: Example, rows: Rows, target: int, spread: bool
) -> tuple[np.ndarray, list[np.ndarray], list[float]]:
    """Rows of each region of a level, the share of each question's value there, and in all of them.

    spread : rows that are shown only coarser are shared out by the population of the regions within; else left out
    """
    crosswalk = example.levels.crosswalks[target]
    sums = np.zeros((1 + len(QUESTIONS), crosswalk.n_regions))
    for level, shown_in in enumerate(example.levels.crosswalks[: None if spread else target + 1]):
        people = shown_in.membership().multiply(example.areas.population) @ crosswalk.membership().T
        parts = sparse.diags(1 / np.maximum(people.sum(axis=1).A1, 1)) @ people  # 1 where a region lies in one
        here = rows.level == level
        for total, chosen in zip(sums, (here, *(here & asked for asked in rows.asked))):
            total += np.bincount(rows.region[chosen], minlength=shown_in.n_regions) @ parts
    with np.errstate(invalid="ignore"):
        return sums[0], list(sums[1:] / sums[0]), (sums[1:].sum(axis=1) / sums[0].sum()).tolist()


def truth_of(example: Example, crosswalk: Crosswalk) -> tuple[np.ndarray, list[np.ndarray], list[float]]:
    """The same from all records."""
    table = example.records.table
    columns = {**table.quasi_identifiers, **table.kept}
    region = crosswalk.region_of[example.areas.codes_of(table.area.categories)][table.area.codes]
    asked = [(columns[name].categories == value)[columns[name].codes] for name, value in QUESTIONS]
    n_rows = np.bincount(region, minlength=crosswalk.n_regions)
    with np.errstate(invalid="ignore"):
        shares = [np.bincount(region[rows_asked], minlength=crosswalk.n_regions) / n_rows for rows_asked in asked]
    return n_rows, shares, [float(share.mean()) for share in asked]


def off_by(shares: np.ndarray, truth: np.ndarray, records: np.ndarray) -> float:
    """How far off the share of a region is, on average over the records, in percentage points."""
    used = records > 0
    return 100 * float(np.average(np.abs(np.nan_to_num(shares) - truth)[used], weights=records[used]))


def analysis_table(example: Example, release: Release) -> list[str]:
    """The shares that a researcher finds at some levels, and how far off they are region by region."""
    truths = truth_of(example, example.levels.crosswalks[0])[2]
    names = [f"{value}: found, off by, spread" for _, value in QUESTIONS]
    lines = [f"| rows used | records there | {' | '.join(names)} |", f"|---|---|{'---|' * len(QUESTIONS)}"]
    rows = rows_of_release(example, release)
    for level in SHOWN_LEVELS:
        crosswalk = example.levels.crosswalks[level - 1]
        n_true, of_region, _ = truth_of(example, crosswalk)
        n_rows, plain, overall = shares_of_level(example, rows, level - 1, False)
        _, spread, _ = shares_of_level(example, rows, level - 1, True)
        cells = [
            f"{100 * whole_share:.2f} %, {off_by(flat, true, n_true):.2f}, {off_by(better, true, n_true):.2f}"
            for whole_share, flat, better, true in zip(overall, plain, spread, of_region)
        ]
        title = f"level {level}, {whole(crosswalk.n_regions)} region{'s' * (crosswalk.n_regions > 1)}"
        lines.append(f"| {title} | {100 * n_rows.sum() / n_true.sum():.1f} % | {' | '.join(cells)} |")
    lines.append(_one_level_row(example))
    lines.append(f"| all records | 100.0 % | {' | '.join(f'{100 * truth:.2f} %' for truth in truths)} |")
    return lines


def _one_level_row(example: Example) -> str:
    """The same from the release of one level."""
    rows, crosswalk = rows_of_release(example, apply(example.single, example.records)), example.single.crosswalk
    n_true, of_region, _ = truth_of(example, crosswalk)
    cells = []
    n_rows = np.bincount(rows.region, minlength=crosswalk.n_regions)
    for asked, true in zip(rows.asked, of_region):
        shares = np.bincount(rows.region[asked], minlength=crosswalk.n_regions) / np.maximum(n_rows, 1)
        cells.append(f"{100 * asked.mean():.2f} %, {off_by(shares, true, n_true):.2f}, –")
    share = f"{100 * len(rows.region) / n_true.sum():.1f} %"
    return f"| one-level release, {crosswalk.n_regions} regions | {share} | {' | '.join(cells)} |"


def narrowed(example: Example) -> str:
    """How far whoever knows the method can narrow down a class that is shown above level 1.

    An area that shows the class at level 1 shows all its records of the class there, so that it can be left out.
    """
    plan, counts = example.plan, example.plan.profile.counts
    shown_at_home = counts.copy()
    assert plan.level_of is not None
    shown_at_home.data = (plan.level_of == 0).astype(np.int64)
    inhabited = (example.areas.population > 0).astype(np.int64)
    of_region, left = [], []
    for level, crosswalk in enumerate(example.levels.crosswalks[1:], 1):
        equivalence_classes = np.flatnonzero(plan.level == level)
        region = plan.region[equivalence_classes]
        of_region.append(crosswalk.totals(inhabited)[region])
        out = (crosswalk.membership() @ shown_at_home).tocsr()
        left.append(of_region[-1] - np.asarray(out[region, plan.class_of[equivalence_classes]]).ravel())
    areas, remaining = np.concatenate(of_region), np.concatenate(left)
    fewer = remaining < areas
    return (
        f"Of the {whole(len(areas))} classes that the city's release shows above level 1, {100 * fewer.mean():.0f} % "
        f"can be narrowed down like this, on average to {100 * (remaining / areas)[fewer].mean():.0f} % of the "
        f"region's areas, none to fewer than {remaining.min():.0f}; each still has {K} records or more."
    )


# What is asked of the zones of a release, beside k: areas and people that are left, per cent closed by chance.
ASKED: tuple[tuple[str, tuple[int, float, float | None]], ...] = (
    ("k records", (0, 0.0, None)),
    ("LEAST_LEFT_AREAS = 4", (4, 0.0, None)),
    ("LEAST_LEFT_PEOPLE = 5 000", (0, 5_000.0, None)),
    ("DISCLOSURE = no small count follows", (0, 0.0, 0.2)),
    ("the same, CLOSED_BY_CHANCE = 2", (0, 0.0, 2.0)),
    ("the same, CLOSED_BY_CHANCE = 10", (0, 0.0, 10.0)),
)


def zones_table(example: Example) -> list[str]:
    """What can be asked of the zones, and its price. The draws, of which nobody knows in a run of one's own, are here
    those of a seed."""
    lines = [
        "| asked of each class | suppressed | mean distance | on level 1 | least areas left | least people left | "
        "with a decoy |",
        "|---|---|---|---|---|---|---|",
    ]
    people = example.areas.population
    for title, (least_areas, least_people, closed) in ASKED:
        secrets = None if closed is None else Secrets(np.random.default_rng(0), closed=closed / 100)
        conditions = Conditions(people, secrets, least_areas, least_people)
        asked = secrets is not None or least_areas or least_people
        plan = example.plan
        if asked:
            plan = nest(example.areas, plan.profile, plan.levels, K, conditions=conditions)
        here, above = plan.released, (plan.level > 0)[plan.released]
        left = narrow(plan.levels, people, plan.level[here], plan.region[here], plan.class_of[here], plan.in_zones)
        decoys = hold_decoys(plan, Requirement(K))[here][above]
        on_finest = 100 * plan.records[here][~above].sum() / plan.n_released
        cells = (
            whole(plan.profile.n_records - plan.n_released),
            f"{mean_distance_shown(example.areas, plan):.1f} m",
            f"{on_finest:.1f} %",
            whole(left.left_areas[above].min()),
            whole(left.left_people[above].min()),
            f"{100 * decoys.mean():.0f} %" if secrets is not None else "–",
        )
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def printed(example: Example) -> Iterator[str]:
    """Everything the page quotes."""
    release = apply(example.plan, example.records)
    for table in (result_table, levels_table, losers_table):
        yield from table(example)
        yield ""
    yield from analysis_table(example, release)
    yield ""
    yield from zones_table(example)
    yield ""
    yield narrowed(example)


if __name__ == "__main__":
    print("\n".join(printed(make_example())))
