"""Which of several outcomes to choose, and why: the one that keeps most of what a record tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .generalising import entropy, records_by_value
from .outcome import Outcome
from .profile import Profile


@dataclass(frozen=True)
class Information:
    """What the records of a profile tell, bits per record: of the area, and of each quasi-identifier by itself."""

    place: float
    attributes: tuple[float, ...]

    def kept(self, outcome: Outcome) -> tuple[float, float]:
        """What an outcome keeps, of the place and of the attributes, over all records: a suppressed one keeps nothing.

        Of the place, the entropy of the areas less what it takes to guess an area from its region.
        """
        m = outcome.measures
        if m is None or not m.n_records:
            return 0.0, 0.0
        released = 1.0 - m.suppression_percent / 100.0
        losses = outcome.losses or (0.0,) * len(self.attributes)
        attributes = sum(bits * (1.0 - lost) for bits, lost in zip(self.attributes, losses))
        place = max(self.place - m.non_uniform_entropy / m.n_records, 0.0)
        return released * place, released * attributes


def information_of(profile: Profile) -> Information:
    """What the records of a profile tell."""
    return Information(entropy(profile.area_sizes), tuple(map(entropy, records_by_value(profile))))


def with_recommendation(
    outcomes: Sequence[Outcome], profile: Profile, k: int, budget: float
) -> tuple[list[Outcome], str]:
    """The same outcomes, one of them recommended, and the reason in a sentence, or why there is none.

    Of the unbeaten outcomes of one level at this k that suppress at most so many per cent it is the one that keeps the
    most bits per record; of equals the first.
    """
    known = information_of(profile)
    asked = [o for o in outcomes if o.measures is not None and o.configuration is not None and o.k == k and o.pareto]
    within = [o for o in asked if o.measures is not None and o.measures.suppression_percent <= budget]
    if not within:
        least = min((o.measures.suppression_percent for o in asked if o.measures is not None), default=None)
        found = "" if least is None else f": the least is {least:.3g} %"
        reason = (
            f"None of the rows at K = {k} suppresses at most {budget:g} % of the records{found}. Allow more, or "
            "let attributes be coarser (HIERARCHIES, HIERARCHY_RULES)."
        )
        return list(outcomes), reason
    best = max(within, key=lambda outcome: sum(known.kept(outcome)))
    place, attributes = known.kept(best)
    whole = known.place + sum(known.attributes)
    m = best.measures
    reason = (
        f"Recommended is “{best.name}”: of the {len(within)} unbeaten rows at K = {k} that suppress at most {budget:g} "
        f"% it keeps the most of what a record tells, {place + attributes:.2f} of {whole:.2f} bits ({place:.2f} of the "
        f"place, {attributes:.2f} of the attributes)"
        + (f", with {m.n_regions} regions and {m.suppression_percent:.3g} % suppressed." if m else ".")
    )
    return [replace(o, recommended=reason if o is best else "") for o in outcomes], reason
