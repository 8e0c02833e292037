"""A release as a program gets it: rows and regions as frames, what they cost, a report, and a folder that proves it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Union

import numpy as np

from ..account import Account
from ..evaluation import Measures
from ..job.configuring import settled_by_combination
from ..job.making import Made, with_costs
from ..job.saying import INPUTS, said_of, what_is_said
from ..job.settings import SETTINGS, TABLE
from ..job.signing import hashes_of, page_to_publish, particulars_of, signing_of
from ..language import tr
from ..log import QUIET
from ..package.content_hash import content_hash, hash_of_all
from ..package.dataset import tables_of_release
from ..package.delivering import deliver_release
from ..package.descriptor import Said
from ..package.folder import PAGE, write_folder
from ..package.table import DataTable
from ..publish.register.entry import Entry
from ..publish.register.published_releases import entry_of, new_entry
from ..records.columns import Column, column_from_values, columns_at
from ..report.internal import internal_report
from ..report.map_data import MapData
from ..report.provenance import NO_COMMANDS, Commands, Provenance, now, versions_of_core
from ..report.release import page_of
from ..report.sign import FileToSign
from ..tables.schema import FOR_RELEASE
from .job import Job
from .places import Places

PathLike = Union[str, "os.PathLike[str]"]
LEVEL, REGION, RECORDS = "vbas_level", "vbas_region", "records"


class Anonymized:
    """A release, made by `anonymize`: nothing is written yet.

    Attributes
    ----------
    account : Account
        All that is known of it, of `vbas.core.anonymise`.
    said : tuple of str
        The sentences that were said as it was made.
    measures : Measures
        What it costs. Internal: suppressed records are counted in it.
    smallest : int or None
        Records of the smallest released class, recounted.
    records, regions, crosswalk : frames
        What may be published, of the kind that the records and the areas came in.
    content_hash : str
        The hash of the whole release, the same by every door and in every format.

    Examples
    --------
    >>> from vbas import anonymize
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    >>> release = anonymize(areas, people, area="area", quasi_identifiers="sex")
    >>> release.smallest, release.measures.n_suppressed
    (12, 0)
    >>> sorted(release.records), release.crosswalk["vbas_region"].tolist()
    (['sex', 'vbas_region'], [1, 1, 1, 1])
    """

    ALGORITHM = "vbas:anonymize"  # of the toolbox, that makes the same

    def __init__(self, job: Job, places: Places, made: Made, said: list[str], commands: Commands = NO_COMMANDS) -> None:
        self.account: Account = made.account
        self._job, self._places, self._made, self._said = job, places, made, said
        self._commands = commands
        self._registered: Entry | None = None

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences that were said as it was made, those that a person has to look at among them."""
        return tuple(self._said)

    @property
    def measures(self) -> Measures:
        """What the release costs. Internal: suppressed records are counted in it."""
        return self.account.measures

    @property
    def smallest(self) -> int | None:
        """Records of the smallest released class, recounted; None where nothing is released."""
        return self.account.smallest

    @cached_property
    def records(self) -> Any:
        """The released rows, a frame of the kind that the records came in: for release."""
        release = self.account.release
        rows, nested = release.rows, self.account.nested
        numbers = self.account.levels.numbers(release.level, release.region)
        columns = {LEVEL: _numbers(release.level + 1)} if nested else {}
        columns.update({REGION: _numbers(numbers), **release.fields})
        if release.counted:
            columns[RECORDS] = _numbers(release.counts)
        changed = {*self.account.coarsened, *self.account.levels.coarser}
        kept = [name for name in release.fields if name not in changed]
        frame: Any = self._job.table("RECORDS")  # which a library has as a frame
        return frame.like(columns_at(columns, rows), kept)

    @cached_property
    def crosswalk(self) -> Any:
        """The region of each area, or that at each level, a frame of the kind that the areas came in: for release."""
        return self._frame(self._tables[1])

    @cached_property
    def regions(self) -> Any:
        """The regions, with their shapes where the areas are a GeoDataFrame: for release."""
        frame = self._frame(self._tables[2])
        if not hasattr(self._places.given, "set_geometry"):
            return frame
        import geopandas

        return geopandas.GeoDataFrame(
            frame, geometry=np.concatenate(self._drawn).tolist(), crs=getattr(self._places.given, "crs", None)
        )

    @cached_property
    def content_hash(self) -> str:
        """The hash of the whole release, as its folder has it by every door, on every system and in every format."""
        return hash_of_all({table.name: content_hash(table) for table in self._tables})

    def report(self, for_release: bool = False) -> str:
        """A page in HTML: for a privacy officer, internal; or the one to publish beside the release.

        Parameters
        ----------
        for_release : bool
            Whether the page is to be published. It is made of what is released, and says nothing of what is suppressed.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> from vbas import anonymize
        >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
        >>> people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
        >>> release = anonymize(areas, people, area="area", quasi_identifiers="sex")
        >>> "Internal" in release.report(), "Internal" in release.report(for_release=True)
        (True, False)
        """
        return self._public_page() if for_release else self._internal_page()

    def write(
        self,
        folder: PathLike,
        folder_format: str | None = None,
        licence: str | None = None,
        report: PathLike | None = None,
        release_report: PathLike | None = None,
    ) -> str:
        """Write the release as a folder that describes itself, all of it or nothing, and add it to its register.

        Parameters
        ----------
        folder : path
            A new folder, an empty one, or that of an earlier release, which is replaced.
        folder_format : str, optional
            CSV, Parquet or GeoPackage; as the release was asked for where None.
        licence : str, optional
            Under which it may be used: a name such as CC-BY-4.0, or an address.
        report, release_report : path, optional
            Where the internal page goes, and the one to publish beside the one in the folder.

        Returns
        -------
        str
            The content hash of the release.

        Raises
        ------
        InputError
            For a folder that holds anything else, and a format that nothing here writes.
        PrivacyError
            Where what was written is not what was to be released.
        VbasError
            Where it cannot be put in its place: then nothing was changed.

        Examples
        --------
        >>> from vbas import anonymize
        >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
        >>> people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
        >>> release = anonymize(areas, people, area="area", quasi_identifiers="sex")
        >>> release.write("release", licence="CC-BY-4.0", report="internal.html") == release.content_hash
        True
        """
        pages = {"REPORT": report, "RELEASE_REPORT": release_report}
        self.deliver(folder, {name: path for name, path in pages.items() if path}, folder_format, licence)
        return self.content_hash

    def deliver(
        self,
        folder: PathLike | None,
        pages: Mapping[str, PathLike],
        folder_format: str | None = None,
        licence: str | None = None,
        last: Sequence[Callable[[], None]] = (),
    ) -> None:
        """Write a folder and pages, each where it is asked for, all of it or nothing; see `write`.

        Parameters
        ----------
        folder : path or None
            As for `write`; None for pages alone.
        pages : mapping of str to path
            Where the page goes, by REPORT, which is internal, and RELEASE_REPORT.
        folder_format, licence : str, optional
            As for `write`, and so what is raised.
        last : sequence of callable
            Called when all is in its place; from then on nothing is undone.

        Examples
        --------
        >>> from pathlib import Path
        >>> from vbas import anonymize
        >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
        >>> people = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
        >>> release = anonymize(areas, people, area="area", quasi_identifiers="sex")
        >>> release.deliver(None, {"REPORT": "internal.html"})
        >>> Path("internal.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        True
        """
        for policy in self.account.policies:
            policy.refuse_without_folder(folder is not None)
        written = self._job.text("FOLDER_FORMAT") if folder_format is None else folder_format
        licence = self._job.text("LICENCE") if licence is None else licence
        target, public = None if folder is None else Path(folder), cache(self._public_page)

        def internal() -> str:
            to_publish: dict[str, tuple[str, ...]] = {"" if target is None else f"{target.name}/{PAGE}": INPUTS}
            if "RELEASE_REPORT" in pages:
                to_publish[Path(pages["RELEASE_REPORT"]).name] = ()
            named = {file: left_out for file, left_out in to_publish.items() if file}
            return self._internal_page(
                [page_to_publish(file, public(left_out).encode("utf-8")) for file, left_out in named.items()],
                "" if target is None else f"{target.name}/",
            )

        texts = {"REPORT": internal, "RELEASE_REPORT": lambda: public(())}

        def write(staged: Path) -> None:
            title = tr("Report ({for_release})", for_release=FOR_RELEASE)
            page = {PAGE: (title, public(INPUTS))}
            name = staged.name if target is None else target.name
            said, warn = self._what_is_said(licence), self._job.warn
            write_folder(staged, self.account, self._tables_with_shapes, written, said, name, page, warn)

        register = self._job.text("REGISTER")
        warnings = deliver_release(
            None if target is None else ("RELEASE_FOLDER", target),
            write,
            {name: (Path(path), texts[name]) for name, path in pages.items()},
            (lambda: self._entry(Path(register))) if register else None,
            {"REGISTER": Path(register)} if register else {},
            last,
        )
        self._job.warn(*warnings)

    def _entry(self, register: Path) -> Entry:
        self._registered = new_entry(
            register,
            *entry_of(self.account),
            self._job.text("PREPARED_BY"),
            self.content_hash,
            particulars_of(self._job),
        )
        return self._registered

    @cached_property
    def _tables(self) -> tuple[DataTable, ...]:
        return tables_of_release(self.account, self._places.id_field)

    @cached_property
    def _tables_with_shapes(self) -> tuple[DataTable, ...]:
        crs = self._places.described_crs
        return tables_of_release(self.account, self._places.id_field, self._drawn, crs)

    @cached_property
    def _drawn(self) -> list[np.ndarray]:
        """Of each level the shapes of its regions."""
        return self._places.level_shapes(self.account.levels)

    @cached_property
    def _map_data(self) -> MapData:
        places = self._places
        areas = places.drawn_as if places.are_points else places.to_planar(places.shapes)
        return MapData(areas, [places.to_planar(shapes) for shapes in self._drawn])

    def _frame(self, table: DataTable) -> Any:
        rows = np.repeat(np.arange(len(table.copies), dtype=np.int64), table.copies)
        return self._places.frame.like(columns_at(dict(zip(table.names, table.columns)), rows))

    def _internal_page(self, pages: Sequence[FileToSign] = (), place: str = "") -> str:
        account, remarks = self.account, self._made.remarks
        remarks, _ = with_costs(QUIET, account, remarks, self._made.hierarchies)
        remarks = remarks.with_those_of(account)
        values = self._said_values(set(SETTINGS))
        provenance = Provenance(list(values.items()), now(), versions_of_core(), commands=self._commands)
        entry = "" if self._registered is None else self._registered.in_words
        signing = signing_of(self._job, self._tables, lambda _: place, entry, pages)
        return internal_report(account, self._map_data, provenance, remarks, signing)

    def _public_page(self, left_out: tuple[str, ...] = ()) -> str:
        said = self._said_values(set(said_of(self._job)) - set(left_out))
        return page_of(self.account, self._places.areas, self._map_data, list(said.items()), hashes_of(self._tables))

    def _said_values(self, allowed: set[str]) -> dict[str, object]:
        """The settings that count, of these: what was given, k and kind, and what the combination chose."""
        job = self._job
        values = {name: job.values[name] for name in SETTINGS if job.given(name) or name in ("K", "RELEASE")}
        values.update(settled_by_combination(self._job))
        said = {
            name: ", ".join(map(str, value)) if isinstance(value, list) else value
            for name in SETTINGS
            if name in allowed and SETTINGS[name].kind != TABLE
            for value in [values.get(name)]
            if value not in (None, "")
        }
        return said

    def _what_is_said(self, licence: str) -> Said:
        values = self._said_values(set(said_of(self._job)) - set(INPUTS))
        register = "" if self._registered is None else self._registered.name
        return what_is_said(self._job, self.ALGORITHM, values, licence, register)


def _numbers(values: np.ndarray) -> Column:
    return column_from_values(np.asarray(values, np.int64).tolist())
