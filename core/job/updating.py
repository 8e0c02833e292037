"""The release that a job carries on: its entry in the register, as it is named, its regions and its k."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..anonymise import Account, Ask, anonymise
from ..areas import Areas
from ..disclosure.published import Published
from ..errors import InputError, first_values
from ..language import tr
from ..levels import Levels
from ..nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ..privacy.series import EACH_BY_ITSELF
from ..publish.register.listing import releases_in
from ..publish.register.published_releases import earlier_releases
from ..records.matching import Records
from ..releases.earlier import Earlier
from ..releases.updating import FURTHER, HELD_BACK, Update, last_of_the_same, levels_of_release
from .generalising import generalising_of
from .job import Job
from .published import answers_in, published_counts_of
from .reading import period_of


@dataclass(frozen=True)
class Updating:
    """What is updated: the number or name of a release of REGISTER, or empty for the last one of the same regions and
    quasi-identifiers; what the records are beside it (KINDS); and what becomes of rows of rare values (FOLLOWED)."""

    entry: str = ""
    kind: str = FURTHER
    followed: str = HELD_BACK


def carried_release(
    given: Job,
    areas: Areas,
    records: Records,
    updating: Updating,
    levels: Levels | None = None,
    population: np.ndarray | None = None,
) -> Account:
    """The release that carries on one of REGISTER.

    areas : with the population to balance; levels : of the earlier release, those of the register where None;
    population : people of each area where these are known from elsewhere than the records
    K is that of the earlier release where it is not given, or is less; of several periods each goes by itself. Raises
    InputError and PrivacyError.
    """
    register = Path(given.text("REGISTER"))
    if not given.given("REGISTER") or not register.is_file():
        raise InputError(
            tr(
                "REGISTER: there is no file {path}: name the register of the earlier release.",
                path=given.text("REGISTER"),
            )
        )
    asked = generalising_of(given, tuple(records.table.quasi_identifiers))
    earlier = earlier_releases(register, aliases=answers_in(given), tables=asked.tables, rules=asked.rules)
    entry = _entry(register, updating.entry.strip(), areas, records, earlier, levels)
    release = earlier.releases[entry]
    levels = levels_of_release(release, areas) if levels is None else levels
    given.info(tr("The release that is carried on is “{release}” of the register.", release=release.title))
    places = given.given("REGIONS")
    ask = Ask(
        k=_k(given, release),
        l_diversity=given.whole("L_DIVERSITY"),
        max_share=given.number("MAX_SHARE"),
        period=period_of(given),
        periods=EACH_BY_ITSELF,
        published_margins=given.text("PUBLISHED_MARGINS"),
        published_counts=published_counts_of(given, records.table),
        earlier=earlier,
        nested=release.nested,
        loss=NON_UNIFORM_ENTROPY if given.text("LOSS") == MEAN_DISTANCE and not places else given.text("LOSS"),
        update=Update(entry, updating.kind, updating.followed),
    )
    return anonymise(areas, records, levels, ask, None, population, given.progress(40, 65), given)


def _k(given: Job, release: Published) -> int:
    """K, or that of the release that is carried on, where that is more or none is given."""
    k = given.whole("K") if given.given("K") else release.k
    if k < release.k:
        given.warn(
            tr(
                "K is {k}, and {release} was made with {theirs}: an update has {theirs}, too.",
                k=k,
                release=release.title,
                theirs=release.k,
            )
        )
    elif k > release.k:
        given.warn(
            tr(
                "K is {k}, and {release} was made with {theirs}: classes of {theirs} to {most} people are shown no "
                "more.",
                k=k,
                release=release.title,
                theirs=release.k,
                most=k - 1,
            )
        )
    return max(k, release.k)


def _entry(register: Path, entry: str, areas: Areas, records: Records, earlier: Earlier, levels: Levels | None) -> int:
    """The position of the release that is meant. Raises InputError."""
    if entry:
        return _named(register, entry)
    found = last_of_the_same(earlier.releases, records, areas, levels)
    if found is None:
        raise InputError(
            tr(
                "REGISTER has no release with the regions of CROSSWALK and these quasi-identifiers ({names}): give the "
                "crosswalk and the fields that it was made with, or name it in ENTRY.",
                names=", ".join(records.profile.quasi_identifiers),
            )
        )
    return found


def _named(register: Path, entry: str) -> int:
    """The position of a release that is named by its number, or by its title."""
    listed = releases_in(register)
    found = [at for at, one in enumerate(listed) if entry in (str(one.release), one.title)]
    if len(found) == 1:
        return found[0]
    raise InputError(
        tr(
            "ENTRY is “{entry}”, and the register has {number} of that name ({known}): give the number of one.",
            entry=entry,
            number=len(found),
            known=first_values([f"{one.release}: {one.title}" for one in listed], 12),
        )
    )
