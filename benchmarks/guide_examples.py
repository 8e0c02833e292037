"""The figures of docs/tutorial.md, docs/choosing.md and docs/too-much-suppressed.md, over the demonstration city.

    PYTHONPATH=build/package .venv/bin/python benchmarks/guide_examples.py

First the three runs of the tutorial. Then what the recommended combinations, and nested levels, give for four
quasi-identifiers and k = 5. Then a first try that suppresses far too much, six quasi-identifiers at k = 10, and what
each way out of it gives. What is shown coarser, and how, is that of docs/generalising.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vbas.benchmarks import demonstration
from vbas.benchmarks.generalising_example import QUASI_IDENTIFIERS, RULES, tables
from vbas.core.areas import Areas
from vbas.core.attribute_costs import AttributeCost, attribute_costs
from vbas.core.configuration import RECOMMENDED, Configuration, aggregate
from vbas.core.evaluation import Measures, evaluate
from vbas.core.generalising import generalise_records, hierarchy_rule
from vbas.core.generalising.hierarchies import Hierarchy, records_by_category
from vbas.core.generalising.texts import with_values_as_text
from vbas.core.levels import with_coarser_values
from vbas.core.nesting.coarser import nest_coarser
from vbas.core.nesting.coarser_places import places_of
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.nesting.recount import check_where_released
from vbas.core.nesting.views import as_released
from vbas.core.plan import Plan, suppress
from vbas.core.privacy.requirement import Requirement, measure
from vbas.core.records.matching import Records, match_records, requirement_of
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.site_number import SiteNumberOptions
from vbas.core.suppression import Terms
from vbas.core.synthetic.city import SENSITIVE

FOUR, K_FOUR = ("age_group", "sex", "marital_status", "education"), 5
K_SIX = 10
BUDGET = 5.0
LEFT_OUT = ("ethnicity", "household_income")
COARSER = {"age_group": 1, "marital_status": 1, "education": 1}
# The last levels of the nested release, each after those before it.
LAST_LEVELS = (("age_group", 1), ("household_income", 1), ("marital_status", 1), ("education", 1))


@dataclass(frozen=True, eq=False)
class Try:
    """One run: what was done, and what it gave; homogeneous : how many of the released classes have one diagnosis."""

    title: str
    measures: Measures
    homogeneous: str = ""

    def row_with_alike(self) -> str:
        """The row with how many classes have one diagnosis."""
        return f"{self.row()} {self.homogeneous} |"

    def row(self) -> str:
        """A row of a table of the guide."""
        measures = self.measures
        suppressed = _percent(measures.suppression_percent)
        return f"| {self.title} | {suppressed} | {measures.n_regions} | {measures.mean_distance:.0f} m |"


def _percent(value: float) -> str:
    """Two digits that count, as “12.7 %” or “0.00033 %”."""
    if value >= 1:
        return f"{value:.1f} %"
    return f"{value:#.2g} %" if value else "0 %"


def records_of(names: Sequence[str], k: int) -> tuple[Areas, Records]:
    """The city's areas, and its records with these quasi-identifiers."""
    areas, people = demonstration.city().areas(), demonstration.people()
    quasi = {name: people.quasi_identifiers[name] for name in names}
    table = RecordTable(people.area, quasi, people.kept, sensitive=(SENSITIVE,))
    return areas, match_records(table, areas, k=k)


def one_level(
    title: str, areas: Areas, records: Records, k: int, configuration: Configuration, n_diagnoses: int = 1
) -> Try:
    """Regions of one level."""
    requirement = requirement_of(records, k, n_diagnoses)
    run = aggregate(areas, records.profile, configuration, terms=Terms(k, requirement))
    plan = suppress(records.profile, run.aggregation.crosswalk, k, requirement)
    return Try(title, evaluate(areas, plan, run.aggregation.sites)[0], homogeneous(plan, requirement))


def nested(title: str, areas: Areas, records: Records, k: int, n_diagnoses: int = 1) -> Try:
    """Nested levels, from the areas to one region."""
    requirement = requirement_of(records, k, n_diagnoses)
    plan = nest(areas, records.profile, build_levels(areas, records.profile), k, requirement=requirement)
    return Try(title, evaluate(areas, plan)[0], homogeneous(plan, requirement))


def homogeneous(plan: Plan, requirement: Requirement) -> str:
    """How many of the released classes have one diagnosis in common, of how many."""
    diversity = measure(requirement, plan.equivalence_class_of, len(plan.released)).diversity[SENSITIVE]
    return f"{int((diversity.distinct[plan.released] == 1).sum())} of {int(plan.released.sum())}"


def combinations() -> Iterator[Try]:
    """The recommended combinations, then nested levels."""
    areas, records = records_of(FOUR, K_FOUR)
    for name, combination in RECOMMENDED.items():
        configuration = Configuration(
            combination.site_number, combination.site_location or "balanced density", combination.aggregation
        )
        yield one_level(f"“{name}”", areas, records, K_FOUR, _with_k(configuration, K_FOUR))
    yield nested("all-rounder, and “nested levels”", areas, records, K_FOUR)


def tutorial(tries: Mapping[str, Try]) -> Iterator[Try]:
    """The runs of the tutorial; found : those of `combinations`, by their titles."""
    configuration = _with_k(Configuration(), K_FOUR)
    six = one_level("six quasi-identifiers", *records_of(QUASI_IDENTIFIERS, K_FOUR), K_FOUR, configuration)
    areas, records = records_of(FOUR, K_FOUR)
    yield six
    yield Try("four quasi-identifiers", tries["“all-rounder”"].measures, tries["“all-rounder”"].homogeneous)
    yield one_level("four, two diagnoses in each class", areas, records, K_FOUR, configuration, n_diagnoses=2)
    plain = tries["all-rounder, and “nested levels”"]
    yield Try("four, nested levels", plain.measures, plain.homogeneous)
    yield nested("four, nested levels, two diagnoses in each class", areas, records, K_FOUR, n_diagnoses=2)


def first_try() -> tuple[Try, list[AttributeCost]]:
    """All six, as the form proposes, and what each attribute costs with these regions."""
    areas, records = records_of(QUASI_IDENTIFIERS, K_SIX)
    run = aggregate(areas, records.profile, _with_k(Configuration(), K_SIX), terms=Terms(K_SIX))
    crosswalk = run.aggregation.crosswalk
    measures, _ = evaluate(areas, suppress(records.profile, crosswalk, K_SIX), run.aggregation.sites)
    return Try("first try", measures), attribute_costs(records.profile, crosswalk, Terms(K_SIX))


def ways_out() -> Iterator[Try]:
    """What each way out gives, one by one and together."""
    areas, six = records_of(QUASI_IDENTIFIERS, K_SIX)
    plain = _with_k(Configuration(), K_SIX)
    for name in LEFT_OUT:
        fewer = [quasi_identifier for quasi_identifier in QUASI_IDENTIFIERS if quasi_identifier != name]
        yield one_level(f"without {name}", *records_of(fewer, K_SIX), K_SIX, plain)
    fewer = [quasi_identifier for quasi_identifier in QUASI_IDENTIFIERS if quasi_identifier not in LEFT_OUT]
    yield one_level(f"without {' and '.join(LEFT_OUT)}", *records_of(fewer, K_SIX), K_SIX, plain)
    hierarchies = hierarchies_of(six)
    for levels in (*({name: 1} for name in COARSER), COARSER):
        node = [levels.get(name, 0) for name in QUASI_IDENTIFIERS]
        coarse = generalise_records(six, hierarchies, node, areas)
        yield one_level(f"{', '.join(levels)} one level coarser", areas, coarse, K_SIX, plain)
    options = SiteNumberOptions(k=K_SIX, budget=BUDGET)
    budgeted = Configuration("suppression budget", number_options=options)
    yield one_level(f"suppression budget of {BUDGET:g} %", areas, six, K_SIX, budgeted)
    yield nested("nested levels", areas, six, K_SIX)
    yield nested_then_coarser(areas, six, hierarchies)


def nested_then_coarser(areas: Areas, records: Records, hierarchies: Mapping[str, Hierarchy]) -> Try:
    """Nested levels, and above them levels that show what is still too rare with coarser values."""
    records, coarser = with_values_as_text(records, hierarchies, list(dict(LAST_LEVELS)), areas)
    places = places_of(records.profile, with_coarser_values(build_levels(areas, records.profile), LAST_LEVELS), coarser)
    plan = nest_coarser(areas, places, K_SIX)
    shown = as_released(plan, places)
    check_where_released(apply(shown, records), places.profile, places.levels, True, places.hierarchies)
    return Try("nested levels, coarser values last", evaluate(areas, shown)[0])


def hierarchies_of(records: Records) -> dict[str, Hierarchy]:
    """The coarser values of docs/generalising.md."""
    quasi = records.table.quasi_identifiers
    hierarchies = {name: table.hierarchy(quasi[name].categories) for name, table in tables().items()}
    for name, words in RULES.items():
        column = quasi[name]
        hierarchies[name] = hierarchy_rule(name, words).hierarchy(column.categories, records_by_category(column, None))
    return hierarchies


def _with_k(configuration: Configuration, k: int) -> Configuration:
    number = configuration.site_number
    return Configuration(number, configuration.site_location, configuration.aggregation, SiteNumberOptions(k=k))


def printed() -> Iterator[str]:
    """What the pages quote, line by line."""
    tries = {combination.title: combination for combination in combinations()}
    yield "| run | suppressed | regions | mean distance | classes with one diagnosis |"
    yield "|---|---|---|---|---|"
    yield from (combination.row_with_alike() for combination in tutorial(tries))
    yield ""
    yield "| method | suppressed | regions | mean distance |"
    yield "|---|---|---|---|"
    yield from (combination.row() for combination in tries.values())
    yield ""
    tried, costs = first_try()
    yield f"| with these {tried.measures.n_regions} regions | suppressed |"
    yield "|---|---|"
    yield f"| all six | {_percent(tried.measures.suppression_percent)} |"
    for cost in sorted(costs, key=lambda attribute_cost: attribute_cost.without):
        yield f"| without {cost.quasi_identifier} | {_percent(cost.without)} |"
    yield ""
    yield "| way out | suppressed | regions | mean distance |"
    yield "|---|---|---|---|"
    yield tried.row()
    yield from (way.row() for way in ways_out())


if __name__ == "__main__":
    for line in printed():
        print(line)
