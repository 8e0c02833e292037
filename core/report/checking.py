"""The report of a check of a table that is to be published."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..privacy.checking import ReleaseCheck
from ..privacy.risk import Risk
from ..records.columns import Column
from ..written import written
from .cost import risk_rows
from .numbers import shown
from .page import Report, Section, render
from .protection import HEADER, LIMITS, kept_rows
from .running import Running, how_it_was_done

WORST = 25


def check_report(found: ReleaseCheck, k: int, quasi_identifiers: Mapping[str, Column], running: Running) -> str:
    """The page as HTML; running : what the run was."""
    n_records, n_classes = int(found.records.sum()), len(found.records)
    if found.classes_below:
        verdict = (
            f"{shown(found.records_below)} of {shown(n_records)} records are in {shown(found.classes_below)} classes "
            f"that fall short of what is asked; the smallest class has {found.k_found} people (k = {k})."
        )
    else:
        verdict = (
            f"Every class has at least {k} people; the smallest of {shown(n_classes)} classes has {found.k_found}."
        )
    risk: list[tuple[object, ...]] = [
        *risk_rows(Risk(found.largest_risk, found.mean_risk), found.k_found),
        ("Classes", n_classes, "Combinations of quasi-identifiers that occur."),
        ("Classes that fall short", found.classes_below, ""),
    ]
    for name, diversity in found.diversity.items():
        alike = int((diversity.distinct == 1).sum())
        risk += [
            (f"“{name}”: fewest values in a class", int(diversity.distinct.min()), f"l; {alike} classes have one."),
            (f"“{name}”: largest share of a value, %", float(diversity.largest_share.max()), ""),
            (f"“{name}”: largest distance from the table", float(diversity.distance.max()), "t, from 0 to 1."),
        ]
    fails = np.flatnonzero(found.fails)
    fails = fails[np.lexsort((fails, found.people[fails]))][:WORST]
    rows = [
        (
            *("(missing)" if value is None else written(value) for value in values),
            int(found.records[one]),
            int(found.people[one]),
        )
        for one, values in zip(
            fails.tolist(),
            zip(*(c.categories[found.classes[fails, i]] for i, c in enumerate(quasi_identifiers.values()))),
        )
    ]
    sentences = [*found.problems, *(text for one in found.kept for text in (one.refusal, one.warning) if text)]
    sections = [
        Section("Risk", (), ("Measure", "Value", "Meaning"), risk),
        Section(
            f"The smallest classes that fall short (up to {WORST})", (), (*quasi_identifiers, "Records", "People"), rows
        ),
        Section("What the other fields reveal", (*LIMITS, *sentences), HEADER, kept_rows(found.kept)),
        *how_it_was_done((), running),
    ]
    good = not found.classes_below and not sentences
    return render(Report("Check of a release", verdict, good, True, sections, running.date, True))
