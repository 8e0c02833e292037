"""A configuration: one approach for each component, and how a whole one is run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Union

from . import aggregation, levels, site_location, site_number
from .aggregation import Aggregation, AggregationOptions
from .approach import Approach, Result, choosing_sites, depending_on_attribute_counts, using_setting
from .areas import Areas
from .convergence import Convergence
from .dataclass import dataclass
from .language import as_data, plural, tr, written
from .parameters import check_choice
from .profile import Profile
from .progress import Progress, part, silent
from .site_location import LocationOptions, SiteLocation
from .site_number import SiteNumber, SiteNumberOptions
from .suppression import Terms, held_against_budget, suppressed_by_class
from .within_budget import exchanged_within_budget

# What a run takes its time for, for `Run.seconds`.
NUMBER, LOCATION, AGGREGATION = as_data("site number"), as_data("site location"), as_data("aggregation")


@dataclass(frozen=True)
class Configuration:
    """The approach of each component, by the words the user sees, and the settings of each room.

    Parameters
    ----------
    site_number, site_location, aggregation : str
        Keys of the APPROACHES of `core.site_number`, `core.site_location` and `core.aggregation`.
    number_options : SiteNumberOptions
        What the approaches of component 1 look at.
    location_options : LocationOptions
        Of component 2.
    aggregation_options : AggregationOptions
        Of component 3.

    Examples
    --------
    >>> from vbas.core.configuration import Configuration
    >>> from vbas.core.site_number import SiteNumberOptions
    >>> Configuration("given number", aggregation="basic Voronoi", number_options=SiteNumberOptions(n_sites=2)).title
    'balanced density · basic Voronoi'
    """

    site_number: str = "max combinations"
    site_location: str = "balanced density"
    aggregation: str = "iterative Voronoi"
    number_options: SiteNumberOptions = field(default_factory=SiteNumberOptions)
    location_options: LocationOptions = field(default_factory=LocationOptions)
    aggregation_options: AggregationOptions = field(default_factory=AggregationOptions)

    @property
    def chooses_sites(self) -> bool:
        """Whether the aggregation chooses its own sites, so that the site location counts for nothing."""
        return self.aggregation in choosing_sites(aggregation.APPROACHES)

    @property
    def has_capacities(self) -> bool:
        """Whether the aggregation looks at the capacity factor."""
        return self.aggregation in using_setting(aggregation.APPROACHES, "capacity_factor")

    @property
    def using_attribute_counts(self) -> tuple[str, ...]:
        """The approaches of this configuration whose results depend on the classes of suppressed records."""
        parts = (
            (self.site_number, depending_on_attribute_counts(site_number.APPROACHES)),
            ("" if self.chooses_sites else self.site_location, depending_on_attribute_counts(site_location.APPROACHES)),
            (self.aggregation, depending_on_attribute_counts(aggregation.APPROACHES)),
        )
        return tuple(name for name, depending in parts if name in depending)

    @property
    def counts_values(self) -> bool:
        """Whether its number of sites depends on how many values k records have, suppressed ones among them."""
        return site_number.APPROACHES[self.site_number].counts_values

    @property
    def title(self) -> str:
        """Location and aggregation, and the capacity factor where one counts."""
        return " · ".join(part for part in (self.site_location, self.aggregation_title) if part)

    @property
    def aggregation_title(self) -> str:
        """The aggregation, and the capacity factor where one counts."""
        if not self.has_capacities:
            return self.aggregation
        factor = self.aggregation_options.capacity_factor
        return f"{self.aggregation} ({written(f'× {factor:g}') if factor else tr('no limit')})"


@dataclass(frozen=True)
class Combination:
    """A combination that Croft 2018, Table 4 recommends.

    reason : why, in the paper; measured : what of it held over our own scenarios, as
    `benchmarks/recommended_combinations.py` prints it
    """

    number: int
    site_number: str
    site_location: str
    aggregation: str
    reason: str
    measured: str


# Croft 2018, Table 4, by the words the user sees; the transport heuristics without limit (capacity factor 0).
RECOMMENDED = {
    "least suppression": Combination(
        1,
        "max combinations",
        "anonymity-driven clustering",
        "iterative Voronoi",
        tr("it suppresses the fewest records, at some cost in time and geography"),
        tr("it suppressed less than the all-rounder in 6 of 12"),
    ),
    "all-rounder": Combination(
        2,
        "max combinations",
        "balanced density",
        "iterative Voronoi",
        tr("little suppression goes with good geography: the one to start with"),
        tr("it suppressed the fewest of the seven in 6 of 12"),
    ),
    "all-rounder by transport": Combination(
        3,
        "max combinations",
        "",
        "transportation-location",
        tr("it is like the all-rounder, often with slightly less information loss"),
        tr("it lost less information than the all-rounder in 10 of 12"),
    ),
    "fastest": Combination(
        4,
        "entropy",
        "balanced density",
        "basic Voronoi",
        tr("it gives finer regions in the shortest time, with more suppression"),
        tr("it was the fastest of the seven in 12 of 12"),
    ),
    "most compact": Combination(
        5,
        "entropy",
        "balanced density",
        "site optimisation",
        tr("it gives the finest and most compact regions, with the most suppression"),
        tr("it was the most compact of the seven in 7 of 12"),
    ),
    "compact with less suppression": Combination(
        6,
        "entropy",
        "anonymity-driven clustering",
        "site optimisation",
        tr("it gives compact regions, with much less suppression than the most compact"),
        tr("it suppressed less than the most compact in 6 of 12"),
    ),
    "compact by transport": Combination(
        7,
        "entropy",
        "",
        "transportation-location",
        tr("it lies between the all-rounder and the most compact"),
        tr("its suppression was between those of the all-rounder and the most compact in 10 of 12"),
    ),
}
CUSTOM = "custom"


@dataclass(frozen=True, eq=False)
class Run:
    """What a configuration gave: each component's result and the seconds it took."""

    number: SiteNumber
    location: SiteLocation | None
    aggregation: Aggregation
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the components have to say, in order."""
        location = self.location.notes if self.location else ()
        return (*self.number.notes, *location, *self.aggregation.notes)

    @property
    def convergence(self) -> tuple[Convergence, ...]:
        """How the components came to rest, in order; those that do not tell are left out."""
        return (*(self.location.convergence if self.location else ()), *self.aggregation.convergence)


# Sites that were found already, with the seconds that took, by what they depend on.
LocatedSites = dict[tuple[str, int, LocationOptions], tuple[SiteLocation, float]]
# Components 2 and 3 at a number of sites: where, which area joins which, and the seconds that took.
Parts = tuple[Union[SiteLocation, None], Aggregation, dict[str, float]]


class Trials:
    """Components 2 and 3 of a configuration at any number of sites, each number run once.

    areas : n areas with the population to balance; profile : of the same areas, in the same order; located : sites of
    earlier runs over the same areas and profile, used again and added to; terms : what is asked of a release.
    Raises InputError for an unknown approach.
    """

    def __init__(
        self,
        areas: Areas,
        profile: Profile,
        configuration: Configuration,
        located: LocatedSites | None = None,
        terms: Terms | None = None,
    ) -> None:
        self._areas, self._profile, self._configuration = areas, profile, configuration
        self._located = {} if located is None else located
        self._terms = Terms(configuration.number_options.k) if terms is None else terms
        series = None if self._terms.requirement is None else self._terms.requirement.series
        self._options = replace(configuration.aggregation_options, period="" if series is None else series.period)
        self.number_approach = chosen(site_number.APPROACHES, configuration.site_number, "SITE_NUMBER")
        approach = chosen(aggregation.APPROACHES, configuration.aggregation, "AGGREGATION")
        # An exchange that may spend the budget itself starts from what is tried.
        self.exchanges = self.number_approach.runs_candidates and bool(approach.starts_from)
        self._aggregate = aggregation.APPROACHES[approach.starts_from] if self.exchanges else approach
        self._parts: dict[int, Parts] = {}

    def parts(self, n_sites: int, progress: Progress = silent) -> Parts:
        """Where so many sites go, None where the aggregation chooses them, and which area joins which."""
        if n_sites not in self._parts:
            configuration, located = self._configuration, None
            seconds = {LOCATION: 0.0}
            if not configuration.chooses_sites:
                located, seconds[LOCATION] = self._locate(n_sites, part(progress, 0.0, 0.5))
            started = time.perf_counter()
            result = self._aggregate(
                self._areas,
                self._profile,
                n_sites if located is None else located.sites,
                self._options,
                progress if located is None else part(progress, 0.5, 1.0),
            )
            seconds[AGGREGATION] = time.perf_counter() - started
            self._parts[n_sites] = located, result, seconds
        progress(1.0)
        return self._parts[n_sites]

    def exchanged(self, start: Aggregation, progress: Progress = silent) -> tuple[Aggregation, float]:
        """What an exchange within the budget makes of a start, and the seconds it takes; the start where none does."""
        if not self.exchanges:
            return start, 0.0
        started = time.perf_counter()
        configuration = self._configuration
        result = exchanged_within_budget(
            self._areas,
            self._profile,
            start,
            self._options,
            configuration.number_options.budget,
            configuration.number_options.fair,
            self._terms,
            progress,
        )
        return result, time.perf_counter() - started

    def suppression(self, n_sites: int, progress: Progress = silent) -> float:
        """Suppression in per cent, compared with the budget."""
        crosswalk = self.parts(n_sites, progress)[1].crosswalk
        suppressed = suppressed_by_class(self._profile, crosswalk, self._terms)
        return held_against_budget(self._profile, suppressed, self._terms, self._configuration.number_options.fair)

    def number(self, progress: Progress = silent) -> SiteNumber:
        """How many sites. Raises InputError for settings the approach refuses."""
        approach = self.number_approach
        inputs = self._profile, self._areas.identifiers, self._configuration.number_options
        return approach(*inputs, self.suppression, progress) if approach.runs_candidates else approach(*inputs)

    def _locate(self, n_sites: int, progress: Progress) -> tuple[SiteLocation, float]:
        name, options = self._configuration.site_location, self._configuration.location_options
        locate = chosen(site_location.APPROACHES, name, "SITE_LOCATION")
        key = (name, n_sites, options)
        if key not in self._located:
            started = time.perf_counter()
            sites = locate(self._areas, self._profile, n_sites, options, progress)
            self._located[key] = sites, time.perf_counter() - started
        return self._located[key]


def aggregate(
    areas: Areas,
    profile: Profile,
    configuration: Configuration,
    progress: Progress = silent,
    located: LocatedSites | None = None,
    terms: Terms | None = None,
) -> Run:
    """Run components 1 to 3: how many sites, where, and which area joins which.

    Parameters
    ----------
    areas : Areas
        n areas with the population to balance.
    profile : Profile
        Of the same areas, in the same order.
    configuration : Configuration
        The approaches and their settings.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    located : dict, optional
        Sites of earlier runs over the same areas and profile, used again and added to.
    terms : Terms, optional
        What is asked of the release, for a number of sites that is found by trying; k alone where None.

    Returns
    -------
    Run
        What each component gave: `aggregation.crosswalk`, `aggregation.sites` (n_regions, 2) in metres, the seconds.

    Raises
    ------
    InputError
        For an unknown approach and for settings the approaches refuse.

    Examples
    --------
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.configuration import Configuration, aggregate
    >>> from vbas.core.site_number import SiteNumberOptions
    >>> chosen = Configuration("given number", "balanced density", "basic Voronoi", SiteNumberOptions(n_sites=2))
    >>> run = aggregate(areas, records.profile, chosen)
    >>> run.aggregation.crosswalk.n_regions
    2
    """
    trials = Trials(areas, profile, configuration, located, terms)
    share = 0.0 if not trials.number_approach.runs_candidates else 0.3 if trials.exchanges else 0.9
    started = time.perf_counter()
    number = trials.number(part(progress, 0.0, share))
    elapsed = time.perf_counter() - started
    location, result, seconds = trials.parts(number.n_sites, part(progress, share, 1.0))
    exchanged, more = trials.exchanged(result, part(progress, share, 1.0))
    # A number that was tried is run already: its seconds are shown once.
    tried = sum(seconds.values()) if trials.number_approach.runs_candidates else 0.0
    progress(1.0)
    seconds = {**seconds, AGGREGATION: seconds[AGGREGATION] + more}
    return Run(number, location, exchanged, {NUMBER: max(elapsed - tried, 0.0), **seconds})


def joined_to_least_population(run: Run, areas: Areas, least: float) -> Run:
    """The run, its regions joined with the nearest one until each has as many people; the sites are mean centres then.

    Raises InputError for a number below 0, and where all areas together have fewer people.
    """
    crosswalk = run.aggregation.crosswalk
    joined = levels.with_least_population(areas, levels.Levels((crosswalk,)), least).crosswalks[0]
    if joined.n_regions == crosswalk.n_regions:
        return run
    n_joined = crosswalk.n_regions - joined.n_regions
    note = plural(
        "{n} region had fewer than {least:g} people and joined the nearest one.",
        "{n} regions had fewer than {least:g} people and joined the nearest one.",
        n_joined,
        least=least,
    )
    made = Aggregation(
        joined, joined.mean_centres(areas.points), (*run.aggregation.notes, note), run.aggregation.convergence
    )
    return replace(run, aggregation=made)


def chosen(approaches: Mapping[str, Approach[Result]], name: str, parameter: str) -> Approach[Result]:
    """The approach of that name. Raises InputError that lists the names there are."""
    check_choice(parameter, name, approaches)
    return approaches[name]
