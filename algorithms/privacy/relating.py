"""Releases made comparable: the same fields under the same names, and values of different levels related."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.disclosure.published import Published
from ...core.generalising.asked import Generalising
from ...core.job.generalising import generalising_of
from ...core.job.published import answers_in
from ...core.language import tr
from ...core.releases.aliases import Aliases, aliases_of
from ...core.releases.comparable import values_at_levels
from ...core.releases.listing import quasi_identifiers_of
from ...core.releases.matching import Matched, matched
from ...core.releases.naming import named
from ...core.releases.relating import Relating, with_levels
from ..form.form import Form
from ..form.parameters import described


def aliases_parameter(advanced: bool = False) -> QgsProcessingParameterDefinition:
    """ALIASES."""
    return described(
        QgsProcessingParameterMatrix(
            "ALIASES", tr("Earlier releases: fields under other names"), headers=[tr("Field"), tr("Is")]
        ),
        tr(
            "Releases are held against each other by the names of their fields. Names that differ in case only, or are "
            "cut to ten characters, are recognised; where other names have the same content, the run stops and asks. "
            "A row answers: “gender” and “sex” for the same field under two names; “gender” and “sex: 1=M; 2=F” where "
            "its values are in other words too (a name alone, such as “sex” and “sex: 1=M; 2=F”, where only they are); "
            "“gender” and “not sex” for really different ones. On the command line as a list, field and answer in turn."
        ),
        advanced=advanced,
        optional=True,
    )


def aliases_in(form: Form, known: Collection[str]) -> Aliases:
    """ALIASES; known : all names of fields that the releases have. Raises InputError for rows that say nothing."""
    return aliases_of(answers_in(form.job), list(dict.fromkeys(known)))


def comparable(form: Form, releases: Sequence[Published], aliases: Aliases) -> tuple[list[Published], Matched]:
    """The releases of `vbas:checkreleases`, and which of their fields are the same.

    Those of a register say which levels they show, others show what fits.
    """
    naming = named(releases, aliases)
    asked = generalising_of(form.job, tuple(quasi_identifiers_of(naming.releases)))
    if not form.given("REGISTER"):
        naming = replace(naming, releases=[with_levels(release, asked.tables) for release in naming.releases])
        asked = Generalising(asked.tables)
    same = matched(naming, aliases, values_at_levels(asked.tables, {}, {}))
    relate = Relating(same.releases, {**asked.tables, **asked.rules})
    return [relate(release) for release in same.releases], same
