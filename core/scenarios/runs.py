"""Every configuration in every scenario: a selection of quasi-identifiers in a part of the areas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..areas import Areas
from ..comparison import compare
from ..configuration import Configuration
from ..dataclass import dataclass
from ..errors import Cancelled
from ..outcome import Outcome
from ..profile import Profile
from ..progress import Progress, part, silent
from ..suppression import Terms, in_all_periods
from .parts import areas_within, profile_within

EVERYWHERE = ""  # in place of a part: all areas together


class Scenario(NamedTuple):
    """part : its name, EVERYWHERE where all areas are taken; attributes : the quasi-identifiers selected."""

    part: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ScenarioRun:
    """What the configurations gave in a scenario at a k; outcomes : in the order of the configurations."""

    scenario: Scenario
    k: int
    configurations: tuple[Configuration, ...]
    outcomes: tuple[Outcome, ...]


def run_scenarios(
    areas: Areas,
    profile: Profile,
    parts: Mapping[str, np.ndarray],
    selections: Sequence[tuple[str, ...]],
    configurations: Mapping[int, Sequence[Configuration]],
    progress: Progress = silent,
    n_unmatched: int = 0,
    period: str = "",
) -> list[ScenarioRun]:
    """Rate configurations in each part with each selection, each part as if there were no other (Croft 2015, section
    4.2; Croft 2018, section 3.2).

    areas, profile : of all areas, in the same order; parts : by name the positions of their areas, ascending; none
    where all areas together are the only one; configurations : by k; n_unmatched : records of no known area, which
    count as suppressed where there are no parts, and belong to none of them; period : the quasi-identifier, in each
    selection, in all of whose values classes are to be the same, empty for none. A configuration that fails says why in
    its outcome. Cancelling ends the runs with the scenarios that were finished at a k.
    """
    runs: list[ScenarioRun] = []
    places = dict(parts) or {EVERYWHERE: np.arange(len(areas), dtype=np.int64)}
    n_runs = len(places) * len(selections) * len(configurations)
    for scenario, within, selected in _scenarios(areas, profile, places, selections):
        for k, wanted in configurations.items():
            step = part(progress, len(runs) / n_runs, (len(runs) + 1) / n_runs)
            fitting = [_with_attributes(configuration, scenario.attributes) for configuration in wanted]
            try:
                step(0.0)
                outside = 0 if parts else n_unmatched
                terms = in_all_periods(Terms(k, n_unmatched=outside), selected, period)
                outcomes = compare(within, selected, fitting, k, outside, step, terms=terms)
            except Cancelled:
                return runs
            if len(outcomes) < len(wanted):  # cancelled on the way
                return runs
            runs.append(ScenarioRun(scenario, k, tuple(wanted), tuple(outcomes)))
    return runs


def _scenarios(
    areas: Areas, profile: Profile, places: Mapping[str, np.ndarray], selections: Sequence[tuple[str, ...]]
) -> Iterator[tuple[Scenario, Areas, Profile]]:
    """Each scenario with its areas and the profile of its records."""
    for name, members in places.items():
        within = areas_within(areas, members)
        for attributes in selections:
            yield Scenario(name, attributes), within, profile_within(profile, members, attributes)


def _with_attributes(configuration: Configuration, attributes: Sequence[str]) -> Configuration:
    """The configuration, fair to the groups of those quasi-identifiers alone that are selected."""
    options = configuration.number_options
    fair = tuple(name for name in options.fair if name in attributes)
    return replace(configuration, number_options=replace(options, fair=fair))
