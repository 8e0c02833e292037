"""The figures of docs/generalising.md: what coarser quasi-identifiers buy on the demonstration city.

    PYTHONPATH=build/package .venv/bin/python benchmarks/generalising_example.py

Six quasi-identifiers, k = 5, the combination “all-rounder” of `vbas:anonymize`: as they are, and with some shown
coarser, by the table that the page quotes; and nested levels, without and with last levels that show some coarser.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vbas.benchmarks import demonstration
from vbas.core.areas import Areas
from vbas.core.configuration import RECOMMENDED, Configuration, aggregate
from vbas.core.evaluation import Measures, evaluate
from vbas.core.generalising import HierarchyTable, generalise_records, hierarchy_rule, hierarchy_tables
from vbas.core.generalising.hierarchies import Hierarchy, records_by_category
from vbas.core.generalising.texts import with_values_as_text
from vbas.core.levels import with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.recount import check_where_released
from vbas.core.nesting.views import as_released, n_released_coarser
from vbas.core.plan import suppress
from vbas.core.records.coarsened import Coarsened
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply

K = 5
QUASI_IDENTIFIERS = ("age_group", "sex", "ethnicity", "household_income", "marital_status", "education")
TABLE = """\
attribute,value,level_1,level_2
age_group,0 to 14,0 to 24,*
age_group,15 to 24,0 to 24,*
age_group,25 to 44,25 to 64,*
age_group,45 to 64,25 to 64,*
age_group,65 to 79,65 and over,*
age_group,80 and over,65 and over,*
marital_status,never married,single,*
marital_status,separated or divorced,single,*
marital_status,widowed,single,*
marital_status,married,couple,*
marital_status,common law,couple,*
education,no certificate,school,*
education,secondary school,school,*
education,trade,further,*
education,college,further,*
education,university,further,*
"""
RULES = {"ethnicity": "other below 30000 *", "household_income": "*"}
# Levels of some quasi-identifiers, those that are not named at 0.
NODES: tuple[dict[str, int], ...] = (
    {},
    {"age_group": 1},
    {"marital_status": 1},
    {"ethnicity": 1},
    {"household_income": 1},
    {"age_group": 1, "marital_status": 1, "education": 1},
    {"age_group": 1, "marital_status": 1, "education": 1, "household_income": 1},
)
# The last levels of a nested release, each with what it makes coarser.
LAST_LEVELS: tuple[tuple[tuple[str, int], ...], ...] = (
    (),
    (("age_group", 1),),
    (("household_income", 1),),
    (("age_group", 1), ("marital_status", 1), ("education", 1)),
    (("age_group", 1), ("marital_status", 1), ("education", 1), ("household_income", 1)),
)


@dataclass(frozen=True, eq=False)
class Example:
    """The city's areas, its records, the hierarchies, and what each node gave at its own number of regions."""

    areas: Areas
    records: Records
    hierarchies: dict[str, Hierarchy]
    nodes: list[tuple[Records, Measures]]


def tables() -> dict[str, HierarchyTable]:
    """The table as a form reads it."""
    attributes, values, *levels = zip(*list(csv.reader(io.StringIO(TABLE)))[1:])
    return hierarchy_tables(attributes, values, levels)


def make_example() -> Example:
    """All nodes over records that are read once; some ten seconds."""
    areas, people = demonstration.city().areas(), demonstration.people()
    quasi = {name: people.quasi_identifiers[name] for name in QUASI_IDENTIFIERS}
    records = match_records(RecordTable(people.area, quasi, {}), areas, k=K)
    hierarchies = {name: table.hierarchy(quasi[name].categories) for name, table in tables().items()}
    for name, words in RULES.items():
        column = quasi[name]
        hierarchies[name] = hierarchy_rule(name, words).hierarchy(column.categories, records_by_category(column, None))
    nodes = []
    for levels in NODES:
        node = [levels.get(name, 0) for name in QUASI_IDENTIFIERS]
        nodes.append(_rated(areas, generalise_records(records, hierarchies, node, areas)))
    return Example(areas, records, hierarchies, nodes)


def _rated(areas: Areas, records: Records) -> tuple[Records, Measures]:
    chosen = RECOMMENDED["all-rounder"]
    configuration = Configuration(chosen.site_number, chosen.site_location, chosen.aggregation)
    run = aggregate(areas, records.profile, configuration)
    measures, _ = evaluate(areas, suppress(records.profile, run.aggregation.crosswalk, K), run.aggregation.sites)
    return records, measures


def nested_table(example: Example) -> Iterator[str]:
    """A nested release without and with last levels that show values coarser, each recounted."""
    areas, levels = example.areas, build_levels(example.areas, example.records.profile)
    yield "| last levels, each with those before | suppressed | shown coarser | mean distance |"
    yield "|---|---|---|---|"
    for order in LAST_LEVELS:
        records, hierarchies = with_values_as_text(example.records, example.hierarchies, list(dict(order)), areas)
        places = places_of(records.profile, with_coarser_values(levels, order), hierarchies)
        plan = nest_coarser(areas, places, K)
        shown = as_released(plan, places)
        check_where_released(apply(shown, records), places.profile, places.levels, True, places.hierarchies)
        measures, _ = evaluate(areas, shown)
        coarser = n_released_coarser(plan, places)
        names = ", ".join(f"{name} {level}" for name, level in order) or "none"
        yield (
            f"| {names} | {measures.n_suppressed} ({measures.suppression_percent:.2g} %) "
            f"| {coarser} ({100 * coarser / measures.n_records:.2g} %) | {measures.mean_distance:.0f} m |"
        )


def printed(example: Example) -> Iterator[str]:
    """What the page quotes, line by line."""
    yield "| shown coarser | entropy given up | classes | regions | suppressed | mean distance |"
    yield "|---|---|---|---|---|---|"
    whole = sum(column.bits for column in _every(example))
    for levels, (records, measures) in zip(NODES, example.nodes):
        coarse = records.table.coarsened
        names = ", ".join(f"{name} {levels[name]}" for name in levels) or "nothing"
        lost = sum(column.bits - column.bits_left for column in coarse.values())
        yield (
            f"| {names} | {100 * lost / whole:.0f} % | {len(records.profile.classes)} | {measures.n_regions} "
            f"| {measures.suppression_percent:.1f} % | {measures.mean_distance:.0f} m |"
        )
    yield ""
    yield example.nodes[1][0].table.coarsened["age_group"].sentence
    yield ""
    yield from nested_table(example)


def _every(example: Example) -> Iterable[Coarsened]:
    """Each attribute given up whole: its entropy."""
    node = [len(example.hierarchies[name]) - 1 if name in example.hierarchies else 0 for name in QUASI_IDENTIFIERS]
    hierarchies = dict(example.hierarchies)
    column = example.records.table.quasi_identifiers["sex"]
    hierarchies["sex"] = hierarchy_rule("sex", "*").hierarchy(column.categories, records_by_category(column, None))
    node[QUASI_IDENTIFIERS.index("sex")] = 1
    return generalise_records(example.records, hierarchies, node, example.areas).table.coarsened.values()


if __name__ == "__main__":
    print("\n".join(printed(make_example())))
