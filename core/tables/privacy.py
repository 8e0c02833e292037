"""The tables of what releases give away, and of what a register holds."""

from __future__ import annotations

from ..language import tr
from .schema import INTERNAL, OutputTable, integer, long, own, real, text

CHECK = OutputTable(
    "CHECK",
    tr("Classes that fall short"),
    INTERNAL,
    tr("A row per class that does not hold what is asked, the smallest first."),
    (
        own(tr("the quasi-identifiers")),
        long("vbas_records", tr("Records of the class")),
        long("vbas_people", tr("People of the class")),
        integer(
            "vbas_values_{number}",
            tr("Fewest values of sensitive field {number}"),
            tr("that may be those of all its people"),
            always=False,
        ),
        real("vbas_share_{number}", tr("Largest share of a value of sensitive field {number}"), always=False),
    ),
)
PINNED = OutputTable(
    "PINNED",
    tr("Counts given away"),
    INTERNAL,
    tr(
        "A row per count, with the shape of its areas where these are given. Last come groups of K people and more who "
        "are shown to have one sensitive value."
    ),
    (
        text("kind", tr("What gives it away")),
        text("releases", tr("Releases that give it away together")),
        own(tr("its quasi-identifiers")),
        text("vbas_sensitive", tr("Sensitive value")),
        text("areas", tr("Areas")),
        integer("n_areas", tr("Number of areas")),
        integer("low", tr("At least so many people")),
        integer("high", tr("At most so many people")),
        long("less", tr("Others there whom the release shows, not counted")),
    ),
    "polygons",
    always_drawn=False,
)
CONTENTS = OutputTable(
    "CONTENTS",
    tr("Releases in the register"),
    INTERNAL,
    tr("A row per release that stays. No more than was published, but kept by whoever keeps the register."),
    (
        integer("release", tr("Number of the release")),
        text("title", tr("Title")),
        text("time", tr("Added at"), "UTC"),
        integer("k", "k"),
        text("quasi_identifiers", tr("Quasi-identifiers")),
        integer("levels", tr("Levels")),
        long("counts", tr("Counts")),
        long("records", tr("Records")),
        text("sensitive", tr("Sensitive fields")),
        text("proposed_by", tr("Proposed by")),
        text("approved_by", tr("Approved by")),
        text("series", tr("Series")),
        text("recipient", tr("For whom")),
        text("purpose", tr("For which purpose")),
        text("updates", tr("Release that it carries on")),
        text("update", tr("What it is beside that one")),
    ),
)
DETAIL = OutputTable(
    "DETAIL",
    tr("Detail of what was released"),
    INTERNAL,
    tr(
        "A row per area, with its shape where REGIONS is given: how many releases of the register show anything of it, "
        "and in how small regions."
    ),
    (
        text("area", tr("Area")),
        integer("releases", tr("Releases that show something of it")),
        integer("finest_level", tr("Finest level in any of them"), tr("1 is the finest of a release")),
        long("areas", tr("Areas of the smallest region")),
        integer("last_release", tr("The last of them")),
        text("last_updates", tr("Release that the last one carries on")),
    ),
    "polygons",
    tr("Area"),
    tr("areas of the smallest region"),
    always_drawn=False,
)
