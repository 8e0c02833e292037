"""The report of a check of a table that is to be published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from .. import counted
from ..disclosure.certificate import Certificate, certify_classes
from ..language import plural, tr
from ..plain_text import value_text
from ..privacy.checking import ReleaseCheck
from ..privacy.risk import Risk
from ..records.columns import Column
from ..tables.regions import LEVEL
from .certificate import checked_section
from .cost import HOUSEHOLDS_COUNTED, risk_rows
from .page import Report, Section, render
from .protection import HEADER, LIMITS, kept_rows
from .provenance import Provenance, how_it_was_done

WORST = 25
EACH_A_PERSON = tr(
    "Each record is taken for a person of its own here, as it is not known whose they are: where people have several, "
    "a class is of fewer people than records, and the risk is larger."
)
_PARAMETER = re.compile(r"^KEEP_FIELDS\s*:\s*")


def said_of_fields(check: ReleaseCheck) -> list[str]:
    """What is wrong with a table, and what its fields tell; whoever checks one has no KEEP_FIELDS, as a release has."""
    texts = (text for field in check.kept for text in (field.refusal, field.warning) if text)
    plain = (_PARAMETER.sub("", text) for text in texts)
    return [*check.problems, *(text[:1].upper() + text[1:] for text in plain)]


def certificate_of_check(check: ReleaseCheck, k: int) -> Certificate:
    """Which counts of a table were tried: its classes, as nothing is known of its regions."""
    return certify_classes(check.people, k)


def is_nested(names: Iterable[str]) -> bool:
    """Whether a table says the level of its rows."""
    return any(name.lower() == LEVEL.name for name in names)


def check_report(check: ReleaseCheck, k: int, quasi_identifiers: Mapping[str, Column], provenance: Provenance) -> str:
    """The page as HTML; provenance : what the run was."""
    n_records, n_classes = int(check.records.sum()), len(check.records)
    if check.classes_below:
        verdict = plural(
            "{n} of {records} is in {classes}; the smallest class has {people} (k = {k}).",
            "{n} of {records} are in {classes}; the smallest class has {people} (k = {k}).",
            check.records_below,
            records=counted.records(n_records),
            classes=plural(
                "{n} class that falls short of what is asked",
                "{n} classes that fall short of what is asked",
                check.classes_below,
            ),
            people=check.counted(check.k_found),
            k=k,
        )
    else:
        verdict = plural(
            "The only class has at least {least}: {smallest}.",
            "Every class has at least {least}; the smallest of {n} classes has {smallest}.",
            n_classes,
            least=check.counted(k),
            smallest=check.k_found,
        )
    risk: list[tuple[object, ...]] = [
        *risk_rows(
            Risk(check.largest_risk, check.mean_risk),
            check.k_found,
            bool((check.people != check.records).any()),
            check.of_households,
        ),
        (tr("Classes"), n_classes, tr("Combinations of quasi-identifiers that occur.")),
        (tr("Classes that fall short"), check.classes_below, ""),
    ]
    for name, diversity in check.diversity.items():
        homogeneous = int((diversity.distinct == 1).sum())
        risk += [
            (
                tr("“{name}”: fewest values in a class", name=name),
                int(diversity.distinct.min()),
                plural(
                    "l, the fewest that could be those of all people of a class; in {n} class all share one.",
                    "l, the fewest that could be those of all people of a class; in {n} classes all share one.",
                    homogeneous,
                ),
            ),
            (
                tr("“{name}”: largest share of a value, %", name=name),
                float(diversity.largest_share.max()),
                tr("Of the people of a class, those who have the same value."),
            ),
            (
                tr("“{name}”: largest distance from the table", name=name),
                float(diversity.distance.max()),
                tr("t, from 0 to 1."),
            ),
        ]
    fails = np.flatnonzero(check.fails)
    fails = fails[np.lexsort((fails, check.people[fails]))][:WORST]
    rows = [
        (
            *map(value_text, values),
            int(check.records[row]),
            int(check.people[row]),
        )
        for row, values in zip(
            fails.tolist(),
            zip(*(c.categories[check.classes[fails, i]] for i, c in enumerate(quasi_identifiers.values()))),
        )
    ]
    sentences = said_of_fields(check)
    sections = [
        Section(
            tr("Risk"),
            (tr(HOUSEHOLDS_COUNTED),) if check.of_households else () if check.of_people else (EACH_A_PERSON,),
            (tr("Measure"), tr("Value"), tr("Meaning")),
            risk,
        ),
        Section(
            tr("The smallest classes that fall short (up to {worst})", worst=WORST),
            (),
            (*quasi_identifiers, tr("Records"), tr("Households") if check.of_households else tr("People")),
            rows,
        ),
        checked_section(certificate_of_check(check, k), is_nested(quasi_identifiers)),
        Section(tr("What the other fields reveal"), (*LIMITS, *sentences), HEADER, kept_rows(check.kept)),
        *how_it_was_done((), provenance),
    ]
    good = not check.classes_below and not sentences
    return render(Report(tr("Check of a release"), verdict, good, True, sections, provenance.date, True))
