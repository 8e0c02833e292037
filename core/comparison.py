"""Many configurations, nested releases and baselines over the same profile, rated side by side."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from .aggregation import AggregationOptions
from .analysis.planted_comparison import PlantedComparison
from .areas import Areas
from .baselines import BASELINES, BaselineOptions
from .baselines.options import DEFAULTS
from .configuration import RECOMMENDED, Configuration, LocatedSites, aggregate, chosen
from .errors import Cancelled, VbasError
from .evaluation import evaluate, evaluate_by_value, worst_group
from .nesting.making import RECIPES
from .nesting.planning import nest
from .outcome import BASELINE, NESTED, Outcome, with_pareto
from .plan import suppress
from .profile import Profile
from .progress import Progress, part, silent
from .suppression import Terms

SETTINGS = Configuration()
PUBLISHED = "max combinations (2018)"


def configurations_of(
    site_numbers: Sequence[str],
    site_locations: Sequence[str],
    aggregations: Sequence[str],
    capacity_factors: Sequence[float],
    settings: Configuration,
) -> list[Configuration]:
    """Every combination of the given approaches, those with capacities once per capacity factor.

    An approach that chooses its own sites has no site location.
    """
    configurations = []
    for number, how in product(site_numbers, aggregations):
        variant = replace(settings, site_number=number, aggregation=how)
        factors = capacity_factors if variant.has_capacities else [0.0]
        for factor, location in product(factors, [""] if variant.chooses_sites else site_locations):
            options = replace(settings.aggregation_options, capacity_factor=factor)
            configurations.append(replace(variant, site_location=location, aggregation_options=options))
    return configurations


def compare(
    areas: Areas,
    profile: Profile,
    configurations: Sequence[Configuration],
    k: int,
    n_unmatched: int = 0,
    progress: Progress = silent,
    baselines: Sequence[str] = (),
    baseline_options: BaselineOptions = DEFAULTS,
    nested: Sequence[str] = (),
    settings: Configuration = SETTINGS,
    terms: Terms | None = None,
    planted: PlantedComparison | None = None,
) -> list[Outcome]:
    """Run and rate configurations, nested releases and baselines; a failure is recorded in its outcome and the others
    go on.

    baselines : names in BASELINES, run with these options at this k; nested : names in RECIPES, run with these
    settings; terms : what is asked of each release, and so of numbers of sites that are found by trying, k alone where
    None; planted : outcomes that
    each release is analysed with, None for none. The sites of a location
    are found once and shared by the aggregations that start from them (their time counts for each). Cancelling ends the
    comparison with the outcomes so far.
    """
    outcomes: list[Outcome] = []
    located: LocatedSites = {}
    terms = Terms(k, n_unmatched=n_unmatched) if terms is None else terms
    options = replace(baseline_options, k=k)
    wanted: list[tuple[str, str, Configuration | None]] = [
        *((c.site_number, c.title, c) for c in configurations),
        *((NESTED, name, None) for name in nested),
        *((BASELINE, name, None) for name in baselines),
    ]
    for i, (family, title, configuration) in enumerate(wanted):
        whole = part(progress, i / len(wanted), (i + 1) / len(wanted))
        step = whole if planted is None else part(whole, 0.0, 0.5)
        started = time.perf_counter()
        try:
            if family == NESTED:
                levels = chosen(RECIPES, title, "NESTED")(areas, profile, settings, step)
                row = Outcome(family, title, None, time.perf_counter() - started, crosswalk=levels.crosswalks[0])
                plan = nest(areas, profile, levels, k, requirement=terms.requirement)
                measures, _ = evaluate(areas, plan, n_unmatched=n_unmatched)
            else:
                if configuration is None:
                    result = chosen(BASELINES, title, "BASELINES")(areas, profile, options, step)
                    notes, seconds, number = result.notes, time.perf_counter() - started, None
                else:
                    run = aggregate(areas, profile, configuration, step, located, terms)
                    result, notes, seconds = run.aggregation, run.notes, sum(run.seconds.values())
                    number = _combination(configuration)
                crosswalk = result.crosswalk
                row = Outcome(family, title, None, seconds, notes, "", configuration, number, False, crosswalk)
                plan = suppress(profile, crosswalk, k, terms.requirement)
                measures, _ = evaluate(areas, plan, result.sites, n_unmatched)
            worst = worst_group(evaluate_by_value(areas, plan), k)
            analysis = None if planted is None else planted.of_release(plan, part(whole, 0.5, 1.0))
        except Cancelled:
            break
        except (VbasError, ArithmeticError, ValueError, MemoryError) as error:
            seconds, problem = time.perf_counter() - started, str(error) or repr(error)
            outcomes.append(Outcome(family, title, None, seconds, (), problem, configuration, k=k))
        else:
            outcomes.append(replace(row, measures=measures, worst=worst, k=k, analysis=analysis))
    return with_pareto(outcomes)


def _combination(configuration: Configuration) -> int | None:
    """The number of the recommended combination that a configuration is, by whichever count of combinations."""
    number = "max combinations" if configuration.site_number == PUBLISHED else configuration.site_number
    own_sites = configuration.chooses_sites
    if own_sites and configuration.aggregation_options.capacity_factor != AggregationOptions().capacity_factor:
        return None
    for combination in RECOMMENDED.values():
        same = (combination.site_number, combination.aggregation) == (number, configuration.aggregation)
        if same and (own_sites or combination.site_location == configuration.site_location):
            return combination.number
    return None
