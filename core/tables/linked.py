"""The tables of a release with linked tables: persons with their new key, and the rows that belong to them."""

from __future__ import annotations

from dataclasses import replace

from ..language import tr
from .regions import LEVEL, REGION, RELEASED_RECORDS
from .schema import FOR_RELEASE, LONG, OutputTable, long, own, text

PERSON = long("vbas_person", tr("Person, by a new key"), tr("drawn anew, the same in all tables"), always=False)
SHOWN = text(
    "vbas_{attribute}",
    tr("Rows of {attribute}", attribute="{attribute}"),
    tr("“shown”; “left out”: none of this person is there, whether there are any or not; “in part”: rare rows are not"),
)

RELEASED_PERSONS = replace(
    RELEASED_RECORDS,
    parameter="RELEASED_PERSONS",
    title=tr("Released persons"),
    help=tr("The persons with their region in place of their area. Their order tells nothing."),
    fields=(
        replace(LEVEL, kind=LONG),
        REGION,
        own(tr("the quasi-identifiers and the further fields you named")),
        PERSON,
        SHOWN,
    ),
)
RELEASED_LINKED = OutputTable(
    "RELEASED_LINKED",
    tr("Released rows of a linked table"),
    FOR_RELEASE,
    tr("The rows of the people whose rows are shown, in the region of the person. Their order tells nothing."),
    (PERSON, replace(LEVEL, kind=LONG), REGION, own(tr("the fields you named"))),
)
