"""The tables of what releases give away, and of what a register holds."""

from __future__ import annotations

from ..language import tr
from .schema import INTEGER, INTERNAL, LONG, REAL, TEXT, OutputField, OutputTable, own

CHECK = OutputTable(
    "CHECK",
    tr("Classes that fall short"),
    INTERNAL,
    tr("A row per class that does not hold what is asked, the smallest first."),
    (
        own(tr("the quasi-identifiers")),
        OutputField("vbas_records", LONG, tr("Records of the class")),
        OutputField("vbas_people", LONG, tr("People of the class")),
        OutputField(
            "vbas_values_{number}",
            INTEGER,
            tr("Fewest values of sensitive field {number}"),
            tr("of each sensitive field the fewest values that could be those of all people of the class"),
            always=False,
        ),
        OutputField(
            "vbas_share_{number}",
            REAL,
            tr("Largest share of a value of sensitive field {number}"),
            tr("of each sensitive field the largest share of the people that has the same value"),
            always=False,
        ),
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
        OutputField("kind", TEXT, tr("What gives it away")),
        OutputField("releases", TEXT, tr("Releases that give it away together")),
        own(tr("its quasi-identifiers")),
        OutputField("vbas_sensitive", TEXT, tr("Sensitive value"), tr("the sensitive values, where they are known")),
        OutputField("areas", TEXT, tr("Areas"), tr("the areas that the people live in")),
        OutputField("n_areas", INTEGER, tr("Number of areas")),
        OutputField("low", INTEGER, tr("At least so many people")),
        OutputField("high", INTEGER, tr("At most so many people")),
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
        OutputField("release", INTEGER, tr("Number of the release")),
        OutputField("title", TEXT, tr("Title")),
        OutputField("time", TEXT, tr("Added at"), tr("when it was added (UTC)")),
        OutputField("k", INTEGER, "k"),
        OutputField("quasi_identifiers", TEXT, tr("Quasi-identifiers")),
        OutputField("levels", INTEGER, tr("Levels")),
        OutputField("counts", LONG, tr("Counts"), tr("how many counts it shows")),
        OutputField("records", LONG, tr("Records")),
        OutputField("sensitive", TEXT, tr("Sensitive fields")),
    ),
)
