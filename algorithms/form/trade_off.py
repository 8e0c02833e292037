"""The searched trade-off: several k, several budgets and coarser attributes, declared and read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition

from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.approach import choosing_sites
from ...core.areas import Areas
from ...core.configuration import Configuration
from ...core.errors import InputError
from ...core.job.generalising import coarser_of
from ...core.job.reading import same_in_all_of
from ...core.language import plural, tr
from ...core.outcome import Outcome
from ...core.parameters import SMALLEST_K
from ...core.progress import Progress
from ...core.records.matching import Records
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from ...core.trade_off.outcomes import trade_off_outcomes
from ...core.trade_off.search import MOST_NODES, Search, heights, n_nodes
from .approaches import numbers_in
from .effective import GIVEN, Conditions
from .form import Form
from .parameters import text

PREFERRED = ("balanced density", "iterative Voronoi")
CONDITIONS: Conditions = {
    name: [{"GENERALISE": GIVEN, "BUDGETS": GIVEN}] for name in ("HIERARCHIES", "HIERARCHY_RULES")
}


def trade_off_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """K_VALUES and BUDGETS."""
    yield text(
        "K_VALUES",
        tr("Further k"),
        "",
        tr(
            "Everything is run at K and at each of these too, such as 10,20: whole numbers from 2, separated by commas."
        ),
        optional=True,
        advanced=True,
    )
    yield text(
        "BUDGETS",
        tr("Suppression budgets to search for, %"),
        "",
        tr(
            "Such as 1,2,5. For each of them the most regions are searched that keep suppression within it, with the "
            "attributes as they are and with every combination of the coarser values that “Coarser values” gives: what "
            "would wider age groups buy? Each is a row, with one of the locations and aggregations chosen above "
            "({preferred} and {or_preferred} where they are among them; none that looks at classes). Of more than "
            "{most_nodes} combinations the most promising are looked at.",
            preferred=PREFERRED[0],
            or_preferred=PREFERRED[1],
            most_nodes=MOST_NODES,
        ),
        optional=True,
    )


def ks_of(form: Form) -> list[int]:
    """K, and the others of K_VALUES in their order. Raises InputError for what is no k."""
    first, typed = form.whole("K"), form.text("K_VALUES").strip()
    others = numbers_in(typed, "K_VALUES") if typed else []
    wrong = [number for number in others if number != int(number) or number < SMALLEST_K]
    if wrong:
        raise InputError.saying(
            "K_VALUES has {wrong:g}: give whole numbers from {smallest_k}, separated by commas.",
            wrong=wrong[0],
            smallest_k=SMALLEST_K,
        )
    return list(dict.fromkeys([first, *map(int, others)]))


def budgets_of(form: Form) -> list[float]:
    """BUDGETS, empty where none is given. Raises InputError for what is no share."""
    typed = form.text("BUDGETS").strip()
    budgets = numbers_in(typed, "BUDGETS") if typed else []
    wrong = [number for number in budgets if not 0 <= number <= 100]
    if wrong:
        raise InputError.saying("BUDGETS has {wrong:g}: give per cent of the records, from 0 to 100.", wrong=wrong[0])
    return list(dict.fromkeys(budgets))


def searched_approaches(locations: Sequence[str], aggregations: Sequence[str]) -> tuple[str, str]:
    """Location and aggregation of the search, among those chosen that look at no classes; else the usual ones.

    Regions that look at classes would have to be made anew for every combination of levels, which takes hours.
    """
    blind = [
        [name for name in chosen if not approaches[name].uses_attribute_counts]
        for chosen, approaches in ((locations, SITE_LOCATIONS), (aggregations, AGGREGATIONS))
    ]
    location, how = (usual if usual in named or not named else named[0] for usual, named in zip(PREFERRED, blind))
    return ("" if how in choosing_sites(AGGREGATIONS) else location), how


def searched(
    form: Form, areas: Areas, records: Records, settings: Configuration, names: tuple[str, str], progress: Progress
) -> list[Outcome]:
    """The rows of the search; none where BUDGETS is empty. names : location and aggregation."""
    budgets = budgets_of(form)
    if not budgets:
        return []
    profile, hierarchies = records.profile, coarser_of(form.job, records.table)
    configuration = replace(settings, site_location=names[0], aggregation=names[1])
    period = same_in_all_of(form.job)
    search = Search(
        areas, profile, hierarchies, configuration, ks_of(form), budgets, records.n_unmatched, period=period
    )
    whole = n_nodes(heights(profile.quasi_identifiers, hierarchies))
    outcomes = trade_off_outcomes(search, progress)
    n_tried = len({outcome.generalised for outcome in outcomes})
    if hierarchies:
        form.info(
            plural(
                "Searched {n} of {whole} combinations of levels of {hierarchies}.",
                "Searched {n} of {whole} combinations of levels of {hierarchies}.",
                n_tried,
                whole=whole,
                hierarchies=", ".join(hierarchies),
            )
        )
    beyond = sum(outcome.measures is None for outcome in outcomes)
    if beyond:
        form.info(
            plural(
                "In {n} of {n_outcomes} searches no number of regions keeps within the budget.",
                "In {n} of {n_outcomes} searches no number of regions keeps within the budget.",
                beyond,
                n_outcomes=len(outcomes),
            )
        )
    return outcomes
