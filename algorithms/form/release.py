"""RELEASED_RECORDS and RELEASE_FOLDER: declared and filled, for every algorithm that releases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from osgeo import osr
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFolderDestination,
)

from ...core.account import Account
from ...core.job.saying import INPUTS, said_of, what_is_said
from ...core.language import tr
from ...core.package.dataset import tables_of_release
from ...core.package.descriptor import Said
from ...core.package.folder import PAGE, recount, write_folder
from ...core.package.table import Crs
from ...core.package.writing import CSV, FORMATS, check_format
from ...core.publish.counting import SecondCount
from ...core.records.columns import Column
from ...core.release import Release
from ...core.tables.regions import RELEASED_RECORDS
from ...core.tables.schema import FOR_RELEASE, OutputTable
from ...core.ties import CHOICES, DRAWN, FIXED
from ..layers.reading.checked_source import CheckedSource
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.shapes.areas import AreaLayer, DrawnRegions
from ..layers.tables import Table, filled
from .effective import GIVEN, Conditions
from .form import Form
from .parameters import choice, described, sink, text
from .records import shown_fields


def released_records() -> QgsProcessingParameterDefinition:
    """RELEASED_RECORDS."""
    return sink(RELEASED_RECORDS)


def ties() -> QgsProcessingParameterDefinition:
    """TIES."""
    return choice(
        "TIES",
        tr("Ties"),
        CHOICES,
        FIXED,
        tr(
            "Nested levels, published totals and a repair often have several ways that cost the same. "
            "“{fixed}”: always the first, so that the same run gives the same release. “{secret}”: by chance "
            "from the computer's own source, kept nowhere, so that nobody who runs the method again can count "
            "on its order; every run then gives another release, so publish one only. It costs nothing, and "
            "hides little: docs/privacy.md says how much somebody who knows the method can still guess.",
            fixed=FIXED,
            secret=DRAWN,
        ),
        advanced=True,
    )


def release_table(form: Form, account: Account, release: Release) -> tuple[Table, SecondCount]:
    """RELEASED_RECORDS of records in arrays, and what it is recounted by: level, region and quasi-identifiers make a
    class."""
    numbers = account.levels.numbers(release.level, release.region)
    front = {LEVEL: release.level + 1} if account.nested else {}
    places = {**front, NUMBER: numbers}
    coarsened = {*account.coarsened, *account.levels.coarser}
    counts, n_quasi = release.counts if release.counted else None, len(account.plan.profile.quasi_identifiers)
    source, k = form.layers.source("RECORDS"), account.ask.k
    if account.requirement.rows_identical > 1:  # then all that a row shows makes a class
        n_quasi = len(release.fields)
    table, count = rows_table(source, places, release.fields, counts, k, n_quasi, coarsened)
    return (table if release.counted else replace(table, copies=release.counts)), count


def rows_table(
    source: CheckedSource,
    places: Mapping[str, np.ndarray],
    released: Mapping[str, Column],
    counts: np.ndarray | None,
    k: int,
    n_quasi_identifiers: int,
    coarsened: Collection[str] = (),
    table: OutputTable = RELEASED_RECORDS,
) -> tuple[Table, SecondCount]:
    """Rows with where they are shown in front, then fields of the source, the quasi-identifiers first.

    coarsened : names of those that show coarser values, which are text
    """
    own = list(zip(shown_fields(source, released, coarsened), released.values()))
    columns = {**places, "records": None if counts is None else np.asarray(counts)}
    rows = filled(table, columns, own=own, nested=LEVEL in places)
    count_field = None if counts is None else len(rows.fields) - 1
    return rows, SecondCount(k, len(places) + n_quasi_identifiers, count_field)


RELEASE_FOLDER, FOLDER_FORMAT, LICENCE = "RELEASE_FOLDER", "FOLDER_FORMAT", "LICENCE"
CONDITIONS: Conditions = {name: [{RELEASE_FOLDER: GIVEN}] for name in (FOLDER_FORMAT, LICENCE)}


def release_folder_settings() -> Iterable[QgsProcessingParameterDefinition]:
    """FOLDER_FORMAT and LICENCE."""
    yield choice(
        FOLDER_FORMAT,
        tr("Release folder: format of the tables"),
        FORMATS,
        CSV,
        tr(
            "“{comma_separated}”: a file for each table, the shapes of the regions in a GeoPackage beside them. "
            "“{parquet}”: the same, much smaller, with GeoParquet for the regions; pyarrow or DuckDB writes it. "
            "“{geopackage}”: one file with all tables. The content hashes are the same in all.",
            comma_separated=FORMATS[0],
            parquet=FORMATS[1],
            geopackage=FORMATS[2],
        ),
        advanced=True,
    )
    yield text(
        LICENCE,
        tr("Release folder: licence"),
        None,
        tr("Under which the release may be used, for its description: a name such as CC-BY-4.0, or an address."),
        advanced=True,
        optional=True,
    )


def release_folder() -> QgsProcessingParameterDefinition:
    """RELEASE_FOLDER."""
    folder = QgsProcessingParameterFolderDestination(
        RELEASE_FOLDER, tr("Release folder ({for_release})", for_release=FOR_RELEASE), None, True, False
    )
    return described(
        folder,
        tr(
            "A new folder that holds the release and describes it: records, crosswalk, regions, the page to publish, "
            "and a description of every field in the words of data portals and archives (Data Package, DDI, DCAT), "
            "with hashes of the content. verify/verify.py, a program of its own, recounts it. A folder of an earlier "
            "release is replaced. For release."
        ),
    )


def add_release_folder(
    form: Form,
    account: Account,
    page: Callable[[], str],
    layer: AreaLayer | None = None,
    regions: DrawnRegions | None = None,
    release: Callable[[], Release | None] = lambda: None,
    entry: str = "",
) -> None:
    """Write RELEASE_FOLDER of a release.

    page : the report for release; layer : the areas as they were given, None where there are none; regions : as
    they are drawn, None where they are not; release : the rows, where those of the account lack fields;
    entry : its name in the register
    """
    written, area_field = form.text(FOLDER_FORMAT), "area" if layer is None else layer.id_field.name()
    check_format(written)
    name = form.outputs.target(RELEASE_FOLDER)

    def write(folder: Path) -> None:
        crs = None if layer is None else _crs(layer.crs)
        shapes = () if regions is None else regions.in_layer
        tables = tables_of_release(account, area_field, shapes, crs, release())
        title = tr("Report ({for_release})", for_release=FOR_RELEASE)
        called = folder.name if name is None else name.name
        pages, said = {PAGE: (title, page())}, _said(form, entry)
        package = write_folder(folder, account, tables, written, said, called, pages, form.warn)
        form.info(tr("Content hash of the release: {content_hash}", content_hash=package["vbas"]["content_sha256"]))

    form.outputs.add_folder(RELEASE_FOLDER, write, recount)


def _said(form: Form, entry: str) -> Said:
    """What may be said of this run. entry : its name in the register"""
    allowed = said_of(form.job)
    values = {
        name: value
        for name, value in form.values().items()
        if name in allowed and name not in INPUTS and value not in ("", None)
    }
    return what_is_said(form.job, form.algorithm.id(), values, form.text(LICENCE), entry)


def _crs(crs: QgsCoordinateReferenceSystem) -> Crs:
    wkt = crs.toWkt(QgsCoordinateReferenceSystem.WktVariant.WKT_PREFERRED_GDAL)
    system = osr.SpatialReference()
    known = wkt and system.ImportFromWkt(wkt) == 0
    return Crs(crs.authid(), wkt, system.ExportToPROJJSON() if known else "")
