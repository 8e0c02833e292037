"""A register of releases: looked at, and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...core import counted
from ...core.arrays import to_list
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.plain_text import in_one_line
from ...core.publish.register.chain import Chain, broken_chain, chain_of
from ...core.publish.register.entry import NAMED, Entry
from ...core.publish.register.listing import (
    Listed,
    approving,
    changed_listing,
    detail_of,
    naming,
    releases_in,
    taking_out,
)
from ...core.publish.register.masked_points import ReleasedPoints, maskings_in, taking_points_out
from ...core.publish.register.published_releases import read_register
from ...core.tables.privacy import CONTENTS, DETAIL
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..layers.tables import Table, filled, of_rows
from .releases import register_parameter

CHANGES = ("APPROVE", "REMOVE", "REMOVE_POINTS", "RENAME")


class EditRegister(VbasAlgorithm):
    """`vbas:editregister`."""

    ID = "editregister"
    TAGS = as_data("earlier,trial,remove,list")
    SUMMARY = tr(
        "Lists the releases in a register, draws in which detail areas were released, and takes out a release that was "
        "never published."
    )
    HELP = tr(
        "<p>A register keeps what earlier releases of the same people published, so that a new release is held against "
        "them. Each run with REGISTER adds to it, trials too. A trial that was never published is in the way: it "
        "constrains later releases for nothing. Look for its number and the time it was added (UTC) in the list, and "
        "take it out: its counts go, and the chain of the register keeps that it was there.</p><p>Never take out what "
        "anybody outside has seen, even if it was withdrawn: what is published stays known, and the next release would "
        "be held against too little. The same release run twice is in the register twice; it does no harm.</p><p>The "
        "chain has an entry for each release that was added, approved of or taken out, with the hash of the one "
        "before: whoever changes the file by hand breaks it, and this says so.</p><p>With the areas, DETAIL is a "
        "map: how many releases show anything of each area, and how many areas the smallest region has in which one "
        "does. Masked points that were never shown are taken out by their number in the log.</p>"
    )

    def declare(self) -> None:
        register = register_parameter(tr("A register of releases, as “Anonymise records” keeps it."))
        register.setFlags(register.flags() & ~shared.OPTIONAL)
        self.addParameters(
            register,
            shared.whole(
                "REMOVE",
                tr("Release to take out"),
                None,
                tr("The number in the list of a release that was never published. Leave it empty to look only."),
                1,
                optional=True,
            ),
            shared.yes(
                "NEVER_PUBLISHED",
                tr("Nobody outside has seen that release"),
                False,
                tr("To be ticked for a release to be taken out."),
            ),
            shared.whole(
                "APPROVE",
                tr("Release that somebody approves of"),
                None,
                tr("The number in the list of a release that WHO approves of, who is not who proposed it."),
                1,
                optional=True,
            ),
            shared.text(
                "WHO",
                tr("Who approves, or takes out"),
                None,
                tr("The name that the chain of the register keeps for it."),
                optional=True,
            ),
            shared.whole(
                "REMOVE_POINTS",
                tr("Masked points to take out"),
                None,
                tr("The number in the log of masked points that were never published."),
                1,
                optional=True,
            ),
            shared.whole(
                "RENAME",
                tr("Release to give a name"),
                None,
                tr("The number in the list of a release that is to be called NAME, such as “health 2026”."),
                1,
                optional=True,
            ),
            shared.text(
                "NAME", tr("Its name"), None, tr("What the list calls the release from now on."), optional=True
            ),
            shared.text(
                "SERIES",
                tr("List one series only"),
                None,
                tr("The name of a series, as SERIES of “Anonymise records” gave it: only its releases are listed."),
                optional=True,
            ),
            *(
                shared.optional(parameter)
                for parameter in area_parameters(with_population=False)
                if parameter.name() != "AREA_POINT"
            ),
            shared.sink(CONTENTS, optional=True),
            shared.sink(DETAIL, optional=True, by_default=False),
        )
        self.addNumbers(
            N_RELEASES=tr("Releases in the register"),
            N_REMOVED=tr("Releases taken out"),
            N_BROKEN=tr("Places where the chain does not hold"),
            N_POINTS=tr("Releases of masked points in the register"),
        )

    def conditions(self) -> Conditions:
        return {
            "NEVER_PUBLISHED": [{"REMOVE": GIVEN, "REMOVE_POINTS": GIVEN}],
            "WHO": [{"REMOVE": GIVEN, "APPROVE": GIVEN, "REMOVE_POINTS": GIVEN}],
            "NAME": [{"RENAME": GIVEN}],
            "REGION_ID": [{"REGIONS": GIVEN}],
        }

    def work(self, form: Form) -> dict[str, object]:
        path = Path(form.text("REGISTER"))
        releases, chain, points = releases_in(path), chain_of(path), maskings_in(path)
        asked = [name for name in CHANGES if form.given(name)]
        if len(asked) > 1:
            raise InputError.saying(
                "{one} and {other} are both given: do one after the other.", one=asked[0], other=asked[1]
            )
        number = form.whole(asked[0]) if asked else 0
        entry = _changed(form, path, asked[0], number) if asked else None
        if entry is not None:
            form.outputs.last(entry.put, entry.discard)
        _say_chain(form, path, chain, entry)
        if form.given("APPROVE"):
            releases = [
                replace(row, approved_by=in_one_line(form.text("WHO"))) if row.release == number else row
                for row in releases
            ]
        if form.given("RENAME"):
            releases = changed_listing(releases, number, in_one_line(form.text("NAME")))
        if form.given("REMOVE"):
            releases = changed_listing(releases, number)
        if form.given("REMOVE_POINTS"):
            points = [of_masking for of_masking in points if of_masking.number != number]
        listed = _of_series(form, releases)
        form.outputs.add("CONTENTS", filled(CONTENTS, of_rows(CONTENTS, listed)))
        if form.outputs.wanted("DETAIL"):
            form.outputs.add("DETAIL", _detail(form, path, listed))
        form.info(*map(_sentence, listed), *map(_sentence_of_points, points))
        return {
            "N_RELEASES": len(listed),
            "N_REMOVED": int(form.given("REMOVE") or form.given("REMOVE_POINTS")),
            "N_BROKEN": len(chain.problems),
            "N_POINTS": len(points),
        }


def _changed(form: Form, path: Path, what: str, number: int) -> Entry:
    """The change of the register that is asked for. Raises InputError."""
    if what == "APPROVE":
        return approving(path, number, form.text("WHO"))
    if what == "RENAME":
        return naming(path, number, form.text("NAME"))
    if not form.yes("NEVER_PUBLISHED"):
        if what == "REMOVE_POINTS":
            raise InputError.saying(
                "REMOVE_POINTS names masked points {number}: tick NEVER_PUBLISHED if nobody outside has seen them. "
                "Otherwise they must stay, or nobody is warned that they are masked again.",
                number=number,
            )
        raise InputError.saying(
            "REMOVE names release {remove}: tick NEVER_PUBLISHED if nobody outside has seen it. Otherwise it must "
            "stay, or the next release is held against too little.",
            remove=number,
        )
    return (taking_points_out if what == "REMOVE_POINTS" else taking_out)(path, number, form.text("WHO"))


def _of_series(form: Form, releases: Sequence[Listed]) -> list[Listed]:
    """The releases of SERIES, all where none is given. Raises InputError for a series that there is not."""
    series = " ".join(form.text("SERIES").split()).casefold()
    listed = [row for row in releases if not series or row.series.casefold() == series]
    if series and not listed:
        known = dict.fromkeys(row.series for row in releases if row.series)
        if not known:
            raise InputError.saying(
                "SERIES is “{series}”, but the register has none: leave it empty.", series=form.text("SERIES")
            )
        raise InputError.saying(
            "SERIES is “{series}”, but the register has the series {known}: give one of them, or leave it empty.",
            series=form.text("SERIES"),
            known=", ".join(known),
        )
    return listed


def _detail(form: Form, path: Path, listed: Sequence[Listed]) -> Table:
    """DETAIL: polygons where REGIONS is given, else a table."""
    numbers, carries_on = [row.release for row in releases_in(path)], {row.release: row.updates for row in listed}
    releases = [(release, number) for release, number in zip(read_register(path), numbers) if number in carries_on]
    layer = areas_of(form.job) if form.given("REGIONS") else None
    identifiers = None if layer is None else layer.areas.identifiers
    detail = detail_of([release for release, _ in releases], [number for _, number in releases], identifiers)
    was_released = to_list(detail.releases > 0)

    def where_shown(column: np.ndarray) -> list[object]:
        return [number if there else None for number, there in zip(to_list(column), was_released)]

    columns = {
        "area": to_list(detail.identifiers),
        "releases": to_list(detail.releases),
        "finest_level": where_shown(detail.level),
        "areas": where_shown(detail.areas),
        "last_release": where_shown(detail.last),
        "last_updates": [carries_on.get(number) or None for number in to_list(detail.last)],
    }
    if layer is None:
        return filled(DETAIL, columns)
    if layer.are_points:
        raise InputError.saying("REGIONS are points: give the areas as polygons, or leave REGIONS empty.")
    if releases and not any(was_released):
        form.warn(tr("REGIONS has none of the areas of the register: give the areas that the releases were made from."))
    return filled(DETAIL, columns, shapes=layer.shapes, crs=layer.crs)


def _sentence(row: Listed) -> str:
    if row.title != NAMED.format(n=row.release):  # somebody gave it a name
        return tr(
            "Release {release}, “{title}”, added {time}: {records}, k {k}.",
            release=row.release,
            title=row.title,
            time=row.time,
            records=counted.records(row.records),
            k=row.k,
        )
    return tr(
        "Release {release}, added {time}: {records}, k {k}.",
        release=row.release,
        time=row.time,
        records=counted.records(row.records),
        k=row.k,
    )


def _sentence_of_points(points: ReleasedPoints) -> str:
    return plural(
        "Masked points {number:d}, added {time}: {n} point.",
        "Masked points {number:d}, added {time}: {n} points.",
        len(points.points),
        number=points.number,
        time=points.time,
    )


def _say_chain(form: Form, path: Path, chain: Chain, entry: Entry | None) -> None:
    """What is known of the register's chain: whether it holds, and its last hash, that of a change that is made."""
    if chain.problems:
        form.warn(broken_chain(path))
    elif entry is not None and entry.chained:
        form.info(
            plural(
                "The chain of the register holds: with this change {n} entry, the last with the hash {checksum}.",
                "The chain of the register holds: with this change {n} entries, the last with the hash {checksum}.",
                entry.entries,
                checksum=entry.chained,
            )
        )
    elif chain.links:
        form.info(
            plural(
                "The chain of the register holds: {n} entry, the last with the hash {checksum}.",
                "The chain of the register holds: {n} entries, the last with the hash {checksum}.",
                len(chain.links),
                checksum=chain.links[-1].hash,
            )
        )
    else:
        form.info(tr("The register has no chain yet: it begins with the next entry."))
