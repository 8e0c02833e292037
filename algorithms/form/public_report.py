"""The public report of a release: what it may say, and what its maps and those of the internal report draw."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from qgis.core import QgsProcessingParameterDefinition

from ...core.account import Account
from ...core.job.saying import said_of
from ...core.job.signing import hashes_of
from ...core.language import tr
from ...core.package.table import DataTable
from ...core.report.map_data import MapData
from ...core.report.release import page_of
from ...core.tables.schema import FOR_RELEASE
from ..layers.shapes.areas import AreaLayer, DrawnRegions
from .form import Form
from .parameters import file_output

RELEASE_REPORT = "RELEASE_REPORT"


def public_report_parameter() -> QgsProcessingParameterDefinition:
    """RELEASE_REPORT."""
    return file_output(
        RELEASE_REPORT,
        tr("Report ({for_release})", for_release=FOR_RELEASE),
        tr("HTML files (*.html)"),
        tr(
            "A page to publish beside the release: k, the regions, what is released and how finely it is placed. It is "
            "made from the released records, their regions and the areas alone. For release."
        ),
    )


def map_data_of(regions: DrawnRegions) -> MapData:
    """What the maps of a report draw."""
    layer = regions.layer
    areas = layer.drawn_as if layer.are_points else layer.in_plane
    return MapData(areas, regions.in_plane, layer.north())


def public_page(
    form: Form,
    account: Account,
    layer: AreaLayer | None = None,
    regions: DrawnRegions | None = None,
    left_out: Collection[str] = (),
    tables: Callable[[], Sequence[DataTable]] = tuple,
) -> str:
    """The report for release.

    layer : the areas as they were given, without people counted from records, None where there are none; regions : as
    they are drawn, None where they are not; left_out : names of settings that are not said; tables : those that are
    released, for their content hashes
    """
    return page_of(
        account,
        None if layer is None else layer.areas,
        None if regions is None else map_data_of(regions),
        [(label, value) for label, value in form.rows(set(said_of(form.job)) - set(left_out)) if value != ""],
        hashes_of(tables()),
    )
