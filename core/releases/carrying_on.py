"""An earlier release carried on: the records of now, and the plan that shows them as the earlier one did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..areas import Areas
from ..dataclass import dataclass
from ..disclosure.published import Published
from ..disclosure.row_values import names_beside
from ..disclosure.values import as_text
from ..errors import InputError
from ..levels import Levels
from ..nesting.planning import nest
from ..plan import Plan, holding, suppress
from ..privacy.requirement import Requirement
from ..profile import Profile
from ..progress import Progress, part, silent
from ..records.matching import Records, requirement_of
from ..source import RecordSource, Source
from .comparable import related
from .earlier import Earlier
from .keeping import Places
from .naming import with_values
from .update_refused import check_empty_values, check_updated_releases
from .updates import Comparing
from .updating import Changed, Update, changed, check_update, places_of, under_levels, updated
from .valued import Wanted
from .writing import written_otherwise


@dataclass(frozen=True, eq=False)
class CarriedOn:
    """An update before it is held against what is published.

    source : the records, split by where they are shown; everybody : the areas and classes of all people of now, those
    too who are shown nowhere; requirement : what is asked of their classes, its k the largest of these releases; plan :
    what is shown; own : a plan of the same records that knows no earlier release; places : what the earlier releases
    show; update : what is asked; earlier : the releases of the same geography, as the register keeps them; positions :
    theirs among all earlier ones; last : that which is updated, in the words of now; least_change : by how many records
    a class of a region changes at least between any two of them, this one too: their least k, as what an earlier one
    shows by a smaller k goes as a whole where fewer are left; n_rare : as in `Changed`
    """

    source: Source
    everybody: Profile
    requirement: Requirement
    plan: Plan
    own: Plan
    places: Sequence[Places]
    update: Update
    earlier: Sequence[Published]
    positions: Sequence[int]
    last: Published
    least_change: int
    n_rare: int = 0

    def changed_by(self, plan: Plan, published: Published | None) -> Changed:
        """What a plan, this one or what became of it, changes beside the release that is carried on; published : what
        that shows."""
        n_records = self.source.profile.n_records + self.source.n_unmatched
        numbers = changed(plan, self.own, self.places, n_records, self.n_rare)
        other = 0 if published is None else Comparing().n_with_other_rows(self.last, published)
        # Those whose class nobody has now are in no place.
        gone = len(self.last.records) - numbers.same - numbers.other
        return replace(numbers, same=numbers.same - other, other=numbers.other + other, gone=gone)


def carried_on(
    areas: Areas,
    source: Source | Records,
    levels: Levels,
    earlier: Earlier,
    update: Update,
    wanted: Wanted,
    loss: str | None,
    progress: Progress = silent,
) -> CarriedOn:
    """The records of now under the levels of an earlier release, of which as much as may be stays as it was.

    earlier : the register's releases, one of which `update` names; wanted : what is asked of each class; loss : of a
    nested release, None for one level.
    Raises InputError for persons with several rows, fields that cannot be kept the same, and another geography.
    """
    at_hand: Source = RecordSource(source) if isinstance(source, Records) else source
    if not earlier.releases:
        raise InputError.saying("REGISTER has no release in it that could be updated: name the register that has.")
    records = at_hand.to_update()
    table, profile = records.table, records.profile
    now = under_levels(profile, levels, areas, {name: column.level for name, column in table.coarsened.items()})
    same = related(earlier.releases, now, table, earlier.aliases, earlier.tables, earlier.rules)
    positions = check_update(same.earlier, now, update)
    others = [_as_written_in(profile, same.earlier[at]) for at in positions]
    ks = [release.k for release in others]
    wanted = replace(wanted, k=max(wanted.k, *ks))
    check_updated_releases(others, names_beside(table))
    check_empty_values(others, profile, table)
    requirement = requirement_of(records, wanted.k, wanted.l_diversity, wanted.max_share)
    if loss is None:
        own = suppress(profile, levels.crosswalks[0], wanted.k, requirement)
    else:
        own = nest(areas, profile, levels, wanted.k, loss, requirement, part(progress, 0.0, 0.5))
    places = places_of(profile, levels, others, areas)
    rng = np.random.default_rng()  # from the system's own source, kept nowhere
    nested, rest = loss is not None, part(progress, 0.5, 1.0)
    split, plan, n_rare = updated(records, levels, wanted, others, places, areas, nested, rng, rest)
    split_source = at_hand.updated(split)
    asked = split_source.requirement(wanted.k, wanted.l_diversity, wanted.max_share)
    asked = replace(asked, rows_identical=wanted.k if wanted.identical_rows else 1)
    plan = holding(plan, asked)
    own_earlier = [earlier.releases[at] for at in positions]
    return CarriedOn(
        split_source, profile, asked, plan, own, places, update, own_earlier, positions, others[-1], min(ks), n_rare
    )


def _as_written_in(profile: Profile, release: Published) -> Published:
    """A release with the values of its quasi-identifiers written as those of now, where they are the same but for that:
    what the classes of now showed would not be found else."""
    for name, categories in zip(profile.quasi_identifiers, profile.categories):
        own = release.categories[release.quasi_identifiers.index(name)].tolist()
        release = with_values(release, name, written_otherwise(own, as_text(categories.tolist())))
    return release
