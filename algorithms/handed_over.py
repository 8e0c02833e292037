"""A release, or what one would be, handed over by a form: outputs, report, and the end of the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from ..core.account import Account
from ..core.aggregation import Aggregation
from ..core.dataclass import dataclass
from ..core.evaluation import Measures
from ..core.job.conclusion import conclude
from ..core.job.making import Made, with_costs
from ..core.job.saying import INPUTS
from ..core.job.signing import content_of
from ..core.language import tr
from ..core.package.dataset import tables_of_release
from ..core.package.table import DataTable
from ..core.release import Release
from ..core.report.coarser import coarser_sentences
from ..core.report.internal import Remarks, internal_report
from ..core.report.sign import Signing
from .form import regions
from .form.base import VbasAlgorithm
from .form.form import Form, FormJob
from .form.job_file import JOB_FILE, add_job
from .form.linked import RELEASED_TABLES, add_released_tables
from .form.provenance import provenance_of
from .form.public_report import RELEASE_REPORT, map_data_of, public_page
from .form.release import RELEASE_FOLDER, add_release_folder, release_table
from .form.signing import REPORT, SIGN_PAGE, add_sign_page, signing
from .layers.shapes.areas import AreaLayer, DrawnRegions
from .privacy.earlier import add_to_register

SIGNED = (SIGN_PAGE, REPORT)
RECKONED_IN_PLACE = 2_000_000  # rows of an engine that are read for their content hash alone
CHANGED = {"N_SAME": "same", "N_CHANGED": "other", "N_GONE": "gone", "N_NEW": "new", "MOVED_PERCENT": "percent"}
DRAWN = ("RELEASED_REGIONS", "REGION_AUDIT", REPORT, RELEASE_REPORT, RELEASE_FOLDER)


@dataclass(frozen=True, eq=False)
class Handed:
    """What a form made, for what is written of it.

    layer : the areas as they were given, None where there are none; last : what puts rows that are in an engine in
    their place, once all else is in its own, and says where that is
    """

    made: Made
    layer: AreaLayer | None = None
    last: Callable[[], str] | None = None


class Releasing(VbasAlgorithm):
    """A form that releases or rates: it declares, parses, and calls core. What is written is the same for all."""

    def made(self, job: FormJob) -> Handed:
        """What core makes of a job."""
        raise NotImplementedError

    def work(self, form: Form) -> Handed:
        return self.made(FormJob(form, form.layers, form))

    def handed_over(self, form: Form, made: Handed) -> dict[str, object]:
        return hand_over(form, made)


def hand_over(form: Form, handed: Handed) -> dict[str, object]:
    """Write what is asked for and end the log; the numbers that the form declares."""
    account, layer, remarks = handed.made.account, handed.layer, handed.made.remarks
    rows = cache(partial(_rows_of, account))
    tables = cache(partial(_tables_to_sign, form, account, layer, rows))
    entry = None
    if account.ask.earlier is not None:
        by = form.text("PREPARED_BY") if form.has("PREPARED_BY") else ""
        entry = add_to_register(form, account, by, content_of(tables()))
    form.info(*coarser_sentences(account))
    if form.outputs.wanted(RELEASED_TABLES):
        add_released_tables(form, account)
    if account.rows is not None and account.rows.staged is None and form.outputs.wanted("RELEASED_RECORDS"):
        table = release_table(form, account, account.rows.release)
        form.outputs.add("RELEASED_RECORDS", *table, progress=form.progress(65, 80))
    drawn = _drawn(form, account, layer)
    if layer is not None:
        regions.warn_of_elongated(form, layer, account.levels.crosswalks[0], account.areas.population)
        _add_regions(form, account, layer, drawn, handed.made.aggregation)
    step = ""
    if layer is not None:
        remarks, step = with_costs(form, account, remarks, handed.made.hierarchies)
    of_release = partial(public_page, form, account, layer, drawn, tables=tables)
    page, page_of_folder = cache(of_release), cache(partial(of_release, left_out=INPUTS))
    said, named = None, "" if entry is None else entry.in_words
    if account.rows is not None and any(map(form.outputs.wanted, SIGNED)):
        pages = {RELEASE_REPORT: page, RELEASE_FOLDER: page_of_folder}
        said = signing(form, tables(), named, _where_in_place(form, account), pages)
        add_sign_page(form, account, said)
    if drawn is not None:
        form.outputs.add_text("REPORT", lambda: _internal_page(form, account, drawn, remarks, said))
    if account.rows is not None:
        form.outputs.add_text(RELEASE_REPORT, page)
    if account.rows is not None and form.outputs.wanted(RELEASE_FOLDER):
        add_release_folder(form, account, page_of_folder, layer, drawn, rows, "" if entry is None else entry.name)
    reported = (layer is not None and form.outputs.wanted(REPORT)) or form.outputs.wanted(RELEASE_REPORT)
    form.conclusion = conclude(form, account, step, reported)
    if remarks.single is not None:
        single, measures = remarks.single
        form.info(tr("One level ({single}) would give: {in_short}.", single=single, in_short=_in_short(measures)))
    if form.outputs.wanted(JOB_FILE):
        add_job(form)
    numbers = {name: value for name, value in _numbers(account).items() if form.declares(name)}
    if handed.last is not None:
        form.outputs.last(partial(_publish, handed.last, numbers))
    return numbers


def _internal_page(form: Form, account: Account, drawn: DrawnRegions, remarks: Remarks, said: Signing | None) -> str:
    remarks = remarks.with_those_of(account)
    drawing = form.seconds() - sum(remarks.seconds.values())
    remarks = replace(remarks, seconds={**remarks.seconds, tr("drawing and writing"): drawing})
    return internal_report(account, map_data_of(drawn), provenance_of(form), remarks, said, form.progress(90, 100))


def _publish(publish: Callable[[], str], results: dict[str, object]) -> None:
    results["RELEASED_RECORDS"] = publish()


def _rows_of(account: Account) -> Release | None:
    """The rows of records in an engine, where the account has their classes alone; None elsewhere."""
    staged = None if account.rows is None else account.rows.staged
    return None if staged is None else staged.different_rows(account.plan, account.nested)


def _tables_to_sign(
    form: Form, account: Account, layer: AreaLayer | None, rows: Callable[[], Release | None]
) -> tuple[DataTable, ...]:
    """The tables whose content hashes are signed: none of very many rows that are in an engine, and stay there."""
    staged = None if account.rows is None else account.rows.staged
    many = staged is not None and account.plan.n_released > RECKONED_IN_PLACE
    if many and not form.outputs.wanted(RELEASE_FOLDER):
        form.warn(
            tr(
                "The page to sign has no content hashes: of so many rows they are reckoned with RELEASE_FOLDER only.",
            )
        )
        return ()
    return tables_of_release(account, "area" if layer is None else layer.id_field.name(), release=rows())


def _where_in_place(form: Form, account: Account) -> str:
    staged = None if account.rows is None else account.rows.staged
    return "" if staged is None else form.text("DESTINATION").strip()


def _drawn(form: Form, account: Account, layer: AreaLayer | None) -> DrawnRegions | None:
    """The regions, where anything draws them."""
    if layer is None or not any(map(form.outputs.wanted, DRAWN)):
        return None
    return regions.drawn_regions(layer, account.levels, form.progress(80, 90))


def _add_regions(
    form: Form, account: Account, layer: AreaLayer, drawn: DrawnRegions | None, aggregation: Aggregation | None
) -> None:
    """Write what describes the regions."""
    wanted, add = form.outputs.wanted, form.outputs.add
    levels, nested = account.levels, account.nested
    if drawn is not None and wanted("RELEASED_REGIONS"):
        # Of a plan that nothing was released by, no counts go out: another run may show other classes.
        audit = None if account.rows is None else account.audit
        values = account.plan.values_of_levels
        add("RELEASED_REGIONS", regions.regions_table(drawn, levels, nested, audit, values))
    if wanted("CROSSWALK"):
        add("CROSSWALK", regions.crosswalk_table(layer, levels, nested))
    if drawn is not None and wanted("REGION_AUDIT"):
        add("REGION_AUDIT", regions.audit_table(drawn, levels, nested, account.audit))
    if aggregation is not None:
        regions.add_sites(form, layer, aggregation)
    elif wanted("SITE_POINTS") or wanted("VORONOI"):
        form.warn(tr("Nested levels have no sites: SITE_POINTS and VORONOI are not made."))


def _numbers(account: Account) -> dict[str, object]:
    """The numbers of a release; N_SITES counts the finest regions."""
    numbers = {
        **regions.numbers(account.measures),
        "N_SITES": account.levels.crosswalks[0].n_regions,
        "N_LEVELS": len(account.levels),
        "MEAN_DISTANCE": account.measures.mean_distance,
    }
    if account.changed is not None:
        numbers |= {name: getattr(account.changed, of) for name, of in CHANGED.items()}
    return numbers


def _in_short(measures: Measures) -> str:
    return tr(
        "{suppression_percent:.3g} % suppressed, mean distance {mean_distance:.0f} m",
        suppression_percent=measures.suppression_percent,
        mean_distance=measures.mean_distance,
    )
