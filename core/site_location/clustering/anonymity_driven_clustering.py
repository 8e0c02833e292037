"""Anonymity-driven clustering: sites move towards neighbours that have what their own region lacks (2018)."""

from __future__ import annotations

import numpy as np

from ...areas import Areas
from ...convergence import convergence
from ...language import plural, tr
from ...profile import Profile
from ...progress import Progress, part, silent
from ..options import DEFAULTS, LocationOptions, SiteLocation
from .climbing import Climb, Variant, climb
from .counts import NO_LEVEL, Terms
from .starting import start_of, started_from
from .state import ClusteringState

NAME = "anonymity-driven clustering"
OWN_WEIGHT = 10.0
# Starts that take as long as what follows.
CLIMBING = (NAME, "anonymity-driven clustering (2015)")


def anonymity_driven_clustering(
    areas: Areas,
    profile: Profile,
    n_sites: int,
    options: LocationOptions = DEFAULTS,
    progress: Progress = silent,
) -> SiteLocation:
    """The sites of another location, balanced density unless you choose another start, move, one at a time, to save
    records from suppression (Croft 2018, section 2.2.2, Eq. 5).

    areas : n areas with points (metres); profile : of the same areas, in the same order; 1 <= n_sites <= n.
    options.k : the level at which a region is left alone; options.start, options.start_sites : what it starts from; of
    sites that are given there may be another number than n_sites.

    The objective is the sum of the levels of the regions plus 1 - |E_alpha| / |E|. A region at the lowest level alpha
    proposes, for each class of which it has alpha records, the mean centre of the adjacent sites weighted by the square
    of their records of that class and of its own site weighted by 10; the move is made if the objective rises.
    Adjacent are the Delaunay neighbours; membership is by nearest site throughout. The paper takes back a last round
    that did not improve: here such a round makes no move, so there is nothing to take back.

    What the paper leaves open: a region in which no record lives has no level; a move that would leave a region without
    its last area, or its last record, is not made, so that the number of regions stays.
    """
    return clustered(NAME, VARIANT, areas, profile, n_sites, options, progress)


def clustered(
    name: str,
    variant: Variant,
    areas: Areas,
    profile: Profile,
    n_sites: int,
    options: LocationOptions,
    progress: Progress,
) -> SiteLocation:
    """Start from the sites of the options and climb; the notes say how that went."""
    share = 0.5 if not options.start_sites and options.start in CLIMBING else 0.05
    start = start_of(name, areas, profile, n_sites, options, part(progress, 0.0, share))
    state = ClusteringState(areas.points, profile.counts, start.sites)
    record = Climb()
    levels = [_sum_of_levels(state)]
    for _ in climb(state, variant, options.k, record, part(progress, share, 1.0)):
        levels.append(_sum_of_levels(state))
    progress(1.0)
    series = convergence(_titled(name), tr("moves made"), tr("sum of the regions' smallest classes"), levels)
    return SiteLocation(
        state.sites, (*start.notes, *_notes(name, record, started_from(options))), (*start.convergence, *series)
    )


def _sum_of_levels(state: ClusteringState) -> int:
    """The sum of the regions' levels; those without records have none."""
    return int(state.anonymity[state.anonymity < NO_LEVEL].sum())


def _titled(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def _notes(name: str, record: Climb, start: str) -> tuple[str, ...]:
    """Sentences for the report: rounds (listings of the lowest regions), moves and why it stopped; start : in words."""
    rounds = plural("{n} round", "{n} rounds", record.rounds)
    sentence = tr(
        "{name}, started from {start}, made {moves} of {proposals} "
        "proposed moves in {rounds} and stopped because {reason}.",
        name=_titled(name),
        start=start,
        moves=record.moves,
        proposals=record.proposals,
        rounds=rounds,
        reason=record.reason,
    )
    if record.limited:
        return (
            sentence,
            tr(
                "Warning: {name} was cut short. The regions are valid, but may suppress more than they need to.",
                name=name,
            ),
        )
    return (sentence,)


def propose(state: ClusteringState, region: int, classes: np.ndarray) -> np.ndarray:
    """For each bottleneck class (B,) where the site of a region should go, (B, 2)."""
    adjacent = state.adjacent(region)
    weights = state.counts.of(adjacent, classes) ** 2
    offsets = state.sites[adjacent] - state.sites[region]
    pull = (weights[:, :, None] * offsets[:, None, :]).sum(axis=0)
    return state.sites[region] + pull / (OWN_WEIGHT + weights.sum(axis=0))[:, None]


def rises(now: Terms, then: Terms) -> np.ndarray:
    """Whether the objective (Croft 2018, Eq. 5) is higher after each move, (B,) bool, without rounding.

    The share |E_alpha| / |E| lies in (0, 1], so that it decides only between equal sums of levels.
    """
    gain = then.levels - now.levels
    smaller_share = then.classes_at_lowest * now.classes < now.classes_at_lowest * then.classes
    return (then.changes_regions == 0) & ((gain > 0) | ((gain == 0) & smaller_share))


def window(now: Terms, then: Terms) -> tuple[float, float] | None:
    """Between which shares |E_alpha| / |E| these refused moves stay refused; None where more than that decides.

    A move that changes |E_alpha| by a and |E| by e raises the objective if a < share · e.
    """
    open_question = (then.changes_regions == 0) & (then.levels == now.levels)
    if (then.lowest_touched != now.lowest)[open_question & _changes(now, then)].any():
        return None
    at_lowest = (then.classes_at_lowest - now.classes_at_lowest)[open_question]
    classes = (then.classes - now.classes)[open_question]
    ends = at_lowest[classes != 0] / classes[classes != 0]
    falling = classes[classes != 0] < 0
    return float(ends[falling].max(initial=-np.inf)), float(ends[~falling].min(initial=np.inf))


def _changes(now: Terms, then: Terms) -> np.ndarray:
    """Whether anything that the objective sees changes, (B,) bool."""
    return (
        (then.lowest != now.lowest) | (then.classes_at_lowest != now.classes_at_lowest) | (then.classes != now.classes)
    )


VARIANT = Variant(propose, rises, window)
