"""The figures of README and docs/nested.md: one level and nested levels of the demonstration city, side by side.

    PYTHONPATH=build/package .venv/bin/python benchmarks/nested_example.py

Age group, sex, marital status and education, k = 5, the defaults of `vbas:anonymize`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from vbas.benchmarks import demonstration
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.evaluation import Measures, RegionAudit, evaluate, evaluate_by_value, mean_distance_released
from vbas.core.levels import Levels
from vbas.core.nesting.decoys import Conditions, Secrets, hold_decoys
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.narrowing import narrow
from vbas.core.nesting.planning import nest
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.requirement import Requirement
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.synthetic.city import SENSITIVE, City

K = 5
QUASI_IDENTIFIERS = ("age_group", "sex", "marital_status", "education")
# What the researcher asks for: a value of a quasi-identifier, and one of a field that is carried along.
QUESTIONS = (("marital_status", "widowed"), (SENSITIVE, "diabetes"))
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
    audit: RegionAudit

    @property
    def levels(self) -> Levels:
        return self.plan.levels


@cache
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
    return Example(city, areas, records, one_level, single_measures, plan, *evaluate(areas, plan))


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
    released = audit.released.sum()
    for level in range(len(example.levels)):
        here = audit.level == level
        share = 100 * audit.released[here].sum() / released
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
            f"{mean_distance_released(example.areas, plan):.1f} m",
            f"{on_finest:.1f} %",
            whole(left.left_areas[above].min()),
            whole(left.left_people[above].min()),
            f"{100 * decoys.mean():.0f} %" if secrets is not None else "–",
        )
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def printed(example: Example) -> Iterator[str]:
    """Everything the page quotes."""
    for table in (result_table, levels_table, losers_table):
        yield from table(example)
        yield ""
    yield from zones_table(example)
    yield ""
    yield narrowed(example)


if __name__ == "__main__":
    print("\n".join(printed(make_example())))
