"""The release that a job carries on: its entry in the register, as it is named, its regions and its k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..account import Account
from ..anonymise import anonymise
from ..areas import Areas
from ..ask import Ask, refuse_with_coarser
from ..dataclass import dataclass
from ..disclosure.published import Published
from ..errors import InputError, first_values
from ..language import tr
from ..levels import Levels
from ..nesting.losses import MEAN_DISTANCE, NON_UNIFORM_ENTROPY
from ..privacy.derivable import CLASS_HAS_K, NO_SMALL_COUNT
from ..privacy.rules import NO_RULE
from ..privacy.series import EACH_BY_ITSELF
from ..profile import Profile
from ..progress import Progress
from ..publish.register.listing import releases_in
from ..publish.register.published_releases import earlier_releases
from ..records.matching import Records
from ..records.table import RecordTable
from ..releases.earlier import Earlier
from ..releases.updating import FURTHER, HELD_BACK, Update, last_of_the_same, levels_of_release
from ..source import RecordSource, Source
from .generalising import LEVELS_COARSER, asks_for_coarser, generalising_of
from .job import Job
from .levels import DISCLOSURE, LEFT_AREAS, LEFT_PEOPLE
from .published import answers_in, is_of_some, published_counts_of
from .reading import period_of
from .rules import rule_of


@dataclass(frozen=True)
class Updating:
    """What is updated: the number or name of a release of REGISTER, or empty for the last one of the same regions and
    quasi-identifiers; what the records are beside it (KINDS); and what becomes of rows of rare values (FOLLOWED)."""

    entry: str = ""
    kind: str = FURTHER
    followed: str = HELD_BACK


def carried_release(
    job: Job,
    areas: Areas,
    records: Source | Records,
    updating: Updating,
    levels: Levels | None = None,
    population: np.ndarray | None = None,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> Account:
    """The release that carries on one of REGISTER.

    areas : with the population to balance; levels : of the earlier release, those of the register where None;
    population : people of each area where these are known from elsewhere than the records; ask : what else is asked
    K is that of the earlier release where it is not given, or is less; of several periods each goes by itself. Raises
    InputError and PrivacyError.
    """
    if not job.given("REGISTER"):
        raise InputError.saying("REGISTER is empty, and an update carries on a release of it: name that register.")
    register = Path(job.text("REGISTER"))
    if not register.is_file():
        raise InputError.saying(
            "REGISTER: there is no file {path}: name the register of the earlier release.", path=job.text("REGISTER")
        )
    source: Source = RecordSource(records) if isinstance(records, Records) else records
    table = source.values()
    asked = generalising_of(job, tuple(table.quasi_identifiers))
    earlier = earlier_releases(register, aliases=answers_in(job), tables=asked.tables, rules=asked.rules)
    earlier = replace(earlier, of_some=is_of_some(job))
    entry = _entry(register, updating.entry.strip(), areas, source, earlier, levels)
    release = earlier.releases[entry]
    levels = levels_of_release(release, areas) if levels is None else levels
    job.info(tr("The release that is carried on is “{release}” of the register.", release=release.title))
    places = job.given("REGIONS")
    if ask is None:
        ask = _asked(job, table, release)
    ask = replace(
        ask,
        k=_k(job, release),
        earlier=earlier,
        nested=release.nested,
        loss=NON_UNIFORM_ENTROPY if job.text("LOSS") == MEAN_DISTANCE and not places else job.text("LOSS"),
        update=Update(entry, updating.kind, updating.followed),
    )
    progress = job.progress(40, 65) if progress is None else progress
    return anonymise(areas, source, levels, ask, None, population, progress, job)


def _asked(job: Job, table: RecordTable, release: Published) -> Ask:
    """What is asked beside k, of a job that says it by the settings of a first release, too. Raises InputError for what
    an update does not know."""
    if job.has(LEVELS_COARSER) and asks_for_coarser(job):
        refuse_with_coarser(["REGISTER"])
    rule = rule_of(job)
    people = job.number("LEAST_POPULATION") if job.has("LEAST_POPULATION") else 0.0
    disclosure = job.text(DISCLOSURE) if job.has(DISCLOSURE) else CLASS_HAS_K
    return Ask(
        l_diversity=job.whole("L_DIVERSITY"),
        max_share=job.number("MAX_SHARE"),
        least_population=max(people, rule.least_population if rule else 0.0),
        period=period_of(job),
        periods=EACH_BY_ITSELF,
        published_margins=job.text("PUBLISHED_MARGINS"),
        published_counts=published_counts_of(job, table) if job.given("PUBLISHED_COUNTS") else None,
        rule=rule.name if rule else NO_RULE,
        disclosure=NO_SMALL_COUNT if rule and rule.nor_derivable and release.nested else disclosure,
        least_left_areas=job.whole(LEFT_AREAS) if job.has(LEFT_AREAS) else 0,
        least_left_people=job.number(LEFT_PEOPLE) if job.has(LEFT_PEOPLE) else 0.0,
    )


def _k(job: Job, release: Published) -> int:
    """K, or that of the release that is carried on, where that is more or none is given."""
    k = job.whole("K") if job.given("K") else release.k
    if k < release.k:
        job.warn(
            tr(
                "K is {k}, and {release} was made with {theirs}: an update has {theirs}, too.",
                k=k,
                release=release.title,
                theirs=release.k,
            )
        )
    elif k > release.k:
        job.warn(
            tr(
                "K is {k}, and {release} was made with {theirs}: classes of fewer than {k} people are shown no more.",
                k=k,
                release=release.title,
                theirs=release.k,
            )
        )
    return max(k, release.k)


def _entry(register: Path, entry: str, areas: Areas, source: Source, earlier: Earlier, levels: Levels | None) -> int:
    """The position of the release that is meant. Raises InputError."""
    if entry:
        return _named(register, entry)
    coarsened = {name: column.level for name, column in source.values().coarsened.items()}
    position = last_of_the_same(earlier.releases, source.profile, coarsened, areas, levels)
    if position is None:
        _refuse_other_areas(earlier.releases, source.profile, areas)
        raise InputError.saying(
            "REGISTER has no release with the regions of CROSSWALK and these quasi-identifiers ({names}): give the "
            "crosswalk and the fields that it was made with, or name it in ENTRY.",
            names=", ".join(source.profile.quasi_identifiers),
        )
    return position


def _refuse_other_areas(earlier: Sequence[Published], profile: Profile, areas: Areas) -> None:
    """Refuse areas that no release of these quasi-identifiers has, such as those of another year. Raises InputError."""
    of_same_fields = [
        release for release in earlier if set(release.quasi_identifiers) == set(profile.quasi_identifiers)
    ]
    own = set(areas.identifiers.tolist())
    if of_same_fields and all(set(release.areas.tolist()) != own for release in of_same_fields):
        levels_of_release(of_same_fields[-1], areas)


def _named(register: Path, entry: str) -> int:
    """The position of a release that is named by its number or, where none has it, by its title."""
    listed = releases_in(register)
    positions = [at for at, release in enumerate(listed) if entry == str(release.release)]
    positions = positions or [at for at, release in enumerate(listed) if entry == release.title]
    if len(positions) == 1:
        return positions[0]
    raise InputError.saying(
        "ENTRY is “{entry}”, and the register has {number} of that name ({known}): give the number of one.",
        entry=entry,
        number=len(positions),
        known=first_values([f"{release.release}: {release.title}" for release in listed], 12),
    )
