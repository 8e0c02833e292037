"""A new release held against those of a register, and added to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from qgis.core import QgsProcessingParameterDefinition

from ...core.account import Account
from ...core.job.conditions import conditions_of
from ...core.job.signing import particulars_of
from ...core.language import tr
from ...core.publish.register.entry import Entry
from ...core.publish.register.published_releases import entry_of, new_entry
from ...core.releases.earlier import ACTIONS, REPAIR, STOP
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.parameters import choice, text
from .relating import aliases_parameter
from .releases import register_parameter

CONDITIONS: Conditions = {
    **conditions_of("REGISTER_ACTION", "ALIASES", "SERIES"),
    **{
        name: [{"GENERALISE": GIVEN, "REGISTER": GIVEN, "PUBLISHED_COUNTS": GIVEN}]
        for name in ("HIERARCHIES", "HIERARCHY_RULES")
    },
}


def register_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """REGISTER, REGISTER_ACTION, ALIASES and SERIES."""
    yield register_parameter(
        tr(
            "A GeoPackage that keeps what earlier releases of these people published, and nothing else; a new "
            "name starts one. Before anything is written, this release is held against all of them: together "
            "they must give away no count of fewer than k people. Afterwards this release is added. Where a "
            "quasi-identifier is shown coarser now or was then, give its coarser values as they were: they "
            "say which counts are sums of which."
        ),
        advanced=True,
    )
    yield choice(
        "REGISTER_ACTION",
        tr("Earlier releases: if this release and earlier ones together disclose small counts"),
        ACTIONS,
        STOP,
        tr(
            "“{stop}”: nothing is written. “{repair}”: the smallest classes that cause the disclosure are "
            "suppressed, or "
            "shown in larger regions if nested, until no such count is found; the log says what that costs. "
            "Reusing an earlier release's regions for the same population suppresses nothing more.",
            stop=STOP,
            repair=REPAIR,
        ),
        advanced=True,
    )
    yield aliases_parameter(advanced=True)
    yield text(
        "SERIES",
        tr("Earlier releases: series that this one belongs to"),
        None,
        tr(
            "A name that releases share which belong together, such as the years of a yearly release: the register "
            "keeps it, and “Manage the release register” lists them by it. What a release is held against does not "
            "depend on it: that is all of the register."
        ),
        advanced=True,
        optional=True,
    )


def add_to_register(form: Form, account: Account, by: str, content: str) -> Entry:
    """Have the release added to REGISTER, before the outputs are in their place; its entry.

    by : who proposes it; content : the content hash of what goes out, empty where that is not reckoned
    """
    entry = new_entry(Path(form.text("REGISTER")), *entry_of(account), by, content, particulars_of(form.job))
    form.outputs.first(entry)
    return entry
