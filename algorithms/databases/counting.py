"""Records in place as a job counts them: as coarse as is asked, and the same as when they were profiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...core.engines.coarsening import coarser_in_place
from ...core.engines.engine import Engine
from ...core.engines.in_place import InPlace
from ...core.engines.profiling import count_in_place
from ...core.engines.same_profile import cells_that_differ
from ...core.errors import PrivacyError
from ...core.generalising.hierarchies import Hierarchy
from ...core.language import plural, tr
from ...core.progress import Progress
from ...core.records.identifiers import refuse_identifiers
from ...core.records.table import COUNT_FIELD
from ..form.form import Form
from ..form.generalising import hierarchies_of, node_of, sources_of
from ..layers.reading.records import read_records
from .connection import fields_of


@dataclass(frozen=True, eq=False)
class Counted:
    """Records of a form. as_read : counted by the values they have; shown : by those that GENERALISE asks for."""

    as_read: InPlace
    shown: InPlace

    def still_coarser(self, form: Form) -> Mapping[str, Hierarchy]:
        """The hierarchies of what is shown, as `coarser_of` gives them: what could still be shown coarser."""
        levels = {name: column.level for name, column in self.shown.coarsened.items()}
        every = hierarchies_of(form, self.as_read.by_class(), self.as_read.fields.quasi_identifiers)
        return {name: hierarchy.above(levels.get(name, 0)) for name, hierarchy in every.items()}


def counted(form: Form, engine: Engine, progress: Progress) -> Counted:
    """The records of the form, counted, and shown as coarse as GENERALISE asks for; the log says what that gives up.

    Raises PrivacyError where PROFILE is given and holds other counts.
    """
    in_place = count_in_place(engine, fields_of(form), progress, form.has("DESTINATION"))
    node = node_of(form, in_place.fields.quasi_identifiers)
    if any(node.values()):
        hierarchies = hierarchies_of(form, in_place.by_class(), [name for name, level in node.items() if level])
        shown = coarser_in_place(in_place, hierarchies, list(node.values()))
    else:
        shown = in_place
    form.info(*(column.sentence for column in shown.coarsened.values()))
    if form.has("K"):
        classes = shown.by_class()
        coarser = {name for names in sources_of(form, tuple(classes.quasi_identifiers)) for name in names}
        form.warn(*refuse_identifiers(classes.quasi_identifiers, classes.counts, coarser=coarser))
    if form.has("PROFILE") and form.given("PROFILE") and not form.definition("PROFILE").isDestination():
        _refuse_changes(form, Counted(in_place, shown))
    return Counted(in_place, shown)


def _refuse_changes(form: Form, now: Counted) -> None:
    """Refuse records whose counts are not those of PROFILE, as they are or as they are shown."""
    fields = now.as_read.fields
    names = fields.area, fields.quasi_identifiers
    table = read_records(form.source("PROFILE"), *names, (), COUNT_FIELD, None, form.feedback)
    differing = cells_that_differ(now.as_read, table)
    if differing and now.shown is not now.as_read:
        differing = min(differing, cells_that_differ(now.shown, table))
    if differing:
        raise PrivacyError(
            plural(
                "PROFILE has another count in {n:,} class of an area: the table was changed since it was profiled, or "
                "FILTER, the fields or GENERALISE are others. Profile it again, and make the regions from that.",
                "PROFILE has other counts in {n:,} classes of areas: the table was changed since it was profiled, or "
                "FILTER, the fields or GENERALISE are others. Profile it again, and make the regions from that.",
                differing,
            )
        )
    form.info(tr("The table still holds what PROFILE counted."))
