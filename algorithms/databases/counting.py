"""Records in place as a job counts them: as coarse as is asked, and the same as when they were profiled."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.dataclass import dataclass
from ...core.engines.coarsening import coarser_in_place
from ...core.engines.engine import Engine
from ...core.engines.in_place import InPlace, cells_that_differ
from ...core.engines.profiling import count_in_place
from ...core.errors import PrivacyError
from ...core.generalising.asked import Generalising
from ...core.generalising.hierarchies import Hierarchy
from ...core.job.generalising import generalising_of
from ...core.language import tr
from ...core.progress import Progress
from ...core.records.fields import RecordFields
from ...core.records.identifiers import refuse_identifiers
from ...core.records.table import COUNT_FIELD
from ..form.form import FormJob
from ..layers.reading.records import read_records
from .connection import fields_of


@dataclass(frozen=True, eq=False)
class Counted:
    """Records of a form. as_read : counted by the values they have; coarsened : by those that GENERALISE asks for;
    asked : what that is."""

    as_read: InPlace
    coarsened: InPlace
    asked: Generalising

    def still_coarser(self) -> Mapping[str, Hierarchy]:
        """The hierarchies of what is shown, as `coarser_of` gives them: what could still be shown coarser."""
        return self.asked.still_coarser(self.coarsened.values(), self.as_read.by_class())


def counted(job: FormJob, engine: Engine, progress: Progress) -> Counted:
    """The records of the job, counted, and shown as coarse as GENERALISE asks for; the log says what that gives up.

    Raises PrivacyError where PROFILE is given and holds other counts.
    """
    kept = job.given("REGISTER") and not job.given("LINKED_TABLES")
    in_place = count_in_place(engine, fields_of(job), progress, job.given("DESTINATION"), kept)
    quasi_identifiers = in_place.fields.quasi_identifiers
    asked = generalising_of(job, quasi_identifiers)
    node = asked.node(quasi_identifiers)
    if any(node):
        coarser = [name for name, level in zip(quasi_identifiers, node) if level]
        coarsened = coarser_in_place(in_place, asked.hierarchies(in_place.by_class(), coarser), node)
    else:
        coarsened = in_place
    job.info(*(column.sentence for column in coarsened.coarsened.values()))
    if job.has("K"):
        classes = coarsened.by_class()
        job.warn(*refuse_identifiers(classes.quasi_identifiers, classes.counts, coarser=asked.names))
    records = Counted(in_place, coarsened, asked)
    if job.has("PROFILE") and job.given("PROFILE"):  # of another form it is an output
        _refuse_changes(job, records)
    return records


def _refuse_changes(job: FormJob, now: Counted) -> None:
    """Refuse records whose counts are not those of PROFILE, as they are or as they are shown."""
    fields = now.as_read.fields
    counted_by = RecordFields(fields.area, fields.quasi_identifiers, count=COUNT_FIELD)
    counted_by.check()
    table = read_records(job.layers.source("PROFILE"), counted_by, job.layers.feedback)
    differing = cells_that_differ(now.as_read, table)
    if differing and now.coarsened is not now.as_read:
        differing = min(differing, cells_that_differ(now.coarsened, table))
    if differing:
        raise PrivacyError.counting(
            "PROFILE has another count in {n:,} class of an area: the table was changed since it was profiled, or "
            "FILTER, the fields or GENERALISE are others. Profile it again, and make the regions from that.",
            "PROFILE has other counts in {n:,} classes of areas: the table was changed since it was profiled, or "
            "FILTER, the fields or GENERALISE are others. Profile it again, and make the regions from that.",
            differing,
        )
    job.info(tr("The table still holds what PROFILE counted."))
