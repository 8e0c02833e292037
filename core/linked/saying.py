"""What became of linked rows, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import plural, tr
from .rows import LinkedRows

WITH_KEY = tr(
    "The released rows of a person hang together by a new key, drawn from the computer's own source: what is said of a "
    "person can be read from all tables together, and k people look alike in all of it."
)
WITHOUT_KEY = tr(
    "The linked rows do not say whose they are: what a person has in several rows or tables cannot be put together "
    "again. As much is left out as with a key."
)
ALL_KNOWN = tr(
    "Counted against somebody who knows the person's quasi-identifiers and LINKED_KNOWN of all of the person's rows."
)

ONE_KNOWN = tr(
    "Counted against somebody who knows the person's quasi-identifiers and LINKED_KNOWN of one of the person's rows. "
    "Whoever knows two rows of a person may find that person."
)


def linked_sentences(tables: Sequence[LinkedRows]) -> tuple[str, ...]:
    """What is shown of each table, and of whom it is left out, a sentence each."""
    return tuple(
        plural(
            "Table “{table}”: {shown} of {n} row released. Released without their rows of it, or some of them: "
            "{left_out} of {people} people who have any.",
            "Table “{table}”: {shown} of {n} rows released. Released without their rows of it, or some of them: "
            "{left_out} of {people} people who have any.",
            rows.n_given,
            table=rows.name,
            shown=len(rows),
            left_out=rows.n_left_out,
            people=rows.n_persons,
        )
        for rows in tables
    )
