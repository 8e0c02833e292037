"""The release that a job carries on: its entry in the register, as it is named, and its k."""

from __future__ import annotations

from pathlib import Path

from ..areas import Areas
from ..errors import InputError, first_values
from ..language import tr
from ..levels import Levels
from ..publish.register.listing import releases_in
from ..records.matching import Records
from ..releases.earlier import Earlier
from ..releases.updating import Update, of_the_same_geography, under_levels
from .given import Given


def update_of(given: Given, areas: Areas, levels: Levels, records: Records, earlier: Earlier) -> Update:
    """ENTRY and UPDATE; earlier : the releases of REGISTER.

    Without ENTRY the last release of the same regions and quasi-identifiers is meant. Raises InputError where there is
    none, and for a name or number that the register has not, or has twice.
    """
    kind, entry = given.text("UPDATE"), given.text("ENTRY").strip()
    if entry:
        return Update(_named(Path(given.text("REGISTER")), entry), kind)
    coarsened = {name: column.level for name, column in records.table.coarsened.items()}
    same = of_the_same_geography(earlier.releases, under_levels(records.profile, levels, areas, coarsened))
    if not same:
        raise InputError(
            tr(
                "REGISTER has no release with the regions of CROSSWALK and these quasi-identifiers ({names}): give the "
                "crosswalk and the fields that it was made with, or name it in ENTRY.",
                names=", ".join(records.profile.quasi_identifiers),
            )
        )
    return Update(same[-1], kind)


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
